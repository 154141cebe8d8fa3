"""Tables about the cube: what stands above them, the decision at every score, market losers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from bgserver.cli.tables import facts_table, plain_table
from bgserver.v1 import common_pb2, engine_pb2

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["ROLLED", "cube_heading", "market_tables", "score_tables"]

ROLLED = (
    "The dice are rolled already, so no double is possible now.\n"
    "The table shows what would be right before the roll."
)
"""What stands above a table about the cube if only the dice stand in the way of a double."""

# Action: what stands in a cell, its colour, and what it means.
_NO_DOUBLE = ("ND", "dim", "no double, take")
_TAKE = ("D/T", "green", "double, take")
_PASS = ("D/P", "red", "double, pass")
_TOO_GOOD = ("TG", "magenta", "too good to double")
_OPTIONAL = ("opt", "yellow", "a double gains and loses nothing")
_NONE = ("-", "dim", "no double is possible, or none can gain anything")
_CELLS = {
    engine_pb2.CUBE_ACTION_NO_DOUBLE_TAKE: _NO_DOUBLE,
    engine_pb2.CUBE_ACTION_NO_DOUBLE_BEAVER: ("ND/B", "dim", "no double, beaver"),
    engine_pb2.CUBE_ACTION_DOUBLE_TAKE: _TAKE,
    engine_pb2.CUBE_ACTION_DOUBLE_BEAVER: ("D/B", "cyan", "double, beaver"),
    engine_pb2.CUBE_ACTION_DOUBLE_PASS: _PASS,
    engine_pb2.CUBE_ACTION_TOO_GOOD_TAKE: _TOO_GOOD,
    engine_pb2.CUBE_ACTION_TOO_GOOD_PASS: _TOO_GOOD,
    engine_pb2.CUBE_ACTION_OPTIONAL_DOUBLE_TAKE: _OPTIONAL,
    engine_pb2.CUBE_ACTION_OPTIONAL_DOUBLE_PASS: _OPTIONAL,
    engine_pb2.CUBE_ACTION_OPTIONAL_DOUBLE_BEAVER: _OPTIONAL,
}


def cube_heading(advice: engine_pb2.AdviseCubeResponse) -> str:
    """What to do; if only the dice stand in the way of a double, what the table is good for."""
    if list(advice.refusals) == ["ALREADY_ROLLED"]:
        return ROLLED
    return f"Best: {advice.action_text}"


def score_tables(answer: engine_pb2.AdviseCubeByScoreResponse) -> list[RenderableType]:
    """The decision at every score, own points away downwards, the opponent's across."""
    cells = {
        (entry.away, entry.opponent_away): _cell(entry)
        for entry in answer.scores
        if not entry.crawford
    }
    most = max(away for away, _ in cells)
    table = plain_table("away", *(str(number) for number in range(1, most + 1)))
    for own in range(1, most + 1):
        row = [Text(*cells[own, opponent][:2]) for opponent in range(1, most + 1)]
        table.add_row(str(own), *row)
    money = _cell(answer.money)
    used = {cell for cell in (*cells.values(), money) if cell != _NONE}
    level = answer.preset or common_pb2.Level.Name(answer.level).removeprefix("LEVEL_").lower()
    meanings = [(short, meaning) for short, _, meaning in sorted(used)]
    return [
        "The player on roll needs (downwards), the opponent needs (across):",
        table,
        facts_table(
            [
                ("Money play", answer.money.action_text),
                *meanings,
                (_NONE[0], _NONE[2]),
                ("1 away", "after the Crawford game; in it nobody may double"),
                ("Judged by", f"{level}, once for all scores"),
            ]
        ),
    ]


def _cell(entry: engine_pb2.CubeAtScore) -> tuple[str, str, str]:
    return _NONE if entry.dead_cube else _CELLS.get(entry.action, _NONE)


def market_tables(losers: engine_pb2.MarketLosers) -> list[RenderableType]:
    """Market losers: how many exchanges, and after which rolls."""
    table = plain_table("Roll", "Lost in", "after", left=["after"])
    rolls = sorted(losers.rolls, key=lambda roll: -roll.losing)
    for roll in rolls:
        if roll.losing:
            every = "any roll" if roll.losing == 36 else " ".join(map(_dice, roll.replies))
            table.add_row(_dice(roll.dice), f"{roll.losing}/36", every)
    share = losers.count / 1296
    summary = f"Market losers: {losers.count} of 1,296 exchanges ({100 * share:.1f} %)"
    return [summary, table] if losers.count else [summary]


def _dice(dice: common_pb2.Dice) -> str:
    return f"{dice.first}{dice.second}"
