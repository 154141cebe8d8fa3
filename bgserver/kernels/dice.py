"""Counter-based dice: roll number k of game g depends on (seed, g, k) and on nothing else.

So a game is the same on every thread, process and machine, and any game of a run can be played
alone.
"""

from __future__ import annotations

import numpy as np

from bgserver.kernels._jit import kernel

__all__ = ["mix", "random_bits", "roll"]

_GAME = np.uint64(0x9E3779B97F4A7C15)
_ROLL = np.uint64(0xBF58476D1CE4E5B9)
_FIRST = np.uint64(0xFF51AFD7ED558CCD)
_SECOND = np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(33)
_HALF = np.uint64(32)


@kernel
def mix(value: np.uint64) -> np.uint64:
    """Scramble 64 bits (the finaliser of MurmurHash3, public domain)."""
    value ^= value >> _SHIFT
    value *= _FIRST
    value ^= value >> _SHIFT
    value *= _SECOND
    value ^= value >> _SHIFT
    return value


@kernel
def random_bits(seed: int, game: int, number: int) -> np.uint64:
    """64 random bits for draw `number` of game `game`; all arguments are integers >= 0."""
    first = mix(np.uint64(seed) + _GAME * (np.uint64(game) + np.uint64(1)))
    return mix(first + _ROLL * (np.uint64(number) + np.uint64(1)))


@kernel
def roll(seed: int, game: int, number: int) -> tuple[int, int]:
    """Dice (a, b), each 1..6; all 36 combinations are equally likely up to 2**-32."""
    bits = random_bits(seed, game, number)
    combination = int(np.int64(((bits >> _HALF) * np.uint64(36)) >> _HALF))
    return combination // 6 + 1, combination % 6 + 1
