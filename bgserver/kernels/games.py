"""Many turns of a game between static players in one call: dice, doubles and plays.

Every decision is that of the kernels that judge single turns (`choose`, `misjudge`,
`cube_actions`), so that a game goes the same way whether it is played here or turn by turn.
What needs an answer from the opponent, or an exact table, is left to the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.choose import choose_play
from bgserver.kernels.cube import (
    CENTERED,
    OPPOSING,
    OWNED,
    CubeState,
    cube_efficiency,
    may_double,
    normalised,
)
from bgserver.kernels.cube_actions import classify, cube_utilities, is_double
from bgserver.kernels.cube_exact import exact_pair
from bgserver.kernels.dice import random_bits, roll
from bgserver.kernels.evaluate import evaluate_before_roll
from bgserver.kernels.misjudge import (
    OFFER_DOUBLE,
    Misjudgement,
    choose_misjudged,
    misjudged_offer,
)
from bgserver.kernels.moves import generate_plays, turn_board
from bgserver.kernels.network import game_outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.choose import ChoiceMemory
    from bgserver.kernels.cube import MatchTable
    from bgserver.kernels.evaluate import Evaluator
    from bgserver.kernels.search import SearchMemory

__all__ = [
    "MAX_TURNS",
    "NUMBERS",
    "RANDOM_DRAWS",
    "TURNS_ASKED",
    "TURNS_LEFT",
    "TURNS_WON",
    "Seats",
    "Standing",
    "TurnRecord",
    "TurnRules",
    "make_standing",
    "make_turn_record",
    "play_turns",
]

MAX_TURNS = 64
"""Turns of one call: a few milliseconds."""
RANDOM_DRAWS = 1 << 30
"""Draw numbers of random players, far from those of the dice."""

TURNS_LEFT = 0
"""The game goes on after `MAX_TURNS` turns."""
TURNS_WON = 1
"""The player on turn has borne off the last checker; the board is his."""
TURNS_ASKED = 2
"""The player on turn, before the roll, doubles or must be asked whether he does."""

# Places in `Standing.numbers`; pairs are of the first and the second seat.
SEAT = 0
ROLLS = 1
TURNS = 2
CUBE_VALUE = 4
CUBE_OWNER = 5
AUTO_DOUBLES = 6
ROLLED = 7
DICE = 9
CHOICES = 11
NUMBERS = 13
"""Numbers of a standing."""


class TurnRules(NamedTuple):
    """What the rules say about the turns of one game."""

    variant: int
    """The game."""
    cube: bool
    """Whether anybody may double in this game at all."""
    cap: int
    """Highest cube value; without a cube its value."""
    jacoby: bool
    beavers: bool
    away: tuple[int, int]
    """Points that the two seats need; 0 in money play."""
    crawford: bool
    post_crawford: bool
    auto_doubles: int
    """Most automatic doubles by a first roll of two dice; 0 for none."""
    auto_double_each: bool
    """Whether the first roll of each side counts, and not only the first of the game."""
    head_exception: int
    """Long Nardy: 0 for none, 1 in each player's first turn, 2 in the first turn of the game."""
    holland_rolls: int
    """Turns that must be over before a restricted player doubles; 0 for none."""
    holland_total: bool
    """Whether turns of both sides are counted together, not of each side."""
    holland_seats: tuple[bool, bool]
    """Who is restricted."""
    dead_at: tuple[int, int]
    """Cube value from which on a seat may not double any more, as the cube is dead; 0 for none."""


class Seats(NamedTuple):
    """How the two seats decide; arrays of two."""

    plays_randomly: NDArray[np.bool_]
    play_noise: NDArray[np.float64]
    play_limit: NDArray[np.float64]
    cube_noise: NDArray[np.float64]
    cube_limit: NDArray[np.float64]


class Standing(NamedTuple):
    """Where a game stands; written."""

    board: NDArray[np.int8]
    """[26]: seen by the player on turn."""
    numbers: NDArray[np.int64]
    """[NUMBERS]: seat on turn; pairs of dice thrown; finished turns of each seat; cube value; owner
    (-1 for none); automatic doubles; rolls of two dice of each seat; the dice that are to be
    played, 0 before the roll; plays of each seat that count for `lost`."""
    lost: NDArray[np.float64]
    """[2]: what these plays lost."""
    chances: NDArray[np.float32]
    """[1, 5]: scratch."""


class TurnRecord(NamedTuple):
    """The turns of one call; written."""

    filled: NDArray[np.int64]
    """[1]: how many."""
    boards: NDArray[np.int8]
    """[MAX_TURNS, 26]: boards before the roll, seen by the player on turn."""
    dice: NDArray[np.int64]
    """[MAX_TURNS, 2]: as rolled."""
    rows: NDArray[np.int64]
    """[MAX_TURNS]: number of the play among those that `generate_plays` writes."""
    cubes: NDArray[np.int64]
    """[MAX_TURNS]: cube value before the roll."""


def make_standing() -> Standing:
    """Allocate one standing."""
    return Standing(
        board=np.zeros(26, dtype=np.int8),
        numbers=np.zeros(NUMBERS, dtype=np.int64),
        lost=np.zeros(2, dtype=np.float64),
        chances=np.zeros((1, 5), dtype=np.float32),
    )


def make_turn_record() -> TurnRecord:
    """Allocate one record."""
    return TurnRecord(
        filled=np.zeros(1, dtype=np.int64),
        boards=np.zeros((MAX_TURNS, 26), dtype=np.int8),
        dice=np.zeros((MAX_TURNS, 2), dtype=np.int64),
        rows=np.zeros(MAX_TURNS, dtype=np.int64),
        cubes=np.zeros(MAX_TURNS, dtype=np.int64),
    )


@kernel
def _cube_state(rules: TurnRules, numbers: NDArray[np.int64]) -> CubeState:
    """Cube and score seen by the player on turn."""
    seat = numbers[SEAT]
    owner = CENTERED
    if numbers[CUBE_OWNER] >= 0:
        owner = OWNED if numbers[CUBE_OWNER] == seat else OPPOSING
    value = numbers[CUBE_VALUE]
    return CubeState(
        value,
        owner,
        rules.away[seat],
        rules.away[1 - seat],
        rules.crawford,
        rules.post_crawford,
        rules.jacoby,
        rules.beavers,
        max(value, rules.cap),
    )


@kernel
def _may_offer(rules: TurnRules, numbers: NDArray[np.int64]) -> bool:
    """Whether the rules let the player on turn double before this roll."""
    seat = numbers[SEAT]
    value = numbers[CUBE_VALUE]
    if not rules.cube or 2 * value > rules.cap:
        return False
    if numbers[CUBE_OWNER] == 1 - seat:
        return False
    if rules.dead_at[seat] > 0 and value >= rules.dead_at[seat]:
        return False
    if rules.holland_seats[seat]:
        first, second = numbers[TURNS], numbers[TURNS + 1]
        played = first + second if rules.holland_total else min(first, second)
        return bool(played >= rules.holland_rolls)
    return True


@kernel
def _asks(
    game: tuple[int, int],
    rules: TurnRules,
    seats: Seats,
    standing: Standing,
    evaluator: Evaluator,
    table: MatchTable,
    memory: SearchMemory,
) -> bool:
    """Whether the player on turn doubles, or an exact table must be asked."""
    numbers = standing.numbers
    seat = numbers[SEAT]
    if seats.plays_randomly[seat]:
        return False
    state = _cube_state(rules, numbers)
    if not may_double(state):
        return False
    own, _ = exact_pair(standing.board, state, evaluator.bearoff)
    if own >= 0:
        return True
    evaluate_before_roll(
        standing.board.reshape(1, 26),
        rules.variant,
        evaluator,
        memory.scratch,
        standing.chances,
    )
    efficiency = cube_efficiency(standing.board)
    waiting, taken, passed, beaver = cube_utilities(standing.chances[0], state, table, efficiency)
    best = bool(is_double(classify(waiting, taken, passed, beaver)))
    if seats.cube_noise[seat] <= 0.0:
        return best
    own_waiting = normalised(waiting, state, table)
    if not best and own_waiting <= 0.0:
        return False
    gain = normalised(min(taken, passed), state, table) - own_waiting
    judge = Misjudgement(
        seats.cube_noise[seat],
        seats.cube_limit[seat],
        game[0],
        game[1],
        numbers[TURNS] + numbers[TURNS + 1],
    )
    return bool(misjudged_offer(standing.board, rules.variant, OFFER_DOUBLE, gain, judge))


@kernel
def _roll(game: tuple[int, int], rules: TurnRules, numbers: NDArray[np.int64]) -> None:
    """Roll two dice for the player on turn; the first double of all may double the stake."""
    seat = numbers[SEAT]
    first, second = roll(game[0], game[1], numbers[ROLLS])
    numbers[DICE] = first
    numbers[DICE + 1] = second
    if first == second and numbers[AUTO_DOUBLES] < rules.auto_doubles:
        earlier = numbers[ROLLED + seat]
        if not rules.auto_double_each:
            earlier += numbers[ROLLED + 1 - seat]
        if earlier == 0 and 2 * numbers[CUBE_VALUE] <= rules.cap:
            numbers[CUBE_VALUE] *= 2
            numbers[AUTO_DOUBLES] += 1
    numbers[ROLLS] += 1
    numbers[ROLLED + seat] += 1


@kernel
def _choose(
    game: tuple[int, int],
    rules: TurnRules,
    seats: Seats,
    standing: Standing,
    evaluator: Evaluator,
    table: MatchTable,
    memory: SearchMemory,
    choice: ChoiceMemory,
) -> int:
    """Row of the play that the player on turn makes; the plays are in `memory.plays`."""
    numbers = standing.numbers
    seat = numbers[SEAT]
    turns = numbers[TURNS] + numbers[TURNS + 1]
    first_turn = False
    if rules.head_exception == 1:
        first_turn = numbers[TURNS + seat] == 0
    elif rules.head_exception == 2:
        first_turn = turns == 0
    high = max(numbers[DICE], numbers[DICE + 1])
    low = min(numbers[DICE], numbers[DICE + 1])
    if seats.plays_randomly[seat]:
        count = generate_plays(standing.board, high, low, rules.variant, first_turn, memory.plays)
        bits = random_bits(game[0], game[1], RANDOM_DRAWS + turns)
        return int(np.int64(((bits >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)))
    cube = (_cube_state(rules, numbers), table)
    if seats.play_noise[seat] <= 0.0:
        return choose_play(
            standing.board, (high, low), rules.variant, first_turn, evaluator, cube, memory, choice
        )
    judge = Misjudgement(seats.play_noise[seat], seats.play_limit[seat], game[0], game[1], turns)
    row, count, lost = choose_misjudged(
        standing.board,
        (high, low),
        (rules.variant, first_turn),
        evaluator,
        cube,
        memory,
        choice,
        judge,
    )
    if count > 1:
        numbers[CHOICES + seat] += 1
        standing.lost[seat] += lost
    return row


@kernel
def play_turns(
    game: tuple[int, int],
    rules: TurnRules,
    seats: Seats,
    standing: Standing,
    record: TurnRecord,
    evaluator: Evaluator,
    table: MatchTable,
    memories: tuple[SearchMemory, ChoiceMemory],
) -> int:
    """Play on until somebody wins, somebody must be asked, or `MAX_TURNS` turns have been played.

    Args:
        game: (seed, number) of the dice and of the errors.
        rules: `TurnRules`.
        seats: `Seats`.
        standing: `Standing`, a running game; written.
        record: `TurnRecord`, written.
        evaluator: `Evaluator`.
        table: `MatchTable`.
        memories: (`SearchMemory`, `ChoiceMemory`).

    Returns:
        `TURNS_LEFT`, `TURNS_WON` or `TURNS_ASKED`.
    """
    memory, choice = memories
    numbers = standing.numbers
    record.filled[0] = 0
    while record.filled[0] < MAX_TURNS:
        cube_value = numbers[CUBE_VALUE]
        if numbers[DICE] == 0:
            if _may_offer(rules, numbers) and _asks(
                game, rules, seats, standing, evaluator, table, memory
            ):
                return TURNS_ASKED
            _roll(game, rules, numbers)
        row = _choose(game, rules, seats, standing, evaluator, table, memory, choice)
        number = record.filled[0]
        record.boards[number, :] = standing.board
        record.dice[number, 0] = numbers[DICE]
        record.dice[number, 1] = numbers[DICE + 1]
        record.rows[number] = row
        record.cubes[number] = cube_value
        record.filled[0] = number + 1
        if game_outcome(memory.plays.boards[row], rules.variant) > 0:
            standing.board[:] = memory.plays.boards[row]
            return TURNS_WON
        turn_board(memory.plays.boards[row], rules.variant, standing.board)
        seat = numbers[SEAT]
        numbers[TURNS + seat] += 1
        numbers[SEAT] = 1 - seat
        numbers[DICE] = 0
    return TURNS_LEFT
