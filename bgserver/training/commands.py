"""What the commands of `bgserver train` do, with their progress bars."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.progress import Progress, TextColumn, TimeRemainingColumn

from bgserver.engine.bearoff import load_bearoff
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.evaluator import GameCore
from bgserver.engine.plays import variant_code
from bgserver.engine.weights import RawWeights, Weights, load_weights, save_weights
from bgserver.kernels.classes import CLASS_NAMES
from bgserver.training.race_labels import races_among, relabel, sides_to_learn
from bgserver.training.self_play import SCHEDULES, SelfPlayPlan, load_checkpoint, run_self_play
from bgserver.training.shards import read_shards, write_labels, write_shards
from bgserver.training.sides import home_table
from bgserver.training.td import initial_weights

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bgserver.engine.position import Variant
    from bgserver.training.supervised import Epoch

__all__ = [
    "export_weights",
    "fit_weights",
    "label_positions",
    "label_races",
    "learn_by_self_play",
]

_SECOND_LAYER = 64


def _bar(unit: str = "") -> Progress:
    """A bar; with a unit it tells the number of what is done, too."""
    columns = Progress.get_default_columns()[:-1]
    counts = (TextColumn("{task.completed:,} " + unit),) if unit else ()
    return Progress(*columns, *counts, TimeRemainingColumn())


def learn_by_self_play(variant: Variant, folder: Path, *, seed: int, scale: float) -> None:
    """Run the schedule of a game, its numbers of games times `scale`."""
    schedule = tuple((round(games * scale), rate) for games, rate in SCHEDULES[variant])
    plan = SelfPlayPlan(variant, schedule, seed=seed)
    with _bar("games") as bar:
        task = bar.add_task("self-play", total=plan.total_games)
        run_self_play(plan, folder, lambda done, _: bar.update(task, completed=done))


def export_weights(variant: Variant, folder: Path, out: Path, version: str) -> None:
    """Write a weights file from a checkpoint of self-play."""
    raw, games, _ = load_checkpoint(folder / "checkpoint.npz")
    save_weights(out, Weights(variant, version, f"TD(0) self-play, {games:,} games", raw))


def label_positions(
    weights: Path,
    variant: Variant,
    folder: Path,
    *,
    count: int,
    second_rolls: int,
    carried: float,
    plain: bool,
    cousins: bool,
    seed: int,
) -> None:
    """Add shards of labels to a folder."""
    core = GameCore(load_weights(weights, variant), load_bearoff())
    folder.mkdir(parents=True, exist_ok=True)
    with _bar("labels") as bar:
        task = bar.add_task("labels", total=count)
        shards = write_shards(
            core, seed, folder, count, second_rolls, carried, plain=plain, cousins=cousins
        )
        for done in shards:
            bar.update(task, completed=done)


def fit_weights(
    variant: Variant,
    folders: Sequence[Path],
    out: Path,
    version: str,
    *,
    cousins: Sequence[Path],
    weights: Path | None,
    width: int,
    epochs: int,
    rate: float,
    only: Sequence[str],
    seed: int,
) -> None:
    """Fit weights to labels; weights, checkpoint and log are written after each epoch.

    Raises:
        ImportError: PyTorch is not installed.
        InvalidInputError: `only` names a network that the game has not, or there are no weights
            whose other networks it would leave as they are.
    """
    # PyTorch is an extra of its own.
    from bgserver.training.supervised import FitPlan, fit  # noqa: PLC0415 -- an extra

    names = CLASS_NAMES[variant_code(variant)]
    faults = []
    if unknown := [name for name in only if name not in names]:
        message = f"expected {', '.join(names)}, got {', '.join(unknown)}"
        faults.append(Fault("--only", "UNKNOWN_NETWORK", message))
    if only and weights is None:
        message = "needs --weights: the other networks would stay random"
        faults.append(Fault("--only", "WEIGHTS_REQUIRED", message))
    if faults:
        raise InvalidInputError(faults)
    classes = tuple(number for number, name in enumerate(names) if not only or name in only)
    labels = read_shards(folders, cousins)
    start = initial_weights(width, _SECOND_LAYER, seed)
    origin = "random weights"
    if weights is not None:
        loaded = load_weights(weights, variant)
        start, origin = loaded.raw, loaded.origin
    fitted = f"{' and '.join(only)} fitted" if only else "fitted"
    origin = f"{origin}; {fitted} to {len(labels.boards):,} labels by look-ahead"
    with _bar("steps") as bar, out.with_suffix(".jsonl").open("a", encoding="utf-8") as log:
        task = bar.add_task("fit", total=None)

        def report(epoch: Epoch, raw: RawWeights) -> None:
            save_weights(out, Weights(variant, version, origin, raw))
            log.write(json.dumps({**asdict(epoch), "labels": len(labels.boards)}) + "\n")
            log.flush()
            bar.console.print(
                f"epoch {epoch.number}  error {epoch.error:.5f}  between siblings "
                f"{epoch.sibling_error:.5f}  scout {epoch.scout_error:.5f}"
            )

        fit(
            start,
            variant_code(variant),
            labels,
            FitPlan(epochs=epochs, rate=rate, classes=classes, seed=seed),
            out.with_suffix(".checkpoint"),
            report,
            lambda done, total: bar.update(task, completed=done, total=total),
        )


def label_races(folders: Sequence[Path], out: Path, *, sides: int, seed: int) -> None:
    """Write the races of folders with labels from the distributions of their sides.

    Raises:
        ImportError: PyTorch is not installed.
        InvalidInputError: There are labels in `out`.
        DataError: There are no labels in a folder, or no races among them.
    """
    # PyTorch is an extra of its own.
    from bgserver.training.side_networks import SidesPlan, learn_sides  # noqa: PLC0415 -- an extra

    if any(out.glob("labels-*.npz")):
        message = f"{out} holds labels already"
        raise InvalidInputError([Fault("--out", "NOT_EMPTY", message)])
    races = races_among(read_shards(folders))
    table = home_table(load_bearoff(with_two_sided=False).tables)
    chosen = sides_to_learn(races.boards, sides, seed)
    with _bar() as bar:
        task = bar.add_task("sides", total=None)
        network = learn_sides(
            chosen,
            table,
            SidesPlan(seed=seed),
            lambda done, total: bar.update(task, completed=done, total=total),
        )
        task = bar.add_task("labels", total=len(races.boards))
        labels = relabel(
            races,
            lambda part: network.distributions(part, table),
            lambda done, _: bar.update(task, completed=done),
        )
    out.mkdir(parents=True, exist_ok=True)
    write_labels(out, labels)
