"""Supervised refinement with PyTorch: gradient descent on labelled positions.

The loss of a label is the cross-entropy of its five chances, plus the squared error of its
equity, plus the squared error of the difference in equity between neighbours that are plays of
one roll: their order decides a play, and what all of them share does not. The scout learns
equities and differences from the same labels. Of cousins only the differences count: nothing of
their games has been carried back to them, so that singly they are as wrong as their teacher.

Labels are right in the mean only, so that single chances lie below 0 or above 1: the cross-entropy
has the right mean for these, too, but no least value, and outputs that are never wrong would grow
for ever. Beyond where a chance can be told from 0 or 1, labels on the same side do not count.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn import functional

from bgserver.engine.errors import DataError
from bgserver.engine.weights import RawWeights
from bgserver.kernels.classes import N_CLASSES
from bgserver.kernels.features import N_UNITS, UNITS_PER_POINT
from bgserver.kernels.network import SCOUT_WIDTH
from bgserver.training.encoding import classes_of, encode
from bgserver.training.torch_settings import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bgserver.training.shards import Labels

__all__ = ["Epoch", "FitPlan", "Networks", "fit"]

_RUN = 8  # labels that stay together in every order, so that siblings do
_BATCHES_ENCODED = 16
_WARM_UP_STEPS = 500
_LAST_RATE = 0.01
_SCOUT_SHARE = 0.2
_SCOUT_SIBLINGS = 0.5
_FARTHEST = 12.0  # of an output before the sigmoid: a chance of 6 in a million
_EQUITY = torch.tensor([2.0, 1.0, 1.0, -1.0, -1.0])


@dataclass(frozen=True, slots=True)
class FitPlan:
    """How to fit."""

    epochs: int = 8
    """Passes over the labels."""
    rate: float = 8e-3
    """Highest learning rate of Adam; it rises at first and falls along a cosine to 1 % of it."""
    batch: int = 1024
    """Labels in a step; a multiple of 8."""
    equity_weight: float = 2.0
    """Weight of the squared error of equities."""
    sibling_weight: float = 20.0
    """Weight of the squared error of differences between siblings."""
    classes: tuple[int, ...] = tuple(range(N_CLASSES))
    """Which networks are fitted; with some of them, the others and the scout stay as they are."""
    held_out: int = 160_000
    """Labels that are only measured, at most a tenth of all."""
    seed: int = 1
    """Seed of the order and of the choice of held-out labels."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """Progress of a fit."""

    number: int
    """From 1."""
    rate: float
    """Learning rate at its end."""
    error: float
    """Root mean square error of the cubeless equity on the held-out labels, in points."""
    sibling_error: float
    """The same of differences in equity between siblings."""
    scout_error: float
    """The same of the scout's differences."""
    seconds: float
    """Time since the fit began, over all its runs."""


class Networks(torch.nn.Module):
    """The networks of one game and its scout, as they are trained."""

    units: torch.Tensor
    w_dense: torch.Tensor
    b1: torch.Tensor
    w2: torch.Tensor
    b2: torch.Tensor
    w3: torch.Tensor
    b3: torch.Tensor
    scout_units: torch.Tensor
    scout_b1: torch.Tensor
    scout_w2: torch.Tensor

    def __init__(self, raw: RawWeights) -> None:
        """Begin with these weights; they are copied."""
        super().__init__()
        width1 = raw.b1.shape[1]
        shapes = {
            "units": (N_CLASSES, N_UNITS, width1),
            "scout_units": (N_UNITS, SCOUT_WIDTH),
        }
        for name, array in raw._asdict().items():
            tensor = torch.from_numpy(array.copy()).reshape(shapes.get(name, array.shape))
            setattr(self, name, torch.nn.Parameter(tensor))

    def logits(self, c: int, units: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
        """The five outputs before the sigmoid, of boards of class `c`."""
        hidden = torch.addmm(self.b1[c], units, self.units[c])
        hidden = torch.relu(torch.addmm(hidden, dense, self.w_dense[c]))
        hidden = torch.relu(torch.addmm(self.b2[c], hidden, self.w2[c]))
        return torch.addmm(self.b3[c], hidden, self.w3[c])

    def scout(self, units: torch.Tensor) -> torch.Tensor:
        """The scout's estimates."""
        hidden = torch.relu(torch.addmm(self.scout_b1, units, self.scout_units))
        return hidden @ self.scout_w2

    def raw(self) -> RawWeights:
        """The weights as arrays."""
        width1 = self.b1.shape[1]
        shapes = {
            "units": (N_CLASSES, 2, 26, UNITS_PER_POINT, width1),
            "scout_units": (2, 26, UNITS_PER_POINT, SCOUT_WIDTH),
        }
        arrays = {}
        for name in RawWeights._fields:
            array = getattr(self, name).detach().numpy().copy()
            arrays[name] = array.reshape(shapes.get(name, array.shape))
        return RawWeights(**arrays)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Encoded labels as tensors."""

    units: torch.Tensor
    dense: torch.Tensor
    classes: torch.Tensor
    targets: torch.Tensor
    siblings: torch.Tensor
    """[n - 1]: whether label k + 1 is a sibling of label k."""
    counts: torch.Tensor
    """[n]: whether a label counts by itself; cousins do not."""

    def part(self, first: int, count: int) -> _Batch:
        """Some labels that follow each other."""
        rows = slice(first, first + count)
        return _Batch(
            self.units[rows],
            self.dense[rows],
            self.classes[rows],
            self.targets[rows],
            self.siblings[first : first + count - 1],
            self.counts[rows],
        )


def _batch(labels: Labels, runs: NDArray[np.int64], variant: int) -> _Batch:
    """Labels of some runs of `_RUN` neighbours."""
    rows = (runs[:, None] * _RUN + np.arange(_RUN)).ravel()
    encoded = encode(labels.boards[rows], variant)
    turns = labels.turns[rows]
    siblings = turns[1:] == turns[:-1]
    siblings[_RUN - 1 :: _RUN] = False  # neighbours only by the order of the runs
    return _Batch(
        torch.from_numpy(encoded.units),
        torch.from_numpy(encoded.dense),
        torch.from_numpy(encoded.classes),
        torch.from_numpy(labels.targets[rows]),
        torch.from_numpy(siblings),
        torch.from_numpy(rows < len(labels.boards) - labels.cousins),
    )


def _equity_of(chances: torch.Tensor) -> torch.Tensor:
    return chances @ _EQUITY - 1


def _differences(errors: torch.Tensor, siblings: torch.Tensor) -> torch.Tensor:
    """Errors of the differences between siblings."""
    return (errors[1:] - errors[:-1])[siblings]


def _loss(networks: Networks, batch: _Batch, plan: FitPlan) -> torch.Tensor:
    count = len(batch.targets)
    equities = torch.zeros(count)
    total = torch.zeros(())
    judged = torch.zeros(count, dtype=torch.bool)
    for c in plan.classes:
        rows = (batch.classes == c).nonzero()[:, 0]
        if len(rows) == 0:
            continue
        outputs = networks.logits(c, batch.units[rows], batch.dense[rows])
        targets = batch.targets[rows]
        too_low = (outputs < -_FARTHEST) & (targets <= 0)
        too_high = (outputs > _FARTHEST) & (targets >= 1)
        entropies = functional.binary_cross_entropy_with_logits(outputs, targets, reduction="none")
        entropies = entropies.masked_fill(too_low | too_high, 0.0)
        total = total + (entropies * batch.counts[rows, None]).sum()
        equities = equities.index_put((rows,), _equity_of(torch.sigmoid(outputs)))
        judged[rows] = True
    wanted = _equity_of(batch.targets)
    errors = (equities - wanted) * judged
    alone = judged & batch.counts
    n_alone = alone.sum().clamp(min=1)
    loss = (total + plan.equity_weight * (errors[alone] ** 2).sum()) / n_alone
    siblings = batch.siblings & judged[1:] & judged[:-1]
    if bool(siblings.any()):
        loss = loss + plan.sibling_weight * (_differences(errors, siblings) ** 2).mean()
    if len(plan.classes) < N_CLASSES:
        return loss
    scout = networks.scout(batch.units) - wanted
    if bool(batch.counts.any()):
        loss = loss + _SCOUT_SHARE * (scout[batch.counts] ** 2).mean()
    if bool(siblings.any()):
        loss = loss + _SCOUT_SIBLINGS * (_differences(scout, siblings) ** 2).mean()
    return loss


def _have_classes(labels: Labels, variant: int, classes: Sequence[int]) -> NDArray[np.bool_]:
    """By run, whether the networks of `classes` judge some of its boards."""
    n_runs = len(labels.boards) // _RUN
    found = classes_of(labels.boards[: n_runs * _RUN], variant)
    return np.asarray(np.isin(found, classes).reshape(n_runs, _RUN).any(axis=1))


def _measure(
    networks: Networks,
    labels: Labels,
    runs: NDArray[np.int64],
    variant: int,
    classes: Sequence[int],
) -> tuple[float, float, float]:
    """Errors of equities, of differences between siblings, and of the scout's differences.

    Only boards of these classes count.
    """
    squares = np.zeros(3)
    counts = np.zeros(3)
    with torch.no_grad():
        for first in range(0, len(runs), 1000):
            batch = _batch(labels, runs[first : first + 1000], variant)
            equities = torch.zeros(len(batch.targets))
            judged = torch.zeros(len(batch.targets), dtype=torch.bool)
            for c in classes:
                rows = (batch.classes == c).nonzero()[:, 0]
                outputs = networks.logits(c, batch.units[rows], batch.dense[rows])
                equities[rows] = _equity_of(torch.sigmoid(outputs))
                judged[rows] = True
            siblings = batch.siblings & judged[1:] & judged[:-1]
            wanted = _equity_of(batch.targets)
            errors = equities - wanted
            scout = networks.scout(batch.units) - wanted
            for index, found in enumerate(
                (
                    errors[judged & batch.counts],
                    _differences(errors, siblings),
                    _differences(scout, siblings),
                )
            ):
                squares[index] += float((found.double() ** 2).sum())
                counts[index] += len(found)
    error, sibling_error, scout_error = np.sqrt(squares / np.maximum(counts, 1)).tolist()
    return error, sibling_error, scout_error


def _rate(plan: FitPlan, step: int, total: int) -> float:
    rise = min(1.0, (step + 1) / _WARM_UP_STEPS)
    fall = 0.5 * (1 + math.cos(math.pi * step / total))
    return plan.rate * rise * (fall * (1 - _LAST_RATE) + _LAST_RATE)


def fit(
    weights: RawWeights,
    variant: int,
    labels: Labels,
    plan: FitPlan,
    checkpoint: Path | None = None,
    report: Callable[[Epoch, RawWeights], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RawWeights:
    """Fit weights to labels.

    Args:
        weights: To begin with; not changed.
        variant: The game, as the kernels' code.
        labels: Labels; some are held out.
        plan: How to fit.
        checkpoint: Written after each epoch; a fit with the same plan and as many labels goes on
            from it, to the same bits as one that was never interrupted.
        report: Told of each epoch, with its weights.
        progress: Told (steps done, steps in all).

    Returns:
        The fitted weights.

    Raises:
        DataError: There are no labels for the networks that are to be fitted.
    """
    with one_thread():
        return _fit(weights, variant, labels, plan, checkpoint, report, progress)


def _fit(
    weights: RawWeights,
    variant: int,
    labels: Labels,
    plan: FitPlan,
    checkpoint: Path | None,
    report: Callable[[Epoch, RawWeights], None] | None,
    progress: Callable[[int, int], None] | None,
) -> RawWeights:
    n_runs = len(labels.boards) // _RUN
    order = np.random.default_rng(plan.seed).permutation(n_runs)
    n_held_out = min(plan.held_out // _RUN, n_runs // 10)
    held_out, learned = order[:n_held_out], order[n_held_out:]
    if len(plan.classes) < N_CLASSES:
        # What is held out is the same as in a fit of all networks.
        useful = _have_classes(labels, variant, plan.classes)
        held_out, learned = held_out[useful[held_out]], learned[useful[learned]]
    if len(learned) == 0:
        message = "too few labels for these networks"
        raise DataError(message)
    batch_runs = min(plan.batch // _RUN, len(learned))
    steps_per_epoch = len(learned) // batch_runs
    total = steps_per_epoch * plan.epochs
    networks = Networks(weights)
    optimizer = torch.optim.Adam(networks.parameters(), lr=plan.rate)
    size = {"labels": len(labels.boards), "cousins": labels.cousins}
    identity = {**asdict(plan), **size, "variant": variant}
    first_epoch = 1
    spent = 0.0
    if checkpoint is not None and checkpoint.exists():
        kept = torch.load(checkpoint, weights_only=True)
        if kept["identity"] == identity:
            networks.load_state_dict(kept["networks"])
            optimizer.load_state_dict(kept["optimizer"])
            first_epoch, spent = kept["epoch"] + 1, kept["seconds"]
    began = time.monotonic() - spent
    for epoch in range(first_epoch, plan.epochs + 1):
        shuffled = np.random.default_rng((plan.seed, epoch)).permutation(learned)
        step = (epoch - 1) * steps_per_epoch
        ahead = _BATCHES_ENCODED * batch_runs
        for first in range(0, steps_per_epoch * batch_runs, ahead):
            runs = shuffled[first : min(first + ahead, steps_per_epoch * batch_runs)]
            encoded = _batch(labels, runs, variant)
            for at in range(0, len(runs) * _RUN, batch_runs * _RUN):
                for group in optimizer.param_groups:
                    group["lr"] = _rate(plan, step, total)
                optimizer.zero_grad(set_to_none=True)
                _loss(networks, encoded.part(at, batch_runs * _RUN), plan).backward()
                optimizer.step()
                step += 1
            if progress is not None:
                progress(step, total)
        seconds = time.monotonic() - began
        errors = _measure(networks, labels, held_out, variant, plan.classes)
        if checkpoint is not None:
            part = checkpoint.with_suffix(".part")
            state = {
                "identity": identity,
                "networks": networks.state_dict(),
                "optimizer": optimizer.state_dict(),
                "epoch": epoch,
                "seconds": seconds,
            }
            torch.save(state, part)
            part.replace(checkpoint)
        if report is not None:
            rate = _rate(plan, step - 1, total)
            report(Epoch(epoch, rate, *errors, seconds=seconds), networks.raw())
    return networks.raw()
