"""Questions to the engine as the API asks them, each as the work that answers it.

A function here checks a request completely and returns the work that makes its answer, and how far
the engine may go with it. The methods of `EngineService` and batches of questions share them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.cube_rules import cube_faults
from bgserver.engine.cube_scores import DEFAULT_AWAY, advise_by_score, score_faults
from bgserver.engine.errors import Fault
from bgserver.engine.levels import Level
from bgserver.engine.market import market_losers
from bgserver.engine.position import GameState
from bgserver.engine.rollout_level import RolloutLevel
from bgserver.engine.rollout_spec import MAX_CANDIDATES, MAX_TRIALS
from bgserver.server.convert_cube import (
    RACCOON_OWNER,
    advice_message,
    market_message,
    score_table_message,
)
from bgserver.server.convert_engine import (
    evaluation_message,
    ranked_play_message,
    read_limit,
    read_question,
    refuse_nardy,
)
from bgserver.server.convert_rollout import begin_rollout, rollout_message
from bgserver.server.convert_state import dice_message, read_dice, refuse
from bgserver.v1 import engine_pb2

if TYPE_CHECKING:
    from collections.abc import Collection

    from bgserver.engine.cube_rules import RaccoonOwner
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.limit import Limit
    from bgserver.engine.position import Dice
    from bgserver.engine.rollout_run import RolloutRun
    from bgserver.engine.work import Work
    from bgserver.v1 import rollout_pb2

__all__ = [
    "Convergence",
    "RolloutLimits",
    "cube_advice",
    "cube_scores",
    "evaluation",
    "judging_levels",
    "ranking",
    "read_cube_question",
    "read_evaluation",
    "read_ranking",
    "rolled_out",
]

_FIRST_LOOK = 36
_CUBE_VALUE_IN = {
    "state": "state.cube.value",
    "xgid": "xgid.cube_value",
    "gnu_id": "gnu_id.match_id.cube_value",
}
_UNREAD = "a request without faults was not read"


@dataclass(frozen=True, slots=True)
class RolloutLimits:
    """How much one rollout may ask for."""

    trials: int = MAX_TRIALS
    """Most trials of one candidate."""
    plays: int = MAX_CANDIDATES
    """Most plays."""


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
    state, limit = read_evaluation(request, judging_levels(engine))
    return _evaluate(engine, state, limit), limit


def ranking(
    engine: Engine, request: engine_pb2.RankPlaysRequest
) -> tuple[Work[engine_pb2.RankPlaysResponse], Limit]:
    """Rank the plays of a roll.

    Raises:
        InvalidInputError: The request is faulty.
    """
    state, dice, limit = read_ranking(request, judging_levels(engine))
    return _rank(engine, request, state, dice, limit), limit


def cube_advice(
    engine: Engine, request: engine_pb2.AdviseCubeRequest
) -> tuple[Work[engine_pb2.AdviseCubeResponse], Limit]:
    """Advise on the cube.

    Raises:
        InvalidInputError: The request is faulty.
    """
    state, owner, limit = read_cube_question(request, judging_levels(engine))
    return _advise(engine, request, state, limit, owner), limit


def rolled_out(
    engine: Engine, request: rollout_pb2.RolloutRequest, limits: RolloutLimits
) -> Work[tuple[rollout_pb2.RolloutResponse, list[engine_pb2.ConvergencePoint]]]:
    """Roll out on one thread; the same figures as on many.

    Returns:
        The result, and how certain it was on the way.

    Raises:
        InvalidInputError: The request is faulty.
        WrongMomentError: The game is over, or an offer is pending.
    """
    spec, run = yield from begin_rollout(request, engine, limits.trials, limits.plays)
    convergence = Convergence(run)
    for chunk in run.chunks():
        run.add((yield from chunk.work(engine)))
        convergence.look()
    return rollout_message(engine, spec, run), convergence.points


class Convergence:
    """How certain a rollout is on its way; to be asked to look after every chunk."""

    def __init__(self, run: RolloutRun) -> None:
        self.points: list[engine_pb2.ConvergencePoint] = []
        """After 36, 72, 144 and so on trials, and at the end."""
        self._run = run
        self._next = _FIRST_LOOK
        self.look()

    def look(self) -> None:
        """Note how certain it is, if it is time for that."""
        run = self._run
        if run.stopped_by is None and run.trials < self._next:
            return
        if self.points and self.points[-1].trials == run.trials:
            return
        self._next = 2 * run.trials
        errors = [entry.equity.standard_error for entry in run.result().entries if entry.is_active]
        point = engine_pb2.ConvergencePoint(trials=run.trials, standard_error=max(errors))
        self.points.append(point)


def _read_raccoons(
    request: engine_pb2.AdviseCubeRequest, state: GameState | None, faults: list[Fault]
) -> RaccoonOwner | None:
    """Who owns the cube after a raccoon; None without raccoons."""
    if not request.raccoons:
        return None
    owner = None
    if request.raccoon_owner:
        owner = RACCOON_OWNER.read(request.raccoon_owner, "raccoon_owner", faults)
    else:
        message = "state who owns the cube after a raccoon"
        faults.append(Fault("raccoon_owner", "RACCOON_OWNER_REQUIRED", message))
    if state is not None:
        found = cube_faults(
            state.cube, state.match, beavers=state.beavers, raccoons=True, raccoon_owner=owner
        )
        faults.extend(fault for fault in found if fault.field == "raccoons")
    return owner


def cube_scores(
    engine: Engine, request: engine_pb2.AdviseCubeByScoreRequest
) -> tuple[Work[engine_pb2.AdviseCubeByScoreResponse], Limit]:
    """Advise on the cube at every score.

    Raises:
        InvalidInputError: The request is faulty.
    """
    faults: list[Fault] = []
    state = read_question(request.position, faults)
    limit = read_limit(request, judging_levels(engine), faults)
    refuse_nardy(request.position, state, faults)
    away = request.away if request.HasField("away") else DEFAULT_AWAY
    for fault in score_faults(state or GameState(), away):
        if fault.field == "away":
            faults.append(fault)
        elif fault.field == "cube.value":
            field = f"position.{_CUBE_VALUE_IN[request.position.WhichOneof('source') or '']}"
            faults.append(Fault(field, fault.reason, fault.message))
    refuse(faults)
    if state is None or limit is None:
        raise AssertionError(_UNREAD)
    return _advise_by_score(engine, state, limit, away), limit


def read_evaluation(
    request: engine_pb2.EvaluateRequest, levels: Collection[Level]
) -> tuple[GameState, Limit]:
    """The position that is to be evaluated, and how far to go.

    Raises:
        InvalidInputError: The request is faulty.
    """
    faults: list[Fault] = []
    state = read_question(request.position, faults)
    limit = read_limit(request, levels, faults)
    refuse(faults)
    if state is None or limit is None:
        raise AssertionError(_UNREAD)
    return state, limit


def read_ranking(
    request: engine_pb2.RankPlaysRequest, levels: Collection[Level]
) -> tuple[GameState, Dice, Limit]:
    """The position and the roll whose plays are to be ranked, and how far to go.

    Raises:
        InvalidInputError: The request is faulty.
    """
    faults: list[Fault] = []
    state = read_question(request.position, faults)
    dice = read_dice(request.dice if request.HasField("dice") else None, state, faults)
    limit = read_limit(request, levels, faults)
    refuse(faults)
    if state is None or dice is None or limit is None:
        raise AssertionError(_UNREAD)
    return state, dice, limit


def read_cube_question(
    request: engine_pb2.AdviseCubeRequest, levels: Collection[Level]
) -> tuple[GameState, RaccoonOwner | None, Limit]:
    """The position whose cube decision is asked for, who owns the cube after a raccoon, how far.

    Raises:
        InvalidInputError: The request is faulty.
    """
    faults: list[Fault] = []
    state = read_question(request.position, faults)
    limit = read_limit(request, levels, faults)
    refuse_nardy(request.position, state, faults)
    owner = _read_raccoons(request, state, faults)
    if request.market_replies and not request.market_losers:
        message = "rolls of the opponent are listed with market_losers only"
        faults.append(Fault("market_replies", "MARKET_LOSERS_REQUIRED", message))
    refuse(faults)
    if state is None or limit is None:
        raise AssertionError(_UNREAD)
    return state, owner, limit


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
    rolled_out = sum(play.preset is not None for play in ranked)
    return engine_pb2.RankPlaysResponse(
        plays=[ranked_play_message(play, state.position) for play in wanted],
        total_plays=len(ranked),
        dice=dice_message(dice),
        rolled_out=rolled_out if isinstance(limit, RolloutLevel) else None,
    )


def _advise(
    engine: Engine,
    request: engine_pb2.AdviseCubeRequest,
    state: GameState,
    limit: Limit,
    raccoon_owner: RaccoonOwner | None,
) -> Work[engine_pb2.AdviseCubeResponse]:
    found = yield from engine.advise_cube(state, limit, raccoon_owner=raccoon_owner)
    message = advice_message(*found)
    if request.market_losers:
        losers = yield from market_losers(engine, state)
        if losers is not None:
            message.market_losers.CopyFrom(market_message(losers, replies=request.market_replies))
    return message


def _advise_by_score(
    engine: Engine, state: GameState, limit: Limit, away: int
) -> Work[engine_pb2.AdviseCubeByScoreResponse]:
    return score_table_message((yield from advise_by_score(engine, state, limit, away)))
