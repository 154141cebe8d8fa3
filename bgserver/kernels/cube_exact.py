"""Exact cube values of short bear-offs in money play, from the two-sided table.

Janowski's interpolation fails where the game ends within a roll or two: there the table knows
the values with the cube in each place. Conventions as in `bgserver.kernels.cube`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.kernels._jit import kernel
from bgserver.kernels.bearoff import (
    CUBE_OPPONENT,
    opponent_arrangement,
    own_arrangement,
    two_sided_equity,
    two_sided_no_double,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bgserver.kernels.bearoff import BearoffTables
    from bgserver.kernels.cube import CubeState

__all__ = ["exact_double_take", "exact_no_double", "exact_pair", "exact_turn"]


@kernel
def exact_pair(
    board: NDArray[np.int8], state: CubeState, bearoff: BearoffTables
) -> tuple[int, int]:
    """Arrangements of the player on roll and of the opponent if the table knows this cube.

    It is for money play with an unlimited cube; a cap that leaves two more doubles is taken for
    unlimited. Gammons cannot happen with so few checkers, so Jacoby makes no difference.

    Args:
        board: int8[26], backgammon, seen by the player on roll before the roll; read only.
        state: Cube and score.
        bearoff: The tables; the two-sided one may be empty.

    Returns:
        Two indexes, or (-1, -1).
    """
    if state.away_own > 0 or 4 * state.value > state.cap:
        return -1, -1
    size = bearoff.two_sided.shape[0]
    if size == 0:
        return -1, -1
    own = own_arrangement(board)
    opponent = opponent_arrangement(board)
    if own <= 0 or opponent <= 0 or own >= size or opponent >= size:
        return -1, -1
    return own, opponent


@kernel
def _place(owner: int) -> int:
    """The table's code of a cube owner: centred, roller and opponent follow one another in both."""
    return owner + 1


@kernel
def exact_no_double(own: int, opponent: int, state: CubeState, bearoff: BearoffTables) -> float:
    """Utility of the player on roll who does not double in this turn."""
    return state.value * two_sided_no_double(own, opponent, _place(state.owner), bearoff)


@kernel
def exact_double_take(own: int, opponent: int, value: int, bearoff: BearoffTables) -> float:
    """Utility of the player on roll once the opponent owns the cube at `value`."""
    return value * two_sided_no_double(own, opponent, CUBE_OPPONENT, bearoff)


@kernel
def exact_turn(own: int, opponent: int, state: CubeState, bearoff: BearoffTables) -> float:
    """Utility of the player on roll when both play the cube rightly."""
    return state.value * two_sided_equity(own, opponent, _place(state.owner), bearoff)
