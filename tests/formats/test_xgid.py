from __future__ import annotations

import dataclasses
import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bgserver.engine.errors import InvalidInputError
from bgserver.engine.position import (
    Cube,
    CubeOwner,
    Dice,
    GamePhase,
    GameState,
    MatchScore,
    Position,
    Resignation,
    Seat,
    Variant,
)
from bgserver.formats.xgid import format_xgid, parse_xgid
from tests.formats.states import random_state

START = "-b----E-C---eE---c-e----B-"
BOARD = "-a-B--D-CB--dD---d-c---b--"
BOTTOM_VIEW = (0, -1, 0, 2, 0, 0, 4, 0, 3, 2, 0, 0, -4, 4, 0, 0, 0, -4, 0, -3, 0, 0, 0, -2, 0, 0)
TOP_VIEW = (0, 0, 2, 0, 0, 0, 3, 0, 4, 0, 0, 0, -4, 4, 0, 0, -2, -3, 0, -4, 0, 0, -2, 0, 1, 0)


def faults_of(text: str) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInputError) as caught:
        parse_xgid(text)
    for fault in caught.value.faults:
        assert fault.message
        assert len(fault.message) < 160
    return [(fault.field.removeprefix("xgid."), fault.reason) for fault in caught.value.faults]


def test_start_position() -> None:
    state = parse_xgid(f"XGID={START}:0:0:1:00:0:0:0:0:10")
    assert state == GameState(cube=Cube(cap=1024))


def test_bottom_player_on_roll() -> None:
    state = parse_xgid(f"XGID={BOARD}:2:1:1:61:2:3:0:7:10")
    assert state == GameState(
        position=Position(BOTTOM_VIEW),
        on_roll=Seat.FIRST,
        dice=Dice(6, 1),
        cube=Cube(4, CubeOwner.ON_ROLL, 1024),
        match=MatchScore(7, on_roll=2, opponent=3),
    )


def test_letters_stay_the_bottom_players_view_when_the_top_player_is_on_roll() -> None:
    state = parse_xgid(f"XGID={BOARD}:2:1:-1:61:2:3:0:7:10")
    assert state == GameState(
        position=Position(TOP_VIEW),
        on_roll=Seat.SECOND,
        dice=Dice(6, 1),
        cube=Cube(4, CubeOwner.OPPONENT, 1024),
        match=MatchScore(7, on_roll=3, opponent=2),
    )


def test_bars() -> None:
    state = parse_xgid("ab---BD-C---dC---c-cb---AB:0:0:-1:43:0:0:0:7:10")
    assert state.position.points[25] == 1
    assert state.position.points[0] == -2


@pytest.mark.parametrize(
    ("flag", "jacoby", "beavers"),
    [(0, False, False), (1, True, False), (2, False, True), (3, True, True)],
)
def test_money_rules(flag: int, jacoby: bool, beavers: bool) -> None:
    state = parse_xgid(f"{START}:0:0:1:00:5:8:{flag}:0:6")
    assert (state.jacoby, state.beavers) == (jacoby, beavers)
    assert state.match is None
    assert state.money_score == (5, 8)


def test_crawford_game() -> None:
    state = parse_xgid(f"{START}:0:0:-1:00:6:2:1:7:10")
    assert state.match == MatchScore(7, on_roll=2, opponent=6, crawford=True)


def test_double_on_offer_keeps_the_turn_and_the_old_cube() -> None:
    state = parse_xgid(f"{BOARD}:1:-1:-1:D:1:3:0:7:10")
    assert state.double_offered
    assert state.on_roll is Seat.SECOND
    assert state.to_act is Seat.FIRST
    assert state.cube == Cube(2, CubeOwner.ON_ROLL, 1024)


@pytest.mark.parametrize(("letter", "level", "value"), [("B", 1, 4), ("R", 2, 8)])
def test_beaver_and_raccoon(letter: str, level: int, value: int) -> None:
    text = f"XGID={BOARD}:1:1:1:{letter}:0:0:2:0:10"
    state = parse_xgid(text)
    assert state.double_offered
    assert state.beaver_level == level
    assert state.cube == Cube(value, CubeOwner.OPPONENT, 1024)
    assert state.to_act is (Seat.FIRST if letter == "B" else Seat.SECOND)
    assert format_xgid(state) == text


def test_centred_cube_above_one_is_an_automatic_double_in_money_play() -> None:
    assert parse_xgid(f"{START}:1:0:1:00:0:0:0:0:10").cube == Cube(2, CubeOwner.CENTERED, 1024)


@pytest.mark.parametrize(
    "spelling",
    [
        f"XGID={BOARD}:1:-1:-1:31:1:3:0:7:10",
        f"{BOARD}:1:-1:-1:31:1:3:0:7:10",
        f"  XGID={BOARD}:1:-1:-1:31:1:3:0:7:10\n",
        f"xgid={BOARD}:1:-1:-1:31:1:3:0:7:10",
    ],
)
def test_prefix_and_blanks_may_be_there_or_not(spelling: str) -> None:
    assert format_xgid(parse_xgid(spelling)) == f"XGID={BOARD}:1:-1:-1:31:1:3:0:7:10"


def test_round_trip_of_100_000_random_states() -> None:
    rng = random.Random(1)
    for _ in range(100_000):
        state = random_state(rng, resignations=False)
        text = format_xgid(state)
        assert parse_xgid(text) == state, text


MATCH = "0:0:0:7:10"
BAD_FIELDS = [
    ("", [("xgid", "FIELD_COUNT"), ("position", "WRONG_LENGTH")]),
    (START, [("xgid", "FIELD_COUNT")]),
    (f"{START}:0:0:1:00:0:0:0:0", [("xgid", "FIELD_COUNT")]),
    (f"{START}:0:0:1:00:0:0:0:0:10:1", [("xgid", "FIELD_COUNT")]),
    (f"{START[:-1]}:0:0:1:00:{MATCH}", [("position", "WRONG_LENGTH")]),
    (f"{START}-:0:0:1:00:{MATCH}", [("position", "WRONG_LENGTH")]),
    (f"-b----P-----eE---c-e----B-:0:0:1:00:{MATCH}", [("position", "BAD_LETTER")]),
    (f"-b----E-C---eE---c-z----B-:0:0:1:00:{MATCH}", [("position", "BAD_LETTER")]),
    (f"-b----E-C---eE---c-5----B-:0:0:1:00:{MATCH}", [("position", "BAD_LETTER")]),
    (f"-b----E-C---eE---c-é----B-:0:0:1:00:{MATCH}", [("position", "BAD_LETTER")]),
    (f"-b----E-C---eE---c-e----C-:0:0:1:00:{MATCH}", [("position", "TOO_MANY_CHECKERS")]),
    (f"-c----E-C---eE---c-e----B-:0:0:1:00:{MATCH}", [("position", "TOO_MANY_CHECKERS")]),
    (f"-c----E-C---eE---c-e----C-:0:0:1:00:{MATCH}", [("position", "TOO_MANY_CHECKERS")] * 2),
    (f"A----------------------b--:0:0:1:00:{MATCH}", [("position", "BAR_SIGN")]),
    (f"-B-----------------------a:0:0:1:00:{MATCH}", [("position", "BAR_SIGN")]),
    (f"--------------------------:0:0:1:00:{MATCH}", [("position", "BOTH_OFF")]),
    (f"aBBBBBB------------bbbbbbA:0:0:1:00:{MATCH}", [("position", "BOTH_CLOSED_OUT")]),
    (f"{START}:-1:0:1:00:{MATCH}", [("cube_value", "NOT_A_NUMBER")]),
    (f"{START}:x:0:1:00:{MATCH}", [("cube_value", "NOT_A_NUMBER")]),
    (f"{START}:99999999999999:0:1:00:{MATCH}", [("cube_value", "NOT_A_NUMBER")]),
    (f"{START}:16:1:1:00:{MATCH}", [("cube_value", "OUT_OF_RANGE")]),
    (f"{START}:1:2:1:00:{MATCH}", [("cube_owner", "BAD_OWNER")]),
    (f"{START}:0:1:1:00:{MATCH}", [("cube_owner", "OWNED_CUBE_AT_ONE")]),
    (f"{START}:1:0:1:00:{MATCH}", [("cube_value", "CENTERED_CUBE_ABOVE_ONE")]),
    (f"{START}:5:1:1:00:0:0:0:7:4", [("cube_value", "CUBE_ABOVE_CAP")]),
    (f"{START}:0:0:0:00:{MATCH}", [("turn", "BAD_SEAT")]),
    (f"{START}:0:0::00:{MATCH}", [("turn", "BAD_SEAT")]),
    (f"{START}:0:0:1:07:{MATCH}", [("dice", "BAD_DICE")]),
    (f"{START}:0:0:1:71:{MATCH}", [("dice", "BAD_DICE")]),
    (f"{START}:0:0:1:0:{MATCH}", [("dice", "BAD_DICE")]),
    (f"{START}:0:0:1:311:{MATCH}", [("dice", "BAD_DICE")]),
    (f"{START}:0:0:1:X:{MATCH}", [("dice", "BAD_DICE")]),
    (f"{START}:0:0:1:٣١:{MATCH}", [("dice", "BAD_DICE")]),
    (f"{START}:1:-1:1:D:{MATCH}", [("dice", "NOT_CUBE_OWNER")]),
    (f"{START}:4:1:1:D:0:0:0:7:4", [("dice", "CUBE_AT_CAP")]),
    (f"{START}:0:0:1:D:0:0:0:7:0", [("dice", "CUBE_AT_CAP")]),
    (f"{START}:0:0:1:D:0:0:0:1:10", [("dice", "DOUBLE_IN_ONE_POINT_MATCH")]),
    (f"{START}:0:0:1:D:6:0:1:7:10", [("dice", "DOUBLE_IN_CRAWFORD_GAME")]),
    (f"{START}:0:0:1:B:{MATCH}", [("dice", "BEAVER_IN_MATCH")]),
    (f"{START}:0:0:1:B:0:0:0:0:10", [("crawford", "BEAVERS_OFF")]),
    (f"{START}:0:0:1:R:0:0:3:0:2", [("dice", "CUBE_AT_CAP")]),
    (f"{START}:2:-1:1:R:0:0:3:0:9", [("dice", "NOT_CUBE_OWNER")]),
    (f"{START}:0:1:1:B:0:0:3:0:9", [("cube_owner", "OWNED_CUBE_AT_ONE")]),
    (f"{START}:0:0:1:00:-1:0:0:7:10", [("score", "NOT_A_NUMBER")]),
    (f"{START}:0:0:1:00:0:40000:0:0:10", [("score", "OUT_OF_RANGE")]),
    (f"{START}:0:0:1:00:7:0:0:7:10", [("score", "SCORE_NOT_BELOW_LENGTH")]),
    (f"{START}:0:0:1:00:7:9:0:7:10", [("score", "SCORE_NOT_BELOW_LENGTH")] * 2),
    (f"{START}:0:0:1:00:3:2:1:7:10", [("crawford", "CRAWFORD_IMPOSSIBLE")]),
    (f"{START}:0:0:1:00:6:6:1:7:10", [("crawford", "CRAWFORD_IMPOSSIBLE")]),
    (f"{START}:0:0:1:00:0:0:1:1:10", [("crawford", "CRAWFORD_IMPOSSIBLE")]),
    (f"{START}:1:1:1:00:6:0:1:7:10", [("cube_value", "CUBE_IN_CRAWFORD_GAME")]),
    (f"{START}:1:1:1:00:0:0:0:1:10", [("cube_value", "CUBE_IN_ONE_POINT_MATCH")]),
    (f"{START}:0:0:1:00:0:0:2:7:10", [("crawford", "BEAVER_IN_MATCH")]),
    (f"{START}:0:0:1:00:0:0:4:0:10", [("crawford", "OUT_OF_RANGE")]),
    (f"{START}:0:0:1:00:0:0:0:x:10", [("match_length", "NOT_A_NUMBER")]),
    (f"{START}:0:0:1:00:0:0:0:-7:10", [("match_length", "NOT_A_NUMBER")]),
    (f"{START}:0:0:1:00:0:0:0:99999:10", [("match_length", "OUT_OF_RANGE")]),
    (f"{START}:0:0:1:00:0:0:0:7:", [("max_cube", "NOT_A_NUMBER")]),
    (f"{START}:0:0:1:00:0:0:0:7:16", [("max_cube", "OUT_OF_RANGE")]),
]


@pytest.mark.parametrize(("text", "expected"), BAD_FIELDS)
def test_bad_field(text: str, expected: list[tuple[str, str]]) -> None:
    assert faults_of(text) == expected


def test_every_bad_field_is_named_at_once() -> None:
    text = "-b----P-----eE---c-e----B-:17:2:0:77:8:x:5:7:z"
    assert faults_of(text) == [
        ("position", "BAD_LETTER"),
        ("cube_value", "OUT_OF_RANGE"),
        ("cube_owner", "BAD_OWNER"),
        ("turn", "BAD_SEAT"),
        ("dice", "BAD_DICE"),
        ("score", "NOT_A_NUMBER"),
        ("crawford", "OUT_OF_RANGE"),
        ("max_cube", "NOT_A_NUMBER"),
        ("score", "SCORE_NOT_BELOW_LENGTH"),
    ]


def test_fields_that_are_there_are_checked_in_a_truncated_text() -> None:
    assert faults_of(f"{START}:0:0:1:79") == [("xgid", "FIELD_COUNT"), ("dice", "BAD_DICE")]


@pytest.mark.parametrize("letter", ["x", ":", "-", "é", "\0"])
def test_a_huge_text_is_refused_at_once_and_not_echoed(letter: str) -> None:
    text = letter * 5_000_000
    begin = time.perf_counter()
    with pytest.raises(InvalidInputError) as caught:
        parse_xgid(text)
    assert time.perf_counter() - begin < 0.5
    assert [fault.reason for fault in caught.value.faults] == ["TOO_LONG"]
    assert len(str(caught.value)) < 100


def test_messages_show_at_most_a_short_piece_of_the_input() -> None:
    text = "\N{PILE OF POO}" * 190
    with pytest.raises(InvalidInputError) as caught:
        parse_xgid(text)
    assert str(caught.value).isascii()
    assert all(len(fault.message) < 80 for fault in caught.value.faults)


NOT_IN_XGID: list[tuple[dict[str, Any], tuple[str, str]]] = [
    (
        {"position": Position.start(Variant.LONG_NARDY)},
        ("position.variant", "VARIANT_NOT_IN_FORMAT"),
    ),
    ({"resignation": Resignation.GAMMON}, ("resignation", "NOT_IN_FORMAT")),
    ({"phase": GamePhase.DROPPED}, ("phase", "NOT_IN_FORMAT")),
    ({"cube": Cube(3)}, ("cube.value", "NOT_A_CUBE_VALUE")),
    ({"cube": Cube(1, CubeOwner.CENTERED, 0)}, ("cube.cap", "NOT_A_CUBE_VALUE")),
    ({"cube": Cube(1, CubeOwner.ON_ROLL)}, ("cube.owner", "OWNED_CUBE_AT_ONE")),
    ({"match": MatchScore(0)}, ("match.length", "SCORE_OUT_OF_RANGE")),
    ({"match": MatchScore(7, -1, 0)}, ("match.on_roll", "SCORE_OUT_OF_RANGE")),
    ({"match": MatchScore(7, 7, 0)}, ("match.score", "SCORE_NOT_BELOW_LENGTH")),
    ({"match": MatchScore(7), "jacoby": True}, ("jacoby", "JACOBY_IN_MATCH")),
    ({"match": MatchScore(7), "beavers": True}, ("beavers", "BEAVER_IN_MATCH")),
    ({"match": MatchScore(7), "money_score": (1, 0)}, ("money_score", "MONEY_SCORE_IN_MATCH")),
    ({"money_score": (0, -1)}, ("money_score[1]", "SCORE_OUT_OF_RANGE")),
    ({"beaver_level": 1}, ("beaver_level", "BEAVER_LEVEL")),
    ({"double_offered": True, "dice": Dice(3, 1)}, ("dice", "DICE_WITH_DOUBLE")),
    ({"acting": Seat.SECOND}, ("acting", "TURN_CONTRADICTS")),
]


@pytest.mark.parametrize(("changes", "expected"), NOT_IN_XGID)
def test_what_xgid_cannot_say_is_refused(
    changes: dict[str, Any], expected: tuple[str, str]
) -> None:
    state = dataclasses.replace(GameState(), **changes)
    with pytest.raises(InvalidInputError) as caught:
        format_xgid(state)
    assert [(fault.field, fault.reason) for fault in caught.value.faults] == [expected]


@given(st.text(max_size=220))
def test_random_text_raises_nothing_else(text: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_xgid(text)


@given(st.lists(st.text(alphabet="-0123456789DBRabEX", max_size=27), min_size=8, max_size=12))
def test_random_fields_parse_to_a_writable_state_or_raise_the_right_error(
    fields: list[str],
) -> None:
    try:
        state = parse_xgid(":".join(fields))
    except InvalidInputError:
        return
    assert parse_xgid(format_xgid(state)) == state


@given(st.data())
def test_one_changed_character_never_breaks_the_round_trip(data: st.DataObject) -> None:
    text = f"{BOARD}:2:1:-1:61:2:3:0:7:10"
    place = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.characters())
    try:
        state = parse_xgid(text[:place] + letter + text[place + 1 :])
    except InvalidInputError:
        return
    assert parse_xgid(format_xgid(state)) == state
