"""Section 1 of the rules: the board, its two views and its counts."""

from __future__ import annotations

import pytest

from bgserver.engine.errors import InvalidInputError, WrongMomentError
from bgserver.engine.plays import legal_plays, step_graph
from bgserver.engine.position import Dice, Position, Variant
from tests import naive
from tests.rules.boards import backgammon, boards_after, nardy, plays, results


def with_checkers(variant: Variant, checkers: dict[int, int]) -> Position:
    board = [0] * 26
    for point, count in checkers.items():
        board[point] = count
    return Position(tuple(board), variant)


def test_1_1_checkers_move_from_high_to_low_numbers() -> None:
    for variant in Variant:
        for first, second in naive.ALL_ROLLS:
            for play in legal_plays(Position.start(variant), Dice(first, second)):
                assert all(step.target == step.source - step.die for step in play.steps)


@pytest.mark.parametrize("point", range(1, 25))
def test_1_3_backgammon_points_map_to_25_minus_i(point: int) -> None:
    turned = with_checkers(Variant.BACKGAMMON, {point: 1}).turned()
    assert turned == with_checkers(Variant.BACKGAMMON, {25 - point: -1})


@pytest.mark.parametrize("point", range(1, 25))
def test_1_3_nardy_points_map_half_a_board_apart(point: int) -> None:
    opposite = point + 12 if point <= 12 else point - 12
    turned = with_checkers(Variant.LONG_NARDY, {point: 1}).turned()
    assert turned == with_checkers(Variant.LONG_NARDY, {opposite: -1})


def test_1_4_both_bars_are_read_from_the_view_of_the_player_on_turn() -> None:
    position = backgammon("""
         .  .  .  .  .  . |  .  .  .  .  .  .
         .  .  .  .  .  . |  .  .  .  .  . O2
        bar X O3
    """)
    assert (position.points[25], position.points[0]) == (1, -3)
    # the player with one on the bar must enter it
    assert results(position, 2, 1) == boards_after(position, "bar/23 23/22")
    # the opponent must enter three
    turned = position.turned()
    assert (turned.points[25], turned.points[0]) == (3, -1)
    assert results(turned, 2, 1) == boards_after(turned, "bar/23 bar/24")


@pytest.mark.parametrize("variant", Variant)
def test_1_5_turning_exchanges_the_views(variant: Variant) -> None:
    start = Position.start(variant)
    assert start.turned() == start
    assert start.turned().points == naive.turn(start.points, variant.value)


@pytest.mark.parametrize("variant", Variant)
def test_1_6_a_side_has_at_most_fifteen_checkers(variant: Variant) -> None:
    with pytest.raises(InvalidInputError, match="15"):
        with_checkers(variant, {5: 15, 6: 1, 20: -1})
    with pytest.raises(InvalidInputError, match="15"):
        with_checkers(variant, {5: 1, 20: -15, 21: -1})


@pytest.mark.parametrize("variant", Variant)
def test_1_6_fifteen_on_one_point_are_legal(variant: Variant) -> None:
    position = with_checkers(variant, {7: 14, 8: 1, 13: -15})
    assert boards_after(position, "8/7 7/4") <= results(position, 3, 1)
    assert position.points[7] == 14
    assert boards_after(position, "8/7 7/6 7/6 7/6") <= results(position, 1, 1)


def test_1_7_pips_count_25_for_the_bar_and_nothing_for_checkers_off() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . | O3  .  .  .  . X2
         .  .  .  .  .  . |  . X3  .  .  . O2
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X O
    """)
    own = 25 + 2 * 24 + 3 * 5
    opposing = 25 + 2 * 24 + 3 * 6
    assert position.pips() == (own, opposing)
    assert naive.pips(position.points) == own


def test_1_8_backgammon_start() -> None:
    drawn = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
        X5  .  .  . O3  . | O5  .  .  .  . X2
        O5  .  .  . X3  . | X5  .  .  .  . O2
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert Position.start(Variant.BACKGAMMON) == drawn
    assert drawn.pips() == (167, 167)
    assert naive.start(naive.BACKGAMMON) == drawn.points


def test_1_9_nardy_start() -> None:
    drawn = nardy("""
        13 14 15 16 17 18   19 20 21 22 23  24
         .  .  .  .  .  . |  .  .  .  .  . X15
       O15  .  .  .  .  . |  .  .  .  .  .   .
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert Position.start(Variant.LONG_NARDY) == drawn
    assert drawn.pips() == (360, 360)
    assert naive.start(naive.LONG_NARDY) == drawn.points


@pytest.mark.parametrize("variant", Variant)
def test_1_10_the_game_stops_at_the_fifteenth_checker(variant: Variant) -> None:
    # two checkers on 1 and four ones: the last two ones are not played
    position = with_checkers(variant, {1: 2, 13: -3})
    (play,) = plays(position, 1, 1)
    assert [(step.source, step.target) for step in play.steps] == [(1, 0), (1, 0)]
    assert play.result.is_finished


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("checkers", [{1: 2}, {13: -3}], ids=["opponent off", "mover off"])
def test_1_10_nothing_can_be_played_in_a_finished_game(
    variant: Variant, checkers: dict[int, int]
) -> None:
    position = with_checkers(variant, checkers)
    with pytest.raises(WrongMomentError) as raised:
        legal_plays(position, Dice(2, 1))
    assert raised.value.reason == "GAME_OVER"
    with pytest.raises(WrongMomentError):
        step_graph(position, Dice(2, 1))
