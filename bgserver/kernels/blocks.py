"""Blocks of points and what gets past them: tables by mask, and features of rear checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.bits import highest_bit, most_in_six, reverse_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ENTER", "ESCAPES", "HOME_BITS", "escape_chance", "write_escapes"]

_ONE = np.uint64(1)


def _escape_table() -> NDArray[np.float32]:
    """Rolls of 36 that take a checker past a block, by mask of blocked distances 1..12.

    Bit d-1 of the index means that the point at distance d is blocked. A roll escapes if the
    checker can move at least 7 pips with it, or past the farthest blocked point if that is
    nearer; every landing must be open.
    """
    table = np.zeros(4096, dtype=np.float32)
    for mask in range(4096):
        goal = min(mask.bit_length() + 1, 7)
        rolls = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                weight = 1 if high == low else 2
                if high == low:
                    paths = [[high] * 4]
                else:
                    paths = [[high, low], [low, high]]
                best = 0
                for path in paths:
                    distance = 0
                    for die in path:
                        distance += die
                        if distance <= 12 and mask >> (distance - 1) & 1:
                            break
                        best = max(best, distance)
                if best >= goal:
                    rolls += weight
        table[mask] = rolls / 36
    return table


def _enter_table() -> NDArray[np.float32]:
    """Chance that one checker enters, by mask of closed home points (bit n-1 = number n)."""
    table = np.zeros(64, dtype=np.float32)
    for mask in range(64):
        closed = mask.bit_count()
        table[mask] = (36 - closed * closed) / 36
    return table


ESCAPES = _escape_table()
"""float32[4096]: chance to escape, by mask of blocked distances 1..12 (bit d - 1)."""
ENTER = _enter_table()
"""float32[64]: chance that one checker enters, by mask of closed home points (bit n - 1)."""
HOME_BITS = np.array([mask.bit_count() for mask in range(64)], dtype=np.int64)
"""int64[64]: points in a mask of six."""


@kernel
def escape_chance(point: int, ahead: np.uint64) -> np.float32:
    """Chance that a checker on `point` gets past the block.

    Args:
        point: 1..25.
        ahead: Blocked points, reversed (`reverse_points`), so that the nearest come first.
    """
    chance: np.float32 = ESCAPES[(ahead >> np.uint64(26 - point)) & np.uint64(0xFFF)]
    return chance


@kernel
def write_escapes(
    checkers: np.uint64, back_limit: int, blocked: np.uint64, out: NDArray[np.float32], at: int
) -> None:
    """How well the rear checkers get past the other side's block.

    Masks in the runner's own numbering. Written: out[at] the escape chance of the rearmost
    checker, out[at + 1] the mean over occupied points behind or in the block, out[at + 2] the
    largest number of blocked points among any six in a row ahead of the rearmost, divided by 6.

    Args:
        checkers: Points with the runner's checkers (bit 25 for the bar).
        back_limit: Points above this number count as rear.
        blocked: Points blocked for the runner.
        out: float32 vector.
        at: First index to write.
    """
    out[at] = 1
    out[at + 1] = 1
    out[at + 2] = 0
    if checkers == 0:
        return
    rear = highest_bit(checkers)
    ahead = reverse_points(blocked)
    rest = checkers >> np.uint64(back_limit + 1) << np.uint64(back_limit + 1)
    if rest:
        first = escape_chance(rear, ahead)
        total = first
        count = 1
        rest &= ~(_ONE << np.uint64(rear))
        while rest:
            point = highest_bit(rest)
            total += escape_chance(point, ahead)
            count += 1
            rest &= ~(_ONE << np.uint64(point))
        out[at] = first
        out[at + 1] = total / np.float32(count)
    if rear >= 7:
        # Windows of six that begin at 1..rear - 6, so that they end in front of the rearmost.
        starts = (_ONE << np.uint64(rear - 5)) - np.uint64(2)
        out[at + 2] = np.float32(most_in_six(blocked, starts)) / np.float32(6)
