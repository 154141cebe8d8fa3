"""Section 3 of the rules, 3.1 to 3.4 and 7.12: what a finished game is worth.

These fix the oracle's classification, against which the simulation is compared.
"""

from __future__ import annotations

import pytest

from tests import naive
from tests.rules.boards import backgammon, nardy


def value(diagram: str) -> int:
    return naive.game_value(backgammon(diagram).points, naive.BACKGAMMON)


def test_3_1_a_game_that_goes_on_has_no_value_yet() -> None:
    for variant in naive.VARIANTS:
        assert naive.game_value(naive.start(variant), variant) == 0


def test_3_2_single_when_the_loser_has_borne_one_off() -> None:
    assert (
        value("""
         .  .  .  .  .  . |  .  .  .  .  .  .
         .  .  .  .  .  . |  .  .  .  .  . O14
        """)
        == 1
    )


def test_3_3_gammon_when_the_loser_has_borne_none_off() -> None:
    assert (
        value("""
         .  .  .  .  .  . | O7 O7  .  .  .  .
         .  .  .  .  .  O |  .  .  .  .  .  .
        """)
        == 2
    )


def test_3_4_backgammon_with_a_checker_in_the_winners_home() -> None:
    assert (
        value("""
         .  .  .  .  .  . | O7 O7  .  .  .  .
         .  .  .  .  .  . |  O  .  .  .  .  .
        """)
        == 3
    )


def test_3_4_backgammon_with_a_checker_on_the_bar() -> None:
    assert (
        value("""
         .  .  .  .  .  . | O7 O7  .  .  .  .
         .  .  .  .  .  . |  .  .  .  .  .  .
        bar O
        """)
        == 3
    )


def test_3_4_no_backgammon_once_the_loser_has_borne_one_off() -> None:
    assert (
        value("""
         .  .  .  .  .  . | O7 O6  .  .  .  .
         .  .  .  .  .  . |  .  .  .  .  .  .
        bar O
        """)
        == 1
    )


@pytest.mark.parametrize(
    ("lost", "diagram"),
    [
        (
            -1,
            """
         .  .  .  .  .  . |  .  .  .  .  .  .
         .  .  .  .  .  . |  X  .  .  .  .  .
            """,
        ),
        (
            -2,
            """
         .  .  .  .  .  X |  .  .  .  .  .  .
         .  .  .  .  .  . | X14 .  .  .  .  .
            """,
        ),
        (
            -3,
            """
         .  .  .  .  .  . |  X  .  .  .  .  .
         .  .  .  .  .  . | X14 .  .  .  .  .
            """,
        ),
    ],
)
def test_3_1_a_loss_of_the_player_on_turn_is_negative(lost: int, diagram: str) -> None:
    assert value(diagram) == lost


def test_7_12_oin_when_the_loser_has_borne_one_off() -> None:
    position = nardy("""
         .  .  .  .  . O9 |  .  .  .  .  .  .
         .  .  .  .  .  . |  .  .  .  .  . O5
    """)
    assert naive.game_value(position.points, naive.LONG_NARDY) == 1


def test_7_12_mars_otherwise_and_no_third_level() -> None:
    position = nardy("""
         .  .  .  .  . O9 |  .  .  .  .  .  .
         .  .  .  .  .  . |  .  .  .  .  . O6
    """)
    assert naive.game_value(position.points, naive.LONG_NARDY) == 2
