"""Static evaluation of boards: finished games, bear-off tables, networks, in that order.

Boards are boards after a play seen by the mover; the five chances are the mover's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bgserver.kernels._jit import kernel
from bgserver.kernels.bearoff import (
    BearoffTables,
    bearoff_race_probabilities,
    nardy_opponent_arrangement,
    opponent_arrangement,
    own_arrangement,
)
from bgserver.kernels.classes import CLASS_RACE, N_CLASSES, position_class
from bgserver.kernels.features import N_DENSE, dense_features
from bgserver.kernels.moves import BACKGAMMON
from bgserver.kernels.network import (
    BLOCK,
    N_OUTPUTS,
    Networks,
    accumulate,
    copy_board,
    flip,
    forward,
    game_outcome,
    make_sane,
    update,
    write_outcome,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bgserver.kernels.network import NetworkScratch

__all__ = [
    "CLASS_BEAROFF",
    "CLASS_FINISHED",
    "Evaluator",
    "evaluate_before_roll",
    "evaluate_board",
    "evaluate_children",
    "judge_class",
]

CLASS_BEAROFF = N_CLASSES
"""Both sides are at home without contact: the bear-off tables judge."""
CLASS_FINISHED = N_CLASSES + 1
"""The game is over."""


class Evaluator(NamedTuple):
    """All that judges boards of one game; `bearoff` may be empty."""

    networks: Networks
    bearoff: BearoffTables


@kernel
def _bearoff_arrangements(
    board: NDArray[np.int8], variant: int, bearoff: BearoffTables
) -> tuple[int, int]:
    """Indexes of both sides' arrangements if the tables can judge the board, else (-1, -1)."""
    if len(bearoff.probabilities) == 0:
        return -1, -1
    own = own_arrangement(board)
    if own < 0:
        return -1, -1
    if variant == BACKGAMMON:
        other = opponent_arrangement(board)
    else:
        other = nardy_opponent_arrangement(board)
    if other < 0:
        return -1, -1
    return own, other


@kernel
def judge_class(board: NDArray[np.int8], variant: int, evaluator: Evaluator) -> int:
    """What judges a board: a network class, `CLASS_BEAROFF` or `CLASS_FINISHED`."""
    if game_outcome(board, variant) > 0:
        return CLASS_FINISHED
    c = position_class(board, variant)
    if c == CLASS_RACE:
        own, _ = _bearoff_arrangements(board, variant, evaluator.bearoff)
        if own >= 0:
            return CLASS_BEAROFF
    return c


@kernel
def _finish_block(
    c: int, variant: int, networks: Networks, scratch: NetworkScratch, out: NDArray[np.float32]
) -> None:
    """Evaluate the boards of one class that wait; what stands in free places is ignored."""
    forward(c, networks, scratch)
    for place in range(scratch.n_waiting[c]):
        row = scratch.waiting[c, place]
        for output in range(N_OUTPUTS):
            out[row, output] = scratch.outputs[place, output]
        make_sane(scratch.boards[c, place], variant, c, out[row])
    scratch.n_waiting[c] = 0


@kernel
def _evaluate(
    boards: NDArray[np.int8],
    count: int,
    parent: NDArray[np.int8],
    has_parent: bool,
    turned: bool,
    variant: int,
    evaluator: Evaluator,
    scratch: NetworkScratch,
    out: NDArray[np.float32],
) -> None:
    """Evaluate rows of `boards`, sorted into blocks by class.

    What is needed for every row is passed on as plain arrays: views and tuples of arrays would
    cost more than the sums.

    Args:
        boards: int8[>= count, 26], read only.
        count: How many.
        parent: int8[26]: the board before the play if `has_parent`.
        has_parent: Whether the rows are plays from `parent`.
        turned: Whether to turn each row first: it is seen by the player on roll.
        variant: The game.
        evaluator: `Evaluator`.
        scratch: `NetworkScratch`.
        out: float32[>= count, 5], written: chances of the player who has just moved.
    """
    networks = evaluator.networks
    table, biases, parent_sums = networks.table, networks.b1, scratch.parent
    board, facts, dense = scratch.board, scratch.facts, scratch.dense
    hidden1, kept = scratch.hidden1, scratch.boards
    waiting, n_waiting = scratch.waiting, scratch.n_waiting
    for c in range(N_CLASSES):
        scratch.parent_ready[c] = False
        n_waiting[c] = 0
    for row in range(count):
        copy_board(boards, row, turned, variant, board)
        value = game_outcome(board, variant)
        if value > 0:
            write_outcome(value, out[row])
            continue
        c = position_class(board, variant)
        if c == CLASS_RACE:
            own, other = _bearoff_arrangements(board, variant, evaluator.bearoff)
            if own >= 0:
                bearoff_race_probabilities(own, other, evaluator.bearoff, out[row])
                continue
        place = n_waiting[c]
        if not has_parent:
            accumulate(board, variant, table, biases, c, hidden1, c, place)
        else:
            if not scratch.parent_ready[c]:
                accumulate(parent, variant, table, biases, c, parent_sums, 0, c)
                scratch.parent_ready[c] = True
            update(board, parent, variant, table, parent_sums, hidden1, c, place)
        dense_features(board, variant, c, facts)
        for index in range(N_DENSE):
            dense[c, place, index] = facts[index]
        for point in range(26):
            kept[c, place, point] = board[point]
        waiting[c, place] = row
        n_waiting[c] = place + 1
        if place + 1 == BLOCK:
            _finish_block(c, variant, networks, scratch, out)
    for c in range(N_CLASSES):
        if n_waiting[c] > 0:
            _finish_block(c, variant, networks, scratch, out)


@kernel
def evaluate_children(
    boards: NDArray[np.int8],
    count: int,
    parent: NDArray[np.int8],
    variant: int,
    evaluator: Evaluator,
    scratch: NetworkScratch,
    out: NDArray[np.float32],
) -> None:
    """Evaluate the boards after plays from one board.

    Args:
        boards: int8[>= count, 26], read only: boards after the plays.
        count: How many.
        parent: int8[26]: the board before the play.
        variant: The game.
        evaluator: `Evaluator`.
        scratch: `NetworkScratch`.
        out: float32[>= count, 5], written.
    """
    _evaluate(boards, count, parent, True, False, variant, evaluator, scratch, out)


@kernel
def evaluate_board(
    board: NDArray[np.int8],
    variant: int,
    evaluator: Evaluator,
    scratch: NetworkScratch,
    out: NDArray[np.float32],
) -> None:
    """Evaluate one board after a play.

    Args:
        board: int8[26], read only.
        variant: The game.
        evaluator: `Evaluator`.
        scratch: `NetworkScratch`.
        out: float32[5], written.
    """
    boards = board.reshape(1, 26)
    rows = out.reshape(1, N_OUTPUTS)
    _evaluate(boards, 1, board, False, False, variant, evaluator, scratch, rows)


@kernel
def evaluate_before_roll(
    boards: NDArray[np.int8],
    variant: int,
    evaluator: Evaluator,
    scratch: NetworkScratch,
    out: NDArray[np.float32],
) -> None:
    """Evaluate boards before the roll, seen by the player on roll.

    The other player has just moved, so each board is turned, judged and the chances flipped.

    Args:
        boards: int8[n, 26], read only; the player on roll still has checkers.
        variant: The game.
        evaluator: `Evaluator`.
        scratch: `NetworkScratch`.
        out: float32[n, 5], written: chances of the player on roll.
    """
    count = len(boards)
    _evaluate(boards, count, scratch.board, False, True, variant, evaluator, scratch, out)
    for row in range(count):
        flip(out[row], out[row])
