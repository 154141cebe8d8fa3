"""Label cousins: the best replies, to the same roll, to different plays of one roll.

Plays of one roll differ in the checkers of the player who has just moved. A network that has only
compared those orders plays well, but looking one or three rolls ahead it has to compare boards that
differ in the other player's checkers, and is worse at it: what it gets wrong in the same way after
all replies to a play does not average out. So at each turn of a game the close plays are answered
by the best replies to one roll, and what stands on the board then is labelled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.dice import random_bits, roll
from bgserver.kernels.evaluate import CLASS_BEAROFF, judge_class
from bgserver.kernels.moves import turn_board
from bgserver.kernels.network import N_OUTPUTS, game_outcome
from bgserver.kernels.search import best_static, may_be_first_turn
from bgserver.training.labels import (
    LONGEST_GAME,
    MAX_LABELS,
    SIBLINGS,
    blunders,
    label_board,
    start_of_game,
    take_siblings,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.evaluate import Evaluator
    from bgserver.kernels.search import SearchMemory
    from bgserver.training.labels import LabelBuffers

__all__ = ["label_cousins"]


@kernel
def label_cousins(
    start: NDArray[np.int8],
    variant: int,
    seed: int,
    game: int,
    second_rolls: int,
    evaluator: Evaluator,
    memories: tuple[SearchMemory, SearchMemory, SearchMemory],
    out: LabelBuffers,
) -> int:
    """Play one game and label the best replies to the close plays of its turns.

    Args:
        start: int8[26].
        variant: The game.
        seed: Seed of dice and random choices.
        game: Number of the game.
        second_rolls: Rolls after which a label looks a second roll ahead, 0 to 21.
        evaluator: `Evaluator` of the teacher.
        memories: Three `SearchMemory`: of the game, of the first look and of the second.
        out: Written: boards seen by the player who has replied; cousins have the same turn.

    Returns:
        The number of labels.
    """
    memory, deeper, deepest = memories
    board = start.copy()
    turned = start.copy()
    label = np.zeros(N_OUTPUTS, dtype=np.float64)
    taken = np.zeros(SIBLINGS + 1, dtype=np.int64)
    close = np.zeros((SIBLINGS, 26), dtype=np.int8)
    random_turns = start_of_game(start, variant, seed, game, turned, board)
    n_labels = 0
    for turn in range(LONGEST_GAME):
        die_a, die_b = roll(seed, game, turn)
        first_turn = may_be_first_turn(board, variant)
        best, count = best_static(board, die_a, die_b, variant, first_turn, evaluator, memory)
        bits = random_bits(seed + 2, game, turn)
        chosen = best
        if turn < random_turns or blunders(game, bits):
            chosen = int(np.int64((bits >> np.uint64(33)) % np.uint64(count)))
        n_close = take_siblings(memory.values, count, taken)
        for index in range(n_close):
            close[index, :] = memory.plays.boards[taken[index]]
        # What follows overwrites the plays.
        board[:] = memory.plays.boards[chosen]
        offset = float(np.int64((bits >> np.uint64(8)) & np.uint64(0xFFFF))) / 65536.0
        die_a, die_b = roll(seed + 4, game, turn)
        first_label = n_labels
        for index in range(n_close):
            if n_labels == MAX_LABELS or game_outcome(close[index], variant) > 0:
                continue
            turn_board(close[index], variant, turned)
            first_turn = may_be_first_turn(turned, variant)
            reply, _ = best_static(turned, die_a, die_b, variant, first_turn, evaluator, memory)
            after = out.boards[n_labels]
            after[:] = memory.plays.boards[reply]
            if judge_class(after, variant, evaluator) >= CLASS_BEAROFF:
                continue
            label_board(after, variant, second_rolls, offset, evaluator, (deeper, deepest), label)
            out.turns[n_labels] = 2 * turn
            for output in range(N_OUTPUTS):
                out.targets[n_labels, output] = label[output]
            n_labels += 1
        if n_labels == first_label + 1:
            n_labels = first_label  # one alone has no cousins
        if game_outcome(board, variant) > 0:
            break
        turn_board(board, variant, turned)
        board[:] = turned
    return n_labels
