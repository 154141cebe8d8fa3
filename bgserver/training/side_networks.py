"""Learn the distributions of a side's rolls outside home, by fitted backups with PyTorch.

A side's distribution is the mean, over the 21 rolls, of those after the best plays, one roll later.
A network is fitted to that mean, computed with the network as it was before; with each such sweep
what the exact table of sides at home knows gets one roll farther, so that after enough of them
nothing of the random beginning is left. (This is fitted value iteration, for whole distributions.)

The best play is that with the fewest expected rolls: at first by the formulas of the race features,
then by a small network that corrects them, fitted to the means of the distributions.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from bgserver.kernels.moves import make_play_buffers
from bgserver.kernels.search import N_ROLLS, WAYS
from bgserver.training.sides import (
    CLEAR,
    FIRST,
    LONGEST,
    N_GOALS,
    N_INPUTS,
    PlayNetwork,
    choose_plays,
    formula_network,
    known_entries,
    look_up,
    side_inputs,
)
from bgserver.training.torch_settings import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bgserver.training.sides import HomeTable

__all__ = ["Round", "SideNetwork", "SidesPlan", "learn_sides"]

_PLAY_WIDTH = 32
_PLAYS_WORK = 5  # choosing the plays of a side takes about as long as so many sweeps over it
_PART = 2000  # sides at once
_WARM_UP_STEPS = 200
_LAST_RATE = 0.01


@dataclass(frozen=True, slots=True)
class Round:
    """Sweeps with the same plays."""

    share: float
    """Of the sides, so many are learned from."""
    sweeps: int
    """Backups and fits."""
    epochs: int
    """Passes over the sides in each fit."""
    last_epochs: int
    """The same in the last one."""


@dataclass(frozen=True, slots=True)
class SidesPlan:
    """How to learn."""

    # The first round carries the table out to the farthest sides, some 16 rolls; few sides will do
    # for that. Each later one chooses the plays anew.
    rounds: tuple[Round, ...] = (
        Round(0.125, sweeps=16, epochs=6, last_epochs=20),
        Round(0.25, sweeps=5, epochs=8, last_epochs=20),
        Round(1.0, sweeps=5, epochs=20, last_epochs=60),
    )
    widths: tuple[int, int] = (192, 96)
    """Units of the two hidden layers."""
    rate: float = 3e-3
    """Highest learning rate of Adam; it rises at first and falls along a cosine to 1 % of it."""
    play_rate: float = 6e-3
    """The same for the network that chooses plays."""
    play_epochs: int = 10
    """Passes over the sides when it is fitted, after each round but the last."""
    batch: int = 512
    """Sides in a step."""
    seed: int = 1
    """Seed of random weights and of orders."""


class SideNetwork:
    """A network that gives both distributions of any side."""

    def __init__(self, widths: tuple[int, int]) -> None:
        """Begin with random weights."""
        sizes = (N_INPUTS, *widths)
        layers: list[torch.nn.Module] = []
        for before, after in itertools.pairwise(sizes):
            layers += [torch.nn.Linear(before, after), torch.nn.ReLU()]
        self.layers = torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], N_GOALS * LONGEST))

    def log_chances(self, inputs: torch.Tensor) -> torch.Tensor:
        """Logarithms of the chances, [n, N_GOALS, LONGEST]."""
        outputs = self.layers(inputs).reshape(-1, N_GOALS, LONGEST)
        return torch.log_softmax(outputs, dim=2)

    def guess(self, sides: NDArray[np.int8]) -> NDArray[np.float32]:
        """What the network gives for sides that need at least one roll for either goal.

        Args:
            sides: int8[n, 26].

        Returns:
            float32[n, N_GOALS, LONGEST].
        """
        inputs, _ = side_inputs(sides)
        with torch.no_grad():
            chances: NDArray[np.float32] = self.log_chances(torch.from_numpy(inputs)).exp().numpy()
        # Exactly: a gammon that is impossible must be so among the labels.
        chances[:, :, 0] = 0
        chances /= chances.sum(axis=2, keepdims=True)
        return chances

    def distributions(self, sides: NDArray[np.int8], table: HomeTable) -> NDArray[np.float64]:
        """Distributions of the rolls that sides need, exact ones where they are known.

        Args:
            sides: int8[n, 26].
            table: The exact ones.

        Returns:
            float64[n, N_GOALS, LONGEST].
        """
        chances = np.zeros((len(sides), N_GOALS, LONGEST))
        with one_thread():
            for first in range(0, len(sides), _PART):
                part = slice(first, first + _PART)
                chances[part] = self.guess(sides[part])
        return look_up(sides, table, chances)


def _back_up(
    network: SideNetwork, plays: NDArray[np.int8], goal: int, table: HomeTable
) -> NDArray[np.float32]:
    """Distributions before a roll, from those after the plays of each.

    Args:
        network: For what the table does not know.
        plays: int8[n, N_ROLLS, 26].
        goal: `CLEAR` or `FIRST`.
        table: The exact distributions.

    Returns:
        float32[n, LONGEST].
    """
    after = plays.reshape(-1, 26)
    entries = known_entries(after, goal)
    chances = table.chances[np.maximum(entries, 0)]
    unknown = np.flatnonzero(entries < 0)
    chances[unknown] = network.guess(after[unknown])[:, goal]
    ways = (WAYS / WAYS.sum()).astype(np.float32)
    mean = (chances.reshape(-1, N_ROLLS, LONGEST) * ways[:, None]).sum(axis=1)
    before: NDArray[np.float32] = np.zeros_like(mean)
    before[:, 1:] = mean[:, :-1]
    before[:, -1] += mean[:, -1]  # 39 or more
    return before


class _Sample:
    """The sides of a round, their plays and what is known of them."""

    def __init__(self, sides: NDArray[np.int8], table: HomeTable) -> None:
        inputs, formulas = side_inputs(sides)
        self.table = table
        self.inputs = torch.from_numpy(inputs)
        self.formulas = torch.from_numpy(formulas)
        self.targets = np.zeros((len(sides), N_GOALS, LONGEST), dtype=np.float32)
        self.sides = sides
        # Sides with less than 15 checkers have reached the goal of the first: nothing to learn.
        self.rows = [np.flatnonzero(known_entries(sides, goal) < 0) for goal in (CLEAR, FIRST)]
        self.plays = [np.zeros((len(rows), N_ROLLS, 26), dtype=np.int8) for rows in self.rows]
        counts = np.zeros((len(sides), N_GOALS), dtype=np.float32)
        for goal, rows in enumerate(self.rows):
            counts[rows, goal] = 1
        self.counts = torch.from_numpy(counts)

    def choose(self, players: PlayNetwork, told: Callable[[int], None]) -> None:
        """Choose the plays; `told` gets the sides done, after each part."""
        buffers = make_play_buffers()
        for goal, rows in enumerate(self.rows):
            for first in range(0, len(rows), _PART):
                part = rows[first : first + _PART]
                chosen = choose_plays(self.sides[part], goal, players, self.table, buffers)
                self.plays[goal][first : first + _PART] = chosen
                told(len(part))

    def back_up(self, network: SideNetwork) -> None:
        """Compute the targets."""
        for goal, rows in enumerate(self.rows):
            for first in range(0, len(rows), _PART):
                part = slice(first, first + _PART)
                found = _back_up(network, self.plays[goal][part], goal, self.table)
                self.targets[rows[part], goal] = found


def _descend(
    layers: torch.nn.Module,
    loss: Callable[[torch.Tensor], torch.Tensor],
    count: int,
    epochs: int,
    rate: float,
    batch: int,
    order: np.random.Generator,
) -> None:
    """Fit layers with Adam; `loss` is that of the sides with these numbers, of `count`."""
    optimizer = torch.optim.Adam(layers.parameters(), lr=rate)
    steps_per_epoch = max(count // batch, 1)
    total = steps_per_epoch * epochs
    step = 0
    for _ in range(epochs):
        shuffled = torch.from_numpy(order.permutation(count))
        for first in range(0, steps_per_epoch * batch, batch):
            rise = min(1.0, (step + 1) / _WARM_UP_STEPS)
            fall = 0.5 * (1 + math.cos(math.pi * step / total))
            for group in optimizer.param_groups:
                group["lr"] = rate * rise * (fall * (1 - _LAST_RATE) + _LAST_RATE)
            optimizer.zero_grad(set_to_none=True)
            loss(shuffled[first : first + batch]).backward()
            optimizer.step()
            step += 1


def _fit_distributions(
    network: SideNetwork, sample: _Sample, epochs: int, plan: SidesPlan, order: np.random.Generator
) -> None:
    targets = torch.from_numpy(sample.targets)

    def loss(rows: torch.Tensor) -> torch.Tensor:
        # Cross-entropy; targets of what is not learned are 0.
        entropies = network.log_chances(sample.inputs[rows]) * targets[rows]
        return -entropies.sum() / len(rows)

    count = len(sample.inputs)
    _descend(network.layers, loss, count, epochs, plan.rate, plan.batch, order)


def _fit_players(sample: _Sample, plan: SidesPlan, order: np.random.Generator) -> PlayNetwork:
    """The network that corrects the formulas to the means of the distributions."""
    hidden = torch.nn.Linear(N_INPUTS, _PLAY_WIDTH)
    outputs = torch.nn.Linear(_PLAY_WIDTH, N_GOALS)
    layers = torch.nn.Sequential(hidden, torch.nn.ReLU(), outputs)
    means = torch.from_numpy(sample.targets) @ torch.arange(LONGEST, dtype=torch.float32)
    wanted = means - sample.formulas

    def loss(rows: torch.Tensor) -> torch.Tensor:
        errors = (layers(sample.inputs[rows]) - wanted[rows]) * sample.counts[rows]
        squares: torch.Tensor = (errors**2).sum()
        return squares / len(rows)

    count = len(sample.inputs)
    _descend(layers, loss, count, plan.play_epochs, plan.play_rate, plan.batch, order)
    return PlayNetwork(
        np.ascontiguousarray(hidden.weight.detach().numpy().T),
        hidden.bias.detach().numpy(),
        np.ascontiguousarray(outputs.weight.detach().numpy().T),
        outputs.bias.detach().numpy(),
    )


def learn_sides(
    sides: NDArray[np.int8],
    table: HomeTable,
    plan: SidesPlan,
    progress: Callable[[int, int], None] | None = None,
) -> SideNetwork:
    """Learn the distributions of sides outside home.

    Args:
        sides: int8[n, 26], different ones in random order, each with a checker outside home.
        table: The exact distributions of sides at home.
        plan: How to learn.
        progress: Told (work done, work in all).

    Returns:
        The network; the same bits for the same sides and plan.
    """
    numbers = [math.ceil(part.share * len(sides)) for part in plan.rounds]
    work = [
        count * (N_GOALS * _PLAYS_WORK + 2 * part.sweeps)
        for count, part in zip(numbers, plan.rounds, strict=True)
    ]
    done = 0

    def told(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, sum(work))

    # The seed is that of these weights alone: the process has random numbers of its own.
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.seed)
        order = np.random.default_rng(plan.seed)
        network = SideNetwork(plan.widths)
        players = formula_network(_PLAY_WIDTH)
        for number, (count, part) in enumerate(zip(numbers, plan.rounds, strict=True)):
            sample = _Sample(sides[:count], table)
            sample.choose(players, lambda more: told(_PLAYS_WORK * more))
            for sweep in range(part.sweeps):
                sample.back_up(network)
                last = sweep == part.sweeps - 1
                epochs = part.last_epochs if last else part.epochs
                _fit_distributions(network, sample, epochs, plan, order)
                told(2 * count)
            told(sum(work[: number + 1]) - done)
            if number < len(numbers) - 1:
                players = _fit_players(sample, plan, order)
    return network
