"""Dense features of Long Nardy: blocks, mobility, quarters, head, race."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.bits import count_bits, longest_run
from bgserver.kernels.blocks import write_escapes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["N_NARDY_FACTS", "write_nardy_facts"]

N_NARDY_FACTS = 40
"""Length of the vector."""

_ONE = np.uint64(1)
_POINTS = np.uint64(0x1FFFFFE)  # bits 1..24


@kernel
def _nardy_side(
    board: NDArray[np.int8], sign: int, turned: bool, out: NDArray[np.float32], at: int
) -> int:
    """Eighteen features of one side in Long Nardy, in its own numbering."""
    own = np.uint64(0)
    other = np.uint64(0)
    pips = 0
    total = 0
    stacked = 0
    spread = 0.0
    quarter0 = quarter1 = quarter2 = quarter3 = 0
    head = 0
    deep = 0
    for point in range(1, 25):
        index = point
        if turned:
            index = point + 12 if point <= 12 else point - 12
        count = sign * board[index]
        if count > 0:
            own |= _ONE << np.uint64(point)
            pips += point * count
            total += count
            spread += count * count
            if count > 3:
                stacked += count - 3
            if point <= 6:
                quarter0 += count
                if point <= 2:
                    deep += count
            elif point <= 12:
                quarter1 += count
            elif point <= 18:
                quarter2 += count
            else:
                quarter3 += count
            if point == 24:
                head = count
        elif count < 0:
            other |= _ONE << np.uint64(point)
    out[at] = pips / 150.0
    out[at + 1] = (15 - total) / 10.0
    out[at + 2] = head / 8.0
    out[at + 3] = quarter0 / 8.0
    out[at + 4] = quarter1 / 8.0
    out[at + 5] = quarter2 / 8.0
    out[at + 6] = quarter3 / 8.0
    out[at + 7] = stacked / 8.0
    out[at + 8] = spread / 80.0
    out[at + 9] = deep / 6.0
    write_escapes(own, 6, other, out, at + 10)
    # Mobility: over the six numbers, the share of occupied points that can move it.
    free = _POINTS & ~other
    steps = 0
    blocked_numbers = 0
    for die in range(1, 7):
        sources = own & ((free << np.uint64(die)) & _POINTS)
        moves = count_bits(sources)
        steps += min(moves, 4)
        if moves == 0:
            blocked_numbers += 1
    out[at + 13] = steps / 24.0
    out[at + 14] = blocked_numbers / 6.0
    out[at + 15] = 1.0 if total == 15 else 0.0
    out[at + 16] = longest_run(own) / 6.0
    out[at + 17] = count_bits(own) / 10.0
    return pips


@kernel
def write_nardy_facts(board: NDArray[np.int8], out: NDArray[np.float32]) -> None:
    """Write the `N_NARDY_FACTS` dense features of a board after a play.

    Args:
        board: int8[26], read only.
        out: float32[>= N_NARDY_FACTS], written.
    """
    own_pips = _nardy_side(board, 1, False, out, 0)
    opp_pips = _nardy_side(board, -1, True, out, 18)
    difference = (opp_pips - own_pips) / 50.0
    out[36] = max(-3.0, min(3.0, difference))
    out[37] = (opp_pips - own_pips + 4) / (np.sqrt(np.float32(own_pips + opp_pips)) * 2.0 + 1.0)
    # Who stands on which quarter of the other's path decides who blocks whom.
    own_ahead = 0
    opp_ahead = 0
    own_seen = 0
    opp_seen = 0
    for point in range(1, 25):
        count = board[point]
        if count < 0:
            opp_seen -= count
        elif count > 0:
            own_ahead += count * opp_seen
    for number in range(1, 25):
        index = number + 12 if number <= 12 else number - 12
        count = -board[index]
        if count < 0:
            own_seen -= count
        elif count > 0:
            opp_ahead += count * own_seen
    out[38] = own_ahead / 100.0
    out[39] = opp_ahead / 100.0
