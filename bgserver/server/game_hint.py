"""What the engine would do in a seat's place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, WrongMomentError
from bgserver.engine.levels import Level
from bgserver.engine.position import Variant
from bgserver.engine.strength import EXPERT, DecisionKey
from bgserver.games.actions import ActionKind
from bgserver.games.bot import bot_action
from bgserver.games.state import Stage, to_act
from bgserver.games.turn import first_turn, rest_to
from bgserver.games.views import game_state
from bgserver.server.convert_cube import advice_message
from bgserver.server.convert_engine import ranked_play_message, read_limit
from bgserver.server.convert_game_event import ACTION_KIND
from bgserver.server.convert_state import refuse
from bgserver.server.questions import judging_levels
from bgserver.v1 import game_pb2

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.limit import Limit
    from bgserver.engine.position import Seat
    from bgserver.engine.work import Work
    from bgserver.games.state import TableState
    from bgserver.games.storage_records import Detail

__all__ = ["hint"]

_DEFAULT_PLAYS = 5
_UNREAD = "a request without faults was not read"


def hint(
    engine: Engine,
    request: game_pb2.HintRequest,
    detail: Detail,
    state: TableState | None,
    seat: Seat,
) -> Work[game_pb2.HintResponse]:
    """The engine's advice to a seat that is to act.

    Raises:
        InvalidInputError: The limit is none.
        WrongMomentError: `HINTS_OFF`; `GAME_WAITING`; `NOT_YOUR_TURN`, if the game does not wait
            for this seat.
    """
    faults: list[Fault] = []
    limit = read_limit(request, judging_levels(engine), faults)
    refuse(faults)
    if limit is None:
        raise AssertionError(_UNREAD)
    if not detail.hints:
        raise WrongMomentError(reason="HINTS_OFF", message="this game is played without hints")
    if state is None:
        message = "a seat is still open: the game has not begun"
        raise WrongMomentError(reason="GAME_WAITING", message=message)
    if seat not in to_act(state):
        message = "the game does not wait for this seat"
        raise WrongMomentError(reason="NOT_YOUR_TURN", message=message)
    return _advise(engine, state, seat, limit, request.max_plays or _DEFAULT_PLAYS)


def _advise(
    engine: Engine, state: TableState, seat: Seat, limit: Limit, most: int
) -> Work[game_pb2.HintResponse]:
    answer = game_pb2.HintResponse(version=state.version)
    if state.stage is Stage.MOVING and state.resigning is None and not state.last_answer:
        yield from _rank(engine, state, limit, most, answer)
        return answer
    level = limit if isinstance(limit, Level) else Level.STATIC
    action = yield from bot_action(engine, state, seat, (level, EXPERT), DecisionKey())
    answer.action = ACTION_KIND.to_api(action.kind)
    is_cube = state.stage in {Stage.TO_ROLL, Stage.DOUBLE} and state.resigning is None
    if is_cube and state.setup.cube and state.setup.rules.variant is Variant.BACKGAMMON:
        advice = yield from engine.advise_cube(game_state(state), limit)
        answer.cube.CopyFrom(advice_message(*advice))
    return answer


def _rank(
    engine: Engine,
    state: TableState,
    limit: Limit,
    most: int,
    answer: game_pb2.HintResponse,
) -> Work[None]:
    """The best plays that begin with the steps made so far."""
    dice = state.dice
    if dice is None:
        return
    ranked = yield from engine.rank(game_state(state), dice, limit, first_turn=first_turn(state))
    fitting = [play for play in ranked if rest_to(state, play.play.result) is not None]
    answer.plays.extend(ranked_play_message(play, state.turn_start) for play in fitting[:most])
    finished = bool(fitting) and rest_to(state, fitting[0].play.result) == ()
    answer.action = ACTION_KIND.to_api(ActionKind.CONFIRM if finished else ActionKind.PLAY)
