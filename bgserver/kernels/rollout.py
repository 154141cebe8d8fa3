"""Rollouts: games from a position to the end, with luck taken off roll by roll.

The dice depend on (seed, trial, ply) alone: every candidate of a rollout meets the same dice, and a
trial is the same wherever it is played.

Luck. Before each roll a good static reply to each of the 21 rolls is found; the luck of the roll
is what its reply is worth more than the mean of them all. Its mean is zero whatever is then
played, so taking it off leaves the mean of a trial as it is and takes off most of its variance.
For that the replies need not be the best: they are sought among the few that the scout finds
promising. The play itself is sought among all. What is taken off: the five chances, and the
utility with cube and score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.evaluate import CLASS_BEAROFF, evaluate_children, judge_class
from bgserver.kernels.moves import MAX_PLAYS, generate_plays, turn_board
from bgserver.kernels.network import N_OUTPUTS, equity
from bgserver.kernels.rollout_dice import ALL_ROLLS, roll_number, trial_roll
from bgserver.kernels.rollout_trial import (
    DONE,
    MAY_ACT,
    N_FIGURES,
    NUMBER,
    PLY,
    SIDE,
    UTILITY,
    RolloutRules,
    Trial,
    act_on_cube,
    make_reply,
    stop_if_over,
    trial_state,
)
from bgserver.kernels.scout import begin_scouting, choose_promising
from bgserver.kernels.search import (
    HIGH,
    LOW,
    N_ROLLS,
    PROMISING,
    WAYS,
    SearchMemory,
    best_static,
    may_be_first_turn,
)
from bgserver.kernels.worth import worth_of_plays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.cube import CubeState, MatchTable
    from bgserver.kernels.evaluate import Evaluator

__all__ = ["RolloutMemory", "make_rollout_memory", "play_turns", "weigh_roll"]

LUCK_PROMISING = 4
"""Replies to one roll that go through the full network for its luck, at most."""
LUCK_WINDOW = np.float32(0.08)
"""Points that the scout's estimate of such a reply may be below its best one.

With 8 replies and 0.15 the standard deviation from the start would be 0.232 instead of 0.238, but
it takes a third longer; a single reply gives 0.320.
"""


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
    at: int,
    rules: RolloutRules,
    evaluator: Evaluator,
    search: SearchMemory,
) -> int:
    """Put the promising replies to a roll into `search.promising`; return how many.

    Args:
        trial: The trial; `begin_scouting` has been called for its board.
        dice: The roll.
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
        LUCK_PROMISING,
        LUCK_WINDOW,
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
def _find_reply(
    trial: Trial,
    dice: tuple[int, int],
    rules: RolloutRules,
    state: CubeState,
    table: MatchTable,
    evaluator: Evaluator,
    search: SearchMemory,
    memory: RolloutMemory,
) -> int:
    """The best of all plays of a roll, as a row of `search.plays.boards` and `search.values`."""
    variant = rules.variant
    first_turn = may_be_first_turn(trial.board, variant)
    best, count = best_static(trial.board, dice[0], dice[1], variant, first_turn, evaluator, search)
    if rules.cubeful:
        _judge_rows(search.plays.boards, search.values, count, state, table, evaluator, memory)
        best = _best_row(search.values, 0, count, True, memory)
    return best


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

    The reply is sought among all plays, as a static player does; luck is judged by the promising
    ones, which is enough for it and leaves the mean as it is.

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
    row = _find_reply(trial, dice, rules, state, table, evaluator, search, memory)
    _keep_reply(search.plays.boards, search.values, row, memory)
    if not rules.reduce_variance:
        return dice
    turn_board(trial.board, variant, memory.board)
    if judge_class(memory.board, variant, evaluator) == CLASS_BEAROFF:
        # The tables are exact and cheap, so nothing is left out.
        for number in range(N_ROLLS):
            roll_dice = (HIGH[number], LOW[number])
            row = _find_reply(trial, roll_dice, rules, state, table, evaluator, search, memory)
            _note_reply(number, row, search.values, rules.cubeful, memory)
        _add_luck(trial, rolled, rules, memory)
        return dice
    begin_scouting(trial.board, variant, evaluator.networks.scout, search.scratch)
    total = 0
    for number in range(N_ROLLS):
        search.first[number] = total
        roll_dice = (HIGH[number], LOW[number])
        total += _gather(trial, roll_dice, total, rules, evaluator, search)
    search.first[N_ROLLS] = total
    boards, values = search.promising, search.promising_values
    evaluate_children(boards, total, trial.board, variant, evaluator, search.scratch, values)
    if rules.cubeful:
        _judge_rows(boards, values, total, state, table, evaluator, memory)
    for number in range(N_ROLLS):
        begin, end = search.first[number], search.first[number + 1]
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
        stop_if_over(trial, rules, start, table, evaluator, memory.board)
        if trial.numbers[DONE]:
            return turn
        if rules.cubeful and trial.numbers[MAY_ACT]:
            act_on_cube(trial, start, table, evaluator)
            if trial.numbers[DONE]:
                return turn
        weigh_roll(trial, rules, start, table, evaluator, search, memory)
        make_reply(trial, rules, start, table, memory.reply, memory.reply_chances)
        if trial.numbers[DONE]:
            return turn + 1
    return most
