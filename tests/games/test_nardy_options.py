"""Long Nardy at a table, with the options that are played (7.4-7.6, 7.12-7.14)."""

from __future__ import annotations

from typing import Any

import pytest

from bgserver.engine.position import Resignation
from bgserver.games import actions as act
from bgserver.games.events import EndReason
from bgserver.games.rules import HeadException, HeadExceptionScope, Koks
from tests.games.desk import FIRST, SECOND, Desk, GivenDice, board, names

# The loser's home is 13-18 in the winner's numbers.
_AWAY, _HOME = {20: 15}, {20: 14, 15: 1}


def _desk(*rolls: tuple[int, int], **options: Any) -> Desk:
    return Desk("long_nardy", [(6, 1), *rolls], long_nardy=options)


def _left_head(desk: Desk) -> int:
    """Play a turn; how many checkers it took from the head."""
    before = desk.state.position.points[24]
    seat = desk.state.turn
    desk.play()
    assert desk.state.turn is not seat
    return before + desk.state.position.points[12]


@pytest.mark.parametrize(
    ("options", "first", "second"),
    [
        ({}, 2, 2),
        ({"head_exception": HeadException.NONE}, 1, 1),
        ({"head_exception_scope": HeadExceptionScope.FIRST_TURN_OF_GAME}, 2, 1),
    ],
)
def test_7_14_head_exception_and_scope(options: dict[str, Any], first: int, second: int) -> None:
    desk = _desk((6, 6), (6, 6), **options)
    assert (_left_head(desk), _left_head(desk)) == (first, second)
    desk.check()


def test_7_4_the_starter_rolls_afresh() -> None:
    desk = _desk((2, 1))
    assert names(desk.log)[-1] == "dice_rolled"
    assert desk.state.dice is not None
    assert (desk.state.dice.first, desk.state.dice.second) == (2, 1)


@pytest.mark.parametrize(
    ("koks", "loser", "result"),
    [
        (Koks.NONE, _AWAY, Resignation.GAMMON),
        (Koks.THREE, _AWAY, Resignation.BACKGAMMON),
        (Koks.THREE, _HOME, Resignation.GAMMON),
        (Koks.THREE, {15: 14}, Resignation.SINGLE),
    ],
)
def test_7_12_and_7_14_mars_and_koks(
    koks: Koks, loser: dict[int, int], result: Resignation
) -> None:
    desk = Desk("long_nardy", long_nardy={"koks": koks})
    _last_checker(desk, loser)
    desk.step(3, 0)
    assert (desk.ended.result, desk.ended.points) == (result, int(result))
    assert Resignation.BACKGAMMON not in desk.legal(FIRST).resignations


def _last_checker(desk: Desk, loser: dict[int, int], *answer: tuple[int, int]) -> None:
    """FIRST, who began, bears off the last checker with the dice that are rolled now."""
    desk.to_roll(board({3: 1}, loser), starter=FIRST)
    desk.dice = GivenDice([(6, 5), *answer])
    desk.settle()


@pytest.mark.parametrize(
    ("left", "dice", "is_draw"),
    [
        (6, (6, 1), True),
        (6, (4, 2), True),
        (6, (3, 2), False),
        (5, (1, 1), False),
        (4, (1, 1), True),
        (1, (2, 1), True),
    ],
)
def test_7_14_the_second_player_may_answer_with_14_off(
    left: int, dice: tuple[int, int], is_draw: bool
) -> None:
    desk = Desk("long_nardy", long_nardy={"last_move_draw": True})
    _last_checker(desk, {left + 12: 1}, dice)
    desk.step(3, 0)
    ended = desk.ended
    if is_draw:
        assert (ended.winner, ended.points, ended.reason) == (None, 0, EndReason.DRAWN)
    else:
        assert (ended.winner, ended.points) == (FIRST, 1)
    assert desk.state.score == ((0, 0) if is_draw else (1, 0))
    desk.do(FIRST, act.NextGame())
    desk.do(SECOND, act.NextGame())
    assert desk.state.game == 2


@pytest.mark.parametrize(
    ("option", "starter", "loser"),
    [(False, FIRST, {13: 1}), (True, SECOND, {13: 1}), (True, FIRST, {13: 2})],
)
def test_7_14_no_answer_otherwise(option: bool, starter: Any, loser: dict[int, int]) -> None:
    desk = Desk("long_nardy", long_nardy={"last_move_draw": option})
    _last_checker(desk, loser)
    desk.change(starter=starter)
    desk.step(3, 0)
    assert desk.ended.winner is FIRST
