"""Section 7 of the rules: Long Nardy.

Drawn in the numbers of the player on turn, `X`, who runs from the head on 24 to 1. The opponent
runs the same way round from its head on 12: its own numbers are

    1  2  3  4  5  6   7  8  9 10 11 12    on the upper row (13 to 24)
    24 23 22 21 20 19  18 17 16 15 14 13   on the lower row (12 to 1)
"""

from __future__ import annotations

import pytest

from bgserver.engine.position import Position, Variant
from tests import naive
from tests.rules.boards import boards_after, first_steps, nardy, plays, results

START = Position.start(Variant.LONG_NARDY)
FIRST_TURN = {
    (1, 1): ["24/23 23/22 22/21 21/20"],
    (2, 2): ["24/22 22/20 20/18 18/16"],
    (3, 3): ["24/21 21/18 18/15 24/21", "24/21 21/18 24/21 21/18"],
    (4, 4): ["24/20 20/16 24/20 20/16"],
    (5, 5): ["24/19 19/14 14/9 9/4"],
    (6, 6): ["24/18 24/18"],
} | {(a, b): [f"24/{24 - a} {24 - a}/{24 - a - b}"] for a, b in naive.ALL_ROLLS if a != b}


def test_7_1_there_is_no_bar_and_a_single_opposing_checker_is_never_hit() -> None:
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  O  O  O  .  X9
        O5  .  O  O  O  O |  O  O  O  . X2 X4
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    for first, second in naive.ALL_ROLLS:
        for play in plays(position, first, second):
            assert not any(step.hit for step in play.steps)
            assert play.result.points[0] == play.result.points[25] == 0
            assert play.result.opponent_off == 0


def test_7_2_the_own_home_is_1_to_6_and_the_way_leads_past_the_other_head() -> None:
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
         X  .  .  .  .  . |  .  .  .  .  .  .
       O15  .  .  .  .  . |  .  .  .  .  . X14
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert results(position, 4, 3) == boards_after(position, "13/9 9/6")
    assert "12/9" not in first_steps(position.turned(), 4, 3)  # the opponent's head is its 24


def test_7_3_one_opposing_checker_blocks_a_point() -> None:
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  O  . |  .  X  .  .  .  .
       O14  .  .  .  .  . |  .  .  .  .  . X14
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert first_steps(position, 3, 2) == {"20/18"}
    assert results(position, 3, 2) == boards_after(position, "20/18 18/15")


def test_7_3_own_checkers_stack_without_limit() -> None:
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
       O15  .  .  .  .  X |  .  . X14 .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert boards_after(position, "7/4 4/3") <= results(position, 3, 1)
    assert boards_after(position, "7/6 6/5 5/4 4/3") <= results(position, 1, 1)


HEAD_AND_ONE = """
        13 14 15 16 17 18   19 20 21 22 23  24
         .  .  X  .  .  . |  .  .  .  .  . X14
       O15  .  .  .  .  . |  .  .  .  .  .   .
        12 11 10  9  8  7    6  5  4  3  2   1
"""


def test_7_5_one_checker_a_turn_leaves_the_head() -> None:
    position = nardy(HEAD_AND_ONE)
    # 24/20 with 24/21 would be two from the head
    assert results(position, 4, 3) == boards_after(
        position, "24/20 20/17", "24/21 15/11", "15/11 11/8"
    )


@pytest.mark.parametrize("roll", [(a, a) for a in range(1, 7)])
def test_7_5_one_checker_a_turn_leaves_the_head_on_doubles_too(roll: tuple[int, int]) -> None:
    for play in plays(nardy(HEAD_AND_ONE), *roll):
        assert sum(step.source == 24 for step in play.steps) <= 1


@pytest.mark.parametrize("roll", FIRST_TURN)
def test_7_5_first_turn(roll: tuple[int, int]) -> None:
    assert results(START, *roll, first_turn=True) == boards_after(START, *FIRST_TURN[roll])


@pytest.mark.parametrize("roll", [(3, 3), (4, 4), (6, 6)])
def test_7_5_never_more_than_two_in_the_first_turn(roll: tuple[int, int]) -> None:
    # the other head has been left, so that the way is free
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23  24
         .  .  .  .  .  . |  .  .  .  .  . X15
         .  .  .  .  .  . |  .  .  . O8 O7   .
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    counts = {
        sum(step.source == 24 for step in play.steps)
        for play in plays(position, *roll, first_turn=True)
    }
    assert max(counts) == 2


@pytest.mark.parametrize("roll", [roll for roll in naive.ALL_ROLLS if roll[0] != roll[1]])
def test_7_5_no_exception_on_other_rolls_of_the_first_turn(roll: tuple[int, int]) -> None:
    position = nardy(HEAD_AND_ONE)
    assert results(position, *roll, first_turn=True) == results(position, *roll)


def test_7_6_the_second_head_checker_is_compulsory_when_more_is_played_with_it() -> None:
    # one checker alone could play only two of the fours
    (play,) = plays(START, 4, 4, first_turn=True)
    assert len(play.steps) == 4


def test_7_6_the_head_rule_counts_when_the_numbers_are_used() -> None:
    # one head checker cannot play both numbers, a second one may not leave: the higher (2.10)
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23  24
         .  .  O  .  .  . |  .  .  .  .  . X14
       O14  .  .  .  .  . |  .  .  .  .  .   X
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert results(position, 5, 4) == boards_after(position, "24/19")


def test_7_6_the_head_checker_that_lets_both_numbers_be_played() -> None:
    # 24/22 with the two would leave no five: 17 is blocked, 19 then is a second from the head
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23  24
         .  .  .  .  O  O |  .  .  .  .  . X13
       O12  .  .  .  .  . |  .  O  .  .  .  X2
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert results(position, 5, 2) == boards_after(position, "24/19")
    opened = nardy("""
        13 14 15 16 17 18   19 20 21 22 23  24
         .  .  .  .  .  O |  .  .  .  .  . X13
       O13  .  .  .  .  . |  .  O  .  .  .  X2
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert results(opened, 5, 2) == boards_after(opened, "24/19 19/17")


BLOCK_OF_FIVE = """
        13 14 15 16 17 18   19 20 21 22 23  24
         .  .  .  X  X  . |  X  X  X  .  . X10
       O15  .  .  .  .  . |  .  .  .  .  .   .
        12 11 10  9  8  7    6  5  4  3  2   1
"""
BLOCK_OF_FIVE_ONE_PAST = """
        13 14 15 16 17 18   19 20 21 22 23  24
         O  .  .  X  X  . |  X  X  X  .  . X10
       O14  .  .  .  .  . |  .  .  .  .  .   .
        12 11 10  9  8  7    6  5  4  3  2   1
"""


def test_7_7_no_block_of_six_with_all_opposing_checkers_behind_it() -> None:
    # 24/18 would hold 16 to 21; from 12 the opponent goes round to 1, 24, ..., 13
    position = nardy(BLOCK_OF_FIVE)
    assert "24/18" not in first_steps(position, 6, 3)
    for board in results(position, 6, 3):
        assert not all(board[point] > 0 for point in range(16, 22))


def test_7_7_a_block_of_six_is_legal_with_one_opposing_checker_past_it() -> None:
    position = nardy(BLOCK_OF_FIVE_ONE_PAST)
    assert "24/18" in first_steps(position, 6, 3)


def test_7_7_a_longer_block_is_judged_window_by_window() -> None:
    # 18 joins two runs to eight: illegal; with one past the whole run it is legal
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23  24
         .  . X2 X2 X2  . | X2  X  X  X  . X4
       O15  .  .  .  .  . |  .  .  .  .  .   .
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert not {"24/18", "19/18"} & first_steps(position, 6, 1)
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23  24
         .  O X2 X2 X2  . | X2  X  X  X  . X4
       O14  .  .  .  .  . |  .  .  .  .  .   .
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert {"24/18", "19/18"} <= first_steps(position, 6, 1)


def test_7_8_a_block_across_own_1_and_24_is_one() -> None:
    # 5/3 would hold 22, 23, 24, 1, 2, 3: the opponent's 15 down to 10
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  . X3 X3 X3
       O15  .  .  .  .  . |  . X2  .  . X2 X2
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert "5/3" not in first_steps(position, 2, 1)
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  O X3 X3 X3
       O14  .  .  .  .  . |  . X2  .  . X2 X2
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert "5/3" in first_steps(position, 2, 1)


def test_7_8_a_block_across_own_12_and_13_is_none() -> None:
    # 10 to 15 are the opponent's 22, 23, 24 and 1, 2, 3: not successive on its path
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
        X3 X3 X4  .  .  . |  .  .  .  .  .  .
         . X3 X2 O15 .  . |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert {"13/12", "14/12"} <= first_steps(position, 2, 1)


def test_7_8_past_means_any_lower_number_not_only_home() -> None:
    # 13/9 holds 4 to 9, the opponent's 21 to 16; its checker on 3 is past, on its 15
    past = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
        X2  .  .  .  .  . |  .  .  .  .  .  .
       O14  .  .  . X2 X3 | X3 X3 X2  O  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert "13/9" in first_steps(past, 4, 2)
    behind = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
        X2  .  .  .  .  . |  .  .  .  .  .  .
       O14  O  .  . X2 X3 | X3 X3 X2  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert "13/9" not in first_steps(behind, 4, 2)


def window(lowest: int) -> tuple[list[int], int, int]:
    """Own points of the opponent's `lowest` to `lowest + 5`, the gap there and its neighbour."""
    points = [(number + 11) % 24 + 1 for number in range(lowest, lowest + 6)]
    return points, min(points), min(points) + 1


def board_with_window(lowest: int, past: int | None) -> Position:
    points, gap, neighbour = window(lowest)
    board = [0] * 26
    for point in points:
        board[point] = 1
    board[gap] = 0
    board[neighbour] += 10
    board[12] = -15
    if past is not None:
        board[12] = -14
        board[(past + 11) % 24 + 1] -= 1
    return Position(tuple(board), Variant.LONG_NARDY)


@pytest.mark.parametrize("lowest", range(1, 19))
def test_7_8_every_window_of_the_opponents_path(lowest: int) -> None:
    _, gap, neighbour = window(lowest)
    forming = f"{neighbour}/{gap}"
    assert forming not in first_steps(board_with_window(lowest, None), 1, 1)
    for past in range(1, lowest):
        assert forming in first_steps(board_with_window(lowest, past), 1, 1)


def test_7_9_tested_after_every_step_also_inside_a_turn() -> None:
    # 24/18/16 would hold 13 to 18 for a moment; by way of 22 it is blocked
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23  24
         X  X  X  X  X  . |  .  .  .  O  . X10
       O14  .  .  .  .  . |  .  .  .  .  .   .
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert not boards_after(position, "24/18 18/16") & results(position, 6, 2)
    free = nardy("""
        13 14 15 16 17 18   19 20 21 22 23  24
         X  X  X  X  X  . |  .  .  .  .  . X10
       O15  .  .  .  .  . |  .  .  .  .  .   .
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert boards_after(free, "24/22 22/16") <= results(free, 6, 2)
    assert first_steps(free, 6, 2).isdisjoint({"24/18"})


def test_7_9_a_number_that_would_break_the_rule_is_lost() -> None:
    # every six but 24/18 is blocked, and that would hold 13 to 18
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23  24
         X  X  X  X  X  . |  .  .  .  .  . X10
         . O3 O3 O3 O3 O3 |  .  .  .  .  .   .
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert results(position, 6, 6) == boards_after(position, "")


def test_7_9_the_six_prime_rule_decides_how_many_numbers_of_a_double_go() -> None:
    # 6/1 would leave no five at all: 11/6 would then hold 1 to 6 before the opponent's 19 to 21;
    # four times 11/6 is legal, for 1 stays empty (2.9)
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
         . X7  . O3 O7 O5 |  X  X  X  X X4  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 5, 5) == boards_after(position, "11/6 11/6 11/6 11/6")
    assert first_steps(position, 5, 5) == {"11/6"}


def test_7_10_lifted_once_the_opponent_has_begun_to_bear_off() -> None:
    # the board of 7.9 with one opposing checker off (no game leads to it): the six is legal
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23  24
         X  X  X  X  X  . |  .  .  .  .  . X10
         . O2 O3 O3 O3 O3 |  .  .  .  .  .   .
        12 11 10  9  8  7    6  5  4  3  2   1
    """)
    assert results(position, 6, 6) == boards_after(position, "24/18 18/12 12/6")


def test_7_10_a_legal_block_stays_legal() -> None:
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  O  .  X  X  X |  X  X  X  .  . X9
       O14  .  .  .  .  . |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    # a checker may join the block or leave the head beside it
    assert {"24/22", "24/23"} <= first_steps(position, 2, 1)


def test_7_11_opposing_checkers_in_the_own_home_block_landings() -> None:
    # no two can be played: 6/4 and 5/3 are blocked, and no lower checker may be borne off
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O9 | O4  .  .  .  .  .
         .  .  .  .  .  . | X2  X  O  O  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 5, 2) == boards_after(position, "5/off", "6/1")


def test_7_11_no_lower_checker_off_while_the_higher_one_is_blocked() -> None:
    position = nardy("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O9 | O5  .  .  .  .  .
         .  .  .  .  .  . |  X  .  .  X  O  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 4, 4) == boards_after(position, "")


@pytest.mark.parametrize(
    ("roll", "played"),
    [((3, 3), "24/21 21/18 18/15"), ((4, 4), "24/20 20/16"), ((6, 6), "24/18")],
)
def test_7_13_no_exception_after_a_forfeited_first_turn(roll: tuple[int, int], played: str) -> None:
    # all fifteen still stand on the head, but it is not the first turn any more
    assert results(START, *roll) == boards_after(START, played)
