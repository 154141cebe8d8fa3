"""Rollout trials: games from a position to the end, with luck taken off roll by roll.

A trial is a game in the making, kept in a few small arrays, so that a call may stop after some
turns and a later one, on any thread, may go on. Its dice depend on (seed, trial, ply) alone: every
candidate of a rollout meets the same dice, and a trial is the same wherever it is played.

Luck. Before each roll the best static reply to each of the 21 rolls is found; the luck of the roll
is what its reply is worth more than the mean of them all. Its mean is zero whatever is then
played, so taking it off leaves the mean of a trial as it is and takes off most of its variance.
What is taken off: the five chances, and the utility with cube and score.
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
from bgserver.kernels.evaluate import CLASS_BEAROFF, evaluate_children, judge_class
from bgserver.kernels.moves import MAX_PLAYS, generate_plays, turn_board
from bgserver.kernels.network import N_OUTPUTS, equity, flip, game_outcome, write_outcome
from bgserver.kernels.rollout_dice import ALL_ROLLS, roll_number, trial_roll
from bgserver.kernels.scout import begin_scouting, choose_promising
from bgserver.kernels.search import (
    HIGH,
    LOW,
    N_ROLLS,
    PROMISING,
    PROMISING_WINDOW,
    WAYS,
    SearchMemory,
    best_static,
    may_be_first_turn,
)
from bgserver.kernels.worth import worth_of_plays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.evaluate import Evaluator

__all__ = [
    "N_FIGURES",
    "UTILITY",
    "RolloutMemory",
    "RolloutRules",
    "Trial",
    "act_on_cube",
    "begin_trial",
    "finish_trial",
    "make_reply",
    "make_rollout_memory",
    "make_trial",
    "play_turns",
    "stop_if_over",
    "trial_state",
    "turn_cube",
    "weigh_roll",
]

N_FIGURES = 6
"""Figures of a trial: five chances of the player who is on roll at its start, and his utility."""
UTILITY = 5
"""Index of the utility: points with cube, or 2 * mwc - 1; without cube the cubeless equity."""

LUCK_PROMISING = 4
"""Replies to one roll that go through the full network for its luck, at most."""
LUCK_WINDOW = np.float32(0.08)
"""Points that the scout's estimate of such a reply may be below its best one.

The width of the play itself, 8 and 0.15, would give a standard deviation of 0.232 instead of 0.238
from the start, but takes a third longer; a single reply gives 0.320."""

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


class RolloutMemory(NamedTuple):
    """Scratch of the kernels beside the search's own; one set for each thread."""

    board: NDArray[np.int8]
    """[26]."""
    chances: NDArray[np.float64]
    """[5]."""
    values: NDArray[np.float64]
    """[max(MAX_PLAYS, 21 * PROMISING), 5]."""
    worth: NDArray[np.float64]
    """[the same, 2]."""
    figures: NDArray[np.float64]
    """[21, 6]: what the best reply to each roll is worth to the player on roll."""
    mean: NDArray[np.float64]
    """[6]."""
    reply: NDArray[np.int8]
    """[26]: the best static reply to the roll, seen by the player who makes it."""
    reply_chances: NDArray[np.float64]
    """[5]: his static chances after it."""
    items: NDArray[np.int64]
    """[36]."""


def make_trial() -> Trial:
    """Allocate one trial."""
    return Trial(
        board=np.zeros(26, dtype=np.int8),
        numbers=np.zeros(_N_NUMBERS, dtype=np.int64),
        chances=np.zeros(N_OUTPUTS, dtype=np.float64),
        luck=np.zeros(N_FIGURES, dtype=np.float64),
        outcome=np.zeros(N_FIGURES, dtype=np.float64),
    )


def make_rollout_memory() -> RolloutMemory:
    """Allocate one set."""
    most = max(MAX_PLAYS, N_ROLLS * PROMISING)
    return RolloutMemory(
        board=np.zeros(26, dtype=np.int8),
        chances=np.zeros(N_OUTPUTS, dtype=np.float64),
        values=np.zeros((most, N_OUTPUTS), dtype=np.float64),
        worth=np.zeros((most, 2), dtype=np.float64),
        figures=np.zeros((N_ROLLS, N_FIGURES), dtype=np.float64),
        mean=np.zeros(N_FIGURES, dtype=np.float64),
        reply=np.zeros(26, dtype=np.int8),
        reply_chances=np.zeros(N_OUTPUTS, dtype=np.float64),
        items=np.zeros(ALL_ROLLS, dtype=np.int64),
    )


# --- cube ------------------------------------------------------------------------------------


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


# --- a trial ---------------------------------------------------------------------------------


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
    memory: RolloutMemory,
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
            turn_board(trial.board, rules.variant, memory.board)
            if judge_class(memory.board, rules.variant, evaluator) == CLASS_BEAROFF:
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
def _best_row(
    values: NDArray[np.float32], begin: int, end: int, cubeful: bool, memory: RolloutMemory
) -> int:
    """The best of rows `begin`..`end`-1, the first of equals; with cube by `memory.worth`."""
    best = begin
    if cubeful:
        for row in range(begin + 1, end):
            if memory.worth[row, 0] > memory.worth[best, 0]:
                best = row
        return best
    top = equity(values[begin])
    for row in range(begin + 1, end):
        value = equity(values[row])
        if value > top:
            top = value
            best = row
    return best


@kernel
def _judge_rows(
    boards: NDArray[np.int8],
    values: NDArray[np.float32],
    count: int,
    state: CubeState,
    table: MatchTable,
    evaluator: Evaluator,
    memory: RolloutMemory,
) -> None:
    """Write `memory.worth` of plays: what they are worth with cube and score."""
    for row in range(count):
        for index in range(N_OUTPUTS):
            memory.values[row, index] = values[row, index]
    worth_of_plays(
        boards[:count],
        memory.values[:count],
        state,
        table,
        evaluator.bearoff,
        memory.board,
        memory.chances,
        memory.worth,
    )


@kernel
def _note_reply(
    number: int,
    row: int,
    values: NDArray[np.float32],
    cubeful: bool,
    memory: RolloutMemory,
) -> None:
    """Write the figures of the best reply to one roll."""
    for index in range(N_OUTPUTS):
        memory.figures[number, index] = values[row, index]
    memory.figures[number, UTILITY] = memory.worth[row, 1] if cubeful else equity(values[row])


@kernel
def _keep_reply(
    boards: NDArray[np.int8], values: NDArray[np.float32], row: int, memory: RolloutMemory
) -> None:
    memory.reply[:] = boards[row]
    for index in range(N_OUTPUTS):
        memory.reply_chances[index] = values[row, index]


@kernel
def _gather(
    trial: Trial,
    dice: tuple[int, int],
    width: tuple[int, np.float32],
    at: int,
    rules: RolloutRules,
    evaluator: Evaluator,
    search: SearchMemory,
) -> int:
    """Put the promising replies to a roll into `search.promising`; return how many.

    The best estimates come first, so a narrower choice is the beginning of a wider one.

    Args:
        trial: The trial; `begin_scouting` has been called for its board.
        dice: The roll.
        width: Replies at most, and most that an estimate may be below the best one.
        at: First row.
        rules: What the rollout is like.
        evaluator: `Evaluator`.
        search: Memory of the search.
    """
    variant = rules.variant
    boards = search.plays.boards
    first_turn = may_be_first_turn(trial.board, variant)
    count = generate_plays(trial.board, dice[0], dice[1], variant, first_turn, search.plays)
    chosen = choose_promising(
        boards,
        count,
        width[0],
        width[1],
        trial.board,
        variant,
        evaluator.networks.scout,
        search.scratch,
        search.scores,
        search.chosen,
    )
    for place in range(chosen):
        search.promising[at + place, :] = boards[search.chosen[place]]
    return chosen


@kernel
def _weigh_bearoff(
    trial: Trial,
    rolled: int,
    rules: RolloutRules,
    state: CubeState,
    table: MatchTable,
    evaluator: Evaluator,
    search: SearchMemory,
    memory: RolloutMemory,
) -> None:
    """Weigh a roll where the tables judge: they are exact and cheap, so nothing is left out."""
    variant = rules.variant
    first_turn = may_be_first_turn(trial.board, variant)
    boards, values = search.plays.boards, search.values
    for number in range(N_ROLLS):
        if number != rolled and not rules.reduce_variance:
            continue
        row, count = best_static(
            trial.board, HIGH[number], LOW[number], variant, first_turn, evaluator, search
        )
        if rules.cubeful:
            _judge_rows(boards, values, count, state, table, evaluator, memory)
            row = _best_row(values, 0, count, True, memory)
        _note_reply(number, row, values, rules.cubeful, memory)
        if number == rolled:
            _keep_reply(boards, values, row, memory)


@kernel
def weigh_roll(
    trial: Trial,
    rules: RolloutRules,
    start: CubeState,
    table: MatchTable,
    evaluator: Evaluator,
    search: SearchMemory,
    memory: RolloutMemory,
) -> tuple[int, int]:
    """Roll, add the luck of the roll to the trial's, and find the best static reply.

    Args:
        trial: A running trial; `luck` is written.
        rules: What the rollout is like.
        start: Cube and score at the start of the trial.
        table: Match equities.
        evaluator: `Evaluator`.
        search: Memory of the search.
        memory: `reply` and `reply_chances` are written.

    Returns:
        The dice.
    """
    variant = rules.variant
    dice = trial_roll(
        rules.seed,
        trial.numbers[NUMBER],
        trial.numbers[PLY],
        rules.first_rolls,
        memory.items,
    )
    rolled = roll_number(dice[0], dice[1])
    state = trial_state(trial, start)
    turn_board(trial.board, variant, memory.board)
    if judge_class(memory.board, variant, evaluator) == CLASS_BEAROFF:
        _weigh_bearoff(trial, rolled, rules, state, table, evaluator, search, memory)
        if rules.reduce_variance:
            _add_luck(trial, rolled, rules, memory)
        return dice
    begin_scouting(trial.board, variant, evaluator.networks.scout, search.scratch)
    narrow = (LUCK_PROMISING, LUCK_WINDOW)
    wide = (PROMISING, PROMISING_WINDOW)
    luck_end = total = 0
    for number in range(N_ROLLS):
        search.first[number] = total
        if number != rolled:
            if rules.reduce_variance:
                roll_dice = (HIGH[number], LOW[number])
                total += _gather(trial, roll_dice, narrow, total, rules, evaluator, search)
            continue
        # Luck must be judged alike for all rolls, the play is sought among more.
        if rules.reduce_variance:
            luck_end = total + _gather(trial, dice, narrow, total, rules, evaluator, search)
        total += _gather(trial, dice, wide, total, rules, evaluator, search)
    search.first[N_ROLLS] = total
    boards, values = search.promising, search.promising_values
    evaluate_children(boards, total, trial.board, variant, evaluator, search.scratch, values)
    if rules.cubeful:
        _judge_rows(boards, values, total, state, table, evaluator, memory)
    begin, end = search.first[rolled], search.first[rolled + 1]
    row = _best_row(values, begin, end, rules.cubeful, memory)
    _keep_reply(boards, values, row, memory)
    if rules.reduce_variance:
        for number in range(N_ROLLS):
            begin, end = search.first[number], search.first[number + 1]
            if number == rolled:
                end = luck_end
            row = _best_row(values, begin, end, rules.cubeful, memory)
            _note_reply(number, row, values, rules.cubeful, memory)
        _add_luck(trial, rolled, rules, memory)
    return dice


@kernel
def _add_luck(trial: Trial, rolled: int, rules: RolloutRules, memory: RolloutMemory) -> None:
    """Add the luck of a roll, seen by the player who began."""
    no_doubles = trial.numbers[PLY] == 0 and rules.first_rolls != ALL_ROLLS
    mean = memory.mean
    mean[:] = 0.0
    for number in range(N_ROLLS):
        if no_doubles and HIGH[number] == LOW[number]:
            continue
        for index in range(N_FIGURES):
            mean[index] += WAYS[number] * memory.figures[number, index]
    mean /= rules.first_rolls if no_doubles else ALL_ROLLS
    luck = trial.luck
    lucky = memory.figures[rolled]
    if trial.numbers[SIDE] == 0:
        for index in range(N_FIGURES):
            luck[index] += lucky[index] - mean[index]
        return
    luck[0] -= lucky[0] - mean[0]
    for index in range(1, 3):
        luck[index] += lucky[index + 2] - mean[index + 2]
        luck[index + 2] += lucky[index] - mean[index]
    luck[UTILITY] -= lucky[UTILITY] - mean[UTILITY]


@kernel
def make_reply(
    trial: Trial,
    rules: RolloutRules,
    start: CubeState,
    table: MatchTable,
    memory: RolloutMemory,
) -> None:
    """Make the play `memory.reply`, whose static chances are `memory.reply_chances`.

    Afterwards the other player is on roll, or the trial is finished.
    """
    value = game_outcome(memory.reply, rules.variant)
    if value > 0:
        write_outcome(value, memory.reply_chances)
        if rules.cubeful:
            utility = cubeless_utility(memory.reply_chances, trial_state(trial, start), table)
        else:
            utility = equity(memory.reply_chances)
        finish_trial(trial, memory.reply_chances, utility)
        return
    turn_board(memory.reply, rules.variant, trial.board)
    flip(memory.reply_chances, trial.chances)
    numbers = trial.numbers
    numbers[PLY] += 1
    numbers[SIDE] = 1 - numbers[SIDE]
    numbers[MAY_ACT] = 1
    if numbers[CUBE_OWNER] == OWNED:
        numbers[CUBE_OWNER] = OPPOSING
    elif numbers[CUBE_OWNER] == OPPOSING:
        numbers[CUBE_OWNER] = OWNED


@kernel
def play_turns(
    trial: Trial,
    rules: RolloutRules,
    start: CubeState,
    table: MatchTable,
    evaluator: Evaluator,
    search: SearchMemory,
    memory: RolloutMemory,
    most: int,
) -> int:
    """Play at most so many turns of a trial statically; return how many there were.

    Args:
        trial: A trial that has begun; `numbers[DONE]` tells whether it is finished now.
        rules: What the rollout is like.
        start: Cube and score at the start of the trial.
        table: Match equities.
        evaluator: `Evaluator`.
        search: Memory of the search.
        memory: Scratch.
        most: Turns to play at most.
    """
    for turn in range(most):
        stop_if_over(trial, rules, start, table, evaluator, memory)
        if trial.numbers[DONE]:
            return turn
        if rules.cubeful and trial.numbers[MAY_ACT]:
            act_on_cube(trial, start, table, evaluator)
            if trial.numbers[DONE]:
                return turn
        weigh_roll(trial, rules, start, table, evaluator, search, memory)
        make_reply(trial, rules, start, table, memory)
        if trial.numbers[DONE]:
            return turn + 1
    return most
