"""Steps of a table from one stored version to the next: pure functions for worker threads."""

from __future__ import annotations

import functools
import json
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bgserver.engine.errors import EngineError
from bgserver.engine.levels import Level
from bgserver.engine.plays import Play
from bgserver.engine.strength import EXPERT, Strength
from bgserver.formats.notation import format_play
from bgserver.games import events as ev
from bgserver.games.codec import decoded, encoded
from bgserver.games.dice import FairDice, SecretDice, SeededDice
from bgserver.games.errors import StorageError
from bgserver.games.events import By, event_from_json
from bgserver.games.setup import Setup
from bgserver.games.state import Stage, TableState, apply
from bgserver.games.storage_records import (
    Append,
    Brief,
    DiceKind,
    EventRow,
    OccupantKind,
    Status,
)
from bgserver.games.table import decide, due, excuse_downtime, open_table, settle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bgserver.engine.position import Seat
    from bgserver.games.actions import Action
    from bgserver.games.automation import Due
    from bgserver.games.dice import DiceSource
    from bgserver.games.storage_records import Detail, Loaded

__all__ = [
    "Progress",
    "act",
    "append_of",
    "begin",
    "brief_of",
    "is_engine_game",
    "player_in",
    "restored",
    "settled",
]

_AUTOPILOT = (Level.STATIC, EXPERT)


@dataclass(frozen=True, slots=True)
class Progress:
    """What has happened at a table, and where it stands now."""

    state: TableState
    """The state after the events."""
    rows: tuple[EventRow, ...]
    """The events, to be stored."""
    due: Due | None
    """What comes next if nobody acts."""


def _dice_of(detail: Detail) -> DiceSource:
    """Where the dice of a game come from."""
    if detail.dice is DiceKind.SEEDED:
        return SeededDice(int(detail.dice_secret))
    if detail.dice is DiceKind.FAIR:
        return FairDice(bytes.fromhex(detail.dice_secret))
    return SecretDice()


def player_in(detail: Detail, seat: Seat) -> tuple[Level, Strength]:
    """Who judges for a seat: its engine player, or the autopilot of a person."""
    occupant = detail.occupants[seat]
    if occupant.kind is not OccupantKind.ENGINE:
        return _AUTOPILOT
    return Level(occupant.level), Strength(occupant.strength)


def is_engine_game(detail: Detail) -> bool:
    """Whether only engine players play."""
    return all(occupant.kind is OccupantKind.ENGINE for occupant in detail.occupants)


def begin(detail: Detail, now: float) -> Progress:
    """Open the table of a game whose seats are all taken."""
    dice = _dice_of(detail)
    return _progress(None, open_table(detail.setup, dice, now), dice, now)


def act(
    state: TableState,
    seat: Seat,
    action: Action,
    detail: Detail,
    now: float,
    by: By = By.PLAYER,
    request: str | None = None,
) -> Progress:
    """What an action leads to, with all that follows by itself.

    Raises:
        WrongMomentError: It is not possible now.
        InvalidInputError: It makes no sense at any time.
    """
    dice = _dice_of(detail)
    return _progress(state, decide(state, seat, action, dice, now, by), dice, now, request)


def settled(state: TableState, detail: Detail, now: float) -> Progress:
    """What happens by itself: a time that is over, an automatic roll."""
    return _progress(state, [], _dice_of(detail), now)


def restored(
    loaded: Loaded, now: float, outage: tuple[float, float] | None
) -> tuple[TableState | None, Progress | None]:
    """The state of a stored game, and what is to be booked before anybody acts.

    Args:
        loaded: The game.
        now: The time in seconds since the epoch.
        outage: From when to when no server was there; clocks do not count that time.

    Returns:
        The state, None if the game has not begun; and events that excuse the outage, if a clock
        ran during it. Without them the progress has no rows.

    Raises:
        StorageError: What is stored is no game.
    """
    if loaded.row.version == 0:
        return None, None
    try:
        state: TableState | None = None
        if loaded.snapshot is not None:
            state = _state_of(json.loads(loaded.snapshot[1]))
        for row in loaded.events:
            state = apply(state, event_from_json(json.loads(row.body)))
    except (EngineError, ValueError, LookupError, TypeError) as error:
        message = f"the log of game {loaded.row.id} is damaged: {error}"
        raise StorageError(message) from error
    if state is None or state.version != loaded.row.version:
        message = f"the log of game {loaded.row.id} has a gap"
        raise StorageError(message)
    events: list[ev.Event] = []
    if outage is not None and loaded.row.changed_at <= outage[0]:
        events = excuse_downtime(state, outage[1] - outage[0], now)
    folded, rows = _folded(state, events, None)
    return state, Progress(folded, rows, due(folded))


def _state_of(form: dict[str, Any]) -> TableState:
    """The state of a snapshot."""
    hints = _state_hints()
    return TableState(**{name: decoded(hints[name], item, name) for name, item in form.items()})


@functools.cache
def _state_hints() -> dict[str, Any]:
    return typing.get_type_hints(TableState, localns={"Setup": Setup})


def _progress(
    state: TableState | None,
    events: list[ev.Event],
    dice: DiceSource,
    now: float,
    request: str | None = None,
) -> Progress:
    after, rows = _folded(state, events, request)
    while more := settle(after, dice, now):
        after, further = _folded(after, more, None)
        rows += further
    return Progress(after, rows, due(after))


def _folded(
    state: TableState | None, events: Iterable[ev.Event], request: str | None
) -> tuple[TableState, tuple[EventRow, ...]]:
    """The state after events, and their rows."""
    rows: list[EventRow] = []
    for event in events:
        note = None
        if isinstance(event, ev.PlayConfirmed) and state is not None:
            note = format_play(Play(state.steps, state.position), state.turn_start)
        state = apply(state, event)
        body = json.dumps(event.to_json(), separators=(",", ":"))
        rows.append(EventRow(state.version, body, note, request if not rows else None))
    if state is None:
        message = "a table without events has no state"
        raise AssertionError(message)
    return state, tuple(rows)


def append_of(
    progress: Progress, key: int, version: int, now: float, *, with_snapshot: bool = False
) -> Append:
    """What is to be stored of a progress.

    Args:
        progress: What has happened.
        key: The game's number in the file.
        version: The version before.
        now: When it happened.
        with_snapshot: Keep the state too, so that fewer events have to be replayed later.
    """
    state = progress.state
    snapshot = json.dumps(encoded(state), separators=(",", ":")) if with_snapshot else None
    return Append(
        key=key,
        version=version,
        events=progress.rows,
        changed_at=now,
        status=Status.OVER if state.stage is Stage.SESSION_OVER else Status.RUNNING,
        due_at=progress.due.at if progress.due is not None else None,
        brief=brief_of(state),
        snapshot=snapshot,
    )


def brief_of(state: TableState | None) -> Brief:
    """What lists show of a table; None is one that waits for players."""
    if state is None:
        return Brief("waiting")
    winner = None if state.winner is None else int(state.winner)
    return Brief(state.stage.value, state.score, winner)
