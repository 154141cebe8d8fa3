"""What is certain in a race of backgammon, whatever is rolled.

Each roll is at least two steps of a pip or more, and at most four steps of six. So a side's turns
to bear off all checkers, and to bear off the first one, lie between bounds that follow from its
points alone; where the bounds of both sides leave no doubt, no network has to guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.kernels._jit import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["keep_to_certain", "turns_of_side"]

_MOST_STEPS = 4
_MOST_PIPS = 24
_LEAST_STEPS = 2
_HOME = 6


@kernel
def turns_of_side(board: NDArray[np.int8], own: bool) -> tuple[int, int, int, int, int]:
    """Bounds of the turns that a side needs, in a race.

    Args:
        board: int8[26].
        own: The side whose checkers are positive, or the other.

    Returns:
        Checkers left; fewest and most turns to bear off all of them, whatever is rolled and
        played; fewest turns to bear off one, and the most if the side plays for it.
    """
    checkers = 0
    pips = 0
    outside = 0
    steps = 1
    for place in range(26):
        count = int(board[place]) if own else -int(board[25 - place])
        if count <= 0:
            continue
        checkers += count
        pips += count * place
        if place > _HOME:
            outside += count * (place - _HOME)
            steps += count * ((place - 1) // _HOME)
    fewest = max((checkers + _MOST_STEPS - 1) // _MOST_STEPS, (pips + _MOST_PIPS - 1) // _MOST_PIPS)
    most = (pips + _LEAST_STEPS - 1) // _LEAST_STEPS
    first_fewest = max(
        (steps + _MOST_STEPS - 1) // _MOST_STEPS, (outside + _MOST_PIPS) // _MOST_PIPS
    )
    first_most = (outside + _HOME + _LEAST_STEPS - 1) // _LEAST_STEPS
    return checkers, fewest, most, first_fewest, first_most


@kernel
def keep_to_certain(board: NDArray[np.int8], out: NDArray[np.float32]) -> None:
    """Set the chances that are certain in a race.

    Args:
        board: int8[26]: after a play, seen by its mover; the other player is on roll, so that his
            turns come first.
        out: float32[5]: the mover's chances, changed.
    """
    own, fewest, most, first_fewest, first_most = turns_of_side(board, True)
    other, their_fewest, their_most, their_first_fewest, their_first_most = turns_of_side(
        board, False
    )
    if most < their_fewest:
        out[0] = 1
        out[3] = 0
    elif their_most <= fewest:
        out[0] = 0
        out[1] = 0
    if other == 15:
        if most < their_first_fewest:
            out[1] = 1
        elif their_first_most <= fewest:
            out[1] = 0
    if own == 15:
        if their_most <= first_fewest:
            out[3] = 1
        elif first_most < their_fewest:
            out[3] = 0
