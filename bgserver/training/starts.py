"""Boards to start training games from: what self-play alone visits too rarely.

Crashed boards, back games, primes, ace-point games, bear-offs against contact: each side's
checkers are drawn, mostly in pairs, from one of a few patterns of points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.dice import random_bits
from bgserver.kernels.moves import (
    BACKGAMMON,
    breaks_prime_rule,
    own_points,
    prime_limit,
    turn_board,
)
from bgserver.kernels.network import opposite

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["N_PATTERNS", "write_unusual_board"]

_TRIES = 60


def _patterns() -> NDArray[np.float64]:
    """Weights of the points by pattern, float64[patterns, 26], cumulated to 1."""
    weights = np.zeros((7, 26))
    middle, home, deep, back, prime, ace, far = range(7)
    weights[:, 1:25] = 0.1
    weights[middle, [4, 5, 6, 7, 8, 13, 20, 24]] = (1, 2, 4, 1, 3, 3, 1, 2)
    weights[home, 1:7] = 2
    weights[home, 7:9] = 0.5
    weights[deep, 1:5] = (4, 4, 2, 1)
    weights[deep, 19:25] = 0.5
    weights[back, 19:25] = 2
    weights[back, 1:7] = 0.6
    weights[prime, 3:9] = 3
    weights[prime, 20:25] = 0.8
    weights[ace, 24] = 8
    weights[ace, 1:7] = 1
    weights[far, 7:19] = 1
    weights[[middle, deep, back, prime], 25] = 0.3
    total: NDArray[np.float64] = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    return total


_PATTERNS = _patterns()
N_PATTERNS = len(_PATTERNS)
"""Number of patterns."""
_MAY_BEAR_OFF = np.array([False, True, True, False, False, True, False])


@kernel
def _random_share(seed: int, game: int, number: int) -> float:
    """A number in [0, 1)."""
    bits = random_bits(seed, game, number)
    return float(np.int64(bits >> np.uint64(11))) / float(1 << 53)


@kernel
def _place_side(
    board: NDArray[np.int8], variant: int, pattern: int, own: bool, seed: int, game: int, at: int
) -> None:
    """Put one side's checkers on points that the other side does not hold."""
    left = 15
    if _MAY_BEAR_OFF[pattern] and _random_share(seed, game, at) < 0.5:
        left -= int(_random_share(seed, game, at + 1) * 13)
    sign = 1 if own else -1
    for attempt in range(_TRIES):
        if left == 0:
            return
        share = _random_share(seed, game, at + 2 + 2 * attempt)
        number = 1
        while number < 25 and _PATTERNS[pattern, number] <= share:
            number += 1
        if number == 25 and variant != BACKGAMMON:
            continue
        point = number if own else opposite(number, variant)
        if board[point] * sign < 0:
            continue
        count = 2 if number < 25 and _random_share(seed, game, at + 3 + 2 * attempt) < 0.7 else 1
        count = min(count, left)
        board[point] += sign * count
        left -= count
    # What found no place goes where there is always room: on the own ace point or the next free.
    for number in range(1, 25):
        point = number if own else opposite(number, variant)
        if left > 0 and board[point] * sign >= 0:
            board[point] += sign * left
            left = 0


@kernel
def write_unusual_board(
    variant: int, seed: int, game: int, turned: NDArray[np.int8], out: NDArray[np.int8]
) -> bool:
    """Draw a board; False if it is not a legal board of a running game.

    Args:
        variant: The game.
        seed: Seed of the draw.
        game: Number of the game.
        turned: int8[26], scratch.
        out: int8[26], written.
    """
    out[:] = 0
    first = int(_random_share(seed, game, 1) * N_PATTERNS)
    second = int(_random_share(seed, game, 2) * N_PATTERNS)
    _place_side(out, variant, first, True, seed, game, 1000)
    _place_side(out, variant, second, False, seed, game, 2000)
    own = 0
    other = 0
    for point in range(26):
        own += max(int(out[point]), 0)
        other += max(-int(out[point]), 0)
    if own == 0 or other == 0:
        return False
    if variant == BACKGAMMON:
        return True
    turn_board(out, variant, turned)
    if breaks_prime_rule(own_points(out), prime_limit(out)):
        return False
    return not breaks_prime_rule(own_points(turned), prime_limit(turned))
