"""The command that plays games and matches: simulate."""

from __future__ import annotations

import enum
import time
from contextlib import ExitStack, closing
from pathlib import Path  # noqa: TC003 -- typer reads the annotations at run time
from typing import IO, TYPE_CHECKING, Annotated, Literal

import typer

from bgserver.cli import tables
from bgserver.cli.inputs import parse_player
from bgserver.cli.match_report import points_remark, score_table
from bgserver.cli.methods import method_for
from bgserver.cli.options import (
    AddressOption,
    JsonOption,
    TimeoutOption,
    TokenOption,
    json_text,
    print_json,
)
from bgserver.cli.own_words import naming_options
from bgserver.cli.problems import INTERRUPTED, gathered, input_error
from bgserver.cli.progress import counter
from bgserver.cli.rule_inputs import SetOption, read_changes
from bgserver.cli.simulation_inputs import SIMULATION_OPTIONS, refuse_simulation
from bgserver.cli.transport import ask, connect
from bgserver.engine.errors import Fault
from bgserver.v1 import common_pb2, engine_pb2, rules_pb2, simulation_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.message import Message
    from rich.table import Table

__all__ = ["register"]

_RULES = "Rules"
_STATIC = "static"


class AutoDouble(enum.Enum):
    """The first automatic doubles of a game."""

    NONE = "none"
    A = "a"
    B = "b"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(rich_help_panel="Engine")(simulate)


def simulate(
    count: Annotated[
        int,
        typer.Argument(
            metavar="COUNT", min=1, max=(1 << 32) - 1, help="Games, or matches, to play."
        ),
    ] = 1000,
    preset: Annotated[
        str, typer.Option("--preset", "-p", help="Rules; `bgserver presets` lists them.")
    ] = "money",
    first: Annotated[
        str, typer.Option("--first", metavar="PLAYER", help="The player in the first seat.")
    ] = _STATIC,
    second: Annotated[
        str, typer.Option("--second", metavar="PLAYER", help="The player in the second seat.")
    ] = _STATIC,
    players: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST,SECOND",
            help="Both players at once, for example beginner,expert.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=(1 << 32) - 1,
            help="Seed of dice and errors, for the same games again.",
            show_default="random",
        ),
    ] = None,
    match_length: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            help="Points of a match, in a match preset.",
            show_default="the preset's shortest",
        ),
    ] = None,
    cube: Annotated[
        bool | None, typer.Option("--cube/--no-cube", help="With cube.", rich_help_panel=_RULES)
    ] = None,
    cube_cap: Annotated[
        int | None, typer.Option(min=1, help="Highest cube value.", rich_help_panel=_RULES)
    ] = None,
    crawford: Annotated[
        bool | None,
        typer.Option(
            "--crawford/--no-crawford",
            help="Matches: one game without cube.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    jacoby: Annotated[
        bool | None,
        typer.Option(
            "--jacoby/--no-jacoby", help="Gammons count after a take only.", rich_help_panel=_RULES
        ),
    ] = None,
    beaver: Annotated[
        bool | None,
        typer.Option(
            "--beaver/--no-beaver",
            help="The taker may turn the cube again.",
            rich_help_panel=_RULES,
        ),
    ] = None,
    auto_double: Annotated[
        AutoDouble | None,
        typer.Option(
            help="After a tie of the opening dice (a), or a double on the first turn (b).",
            rich_help_panel=_RULES,
        ),
    ] = None,
    changes: SetOption = None,
    records: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the result and every turn of each game to FILE, one line of JSON each.",
        ),
    ] = None,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Play games or matches between two players and count how they end.

    A player is a level (static, lookahead_1 to lookahead_3, random), a strength (beginner, normal,
    expert, or a number from 0 to 100), or both: lookahead_1:normal.

    Shows running statistics, and at the end a table with 95 % confidence intervals; with
    `--json` that is the last message of statistics. Rules that are not given are those of
    the preset. Ctrl-C stops and shows what has been played.
    """
    if players is not None:
        first, second = _both(players, (first, second))
    faults: list[Fault] = []
    seats: list[common_pb2.Player | None] = [None, None]
    for place, (text, field) in enumerate(((first, "first"), (second, "second"))):
        with gathered(faults):
            seats[place] = parse_player(text, field)
    if cube is False and cube_cap is not None:
        message = "expected a cube or none, got --no-cube beside its highest value"
        faults.append(Fault("--cube-cap", "WITHOUT_CUBE", message))
    rules = read_changes(changes, faults)
    rules.MergeFrom(_rules(cube, cube_cap, crawford, jacoby, beaver, auto_double))
    request = simulation_pb2.SimulateRequest(
        preset=preset,
        rules=rules,
        match_length=match_length,
        count=count,
        seed=seed,
        first=seats[0],
        second=seats[1],
        include_records=records is not None,
        statistics_only=records is None,
    )
    with ExitStack() as stack:
        stack.enter_context(naming_options({**SIMULATION_OPTIONS, "count": "COUNT"}))
        refuse_simulation(request, faults)
        file = None if records is None else stack.enter_context(records.open("w", encoding="utf-8"))
        transport = stack.enter_context(connect(address, token, timeout))
        # The first question loads the engine; that is not the games' time.
        ask(transport, engine_pb2.GetInfoRequest(), engine_pb2.GetInfoResponse)
        start = time.monotonic()
        events = stack.enter_context(closing(transport.stream(method_for(request), [request])))
        statistics = _follow(events, count, file)
    seconds = time.monotonic() - start
    if statistics is None:
        raise typer.Exit(INTERRUPTED)
    if json:
        print_json(statistics)
    else:
        names = (f"{first} (first)", f"{second} (second)")
        rate = statistics.games / seconds if seconds > 0 else 0.0
        played = f"{statistics.games:,} games in {seconds:.1f} s ({rate:,.0f}/s)"
        if statistics.HasField("match_win_rate"):
            played = f"{statistics.matches:,} matches, {played}"
        tables.show(_table(statistics, names), f"{played}, seed {statistics.seed}")
    if not statistics.final:
        raise typer.Exit(INTERRUPTED)


def _both(players: str, single: tuple[str, str]) -> tuple[str, str]:
    """The two players that were given as one text."""
    if single != (_STATIC, _STATIC):
        message = "expected both players at once or each by itself, got both forms"
        raise input_error(message, field="players", reason="PLAYERS_AMBIGUOUS")
    first, comma, second = players.partition(",")
    if not comma:
        message = f"expected two players separated by a comma, got {players!r}"
        raise input_error(message, field="players", reason="NOT_TWO_PLAYERS")
    return first.strip(), second.strip()


def _rules(
    cube: bool | None,
    cube_cap: int | None,
    crawford: bool | None,
    jacoby: bool | None,
    beaver: bool | None,
    auto_double: AutoDouble | None,
) -> rules_pb2.Rules:
    rules = rules_pb2.Rules(cube_cap=cube_cap, crawford=crawford, jacoby=jacoby, beaver=beaver)
    if cube is not None:
        rules.cube = rules_pb2.CUBE_USE_ON if cube else rules_pb2.CUBE_USE_OFF
    if auto_double is not None:
        rules.auto_double = rules_pb2.AutoDouble.Value(f"AUTO_DOUBLE_{auto_double.name}")
    return rules


def _follow(
    events: Iterator[Message], count: int, file: IO[str] | None
) -> simulation_pb2.SimulationStatistics | None:
    """Show the progress of a simulation; the last statistics, None if there were none yet."""
    statistics: simulation_pb2.SimulationStatistics | None = None
    with counter("playing", count) as advance:
        try:
            for event in events:
                if not isinstance(event, simulation_pb2.SimulateResponse):
                    message = f"expected SimulateResponse, got {type(event).__name__}"
                    raise TypeError(message)
                if event.HasField("statistics"):
                    statistics = event.statistics
                    advance(statistics.done, points_remark(statistics.points_per_game))
                elif file is not None:
                    file.write(f"{json_text(event)}\n")
        except KeyboardInterrupt:
            pass  # what has been played is shown
    return statistics


def _table(statistics: simulation_pb2.SimulationStatistics, names: tuple[str, str]) -> Table:
    """The figures of a simulation with their 95 % confidence intervals."""
    table = score_table(statistics, names)
    kinds = ("Single wins", "Gammons", "Backgammons")
    for kind, first, second in zip(
        kinds, statistics.first_wins, statistics.second_wins, strict=False
    ):
        table.add_row(kind, f"{first:,}", f"{second:,}", "")
    if statistics.HasField("first_loss") or statistics.HasField("second_loss"):
        first_loss = _loss(statistics, "first_loss")
        table.add_row("Loss of a play, mEq", first_loss, _loss(statistics, "second_loss"), "")
    table.add_section()
    table.add_row("Double dropped", f"{statistics.dropped:,}", "", "")
    table.add_row("Turns a game", f"{statistics.mean_turns:.1f}", "", "")
    table.add_row("Final cube", f"{statistics.mean_cube:.2f}", "", "")
    return table


def _loss(
    statistics: simulation_pb2.SimulationStatistics, seat: Literal["first_loss", "second_loss"]
) -> str:
    """What a seat's plays lose, in thousandths of a point; nothing for one without errors."""
    return f"{1000 * getattr(statistics, seat):.1f}" if statistics.HasField(seat) else ""
