"""Dice of rollouts: keyed by (seed, trial, roll), the first two rolls in strata.

The first two rolls of trials 0..n-1, n = first rolls x 36, are all combinations, each
once, and so for each block of n trials; within a block every run of `first rolls` trials has every
first roll once, and every second roll at most once. Rows and columns are mixed by permutations
that depend on seed and block, so the rolls of any one trial are fair, and the mean of any number of
trials is unbiased.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.dice import random_bits, roll

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ALL_ROLLS", "roll_number", "rolls_of_trial", "trial_roll"]

ALL_ROLLS = 36
"""Ways of two dice to fall."""
# Draw numbers of the permutations, far from those of the dice.
_ROW_DRAW = 1 << 40
_COLUMN_DRAW = _ROW_DRAW + (1 << 10)
_SECOND_DRAW = _ROW_DRAW + (1 << 11)
_RUN_DRAW = _ROW_DRAW + (1 << 12)
_RUN_STRIDE = 64
_HALF = np.uint64(32)


@kernel
def _permuted(
    index: int, size: int, seed: int, block: int, draw: int, items: NDArray[np.int64]
) -> int:
    """Where a random permutation of 0..size-1 sends `index`.

    Args:
        index: 0..size-1.
        size: At most 36.
        seed: Seed of the rollout.
        block: Block of trials.
        draw: First draw number of this permutation.
        items: int64[36], scratch.
    """
    for place in range(size):
        items[place] = place
    for place in range(size - 1, 0, -1):
        bits = random_bits(seed, block, draw + place)
        other = int(np.int64(((bits >> _HALF) * np.uint64(place + 1)) >> _HALF))
        items[place], items[other] = items[other], items[place]
    return int(items[index])


@kernel
def rolls_of_trial(
    seed: int, number: int, first_rolls: int, items: NDArray[np.int64]
) -> tuple[int, int]:
    """Strata of the first two rolls of a trial: indexes 0..first_rolls-1 and 0..35.

    Args:
        seed: Seed of the rollout.
        number: Number of the trial.
        first_rolls: 36 or 30.
        items: int64[36], scratch.
    """
    size = first_rolls * ALL_ROLLS
    block = number // size
    run = (number % size) // first_rolls
    first = _permuted(
        number % first_rolls, first_rolls, seed, block, _RUN_DRAW + _RUN_STRIDE * run, items
    )
    # A Latin square with its rows, columns and symbols mixed.
    row = _permuted(first, ALL_ROLLS, seed, block, _ROW_DRAW, items)
    column = _permuted(run, ALL_ROLLS, seed, block, _COLUMN_DRAW, items)
    second = (row + column) % ALL_ROLLS
    return first, _permuted(second, ALL_ROLLS, seed, block, _SECOND_DRAW, items)


@kernel
def trial_roll(
    seed: int, number: int, ply: int, first_rolls: int, items: NDArray[np.int64]
) -> tuple[int, int]:
    """Dice of roll number `ply` of a trial.

    Args:
        seed: Seed of the rollout.
        number: Number of the trial.
        ply: Rolls before this one.
        first_rolls: 36, or 30 if the first roll is never a double.
        items: int64[36], scratch.
    """
    if ply > 1:
        return roll(seed, number, ply)
    first, second = rolls_of_trial(seed, number, first_rolls, items)
    if ply == 1:
        return second // 6 + 1, second % 6 + 1
    if first_rolls == ALL_ROLLS:
        return first // 6 + 1, first % 6 + 1
    # 30 rolls without doubles: the second number skips the first one.
    high = first // 5 + 1
    low = first % 5 + 1
    return high, low + 1 if low >= high else low


@kernel
def roll_number(die_a: int, die_b: int) -> int:
    """Index of a roll among the 21."""
    high = max(die_a, die_b)
    return high * (high - 1) // 2 + min(die_a, die_b) - 1
