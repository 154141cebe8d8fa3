"""What the networks see of a position: sparse piece counts and dense expert features.

All features are of a board after a play, seen by the player who has just moved ("own"); the
opponent rolls next. Sparse units say how many checkers stand on each point of each side. Dense
features are facts of the game that a small network finds hard to compute; each game has its own
(`features_backgammon`, `features_nardy`), and a race in backgammon has others than contact
(`features_race`): each class has a network of its own, so a place may mean something else there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.classes import CLASS_RACE
from bgserver.kernels.features_backgammon import N_FACTS, write_backgammon_facts
from bgserver.kernels.features_nardy import N_NARDY_FACTS, write_nardy_facts
from bgserver.kernels.features_race import write_race_facts
from bgserver.kernels.moves import BACKGAMMON, LONG_NARDY

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["N_DENSE", "N_UNITS", "UNITS_PER_POINT", "UNIT_VALUES", "dense_features"]

UNITS_PER_POINT = 4
N_UNITS = 2 * 26 * UNITS_PER_POINT
"""Sparse units: side (own, opponent), index 0..25 in that side's numbering (25 = bar), unit."""

N_DENSE = N_FACTS
"""Length of the dense feature vector of either game; a multiple of 4."""


def _unit_values() -> NDArray[np.float32]:
    """Values of the four units of a point by game and number of checkers, float32[2, 16, 4]."""
    values = np.zeros((2, 16, UNITS_PER_POINT), dtype=np.float32)
    for count in range(1, 16):
        values[BACKGAMMON, count] = (
            count == 1,
            count >= 2,
            count >= 3,
            max(0, count - 3) / 2,
        )
        values[LONG_NARDY, count] = (
            count >= 1,
            count >= 2,
            count >= 3,
            max(0, count - 3) / 4,
        )
    return values


UNIT_VALUES = _unit_values()


@kernel
def dense_features(board: NDArray[np.int8], variant: int, c: int, out: NDArray[np.float32]) -> None:
    """Write the dense features of a board after a play, seen by the player who made it.

    Args:
        board: int8[26], read only.
        variant: The game.
        c: Position class of the board.
        out: float32[N_DENSE], written; values are roughly within -3..3.
    """
    if variant == BACKGAMMON and c == CLASS_RACE:
        write_race_facts(board, out)
    elif variant == BACKGAMMON:
        write_backgammon_facts(board, out)
    else:
        write_nardy_facts(board, out)
        for index in range(N_NARDY_FACTS, N_DENSE):
            out[index] = 0
