"""`EngineService`: positions, plays and cube decisions judged by the engine."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, TypeVar

from bgserver import __version__
from bgserver.engine.bots import choose_cube_action, choose_play
from bgserver.engine.levels import Level
from bgserver.engine.rollout_level import ROLLOUT_LEVELS
from bgserver.engine.work import run
from bgserver.server.analysis_stream import analyze
from bgserver.server.convert_engine import (
    batch_faults,
    read_batch,
    read_question,
    refuse_nardy,
)
from bgserver.server.convert_enums import LEVEL, VARIANT
from bgserver.server.convert_player import (
    chosen_cube_action_message,
    chosen_play_message,
    read_key,
    read_player,
)
from bgserver.server.convert_state import read_dice, refuse
from bgserver.server.pool import Priority, discard
from bgserver.server.questions import (
    cube_advice,
    cube_scores,
    evaluation,
    judging_levels,
    ranking,
)
from bgserver.server.rollout_service import RolloutMethods
from bgserver.v1 import engine_pb2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import numpy as np
    from google.protobuf.descriptor import ServiceDescriptor
    from numpy.typing import NDArray

    from bgserver.engine.errors import Fault
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.limit import Limit
    from bgserver.engine.position import Variant
    from bgserver.engine.work import Work
    from bgserver.server.context import CallContext
    from bgserver.server.runtime import Runtime

__all__ = ["EngineServicer"]

_T = TypeVar("_T")
_BATCH_LEVELS = (Level.STATIC, Level.LOOKAHEAD_1)


class EngineServicer(RolloutMethods):
    """Judges positions, plays and cube decisions."""

    service: ServiceDescriptor = engine_pb2.DESCRIPTOR.services_by_name["EngineService"]

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._runtime = runtime

    async def evaluate(
        self, request: engine_pb2.EvaluateRequest, context: CallContext
    ) -> engine_pb2.EvaluateResponse:
        """Evaluate a position before the roll."""
        work, limit = evaluation(self._runtime.engine, request)
        return await self._answer(work, limit, context)

    async def rank_plays(
        self, request: engine_pb2.RankPlaysRequest, context: CallContext
    ) -> engine_pb2.RankPlaysResponse:
        """Rank the plays of a roll."""
        work, _ = ranking(self._runtime.engine, request)
        return await self._runtime.pool.run(work, Priority.INTERACTIVE, context.deadline)

    async def advise_cube(
        self, request: engine_pb2.AdviseCubeRequest, context: CallContext
    ) -> engine_pb2.AdviseCubeResponse:
        """Advise on the cube."""
        work, limit = cube_advice(self._runtime.engine, request)
        if request.market_losers:
            return await self._runtime.pool.run(work, Priority.INTERACTIVE, context.deadline)
        return await self._answer(work, limit, context)

    async def advise_cube_by_score(
        self, request: engine_pb2.AdviseCubeByScoreRequest, context: CallContext
    ) -> engine_pb2.AdviseCubeByScoreResponse:
        """Advise on the cube at every score."""
        work, _ = cube_scores(self._runtime.engine, request)
        return await self._runtime.pool.run(work, Priority.INTERACTIVE, context.deadline)

    async def choose_play(
        self, request: engine_pb2.ChoosePlayRequest, context: CallContext
    ) -> engine_pb2.ChoosePlayResponse:
        """The play that a bot makes."""
        engine = self._runtime.engine
        faults: list[Fault] = []
        state = read_question(request.position, faults)
        dice = read_dice(request.dice if request.HasField("dice") else None, state, faults)
        player = read_player(request.player, judging_levels(engine), faults, "player")
        refuse(faults)
        if state is None or dice is None or player is None:
            raise AssertionError(_UNREAD)
        key = read_key(request)
        work = choose_play(engine, state, dice, player, first_turn=request.first_turn, key=key)
        choice = await self._runtime.pool.run(work, Priority.INTERACTIVE, context.deadline)
        return chosen_play_message(choice, state.position, dice, key)

    async def choose_cube_action(
        self, request: engine_pb2.ChooseCubeActionRequest, context: CallContext
    ) -> engine_pb2.ChooseCubeActionResponse:
        """What a bot does with the cube."""
        engine = self._runtime.engine
        faults: list[Fault] = []
        state = read_question(request.position, faults)
        player = read_player(request.player, judging_levels(engine), faults, "player")
        refuse_nardy(request.position, state, faults)
        refuse(faults)
        if state is None or player is None:
            raise AssertionError(_UNREAD)
        key = read_key(request)
        work = choose_cube_action(engine, state, player, key)
        return chosen_cube_action_message(await self._answer(work, player[0], context), key)

    async def _answer(self, work: Work[_T], limit: Limit, context: CallContext) -> _T:
        """The result of a work on one position."""
        if limit is Level.STATIC:
            return run(work)  # 0.03 to 0.1 ms: a worker thread would double that
        return await self._runtime.pool.run(work, Priority.INTERACTIVE, context.deadline)

    async def evaluate_batch(
        self, requests: AsyncIterator[engine_pb2.EvaluateBatchRequest], context: CallContext
    ) -> AsyncIterator[engine_pb2.EvaluateBatchResponse]:
        """Evaluate packed arrays; answers come in the order of the requests.

        Requests are read ahead so that every worker has one and another waits; a client that does
        not read its answers is not read from either.
        """
        window = self._runtime.config.threads + 1
        started: asyncio.Queue[asyncio.Future[engine_pb2.EvaluateBatchResponse] | None]
        started = asyncio.Queue(window)
        reader = asyncio.create_task(self._start_batches(requests, started, context))
        try:
            while (future := await started.get()) is not None:
                yield await future
            await reader
        finally:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
            while not started.empty():
                discard(started.get_nowait())

    async def _start_batches(
        self,
        requests: AsyncIterator[engine_pb2.EvaluateBatchRequest],
        started: asyncio.Queue[asyncio.Future[engine_pb2.EvaluateBatchResponse] | None],
        context: CallContext,
    ) -> None:
        engine = self._runtime.engine
        most = self._runtime.config.max_batch_positions
        levels = [level for level in _BATCH_LEVELS if level in engine.levels]
        try:
            async for request in requests:
                points, variant, level = read_batch(request, most, levels)
                work = _batch(engine, points, variant, level, request.id)
                future = self._runtime.pool.submit(work, Priority.ANALYSIS, context.deadline)
                try:
                    await started.put(future)
                except asyncio.CancelledError:
                    discard(future)
                    raise
        except Exception:
            await started.put(None)  # what was started before is still answered
            raise
        await started.put(None)

    async def analyze_batch(
        self, requests: AsyncIterator[engine_pb2.AnalyzeBatchRequest], context: CallContext
    ) -> AsyncIterator[bytes]:
        """Answer questions of any kind, in any order."""
        async with aclosing(analyze(self._runtime, requests, context)) as answers:
            async for answer in answers:
                yield answer

    def get_info(
        self, request: engine_pb2.GetInfoRequest, context: CallContext
    ) -> engine_pb2.GetInfoResponse:
        """Version, levels, networks, limits."""
        del request, context
        engine, config = self._runtime.engine, self._runtime.config
        return engine_pb2.GetInfoResponse(
            version=__version__,
            levels=[LEVEL.to_api(level) for level in engine.levels],
            networks=[
                engine_pb2.Network(
                    name=network.name,
                    variant=VARIANT.to_api(network.variant),
                    version=network.version,
                    loaded=network.loaded,
                    description=network.description,
                )
                for network in engine.networks()
            ],
            limits=engine_pb2.Limits(
                max_message_bytes=config.max_message_bytes,
                max_pending_requests=config.max_pending_requests,
                max_batch_positions=config.max_batch_positions,
                max_simulations=config.max_simulations,
                max_simulation_games=config.max_simulation_games,
                max_rollouts=config.max_rollouts,
                max_rollouts_per_client=config.max_rollouts_per_client,
                max_rollout_trials=config.max_rollout_trials,
                max_rollout_plays=config.max_rollout_plays,
                max_batches=config.max_batches,
                max_games=config.max_games,
                max_engine_games=config.max_engine_games,
                max_engine_games_per_client=config.max_engine_games_per_client,
                max_watchers=config.max_watchers,
            ),
            threads=config.threads,
            match_equity_table=engine.met.name,
            rollout_levels=[level.full_name for level in ROLLOUT_LEVELS],
            digest=self._runtime.identity.digest,
        )


_UNREAD = "a request without faults was not read"


def _batch(
    engine: Engine, points: NDArray[np.int8], variant: Variant, level: Level, batch_id: int
) -> Work[engine_pb2.EvaluateBatchResponse]:
    refuse(batch_faults(points, variant))
    yield
    chances = yield from engine.evaluate_batch(points, variant, level)
    data = chances.astype("<f4", copy=False).tobytes()
    return engine_pb2.EvaluateBatchResponse(probabilities=data, id=batch_id)
