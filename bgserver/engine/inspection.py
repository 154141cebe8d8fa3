"""Facts of a position: pips, phase, blots and their danger, chances to enter."""

from __future__ import annotations

import enum
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.plays import board_array, variant_code
from bgserver.engine.position import BAR, CHECKERS, OPPONENT_BAR, Variant, nardy_opposite
from bgserver.kernels import moves

if TYPE_CHECKING:
    from bgserver.engine.position import Position

__all__ = ["Blot", "Inspection", "Phase", "game_value", "inspect"]

_HOME = 6
_ROLLS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]


class Phase(enum.Enum):
    """Contact between the two sides."""

    CONTACT = "contact"
    RACE = "race"
    BEAR_OFF = "bear_off"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Blot:
    """A single checker that the other side may hit."""

    point: int
    """In the numbers of the player on roll."""
    opponent: bool
    """True if it is the opponent's."""
    hitting_rolls: int
    """Rolls out of 36 with which the other side has a legal play that hits it."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What there is to say about a position; "opponent" is the player not on roll."""

    pips: int
    opponent_pips: int
    phase: Phase
    blots: tuple[Blot, ...]
    entering_rolls: int
    """Rolls out of 36 with which one checker could enter from the bar."""
    opponent_entering_rolls: int
    off: int
    opponent_off: int
    result: int
    """1..3 if the player on roll has won, negative if the opponent has, else 0."""


def inspect(position: Position) -> Inspection:
    """All facts of a position.

    The danger of an own blot is counted with the opponent on roll on this very board.
    """
    pips, opponent_pips = position.pips()
    standard = position.variant is Variant.BACKGAMMON
    phase = _phase(position)
    blots: list[Blot] = []
    if standard and phase is not Phase.FINISHED:
        turned = position.turned()
        blots.extend(Blot(BAR - point, False, hits) for point, hits in _danger(turned).items())
        blots.extend(Blot(point, True, hits) for point, hits in _danger(position).items())
    return Inspection(
        pips=pips,
        opponent_pips=opponent_pips,
        phase=phase,
        blots=tuple(sorted(blots, key=lambda blot: (blot.opponent, blot.point))),
        entering_rolls=_entering_rolls(position) if standard else 0,
        opponent_entering_rolls=_entering_rolls(position.turned()) if standard else 0,
        off=position.own_off,
        opponent_off=position.opponent_off,
        result=game_value(position),
    )


def game_value(position: Position) -> int:
    """What the game is worth before the cube: 0 if it goes on, negative if the opponent has won.

    `rules.md` 3.2 to 3.4 and 7.12.
    """
    if position.own_off == CHECKERS:
        return _value(position.turned())
    if position.opponent_off == CHECKERS:
        return -_value(position)
    return 0


def _value(loser: Position) -> int:
    """The worth of a lost game, on the loser's board."""
    if loser.own_off > 0:
        return 1
    if loser.variant is Variant.BACKGAMMON and any(count > 0 for count in loser.points[19:]):
        return 3
    return 2


def _danger(position: Position) -> dict[int, int]:
    """Points of opposing blots, each with the number of rolls that hit it."""
    blots = [point for point in range(1, 25) if position.points[point] == -1]
    hits = dict.fromkeys(blots, 0)
    if not blots:
        return hits
    board = board_array(position)
    variant = variant_code(position.variant)
    buffers = moves.make_play_buffers()
    for high, low in _ROLLS:
        count = moves.generate_plays(board, high, low, variant, False, buffers)
        # A blot leaves its point in no other way than by being hit.
        hit = (buffers.boards[:count, blots] >= 0).any(axis=0)
        weight = 1 if high == low else 2
        for point in np.asarray(blots)[hit].tolist():
            hits[point] += weight
    return hits


def _entering_rolls(position: Position) -> int:
    closed = sum(1 for point in range(19, 25) if position.points[point] < -1)
    return 36 - closed * closed


def _phase(position: Position) -> Phase:
    if position.is_finished:
        return Phase.FINISHED
    points = position.points
    own = [point for point in range(1, BAR + 1) if points[point] > 0]
    opposing = [point for point in range(OPPONENT_BAR, 25) if points[point] < 0]
    if position.variant is Variant.BACKGAMMON:
        if max(own) > min(opposing):
            return Phase.CONTACT
        opponent_numbers = [BAR - point for point in opposing]
    else:
        opponent_numbers = [nardy_opposite(point) for point in opposing]
        # Each side crosses the other's first half last: once both are in their second halves,
        # their ways have no point in common.
        if any(number > 12 for number in itertools.chain(own, opponent_numbers)):
            return Phase.CONTACT
    in_home = max(own) <= _HOME and max(opponent_numbers) <= _HOME
    return Phase.BEAR_OFF if in_home else Phase.RACE
