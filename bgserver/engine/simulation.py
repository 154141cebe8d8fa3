"""Games and matches that the engine plays against itself.

A unit is one game, or one match. Unit k of a simulation depends on (spec, seed, k) and on nothing
else, so units may be played on any thread, in any order, and still be the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.cube_rules import double_refusals
from bgserver.engine.levels import Level
from bgserver.engine.player import Player, choose_randomly
from bgserver.engine.position import (
    Cube,
    CubeOwner,
    Dice,
    GameState,
    MatchScore,
    Position,
    Seat,
    Variant,
)
from bgserver.engine.statistics import Statistics
from bgserver.engine.strength import EXPERT, DecisionKey, Strength
from bgserver.kernels import dice as dice_kernels

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.player import Choice
    from bgserver.engine.plays import Play
    from bgserver.engine.work import Work

__all__ = [
    "GameRecord",
    "SimulationSpec",
    "Statistics",
    "TurnRecord",
    "UnitResult",
    "play_unit",
]

_GAMES_PER_MATCH = 4096  # more than any match can have: 2 * length - 1
_TURNS_PER_CHUNK = 8
_RANDOM_DRAWS = 1 << 30  # draw numbers of random players, far from those of the dice


@dataclass(frozen=True, slots=True)
class SimulationSpec:
    """What is to be played."""

    variant: Variant
    """The game."""
    match_length: int | None
    """Points of a match; None for independent games."""
    cube: bool
    """Whether there is a cube."""
    count: int
    """Games, or matches."""
    seed: int
    """Seed of the dice, 0..2**32-1."""
    levels: tuple[Level, Level]
    """How the two seats play. RANDOM never doubles and always takes."""
    strengths: tuple[Strength, Strength] = (EXPERT, EXPERT)
    """How well the two seats choose among what they see; RANDOM takes no notice."""
    cube_cap: int = 64
    """Highest cube value."""
    crawford: bool = True
    """Match play: the Crawford rule."""
    jacoby: bool = False
    """Money play: gammons count only after a taken double."""
    beaver: bool = False
    """Money play: whoever takes may turn the cube once more."""
    opening_lower_starts: bool = False
    """Whether the lower opening number begins."""
    opening_fresh_roll: bool = False
    """Whether the starter rolls anew."""
    auto_double: str = "none"
    """`none`, `a` (a tie of the opening dice) or `b` (a double on the first two-dice roll)."""
    records: bool = False
    """Whether to keep every turn."""


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
    """The roll; None if the game ended with a drop."""
    play: Play | None
    """The play; None if the game ended with a drop."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """The result of one game."""

    winner: Seat
    """Who won."""
    points: int
    """Result times cube value."""
    result: int
    """1 single, 2 gammon (mars), 3 backgammon, after Jacoby."""
    cube_value: int
    """The final cube value that counted."""
    dropped: bool
    """Whether the game ended with a dropped double."""
    turns: int
    """Turns of both players."""
    record: tuple[TurnRecord, ...] | None
    """The turns, if they were asked for."""
    choices: tuple[int, int] = (0, 0)
    """Plays of the two seats that count for `lost`: those of players who make errors of their own,
    where there was a choice."""
    lost: tuple[float, float] = (0.0, 0.0)
    """What these plays lost by the players' own judgement, in points of the cube then."""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """The result of one unit: a game or a match."""

    index: int
    """Number of the unit, from 0."""
    games: tuple[GameRecord, ...]
    """Its games."""
    winner: Seat
    """Who won the unit."""
    points: tuple[int, int]
    """Points of the two seats."""
    is_match: bool
    """Whether the unit is a match."""


def play_unit(engine: Engine, spec: SimulationSpec, index: int) -> Work[UnitResult]:
    """Play game or match number `index` of a simulation."""
    points = [0, 0]
    games: list[GameRecord] = []
    crawford_done = False
    while True:
        match = None
        crawford = False
        if spec.match_length is not None:
            one_away = spec.match_length - 1 in points
            crawford = spec.crawford and one_away and not crawford_done and spec.match_length > 1
            crawford_done = crawford_done or crawford
            match = (points[0], points[1])
        number = index * _GAMES_PER_MATCH + len(games)
        game = yield from _Game(engine, spec, number, match, crawford=crawford).play()
        games.append(game)
        points[game.winner] += game.points
        if spec.match_length is None or points[game.winner] >= spec.match_length:
            is_match = spec.match_length is not None
            return UnitResult(index, tuple(games), game.winner, (points[0], points[1]), is_match)


class _Game:
    """One game in the making."""

    def __init__(
        self,
        engine: Engine,
        spec: SimulationSpec,
        number: int,
        match: tuple[int, int] | None,
        *,
        crawford: bool,
    ) -> None:
        self.engine = engine
        self.spec = spec
        self.players = [
            None if level is Level.RANDOM else Player(engine, level, strength)
            for level, strength in zip(spec.levels, spec.strengths, strict=True)
        ]
        self.number = number
        self.match = match
        self.crawford = crawford
        self.draw = 0
        self.position = Position.start(spec.variant)
        self.seat = Seat.FIRST
        self.cube_value = 1
        self.cube_owner: Seat | None = None
        self.taken = False
        self.turns = 0
        self.turns_of = [0, 0]
        self.choices = [0, 0]
        self.lost = [0.0, 0.0]
        self.record: list[TurnRecord] = []

    def play(self) -> Work[GameRecord]:
        """Play to the end."""
        dice = self._opening()
        while True:
            doubled = beavered = False
            value_before = self.cube_value
            if dice is None:
                doubled, taken, beavered = yield from self._cube_action()
                if doubled and not taken:
                    self._note(value_before, (True, False, False), None, None)
                    return self._finish(self.seat, 1, value_before, dropped=True)
                dice = self._roll()
                self._automatic_double(dice)
            choice = yield from self._choose(dice)
            result = choice.value
            self._note(value_before, (doubled, doubled, beavered), dice, choice.play)
            if choice.loss is not None:
                self.choices[self.seat] += 1
                self.lost[self.seat] += choice.loss
            self.turns += 1
            self.turns_of[self.seat] += 1
            if result > 0:
                if self.spec.jacoby and self.match is None and not self.taken:
                    result = 1
                return self._finish(self.seat, result, self.cube_value, dropped=False)
            self.position = choice.play.result.turned()
            self.seat = self.seat.other
            dice = None
            if self.turns % _TURNS_PER_CHUNK == 0:
                yield

    def _finish(self, winner: Seat, result: int, value: int, *, dropped: bool) -> GameRecord:
        record = tuple(self.record) if self.spec.records else None
        return GameRecord(
            winner,
            result * value,
            result,
            value,
            dropped,
            self.turns,
            record,
            (self.choices[0], self.choices[1]),
            (self.lost[0], self.lost[1]),
        )

    def _note(
        self,
        cube_value: int,
        actions: tuple[bool, bool, bool],
        dice: Dice | None,
        play: Play | None,
    ) -> None:
        if self.spec.records:
            self.record.append(
                TurnRecord(self.seat, self.position, cube_value, *actions, dice, play)
            )

    def _roll(self) -> Dice:
        first, second = dice_kernels.roll(self.spec.seed, self.number, self.draw)
        self.draw += 1
        return Dice(first, second)

    def _opening(self) -> Dice | None:
        """Find the starter; the dice that the starter must play, None for a fresh roll."""
        roll = self._roll()
        doubles = 1 if self.spec.auto_double == "a" else 0
        while roll.is_double:
            if doubles > 0:
                self._double_stake()
                doubles -= 1
            roll = self._roll()
        first_starts = (roll.first > roll.second) != self.spec.opening_lower_starts
        self.seat = Seat.FIRST if first_starts else Seat.SECOND
        if self.spec.opening_fresh_roll:
            return None
        return roll

    def _automatic_double(self, dice: Dice) -> None:
        """Variant B: a double on the first roll of two dice doubles the stake (4.25)."""
        first_roll = self.turns == (0 if self.spec.opening_fresh_roll else 1)
        if self.spec.auto_double == "b" and first_roll and dice.is_double:
            self._double_stake()

    def _double_stake(self) -> None:
        if self.spec.cube and 2 * self.cube_value <= self.spec.cube_cap:
            self.cube_value *= 2

    def _state(self) -> GameState:
        """The state seen by the player on roll."""
        owner = CubeOwner.CENTERED
        if self.cube_owner is not None:
            owner = CubeOwner.ON_ROLL if self.cube_owner is self.seat else CubeOwner.OPPONENT
        cap = self.spec.cube_cap if self.spec.cube else self.cube_value
        score = None
        if self.match is not None and self.spec.match_length is not None:
            own, other = self.match[self.seat], self.match[self.seat.other]
            score = MatchScore(self.spec.match_length, own, other, self.crawford)
        return GameState(
            position=self.position,
            on_roll=self.seat,
            cube=Cube(self.cube_value, owner, cap),
            match=score,
            jacoby=self.spec.jacoby,
            beavers=self.spec.beaver,
        )

    def _cube_action(self) -> Work[tuple[bool, bool, bool]]:
        """(doubled, taken, beavered) before the roll; the cube is turned accordingly."""
        player = self.players[self.seat]
        if not self.spec.cube or player is None:
            return False, False, False
        state = self._state()
        if double_refusals(state):
            return False, False, False
        key = self._key()
        doubles = yield from player.wants_to_double(state, key)
        if not doubles:
            return False, False, False
        takes, beavers = True, False
        other = self.players[self.seat.other]
        if other is not None:
            takes, beavers = yield from other.answer_to_double(state, key)
        if takes:
            self.taken = True
            self.cube_value *= 4 if beavers else 2
            self.cube_owner = self.seat.other
        return True, takes, beavers

    def _key(self) -> DecisionKey:
        """What the errors of this turn depend on."""
        return DecisionKey(self.spec.seed, self.number, self.turns)

    def _choose(self, dice: Dice) -> Work[Choice]:
        """The play of the player on roll."""
        player = self.players[self.seat]
        first_turn = self.turns_of[self.seat] == 0
        state = self._state()
        if player is not None:
            return (yield from player.choose(state, dice, first_turn=first_turn, key=self._key()))
        draw = _RANDOM_DRAWS + self.turns
        bits = int(dice_kernels.random_bits(self.spec.seed, self.number, draw))
        return choose_randomly(self.engine, state, dice, bits, first_turn=first_turn)
