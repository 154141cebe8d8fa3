"""Replies to a roll, one by one, as the search is defined."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.position import Variant
from bgserver.kernels import search
from bgserver.kernels.evaluate import CLASS_BEAROFF, evaluate_children, judge_class
from bgserver.kernels.moves import generate_plays, make_play_buffers
from bgserver.kernels.network import make_scratch
from bgserver.kernels.scout import begin_scouting, choose_promising
from tests import naive, positions
from tests.formulas import EQUITY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.engine.evaluator import GameCore


def running_boards(variant: Variant, seed: int, count: int) -> list[NDArray[np.int8]]:
    """Random boards of running games."""
    running = (
        np.array(case.board, dtype=np.int8)
        for case in positions.cases(variant.value, seed)
        if not naive.is_over(case.board)
    )
    return list(itertools.islice(running, count))


def turned_board(board: NDArray[np.int8], variant: Variant) -> NDArray[np.int8]:
    return np.array(naive.turn(board.tolist(), variant.value), dtype=np.int8)


class Replies:
    """All replies of the opponent to a roll on one board, and which the scout finds promising."""

    def __init__(self, core: GameCore, after: NDArray[np.int8], dice: tuple[int, int]) -> None:
        plays = make_play_buffers()
        scratch = make_scratch(core.evaluator.networks)
        variant = core.weights.variant
        parent = turned_board(after, variant)
        first_turn = variant is Variant.LONG_NARDY and parent[naive.HEAD] == 15
        count = generate_plays(parent, *dice, core.code, first_turn, plays)
        self.boards = plays.boards[:count].copy()
        self.values = np.zeros((count, 5), dtype=np.float32)
        evaluate_children(
            self.boards, count, parent, core.code, core.evaluator, scratch, self.values
        )
        self.promising = list(range(count))
        judged = judge_class(after, core.code, core.evaluator) == CLASS_BEAROFF
        a_gammon_is_at_stake = after[after > 0].sum() < 15 and after[after < 0].sum() == -15
        if not judged and not a_gammon_is_at_stake:
            scout = core.evaluator.networks.scout
            scores = np.zeros(count, dtype=np.float32)
            chosen = np.zeros(search.PROMISING, dtype=np.int64)
            begin_scouting(parent, core.code, scout, scratch)
            n_chosen = choose_promising(
                self.boards,
                count,
                search.PROMISING,
                search.PROMISING_WINDOW,
                parent,
                core.code,
                scout,
                scratch,
                scores,
                chosen,
            )
            self.promising = chosen[:n_chosen].tolist()

    def best(self) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """The best of the promising replies and its chances, the first of equals."""
        worth = self.values[self.promising].astype(np.float64) @ EQUITY
        row = self.promising[int(np.argmax(worth))]
        return self.boards[row], self.values[row]
