"""Look-ahead with the cube: values in several cube states from one walk over the rolls.

The player whose turn begins may double and the other may pass, take or beaver; then the roll is
played. `bgserver.kernels.search` averages chances over rolls and leaves the cube to a formula for
the first position; here the formula judges the positions at the end, and everything before is
decided by its consequences. Which states occur at which turn is laid down in a `CubePlan`: the
plays, their static chances and the formula's recursion over the cube are shared by all of them.

The value of a state at a turn is *without a double in this turn*, as a utility of the player on
roll (`bgserver.kernels.cube`): the mean over the 36 rolls of his best play, each play being worth
minus the value of the opponent's turn that follows, and that is the best of no double and of
double with the opponent's best answer. For every state the play is chosen that is best statically
in that state among those which the scout finds promising and which are not far from the best
without a cube (`MONEY_WINDOW`). Beside the states the cubeless chances
are carried, whose plays are those of `bgserver.kernels.search`. Backgammon only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.bearoff import own_arrangement
from bgserver.kernels.cube import (
    CubeState,
    cube_efficiency,
    cubeless_utility,
    gammon_shares,
    turned,
)
from bgserver.kernels.cube_exact import exact_no_double, exact_pair, exact_turn
from bgserver.kernels.cube_ladder import (
    CubeLadder,
    climb,
    make_cube_ladder,
    with_cube,
    worth_of_turn,
)
from bgserver.kernels.evaluate import evaluate_board, evaluate_children
from bgserver.kernels.moves import BACKGAMMON, MAX_PLAYS, generate_plays, turn_board
from bgserver.kernels.network import N_OUTPUTS, equity, flip, game_outcome, write_outcome
from bgserver.kernels.search import HIGH, LOW, N_ROLLS, WAYS, considers_all, find_promising

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.bearoff import BearoffTables
    from bgserver.kernels.cube import MatchTable
    from bgserver.kernels.evaluate import Evaluator
    from bgserver.kernels.search import SearchMemory

__all__ = [
    "BEAVER",
    "MAX_STATES",
    "MONEY_WINDOW",
    "NO_DOUBLE",
    "TAKE",
    "CubeMemory",
    "CubePlan",
    "choose_replies",
    "is_known",
    "look_after_replies",
    "look_one_roll_with_cube",
    "make_cube_memory",
    "turn_value",
]

MAX_STATES = 32
"""Cube states of one turn, at most."""

NO_DOUBLE = 0
TAKE = 1
BEAVER = 2
"""Columns of `CubePlan.links`: the state after each course of action."""

MONEY_WINDOW = np.float32(0.04)
"""Money play: most that the cubeless equity of a play may be below the best one of its roll, in
points, if it is to be judged with the cube. On 350 positions of self-play near a double the plays
left out lose 0.01 thousandths of a point a roll. In a match all promising plays are judged: the
best without a cube and score would lose 1.7 thousandths."""

_CACHE_SLOTS = 4096


class CubePlan(NamedTuple):
    """Which cube states occur at which turn; turn 0 is that of the player on roll now.

    Read only. The states of turn t are seen by the player whose turn it is.
    """

    state: CubeState
    """Score and rules seen by the player of turn 0, with the lowest cube value of the plan."""
    counts: NDArray[np.int64]
    """[turns]: states of each turn."""
    values: NDArray[np.int64]
    """[turns, MAX_STATES]: cube values."""
    owners: NDArray[np.int64]
    """[turns, MAX_STATES]: `CubeState.owner`."""
    links: NDArray[np.int64]
    """[turns, MAX_STATES, 3]: the states of the next turn that a state of this one leads to by
    `NO_DOUBLE`, `TAKE` and `BEAVER` after a double of the next player; -1 where there is no such
    action, or a double gains nothing."""
    passed: NDArray[np.float64]
    """[turns, MAX_STATES]: what a pass is worth to that player, who has doubled."""
    most: int
    """Doublings between the lowest cube value and the highest that occurs."""
    key: np.uint64
    """Tells plans of different meaning apart."""


class CubeMemory(NamedTuple):
    """Memory of these kernels beside the search's own; one set for each thread."""

    replies: NDArray[np.int8]
    """[21, MAX_STATES + 1, 26]: the best play of each roll in each state; after the last state
    comes the best by cubeless equity."""
    first: NDArray[np.int64]
    """[21, MAX_STATES + 1]: the first column with the same play."""
    values: NDArray[np.float64]
    """[21, MAX_STATES]: static utilities of the roller after these plays."""
    reply_values: NDArray[np.float32]
    """[21, 5]: the roller's chances after the play that is best without a cube."""
    worth: NDArray[np.float64]
    """[MAX_PLAYS, MAX_STATES]: utilities of the roller after plays of one roll."""
    ladder: CubeLadder
    """Of the position in hand."""
    board: NDArray[np.int8]
    """[26]."""
    chances: NDArray[np.float64]
    """[5]."""
    static: NDArray[np.float32]
    """[5]."""
    next_chances: NDArray[np.float64]
    """[5]."""
    next_values: NDArray[np.float64]
    """[MAX_STATES]."""
    column_values: NDArray[np.float64]
    """[MAX_STATES + 1, MAX_STATES]: values after the plays of one roll."""
    cache_used: NDArray[np.bool_]
    """[_CACHE_SLOTS]."""
    cache_keys: NDArray[np.uint64]
    """[_CACHE_SLOTS, 2]: plan and turn."""
    cache_boards: NDArray[np.int8]
    """[_CACHE_SLOTS, 26]: boards looked at one roll ahead lately."""
    cache_chances: NDArray[np.float64]
    """[_CACHE_SLOTS, 5]: the mover's chances."""
    cache_values: NDArray[np.float64]
    """[_CACHE_SLOTS, MAX_STATES]: the values of the player on roll."""


def make_cube_memory() -> CubeMemory:
    """Allocate one set."""
    return CubeMemory(
        replies=np.zeros((N_ROLLS, MAX_STATES + 1, 26), dtype=np.int8),
        first=np.zeros((N_ROLLS, MAX_STATES + 1), dtype=np.int64),
        values=np.zeros((N_ROLLS, MAX_STATES)),
        reply_values=np.zeros((N_ROLLS, N_OUTPUTS), dtype=np.float32),
        worth=np.zeros((MAX_PLAYS, MAX_STATES)),
        ladder=make_cube_ladder(),
        board=np.zeros(26, dtype=np.int8),
        chances=np.zeros(N_OUTPUTS),
        static=np.zeros(N_OUTPUTS, dtype=np.float32),
        next_chances=np.zeros(N_OUTPUTS),
        next_values=np.zeros(MAX_STATES),
        column_values=np.zeros((MAX_STATES + 1, MAX_STATES)),
        cache_used=np.zeros(_CACHE_SLOTS, dtype=np.bool_),
        cache_keys=np.zeros((_CACHE_SLOTS, 2), dtype=np.uint64),
        cache_boards=np.zeros((_CACHE_SLOTS, 26), dtype=np.int8),
        cache_chances=np.zeros((_CACHE_SLOTS, N_OUTPUTS)),
        cache_values=np.zeros((_CACHE_SLOTS, MAX_STATES)),
    )


@kernel
def _of_turn(plan: CubePlan, turn: int) -> CubeState:
    """Score and rules seen by the player of a turn."""
    if turn % 2 == 0:
        return plan.state
    return turned(plan.state)


@kernel
def _state(plan: CubePlan, turn: int, number: int) -> CubeState:
    """One of the states of a turn."""
    return with_cube(_of_turn(plan, turn), plan.values[turn, number], plan.owners[turn, number])


@kernel
def _rung(lowest: int, value: int) -> int:
    """Doublings from the lowest cube value."""
    rung = 0
    while lowest << rung < value:
        rung += 1
    return rung


@kernel
def turn_value(plan: CubePlan, turn: int, number: int, values: NDArray[np.float64]) -> float:
    """What the turn after `turn` is worth to its player when both play the cube rightly.

    Args:
        plan: `CubePlan`; turn + 1 is one of its turns.
        turn: The turn before.
        number: The state of that turn.
        values: float64[>= counts[turn + 1]]: values of all states of the next turn.
    """
    links = plan.links[turn, number]
    no_double = float(values[links[NO_DOUBLE]])
    if links[TAKE] < 0:
        return no_double
    accepted = float(values[links[TAKE]])
    if links[BEAVER] >= 0:
        accepted = min(accepted, float(values[links[BEAVER]]))
    return max(no_double, min(accepted, float(plan.passed[turn, number])))


@kernel
def _judge_rows(
    begin: int,
    end: int,
    boards: NDArray[np.int8],
    values: NDArray[np.float32],
    least: np.float32,
    plan: CubePlan,
    turn: int,
    table: MatchTable,
    bearoff: BearoffTables,
    memory: CubeMemory,
) -> None:
    """Write static utilities of a player after his plays, in all states of his turn.

    All rows in one call: passing so many arrays would cost more than judging a row.

    Args:
        begin: First row.
        end: The one after the last.
        boards: int8[>= end, 26]: boards after the plays, seen by him.
        values: float32[>= end, 5]: his chances.
        least: Plays of less cubeless equity are left out: their utility is minus infinity.
        plan: `CubePlan`.
        turn: His turn.
        table: Match equity table.
        bearoff: For exact values of short bear-offs.
        memory: `CubeMemory`; row - begin of `worth` is written.
    """
    count = plan.counts[turn]
    worth, chances, turned_row = memory.worth, memory.chances, memory.board
    mine = _of_turn(plan, turn)
    theirs = turned(mine)
    is_money = mine.away_own == 0
    for row in range(begin, end):
        place = row - begin
        if equity(values[row]) < least:
            for number in range(count):
                worth[place, number] = -np.inf
            continue
        if game_outcome(boards[row], BACKGAMMON) > 0:
            for index in range(N_OUTPUTS):
                chances[index] = values[row, index]
            for number in range(count):
                state = with_cube(mine, plan.values[turn, number], plan.owners[turn, number])
                worth[place, number] = cubeless_utility(chances, state, table)
            continue
        flip(values[row], chances)
        turn_board(boards[row], BACKGAMMON, turned_row)
        may_be_exact = is_money and own_arrangement(turned_row) > 0
        shares = gammon_shares(chances)
        efficiency = cube_efficiency(turned_row)
        climbed = False
        for number in range(count):
            state = with_cube(mine, plan.values[turn, number], plan.owners[turn, number])
            state = turned(state)
            if may_be_exact:
                roller, other = exact_pair(turned_row, state, bearoff)
                if roller > 0:
                    worth[place, number] = -exact_turn(roller, other, state, bearoff)
                    continue
            if not climbed:
                climb(shares, theirs, table, plan.most + 2, memory.ladder)
                climbed = True
            worth[place, number] = -worth_of_turn(
                chances[0],
                shares,
                state,
                table,
                efficiency,
                memory.ladder,
                _rung(plan.state.value, state.value),
            )


@kernel
def _choose_for_roll(
    number: int,
    begin: int,
    end: int,
    boards: NDArray[np.int8],
    values: NDArray[np.float32],
    plan: CubePlan,
    turn: int,
    table: MatchTable,
    bearoff: BearoffTables,
    memory: CubeMemory,
) -> None:
    """Choose the best play of roll `number` in every state among the rows begin..end - 1."""
    count = plan.counts[turn]
    worth = memory.worth
    best = begin
    best_equity = equity(values[begin])
    for row in range(begin + 1, end):
        cubeless = equity(values[row])
        if cubeless > best_equity:
            best_equity = cubeless
            best = row
    least = best_equity - MONEY_WINDOW
    if plan.state.away_own > 0:
        least = np.float32(-np.inf)
    _judge_rows(begin, end, boards, values, least, plan, turn, table, bearoff, memory)
    for column in range(count + 1):
        chosen = best
        if column < count:
            # Of equals the one that is best without a cube, else the first.
            top = worth[best - begin, column]
            for row in range(begin, end):
                if worth[row - begin, column] > top:
                    top = worth[row - begin, column]
                    chosen = row
            memory.values[number, column] = top
        memory.replies[number, column, :] = boards[chosen]
        # The row itself stands in for the column until all are known.
        memory.first[number, column] = chosen
    for column in range(count, -1, -1):
        chosen = memory.first[number, column]
        for other in range(column + 1):
            if memory.first[number, other] == chosen:
                memory.first[number, column] = other
                break
    memory.reply_values[number, :] = values[best]


@kernel
def choose_replies(
    board: NDArray[np.int8],
    plan: CubePlan,
    turn: int,
    table: MatchTable,
    evaluator: Evaluator,
    memory: SearchMemory,
    cube: CubeMemory,
) -> None:
    """The best static play of each of the 21 rolls in each state of a turn.

    Args:
        board: int8[26]: the board before the roll, seen by the player who has just moved; a
            running game.
        plan: `CubePlan`.
        turn: The turn of the other player.
        table: Match equity table.
        evaluator: `Evaluator` of backgammon.
        memory: `SearchMemory`.
        cube: `CubeMemory`; `replies`, `first`, `values` and `reply_values` are written.
    """
    turn_board(board, BACKGAMMON, memory.turned)
    if considers_all(board, BACKGAMMON, evaluator):
        plays = memory.plays
        for number in range(N_ROLLS):
            count = generate_plays(
                memory.turned, HIGH[number], LOW[number], BACKGAMMON, False, plays
            )
            evaluate_children(
                plays.boards,
                count,
                memory.turned,
                BACKGAMMON,
                evaluator,
                memory.scratch,
                memory.values,
            )
            _choose_for_roll(
                number,
                0,
                count,
                plays.boards,
                memory.values,
                plan,
                turn,
                table,
                evaluator.bearoff,
                cube,
            )
        return
    find_promising(BACKGAMMON, evaluator, memory)
    for number in range(N_ROLLS):
        _choose_for_roll(
            number,
            memory.first[number],
            memory.first[number + 1],
            memory.promising,
            memory.promising_values,
            plan,
            turn,
            table,
            evaluator.bearoff,
            cube,
        )


@kernel
def _slot(board: NDArray[np.int8], key: np.uint64) -> int:
    """Cache slot of a board with a plan."""
    for point in range(26):
        key = (key ^ np.uint64(np.uint8(board[point]))) * np.uint64(0x100000001B3)
    return int(np.int64((key >> np.uint64(32)) & np.uint64(_CACHE_SLOTS - 1)))


@kernel
def is_known(
    board: NDArray[np.int8],
    plan: CubePlan,
    turn: int,
    table: MatchTable,
    evaluator: Evaluator,
    memory: SearchMemory,
    cube: CubeMemory,
    chances: NDArray[np.float64],
    values: NDArray[np.float64],
) -> bool:
    """Write chances and values of a turn that needs no search: a finished game, or the tables'.

    Arguments as `look_one_roll_with_cube`. False if a search is needed.
    """
    count = plan.counts[turn]
    result = game_outcome(board, BACKGAMMON)
    if result > 0:
        write_outcome(result, chances)
        for number in range(count):
            state = turned(_state(plan, turn, number))
            values[number] = -cubeless_utility(chances, state, table)
        return True
    if turn == 0:
        return False
    turn_board(board, BACKGAMMON, cube.board)
    for number in range(count):
        state = _state(plan, turn, number)
        roller, other = exact_pair(cube.board, state, evaluator.bearoff)
        if roller < 0:
            return False
        values[number] = exact_no_double(roller, other, state, evaluator.bearoff)
    evaluate_board(board, BACKGAMMON, evaluator, memory.scratch, cube.static)
    for index in range(N_OUTPUTS):
        chances[index] = cube.static[index]
    return True


@kernel
def look_one_roll_with_cube(
    board: NDArray[np.int8],
    plan: CubePlan,
    turn: int,
    table: MatchTable,
    evaluator: Evaluator,
    memory: SearchMemory,
    cube: CubeMemory,
    chances: NDArray[np.float64],
    values: NDArray[np.float64],
) -> None:
    """Chances of the mover, and the values of the other player's turn, one roll ahead.

    Args:
        board: int8[26]: the board after a play, seen by the mover.
        plan: `CubePlan`.
        turn: The turn of the other player, who rolls next.
        table: Match equity table of the plan.
        evaluator: `Evaluator` of backgammon; always the same one for this memory.
        memory: `SearchMemory`.
        cube: `CubeMemory`; keeps what it has found lately.
        chances: float64[5], written: the mover's.
        values: float64[>= counts[turn]], written: the other player's in each state of his turn.
    """
    if is_known(board, plan, turn, table, evaluator, memory, cube, chances, values):
        return
    count = plan.counts[turn]
    key = plan.key ^ np.uint64(turn + 1)
    slot = _slot(board, key)
    if (
        cube.cache_used[slot]
        and cube.cache_keys[slot, 0] == plan.key
        and cube.cache_keys[slot, 1] == np.uint64(turn)
        and (cube.cache_boards[slot] == board).all()
    ):
        chances[:] = cube.cache_chances[slot]
        for number in range(count):
            values[number] = cube.cache_values[slot, number]
        return
    choose_replies(board, plan, turn, table, evaluator, memory, cube)
    chances[:] = 0.0
    for number in range(count):
        values[number] = 0.0
    for roll in range(N_ROLLS):
        for index in range(N_OUTPUTS):
            chances[index] += WAYS[roll] * cube.reply_values[roll, index]
        for number in range(count):
            values[number] += WAYS[roll] * cube.values[roll, number]
    for index in range(N_OUTPUTS):
        chances[index] /= 36.0
    flip(chances, chances)
    for number in range(count):
        values[number] /= 36.0
        cube.cache_values[slot, number] = values[number]
    cube.cache_used[slot] = True
    cube.cache_keys[slot, 0] = plan.key
    cube.cache_keys[slot, 1] = np.uint64(turn)
    cube.cache_boards[slot, :] = board
    cube.cache_chances[slot, :] = chances


@kernel
def look_after_replies(
    replies: tuple[NDArray[np.int8], NDArray[np.int64]],
    rolls: tuple[int, int],
    plan: CubePlan,
    turn: int,
    table: MatchTable,
    evaluator: Evaluator,
    memories: tuple[SearchMemory, CubeMemory],
    totals: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> None:
    """Look one roll ahead after the plays of some rolls, and add up what they are worth.

    Args:
        replies: Copies of `CubeMemory.replies` and `CubeMemory.first` of this turn.
        rolls: First roll, and the one after the last.
        plan: `CubePlan`; turn + 1 is its last turn.
        turn: The turn of the player who makes these plays.
        table: Match equity table of the plan.
        evaluator: `Evaluator` of backgammon.
        memories: `SearchMemory` and `CubeMemory`.
        totals: float64[5] and float64[>= counts[turn]]: his chances and values times 36, added to.
    """
    boards, first = replies
    memory, cube = memories
    chances, values = totals
    count = plan.counts[turn]
    for roll in range(rolls[0], rolls[1]):
        for column in range(count + 1):
            found = cube.column_values[column]
            if column == count or first[roll, column] == column:
                # The play that is best without a cube was mostly looked at before: it is cached.
                look_one_roll_with_cube(
                    boards[roll, column],
                    plan,
                    turn + 1,
                    table,
                    evaluator,
                    memory,
                    cube,
                    cube.next_chances,
                    found,
                )
            if column == count:
                for index in range(N_OUTPUTS):
                    chances[index] += WAYS[roll] * cube.next_chances[index]
            else:
                found = cube.column_values[first[roll, column]]
                values[column] -= WAYS[roll] * turn_value(plan, turn, column, found)
