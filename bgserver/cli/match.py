"""The command that lets engines play each other: match."""

from __future__ import annotations

import enum
import secrets
import time
from contextlib import ExitStack, closing
from pathlib import Path  # noqa: TC003 -- typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from bgserver.cli import tables
from bgserver.cli.inputs import parse_contestant
from bgserver.cli.match_report import draw, report_table
from bgserver.cli.match_state import MatchState
from bgserver.cli.methods import method_for
from bgserver.cli.options import (
    AddressOption,
    DepthName,
    JsonOption,
    TimeoutOption,
    TokenOption,
    level_value,
    print_json,
)
from bgserver.cli.own_words import naming_options
from bgserver.cli.plots import require_plot
from bgserver.cli.problems import INTERRUPTED, gathered
from bgserver.cli.rule_inputs import SetOption, read_changes
from bgserver.cli.simulation_inputs import SIMULATION_OPTIONS, refuse_simulation
from bgserver.cli.transport import ask, connect
from bgserver.v1 import common_pb2, engine_pb2, simulation_pb2

if TYPE_CHECKING:
    from bgserver.engine.errors import Fault

__all__ = ["register"]

_RULES = "Rules"
_PLAYERS = "Players"


class SeatingName(enum.Enum):
    """Where the players sit."""

    FIXED = "fixed"
    ALTERNATING = "alternating"
    DUPLICATE = "duplicate"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(rich_help_panel="Engine")(match)


def match(
    first: Annotated[str, typer.Argument(metavar="PLAYER", help="The first player.")],
    second: Annotated[str, typer.Argument(metavar="PLAYER", help="The second player.")],
    count: Annotated[
        int,
        typer.Option("--count", "-n", min=1, max=(1 << 32) - 1, help="Games, or matches, to play."),
    ] = 100,
    seating: Annotated[
        SeatingName,
        typer.Option(help="How the players change seats; duplicate plays all dice twice."),
    ] = SeatingName.DUPLICATE,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=(1 << 32) - 1,
            help="Seed of dice and errors, for the same games again.",
            show_default="random",
        ),
    ] = None,
    judge: Annotated[
        DepthName | None,
        typer.Option(help="Judge every decision at this level.", show_default=False),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep what has been played in FILE, and go on with what is in it."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the score with its interval (extra `plot`), as .png, .svg or .pdf.",
        ),
    ] = None,
    decision_ms: Annotated[
        int | None,
        typer.Option(
            metavar="MILLISECONDS",
            min=1,
            help="What a decision of a player elsewhere may take.",
            rich_help_panel=_PLAYERS,
            show_default="10000",
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            "--preset", "-p", help="Rules; `bgserver presets` lists them.", rich_help_panel=_RULES
        ),
    ] = "money",
    match_length: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            help="Points of a match, in a match preset.",
            rich_help_panel=_RULES,
            show_default="the preset's shortest",
        ),
    ] = None,
    changes: SetOption = None,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Let two engines play each other: fair seats, the same dice for both, statistics.

    A player is a level (static, lookahead_1 to lookahead_3, random), a strength (beginner, normal,
    expert, or 0 to 100), both (lookahead_1:normal), or any of these with the address of another
    bgserver that plays it: static@127.0.0.1:50052, or @127.0.0.1:50052.

    A player elsewhere that takes too long, does not answer or breaks the rules loses the game, as
    a single one at the value of the cube, and the match goes on; one that does not answer before
    the first game is an error. With --state a match that was stopped, by Ctrl-C or by force, goes
    on where it was.
    """
    from bgserver.cli.match_played import Played  # noqa: PLC0415 -- loads Numba

    faults: list[Fault] = []
    players: list[common_pb2.Player | None] = [None, None]
    for place, (text, field) in enumerate(((first, "first"), (second, "second"))):
        with gathered(faults):
            players[place] = parse_contestant(text, field)
    request = simulation_pb2.SimulateRequest(
        preset=preset,
        rules=read_changes(changes, faults),
        match_length=match_length,
        count=count,
        seed=seed,
        first=players[0],
        second=players[1],
        seating=simulation_pb2.Seating.Value(f"SEATING_{seating.name}"),
        decision_ms=decision_ms,
    )
    if judge is not None:
        request.judge = level_value(judge)
    if plot is not None:
        with gathered(faults):
            require_plot(plot)
    names = (f"{first} (1)", f"{second} (2)") if first == second else (first, second)
    with ExitStack() as stack:
        stack.enter_context(naming_options(SIMULATION_OPTIONS))
        refuse_simulation(request, faults)
        transport = stack.enter_context(connect(address, token, timeout, remote_engines=("*",)))
        info = ask(transport, engine_pb2.GetInfoRequest(), engine_pb2.GetInfoResponse)
        keeper = None
        if state is not None:
            keeper = MatchState(state, request, info.digest)
        if not request.HasField("seed"):
            request.seed = secrets.randbits(32)
        played = Played(request, keeper)
        start, before = time.monotonic(), played.statistics.games
        if played.done < count:
            if keeper is not None:
                stack.enter_context(keeper)
            events = stack.enter_context(closing(transport.stream(method_for(request), [request])))
            played.follow(events)
    seconds = time.monotonic() - start
    statistics = played.message()
    if json:
        print_json(statistics)
    else:
        _show(statistics, names, statistics.games - before, seconds)
    if plot is not None:
        draw(played.course, plot, names, matches=statistics.matches > 0)
    if not statistics.final:
        raise typer.Exit(INTERRUPTED)


def _show(
    statistics: simulation_pb2.SimulationStatistics,
    names: tuple[str, str],
    games: int,
    seconds: float,
) -> None:
    rate = games / seconds if seconds > 0 else 0.0
    played = f"{statistics.games:,} games, {games:,} now in {seconds:.1f} s ({rate:,.0f}/s)"
    if statistics.matches:
        played = f"{statistics.matches:,} matches, {played}"
    tables.show(report_table(statistics, names), f"{played}, seed {statistics.seed}")
