"""Whether a position or state is one in which somebody is to play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import WrongMomentError
from bgserver.engine.position import GamePhase

if TYPE_CHECKING:
    from bgserver.engine.position import GameState, Position

__all__ = ["require_playing", "require_roll_to_play", "require_running"]


def require_running(position: Position) -> None:
    """Raise `WrongMomentError` (`GAME_OVER`) if one side has borne off all checkers."""
    if position.is_finished:
        message = "the game is over: one side has borne off everything"
        raise WrongMomentError(reason="GAME_OVER", message=message)


def require_playing(state: GameState) -> None:
    """Raise `WrongMomentError` unless a game is being played.

    Reasons: `GAME_NOT_STARTED`, `GAME_OVER`.
    """
    if state.phase is GamePhase.NOT_STARTED:
        raise WrongMomentError(reason="GAME_NOT_STARTED", message="the game has not begun")
    if state.phase is not GamePhase.PLAYING:
        message = f"the game is over: {state.phase.value}"
        raise WrongMomentError(reason="GAME_OVER", message=message)
    require_running(state.position)


def require_roll_to_play(state: GameState) -> None:
    """As `require_playing`; also `OFFER_PENDING` while a double waits for its answer."""
    require_playing(state)
    if state.double_offered:
        message = "a double is on offer: nobody rolls before it is answered"
        raise WrongMomentError(reason="OFFER_PENDING", message=message)
