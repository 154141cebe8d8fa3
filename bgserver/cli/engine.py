"""Commands that ask for the engine's judgement: eval, rank, cube, bot, info."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated

import typer

from bgserver.cli import cube_tables, inputs, tables
from bgserver.cli.options import (
    LIMIT_OPTIONS,
    AddressOption,
    DiceArgument,
    FirstTurnOption,
    JsonOption,
    JudgeOption,
    NardyOption,
    PositionArgument,
    TimeMsOption,
    TimeoutOption,
    TokenOption,
    limit_message,
    print_json,
)
from bgserver.cli.own_words import naming_options
from bgserver.cli.problems import input_error
from bgserver.cli.rules import board_text
from bgserver.cli.transport import ask, connect
from bgserver.v1 import engine_pb2, rules_pb2

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["register"]

_PANEL = "Engine"
_MOST = (1 << 32) - 1


class RaccoonName(enum.Enum):
    """Who owns the cube after a raccoon."""

    BEAVERER = "beaverer"
    RACCOONER = "raccooner"


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("eval", rich_help_panel=_PANEL)(evaluate)
    for command in (rank, cube, bot, info):
        app.command(rich_help_panel=_PANEL)(command)


@naming_options(LIMIT_OPTIONS)
def evaluate(
    position: PositionArgument,
    level: JudgeOption = None,
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


@naming_options(LIMIT_OPTIONS)
def rank(
    position: PositionArgument,
    dice: DiceArgument = None,
    level: JudgeOption = None,
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
    if answer.HasField("rolled_out") and answer.rolled_out == 0:
        parts.append(f"{level}: nothing was rolled out, as only one play is near the best")
    tables.show(*parts)


@naming_options(LIMIT_OPTIONS)
def cube(
    position: PositionArgument,
    level: JudgeOption = None,
    time_ms: TimeMsOption = None,
    scores: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=25,
            help="Instead: the decision at every score up to so many points away.",
        ),
    ] = None,
    market: Annotated[
        bool, typer.Option("--market", help="Count the exchanges that lose the market.")
    ] = False,
    raccoons: Annotated[
        RaccoonName | None,
        typer.Option(help="Beavers may be raccooned; who owns the cube then."),
    ] = None,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Advise on the cube: double or not, take or pass."""
    source = inputs.parse_position(position)
    limit = limit_message(level, time_ms)
    if scores is not None:
        if market or raccoons is not None:
            message = "a table of scores counts no market losers and knows no raccoons"
            raise input_error(message, field="scores", reason="SCORES_ALONE")
        asked = engine_pb2.AdviseCubeByScoreRequest(position=source, limit=limit, away=scores)
        with connect(address, token, timeout) as transport:
            table = ask(transport, asked, engine_pb2.AdviseCubeByScoreResponse)
            if json:
                print_json(table)
                return
            board = board_text(transport, source)
        tables.show(board, *cube_tables.score_tables(table))
        return
    request = engine_pb2.AdviseCubeRequest(
        position=source,
        limit=limit,
        raccoons=raccoons is not None,
        market_losers=market,
        market_replies=market,
    )
    if raccoons is not None:
        request.raccoon_owner = rules_pb2.RaccoonOwner.Value(f"RACCOON_OWNER_{raccoons.name}")
    with connect(address, token, timeout) as transport:
        answer = ask(transport, request, engine_pb2.AdviseCubeResponse)
        if json:
            print_json(answer)
            return
        board = board_text(transport, request.position)
    parts: list[RenderableType] = [board, cube_tables.cube_heading(answer)]
    parts += tables.cube_table(answer)
    if limit is not None and limit.HasField("preset") and not answer.preset:
        parts.append(f"{level}: nothing was rolled out, as the figures are exact")
    if answer.HasField("market_losers"):
        parts += cube_tables.market_tables(answer.market_losers)
    tables.show(*parts)


def bot(
    position: PositionArgument,
    dice: DiceArgument = None,
    player: Annotated[
        str,
        typer.Option(
            "--player",
            "-p",
            help="A level, a strength (beginner, normal, expert, 0 to 100), or lookahead_1:normal.",
        ),
    ] = "expert",
    cube_action: Annotated[
        bool, typer.Option("--cube", help="Ask for its cube action instead of its play.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=_MOST,
            help="Seed of its errors, for the same again.",
            show_default="random",
        ),
    ] = None,
    game: Annotated[int, typer.Option(min=0, max=_MOST, help="Number of the game.")] = 0,
    turn: Annotated[int, typer.Option(min=0, max=_MOST, help="Number of the turn.")] = 0,
    nardy: NardyOption = False,
    first_turn: FirstTurnOption = False,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Play one turn as a bot of some strength would: its play, or with --cube its cube action."""
    source = inputs.parse_position(position, nardy=nardy)
    bot_player = inputs.parse_player(player)
    with connect(address, token, timeout) as transport:
        answer: engine_pb2.ChooseCubeActionResponse | engine_pb2.ChoosePlayResponse
        if cube_action:
            asked = engine_pb2.ChooseCubeActionRequest(
                position=source, player=bot_player, seed=seed, game=game, turn=turn
            )
            answer = ask(transport, asked, engine_pb2.ChooseCubeActionResponse)
            done = engine_pb2.CubeMove.Name(answer.move).removeprefix("CUBE_MOVE_").lower()
        else:
            request = engine_pb2.ChoosePlayRequest(
                position=source,
                dice=inputs.parse_dice(dice),
                player=bot_player,
                first_turn=first_turn,
                seed=seed,
                game=game,
                turn=turn,
            )
            answer = ask(transport, request, engine_pb2.ChoosePlayResponse)
            done = answer.play.notation
        if json:
            print_json(answer)
            return
        board = board_text(transport, source)
    tables.show(board, f"{done}, loses {answer.equity_loss:.3f} (seed {answer.seed})")


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
