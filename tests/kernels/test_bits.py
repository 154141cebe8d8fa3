"""Masks of points against plain Python on random and extreme masks."""

from __future__ import annotations

import random

import numpy as np

from bgserver.kernels import bits

ALL_POINTS = 0x1FFFFFE  # bits 1..24


def masks(seed: int, count: int = 2000, within: int = (1 << 26) - 1) -> list[int]:
    """Masks of all densities, none and all set among them."""
    rng = random.Random(seed)
    found = [0, within, *(1 << bit for bit in range(26) if within >> bit & 1)]
    for _ in range(count):
        density = rng.random()
        mask = sum(1 << bit for bit in range(26) if rng.random() < density)
        found.append(mask & within)
    return found


def test_count_and_highest_bit() -> None:
    for mask in [*masks(1), 1 << 63, (1 << 64) - 1]:
        assert bits.count_bits(np.uint64(mask)) == mask.bit_count()
        assert bits.highest_bit(np.uint64(mask)) == mask.bit_length() - 1


def test_points_are_reversed_as_the_other_side_numbers_them() -> None:
    for mask in masks(2, within=ALL_POINTS):
        expected = sum(1 << (25 - point) for point in range(1, 25) if mask >> point & 1)
        assert bits.reverse_points(np.uint64(mask)) == expected


def test_longest_run() -> None:
    for mask in masks(3):
        runs = f"{mask:b}".split("0")
        assert bits.longest_run(np.uint64(mask)) == max(len(run) for run in runs), bin(mask)


def test_most_in_six_among_windows_that_may_begin_at_some_bits() -> None:
    rng = random.Random(4)
    for mask in masks(4):
        starts = rng.getrandbits(24) if rng.random() < 0.5 else (1 << rng.randrange(25)) - 1
        counts = [(mask >> bit & 0x3F).bit_count() for bit in range(24) if starts >> bit & 1]
        found = bits.most_in_six(np.uint64(mask), np.uint64(starts))
        assert found == max(counts, default=0), (bin(mask), bin(starts))


def test_changed_points_are_those_that_differ() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        before = rng.integers(-15, 16, 26).astype(np.int8)
        after = np.where(rng.random(26) < rng.random(), before, rng.integers(-15, 16, 26))
        expected = sum(1 << point for point in range(26) if before[point] != after[point])
        assert bits.changed_points(before, after.astype(np.int8)) == expected
