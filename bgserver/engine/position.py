"""Positions, dice, cube, score and the whole state of a game at one moment.

A position is always seen by the player on roll, who moves from point 24 to point 1
(`rules.md` 1.1-1.4). All types here are immutable values.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from bgserver.engine.errors import Fault, InvalidInputError

__all__ = [
    "BAR",
    "CHECKERS",
    "OFF",
    "OPPONENT_BAR",
    "Cube",
    "CubeOwner",
    "Dice",
    "GamePhase",
    "GameState",
    "MatchScore",
    "Position",
    "Resignation",
    "Seat",
    "Variant",
    "nardy_opposite",
    "position_faults",
]

BAR = 25
"""Index of the own bar in `Position.points`, and the source of an entering step."""
OPPONENT_BAR = 0
"""Index of the opponent's bar in `Position.points` (minus the number of checkers)."""
OFF = 0
"""Target of a bear-off step."""
CHECKERS = 15
"""Checkers of each side."""
_VECTOR_LENGTH = 26

_START_BACKGAMMON = (
    0,
    -2,
    0,
    0,
    0,
    0,
    5,
    0,
    3,
    0,
    0,
    0,
    -5,
    5,
    0,
    0,
    0,
    -3,
    0,
    -5,
    0,
    0,
    0,
    0,
    2,
    0,
)
_START_LONG_NARDY = (0,) * 12 + (-15,) + (0,) * 11 + (15, 0)


class Variant(enum.Enum):
    """The two games; their boards look alike, their movement differs."""

    BACKGAMMON = "backgammon"
    LONG_NARDY = "long_nardy"


class Seat(enum.IntEnum):
    """The two seats of a game; XGID's bottom player and GNU's player 1 sit in FIRST."""

    FIRST = 0
    SECOND = 1

    @property
    def other(self) -> Seat:
        """The opposite seat."""
        return Seat(1 - self)


class CubeOwner(enum.Enum):
    """Who may double, seen by the player on roll."""

    CENTERED = "centered"
    ON_ROLL = "on_roll"
    OPPONENT = "opponent"


class Resignation(enum.IntEnum):
    """What a resignation on offer concedes; the value is the factor on the cube."""

    NONE = 0
    SINGLE = 1
    GAMMON = 2
    BACKGAMMON = 3


class GamePhase(enum.Enum):
    """Where the game stands, as far as match IDs can tell."""

    NOT_STARTED = "not_started"
    PLAYING = "playing"
    FINISHED = "finished"
    RESIGNED = "resigned"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Position:
    """A board of either game, seen by the player on roll.

    Construction checks the invariants of `rules.md` 1.6 and raises `InvalidInputError` naming
    every fault at once (field paths start with `position`).
    """

    points: tuple[int, ...]
    """26 integers: [1..24] own points, positive own, negative opposing checkers; [25] >= 0 own
    checkers on the bar; [0] <= 0 minus the opponent's checkers on the bar."""
    variant: Variant = Variant.BACKGAMMON
    """Which game the board belongs to."""

    def __post_init__(self) -> None:
        """Raise `InvalidInputError` if the board breaks an invariant."""
        faults = position_faults(self.points, self.variant)
        if faults:
            raise InvalidInputError(faults)

    @classmethod
    def start(cls, variant: Variant = Variant.BACKGAMMON) -> Position:
        """The start position of a game (`rules.md` 1.8 and 1.9)."""
        if variant is Variant.BACKGAMMON:
            return cls(_START_BACKGAMMON, variant)
        return cls(_START_LONG_NARDY, variant)

    @property
    def own_off(self) -> int:
        """Checkers borne off by the player on roll."""
        return CHECKERS - sum(count for count in self.points if count > 0)

    @property
    def opponent_off(self) -> int:
        """Checkers borne off by the opponent."""
        return CHECKERS + sum(count for count in self.points if count < 0)

    @property
    def is_finished(self) -> bool:
        """True when one side has borne off all its checkers."""
        return self.own_off == CHECKERS or self.opponent_off == CHECKERS

    def turned(self) -> Position:
        """The same board seen by the other player (`rules.md` 1.5)."""
        if self.variant is Variant.BACKGAMMON:
            return Position(tuple(-count for count in reversed(self.points)), self.variant)
        turned = [0] * _VECTOR_LENGTH
        for point in range(1, 25):
            turned[nardy_opposite(point)] = -self.points[point]
        return Position(tuple(turned), self.variant)

    def pips(self) -> tuple[int, int]:
        """Pip counts (own, opponent's); a checker on the bar counts 25 (`rules.md` 1.7)."""
        return _own_pips(self.points), _own_pips(self.turned().points)


def nardy_opposite(point: int) -> int:
    """The opponent's number (1..24) of an own point in Long Nardy; its own inverse (1.3)."""
    return point + 12 if point <= 12 else point - 12


def _own_pips(points: tuple[int, ...]) -> int:
    return sum(point * count for point, count in enumerate(points) if count > 0)


def position_faults(
    points: tuple[int, ...], variant: Variant, path: str = "position.points"
) -> list[Fault]:
    """Every way in which `points` is not a board of `variant`; empty if it is one.

    Args:
        points: 26 integers as in `Position.points`.
        variant: The game.
        path: Field path that the faults name.
    """
    if len(points) != _VECTOR_LENGTH:
        message = f"expected {_VECTOR_LENGTH} values, got {len(points)}"
        return [Fault(path, "WRONG_LENGTH", message)]
    faults: list[Fault] = []
    if points[OPPONENT_BAR] > 0:
        message = f"the opponent's bar must be 0 or negative, got {points[OPPONENT_BAR]}"
        faults.append(Fault(f"{path}[{OPPONENT_BAR}]", "BAR_SIGN", message))
    if points[BAR] < 0:
        message = f"the own bar must be 0 or positive, got {points[BAR]}"
        faults.append(Fault(f"{path}[{BAR}]", "BAR_SIGN", message))
    own = sum(count for count in points if count > 0)
    opposing = -sum(count for count in points if count < 0)
    if own > CHECKERS:
        message = f"at most {CHECKERS} own checkers, got {own}"
        faults.append(Fault(path, "TOO_MANY_OWN_CHECKERS", message))
    if opposing > CHECKERS:
        message = f"at most {CHECKERS} opposing checkers, got {opposing}"
        faults.append(Fault(path, "TOO_MANY_OPPOSING_CHECKERS", message))
    if own == 0 and opposing == 0:
        faults.append(Fault(path, "BOTH_OFF", "both sides have borne off all checkers"))
    if variant is Variant.LONG_NARDY:
        faults.extend(
            Fault(f"{path}[{index}]", "NO_BAR_IN_LONG_NARDY", "long nardy has no bar")
            for index in (OPPONENT_BAR, BAR)
            if points[index] != 0
        )
    elif not faults and _both_closed_out(points):
        message = "both sides are on the bar against six closed points: nobody can ever move"
        faults.append(Fault(path, "BOTH_CLOSED_OUT", message))
    return faults


def _both_closed_out(points: tuple[int, ...]) -> bool:
    """True if each side has a checker on the bar and holds six made points in its home."""
    if points[BAR] == 0 or points[OPPONENT_BAR] == 0:
        return False
    own_closed = all(points[point] > 1 for point in range(1, 7))
    opponent_closed = all(points[point] < -1 for point in range(19, 25))
    return own_closed and opponent_closed


@dataclass(frozen=True, slots=True)
class Dice:
    """A roll of two dice; the order has no meaning."""

    first: int
    """1..6."""
    second: int
    """1..6."""

    def __post_init__(self) -> None:
        """Raise `InvalidInputError` for numbers outside 1..6."""
        faults = [
            Fault(f"dice.{name}", "DIE_OUT_OF_RANGE", f"a die shows 1 to 6, got {value}")
            for name, value in (("first", self.first), ("second", self.second))
            if not 1 <= value <= 6
        ]
        if faults:
            raise InvalidInputError(faults)

    @property
    def high(self) -> int:
        """The higher number."""
        return max(self.first, self.second)

    @property
    def low(self) -> int:
        """The lower number."""
        return min(self.first, self.second)

    @property
    def is_double(self) -> bool:
        """True if both dice show the same number."""
        return self.first == self.second


@dataclass(frozen=True, slots=True)
class Cube:
    """The doubling cube."""

    value: int = 1
    """1, 2, 4, ...; 1 while nobody has doubled."""
    owner: CubeOwner = CubeOwner.CENTERED
    """Who may use it next."""
    cap: int = 64
    """No double may raise the value above this (`rules.md` 3.5)."""


@dataclass(frozen=True, slots=True)
class MatchScore:
    """The score of a match before the present game, seen by the player on roll."""

    length: int
    """Points that win the match, at least 1."""
    on_roll: int = 0
    """Points of the player on roll, 0..length-1."""
    opponent: int = 0
    """Points of the opponent, 0..length-1."""
    crawford: bool = False
    """True if this is the Crawford game (`rules.md` 4.10)."""

    @property
    def away(self) -> tuple[int, int]:
        """Points still needed by (player on roll, opponent)."""
        return self.length - self.on_roll, self.length - self.opponent


@dataclass(frozen=True, slots=True)
class GameState:
    """One moment of a game: all that XGID or a GNU Position ID with Match ID can say.

    Everything but `on_roll` is seen by the player on roll.
    """

    position: Position = field(default_factory=Position.start)
    """The board, seen by the player on roll."""
    on_roll: Seat = Seat.FIRST
    """The seat whose turn it is. After a double it stays the doubler's."""
    dice: Dice | None = None
    """The roll to be played; None before the roll."""
    cube: Cube = field(default_factory=Cube)
    """The cube; while a double is on offer it still shows the value before the double."""
    match: MatchScore | None = None
    """The match score; None in money play."""
    jacoby: bool = False
    """Money play: gammons count only after a take (`rules.md` 4.17)."""
    beavers: bool = False
    """Money play: the taker may turn the cube again (`rules.md` 4.19)."""
    money_score: tuple[int, int] = (0, 0)
    """Money play: running points (player on roll, opponent); never affects the play."""
    double_offered: bool = False
    """The player on roll has doubled, the opponent must answer (see also `beaver_level`)."""
    resignation: Resignation = Resignation.NONE
    """The resignation that the opponent of the player to act has offered."""
    phase: GamePhase = GamePhase.PLAYING
    """Where the game stands."""
    beaver_level: int = 0
    """With `double_offered`: 0 a plain double, 1 the opponent has beavered it, 2 the player on roll
    has raccooned the beaver. From 1 on the opponent owns the cube; it shows the value before the
    last turn of the cube, which is what a drop costs (`rules.md` 4.19-4.22)."""
    acting: Seat | None = None
    """The seat to act where that is not the usual one (see `to_act`), else None. It matters for a
    resignation by the player who is not on roll and for finished games."""

    @property
    def to_act(self) -> Seat:
        """The seat that must act now: roll, play, or answer the offer that is pending."""
        if self.acting is not None:
            return self.acting
        dropped = self.phase is GamePhase.DROPPED
        flips = int(dropped or (self.double_offered and self.beaver_level % 2 == 0))
        flips += int(self.resignation is not Resignation.NONE)
        return self.on_roll.other if flips % 2 else self.on_roll
