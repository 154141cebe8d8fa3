"""The cube decision of one position at every score of a match.

The position is judged once: its cubeless chances at the level that is asked for, which do not
depend on the score. What doubling is worth at a score follows from them by the static formula of
`bgserver.kernels.cube`, so that the table is as quick as one question; a look-ahead with the score
itself (`Engine.advise_cube`) may differ a little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bgserver.engine.cube import advise_cube
from bgserver.engine.cube_rules import cube_faults
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.position import MatchScore, Variant

if TYPE_CHECKING:
    from bgserver.engine.cube_advice import CubeAdvice
    from bgserver.engine.evaluator import Engine, Evaluation
    from bgserver.engine.limit import Limit
    from bgserver.engine.position import GameState
    from bgserver.engine.work import Work

__all__ = [
    "DEFAULT_AWAY",
    "MAX_AWAY",
    "AdviceAtScore",
    "ScoreTable",
    "advise_by_score",
    "score_faults",
]

DEFAULT_AWAY = 7
"""Points away that a table goes to unless asked otherwise."""
MAX_AWAY = 25
"""Most points away: the published part of the match equity table."""


@dataclass(frozen=True, slots=True)
class AdviceAtScore:
    """The cube decision at one score."""

    away: int
    """Points that the player on roll needs."""
    opponent_away: int
    """Points that the opponent needs."""
    crawford: bool
    """The Crawford game; a score with one side at 1 away is else after it."""
    advice: CubeAdvice
    """The decision."""


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The cube decision of one position for money and at every score."""

    evaluation: Evaluation
    """How the position was judged, for money."""
    money: CubeAdvice
    """The decision in money play, with the state's own Jacoby rule and beavers."""
    scores: tuple[AdviceAtScore, ...]
    """By points away of the player on roll, then of the opponent; the Crawford game first."""


def advise_by_score(engine: Engine, state: GameState, limit: Limit, away: int) -> Work[ScoreTable]:
    """Advise on the cube for money and at every score.

    Args:
        engine: What judges.
        state: Before the roll: one that it carries is left aside. Its own score does not count, its
            cube does: with an owned cube the table is about redoubles, and the Crawford game is
            left out.
        limit: How deep the chances are judged.
        away: Points away that the table goes to, 1..`MAX_AWAY`.

    Raises:
        InvalidInputError: `away` is out of range, the cube is impossible in a match, or the game
            is Long Nardy, which has no cube.
        WrongMomentError: See `bgserver.engine.moments`.
    """
    faults = score_faults(state, away)
    if faults:
        raise InvalidInputError(faults)
    state = replace(state, dice=None)
    money = replace(state, match=None)
    judged, evaluation = yield from engine.advise_cube(money, limit)
    del judged  # by the level's own look-ahead; here everything is by the formula
    chances = evaluation.probabilities
    scores = []
    for own in range(1, away + 1):
        for opponent in range(1, away + 1):
            one_away = (own == 1) != (opponent == 1)
            games = (True, False) if one_away and state.cube.value == 1 else (False,)
            for crawford in games:
                at_score = replace(
                    state,
                    match=_score(own, opponent, crawford=crawford),
                    jacoby=False,
                    beavers=False,
                )
                advice = advise_cube(chances, at_score, met=engine.met)
                scores.append(AdviceAtScore(own, opponent, crawford, advice))
        yield
    for_money = advise_cube(chances, money, met=engine.met)
    return ScoreTable(evaluation, for_money, tuple(scores))


def score_faults(state: GameState, away: int) -> list[Fault]:
    """Why no table can be made; empty if one can."""
    faults = []
    if not 1 <= away <= MAX_AWAY:
        faults.append(Fault("away", "OUT_OF_RANGE", f"expected 1 to {MAX_AWAY}, got {away}"))
    if state.position.variant is Variant.LONG_NARDY:
        message = "long nardy is played without a cube"
        faults.append(Fault("position.variant", "NO_CUBE_IN_LONG_NARDY", message))
    # What is possible at one score before the Crawford game is possible at all of them.
    faults += cube_faults(state.cube, _score(2, 2, crawford=False))
    return faults


def _score(own: int, opponent: int, *, crawford: bool) -> MatchScore:
    length = max(own, opponent, 2)
    return MatchScore(length, length - own, length - opponent, crawford)
