"""`SimulationService`: many games or matches, streamed as they end."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, OverloadedError
from bgserver.games.contest import play_unit, unit_script
from bgserver.games.deciding import AskKind, answer, judge
from bgserver.games.errors import AbsentPlayerError
from bgserver.games.statistics import Statistics
from bgserver.server.convert_simulation import (
    read_simulation,
    statistics_message,
    unit_messages,
)
from bgserver.server.pool import Priority, discard
from bgserver.server.remote_player import RemotePlayer
from bgserver.v1 import simulation_pb2

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from google.protobuf.descriptor import ServiceDescriptor

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.work import Work
    from bgserver.games.contest import Script
    from bgserver.games.deciding import Reply
    from bgserver.games.simulation import SimulationSpec, UnitResult
    from bgserver.server.context import CallContext
    from bgserver.server.convert_simulation import SimulationOrder
    from bgserver.server.runtime import Runtime

    Played = tuple[UnitResult, list[simulation_pb2.SimulateResponse]]
    Start = Callable[[range], asyncio.Future[list[Played]]]

__all__ = ["SimulationServicer"]

_RETRY_AFTER_S = 5.0
_STATISTICS_EVERY_S = 0.1
_JOBS_PER_THREAD = 3  # so that one long match does not leave the other workers without work
_REMOTE_GAMES = 8  # at once: while one waits for an answer others are played
_SHORT_JOB_S = 0.02
_LONG_JOB_S = 0.1
_MAX_UNITS_PER_JOB = 256


class SimulationServicer:
    """Plays games and matches between two players."""

    service: ServiceDescriptor = simulation_pb2.DESCRIPTOR.services_by_name["SimulationService"]

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def simulate(
        self, request: simulation_pb2.SimulateRequest, context: CallContext
    ) -> AsyncIterator[simulation_pb2.SimulateResponse]:
        """Stream results in the order of their numbers, and statistics."""
        runtime = self._runtime
        engine, config = runtime.engine, runtime.config
        order = read_simulation(request, config, engine.levels)
        if runtime.simulations >= config.max_simulations:
            message = f"{config.max_simulations} simulations are in work already"
            raise OverloadedError(message, _RETRY_AFTER_S)
        runtime.simulations += 1
        try:
            async with AsyncExitStack() as stack:
                spec, with_results = order.spec, not request.statistics_only
                remotes = await _connect(order, stack)
                most_jobs = _JOBS_PER_THREAD * config.threads
                most_units = _MAX_UNITS_PER_JOB
                if any(remotes):
                    most_jobs, most_units = _REMOTE_GAMES, 1

                def start(units: range) -> asyncio.Future[list[Played]]:
                    if any(remotes):
                        work = self._play_remotely(spec, units, remotes, context, with_results)
                        return asyncio.ensure_future(work)
                    played = _play(engine, spec, units, with_results=with_results)
                    return runtime.pool.submit(played, Priority.BATCH, context.deadline)

                responses = _stream(order, start, most_jobs, most_units)
                # Closed here, and not some time later, when the call is cancelled.
                async with aclosing(responses):
                    async for response in responses:
                        yield response
        finally:
            runtime.simulations -= 1

    async def _play_remotely(
        self,
        spec: SimulationSpec,
        units: range,
        remotes: tuple[RemotePlayer | None, RemotePlayer | None],
        context: CallContext,
        with_results: bool,
    ) -> list[Played]:
        """Play units in which a player sits at another server."""
        played: list[Played] = []
        for index in units:
            seats = remotes[::-1] if spec.is_swapped(index) else remotes
            unit = await self._drive(spec, index, seats, context)
            played.append((unit, unit_messages(unit) if with_results else []))
        return played

    async def _drive(
        self,
        spec: SimulationSpec,
        index: int,
        remotes: tuple[RemotePlayer | None, ...],
        context: CallContext,
    ) -> UnitResult:
        """Play one unit: own decisions in the pool, the others where they belong."""
        engine, pool = self._runtime.engine, self._runtime.pool
        players = spec.seats(index)
        script: Script = unit_script(spec, index, None)
        reply: Reply = None
        while True:
            try:
                ask = script.send(reply)
            except StopIteration as end:
                result: UnitResult = end.value
                return result
            reply = None
            if ask is None:
                continue
            remote = remotes[ask.seat]
            if ask.kind is AskKind.JUDGE:
                if spec.judge is not None:
                    work = judge(engine, ask, spec.judge)
                    reply = await pool.run(work, Priority.BATCH, context.deadline)
            elif remote is not None:
                reply = await remote.answer(ask)
            else:
                work = answer(engine, ask, players[ask.seat])
                reply = await pool.run(work, Priority.BATCH, context.deadline)


async def _connect(
    order: SimulationOrder, stack: AsyncExitStack
) -> tuple[RemotePlayer | None, RemotePlayer | None]:
    """The players at other servers, in the order of the players; all of them have answered.

    Raises:
        AbsentPlayerError: One of them does not answer, so that there is nobody to play against.
    """
    first, second = [
        None
        if player.address is None
        else await stack.enter_async_context(RemotePlayer(player, player.address, order.decision_s))
        for player in order.spec.players
    ]
    asked = [(field, one) for field, one in (("first", first), ("second", second)) if one]
    variant = order.spec.setup.rules.variant
    found = await asyncio.gather(*(one.absence(variant) for _, one in asked))
    faults = [
        Fault(f"{field}.address", "PLAYER_ABSENT", why)
        for (field, _), why in zip(asked, found, strict=True)
        if why
    ]
    if faults:
        raise AbsentPlayerError(faults)
    return first, second


async def _stream(
    order: SimulationOrder, start: Start, most_jobs: int, most_units: int
) -> AsyncGenerator[simulation_pb2.SimulateResponse, None]:
    """Keep so many jobs in work, and tell their results in order."""
    spec = order.spec
    jobs: deque[asyncio.Future[list[Played]]] = deque()
    try:
        statistics = Statistics(spec.seating)
        submitted = done = order.first_unit
        games = 0
        units_per_job = 1
        told = time.monotonic()
        while done < spec.count:
            while submitted < spec.count and len(jobs) < most_jobs:
                units = range(submitted, min(submitted + units_per_job, spec.count))
                jobs.append(start(units))
                submitted = units.stop
            started = time.monotonic()
            for unit, messages in await jobs.popleft():
                statistics.add(unit)
                done += 1
                for result in messages:
                    if result.HasField("game"):
                        result.game.index = games
                        games += 1
                    yield result
            now = time.monotonic()
            units_per_job = min(most_units, _next_size(units_per_job, now - started))
            if now - told >= _STATISTICS_EVERY_S and done < spec.count:
                told = now
                yield statistics_message(statistics, seed=spec.seed, done=done, final=False)
        yield statistics_message(statistics, seed=spec.seed, done=done, final=True)
    finally:
        for job in jobs:
            discard(job)


def _next_size(size: int, seconds: float) -> int:
    """Units for the next job: so many that handing them over costs little, and no more."""
    if seconds < _SHORT_JOB_S:
        return min(2 * size, _MAX_UNITS_PER_JOB)
    if seconds > _LONG_JOB_S:
        return max(1, size // 2)
    return size


def _play(
    engine: Engine, spec: SimulationSpec, units: range, *, with_results: bool
) -> Work[list[Played]]:
    """Play some units and prepare their messages, here and not on the event loop."""
    played: list[Played] = []
    for index in units:
        unit = yield from play_unit(engine, spec, index)
        played.append((unit, unit_messages(unit) if with_results else []))
        yield
    return played
