from __future__ import annotations

import base64
import dataclasses
import json
import random
import time
from pathlib import Path
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
from bgserver.formats.gnu_id import format_gnu_id, gnu_id_losses, parse_gnu_id
from bgserver.formats.xgid import format_xgid, parse_xgid
from tests.formats.states import random_state

START = "4HPwATDgc/ABMA"
FIXTURES = json.loads(
    (Path(__file__).parents[1] / "data" / "formats" / "gnubg.json").read_text(encoding="ascii")
)
PHASES = tuple(GamePhase)


def faults_of(position_id: str, match_id: str | None = None) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInputError) as caught:
        parse_gnu_id(position_id, match_id)
    for fault in caught.value.faults:
        assert fault.message
        assert len(fault.message) < 160
    return [(fault.field.removeprefix("gnu_id."), fault.reason) for fault in caught.value.faults]


def match_id(**fields: int) -> str:
    """A Match ID packed from the bit table of GNU Backgammon's manual, without any check."""
    places = {
        "cube": 0,
        "owner": 4,
        "on_roll": 6,
        "crawford": 7,
        "game_state": 8,
        "turn": 11,
        "double": 12,
        "resignation": 13,
        "die_1": 15,
        "die_2": 18,
        "length": 21,
        "score_0": 36,
        "score_1": 51,
        "no_jacoby": 66,
        "unused": 67,
    }
    usual = {"owner": 3, "on_roll": 1, "turn": 1, "game_state": 1, "no_jacoby": 1}
    bits = sum(value << places[name] for name, value in {**usual, **fields}.items())
    return base64.b64encode(bits.to_bytes(9, "little")).decode("ascii")


def position_id(opponent: dict[int, int], own: dict[int, int]) -> str:
    """A Position ID packed as the manual says, without any check; 25 is the bar."""
    bits = "".join(
        "1" * side.get(point, 0) + "0" for side in (opponent, own) for point in range(1, 26)
    ).ljust(80, "0")[:80]
    packed = int(bits[::-1], 2).to_bytes(10, "little")
    return base64.b64encode(packed).decode("ascii").rstrip("=")


def test_start_position_alone() -> None:
    assert parse_gnu_id(START) == GameState()


def test_start_position_has_the_published_id() -> None:
    assert format_gnu_id(GameState())[0] == START


def test_both_ids_joined_by_a_colon() -> None:
    assert parse_gnu_id(f"{START}:cAmmAAAAAAAE") == parse_gnu_id(START, "cAmmAAAAAAAE")


@pytest.mark.parametrize("entry", FIXTURES["games"] + FIXTURES["encoded"])
def test_gnubg_reads_the_same_state_from_its_id(entry: dict[str, Any]) -> None:
    state = parse_gnu_id(entry["position_id"], entry["match_id"])
    assert format_gnu_id(state) == (entry["position_id"], entry["match_id"])
    if "board" not in entry:
        return
    opponent, own = entry["board"]
    points = [0] * 26
    for index in range(25):
        points[index + 1] += own[index]
        points[24 - index] -= opponent[index]
    assert state.position.points == tuple(points)
    assert state.on_roll == Seat(1 - entry["on_roll"])
    assert state.to_act == Seat(1 - entry["turn"])
    assert state.cube.value == entry["cube"]
    owners = {
        -1: CubeOwner.CENTERED,
        entry["on_roll"]: CubeOwner.ON_ROLL,
        1 - entry["on_roll"]: CubeOwner.OPPONENT,
    }
    assert state.cube.owner is owners[entry["cube_owner"]]
    high_first = tuple(sorted(entry["dice"], reverse=True))
    assert high_first == ((state.dice.first, state.dice.second) if state.dice else (0, 0))
    assert state.double_offered == bool(entry["doubled"])
    assert state.resignation == entry["resigned"]
    assert state.phase is PHASES[entry["game_state"]]
    score = entry.get("score")
    own_score = (score[entry["on_roll"]], score[1 - entry["on_roll"]]) if score else None
    if entry["match_length"]:
        assert own_score is not None
        assert state.match == MatchScore(
            entry["match_length"], *own_score, crawford=bool(entry["crawford"])
        )
    else:
        assert state.match is None
        assert own_score in {None, state.money_score}
        assert state.jacoby == bool(entry["jacoby"])


@pytest.mark.parametrize("entry", [game for game in FIXTURES["games"] if not game["commands"]])
def test_gnubg_reads_the_same_state_from_an_xgid(entry: dict[str, Any]) -> None:
    from_gnubg = parse_gnu_id(entry["position_id"], entry["match_id"])
    ours = parse_xgid(entry["xgid"])
    # GNU Backgammon may seat the player on roll at the bottom, and knows no highest cube.
    assert from_gnubg == dataclasses.replace(
        ours, on_roll=from_gnubg.on_roll, cube=dataclasses.replace(ours.cube, cap=64)
    )


@pytest.mark.parametrize(
    ("letter", "commands"),
    [
        ("D", ["double"]),
        ("B", ["double", "redouble"]),
        ("R", ["double", "redouble", "redouble"]),
    ],
)
def test_gnubg_doubles_give_what_xgid_says_with_a_letter(letter: str, commands: list[str]) -> None:
    entries = [entry for entry in FIXTURES["games"] if entry["commands"] == commands]
    assert entries
    for entry in entries:
        from_gnubg = parse_gnu_id(entry["position_id"], entry["match_id"])
        ours = parse_xgid(entry["xgid"].replace(":00:", f":{letter}:", 1))
        assert from_gnubg == dataclasses.replace(
            ours,
            on_roll=from_gnubg.on_roll,
            cube=dataclasses.replace(ours.cube, cap=64),
            beavers=from_gnubg.beavers,
        )


def test_round_trip_of_100_000_random_states() -> None:
    rng = random.Random(2)
    for _ in range(100_000):
        state = random_state(rng, resignations=True)
        ids = format_gnu_id(state)
        assert parse_gnu_id(*ids) == as_gnu_tells_it(state), ids


def as_gnu_tells_it(state: GameState) -> GameState:
    """The state without what `gnu_id_losses` says that the IDs lose, the higher die first."""
    for loss in gnu_id_losses(state):
        if loss.field == "cube.cap":
            value = state.cube.value * (2 if state.double_offered else 1)
            cube = dataclasses.replace(state.cube, cap=max(64, value))
            state = dataclasses.replace(state, cube=cube)
        else:
            assert loss.field == "beavers"
            state = dataclasses.replace(state, beavers=False)
    if state.dice is None:
        return state
    return dataclasses.replace(state, dice=Dice(state.dice.high, state.dice.low))


def test_losses_are_empty_when_nothing_is_lost() -> None:
    assert gnu_id_losses(GameState()) == ()
    assert gnu_id_losses(GameState(jacoby=True, money_score=(3, 1))) == ()


def test_losses_name_the_cap_and_the_beavers() -> None:
    losses = gnu_id_losses(GameState(cube=Cube(cap=1024), beavers=True))
    assert [(loss.field, loss.reason) for loss in losses] == [
        ("cube.cap", "NOT_IN_FORMAT"),
        ("beavers", "NOT_IN_FORMAT"),
    ]


def test_match_ids_of_older_programs_without_the_last_bit_are_accepted() -> None:
    old = match_id(length=7, no_jacoby=0)
    assert parse_gnu_id(START, old) == parse_gnu_id(START, match_id(length=7))


def test_a_resignation_may_come_from_either_side() -> None:
    by_roller = parse_gnu_id(START, match_id(resignation=2, turn=0))
    by_other = parse_gnu_id(START, match_id(resignation=2, turn=1))
    assert by_roller.to_act is Seat.SECOND
    assert by_other.to_act is Seat.FIRST
    assert by_roller != by_other


def test_xgid_and_gnu_id_of_one_state_agree() -> None:
    rng = random.Random(3)
    for _ in range(2_000):
        state = as_gnu_tells_it(random_state(rng, resignations=False))
        again = parse_gnu_id(*format_gnu_id(parse_xgid(format_xgid(state))))
        assert again == state


BAD_POSITIONS = [
    ("", "WRONG_LENGTH"),
    (START[:-1], "WRONG_LENGTH"),
    (START + "A", "WRONG_LENGTH"),
    ("4HPwATDgc/AB-A", "BAD_LETTER"),
    ("4HPwATDgc/AB=A", "BAD_LETTER"),
    ("4HPwATDgc/AéMA", "BAD_LETTER"),
    ("4HPwATDgc/AB\0A", "BAD_LETTER"),
    ("4HPwATDgc/ABMB", "UNUSED_BITS"),
    (position_id({6: 16}, {6: 5}), "TOO_MANY_CHECKERS"),
    (position_id({6: 5}, {6: 16}), "TOO_MANY_CHECKERS"),
    (position_id({6: 5}, {19: 5}), "SHARED_POINT"),
    (position_id({}, {}), "BOTH_OFF"),
    (
        position_id(
            {**dict.fromkeys(range(1, 7), 2), 25: 1}, {**dict.fromkeys(range(1, 7), 2), 25: 1}
        ),
        "BOTH_CLOSED_OUT",
    ),
]


@pytest.mark.parametrize(("text", "reason"), BAD_POSITIONS)
def test_bad_position_id(text: str, reason: str) -> None:
    assert faults_of(text) == [("position_id", reason)]


def test_bits_behind_the_last_point() -> None:
    few = position_id({6: 1}, {6: 1})
    packed = bytearray(base64.b64decode(few + "=="))
    packed[-1] |= 0x80
    text = base64.b64encode(bytes(packed)).decode("ascii").rstrip("=")
    assert faults_of(text) == [("position_id", "UNUSED_BITS")]


def test_many_faults_of_a_position_at_once() -> None:
    text = position_id({6: 16}, {19: 17})
    assert faults_of(text) == [
        ("position_id", "TOO_MANY_CHECKERS"),
        ("position_id", "TOO_MANY_CHECKERS"),
        ("position_id", "SHARED_POINT"),
    ]


BAD_MATCHES: list[tuple[dict[str, int], list[tuple[str, str]]]] = [
    ({"unused": 1}, [("", "UNUSED_BITS")]),
    ({"unused": 16}, [("", "UNUSED_BITS")]),
    ({"owner": 2}, [(".cube_owner", "BAD_OWNER")]),
    ({"owner": 0}, [(".cube_owner", "OWNED_CUBE_AT_ONE")]),
    ({"cube": 1, "length": 7}, [(".cube_value", "CENTERED_CUBE_ABOVE_ONE")]),
    ({"cube": 1, "owner": 1, "length": 1}, [(".cube_value", "CUBE_IN_ONE_POINT_MATCH")]),
    ({"cube": 15, "owner": 1, "double": 1, "turn": 0}, [(".double", "CUBE_AT_CAP")]),
    ({"crawford": 1}, [(".crawford", "CRAWFORD_WITHOUT_MATCH")]),
    ({"crawford": 1, "length": 7, "score_0": 3}, [(".crawford", "CRAWFORD_IMPOSSIBLE")]),
    (
        {"crawford": 1, "length": 7, "score_0": 6, "score_1": 6},
        [(".crawford", "CRAWFORD_IMPOSSIBLE")],
    ),
    ({"crawford": 1, "length": 1}, [(".crawford", "CRAWFORD_IMPOSSIBLE")]),
    (
        {"crawford": 1, "length": 7, "score_0": 6, "cube": 1, "owner": 0},
        [(".cube_value", "CUBE_IN_CRAWFORD_GAME")],
    ),
    (
        {"crawford": 1, "length": 7, "score_0": 6, "double": 1, "turn": 0},
        [(".double", "DOUBLE_IN_CRAWFORD_GAME")],
    ),
    ({"length": 7, "score_0": 7}, [(".score", "SCORE_NOT_BELOW_LENGTH")]),
    ({"length": 7, "score_0": 7, "score_1": 9}, [(".score", "SCORE_NOT_BELOW_LENGTH")] * 2),
    (
        {"length": 7, "score_0": 7, "score_1": 9, "game_state": 4},
        [(".score", "SCORES_CONTRADICT")],
    ),
    ({"game_state": 5}, [(".game_state", "OUT_OF_RANGE")]),
    ({"game_state": 7}, [(".game_state", "OUT_OF_RANGE")]),
    ({"game_state": 2}, [(".game_state", "BOARD_NOT_FINISHED")]),
    ({"game_state": 3}, [(".resignation", "RESIGNATION_MISSING")]),
    ({"game_state": 4, "resignation": 1}, [(".resignation", "RESIGNATION_WITHOUT_GAME")]),
    ({"game_state": 0, "double": 1}, [(".double", "DOUBLE_WITHOUT_GAME")]),
    ({"turn": 0}, [(".turn", "TURN_CONTRADICTS")]),
    ({"double": 1}, [(".turn", "TURN_CONTRADICTS")]),
    ({"double": 1, "turn": 0, "length": 1}, [(".double", "DOUBLE_IN_ONE_POINT_MATCH")]),
    ({"double": 1, "turn": 0, "die_1": 3, "die_2": 1}, [(".dice", "DICE_WITH_DOUBLE")]),
    ({"double": 1, "cube": 1, "owner": 0, "length": 7}, [(".double", "BEAVER_IN_MATCH")]),
    (
        {"double": 1, "turn": 0, "cube": 1, "owner": 0},
        [(".cube_value", "BEAVERED_CUBE_TOO_LOW")],
    ),
    ({"die_1": 7, "die_2": 1}, [(".dice", "BAD_DICE")]),
    ({"die_1": 3}, [(".dice", "BAD_DICE")]),
    ({"die_2": 3}, [(".dice", "BAD_DICE")]),
]


@pytest.mark.parametrize(("fields", "expected"), BAD_MATCHES)
def test_bad_match_id(fields: dict[str, int], expected: list[tuple[str, str]]) -> None:
    assert faults_of(START, match_id(**fields)) == [
        (f"match_id{field}", reason) for field, reason in expected
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "WRONG_LENGTH"),
        ("cAmmAAAAAAA", "WRONG_LENGTH"),
        ("cAmmAAAAAAAEA", "WRONG_LENGTH"),
        ("cAmmAAAAAAA!", "BAD_LETTER"),
        ("cAmmAAAAAAA=", "BAD_LETTER"),
        ("cAmmAAAAAAAΩ", "BAD_LETTER"),
    ],
)
def test_text_that_is_no_match_id(text: str, reason: str) -> None:
    assert faults_of(START, text) == [("match_id", reason)]


def test_faults_of_both_ids_are_named_at_once() -> None:
    bad = match_id(owner=2, die_1=7, length=3, score_0=5, crawford=1, game_state=6)
    assert faults_of("4HPwATDgc/AB-A", bad) == [
        ("position_id", "BAD_LETTER"),
        ("match_id.cube_owner", "BAD_OWNER"),
        ("match_id.game_state", "OUT_OF_RANGE"),
        ("match_id.dice", "BAD_DICE"),
    ]


@pytest.mark.parametrize("as_match_id", [False, True])
def test_a_huge_text_is_refused_at_once_and_not_echoed(as_match_id: bool) -> None:
    text = "A" * 5_000_000
    begin = time.perf_counter()
    with pytest.raises(InvalidInputError) as caught:
        parse_gnu_id(*((START, text) if as_match_id else (text, None)))
    assert time.perf_counter() - begin < 0.5
    assert len(str(caught.value)) < 120


def test_long_nardy_has_no_gnu_id() -> None:
    with pytest.raises(InvalidInputError) as caught:
        format_gnu_id(GameState(Position.start(Variant.LONG_NARDY)))
    assert [fault.reason for fault in caught.value.faults] == ["VARIANT_NOT_IN_FORMAT"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"cube": Cube(1 << 16, CubeOwner.ON_ROLL)}, ("cube.value", "NOT_A_CUBE_VALUE")),
        ({"match": MatchScore(40_000)}, ("match.length", "SCORE_OUT_OF_RANGE")),
        ({"money_score": (32_768, 0)}, ("money_score[0]", "SCORE_OUT_OF_RANGE")),
        (
            {"phase": GamePhase.FINISHED, "resignation": Resignation.SINGLE},
            ("resignation", "RESIGNATION_WITHOUT_GAME"),
        ),
    ],
)
def test_a_state_that_breaks_a_rule_is_not_written(
    changes: dict[str, Any], expected: tuple[str, str]
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        format_gnu_id(dataclasses.replace(GameState(), **changes))
    assert [(fault.field, fault.reason) for fault in caught.value.faults] == [expected]


@given(st.text(max_size=30), st.none() | st.text(max_size=14))
def test_random_text_raises_nothing_else(first: str, second: str | None) -> None:
    try:
        parse_gnu_id(first, second)
    except InvalidInputError:
        return


@given(st.binary(min_size=9, max_size=9))
def test_random_match_bits_parse_to_a_writable_state_or_raise_the_right_error(
    packed: bytes,
) -> None:
    text = base64.b64encode(packed).decode("ascii")
    try:
        state = parse_gnu_id(START, text)
    except InvalidInputError:
        return
    assert parse_gnu_id(*format_gnu_id(state)) == state


@given(st.binary(min_size=10, max_size=10))
def test_random_position_bits_round_trip_or_raise_the_right_error(packed: bytes) -> None:
    text = base64.b64encode(packed).decode("ascii").rstrip("=")
    try:
        state = parse_gnu_id(text)
    except InvalidInputError:
        return
    assert format_gnu_id(state)[0] == text
