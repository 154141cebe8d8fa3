"""What a person writes becomes the request that was meant, or an error that names the field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from bgserver_client import (
    InvalidArgumentError,
    Question,
    _requests,
    player,
    start_position,
)
from bgserver_client._batches import BatchRequests
from bgserver_client._options import patience_s
from bgserver_client.v1 import common_pb2, simulation_pb2

if TYPE_CHECKING:
    from collections.abc import Callable


def _wrong(value: object) -> Any:
    """A value that the types would refuse."""
    return value


_START_XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"


def test_position_forms() -> None:
    source = _requests.position_source
    start = start_position()
    assert source("start").position == start
    assert source(" start ").position == start
    assert source(list(start.points)).position.points == start.points
    assert source(start).position == start
    state = common_pb2.GameState(position=start, jacoby=True)
    assert source(state).state == state
    assert source(_START_XGID).xgid == _START_XGID
    assert source("4HPwATDgc/ABMA").gnu_id == common_pb2.GnuId(position_id="4HPwATDgc/ABMA")
    both = common_pb2.GnuId(position_id="4HPwATDgc/ABMA", match_id="cAkAAAAAAAAA")
    assert source("4HPwATDgc/ABMA:cAkAAAAAAAAA").gnu_id == both
    assert source(both).gnu_id == both
    assert source(source(both)).gnu_id == both


def test_start_positions_have_fifteen_checkers_a_side() -> None:
    for name in ("backgammon", "long_nardy"):
        points = start_position(name).points
        assert sum(count for count in points if count > 0) == 15
        assert sum(count for count in points if count < 0) == -15
    assert _requests.position_source("nardy-start").position.points[24] == 15


def test_unset_and_zero_stay_apart() -> None:
    request = _requests.simulate(
        10,
        preset="money",
        rules=None,
        match_length=None,
        seed=0,
        first="static",
        second="random",
        include_records=False,
        statistics_only=True,
        seating="fixed",
        judge=None,
        session_games=None,
        first_unit=0,
        decision_ms=None,
    )
    assert request.HasField("seed")
    assert not request.HasField("match_length")
    assert not request.HasField("rules")
    assert request.second.level == common_pb2.LEVEL_RANDOM
    assert isinstance(request, simulation_pb2.SimulateRequest)


def test_player_forms() -> None:
    message = _requests.player_message
    assert message("lookahead_1", "first") == common_pb2.Player(level=common_pb2.LEVEL_LOOKAHEAD_1)
    by_value = message(common_pb2.LEVEL_RANDOM, "first")
    assert by_value == common_pb2.Player(level=common_pb2.LEVEL_RANDOM)
    beginner = message("beginner", "first")
    assert beginner.named_strength == common_pb2.STRENGTH_BEGINNER
    assert beginner == player(strength="beginner")
    mixed = player("lookahead_1", 0)
    assert mixed.WhichOneof("strength") == "numeric_strength"
    assert message(mixed, "first") is mixed
    assert player().WhichOneof("strength") is None


def test_limit_forms() -> None:
    assert not _requests.evaluate("start", None, None).HasField("limit")
    by_name = _requests.evaluate("start", "lookahead_2", None).limit
    assert by_name == common_pb2.Limit(level=common_pb2.LEVEL_LOOKAHEAD_2)
    by_value = _requests.advise_cube("start", common_pb2.LEVEL_STATIC, None).limit
    assert by_value == common_pb2.Limit(level=common_pb2.LEVEL_STATIC)
    assert _requests.evaluate("start", None, 250).limit == common_pb2.Limit(milliseconds=250)
    # No time is no limit that was left out: the server refuses it.
    assert _requests.evaluate("start", None, 0).limit.WhichOneof("limit") == "milliseconds"


def test_the_default_timeout_begins_after_the_time_to_think() -> None:
    assert patience_s(None, 30.0, None) == 30.0
    assert patience_s(None, 30.0, 60_000) == 90.0
    assert patience_s(5.0, 30.0, 60_000) == 5.0
    assert patience_s(None, None, 60_000) is None


def test_play_forms() -> None:
    by_notation = _requests.apply_play("start", "8/5 6/5", (3, 1), first_turn=False)
    assert by_notation.notation == "8/5 6/5"
    by_steps = _requests.apply_play("start", [(8, 5), (6, 5)], (3, 1), first_turn=False)
    assert [(step.source, step.target) for step in by_steps.steps.steps] == [(8, 5), (6, 5)]
    forfeited = _requests.apply_play("start", [], (3, 1), first_turn=False)
    assert forfeited.WhichOneof("play") == "steps"


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: _requests.position_source([0] * 25 + [2**40]), "position.position.points"),
        (lambda: _requests.position_source(_wrong(["a"])), "position.position.points"),
        (lambda: _requests.position_source("XGID=\udcff"), "position.xgid"),
        (
            lambda: _requests.apply_play("start", "8/5 6/\udcff", None, first_turn=False),
            "notation",
        ),
        (lambda: _requests.dice_message(_wrong((1, 2, 3))), "dice"),
        (lambda: _requests.dice_message((-1, 2)), "dice"),
        (lambda: _requests.level_value(_wrong("deep")), "level"),
        (lambda: _requests.evaluate("start", _wrong("deep"), None), "limit.level"),
        (lambda: _requests.evaluate("start", "static", 5), "limit"),
        (lambda: _requests.advise_cube("start", None, -1), "limit.milliseconds"),
        (lambda: _requests.player_message(_wrong("genius"), "second"), "second"),
        (lambda: player(_wrong("deep")), "player.level"),
        (lambda: player(strength=_wrong("genius")), "player.named_strength"),
        (lambda: player(strength=-1), "player.numeric_strength"),
        (lambda: _requests.variant_value(_wrong("chess")), "variant"),
        (
            lambda: _requests.apply_play("start", [(8, -5)], None, first_turn=False),
            "steps.steps[0]",
        ),
    ],
)
def test_what_no_request_can_hold_names_its_field(build: Callable[[], object], field: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        build()
    (violation,) = caught.value.violations
    assert violation.field == field
    assert violation.reason
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Question.rollout("", "start", levels=_wrong(("static", "random"))),
        lambda: Question.rollout("", "start", truncate_level=_wrong("random")),
        lambda: _requests.evaluate("start", _wrong("random"), None),
        lambda: BatchRequests("backgammon", _wrong("random")),
    ],
)
def test_levels_that_judge_are_named_without_the_one_that_does_not(
    build: Callable[[], object],
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        build()
    (violation,) = caught.value.violations
    assert violation.description == (
        "expected one of static, lookahead_1, lookahead_2, lookahead_3, got 'random'"
    )
    assert player("random").level == common_pb2.LEVEL_RANDOM
