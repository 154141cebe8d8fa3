"""Look-ahead levels as work in short pieces.

The value of a board after a play at depth n is the mean, over the opponent's 36 rolls, of the
value at depth n - 1 of the board after the opponent's best static play, seen from the other side.
With a cube the opponent may double before he rolls, and his plays are best statically with the
cube where it is then (`bgserver.kernels.cubeful`). Sums are in float64 in a fixed order, so every
level gives the same bits on every thread.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.levels import Level
from bgserver.kernels import cubeful, evaluate, search
from bgserver.kernels.choose import make_choice_memory
from bgserver.kernels.network import N_OUTPUTS, Networks
from bgserver.kernels.rollout import make_rollout_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.engine.cube_plan import CubeSearch
    from bgserver.engine.work import Work
    from bgserver.kernels.choose import ChoiceMemory
    from bgserver.kernels.cubeful import CubeMemory
    from bgserver.kernels.evaluate import Evaluator
    from bgserver.kernels.rollout import RolloutMemory
    from bgserver.kernels.search import SearchMemory

__all__ = [
    "DEPTHS",
    "MOVE_FILTERS",
    "MoveFilter",
    "ThreadMemory",
    "look_ahead",
    "look_ahead_with_cube",
]

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

_ROLLS_PER_PIECE = 5
"""Rolls after which a kernel looks one roll further: some 2 to 4 ms."""


class ThreadMemory(threading.local):
    """One set of search memory for each thread."""

    def __init__(self, networks: Networks) -> None:
        self.memory: SearchMemory = search.make_search_memory(networks)
        """Memory of the search kernels."""
        self.choice: ChoiceMemory = make_choice_memory()
        """Memory of `bgserver.kernels.choose`."""
        self.rollout: RolloutMemory = make_rollout_memory()
        """Memory of `bgserver.kernels.rollout`."""
        self.cube: CubeMemory = cubeful.make_cube_memory()
        """Memory of `bgserver.kernels.cubeful`."""


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


def look_ahead_with_cube(
    board: NDArray[np.int8],
    depth: int,
    cube: CubeSearch,
    evaluator: Evaluator,
    threads: ThreadMemory,
) -> Work[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Chances of the mover after a play, and what the other player's turn is worth to him.

    Args:
        board: int8[26], backgammon: the board after the play, seen by the mover.
        depth: 1..3.
        cube: The cube states; planned for this depth.
        evaluator: What judges the leaves.
        threads: Search memory.

    Returns:
        float64[5], the mover's cubeless chances, and float64[MAX_STATES], utilities of the player
        on roll in the states of the first turn (`CubeSearch.utilities`).
    """
    return (yield from _look_with_cube(board, 0, depth, cube, evaluator, threads))


def _look_with_cube(
    board: NDArray[np.int8],
    turn: int,
    turns: int,
    cube: CubeSearch,
    evaluator: Evaluator,
    threads: ThreadMemory,
) -> Work[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """The same at a turn of the plan."""
    plan, table = cube.plan, cube.table
    chances = np.zeros(N_OUTPUTS, dtype=np.float64)
    values = np.zeros(cubeful.MAX_STATES, dtype=np.float64)
    memory, memory_of_cube = threads.memory, threads.cube
    if turn == turns - 1 or cubeful.is_known(
        board, plan, turn, table, evaluator, memory, memory_of_cube, chances, values
    ):
        cubeful.look_one_roll_with_cube(
            board, plan, turn, table, evaluator, memory, memory_of_cube, chances, values
        )
        return chances, values
    cubeful.choose_replies(board, plan, turn, table, evaluator, memory, memory_of_cube)
    replies, first = memory_of_cube.replies.copy(), memory_of_cube.first.copy()
    if turn == turns - 2:
        for begin in range(0, search.N_ROLLS, _ROLLS_PER_PIECE):
            yield
            rolls = (begin, min(begin + _ROLLS_PER_PIECE, search.N_ROLLS))
            cubeful.look_after_replies(
                (replies, first),
                rolls,
                plan,
                turn,
                table,
                evaluator,
                (threads.memory, threads.cube),
                (chances, values),
            )
    else:
        states = int(plan.counts[turn])
        for roll in range(search.N_ROLLS):
            ways = search.WAYS[roll]
            found: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
            for column in range(states + 1):
                same = int(first[roll, column])
                if same not in found:
                    found[same] = yield from _look_with_cube(
                        replies[roll, column], turn + 1, turns, cube, evaluator, threads
                    )
                if column < states:
                    values[column] -= ways * cubeful.turn_value(plan, turn, column, found[same][1])
                else:
                    chances += ways * found[same][0]
            yield
    values /= 36.0
    chances /= 36.0
    flipped = np.array([1.0 - chances[0], chances[3], chances[4], chances[1], chances[2]])
    return flipped, values
