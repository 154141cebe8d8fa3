"""Facts of positions that can be counted by hand; random ones: `tests/rules/test_inspection.py`."""

from __future__ import annotations

import pytest

from bgserver.engine.inspection import Blot, Phase, game_value, inspect
from bgserver.engine.position import Position, Variant
from tests.rules.boards import backgammon, nardy

# rules.md 9.1: rolls of 36 that hit one blot at a distance on a free path; all others 0.
_HITS = {
    **dict(enumerate((11, 12, 14, 15, 15, 17, 6, 6, 5, 3, 2, 3), start=1)),
    **dict.fromkeys((15, 16, 18, 20, 24), 1),
}


def _position(**counts: int) -> Position:
    """A board of a few checkers, `p25=1` for one on the bar."""
    points = [0] * 26
    for name, count in counts.items():
        points[int(name[1:])] = count
    return Position(tuple(points))


@pytest.mark.parametrize("distance", range(1, 25))
def test_9_1_hits_at_each_distance(distance: int) -> None:
    found = inspect(_position(p25=1, **{f"p{25 - distance}": -1}))
    assert found.blots == (Blot(25 - distance, True, _HITS.get(distance, 0)),)


@pytest.mark.parametrize(("closed", "rolls"), list(enumerate((36, 35, 32, 27, 20, 11, 0))))
def test_9_2_entering(closed: int, rolls: int) -> None:
    counts = {f"p{24 - number}": -2 for number in range(closed)}
    assert inspect(_position(p25=1, p0=-1, **counts)).entering_rolls == rolls


def test_a_blocked_way_saves_a_blot() -> None:
    found = inspect(_position(p12=2, p6=-1, p7=-2, p8=-2, p9=-2, p10=-2, p11=-2))
    # Six away, 5-1, 4-2, 3-3 and 2-2 are blocked: only the eleven direct sixes remain.
    assert found.blots == (Blot(6, True, 11),)


def test_own_blots_are_counted_with_the_opponent_on_roll() -> None:
    position = backgammon("""
        13 14 15 16 17 18   19 20 21 22 23 24
        X5  .  .  . O3  . | O5  .  .  .  . X2
        O5  .  .  . X3  . | X4 X1  .  .  . O2
        12 11 10  9  8  7    6  5  4  3  2  1
    """)
    (blot,) = inspect(position).blots
    assert (blot.point, blot.opponent) == (5, False)
    # A direct four (11), 3-1 (2), 2-2, and 1-1, whose way over 2, 3 and 4 is free.
    assert blot.hitting_rolls == 15


def test_phases() -> None:
    contact = backgammon("""
        .  .  .  .  .  . |  .  .  .  .  O  X
        .  .  .  .  .  . |  .  .  .  .  .  .
    """)
    race = backgammon("""
        .  .  .  .  .  . |  .  .  .  .  .  O
        .  .  .  .  .  X |  .  .  .  .  .  .
    """)
    bear_off = backgammon("""
        .  .  .  .  .  . |  .  .  .  .  .  O
        .  .  .  .  .  . |  X  .  .  .  .  .
    """)
    assert inspect(contact).phase is Phase.CONTACT
    assert inspect(race).phase is Phase.RACE
    assert inspect(bear_off).phase is Phase.BEAR_OFF
    assert inspect(_position(p3=1, p25=0)).phase is Phase.FINISHED


def test_long_nardy_meets_until_both_are_in_their_second_halves() -> None:
    start = inspect(Position.start(Variant.LONG_NARDY))
    assert start.phase is Phase.CONTACT
    assert start.pips == start.opponent_pips == 360
    assert start.blots == ()
    # Own 1..12 and, in the opponent's numbers 1..12, own 13..24: the ways have nothing in common.
    apart = nardy("""
        O2  .  .  .  .  . |  .  .  .  .  .  O
        X2  .  .  .  .  . |  .  .  .  .  .  X
    """)
    assert inspect(apart).phase is Phase.RACE
    behind = nardy("""
        X2  .  .  .  .  O |  .  .  .  .  .  .
        .  .  .  .  .  . |  .  .  .  .  .  .
    """)
    assert inspect(behind).phase is Phase.CONTACT


@pytest.mark.parametrize(
    ("counts", "value"),
    [
        ({"p24": -14}, 1),
        ({"p19": -15}, 2),
        ({"p6": -1, "p19": -14}, 3),
        ({"p0": -1, "p19": -14}, 3),
        ({"p7": -1, "p19": -14}, 2),
    ],
    ids=["one off", "all home", "in the winner's home", "on the bar", "just outside"],
)
def test_3_2_to_3_4_worth_of_a_won_game(counts: dict[str, int], value: int) -> None:
    won = _position(**counts)
    assert game_value(won) == value
    assert game_value(won.turned()) == -value
    assert inspect(won).result == value
