from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bgserver.engine.errors import (
    AmbiguousPlayError,
    IllegalPlayError,
    InvalidInputError,
    WrongMomentError,
)
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Dice, Position, Variant
from bgserver.formats.notation import CANNOT_MOVE, format_play, parse_play
from tests import naive
from tests.positions import cases
from tests.rules.boards import backgammon, nardy

START = Position.start()
MIDDLE = backgammon("""
    13 14 15 16 17 18   19 20 21 22 23 24
    X5  .  .  . O3  . | O5  .  .  .  . X2
    O4  .  .  . X3  . | X5 O1  .  .  . O2
    12 11 10  9  8  7    6  5  4  3  2  1
""")
ON_THE_BAR = backgammon("""
    13 14 15 16 17 18   19 20 21 22 23 24
    X4  .  .  . O3  . | O5  . O2  O1 .  X2
    O3  .  .  . X3  . | X5  .  .  .  . O1
    12 11 10  9  8  7    6  5  4  3  2  1
    bar X
""")
CLOSED_OUT = backgammon("""
    13 14 15 16 17 18   19 20 21 22 23 24
    X5  .  .  .  .  . | O2 O2 O2 O2 O2 O2
    O3  .  .  . X3  . | X6  .  .  .  .  .
    12 11 10  9  8  7    6  5  4  3  2  1
    bar X
""")
BEAR_OFF = backgammon("""
    13 14 15 16 17 18   19 20 21 22 23 24
     .  .  .  .  .  . |  .  .  .  .  . O3
     .  .  .  .  .  . | X5  .  . X2  . .
    12 11 10  9  8  7    6  5  4  3  2  1
""")
TWO_BLOTS_ON_THE_WAY = backgammon("""
    13 14 15 16 17 18   19 20 21 22 23 24
    X2  .  .  .  .  . | O5  .  .  .  .  .
     . O1  .  . O1  . | X2  .  .  .  .  .
    12 11 10  9  8  7    6  5  4  3  2  1
""")
ONE_BLOT_ON_THE_WAY = backgammon("""
    13 14 15 16 17 18   19 20 21 22 23 24
    X2  .  .  .  .  . | O5  .  .  .  .  .
     .  .  .  . O1  . | X2  .  .  .  .  .
    12 11 10  9  8  7    6  5  4  3  2  1
""")
HIT_OR_BLOCKED = backgammon("""
    13 14 15 16 17 18   19 20 21 22 23 24
    X2  .  .  .  .  . | O5  .  .  .  .  .
     . O2  .  . O1  . | X2  .  .  .  .  .
    12 11 10  9  8  7    6  5  4  3  2  1
""")
EITHER_NUMBER = backgammon("""
    13 14 15 16 17 18   19 20 21 22 23 24
     .  .  .  . O2  . | X1  .  .  .  .  .
    O5 O4  .  .  . O4 |  .  .  . X7 X7  .
    12 11 10  9  8  7    6  5  4  3  2  1
""")
NARDY_START = Position.start(Variant.LONG_NARDY)
NARDY_BLOCK = nardy("""
    13 14 15 16 17 18   19 20 21 22 23 24
     .  .  .  X1 X1 . |  X1 X1 X1 .  . X10
    O15 .  .  .  .  . |  .  .  .  .  .  .
    12 11 10  9  8  7    6  5  4  3  2  1
""")


def canonical(text: str, position: Position, dice: tuple[int, int]) -> str:
    return format_play(parse_play(text, position, Dice(*dice)), position)


def reasons(text: str, position: Position, dice: tuple[int, int]) -> list[str]:
    with pytest.raises(InvalidInputError) as caught:
        parse_play(text, position, Dice(*dice))
    for fault in caught.value.faults:
        assert fault.field == "play"
        assert len(fault.message) < 120
    return [fault.reason for fault in caught.value.faults]


CANONICAL = [
    (START, (3, 1), "8/5 6/5"),
    (START, (6, 5), "24/13"),
    (START, (4, 4), "24/20(2) 13/9(2)"),
    (START, (3, 3), "24/15 13/10"),
    (START, (6, 6), "24/18(2) 13/7(2)"),
    (MIDDLE, (3, 1), "8/5* 6/5"),
    (MIDDLE, (4, 4), "13/5*(2)"),
    (MIDDLE, (3, 2), "8/5*/3"),
    (MIDDLE, (1, 1), "6/5*(2) 6/4"),
    (MIDDLE, (1, 1), "6/5*(3) 24/23"),
    (ON_THE_BAR, (3, 1), "bar/22* 6/5"),
    (ON_THE_BAR, (3, 3), "bar/22* 13/10 8/5(2)"),
    (BEAR_OFF, (6, 6), "6/off(4)"),
    (BEAR_OFF, (6, 3), "6/off 3/off"),
    (BEAR_OFF, (4, 2), "6/off"),
    (CLOSED_OUT, (6, 3), CANNOT_MOVE),
    (TWO_BLOTS_ON_THE_WAY, (5, 2), "13/11*/6"),
    (TWO_BLOTS_ON_THE_WAY, (5, 2), "13/8*/6"),
    (TWO_BLOTS_ON_THE_WAY, (5, 2), "13/11* 13/8*"),
]


@pytest.mark.parametrize(("position", "dice", "text"), CANONICAL)
def test_canonical_text(position: Position, dice: tuple[int, int], text: str) -> None:
    sorted_text = canonical(text, position, dice)
    assert sorted(sorted_text.split()) == sorted(text.split())


def test_moves_are_written_from_high_to_low() -> None:
    assert canonical("6/5*(3) 24/23", MIDDLE, (1, 1)) == "24/23 6/5*(3)"
    assert canonical("13/10 13/7 6/3", START, (3, 3)) == "13/10 13/7 6/3"


def test_a_hit_is_shown_where_a_checker_stays_rather_than_on_the_way() -> None:
    assert canonical("6/5 6/5/4 6/5", MIDDLE, (1, 1)) == "6/5*(2) 6/4"


def test_a_walk_that_the_prime_rule_forbids_is_not_joined() -> None:
    # 24/20 by one checker would make a block of six on 22: another must make room first.
    position = Position(
        (0, 1, -1, -1, -1, -6, -1, -1, -1, -1, 0, -1, -1, 4, 2, 0, 0, 0, 0, 0, 3, 1, 0, 1, 3, 0),
        Variant.LONG_NARDY,
    )
    assert reasons("24/20", position, (1, 1)) == ["PRIME_TRAPS_ALL"]
    texts = [format_play(play, position) for play in legal_plays(position, Dice(1, 1))]
    assert "24/20" not in texts
    assert "24/21 21/20" in texts
    assert canonical("21/20 24/21", position, (1, 1)) == "24/21 21/20"


SPELLINGS = [
    (START, (3, 1), "8/5 6/5", ["6/5 8/5", "8/5,6/5", " 8/5 ,  6/5 ", "8 / 5  6/ 5", "8/5\t6/5\n"]),
    (START, (6, 5), "24/13", ["24/18/13", "24/18 18/13", "18/13 24/18", "24/13"]),
    (START, (3, 3), "24/15 13/10", ["24/21/15 13/10", "24/21/18/15, 13/10", "13/10 24/18 18/15"]),
    (START, (3, 3), "8/5(2) 6/3(2)", ["8/5 8/5 6/3 6/3", "6/3(2) 8/5 (2)", "6/3,8/5,6/3,8/5"]),
    (MIDDLE, (3, 1), "8/5* 6/5", ["8/5 6/5", "8/5 6/5*", "8/5* 6/5*", "6/5* 8/5", "8/5 * 6/5"]),
    (MIDDLE, (4, 4), "13/5*(2)", ["13/5(2)", "13/5(2)*", "13/9/5*(2)", "13/9(2) 9/5(2)"]),
    (MIDDLE, (3, 2), "8/5*/3", ["8/5/3", "8/5* 5/3", "5/3 8/5"]),
    (MIDDLE, (3, 2), "8/3", ["8/6/3", "8/6 6/3"]),
    (
        ON_THE_BAR,
        (3, 1),
        "bar/22* 6/5",
        ["bar/22 6/5", "25/22 6/5", "Bar/22* 6/5", "BAR/22,6/5", "6/5 25/22*"],
    ),
    (BEAR_OFF, (6, 3), "6/off 3/off", ["6/0 3/0", "6/OFF 3/Off", "3/off 6/0"]),
    (BEAR_OFF, (6, 6), "6/off(4)", ["6/0(4)", "6/off(2) 6/off(2)", "6/off 6/off 6/off 6/off"]),
    (BEAR_OFF, (4, 2), "6/off", ["6/2/off", "6/4/off", "6/2 2/0"]),
    (CLOSED_OUT, (6, 3), CANNOT_MOVE, ["Cannot move", "CAN'T MOVE", "no  move", "No play"]),
]


@pytest.mark.parametrize(
    ("position", "dice", "text", "spelling"),
    [(*case[:3], spelling) for case in SPELLINGS for spelling in case[3]],
)
def test_other_spellings(
    position: Position, dice: tuple[int, int], text: str, spelling: str
) -> None:
    assert canonical(spelling, position, dice) == text


def test_without_a_star_the_quiet_way_is_meant_where_there_is_one() -> None:
    assert canonical("13/6", ONE_BLOT_ON_THE_WAY, (5, 2)) == "13/6"
    assert canonical("13/8/6", ONE_BLOT_ON_THE_WAY, (5, 2)) == "13/8*/6"
    assert canonical("13/8*/6", ONE_BLOT_ON_THE_WAY, (5, 2)) == "13/8*/6"
    assert canonical("13/11/6", ONE_BLOT_ON_THE_WAY, (5, 2)) == "13/6"


def test_a_missing_star_is_accepted_where_the_result_is_unique() -> None:
    assert canonical("13/6", HIT_OR_BLOCKED, (5, 2)) == "13/8*/6"


def test_a_text_that_fits_two_results_is_refused_with_both() -> None:
    with pytest.raises(AmbiguousPlayError) as caught:
        parse_play("13/6", TWO_BLOTS_ON_THE_WAY, Dice(5, 2))
    assert sorted(fault.message for fault in caught.value.faults) == [
        "it could be 13/11*/6",
        "it could be 13/8*/6",
    ]
    assert {fault.reason for fault in caught.value.faults} == {"AMBIGUOUS_PLAY"}


ILLEGAL = [
    ("13/11*/6", ONE_BLOT_ON_THE_WAY, (5, 2), "NO_HIT"),
    ("13/8 6/4*", ONE_BLOT_ON_THE_WAY, (5, 2), "NO_HIT"),
    ("8/5* 6/5", START, (3, 1), "NO_HIT"),
    ("13/8 6/5", START, (3, 1), "NO_SUCH_DIE"),
    ("8/5 6/5 24/23", START, (3, 1), "NO_SUCH_DIE"),
    ("13/8 6/5", START, (4, 3), "NO_SUCH_DIE"),
    ("7/4 6/5", START, (3, 1), "NO_CHECKER"),
    ("bar/22 6/5", START, (3, 1), "NO_CHECKER"),
    ("8/5(4)", START, (3, 3), "NO_CHECKER"),
    ("13/10 6/5", ON_THE_BAR, (3, 1), "BAR_FIRST"),
    ("6/5", ON_THE_BAR, (3, 1), "BAR_FIRST"),
    ("bar/21 6/5", ON_THE_BAR, (4, 1), "BLOCKED"),
    ("24/18/17", START, (6, 1), "BLOCKED"),
    ("6/1 13/7", START, (6, 5), "BLOCKED"),
    ("6/off 13/8", START, (6, 5), "NOT_ALL_HOME"),
    ("3/off(2)", BEAR_OFF, (5, 4), "CHECKER_BEHIND"),
    ("8/5", START, (3, 1), "MUST_USE_BOTH"),
    ("24/15", START, (3, 3), "MUST_USE_BOTH"),
    (CANNOT_MOVE, START, (3, 1), "MUST_USE_BOTH"),
    ("19/16", EITHER_NUMBER, (4, 3), "MUST_USE_HIGHER"),
    ("bar/22", CLOSED_OUT, (6, 3), "BLOCKED"),
    ("24/22 24/23", NARDY_START, (2, 1), "HEAD_LIMIT"),
    ("24/12", NARDY_START, (6, 6), "BLOCKED"),
    ("24/21*", NARDY_START, (2, 1), "NO_HIT"),
    ("24/18 24/21", NARDY_BLOCK, (6, 3), "HEAD_LIMIT"),
    ("24/18/15", NARDY_BLOCK, (6, 3), "PRIME_TRAPS_ALL"),
]


@pytest.mark.parametrize(("text", "position", "dice", "reason"), ILLEGAL)
def test_an_illegal_play_is_refused_with_its_reason(
    text: str, position: Position, dice: tuple[int, int], reason: str
) -> None:
    with pytest.raises(IllegalPlayError):
        parse_play(text, position, Dice(*dice))
    assert reasons(text, position, dice) == [reason]


MALFORMED = [
    ("", ["EMPTY"]),
    (" , ", ["EMPTY"]),
    ("hello", ["BAD_SYNTAX"]),
    ("13-8", ["BAD_SYNTAX"]),
    ("13", ["BAD_SYNTAX"]),
    ("13/", ["BAD_SYNTAX"]),
    ("/8", ["BAD_SYNTAX"]),
    ("13//8", ["BAD_SYNTAX"]),
    ("13*/8", ["BAD_SYNTAX"]),
    ("8/5**", ["BAD_SYNTAX"]),
    ("8/5*(2)*", ["BAD_SYNTAX"]),
    ("6/off*", ["BAD_SYNTAX"]),
    ("8/5(22)", ["BAD_SYNTAX"]),
    ("8/5(-1)", ["BAD_SYNTAX"]),
    ("\u0668/\u0665", ["BAD_SYNTAX"]),
    ("8/5(0)", ["BAD_COUNT"]),
    ("8/5(9)", ["BAD_COUNT"]),
    ("26/20", ["POINT_OUT_OF_RANGE"]),
    ("99/98", ["POINT_OUT_OF_RANGE"]),
    ("off/5", ["POINT_OUT_OF_RANGE"]),
    ("6/bar", ["POINT_OUT_OF_RANGE"]),
    ("6/0/off", ["POINT_OUT_OF_RANGE"]),
    ("5/8", ["WRONG_DIRECTION"]),
    ("8/8", ["WRONG_DIRECTION"]),
    ("13/5/8", ["WRONG_DIRECTION"]),
    ("8/7(3) 6/5(2)", ["TOO_MANY_MOVES"]),
    ("13-8 5/8 26/20 8/5", ["BAD_SYNTAX", "WRONG_DIRECTION", "POINT_OUT_OF_RANGE"]),
]


@pytest.mark.parametrize(("text", "expected"), MALFORMED)
def test_malformed_text(text: str, expected: list[str]) -> None:
    assert reasons(text, START, (3, 1)) == expected


def test_a_huge_text_is_refused_at_once() -> None:
    begin = time.perf_counter()
    assert reasons("8/5 " * 1_000_000, START, (3, 1)) == ["TOO_LONG"]
    assert time.perf_counter() - begin < 0.5


def test_a_finished_game_has_no_plays_to_read() -> None:
    with pytest.raises(WrongMomentError):
        parse_play("6/5", Position((0,) * 24 + (-2, 0)), Dice(3, 1))


@given(st.text(max_size=60))
def test_random_text_raises_nothing_else(text: str) -> None:
    try:
        parse_play(text, START, Dice(3, 1))
    except InvalidInputError:
        return


@given(st.text(alphabet="0123456789/*() barof", max_size=24))
def test_random_notation_gives_a_legal_play_or_the_right_error(text: str) -> None:
    try:
        play = parse_play(text, MIDDLE, Dice(1, 1))
    except InvalidInputError:
        return
    assert play in legal_plays(MIDDLE, Dice(1, 1))


def described(text: str, position: Position) -> tuple[int, ...]:
    """The board that the text describes to somebody who moves checkers by it."""
    points = list(position.points)
    for word in text.split():
        path, _, count = word.rstrip(")").partition("(")
        names = path.split("/")
        plain = path.replace("*", "").replace("bar", "25").replace("off", "0")
        numbers = [int(number) for number in plain.split("/")]
        for name, number in zip(names, numbers, strict=True):
            if name.endswith("*"):
                points[0] -= 1
                points[number] += 1
        times = int(count or 1)
        points[numbers[0]] -= times
        if numbers[-1] != naive.OFF:
            points[numbers[-1]] += times
    return tuple(points)


def check_round_trips(variant: Variant, *, positions: int, plays_of_each: int) -> None:
    for case in cases(variant.value, seed=21, count=positions):
        if naive.is_over(case.board):
            continue
        position = Position(case.board, variant)
        dice = Dice(*case.dice)
        plays = legal_plays(position, dice, first_turn=case.first_turn)
        texts = {format_play(play, position): play for play in plays}
        assert len(texts) == len(plays), str(case)
        for text, play in list(texts.items())[:: 1 + len(plays) // plays_of_each]:
            if text != CANNOT_MOVE:
                assert described(text, position) == play.result.points, (str(case), text)
            got = parse_play(text, position, dice, first_turn=case.first_turn)
            assert got == play, (str(case), text)


@pytest.mark.parametrize("variant", list(Variant))
def test_legal_plays_read_back_as_themselves(variant: Variant) -> None:
    check_round_trips(variant, positions=500, plays_of_each=8)


@pytest.mark.long
@pytest.mark.parametrize("variant", list(Variant))
def test_every_legal_play_reads_back_as_itself(variant: Variant) -> None:
    check_round_trips(variant, positions=1_000, plays_of_each=1_000)
