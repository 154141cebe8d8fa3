"""Look-ahead with the cube against a slow recursion in plain Python, and by its properties."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.cube_plan import plan_cube, utility_of_turn
from bgserver.engine.cube_rules import RaccoonOwner
from bgserver.engine.lookahead import look_ahead, look_ahead_with_cube
from bgserver.engine.met import default_met
from bgserver.engine.position import Variant
from bgserver.engine.work import run
from bgserver.kernels import cube_exact
from bgserver.kernels.cube import (
    CENTERED,
    OPPOSING,
    OWNED,
    CubeState,
    cube_efficiency,
    cubeless_utility,
    doubled,
    gammon_shares,
    may_double,
    normalised,
    passed_utility,
    turned,
)
from bgserver.kernels.cube_actions import beaver_allowed, turn_utility
from bgserver.kernels.cube_ladder import climb, make_cube_ladder, worth_of_turn
from bgserver.kernels.cubeful import MONEY_WINDOW
from tests import naive
from tests.formulas import EQUITY
from tests.kernels.cube_cases import match, money
from tests.kernels.replies import Replies, running_boards, turned_board

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bgserver.engine.cube_advice import CubeUtilities
    from bgserver.engine.evaluator import Engine, GameCore

TABLE = default_met().table
VARIANT = Variant.BACKGAMMON

STATES = {
    "money": money(cap=64),
    "jacoby": money(jacoby=True, cap=64),
    "jacoby and beavers": money(jacoby=True, beavers=True, cap=64),
    "owned": money(2, OWNED, cap=64),
    "opposing": money(4, OPPOSING, cap=64),
    "low cap": money(2, OWNED, cap=4),
    "at the cap": money(4, OWNED, cap=4),
    "long match": match(9, 7),
    "short match": match(3, 2),
    "owned in a match": match(5, 4, 2, OWNED),
    "automatic redouble": match(2, 4, 2, OPPOSING),
    "dead cube": match(2, 5, 2, OWNED),
    "crawford": match(1, 4, crawford=True),
    "post-crawford trailer": match(3, 1),
    "post-crawford leader": match(1, 4),
    "last game": match(1, 1),
}


def boards(seed: int, count: int) -> list[NDArray[np.int8]]:
    return running_boards(VARIANT, seed, count)


def short_bearoffs(seed: int) -> Iterator[NDArray[np.int8]]:
    """Boards of at most five checkers a side, all at home."""
    rng = np.random.default_rng(seed)
    while True:
        board = np.zeros(26, dtype=np.int8)
        np.add.at(board, rng.integers(1, 7, rng.integers(1, 6)), 1)
        np.subtract.at(board, 25 - rng.integers(1, 7, rng.integers(1, 6)), 1)
        yield board


class Oracle:
    """What the rules of the look-ahead say, one state and one play at a time."""

    def __init__(self, core: GameCore) -> None:
        self._core = core
        self._bearoff = core.evaluator.bearoff

    def of_turn(self, after: NDArray[np.int8], state: CubeState, depth: int) -> float:
        """Utility of the player whose turn begins; `after` is seen by the other."""
        if depth == 0:
            raise AssertionError
        no_double = self.no_double(after, state, depth)
        if not may_double(state):
            return no_double
        taken = self.no_double(after, doubled(state), depth)
        if beaver_allowed(state):
            taken = min(taken, self.no_double(after, doubled(doubled(state)), depth))
        return max(no_double, min(taken, passed_utility(state, TABLE)))

    def no_double(self, after: NDArray[np.int8], state: CubeState, depth: int) -> float:
        """Utility of the player who rolls without having doubled."""
        total = 0.0
        for dice in naive.ALL_ROLLS:
            replies = Replies(self._core, after, dice)
            rows = replies.promising
            cubeless = replies.values[rows].astype(np.float64) @ EQUITY
            best = int(np.argmax(cubeless))
            static = [self._static(replies.boards[row], replies.values[row], state) for row in rows]
            if state.away_own == 0:
                far = cubeless < cubeless.max() - MONEY_WINDOW
                static = [-np.inf if out else one for out, one in zip(far, static, strict=True)]
            if max(static) > static[best] + 1e-12:
                best = int(np.argmax(static))
            board = replies.boards[rows[best]]
            worth = static[best]
            if depth > 1 and (board > 0).any():
                worth = -self.of_turn(board, turned(state), depth - 1)
            total += (1 if dice[0] == dice[1] else 2) / 36 * worth
        return total

    def _static(
        self, board: NDArray[np.int8], chances: NDArray[np.float32], state: CubeState
    ) -> float:
        """Utility of a player after his play, without looking further."""
        five = chances.astype(np.float64)
        if not (board > 0).any():
            return float(cubeless_utility(five, state, TABLE))
        theirs, seen = turned(state), turned_board(board, VARIANT)
        roller, other = cube_exact.exact_pair(seen, theirs, self._bearoff)
        if roller > 0:
            return -float(cube_exact.exact_turn(roller, other, theirs, self._bearoff))
        flipped = np.array([1 - five[0], five[3], five[4], five[1], five[2]])
        return -float(turn_utility(flipped, theirs, TABLE, cube_efficiency(seen)))


def search(
    engine: Engine, after: NDArray[np.int8], state: CubeState, depth: int
) -> tuple[NDArray[np.float64], CubeUtilities]:
    core = engine.core(VARIANT)
    cube = plan_cube(state, TABLE, depth)
    chances, values = run(look_ahead_with_cube(after, depth, cube, core.evaluator, core.threads))
    return chances, cube.utilities(values)


def worth(engine: Engine, after: NDArray[np.int8], state: CubeState, depth: int) -> float:
    """Utility of the turn of the player on roll; `after` is seen by the other."""
    return utility_of_turn(search(engine, after, state, depth)[1], state, TABLE)


@pytest.mark.parametrize("name", STATES)
def test_one_roll_ahead_is_the_slow_recursion(engine: Engine, name: str) -> None:
    state = STATES[name]
    oracle = Oracle(engine.core(VARIANT))
    for after in [*boards(11, 5), *itertools.islice(short_bearoffs(1), 2)]:
        found = search(engine, after, state, 1)[1]
        assert found.no_double == pytest.approx(oracle.no_double(after, state, 1), abs=1e-9)
        assert (found.double_take is None) == (
            state.crawford or state.owner == OPPOSING or 2 * state.value > state.cap
        )
        if found.double_take is not None:
            expected = oracle.no_double(after, doubled(state), 1)
            assert found.double_take == pytest.approx(expected, abs=1e-9)
        if found.double_beaver is not None:
            expected = oracle.no_double(after, doubled(doubled(state)), 1)
            assert found.double_beaver == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["jacoby and beavers", "short match"])
def test_two_rolls_ahead_are_the_slow_recursion(engine: Engine, name: str) -> None:
    state = STATES[name]
    oracle = Oracle(engine.core(VARIANT))
    [after] = boards(12, 1)
    expected = oracle.of_turn(after, state, 2)
    assert worth(engine, after, state, 2) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_short_bearoffs_give_the_exact_values_at_every_depth(engine: Engine, depth: int) -> None:
    """The plays that are best statically are those of the table, whose values come out again."""
    tables = engine.core(VARIANT).evaluator.bearoff
    for after in itertools.islice(short_bearoffs(2), 20):
        board = turned_board(after, VARIANT)
        for state in (money(), money(2, OWNED), money(2, OPPOSING)):
            own, opponent = cube_exact.exact_pair(board, state, tables)
            found = search(engine, after, state, depth)[1]
            exact = cube_exact.exact_no_double(own, opponent, state, tables)
            assert found.no_double == pytest.approx(exact, abs=2e-6 * state.value)
            if found.double_take is not None:
                exact = cube_exact.exact_double_take(own, opponent, 2 * state.value, tables)
                assert found.double_take == pytest.approx(exact, abs=4e-6 * state.value)


def test_the_chances_are_those_of_the_search_without_a_cube(engine: Engine) -> None:
    core = engine.core(VARIANT)
    for after, depth in itertools.product(boards(13, 8), (1, 2)):
        expected = run(look_ahead(after, depth, core.code, core.evaluator, core.threads))
        chances, _ = search(engine, after, money(cap=64), depth)
        np.testing.assert_allclose(chances, expected, atol=1e-6)


def test_the_ladder_gives_the_values_of_one_state_at_a_time() -> None:
    """At every score, cube and owner, and from every lowest rung."""
    rng = np.random.default_rng(3)
    ladder = make_cube_ladder()
    for _ in range(400):
        win, gammon, lose_gammon = rng.random(3)
        chances = np.array([win, win * gammon, 0.1 * win * gammon, (1 - win) * lose_gammon, 0.0])
        value = int(2 ** rng.integers(0, 4))
        own, opponent = (int(n) for n in rng.integers(1, 12, 2))
        base = money(value, cap=int(value * 2 ** rng.integers(0, 6)), beavers=bool(win < 0.5))
        if rng.random() < 0.6:
            base = match(own, opponent, value)
        shares = gammon_shares(chances)
        climb(shares, base, TABLE, 5, ladder)
        for rung, owner in itertools.product(range(4), (CENTERED, OWNED, OPPOSING)):
            state = base._replace(value=value << rung, owner=owner)
            found = worth_of_turn(win, shares, state, TABLE, 0.68, ladder, rung)
            assert found == pytest.approx(turn_utility(chances, state, TABLE, 0.68), abs=1e-9)


@pytest.mark.parametrize("depth", [1, 2])
def test_without_a_cube_in_use_values_are_those_of_the_chances(engine: Engine, depth: int) -> None:
    """At the last point of both sides gammons count nothing: the utility is the winning chance."""
    for after in boards(14, 5):
        chances, found = search(engine, after, match(1, 1), depth)
        # The plays are those with the most wins, here and there not those of the money game.
        assert found.no_double >= 2 * (1 - chances[0]) - 1 - 0.02
        assert found.no_double == pytest.approx(2 * (1 - chances[0]) - 1, abs=0.08)


@pytest.mark.parametrize("depth", [1, 2])
def test_owning_the_cube_is_worth_most_and_facing_it_least(engine: Engine, depth: int) -> None:
    core = engine.core(VARIANT)
    for after in boards(15, 12):
        values = []
        for owner in (OPPOSING, CENTERED, OWNED):
            state = money(2, owner, cap=64)
            cube = plan_cube(state, TABLE, depth)
            _, found = run(look_ahead_with_cube(after, depth, cube, core.evaluator, core.threads))
            values.append(utility_of_turn(cube.utilities(found), state, TABLE))
        # The static formula is not monotonous in every detail.
        assert values[0] <= values[1] + 0.01
        assert values[1] <= values[2] + 0.01


def test_nobody_gets_more_than_a_pass_from_a_double_of_his(engine: Engine) -> None:
    """The turn is worth the best of no double and double, and the opponent can always pass."""
    for after, name in itertools.product(boards(16, 6), ("money", "long match", "jacoby")):
        state = STATES[name]
        found = search(engine, after, state, 1)[1]
        passed = passed_utility(state, TABLE)
        turn = utility_of_turn(found, state, TABLE)
        assert turn >= found.no_double
        assert turn <= max(found.no_double, passed) + 1e-12
        assert normalised(passed, state, TABLE) == pytest.approx(1)


def test_a_dead_cube_does_not_move(engine: Engine) -> None:
    """At a score where the value wins the match for both, an owner changes nothing."""
    for after in boards(17, 5):
        values = [worth(engine, after, match(2, 2, 2, owner), 2) for owner in (OWNED, OPPOSING)]
        assert values[0] == values[1]


def test_in_the_crawford_game_the_cube_has_no_part(engine: Engine) -> None:
    """Nobody has another course than to play on, as with a cube at its cap."""
    for after in boards(22, 4):
        found = search(engine, after, match(1, 4, crawford=True), 2)[1]
        assert found.double_take is None
        capped = search(engine, after, match(1, 4, cap=1), 2)[1]
        assert found.no_double == pytest.approx(capped.no_double, abs=1e-12)


def test_at_the_cap_the_cube_does_not_move(engine: Engine) -> None:
    for after in boards(18, 5):
        values = [worth(engine, after, money(4, owner, cap=4), 1) for owner in (OWNED, OPPOSING)]
        assert values[0] == values[1]


def test_the_value_of_the_cube_is_a_unit_in_money_play(engine: Engine) -> None:
    for after in boards(19, 4):
        small = worth(engine, after, money(2, OWNED), 2)
        large = worth(engine, after, money(64, OWNED), 2)
        assert large == pytest.approx(32 * small, rel=1e-6)


def test_a_raccoon_is_followed_at_the_first_turn(engine: Engine) -> None:
    """Eight times the value, in the hand that the rule says."""
    core = engine.core(VARIANT)
    state = money(beavers=True, jacoby=True, cap=64)
    [after] = boards(20, 1)
    for owner, side in ((RaccoonOwner.BEAVERER, OPPOSING), (RaccoonOwner.RACCOONER, OWNED)):
        cube = plan_cube(state, TABLE, 1, raccoon_owner=owner)
        _, values = run(look_ahead_with_cube(after, 1, cube, core.evaluator, core.threads))
        expected = Oracle(core).no_double(after, state._replace(value=8, owner=side), 1)
        assert cube.utilities(values).raccoon == pytest.approx(expected, abs=1e-9)


def test_values_are_the_same_bits_on_every_thread_and_whatever_was_asked_before(
    engine: Engine,
) -> None:
    questions = list(itertools.product(boards(21, 4), ("money", "short match", "jacoby"), (1, 2)))

    def answers(order: int) -> list[tuple[list[float], CubeUtilities]]:
        found = []
        for after, name, depth in questions[::order]:
            chances, utilities = search(engine, after, STATES[name], depth)
            found.append((chances.tolist(), utilities))
        return found[::order]

    expected = answers(1)
    found: dict[int, list[tuple[list[float], CubeUtilities]]] = {}
    threads = [
        threading.Thread(target=lambda order=order: found.update({order: answers(order)}))
        for order in (1, -1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {1: expected, -1: expected}


def test_the_outcome_of_a_finished_game_needs_no_look(engine: Engine) -> None:
    won = np.zeros(26, dtype=np.int8)
    won[18] = -15
    for depth, jacoby in itertools.product((1, 2, 3), (False, True)):
        chances, found = search(engine, won, money(jacoby=jacoby, cap=64), depth)
        assert chances.tolist() == [1, 1, 0, 0, 0]
        assert found.no_double == (-1 if jacoby else -2)
        assert found.double_take == -4
