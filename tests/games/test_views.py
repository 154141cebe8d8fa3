"""What the engine and the two seats see of a table."""

from __future__ import annotations

import pytest

from bgserver.engine.position import (
    Cube,
    CubeOwner,
    Dice,
    GamePhase,
    MatchScore,
    Position,
    Resignation,
)
from bgserver.games import actions as act
from bgserver.games.state import Stage
from bgserver.games.views import game_state, score_before, seat_view
from tests.games.desk import FIRST, SECOND, Desk, board


def test_the_engine_sees_the_board_before_the_steps_and_the_dice() -> None:
    desk = Desk("classic", [(1, 6)])
    desk.step(13, 7)
    seen = game_state(desk.state)
    assert seen.position == Position.start()
    assert (seen.on_roll, seen.dice) == (SECOND, Dice(1, 6))
    desk.play("8/7")
    seen = game_state(desk.state)
    assert seen.dice is None
    assert seen.on_roll is FIRST
    assert seen.position == desk.state.position


def test_both_seats_see_the_steps_from_their_side() -> None:
    desk = Desk("classic", [(6, 1)])
    desk.step(13, 7)
    own, other = seat_view(desk.state, FIRST), seat_view(desk.state, SECOND)
    assert own.position.points[7] == 1
    assert other.position.points[18] == -1
    assert (own.pips, other.pips) == ((161, 167), (167, 161))
    desk.put(board({1: 3}, {24: 5}))
    assert seat_view(desk.state, FIRST).off == (12, 10)
    assert seat_view(desk.state, SECOND).off == (10, 12)


def test_cube_and_money_rules() -> None:
    desk = Desk("money", beaver=True)
    desk.to_roll(score=(3, 5), cube_value=2, cube_owner=FIRST)
    seen = game_state(desk.state)
    assert seen.cube == Cube(2, CubeOwner.ON_ROLL, 64)
    assert (seen.jacoby, seen.beavers, seen.match, seen.money_score) == (True, True, None, (3, 5))
    desk.change(turn=SECOND)
    seen = game_state(desk.state)
    assert seen.cube.owner is CubeOwner.OPPONENT
    assert seen.money_score == (5, 3)


def test_without_a_cube_nobody_can_turn_it() -> None:
    assert game_state(Desk("traditional").state).cube == Cube(1, CubeOwner.CENTERED, 1)


def test_a_match_shows_the_score_before_the_game_even_when_it_is_over() -> None:
    desk = Desk("tournament", match_length=5)
    desk.to_roll(score=(2, 4), crawford=True)
    seen = game_state(desk.state)
    assert seen.match == MatchScore(5, 2, 4, crawford=True)
    assert seen.money_score == (0, 0)
    desk.do(FIRST, act.Resign(Resignation.GAMMON))
    assert game_state(desk.state).match == MatchScore(5, 2, 4, crawford=True)
    desk.do(SECOND, act.AcceptResignation())
    assert desk.state.score == (2, 6)
    assert score_before(desk.state) == (2, 4)
    assert game_state(desk.state).match == MatchScore(5, 2, 4, crawford=True)
    other = Desk("classic")
    other.do(SECOND, act.Resign())
    other.do(FIRST, act.AcceptResignation())
    assert (other.state.score, score_before(other.state)) == ((1, 0), (0, 0))


@pytest.mark.parametrize(
    ("stage", "level", "to_act"),
    [(Stage.DOUBLE, 0, SECOND), (Stage.BEAVER, 1, FIRST), (Stage.RACCOON, 2, SECOND)],
)
def test_pending_offers(stage: Stage, level: int, to_act: object) -> None:
    desk = Desk("money", beaver=True)
    desk.to_roll()
    desk.change(stage=stage, cube_value=4, cube_owner=SECOND)
    seen = game_state(desk.state)
    assert (seen.double_offered, seen.beaver_level, seen.cube.value) == (True, level, 4)
    assert seen.to_act is to_act


@pytest.mark.parametrize("resigns", [FIRST, SECOND])
def test_pending_resignations(resigns: object) -> None:
    desk = Desk("classic", [(6, 1)])
    seat = FIRST if resigns is FIRST else SECOND
    desk.do(seat, act.Resign(Resignation.GAMMON))
    seen = game_state(desk.state)
    assert seen.resignation is Resignation.GAMMON
    assert seen.to_act is seat.other
    assert (seen.acting is None) == (seat is FIRST)


def test_phases() -> None:
    desk = Desk("money")
    assert game_state(desk.state).phase is GamePhase.PLAYING
    desk.do(FIRST, act.Resign())
    desk.do(SECOND, act.AcceptResignation())
    assert game_state(desk.state).phase is GamePhase.RESIGNED
    dropped = Desk("money")
    dropped.to_roll()
    dropped.do(FIRST, act.Double())
    dropped.do(SECOND, act.Drop())
    assert game_state(dropped.state).phase is GamePhase.DROPPED
    ended = Desk("money")
    ended.to_roll(board({1: 1}, {24: 15}))
    ended.do(FIRST, act.Roll())
    ended.step(1, 0)
    seen = game_state(ended.state)
    assert seen.phase is GamePhase.FINISHED
    assert seen.position.is_finished
    given_up = Desk("joypip", match_length=3)
    given_up.do(FIRST, act.Resign())
    assert game_state(given_up.state).phase is GamePhase.RESIGNED
