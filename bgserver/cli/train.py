"""`bgserver train`: the commands that made the packaged weights.

First `self-play` from zero and `export` its weights; then rounds of teacher and student: `label`
positions with the present weights, `fit` new ones to the labels; `races` labels those of backgammon
better than a teacher. All but `races`, which takes minutes, can be interrupted and goes on where it
stopped.
"""

# Numba, PyTorch and matplotlib take seconds to load; they are imported when a command needs them.
# ruff: noqa: PLC0415 -- loads slowly

from __future__ import annotations

from pathlib import Path  # noqa: TC003 -- typer reads the annotations at run time
from typing import Annotated

import typer

from bgserver.cli.compiling import telling_of_compilation
from bgserver.cli.plots import require_plot
from bgserver.cli.problems import input_error
from bgserver.engine.position import Variant  # noqa: TC001 -- the same

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Make weights from zero.")

_WIDTH = 256
_CARRIED = 1.0
_NEEDS_EXTRA = 'this needs PyTorch: pip install "bgserver[train]"'


@app.command("self-play")
def self_play(
    variant: Annotated[Variant, typer.Option(help="The game to learn.")],
    folder: Annotated[Path, typer.Option(help="Holds checkpoint and log; resumed if it exists.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights and dice.")] = 1,
    scale: Annotated[float, typer.Option(min=0, help="Factor on the games of the schedule.")] = 1.0,
) -> None:
    """Learn by TD(0) self-play; an interrupted run goes on from its last checkpoint."""
    from bgserver.training.commands import learn_by_self_play

    with telling_of_compilation():
        learn_by_self_play(variant, folder, seed=seed, scale=scale)


@app.command()
def export(
    variant: Annotated[Variant, typer.Option(help="The game of the checkpoint.")],
    folder: Annotated[Path, typer.Option(help="Where self-play kept its checkpoint.")],
    out: Annotated[Path, typer.Option(help="The weights file to write.")],
    version: Annotated[str, typer.Option(help="Version of the weights.")],
) -> None:
    """Write a weights file from a checkpoint of self-play."""
    from bgserver.training.commands import export_weights

    export_weights(variant, folder, out, version)


@app.command()
def label(
    weights: Annotated[Path, typer.Option(help="Weights file of the teacher.")],
    variant: Annotated[Variant, typer.Option(help="The game.")],
    folder: Annotated[Path, typer.Option(help="Holds the shards; new ones go on from the last.")],
    count: Annotated[int, typer.Option(min=1, help="Labels to add.")] = 1_000_000,
    second_rolls: Annotated[
        int,
        typer.Option(
            min=0,
            max=21,
            help="Of the 21 rolls, so many are looked at a second roll ahead: 0 looks one roll "
            "ahead, 21 two, anything between estimates that.",
        ),
    ] = 0,
    carried: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Share of later findings of a game in its labels.",
            show_default=str(_CARRIED),
        ),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Only games from the start, no random turns there.")
    ] = False,
    cousins: Annotated[
        bool,
        typer.Option(
            "--cousins",
            help="Label the best replies to the close plays of each roll, not the plays: what "
            "looking ahead compares. For `fit --cousins`; nothing is carried back.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of dice and random choices.")] = 101,
) -> None:
    """Play games and label their decisions by looking one or two rolls ahead."""
    if cousins and carried is not None:
        message = "nothing is carried back to cousins; expected one of both"
        raise input_error(message, field="--carried", reason="NOT_FOR_COUSINS")
    from bgserver.training.commands import label_positions

    with telling_of_compilation():
        label_positions(
            weights,
            variant,
            folder,
            count=count,
            second_rolls=second_rolls,
            carried=_CARRIED if carried is None else carried,
            plain=plain,
            cousins=cousins,
            seed=seed,
        )


@app.command()
def fit(
    variant: Annotated[Variant, typer.Option(help="The game.")],
    folder: Annotated[list[Path], typer.Option(help="Folder with shards; may be repeated.")],
    out: Annotated[Path, typer.Option(help="Weights file to write after each epoch.")],
    version: Annotated[str, typer.Option(help="Version of the new weights.")],
    cousins: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder with labels of cousins, which count by their differences only; may be "
            "repeated.",
        ),
    ] = None,
    weights: Annotated[
        Path | None, typer.Option(help="Weights file to begin with; random without one.")
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(min=32, help="First layer if begun at random.", show_default=str(_WIDTH)),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the labels.")] = 8,
    rate: Annotated[float, typer.Option(min=0, help="Highest learning rate.")] = 8e-3,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NETWORK",
            help="Fit this network and leave the others as they are; may be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of order and random weights.")] = 1,
) -> None:
    """Fit weights to labels with PyTorch; an interrupted fit goes on after its last epoch.

    Beside the weights file stand its checkpoint (.checkpoint) and its log (.jsonl).
    """
    if weights is not None and width is not None:
        message = "the weights that it begins with have their own; expected one of both"
        raise input_error(message, field="--width", reason="ONLY_AT_RANDOM")
    from bgserver.training.commands import fit_weights

    try:
        fit_weights(
            variant,
            folder,
            out,
            version,
            cousins=cousins or (),
            weights=weights,
            width=width or _WIDTH,
            epochs=epochs,
            rate=rate,
            only=only or (),
            seed=seed,
        )
    except ImportError as error:
        raise typer.BadParameter(_NEEDS_EXTRA) from error


@app.command()
def races(
    folder: Annotated[list[Path], typer.Option(help="Folder with shards; may be repeated.")],
    out: Annotated[Path, typer.Option(help="Folder for the new shards; holds none yet.")],
    sides: Annotated[
        int, typer.Option(min=1, help="Sides of races to learn the distributions from.")
    ] = 170_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random weights and choices.")] = 1,
) -> None:
    """Label the races among labels of backgammon anew, by the rolls that each side needs.

    Learns distributions of these rolls with PyTorch, in some minutes. The shards are for
    `fit --only race`.
    """
    from bgserver.training.commands import label_races

    try:
        with telling_of_compilation():
            label_races(folder, out, sides=sides, seed=seed)
    except ImportError as error:
        raise typer.BadParameter(_NEEDS_EXTRA) from error


@app.command()
def curves(
    logs: Annotated[list[Path], typer.Argument(help="Logs (.jsonl) of fits, in order.")],
    out: Annotated[Path, typer.Option(help="File to write, .png, .svg or .pdf.")],
) -> None:
    """Draw the learning curves of fits: errors on held-out labels by epoch."""
    require_plot(out, "--out")
    from bgserver.training.curves import draw_curves

    draw_curves(logs, out)
