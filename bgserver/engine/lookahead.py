"""Look-ahead levels as work in short pieces.

The value of a board after a play at depth n is the mean, over the opponent's 36 rolls, of the
value at depth n - 1 of the board after the opponent's best static play, seen from the other side.
Sums are in float64 in a fixed order, so every level gives the same bits on every thread.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.levels import Level
from bgserver.kernels import evaluate, search
from bgserver.kernels.choose import make_choice_memory
from bgserver.kernels.network import N_OUTPUTS, Networks
from bgserver.kernels.rollout import make_rollout_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.engine.work import Work
    from bgserver.kernels.choose import ChoiceMemory
    from bgserver.kernels.evaluate import Evaluator
    from bgserver.kernels.rollout import RolloutMemory
    from bgserver.kernels.search import SearchMemory

__all__ = ["DEPTHS", "MOVE_FILTERS", "MoveFilter", "ThreadMemory", "look_ahead"]

DEPTHS = {Level.STATIC: 0, Level.LOOKAHEAD_1: 1, Level.LOOKAHEAD_2: 2, Level.LOOKAHEAD_3: 3}
"""Rolls that a level looks ahead."""


@dataclass(frozen=True, slots=True)
class MoveFilter:
    """Which plays go on to the next depth."""

    window: float
    """Most that a play may be worse than the best at the depth before, in points."""
    most: int
    """At most so many plays."""


MOVE_FILTERS = (
    MoveFilter(window=0.16, most=8),
    MoveFilter(window=0.08, most=5),
    MoveFilter(window=0.06, most=3),
)
"""`MOVE_FILTERS[d]` chooses the plays that are looked at `d + 1` rolls ahead.

Tuned on positions of self-play: `python -m bench.tune_filters` prints what filters lose and cost.
The first two lose less than 0.01 thousandths of a point a decision; the third follows them.
"""


class ThreadMemory(threading.local):
    """One set of search memory for each thread."""

    def __init__(self, networks: Networks) -> None:
        self.memory: SearchMemory = search.make_search_memory(networks)
        """Memory of the search kernels."""
        self.choice: ChoiceMemory = make_choice_memory()
        """Memory of `bgserver.kernels.choose`."""
        self.rollout: RolloutMemory = make_rollout_memory()
        """Memory of `bgserver.kernels.rollout`."""


def look_ahead(
    board: NDArray[np.int8],
    depth: int,
    variant: int,
    evaluator: Evaluator,
    threads: ThreadMemory,
) -> Work[NDArray[np.float64]]:
    """Chances of the mover after a play, `depth` rolls ahead.

    Args:
        board: int8[26]: the board after the play, seen by the mover.
        depth: 0..3.
        variant: The game as the kernels' code.
        evaluator: What judges the leaves.
        threads: Search memory.

    Returns:
        float64[5].
    """
    out = np.zeros(N_OUTPUTS, dtype=np.float64)
    if depth == 0:
        static = np.zeros(N_OUTPUTS, dtype=np.float32)
        evaluate.evaluate_board(board, variant, evaluator, threads.memory.scratch, static)
        out[:] = static
        return out
    if depth == 1:
        search.look_one_roll(board, variant, evaluator, threads.memory, out)
        return out
    if depth == 2 or evaluate.judge_class(board, variant, evaluator) == evaluate.CLASS_FINISHED:
        search.look_two_rolls(board, variant, evaluator, threads.memory, out)
        return out
    search.best_replies(board, variant, evaluator, threads.memory)
    replies = threads.memory.replies.copy()
    for number in range(search.N_ROLLS):
        value = yield from look_ahead(replies[number], depth - 1, variant, evaluator, threads)
        out += search.WAYS[number] * value
        yield
    out /= 36.0
    flipped = np.array([1.0 - out[0], out[3], out[4], out[1], out[2]])
    return flipped
