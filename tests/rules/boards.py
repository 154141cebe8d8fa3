"""Boards drawn as a player sees them, and plays in move notation, for the rule tests.

A diagram has two rows of twelve points, own points 13 to 24 above 12 to 1. `X` is a checker of
the player on turn, `O` an opposing one, with the count if there are several. Rows of point
numbers are decoration; an optional last line names the checkers on the bar:

    13 14 15 16 17 18   19 20 21 22 23 24
    X5  .  .  . O3  . | O5  .  .  .  . X2
    O5  .  .  . X3  . | X5  .  .  .  . O2
    12 11 10  9  8  7    6  5  4  3  2  1
    bar X O2
"""

from __future__ import annotations

from bgserver.engine.plays import Play, legal_plays, step_graph
from bgserver.engine.position import Dice, Position, Variant
from tests import naive

_TOP = range(13, 25)
_BOTTOM = range(12, 0, -1)
_POINT_NAMES = {"bar": naive.BAR, "off": naive.OFF}


def backgammon(diagram: str) -> Position:
    """The backgammon position of a diagram."""
    return Position(_read(diagram), Variant.BACKGAMMON)


def nardy(diagram: str) -> Position:
    """The Long Nardy position of a diagram."""
    return Position(_read(diagram), Variant.LONG_NARDY)


def _read(diagram: str) -> naive.Board:
    board = [0] * 26
    rows = [line.replace("|", " ").split() for line in diagram.strip().splitlines()]
    top, bottom = (row for row in rows if row[0][0] in ".XO")
    for points, row in ((_TOP, top), (_BOTTOM, bottom)):
        for point, cell in zip(points, row, strict=True):
            board[point] = _count(cell)
    for cell in (cell for row in rows if row[0] == "bar" for cell in row[1:]):
        board[naive.BAR if cell.startswith("X") else 0] = _count(cell)
    return tuple(board)


def _count(cell: str) -> int:
    if cell == ".":
        return 0
    return int(cell[1:] or 1) * (1 if cell[0] == "X" else -1)


def plays(position: Position, first: int, second: int, *, first_turn: bool = False) -> list[Play]:
    """What the engine allows."""
    return legal_plays(position, Dice(first, second), first_turn=first_turn)


def results(
    position: Position, first: int, second: int, *, first_turn: bool = False
) -> set[naive.Board]:
    """The boards after all that the engine allows."""
    allowed = plays(position, first, second, first_turn=first_turn)
    return {play.result.points for play in allowed}


def first_steps(
    position: Position, first: int, second: int, *, first_turn: bool = False
) -> set[str]:
    """The single steps that the engine accepts at the start of the turn, as `source/target`."""
    graph = step_graph(position, Dice(first, second), first_turn=first_turn)
    return {notation(edge.step.source, edge.step.target) for edge in graph.nodes[0].edges}


def boards_after(position: Position, *written: str) -> set[naive.Board]:
    """The boards after plays such as `bar/22 6/off`; "" is a forfeited turn.

    The steps are carried out without a look at the rules.
    """
    return {naive.play(position.points, _steps(play)) for play in written}


def _steps(written: str) -> list[naive.Step]:
    steps = []
    for step in written.split():
        source, target = (_point(name) for name in step.split("/"))
        steps.append((source, target, 0))
    return steps


def _point(name: str) -> int:
    return _POINT_NAMES[name] if name in _POINT_NAMES else int(name)


def notation(source: int, target: int) -> str:
    """A step as it is written."""
    left = "bar" if source == naive.BAR else str(source)
    right = "off" if target == naive.OFF else str(target)
    return f"{left}/{right}"
