"""Positions and dice as people type them."""

from __future__ import annotations

import pytest

from bgserver.cli.inputs import parse_dice, parse_player, parse_position
from bgserver.engine.errors import InvalidInputError
from bgserver.engine.position import Position, Variant
from bgserver.v1 import common_pb2

_START = Position.start().points


@pytest.mark.parametrize("text", ["31", "3-1", "3,1", "3 1", "3/1", " 31 ", "3, 1", "3 - 1"])
def test_dice(text: str) -> None:
    assert parse_dice(text) == common_pb2.Dice(first=3, second=1)


def test_no_dice() -> None:
    assert parse_dice(None) is None


def test_impossible_numbers_are_left_to_the_server() -> None:
    assert parse_dice("70") == common_pb2.Dice(first=7, second=0)


@pytest.mark.parametrize("text", ["", "3", "311", "3x", "three-one", "3--", "-3-1"])
def test_what_is_no_roll_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_dice(text)
    assert [fault.field for fault in caught.value.faults] == ["dice"]


def test_words() -> None:
    assert tuple(parse_position("start").position.points) == _START
    nardy = parse_position(" Nardy-Start ").position
    assert tuple(nardy.points) == Position.start(Variant.LONG_NARDY).points
    assert nardy.variant == common_pb2.VARIANT_LONG_NARDY


@pytest.mark.parametrize("separator", [" ", ",", ", "])
@pytest.mark.parametrize("frame", ["{}", "[{}]"])
def test_numbers(separator: str, frame: str) -> None:
    text = frame.format(separator.join(map(str, _START)))
    assert tuple(parse_position(text).position.points) == _START
    assert parse_position(text, nardy=True).position.variant == common_pb2.VARIANT_LONG_NARDY


def test_gnu_ids() -> None:
    assert parse_position("4HPwATDgc/ABMA").gnu_id.position_id == "4HPwATDgc/ABMA"
    both = parse_position("4HPwATDgc/ABMA:cAkAAAAAAAAA").gnu_id
    assert both.match_id == "cAkAAAAAAAAA"


def test_what_has_colons_is_left_to_the_server_as_an_xgid() -> None:
    for text in ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10", "non:sense"):
        assert parse_position(text).xgid == text


def test_what_has_the_prefix_of_an_xgid_is_left_to_the_server_as_one() -> None:
    for text in ("XGID=-b----E-C---eE---c-e----B-", "xgid=abc", "XGID="):
        assert parse_position(text).xgid == text


@pytest.mark.parametrize("text", ["nonsense", "", "XGID", "-b----E-C---eE---c-e----B-"])
def test_what_is_no_position_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(InvalidInputError, match="start, nardy-start or 26 numbers"):
        parse_position(text)


def test_absurd_numbers_are_refused() -> None:
    with pytest.raises(InvalidInputError):
        parse_position("0 99999999999999")


@pytest.mark.parametrize(
    ("text", "player"),
    [
        ("static", common_pb2.Player(level=common_pb2.LEVEL_STATIC)),
        (" Random ", common_pb2.Player(level=common_pb2.LEVEL_RANDOM)),
        (
            "beginner",
            common_pb2.Player(
                level=common_pb2.LEVEL_STATIC, named_strength=common_pb2.STRENGTH_BEGINNER
            ),
        ),
        ("0", common_pb2.Player(level=common_pb2.LEVEL_STATIC, numeric_strength=0)),
        ("101", common_pb2.Player(level=common_pb2.LEVEL_STATIC, numeric_strength=101)),
        (
            "lookahead_1:35",
            common_pb2.Player(level=common_pb2.LEVEL_LOOKAHEAD_1, numeric_strength=35),
        ),
        (
            "lookahead_2:normal",
            common_pb2.Player(
                level=common_pb2.LEVEL_LOOKAHEAD_2, named_strength=common_pb2.STRENGTH_NORMAL
            ),
        ),
    ],
)
def test_players(text: str, player: common_pb2.Player) -> None:
    assert parse_player(text) == player


@pytest.mark.parametrize("text", ["", "genius", "static:", ":40", "40:static", "-1", "4.5", "1e3"])
def test_what_is_no_player_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_player(text, "second")
    assert [fault.field for fault in caught.value.faults] == ["second"]
