"""Supervised refinement: gradient descent on labelled positions, warm-started or from zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.weights import RawWeights
from bgserver.kernels._jit import kernel
from bgserver.kernels.features import UNIT_VALUES
from bgserver.training.td import learn_board, loss_of_board, make_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bgserver.training.labels import Labels
    from bgserver.training.td import TrainingMemory

__all__ = ["Epoch", "fit", "widened"]

_CHUNK = 20_000


@dataclass(frozen=True, slots=True)
class Epoch:
    """Progress of a fit."""

    number: int
    """From 1."""
    rate: float
    """Learning rate."""
    error: float
    """Root mean square error of the cubeless equity on the held-out labels, in points."""


@kernel
def _fit_rows(
    rows: NDArray[np.int64],
    boards: NDArray[np.int8],
    targets: NDArray[np.float32],
    variant: int,
    rate: np.float32,
    weights: RawWeights,
    unit_values: NDArray[np.float32],
    memory: TrainingMemory,
) -> None:
    for index in range(len(rows)):
        row = rows[index]
        learn_board(boards[row], variant, targets[row], rate, weights, unit_values, memory)


@kernel
def _squared_error(
    boards: NDArray[np.int8],
    targets: NDArray[np.float32],
    variant: int,
    weights: RawWeights,
    unit_values: NDArray[np.float32],
    memory: TrainingMemory,
) -> float:
    total = 0.0
    for row in range(len(boards)):
        total += loss_of_board(boards[row], variant, targets[row], weights, unit_values, memory)
    return total


def fit(
    weights: RawWeights,
    variant: int,
    labels: Labels,
    rates: tuple[float, ...],
    seed: int,
    report: Callable[[Epoch], None] | None = None,
) -> None:
    """Fit `weights` in place to the labels, one epoch for each learning rate.

    Args:
        weights: Changed.
        variant: The game, as the kernels' code.
        labels: The last fiftieth is held out and only measured.
        rates: Learning rates.
        seed: Seed of the order.
        report: Told of each epoch.
    """
    count = len(labels.boards)
    held_out = count - count // 50
    memory = make_memory(weights.b1.shape[1], weights.b2.shape[1])
    rng = np.random.default_rng(seed)
    units = UNIT_VALUES[variant]
    for number, rate in enumerate(rates, start=1):
        order = rng.permutation(held_out)
        for first in range(0, held_out, _CHUNK):
            rows = order[first : first + _CHUNK]
            _fit_rows(
                rows,
                labels.boards,
                labels.targets,
                variant,
                np.float32(rate),
                weights,
                units,
                memory,
            )
        if report is not None:
            rest = slice(held_out, count)
            error = _squared_error(
                labels.boards[rest], labels.targets[rest], variant, weights, units, memory
            )
            report(Epoch(number, rate, float(np.sqrt(error / max(1, count - held_out)))))


def widened(raw: RawWeights, units: int, seed: int) -> RawWeights:
    """A copy with more units in the first layer that computes exactly the same.

    The new units have random inputs and no outputs yet.

    Args:
        raw: Not changed.
        units: How many to add; 0 only copies.
        seed: Seed of the new inputs.
    """
    rng = np.random.default_rng(seed)

    def grown(array: NDArray[np.float32]) -> NDArray[np.float32]:
        shape = (*array.shape[:-1], units)
        new = (rng.standard_normal(shape) * float(array.std())).astype(np.float32)
        return np.ascontiguousarray(np.concatenate([array, new], axis=-1))

    classes, _, width2 = raw.w2.shape
    return RawWeights(
        units=grown(raw.units),
        w_dense=grown(raw.w_dense),
        b1=np.concatenate([raw.b1, np.zeros((classes, units), np.float32)], axis=1),
        w2=np.concatenate([raw.w2, np.zeros((classes, units, width2), np.float32)], axis=1),
        b2=raw.b2.copy(),
        w3=raw.w3.copy(),
        b3=raw.b3.copy(),
    )
