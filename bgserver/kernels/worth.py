"""What plays are worth with cube and score, for all plays of a roll in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.kernels._jit import kernel
from bgserver.kernels.cube import cube_efficiency, cubeless_utility, normalised, turned
from bgserver.kernels.cube_actions import turn_utility
from bgserver.kernels.cube_exact import exact_pair, exact_turn
from bgserver.kernels.moves import BACKGAMMON, turn_board
from bgserver.kernels.network import flip, game_outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bgserver.kernels.bearoff import BearoffTables
    from bgserver.kernels.cube import CubeState, MatchTable

__all__ = ["worth_of_plays"]


@kernel
def worth_of_plays(
    boards: NDArray[np.int8],
    values: NDArray[np.float64],
    state: CubeState,
    table: MatchTable,
    bearoff: BearoffTables,
    board: NDArray[np.int8],
    chances: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write the cubeful equity and utility of the mover after each play (backgammon).

    After a play the opponent is on roll and may double.

    Args:
        boards: int8[n, 26], read only: boards after the plays, seen by the mover.
        values: float64[n, 5], read only: the mover's chances.
        state: `CubeState` seen by the mover.
        table: `MatchTable`.
        bearoff: `BearoffTables`, for exact values of short bear-offs.
        board: int8[26], scratch.
        chances: float64[5], scratch.
        out: float64[n, 2], written: equity in points of the present cube (normalised in a match),
            and utility (points, or 2 * mwc - 1).
    """
    theirs = turned(state)
    for row in range(len(boards)):
        if game_outcome(boards[row], BACKGAMMON) > 0:
            # Nobody turns the cube any more.
            utility = cubeless_utility(values[row], state, table)
        else:
            flip(values[row], chances)
            turn_board(boards[row], BACKGAMMON, board)
            roller, other = exact_pair(board, theirs, bearoff)
            if roller > 0:
                utility = -exact_turn(roller, other, theirs, bearoff)
            else:
                utility = -turn_utility(chances, theirs, table, cube_efficiency(board))
        out[row, 0] = normalised(utility, state, table)
        out[row, 1] = utility
