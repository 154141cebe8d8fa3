"""The events of a table. Its whole state is a fold over them (`bgserver.games.state`).

Stable: the names, the fields and their JSON form, which are what the log keeps. Events may gain
fields that have a default. An event says what happened, never why it was legal: applying it asks
no rule and rolls no die, so an old log replays to the same state whatever the rules' code becomes.

Every event has `at`, the time in seconds since the epoch, by the clock that the caller injects.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar

from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.position import Resignation, Seat  # noqa: TC001 -- read when decoding
from bgserver.games.codec import Json, decoded, encoded
from bgserver.games.setup import Setup  # noqa: TC001 -- read when decoding

__all__ = [
    "EVENT_TYPES",
    "AutomaticDouble",
    "AutopilotEnded",
    "AutopilotStarted",
    "Beavered",
    "By",
    "CubeDropped",
    "DiceCommitted",
    "DiceRevealed",
    "DiceRolled",
    "DoubleOffered",
    "DoubleTaken",
    "DowntimeExcused",
    "EndReason",
    "Event",
    "GameEnded",
    "GameStarted",
    "OpeningRolled",
    "PlayConfirmed",
    "PlayedOn",
    "Raccooned",
    "ReadyForNextGame",
    "ResignationAccepted",
    "ResignationOffered",
    "ResignationRefused",
    "SessionEnded",
    "SessionStarted",
    "StepMade",
    "StepsUndone",
    "TimedOut",
    "TurnForfeited",
    "TurnStarted",
    "event_from_json",
]


class By(enum.Enum):
    """Who caused an event."""

    PLAYER = "player"
    """The player, or the player's own script."""
    BOT = "bot"
    """The bot in the seat."""
    SERVER = "server"
    """The rules: auto-roll, the only play, the end of a turn."""
    TIMEOUT = "timeout"
    """The clock, for the player whose time was over."""
    AUTOPILOT = "autopilot"
    """The autopilot of a player who does not act (6.4)."""


class EndReason(enum.Enum):
    """How a game or a session ended."""

    BORNE_OFF = "borne_off"
    """The winner bore off the last checker."""
    DROPPED = "dropped"
    """A double, beaver or raccoon was dropped (3.6)."""
    RESIGNED = "resigned"
    """A resignation was accepted, or the match was given up (3.10)."""
    TIMEOUT = "timeout"
    """Too many timeouts (6.11)."""
    DRAWN = "drawn"
    """Both sides bore off in the same round (7.14, `last_move_draw`)."""
    SCORE = "score"
    """Session: the match length was reached."""
    STOPPED = "stopped"
    """Session: a player ended it between two games."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at a table."""

    name: ClassVar[str] = ""
    """Stable name of the kind of event."""

    at: float
    """When, in seconds since the epoch."""

    def to_json(self) -> Json:
        """The JSON form: the fields, and `event`, the name."""
        form: Json = {"event": self.name}
        form.update(encoded(self))
        return form


def event_from_json(form: Json) -> Event:
    """The event of a JSON form.

    Raises:
        InvalidInputError: It is no event.
    """
    kind = EVENT_TYPES.get(str(form.get("event")))
    if kind is None:
        message = f"expected the name of an event, got {str(form.get('event'))[:40]!r}"
        raise InvalidInputError([Fault("event", "UNKNOWN_VALUE", message)])
    fields = {name: value for name, value in form.items() if name != "event"}
    return decoded(kind, fields, kind.name)


@dataclass(frozen=True, slots=True)
class SessionStarted(Event):
    """The table is full and play begins. The first event of every log."""

    name: ClassVar[str] = "session_started"
    setup: Setup
    """Everything that was settled."""


@dataclass(frozen=True, slots=True)
class DiceCommitted(Event):
    """Provably fair dice: the promise, before the first roll of a game."""

    name: ClassVar[str] = "dice_committed"
    game: int
    """Number of the game, from 1."""
    commitment: str
    """SHA-256 of the game's seed, in hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class DiceRevealed(Event):
    """Provably fair dice: the seed, after the game (see `bgserver.games.dice.verify`)."""

    name: ClassVar[str] = "dice_revealed"
    game: int
    """Number of the game, from 1."""
    seed: str
    """The seed, in hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class GameStarted(Event):
    """A game begins with the start position and a centred cube (5.2)."""

    name: ClassVar[str] = "game_started"
    game: int
    """Number of the game, from 1."""
    crawford: bool
    """Whether it is the Crawford game (4.10)."""


@dataclass(frozen=True, slots=True)
class OpeningRolled(Event):
    """Each side rolled one die (2.1). Equal numbers are followed by another opening roll."""

    name: ClassVar[str] = "opening_rolled"
    first: int
    """The die of the first seat."""
    second: int
    """The die of the second seat."""


@dataclass(frozen=True, slots=True)
class AutomaticDouble(Event):
    """The stake doubled by itself (4.23)."""

    name: ClassVar[str] = "automatic_double"
    value: int
    """The cube's new value."""


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """A player's turn begins: cube action or roll."""

    name: ClassVar[str] = "turn_started"
    seat: Seat
    """Whose turn it is."""


@dataclass(frozen=True, slots=True)
class DiceRolled(Event):
    """The dice that the player on turn must play."""

    name: ClassVar[str] = "dice_rolled"
    seat: Seat
    """Whose roll."""
    first: int
    """1..6."""
    second: int
    """1..6."""
    opening: bool = False
    """Whether these are the dice of the opening roll (2.3, `use_both`)."""
    by: By = By.PLAYER
    """Who rolled."""


@dataclass(frozen=True, slots=True)
class StepMade(Event):
    """One checker moved by one die; provisional until confirmed."""

    name: ClassVar[str] = "step_made"
    seat: Seat
    """Who moved."""
    source: int
    """1..24 or 25 for the bar, in the mover's numbers."""
    target: int
    """1..24 or 0 for off, in the mover's numbers."""
    die: int
    """The die that was used."""
    hit: bool
    """Whether a blot was hit."""
    by: By = By.PLAYER
    """Who made the step."""


@dataclass(frozen=True, slots=True)
class StepsUndone(Event):
    """The last steps of this turn were taken back."""

    name: ClassVar[str] = "steps_undone"
    seat: Seat
    """Whose turn it is."""
    count: int
    """How many steps, from the last backwards."""


@dataclass(frozen=True, slots=True)
class PlayConfirmed(Event):
    """The play is final."""

    name: ClassVar[str] = "play_confirmed"
    seat: Seat
    """Whose play."""
    by: By = By.PLAYER
    """Who confirmed: SERVER also where the opponent's next action did (2.25)."""


@dataclass(frozen=True, slots=True)
class TurnForfeited(Event):
    """No number of the roll can be played (2.11)."""

    name: ClassVar[str] = "turn_forfeited"
    seat: Seat
    """Whose turn is over."""


@dataclass(frozen=True, slots=True)
class DoubleOffered(Event):
    """The player on turn doubled."""

    name: ClassVar[str] = "double_offered"
    seat: Seat
    """Who doubled."""
    value: int
    """The value that is offered."""
    by: By = By.PLAYER
    """Who did it."""


@dataclass(frozen=True, slots=True)
class DoubleTaken(Event):
    """The double was taken; the taker owns the cube."""

    name: ClassVar[str] = "double_taken"
    seat: Seat
    """Who took."""
    value: int
    """The cube's new value."""
    by: By = By.PLAYER
    """Who did it."""


@dataclass(frozen=True, slots=True)
class CubeDropped(Event):
    """A double, beaver or raccoon was dropped; the game ends."""

    name: ClassVar[str] = "cube_dropped"
    seat: Seat
    """Who dropped, and loses."""
    value: int
    """The value that is lost: the one before the last turn of the cube."""
    by: By = By.PLAYER
    """Who did it."""


@dataclass(frozen=True, slots=True)
class Beavered(Event):
    """The double was taken and turned once more (4.19); the doubler answers."""

    name: ClassVar[str] = "beavered"
    seat: Seat
    """Who beavered, and owns the cube."""
    value: int
    """The value if play goes on."""
    by: By = By.PLAYER
    """Who did it."""


@dataclass(frozen=True, slots=True)
class Raccooned(Event):
    """The beaver was turned once more (4.21); the beaverer answers."""

    name: ClassVar[str] = "raccooned"
    seat: Seat
    """Who raccooned: the doubler."""
    value: int
    """The value if play goes on."""
    by: By = By.PLAYER
    """Who did it."""


@dataclass(frozen=True, slots=True)
class PlayedOn(Event):
    """A beaver or a raccoon was accepted."""

    name: ClassVar[str] = "played_on"
    seat: Seat
    """Who accepted."""
    value: int
    """The cube's new value."""
    owner: Seat
    """Who owns the cube now."""
    by: By = By.PLAYER
    """Who did it."""


@dataclass(frozen=True, slots=True)
class ResignationOffered(Event):
    """A player offers to lose the game (3.10)."""

    name: ClassVar[str] = "resignation_offered"
    seat: Seat
    """Who offers."""
    result: Resignation
    """What is conceded: SINGLE, GAMMON or BACKGAMMON."""


@dataclass(frozen=True, slots=True)
class ResignationAccepted(Event):
    """The resignation was accepted; the game ends."""

    name: ClassVar[str] = "resignation_accepted"
    seat: Seat
    """Who accepted, and wins."""
    by: By = By.PLAYER
    """Who did it."""


@dataclass(frozen=True, slots=True)
class ResignationRefused(Event):
    """The resignation was refused; play goes on."""

    name: ClassVar[str] = "resignation_refused"
    seat: Seat
    """Who refused."""
    by: By = By.PLAYER
    """Who did it."""


@dataclass(frozen=True, slots=True)
class TimedOut(Event):
    """A player's time was over."""

    name: ClassVar[str] = "timed_out"
    seat: Seat
    """Whose time."""
    count: int
    """The player's timeouts in this game, with this one."""


@dataclass(frozen=True, slots=True)
class AutopilotStarted(Event):
    """From now on a bot acts for the player (6.4)."""

    name: ClassVar[str] = "autopilot_started"
    seat: Seat
    """The player."""


@dataclass(frozen=True, slots=True)
class AutopilotEnded(Event):
    """The player acts again."""

    name: ClassVar[str] = "autopilot_ended"
    seat: Seat
    """The player."""


@dataclass(frozen=True, slots=True)
class DowntimeExcused(Event):
    """The server stood still for a while; running clocks do not count that time."""

    name: ClassVar[str] = "downtime_excused"
    seconds: float
    """How long, at least 0."""


@dataclass(frozen=True, slots=True)
class GameEnded(Event):
    """A game is over and counted."""

    name: ClassVar[str] = "game_ended"
    winner: Seat | None
    """Who won; None for a draw."""
    result: Resignation
    """SINGLE, GAMMON (mars) or BACKGAMMON (koks), after Jacoby; NONE for a draw."""
    cube: int
    """The cube value that counted."""
    points: int
    """Result times cube value."""
    reason: EndReason
    """How it ended."""
    score: tuple[int, int]
    """Points of the first and of the second seat in this match or session, with this game."""


@dataclass(frozen=True, slots=True)
class ReadyForNextGame(Event):
    """A player has seen the result; the next game begins when both have."""

    name: ClassVar[str] = "ready_for_next_game"
    seat: Seat
    """The player."""
    by: By = By.PLAYER
    """Who did it."""


@dataclass(frozen=True, slots=True)
class SessionEnded(Event):
    """The match or session is over; nothing follows."""

    name: ClassVar[str] = "session_ended"
    winner: Seat | None
    """Winner of a match; None for a session that was stopped."""
    reason: EndReason
    """SCORE, RESIGNED (the match was given up) or STOPPED."""
    score: tuple[int, int]
    """Final points of the two seats."""


EVENT_TYPES: dict[str, type[Event]] = {
    kind.name: kind
    for kind in (
        SessionStarted,
        DiceCommitted,
        DiceRevealed,
        GameStarted,
        OpeningRolled,
        AutomaticDouble,
        TurnStarted,
        DiceRolled,
        StepMade,
        StepsUndone,
        PlayConfirmed,
        TurnForfeited,
        DoubleOffered,
        DoubleTaken,
        CubeDropped,
        Beavered,
        Raccooned,
        PlayedOn,
        ResignationOffered,
        ResignationAccepted,
        ResignationRefused,
        TimedOut,
        AutopilotStarted,
        AutopilotEnded,
        DowntimeExcused,
        GameEnded,
        ReadyForNextGame,
        SessionEnded,
    )
}
"""All kinds of events by name."""
