"""The board as text."""

from __future__ import annotations

import pytest

from bgserver.engine.position import Position, Variant
from bgserver.formats.board import render_board
from tests import positions

_START = """\
+13-14-15-16-17-18-------19-20-21-22-23-24-+
| X           O    |   |  O              X |
| X           O    |   |  O              X |
| X           O    |   |  O                |
| X                |   |  O                |
| X                |   |  O                |
|                  |BAR|                   |  X on roll, pips X 167, O 167
| O                |   |  X                |
| O                |   |  X                |
| O           X    |   |  X                |
| O           X    |   |  X              O |
| O           X    |   |  X              O |
+12-11-10--9--8--7--------6--5--4--3--2--1-+"""

_LATE = """\
+13-14-15-16-17-18-------19-20-21-22-23-24-+
|                  |   |  O     O          |  O off 1
|                  |   |  O     O          |
|                  |   |  O     O          |
|                  |   |  O     O          |
|                  | O |  6     7          |
|                  |BAR|                   |  X on roll, pips X 24, O 89
|                  |   | 11                |
|                  |   |  X                |
|                  |   |  X                |
|                  |   |  X                |
|                  |   |  X              X |  X off 3
+12-11-10--9--8--7--------6--5--4--3--2--1-+"""

_NARDY = """\
+13-14-15-16-17-18-------19-20-21-22-23-24-+
|                  |   |                 X |
|                  |   |                 X |
|                  |   |                 X |
|                  |   |                 X |
|                  |   |                15 |
|                  |   |                   |  X on roll, pips X 360, O 360
|15                |   |                   |
| O                |   |                   |
| O                |   |                   |
| O                |   |                   |
| O                |   |                   |
+12-11-10--9--8--7--------6--5--4--3--2--1-+"""


def test_the_start_of_both_games() -> None:
    assert render_board(Position.start()) == _START
    assert render_board(Position.start(Variant.LONG_NARDY)) == _NARDY


def test_bar_off_and_tall_points() -> None:
    points = [0] * 26
    points[0], points[1], points[6], points[19], points[21] = -1, 1, 11, -6, -7
    late = _LATE.replace("pips X 24", "pips X 67")
    assert render_board(Position(tuple(points))) == late


@pytest.mark.parametrize("variant", Variant)
def test_every_board_has_thirteen_lines_of_plain_ascii(variant: Variant) -> None:
    for case in positions.cases(variant.value, 3, 200):
        text = render_board(Position(case.board, variant))
        lines = text.splitlines()
        assert len(lines) == 13
        assert text.isascii()
        assert max(map(len, lines)) <= 80
        assert all(line[43] in "|+" for line in lines)
