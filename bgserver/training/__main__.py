"""Commands that made the weights: `python -m bgserver.training self-play | label | fit | export`.

A round of teacher and student: `label` with the present weights, then `fit` them to all labels
so far. Both can be interrupted: labels are kept in shards of whole games, and a fit writes the
weights after every epoch.
"""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 -- typer reads the annotations at run time
from typing import Annotated

import typer
from rich.progress import Progress, TextColumn, TimeRemainingColumn

from bgserver.engine.bearoff import load_bearoff
from bgserver.engine.evaluator import GameCore
from bgserver.engine.plays import variant_code
from bgserver.engine.position import Variant  # noqa: TC001 -- the same
from bgserver.engine.weights import Weights, load_weights, save_weights
from bgserver.training.labels import read_shards, write_shards
from bgserver.training.self_play import SCHEDULES, SelfPlayPlan, load_checkpoint, run_self_play
from bgserver.training.supervised import Epoch, fit, widened

DEFAULT_RATES = "0.005,0.005,0.005,0.003,0.003,0.002,0.002,0.001,0.001,0.0005,0.0003,0.0002"

app = typer.Typer(no_args_is_help=True, help="Make weights from zero.")


@app.command("self-play")
def self_play(
    variant: Annotated[Variant, typer.Option(help="The game to learn.")],
    folder: Annotated[Path, typer.Option(help="Holds checkpoint and log; resumed if it exists.")],
    seed: Annotated[int, typer.Option(help="Seed of weights and dice.")] = 1,
    scale: Annotated[float, typer.Option(help="Factor on the games of the schedule.")] = 1.0,
) -> None:
    """Learn by TD(0) self-play; an interrupted run goes on from its last checkpoint."""
    schedule = tuple((round(games * scale), rate) for games, rate in SCHEDULES[variant])
    plan = SelfPlayPlan(variant, schedule, seed=seed)
    columns = (*Progress.get_default_columns()[:-1], TextColumn("{task.completed:,} games"))
    with Progress(*columns, TimeRemainingColumn()) as bar:
        task = bar.add_task("self-play", total=plan.total_games)
        run_self_play(plan, folder, lambda done, _: bar.update(task, completed=done))


@app.command()
def label(
    weights: Annotated[Path, typer.Option(help="Weights file of the teacher.")],
    variant: Annotated[Variant, typer.Option(help="The game.")],
    folder: Annotated[Path, typer.Option(help="Holds the shards; new ones go on from the last.")],
    count: Annotated[int, typer.Option(help="Labels to add.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="Seed of dice and random choices.")] = 101,
) -> None:
    """Play games and label their decisions by looking one roll ahead."""
    core = GameCore(load_weights(weights, variant), load_bearoff())
    folder.mkdir(parents=True, exist_ok=True)
    columns = (*Progress.get_default_columns()[:-1], TextColumn("{task.completed:,} labels"))
    with Progress(*columns, TimeRemainingColumn()) as bar:
        task = bar.add_task("labels", total=count)
        for done in write_shards(core, seed, folder, count):
            bar.update(task, completed=done)


@app.command("fit")
def fit_weights(
    weights: Annotated[Path, typer.Option(help="Weights file to begin with.")],
    variant: Annotated[Variant, typer.Option(help="The game.")],
    folder: Annotated[list[Path], typer.Option(help="Folder with shards; may be repeated.")],
    out: Annotated[Path, typer.Option(help="Weights file to write after each epoch.")],
    version: Annotated[str, typer.Option(help="Version of the new weights.")],
    rates: Annotated[str, typer.Option(help="Learning rate of each epoch.")] = DEFAULT_RATES,
    widen: Annotated[int, typer.Option(help="Add so many units to the first layer.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the order.")] = 1,
) -> None:
    """Fit weights to labels; prints the error on held-out labels after each epoch."""
    start = load_weights(weights, variant)
    raw = widened(start.raw, widen, seed)
    labels = read_shards(folder)
    origin = f"{start.origin}; fitted to {len(labels.boards):,} labels one roll ahead"

    def report(epoch: Epoch) -> None:
        save_weights(out, Weights(variant, version, origin, raw))
        typer.echo(f"epoch {epoch.number}  rate {epoch.rate:g}  error {epoch.error:.5f} points")

    fit(
        raw,
        variant_code(variant),
        labels,
        tuple(float(rate) for rate in rates.split(",")),
        seed,
        report,
    )


@app.command()
def export(
    variant: Annotated[Variant, typer.Option(help="The game of the checkpoint.")],
    folder: Annotated[Path, typer.Option(help="Where self-play kept its checkpoint.")],
    out: Annotated[Path, typer.Option(help="The weights file to write.")],
    version: Annotated[str, typer.Option(help="Version of the weights.")],
) -> None:
    """Write a weights file from a checkpoint."""
    raw, games, _ = load_checkpoint(folder / "checkpoint.npz")
    save_weights(out, Weights(variant, version, f"TD(0) self-play, {games:,} games", raw))


if __name__ == "__main__":
    app()
