"""The dice of simulations: fair, and a function of (seed, game, number) alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bgserver.kernels.dice import random_bits, roll

ALL_36 = [(first, second) for first in range(1, 7) for second in range(1, 7)]


def chi_square(counts: list[int]) -> float:
    """Pearson's statistic against equal chances."""
    expected = sum(counts) / len(counts)
    return sum((count - expected) ** 2 for count in counts) / expected


def rolls(seed: int, games: range, numbers: range) -> list[tuple[int, int]]:
    return [roll(seed, game, number) for game in games for number in numbers]


def test_a_roll_depends_on_nothing_but_its_arguments() -> None:
    keys = list(itertools.product((0, 7, 2**32 - 1), (0, 1, 4096), (0, 1, 2)))
    forward = {key: roll(*key) for key in keys}
    backward = {key: roll(*key) for key in reversed(keys)}
    assert forward == backward


def test_known_rolls_so_that_a_seed_keeps_its_games() -> None:
    """A change here makes every recorded simulation unrepeatable."""
    expected = [(6, 4), (5, 6), (2, 4), (3, 1), (2, 6), (1, 1), (2, 6), (3, 5)]
    assert rolls(1, range(1), range(8)) == expected


@pytest.mark.parametrize(
    ("games", "numbers"),
    [(range(1), range(36_000)), (range(36_000), range(1)), (range(600), range(60))],
    ids=["one long game", "first rolls", "many games"],
)
def test_all_36_rolls_are_equally_likely(games: range, numbers: range) -> None:
    found = rolls(20_261, games, numbers)
    counts = [found.count(dice) for dice in ALL_36]
    assert sum(counts) == len(found)
    assert chi_square(counts) < 72  # 35 degrees of freedom: 0.02 % of honest dice exceed this


def test_neighbouring_rolls_are_independent() -> None:
    """The next roll, the next game's and the next seed's tell nothing about each other."""
    base = rolls(5, range(200), range(180))
    for other in (
        rolls(5, range(200), range(1, 181)),
        rolls(5, range(1, 201), range(180)),
        rolls(6, range(200), range(180)),
    ):
        pairs = [(mine[0], theirs[0]) for mine, theirs in zip(base, other, strict=True)]
        assert chi_square([pairs.count(pair) for pair in ALL_36]) < 72


def test_bits_are_balanced_and_do_not_repeat() -> None:
    draws = [int(random_bits(3, game, number)) for game in range(100) for number in range(100)]
    assert len(set(draws)) == len(draws)
    bits = np.array([[draw >> bit & 1 for bit in range(64)] for draw in draws])
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.025  # five standard deviations
