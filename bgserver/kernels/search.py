"""Look-ahead: averages over the 21 rolls, both sides answering with the best static play.

All kernels here take a board after a play, seen by the mover; the opponent rolls next. Depth 1
looks at the opponent's rolls. Deeper levels are composed of these pieces by
`bgserver.engine.lookahead`, so that no kernel call lasts long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.evaluate import evaluate_children
from bgserver.kernels.moves import (
    HEAD,
    LONG_NARDY,
    MAX_PLAYS,
    PlayBuffers,
    generate_plays,
    make_play_buffers,
    turn_board,
)
from bgserver.kernels.network import (
    N_OUTPUTS,
    Networks,
    NetworkScratch,
    equity,
    flip,
    game_outcome,
    make_scratch,
    write_outcome,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.evaluate import Evaluator

__all__ = [
    "SearchMemory",
    "best_static",
    "look_one_roll",
    "make_search_memory",
    "may_be_first_turn",
    "static_reply",
]


class SearchMemory(NamedTuple):
    """Memory of the search; one set for each thread."""

    plays: PlayBuffers
    """Plays of the player to move."""
    values: NDArray[np.float32]
    """[MAX_PLAYS, 5]: chances after each of them."""
    scratch: NetworkScratch
    """The evaluator's."""
    turned: NDArray[np.int8]
    """[26]: the board seen by the player to move."""


def make_search_memory(networks: Networks) -> SearchMemory:
    """Allocate one set of memory for these networks."""
    return SearchMemory(
        plays=make_play_buffers(),
        values=np.zeros((MAX_PLAYS, N_OUTPUTS), dtype=np.float32),
        scratch=make_scratch(networks),
        turned=np.zeros(26, dtype=np.int8),
    )


@kernel
def may_be_first_turn(board: NDArray[np.int8], variant: int) -> bool:
    """Long Nardy: whether the player to move still has everything on the head.

    A search does not know the history; a player who has forfeited the first turn (7.13) is rare
    enough to be taken for one who has not moved yet.
    """
    return variant == LONG_NARDY and board[HEAD] == 15


@kernel
def best_static(
    board: NDArray[np.int8],
    die_a: int,
    die_b: int,
    variant: int,
    first_turn: bool,
    evaluator: Evaluator,
    memory: SearchMemory,
) -> tuple[int, int]:
    """Generate and evaluate the plays of a roll; return the index of the best and the count.

    Args:
        board: int8[26]: the board of the player who has rolled, a running game.
        die_a: 1..6.
        die_b: 1..6.
        variant: The game.
        first_turn: Long Nardy: the player's first turn.
        evaluator: `Evaluator`.
        memory: `SearchMemory`; `plays` and `values` are written.
    """
    count = generate_plays(board, die_a, die_b, variant, first_turn, memory.plays)
    boards = memory.plays.boards
    evaluate_children(boards, count, board, variant, evaluator, memory.scratch, memory.values)
    best = 0
    best_equity = equity(memory.values[0])
    for row in range(1, count):
        worth = equity(memory.values[row])
        if worth > best_equity:
            best_equity = worth
            best = row
    return best, count


@kernel
def static_reply(
    board: NDArray[np.int8],
    die_a: int,
    die_b: int,
    variant: int,
    evaluator: Evaluator,
    memory: SearchMemory,
    reply: NDArray[np.int8],
) -> None:
    """The opponent's best static play: write the board after it, seen by the opponent.

    Args:
        board: int8[26]: the board after the mover's play, seen by the mover.
        die_a: 1..6.
        die_b: 1..6.
        variant: The game.
        evaluator: `Evaluator`.
        memory: `SearchMemory`.
        reply: int8[26], written.
    """
    turn_board(board, variant, memory.turned)
    first = may_be_first_turn(memory.turned, variant)
    best, _ = best_static(memory.turned, die_a, die_b, variant, first, evaluator, memory)
    reply[:] = memory.plays.boards[best]


@kernel
def look_one_roll(
    board: NDArray[np.int8],
    variant: int,
    evaluator: Evaluator,
    memory: SearchMemory,
    out: NDArray[np.float64],
) -> None:
    """Chances of the mover after a play, one roll ahead.

    Args:
        board: int8[26]: the board after the play, seen by the mover.
        variant: The game.
        evaluator: `Evaluator`.
        memory: `SearchMemory`.
        out: float64[5], written: the mean over the opponent's 36 rolls.
    """
    value = game_outcome(board, variant)
    if value > 0:
        write_outcome(value, out)
        return
    out[:] = 0
    turn_board(board, variant, memory.turned)
    first = may_be_first_turn(memory.turned, variant)
    for die_a in range(1, 7):
        for die_b in range(1, die_a + 1):
            best, _ = best_static(memory.turned, die_a, die_b, variant, first, evaluator, memory)
            weight = 1.0 if die_a == die_b else 2.0
            for index in range(N_OUTPUTS):
                out[index] += weight * memory.values[best, index]
    out /= 36.0
    flip(out, out)
