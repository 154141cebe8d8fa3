"""The evaluator: a wide sparse first layer with an accumulator, then a small dense network.

    hidden1 = relu(b1 + sum of table rows + dense @ w_dense)     [width 1]
    hidden2 = relu(b2 + hidden1 @ w2)                            [width 2]
    outputs = sigmoid(b3 + hidden2 @ w3)                         [5]

A table row belongs to one point of one side with a number of checkers: the weights of its sparse
units, added up when the network is loaded. Plays of one roll differ from the board before it in
few points, so the sum of the rows is updated from the parent's by adding and subtracting the rows
that changed ("efficiently updatable network").

All boards here are boards after a play seen by the mover, and all outputs are the mover's chances:
win, win gammon, win backgammon, lose gammon, lose backgammon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import fast_kernel, kernel
from bgserver.kernels.features import (
    CLASS_RACE,
    N_DENSE,
)
from bgserver.kernels.moves import BACKGAMMON

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "N_OUTPUTS",
    "NetworkScratch",
    "Networks",
    "accumulate",
    "equity",
    "flip",
    "forward",
    "game_outcome",
    "make_sane",
    "make_scratch",
    "opposite",
    "update",
    "write_outcome",
]

N_OUTPUTS = 5


class Networks(NamedTuple):
    """The networks of one game, one for each position class c, laid out for evaluation."""

    table: NDArray[np.float32]
    """[c, 2, 26, 16, width1]: row of side (own, opponent), own number (25 = bar), checkers."""
    w_dense: NDArray[np.float32]
    """[c, N_DENSE, width1]."""
    b1: NDArray[np.float32]
    """[c, width1]."""
    w2: NDArray[np.float32]
    """[c, width2, width1]: transposed, so that a unit of the second layer is one dot product."""
    b2: NDArray[np.float32]
    """[c, width2]; width2 is a multiple of 4."""
    w3: NDArray[np.float32]
    """[c, 5, width2]: transposed."""
    b3: NDArray[np.float32]
    """[c, 5]."""


class NetworkScratch(NamedTuple):
    """Memory of the evaluator; the caller owns one set for each thread and nesting level."""

    parent: NDArray[np.float32]
    """[c, width1]: accumulator of the board before the play, by class."""
    parent_ready: NDArray[np.bool_]
    """[c]: whether it is filled."""
    hidden1: NDArray[np.float32]
    """[width1]."""
    hidden2: NDArray[np.float32]
    """[width2]."""
    dense: NDArray[np.float32]
    """[N_DENSE]."""
    active: NDArray[np.int64]
    """[N_DENSE + 3]: indexes of the dense features that are not 0, filled up to a multiple of 4."""
    factors: NDArray[np.float32]
    """[N_DENSE + 3]: their values, 0 for the filling."""


def make_scratch(networks: Networks) -> NetworkScratch:
    """Allocate the evaluator's memory for these networks."""
    classes, width1 = networks.b1.shape
    return NetworkScratch(
        parent=np.zeros((classes, width1), dtype=np.float32),
        parent_ready=np.zeros(classes, dtype=np.bool_),
        hidden1=np.zeros(width1, dtype=np.float32),
        hidden2=np.zeros(networks.b2.shape[1], dtype=np.float32),
        dense=np.zeros(N_DENSE, dtype=np.float32),
        active=np.zeros(N_DENSE + 3, dtype=np.int64),
        factors=np.zeros(N_DENSE + 3, dtype=np.float32),
    )


@kernel
def equity(p: NDArray[np.float32] | NDArray[np.float64]) -> float:
    """Cubeless equity in points of five chances (index 0 win ... 4 lose backgammon)."""
    return float(2 * p[0] - 1 + p[1] + p[2] - p[3] - p[4])


@kernel
def flip(
    p: NDArray[np.float32] | NDArray[np.float64], out: NDArray[np.float32] | NDArray[np.float64]
) -> None:
    """Write the chances seen by the other player; `out` may be `p`."""
    win, gammon, backgammon = p[0], p[1], p[2]
    out[0] = 1 - win
    out[1] = p[3]
    out[2] = p[4]
    out[3] = gammon
    out[4] = backgammon


@kernel
def game_outcome(board: NDArray[np.int8], variant: int) -> int:
    """Value of a finished game to the mover who has just borne off the last checker: 1, 2 or 3.

    0 if the mover still has checkers.
    """
    opponents = 0
    deep = board[0]
    for point in range(1, 26):
        if board[point] > 0:
            return 0
        opponents -= board[point]
        if point <= 6:
            deep += board[point]
    opponents -= board[0]
    if opponents < 15:
        return 1
    if variant == BACKGAMMON and deep < 0:
        return 3
    return 2


@kernel
def opposite(point: int, variant: int) -> int:
    """The opponent's number of an own point (0 and 25 are the bars)."""
    if variant == BACKGAMMON:
        return 25 - point
    if point == 0 or point == 25:
        return 25 - point
    return point + 12 if point <= 12 else point - 12


@fast_kernel
def accumulate(
    board: NDArray[np.int8], variant: int, table: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """Write the sum of table rows of a board.

    Args:
        board: int8[26], read only.
        variant: The game.
        table: float32[2, 26, 16, width1] of one class.
        out: float32[width1], written.
    """
    width = out.shape[0]
    for j in range(width):
        out[j] = 0
    for point in range(26):
        count = board[point]
        if count > 0:
            row = table[0, point, count]
            for j in range(width):
                out[j] += row[j]
        elif count < 0:
            row = table[1, opposite(point, variant), -count]
            for j in range(width):
                out[j] += row[j]


@fast_kernel
def update(
    board: NDArray[np.int8],
    parent: NDArray[np.int8],
    variant: int,
    table: NDArray[np.float32],
    parent_sum: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """Write the sum of table rows of `board` from that of `parent`."""
    width = out.shape[0]
    for j in range(width):
        out[j] = parent_sum[j]
    for point in range(26):
        old = parent[point]
        new = board[point]
        if old == new:
            continue
        if old > 0 or new > 0:
            before = table[0, point, max(old, 0)]
            after = table[0, point, max(new, 0)]
            for j in range(width):
                out[j] += after[j] - before[j]
        if old < 0 or new < 0:
            number = opposite(point, variant)
            before = table[1, number, max(-old, 0)]
            after = table[1, number, max(-new, 0)]
            for j in range(width):
                out[j] += after[j] - before[j]


@fast_kernel
def forward(c: int, networks: Networks, scratch: NetworkScratch, out: NDArray[np.float32]) -> None:
    """Run the network above the accumulator.

    Loops take four rows at a time: each row alone would spend its time on loading and storing
    the sums.

    Args:
        c: Position class.
        networks: The networks.
        scratch: `hidden1` holds the sum of table rows and `dense` the features; both layers'
            activations are written.
        out: float32[5], written.
    """
    hidden1 = scratch.hidden1
    hidden2 = scratch.hidden2
    active = scratch.active
    factors = scratch.factors
    width1 = hidden1.shape[0]
    width2 = hidden2.shape[0]
    zero = np.float32(0)
    count = 0
    for i in range(N_DENSE):
        value = scratch.dense[i]
        if value != 0:
            active[count] = i
            factors[count] = value
            count += 1
    for i in range(count, count + 3):
        active[i] = 0
        factors[i] = 0
    rows = networks.w_dense[c]
    for i in range(0, count, 4):
        row0, row1, row2, row3 = active[i], active[i + 1], active[i + 2], active[i + 3]
        value0, value1, value2, value3 = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        for j in range(width1):
            hidden1[j] += (
                value0 * rows[row0, j]
                + value1 * rows[row1, j]
                + value2 * rows[row2, j]
                + value3 * rows[row3, j]
            )
    bias1 = networks.b1[c]
    for j in range(width1):
        hidden1[j] = max(hidden1[j] + bias1[j], zero)
    units = networks.w2[c]
    bias2 = networks.b2[c]
    for k in range(0, width2, 4):
        sum0 = sum1 = sum2 = sum3 = zero
        for j in range(width1):
            value = hidden1[j]
            sum0 += value * units[k, j]
            sum1 += value * units[k + 1, j]
            sum2 += value * units[k + 2, j]
            sum3 += value * units[k + 3, j]
        hidden2[k] = max(sum0 + bias2[k], zero)
        hidden2[k + 1] = max(sum1 + bias2[k + 1], zero)
        hidden2[k + 2] = max(sum2 + bias2[k + 2], zero)
        hidden2[k + 3] = max(sum3 + bias2[k + 3], zero)
    last = networks.w3[c]
    for o in range(N_OUTPUTS):
        total = networks.b3[c, o]
        for k in range(width2):
            total += hidden2[k] * last[o, k]
        out[o] = 1 / (1 + np.exp(-total))


@kernel
def make_sane(board: NDArray[np.int8], variant: int, c: int, out: NDArray[np.float32]) -> None:
    """Make the outputs obey what the board makes certain: order, impossible gammons."""
    own = 0
    opponents = 0
    own_deep = board[25]
    opponent_deep = -board[0]
    for point in range(1, 25):
        count = board[point]
        if count > 0:
            own += count
            if point >= 19:
                own_deep += count
        else:
            opponents -= count
            if point <= 6:
                opponent_deep -= count
    own += board[25]
    opponents -= board[0]
    if opponents < 15:
        out[1] = 0
    if own < 15:
        out[3] = 0
    if variant != BACKGAMMON:
        out[2] = 0
        out[4] = 0
    elif c == CLASS_RACE:
        # Without contact nobody comes back into the other's home.
        if opponent_deep == 0:
            out[2] = 0
        if own_deep == 0:
            out[4] = 0
    out[1] = min(out[1], out[0])
    out[2] = min(out[2], out[1])
    out[3] = min(out[3], 1 - out[0])
    out[4] = min(out[4], out[3])


@kernel
def write_outcome(value: int, out: NDArray[np.float32] | NDArray[np.float64]) -> None:
    """Write the chances of a game that the mover has won with `value` 1, 2 or 3."""
    out[0] = 1
    out[1] = 1 if value >= 2 else 0
    out[2] = 1 if value >= 3 else 0
    out[3] = 0
    out[4] = 0
