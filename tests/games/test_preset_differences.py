"""How the presets differ in play: the last paragraph of `rules.md` section 8, point by point."""

from __future__ import annotations

from typing import Any

import pytest

from bgserver.engine.position import Dice, Position, Resignation, Variant
from bgserver.games import actions as act
from bgserver.games.actions import ActionKind
from bgserver.games.automation import DueKind
from bgserver.games.events import EndReason
from bgserver.games.presets import PRESETS
from bgserver.games.rules import AutoDouble, RaccoonOwner, Session
from bgserver.games.state import Stage
from tests.games.desk import FIRST, SECOND, Desk, GivenDice, board

_LENGTHS = {"joypip": 3, "tournament": 5}
_ALL = tuple(PRESETS)
_WITH_CUBE = {"classic", "joypip", "tournament", "money"}
_MATCHES = {"joypip", "tournament"}


def _desk(preset: str, rolls: tuple[tuple[int, int], ...] = ((6, 1),), **settings: Any) -> Desk:
    if preset in _LENGTHS:
        settings = {"match_length": _LENGTHS[preset]} | settings
    return Desk(preset, rolls, **settings)


@pytest.mark.parametrize("preset", _ALL)
def test_starter_lower_in_joinpal_only(preset: str) -> None:
    desk = _desk(preset, ((6, 1), (2, 1)))
    assert desk.state.starter is (SECOND if preset == "joinpal" else FIRST)


@pytest.mark.parametrize("preset", _ALL)
def test_fresh_first_roll_in_joinpal_and_long_nardy_only(preset: str) -> None:
    desk = _desk(preset, ((6, 1), (2, 1)))
    fresh = preset in {"joinpal", "long_nardy"}
    assert desk.state.dice == (Dice(2, 1) if fresh else Dice(6, 1))


@pytest.mark.parametrize("preset", _ALL)
def test_cube(preset: str) -> None:
    desk = _desk(preset)
    desk.to_roll()
    reasons = desk.reasons(FIRST, ActionKind.DOUBLE)
    assert reasons == (() if preset in _WITH_CUBE else ("CUBE_OFF",))


def test_cube_optional_in_joypip() -> None:
    desk = _desk("joypip", cube_wanted=False)
    desk.to_roll()
    assert desk.reasons(FIRST, ActionKind.DOUBLE) == ("CUBE_OFF",)


@pytest.mark.parametrize("preset", sorted(_MATCHES))
def test_crawford_in_matches(preset: str) -> None:
    desk = _desk(preset)
    desk.change(score=(_LENGTHS[preset] - 2, 0))
    _win(desk, FIRST)
    assert desk.state.crawford


def _win(desk: Desk, winner: Any) -> None:
    """Let a player win one point, and begin the next game."""
    desk.to_roll(turn=winner)
    desk.do(winner, act.Double())
    desk.do(winner.other, act.Drop())
    desk.do(FIRST, act.NextGame())
    desk.do(SECOND, act.NextGame())


@pytest.mark.parametrize("preset", sorted(_WITH_CUBE - _MATCHES))
def test_no_crawford_outside_matches(preset: str) -> None:
    desk = _desk(preset)
    for _ in range(7):
        _win(desk, FIRST)
        assert not desk.state.crawford


@pytest.mark.parametrize("preset", _ALL)
def test_jacoby_in_money_only(preset: str) -> None:
    desk = _desk(preset, auto_roll=False, auto_play_single=False)
    # 13 is outside both homes in backgammon; in Long Nardy it does not matter.
    desk.to_roll(board({1: 1}, {13: 15}))
    desk.do(FIRST, act.Roll())
    desk.step(1, 0)
    result = Resignation.SINGLE if preset == "money" else Resignation.GAMMON
    assert desk.ended.result is result


@pytest.mark.parametrize("preset", ["classic", "money"])
def test_beavers_raccoons_and_automatic_doubles_on_request(preset: str) -> None:
    plain = _desk(preset)
    plain.to_roll()
    plain.do(FIRST, act.Double())
    assert plain.reasons(SECOND, ActionKind.BEAVER) == ("BEAVERS_OFF",)
    assert _desk(preset, ((3, 3), (6, 1))).state.cube_value == 1
    asked = {
        "beaver": True,
        "raccoon": True,
        "raccoon_owner": RaccoonOwner.BEAVERER,
        "auto_double": AutoDouble.A,
    }
    desk = _desk(preset, ((3, 3), (6, 1)), **asked)
    assert desk.state.cube_value == 2
    desk.to_roll()
    desk.do(FIRST, act.Double())
    desk.do(SECOND, act.Beaver())
    desk.do(FIRST, act.Raccoon())
    desk.do(SECOND, act.PlayOn())
    assert desk.state.cube_value == 16


@pytest.mark.parametrize("preset", sorted(_WITH_CUBE))
def test_the_cap_is_64(preset: str) -> None:
    desk = _desk(preset)
    desk.to_roll(cube_value=32, cube_owner=FIRST)
    assert desk.reasons(FIRST, ActionKind.DOUBLE) == ()
    desk.change(cube_value=64)
    assert desk.reasons(FIRST, ActionKind.DOUBLE) == ("CUBE_AT_CAP",)


@pytest.mark.parametrize("preset", [name for name in _ALL if name != "long_nardy"])
def test_the_higher_number_rule_holds_everywhere(preset: str) -> None:
    desk = _desk(preset)
    desk.to_roll(board({2: 7, 3: 7, 19: 1}, {7: 4, 11: 4, 12: 5, 17: 2}))
    desk.dice = GivenDice([(4, 3)])
    if not desk.settle():
        desk.do(FIRST, act.Roll())
    if preset == "joypip":
        assert desk.state.turn is SECOND, "the only result was played"
        assert desk.state.position.points[10] == -1
    else:
        assert desk.refuses(FIRST, act.MakeStep(19, 16)) == "MUST_USE_HIGHER"


@pytest.mark.parametrize("preset", [name for name in _ALL if name != "long_nardy"])
def test_bearing_off_is_not_compulsory_where_another_step_is_legal(preset: str) -> None:
    desk = _desk(preset)
    desk.to_roll(board({6: 2, 5: 2, 1: 2}, {20: 2}))
    desk.dice = GivenDice([(5, 1)])
    if not desk.settle():
        desk.do(FIRST, act.Roll())
    desk.step(6, 1)
    assert desk.state.position.own_off == 9


@pytest.mark.parametrize("preset", _ALL)
def test_undo_everywhere(preset: str) -> None:
    desk = _desk(preset, ((6, 1), (6, 2)))
    option = next(one for one in desk.legal(desk.state.turn).steps if len(one.steps) == 1)
    desk.step(option.source, option.target)
    desk.turn(act.Undo(all=True))
    assert desk.state.position == Position.start(desk.state.setup.rules.variant)


@pytest.mark.parametrize("preset", _ALL)
def test_the_opponents_roll_ends_the_turn_in_tournament_and_money_only(preset: str) -> None:
    desk = _desk(preset, ((6, 1), (6, 1)), auto_roll=False, auto_play_single=False)
    if desk.state.stage is Stage.TO_ROLL:
        desk.turn(act.Roll())
    seat = desk.state.turn
    while desk.legal(seat).steps:
        option = desk.legal(seat).steps[0]
        desk.step(option.source, option.target)
    confirms = preset in {"tournament", "money"}
    assert (ActionKind.ROLL in desk.legal(seat.other).actions) == confirms
    assert ActionKind.CONFIRM in desk.legal(seat).actions, "2.25: done is always offered"


@pytest.mark.parametrize("preset", _ALL)
def test_resigning_loses_the_match_in_joypip_only(preset: str) -> None:
    desk = _desk(preset)
    desk.do(FIRST, act.Resign())
    if preset == "joypip":
        assert desk.state.stage is Stage.SESSION_OVER
        assert desk.state.winner is SECOND
    else:
        assert desk.state.resigning is FIRST
        desk.do(SECOND, act.AcceptResignation())
        assert desk.ended.reason is EndReason.RESIGNED
        assert desk.state.stage is Stage.GAME_OVER


@pytest.mark.parametrize("preset", _ALL)
def test_clocks_in_joypip_and_joinpal_only(preset: str) -> None:
    desk = _desk(preset)
    following = desk.due
    clocked = preset in {"joypip", "joinpal"}
    assert (following is not None and following.kind is DueKind.TIMEOUT) == clocked


@pytest.mark.parametrize("preset", ["joypip", "joinpal"])
def test_timeouts_lose_in_joinpal_only(preset: str) -> None:
    desk = _desk(preset)
    for _ in range(3):
        desk.to_roll()
        desk.change(clock_from=desk.now, autopilot=(False, False))
        desk.pass_time(90)
    assert (desk.state.result is not None) == (preset == "joinpal")


@pytest.mark.parametrize("preset", _ALL)
def test_match_play_in_joypip_and_tournament_only(preset: str) -> None:
    desk = _desk(preset)
    assert desk.state.setup.is_match == (preset in _MATCHES)
    assert (desk.state.setup.rules.session is Session.MATCH) == (preset in _MATCHES)


@pytest.mark.parametrize("preset", _ALL)
def test_one_preset_is_long_nardy(preset: str) -> None:
    desk = _desk(preset)
    is_nardy = desk.state.position.variant is Variant.LONG_NARDY
    assert is_nardy == (preset == "long_nardy")
    highest = Resignation.GAMMON if is_nardy else Resignation.BACKGAMMON
    if preset != "joypip":
        assert desk.legal(FIRST).resignations[-1] is highest
