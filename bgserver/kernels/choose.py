"""The choice of a static player: the best play of a roll with cube and score."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.moves import BACKGAMMON, MAX_PLAYS
from bgserver.kernels.network import N_OUTPUTS
from bgserver.kernels.search import best_static
from bgserver.kernels.worth import worth_of_plays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.cube import CubeState, MatchTable
    from bgserver.kernels.evaluate import Evaluator
    from bgserver.kernels.search import SearchMemory

__all__ = ["ChoiceMemory", "choose_play", "make_choice_memory"]


class ChoiceMemory(NamedTuple):
    """Scratch of `choose_play` beside the search's own; one set for each thread."""

    values: NDArray[np.float64]
    """[MAX_PLAYS, 5]: chances after each play."""
    worth: NDArray[np.float64]
    """[MAX_PLAYS, 2]: equity and utility."""
    board: NDArray[np.int8]
    """[26]."""
    chances: NDArray[np.float64]
    """[5]."""


def make_choice_memory() -> ChoiceMemory:
    """Allocate one set."""
    return ChoiceMemory(
        values=np.zeros((MAX_PLAYS, N_OUTPUTS), dtype=np.float64),
        worth=np.zeros((MAX_PLAYS, 2), dtype=np.float64),
        board=np.zeros(26, dtype=np.int8),
        chances=np.zeros(N_OUTPUTS, dtype=np.float64),
    )


@kernel
def choose_play(
    board: NDArray[np.int8],
    dice: tuple[int, int],
    variant: int,
    first_turn: bool,
    evaluator: Evaluator,
    cube: tuple[CubeState, MatchTable],
    memory: SearchMemory,
    choice: ChoiceMemory,
) -> int:
    """Index of the best play of a roll, the first of equals; the plays are in `memory.plays`.

    Args:
        board: int8[26]: the board of the player who has rolled, a running game.
        dice: (a, b).
        variant: The game; Long Nardy is played by cubeless equity.
        first_turn: Long Nardy: the player's first turn.
        evaluator: `Evaluator`.
        cube: (`CubeState` seen by the mover, `MatchTable`).
        memory: `SearchMemory`; `plays` and `values` are written.
        choice: `ChoiceMemory`.
    """
    best, count = best_static(board, dice[0], dice[1], variant, first_turn, evaluator, memory)
    if variant != BACKGAMMON or count == 1:
        return best
    for row in range(count):
        for index in range(N_OUTPUTS):
            choice.values[row, index] = memory.values[row, index]
    worth_of_plays(
        memory.plays.boards[:count],
        choice.values[:count],
        cube[0],
        cube[1],
        evaluator.bearoff,
        choice.board,
        choice.chances,
        choice.worth,
    )
    best = 0
    for row in range(1, count):
        if choice.worth[row, 0] > choice.worth[best, 0]:
            best = row
    return best
