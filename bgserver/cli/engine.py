"""Commands that ask for the engine's judgement: eval, rank, cube, info."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bgserver.cli import inputs, tables
from bgserver.cli.options import (
    AddressOption,
    DiceArgument,
    FirstTurnOption,
    JsonOption,
    LevelOption,
    NardyOption,
    PositionArgument,
    TimeMsOption,
    TimeoutOption,
    TokenOption,
    limit_message,
    print_json,
)
from bgserver.cli.rules import board_text
from bgserver.cli.transport import ask, connect
from bgserver.v1 import engine_pb2

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["register"]

_PANEL = "Engine"


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("eval", rich_help_panel=_PANEL)(evaluate)
    for command in (rank, cube, info):
        app.command(rich_help_panel=_PANEL)(command)


def evaluate(
    position: PositionArgument,
    level: LevelOption = None,
    time_ms: TimeMsOption = None,
    nardy: NardyOption = False,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Evaluate a position before the roll: chances and equities."""
    request = engine_pb2.EvaluateRequest(
        position=inputs.parse_position(position, nardy=nardy), limit=limit_message(level, time_ms)
    )
    with connect(address, token, timeout) as transport:
        answer = ask(transport, request, engine_pb2.EvaluateResponse)
        if json:
            print_json(answer)
            return
        board = board_text(transport, request.position)
    tables.show(board, *tables.evaluation_table(answer))


def rank(
    position: PositionArgument,
    dice: DiceArgument = None,
    level: LevelOption = None,
    time_ms: TimeMsOption = None,
    most: Annotated[
        int, typer.Option("--max", "-n", min=0, help="Show at most so many plays; 0 shows all.")
    ] = 10,
    cubeless: Annotated[
        bool, typer.Option("--cubeless", help="Rank by cubeless money equity.")
    ] = False,
    nardy: NardyOption = False,
    first_turn: FirstTurnOption = False,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Rank the plays of a roll, best first."""
    request = engine_pb2.RankPlaysRequest(
        position=inputs.parse_position(position, nardy=nardy),
        dice=inputs.parse_dice(dice),
        limit=limit_message(level, time_ms),
        max_plays=most,
        cubeless=cubeless,
        first_turn=first_turn,
    )
    with connect(address, token, timeout) as transport:
        answer = ask(transport, request, engine_pb2.RankPlaysResponse)
        if json:
            print_json(answer)
            return
        board = board_text(transport, request.position)
    parts: list[RenderableType] = [board, tables.ranking_table(answer)]
    if answer.total_plays > len(answer.plays):
        parts.append(f"{len(answer.plays)} of {answer.total_plays} plays; --max 0 shows all")
    tables.show(*parts)


def cube(
    position: PositionArgument,
    level: LevelOption = None,
    time_ms: TimeMsOption = None,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Advise on the cube: double or not, take or pass."""
    request = engine_pb2.AdviseCubeRequest(
        position=inputs.parse_position(position), limit=limit_message(level, time_ms)
    )
    with connect(address, token, timeout) as transport:
        answer = ask(transport, request, engine_pb2.AdviseCubeResponse)
        if json:
            print_json(answer)
            return
        board = board_text(transport, request.position)
    tables.show(board, f"Best: {answer.action_text}", *tables.cube_table(answer))


def info(
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show version, levels, networks and limits."""
    with connect(address, token, timeout) as transport:
        answer = ask(transport, engine_pb2.GetInfoRequest(), engine_pb2.GetInfoResponse)
    if json:
        print_json(answer)
        return
    tables.show(*tables.info_table(answer))
