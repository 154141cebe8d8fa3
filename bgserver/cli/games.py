"""Commands about games that a server holds: games list, export, verify."""

from __future__ import annotations

import enum
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from rich import box
from rich.table import Table

from bgserver.cli import tables
from bgserver.cli.data_file import default_data_file
from bgserver.cli.game_hints import file_hints, nothing_in_file, nothing_listed, server_hints
from bgserver.cli.options import (
    AddressOption,
    JsonOption,
    TimeoutOption,
    TokenOption,
    print_json,
)
from bgserver.cli.out_files import UNKNOWN_FORMAT, out_file_faults
from bgserver.cli.own_words import naming_options
from bgserver.cli.problems import error_line, input_error, status_for
from bgserver.cli.transport import NAME_SERVER, ask, connect
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.levels import Level, bot_name
from bgserver.server.errors import StatusError
from bgserver.v1 import common_pb2, game_pb2

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

__all__ = ["app", "player_name"]

_FORMS = {".json": game_pb2.EXPORT_FORMAT_JSON, ".mat": game_pb2.EXPORT_FORMAT_MAT}
"""The form that the ending of a file asks for."""
_OPTIONS = {"format": "--format", "game_id": "GAME", "token": "--game-token"}
"""The option that fills each field of a request for a game that is written down."""

app = typer.Typer(
    help="Games that a server holds: list, export, check dice.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DataOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="FILE",
        envvar="BGSERVER_DATA",
        help="File of games; a server may be using it. [that of `bgserver serve` on its port]",
        show_default=False,
    ),
]


class Filter(enum.Enum):
    """Which games."""

    ALL = "all"
    WAITING = "waiting"
    RUNNING = "running"
    OVER = "over"


class Form(enum.Enum):
    """How to write a game down."""

    JSON = "json"
    MAT = "mat"


def player_name(seat: game_pb2.SeatInfo) -> str:
    """Who sits in a seat, in words."""
    if seat.open:
        return "(open)"
    if not seat.HasField("engine"):
        return seat.name or "(person)"
    engine = seat.engine
    level = Level[common_pb2.Level.Name(engine.level).removeprefix("LEVEL_")]
    if engine.WhichOneof("strength") == "numeric_strength":
        strength = str(engine.numeric_strength)
    else:
        name = common_pb2.Strength.Name(engine.named_strength)
        strength = name.removeprefix("STRENGTH_").lower().replace("unspecified", "expert")
    return bot_name(level, strength)


@app.command("list")
def list_games(
    ctx: typer.Context,
    which: Annotated[Filter, typer.Option("--filter", help="Which games.")] = Filter.ALL,
    preset: Annotated[str, typer.Option("--preset", "-p", help="Only games of this preset.")] = "",
    count: Annotated[int, typer.Option("--max", min=1, max=200, help="Most games.")] = 50,
    data: DataOption = None,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """List games, the newest first.

    All of a file; with --address those that a server lists.
    """
    is_filtered = which is not Filter.ALL or preset != ""
    server = _server(ctx, address)
    if server is None:
        path = data or default_data_file()
        answer = _of_file(path, which, preset, count)
        hints = [f"games of {path}", *file_hints(path)]
        if not answer.games:
            hints = nothing_in_file(path, is_filtered=is_filtered)
    else:
        request = game_pb2.ListGamesRequest(
            filter=_filter_value(which), preset=preset, page_size=count
        )
        with connect(server, token, timeout) as transport:
            answer = ask(transport, request, game_pb2.ListGamesResponse)
        hints = server_hints(server)
        if not answer.games:
            hints = nothing_listed(server, is_filtered=is_filtered)
    if json:
        print_json(answer)
        return
    if answer.games:
        tables.show(_table(answer.games))
    sys.stdout.flush()
    for hint in hints:
        sys.stderr.write(f"{hint}\n")


def _server(ctx: typer.Context, address: str | None) -> str | None:
    """The server to ask; None to look into a file.

    A file that is named on the command line goes before a server named by the environment.

    Raises:
        InvalidInputError: Both are named on the command line, or a file and what is for servers.
    """
    if address is not None and not _is_typed(ctx, "data"):
        return address
    if _is_typed(ctx, "address"):
        message = "expected a file or a server (--address), got both"
        raise input_error(message, field="--data", reason="PLACE_AMBIGUOUS")
    faults = [
        Fault(
            f"--{name.replace('_', '-')}",
            "ONLY_WITH_ADDRESS",
            f"a file is read without it; it is for a server, {NAME_SERVER}",
        )
        for name in ("game_token", "token", "timeout")
        if name in ctx.params and _is_typed(ctx, name)
    ]
    if faults:
        raise InvalidInputError(faults)
    return None


def _is_typed(ctx: typer.Context, option: str) -> bool:
    source = ctx.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _filter_value(which: Filter) -> game_pb2.GameFilter.ValueType:
    name = "UNSPECIFIED" if which is Filter.ALL else which.name
    return game_pb2.GameFilter.Value(f"GAME_FILTER_{name}")


def _of_file(path: str, which: Filter, preset: str, count: int) -> game_pb2.ListGamesResponse:
    from bgserver.games.presets import PRESETS  # noqa: PLC0415 -- loads slowly
    from bgserver.games.storage_queries import list_rows  # noqa: PLC0415 -- loads Numba
    from bgserver.games.storage_records import Status  # noqa: PLC0415 -- loads slowly
    from bgserver.server.convert_game import summary_message  # noqa: PLC0415 -- loads slowly

    if preset and preset not in PRESETS:
        message = f"expected one of {', '.join(PRESETS)}, got {preset[:40]!r}"
        raise input_error(message, field="--preset", reason="UNKNOWN_PRESET")
    status = None if which is Filter.ALL else Status[which.name]
    with closing(_connection(path)) as connection:
        rows = list_rows(connection, status=status, preset=preset, everything=True, most=count)
    return game_pb2.ListGamesResponse(games=[summary_message(*row) for row in rows])


def _connection(path: str) -> sqlite3.Connection:
    from bgserver.games.errors import StorageError  # noqa: PLC0415 -- loads Numba
    from bgserver.games.storage_schema import open_existing  # noqa: PLC0415 -- loads slowly

    try:
        if Path(path).is_dir():
            message = f"{path} is a folder, expected a file of games"
            raise StorageError(message)
        return open_existing(path)
    except StorageError as error:
        message = "; ".join([str(error), *file_hints(path)])
        raise input_error(message, field="--data", reason="NO_DATA_FILE") from None


def _table(games: Iterable[game_pb2.GameSummary]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("Game", "Rules", "Stage", "First", "", "Second", "", "Changed"):
        table.add_column(heading, justify="right" if not heading else "left")
    for game in games:
        length = f" to {game.match_length}" if game.HasField("match_length") else ""
        table.add_row(
            game.game_id,
            game.preset + length,
            game_pb2.GameStage.Name(game.stage).removeprefix("GAME_STAGE_").lower(),
            player_name(game.first),
            str(game.first.points),
            player_name(game.second),
            str(game.second.points),
            time.strftime("%Y-%m-%d %H:%M", time.localtime(game.changed_at)),
        )
    return table


@app.command("export")
def export_game(
    ctx: typer.Context,
    game: Annotated[str, typer.Argument(metavar="GAME", help="Id of the game.")],
    form: Annotated[
        Form | None,
        typer.Option(
            "--format",
            "-f",
            help="Match text for other programs, or JSON.",
            show_default="by the ending of FILE, .mat or .json; else mat",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write to FILE.", show_default=False),
    ] = None,
    game_token: Annotated[
        str, typer.Option(help="Token of the game, for a server's that is not listed.")
    ] = "",
    data: DataOption = None,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Write a game down: out of a file, or with --address from a server."""
    if form is not None:
        value = game_pb2.ExportFormat.Value(f"EXPORT_FORMAT_{form.name}")
    else:
        ending = "" if output is None else output.suffix.lower()
        value = _FORMS.get(ending, game_pb2.EXPORT_FORMAT_MAT)
    if output is not None:
        _require_output(output, by_ending=form is None)
    server = _server(ctx, address)
    with naming_options(_OPTIONS), _naming_json():
        if server is None:
            answer = _export_from_file(data or default_data_file(), game, value)
        else:
            request = game_pb2.ExportGameRequest(game_id=game, token=game_token, format=value)
            with connect(server, token, timeout) as transport:
                answer = ask(transport, request, game_pb2.ExportGameResponse)
    if output is None:
        sys.stdout.write(answer.text)
    else:
        output.write_text(answer.text, encoding="utf-8")


def _require_output(output: Path, *, by_ending: bool) -> None:
    """See that a game can be written to a file, in the form that its name asks for, if it does.

    Raises:
        InvalidInputError: It cannot; every fault is named.
    """
    faults = out_file_faults(output, "--output", tuple(_FORMS) if by_ending else ())
    hint = "with --format it may have any name"
    found = [
        replace(fault, message=f"{fault.message}; {hint}")
        if fault.reason == UNKNOWN_FORMAT
        else fault
        for fault in faults
    ]
    if found:
        raise InvalidInputError(found)


@contextmanager
def _naming_json() -> Iterator[None]:
    """Say what to type for a game that match text cannot hold."""
    try:
        yield
    except (InvalidInputError, StatusError) as error:
        status = status_for(error)
        faults = [] if status is None else error_line(status)["violations"]
        reason = "NOT_IN_LONG_NARDY"
        if not any(fault["reason"] == reason for fault in faults):
            raise
        message = "match text is for backgammon; for Long Nardy: --format json, or -o FILE.json"
        raise input_error(message, field="format", reason=reason) from None


def _export_from_file(
    path: str, game: str, form: game_pb2.ExportFormat.ValueType
) -> game_pb2.ExportGameResponse:
    from bgserver.games.storage_queries import whole_game  # noqa: PLC0415 -- loads Numba
    from bgserver.server.game_export import export  # noqa: PLC0415 -- loads slowly

    with closing(_connection(path)) as connection:
        found = whole_game(connection, game)
    if found is None:
        message = "; ".join([f"there is no game {game} in {path}", *file_hints(path)])
        raise input_error(message, field="GAME", reason="GAME_NOT_FOUND")
    return export(*found, form)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A game exported as JSON.")],
) -> None:
    """Check provably fair dice: that every roll was settled before the game.

    The file is written by `bgserver games export ID --format json -o FILE`. The exit code is 0 if
    all is as promised, 1 if not, 2 if there is nothing that can be checked.
    """
    from bgserver.games.check_dice import main  # noqa: PLC0415 -- loads Numba

    raise typer.Exit(main([str(file)]))
