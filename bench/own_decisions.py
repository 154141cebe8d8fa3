"""Decisions of self-play games, judged by the engine itself at every depth.

Tuning and measuring on them needs no other engine, and leaves the reference decisions alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.plays import board_array
from bgserver.engine.position import Position
from bgserver.kernels import search
from bgserver.kernels.classes import CLASS_NAMES
from bgserver.kernels.dice import random_bits, roll
from bgserver.kernels.evaluate import judge_class
from bgserver.kernels.moves import turn_board
from bgserver.kernels.network import N_OUTPUTS, equity, game_outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import GameCore

__all__ = ["Decision", "class_names", "decisions", "kept"]

_WIDEST = 0.6
_MOST_JUDGED = 16
_MOST_TURNS = 300


@dataclass(frozen=True)
class Decision:
    """Equities of the candidate plays of one roll at each depth, best static first."""

    position_class: str
    """What judges the board before the roll; one of `class_names`."""
    static: NDArray[np.float64]
    """Without looking ahead."""
    one: NDArray[np.float64]
    """One roll ahead."""
    two: NDArray[np.float64]
    """Two rolls ahead."""


def class_names(core: GameCore) -> tuple[str, ...]:
    """The classes of running games."""
    return (*CLASS_NAMES[core.code], "bearoff")


def decisions(core: GameCore, count: int, seed: int) -> Iterator[Decision]:
    """Decisions with at least two plays, every third turn of self-play games.

    Candidates are at most 16 plays within 0.6 points of the best one, by static equity. One turn in
    ten is played at random.
    """
    memory, deeper = (search.make_search_memory(core.evaluator.networks) for _ in range(2))
    turned = np.zeros(26, dtype=np.int8)
    names = class_names(core)
    game = 0
    found = 0
    while True:
        board = board_array(Position.start(core.weights.variant))
        for turn in range(_MOST_TURNS):
            dice = roll(seed, game, turn)
            first = search.may_be_first_turn(board, core.code)
            best, n_plays = search.best_static(
                board, *dice, core.code, first, core.evaluator, memory
            )
            boards = memory.plays.boards[:n_plays].copy()
            worth = np.array([equity(memory.values[row]) for row in range(n_plays)])
            bits = int(random_bits(seed + 1, game, turn))
            if n_plays > 1 and bits % 3 == 0:
                rows = np.argsort(-worth, kind="stable")[:_MOST_JUDGED].tolist()
                rows = [row for row in rows if worth[row] >= worth[best] - _WIDEST]
                one, two = _looks(core, boards[rows], deeper)
                name = names[judge_class(board, core.code, core.evaluator)]
                yield Decision(name, worth[rows], one, two)
                found += 1
                if found == count:
                    return
            chosen = (bits >> 32) % n_plays if bits % 10 == 1 else best
            if game_outcome(boards[chosen], core.code) > 0:
                break
            turn_board(boards[chosen], core.code, turned)
            board[:] = turned
        game += 1


def _looks(
    core: GameCore, boards: NDArray[np.int8], memory: search.SearchMemory
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Equities of boards after plays, one and two rolls ahead."""
    out = np.zeros(N_OUTPUTS)
    one, two = np.zeros(len(boards)), np.zeros(len(boards))
    for row, board in enumerate(boards):
        search.look_one_roll(board, core.code, core.evaluator, memory, out)
        one[row] = equity(out)
        search.look_two_rolls(board, core.code, core.evaluator, memory, out)
        two[row] = equity(out)
    return one, two


def kept(values: NDArray[np.float64], window: float, most: int) -> NDArray[np.int64]:
    """Places of the plays that a filter lets through, best first."""
    order: NDArray[np.int64] = np.argsort(-values, kind="stable")[:most]
    places: NDArray[np.int64] = order[values[order] >= values[order[0]] - window]
    return places
