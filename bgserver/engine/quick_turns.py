"""Turns of static and random players, many in one call of a kernel.

A player who looks ahead, or somewhere else, has no place here. What the two seats do is the same
as what `Player` and `choose_randomly` do turn by turn.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.levels import Level
from bgserver.engine.plays import board_array, play_of_row, position_of_board
from bgserver.engine.position import Dice, Seat, Variant
from bgserver.engine.strength import cube_noise, play_noise
from bgserver.kernels import games as kernels
from bgserver.kernels.moves import generate_plays

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.plays import Play
    from bgserver.engine.position import Position
    from bgserver.engine.strength import Strength

__all__ = ["HeadTurns", "QuickRules", "QuickTurns", "Standing", "Stop", "Turn", "is_quick"]


class Stop(enum.Enum):
    """Why a call came back."""

    LEFT = kernels.TURNS_LEFT
    """The game goes on."""
    WON = kernels.TURNS_WON
    """The player on turn has borne off the last checker; the board is his, the turn not booked."""
    ASKED = kernels.TURNS_ASKED
    """The player on turn must be asked whether he doubles."""


class HeadTurns(enum.Enum):
    """Long Nardy: in which turns two checkers may leave the head, if the dice are right."""

    NONE = 0
    FIRST_OF_EACH = 1
    FIRST_OF_GAME = 2


@dataclass(frozen=True, slots=True)
class QuickRules:
    """What the rules say about the turns of one game; pairs are of the first and second seat."""

    variant: Variant
    """The game."""
    cube: bool = False
    """Whether anybody may double in this game at all."""
    cap: int = 1
    """Highest cube value; 1 without a cube."""
    jacoby: bool = False
    """Money play: gammons count only after a taken double."""
    beavers: bool = False
    """Money play: whoever takes may turn the cube once more."""
    match: tuple[int, int, int] | None = None
    """(length, points of the first seat, points of the second); None in money play."""
    crawford: bool = False
    """Whether this is the Crawford game."""
    auto_doubles: int = 0
    """Most automatic doubles by a first roll of two dice (variant B); 0 for none."""
    auto_double_each: bool = False
    """Whether the first roll of each side counts, and not only the first of the game."""
    head_turns: HeadTurns = HeadTurns.NONE
    """Long Nardy: when two checkers may leave the head."""
    holland_rolls: int = 0
    """Turns that must be over before a restricted seat doubles."""
    holland_total: bool = False
    """Whether turns of both sides are counted together."""
    holland_seats: tuple[bool, bool] = (False, False)
    """Whom the Holland rule restricts in this game."""
    forbid_dead_cube: bool = False
    """Whether a player whom the present cube brings the match may not double."""


@dataclass(slots=True)
class Standing:
    """Where a game stands between two turns; pairs are of the first and the second seat."""

    position: Position
    """The board seen by the player on turn."""
    seat: Seat
    """Who is on turn."""
    rolls: int
    """Pairs of dice thrown, the opening's included."""
    rolled: tuple[int, int]
    """Rolls of two dice by each seat, the opening's not included."""
    turns: tuple[int, int]
    """Finished turns of each seat."""
    dice: Dice | None
    """The dice that are to be played; None before the roll."""
    cube_value: int
    """Value of the cube."""
    cube_owner: Seat | None
    """Who owns it."""
    auto_doubles: int
    """Automatic doubles of this game."""
    choices: tuple[int, int] = (0, 0)
    """Plays that count for `lost`: those of players who make errors of their own, where there was
    a choice."""
    lost: tuple[float, float] = (0.0, 0.0)
    """What these plays lost by the players' own judgement, in points of the cube then."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn that was played."""

    seat: Seat
    """Whose."""
    position: Position
    """The board before the roll, seen by that player."""
    dice: Dice
    """The roll."""
    play: Play
    """The play."""
    cube_value: int
    """Cube value before the roll."""


def is_quick(level: Level) -> bool:
    """Whether players of this level have a place here."""
    return level in {Level.STATIC, Level.RANDOM}


class QuickTurns:
    """Plays the turns of one game."""

    def __init__(
        self,
        engine: Engine,
        rules: QuickRules,
        players: tuple[tuple[Level, Strength], tuple[Level, Strength]],
        game: tuple[int, int],
    ) -> None:
        """Nothing is played yet.

        Args:
            engine: What judges.
            rules: The rules of this game.
            players: Level, one that `is_quick`, and strength of each seat.
            game: (seed, number) of the dice and of the players' errors.
        """
        self._core = engine.core(rules.variant)
        self._game = game
        self._rules = _kernel_rules(rules, self._core.code)
        self._seats = _kernel_seats(players, rules.variant)
        length = None if rules.match is None else rules.match[0]
        self._table = engine.met.table if length is None else engine.met.extended(length).table
        self._variant = rules.variant
        self._head_turns = rules.head_turns
        self._kernel = kernels.make_standing()
        self._record = kernels.make_turn_record()
        self._before: tuple[int, int] = (0, 0)
        self._first_seat = Seat.FIRST

    def play(self, standing: Standing) -> Stop:
        """Play on from a standing, which is changed; a few milliseconds at most."""
        core, work = self._core, self._kernel
        work.board[:] = board_array(standing.position)
        first, second = (0, 0)
        if standing.dice is not None:
            first, second = standing.dice.first, standing.dice.second
        owner = -1 if standing.cube_owner is None else int(standing.cube_owner)
        work.numbers[:] = (
            standing.seat, standing.rolls, *standing.turns, standing.cube_value, owner,
            standing.auto_doubles, *standing.rolled, first, second, *standing.choices,
        )  # fmt: skip
        work.lost[:] = standing.lost
        self._before, self._first_seat = standing.turns, standing.seat
        stop = Stop(
            kernels.play_turns(
                self._game,
                self._rules,
                self._seats,
                work,
                self._record,
                core.evaluator,
                self._table,
                (core.threads.memory, core.threads.choice),
            )
        )
        (
            seat, standing.rolls, one, two, standing.cube_value, owner, standing.auto_doubles,
            rolled, other_rolled, first, second, choices, other_choices,
        ) = work.numbers.tolist()  # fmt: skip
        standing.position = position_of_board(work.board.tolist(), self._variant)
        standing.seat = Seat(seat)
        standing.turns = (one, two)
        standing.rolled = (rolled, other_rolled)
        standing.dice = Dice(first, second) if first else None
        standing.cube_owner = None if owner < 0 else Seat(owner)
        standing.choices = (choices, other_choices)
        standing.lost = (float(work.lost[0]), float(work.lost[1]))
        return stop

    def turns(self) -> Iterator[Turn]:
        """The turns of the last call of `play`, with their plays in full."""
        record = self._record
        seat = self._first_seat
        finished = list(self._before)
        plays = self._core.threads.memory.plays
        for number in range(int(record.filled[0])):
            first, second = record.dice[number].tolist()
            dice = Dice(first, second)
            head = self._head_turns
            is_first = head is HeadTurns.FIRST_OF_EACH and finished[seat] == 0
            is_first = is_first or (head is HeadTurns.FIRST_OF_GAME and sum(finished) == 0)
            board = record.boards[number]
            generate_plays(board, dice.high, dice.low, self._core.code, is_first, plays)
            position = position_of_board(board.tolist(), self._variant)
            play = play_of_row(position, dice, plays, int(record.rows[number]))
            yield Turn(seat, position, dice, play, int(record.cubes[number]))
            finished[seat] += 1
            seat = seat.other


def _kernel_rules(rules: QuickRules, code: int) -> kernels.TurnRules:
    away, post_crawford, dead_at = (0, 0), False, (0, 0)
    if rules.match is not None:
        length, first, second = rules.match
        away = (length - first, length - second)
        post_crawford = min(away) == 1 and not rules.crawford
        if rules.forbid_dead_cube:
            dead_at = away
    return kernels.TurnRules(
        variant=code,
        cube=rules.cube,
        cap=rules.cap,
        jacoby=rules.jacoby,
        beavers=rules.beavers,
        away=away,
        crawford=rules.crawford,
        post_crawford=post_crawford,
        auto_doubles=rules.auto_doubles,
        auto_double_each=rules.auto_double_each,
        head_exception=rules.head_turns.value,
        holland_rolls=rules.holland_rolls,
        holland_total=rules.holland_total,
        holland_seats=rules.holland_seats,
        dead_at=dead_at,
    )


def _kernel_seats(
    players: tuple[tuple[Level, Strength], tuple[Level, Strength]], variant: Variant
) -> kernels.Seats:
    plays = [play_noise(strength, variant) for _, strength in players]
    cubes = [cube_noise(strength) for _, strength in players]
    errs = np.array([strength.errs for _, strength in players])
    return kernels.Seats(
        plays_randomly=np.array([level is Level.RANDOM for level, _ in players]),
        play_noise=np.array([noise.deviation for noise in plays]) * errs,
        play_limit=np.array([noise.limit for noise in plays]),
        cube_noise=np.array([noise.deviation for noise in cubes]) * errs,
        cube_limit=np.array([noise.limit for noise in cubes]),
    )
