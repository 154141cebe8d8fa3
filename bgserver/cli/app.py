"""The command `bgserver`: its subcommands, and how every failure ends."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from bgserver import __version__
from bgserver.cli import (
    batch,
    call,
    engine,
    games,
    match,
    play,
    rollout,
    rules,
    serve,
    simulate,
    train,
)
from bgserver.cli.dice_hints import add_dice_hint, missing_dice_hints
from bgserver.cli.problems import INTERRUPTED, report

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["app", "run"]

_BROKEN_PIPE = 141
# Positions that an option parser would take for options: numbers, or an XGID without its prefix.
_LOOKS_LIKE_OPTION = re.compile(r"-\d+([ ,]+-?\d+){25}|-[-A-Oa-o]{25}:.*")


class _Group(TyperGroup):
    """Turns every failure of a command into lines on stderr and an exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 -- typer's own
        """Protect positions that begin with a minus sign; refuse what is no text."""
        for arg in args:
            if not arg.isascii() and any("\ud800" <= letter <= "\udfff" for letter in arg):
                shown = ascii(arg[:40])
                message = f"an argument is no text in the encoding of this terminal: {shown}"
                raise typer.BadParameter(message)
        shielded = [f" {arg}" if _LOOKS_LIKE_OPTION.fullmatch(arg) else arg for arg in args]
        return super().parse_args(ctx, shielded)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 -- the signature is typer's
        """Run the command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            sys.stderr.write("stopped\n")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read our output has gone; nothing more can be said, not even at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(_BROKEN_PIPE) from None
        except OSError as error:
            sys.stderr.write(f"error: {error}\n")
            raise typer.Exit(1) from None
        except Exception as error:
            code = report(error, missing_dice_hints(ctx.invoked_subcommand))
            if code is None:
                add_dice_hint(error)
                raise
            raise typer.Exit(code) from None
        return result


app = typer.Typer(
    name="bgserver",
    cls=_Group,
    help=(
        "Backgammon and Long Nardy engine. Commands that ask a question work against a running "
        "server (--address) or, without one, in this process."
    ),
    epilog=(
        "A POSITION is an XGID, a GNU Position ID (with ':' and a Match ID if you like), the word "
        "start or nardy-start, or 26 numbers seen by the player on roll. "
        "DICE are written 31, 3-1 or 3,1."
    ),
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
serve.register(app)
rules.register(app)
engine.register(app)
rollout.register(app)
simulate.register(app)
match.register(app)
batch.register(app)
call.register(app)
play.register(app)
app.add_typer(games.app, name="games", rich_help_panel="Games")
app.add_typer(train.app, name="train", rich_help_panel="Training")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bgserver {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def run(arguments: Sequence[str]) -> None:
    """Run the command line and exit."""
    app(args=list(arguments), prog_name="bgserver")
