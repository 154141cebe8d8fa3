"""Questions to the engine as the API asks them, each as the work that answers it.

A function here checks a request completely and returns the work that makes its answer, and how far
the engine may go with it. The methods of `EngineService` and batches of questions share them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.levels import Level
from bgserver.server.convert_engine import (
    advice_message,
    evaluation_message,
    ranked_play_message,
    read_limit,
    read_question,
    refuse_nardy,
)
from bgserver.server.convert_state import dice_message, read_dice, refuse
from bgserver.v1 import engine_pb2

if TYPE_CHECKING:
    from bgserver.engine.errors import Fault
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.limit import Limit
    from bgserver.engine.position import Dice, GameState
    from bgserver.engine.work import Work

__all__ = ["cube_advice", "evaluation", "judging_levels", "ranking"]

_UNREAD = "a request without faults was not read"


def judging_levels(engine: Engine) -> list[Level]:
    """The levels that judge; RANDOM is for simulations."""
    return [level for level in engine.levels if level is not Level.RANDOM]


def evaluation(
    engine: Engine, request: engine_pb2.EvaluateRequest
) -> tuple[Work[engine_pb2.EvaluateResponse], Limit]:
    """Evaluate a position before the roll.

    Raises:
        InvalidInputError: The request is faulty.
    """
    state, limit = _read(request, engine)
    return _evaluate(engine, state, limit), limit


def ranking(
    engine: Engine, request: engine_pb2.RankPlaysRequest
) -> tuple[Work[engine_pb2.RankPlaysResponse], Limit]:
    """Rank the plays of a roll.

    Raises:
        InvalidInputError: The request is faulty.
    """
    faults: list[Fault] = []
    state = read_question(request.position, faults)
    dice = read_dice(request.dice if request.HasField("dice") else None, state, faults)
    limit = read_limit(request, judging_levels(engine), faults)
    refuse(faults)
    if state is None or dice is None or limit is None:
        raise AssertionError(_UNREAD)
    return _rank(engine, request, state, dice, limit), limit


def cube_advice(
    engine: Engine, request: engine_pb2.AdviseCubeRequest
) -> tuple[Work[engine_pb2.AdviseCubeResponse], Limit]:
    """Advise on the cube.

    Raises:
        InvalidInputError: The request is faulty.
    """
    state, limit = _read(request, engine)
    return _advise(engine, state, limit), limit


def _read(
    request: engine_pb2.EvaluateRequest | engine_pb2.AdviseCubeRequest, engine: Engine
) -> tuple[GameState, Limit]:
    faults: list[Fault] = []
    state = read_question(request.position, faults)
    limit = read_limit(request, judging_levels(engine), faults)
    if isinstance(request, engine_pb2.AdviseCubeRequest):
        refuse_nardy(request.position, state, faults)
    refuse(faults)
    if state is None or limit is None:
        raise AssertionError(_UNREAD)
    return state, limit


def _evaluate(engine: Engine, state: GameState, limit: Limit) -> Work[engine_pb2.EvaluateResponse]:
    return evaluation_message((yield from engine.evaluate(state, limit)))


def _rank(
    engine: Engine,
    request: engine_pb2.RankPlaysRequest,
    state: GameState,
    dice: Dice,
    limit: Limit,
) -> Work[engine_pb2.RankPlaysResponse]:
    ranked = yield from engine.rank(
        state, dice, limit, cubeless=request.cubeless, first_turn=request.first_turn
    )
    wanted = ranked[: request.max_plays] if request.max_plays else ranked
    return engine_pb2.RankPlaysResponse(
        plays=[ranked_play_message(play, state.position) for play in wanted],
        total_plays=len(ranked),
        dice=dice_message(dice),
    )


def _advise(engine: Engine, state: GameState, limit: Limit) -> Work[engine_pb2.AdviseCubeResponse]:
    return advice_message(*(yield from engine.advise_cube(state, limit)))
