"""Label positions with the engine's own look-ahead: what the next network learns from.

Games are played by the present network, some turns at random, so that odd positions are seen
too. At each turn the best plays and one random other are labelled by looking ahead: siblings
matter, since it is their order that decides a play.

A label looks one roll ahead, or two, or two along a sample of the rolls: what a second look finds
out after a few of the replies, the same rolls for all siblings, is added to the first look. Its
mean over the samples is the look two rolls ahead, at a fraction of the cost; a fit needs many
labels, and can do with noise whose mean is zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.dice import random_bits, roll
from bgserver.kernels.evaluate import CLASS_BEAROFF, judge_class
from bgserver.kernels.moves import turn_board
from bgserver.kernels.network import N_OUTPUTS, equity, flip, game_outcome
from bgserver.kernels.search import (
    N_ROLLS,
    WAYS,
    best_replies,
    best_static,
    look_one_roll,
    look_two_rolls,
    may_be_first_turn,
)
from bgserver.training.starts import write_unusual_board

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.evaluate import Evaluator
    from bgserver.kernels.search import SearchMemory

__all__ = [
    "LONGEST_GAME",
    "MAX_LABELS",
    "SIBLINGS",
    "LabelBuffers",
    "begins_plainly",
    "blunders",
    "label_board",
    "label_game",
    "start_of_game",
    "take_siblings",
]

MAX_LABELS = 8192
"""Most labels of a game; there are a few hundred at most."""
SIBLINGS = 4
"""Most plays of a roll that are labelled because they are near the best."""
LONGEST_GAME = 400
"""Turns after which a game is given up."""
_WINDOW = 0.2


class LabelBuffers(NamedTuple):
    """Where a kernel writes the labels of one game."""

    boards: NDArray[np.int8]
    """[MAX_LABELS, 26]."""
    targets: NDArray[np.float32]
    """[MAX_LABELS, 5]."""
    turns: NDArray[np.int32]
    """[MAX_LABELS]."""


_PLAIN_STARTS = 3  # of eight games; three more begin with some random turns
_FIRST_UNUSUAL = 6
_EIGHTH = np.uint64(7)
_RANDOM_TURNS = np.uint64(8)  # where in the bits the number of random turns is


@kernel
def begins_plainly(seed: int, game: int) -> bool:
    """Whether a game begins at the start and no turn there is played at random."""
    bits = random_bits(seed + 1, game, 0)
    kind = bits & _EIGHTH
    if kind < _PLAIN_STARTS:
        return True
    if kind >= _FIRST_UNUSUAL:
        return False
    return int(np.int64(bits >> _RANDOM_TURNS)) & 7 == 0


@kernel
def start_of_game(
    start: NDArray[np.int8],
    variant: int,
    seed: int,
    game: int,
    turned: NDArray[np.int8],
    board: NDArray[np.int8],
) -> int:
    """Write the board of a game's first turn; return how many turns are played at random.

    Three games of eight begin at the start, three there with some random turns, two from an
    unusual board.
    """
    bits = random_bits(seed + 1, game, 0)
    kind = bits & _EIGHTH
    if kind >= _FIRST_UNUSUAL and write_unusual_board(variant, seed + 3, game, turned, board):
        return 0
    board[:] = start
    return int(np.int64(bits >> _RANDOM_TURNS)) & 7 if kind >= _PLAIN_STARTS else 0


@kernel
def take_siblings(values: NDArray[np.float32], count: int, taken: NDArray[np.int64]) -> int:
    """The best plays within the window, at most `SIBLINGS`, best first."""
    n_taken = 0
    limit = np.float32(0)
    for _ in range(min(SIBLINGS, count)):
        chosen = -1
        top = np.float32(-9)
        for row in range(count):
            worth = np.float32(equity(values[row]))
            if worth <= top or (n_taken > 0 and worth < limit):
                continue
            used = False
            for index in range(n_taken):
                if taken[index] == row:
                    used = True
            if not used:
                chosen = row
                top = worth
        if chosen < 0:
            break
        if n_taken == 0:
            limit = top - np.float32(_WINDOW)
        taken[n_taken] = chosen
        n_taken += 1
    return n_taken


@kernel
def _look_along_some_rolls(
    after: NDArray[np.int8],
    variant: int,
    rolls: int,
    offset: float,
    evaluator: Evaluator,
    memories: tuple[SearchMemory, SearchMemory],
    out: NDArray[np.float64],
) -> None:
    """Chances of the mover after a play, two rolls ahead along a sample of the first rolls.

    Args:
        after: int8[26]: the board after the play, seen by the mover; a running game.
        variant: The game.
        rolls: Rolls in the sample.
        offset: Where the sample begins, 0 to 1. The 36 rolls are passed in equal strides from
            there, so every roll comes as often as its chance is.
        evaluator: `Evaluator`.
        memories: `SearchMemory` of the first look and of the second.
        out: float64[5], written.
    """
    memory, second = memories
    best_replies(after, variant, evaluator, memory)
    total = np.zeros(N_OUTPUTS)
    for number in range(N_ROLLS):
        for index in range(N_OUTPUTS):
            total[index] += WAYS[number] * memory.reply_values[number, index] / 36.0
    number = 0
    passed = WAYS[0]
    for step in range(rolls):
        place = 36.0 * (step + offset) / rolls
        while place >= passed and number < N_ROLLS - 1:
            number += 1
            passed += WAYS[number]
        look_one_roll(memory.replies[number], variant, evaluator, second, out)
        for index in range(N_OUTPUTS):
            total[index] += (out[index] - memory.reply_values[number, index]) / rolls
    # Not cut to 0 to 1: that would lift the mean of small chances.
    out[:] = total
    flip(out, out)


@kernel
def label_board(
    after: NDArray[np.int8],
    variant: int,
    second_rolls: int,
    offset: float,
    evaluator: Evaluator,
    memories: tuple[SearchMemory, SearchMemory],
    out: NDArray[np.float64],
) -> None:
    """Label one board.

    Args:
        after: int8[26]: the board after a play, seen by the mover; a running game.
        variant: The game.
        second_rolls: Rolls after which to look a second roll ahead, 0 to 21.
        offset: Where the sample of these begins, 0 to 1.
        evaluator: `Evaluator` of the teacher.
        memories: `SearchMemory` of the first look and of the second.
        out: float64[5], written: the mover's chances.
    """
    if second_rolls == 0:
        look_one_roll(after, variant, evaluator, memories[0], out)
    elif second_rolls >= N_ROLLS:
        look_two_rolls(after, variant, evaluator, memories[0], out)
    else:
        _look_along_some_rolls(after, variant, second_rolls, offset, evaluator, memories, out)


@kernel
def blunders(game: int, bits: np.uint64) -> bool:
    """Whether a turn is played at random: one in ten of every other game.

    So positions after blunders are seen too. What comes after a blunder says nothing of the play
    before it, so the games without blunders are those that look far.
    """
    return game % 2 == 1 and (bits >> np.uint64(4)) % np.uint64(10) == 0


@kernel
def label_game(
    start: NDArray[np.int8],
    variant: int,
    seed: int,
    game: int,
    second_rolls: int,
    carried: float,
    evaluator: Evaluator,
    memories: tuple[SearchMemory, SearchMemory, SearchMemory],
    out: LabelBuffers,
) -> int:
    """Play one game and label its decisions.

    Args:
        start: int8[26].
        variant: The game.
        seed: Seed of dice and random choices.
        game: Number of the game.
        second_rolls: Rolls after which to look a second roll ahead, 0 to 21.
        carried: See `_look_along_the_game`.
        evaluator: `Evaluator` of the teacher.
        memories: Three `SearchMemory`: of the game, of the first look and of the second.
        out: Written.

    Returns:
        The number of labels.
    """
    memory, deeper, deepest = memories
    board = start.copy()
    turned = start.copy()
    label = np.zeros(N_OUTPUTS, dtype=np.float64)
    taken = np.zeros(SIBLINGS + 1, dtype=np.int64)
    # By turn: where its labels begin, how many of them are close siblings, what the label before
    # took the best play to be worth, whether it has a label (then the first) and whether it was
    # made.
    first_label = np.zeros(LONGEST_GAME + 1, dtype=np.int64)
    n_close = np.zeros(LONGEST_GAME, dtype=np.int64)
    at_once = np.zeros((LONGEST_GAME, N_OUTPUTS), dtype=np.float64)
    has_label = np.zeros(LONGEST_GAME, dtype=np.bool_)
    was_made = np.zeros(LONGEST_GAME, dtype=np.bool_)
    n_turns = 0
    random_turns = start_of_game(start, variant, seed, game, turned, board)
    n_labels = 0
    for turn in range(LONGEST_GAME):
        die_a, die_b = roll(seed, game, turn)
        first_turn = may_be_first_turn(board, variant)
        best, count = best_static(board, die_a, die_b, variant, first_turn, evaluator, memory)
        bits = random_bits(seed + 2, game, turn)
        other = int(np.int64((bits >> np.uint64(33)) % np.uint64(count)))
        offset = float(np.int64((bits >> np.uint64(8)) & np.uint64(0xFFFF))) / 65536.0
        boards_now = memory.plays.boards
        n_taken = take_siblings(memory.values, count, taken)
        first_label[turn] = n_labels
        at_once[turn, :] = memory.values[best]
        n_turns = turn + 1
        n_siblings = n_taken
        is_taken = False
        for index in range(n_taken):
            if taken[index] == other:
                is_taken = True
        if bits & np.uint64(3) == 0 and not is_taken:
            taken[n_taken] = other
            n_taken += 1
        for index in range(n_taken):
            after = boards_now[taken[index]]
            if n_labels == MAX_LABELS or judge_class(after, variant, evaluator) >= CLASS_BEAROFF:
                continue
            label_board(after, variant, second_rolls, offset, evaluator, (deeper, deepest), label)
            if index == 0:
                has_label[turn] = True
                if second_rolls > 0:
                    # The label before has looked at this play one roll ahead already.
                    look_one_roll(after, variant, evaluator, deeper, at_once[turn])
            if index < n_siblings:
                n_close[turn] += 1
            out.boards[n_labels, :] = after
            # The play at random has a turn of its own: it is no close sibling.
            out.turns[n_labels] = 2 * turn + int(index >= n_siblings)
            for output in range(N_OUTPUTS):
                out.targets[n_labels, output] = label[output]
            n_labels += 1
        chosen = best
        if turn < random_turns or blunders(game, bits):
            chosen = other
        was_made[turn] = chosen == best
        if game_outcome(boards_now[chosen], variant) > 0:
            break
        turn_board(boards_now[chosen], variant, turned)
        board[:] = turned
    _look_along_the_game(
        carried, n_turns, first_label, n_close, at_once, has_label, was_made, out.targets
    )
    return n_labels


@kernel
def _look_along_the_game(
    carried: float,
    n_turns: int,
    first_label: NDArray[np.int64],
    n_close: NDArray[np.int64],
    at_once: NDArray[np.float64],
    has_label: NDArray[np.bool_],
    was_made: NDArray[np.bool_],
    targets: NDArray[np.float32],
) -> None:
    """Carry what later turns found out back to the labels before them.

    A label by look-ahead is the mean over the rolls of what the best replies are worth at once, or
    one roll ahead. The reply really made turned out to be worth more or less than that, by its own
    label and what followed; a share of that difference is added to the label. Its mean over the
    dice is what looking further ahead would add, and the luck of the dice is not in it. With a
    share of 1 a label is right in the mean, whatever the teacher's faults, for the teacher's own
    play up to the next play at random. Close siblings get the same addition, so that the
    differences between them stay as they are.

    Args:
        carried: Share of what the next turn found out that goes back to a turn, 0 to 1.
        n_turns: Turns of the game.
        first_label: Where the labels of a turn begin.
        n_close: How many labels of a turn are close siblings.
        at_once: What the label of the turn before took the best play to be worth, seen by its
            mover: at once, or one roll ahead where labels look further.
        has_label: Whether the best play has a label; it is the first of the turn then.
        was_made: Whether the best play was made.
        targets: Changed.
    """
    found = np.zeros(N_OUTPUTS, dtype=np.float64)  # of the turn after: label minus at once
    addition = np.zeros(N_OUTPUTS, dtype=np.float64)
    for turn in range(n_turns - 1, -1, -1):
        if not has_label[turn]:
            found[:] = 0
            continue
        share = carried if was_made[turn] else 0.0
        addition[0] = -found[0] * share
        for output in range(1, N_OUTPUTS):
            other = output + 2 if output <= 2 else output - 2
            addition[output] = found[other] * share
        begin = first_label[turn]
        for output in range(N_OUTPUTS):
            found[output] = targets[begin, output] + addition[output] - at_once[turn, output]
        for row in range(begin, begin + n_close[turn]):
            # Not cut to 0 to 1: that would lift the mean of small chances.
            for output in range(N_OUTPUTS):
                targets[row, output] += addition[output]
