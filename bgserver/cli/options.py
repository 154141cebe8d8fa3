"""Arguments and options that several commands share, and what they are turned into."""

from __future__ import annotations

import enum
import sys
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from google.protobuf import json_format

from bgserver.cli.problems import input_error
from bgserver.v1 import common_pb2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.protobuf.message import Message

__all__ = [
    "DEPTHS",
    "LIMIT_OPTIONS",
    "ROLLOUT_LEVELS",
    "AddressOption",
    "DepthName",
    "DiceArgument",
    "FirstTurnOption",
    "JsonOption",
    "JudgeOption",
    "LevelName",
    "NardyOption",
    "PositionArgument",
    "TimeMsOption",
    "TimeoutOption",
    "TokenOption",
    "is_rollout_level",
    "json_fault",
    "json_text",
    "level_value",
    "limit_message",
    "print_json",
    "unknown_level",
]


class LevelName(enum.Enum):
    """How a player decides."""

    STATIC = "static"
    LOOKAHEAD_1 = "lookahead_1"
    LOOKAHEAD_2 = "lookahead_2"
    LOOKAHEAD_3 = "lookahead_3"
    RANDOM = "random"


class DepthName(enum.Enum):
    """How deep the engine looks: the levels that judge."""

    STATIC = "static"
    LOOKAHEAD_1 = "lookahead_1"
    LOOKAHEAD_2 = "lookahead_2"
    LOOKAHEAD_3 = "lookahead_3"


DEPTHS = tuple(name.value for name in DepthName)
"""The levels that judge without rollouts."""
ROLLOUT_LEVELS = ("rollout_fast", "rollout_medium", "rollout_deep")
"""The levels that roll out; a server may have others, which it names in its own faults."""
LIMIT_OPTIONS = {
    "limit": "--level",
    "limit.level": "--level",
    "limit.preset": "--level",
    "limit.milliseconds": "--time-ms",
}
"""The option that fills each field of a limit."""
_REMOTE = "Server"
_MOST_WORDS = 200  # characters of an error that may repeat a whole line

PositionArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="POSITION",
        help="An XGID, a GNU Position ID, `start`, `nardy-start`, or 26 numbers.",
        show_default=False,
    ),
]
DiceArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="DICE",
        help="The roll, for example 31; may be left out if the position carries one.",
        show_default=False,
    ),
]
JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the answer as protobuf JSON and nothing else.")
]
NardyOption: TypeAlias = Annotated[
    bool, typer.Option("--nardy", help="26 numbers mean Long Nardy instead of backgammon.")
]
FirstTurnOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--first-turn", help="Long Nardy: the player's own first turn (two may leave the head)."
    ),
]
JudgeOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--level",
        "-l",
        metavar="LEVEL",
        help=(
            "How deep the engine looks: static, lookahead_1 to lookahead_3, or by truncated "
            "rollouts, rollout_fast, rollout_medium or rollout_deep [static]."
        ),
        show_default=False,
    ),
]
TimeMsOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--time-ms",
        "-t",
        metavar="MILLISECONDS",
        help="Look as deep as this time allows, instead of --level.",
        show_default=False,
    ),
]
AddressOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--address",
        "-a",
        metavar="HOST:PORT",
        envvar="BGSERVER_ADDRESS",
        help="Ask this server; without it the engine runs in this process.",
        rich_help_panel=_REMOTE,
        show_default=False,
    ),
]
TokenOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="BGSERVER_TOKEN",
        help="Token for a server that asks for one.",
        rich_help_panel=_REMOTE,
        show_default=False,
    ),
]
TimeoutOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.001,
        help="Give up after so long; by default never.",
        rich_help_panel=_REMOTE,
        show_default=False,
    ),
]


def level_value(name: LevelName | DepthName) -> common_pb2.Level.ValueType:
    """The level as the API names it."""
    return common_pb2.Level.Value(f"LEVEL_{name.name}")


def limit_message(level: str | None, time_ms: int | None) -> common_pb2.Limit | None:
    """How far the engine may go, as a request says it.

    Args:
        level: The name of a level; one that begins with `rollout` is a rollout level.
        time_ms: Or a time.

    Raises:
        InvalidInputError: Both are given, the time is none that a request can hold, or there is no
            such level.
    """
    if time_ms is None:
        return None if level is None else _named_limit(level)
    if level is not None:
        message = "expected a level or a time, got both"
        raise input_error(message, field="limit", reason="LIMIT_AMBIGUOUS")
    try:
        return common_pb2.Limit(milliseconds=time_ms)
    except ValueError as error:
        message = f"expected a number of milliseconds, got {time_ms}"
        raise input_error(message, field="limit.milliseconds", reason="OUT_OF_RANGE") from error


def is_rollout_level(name: str) -> bool:
    """Whether a name is that of a level that rolls out, if there is such a level."""
    return name.startswith("rollout")


def unknown_level(shown: str, rollout_levels: Sequence[str] = ROLLOUT_LEVELS) -> str:
    """What to say of a level that there is not: all that there are.

    Args:
        shown: What was given instead, as a message shows it.
        rollout_levels: Those that roll out.
    """
    return f"expected one of {', '.join((*DEPTHS, *rollout_levels))}, got {shown}"


def _named_limit(name: str) -> common_pb2.Limit:
    if is_rollout_level(name):
        return common_pb2.Limit(preset=name)
    if name not in DEPTHS:
        raise input_error(unknown_level(repr(name)), field="limit.level", reason="UNKNOWN_LEVEL")
    return common_pb2.Limit(level=level_value(DepthName(name)))


def json_fault(error: Exception) -> str:
    """What is wrong with JSON that could not be read, in the first line of its error."""
    text = str(error).partition("\n")[0]
    # The protobuf library wraps the same error.
    if "maximum recursion depth" in text:
        return "it is nested too deeply"
    if "integer string conversion" in text:
        return "a number in it has too many digits"
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS]}..."


def json_text(message: Message) -> str:
    """A message as one line of protobuf JSON, with every plain field, zero or not."""
    return json_format.MessageToJson(
        message, indent=None, ensure_ascii=False, always_print_fields_with_no_presence=True
    )


def print_json(message: Message) -> None:
    """Print a message as protobuf JSON."""
    sys.stdout.write(f"{json_text(message)}\n")
