"""Position classes: which of a game's networks judges a board.

Backgammon: `race` if no checker of either side still has to pass an opposing one; `crashed` if
one side has hardly anything left to play with; `contact` otherwise. Long Nardy has the same race
and, in place of crashed boards, the `opening`, in which most checkers of a side still stand on
the head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.kernels._jit import kernel
from bgserver.kernels.moves import BACKGAMMON, HEAD

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "CLASS_CONTACT",
    "CLASS_NAMES",
    "CLASS_PHASE",
    "CLASS_RACE",
    "N_CLASSES",
    "position_class",
]

CLASS_CONTACT = 0
CLASS_RACE = 1
CLASS_PHASE = 2
"""Crashed boards of backgammon, the opening of Long Nardy."""
N_CLASSES = 3
CLASS_NAMES = (("contact", "race", "crashed"), ("contact", "race", "opening"))
"""Names by game."""

CRASHED_ACTIVE = 7
"""A side is crashed with at most so many checkers on its points 3 to 24 and on the bar."""
OPENING_HEAD = 7
"""Long Nardy is in the opening while a side has at least so many checkers on the head."""


@kernel
def _backgammon_class(board: NDArray[np.int8]) -> int:
    own_back = 25 if board[25] > 0 else 0
    opponent_front = 0 if board[0] < 0 else 25  # its rearmost checker, in the own numbering
    own_active = board[25]
    opponent_active = -board[0]
    for point in range(1, 25):
        count = board[point]
        if count > 0:
            own_back = max(own_back, point)
            if point >= 3:
                own_active += count
        elif count < 0:
            opponent_front = min(opponent_front, point)
            if point <= 22:
                opponent_active -= count
    if own_back < opponent_front:
        return CLASS_RACE
    return CLASS_PHASE if min(own_active, opponent_active) <= CRASHED_ACTIVE else CLASS_CONTACT


@kernel
def _has_to_pass(board: NDArray[np.int8], sign: int, turned: bool) -> bool:
    """Whether a checker of one side in Long Nardy has an opposing one in front of it."""
    seen = False
    for number in range(1, 25):
        point = number
        if turned:
            point = number + 12 if number <= 12 else number - 12
        count = sign * board[point]
        if count < 0:
            seen = True
        elif count > 0 and seen:
            return True
    return False


@kernel
def position_class(board: NDArray[np.int8], variant: int) -> int:
    """Class of a running game's board: `CLASS_CONTACT`, `CLASS_RACE` or `CLASS_PHASE`.

    Args:
        board: int8[26]: a board after a play; the class is the same in both views.
        variant: The game.
    """
    if variant == BACKGAMMON:
        return _backgammon_class(board)
    if not _has_to_pass(board, 1, False) and not _has_to_pass(board, -1, True):
        return CLASS_RACE
    if board[HEAD] >= OPENING_HEAD or -board[HEAD - 12] >= OPENING_HEAD:
        return CLASS_PHASE
    return CLASS_CONTACT
