"""The opening, automatic doubles and who begins (2.1-2.4, 4.23-4.26, 5.2)."""

from __future__ import annotations

import pytest

from bgserver.engine.position import Dice, Position
from bgserver.games import actions as act
from bgserver.games import events as ev
from bgserver.games.actions import ActionKind
from bgserver.games.rules import AutoDouble, AutoDoubleScope, NextStarter, OpeningDice
from bgserver.games.state import Stage
from tests.games.desk import FIRST, SECOND, Desk, names


@pytest.mark.parametrize(("dice", "starter"), [((3, 5), SECOND), ((5, 3), FIRST)])
def test_2_1_the_higher_number_begins_and_plays_both_dice(
    dice: tuple[int, int], starter: object
) -> None:
    desk = Desk("classic", [dice])
    assert desk.state.turn is starter
    assert desk.state.stage is Stage.MOVING
    assert desk.state.dice == Dice(*dice)
    assert desk.state.position == Position.start()
    rolled = desk.log[-1]
    assert isinstance(rolled, ev.DiceRolled)
    assert rolled.opening


def test_2_1_joinpal_the_lower_number_begins_with_a_fresh_roll() -> None:
    desk = Desk("joinpal", [(3, 5), (6, 6)])
    assert desk.state.turn is FIRST
    assert desk.state.dice == Dice(6, 6)
    assert names(desk.log) == [
        "session_started",
        "game_started",
        "opening_rolled",
        "turn_started",
        "dice_rolled",
    ]


def test_2_2_ties_are_rolled_again_without_effect() -> None:
    desk = Desk("classic", [(4, 4), (1, 1), (2, 6)])
    assert names(desk.log).count("opening_rolled") == 3
    assert desk.state.turn is SECOND
    assert desk.state.cube_value == 1


def test_2_3_no_double_before_the_opening_dice() -> None:
    desk = Desk("classic", [(6, 1)])
    assert desk.reasons(FIRST, ActionKind.DOUBLE)[:2] == ("OPENING_TURN", "ALREADY_ROLLED")
    desk.play()
    assert desk.reasons(SECOND, ActionKind.DOUBLE) == ()


def test_4_3_a_fresh_roll_leaves_the_starter_a_double() -> None:
    desk = Desk("classic", [(6, 1)], opening_dice=OpeningDice.FRESH_ROLL)
    assert desk.reasons(FIRST, ActionKind.DOUBLE) == ()


@pytest.mark.parametrize(
    ("limit", "cap", "value"), [(1, 64, 2), (2, 64, 4), (5, 64, 8), (5, 4, 4), (0, 64, 1)]
)
def test_4_24_variant_a_doubles_the_stake_at_ties(limit: int, cap: int, value: int) -> None:
    desk = Desk(
        "money",
        [(3, 3), (4, 4), (3, 3), (5, 2)],
        auto_double=AutoDouble.A,
        auto_double_limit=limit,
        cube_cap=cap,
    )
    assert desk.state.cube_value == value
    assert desk.state.cube_owner is None, "4.23: the cube stays in the middle"
    assert not desk.state.taken
    desk.check()


@pytest.mark.parametrize(
    ("scope", "limit", "value"),
    [
        (AutoDoubleScope.FIRST_ROLL_OF_GAME, 9, 2),
        (AutoDoubleScope.FIRST_ROLL_OF_EACH_SIDE, 9, 4),
        (AutoDoubleScope.FIRST_ROLL_OF_EACH_SIDE, 1, 2),
    ],
)
def test_4_25_variant_b_doubles_the_stake_at_a_first_double(
    scope: AutoDoubleScope, limit: int, value: int
) -> None:
    desk = Desk(
        "money",
        [(3, 3), (5, 2), (4, 4), (1, 1), (2, 2)],
        auto_double=AutoDouble.B,
        auto_double_b_scope=scope,
        auto_double_limit=limit,
    )
    assert desk.state.cube_value == 1, "a tie of the opening dice is none of variant B"
    desk.play()
    for _ in range(3):
        desk.turn(act.Roll())
        desk.play()
    assert desk.state.cube_value == value
    desk.check()


def test_4_25_variant_b_looks_at_the_starters_fresh_roll() -> None:
    desk = Desk(
        "money",
        [(5, 2), (4, 4), (3, 3)],
        auto_double=AutoDouble.B,
        opening_dice=OpeningDice.FRESH_ROLL,
    )
    desk.turn(act.Roll())
    assert desk.state.cube_value == 2


def test_5_2_every_game_has_an_opening_of_its_own() -> None:
    desk = Desk("classic", [(6, 1), (2, 3), (1, 4)])
    desk.do(SECOND, act.Resign())
    desk.do(FIRST, act.AcceptResignation())
    desk.do(FIRST, act.NextGame())
    assert desk.state.stage is Stage.GAME_OVER
    desk.do(SECOND, act.NextGame())
    assert (desk.state.game, desk.state.turn, desk.state.dice) == (2, SECOND, Dice(2, 3))
    assert desk.state.position == Position.start()
    desk.check()


def test_7_14_the_winner_may_begin_the_next_game() -> None:
    desk = Desk("traditional", [(6, 1), (2, 5)], next_starter=NextStarter.WINNER)
    desk.do(SECOND, act.Resign())
    desk.do(FIRST, act.AcceptResignation(), act.NextGame())
    desk.do(SECOND, act.NextGame())
    assert (desk.state.turn, desk.state.dice) == (FIRST, Dice(2, 5))
    assert names(desk.log).count("opening_rolled") == 1
