"""What is certain in a race: bounds that no game breaks, and chances that keep to them."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.position import Variant
from bgserver.kernels.evaluate import CLASS_BEAROFF, evaluate_board, judge_class
from bgserver.kernels.network import make_scratch
from bgserver.kernels.race_bounds import turns_of_side
from tests import naive

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine

NOBODY_OFF = 15


def board_of(own: list[int], other: list[int]) -> list[int]:
    """A board with checkers on these points, each side's in its own numbering."""
    board = [0] * 26
    for point in own:
        board[point] += 1
    for point in other:
        board[25 - point] -= 1
    return board


def chances(engine: Engine, board: list[int]) -> list[float]:
    """The five chances of the player who has just moved."""
    core = engine.core(Variant.BACKGAMMON)
    out = np.zeros(5, dtype=np.float32)
    scratch = make_scratch(core.evaluator.networks)
    after = np.array(board, dtype=np.int8)
    assert judge_class(after, core.code, core.evaluator) < CLASS_BEAROFF, "not the network's"
    evaluate_board(after, core.code, core.evaluator, scratch, out)
    return [float(chance) for chance in out]


@pytest.mark.parametrize("point", [1, 2, 3])
@pytest.mark.parametrize(("stack", "count"), [(10, 15), (7, 14), (18, 15)])
def test_a_checker_that_the_next_roll_bears_off_has_won(
    engine: Engine, point: int, stack: int, count: int
) -> None:
    gammon = 1.0 if count == NOBODY_OFF else 0.0
    lost = chances(engine, board_of([stack] * count, [point]))
    assert lost[0] == 0.0
    assert lost[3] == gammon
    won = chances(engine, board_of([point], [stack] * count))
    assert won[0] == 1.0
    assert won[1] == gammon


def test_a_checker_off_before_the_other_can_win_saves_the_gammon(engine: Engine) -> None:
    """One pip from home; the other needs at least four turns for 15 checkers."""
    assert chances(engine, board_of([7, *[6] * 14], [12] * 15))[3] == 0.0


def test_races_that_are_not_decided_are_left_to_the_network(engine: Engine) -> None:
    for board in (board_of([7, 3], [8, 2]), board_of([12] * 15, [12] * 15)):
        assert 0.02 < chances(engine, board)[0] < 0.98


def _turns(side: list[int], rng: random.Random, *, for_the_first: bool) -> tuple[int, int]:
    """Turns until the first checker and all of them were off, by legal plays at random.

    Of the plays for the first checker those count that leave the fewest pips outside home.
    """
    board = board_of(side, [])
    started = len(side)
    first = turns = 0
    while naive.pips(board) > 0:
        turns += 1
        dice = (rng.randint(1, 6), rng.randint(1, 6))
        board[24] -= 1  # somebody else's, so that the game goes on
        plays = sorted(naive.legal_results(board, dice, "backgammon", first_turn=False))
        if for_the_first:
            plays.sort(key=lambda play: sum(max(0, play[p]) * max(0, p - 6) for p in range(26)))
            play = list(plays[0])
        else:
            play = list(rng.choice(plays))
        play[24] += 1
        board = play
        if first == 0 and sum(max(0, count) for count in board) < started:
            first = turns
    return first, turns


def test_no_game_breaks_the_bounds() -> None:
    rng = random.Random(4)
    for number in range(150):
        far = rng.choice([6, 9, 14, 22])
        side = [rng.randint(1, far) for _ in range(rng.choice([1, 2, 3, 6, 15]))]
        board = np.array(board_of(side, []), dtype=np.int8)
        bounds = turns_of_side(board, True)
        assert bounds == turns_of_side(-board[::-1].copy(), False)
        checkers, fewest, most, first_fewest, first_most = bounds
        assert checkers == len(side)
        first, turns = _turns(side, rng, for_the_first=number % 2 == 0)
        assert fewest <= turns <= most
        assert first_fewest <= first
        if number % 2 == 0:
            assert first <= first_most
