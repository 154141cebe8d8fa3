"""Market losers against plays and cube advice asked one by one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.cube_advice import TakeAction
from bgserver.engine.errors import InvalidInputError, WrongMomentError
from bgserver.engine.levels import Level
from bgserver.engine.market import EXCHANGES, market_losers
from bgserver.engine.position import (
    Cube,
    CubeOwner,
    Dice,
    GameState,
    MatchScore,
    Position,
    Variant,
)
from bgserver.engine.work import run
from tests import naive, positions
from tests.formulas import EQUITY

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine

OWN = (6, 6, 5, 4, 3, 3, 2, 2, 1, 1)
RACE = [0] * 26
for _point in OWN:
    RACE[_point] += 1
for _point in (6, 5, 5, 4, 4, 3, 2, 2, 1):
    RACE[25 - _point] -= 1
SHORT = [0] * 26
SHORT[6] = SHORT[4] = SHORT[1] = 1
SHORT[19] = SHORT[20] = SHORT[22] = -1


def ways(dice: tuple[int, int]) -> int:
    return 1 if dice[0] == dice[1] else 2


def loses_market(engine: Engine, state: GameState) -> bool:
    """Whether the opponent of the player on roll should pass a double."""
    if state.position.is_finished:
        return state.position.own_off == 15
    advice, _ = run(engine.advise_cube(state, Level.STATIC))
    return advice.response is TakeAction.PASS


def moved(engine: Engine, state: GameState, dice: tuple[int, int]) -> GameState:
    """The state after the best play, seen by the other player.

    Of plays that are worth the same the one that is best without a cube.
    """
    ranked = run(engine.rank(state, Dice(*dice), Level.STATIC))
    equal = [entry for entry in ranked if entry.equity_loss < 1e-9]
    best = max(equal, key=lambda entry: np.array(entry.probabilities) @ EQUITY).play.result.turned()
    owner = {
        CubeOwner.CENTERED: CubeOwner.CENTERED,
        CubeOwner.ON_ROLL: CubeOwner.OPPONENT,
        CubeOwner.OPPONENT: CubeOwner.ON_ROLL,
    }[state.cube.owner]
    match = state.match
    if match is not None:
        match = MatchScore(match.length, match.opponent, match.on_roll, match.crawford)
    return GameState(
        position=best, cube=Cube(state.cube.value, owner), match=match, jacoby=state.jacoby
    )


def slow_count(engine: Engine, state: GameState) -> int:
    """The market losers, one exchange at a time."""
    total = 0
    for own in naive.ALL_ROLLS:
        theirs = moved(engine, state, own)
        for reply in naive.ALL_ROLLS:
            mine = theirs
            if theirs.position.is_finished:
                lost = True
            else:
                mine = moved(engine, theirs, reply)
                lost = mine.position.opponent_off < 15 and loses_market(engine, mine)
            total += ways(own) * ways(reply) * lost
    return total


@pytest.mark.parametrize(
    "state",
    [
        GameState(position=Position(tuple(RACE))),
        GameState(position=Position(tuple(SHORT)), jacoby=True),
        GameState(
            position=Position(tuple(RACE)),
            cube=Cube(2, CubeOwner.ON_ROLL),
            match=MatchScore(7, 2, 3),
        ),
    ],
    ids=["money", "exact", "redouble in a match"],
)
def test_bearoffs_are_counted_exchange_by_exchange(engine: Engine, state: GameState) -> None:
    """Nothing is left to the scout there, so that both find the same plays."""
    found = run(market_losers(engine, state))
    assert found is not None
    assert 0 < found.count < EXCHANGES
    assert found.count == slow_count(engine, state)


def test_counts_are_consistent(engine: Engine) -> None:
    boards = (
        case.board for case in positions.cases("backgammon", 31) if not naive.is_over(case.board)
    )
    for board in itertools.islice(boards, 6):
        found = run(market_losers(engine, GameState(position=Position(board))))
        assert found is not None
        assert [(roll.dice.first, roll.dice.second) for roll in found.rolls] == naive.ALL_ROLLS
        assert sum(roll.ways for roll in found.rolls) == 36
        assert found.count == sum(roll.ways * roll.losing for roll in found.rolls)
        for roll in found.rolls:
            listed = sum(ways((dice.first, dice.second)) for dice in roll.replies)
            assert roll.losing == listed


@pytest.mark.parametrize(
    "state",
    [
        GameState(cube=Cube(2, CubeOwner.OPPONENT)),
        GameState(match=MatchScore(5, 4, 2, crawford=True)),
        GameState(match=MatchScore(5, 4, 2)),
        GameState(cube=Cube(64, CubeOwner.ON_ROLL)),
    ],
    ids=["opponent's cube", "crawford", "leader after crawford", "cap"],
)
def test_who_cannot_gain_by_a_double_has_no_market(engine: Engine, state: GameState) -> None:
    assert run(market_losers(engine, state)) is None


def test_bad_questions(engine: Engine) -> None:
    nardy = GameState(position=Position.start(Variant.LONG_NARDY))
    with pytest.raises(InvalidInputError):
        run(market_losers(engine, nardy))
    over = [0] * 26
    over[3] = -4
    with pytest.raises(WrongMomentError):
        run(market_losers(engine, GameState(position=Position(tuple(over)))))
