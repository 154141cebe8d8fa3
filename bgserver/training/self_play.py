"""Run TD self-play with a schedule of learning rates; resumable, seeded, with a learning log."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.plays import board_array, variant_code
from bgserver.engine.position import Position, Variant
from bgserver.engine.weights import RawWeights
from bgserver.kernels.features import UNIT_VALUES
from bgserver.training.td import initial_weights, make_memory, play_training_games

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["SCHEDULES", "SelfPlayPlan", "load_checkpoint", "run_self_play", "save_checkpoint"]


SCHEDULES = {
    Variant.BACKGAMMON: ((150_000, 0.01), (120_000, 0.005), (150_000, 0.002), (120_000, 0.0007)),
    Variant.LONG_NARDY: ((30_000, 0.01), (60_000, 0.005), (60_000, 0.002), (50_000, 0.0007)),
}
"""Games and learning rates that the packaged weights were made with."""


@dataclass(frozen=True, slots=True)
class SelfPlayPlan:
    """What to play and how fast to learn."""

    variant: Variant
    """The game."""
    schedule: tuple[tuple[int, float], ...]
    """Stages in order: (games, learning rate)."""
    seed: int = 1
    """Seed of weights and dice."""
    width1: int = 128
    """Width of the first layer."""
    width2: int = 32
    """Width of the second layer."""
    games_per_step: int = 2_000
    """Games between two lines of the log."""
    steps_per_checkpoint: int = 5
    """Steps between two checkpoints."""

    def rate_at(self, game: int) -> float | None:
        """Learning rate of game number `game`, None after the last stage."""
        for games, rate in self.schedule:
            if game < games:
                return rate
            game -= games
        return None

    @property
    def total_games(self) -> int:
        """Games of all stages."""
        return sum(games for games, _ in self.schedule)


def save_checkpoint(path: Path, weights: RawWeights, games: int, seconds: float) -> None:
    """Write raw weights and the number of games atomically."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(file, games=games, seconds=seconds, **weights._asdict())
    part.replace(path)


def load_checkpoint(path: Path) -> tuple[RawWeights, int, float]:
    """Read (raw weights, games played, seconds spent)."""
    with np.load(path) as data:
        weights = RawWeights(*(data[name] for name in RawWeights._fields))
        return weights, int(data["games"]), float(data["seconds"])


def run_self_play(
    plan: SelfPlayPlan, folder: Path, progress: Callable[[int, int], None] | None = None
) -> RawWeights:
    """Play the plan's games from the last checkpoint in `folder` on.

    Args:
        plan: The plan.
        folder: Holds `checkpoint.npz` and `log.jsonl`; created if missing.
        progress: Called with (games played, games in all) after each step.

    Returns:
        Raw weights after the last game.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "checkpoint.npz"
    if path.exists():
        weights, games, spent = load_checkpoint(path)
    else:
        weights, games, spent = initial_weights(plan.width1, plan.width2, plan.seed), 0, 0.0
    variant = variant_code(plan.variant)
    start = board_array(Position.start(plan.variant))
    memory = make_memory(plan.width1, plan.width2)
    began = time.monotonic() - spent
    step = 0
    with (folder / "log.jsonl").open("a") as log:
        while (rate := plan.rate_at(games)) is not None:
            turns = play_training_games(
                start,
                variant,
                plan.seed,
                games,
                plan.games_per_step,
                np.float32(rate),
                weights,
                UNIT_VALUES[variant],
                memory,
            )
            games += plan.games_per_step
            step += 1
            spent = time.monotonic() - began
            entry = {
                "games": games,
                "rate": rate,
                "turns_per_game": turns / plan.games_per_step,
                "seconds": round(spent, 1),
            }
            log.write(json.dumps(entry) + "\n")
            log.flush()
            if step % plan.steps_per_checkpoint == 0:
                save_checkpoint(path, weights, games, spent)
            if progress is not None:
                progress(games, plan.total_games)
    save_checkpoint(path, weights, games, spent)
    return weights
