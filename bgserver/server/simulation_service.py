"""`SimulationService`: many games or matches, streamed as they end."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from bgserver.engine.errors import OverloadedError
from bgserver.engine.simulation import SimulationSpec, UnitResult, play_unit
from bgserver.engine.statistics import Statistics
from bgserver.server.convert_simulation import (
    read_simulation,
    statistics_message,
    unit_messages,
)
from bgserver.server.pool import Priority, discard
from bgserver.v1 import simulation_pb2

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator

    from google.protobuf.descriptor import ServiceDescriptor

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.work import Work
    from bgserver.server.context import CallContext
    from bgserver.server.runtime import Runtime

    Played = tuple[UnitResult, list[simulation_pb2.SimulateResponse]]

__all__ = ["SimulationServicer"]

_RETRY_AFTER_S = 5.0
_STATISTICS_EVERY_S = 0.1
_JOBS_PER_THREAD = 3  # so that one long match does not leave the other workers without work
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
        spec = read_simulation(request, config.max_simulation_games, engine.levels)
        if runtime.simulations >= config.max_simulations:
            message = f"{config.max_simulations} simulations are in work already"
            raise OverloadedError(message, _RETRY_AFTER_S)
        runtime.simulations += 1
        jobs: deque[asyncio.Future[list[Played]]] = deque()
        try:
            statistics = Statistics()
            submitted = done = games = 0
            units_per_job = 1
            told = time.monotonic()
            while done < spec.count:
                while submitted < spec.count and len(jobs) < _JOBS_PER_THREAD * config.threads:
                    units = range(submitted, min(submitted + units_per_job, spec.count))
                    work = _play(engine, spec, units, with_results=not request.statistics_only)
                    jobs.append(runtime.pool.submit(work, Priority.BATCH, context.deadline))
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
                units_per_job = _next_size(units_per_job, now - started)
                if now - told >= _STATISTICS_EVERY_S and done < spec.count:
                    told = now
                    yield statistics_message(statistics, seed=spec.seed, done=done, final=False)
            yield statistics_message(statistics, seed=spec.seed, done=done, final=True)
        finally:
            runtime.simulations -= 1
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
