"""Engine players: how a level doubles, answers doubles and chooses plays in a game.

A static player decides by kernels that judge a whole turn in one call, exactly as
`Engine.rank` and `Engine.advise_cube` would; deeper levels ask the engine itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.cube_rules import cube_state
from bgserver.engine.levels import Level
from bgserver.engine.plays import Play, board_array, play_of_row
from bgserver.kernels import choose as choose_kernels
from bgserver.kernels import cube_actions, evaluate
from bgserver.kernels.cube import cube_efficiency, may_double, passed_utility
from bgserver.kernels.moves import generate_plays
from bgserver.kernels.network import N_OUTPUTS, game_outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.position import Dice, GameState
    from bgserver.engine.work import Work

__all__ = ["Player", "choose_randomly"]


class Player:
    """Decides for one side of a game at one level."""

    def __init__(self, engine: Engine, level: Level) -> None:
        """A player of any level but RANDOM.

        Args:
            engine: What judges.
            level: How deep it looks.
        """
        self._engine = engine
        self._level = level

    def wants_to_double(self, state: GameState) -> Work[bool]:
        """Whether the player on roll doubles; a double must be legal here."""
        if not may_double(cube_state(state)):
            return False  # no double can gain anything
        no_double, take, passed, beavers = yield from self._cube_values(state)
        return bool(cube_actions.is_double(cube_actions.classify(no_double, take, passed, beavers)))

    def answer_to_double(self, state: GameState) -> Work[tuple[bool, bool]]:
        """(takes, beavers) of the opponent of the player on roll, who has just doubled.

        Args:
            state: The state before the double, seen by the doubler.
        """
        _, take, passed, beavers = yield from self._cube_values(state)
        takes = take <= passed
        return takes, takes and beavers

    def _cube_values(self, state: GameState) -> Work[tuple[float, float, float, bool]]:
        """Utilities of the doubler: no double, double and take, double and pass; and beaver."""
        cube, table = cube_state(state), self._engine.match_table(state)
        exact = self._engine.exact_cube(state)
        if exact is not None and exact.double_beaver is not None:
            beavers = cube_actions.beaver_allowed(cube) and exact.double_beaver < exact.double_take
            take = exact.double_beaver if beavers else exact.double_take
            return exact.no_double, take, passed_utility(cube, table), beavers
        chances = yield from self._chances(state)
        efficiency = cube_efficiency(board_array(state.position))
        return cube_actions.cube_utilities(chances, cube, table, efficiency)

    def choose(self, state: GameState, dice: Dice, *, first_turn: bool) -> Work[tuple[Play, int]]:
        """The best play, and the value 1, 2 or 3 of the game if it ends it (else 0)."""
        core = self._engine.core(state.position.variant)
        if self._level is not Level.STATIC:
            ranked = yield from self._engine.rank(state, dice, self._level, first_turn=first_turn)
            play = ranked[0].play
            return play, int(game_outcome(board_array(play.result), core.code))
        memory = core.threads.memory
        row = choose_kernels.choose_play(
            board_array(state.position),
            (dice.high, dice.low),
            core.code,
            first_turn,
            core.evaluator,
            (cube_state(state), self._engine.match_table(state)),
            memory,
            core.threads.choice,
        )
        value = int(game_outcome(memory.plays.boards[row], core.code))
        return play_of_row(state.position, dice, memory.plays, row), value

    def _chances(self, state: GameState) -> Work[NDArray[np.float32]]:
        """Five chances of the player on roll before the roll."""
        if self._level is not Level.STATIC:
            evaluation = yield from self._engine.evaluate(state, self._level)
            return np.array(evaluation.probabilities, dtype=np.float32)
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
    engine: Engine, state: GameState, dice: Dice, bits: int, *, first_turn: bool
) -> tuple[Play, int]:
    """Any legal result with equal chance, and the value of the game if it ends it (else 0).

    Args:
        engine: The engine, for its memory.
        state: The state of the player who has rolled.
        dice: The roll.
        bits: 64 random bits.
        first_turn: Long Nardy: the player's first turn.
    """
    core = engine.core(state.position.variant)
    plays = core.threads.memory.plays
    count = generate_plays(
        board_array(state.position), dice.high, dice.low, core.code, first_turn, plays
    )
    row = (bits >> 32) * count >> 32
    value = int(game_outcome(plays.boards[row], core.code))
    return play_of_row(state.position, dice, plays, row), value
