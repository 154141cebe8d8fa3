"""The evaluator: a wide sparse first layer with an accumulator, then a small dense network.

    hidden1 = relu(b1 + sum of table rows + dense @ w_dense)     [width 1]
    hidden2 = relu(b2 + hidden1 @ w2)                            [width 2]
    outputs = sigmoid(b3 + hidden2 @ w3)                         [5]

A table row belongs to one point of one side with a number of checkers: the weights of its sparse
units, added up when the network is loaded. Plays of one roll differ from the board before it in
few points, so the sum of the rows is updated from the parent's by adding and subtracting the rows
that changed ("efficiently updatable network"). Boards go through the layers above in blocks of
four, so that each weight that is loaded serves four boards. Every sum is made in one fixed order:
a board gets the same bits in any place of any block.

All boards here are boards after a play seen by the mover, and all outputs are the mover's chances:
win, win gammon, win backgammon, lose gammon, lose backgammon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel, vector_kernel
from bgserver.kernels.bits import changed_points, highest_bit
from bgserver.kernels.classes import CLASS_RACE
from bgserver.kernels.features import N_DENSE
from bgserver.kernels.moves import BACKGAMMON
from bgserver.kernels.race_bounds import keep_to_certain
from bgserver.kernels.vectors import ROWS, add_product_relu, product_plain, product_relu

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "BLOCK",
    "N_OUTPUTS",
    "OUTPUT_COLUMNS",
    "SCOUT_WIDTH",
    "NetworkScratch",
    "Networks",
    "Scout",
    "accumulate",
    "copy_board",
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
_ONE = np.uint64(1)

BLOCK = ROWS
"""Boards that go through the upper layers together."""
OUTPUT_COLUMNS = 32
"""Columns of the last layer in memory, of which `N_OUTPUTS` count."""
SCOUT_WIDTH = 32
"""Hidden units of the scout."""


class Scout(NamedTuple):
    """A small network over the piece counts alone, one for all classes of a game.

    It estimates the mover's cubeless equity, up to a constant, well enough to tell which few of
    many plays are worth the full network: relu(b1 + sum of table rows) @ w2.
    """

    table: NDArray[np.float32]
    """[1, 2, 26, 16, SCOUT_WIDTH]: as `Networks.table`."""
    b1: NDArray[np.float32]
    """[1, SCOUT_WIDTH]."""
    w2: NDArray[np.float32]
    """[SCOUT_WIDTH]."""


class Networks(NamedTuple):
    """The networks of one game, one for each position class c, laid out for evaluation."""

    table: NDArray[np.float32]
    """[c, 2, 26, 16, width1]: row of side (own, opponent), own number (25 = bar), checkers."""
    w_dense: NDArray[np.float32]
    """[c, N_DENSE, width1]."""
    b1: NDArray[np.float32]
    """[c, width1]; both widths are multiples of 32."""
    w2: NDArray[np.float32]
    """[c, width1, width2]."""
    b2: NDArray[np.float32]
    """[c, width2]."""
    w3: NDArray[np.float32]
    """[c, width2, OUTPUT_COLUMNS]: 0 beyond the five outputs."""
    b3: NDArray[np.float32]
    """[c, OUTPUT_COLUMNS]."""
    scout: Scout
    """Chooses which plays of a roll deserve the networks."""


class NetworkScratch(NamedTuple):
    """Memory of the evaluator; the caller owns one set for each thread and nesting level."""

    board: NDArray[np.int8]
    """[26]: the board in hand."""
    facts: NDArray[np.float32]
    """[N_DENSE]: its dense features."""
    parent: NDArray[np.float32]
    """[1, c, width1]: accumulator of the board before the play, by class."""
    parent_ready: NDArray[np.bool_]
    """[c]: whether it is filled."""
    hidden1: NDArray[np.float32]
    """[c, BLOCK, width1]: biases and sums of table rows of the boards that wait, by class."""
    hidden2: NDArray[np.float32]
    """[BLOCK, width2]."""
    dense: NDArray[np.float32]
    """[c, BLOCK, N_DENSE]: their dense features."""
    last: NDArray[np.float32]
    """[BLOCK, OUTPUT_COLUMNS]."""
    outputs: NDArray[np.float32]
    """[BLOCK, 5]."""
    boards: NDArray[np.int8]
    """[c, BLOCK, 26]: the boards that wait for their block to be full."""
    waiting: NDArray[np.int64]
    """[c, BLOCK]: the caller's row of each."""
    n_waiting: NDArray[np.int64]
    """[c]."""
    scout_sums: NDArray[np.float32]
    """[1, 1, SCOUT_WIDTH]: the scout's accumulator of the board before the play."""
    scout_hidden: NDArray[np.float32]
    """[SCOUT_WIDTH]."""


def make_scratch(networks: Networks) -> NetworkScratch:
    """Allocate the evaluator's memory for these networks."""
    classes, width1 = networks.b1.shape
    return NetworkScratch(
        board=np.zeros(26, dtype=np.int8),
        facts=np.zeros(N_DENSE, dtype=np.float32),
        parent=np.zeros((1, classes, width1), dtype=np.float32),
        parent_ready=np.zeros(classes, dtype=np.bool_),
        hidden1=np.zeros((classes, BLOCK, width1), dtype=np.float32),
        hidden2=np.zeros((BLOCK, networks.b2.shape[1]), dtype=np.float32),
        dense=np.zeros((classes, BLOCK, N_DENSE), dtype=np.float32),
        last=np.zeros((BLOCK, OUTPUT_COLUMNS), dtype=np.float32),
        outputs=np.zeros((BLOCK, N_OUTPUTS), dtype=np.float32),
        boards=np.zeros((classes, BLOCK, 26), dtype=np.int8),
        waiting=np.zeros((classes, BLOCK), dtype=np.int64),
        n_waiting=np.zeros(classes, dtype=np.int64),
        scout_sums=np.zeros((1, 1, SCOUT_WIDTH), dtype=np.float32),
        scout_hidden=np.zeros(SCOUT_WIDTH, dtype=np.float32),
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


@kernel
def copy_board(
    boards: NDArray[np.int8], row: int, turned: bool, variant: int, out: NDArray[np.int8]
) -> None:
    """Write one row to `out`, int8[26], seen by the other player if `turned`."""
    if not turned:
        for point in range(26):
            out[point] = boards[row, point]
    else:
        for point in range(26):
            out[point] = -boards[row, opposite(point, variant)]


@vector_kernel
def accumulate(
    board: NDArray[np.int8],
    variant: int,
    table: NDArray[np.float32],
    biases: NDArray[np.float32],
    c: int,
    out: NDArray[np.float32],
    at: int,
    place: int,
) -> None:
    """Write the biases plus the sum of a board's table rows.

    Args:
        board: int8[26], read only.
        variant: The game.
        table: float32[c, 2, 26, 16, width1].
        biases: float32[c, width1].
        c: Position class.
        out: float32[n, m, width1]; `out[at, place]` is written.
        at: First index.
        place: Second index.
    """
    width = out.shape[2]
    for j in range(width):
        out[at, place, j] = biases[c, j]
    for point in range(26):
        count = board[point]
        if count > 0:
            for j in range(width):
                out[at, place, j] += table[c, 0, point, count, j]
        elif count < 0:
            number = opposite(point, variant)
            for j in range(width):
                out[at, place, j] += table[c, 1, number, -count, j]


@vector_kernel
def update(
    board: NDArray[np.int8],
    parent: NDArray[np.int8],
    variant: int,
    table: NDArray[np.float32],
    parent_sums: NDArray[np.float32],
    out: NDArray[np.float32],
    c: int,
    place: int,
) -> None:
    """Write the sum of table rows of `board` from that of `parent`.

    Args:
        board: int8[26], read only.
        parent: int8[26], read only.
        variant: The game.
        table: float32[c, 2, 26, 16, width1].
        parent_sums: float32[1, c, width1]: the parent's sums by class.
        out: float32[c, BLOCK, width1]; `out[c, place]` is written.
        c: Position class.
        place: Place in the block.
    """
    width = out.shape[2]
    for j in range(width):
        out[c, place, j] = parent_sums[0, c, j]
    changed = changed_points(parent, board)
    while changed:
        point = highest_bit(changed)
        changed ^= _ONE << np.uint64(point)
        old = parent[point]
        new = board[point]
        if old > 0 or new > 0:
            before = max(old, 0)
            after = max(new, 0)
            for j in range(width):
                out[c, place, j] += table[c, 0, point, after, j] - table[c, 0, point, before, j]
        if old < 0 or new < 0:
            number = opposite(point, variant)
            before = max(-old, 0)
            after = max(-new, 0)
            for j in range(width):
                out[c, place, j] += table[c, 1, number, after, j] - table[c, 1, number, before, j]


@vector_kernel
def forward(c: int, networks: Networks, scratch: NetworkScratch) -> None:
    """Run a block of four boards through the layers above the accumulator.

    Args:
        c: Position class.
        networks: The networks.
        scratch: `hidden1[c]` holds what `update` wrote and `dense[c]` the features; both
            layers' activations and `outputs` are written.
    """
    hidden1, hidden2, last = scratch.hidden1, scratch.hidden2, scratch.last
    bias1, bias2, bias3 = networks.b1, networks.b2, networks.b3
    outputs = scratch.outputs
    width1 = hidden1.shape[2]
    width2 = hidden2.shape[1]
    at = BLOCK * c
    w_dense_at = c * N_DENSE * width1
    add_product_relu(
        scratch.dense,
        at * N_DENSE,
        N_DENSE,
        networks.w_dense,
        w_dense_at,
        N_DENSE,
        bias1,
        c * width1,
        hidden1,
        at * width1,
        width1,
    )
    w2_at = c * width1 * width2
    product_relu(
        hidden1,
        at * width1,
        width1,
        networks.w2,
        w2_at,
        width1,
        bias2,
        c * width2,
        hidden2,
        0,
        width2,
    )
    w3_at = c * width2 * OUTPUT_COLUMNS
    product_plain(
        hidden2,
        0,
        width2,
        networks.w3,
        w3_at,
        width2,
        bias3,
        c * OUTPUT_COLUMNS,
        last,
        0,
        OUTPUT_COLUMNS,
    )
    for place in range(BLOCK):
        for o in range(N_OUTPUTS):
            outputs[place, o] = 1 / (1 + np.exp(-last[place, o]))


@kernel
def make_sane(board: NDArray[np.int8], variant: int, c: int, out: NDArray[np.float32]) -> None:
    """Make the outputs obey what the board makes certain: order, gammons, decided races."""
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
        keep_to_certain(board, out)
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
