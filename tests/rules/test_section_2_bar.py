"""Section 2 of the rules: hitting and entering (2.16 to 2.19)."""

from __future__ import annotations

import pytest

from tests.rules.boards import backgammon, boards_after, first_steps, plays, results


def test_2_16_a_hit_checker_goes_to_its_bar() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
         .  .  X  .  .  O |  . O2  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    # 10/7 hits; the five is blocked then and before
    (play,) = plays(position, 5, 3)
    assert [step.hit for step in play.steps] == [True, False]
    assert play.result.points[0] == -1
    assert play.result.points[7] == 0


def test_2_16_any_number_of_hits_in_a_turn_and_the_hitter_may_move_on() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
         X  .  O  .  O  . |  O  .  O  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    (play,) = plays(position, 2, 2)
    assert [step.hit for step in play.steps] == [True] * 4
    assert play.result.points[0] == -4


def test_2_16_a_blot_is_hit_only_where_a_step_lands() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
         X  O  .  O  O  . |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 6, 2) == boards_after(position, "12/6 6/4", "12/10 10/4")
    assert all(not step.hit for play in plays(position, 6, 2) for step in play.steps)


def test_2_16_entering_again_on_a_point_where_a_checker_was_hit() -> None:
    # both steps of the double go to the point of the blot, only the first one hits
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  . O2  . O1  .
         .  .  .  .  .  . |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X2
    """)
    (play,) = plays(position, 2, 2)
    assert [(step.source, step.target, step.hit) for step in play.steps] == [
        (25, 23, True),
        (25, 23, False),
    ]


def test_2_17_only_entering_steps_while_a_checker_is_on_the_bar() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
        X5  .  .  .  .  . | O5  .  .  .  .  X
        O5  .  .  . X3  . | X5  .  .  .  . O2
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X
    """)
    assert first_steps(position, 4, 3) == {"bar/21", "bar/22"}


def test_2_17_all_checkers_on_the_bar_enter_first() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
        X5  .  .  .  .  . | O5  .  .  .  .  .
        O5  .  .  . X3  . | X5  .  .  .  . O2
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X2
    """)
    assert results(position, 4, 3) == boards_after(position, "bar/21 bar/22")


def test_2_17_one_of_two_on_the_bar_cannot_enter_so_nothing_else_moves() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
        X5  .  .  .  .  . | O5  . O2  .  .  .
        O5  .  .  . X3  . | X5  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X2
    """)
    assert results(position, 4, 3) == boards_after(position, "bar/22")


@pytest.mark.parametrize("number", range(1, 7))
def test_2_18_entering_with_n_lands_on_the_opponents_point_n(number: int) -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
         .  .  .  .  .  . |  .  .  .  .  . O2
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X4
    """)
    entered = "bar/" + str(25 - number)
    assert results(position, number, number) == boards_after(position, " ".join([entered] * 4))


def test_2_18_entering_hits_a_blot_and_is_stopped_by_a_point() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
        X2  .  .  .  .  . | O2  .  .  O  .  .
         .  .  .  .  .  . |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X
    """)
    assert first_steps(position, 6, 3) == {"bar/22"}
    assert results(position, 6, 3) == boards_after(position, "bar/22 22/16", "bar/22 13/7")
    assert all(play.steps[0].hit for play in plays(position, 6, 3))


def test_2_18_as_many_as_possible_enter_and_the_rest_is_forfeited() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . | O2  .  .  .  .  .
         .  .  .  .  .  . | X5 X5 X3  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X2
    """)
    assert results(position, 6, 1) == boards_after(position, "bar/24")


def test_2_19_the_other_number_is_played_after_the_entry() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         X  .  .  .  .  . |  .  .  . O2  .  .
         .  .  .  .  .  . |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X
    """)
    assert results(position, 3, 2) == boards_after(position, "bar/23 13/10", "bar/23 23/20")


def test_2_19_the_entry_that_leaves_a_play_for_the_other_number() -> None:
    # after bar/20 no one can be played; after bar/24 the five can
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         X  .  .  .  .  . | O2  .  .  .  .  .
        O2  .  .  .  .  . |  .  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X
    """)
    assert results(position, 5, 1) == boards_after(position, "bar/24 13/8")


def test_2_19_either_number_enters_but_not_both_so_the_higher_must() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . | O2  .  .  .  .  .
         .  .  .  .  .  . |  .  .  .  .  . X14
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X
    """)
    assert results(position, 5, 1) == boards_after(position, "bar/20")
