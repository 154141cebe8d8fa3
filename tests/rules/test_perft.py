"""Perft, section 9.7: how many chains of rolls and results lead away from the start."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from bgserver.engine.plays import variant_code
from bgserver.engine.position import Position, Variant
from bgserver.kernels import moves
from tests import naive

EXPECTED = json.loads(
    (Path(__file__).parents[1] / "data" / "rules" / "perft.json").read_text(encoding="utf-8")
)
COLUMNS = ("once", "weighted", "opening", "boards")


def perft(variant: Variant, depth: int) -> dict[str, int]:
    """The columns of 9.7 at a depth.

    Walks level by level through the different boards. Each carries how many chains lead to it:
    with every roll once, with non-doubles counted twice, and with a non-double as first roll.
    """
    start = np.array(Position.start(variant).points, dtype=np.int8)
    level = {start.tobytes(): (1, 1, 1)}
    once = weighted = opening = 0
    for number in range(1, depth + 1):
        once = weighted = opening = 0
        following: tuple[Counter[bytes], Counter[bytes], Counter[bytes]]
        following = (Counter(), Counter(), Counter())
        needs_boards = number < depth or needs_last_boards(variant, depth)
        for board, (ways, weighted_ways, opening_ways) in level.items():
            for high, low in naive.ALL_ROLLS:
                is_double = high == low
                results = _results(board, high, low, variant, number)
                factor = weighted_ways * (1 if is_double else 2)
                after_opening = 0 if number == 1 and is_double else opening_ways
                once += ways * len(results)
                weighted += factor * len(results)
                opening += after_opening * len(results)
                if needs_boards:
                    for result in results:
                        key = result.tobytes()
                        following[0][key] += ways
                        following[1][key] += factor
                        following[2][key] += after_opening
        level = {
            board: (ways, following[1][board], following[2][board])
            for board, ways in following[0].items()
        }
    return {"once": once, "weighted": weighted, "opening": opening, "boards": len(level)}


def needs_last_boards(variant: Variant, depth: int) -> bool:
    """True if the number of boards after the last turn is known."""
    return EXPECTED[variant.value][depth - 1]["boards"] is not None


def _results(board: bytes, high: int, low: int, variant: Variant, turn: int) -> np.ndarray:
    """The results of a roll, turned to the other player's view."""
    first_turn = variant is Variant.LONG_NARDY and turn <= 2
    points = np.frombuffer(board, dtype=np.int8)
    count = moves.generate_plays(points, high, low, variant_code(variant), first_turn, _BUFFERS)
    results = _BUFFERS.boards[:count]
    if variant is Variant.BACKGAMMON:
        return np.ascontiguousarray(-results[:, ::-1])
    return np.ascontiguousarray(-results[:, _NARDY_VIEW])


_BUFFERS = moves.make_play_buffers()
_NARDY_VIEW = np.array([0, *range(13, 25), *range(1, 13), 25])
LONG = {("backgammon", 3)}


@pytest.mark.parametrize(
    ("variant", "depth"),
    [
        pytest.param(
            variant,
            row["depth"],
            marks=[pytest.mark.long] if (variant, row["depth"]) in LONG else [],
        )
        for variant, rows in EXPECTED.items()
        for row in rows
    ],
)
def test_9_7_perft(variant: str, depth: int) -> None:
    expected = EXPECTED[variant][depth - 1]
    found = perft(Variant(variant), depth)
    for column in COLUMNS:
        if expected[column] is not None:
            assert found[column] == expected[column], column
