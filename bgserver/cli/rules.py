"""Commands about the rules: plays, inspect, convert, presets, rules."""

from __future__ import annotations

import enum
import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

from bgserver.cli import inputs, tables
from bgserver.cli.options import (
    AddressOption,
    DiceArgument,
    FirstTurnOption,
    JsonOption,
    NardyOption,
    PositionArgument,
    TimeoutOption,
    TokenOption,
    print_json,
)
from bgserver.cli.rule_inputs import SetOption, parse_rules
from bgserver.cli.transport import ask, connect
from bgserver.v1 import rules_pb2

if TYPE_CHECKING:
    from bgserver.cli.transport import Transport
    from bgserver.v1 import common_pb2

__all__ = ["board_text", "converted", "register"]

_PANEL = "Rules"
_WIDTH = 100


class LanguageName(enum.Enum):
    """A language that rules are told in."""

    EN = "en"
    DE = "de"


_LANGUAGES = {
    LanguageName.EN: rules_pb2.LANGUAGE_ENGLISH,
    LanguageName.DE: rules_pb2.LANGUAGE_GERMAN,
}


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (plays, inspect, convert, presets, rules):
        app.command(rich_help_panel=_PANEL)(command)


def converted(
    transport: Transport, position: common_pb2.PositionSource
) -> rules_pb2.ConvertPositionResponse:
    """A position in every form."""
    request = rules_pb2.ConvertPositionRequest(position=position)
    return ask(transport, request, rules_pb2.ConvertPositionResponse)


def board_text(transport: Transport, position: common_pb2.PositionSource) -> str:
    """The board as text."""
    return converted(transport, position).board.rstrip("\n")


def plays(
    position: PositionArgument,
    dice: DiceArgument = None,
    nardy: NardyOption = False,
    first_turn: FirstTurnOption = False,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """List the legal plays of a roll, each distinct result once."""
    source, roll = inputs.read_turn(position, dice, nardy=nardy, first_turn=first_turn)
    request = rules_pb2.ListPlaysRequest(position=source, dice=roll, first_turn=first_turn)
    with connect(address, token, timeout) as transport:
        answer = ask(transport, request, rules_pb2.ListPlaysResponse)
        if json:
            print_json(answer)
            return
        board = board_text(transport, request.position)
    tables.show(board, tables.plays_table(answer.plays))


def inspect(
    position: PositionArgument,
    nardy: NardyOption = False,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Show facts of a position: pips, phase, blots and their danger, entry from the bar."""
    request = rules_pb2.InspectPositionRequest(position=inputs.read_position(position, nardy=nardy))
    with connect(address, token, timeout) as transport:
        answer = ask(transport, request, rules_pb2.InspectPositionResponse)
        if json:
            print_json(answer)
            return
        board = [] if answer.faults else [board_text(transport, request.position)]
    tables.show(*board, *tables.inspection_table(answer, request.position))


def convert(
    position: PositionArgument,
    nardy: NardyOption = False,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Convert a position between XGID, GNU IDs and numbers, and draw it."""
    request = rules_pb2.ConvertPositionRequest(position=inputs.read_position(position, nardy=nardy))
    with connect(address, token, timeout) as transport:
        answer = ask(transport, request, rules_pb2.ConvertPositionResponse)
    if json:
        print_json(answer)
        return
    facts = [("Numbers", " ".join(map(str, answer.state.position.points)))]
    if answer.xgid:
        facts.append(("XGID", answer.xgid))
    if answer.HasField("gnu_id"):
        facts.append(("GNU ID", f"{answer.gnu_id.position_id}:{answer.gnu_id.match_id}"))
    facts += [("Lost", f"{loss.field}: {loss.message}") for loss in answer.losses]
    tables.show(answer.board, tables.facts_table(facts))


def presets(
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """List the sets of rules that go by a name."""
    with connect(address, token, timeout) as transport:
        answer = ask(transport, rules_pb2.ListPresetsRequest(), rules_pb2.ListPresetsResponse)
    if json:
        print_json(answer)
        return
    tables.show(tables.presets_table(answer.presets))


def rules(
    preset: Annotated[
        str, typer.Argument(metavar="PRESET", help="Rules; `bgserver presets` lists them.")
    ] = "money",
    lang: Annotated[LanguageName, typer.Option("--lang", help="The language.")] = LanguageName.EN,
    changes: SetOption = None,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Tell a set of rules in words, in English or German."""
    request = rules_pb2.DescribeRulesRequest(
        preset=preset, rules=parse_rules(changes), language=_LANGUAGES[lang]
    )
    with connect(address, token, timeout) as transport:
        answer = ask(transport, request, rules_pb2.DescribeRulesResponse)
    if json:
        print_json(answer)
        return
    tables.show(*(part for text in answer.texts for part in _told(text)))


def _told(text: rules_pb2.RulesText) -> list[str]:
    """A rule set as paragraphs."""
    paragraphs = [text.summary]
    for section in text.sections:
        clauses = [
            textwrap.fill(
                clause.text, _WIDTH, initial_indent="- ", subsequent_indent="  ",
                break_on_hyphens=False,
            )
            for clause in section.clauses
        ]  # fmt: skip
        paragraphs.append("\n".join([section.heading, *clauses]))
    return paragraphs
