"""The scout: which few of many plays of a roll are worth the full network.

A look-ahead asks for the best of some 420 replies to each board. A small network over the piece
counts alone, with the same kind of accumulator, tells the few that can be best at a tenth of the
price; only these go through the full network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel, vector_kernel
from bgserver.kernels.bits import highest_bit
from bgserver.kernels.network import SCOUT_WIDTH, accumulate, game_outcome, opposite

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.network import NetworkScratch, Scout

__all__ = ["begin_scouting", "choose_promising"]

_ONE = np.uint64(1)
_FINISHED = np.float32(1e6)
_TAKEN = np.float32(-1e9)
_LAST_CHECKERS = 4  # a play can end the game only with so few left


@kernel
def begin_scouting(
    parent: NDArray[np.int8], variant: int, scout: Scout, scratch: NetworkScratch
) -> None:
    """Prepare `scratch.scout_sums` for plays from `parent`."""
    accumulate(parent, variant, scout.table, scout.b1, 0, scratch.scout_sums, 0, 0)


@vector_kernel
def _estimate_all(
    boards: NDArray[np.int8],
    count: int,
    parent: NDArray[np.int8],
    variant: int,
    table: NDArray[np.float32],
    sums: NDArray[np.float32],
    w2: NDArray[np.float32],
    hidden: NDArray[np.float32],
    scores: NDArray[np.float32],
) -> None:
    """Write the estimate of each play.

    One loop over plain arrays, without calls or views: they would cost more than the sums.
    """
    zero = np.float32(0)
    for row in range(count):
        changed = np.uint64(0)
        for point in range(26):
            changed |= np.uint64(parent[point] != boards[row, point]) << np.uint64(point)
        for j in range(SCOUT_WIDTH):
            hidden[j] = sums[0, 0, j]
        while changed:
            point = highest_bit(changed)
            changed ^= _ONE << np.uint64(point)
            old = parent[point]
            new = boards[row, point]
            if old > 0 or new > 0:
                before = max(old, 0)
                after = max(new, 0)
                for j in range(SCOUT_WIDTH):
                    hidden[j] += table[0, 0, point, after, j] - table[0, 0, point, before, j]
            if old < 0 or new < 0:
                number = opposite(point, variant)
                before = max(-old, 0)
                after = max(-new, 0)
                for j in range(SCOUT_WIDTH):
                    hidden[j] += table[0, 1, number, after, j] - table[0, 1, number, before, j]
        for j in range(SCOUT_WIDTH):
            hidden[j] = max(hidden[j], zero) * w2[j]
        # Halves are added to halves, which is vectorised in a fixed order.
        for j in range(16):
            hidden[j] += hidden[j + 16]
        for j in range(8):
            hidden[j] += hidden[j + 8]
        for j in range(4):
            hidden[j] += hidden[j + 4]
        scores[row] = (hidden[0] + hidden[1]) + (hidden[2] + hidden[3])


@kernel
def choose_promising(
    boards: NDArray[np.int8],
    count: int,
    most: int,
    window: np.float32,
    parent: NDArray[np.int8],
    variant: int,
    scout: Scout,
    scratch: NetworkScratch,
    scores: NDArray[np.float32],
    chosen: NDArray[np.int64],
) -> int:
    """Choose the plays with the best estimates; equal ones in the order of the plays.

    Args:
        boards: int8[>= count, 26], read only: boards after the plays from `parent`.
        count: How many.
        most: How many to choose at most.
        window: Most that an estimate may be below the best one, in points.
        parent: int8[26]; `begin_scouting` has been called for it.
        variant: The game.
        scout: The scout.
        scratch: `NetworkScratch`.
        scores: float32[>= count], scratch.
        chosen: int64[>= most], written: indexes of the plays.

    Returns:
        The number of plays chosen.
    """
    if count == 1:
        chosen[0] = 0
        return 1
    own = 0
    for point in range(1, 26):
        own += max(int(parent[point]), 0)
    may_finish = own <= _LAST_CHECKERS
    _estimate_all(
        boards,
        count,
        parent,
        variant,
        scout.table,
        scratch.scout_sums,
        scout.w2,
        scratch.scout_hidden,
        scores,
    )
    if may_finish:
        for row in range(count):
            if game_outcome(boards[row], variant) > 0:
                scores[row] = _FINISHED
    limit = _TAKEN
    for place in range(min(most, count)):
        best = 0
        for row in range(1, count):
            if scores[row] > scores[best]:
                best = row
        if scores[best] < limit:
            return place
        if place == 0:
            limit = scores[best] - window
        chosen[place] = best
        scores[best] = _TAKEN
    return min(most, count)
