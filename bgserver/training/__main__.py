"""Commands that made the weights: `python -m bgserver.training self-play | export`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 -- typer reads the annotations at run time
from typing import Annotated

import typer
from rich.progress import Progress, TextColumn, TimeRemainingColumn

from bgserver.engine.position import Variant  # noqa: TC001 -- the same
from bgserver.engine.weights import Weights, save_weights
from bgserver.training.self_play import SCHEDULES, SelfPlayPlan, load_checkpoint, run_self_play

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
