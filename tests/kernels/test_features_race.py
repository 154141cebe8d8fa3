"""What the race network sees: plain counts, chances of a first checker, formulas near the truth."""

from __future__ import annotations

import functools
import math
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.bearoff import compute_one_sided
from bgserver.kernels import bearoff, features, first_off
from bgserver.kernels.classes import CLASS_RACE
from bgserver.kernels.moves import BACKGAMMON
from tests import naive, positions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

OWN = [*range(0, 44, 2)]
OPPONENT = [*range(1, 44, 2)]
# Among the features of a side, those that are plain counts.
COUNTS = [0, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 19, 20, 21]
MEAN, MEAN_FIRST, FIRST = 1, 10, 11
WIN, WIN_GAMMON, LOSE_GAMMON = 46, 50, 53


def dense(board: Sequence[int]) -> NDArray[np.float32]:
    """The features of a board as a race."""
    out = np.full(features.N_DENSE, np.nan, dtype=np.float32)
    features.dense_features(np.array(board, dtype=np.int8), BACKGAMMON, CLASS_RACE, out)
    return out


def races(seed: int, count: int) -> Iterator[naive.Board]:
    """Random boards without contact, constructed and from games."""
    found = 0
    for case in positions.cases(naive.BACKGAMMON, seed):
        if naive.is_over(case.board) or naive.has_contact(case.board, naive.BACKGAMMON):
            continue
        yield case.board
        found += 1
        if found == count:
            return


def counts_of_a_side(side: naive.Board) -> list[float]:
    """The plain counts of a side, in its own view."""
    checkers = [point for point, count in enumerate(side) for _ in range(max(count, 0))]
    outside = [point for point in checkers if point > 6]
    held = [point for point in checkers if point > 18]
    stacks = [max(count, 0) for count in side]
    return [
        sum(checkers) / 100,
        sum(point - 6 for point in outside) / 30,
        len(outside) / 8,
        sum((point - 1) // 6 for point in outside) / 10,
        max(checkers) / 24,
        (15 - len(checkers)) / 10,
        len(checkers) == 15,
        len([point for point in checkers if point <= 2]) / 6,
        len([point for point in range(1, 7) if side[point] <= 0]) / 6,
        math.ceil(len(checkers) / 2) / 8,
        len(checkers) % 2,
        sum(max(count - 3, 0) for count in stacks) / 6,
        sum((point - 1) * max(stacks[point] - 2, 0) for point in range(1, 7)) / 20,
        sum(point - 18 for point in held) / 10,
        len(held) / 4,
    ]


def test_counts_of_both_sides() -> None:
    for board in races(1, 600):
        found = dense(board)
        turned = naive.turn(board, naive.BACKGAMMON)
        for places, side in ((OWN, board), (OPPONENT, turned)):
            counts = found[[places[index] for index in COUNTS]]
            np.testing.assert_allclose(counts, counts_of_a_side(side), atol=1e-6)


def test_the_other_view_has_the_sides_changed() -> None:
    for board in races(2, 600):
        found = dense(board)
        other = dense(naive.turn(board, naive.BACKGAMMON))
        np.testing.assert_array_equal(found[OWN], other[OPPONENT])
        np.testing.assert_array_equal(found[OPPONENT], other[OWN])


def test_features_are_finite_and_of_moderate_size() -> None:
    for board in races(3, 2000):
        found = dense(board)  # NaN wherever nothing was written
        assert np.isfinite(found).all(), board
        assert np.abs(found).max() < 10, board


# --- the first checker off ------------------------------------------------------------------------


@functools.cache
def chance_of_first(outside: tuple[int, ...], lowest: int, rolls: int) -> float:
    """Chance to bring these checkers (pips from home) home and bear one off, by plain recursion.

    Numbers from `lowest` on bear off.
    """
    if rolls == 0:
        return 0.0
    total = 0.0
    for dice in naive.ALL_ROLLS:
        weight = 1 if dice[0] == dice[1] else 2
        total += weight * best_use(outside, lowest, naive.numbers_to_play(dice), rolls)
    return total / 36


@functools.cache
def best_use(outside: tuple[int, ...], lowest: int, numbers: tuple[int, ...], rolls: int) -> float:
    """The best that the rest of a roll's numbers can do, in any order."""
    if not numbers:
        return chance_of_first(outside, lowest, rolls - 1)
    if not outside and max(numbers) >= lowest:
        return 1.0
    best = chance_of_first(outside, lowest, rolls - 1)  # whatever is left is played at home
    for number in set(numbers):
        left = naive.without(numbers, number)
        for place, distance in enumerate(outside):
            rest = [*outside[:place], *outside[place + 1 :]]
            moved = [distance - number] if distance > number else []
            best = max(best, best_use(tuple(sorted(rest + moved)), lowest, left, rolls))
    return best


@pytest.mark.parametrize("count", range(first_off.MOST_OUTSIDE + 1))
def test_chances_of_the_first_checker_are_those_of_plain_recursion(count: int) -> None:
    rng = random.Random(4)
    for _ in range(12):
        outside = sorted(rng.randint(1, first_off.FARTHEST) for _ in range(count))
        side = np.zeros(26, dtype=np.int8)
        for distance in outside:
            side[6 + distance] += 1
        row = first_off.place_outside(side)
        rolls = 2 if count >= 3 else first_off.FIRST_OFF_ROLLS  # more would take minutes
        lowest = rng.randint(1, 6)
        expected = [chance_of_first(tuple(outside), lowest, number + 1) for number in range(rolls)]
        found = first_off.FIRST_OFF_CHANCES[lowest - 1, row, :rolls]
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_every_row_of_the_chances_is_of_one_state() -> None:
    assert first_off.FIRST_OFF_CHANCES.shape[1] == math.comb(
        first_off.FARTHEST + first_off.MOST_OUTSIDE, first_off.MOST_OUTSIDE
    )
    side = np.zeros(26, dtype=np.int8)
    side[7] = first_off.MOST_OUTSIDE + 1
    assert first_off.place_outside(side) == -1


def bears_one_off(side: naive.Board, dice: tuple[int, int]) -> bool:
    """Whether some legal play with the roll bears a checker off."""
    results = naive.legal_results(side, dice, naive.BACKGAMMON)
    return any(naive.own_in_play(result) < 15 for result in results)


def test_chance_to_bear_one_off_at_once() -> None:
    """Rolls are counted, but for plays that bear off after a step at home."""
    rng = random.Random(5)
    exact = 0
    for outside in (0, 1, 1, 1, 2, 3, 4) * 6:
        points = [rng.randint(1, 6) for _ in range(15 - outside)]
        points += [rng.randint(7, 12) for _ in range(outside)]
        side = (*(points.count(point) for point in range(24)), -1, 0)
        rolls = sum(
            1 if dice[0] == dice[1] else 2 for dice in naive.ALL_ROLLS if bears_one_off(side, dice)
        )
        found = dense(side)[OWN[FIRST]] * 36
        assert rolls - 8 <= found <= rolls + 1e-4, side
        exact += abs(found - rolls) < 1e-4
    assert exact >= 30


# --- formulas -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tables() -> bearoff.BearoffTables:
    """The one-sided database."""
    nothing = bearoff.no_bearoff_tables()
    return bearoff.BearoffTables(*compute_one_sided(), two_sided=nothing.two_sided)


def home_boards(seed: int, count: int) -> Iterator[tuple[naive.Board, int, int]]:
    """Boards with both sides at home, as bear-offs go, and the indexes of their arrangements."""
    rng = random.Random(seed)
    for _ in range(count):
        sides = []
        for _ in range(2):
            checkers = [min(rng.randint(1, 6), rng.randint(1, 6)) for _ in range(15)]
            if rng.random() < 0.7:
                del checkers[rng.randint(1, 15) :]
            sides.append([0, *(checkers.count(point) for point in range(1, 7))])
        own, opponent = sides
        board = [0] * 26
        board[1:7] = own[1:]
        board[19:25] = [-number for number in reversed(opponent[1:])]
        indexes = [bearoff.arrangement_index(np.array(side[1:], dtype=np.int8)) for side in sides]
        yield tuple(board), indexes[0], indexes[1]


def test_formulas_are_near_the_exact_tables(tables: bearoff.BearoffTables) -> None:
    """Where both sides are at home, the tables know what the formulas estimate."""
    errors: dict[str, list[float]] = {
        "rolls": [],
        "win": [],
        "win gammon": [],
        "lose gammon": [],
    }
    chances = np.zeros(5, dtype=np.float32)
    for board, own, opponent in home_boards(6, 3000):
        found = dense(board)
        bearoff.bearoff_race_probabilities(own, opponent, tables, chances)
        errors["rolls"].append(found[OWN[MEAN]] * 10 - tables.mean_rolls[own])
        errors["win"].append(found[WIN] - chances[0])
        errors["win gammon"].append(found[WIN_GAMMON] - chances[1])
        errors["lose gammon"].append(found[LOSE_GAMMON] - chances[3])
    sizes = {name: np.sqrt(np.mean(np.square(found))) for name, found in errors.items()}
    assert sizes["rolls"] < 0.15
    assert sizes["win"] < 0.05
    assert sizes["win gammon"] < 0.03
    assert sizes["lose gammon"] < 0.03
