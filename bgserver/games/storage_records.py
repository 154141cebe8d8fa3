"""What is stored about a game besides its events: rows of the data file as values."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bgserver.games.setup import Setup  # noqa: TC001 -- read when decoding

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Append",
    "Brief",
    "Code",
    "Detail",
    "DiceKind",
    "EventRow",
    "GameRow",
    "Loaded",
    "Occupant",
    "OccupantKind",
    "Status",
]


class Status(enum.IntEnum):
    """Where a game stands, for lists."""

    WAITING = 0
    """A seat is open."""
    RUNNING = 1
    """Being played."""
    OVER = 2
    """Nothing can happen any more."""


class OccupantKind(enum.Enum):
    """Who sits in a seat."""

    PERSON = "person"
    ENGINE = "engine"
    OPEN = "open"


class DiceKind(enum.Enum):
    """Where the dice come from."""

    SYSTEM = "system"
    SEEDED = "seeded"
    FAIR = "fair"


@dataclass(frozen=True, slots=True)
class Occupant:
    """Who sits in a seat."""

    kind: OccupantKind
    """Person, engine, or nobody yet."""
    name: str = ""
    """A person's name."""
    level: str = ""
    """The engine's level, by the value of `Level`."""
    strength: int = 100
    """The engine's strength, 0..100."""


@dataclass(frozen=True, slots=True)
class Detail:
    """What is settled about a game and does not change once it runs."""

    setup: Setup
    """Rules, length, cube, clock."""
    occupants: tuple[Occupant, Occupant]
    """Who sits in the first and in the second seat."""
    dice: DiceKind
    """Where the dice come from."""
    dice_secret: str
    """The seed of seeded dice, or the master secret of fair dice in hexadecimal digits."""
    bot_seed: int
    """Seed of the engine players' errors."""
    hints: bool
    """Whether players may ask the engine."""


@dataclass(frozen=True, slots=True)
class Brief:
    """What lists show of a game."""

    stage: str
    """The stage of the table, `waiting` before the start."""
    score: tuple[int, int] = (0, 0)
    """Points of the two seats."""
    winner: int | None = None
    """The seat that won the match."""


@dataclass(frozen=True, slots=True)
class GameRow:
    """A game as lists see it."""

    key: int
    """Its number in the file."""
    id: str
    """Its id in the API."""
    created_at: float
    """In seconds since the epoch."""
    changed_at: float
    """When the last event happened."""
    version: int
    """Number of the last event."""
    status: Status
    """Waiting, running or over."""
    listed: bool
    """Whether everybody may read it."""
    preset: str
    """Name of the preset."""
    due_at: float | None
    """When something is to happen without anybody acting; None if nothing is."""
    brief: Brief
    """What lists show."""


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event as it is stored."""

    number: int
    """From 1."""
    body: str
    """JSON."""
    note: str | None = None
    """The notation of a play that was confirmed."""
    request: str | None = None
    """Seat, id and digest of the action that the caller sent, on the first of its events."""


@dataclass(frozen=True, slots=True)
class Code:
    """The hash of a secret, and what it opens."""

    hash: bytes
    """SHA-256."""
    role: str
    """`first`, `second`, `spectator`; `invite_first`, `invite_second`; `request`."""
    content: bytes | None = None
    """Of a request: its digest and what it got."""


@dataclass(frozen=True, slots=True)
class Append:
    """Events to be stored, and what they change in the lists."""

    key: int
    """Which game."""
    version: int
    """The version before them."""
    events: tuple[EventRow, ...]
    """Numbered from version + 1 on."""
    changed_at: float
    """When they happened."""
    status: Status
    """Status after them."""
    due_at: float | None
    """What comes next, and when."""
    brief: Brief
    """What lists show after them."""
    snapshot: str | None = None
    """The state after them, as JSON, where one is to be kept."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A game as it is read to be played on."""

    row: GameRow
    """The row."""
    detail: Detail
    """What is settled."""
    roles: Mapping[bytes, str]
    """Hashes of the tokens and their roles."""
    snapshot: tuple[int, str] | None
    """Version and JSON of the newest snapshot."""
    events: tuple[EventRow, ...] = field(default_factory=tuple)
    """The events after the snapshot, or all of them."""
