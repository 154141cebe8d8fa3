"""The part that runs inside a peer: answers questions for plays over a socket.

Not started by hand: `bench.peers.client` runs it with the peer's Python, for GNU Backgammon with
`gnubg -p`, and passes a connected socket. It imports nothing of ours and nothing but the standard
library besides the peer. One line of JSON is one request,

    {"rolls": 0, "cubeful": false, "cases": [[26 numbers, die, die], ...]}

and gets one line: for each case [the board after the play, seconds, seconds of processor time], or
{"error": text}. Boards are as in `Position.points`, before and after seen by the player who rolled.
Plays are chosen by money equity without the Jacoby rule and without noise.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import time
import traceback
from typing import Any

SIZE = 26
OFF = 0

Board = list[int]


class GnuBackgammon:
    """GNU Backgammon with its default move filters, which are those of "world class"."""

    def __init__(self, threads: int) -> None:
        self.gnubg: Any = importlib.import_module("gnubg")
        self.gnubg.command("set jacoby off")
        self.gnubg.command(f"set threads {threads}")
        self.cube = self.gnubg.cubeinfo(1, -1, 0, 0, (0, 0), 0, 0)
        if self.cube["jacoby"] or self.cube["gammonprice"] != ((1.0, 1.0), (1.0, 1.0)):
            message = f"gammons would not count: {self.cube!r}"
            raise ValueError(message)

    def choose(self, board: Board, dice: tuple[int, int], rolls: int, cubeful: bool) -> Board:
        """The board after the play."""
        own = [max(board[point], 0) for point in range(1, SIZE)]
        opposing = [max(-board[SIZE - 1 - point], 0) for point in range(1, SIZE)]
        # Deterministic, replies pruned by the small networks as its presets do, no noise.
        context = self.gnubg.evalcontext(int(cubeful), rolls, 1, 1, 0.0)
        found = self.gnubg.findbestmove((opposing, own), self.cube, context, dice)
        after = list(board)
        for source, target in zip(found[::2], found[1::2], strict=True):
            if source == 0:
                break
            after[source] -= 1
            if target == OFF:
                continue
            if after[target] == -1:
                after[target] = 0
                after[0] -= 1
            after[target] += 1
        return after


class OpenSage:
    """Open Sage with its own filters."""

    def __init__(self, threads: int) -> None:
        self.bgsage: Any = importlib.import_module("bgsage")
        self.threads = threads
        self.analyzers: dict[tuple[int, bool], Any] = {}

    def choose(self, board: Board, dice: tuple[int, int], rolls: int, cubeful: bool) -> Board:
        """The board after the play."""
        key = rolls, cubeful
        if key not in self.analyzers:
            self.analyzers[key] = self.bgsage.BgBotAnalyzer(
                eval_level=f"{rolls + 1}ply", cubeful=cubeful, parallel_threads=self.threads
            )
        # It counts the opponent's checkers on the bar as a positive number.
        answer = self.analyzers[key].checker_play([-board[0], *board[1:]], *dice, jacoby=False)
        if not answer.moves:
            return board
        after = answer.moves[0].board
        return [-after[0], *after[1:]]


def answers(peer: GnuBackgammon | OpenSage, request: dict[str, Any]) -> list[Any]:
    """Boards and times, one for each case."""
    found = []
    for board, first, second in request["cases"]:
        before, used = time.perf_counter(), time.process_time()
        after = peer.choose(board, (first, second), request["rolls"], request["cubeful"])
        seconds = time.perf_counter() - before
        found.append([after, seconds, time.process_time() - used])
    return found


def main() -> None:
    """Answer until the other end hangs up."""
    connection = socket.socket(fileno=int(os.environ["BENCH_PEER_SOCKET"]))
    kind = GnuBackgammon if os.environ["BENCH_PEER"] == "gnubg" else OpenSage
    with connection, connection.makefile("rw", encoding="utf-8") as stream:
        peer: GnuBackgammon | OpenSage | None = None
        for line in stream:
            try:
                if peer is None:
                    peer = kind(int(os.environ["BENCH_PEER_THREADS"]))
                reply: Any = answers(peer, json.loads(line))
            except Exception:  # noqa: BLE001 -- whatever it is belongs to whoever asked
                reply = {"error": traceback.format_exc()}
            stream.write(json.dumps(reply) + "\n")
            stream.flush()


main()
