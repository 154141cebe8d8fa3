"""The part that runs inside a peer: answers questions for plays over a socket.

Not started by hand: `bench.peers.client` runs it with the peer's Python, for GNU Backgammon with
`gnubg -p`, and passes a connected socket. It imports nothing of ours and nothing but the standard
library besides the peer. One line of JSON is one request,

    {"rolls": 0, "cubeful": false, "cases": [[26 numbers, die, die], ...]}

and gets one line: for each case [the board after the play, seconds, seconds of processor time], or
{"error": text}. Boards are as in `Position.points`, before and after seen by the player who rolled.
Plays are chosen by money equity without the Jacoby rule and without noise. The other request,

    {"rolls": 0, "doubles": [[26 numbers, cube, owned, away, opponent's away, jacoby], ...]}

gets for each case [no double, double and take, double and pass]: equities of the player on roll,
on the present cube. `owned` says that he holds the cube (else it is centred), `away` is 0 for
money, `jacoby` whether the rule holds; no game is the Crawford game.
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
Double = tuple[float, float, float]


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
        found = self.gnubg.findbestmove(
            self._sides(board), self.cube, self._context(rolls, cubeful), dice
        )
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

    def double(
        self, board: Board, value: int, owned: bool, away: tuple[int, int], jacoby: bool, rolls: int
    ) -> Double:
        """Equities of no double, double and take, double and pass."""
        length = max(away)
        scores = (length - away[0], length - away[1])
        cube = self.gnubg.cubeinfo(value, 0 if owned else -1, 0, length, scores, 0, 0)
        if jacoby:
            # Its setting for the rule does not reach `cubeinfo` once that has been called.
            cube["jacoby"] = 1
            if not owned:
                cube["gammonprice"] = ((0.0, 0.0), (0.0, 0.0))
        found = self.gnubg.cfevaluate(self._sides(board), cube, self._context(rolls, cubeful=True))
        return found[1], found[2], found[3]

    @staticmethod
    def _sides(board: Board) -> tuple[list[int], list[int]]:
        """A board as it takes it: the opponent's checkers, then those of the player on roll."""
        own = [max(board[point], 0) for point in range(1, SIZE)]
        opposing = [max(-board[SIZE - 1 - point], 0) for point in range(1, SIZE)]
        return opposing, own

    def _context(self, rolls: int, cubeful: bool) -> Any:
        # Deterministic, replies pruned by the small networks as its presets do, no noise.
        return self.gnubg.evalcontext(int(cubeful), rolls, 1, 1, 0.0)


class OpenSage:
    """Open Sage with its own filters."""

    def __init__(self, threads: int) -> None:
        self.bgsage: Any = importlib.import_module("bgsage")
        self.threads = threads
        self.analyzers: dict[tuple[int, bool], Any] = {}

    def choose(self, board: Board, dice: tuple[int, int], rolls: int, cubeful: bool) -> Board:
        """The board after the play."""
        # It counts the opponent's checkers on the bar as a positive number.
        answer = self._analyzer(rolls, cubeful).checker_play(
            [-board[0], *board[1:]], *dice, jacoby=False
        )
        if not answer.moves:
            return board
        after = answer.moves[0].board
        return [-after[0], *after[1:]]

    def double(
        self, board: Board, value: int, owned: bool, away: tuple[int, int], jacoby: bool, rolls: int
    ) -> Double:
        """Equities of no double, double and take, double and pass."""
        answer = self._analyzer(rolls, cubeful=True).cube_action(
            [-board[0], *board[1:]],
            value,
            "player" if owned else "centered",
            away1=away[0],
            away2=away[1],
            jacoby=jacoby,
            beaver=False,
        )
        return answer.equity_nd, answer.equity_dt, answer.equity_dp

    def _analyzer(self, rolls: int, cubeful: bool) -> Any:
        key = rolls, cubeful
        if key not in self.analyzers:
            self.analyzers[key] = self.bgsage.BgBotAnalyzer(
                eval_level=f"{rolls + 1}ply", cubeful=cubeful, parallel_threads=self.threads
            )
        return self.analyzers[key]


def answers(peer: GnuBackgammon | OpenSage, request: dict[str, Any]) -> list[Any]:
    """Boards and times, or equities of a double, for each case."""
    if "doubles" in request:
        doubles = []
        for *board, value, owned, away, opponent_away, jacoby in request["doubles"]:
            away_both = away, opponent_away
            doubles.append(peer.double(board, value, owned, away_both, jacoby, request["rolls"]))
        return doubles
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
