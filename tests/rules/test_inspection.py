"""Facts of a position against the oracle: 1.7, 3.1 to 3.4, 7.12, 9.1 and 9.2."""

from __future__ import annotations

import itertools

import pytest

from bgserver.engine.inspection import Phase, game_value, inspect
from bgserver.engine.position import Position, Variant
from tests import naive, positions

SEED = 26
WEIGHED = 200
"""Boards on which all 21 rolls are tried for each blot."""


def position_of(case: positions.Case) -> Position:
    return Position(case.board, Variant(case.variant))


@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_1_7_pips_of_both_sides(variant: str) -> None:
    for case in positions.cases(variant, SEED, 1_000):
        facts = inspect(position_of(case))
        turned = naive.turn(case.board, variant)
        assert facts.pips == naive.pips(case.board), case
        assert facts.opponent_pips == naive.pips(turned), case
        assert facts.off == 15 - naive.own_in_play(case.board), case
        assert facts.opponent_off == 15 - naive.own_in_play(turned), case


@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_1_7_contact(variant: str) -> None:
    for case in positions.cases(variant, SEED + 1, 1_000):
        phase = inspect(position_of(case)).phase
        turned = naive.turn(case.board, variant)
        if naive.has_contact(case.board, variant):
            assert phase is Phase.CONTACT, case
        elif naive.all_home(case.board) and naive.all_home(turned):
            assert phase is Phase.BEAR_OFF, case
        else:
            assert phase is Phase.RACE, case


def test_9_1_hitting_rolls_of_every_blot_on_both_sides() -> None:
    for case in itertools.islice(positions.cases(naive.BACKGAMMON, SEED + 2), WEIGHED):
        facts = inspect(position_of(case))
        turned = naive.turn(case.board, naive.BACKGAMMON)
        expected = {
            (point, True): naive.hitting_rolls(case.board, point)
            for point in range(1, 25)
            if case.board[point] == -1
        } | {
            (25 - point, False): naive.hitting_rolls(turned, point)
            for point in range(1, 25)
            if turned[point] == -1
        }
        found = {(blot.point, blot.opponent): blot.hitting_rolls for blot in facts.blots}
        assert found == expected, case


def test_9_2_entering_rolls_of_both_sides() -> None:
    entering = [0, 0]
    for case in positions.cases(naive.BACKGAMMON, SEED + 3, 500):
        facts = inspect(position_of(case))
        turned = naive.turn(case.board, naive.BACKGAMMON)
        views = ((case.board, facts.entering_rolls), (turned, facts.opponent_entering_rolls))
        for side, (board, found) in enumerate(views):
            if board[naive.BAR] > 0:
                assert found == naive.entering_rolls(board, 1), case
                entering[side] += 1
    assert min(entering) > 10


def test_7_1_nobody_is_hit_or_enters_in_long_nardy() -> None:
    for case in positions.cases(naive.LONG_NARDY, SEED + 4, 200):
        facts = inspect(position_of(case))
        assert facts.blots == ()
        assert facts.entering_rolls == facts.opponent_entering_rolls == 0


@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_3_1_value_of_games_that_go_on_and_of_finished_ones(variant: str) -> None:
    # each random board as it is, and after either side has taken all its checkers off
    values = set()
    for case in positions.cases(variant, SEED + 5, 500):
        board = case.board
        own_gone = tuple(min(count, 0) for count in board)
        opposing_gone = tuple(max(count, 0) for count in board)
        for points in (board, own_gone, opposing_gone):
            expected = naive.game_value(points, variant)
            position = Position(points, Variant(variant))
            assert game_value(position) == inspect(position).result == expected, case
            values.add(expected)
    highest = 3 if variant == naive.BACKGAMMON else 2
    assert values == set(range(-highest, highest + 1))
