"""Section 2 of the rules: bearing off (2.20 to 2.23), in both games."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bgserver.engine.position import Position
from tests.rules.boards import backgammon, boards_after, first_steps, nardy, plays, results

both_games = pytest.mark.parametrize("game", [backgammon, nardy])

Game = Callable[[str], Position]


@both_games
def test_2_20_nothing_is_borne_off_before_all_are_home(game: Game) -> None:
    position = game("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O5 | O5  .  .  .  .  .
        X2  .  .  .  .  . | X2  .  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert "6/off" not in first_steps(position, 6, 5)
    assert results(position, 6, 5) == boards_after(position, "12/6 12/7", "12/6 6/1", "12/7 7/1")


@both_games
def test_2_20_the_first_number_brings_home_and_the_second_bears_off(game: Game) -> None:
    position = game("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O5 | O5  .  .  .  .  .
         .  .  .  .  X  . |  .  X  .  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 5, 3) == boards_after(position, "8/5 5/off", "8/3 5/2")
    assert "5/off" not in first_steps(position, 5, 3)


def test_2_20_a_checker_on_the_bar_is_not_home() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . | O2  .  .  .  .  .
         .  .  .  .  .  . |  .  .  .  X  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X
    """)
    assert results(position, 6, 3) == boards_after(position, "bar/22 22/16")


@both_games
def test_2_21_a_a_checker_on_point_n_is_borne_off(game: Game) -> None:
    position = game("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O5 | O5  .  .  .  .  .
         .  .  .  .  .  . |  X  X  X  X  X  X
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    for number in range(1, 7):
        assert f"{number}/off" in first_steps(position, number, number)


@both_games
def test_2_21_b_a_lower_checker_only_from_the_highest_occupied_point(game: Game) -> None:
    position = game("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O5 | O5  .  .  .  .  .
         .  .  .  .  .  . |  .  . X2  . X2  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert first_steps(position, 6, 5) == {"4/off"}
    assert results(position, 6, 5) == boards_after(position, "4/off 4/off")


@both_games
def test_2_21_c_a_higher_checker_must_move_instead(game: Game) -> None:
    position = game("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O5 | O5  .  .  .  .  .
         .  .  .  .  .  . |  X  .  . X2  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    # no three may be borne off with the 4: it is played 6/2, only then the 5 takes a three
    assert results(position, 5, 4) == boards_after(position, "6/2 3/off", "6/1 3/off")
    assert first_steps(position, 5, 4) == {"6/2", "6/1"}


def test_2_21_c_no_lower_checker_even_when_the_higher_one_is_blocked() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O5 | O5  .  .  .  .  .
         .  .  .  .  .  . |  X  .  . X2 O2  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 4, 4) == boards_after(position, "")


@both_games
def test_2_21_c_a_step_names_the_number_that_bore_off(game: Game) -> None:
    # the five cannot be played: 6/1 is blocked, and a five may not take the checker on 2
    position = game("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O5 | O5  .  .  .  .  .
         .  .  .  .  .  . | X2  .  .  .  X O2
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 5, 2) == boards_after(position, "6/4", "2/off")
    assert {step.die for play in plays(position, 5, 2) for step in play.steps} == {2}


@both_games
def test_2_21_the_condition_is_tested_before_each_step(game: Game) -> None:
    # the six takes the 4, or the three brings it to 1: then the six takes the other one
    position = game("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O5 | O5  .  .  .  .  .
         .  .  .  .  .  . |  .  . X2  .  . X2
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 6, 3) == boards_after(position, "4/off 4/1")


@both_games
def test_2_22_bearing_off_is_not_compulsory_if_another_step_exists(game: Game) -> None:
    position = game("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O5 | O5  .  .  .  .  .
         .  .  .  .  .  . |  X  .  X  .  .  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 4, 1) == boards_after(
        position, "4/off 6/5", "6/2 4/3", "6/2 2/1", "6/5 5/1"
    )


@both_games
def test_2_22_bearing_off_is_compulsory_as_the_only_step(game: Game) -> None:
    position = game("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  . O5 | O5  .  .  .  .  .
         .  .  .  .  .  . |  .  .  .  .  . X4
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    assert results(position, 2, 1) == boards_after(position, "1/off 1/off")
    assert results(position, 3, 3) == boards_after(position, "1/off 1/off 1/off 1/off")


def test_2_23_after_a_hit_nothing_is_borne_off_until_the_checker_is_home_again() -> None:
    entering = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
         .  .  .  .  .  . |  X X2 X3  . O2  .
        12 11 10  9  8  7    6  5  4  3  2  1
        bar X
    """)
    assert not any(step.endswith("off") for step in first_steps(entering, 6, 5))
    assert all(sum(n for n in board if n > 0) == 7 for board in results(entering, 6, 5))
    coming_home = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
         .  .  .  .  .  . |  .  .  .  .  .  .
         .  .  .  .  X  . |  X X2 X3  . O2  .
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    # 8/2 is blocked and 6/off not allowed yet: the 5 comes home first, then the 6 bears off
    assert first_steps(coming_home, 6, 5) == {"8/3"}
    assert results(coming_home, 6, 5) == boards_after(coming_home, "8/3 6/off")
