"""The doubling cube at a table (4.1-4.9, 4.14-4.22, 3.5-3.6)."""

from __future__ import annotations

from typing import Any

import pytest

from bgserver.engine.position import Resignation
from bgserver.games import actions as act
from bgserver.games.actions import ActionKind
from bgserver.games.events import EndReason
from bgserver.games.rules import HollandCount, HollandScope, RaccoonOwner
from bgserver.games.state import Stage
from tests.games.desk import FIRST, SECOND, Desk, board

_ON_BAR = board({25: 1, 6: 5, 8: 4}, {19: 2, 20: 2, 21: 2, 22: 2, 23: 2, 24: 2, 12: 3})


def _money(**settings: Any) -> Desk:
    desk = Desk("money", **settings)
    desk.to_roll()
    return desk


def test_4_5_take_gives_the_taker_the_cube_and_the_offerer_rolls() -> None:
    desk = _money()
    desk.do(FIRST, act.Double())
    assert desk.state.stage is Stage.DOUBLE
    assert desk.legal(SECOND).actions == {ActionKind.TAKE, ActionKind.DROP}
    assert desk.legal(FIRST).actions == frozenset()
    desk.do(SECOND, act.Take())
    assert (desk.state.cube_value, desk.state.cube_owner) == (2, SECOND)
    assert desk.refuses(FIRST, act.Double()) == "ALREADY_DOUBLED"
    assert "NOT_CUBE_OWNER" in desk.reasons(FIRST, ActionKind.DOUBLE)
    desk.do(FIRST, act.Roll())
    desk.play()
    assert desk.reasons(SECOND, ActionKind.DOUBLE) == (), "only the owner may redouble"


@pytest.mark.parametrize("value", [1, 2, 32])
def test_3_6_drop_loses_the_value_before_the_double(value: int) -> None:
    desk = _money()
    desk.change(cube_value=value, cube_owner=FIRST if value > 1 else None)
    desk.do(FIRST, act.Double())
    desk.do(SECOND, act.Drop())
    ended = desk.ended
    assert (ended.winner, ended.points, ended.reason) == (FIRST, value, EndReason.DROPPED)
    assert ended.result is Resignation.SINGLE
    assert desk.state.score == (value, 0)


def test_4_4_a_player_who_is_closed_out_may_double() -> None:
    desk = _money()
    desk.put(_ON_BAR)
    assert ActionKind.DOUBLE in desk.legal(FIRST).actions
    desk.do(FIRST, act.Roll())
    assert desk.state.turn is SECOND, "2.11: the turn was forfeited"


@pytest.mark.parametrize(
    ("preset", "settings", "changes", "reason"),
    [
        ("traditional", {}, {}, "CUBE_OFF"),
        ("joypip", {"match_length": 3, "cube_wanted": False}, {}, "CUBE_OFF"),
        ("joypip", {"match_length": 1}, {}, "ONE_POINT_MATCH"),
        ("tournament", {"match_length": 5}, {"crawford": True}, "CRAWFORD_GAME"),
        ("money", {}, {"turn": SECOND}, "NOT_YOUR_TURN"),
        ("money", {}, {"cube_value": 2, "cube_owner": SECOND}, "NOT_CUBE_OWNER"),
        ("money", {}, {"cube_value": 64, "cube_owner": FIRST}, "CUBE_AT_CAP"),
        ("money", {"cube_cap": 2}, {"cube_value": 2, "cube_owner": FIRST}, "CUBE_AT_CAP"),
        ("money", {}, {"stage": Stage.DOUBLE}, "OFFER_PENDING"),
        ("money", {}, {"resigning": SECOND}, "OFFER_PENDING"),
        ("money", {}, {"stage": Stage.GAME_OVER}, "GAME_OVER"),
    ],
)
def test_4_8_reasons_why_a_double_is_refused(
    preset: str, settings: dict[str, Any], changes: dict[str, Any], reason: str
) -> None:
    desk = Desk(preset, auto_roll=False, **settings)
    desk.to_roll()
    desk.change(**changes)
    assert desk.refuses(FIRST, act.Double()) == reason
    assert desk.reasons(FIRST, ActionKind.DOUBLE) == (reason,)


def test_4_8_all_reasons_at_once() -> None:
    desk = _money()
    desk.change(cube_value=64, cube_owner=SECOND, turn=SECOND)
    assert desk.reasons(FIRST, ActionKind.DOUBLE) == (
        "NOT_YOUR_TURN",
        "NOT_CUBE_OWNER",
        "CUBE_AT_CAP",
    )


def test_4_8_after_the_roll() -> None:
    desk = _money()
    desk.do(FIRST, act.Roll())
    assert desk.refuses(FIRST, act.Double()) == "ALREADY_ROLLED"


@pytest.mark.parametrize(
    ("score", "value", "forbid", "dead"),
    [((3, 0), 2, True, True), ((3, 0), 2, False, False), ((2, 0), 2, True, False)],
)
def test_4_7_a_dead_cube_is_legal_unless_forbidden(
    score: tuple[int, int], value: int, forbid: bool, dead: bool
) -> None:
    desk = Desk("tournament", match_length=5, forbid_dead_cube=forbid)
    desk.to_roll(score=score, cube_value=value, cube_owner=FIRST)
    assert desk.reasons(FIRST, ActionKind.DOUBLE) == (("DEAD_CUBE",) if dead else ())


# --- beavers and raccoons ------------------------------------------------------------------------


def _beavered(**settings: Any) -> Desk:
    desk = _money(beaver=True, **settings)
    desk.do(FIRST, act.Double())
    desk.do(SECOND, act.Beaver())
    return desk


def test_4_19_a_beaver_turns_the_cube_once_more_and_keeps_it() -> None:
    desk = _beavered()
    assert desk.state.stage is Stage.BEAVER
    assert desk.legal(FIRST).actions == {ActionKind.PLAY_ON, ActionKind.DROP}
    assert desk.reasons(FIRST, ActionKind.RACCOON) == ("RACCOONS_OFF",)
    desk.do(FIRST, act.PlayOn())
    assert (desk.state.cube_value, desk.state.cube_owner) == (4, SECOND)
    assert desk.state.taken, "4.17: a beaver implies a take"
    desk.do(FIRST, act.Roll())


def test_4_20_a_dropped_beaver_loses_the_value_before_it() -> None:
    desk = _beavered()
    desk.do(FIRST, act.Drop())
    assert (desk.ended.winner, desk.ended.points) == (SECOND, 2)
    undroppable = _beavered(beaver_may_be_dropped=False)
    assert undroppable.refuses(FIRST, act.Drop()) == "BEAVER_NOT_DROPPABLE"


@pytest.mark.parametrize(
    ("owner", "seat"), [(RaccoonOwner.BEAVERER, SECOND), (RaccoonOwner.RACCOONER, FIRST)]
)
def test_4_21_a_raccoon_turns_the_cube_again(owner: RaccoonOwner, seat: object) -> None:
    desk = _beavered(raccoon=True, raccoon_owner=owner)
    desk.do(FIRST, act.Raccoon())
    assert desk.state.stage is Stage.RACCOON
    assert desk.legal(SECOND).actions == {ActionKind.PLAY_ON, ActionKind.DROP}
    desk.do(SECOND, act.PlayOn())
    assert (desk.state.cube_value, desk.state.cube_owner) == (8, seat)


def test_4_21_a_dropped_raccoon_loses_the_value_before_it() -> None:
    desk = _beavered(raccoon=True, raccoon_owner=RaccoonOwner.BEAVERER)
    desk.do(FIRST, act.Raccoon())
    desk.do(SECOND, act.Drop())
    assert (desk.ended.winner, desk.ended.points) == (FIRST, 4)


def test_3_5_beavers_and_raccoons_stop_at_the_cap() -> None:
    desk = _money(beaver=True, cube_cap=2)
    desk.do(FIRST, act.Double())
    assert desk.reasons(SECOND, ActionKind.BEAVER) == ("CUBE_AT_CAP",)
    desk = _beavered(raccoon=True, raccoon_owner=RaccoonOwner.BEAVERER, cube_cap=4)
    assert desk.reasons(FIRST, ActionKind.RACCOON) == ("CUBE_AT_CAP",)


def test_4_19_no_beaver_where_they_are_off() -> None:
    desk = _money()
    desk.do(FIRST, act.Double())
    assert desk.refuses(SECOND, act.Beaver()) == "BEAVERS_OFF"


# --- Holland -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "scope", "turns", "trailer", "leader"),
    [
        (HollandCount.PER_SIDE, HollandScope.TRAILER, (1, 2), True, False),
        (HollandCount.PER_SIDE, HollandScope.BOTH, (1, 2), True, True),
        (HollandCount.PER_SIDE, HollandScope.BOTH, (2, 2), False, False),
        (HollandCount.TOTAL, HollandScope.BOTH, (1, 0), True, True),
        (HollandCount.TOTAL, HollandScope.BOTH, (1, 1), False, False),
        (HollandCount.TOTAL, HollandScope.TRAILER, (0, 1), True, False),
    ],
)
def test_4_14_holland(
    count: HollandCount, scope: HollandScope, turns: tuple[int, int], trailer: bool, leader: bool
) -> None:
    desk = Desk(
        "tournament", match_length=5, holland=True, holland_count=count, holland_scope=scope
    )
    desk.to_roll(turns=turns, score=(2, 4), crawford_done=True)
    assert desk.reasons(FIRST, ActionKind.DOUBLE) == (("HOLLAND_WAIT",) if trailer else ())
    desk.to_roll(turns=turns, score=(4, 2), crawford_done=True)
    assert desk.reasons(FIRST, ActionKind.DOUBLE) == (("HOLLAND_WAIT",) if leader else ())


def test_4_14_holland_begins_after_the_crawford_game() -> None:
    desk = Desk("tournament", match_length=5, holland=True)
    desk.to_roll(turns=(0, 0), score=(0, 3), crawford_done=False)
    assert desk.reasons(FIRST, ActionKind.DOUBLE) == ()


def test_4_14_a_double_that_ends_the_opponents_turn_counts_that_turn() -> None:
    desk = Desk(
        "tournament", [(6, 1)], match_length=5, holland=True, holland_scope=HollandScope.BOTH
    )
    desk.change(score=(4, 4), crawford_done=True, turns=(1, 2))
    desk.step(13, 7)
    assert "HOLLAND_WAIT" in desk.reasons(SECOND, ActionKind.DOUBLE)
    desk.step(8, 7)
    assert desk.reasons(SECOND, ActionKind.DOUBLE) == ()
    desk.do(SECOND, act.Double())
    assert desk.state.turns == (2, 2)
