"""Clocks and automation on an injected clock (section 6): hours of play at once."""

from __future__ import annotations

from typing import Any

import pytest

from bgserver.engine.position import Resignation
from bgserver.games import actions as act
from bgserver.games import events as ev
from bgserver.games.actions import ActionKind
from bgserver.games.automation import Due, DueKind
from bgserver.games.events import By, EndReason
from bgserver.games.rules import CubeUse
from bgserver.games.state import Stage
from bgserver.games.table import excuse_downtime
from bgserver.games.turn import any_rest
from tests.games.desk import BOT, FIRST, PERSON, SECOND, Desk, GivenDice, board, names

_CLOSED = board({25: 1, 6: 5}, {19: 2, 20: 2, 21: 2, 22: 2, 23: 2, 24: 2})


def _joypip(**settings: Any) -> Desk:
    """FIRST is to roll and may double."""
    desk = Desk("joypip", match_length=3, turn_seconds=30, **settings)
    desk.to_roll()
    desk.change(clock_from=desk.now)
    return desk


def _joinpal(*rolls: tuple[int, int]) -> Desk:
    return Desk("joinpal", [(1, 6), *(rolls or [(6, 5)])], turn_seconds=30)


# --- the limit -----------------------------------------------------------------------------------


def test_6_1_the_limit_runs_per_turn_and_restarts_for_the_other_player() -> None:
    desk = _joypip()
    assert desk.due == Due(DueKind.TIMEOUT, FIRST, desk.now + 30)
    desk.pass_time(20)
    desk.do(FIRST, act.Roll())
    assert desk.due is not None
    assert desk.due.at == desk.now + 10, "roll and play share the limit"
    desk.play()
    assert desk.due == Due(DueKind.TIMEOUT, SECOND, desk.now + 30)


def test_6_1_answers_have_the_limit_too() -> None:
    desk = _joypip()
    desk.pass_time(20)
    desk.do(FIRST, act.Double())
    assert desk.due == Due(DueKind.TIMEOUT, SECOND, desk.now + 30)
    desk.pass_time(29)
    desk.do(SECOND, act.Take())
    assert desk.due == Due(DueKind.TIMEOUT, FIRST, desk.now + 30)


def test_6_1_no_limit_in_practice_and_without_clocks() -> None:
    assert Desk("joypip", match_length=3, seats=(PERSON, BOT)).state.setup.turn_seconds is None
    desk = Desk("classic", [(6, 1)])
    assert desk.due is None
    assert desk.pass_time(1e9) == []


def test_6_2_joypip_online_has_45_seconds_unless_stated() -> None:
    assert Desk("joypip", match_length=3).state.setup.turn_seconds == 45


def test_a_resignation_stops_the_turns_clock_and_winds_nothing_up() -> None:
    desk = Desk("joinpal", [(1, 6), (6, 5)], turn_seconds=30)
    desk.pass_time(20)
    for _ in range(3):
        desk.do(FIRST, act.Resign())
        assert desk.due == Due(DueKind.TIMEOUT, SECOND, desk.now + 30)
        desk.pass_time(25)
        desk.do(SECOND, act.RefuseResignation())
        assert desk.due == Due(DueKind.TIMEOUT, FIRST, desk.now + 10)


def test_the_clock_of_a_player_runs_until_his_play_is_final() -> None:
    desk = Desk("tournament", [(6, 1)], match_length=5, limits=(30,))
    desk.step(13, 7)
    desk.step(8, 7)
    assert desk.due == Due(DueKind.TIMEOUT, FIRST, desk.now + 30)
    events = desk.pass_time(30)
    assert names(events) == ["timed_out", "play_confirmed", "turn_started"]
    assert desk.due == Due(DueKind.TIMEOUT, SECOND, desk.now + 30)


def test_downtime_does_not_count() -> None:
    desk = _joypip()
    desk.pass_time(20)
    desk.now += 3600
    desk.book(excuse_downtime(desk.state, 3600, desk.now))
    assert desk.due == Due(DueKind.TIMEOUT, FIRST, desk.now + 10)
    assert desk.pass_time(9) == []
    assert names(desk.pass_time(1))[0] == "timed_out"


def test_no_more_downtime_than_has_passed() -> None:
    desk = _joypip()
    desk.now += 5
    desk.book(excuse_downtime(desk.state, 3600, desk.now))
    assert desk.due == Due(DueKind.TIMEOUT, FIRST, desk.now + 30)
    assert excuse_downtime(Desk("classic").state, 10, 2000.0) == []


# --- JoyPip --------------------------------------------------------------------------------------


def test_6_3_and_6_4_expiry_before_the_roll_rolls_and_the_autopilot_takes_over() -> None:
    desk = _joypip()
    assert desk.pass_time(29.9) == []
    events = desk.pass_time(0.1)
    assert names(events) == ["timed_out", "autopilot_started", "dice_rolled"]
    assert desk.state.autopilot == (True, False)
    assert desk.due is not None
    assert (desk.due.kind, desk.due.seat, desk.due.by) == (DueKind.BOT, FIRST, By.AUTOPILOT)


def test_6_3_steps_already_made_are_kept() -> None:
    desk = _joypip()
    desk.dice = GivenDice([(6, 1)])
    desk.do(FIRST, act.Roll())
    desk.step(13, 7)
    desk.pass_time(30)
    assert [step.source for step in desk.state.steps] == [13]
    desk.do(FIRST, act.PlayTurn(((8, 7),)), by=By.AUTOPILOT)
    assert desk.state.turn is SECOND
    assert desk.state.autopilot == (True, False), "6.4: from now on"


def test_6_4_the_autopilot_acts_without_waiting_and_never_doubles() -> None:
    desk = _joypip()
    desk.pass_time(30)
    desk.do(FIRST, act.PlayTurn(_any(desk)), by=By.AUTOPILOT)
    desk.do(SECOND, act.Roll())
    desk.do(SECOND, act.PlayTurn(_any(desk)))
    assert desk.state.turn is FIRST
    assert desk.state.stage is Stage.MOVING, "6.5: rolled at once, though a double was legal"


def _any(desk: Desk) -> tuple[tuple[int, int], ...]:
    """Some legal rest of the turn."""
    return tuple((step.source, step.target) for step in any_rest(desk.state))


@pytest.mark.parametrize("action", [act.Return(), act.Resign()])
def test_6_4_any_action_of_the_player_ends_the_autopilot(action: Any) -> None:
    desk = _joypip()
    desk.pass_time(30)
    events = desk.do(FIRST, action)
    assert events[0].name == "autopilot_ended"
    if isinstance(action, act.Return):
        assert desk.due == Due(DueKind.TIMEOUT, FIRST, desk.now + 30), "with a fresh limit"
        assert desk.refuses(FIRST, act.Return()) == "NO_AUTOPILOT"


def test_6_4_a_refused_action_does_not_end_the_autopilot() -> None:
    desk = _joypip()
    desk.pass_time(30)
    assert desk.refuses(FIRST, act.Roll()) == "ALREADY_ROLLED"
    assert desk.state.autopilot[FIRST]


def test_6_5_a_pending_double_is_answered_by_the_bot() -> None:
    desk = _joypip()
    desk.do(FIRST, act.Double())
    events = desk.pass_time(30)
    assert names(events) == ["timed_out", "autopilot_started"]
    assert desk.due is not None
    assert (desk.due.kind, desk.due.seat) == (DueKind.BOT, SECOND)
    desk.do(SECOND, act.Take(), by=By.AUTOPILOT)
    assert desk.state.cube_owner is SECOND
    assert desk.state.autopilot[SECOND]


def test_6_4_the_autopilot_goes_on_in_the_next_game_until_the_match_ends() -> None:
    desk = _joypip()
    desk.do(FIRST, act.Double())
    desk.pass_time(30)
    desk.do(SECOND, act.Drop(), by=By.AUTOPILOT)
    assert desk.state.ready == (False, True)
    desk.do(FIRST, act.NextGame())
    assert desk.state.game == 2
    assert desk.state.autopilot == (False, True)
    desk.do(FIRST, act.Resign())
    assert desk.state.autopilot == (False, False)


def test_both_away_between_two_games_of_a_match() -> None:
    desk = _joypip()
    desk.do(FIRST, act.Double())
    desk.do(SECOND, act.Drop())
    events = desk.pass_time(30)
    assert names(events)[:3] == ["ready_for_next_game", "ready_for_next_game", "game_started"]


# --- automation ----------------------------------------------------------------------------------


def test_6_7_the_only_result_is_played() -> None:
    desk = _joypip()
    # Two on the bar, only point 24 open with the one: one result.
    desk.put([0, 0, 0, 0, 0, 0, 6, 0, 3, 0, 0, 0, -5, 4, 0, 0, 0, -2, 0, -4, -2, -2, 0, 0, 0, 2])
    desk.dice = GivenDice([(6, 1)])
    events = desk.do(FIRST, act.Roll())
    assert names(events) == ["dice_rolled", "step_made", "play_confirmed", "turn_started"]
    assert desk.state.turn is SECOND


def test_6_7_the_rest_is_played_but_the_player_confirms_what_he_has_chosen() -> None:
    desk = _joypip()
    desk.put(board({20: 1, 10: 1}, {15: 2, 9: 2, 5: 2, 24: 2, 1: 2}))
    desk.dice = GivenDice([(2, 1)])
    desk.do(FIRST, act.Roll())
    assert desk.state.stage is Stage.MOVING
    options = [one for one in desk.legal(FIRST).steps if len(one.steps) == 1]
    forced = []
    for option in options:
        events = desk.step(option.source, option.target)
        made = [event for event in events if isinstance(event, ev.StepMade)]
        if len(made) == 2:
            forced.append(option)
            assert made[1].by is By.SERVER
            assert desk.state.turn is FIRST, "not confirmed: the player had a choice"
            assert ActionKind.CONFIRM in desk.legal(FIRST).actions
        desk.turn(act.Undo())
        assert desk.state.steps == (), "the server's step goes back with the player's"
    assert forced


def test_6_8_and_2_11_a_forfeit_needs_nobody() -> None:
    desk = _joypip()
    desk.put(_CLOSED)
    assert names(desk.do(FIRST, act.Roll()))[-2:] == ["turn_forfeited", "turn_started"]


def test_6_9_auto_roll_waits_only_where_a_double_is_legal() -> None:
    desk = _joypip()
    assert desk.settle() == []
    desk.do(FIRST, act.Double())
    events = desk.do(SECOND, act.Take())
    assert names(events) == ["double_taken", "dice_rolled"], "4.6: the offerer must roll"
    assert isinstance(events[1], ev.DiceRolled)
    assert events[1].by is By.SERVER
    desk.play()
    assert desk.settle() == []
    assert desk.due is not None
    assert desk.due.kind is DueKind.TIMEOUT, "SECOND owns the cube and may double"
    desk.do(SECOND, act.Roll())
    desk.play()
    assert desk.state.stage is Stage.MOVING, "FIRST cannot double"


@pytest.mark.parametrize("preset", ["traditional", "long_nardy", "joinpal"])
def test_6_9_without_a_cube_every_roll_is_automatic(preset: str) -> None:
    desk = Desk(preset)
    for _ in range(4):
        assert desk.state.stage is Stage.MOVING
        desk.play()


def test_classic_waits_for_the_player_to_roll() -> None:
    desk = Desk("classic")
    desk.play()
    assert desk.state.stage is Stage.TO_ROLL
    assert desk.settle() == []


# --- JoinPal -------------------------------------------------------------------------------------


def test_6_10_on_expiry_any_legal_play_is_made_and_the_next_turn_is_timed_again() -> None:
    desk = _joinpal()
    events = desk.pass_time(30)
    assert names(events) == [
        "timed_out",
        "step_made",
        "step_made",
        "play_confirmed",
        "turn_started",
        "dice_rolled",
    ]
    assert desk.state.autopilot == (False, False)
    assert desk.due == Due(DueKind.TIMEOUT, SECOND, desk.now + 30)


def test_6_10_steps_already_made_are_kept() -> None:
    desk = _joinpal()
    desk.step(24, 18)
    desk.pass_time(30)
    assert desk.state.turn is SECOND
    made = [event for event in desk.log if isinstance(event, ev.StepMade)]
    assert [event.by for event in made] == [By.PLAYER, By.TIMEOUT]


def test_6_11_the_third_timeout_loses_the_game() -> None:
    desk = _joinpal()
    late = {FIRST: 0, SECOND: 0}
    while desk.state.stage is not Stage.GAME_OVER:
        seat = desk.state.turn
        if seat is SECOND and late[SECOND] == 2:
            desk.play()
            continue
        late[seat] += 1
        desk.pass_time(30)
    assert late == {FIRST: 3, SECOND: 2}, "counted per player"
    ended = desk.ended
    assert (ended.winner, ended.points, ended.reason) == (SECOND, 1, EndReason.TIMEOUT)
    assert names(desk.log)[-2:] == ["timed_out", "game_ended"], "instead of an automatic play"
    desk.check()


def test_6_11_timeouts_count_per_game() -> None:
    desk = _joinpal()
    desk.pass_time(30)
    desk.do(FIRST, act.Resign())
    desk.do(SECOND, act.AcceptResignation())
    desk.do(FIRST, act.NextGame())
    desk.do(SECOND, act.NextGame())
    assert desk.state.timeouts == (0, 0)


def test_nobody_is_dragged_into_games_without_end() -> None:
    desk = _joinpal()
    desk.do(FIRST, act.Resign())
    desk.do(SECOND, act.AcceptResignation())
    assert names(desk.pass_time(30)) == ["session_ended"]
    assert desk.pass_time(1e6) == []


@pytest.mark.parametrize(
    ("stage", "events"),
    [
        (Stage.DOUBLE, ["timed_out", "cube_dropped", "game_ended"]),
        (Stage.BEAVER, ["timed_out", "played_on"]),
        (Stage.RACCOON, ["timed_out", "played_on"]),
    ],
)
def test_answers_of_the_clock(stage: Stage, events: list[str]) -> None:
    desk = Desk("joinpal", turn_seconds=30)
    desk.to_roll()
    desk.change(stage=stage, cube_value=2, cube_owner=SECOND, clock_from=desk.now)
    assert names(desk.pass_time(30))[: len(events)] == events


def test_a_resignation_that_nobody_answers_is_refused() -> None:
    desk = _joinpal()
    desk.do(FIRST, act.Resign(Resignation.BACKGAMMON))
    assert names(desk.pass_time(30)) == ["timed_out", "resignation_refused"]


# --- bots ----------------------------------------------------------------------------------------


def test_bots_are_asked_only_where_there_is_something_to_judge() -> None:
    desk = Desk("classic", [(1, 6)], seats=(PERSON, BOT))
    assert desk.due == Due(DueKind.BOT, SECOND, desk.state.clock_from, By.BOT)
    desk.do(SECOND, act.PlayTurn(_any(desk)), by=By.BOT)
    assert desk.due is None
    desk.do(FIRST, act.Resign())
    assert desk.due is not None
    assert (desk.due.kind, desk.due.seat) == (DueKind.BOT, SECOND)
    desk.do(SECOND, act.RefuseResignation(), by=By.BOT)
    desk.do(FIRST, act.Double())
    assert desk.due is not None
    assert (desk.due.kind, desk.due.seat) == (DueKind.BOT, SECOND)
    desk.do(SECOND, act.Take(), by=By.BOT)
    desk.do(FIRST, act.Roll())
    desk.play()
    assert desk.due is not None
    assert desk.due.kind is DueKind.BOT, "it owns the cube and may double"


def test_a_bot_that_cannot_double_rolls_by_itself() -> None:
    desk = Desk("classic", [(6, 1)], seats=(PERSON, BOT), cube=CubeUse.OFF)
    desk.play()
    assert desk.state.stage is Stage.MOVING
    rolled = desk.log[-1]
    assert isinstance(rolled, ev.DiceRolled)
    assert rolled.by is By.BOT


def test_bots_are_ready_for_the_next_game_but_two_bots_do_not_go_on_for_ever() -> None:
    desk = Desk("classic", seats=(PERSON, BOT))
    desk.do(FIRST, act.Resign())
    desk.do(SECOND, act.AcceptResignation(), by=By.BOT)
    assert desk.state.ready == (False, True)
    alone = Desk("classic", seats=(BOT, BOT))
    alone.do(FIRST, act.Resign(), by=By.BOT)
    alone.do(SECOND, act.AcceptResignation(), by=By.BOT)
    assert alone.due is None
    assert alone.state.ready == (False, False)


def test_6_10_expiry_before_the_roll_rolls_and_plays() -> None:
    desk = Desk("money", limits=(30,))
    desk.to_roll()
    desk.change(clock_from=desk.now)
    desk.dice = GivenDice([(6, 1)])
    found = names(desk.pass_time(30))
    assert found[:4] == ["timed_out", "dice_rolled", "step_made", "step_made"]
    assert found[4:6] == ["play_confirmed", "turn_started"]


def test_6_10_expiry_of_a_player_who_cannot_move() -> None:
    desk = Desk("money", limits=(30,))
    desk.to_roll(_CLOSED)
    desk.change(clock_from=desk.now)
    found = names(desk.pass_time(30))
    assert found == ["timed_out", "dice_rolled", "turn_forfeited", "turn_started"]
