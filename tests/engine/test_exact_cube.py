"""Cube decisions of short bear-offs for money come from the exact two-sided table."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bgserver.engine.cube_advice import CubeAction
from bgserver.engine.cube_rules import RaccoonOwner
from bgserver.engine.levels import Level
from bgserver.engine.player import Player
from bgserver.engine.position import Cube, CubeOwner, GameState, MatchScore, Position
from bgserver.engine.work import run
from tests import bearoff_oracle as oracle

if TYPE_CHECKING:
    from bgserver.engine.cube_advice import CubeAdvice
    from bgserver.engine.evaluator import Engine

CENTRED, OWNED, OPPOSING = CubeOwner.CENTERED, CubeOwner.ON_ROLL, CubeOwner.OPPONENT


def bear_off(own: tuple[int, ...], opponent: tuple[int, ...]) -> Position:
    """A position from the points of each side's checkers, in its own numbers."""
    points = [0] * 26
    for point in own:
        points[point] += 1
    for point in opponent:
        points[25 - point] -= 1
    return Position(tuple(points))


def arrangement(checkers: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(checkers.count(point) for point in range(1, 7))


def no_double(own: tuple[int, ...], opponent: tuple[int, ...], owner: CubeOwner) -> float:
    """Exact equity for a cube of 1 of the player about to roll, who does not double now."""
    return float(oracle.equities(own, opponent)[1 + (CENTRED, OWNED, OPPOSING).index(owner)])


def best_turn(own: tuple[int, ...], opponent: tuple[int, ...], owner: CubeOwner) -> float:
    """The same with the best cube actions of both."""
    stays = no_double(own, opponent, owner)
    if owner is OPPOSING:
        return stays
    return max(stays, min(1.0, 2 * no_double(own, opponent, OPPOSING)))


def advice(engine: Engine, state: GameState) -> CubeAdvice:
    return run(engine.advise_cube(state, Level.STATIC))[0]


def test_a_last_roll_with_19_of_36_is_a_double(engine: Engine) -> None:
    state = GameState(position=bear_off((5, 2), (1,)))
    found = advice(engine, state)
    assert found.action is CubeAction.DOUBLE_TAKE
    assert found.no_double.equity == pytest.approx(2 / 36, abs=1e-6)
    assert found.double_take is not None
    assert found.double_take.equity == pytest.approx(4 / 36, abs=1e-6)
    player = Player(engine, Level.STATIC)
    assert run(player.wants_to_double(state))
    assert run(player.answer_to_double(state)) == (True, False)


def test_small_bear_offs_equal_the_exact_oracle(engine: Engine) -> None:
    rows = [
        row
        for count in (1, 2)
        for row in itertools.combinations_with_replacement(range(1, 7), count)
    ]
    rng = random.Random(1)
    for own, opponent in [(rng.choice(rows), rng.choice(rows)) for _ in range(40)]:
        sides = arrangement(own), arrangement(opponent)
        for owner in CubeOwner:
            value = 1 if owner is CENTRED else 2
            state = GameState(position=bear_off(own, opponent), cube=Cube(value, owner))
            found = advice(engine, state)
            stays = no_double(*sides, owner)
            assert found.no_double.equity == pytest.approx(stays, abs=1e-5)
            evaluation = run(engine.evaluate(state, Level.STATIC))
            exact = best_turn(*sides, owner)
            assert evaluation.cubeful_equity == pytest.approx(exact, abs=1e-5)
            if owner is not OPPOSING:
                taken = 2 * no_double(*sides, OPPOSING)
                assert found.double_take is not None
                assert found.double_take.equity == pytest.approx(taken, abs=1e-5)
                if abs(min(1.0, taken) - stays) > 0.001:
                    assert found.action.doubles == (min(1.0, taken) > stays)


@pytest.mark.parametrize(
    ("raccoon_owner", "owner"),
    [(RaccoonOwner.BEAVERER, OPPOSING), (RaccoonOwner.RACCOONER, OWNED)],
)
def test_a_raccoon_is_worth_eight_cubes_in_the_hand_of_its_owner(
    engine: Engine, raccoon_owner: RaccoonOwner, owner: CubeOwner
) -> None:
    own, opponent = (6, 4), (5, 5)
    state = GameState(position=bear_off(own, opponent), beavers=True)
    found = engine.exact_cube(state, raccoon_owner)
    assert found is not None
    expected = 8 * no_double(arrangement(own), arrangement(opponent), owner)
    assert found.raccoon == pytest.approx(expected, abs=1e-4)
    assert engine.exact_cube(state) == replace(found, raccoon=None)


@pytest.mark.parametrize(
    "state",
    [
        GameState(position=bear_off((5, 2), (1,)), match=MatchScore(7)),
        GameState(position=bear_off((5, 2), (1,)), cube=Cube(32, OWNED)),
        GameState(position=bear_off((5, 2), (1,) * 7)),
    ],
    ids=["match", "near the cap", "seven checkers"],
)
def test_elsewhere_the_table_does_not_speak(engine: Engine, state: GameState) -> None:
    assert engine.exact_cube(state) is None
