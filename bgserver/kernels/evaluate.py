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
from bgserver.kernels.features import CLASS_RACE, N_CLASSES, dense_features, position_class
from bgserver.kernels.moves import BACKGAMMON, turn_board
from bgserver.kernels.network import (
    Networks,
    accumulate,
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
def evaluate_children(
    boards: NDArray[np.int8],
    count: int,
    parent: NDArray[np.int8],
    variant: int,
    evaluator: Evaluator,
    scratch: NetworkScratch,
    out: NDArray[np.float32],
) -> None:
    """Evaluate the boards after each play of one roll.

    Args:
        boards: int8[>= count, 26], read only: boards after the plays.
        count: How many.
        parent: int8[26]: the board before the play.
        variant: The game.
        evaluator: `Evaluator`.
        scratch: `NetworkScratch`.
        out: float32[>= count, 5], written.
    """
    networks = evaluator.networks
    for c in range(N_CLASSES):
        scratch.parent_ready[c] = False
    for row in range(count):
        board = boards[row]
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
        if not scratch.parent_ready[c]:
            accumulate(parent, variant, networks.table[c], scratch.parent[c])
            scratch.parent_ready[c] = True
        update(board, parent, variant, networks.table[c], scratch.parent[c], scratch.hidden1)
        dense_features(board, variant, scratch.dense)
        forward(c, networks, scratch, out[row])
        make_sane(board, variant, c, out[row])


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
    value = game_outcome(board, variant)
    if value > 0:
        write_outcome(value, out)
        return
    networks = evaluator.networks
    c = position_class(board, variant)
    if c == CLASS_RACE:
        own, other = _bearoff_arrangements(board, variant, evaluator.bearoff)
        if own >= 0:
            bearoff_race_probabilities(own, other, evaluator.bearoff, out)
            return
    accumulate(board, variant, networks.table[c], scratch.hidden1)
    dense_features(board, variant, scratch.dense)
    forward(c, networks, scratch, out)
    make_sane(board, variant, c, out)


@kernel
def evaluate_before_roll(
    boards: NDArray[np.int8],
    variant: int,
    evaluator: Evaluator,
    scratch: NetworkScratch,
    turned: NDArray[np.int8],
    out: NDArray[np.float32],
) -> None:
    """Evaluate boards before the roll, seen by the player on roll.

    The other player has just moved, so each board is turned, judged and the chances flipped.

    Args:
        boards: int8[n, 26], read only; the player on roll still has checkers.
        variant: The game.
        evaluator: `Evaluator`.
        scratch: `NetworkScratch`.
        turned: int8[26], scratch.
        out: float32[n, 5], written: chances of the player on roll.
    """
    for row in range(len(boards)):
        turn_board(boards[row], variant, turned)
        evaluate_board(turned, variant, evaluator, scratch, out[row])
        flip(out[row], out[row])
