"""What a table looks like: for the engine, and for either seat. Stable: all functions here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.position import GameState

if TYPE_CHECKING:
    from bgserver.engine.position import Position, Seat
    from bgserver.games.state import TableState

__all__ = ["SeatView", "game_state", "seat_view"]


@dataclass(frozen=True, slots=True)
class SeatView:
    """The board as one seat sees it."""

    position: Position
    """The board with the steps made so far; positive counts are the seat's own checkers."""
    pips: tuple[int, int]
    """Pip counts (own, opponent's)."""
    off: tuple[int, int]
    """Checkers borne off (own, opponent's)."""


def seat_view(state: TableState, seat: Seat) -> SeatView:
    """The board as `seat` sees it."""
    position = state.position if seat is state.turn else state.position.turned()
    return SeatView(position, position.pips(), (position.own_off, position.opponent_off))


def game_state(state: TableState) -> GameState:
    """The moment as the engine takes it, seen by the player on turn.

    While dice are being played the board is the one before the first step, as the engine and the
    position formats want it; `state.position` has the steps.
    """
    raise NotImplementedError
