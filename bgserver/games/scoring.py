"""What a finished game counts, and which game is the Crawford game (`rules.md` sections 3, 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.position import OPPONENT_BAR, Resignation, Seat, Variant
from bgserver.games.rules import Koks

if TYPE_CHECKING:
    from bgserver.engine.position import Position
    from bgserver.games.rules import Rules
    from bgserver.games.state import TableState

__all__ = ["counted_result", "is_crawford_game", "result_on_board"]

_WINNERS_HOME = range(1, 7)
_LOSERS_NARDY_HOME = range(13, 19)  # own 1..6 in the other player's numbers (1.3)


def result_on_board(position: Position, rules: Rules) -> Resignation:
    """The result on the board (3.2-3.4, 7.12), before Jacoby.

    Args:
        position: The final board, seen by the winner.
        rules: The rules.
    """
    if rules.variant is Variant.LONG_NARDY:
        result = _nardy_result(position, rules)
    else:
        result = _backgammon_result(position, rules)
    return Resignation(min(result, rules.highest_result))


def _backgammon_result(position: Position, rules: Rules) -> Resignation:
    points = position.points
    is_far = points[OPPONENT_BAR] < 0 or any(points[point] < 0 for point in _WINNERS_HOME)
    if position.opponent_off > 0:
        needs_none_off = rules.backgammon_needs_none_off is not False
        return Resignation.SINGLE if needs_none_off or not is_far else Resignation.BACKGAMMON
    return Resignation.BACKGAMMON if is_far else Resignation.GAMMON


def _nardy_result(position: Position, rules: Rules) -> Resignation:
    if position.opponent_off > 0:
        return Resignation.SINGLE
    options = rules.long_nardy
    has_koks = options is not None and options.koks is Koks.THREE
    came_home = any(position.points[point] < 0 for point in _LOSERS_NARDY_HOME)
    return Resignation.BACKGAMMON if has_koks and not came_home else Resignation.GAMMON


def counted_result(state: TableState, result: Resignation) -> Resignation:
    """What a result counts after the Jacoby rule (4.17)."""
    rules = state.setup.rules
    if not rules.jacoby or not state.setup.cube:
        return result
    is_doubled = state.taken or (rules.jacoby_auto_double_counts and state.auto_doubles > 0)
    return result if is_doubled else Resignation.SINGLE


def is_crawford_game(state: TableState) -> bool:
    """Whether the next game is the Crawford game (4.10)."""
    length = state.setup.match_length
    if length is None or length == 1 or not state.setup.cube:
        return False
    if not state.setup.rules.crawford or state.crawford_done:
        return False
    return any(state.score[seat] == length - 1 for seat in Seat)
