"""Plays the trials of a rollout: chunks of trials as work in short pieces.

Static trials are played by kernels, many turns in one call. Where a level looks ahead, its play or
cube action is asked for turn by turn and put in place of the static one; the luck that is taken
off is static in any case, which leaves the mean unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.cube_rules import cube_state
from bgserver.engine.levels import Level
from bgserver.engine.player import Player
from bgserver.engine.plays import board_array, position_of_board
from bgserver.engine.position import Cube, CubeOwner, Dice, GameState, MatchScore, Variant
from bgserver.engine.ranking import EQUITY_WEIGHTS
from bgserver.kernels import rollout as kernels
from bgserver.kernels import rollout_trial as trials
from bgserver.kernels.cube import CENTERED, OPPOSING, OWNED, cubeless_utility, may_double
from bgserver.kernels.cube_actions import DOUBLE_BEAVER, DOUBLE_PASS, DOUBLE_TAKE
from bgserver.kernels.evaluate import evaluate_before_roll, evaluate_board
from bgserver.kernels.moves import turn_board
from bgserver.kernels.network import N_OUTPUTS, game_outcome, write_outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.rollout_spec import RolloutSpec
    from bgserver.engine.work import Work

__all__ = ["RolloutChunk"]

# Turns in one kernel call: 3 to 4 ms, with and without the luck of all rolls.
_TURNS = 24
_TURNS_WITHOUT_LUCK = 150
_OWNERS = {
    CENTERED: CubeOwner.CENTERED,
    OWNED: CubeOwner.ON_ROLL,
    OPPOSING: CubeOwner.OPPONENT,
}


@dataclass(frozen=True, slots=True)
class RolloutChunk:
    """Some trials of one candidate; a `Chunk`."""

    spec: RolloutSpec
    """The rollout."""
    candidate: int
    """Which candidate."""
    first_trial: int
    """Number of the first trial."""
    count: int
    """How many trials."""

    def work(self, engine: Engine) -> Work[NDArray[np.float64]]:
        """Play the trials.

        Returns:
            float64[count, 6]: five chances of the player who asks, and his utility (without cube
            the equity), of each trial.
        """
        player = _Trials(engine, self.spec, self.candidate)
        figures = np.zeros((self.count, trials.N_FIGURES), dtype=np.float64)
        for row in range(self.count):
            yield from player.play(self.first_trial + row, figures[row])
        return figures


class _Trials:
    """Plays trials of one candidate."""

    def __init__(self, engine: Engine, spec: RolloutSpec, candidate: int) -> None:
        self._engine = engine
        self._spec = spec
        self._candidate = spec.candidates[candidate]
        state = self._candidate.state
        options = spec.options
        self._state = state
        self._core = engine.core(state.position.variant)
        self._board = board_array(state.position)
        self._start = cube_state(state)
        self._table = engine.match_table(state)
        is_cut_statically = options.truncate_level is Level.STATIC
        self._rules = trials.RolloutRules(
            variant=self._core.code,
            seed=options.seed,
            cubeful=spec.cubeful,
            reduce_variance=options.reduce_variance,
            stop_at_bearoff=options.stop_at_bearoff,
            max_plies=(options.truncate_plies or 0) if is_cut_statically else 0,
            first_rolls=30 if options.opening else 36,
        )
        self._cut = None if is_cut_statically else options.truncate_plies
        self._trial = trials.make_trial()
        self._chances = self._static_chances()

    def _static_chances(self) -> NDArray[np.float64]:
        """Static chances before the first roll."""
        out = np.zeros((1, N_OUTPUTS), dtype=np.float32)
        if self._state.position.is_finished:
            return self._wide(out[0])
        core = self._core
        scratch = core.threads.memory.scratch
        evaluate_before_roll(self._board[None], core.code, core.evaluator, scratch, out)
        return self._wide(out[0])

    @staticmethod
    def _wide(chances: NDArray[np.float32]) -> NDArray[np.float64]:
        wide: NDArray[np.float64] = chances.astype(np.float64)
        return wide

    def play(self, number: int, out: NDArray[np.float64]) -> Work[None]:
        """Play one trial and write its figures, float64[6], as the player who asks sees them."""
        trial = self._trial
        if self._state.position.is_finished:
            self._finished(out)
            return
        trials.begin_trial(
            trial, number, self._board, self._chances, self._start, self._candidate.may_act
        )
        while not trial.numbers[trials.DONE]:
            most = self._static_turns()
            if most > 0:
                core = self._core
                kernels.play_turns(
                    trial,
                    self._rules,
                    self._start,
                    self._table,
                    core.evaluator,
                    core.threads.memory,
                    core.threads.rollout,
                    most,
                )
            else:
                yield from self._play_turn()
            yield
        out[:] = trial.outcome
        if not self._candidate.asker_on_roll:
            self._turn(out)

    @staticmethod
    def _turn(out: NDArray[np.float64]) -> None:
        """Turn figures to the other player's view."""
        out[:] = (1.0 - out[0], out[3], out[4], out[1], out[2], -out[5])

    def _finished(self, out: NDArray[np.float64]) -> None:
        """The figures of a play that ends the game."""
        after = np.zeros(26, dtype=np.int8)
        turn_board(self._board, self._core.code, after)
        chances = np.zeros(N_OUTPUTS, dtype=np.float64)
        write_outcome(game_outcome(after, self._core.code), chances)
        out[:N_OUTPUTS] = chances
        out[trials.UTILITY] = chances @ EQUITY_WEIGHTS - 1.0
        if self._spec.cubeful:
            state = cube_state(self._spec.state)
            out[trials.UTILITY] = cubeless_utility(chances, state, self._table)

    def _static_turns(self) -> int:
        """How many turns the kernel may play on from here; 0 if a level looks ahead."""
        ply = int(self._trial.numbers[trials.PLY])
        options = self._spec.options
        if not self._spec.levels_at(ply).is_static:
            return 0
        most = _TURNS if options.reduce_variance else _TURNS_WITHOUT_LUCK
        if ply < options.early_plies:
            most = min(most, options.early_plies - ply)
        if self._cut is not None:
            most = min(most, self._cut - ply)
        return most

    def _play_turn(self) -> Work[None]:
        """Play one turn with look-ahead, or cut the trial."""
        trial, core, spec = self._trial, self._core, self._spec
        numbers = trial.numbers
        context = (self._rules, self._start, self._table)
        trials.stop_if_over(trial, *context, core.evaluator, core.threads.rollout.board)
        if numbers[trials.DONE]:
            return
        if self._cut is not None and numbers[trials.PLY] >= self._cut:
            yield from self._evaluate()
            return
        levels = spec.levels_at(int(numbers[trials.PLY]))
        if spec.cubeful and numbers[trials.MAY_ACT]:
            if levels.cube is Level.STATIC:
                trials.act_on_cube(trial, self._start, self._table, core.evaluator)
            else:
                yield from self._act_on_cube(levels.cube)
            if numbers[trials.DONE]:
                return
        memory = core.threads.rollout
        first, second = kernels.weigh_roll(
            trial, *context, core.evaluator, core.threads.memory, memory
        )
        reply = memory.reply.copy()
        chances = memory.reply_chances.copy()
        if levels.checker is not Level.STATIC:
            yield
            reply = yield from self._choose(Dice(int(first), int(second)), levels.checker)
            static = np.zeros(N_OUTPUTS, dtype=np.float32)
            scratch = core.threads.memory.scratch
            evaluate_board(reply, core.code, core.evaluator, scratch, static)
            chances[:] = static
        trials.make_reply(trial, *context, reply, chances)

    def _choose(self, dice: Dice, level: Level) -> Work[NDArray[np.int8]]:
        """The board after the play of a level that looks ahead."""
        board = self._trial.board
        is_nardy = self._state.position.variant is Variant.LONG_NARDY
        first_turn = is_nardy and int(board[24]) == 15
        ranked = yield from self._engine.rank(
            self._present(), dice, level, cubeless=not self._spec.cubeful, first_turn=first_turn
        )
        return board_array(ranked[0].play.result)

    def _act_on_cube(self, level: Level) -> Work[None]:
        """Let both players do with the cube what a level that looks ahead finds best."""
        trial = self._trial
        action = -1
        if may_double(trials.trial_state(trial, self._start)):
            player, state = Player(self._engine, level), self._present()
            if (yield from player.wants_to_double(state)):
                takes, beavers = yield from player.answer_to_double(state)
                action = DOUBLE_TAKE if takes else DOUBLE_PASS
                if beavers:
                    action = DOUBLE_BEAVER
        trials.turn_cube(trial, action, self._start, self._table)

    def _evaluate(self) -> Work[None]:
        """End the trial with the evaluation of a level that looks ahead."""
        state = self._present()
        evaluation = yield from self._engine.evaluate(state, self._spec.options.truncate_level)
        utility = evaluation.cubeless_equity
        if self._spec.cubeful:
            utility = evaluation.cubeful_equity * state.cube.value
            if evaluation.match_winning_chances is not None:
                utility = 2.0 * evaluation.match_winning_chances - 1.0
        trials.finish_trial(self._trial, np.array(evaluation.probabilities), utility)

    def _present(self) -> GameState:
        """The trial as a state of the player on roll."""
        trial, start = self._trial, self._state
        match = start.match
        is_turned = trial.numbers[trials.SIDE] == 1
        if match is not None and is_turned:
            match = MatchScore(match.length, match.opponent, match.on_roll, match.crawford)
        owner = _OWNERS[int(trial.numbers[trials.CUBE_OWNER])]
        return GameState(
            position=position_of_board(trial.board.tolist(), start.position.variant),
            on_roll=start.on_roll.other if is_turned else start.on_roll,
            cube=Cube(int(trial.numbers[trials.CUBE_VALUE]), owner, start.cube.cap),
            match=match,
            jacoby=start.jacoby,
            beavers=start.beavers,
        )
