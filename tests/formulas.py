"""The networks as plain formulas in float64 on the weights as trained, before any folding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.plays import variant_code
from bgserver.kernels.features import N_DENSE, UNIT_VALUES, dense_features
from tests import naive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bgserver.engine.position import Variant
    from bgserver.engine.weights import RawWeights

EQUITY = np.array([2, 1, 1, -1, -1])
"""Equity is the product of the five chances with this, less one point."""


def _sum_of_units(
    board: Sequence[int], variant: Variant, units: NDArray[np.float32]
) -> NDArray[np.float64]:
    """The sum over both sides' checkers of unit values times `units`, [2, 26, 4, width]."""
    total = np.zeros(units.shape[-1])
    for side, seen in enumerate((board, naive.turn(board, variant.value))):
        for point in range(26):
            if seen[point] > 0:
                values = UNIT_VALUES[variant_code(variant), seen[point]].astype(np.float64)
                total += values @ units[side, point]
    return total


def network_chances(
    raw: RawWeights, board: Sequence[int], variant: Variant, c: int
) -> NDArray[np.float64]:
    """The five outputs of the network of class `c`, as the formula gives them."""
    dense = np.zeros(N_DENSE, dtype=np.float32)
    dense_features(np.array(board, dtype=np.int8), variant_code(variant), c, dense)
    hidden = _sum_of_units(board, variant, raw.units[c]) + raw.b1[c]
    hidden = np.maximum(hidden + dense.astype(np.float64) @ raw.w_dense[c], 0)
    hidden = np.maximum(hidden @ raw.w2[c] + raw.b2[c], 0)
    # 1 / (1 + exp(-x)), without the overflow.
    chances: NDArray[np.float64] = np.exp(-np.logaddexp(0, -(hidden @ raw.w3[c] + raw.b3[c])))
    return chances


def scout_estimate(raw: RawWeights, board: Sequence[int], variant: Variant) -> float:
    """What the scout thinks of a board after a play."""
    hidden = np.maximum(_sum_of_units(board, variant, raw.scout_units) + raw.scout_b1, 0)
    return float(hidden @ raw.scout_w2)
