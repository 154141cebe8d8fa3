"""Labelled boards as the arrays that the supervised part learns from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.classes import position_class
from bgserver.kernels.features import (
    N_DENSE,
    N_UNITS,
    UNIT_VALUES,
    UNITS_PER_POINT,
    dense_features,
)
from bgserver.kernels.network import opposite

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Encoded", "classes_of", "encode"]


@dataclass(frozen=True, slots=True)
class Encoded:
    """Inputs of the networks."""

    units: NDArray[np.float32]
    """[n, N_UNITS]: sparse units, side by side, number and unit."""
    dense: NDArray[np.float32]
    """[n, N_DENSE]."""
    classes: NDArray[np.int64]
    """[n]: position class."""


@kernel
def _encode_rows(
    boards: NDArray[np.int8],
    variant: int,
    unit_values: NDArray[np.float32],
    units: NDArray[np.float32],
    dense: NDArray[np.float32],
    classes: NDArray[np.int64],
) -> None:
    for row in range(len(boards)):
        board = boards[row]
        for point in range(26):
            count = int(board[point])
            if count == 0:
                continue
            place = point if count > 0 else 26 + opposite(point, variant)
            for unit in range(UNITS_PER_POINT):
                value = unit_values[abs(count), unit]
                units[row, place * UNITS_PER_POINT + unit] = value
        c = position_class(board, variant)
        dense_features(board, variant, c, dense[row])
        classes[row] = c


@kernel
def _classify_rows(boards: NDArray[np.int8], variant: int, classes: NDArray[np.int64]) -> None:
    for row in range(len(boards)):
        classes[row] = position_class(boards[row], variant)


def classes_of(boards: NDArray[np.int8], variant: int) -> NDArray[np.int64]:
    """Position classes, int64[n], of boards after a play of running games.

    Args:
        boards: int8[n, 26], seen by the mover.
        variant: The game, as the kernels' code.
    """
    classes = np.zeros(len(boards), dtype=np.int64)
    _classify_rows(boards, variant, classes)
    return classes


def encode(boards: NDArray[np.int8], variant: int) -> Encoded:
    """Encode boards after a play of running games.

    Args:
        boards: int8[n, 26], seen by the mover.
        variant: The game, as the kernels' code.
    """
    count = len(boards)
    units = np.zeros((count, N_UNITS), dtype=np.float32)
    dense = np.zeros((count, N_DENSE), dtype=np.float32)
    classes = np.zeros(count, dtype=np.int64)
    _encode_rows(boards, variant, UNIT_VALUES[variant], units, dense, classes)
    return Encoded(units, dense, classes)
