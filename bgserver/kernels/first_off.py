"""Chances to bear off a first checker within a few rolls, with few checkers outside home.

The side has 15 checkers on the board, and no contact is left. What matters here is where the
checkers outside home stand, and the lowest home point that is held: it is assumed that a number
that is left when all are home bears one off if it reaches from that point, and that the side plays
for the chance asked for alone. Computed when the module is imported, in about half a second.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FARTHEST", "FIRST_OFF_CHANCES", "FIRST_OFF_ROLLS", "MOST_OUTSIDE", "place_outside"]

MOST_OUTSIDE = 4
"""Checkers outside home that the table knows."""
FARTHEST = 12
"""Pips from home of the farthest checker that it knows: point 18."""
FIRST_OFF_ROLLS = 4
"""Rolls that it looks ahead."""


def _places() -> NDArray[np.int64]:
    """Share of a checker in the index of its state, int64[MOST_OUTSIDE, FARTHEST + 1].

    By its place in the order of distances, nearest first, and its pips from home (0 for a checker
    at home). With d(k) the distances, d(k) + k are strictly increasing, and the index is the sum
    of C(d(k) + k, k + 1): the combinatorial number system, as in `bgserver.kernels.bearoff`.
    """
    places = np.zeros((MOST_OUTSIDE, FARTHEST + 1), dtype=np.int64)
    for place in range(MOST_OUTSIDE):
        for distance in range(FARTHEST + 1):
            value = 1
            for factor in range(place + 1):
                value = value * (distance + place - factor) // (factor + 1)
            places[place, distance] = value
    return places


_PLACES = _places()


def _index(distances: NDArray[np.int64]) -> NDArray[np.int64]:
    """Indexes of states, int64[n, MOST_OUTSIDE] in any order."""
    ordered = np.sort(distances, axis=1)
    index: NDArray[np.int64] = _PLACES[np.arange(MOST_OUTSIDE), ordered].sum(axis=1)
    return index


def _chances() -> NDArray[np.float32]:
    """float32[6, states, FIRST_OFF_ROLLS]: by lowest point - 1, chance within 1, 2... rolls."""
    combinations = itertools.combinations_with_replacement(range(FARTHEST + 1), MOST_OUTSIDE)
    states = np.array(list(combinations), dtype=np.int64)
    states = states[np.argsort(_index(states))]
    # By roll: its ways of 36, and for all uses of its numbers where each state comes to, and the
    # highest number that is left if all are home then, 0 without one. A use gives each number a
    # checker, or none (`MOST_OUTSIDE`).
    rolls = []
    users = range(MOST_OUTSIDE + 1)
    for high in range(1, 7):
        for low in range(1, high + 1):
            uses: list[tuple[int, ...]]
            if high == low:
                uses = [*itertools.combinations_with_replacement(users, 4)]
            else:
                uses = [*itertools.product(users, repeat=2)]
            following = np.empty((len(uses), len(states)), dtype=np.int64)
            left = np.empty((len(uses), len(states)), dtype=np.int64)
            for row, use in enumerate(uses):
                after = states.copy()
                highest = 0
                for number, user in zip((high, low, low, low), use, strict=False):
                    if user < MOST_OUTSIDE:
                        after[:, user] -= number
                    else:
                        highest = max(highest, number)
                after = np.maximum(after, 0)
                following[row] = _index(after)
                left[row] = np.where(after.any(axis=1), 0, highest)
            rolls.append((1 if high == low else 2, following, left))
    chances = np.zeros((6, len(states), FIRST_OFF_ROLLS), dtype=np.float32)
    for lowest in range(1, 7):
        before = np.zeros(len(states))
        for number in range(FIRST_OFF_ROLLS):
            total = np.zeros(len(states))
            for ways, following, left in rolls:
                total += ways * np.maximum(before[following], left >= lowest).max(axis=0)
            before = total / 36
            chances[lowest - 1, :, number] = before
    return chances


FIRST_OFF_CHANCES = _chances()
"""float32[6, 1820, FIRST_OFF_ROLLS]: by the lowest home point held - 1 and `place_outside`, the
chance within 1, 2... rolls."""


@kernel
def place_outside(checkers: NDArray[np.int8]) -> int:
    """Row of a side in `FIRST_OFF_CHANCES`, or -1 if too many of its checkers are outside.

    Args:
        checkers: int8[26]: the side's checkers on its points.
    """
    outside = 0
    for point in range(7, 26):
        outside += checkers[point]
    if outside > MOST_OUTSIDE:
        return -1
    place = MOST_OUTSIDE - outside
    index = 0
    for point in range(7, 26):
        for _ in range(checkers[point]):
            index += _PLACES[place, min(point - 6, FARTHEST)]
            place += 1
    return index
