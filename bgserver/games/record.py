"""What was played, without what was taken back: a match as a record. Stable: all types here.

The log has every tap; a record has what players keep: rolls and final plays, cube actions, results.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bgserver.games import events as ev
from bgserver.games.codec import Json, encoded
from bgserver.games.state import TableState, apply

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bgserver.engine.plays import Step
    from bgserver.engine.position import Dice, Seat
    from bgserver.games.setup import Setup

__all__ = ["Entry", "EntryKind", "GameRecord", "MatchRecord", "match_json", "match_record"]

_FORMAT = "bgserver-match/1"


class EntryKind(enum.Enum):
    """What an entry of a record tells."""

    PLAY = "play"
    """A roll and its play; no steps if nothing could be played."""
    DOUBLE = "double"
    TAKE = "take"
    DROP = "drop"
    BEAVER = "beaver"
    RACCOON = "raccoon"
    PLAY_ON = "play_on"
    """A beaver or raccoon was accepted."""
    AUTOMATIC_DOUBLE = "automatic_double"
    """The stake doubled by itself; `seat` is without meaning."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a game's record."""

    kind: EntryKind
    """What it tells."""
    seat: Seat
    """Whose action."""
    dice: Dice | None = None
    """PLAY: the roll."""
    steps: tuple[Step, ...] = ()
    """PLAY: the steps in the order in which they were made, in the mover's numbers."""
    points: tuple[int, ...] = ()
    """PLAY: the board before it, 26 numbers seen by the mover."""
    value: int = 0
    """Cube actions: the value offered or lost, or the new one."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game."""

    number: int
    """From 1."""
    crawford: bool
    """Whether it was the Crawford game."""
    score: tuple[int, int]
    """Points of the two seats before it."""
    entries: tuple[Entry, ...]
    """What was played."""
    result: ev.GameEnded | None
    """How it ended; None if it did not."""


@dataclass(frozen=True, slots=True)
class MatchRecord:
    """A match or session."""

    setup: Setup
    """What was settled before."""
    games: tuple[GameRecord, ...]
    """Its games; the last may be unfinished."""
    end: ev.SessionEnded | None
    """How it ended; None while it runs."""


_CUBE_ENTRIES: dict[type[ev.Event], EntryKind] = {
    ev.DoubleOffered: EntryKind.DOUBLE,
    ev.DoubleTaken: EntryKind.TAKE,
    ev.CubeDropped: EntryKind.DROP,
    ev.Beavered: EntryKind.BEAVER,
    ev.Raccooned: EntryKind.RACCOON,
    ev.PlayedOn: EntryKind.PLAY_ON,
}


@dataclass(slots=True)
class _Draft:
    """A game in the making."""

    number: int
    crawford: bool
    score: tuple[int, int]
    entries: list[Entry] = field(default_factory=list)
    result: ev.GameEnded | None = None

    def done(self) -> GameRecord:
        return GameRecord(self.number, self.crawford, self.score, tuple(self.entries), self.result)


def match_record(events: Iterable[ev.Event]) -> MatchRecord:
    """The record of a log, finished or not.

    Args:
        events: The log of a table, from its first event.
    """
    state: TableState | None = None
    games: list[_Draft] = []
    end = None
    for event in events:
        if isinstance(event, ev.GameStarted) and state is not None:
            games.append(_Draft(event.game, event.crawford, state.score))
        elif isinstance(event, ev.GameEnded):
            games[-1].result = event
        elif isinstance(event, ev.SessionEnded):
            end = event
        elif state is not None:
            entry = _entry(state, event)
            if entry is not None:
                games[-1].entries.append(entry)
        state = apply(state, event)
    if state is None:
        message = "a log begins with session_started, this one is empty"
        raise ValueError(message)
    return MatchRecord(state.setup, tuple(game.done() for game in games), end)


def _entry(state: TableState, event: ev.Event) -> Entry | None:
    """What an event adds to the record; `state` is the one before it."""
    if isinstance(event, (ev.PlayConfirmed, ev.TurnForfeited)):
        points = state.turn_start.points
        return Entry(EntryKind.PLAY, event.seat, state.dice, state.steps, points)
    if isinstance(event, ev.AutomaticDouble):
        return Entry(EntryKind.AUTOMATIC_DOUBLE, state.turn, value=event.value)
    kind = _CUBE_ENTRIES.get(type(event))
    if kind is None:
        return None
    return Entry(kind, getattr(event, "seat"), value=getattr(event, "value"))  # noqa: B009 -- not on every event


def match_json(events: Iterable[ev.Event], names: tuple[str, str] = ("", "")) -> Json:
    """A match as JSON: the record, and the whole log to read it again.

    Args:
        events: The log of a table, from its first event.
        names: What the two players are called.
    """
    log = list(events)
    record = match_record(log)
    form: Json = {"format": _FORMAT, "players": list(names)}
    form.update(encoded(record))
    form["events"] = [event.to_json() for event in log]
    return form
