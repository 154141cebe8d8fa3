"""Dice of rollouts: strata, fairness, and keys."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bgserver.kernels.dice import roll
from bgserver.kernels.rollout_dice import roll_number, rolls_of_trial, trial_roll
from bgserver.kernels.search import HIGH, LOW

_ITEMS = np.zeros(36, dtype=np.int64)


def _dice(seed: int, number: int, ply: int, first_rolls: int = 36) -> tuple[int, int]:
    first, second = trial_roll(seed, number, ply, first_rolls, _ITEMS)
    return int(first), int(second)


@pytest.mark.parametrize("first_rolls", [36, 30])
@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_all_combinations_of_the_first_two_rolls_occur_once(seed: int, first_rolls: int) -> None:
    block = first_rolls * 36
    for start in (0, block, 7 * block):
        pairs = {
            (_dice(seed, number, 0, first_rolls), _dice(seed, number, 1, first_rolls))
            for number in range(start, start + block)
        }
        assert len(pairs) == block


@pytest.mark.parametrize("first_rolls", [36, 30])
def test_each_run_of_trials_has_every_first_roll_once(first_rolls: int) -> None:
    for start in range(0, 5 * first_rolls, first_rolls):
        numbers = range(start, start + first_rolls)
        assert len({_dice(3, number, 0, first_rolls) for number in numbers}) == first_rolls
        assert len({_dice(3, number, 1, first_rolls) for number in numbers}) == first_rolls


def test_an_opening_has_no_double() -> None:
    for number in range(30):
        first, second = _dice(5, number, 0, first_rolls=30)
        assert first != second
    assert any(_dice(5, number, 1, 30)[0] == _dice(5, number, 1, 30)[1] for number in range(200))


@pytest.mark.parametrize("number", [0, 5, 40, 1295])
def test_the_rolls_of_one_trial_are_fair(number: int) -> None:
    """So any number of trials has an unbiased mean: over many seeds all combinations come alike."""
    seeds = 20_000
    firsts: Counter[int] = Counter()
    pairs: Counter[int] = Counter()
    for seed in range(seeds):
        first, second = rolls_of_trial(seed, number, 36, _ITEMS)
        firsts[first] += 1
        pairs[(first % 6) * 6 + second % 6] += 1
    for counts in (firsts, pairs):
        chi_square = sum((counts[cell] - seeds / 36) ** 2 / (seeds / 36) for cell in range(36))
        assert chi_square < 75  # 35 degrees of freedom: exceeded once in 10,000


def test_later_rolls_depend_on_seed_trial_and_ply_only() -> None:
    assert [_dice(9, 4, ply) for ply in range(2, 6)] == [roll(9, 4, ply) for ply in range(2, 6)]
    assert [_dice(9, 4, ply) for ply in range(2, 12)] != [_dice(8, 4, ply) for ply in range(2, 12)]


def test_numbers_of_rolls_are_those_of_the_search() -> None:
    for number in range(21):
        assert roll_number(int(HIGH[number]), int(LOW[number])) == number
        assert roll_number(int(LOW[number]), int(HIGH[number])) == number
