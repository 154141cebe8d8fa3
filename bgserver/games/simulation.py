"""Games and matches that players play by themselves: what is to be played, and what came of it.

A unit is one game, one session of games, or one match. Unit k of a simulation depends on the spec
and on k, and on nothing else, so units may be played on any thread, in any order, and still be
the same. With duplicate dice units 2k and 2k + 1 have the same dice, and the players change
seats in between.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.levels import Level
from bgserver.engine.strength import EXPERT, Strength

if TYPE_CHECKING:
    from bgserver.engine.plays import Play
    from bgserver.engine.position import Dice, Position, Seat
    from bgserver.games.setup import Setup

__all__ = [
    "Contestant",
    "GameEnd",
    "Misconduct",
    "PlayedGame",
    "Seating",
    "SimulationSpec",
    "Tally",
    "TurnRecord",
    "UnitResult",
]

_GAMES_PER_UNIT = 4096  # more than any match can have: 2 * length - 1


class Seating(enum.Enum):
    """Where the two players sit."""

    FIXED = "fixed"
    """The first player always in the first seat."""
    ALTERNATING = "alternating"
    """They change seats after each unit."""
    DUPLICATE = "duplicate"
    """They change seats after each unit, and each dice sequence is played twice."""


class Misconduct(enum.Enum):
    """Why a player has lost a game without having been beaten."""

    SLOW = "slow"
    """A decision took longer than allowed."""
    FAILED = "failed"
    """No decision came: the player cannot be reached, or answers with an error."""
    ILLEGAL = "illegal"
    """A decision that the rules do not allow."""


class GameEnd(enum.Enum):
    """How a game ended."""

    BORNE_OFF = "borne_off"
    """The winner bore off the last checker."""
    DROPPED = "dropped"
    """A double, beaver or raccoon was dropped."""
    DRAWN = "drawn"
    """Long Nardy with a last answer: nobody won."""
    FORFEITED = "forfeited"
    """The loser misbehaved."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """A player of a simulation."""

    level: Level = Level.STATIC
    """How deep it looks. RANDOM never doubles, always takes, and never turns a cube back."""
    strength: Strength = EXPERT
    """How well it chooses among what it sees; RANDOM takes no notice."""
    address: str | None = None
    """`host:port` of the bgserver that plays; None for the engine at hand."""


@dataclass(frozen=True, slots=True)
class SimulationSpec:
    """What is to be played."""

    setup: Setup
    """Rules, match length, cube."""
    count: int
    """Games, sessions, or matches."""
    seed: int
    """Seed of the dice and of the players' errors, 0..2**32-1."""
    players: tuple[Contestant, Contestant] = (Contestant(), Contestant())
    """Who plays."""
    seating: Seating = Seating.FIXED
    """Where they sit."""
    session_games: int = 1
    """Outside matches: games of a session, of which one follows the other."""
    judge: Level | None = None
    """The level that judges every decision; None for no judgement."""
    records: bool = False
    """Whether to keep every turn."""

    def is_swapped(self, index: int) -> bool:
        """Whether the first player sits in the second seat in a unit."""
        return self.seating is not Seating.FIXED and index % 2 == 1

    def seats(self, index: int) -> tuple[Contestant, Contestant]:
        """Who sits in the first and in the second seat in a unit."""
        first, second = self.players
        return (second, first) if self.is_swapped(index) else (first, second)

    def first_game(self, index: int) -> int:
        """Number of the dice sequence of the first game of a unit."""
        stream = index // 2 if self.seating is Seating.DUPLICATE else index
        return stream * _GAMES_PER_UNIT


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn of a game."""

    seat: Seat
    """Whose turn it was."""
    position: Position
    """The board before the roll, seen by that player."""
    cube_value: int
    """Cube value before the turn."""
    doubled: bool
    """Whether the player doubled."""
    taken: bool
    """Whether the double was taken; a beaver is a take."""
    beavered: bool
    """Whether the double was beavered."""
    dice: Dice | None
    """The roll; None if the game ended before it."""
    play: Play | None
    """The play; None if the game ended before it, and in the last answer of Long Nardy, where there
    is nothing to choose."""
    raccooned: bool = False
    """Whether the beaver was raccooned."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Decisions and what they lost."""

    count: int = 0
    """Decisions where there was a choice."""
    lost: float = 0.0
    """What they lost together, in points of the cube then (normalised in a match)."""

    def plus(self, lost: float) -> Tally:
        """With one decision more."""
        return Tally(self.count + 1, self.lost + lost)


_NOTHING = (Tally(), Tally())


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """The result of one game; pairs are of the first and the second seat."""

    winner: Seat | None
    """Who won; None for a draw."""
    points: int
    """Result times cube value."""
    result: int
    """1 single, 2 gammon (mars), 3 backgammon (koks), after Jacoby; 0 for a draw."""
    cube_value: int
    """The final cube value that counted."""
    end: GameEnd
    """How it ended."""
    turns: int
    """Turns of both players."""
    record: tuple[TurnRecord, ...] | None = None
    """The turns, if they were asked for."""
    misconduct: Misconduct | None = None
    """What the loser did, if the game was forfeited."""
    own_plays: tuple[Tally, Tally] = _NOTHING
    """Plays of players who make errors of their own, by their own judgement."""
    judged_plays: tuple[Tally, Tally] = _NOTHING
    """Plays by the judgement of the judge."""
    judged_cube: tuple[Tally, Tally] = _NOTHING
    """Doubles that were or could have been, and answers to them, by the same judgement."""
    doubles: tuple[int, int] = (0, 0)
    """Doubles offered by each seat."""
    beavers: tuple[int, int] = (0, 0)
    """Beavers by each seat."""
    raccoons: tuple[int, int] = (0, 0)
    """Raccoons by each seat."""

    @property
    def dropped(self) -> bool:
        """Whether the game ended with a drop."""
        return self.end is GameEnd.DROPPED


@dataclass(frozen=True, slots=True)
class UnitResult:
    """The result of one unit: a game, a session or a match."""

    index: int
    """Number of the unit, from 0."""
    games: tuple[PlayedGame, ...]
    """Its games."""
    winner: Seat | None
    """Who won the match, or more points; None for a draw."""
    points: tuple[int, int]
    """Points of the two seats."""
    is_match: bool
    """Whether the unit is a match."""
    swapped: bool = False
    """Whether the first player sat in the second seat."""
