"""Many watched games at once on one server: how long an action takes, and how much memory.

Usage: `python -m bench.game_load [--games 500] [--seconds 60] [--pace 2]`; prints a table. In each
game a person plays a bot or another person and acts every `--pace` seconds on average; two watchers
follow each game, one of them with the view after every event. Server, players and watchers share
the machine; the server is a process of its own and keeps its games in a file. The time of an action
is that of the whole call, as the player's process sees it; beside it the same for GetInfo, an empty
method, through the same connections, which is what the machine and gRPC cost in that moment.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bgserver_client import AbortedError, AsyncClient, person
from bgserver_client.v1 import game_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_GAMES_A_CONNECTION = 50
_PRESETS = ("classic", "traditional", "money", "long_nardy")


@dataclass
class _Times:
    """What was measured."""

    actions: list[float] = field(default_factory=list)
    empty: list[float] = field(default_factory=list)
    games: int = 0
    server_s: float = 0.0
    players_s: float = 0.0
    """Processor time of the server, and of this process with all players and watchers."""
    late: list[float] = field(default_factory=list)
    """From the event until a watcher had it."""


@contextlib.contextmanager
def _server(folder: str) -> Iterator[tuple[str, int]]:
    """A running server: address and process id."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-c", "from bgserver.cli import main; main()", "serve"),
            *("--port", "0", "--data", f"{folder}/games.db", "--log-level", "error"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1], process.pid
    finally:
        process.terminate()
        process.communicate()


def _resident_mb(pid: int, name: str = "VmRSS") -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    return 0.0


def _cpu_s(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class _Table:
    """One game with its players and watchers."""

    def __init__(self, client: AsyncClient, number: int, pace: float, times: _Times) -> None:
        self._client = client
        self._random = random.Random(number)
        self._pace = pace
        self._times = times

    async def run(self) -> None:
        """Play game after game."""
        await asyncio.sleep(self._random.uniform(0, self._pace))
        while True:
            await self._play()

    async def _play(self) -> None:
        bot = self._random.random() < 0.5
        created = await self._client.create_game(
            self._random.choice(_PRESETS), second="normal" if bot else person()
        )
        self._times.games += 1
        tokens = [token for token in (created.first_token, created.second_token) if token]
        watchers = [
            asyncio.create_task(self._watch(created.game_id, created.spectator_token, views))
            for views in (False, True)
        ]
        view = created.view
        token = tokens[0]
        try:
            while view.stage != game_pb2.GAME_STAGE_GAME_OVER:
                await asyncio.sleep(self._random.expovariate(1 / self._pace))
                action = _choice(view, self._random)
                if action is None:
                    token = self._random.choice(tokens)
                    view = (await self._client.get_game(created.game_id, token)).view
                    continue
                start = time.perf_counter()
                try:
                    answer = await self._client.act(created.game_id, token, view.version, action)
                except AbortedError:
                    view = (await self._client.get_game(created.game_id, token)).view
                    continue
                self._times.actions.append(time.perf_counter() - start)
                view = answer.view
        finally:
            for watcher in watchers:
                watcher.cancel()
            await asyncio.gather(*watchers, return_exceptions=True)

    async def _watch(self, game_id: str, token: str, views: bool) -> None:
        async for message in self._client.watch(game_id, token, include_views=views):
            if message.HasField("event") and not views:
                self._times.late.append(max(0.0, time.time() - message.event.at))


def _choice(view: game_pb2.GameView, dice: random.Random) -> Any:
    """Some action of a seat; None if it has none."""
    if view.viewer not in view.to_act:
        return None
    actions = set(view.legal.actions)
    for kind, name in (
        (game_pb2.ACTION_KIND_TAKE, "take"),
        (game_pb2.ACTION_KIND_ROLL, "roll"),
    ):
        if kind in actions:
            return name
    if view.legal.steps:
        step = dice.choice(view.legal.steps)
        return step.source, step.target
    return "confirm" if game_pb2.ACTION_KIND_CONFIRM in actions else None


async def _empty(client: AsyncClient, times: _Times) -> None:
    """Call an empty method now and then."""
    while True:
        await asyncio.sleep(0.05)
        start = time.perf_counter()
        await client.get_info()
        times.empty.append(time.perf_counter() - start)


async def _load(
    address: str, pid: int, games: int, seconds: float, pace: float
) -> tuple[_Times, list[float]]:
    times = _Times()
    async with contextlib.AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(AsyncClient(address))
            for _ in range(-(-games // _GAMES_A_CONNECTION))
        ]
        await clients[0].wait_until_ready()
        tables = [
            _Table(clients[number % len(clients)], number, pace, times) for number in range(games)
        ]
        tasks = [asyncio.create_task(table.run()) for table in tables]
        tasks.append(asyncio.create_task(_empty(clients[0], times)))
        await asyncio.sleep(2 * pace + 5)  # until all have begun
        for values in (times.actions, times.empty, times.late):
            values.clear()
        memory = []
        used = _cpu_s(pid), _cpu_s(os.getpid())
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await asyncio.sleep(seconds / 10)
            memory.append(_resident_mb(pid))
            for task in tasks:
                if task.done():
                    task.result()
        times.server_s = _cpu_s(pid) - used[0]
        times.players_s = _cpu_s(os.getpid()) - used[1]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return times, memory


def _quantiles(values: Sequence[float]) -> str:
    ordered = sorted(values)
    p99 = ordered[int(0.99 * (len(ordered) - 1))]
    return (
        f"median {1e3 * statistics.median(ordered):6.2f} ms, p99 {1e3 * p99:7.2f} ms, "
        f"worst {1e3 * ordered[-1]:7.2f} ms"
    )


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pace", type=float, default=2.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _server(folder) as (address, pid):
        before = _resident_mb(pid)
        times, memory = asyncio.run(
            _load(address, pid, options.games, options.seconds, options.pace)
        )
    rate = len(times.actions) / options.seconds
    print(
        f"{options.games} games at once, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    )
    print(f"actions      {rate:6.0f} a second, {_quantiles(times.actions)}")
    print(f"empty calls  {'':17}{_quantiles(times.empty)}")
    print(f"watchers     {'':17}{_quantiles(times.late)} after the event")
    shares = [seconds / options.seconds for seconds in (times.server_s, times.players_s)]
    print(f"processors   {shares[0]:.2f} for the server, {shares[1]:.2f} for players and watchers")
    shown = " ".join(f"{value:.0f}" for value in memory)
    print(f"memory       {before:.0f} MB at the start, then {shown} MB; {times.games} games in all")


if __name__ == "__main__":
    main()
