"""Section 9 of the rules: known numbers (9.7 is in `test_perft`)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Dice, Position, Variant
from tests import naive

DATA = Path(__file__).parents[1] / "data" / "rules"
HITS = {1: 11, 2: 12, 3: 14, 4: 15, 5: 15, 6: 17, 7: 6, 8: 6, 9: 5, 10: 3, 11: 2, 12: 3}
HITS |= {15: 1, 16: 1, 18: 1, 20: 1, 24: 1}
ENTERING = {0: (36, 36), 1: (35, 25), 2: (32, 16), 3: (27, 9), 4: (20, 4), 5: (11, 1), 6: (0, 0)}
START_COUNTS = json.loads((DATA / "start_counts.json").read_text(encoding="utf-8"))
LINE = re.compile(
    r"(?P<game>[SN]) \[(?P<board>[^]]*)\] (?P<first>\d)-(?P<second>\d) "
    r"n=(?P<results>\d+) u=(?P<used>\d)(?P<first_turn> first turn)? +(?P<remark>.*)"
)
POSITIONS = [
    line
    for line in (DATA / "positions.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


def weight(roll: tuple[int, int]) -> int:
    """How many of the 36 throws of two dice give the roll."""
    return 1 if roll[0] == roll[1] else 2


@pytest.mark.parametrize("distance", range(1, 25))
def test_9_1_hits_of_36_at_a_distance(distance: int) -> None:
    source = 24 if distance < 24 else naive.BAR
    blot = source - distance
    board = [0] * 26
    board[source], board[blot] = 1, -1
    expected = HITS.get(distance, 0)
    assert naive.hitting_rolls(board, blot) == expected
    position = Position(tuple(board))
    found = sum(
        weight(roll)
        for roll in naive.ALL_ROLLS
        if any(play.result.points[0] < 0 for play in legal_plays(position, Dice(*roll)))
    )
    assert found == expected


@pytest.mark.parametrize("closed", ENTERING)
@pytest.mark.parametrize("checkers", [1, 2])
def test_9_2_entering_against_closed_points(closed: int, checkers: int) -> None:
    board = [0] * 26
    board[naive.BAR] = checkers
    board[1] = -2
    for point in range(19, 19 + closed):
        board[point] = -2
    expected = ENTERING[closed][checkers - 1]
    assert naive.entering_rolls(board, checkers) == expected
    position = Position(tuple(board))
    found = 0
    for roll in naive.ALL_ROLLS:
        plays = legal_plays(position, Dice(*roll))
        if all(sum(step.source == naive.BAR for step in play.steps) == checkers for play in plays):
            found += weight(roll)
    assert found == expected


def test_9_3_mean_pips_of_a_roll() -> None:
    throws = [(a, b) for a in range(1, 7) for b in range(1, 7)]
    assert sum(sum(naive.numbers_to_play(throw)) for throw in throws) * 6 == 49 * len(throws)


def test_9_4_no_side_can_finish_in_fewer_than_34_steps_and_9_turns() -> None:
    # sixes all the way, with nobody to stop them
    board = [max(count, 0) for count in naive.start(naive.BACKGAMMON)]
    board[0] = -15
    position = Position(tuple(board))
    steps = turns = 0
    while not position.is_finished:
        play = legal_plays(position, Dice(6, 6))[0]
        steps += len(play.steps)
        turns += 1
        position = play.result
    assert (steps, turns) == (34, 9)


@pytest.mark.parametrize("roll", START_COUNTS)
def test_9_6_results_from_the_start(roll: str) -> None:
    plays = legal_plays(Position.start(), Dice(int(roll[0]), int(roll[1])))
    assert len(plays) == len({play.result for play in plays}) == START_COUNTS[roll]


@pytest.mark.parametrize("line", POSITIONS, ids=lambda line: line.split("  ")[-1])
def test_9_8_known_positions(line: str) -> None:
    known = LINE.fullmatch(line)
    assert known is not None
    variant = Variant.BACKGAMMON if known["game"] == "S" else Variant.LONG_NARDY
    position = Position(tuple(int(count) for count in known["board"].split(",")), variant)
    dice = Dice(int(known["first"]), int(known["second"]))
    plays = legal_plays(position, dice, first_turn=known["first_turn"] is not None)
    assert len({play.result for play in plays}) == len(plays) == int(known["results"])
    assert {len(play.steps) for play in plays} == {int(known["used"])}
