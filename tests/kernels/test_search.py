"""Look-ahead in kernels: averages over the rolls, the cache, and what the scout costs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.plays import board_array
from bgserver.engine.position import Position, Variant
from bgserver.kernels import search
from bgserver.kernels.dice import roll
from bgserver.kernels.evaluate import CLASS_BEAROFF, judge_class
from bgserver.kernels.network import game_outcome
from tests import naive
from tests.formulas import EQUITY
from tests.kernels.replies import Replies, running_boards, turned_board

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine, GameCore
    from bgserver.kernels.search import SearchMemory

BOTH = pytest.mark.parametrize("variant", list(Variant))


def new_memory(core: GameCore) -> SearchMemory:
    return search.make_search_memory(core.evaluator.networks)


def seen_by_the_mover(total: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([1 - total[0], total[3], total[4], total[1], total[2]])


def slow_look(core: GameCore, after: NDArray[np.int8], depth: int) -> NDArray[np.float64]:
    """The mover's chances on a board after a play, one or two rolls ahead."""
    total = np.zeros(5)
    for dice in naive.ALL_ROLLS:
        board, value = Replies(core, after, dice).best()
        chances = value.astype(np.float64)
        if depth == 2 and (board > 0).any():
            chances = slow_look(core, board, 1)
        total += (1 if dice[0] == dice[1] else 2) / 36 * chances
    return seen_by_the_mover(total)


def look_one(core: GameCore, board: NDArray[np.int8], memory: SearchMemory) -> NDArray[np.float64]:
    out = np.full(5, np.nan)
    search.look_one_roll(board, core.code, core.evaluator, memory, out)
    return out


def look_two(core: GameCore, board: NDArray[np.int8], memory: SearchMemory) -> NDArray[np.float64]:
    out = np.full(5, np.nan)
    search.look_two_rolls(board, core.code, core.evaluator, memory, out)
    return out


def test_all_rolls_with_their_ways() -> None:
    assert list(zip(search.HIGH, search.LOW, strict=True)) == naive.ALL_ROLLS
    assert search.WAYS.sum() == 36


@BOTH
def test_one_roll_ahead_is_the_mean_over_the_best_promising_replies(
    engine: Engine, variant: Variant
) -> None:
    core = engine.core(variant)
    memory = new_memory(core)
    for board in [board_array(Position.start(variant)), *running_boards(variant, 1, 40)]:
        expected = slow_look(core, board, 1)
        np.testing.assert_allclose(look_one(core, board, memory), expected, atol=1e-12)


@BOTH
def test_two_rolls_ahead_are_one_after_each_best_reply(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    memory = new_memory(core)
    for board in running_boards(variant, 2, 3):
        expected = slow_look(core, board, 2)
        np.testing.assert_allclose(look_two(core, board, memory), expected, atol=1e-12)


@BOTH
def test_best_replies_are_the_best_of_the_promising(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    memory = new_memory(core)
    for after in running_boards(variant, 3, 20):
        search.best_replies(after, core.code, core.evaluator, memory)
        for number, dice in enumerate(naive.ALL_ROLLS):
            board, value = Replies(core, after, dice).best()
            np.testing.assert_array_equal(memory.replies[number], board)
            np.testing.assert_array_equal(memory.reply_values[number], value)


@BOTH
def test_with_both_sides_bearing_off_no_reply_is_left_to_a_guess(
    engine: Engine, variant: Variant
) -> None:
    """Nor with many more replies than the scout would let pass."""
    core = engine.core(variant)
    memory = new_memory(core)
    rng = np.random.default_rng(4)
    more = 0
    for _ in range(10):
        after = np.zeros(26, dtype=np.int8)
        np.add.at(after, rng.integers(1, 7, 10), 1)
        opponents = rng.integers(1, 7, 12)
        to_own = 25 - opponents if variant is Variant.BACKGAMMON else opponents + 12
        np.subtract.at(after, to_own, 1)
        assert judge_class(after, core.code, core.evaluator) == CLASS_BEAROFF
        search.best_replies(after, core.code, core.evaluator, memory)
        for number, dice in enumerate(naive.ALL_ROLLS):
            values = Replies(core, after, dice).values.astype(np.float64)
            assert memory.reply_values[number].astype(np.float64) @ EQUITY == max(values @ EQUITY)
            more += len(values) > search.PROMISING
    assert more > 20


@BOTH
def test_values_from_the_cache_are_those_of_a_new_search(engine: Engine, variant: Variant) -> None:
    """On a second call, after many other boards, and where two boards share a slot."""
    core = engine.core(variant)
    boards = running_boards(variant, 5, 500)
    slots = [int(search._slot(board)) for board in boards]
    sharing = {slot for slot in slots if slots.count(slot) > 1}
    assert sharing
    expected = [look_one(core, board, memory) for board, memory in fresh(core, boards)]
    memory = new_memory(core)
    for order in (1, 1, -1):  # forwards twice, then backwards
        for board, value in list(zip(boards, expected, strict=True))[::order]:
            np.testing.assert_array_equal(look_one(core, board, memory), value)
            np.testing.assert_array_equal(look_one(core, board, memory), value)


def fresh(
    core: GameCore, boards: list[NDArray[np.int8]]
) -> Iterator[tuple[NDArray[np.int8], SearchMemory]]:
    """Each board with a memory that has seen no other; cleared, since making one takes long."""
    memory = new_memory(core)
    for board in boards:
        memory.cache_used[:] = False
        yield board, memory


@BOTH
def test_a_deeper_look_has_the_same_bits_whatever_was_looked_at_before(
    engine: Engine, variant: Variant
) -> None:
    core = engine.core(variant)
    boards = running_boards(variant, 6, 6)
    memory = new_memory(core)
    used = [look_two(core, board, memory) for board in boards]
    for board, value in zip(boards, used, strict=True):
        np.testing.assert_array_equal(look_two(core, board, new_memory(core)), value)
        np.testing.assert_array_equal(look_two(core, board, memory), value)


@BOTH
def test_the_outcome_of_a_finished_game_needs_no_look(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    memory = new_memory(core)
    board = np.zeros(26, dtype=np.int8)
    board[18] = -15
    for look in (look_one, look_two):
        assert look(core, board, memory).tolist() == [1, 1, 0, 0, 0]


def boards_of_games(core: GameCore) -> Iterator[NDArray[np.int8]]:
    """Every fifth board after a play of static games from the start, bear-offs left out."""
    memory = new_memory(core)
    variant = core.weights.variant
    for game in itertools.count():
        board = board_array(Position.start(variant))
        for turn in itertools.count():
            dice = roll(1, game, turn)
            first_turn = search.may_be_first_turn(board, core.code)
            best, _ = search.best_static(
                board, *dice, core.code, first_turn, core.evaluator, memory
            )
            after = memory.plays.boards[best].copy()
            if game_outcome(after, core.code) > 0:
                break
            if turn % 5 == 4 and judge_class(after, core.code, core.evaluator) < CLASS_BEAROFF:
                yield after
            board = turned_board(after, variant)


@BOTH
def test_the_scout_loses_little_in_games(engine: Engine, variant: Variant) -> None:
    """Four of all replies nearly always hold one that is as good as the best, or nearly."""
    core = engine.core(variant)
    losses = []
    for after in itertools.islice(boards_of_games(core), 200):
        loss = 0.0
        for dice in naive.ALL_ROLLS:
            replies = Replies(core, after, dice)
            worth = replies.values.astype(np.float64) @ EQUITY
            loss += (
                (1 if dice[0] == dice[1] else 2)
                / 36
                * (worth.max() - worth[replies.promising].max())
            )
        losses.append(loss)
    # 0.001 in backgammon and 0.004 in Long Nardy when this was written.
    assert np.mean(losses) < 0.02
