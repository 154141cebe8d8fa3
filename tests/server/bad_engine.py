"""An engine that misbehaves: a real server that implements EngineService badly."""

from __future__ import annotations

import asyncio
import enum
import math
import random
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import grpc
import grpc.aio

from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Dice
from bgserver.server.convert_plays import play_message
from bgserver.server.convert_state import read_source
from bgserver.v1 import engine_pb2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from google.protobuf.message import Message

    from bgserver.engine.errors import Fault

__all__ = ["BadEngine", "Manner", "misbehaving"]


class Manner(enum.Enum):
    """How it behaves from its `after`th decision on."""

    GOOD = "good"
    EAGER = "eager"
    """It keeps to the rules, doubles whenever it may, and thinks itself ahead."""
    SLOW = "slow"
    """It thinks for ever."""
    DIES = "dies"
    """It stops to serve in the middle of a decision."""
    FAILS = "fails"
    """It answers with an error."""
    ILLEGAL_PLAY = "illegal_play"
    """It leaves the board as it was, or returns no board at all."""
    ILLEGAL_CUBE = "illegal_cube"
    """It takes where there is nothing to take, and doubles when asked for an answer."""
    NONSENSE = "nonsense"
    """Its boards have too many points and its cube actions have no meaning."""
    GARBLED = "garbled"
    """What it sends is no message."""
    EMPTY = "empty"
    """What it sends are messages with nothing in them."""
    UNBOUNDED = "unbounded"
    """As EAGER, with equities that are no numbers."""


_DOUBLING = {Manner.EAGER, Manner.UNBOUNDED}
_FAIR = {Manner.GOOD} | _DOUBLING


class BadEngine:
    """Plays at random, never doubles, always takes, until it begins to misbehave."""

    def __init__(self, manner: Manner, after: int, words: str) -> None:
        self.manner = manner
        self.after = after
        self.words = words
        self.decisions = 0
        self.killed = asyncio.Event()

    async def _misbehaves(self, context: grpc.aio.ServicerContext[object, object]) -> bool:
        self.decisions += 1
        if self.decisions <= self.after or self.manner in _FAIR:
            return False
        if self.manner is Manner.SLOW:
            await asyncio.Event().wait()
        if self.manner is Manner.DIES:
            self.killed.set()
            await asyncio.Event().wait()
        if self.manner is Manner.FAILS:
            await context.abort(grpc.StatusCode.INTERNAL, self.words)
        return True

    async def choose_play(
        self,
        request: engine_pb2.ChoosePlayRequest,
        context: grpc.aio.ServicerContext[object, object],
    ) -> engine_pb2.ChoosePlayResponse:
        bad = await self._misbehaves(context)
        faults: list[Fault] = []
        state = read_source(request.position, faults)
        assert state is not None, faults
        dice = Dice(request.dice.first, request.dice.second)
        plays = legal_plays(state.position, dice, first_turn=request.first_turn)
        answer = engine_pb2.ChoosePlayResponse(
            play=play_message(random.Random(self.decisions).choice(plays), state.position)
        )
        if bad and self.manner is Manner.ILLEGAL_PLAY:
            # Two steps are never legal with four pips more than the dice have.
            points = list(answer.play.result.points)
            answer.play.result.points[:] = points[::-1]
        if bad and self.manner is Manner.NONSENSE:
            answer.play.result.points[:] = [100] * 99
        return answer

    async def choose_cube_action(
        self,
        request: engine_pb2.ChooseCubeActionRequest,
        context: grpc.aio.ServicerContext[object, object],
    ) -> engine_pb2.ChooseCubeActionResponse:
        bad = await self._misbehaves(context)
        offered = request.position.state.double_offered
        move = engine_pb2.CUBE_MOVE_TAKE if offered else engine_pb2.CUBE_MOVE_ROLL
        if self.manner in _DOUBLING and not offered:
            move = engine_pb2.CUBE_MOVE_DOUBLE
        if bad and self.manner is Manner.ILLEGAL_CUBE:
            move = engine_pb2.CUBE_MOVE_DOUBLE if offered else engine_pb2.CUBE_MOVE_TAKE
        if bad and self.manner is Manner.NONSENSE:
            move = engine_pb2.CUBE_MOVE_UNSPECIFIED
        return engine_pb2.ChooseCubeActionResponse(move=move)

    async def evaluate(
        self,
        request: engine_pb2.EvaluateRequest,
        context: grpc.aio.ServicerContext[object, object],
    ) -> engine_pb2.EvaluateResponse:
        del request, context
        equity = math.nan if self.manner is Manner.UNBOUNDED else 0.4
        return engine_pb2.EvaluateResponse(cubeful_equity=equity)

    def written(self, answer: Message) -> bytes:
        """An answer as it is sent."""
        if self.manner is Manner.GARBLED and self.decisions > self.after:
            return b"\xff" * 50
        if self.manner is Manner.EMPTY and self.decisions > self.after:
            return b""
        return answer.SerializeToString()


@asynccontextmanager
async def misbehaving(
    manner: Manner, after: int = 30, words: str = "out of order"
) -> AsyncIterator[tuple[str, BadEngine]]:
    """A running server with such an engine: its address, and the engine."""
    engine = BadEngine(manner, after, words)
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    handlers = {
        "ChoosePlay": grpc.unary_unary_rpc_method_handler(
            engine.choose_play,
            engine_pb2.ChoosePlayRequest.FromString,
            engine.written,
        ),
        "Evaluate": grpc.unary_unary_rpc_method_handler(
            engine.evaluate,
            engine_pb2.EvaluateRequest.FromString,
            engine.written,
        ),
        "ChooseCubeAction": grpc.unary_unary_rpc_method_handler(
            engine.choose_cube_action,
            engine_pb2.ChooseCubeActionRequest.FromString,
            engine.written,
        ),
    }
    service = grpc.method_handlers_generic_handler("bgserver.v1.EngineService", handlers)
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()

    async def die() -> None:
        await engine.killed.wait()
        await server.stop(None)

    death = asyncio.create_task(die())
    try:
        yield f"127.0.0.1:{port}", engine
    finally:
        death.cancel()
        await server.stop(None)
