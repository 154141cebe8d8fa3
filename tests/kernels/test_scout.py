"""The scout: its estimates are those of its formula, and it never leaves out what must stay."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.position import Variant
from bgserver.kernels.moves import MAX_PLAYS, generate_plays, make_play_buffers
from bgserver.kernels.network import make_scratch
from bgserver.kernels.scout import begin_scouting, choose_promising
from tests import naive, positions
from tests.formulas import scout_estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine, GameCore
    from bgserver.kernels.network import NetworkScratch

BOTH = pytest.mark.parametrize("variant", list(Variant))


class Scouting:
    """The scout of a game with its memory."""

    def __init__(self, core: GameCore) -> None:
        self.core = core
        self.scratch: NetworkScratch = make_scratch(core.evaluator.networks)
        self.scores = np.zeros(MAX_PLAYS, dtype=np.float32)
        self.chosen = np.zeros(MAX_PLAYS, dtype=np.int64)

    def choose(
        self,
        boards: NDArray[np.int8],
        parent: NDArray[np.int8],
        most: int,
        window: float = np.inf,
    ) -> tuple[list[int], NDArray[np.float32]]:
        """The rows chosen, and the estimates of those that were not."""
        scout, code = self.core.evaluator.networks.scout, self.core.code
        begin_scouting(parent, code, scout, self.scratch)
        count = choose_promising(
            boards,
            len(boards),
            most,
            np.float32(window),
            parent,
            code,
            scout,
            self.scratch,
            self.scores,
            self.chosen,
        )
        return self.chosen[:count].tolist(), self.scores[: len(boards)].copy()


def rolls(
    core: GameCore, variant: Variant, seed: int, count: int
) -> Iterator[tuple[NDArray[np.int8], NDArray[np.int8]]]:
    """Random boards of running games and the boards after all plays of a roll."""
    plays = make_play_buffers()
    for case in positions.cases(variant.value, seed, count):
        if not naive.is_over(case.board):
            board = np.array(case.board, dtype=np.int8)
            n_plays = generate_plays(board, *case.dice, core.code, case.first_turn, plays)
            yield board, plays.boards[:n_plays].copy()


@BOTH
def test_estimates_are_those_of_the_formula(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    scouting = Scouting(core)
    compared = 0
    for board, children in rolls(core, variant, 1, 200):
        if naive.own_in_play(board.tolist()) <= 4 or len(children) == 1:
            continue  # a play might end the game, which counts for more than any estimate
        chosen, estimates = scouting.choose(children, board, 0)
        assert chosen == []
        for row in range(0, len(children), max(1, len(children) // 8)):
            expected = scout_estimate(core.weights.raw, children[row].tolist(), variant)
            assert estimates[row] == pytest.approx(expected, abs=2e-5)
            compared += 1
    assert compared > 500


@BOTH
def test_all_plays_are_promising_if_they_are_few(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    scouting = Scouting(core)
    for board, children in rolls(core, variant, 2, 100):
        for most in (len(children), len(children) + 1, MAX_PLAYS):
            chosen, _ = scouting.choose(children, board, most)
            assert sorted(chosen) == list(range(len(children)))


@BOTH
def test_the_best_estimates_are_chosen_best_first(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    scouting = Scouting(core)
    compared = 0
    for board, children in rolls(core, variant, 3, 300):
        if naive.own_in_play(board.tolist()) <= 4 or len(children) == 1:
            continue
        _, estimates = scouting.choose(children, board, 0)
        for most in range(1, min(len(children), 9)):
            chosen, _ = scouting.choose(children, board, most)
            # Stable: equal estimates stay in the order of the plays.
            assert chosen == np.argsort(-estimates, kind="stable")[:most].tolist()
            within = np.flatnonzero(estimates >= estimates.max() - np.float32(0.1))
            chosen, _ = scouting.choose(children, board, most, 0.1)
            order = np.argsort(-estimates, kind="stable")
            assert chosen == [row for row in order if row in within][:most]
            compared += 1
    assert compared > 500


@BOTH
def test_an_estimate_does_not_depend_on_the_other_plays(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    scouting = Scouting(core)
    rng = np.random.default_rng(4)
    for board, children in rolls(core, variant, 4, 100):
        _, estimates = scouting.choose(children, board, 0)
        some = rng.permutation(len(children))[: rng.integers(1, len(children) + 1)]
        if naive.own_in_play(board.tolist()) > 4 and len(some) > 1:
            _, found = scouting.choose(children[some], board, 0)
            np.testing.assert_array_equal(found, estimates[some])


@BOTH
def test_a_play_that_ends_the_game_is_always_promising(engine: Engine, variant: Variant) -> None:
    """Whatever the estimates: with few checkers left nothing may be left to a guess."""
    core = engine.core(variant)
    scouting = Scouting(core)
    plays = make_play_buffers()
    seen = 0
    for left in range(1, 5):
        for checkers in itertools.combinations_with_replacement(range(1, 7), left):
            board = np.zeros(26, dtype=np.int8)
            board[18] = -15
            np.add.at(board, list(checkers), 1)
            for dice in naive.ALL_ROLLS:
                count = generate_plays(board, *dice, core.code, False, plays)
                children = plays.boards[:count]
                ends = np.flatnonzero(~(children > 0).any(axis=1)).tolist()
                if ends and count > 1:
                    chosen, _ = scouting.choose(children, board, 1)
                    assert chosen[0] in ends, (checkers, dice)
                    seen += 1
    assert seen > 50
