"""Cube advice: what doubling, taking, passing and beavering are worth, and which is best.

The values come from `bgserver.kernels.cube`; here they become an answer for people and front
ends. Everything is seen by the player on roll before the roll.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.cube_advice import (
    BeaverAdvice,
    BeaverAnswer,
    CubeAction,
    CubeAdvice,
    CubeUtilities,
    CubeValue,
    CubeWindow,
    GammonValues,
    TakeAction,
)
from bgserver.engine.cube_rules import (
    RaccoonOwner,
    check_cube_question,
    cube_state,
    double_refusals,
    raccoon_side,
)
from bgserver.engine.errors import Fault, InvalidInputError, WrongMomentError
from bgserver.engine.met import default_met
from bgserver.engine.moments import require_playing
from bgserver.engine.position import CubeOwner
from bgserver.kernels import cube as kernels
from bgserver.kernels import cube_actions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bgserver.engine.met import MatchEquityTable
    from bgserver.engine.position import GameState, Position
    from bgserver.kernels.cube import CubeState, GammonShares, MatchTable

__all__ = [
    "OPTIONAL_TOLERANCE",
    "BeaverAdvice",
    "BeaverAnswer",
    "CubeAction",
    "CubeAdvice",
    "CubeUtilities",
    "CubeValue",
    "CubeWindow",
    "GammonValues",
    "TakeAction",
    "advise_beaver",
    "advise_cube",
    "position_efficiency",
]

OPTIONAL_TOLERANCE = 0.0005
"""A double is optional if it and waiting differ by at most this equity on the current cube: they
show the same three decimals."""

_PROBABILITY_NAMES = ("win", "win gammon", "win backgammon", "lose gammon", "lose backgammon")
# float32 networks and printed figures are not exactly ordered.
_PROBABILITY_SLACK = 1e-4

# Reasons of `WrongMomentError`.
_NO_OFFER = "NO_OFFER"
_OFFER_PENDING = "OFFER_PENDING"

# Refusals that no waiting cures: the question what a double is worth has no meaning.
_STRUCTURAL_REFUSALS = frozenset(
    {"CRAWFORD_GAME", "ONE_POINT_MATCH", "NOT_CUBE_OWNER", "CUBE_AT_CAP"}
)
_ACTIONS = {
    cube_actions.NO_DOUBLE_TAKE: CubeAction.NO_DOUBLE_TAKE,
    cube_actions.DOUBLE_TAKE: CubeAction.DOUBLE_TAKE,
    cube_actions.DOUBLE_PASS: CubeAction.DOUBLE_PASS,
    cube_actions.TOO_GOOD_TAKE: CubeAction.TOO_GOOD_TAKE,
    cube_actions.TOO_GOOD_PASS: CubeAction.TOO_GOOD_PASS,
    cube_actions.NO_DOUBLE_BEAVER: CubeAction.NO_DOUBLE_BEAVER,
    cube_actions.DOUBLE_BEAVER: CubeAction.DOUBLE_BEAVER,
}
_OPTIONAL_ACTIONS = {
    TakeAction.PASS: CubeAction.OPTIONAL_DOUBLE_PASS,
    TakeAction.TAKE: CubeAction.OPTIONAL_DOUBLE_TAKE,
    TakeAction.BEAVER: CubeAction.OPTIONAL_DOUBLE_BEAVER,
}


@dataclass(frozen=True, slots=True)
class _Question:
    """A cube decision in the form that kernels take."""

    probabilities: NDArray[np.float64]
    state: CubeState
    table: MatchTable
    efficiency: float
    raccoons: bool
    raccoon_owner: RaccoonOwner | None
    beaver_may_be_dropped: bool

    def utility(self, state: CubeState) -> float:
        """Static utility of the position in another cube state."""
        return kernels.cubeful_utility(self.probabilities, state, self.table, self.efficiency)

    def waiting(self) -> float:
        """Static utility of not doubling in this turn."""
        shares = kernels.gammon_shares(self.probabilities)
        chance = float(self.probabilities[0])
        return kernels.waiting_utility(chance, shares, self.state, self.table, self.efficiency)

    def value(self, utility: float) -> CubeValue:
        """A utility in the units of the answer."""
        equity = kernels.normalised(utility, self.state, self.table)
        return CubeValue(equity, 0.5 * (utility + 1.0) if self.state.away_own > 0 else None)


def position_efficiency(position: Position) -> float:
    """The published cube efficiency of the class of a backgammon position."""
    return kernels.cube_efficiency(np.array(position.points, dtype=np.int8))


def advise_cube(
    probabilities: Sequence[float] | NDArray[np.float32],
    state: GameState,
    *,
    met: MatchEquityTable | None = None,
    efficiency: float | None = None,
    raccoons: bool = False,
    raccoon_owner: RaccoonOwner | None = None,
    beaver_may_be_dropped: bool = True,
    utilities: CubeUtilities | None = None,
) -> CubeAdvice:
    """Advise both players on the cube.

    Args:
        probabilities: Five cubeless chances of the player on roll before the roll: win, win
            gammon or better, win backgammon, lose gammon or worse, lose backgammon.
        state: Cube, score, money rules and the board. Dice are ignored but for `refusals`.
        met: Match equity table, extended if the match is longer; the default is Kazaross-XG2.
        efficiency: Cube efficiency, 0 (dead) to 1 (live); by default that of the position's class.
        raccoons: Money play: a beaver may be answered by turning the cube once more.
        raccoon_owner: Who owns the cube after a raccoon; required with `raccoons`.
        beaver_may_be_dropped: A beaver may be answered by losing the value before it.
        utilities: Values from a deeper search instead of the static ones.

    Raises:
        InvalidInputError: Probabilities, cube, score or options are impossible; every fault is
            named.
        WrongMomentError: The game is over (`GAME_OVER`), or a beaver or raccoon is on offer
            (`OFFER_PENDING`, see `advise_beaver`).
    """
    question = _question(
        probabilities,
        state,
        met=met,
        efficiency=efficiency,
        raccoons=raccoons,
        raccoon_owner=raccoon_owner,
        beaver_may_be_dropped=beaver_may_be_dropped,
    )
    if state.double_offered and state.beaver_level > 0:
        message = "a beaver is to be answered, not a double"
        raise WrongMomentError(_OFFER_PENDING, message)
    cube = question.state
    refusals = double_refusals(state)
    possible = _STRUCTURAL_REFUSALS.isdisjoint(refusals)
    is_dead = not kernels.may_double(cube)
    no_double = question.waiting() if utilities is None else utilities.no_double
    after = kernels.doubled(cube)
    take = passed = beaver = answer = response = None
    action = CubeAction.NOT_ALLOWED
    if possible:
        found = None if utilities is None else utilities.double_take
        take = question.utility(after) if found is None else found
        passed = kernels.passed_utility(cube, question.table)
        if cube_actions.beaver_allowed(cube):
            beaver, answer = _beavered(question, utilities)
        action, response = _best_actions(question, no_double, take, passed, beaver)
        if is_dead and action.doubles:
            action = CubeAction.NO_DOUBLE_TAKE
        resigned = _OFFER_PENDING in refusals and not state.double_offered
        if resigned or "ALREADY_ROLLED" in refusals:
            action = CubeAction.NOT_ALLOWED
    five = [float(chance) for chance in question.probabilities]
    cubeless = kernels.cubeless_utility(question.probabilities, cube, question.table)
    return CubeAdvice(
        action=action,
        text=_action_text(action, state),
        response=response,
        refusals=refusals,
        is_dead=is_dead,
        no_double=question.value(no_double),
        double_take=None if take is None else question.value(take),
        double_pass=None if passed is None else question.value(passed),
        double_beaver=None if beaver is None else question.value(beaver),
        beaver_answer=answer,
        cubeless=question.value(cubeless),
        cubeless_equity=2.0 * five[0] - 1.0 + five[1] + five[2] - five[3] - five[4],
        efficiency=question.efficiency,
        window=_window(question),
        gammons=_gammon_values(question, possible=possible),
    )


def advise_beaver(
    probabilities: Sequence[float] | NDArray[np.float32],
    state: GameState,
    *,
    efficiency: float | None = None,
    raccoons: bool = False,
    raccoon_owner: RaccoonOwner | None = None,
    may_be_dropped: bool = True,
) -> BeaverAdvice:
    """Advise on the answer to a beaver (`state.beaver_level` 1) or to a raccoon (2).

    Args:
        probabilities: As for `advise_cube`, of the player on roll, who doubled.
        state: The offer is pending; the cube shows the value before its last turn.
        efficiency: As for `advise_cube`.
        raccoons: The beaver may be answered by a raccoon.
        raccoon_owner: Who owns the cube after a raccoon; required with `raccoons`, and for the
            answer to one.
        may_be_dropped: The answer may be to drop.

    Raises:
        InvalidInputError: As for `advise_cube`.
        WrongMomentError: No beaver or raccoon is on offer (`NO_OFFER`).
    """
    question = _question(
        probabilities,
        state,
        met=None,
        efficiency=efficiency,
        raccoons=raccoons or state.beaver_level > 1,
        raccoon_owner=raccoon_owner,
        beaver_may_be_dropped=may_be_dropped,
    )
    if not state.double_offered or state.beaver_level not in (1, 2):
        raise WrongMomentError(_NO_OFFER, "no beaver or raccoon is on offer")
    value = state.cube.value
    if state.beaver_level == 1:
        taken = question.state._replace(value=2 * value, owner=kernels.OPPOSING)
        drop = -float(value) if may_be_dropped else None
        play_on = question.utility(taken)
        raccoon = _raccooned(question, taken) if raccoons else None
        _, answer = _best_answer(play_on, drop, raccoon)
    else:
        raccooned = question.state._replace(value=2 * value, owner=raccoon_side(raccoon_owner))
        drop = float(value) if may_be_dropped else None
        play_on = question.utility(raccooned)
        raccoon = None
        drops = drop is not None and drop < play_on
        answer = BeaverAnswer.DROP if drops else BeaverAnswer.PLAY_ON
    return BeaverAdvice(
        answer=answer,
        play_on=play_on / value,
        drop=None if drop is None else drop / value,
        raccoon=None if raccoon is None else raccoon / value,
    )


def _question(
    probabilities: Sequence[float] | NDArray[np.float32],
    state: GameState,
    *,
    met: MatchEquityTable | None,
    efficiency: float | None,
    raccoons: bool,
    raccoon_owner: RaccoonOwner | None,
    beaver_may_be_dropped: bool,
) -> _Question:
    """Check the input and bring it into the form that kernels take."""
    faults = _probability_faults(probabilities)
    if efficiency is not None and not 0.0 <= efficiency <= 1.0:
        message = f"expected 0 to 1, got {efficiency}"
        faults.append(Fault("efficiency", "EFFICIENCY_OUT_OF_RANGE", message))
    try:
        check_cube_question(state, raccoons=raccoons, raccoon_owner=raccoon_owner)
    except InvalidInputError as error:
        faults.extend(error.faults)
    if faults:
        raise InvalidInputError(faults)
    require_playing(state)
    table = default_met() if met is None else met
    if state.match is not None:
        table = table.extended(state.match.length)
    return _Question(
        probabilities=_ordered(probabilities),
        state=cube_state(state),
        table=table.table,
        efficiency=position_efficiency(state.position) if efficiency is None else efficiency,
        raccoons=raccoons,
        raccoon_owner=raccoon_owner,
        beaver_may_be_dropped=beaver_may_be_dropped,
    )


def _probability_faults(probabilities: Sequence[float] | NDArray[np.float32]) -> list[Fault]:
    if len(probabilities) != len(_PROBABILITY_NAMES):
        message = f"expected {len(_PROBABILITY_NAMES)} values, got {len(probabilities)}"
        return [Fault("probabilities", "WRONG_LENGTH", message)]
    faults = []
    for index, (name, chance) in enumerate(zip(_PROBABILITY_NAMES, probabilities, strict=True)):
        if not math.isfinite(chance) or not 0.0 <= chance <= 1.0:
            message = f"the chance to {name} must be 0 to 1, got {float(chance)}"
            faults.append(Fault(f"probabilities[{index}]", "PROBABILITY_OUT_OF_RANGE", message))
    if faults:
        return faults
    win, gammon, backgammon, lose_gammon, lose_backgammon = (float(p) for p in probabilities)
    for index, part, whole, of_what in (
        (1, gammon, win, "wins"),
        (2, backgammon, gammon, "gammons won"),
        (3, lose_gammon, 1.0 - win, "losses"),
        (4, lose_backgammon, lose_gammon, "gammons lost"),
    ):
        if part > whole + _PROBABILITY_SLACK:
            message = f"{part} is more than all {of_what} together ({whole})"
            faults.append(Fault(f"probabilities[{index}]", "PROBABILITIES_NOT_ORDERED", message))
    return faults


def _ordered(probabilities: Sequence[float] | NDArray[np.float32]) -> NDArray[np.float64]:
    """The five chances with the slack of rounding taken out."""
    ordered = np.array([float(chance) for chance in probabilities], dtype=np.float64)
    ordered[1] = min(ordered[1], ordered[0])
    ordered[2] = min(ordered[2], ordered[1])
    ordered[3] = min(ordered[3], 1.0 - ordered[0])
    ordered[4] = min(ordered[4], ordered[3])
    return ordered


def _best_actions(
    question: _Question, no_double: float, take: float, passed: float, beaver: float | None
) -> tuple[CubeAction, TakeAction]:
    """The best actions of both, given what the doubler gets from each course."""
    beavers = beaver is not None and beaver < take
    accepted = beaver if beaver is not None and beavers else take
    if accepted > passed:
        response = TakeAction.PASS
    else:
        response = TakeAction.BEAVER if beavers else TakeAction.TAKE
    equities = [
        kernels.normalised(utility, question.state, question.table)
        for utility in (no_double, accepted, passed)
    ]
    if abs(equities[0] - min(equities[1:])) <= OPTIONAL_TOLERANCE:
        return _OPTIONAL_ACTIONS[response], response
    code = cube_actions.classify(no_double, accepted, passed, beavers)
    return _ACTIONS[code], response


def _beavered(question: _Question, utilities: CubeUtilities | None) -> tuple[float, BeaverAnswer]:
    """What a beaver leaves the doubler with, and how he answers it best."""
    beavered = kernels.doubled(kernels.doubled(question.state))
    play_on = raccoon = None
    if utilities is not None:
        play_on, raccoon = utilities.double_beaver, utilities.raccoon
    if play_on is None:
        play_on = question.utility(beavered)
    drop = -2.0 * question.state.value if question.beaver_may_be_dropped else None
    after = _raccooned(question, beavered, raccoon) if question.raccoons else None
    return _best_answer(play_on, drop, after)


def _best_answer(
    play_on: float, drop: float | None, raccoon: float | None
) -> tuple[float, BeaverAnswer]:
    best, answer = play_on, BeaverAnswer.PLAY_ON
    if drop is not None and drop > best:
        best, answer = drop, BeaverAnswer.DROP
    if raccoon is not None and raccoon > best:
        best, answer = raccoon, BeaverAnswer.RACCOON
    return best, answer


def _raccooned(
    question: _Question, beavered: CubeState, play_on: float | None = None
) -> float | None:
    """What the doubler gets from a raccoon when the beaverer answers best; None above the cap.

    Args:
        question: The decision.
        beavered: The state after the beaver.
        play_on: What the raccoon is worth if it is played on; None for the static value.
    """
    if 2 * beavered.value > beavered.cap:
        return None
    owner = raccoon_side(question.raccoon_owner)
    if play_on is None:
        play_on = question.utility(beavered._replace(value=2 * beavered.value, owner=owner))
    # The beaverer may drop at the value before the raccoon (4.21).
    if question.beaver_may_be_dropped:
        return min(play_on, float(beavered.value))
    return play_on


def _action_text(action: CubeAction, state: GameState) -> str:
    text: str = action.value
    if state.cube.owner is CubeOwner.ON_ROLL and action is not CubeAction.NOT_ALLOWED:
        text = text.replace("double", "redouble")
    return text


def _shares(question: _Question) -> GammonShares:
    return kernels.gammon_shares(question.probabilities)


def _window(question: _Question) -> CubeWindow:
    shares = _shares(question)
    state, table = question.state, question.table
    take, double, cash, too_good = cube_actions.critical_points(
        shares, state, table, question.efficiency
    )
    dead = live = math.nan
    if not math.isnan(cash):
        dead = cube_actions.cash_point(shares, state, table, 0.0)
        live = cube_actions.cash_point(shares, state, table, 1.0)
    return CubeWindow(*(_known(point) for point in (take, double, cash, too_good, dead, live)))


def _known(point: float) -> float | None:
    return None if math.isnan(point) else point


def _gammon_values(question: _Question, *, possible: bool) -> GammonValues:
    shares = _shares(question)
    own, opponent = _gammon_value_pair(question.state, question.table)
    own_doubled = opponent_doubled = None
    if possible:
        after = kernels.doubled(question.state)
        own_doubled, opponent_doubled = _gammon_value_pair(after, question.table)
    return GammonValues(
        own_rate=shares.win_gammon + shares.win_backgammon,
        opponent_rate=shares.lose_gammon + shares.lose_backgammon,
        own_value=own,
        opponent_value=opponent,
        own_value_doubled=own_doubled,
        opponent_value_doubled=opponent_doubled,
    )


def _gammon_value_pair(state: CubeState, table: MatchTable) -> tuple[float, float]:
    """Gammon values of (player on roll, opponent) in one cube state."""
    if state.away_own == 0:
        value = 0.0 if state.jacoby and state.owner == kernels.CENTERED else 0.5
        return value, value
    late = state.crawford or state.post_crawford
    own, opponent, cube = state.away_own, state.away_opponent, state.value
    win = kernels.match_chance(table, own - cube, opponent, late)
    lose = kernels.match_chance(table, own, opponent - cube, late)
    win_gammon = kernels.match_chance(table, own - 2 * cube, opponent, late)
    lose_gammon = kernels.match_chance(table, own, opponent - 2 * cube, late)
    return (win_gammon - win) / (win - lose), (lose - lose_gammon) / (win - lose)
