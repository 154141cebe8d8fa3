"""Engine players: how a level doubles, answers doubles and chooses plays in a game.

A static player decides by kernels that judge a whole turn in one call, exactly as
`Engine.rank` and `Engine.advise_cube` would; deeper levels ask the engine itself. A player of
less than full strength then misjudges what it has found (`bgserver.engine.strength`).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.engine.cube_rules import cube_state
from bgserver.engine.levels import Level
from bgserver.engine.plays import Play, board_array, play_of_row
from bgserver.engine.position import Variant
from bgserver.engine.strength import EXPERT, DecisionKey, Strength, cube_noise, play_noise
from bgserver.kernels import choose as choose_kernels
from bgserver.kernels import cube_actions, evaluate, misjudge
from bgserver.kernels.cube import cube_efficiency, may_double, normalised, passed_utility
from bgserver.kernels.dice import random_bits
from bgserver.kernels.games import RANDOM_DRAWS
from bgserver.kernels.moves import generate_plays
from bgserver.kernels.network import N_OUTPUTS, game_outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.position import Dice, GameState
    from bgserver.engine.work import Work

__all__ = ["Choice", "CubeChoice", "CubeMove", "CubeWorth", "Player", "choose_randomly"]

_ANY_DECISION = DecisionKey()


@dataclass(frozen=True, slots=True)
class Choice:
    """A play that a player has chosen."""

    play: Play
    """The play."""
    value: int
    """The value 1, 2 or 3 of the game if the play ends it, else 0."""
    loss: float | None = None
    """What the play loses against the best by the player's own level, in points of the present
    cube; None if there was no choice, and for a player who makes no errors of its own."""


class CubeMove(enum.Enum):
    """What a player may do with the cube when it is his turn to act."""

    ROLL = "roll"
    DOUBLE = "double"
    PASS = "pass"  # noqa: S105 -- no password, a cube action
    TAKE = "take"
    BEAVER = "beaver"


@dataclass(frozen=True, slots=True)
class CubeChoice:
    """A cube action that a player has chosen."""

    move: CubeMove
    """The action."""
    loss: float
    """What it loses against the best by the player's own level, in points of the present cube."""


class CubeWorth(NamedTuple):
    """What the doubler can get, in points of the present cube (normalised in a match)."""

    no_double: float
    take: float
    """By a double that is taken, or beavered where that is better for the opponent."""
    passed: float


class _CubeValues(NamedTuple):
    """What the doubler can get, as utilities (`bgserver.kernels.cube_actions.cube_utilities`)."""

    no_double: float
    take: float
    passed: float
    beavers: bool


class Player:
    """Decides for one side of a game at one level with one strength."""

    def __init__(self, engine: Engine, level: Level, strength: Strength = EXPERT) -> None:
        """A player of any level but RANDOM.

        Args:
            engine: What judges.
            level: How deep it looks.
            strength: How well it chooses among what it sees.
        """
        self._engine = engine
        self._level = level
        self._errs = strength.errs
        self._play_noise = {variant: play_noise(strength, variant) for variant in Variant}
        self._cube_noise = cube_noise(strength)

    def wants_to_double(self, state: GameState, key: DecisionKey = _ANY_DECISION) -> Work[bool]:
        """Whether the player on roll doubles; a double must be legal here.

        Args:
            state: The state before the roll.
            key: Which decision this is, for the errors of a player who makes some.
        """
        if not may_double(cube_state(state)):
            return False  # no double can gain anything
        values = yield from self._cube_values(state)
        return self._doubles(state, values, key)

    def answer_to_double(
        self, state: GameState, key: DecisionKey = _ANY_DECISION
    ) -> Work[tuple[bool, bool]]:
        """(takes, beavers) of the opponent of the player on roll, who has just doubled.

        Args:
            state: The state before the double, seen by the doubler.
            key: Which decision this is, for the errors of a player who makes some.
        """
        values = yield from self._cube_values(state)
        takes = self._takes(state, values, key)
        return takes, takes and values.beavers

    def choose_cube_action(
        self, state: GameState, key: DecisionKey = _ANY_DECISION
    ) -> Work[CubeChoice]:
        """What the player who is to act does with the cube, and what that loses.

        Args:
            state: The state before the roll; the player on roll may double, or has doubled, and
                then the opponent answers.
            key: Which decision this is, for the errors of a player who makes some.
        """
        if not state.double_offered and not may_double(cube_state(state)):
            return CubeChoice(CubeMove.ROLL, 0.0)
        values = yield from self._cube_values(state)
        waiting, take, passed = self._worth(state, values)
        if not state.double_offered:
            if self._doubles(state, values, key):
                return CubeChoice(CubeMove.DOUBLE, max(0.0, waiting - min(take, passed)))
            return CubeChoice(CubeMove.ROLL, max(0.0, min(take, passed) - waiting))
        if not self._takes(state, values, key):
            return CubeChoice(CubeMove.PASS, max(0.0, passed - take))
        move = CubeMove.BEAVER if values.beavers else CubeMove.TAKE
        return CubeChoice(move, max(0.0, take - passed))

    def cube_worth(self, state: GameState) -> Work[CubeWorth | None]:
        """What the actions of both players are worth; None where no double can gain anything.

        Args:
            state: The state before the roll; a double may have been offered.
        """
        if not may_double(cube_state(state)):
            return None
        return self._worth(state, (yield from self._cube_values(state)))

    def _worth(self, state: GameState, values: _CubeValues) -> CubeWorth:
        cube, table = cube_state(state), self._engine.match_table(state)
        return CubeWorth(
            *(
                float(normalised(value, cube, table))
                for value in (values.no_double, values.take, values.passed)
            )
        )

    def _doubles(self, state: GameState, values: _CubeValues, key: DecisionKey) -> bool:
        """Whether a double seems right that can gain something."""
        best = bool(cube_actions.is_double(cube_actions.classify(*values)))
        if not self._errs:
            return best
        cube, table = cube_state(state), self._engine.match_table(state)
        waiting = normalised(values.no_double, cube, table)
        if not best and waiting <= 0.0:
            return False  # nobody takes himself for the favourite by mistake and doubles
        gain = normalised(min(values.take, values.passed), cube, table) - waiting
        return self._seems_right(state, misjudge.OFFER_DOUBLE, gain, key)

    def _takes(self, state: GameState, values: _CubeValues, key: DecisionKey) -> bool:
        """Whether a take seems right."""
        if not self._errs:
            return values.take <= values.passed
        cube, table = cube_state(state), self._engine.match_table(state)
        gain = normalised(values.passed, cube, table) - normalised(values.take, cube, table)
        return self._seems_right(state, misjudge.OFFER_TAKE, gain, key)

    def _seems_right(self, state: GameState, offer: int, gain: float, key: DecisionKey) -> bool:
        """Whether a player who errs takes a cube action that truly gains so much."""
        board = board_array(state.position)
        code = self._engine.core(state.position.variant).code
        return bool(misjudge.misjudged_offer(board, code, offer, gain, self._cube_noise.at(key)))

    def _cube_values(self, state: GameState) -> Work[_CubeValues]:
        """What the doubler can get."""
        cube, table = cube_state(state), self._engine.match_table(state)
        found = self._engine.exact_cube(state)
        if found is None and self._level is not Level.STATIC:
            found = yield from self._engine.cube_utilities(state, self._level)
        if found is not None and found.double_take is not None:
            beaver = found.double_beaver
            beavers = cube_actions.beaver_allowed(cube)
            beavers = beavers and beaver is not None and beaver < found.double_take
            take = beaver if beavers and beaver is not None else found.double_take
            return _CubeValues(found.no_double, take, passed_utility(cube, table), beavers)
        chances = self._static_chances(state)
        efficiency = cube_efficiency(board_array(state.position))
        return _CubeValues(*cube_actions.cube_utilities(chances, cube, table, efficiency))

    def choose(
        self,
        state: GameState,
        dice: Dice,
        *,
        first_turn: bool,
        key: DecisionKey = _ANY_DECISION,
    ) -> Work[Choice]:
        """The play that the player makes.

        Args:
            state: The state of the player who has rolled.
            dice: The roll.
            first_turn: Long Nardy: the player's first turn.
            key: Which decision this is, for the errors of a player who makes some.
        """
        if self._level is not Level.STATIC:
            return (yield from self._choose_deeply(state, dice, first_turn, key))
        core = self._engine.core(state.position.variant)
        board = board_array(state.position)
        roll = (dice.high, dice.low)
        cube = (cube_state(state), self._engine.match_table(state))
        memory, scratch = core.threads.memory, core.threads.choice
        loss: float | None = None
        if self._errs:
            noise = self._play_noise[state.position.variant].at(key)
            game = (core.code, first_turn)
            row, count, lost = misjudge.choose_misjudged(
                board, roll, game, core.evaluator, cube, memory, scratch, noise
            )
            loss = float(lost) if count > 1 else None
        else:
            row = choose_kernels.choose_play(
                board, roll, core.code, first_turn, core.evaluator, cube, memory, scratch
            )
        value = int(game_outcome(memory.plays.boards[row], core.code))
        return Choice(play_of_row(state.position, dice, memory.plays, row), value, loss)

    def _choose_deeply(
        self, state: GameState, dice: Dice, first_turn: bool, key: DecisionKey
    ) -> Work[Choice]:
        """The play of a level that looks ahead."""
        ranked = yield from self._engine.rank(state, dice, self._level, first_turn=first_turn)
        code = self._engine.core(state.position.variant).code
        chosen = ranked[0]
        loss: float | None = None
        if self._errs and len(ranked) > 1:
            boards = np.array([entry.play.result.points for entry in ranked], dtype=np.int8)
            worth = np.array([[entry.equity, 0.0] for entry in ranked])
            # Plays of a lower level stay behind those of a deeper one, as in the ranking.
            worth[:, 0] = np.minimum.accumulate(worth[:, 0])
            noise = self._play_noise[state.position.variant].at(key)
            row = misjudge.misjudged_row(boards, worth, len(ranked), code, noise)
            chosen = ranked[row]
            loss = float(worth[0, 0] - worth[row, 0])
        value = int(game_outcome(board_array(chosen.play.result), code))
        return Choice(chosen.play, value, loss)

    def _static_chances(self, state: GameState) -> NDArray[np.float32]:
        """Five chances of the player on roll before the roll, without looking ahead."""
        core = self._engine.core(state.position.variant)
        memory = core.threads.memory
        out = np.zeros((1, N_OUTPUTS), dtype=np.float32)
        evaluate.evaluate_before_roll(
            board_array(state.position)[None],
            core.code,
            core.evaluator,
            memory.scratch,
            out,
        )
        chances: NDArray[np.float32] = out[0]
        return chances


def choose_randomly(
    engine: Engine, state: GameState, dice: Dice, key: DecisionKey, *, first_turn: bool
) -> Choice:
    """Any legal result with equal chance.

    Args:
        engine: The engine, for its memory.
        state: The state of the player who has rolled.
        dice: The roll.
        key: Which decision this is.
        first_turn: Long Nardy: the player's first turn.
    """
    core = engine.core(state.position.variant)
    plays = core.threads.memory.plays
    count = generate_plays(
        board_array(state.position), dice.high, dice.low, core.code, first_turn, plays
    )
    bits = int(random_bits(key.seed, key.game, RANDOM_DRAWS + key.turn))
    row = (bits >> 32) * count >> 32
    value = int(game_outcome(plays.boards[row], core.code))
    return Choice(play_of_row(state.position, dice, plays, row), value)
