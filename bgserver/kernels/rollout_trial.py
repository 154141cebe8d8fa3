"""A trial of a rollout: a game in the making, its cube, and how it ends.

A trial is kept in a few small arrays, so that a call may stop after some turns and a later one, on
any thread, may go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.cube import (
    OPPOSING,
    OWNED,
    CubeState,
    MatchTable,
    cube_efficiency,
    cubeful_utility,
    cubeless_utility,
    may_double,
    passed_utility,
)
from bgserver.kernels.cube_actions import (
    DOUBLE_BEAVER,
    DOUBLE_PASS,
    DOUBLE_TAKE,
    beaver_allowed,
    classify,
    cube_utilities,
    turn_utility,
)
from bgserver.kernels.cube_exact import (
    exact_double_take,
    exact_no_double,
    exact_pair,
    exact_turn,
)
from bgserver.kernels.evaluate import CLASS_BEAROFF, judge_class
from bgserver.kernels.moves import turn_board
from bgserver.kernels.network import N_OUTPUTS, equity, flip, game_outcome, write_outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.evaluate import Evaluator

__all__ = [
    "CUBE_OWNER",
    "CUBE_VALUE",
    "DONE",
    "MAY_ACT",
    "NUMBER",
    "N_FIGURES",
    "PLY",
    "SIDE",
    "UTILITY",
    "RolloutRules",
    "Trial",
    "act_on_cube",
    "begin_trial",
    "finish_trial",
    "make_reply",
    "make_trial",
    "stop_if_over",
    "trial_state",
    "turn_cube",
]

N_FIGURES = 6
"""Figures of a trial: five chances of the player who is on roll at its start, and his utility."""
UTILITY = 5
"""Index of the utility: points with cube, or 2 * mwc - 1; without cube the cubeless equity."""

# Indexes into `Trial.numbers`.
PLY = 0
"""Rolls made."""
SIDE = 1
"""0 if the player on roll is the one who began, else 1."""
CUBE_VALUE = 2
CUBE_OWNER = 3
"""Seen by the player on roll."""
MAY_ACT = 4
"""1 if the player on roll may still turn the cube before his roll."""
DONE = 5
"""1 once `outcome` is written."""
NUMBER = 6
"""Number of the trial, from 0."""
_N_NUMBERS = 7

_ENDLESS = 3000
"""Rolls after which a trial is cut in any case: two sides that can hardly move might never end."""


class RolloutRules(NamedTuple):
    """What does not change during a rollout."""

    variant: int
    """The game."""
    seed: int
    """Seed of the dice."""
    cubeful: bool
    """With cube and score; never in Long Nardy."""
    reduce_variance: bool
    """Take off the luck."""
    stop_at_bearoff: bool
    """End a trial where the bear-off tables know what it is worth."""
    max_plies: int
    """End a trial after so many rolls with the static value; 0 plays to the end."""
    first_rolls: int
    """36, or 30 if the first roll is never a double, as at the start of a game."""


class Trial(NamedTuple):
    """A game in the making; everything is seen by the player on roll unless said otherwise."""

    board: NDArray[np.int8]
    """[26]: the board before the roll."""
    numbers: NDArray[np.int64]
    """[7]: see `PLY`..."""
    chances: NDArray[np.float64]
    """[5]: static chances before the roll."""
    luck: NDArray[np.float64]
    """[6]: luck so far, seen by the player who began."""
    outcome: NDArray[np.float64]
    """[6]: the figures of the finished trial without its luck, seen by the player who began."""


def make_trial() -> Trial:
    """Allocate one trial."""
    return Trial(
        board=np.zeros(26, dtype=np.int8),
        numbers=np.zeros(_N_NUMBERS, dtype=np.int64),
        chances=np.zeros(N_OUTPUTS, dtype=np.float64),
        luck=np.zeros(N_FIGURES, dtype=np.float64),
        outcome=np.zeros(N_FIGURES, dtype=np.float64),
    )


@kernel
def trial_state(trial: Trial, start: CubeState) -> CubeState:
    """The cube and the score as the player on roll sees them.

    Args:
        trial: The trial.
        start: The state at its start, seen by the player who was on roll then.
    """
    away_own, away_opponent = start.away_own, start.away_opponent
    if trial.numbers[SIDE] == 1:
        away_own, away_opponent = away_opponent, away_own
    return CubeState(
        trial.numbers[CUBE_VALUE],
        trial.numbers[CUBE_OWNER],
        away_own,
        away_opponent,
        start.crawford,
        start.post_crawford,
        start.jacoby,
        start.beavers,
        start.cap,
    )


@kernel
def turn_cube(trial: Trial, action: int, start: CubeState, table: MatchTable) -> None:
    """Do to the cube what an action of `bgserver.kernels.cube_actions` says."""
    trial.numbers[MAY_ACT] = 0
    if action == DOUBLE_PASS:
        utility = passed_utility(trial_state(trial, start), table)
        finish_trial(trial, trial.chances, utility)
    elif action == DOUBLE_TAKE:
        trial.numbers[CUBE_VALUE] *= 2
        trial.numbers[CUBE_OWNER] = OPPOSING
    elif action == DOUBLE_BEAVER:
        trial.numbers[CUBE_VALUE] *= 4
        trial.numbers[CUBE_OWNER] = OPPOSING


@kernel
def act_on_cube(trial: Trial, start: CubeState, table: MatchTable, evaluator: Evaluator) -> None:
    """Let both players do with the cube before the roll what is best by the static values."""
    state = trial_state(trial, start)
    if not may_double(state):
        trial.numbers[MAY_ACT] = 0
        return
    roller, other = exact_pair(trial.board, state, evaluator.bearoff)
    if roller > 0:
        no_double = exact_no_double(roller, other, state, evaluator.bearoff)
        taken = exact_double_take(roller, other, 2 * state.value, evaluator.bearoff)
        beaver = False
        if beaver_allowed(state):
            beavered = exact_double_take(roller, other, 4 * state.value, evaluator.bearoff)
            if beavered < taken:
                taken = beavered
                beaver = True
        action = classify(no_double, taken, passed_utility(state, table), beaver)
    else:
        efficiency = cube_efficiency(trial.board)
        no_double, taken, passed, beaver = cube_utilities(trial.chances, state, table, efficiency)
        action = classify(no_double, taken, passed, beaver)
    turn_cube(trial, action, start, table)


@kernel
def begin_trial(
    trial: Trial,
    number: int,
    board: NDArray[np.int8],
    chances: NDArray[np.float64],
    start: CubeState,
    may_act: bool,
) -> None:
    """Set up a trial.

    Args:
        trial: Written.
        number: Number of the trial.
        board: int8[26]: the board before the first roll, seen by the player on roll.
        chances: float64[5]: his static chances.
        start: Cube and score as he sees them.
        may_act: Whether he may turn the cube before his first roll.
    """
    trial.board[:] = board
    trial.chances[:] = chances
    trial.luck[:] = 0.0
    numbers = trial.numbers
    numbers[PLY] = 0
    numbers[SIDE] = 0
    numbers[CUBE_VALUE] = start.value
    numbers[CUBE_OWNER] = start.owner
    numbers[MAY_ACT] = 1 if may_act else 0
    numbers[DONE] = 0
    numbers[NUMBER] = number


@kernel
def finish_trial(trial: Trial, chances: NDArray[np.float64], utility: float) -> None:
    """Write the outcome of a trial from what the player on roll gets."""
    outcome = trial.outcome
    if trial.numbers[SIDE] == 0:
        outcome[:N_OUTPUTS] = chances
        outcome[UTILITY] = utility
    else:
        flip(chances, outcome[:N_OUTPUTS])
        outcome[UTILITY] = -utility
    outcome -= trial.luck
    trial.numbers[DONE] = 1


@kernel
def stop_if_over(
    trial: Trial,
    rules: RolloutRules,
    start: CubeState,
    table: MatchTable,
    evaluator: Evaluator,
    board: NDArray[np.int8],
) -> None:
    """Finish a trial before its next roll if the tables know its worth, or if it is cut there."""
    if rules.stop_at_bearoff:
        if rules.cubeful:
            state = trial_state(trial, start)
            roller, other = exact_pair(trial.board, state, evaluator.bearoff)
            if roller > 0:
                if trial.numbers[MAY_ACT]:
                    utility = exact_turn(roller, other, state, evaluator.bearoff)
                else:
                    utility = exact_no_double(roller, other, state, evaluator.bearoff)
                finish_trial(trial, trial.chances, utility)
                return
        else:
            turn_board(trial.board, rules.variant, board)
            if judge_class(board, rules.variant, evaluator) == CLASS_BEAROFF:
                finish_trial(trial, trial.chances, equity(trial.chances))
                return
    plies = trial.numbers[PLY]
    if (rules.max_plies > 0 and plies >= rules.max_plies) or plies >= _ENDLESS:
        if rules.cubeful:
            state = trial_state(trial, start)
            efficiency = cube_efficiency(trial.board)
            if trial.numbers[MAY_ACT]:
                utility = turn_utility(trial.chances, state, table, efficiency)
            else:
                utility = cubeful_utility(trial.chances, state, table, efficiency)
        else:
            utility = equity(trial.chances)
        finish_trial(trial, trial.chances, utility)


@kernel
def make_reply(
    trial: Trial,
    rules: RolloutRules,
    start: CubeState,
    table: MatchTable,
    reply: NDArray[np.int8],
    chances: NDArray[np.float64],
) -> None:
    """Make the play that leads to the board `reply`, whose static chances are `chances`.

    Afterwards the other player is on roll, or the trial is finished.
    """
    value = game_outcome(reply, rules.variant)
    if value > 0:
        write_outcome(value, chances)
        if rules.cubeful:
            utility = cubeless_utility(chances, trial_state(trial, start), table)
        else:
            utility = equity(chances)
        finish_trial(trial, chances, utility)
        return
    turn_board(reply, rules.variant, trial.board)
    flip(chances, trial.chances)
    numbers = trial.numbers
    numbers[PLY] += 1
    numbers[SIDE] = 1 - numbers[SIDE]
    numbers[MAY_ACT] = 1
    if numbers[CUBE_OWNER] == OWNED:
        numbers[CUBE_OWNER] = OPPOSING
    elif numbers[CUBE_OWNER] == OPPOSING:
        numbers[CUBE_OWNER] = OWNED
