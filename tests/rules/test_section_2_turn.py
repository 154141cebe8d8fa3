"""Section 2 of the rules: how the numbers of a roll are used (2.5 to 2.15).

Every board is drawn with the player on turn as `X`, who moves from 24 to 1.
"""

from __future__ import annotations

from bgserver.engine.plays import step_graph
from bgserver.engine.position import Dice, Position
from tests.rules.boards import backgammon, boards_after, first_steps, notation, plays, results


def test_2_5_each_die_is_one_step_of_one_checker() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         X  .  .  .  .  . |  .  .  .  .  .  X
         .  .  .  .  .  . |  .  .  .  .  . O2
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 4, 2) == boards_after(
        position, "24/20 20/18", "24/20 13/11", "24/22 13/9", "13/9 9/7"
    )


def test_2_5_intermediate_landings_must_be_legal() -> None:
    # 13 is open, both ways to it are not
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O2 | O2  .  .  .  .  X
         .  .  .  .  .  . |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 6, 5) == boards_after(position, "")


def test_2_6_a_double_is_played_four_times_by_one_to_four_checkers() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
        X4  .  .  .  .  . |  .  .  .  .  .  .
         .  .  .  .  .  . |  .  .  .  .  . O2
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 2, 2) == boards_after(
        position,
        "13/11 11/9 9/7 7/5",
        "13/11 11/9 9/7 13/11",
        "13/11 11/9 13/11 11/9",
        "13/11 11/9 13/11 13/11",
        "13/11 13/11 13/11 13/11",
    )


LANDINGS = """
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
         .  .  X  .  X  O |  . O2 O3  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
"""


def test_2_7_a_step_lands_on_empty_points_own_checkers_and_blots() -> None:
    position = backgammon(LANDINGS)
    assert {"10/9", "10/8"} <= first_steps(position, 2, 1)
    assert {"10/7", "10/6"} <= first_steps(position, 4, 3)


def test_2_7_two_or_more_opposing_checkers_block_a_point() -> None:
    position = backgammon(LANDINGS)
    assert not {"10/5", "10/4"} & first_steps(position, 6, 5)


def test_2_7_blocked_points_may_be_passed_over() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . | O3 O3 O3 O3 O3  X
         .  .  .  .  .  . |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 6, 1) == boards_after(position, "24/18 18/17")


ONE_ORDER = """
        13 14 15 16 17 18   19 20 21 22 23 24
         X  .  .  .  .  . |  .  .  .  .  .  .
         .  .  .  .  . O2 |  .  .  .  .  . X14
        12 11 10  9  8  7    6  5  4  3  2  1
"""


def test_2_8_both_numbers_even_when_only_one_order_works() -> None:
    # the 6 is blocked at first, after 13/8 it is not
    position = backgammon(ONE_ORDER)
    assert results(position, 6, 5) == boards_after(position, "13/8 8/2")
    assert results(position, 5, 6) == boards_after(position, "13/8 8/2")


CHOICE_OF_SIXES = """
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . | O2  X  .  .  .  .
         .  .  .  .  X O2 |  .  .  .  .  . O2
        12 11 10  9  8  7    6  5  4  3  2  1
"""


def test_2_8_a_number_must_be_played_so_that_the_other_can_be() -> None:
    # after the six 8/2 no one can be played, after 20/14 one can
    position = backgammon(CHOICE_OF_SIXES)
    assert results(position, 6, 1) == boards_after(position, "20/14 14/13")


def test_2_9_as_many_numbers_of_a_double_as_possible() -> None:
    # the fourth five is blocked on 10
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         X  .  .  .  .  . |  .  X  .  .  .  .
         .  . O2  .  .  . |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 5, 5) == boards_after(position, "20/15 13/8 8/3")


def test_2_10_higher_number_when_either_but_not_both() -> None:
    # 24/18 and 24/19 are open, 13 is not
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
        O2  .  .  .  .  . |  .  .  .  .  .  X
         .  .  .  .  .  . |  .  .  .  .  . X14
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 6, 5) == boards_after(position, "24/18")
    assert first_steps(position, 5, 6) == {"24/18"}


def test_2_10_higher_number_even_by_another_checker() -> None:
    # 24/18 is blocked; the six can be played by the other checker, the five then not
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
        O2  .  .  .  . O2 |  .  .  .  .  .  X
         .  . X2  .  .  . |  . O2  . O2  . O2
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 6, 5) == boards_after(position, "24/19 10/4")
    # with 19 blocked as well only the six is left
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
        O2  .  .  .  . O2 | O2  .  .  .  .  X
         .  . X2  .  .  . |  . O2  . O2  . O2
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 6, 5) == boards_after(position, "10/4")


def test_2_10_the_lower_number_when_only_that_can_be_played() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
        O2  .  .  .  . O2 |  .  .  .  .  .  X
         .  .  .  .  .  . |  .  .  .  .  . X14
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 6, 5) == boards_after(position, "24/19")


def test_2_11_a_turn_without_a_legal_step_is_forfeited() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . | O2 O2 O2 O2 O2 O2
         .  .  .  .  .  . | X5 X5 X4  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X
    """)
    (play,) = plays(position, 6, 6)
    assert play.steps == ()
    assert play.result == position
    (node,) = step_graph(position, Dice(6, 6)).nodes
    assert node.is_complete
    assert node.edges == ()


def test_2_11_there_is_no_voluntary_pass() -> None:
    position = Position.start()
    assert position.points not in results(position, 2, 1)
    assert all(len(play.steps) == 2 for play in plays(position, 2, 1))


def test_2_12_each_distinct_board_once() -> None:
    position = Position.start()
    allowed = plays(position, 3, 1)
    assert len(allowed) == len({play.result for play in allowed}) == 16


def test_2_12_ways_that_differ_by_a_hit_are_different_results() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
         .  .  X  .  .  O |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert len(results(position, 3, 2)) == 2
    assert results(position, 3, 2) == boards_after(position, "10/7 7/5", "10/8 8/5")


def test_2_12_bearing_off_the_last_checker_completes_a_play() -> None:
    # the five alone wins at once; hitting with the one first is another legal way
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
         .  .  .  .  .  . |  .  .  .  X  O  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 5, 1) == boards_after(position, "3/off", "3/2 2/off")


def test_2_12_either_number_may_bear_off_the_last_checker() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
         .  .  .  .  .  . |  .  .  .  .  .  X
        12 11 10  9  8  7    6  5  4  3  2  1
        bar O
    """)
    graph = step_graph(position, Dice(6, 1))
    assert {edge.step.die for edge in graph.nodes[0].edges} == {1, 6}
    assert len(plays(position, 6, 1)) == 1


def test_2_13_only_steps_that_a_legal_play_can_continue_are_accepted() -> None:
    assert first_steps(backgammon(ONE_ORDER), 6, 5) == {"13/8"}
    assert first_steps(backgammon(CHOICE_OF_SIXES), 6, 1) == {"20/14"}


def test_2_13_later_steps_must_fit_the_steps_already_made() -> None:
    graph = step_graph(backgammon(CHOICE_OF_SIXES), Dice(6, 1))
    (first,) = graph.nodes[0].edges
    after = graph.nodes[first.target_node]
    assert not after.is_complete
    assert {notation(edge.step.source, edge.step.target) for edge in after.edges} == {"14/13"}


def test_2_15_there_is_no_duty_to_hit() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
        X2  .  .  .  O  . |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    hits = {play.result.points[0] < 0 for play in plays(position, 4, 1)}
    assert hits == {True, False}
