"""Matches as Jellyfish text (`.mat`), which nearly every backgammon program reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.position import Seat, Variant
from bgserver.games.events import EndReason
from bgserver.games.record import EntryKind, match_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bgserver.games.events import Event
    from bgserver.games.record import Entry, GameRecord, MatchRecord

__all__ = ["match_text"]

_COLUMN = 40  # the longest play needs 31 characters
_MAX_NAME = 30  # the longest name of a bot needs 29
_CUBE_TEXTS = {
    EntryKind.DOUBLE: " Doubles => {}",
    EntryKind.TAKE: " Takes",
    EntryKind.DROP: " Drops",
    EntryKind.BEAVER: " Beavers => {}",
    EntryKind.RACCOON: " Raccoons => {}",
}
_CUBE_VALUES = {EntryKind.TAKE, EntryKind.PLAY_ON, EntryKind.AUTOMATIC_DOUBLE}
# Playing on after a beaver goes without saying in this format.
_SILENT = {EntryKind.AUTOMATIC_DOUBLE, EntryKind.PLAY_ON}


def match_text(events: Iterable[Event], names: tuple[str, str] = ("First", "Second")) -> str:
    """A match or session as Jellyfish text.

    The first seat is on the left. A money session has match length 0. Automatic doubles have no
    form in this format: the results count them, the moves do not show them.

    Args:
        events: The log of a table, from its first event.
        names: What the two players are called; colons and line breaks are left out.

    Raises:
        InvalidInputError: `NOT_IN_LONG_NARDY`: the format knows backgammon only.
    """
    record = match_record(events)
    if record.setup.rules.variant is Variant.LONG_NARDY:
        message = "jellyfish text is for backgammon; export long nardy as json"
        raise InvalidInputError([Fault("format", "NOT_IN_LONG_NARDY", message)])
    shown = (_name(names[0], "First"), _name(names[1], "Second"))
    lines = [f" {record.setup.match_length or 0} point match", ""]
    for game in record.games:
        lines += _game_lines(record, game, shown)
    return "\n".join(lines) + "\n"


def _name(name: str, default: str) -> str:
    """A name that cannot be taken for a part of the format."""
    plain = "".join(char if char.isprintable() and char != ":" else " " for char in name)
    return " ".join(plain.split())[:_MAX_NAME].strip() or default


def _game_lines(record: MatchRecord, game: GameRecord, names: Sequence[str]) -> list[str]:
    lines = [f" Game {game.number}"]
    left = f" {names[0]} : {game.score[0]}"
    lines.append(f"{left:<{_COLUMN}}{names[1]} : {game.score[1]}")
    rows: list[list[str]] = []
    for entry in game.entries:
        if entry.kind not in _SILENT:
            _put(rows, entry.seat, _entry_text(entry))
    ending = _ending(record, game)
    # The result stands in the winner's column: on the last line if there is room, else below.
    if ending is not None and ending[0] is Seat.SECOND and rows and not rows[-1][1]:
        rows[-1][1] = f" {ending[1]}"
        ending = None
    for number, (first, second) in enumerate(rows, start=1):
        lines.append(f"{number:3d}) {first:<{_COLUMN - 5}}{second}".rstrip())
    if ending is not None:
        winner, text = ending
        lines.append(" " * (6 if winner is Seat.FIRST else _COLUMN) + text)
    return [*lines, ""]


def _put(rows: list[list[str]], seat: Seat, text: str) -> None:
    """Write into the seat's column, below what was said before."""
    if not rows or any(rows[-1][column] for column in range(seat, 2)):
        rows.append(["", ""])
    rows[-1][seat] = text


def _entry_text(entry: Entry) -> str:
    if entry.kind is not EntryKind.PLAY or entry.dice is None:
        return _CUBE_TEXTS[entry.kind].format(entry.value)
    steps = " ".join(
        f"{step.source}/{step.target}{'*' if step.hit else ''}" for step in entry.steps
    )
    return f"{entry.dice.first}{entry.dice.second}: {steps}".rstrip()


def _ending(record: MatchRecord, game: GameRecord) -> tuple[Seat, str] | None:
    """Who won, and the words for it; None while the game goes on."""
    result, end = game.result, record.end
    is_last = game is record.games[-1]
    if result is None:
        if end is None or end.winner is None or not is_last:
            return None
        # The match was given up in this game: the winner gets all that was missing, in whole cubes.
        missing = (record.setup.match_length or 1) - game.score[end.winner]
        cube = _cube(game)
        return end.winner, f"Wins {_points(-(-missing // cube) * cube)} and the match"
    if result.winner is None:
        return None
    wins_all = is_last and end is not None and end.reason is EndReason.SCORE
    return result.winner, f"Wins {_points(result.points)}{' and the match' * wins_all}"


def _cube(game: GameRecord) -> int:
    """The value of the cube when the record of a game stops."""
    turned = [entry.value for entry in game.entries if entry.kind in _CUBE_VALUES]
    return turned[-1] if turned else 1


def _points(points: int) -> str:
    return f"{points} point{'s' * (points != 1)}"
