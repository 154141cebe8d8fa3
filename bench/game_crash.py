"""Kills a server at random moments while clients play on it, and looks for what is missing.

Usage: `python -m bench.game_crash [--kills 200] [--clients 8] [--seed 1]`; needs `os.fork`. What
must hold: every event that a client was told of is in the log afterwards, word for word; every
watcher gets each event once and in order, over all restarts; every game that was created is still
there; the file is sound; every log replays.

The server is the real one, a process of its own. It is forked from a process that has loaded and
compiled the engine, so that a restart takes a moment and not seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bgserver_client import AbortedError, AsyncClient, AsyncGame, UnavailableError, person
from bgserver_client.v1 import game_pb2

from bgserver.games.events import event_from_json
from bgserver.games.state import replay
from bgserver.games.storage_queries import list_rows, whole_game
from bgserver.games.storage_schema import open_existing

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CrashReport", "crash_run"]

_LIFE_ACTIONS = 60
_LIFE_S = 3.0
_AFTER_S = 0.02
_PRESETS = ("traditional", "classic", "long_nardy")
_PATIENCE_S = 120.0


@dataclass
class CrashReport:
    """What happened, and what was wrong."""

    kills: int = 0
    games: int = 0
    actions: int = 0
    """Actions that were answered."""
    acknowledged: int = 0
    """Events that clients were told of in answers."""
    watched: int = 0
    """Events that watchers have seen."""
    resumed: int = 0
    """Actions that were sent again after a crash."""
    faults: list[str] = field(default_factory=list)


# --- the server ----------------------------------------------------------------------------------


def _nursery() -> None:
    """Load the engine, then fork a server for each line on stdin: `FILE PORT`."""
    from bgserver.server.app import load_engine, no_progress, serve  # noqa: PLC0415 -- loads slowly
    from bgserver.server.config import ServerConfig  # noqa: PLC0415 -- loads slowly

    engine = load_engine(ServerConfig(), no_progress)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("loaded", flush=True)
    for line in sys.stdin:
        path, port = line.split()
        config = ServerConfig(data=path, port=int(port), threads=2, log_level="error")
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            serve(
                config,
                on_ready=lambda address: print(os.getpid(), address, flush=True),
                loader=lambda *_: engine,
            )
            os._exit(0)


class _Servers:
    """Starts servers on one file and kills them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._port = 0
        self._pid = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.game_crash", "--nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent,
        )
        self._read()

    def _read(self) -> str:
        if self._process.stdout is None:
            raise AssertionError
        line = self._process.stdout.readline()
        if not line:
            message = "the server did not start"
            raise RuntimeError(message)
        return line

    def start(self) -> str:
        """A server; its address."""
        if self._process.stdin is None:
            raise AssertionError
        self._process.stdin.write(f"{self._path} {self._port}\n")
        self._process.stdin.flush()
        pid, address = self._read().split()
        self._pid, self._port = int(pid), int(address.rpartition(":")[2])
        return address

    def kill(self) -> None:
        """Kill the server, and wait until it is gone."""
        os.kill(self._pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            while True:
                os.kill(self._pid, 0)
                time.sleep(0.002)

    def close(self) -> None:
        """End everything."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self._process.terminate()
        self._process.communicate()


# --- the players ---------------------------------------------------------------------------------


@dataclass
class _Played:
    """A game with what clients were told of it."""

    game_id: str
    token: str
    told: dict[int, bytes] = field(default_factory=dict)
    """Events of answers, by number."""
    watched: list[game_pb2.GameEvent] = field(default_factory=list)


class _Client:
    """Plays game after game until it is told to stop."""

    def __init__(self, address: str, seed: int, report: CrashReport) -> None:
        self._client = AsyncClient(address)
        self._random = random.Random(seed)
        self._report = report
        self.played: list[_Played] = []
        self.stopping = False

    async def run(self) -> None:
        """Play."""
        async with self._client:
            while not self.stopping:
                await self._play()

    async def _play(self) -> None:
        bot = self._random.random() < 0.5
        request_id = uuid.uuid4().hex
        preset = self._random.choice(_PRESETS)
        created = await self._again(
            lambda: self._client.create_game(
                preset, second="beginner" if bot else person(), request_id=request_id
            )
        )
        played = _Played(created.game_id, created.spectator_token)
        self.played.append(played)
        tokens = [token for token in (created.first_token, created.second_token) if token]
        watcher = asyncio.create_task(self._watch(played))
        try:
            while not self.stopping:
                if await self._turn(played, self._random.choice(tokens)):
                    break
        finally:
            # The watcher sees everything that has been told, and ends.
            last = max(played.told, default=0)
            while not played.watched or played.watched[-1].number < last:
                if watcher.done():
                    break
                await asyncio.sleep(0.01)
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)

    async def _turn(self, played: _Played, token: str) -> bool:
        """Act if the seat can; whether the game is over."""
        answer = await self._again(lambda: self._client.get_game(played.game_id, token))
        view = answer.view
        action = _choice(view, self._random)
        if view.stage in {game_pb2.GAME_STAGE_GAME_OVER, game_pb2.GAME_STAGE_SESSION_OVER}:
            return True
        if action is None:
            await asyncio.sleep(0.002)
            return False
        action_id = uuid.uuid4().hex
        with contextlib.suppress(AbortedError):
            done = await self._again(
                lambda: self._client.act(
                    played.game_id, token, view.version, action, action_id=action_id
                )
            )
            self._report.actions += 1
            for event in done.events:
                played.told[event.number] = event.SerializeToString(deterministic=True)
        return False

    async def _again(self, call: Any) -> Any:
        """The answer to a call, repeated while no server is there."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                return await call()
            except UnavailableError:
                if time.monotonic() > until:
                    raise
                self._report.resumed += 1
                await asyncio.sleep(0.01)

    async def _watch(self, played: _Played) -> None:
        game = AsyncGame(self._client, played.game_id, played.token, patience_s=_PATIENCE_S)
        async for message in game.watch():
            played.watched.append(message.event)


def _choice(view: game_pb2.GameView, dice: random.Random) -> Any:
    """Some action of a seat; None if it has none."""
    if view.viewer not in view.to_act:
        return None
    actions = set(view.legal.actions)
    if game_pb2.ACTION_KIND_TAKE in actions:
        return dice.choice(["take", "take", "drop"])
    if game_pb2.ACTION_KIND_DOUBLE in actions and dice.random() < 0.05:
        return "double"
    if game_pb2.ACTION_KIND_ROLL in actions:
        return "roll"
    if view.steps and dice.random() < 0.1:
        return "undo"
    if view.legal.steps:
        step = dice.choice(view.legal.steps)
        return step.source, step.target
    return "confirm" if game_pb2.ACTION_KIND_CONFIRM in actions else None


# --- the check -----------------------------------------------------------------------------------


async def crash_run(
    kills: int, clients: int, seed: int, folder: Path, on_kill: Any = lambda _: None
) -> CrashReport:
    """Play and kill, then look for what is missing.

    Args:
        kills: How often to kill the server.
        clients: How many clients play at once.
        seed: Of the moments and the moves.
        folder: Where to put the file of games.
        on_kill: Told how often it has been killed.
    """
    report = CrashReport()
    moments = random.Random(seed)
    path = folder / "games.db"
    servers = await asyncio.to_thread(_Servers, path)
    try:
        address = await asyncio.to_thread(servers.start)
        players = [_Client(address, seed + number, report) for number in range(clients)]
        tasks = [asyncio.create_task(player.run()) for player in players]
        for _ in range(kills):
            await _live(report, moments)
            await asyncio.to_thread(servers.kill)
            report.kills += 1
            on_kill(report.kills)
            await asyncio.to_thread(servers.start)
        for player in players:
            player.stopping = True
        await asyncio.gather(*tasks)
        await asyncio.to_thread(servers.kill)
        await asyncio.to_thread(servers.start)  # it checks the file
        await _check(address, players, report)
    finally:
        servers.close()
    _check_file(path, report)
    return report


async def _live(report: CrashReport, moments: random.Random) -> None:
    """Wait until some actions have been answered, and a little more."""
    wanted = report.actions + moments.randrange(_LIFE_ACTIONS)
    end = time.monotonic() + _LIFE_S
    while report.actions < wanted and time.monotonic() < end:  # noqa: ASYNC110 -- it is a count
        await asyncio.sleep(0.001)
    await asyncio.sleep(moments.uniform(0.0, _AFTER_S))


async def _check(address: str, players: Sequence[_Client], report: CrashReport) -> None:
    """Compare what was told and watched with what the server has now."""
    async with AsyncClient(address) as client:
        for player in players:
            for played in player.played:
                report.games += 1
                report.acknowledged += len(played.told)
                report.watched += len(played.watched)
                await _check_game(client, played, report)


async def _check_game(client: AsyncClient, played: _Played, report: CrashReport) -> None:
    name = f"game {played.game_id}"
    numbers = [event.number for event in played.watched]
    if numbers != list(range(1, len(numbers) + 1)):
        report.faults.append(f"{name}: the watcher saw a gap or a repeat: {numbers}")
    version = (await client.get_game(played.game_id, played.token)).view.version
    log: dict[int, bytes] = {}
    if version:
        async with client.watch(played.game_id, played.token) as messages:
            async for message in messages:
                log[message.event.number] = message.event.SerializeToString(deterministic=True)
                if message.event.number == version:
                    break
    for number, event in played.told.items():
        if log.get(number) != event:
            report.faults.append(f"{name}: event {number} was told and is missing or another")
    for seen in played.watched:
        if log.get(seen.number) != seen.SerializeToString(deterministic=True):
            report.faults.append(f"{name}: event {seen.number} was watched and is missing")


def _check_file(path: Path, report: CrashReport) -> None:
    """Replay every log of the file."""
    with contextlib.closing(open_existing(str(path))) as connection:
        for row, _ in list_rows(connection, everything=True, most=1_000_000):
            found = whole_game(connection, row.id)
            if found is None or not found[2]:
                continue
            state = replay([event_from_json(json.loads(event.body)) for event in found[2]])
            if state.version != row.version:
                report.faults.append(f"game {row.id}: the log ends at {state.version}")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nursery", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.nursery:
        _nursery()
        return

    def tell(kills: int) -> None:
        print(f"\r{kills} of {options.kills} kills", end="", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        report = asyncio.run(
            crash_run(options.kills, options.clients, options.seed, Path(folder), tell)
        )
    print(file=sys.stderr)
    print(
        f"{report.kills} kills in {time.monotonic() - start:.0f} s with {options.clients} clients: "
        f"{report.games} games, {report.actions:,} actions, {report.acknowledged:,} acknowledged "
        f"events, {report.watched:,} watched, {report.resumed:,} calls repeated; "
        f"{len(report.faults)} faults"
    )
    for fault in report.faults[:20]:
        print(fault)
    sys.exit(bool(report.faults))


if __name__ == "__main__":
    main()
