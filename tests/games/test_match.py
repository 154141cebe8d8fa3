"""Matches and sessions: Crawford, scores, next games, resignations (3.9-3.10, 4.9-4.13, 5)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bgserver.engine.errors import InvalidInputError
from bgserver.engine.position import Resignation, Seat
from bgserver.games import actions as act
from bgserver.games.actions import ActionKind
from bgserver.games.events import EndReason
from bgserver.games.rules import ResignScope, Session
from bgserver.games.state import Stage
from bgserver.games.table import decide
from tests.games.desk import FIRST, SECOND, Desk

_RESULTS = (Resignation.SINGLE, Resignation.GAMMON, Resignation.BACKGAMMON)


def _next_game(desk: Desk) -> None:
    desk.do(FIRST, act.NextGame())
    desk.do(SECOND, act.NextGame())


def _win(desk: Desk, winner: Any, result: Resignation = Resignation.SINGLE) -> None:
    desk.do(winner.other, act.Resign(result))
    desk.do(winner, act.AcceptResignation())


def test_4_13_the_crawford_game_is_played_once() -> None:
    desk = Desk("tournament", match_length=5)
    crawford = []
    for winner, result in (
        (FIRST, Resignation.GAMMON),
        (SECOND, Resignation.GAMMON),
        (FIRST, Resignation.GAMMON),  # 4-2
        (SECOND, Resignation.SINGLE),  # 4-3, the Crawford game
        (SECOND, Resignation.SINGLE),  # 4-4
    ):
        crawford.append(desk.state.crawford)
        _win(desk, winner, result)
        _next_game(desk)
    crawford.append(desk.state.crawford)
    assert desk.state.score == (4, 4)
    assert crawford == [False, False, False, True, False, False]
    desk.to_roll()
    assert desk.reasons(FIRST, ActionKind.DOUBLE) == (), "4.11: the cube is back"


def test_4_9_no_cube_in_a_match_to_one_point() -> None:
    desk = Desk("joypip", match_length=1, cube_wanted=True)
    assert not desk.state.crawford
    assert desk.reasons(FIRST, ActionKind.DOUBLE)[0] == "ONE_POINT_MATCH"


@settings(deadline=None)
@given(
    length=st.integers(2, 9),
    games=st.lists(st.tuples(st.sampled_from([FIRST, SECOND]), st.sampled_from(_RESULTS))),
)
def test_4_10_at_most_one_crawford_game_and_right_after_reaching_it(
    length: int, games: list[tuple[Any, Resignation]]
) -> None:
    desk = Desk(
        "classic", session=Session.MATCH, match_length=length, resign_scope=ResignScope.GAME
    )
    expected = False
    done = False
    for winner, result in games:
        assert desk.state.crawford == expected
        before = desk.state.score
        _win(desk, winner, result)
        assert desk.state.score[winner] == before[winner] + result
        if desk.state.stage is Stage.SESSION_OVER:
            break
        one_away = length - 1 in desk.state.score
        expected, done = one_away and not done, done or one_away
        _next_game(desk)
    desk.check()


def test_3_9_surplus_points_are_reported_and_the_match_is_over() -> None:
    desk = Desk("tournament", match_length=5)
    desk.change(score=(4, 0), cube_value=4)
    _win(desk, FIRST, Resignation.BACKGAMMON)
    assert desk.state.stage is Stage.SESSION_OVER
    assert (desk.state.score, desk.state.winner) == ((16, 0), FIRST)
    for kind in (ActionKind.NEXT_GAME, ActionKind.END_SESSION):
        assert desk.reasons(FIRST, kind) == ("MATCH_OVER",), "5.5"
    assert desk.refuses(FIRST, act.Roll()) == "GAME_OVER"


def test_5_3_a_money_session_goes_on_until_it_is_stopped() -> None:
    desk = Desk("money")
    for _ in range(3):
        _win(desk, SECOND, Resignation.GAMMON)
        _next_game(desk)
    assert desk.state.score == (0, 3), "4.17: without a take a gammon counts 1"
    assert desk.refuses(FIRST, act.EndSession()) == "GAME_RUNNING"
    assert desk.refuses(FIRST, act.NextGame()) == "GAME_RUNNING"
    _win(desk, FIRST)
    desk.do(FIRST, act.NextGame())
    assert desk.refuses(FIRST, act.NextGame()) == "ALREADY_READY"
    desk.do(SECOND, act.EndSession())
    assert desk.state.stage is Stage.SESSION_OVER
    assert desk.state.winner is None
    assert desk.refuses(SECOND, act.NextGame()) == "SESSION_OVER"
    desk.check()


def test_a_match_cannot_be_stopped_between_games() -> None:
    desk = Desk("tournament", match_length=5)
    _win(desk, FIRST)
    assert desk.refuses(FIRST, act.EndSession()) == "MATCH_RUNNING"


# --- resignations --------------------------------------------------------------------------------


@pytest.mark.parametrize("result", _RESULTS)
@pytest.mark.parametrize("cube", [1, 4])
def test_3_10_a_resignation_is_worth_the_cube(result: Resignation, cube: int) -> None:
    desk = Desk("classic")
    desk.change(cube_value=cube)
    _win(desk, SECOND, result)
    assert desk.ended.points == result * cube
    assert (desk.ended.winner, desk.ended.reason) == (SECOND, EndReason.RESIGNED)


def test_3_10_either_side_may_offer_at_any_time_and_play_goes_on_after_a_refusal() -> None:
    desk = Desk("classic", [(6, 1)])
    desk.step(13, 7)
    for seat in (FIRST, SECOND):
        desk.do(seat, act.Resign(Resignation.GAMMON))
        assert desk.refuses(seat.other, act.Resign()) == "OFFER_PENDING"
        assert desk.refuses(FIRST, act.MakeStep(8, 7)) == "OFFER_PENDING"
        assert desk.refuses(FIRST, act.Undo()) == "OFFER_PENDING"
        assert desk.refuses(seat, act.AcceptResignation()) == "NOT_YOUR_TURN"
        assert desk.legal(seat.other).actions == {ActionKind.ACCEPT, ActionKind.REFUSE}
        desk.do(seat.other, act.RefuseResignation())
    desk.step(8, 7)
    desk.turn(act.Confirm())
    desk.do(SECOND, act.Double())
    assert desk.refuses(SECOND, act.Resign()) == "OFFER_PENDING"
    assert desk.refuses(FIRST, act.AcceptResignation()) == "NO_RESIGNATION"
    desk.check()


@pytest.mark.parametrize(("taken", "points"), [(False, 1), (True, 3)])
def test_3_10_jacoby_applies_to_resignations(taken: bool, points: int) -> None:
    desk = Desk("money")
    desk.change(taken=taken)
    _win(desk, FIRST, Resignation.BACKGAMMON)
    assert desk.ended.points == points


def test_7_12_long_nardy_knows_no_third_level() -> None:
    desk = Desk("long_nardy")
    assert desk.legal(FIRST).resignations == (Resignation.SINGLE, Resignation.GAMMON)
    for result in (Resignation.BACKGAMMON, Resignation.NONE):
        with pytest.raises(InvalidInputError) as caught:
            decide(desk.state, FIRST, act.Resign(result), desk.dice, desk.now)
        assert [fault.field for fault in caught.value.faults] == ["resign.result"]


@pytest.mark.parametrize("seat", [FIRST, SECOND])
def test_6_6_joypip_giving_up_loses_the_match_at_once(seat: Seat) -> None:
    desk = Desk("joypip", match_length=3)
    events = desk.do(seat, act.Resign())
    assert desk.state.stage is Stage.SESSION_OVER
    assert desk.state.winner == seat.other
    assert desk.state.score == (0, 0)
    assert [event.name for event in events] == ["session_ended"]
    assert desk.refuses(seat.other, act.NextGame()) == "MATCH_OVER"


def test_6_6_joypip_giving_up_needs_no_free_moment() -> None:
    desk = Desk("joypip", match_length=3)
    desk.to_roll()
    desk.do(FIRST, act.Double())
    desk.do(FIRST, act.Resign())
    assert desk.state.winner is SECOND
    between = Desk("joypip", match_length=3)
    between.to_roll()
    between.do(FIRST, act.Double())
    between.do(SECOND, act.Drop())
    between.do(FIRST, act.Resign())
    assert between.state.winner is SECOND


def test_every_result_and_cube_adds_up() -> None:
    desk = Desk("classic")
    total = 0
    for result, cube in itertools.product(_RESULTS, (1, 2, 64)):
        desk.change(cube_value=cube)
        _win(desk, FIRST, result)
        total += result * cube
        _next_game(desk)
    assert desk.state.score == (total, 0)
