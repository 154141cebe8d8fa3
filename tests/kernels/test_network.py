"""Static evaluation: the network's formula, its shortcuts, and what the board makes certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.position import Variant
from bgserver.kernels import evaluate, network
from bgserver.kernels.classes import CLASS_RACE, N_CLASSES, position_class
from bgserver.kernels.moves import generate_plays, make_play_buffers
from bgserver.kernels.network import BLOCK
from tests import bearoff_oracle, naive, positions
from tests.formulas import network_chances

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine, GameCore

BOTH = pytest.mark.parametrize("variant", list(Variant))


def running_boards(variant: Variant, seed: int, count: int) -> Iterator[NDArray[np.int8]]:
    """Random boards of running games."""
    for case in positions.cases(variant.value, seed, count):
        if not naive.is_over(case.board):
            yield np.array(case.board, dtype=np.int8)


def chances(core: GameCore, board: NDArray[np.int8]) -> NDArray[np.float32]:
    """The mover's five chances on a board after a play."""
    out = np.full(5, np.nan, dtype=np.float32)
    scratch = network.make_scratch(core.evaluator.networks)
    evaluate.evaluate_board(board, core.code, core.evaluator, scratch, out)
    return out


def judge(core: GameCore, board: NDArray[np.int8]) -> int:
    """What judges a board."""
    return int(evaluate.judge_class(board, core.code, core.evaluator))


# --- the network ---------------------------------------------------------------------------------


@BOTH
def test_outputs_are_those_of_the_formula(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    compared = [0] * N_CLASSES
    for board in running_boards(variant, 1, 600):
        c = judge(core, board)
        if c >= N_CLASSES:
            continue
        expected = network_chances(core.weights.raw, board.tolist(), variant, c)
        found = chances(core, board)
        if c == CLASS_RACE and (found[0] in {0, 1} or 1 in {found[1], found[3]}):
            continue  # certain, so nobody asks the network: see test_race_bounds
        assert found[0] == pytest.approx(expected[0], abs=1e-5)
        for index in range(1, 5):
            # The board and the order of the chances may have lowered it.
            assert found[index] <= expected[index] + 1e-5
        is_saved = c == CLASS_RACE and found[3] == 0
        in_order = bool((np.diff(expected[:3]) < 0).all())
        if in_order and not is_saved and naive.own_in_play(board.tolist()) == 15:
            lost = min(expected[3], 1 - expected[0])
            assert found[3] == pytest.approx(lost, abs=1e-5)
        compared[c] += 1
    assert min(compared) > 30, compared


@BOTH
def test_plays_of_a_roll_are_worth_what_each_board_is_worth_alone(
    engine: Engine, variant: Variant
) -> None:
    """The accumulator's updates lead to the same chances as starting anew."""
    core = engine.core(variant)
    plays = make_play_buffers()
    scratch = network.make_scratch(core.evaluator.networks)
    values = np.zeros((len(plays.boards), 5), dtype=np.float32)
    compared = 0
    for case in positions.cases(variant.value, 2, 400):
        if naive.is_over(case.board):
            continue
        board = np.array(case.board, dtype=np.int8)
        count = generate_plays(board, *case.dice, core.code, case.first_turn, plays)
        values[:count] = np.nan
        evaluate.evaluate_children(
            plays.boards, count, board, core.code, core.evaluator, scratch, values
        )
        for row in range(0, count, max(1, count // 20)):
            alone = chances(core, plays.boards[row])
            np.testing.assert_allclose(values[row], alone, atol=2e-5, err_msg=str(case))
            compared += 1
    assert compared > 2000


@BOTH
def test_a_board_has_the_same_bits_whatever_stands_beside_it(
    engine: Engine, variant: Variant
) -> None:
    """In any place of any block, among any boards of any classes, first or last."""
    core = engine.core(variant)
    plays = make_play_buffers()
    scratch = network.make_scratch(core.evaluator.networks)

    def values_of(boards: NDArray[np.int8], parent: NDArray[np.int8]) -> NDArray[np.float32]:
        out = np.full((len(boards), 5), np.nan, dtype=np.float32)
        evaluate.evaluate_children(
            boards, len(boards), parent, core.code, core.evaluator, scratch, out
        )
        return out

    rng = np.random.default_rng(8)
    strangers = np.array(list(running_boards(variant, 9, 60)))
    compared = 0
    for case in positions.cases(variant.value, 8, 150):
        if naive.is_over(case.board):
            continue
        board = np.array(case.board, dtype=np.int8)
        count = generate_plays(board, *case.dice, core.code, case.first_turn, plays)
        children = plays.boards[:count].copy()
        expected = values_of(children, board)
        order = rng.permutation(count)
        np.testing.assert_array_equal(values_of(children[order], board), expected[order])
        few = order[: rng.integers(1, 6)]
        np.testing.assert_array_equal(values_of(children[few], board), expected[few])
        mixed = np.concatenate([strangers[rng.permutation(len(strangers))[:7]], children[few]])
        np.testing.assert_array_equal(values_of(mixed, board)[7:], expected[few])
        compared += count > BLOCK
    assert compared > 50


@BOTH
def test_boards_before_the_roll_are_judged_by_the_other_side(
    engine: Engine, variant: Variant
) -> None:
    """To the bit what the opponent, who has just moved, would be told of each board alone."""
    core = engine.core(variant)
    boards = np.array(list(running_boards(variant, 10, 300)))
    found = np.full((len(boards), 5), np.nan, dtype=np.float32)
    scratch = network.make_scratch(core.evaluator.networks)
    evaluate.evaluate_before_roll(boards, core.code, core.evaluator, scratch, found)
    for board, values in zip(boards, found, strict=True):
        turned = np.array(naive.turn(board.tolist(), variant.value), dtype=np.int8)
        expected = chances(core, turned)
        network.flip(expected, expected)
        np.testing.assert_array_equal(values, expected)


# --- what the board makes certain ----------------------------------------------------------------


@BOTH
def test_chances_are_ordered_and_within_0_and_1(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    for board in running_boards(variant, 3, 2000):
        win, gammon, backgammon, lose_gammon, lose_backgammon = chances(core, board).tolist()
        assert 0 <= backgammon <= gammon <= win <= 1
        assert 0 <= lose_backgammon <= lose_gammon <= 1 - win + 1e-7
        if variant is Variant.LONG_NARDY:  # 7.12: there is no third level
            assert backgammon == lose_backgammon == 0


@BOTH
def test_no_gammon_against_a_side_that_has_borne_off(engine: Engine, variant: Variant) -> None:
    """3.2: such a side loses a single game."""
    core = engine.core(variant)
    seen = [0, 0]
    for board in running_boards(variant, 4, 2000):
        found = chances(core, board)
        if naive.opposing_in_play(board.tolist()) < 15:
            assert found[1] == found[2] == 0
            seen[0] += 1
        if naive.own_in_play(board.tolist()) < 15:
            assert found[3] == found[4] == 0
            seen[1] += 1
    assert min(seen) > 100


@BOTH
def test_finished_games_are_exact(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    seen = set()
    for case in positions.cases(variant.value, 5, 2000):
        others = [min(count, 0) for count in case.board]  # the mover has borne off everything
        if not any(others):
            continue
        value = naive.game_value(others, variant.value)
        board = np.array(others, dtype=np.int8)
        assert chances(core, board).tolist() == [1, value >= 2, value >= 3, 0, 0]
        assert judge(core, board) == evaluate.CLASS_FINISHED
        assert network.game_outcome(board, core.code) == value
        seen.add(value)
    assert seen == ({1, 2, 3} if variant is Variant.BACKGAMMON else {1, 2})


@BOTH
def test_bear_off_chances_are_exact(engine: Engine, variant: Variant) -> None:
    """With few checkers at home and no contact the tables answer, not a network."""
    core = engine.core(variant)
    for own in ((1, 0, 1, 0, 0, 0), (0, 0, 0, 1, 1, 0), (0, 0, 0, 0, 0, 2)):
        for other in ((1, 0, 0, 0, 0, 0), (0, 2, 0, 0, 1, 0)):
            points = [0] * 26
            for point in range(1, 7):
                points[point] = own[point - 1]
                # The opponent's point: 25 - point, in Long Nardy the point 12 further on.
                mirrored = 25 - point if variant is Variant.BACKGAMMON else point + 12
                points[mirrored] = -other[point - 1]
            board = np.array(points, dtype=np.int8)
            assert judge(core, board) == evaluate.CLASS_BEAROFF
            equity = bearoff_oracle.equities(other, own)[0]  # the opponent's, who rolls next
            exact = (1 - equity) / 2
            np.testing.assert_allclose(
                chances(core, board), [float(exact), 0, 0, 0, 0], atol=1e-6, rtol=0
            )


@BOTH
def test_bear_off_tables_judge_only_without_contact_and_at_home(
    engine: Engine, variant: Variant
) -> None:
    core = engine.core(variant)
    seen = 0
    for board in running_boards(variant, 6, 1500):
        at_home = naive.all_home(board.tolist()) and naive.all_home(
            naive.turn(board.tolist(), variant.value)
        )
        contact = naive.has_contact(board.tolist(), variant.value)
        by_tables = at_home and not contact
        c = position_class(board, core.code)
        assert judge(core, board) == (evaluate.CLASS_BEAROFF if by_tables else c)
        assert (c == CLASS_RACE) is not contact
        seen += by_tables
    assert seen > 20


def test_turning_the_view_of_the_chances_twice_changes_nothing() -> None:
    before = np.array([0.6, 0.2, 0.05, 0.15, 0.01])
    once = np.zeros(5)
    network.flip(before, once)
    assert once.tolist() == [pytest.approx(0.4), 0.15, 0.01, 0.2, 0.05]
    assert network.equity(once) == pytest.approx(-network.equity(before))
    network.flip(once, once)
    np.testing.assert_allclose(once, before)
