"""Commands that ask for the engine's judgement: eval, rank, cube, bot, info."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Annotated, TypeVar

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
    unknown_level,
)
from bgserver.cli.own_words import naming_options, retold
from bgserver.cli.problems import error_line, gathered
from bgserver.cli.rules import board_text, converted
from bgserver.cli.transport import ask, connect
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.server.errors import StatusError
from bgserver.v1 import common_pb2, engine_pb2, rules_pb2

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from rich.console import RenderableType

    from bgserver.cli.transport import Transport

__all__ = ["register"]

_Answer = TypeVar("_Answer", bound="Message")
_PANEL = "Engine"
_MOST = (1 << 32) - 1
_BEFORE_ROLL = (
    "The table is about the position before the roll; `bgserver rank` judges the plays of the roll."
)


class RaccoonName(enum.Enum):
    """Who owns the cube after a raccoon."""

    BEAVERER = "beaverer"
    RACCOONER = "raccooner"


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command("eval", rich_help_panel=_PANEL)(evaluate)
    for command in (rank, cube, bot, info):
        app.command(rich_help_panel=_PANEL)(command)


def _set_limit(
    request: engine_pb2.EvaluateRequest
    | engine_pb2.RankPlaysRequest
    | engine_pb2.AdviseCubeByScoreRequest,
    level: str | None,
    time_ms: int | None,
    faults: list[Fault],
) -> None:
    """Say in a request how far the engine may go.

    Args:
        request: The request.
        level: As it was typed.
        time_ms: The same.
        faults: What else is wrong with the request.

    Raises:
        InvalidInputError: Something is wrong; every fault is named.
    """
    with gathered(faults):
        limit = limit_message(level, time_ms)
        if limit is not None:
            request.limit.CopyFrom(limit)
    if faults:
        raise InvalidInputError(faults)


def _judged(
    transport: Transport, request: Message, answer: type[_Answer], level: str | None
) -> _Answer:
    """The answer of the engine; who asks for a level that it has not is told those that it has."""
    try:
        return ask(transport, request, answer)
    except StatusError as error:
        reason = "UNKNOWN_PRESET"
        if not any(fault["reason"] == reason for fault in error_line(error.status)["violations"]):
            raise
        info = ask(transport, engine_pb2.GetInfoRequest(), engine_pb2.GetInfoResponse)
        names = [name.partition("@")[0] for name in info.rollout_levels]
        message = unknown_level(repr(level), names)
        raise StatusError(retold(error.status, reason, message)) from None


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
    request = engine_pb2.EvaluateRequest()
    faults: list[Fault] = []
    with gathered(faults):
        request.position.CopyFrom(inputs.read_position(position, nardy=nardy))
    _set_limit(request, level, time_ms, faults)
    with connect(address, token, timeout) as transport:
        answer = _judged(transport, request, engine_pb2.EvaluateResponse, level)
        if json:
            print_json(answer)
            return
        shown = converted(transport, request.position)
    heading = [_BEFORE_ROLL] if shown.state.HasField("dice") else []
    tables.show(shown.board.rstrip("\n"), *heading, *tables.evaluation_table(answer))


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
    request = engine_pb2.RankPlaysRequest(max_plays=most, cubeless=cubeless, first_turn=first_turn)
    faults: list[Fault] = []
    with gathered(faults):
        source, roll = inputs.read_turn(position, dice, nardy=nardy, first_turn=first_turn)
        request.position.CopyFrom(source)
        if roll is not None:
            request.dice.CopyFrom(roll)
    _set_limit(request, level, time_ms, faults)
    with connect(address, token, timeout) as transport:
        answer = _judged(transport, request, engine_pb2.RankPlaysResponse, level)
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
    asked = engine_pb2.AdviseCubeByScoreRequest(away=scores)
    faults: list[Fault] = []
    with gathered(faults):
        asked.position.CopyFrom(inputs.read_position(position))
    if scores is not None and (market or raccoons is not None):
        message = "a table of scores counts no market losers and knows no raccoons"
        faults.append(Fault("scores", "SCORES_ALONE", message))
    _set_limit(asked, level, time_ms, faults)
    source, limit = asked.position, asked.limit if asked.HasField("limit") else None
    if scores is not None:
        with connect(address, token, timeout) as transport:
            table = _judged(transport, asked, engine_pb2.AdviseCubeByScoreResponse, level)
            if json:
                print_json(table)
                return
            shown = converted(transport, source)
        heading = [cube_tables.ROLLED] if shown.state.HasField("dice") else []
        tables.show(shown.board.rstrip("\n"), *heading, *cube_tables.score_tables(table))
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
        answer = _judged(transport, request, engine_pb2.AdviseCubeResponse, level)
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
    faults: list[Fault] = []
    source, roll, bot_player = common_pb2.PositionSource(), None, common_pb2.Player()
    with gathered(faults):
        source, roll = inputs.read_turn(position, dice, nardy=nardy, first_turn=first_turn)
    with gathered(faults):
        bot_player = inputs.parse_player(player)
    if cube_action:
        message = "--cube asks for the action before the roll; expected one of both"
        faults += [
            Fault(field, "ONLY_FOR_PLAYS", message)
            for field, is_given in (("dice", dice is not None), ("--first-turn", first_turn))
            if is_given
        ]
    if faults:
        raise InvalidInputError(faults)
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
                dice=roll,
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
