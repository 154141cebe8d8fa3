"""Why a play is refused: the first rule that the steps break, in words (`rules.md` 2.28).

Legality itself is decided by the play generator. This module is asked afterwards, for steps that
no legal play contains, so it may be slow and is written plainly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import BAR, OFF, OPPONENT_BAR, Variant, nardy_opposite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bgserver.engine.position import Dice, Position

__all__ = ["explain_illegal_steps", "point_name", "traps_all"]

_HEAD = 24
_HOME = 6
_PRIME_LENGTH = 6
_TWO_HEAD_DOUBLES = (3, 4, 6)


def point_name(point: int) -> str:
    """A point as notation names it: `bar`, `off` or its number."""
    return {BAR: "bar", OFF: "off"}.get(point, str(point))


def explain_illegal_steps(
    position: Position,
    dice: Dice,
    steps: Sequence[tuple[int, int]],
    first_turn: bool = False,
) -> Fault | None:
    """The reason why `steps` are not a legal complete play, None if they are one.

    Args:
        position: The board of the player who has rolled.
        dice: The roll.
        steps: Pairs (source, target) in the mover's numbers, 25 the bar and 0 off, in the order in
            which they are made. A pair may need several dice, as `(13, 5)` with 5-3.
        first_turn: Long Nardy: this is the mover's first turn (head exception, 7.5).

    Returns:
        A fault with the field `steps[i]` of the first step that cannot be made, or `steps` if each
        can but together they leave out a number that must be played.
    """
    if position.is_finished:
        return Fault("steps", "GAME_OVER", "the game is over: one side has borne off everything")
    numbers = (dice.high,) * 4 if dice.is_double else (dice.high, dice.low)
    turn = _Turn(
        points=position.points,
        variant=position.variant,
        numbers=numbers,
        head_left=_head_allowance(position, dice, first_turn=first_turn),
        used=(),
    )
    outcome = _follow(turn, steps, 0)
    if outcome.fault is not None:
        return outcome.fault
    return _incomplete(outcome.turn, position, dice, first_turn=first_turn)


def _head_allowance(position: Position, dice: Dice, *, first_turn: bool) -> int:
    """How many checkers may leave the head; without limit in backgammon."""
    if position.variant is Variant.BACKGAMMON:
        return 4
    return 2 if first_turn and dice.is_double and dice.high in _TWO_HEAD_DOUBLES else 1


@dataclass(frozen=True, slots=True)
class _Turn:
    """A board within a turn and what is left to play."""

    points: tuple[int, ...]
    variant: Variant
    numbers: tuple[int, ...]
    """Numbers not yet played, the highest first."""
    head_left: int
    used: tuple[int, ...]
    """Numbers played so far."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """How far the steps could be followed in the best reading of them."""

    turn: _Turn
    index: int
    """The step that the fault is about."""
    fault: Fault | None


def _follow(turn: _Turn, steps: Sequence[tuple[int, int]], index: int) -> _Outcome:
    """Make the steps from `index` on; of several readings the one that comes farthest."""
    if index == len(steps):
        return _Outcome(turn, index, None)
    source, target = steps[index]
    field = f"steps[{index}]"
    fault = _source_fault(turn, source, target, field)
    if fault is not None:
        return _Outcome(turn, index, fault)
    best: _Outcome | None = None
    for number, landing in _readings(turn.numbers, source, target):
        step_fault = _step_fault(turn, source, landing, number, field)
        if step_fault is not None:
            outcome = _Outcome(turn, index, step_fault)
        else:
            moved = _moved(turn, source, landing, number)
            rest = steps
            if landing != target:
                rest = [*steps[:index], (landing, target), *steps[index + 1 :]]
            outcome = _follow(moved, rest, index if landing != target else index + 1)
        if outcome.fault is None:
            return outcome
        if best is None or outcome.index > best.index:
            best = outcome
    if best is not None:
        return best
    left = " and ".join(map(str, turn.numbers)) or "no numbers"
    message = f"{_named(source, target)} needs a number that is not left to play, left: {left}"
    return _Outcome(turn, index, Fault(field, "NO_SUCH_DIE", message))


def _readings(numbers: tuple[int, ...], source: int, target: int) -> Iterator[tuple[int, int]]:
    """Ways to begin a step: the number to use and where the checker lands with it."""
    distinct = sorted(set(numbers), reverse=True)
    if source - target in distinct:
        yield source - target, target
    if target == OFF:
        yield from ((number, OFF) for number in reversed(distinct) if number > source)
    reach = sum(numbers)
    for number in distinct:
        landing = source - number
        if landing > target and (
            landing - target in _sums(numbers, number) or (target == OFF and reach >= source)
        ):
            yield number, landing


def _sums(numbers: tuple[int, ...], taken: int) -> set[int]:
    """Every sum of one or more of the numbers when one `taken` is gone."""
    left = list(numbers)
    left.remove(taken)
    sums = {0}
    for number in left:
        sums |= {total + number for total in sums}
    return sums - {0}


def _source_fault(turn: _Turn, source: int, target: int, field: str) -> Fault | None:
    if not (1 <= source <= BAR and OFF <= target < BAR and source > target):
        message = (
            f"a step goes from 25 (bar) or a point down to a lower point or 0 (off), "
            f"got {source} to {target}"
        )
        return Fault(field, "NO_SUCH_DIE", message)
    if source != BAR and turn.points[BAR] > 0:
        message = f"{_named(source, target)}: a checker on the bar must enter first"
        return Fault(field, "BAR_FIRST", message)
    if turn.points[source] <= 0:
        place = "the bar" if source == BAR else f"point {source}"
        message = f"{_named(source, target)}: there is no own checker on {place}"
        return Fault(field, "NO_CHECKER", message)
    return None


def _step_fault(turn: _Turn, source: int, target: int, number: int, field: str) -> Fault | None:
    """Why one checker cannot move by one number that is left; None if it can."""
    name = _named(source, target)
    points = turn.points
    outside = [point for point in range(_HOME + 1, BAR + 1) if points[point] > 0]
    behind = [point for point in range(source + 1, _HOME + 1) if points[point] > 0]
    opposing = -points[target] if target != OFF else 0
    if target == OFF and outside:
        message = f"{name}: not all own checkers are home, one is on {point_name(outside[-1])}"
        return Fault(field, "NOT_ALL_HOME", message)
    if target == OFF and number > source and behind:
        message = f"{name} with a {number}: an own checker stands behind, on {behind[-1]}"
        return Fault(field, "CHECKER_BEHIND", message)
    if opposing > (1 if turn.variant is Variant.BACKGAMMON else 0):
        holders = (
            "an opposing checker holds" if opposing == 1 else f"{opposing} opposing checkers hold"
        )
        return Fault(field, "BLOCKED", f"{name}: {holders} point {target}")
    if turn.variant is Variant.LONG_NARDY:
        if source == _HEAD and turn.head_left == 0:
            message = f"{name}: no further checker may leave the head in this turn"
            return Fault(field, "HEAD_LIMIT", message)
        if traps_all(_moved(turn, source, target, number).points):
            message = f"{name} makes a block of six with every opposing checker behind it"
            return Fault(field, "PRIME_TRAPS_ALL", message)
    return None


def _moved(turn: _Turn, source: int, target: int, number: int) -> _Turn:
    points = list(turn.points)
    points[source] -= 1
    if target != OFF:
        if points[target] < 0:
            points[OPPONENT_BAR] += points[target]
            points[target] = 0
        points[target] += 1
    numbers = list(turn.numbers)
    numbers.remove(number)
    return replace(
        turn,
        points=tuple(points),
        numbers=tuple(numbers),
        head_left=turn.head_left - (source == _HEAD),
        used=(*turn.used, number),
    )


def traps_all(points: Sequence[int]) -> bool:
    """True if a Long Nardy board of 26 counts breaks the prime rule (7.7, 7.8).

    Six successive points of the opponent's path are held and no opposing checker is past them.
    """
    if sum(-count for count in points if count < 0) < 15:
        return False  # the opponent bears off already (7.7)
    by_opponent = [points[nardy_opposite(point)] for point in range(1, 25)]
    past = False
    for first in range(24 - _PRIME_LENGTH + 1):
        if not past and all(count > 0 for count in by_opponent[first : first + _PRIME_LENGTH]):
            return True
        past = past or by_opponent[first] < 0
    return False


def _incomplete(turn: _Turn, position: Position, dice: Dice, *, first_turn: bool) -> Fault | None:
    """Which number is missing from steps that can be made one by one."""
    plays = legal_plays(position, dice, first_turn=first_turn)
    if any(play.result.points == turn.points for play in plays):
        return None
    possible = max(len(play.steps) for play in plays)
    used = len(turn.used)
    if used == possible == 1:
        message = f"only one number can be played, and it must be the higher one, {dice.high}"
        return Fault("steps", "MUST_USE_HIGHER", message)
    message = f"{possible} numbers can be played and must be, this play uses {used}"
    return Fault("steps", "MUST_USE_BOTH", message)


def _named(source: int, target: int) -> str:
    return f"{point_name(source)}/{point_name(target)}"
