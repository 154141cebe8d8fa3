"""A player at another server, asked over its EngineService."""

from __future__ import annotations

import asyncio
import math
import time
from typing import TYPE_CHECKING, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from bgserver.engine.errors import EngineError
from bgserver.engine.player import Choice
from bgserver.engine.plays import play_between
from bgserver.engine.position import GameState, Position, Variant
from bgserver.games import actions as act
from bgserver.games import turn
from bgserver.games.bot import beaver_options
from bgserver.games.deciding import AskKind
from bgserver.games.simulation import Misconduct
from bgserver.games.state import Stage
from bgserver.games.views import game_state
from bgserver.server.convert_enums import LEVEL
from bgserver.server.convert_player import player_message
from bgserver.server.convert_state import dice_message, state_message
from bgserver.server.foreign import plain
from bgserver.v1 import common_pb2, engine_pb2

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from bgserver.games.actions import Action
    from bgserver.games.deciding import Ask, Reply
    from bgserver.games.simulation import Contestant

__all__ = ["RemotePlayer"]

_Answer = TypeVar("_Answer", bound=Message)

_FIRST_ROLL = common_pb2.Dice(first=3, second=1)
_MOVES: dict[int, type[Action]] = {
    engine_pb2.CUBE_MOVE_ROLL: act.Roll,
    engine_pb2.CUBE_MOVE_DOUBLE: act.Double,
    engine_pb2.CUBE_MOVE_PASS: act.Drop,
    engine_pb2.CUBE_MOVE_TAKE: act.Take,
    engine_pb2.CUBE_MOVE_BEAVER: act.Beaver,
}
# An engine that comes back after a restart is to be found again soon.
_OPTIONS = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.enable_http_proxy", 0),
)
_TOO_LATE = grpc.StatusCode.DEADLINE_EXCEEDED
_ABSENT = grpc.StatusCode.UNAVAILABLE
_FIRST_ANSWER_S = 3.0  # at least, as the connection has to be made
_MOST_WORDS = 200  # characters of what another server says


class RemotePlayer:
    """Asks another server for decisions; to be used as an asynchronous context manager.

    Beavers and raccoons are no questions of EngineService: they are answered by the equities that
    the other server finds for what could be done (`beaver_options`).
    """

    def __init__(self, player: Contestant, address: str, limit_s: float) -> None:
        """Not connected yet.

        Args:
            player: Level and strength to ask for.
            address: `host:port`.
            limit_s: What a decision may take at most, the way there and back included.
        """
        self._address = address
        self._player = player_message(player)
        self._level = LEVEL.to_api(player.level)
        self._limit_s = limit_s
        self._channel = grpc.aio.insecure_channel(address, options=_OPTIONS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._channel.close(None)

    async def absence(self, variant: Variant) -> str:
        """Why nobody plays at the address; empty if a first question got an answer.

        Whether the answer is a good one is not looked at: bad answers cost games.

        Args:
            variant: The game that is to be played.
        """
        limit_s = max(self._limit_s, _FIRST_ANSWER_S)
        request = engine_pb2.ChoosePlayRequest(
            position=_source(GameState(Position.start(variant))),
            dice=_FIRST_ROLL,
            player=self._player,
            first_turn=variant is Variant.LONG_NARDY,
            seed=0,
        )
        try:
            async with asyncio.timeout(limit_s):
                kind = engine_pb2.ChoosePlayResponse
                answer = await self._ask("ChoosePlay", request, kind, limit_s)
        except TimeoutError:
            return self._silence(limit_s)
        except grpc.aio.AioRpcError as error:
            if error.code() is _TOO_LATE:
                return self._silence(limit_s)
            said = plain((error.details() or "").partition("\n")[0])[:_MOST_WORDS]
            if error.code() is _ABSENT:
                return f"{self._address} cannot be reached: {said}"
            return f"{self._address} does not play: {error.code().name}: {said}"
        except DecodeError:
            return f"{self._address} does not play: its answer cannot be read"
        if not answer.HasField("play"):
            # Any message without known fields reads as an empty one.
            return f"{self._address} does not play: its answer holds no play"
        return ""

    def _silence(self, limit_s: float) -> str:
        return f"{self._address} gave no answer within {limit_s:g} s"

    async def answer(self, ask: Ask) -> Reply:
        """What the player decides; what it did wrong if it does not."""
        end = time.monotonic() + self._limit_s
        try:
            async with asyncio.timeout(self._limit_s):
                if ask.kind is AskKind.PLAY:
                    return await self._play(ask, end)
                if ask.table.stage in {Stage.BEAVER, Stage.RACCOON}:
                    return await self._answer_beaver(ask, end)
                return await self._cube(ask, end)
        except TimeoutError:
            return Misconduct.SLOW
        except grpc.aio.AioRpcError as error:
            return Misconduct.SLOW if error.code() is _TOO_LATE else Misconduct.FAILED
        except (DecodeError, EngineError, ValueError):
            return Misconduct.ILLEGAL

    async def _ask(
        self, method: str, request: Message, answer: type[_Answer], limit_s: float
    ) -> _Answer:
        """The answer of the other server's EngineService.

        It is read here: grpc.aio gives None for what it cannot read.

        Raises:
            DecodeError: It is no such message.
            AioRpcError: The call failed.
        """
        call = self._channel.unary_unary(
            f"/bgserver.v1.EngineService/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=None,
        )
        return answer.FromString(await call(request, timeout=limit_s))

    async def _play(self, ask: Ask, end: float) -> Reply:
        state, first_turn = game_state(ask.table), turn.first_turn(ask.table)
        request = engine_pb2.ChoosePlayRequest(
            position=_source(state),
            dice=dice_message(ask.dice),
            player=self._player,
            first_turn=first_turn,
            seed=ask.key.seed,
            game=ask.key.game,
            turn=ask.key.turn,
        )
        kind = engine_pb2.ChoosePlayResponse
        answer = await self._ask("ChoosePlay", request, kind, _left(end))
        result = Position(tuple(answer.play.result.points), state.position.variant)
        play = play_between(state.position, ask.dice, result, first_turn=first_turn)
        return Choice(play, answer.game_value)

    async def _cube(self, ask: Ask, end: float) -> Reply:
        request = engine_pb2.ChooseCubeActionRequest(
            position=_source(game_state(ask.table)),
            player=self._player,
            seed=ask.key.seed,
            game=ask.key.game,
            turn=ask.key.turn,
        )
        kind = engine_pb2.ChooseCubeActionResponse
        answer = await self._ask("ChooseCubeAction", request, kind, _left(end))
        move = _MOVES.get(answer.move)
        return Misconduct.ILLEGAL if move is None else move()

    async def _answer_beaver(self, ask: Ask, end: float) -> Reply:
        worths: list[tuple[float, Action]] = []
        for option in beaver_options(ask.table):
            equity = 0.0
            if option.after is not None:
                request = engine_pb2.EvaluateRequest(
                    position=_source(option.after), limit=common_pb2.Limit(level=self._level)
                )
                kind = engine_pb2.EvaluateResponse
                answer = await self._ask("Evaluate", request, kind, _left(end))
                equity = answer.cubeful_equity
                if not math.isfinite(equity):
                    return Misconduct.ILLEGAL
            worths.append((option.worth(equity), option.action))
        return max(worths, key=lambda worth: worth[0])[1]


def _left(end: float) -> float:
    """Seconds until a moment."""
    return max(0.001, end - time.monotonic())


def _source(state: GameState) -> common_pb2.PositionSource:
    return common_pb2.PositionSource(state=state_message(state))
