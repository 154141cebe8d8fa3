"""A board as text, as players know it from books.

The player on roll is `X`, sits below and moves from point 24 (top right) to point 1 (bottom
right); the opponent is `O`. Point numbers are those of the player on roll.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.position import BAR, OPPONENT_BAR, Variant

if TYPE_CHECKING:
    from bgserver.engine.position import Position

__all__ = ["render_board"]

_ROWS = 5
_UPWARDS = range(_ROWS - 1, -1, -1)
_TOP = (range(13, 19), range(19, 25))
_BOTTOM = (range(12, 6, -1), range(6, 0, -1))


def render_board(position: Position) -> str:
    """The board, 13 lines without a final line break; at most 80 columns of ASCII.

    A point with more than five checkers shows their number at its inner end.

    >>> from bgserver.engine.position import Position
    >>> print(render_board(Position.start()))
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
    +12-11-10--9--8--7--------6--5--4--3--2--1-+
    """
    points = position.points
    pips, opponent_pips = position.pips()
    own_off, opponent_off = position.own_off, position.opponent_off
    bar_above = _column(points[OPPONENT_BAR])
    bar_below = _column(points[BAR])
    middle = "BAR" if position.variant is Variant.BACKGAMMON else ""
    lines = [
        _border(_TOP),
        *[_line(points, _TOP, row, bar_above[_ROWS - 1 - row]) for row in range(_ROWS)],
        f"|{'':18}|{middle:3}|{'':19}|",
        *[_line(points, _BOTTOM, row, bar_below[_ROWS - 1 - row]) for row in _UPWARDS],
        _border(_BOTTOM),
    ]
    lines[1] += _off("O", opponent_off)
    lines[6] += f"  X on roll, pips X {pips}, O {opponent_pips}"
    lines[-2] += _off("X", own_off)
    return "\n".join(lines)


def _off(name: str, count: int) -> str:
    return f"  {name} off {count}" if count else ""


def _border(halves: tuple[range, range]) -> str:
    left, right = ("-".join(f"{point:->2}" for point in half) for half in halves)
    return f"+{left}-------{right}-+"


def _line(points: tuple[int, ...], halves: tuple[range, range], row: int, bar: str) -> str:
    left, right = (
        "".join(f"{_column(points[point])[row]:>2} " for point in half) for half in halves
    )
    return f"|{left}|{bar:^3}| {right}|"


def _column(count: int) -> list[str]:
    """What the five places of a point show, from the rim inwards."""
    checker = "X" if count > 0 else "O"
    height = min(abs(count), _ROWS)
    column = [checker] * height + [" "] * (_ROWS - height)
    if abs(count) > _ROWS:
        column[-1] = str(abs(count))
    return column
