"""What a table looks like: for the engine, and for either seat. Stable: all functions here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.position import (
    Cube,
    CubeOwner,
    GamePhase,
    GameState,
    MatchScore,
    Resignation,
)
from bgserver.games import events as ev
from bgserver.games.state import Stage, to_act

if TYPE_CHECKING:
    from bgserver.engine.position import Position, Seat
    from bgserver.games.state import TableState

__all__ = ["SeatView", "game_state", "score_before", "seat_view"]


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


def score_before(state: TableState) -> tuple[int, int]:
    """Points of the two seats before the present game."""
    result = state.result
    if result is None or result.winner is None:
        return state.score
    first, second = state.score
    if result.winner == 0:
        return first - result.points, second
    return first, second - result.points


_PHASES = {
    ev.EndReason.DROPPED: GamePhase.DROPPED,
    ev.EndReason.RESIGNED: GamePhase.RESIGNED,
}
_BEAVER_LEVELS = {Stage.DOUBLE: 0, Stage.BEAVER: 1, Stage.RACCOON: 2}


def _phase(state: TableState) -> GamePhase:
    if state.result is not None:
        return _PHASES.get(state.result.reason, GamePhase.FINISHED)
    if state.stage is Stage.SESSION_OVER:
        return GamePhase.RESIGNED
    return GamePhase.NOT_STARTED if state.stage is Stage.OPENING else GamePhase.PLAYING


def game_state(state: TableState) -> GameState:
    """The moment as the engine takes it, seen by the player on turn.

    While dice are being played the board is the one before the first step, as the engine and the
    position formats want it; `state.position` has the steps.
    """
    setup, turn = state.setup, state.turn
    running = state.result is None
    owner = CubeOwner.CENTERED
    if state.cube_owner is not None:
        owner = CubeOwner.ON_ROLL if state.cube_owner is turn else CubeOwner.OPPONENT
    # A cube at its cap is one that nobody can turn: that is how the engine is told of none.
    cap = state.cube_value
    if setup.cube and setup.rules.cube_cap is not None:
        cap = setup.rules.cube_cap
    before = score_before(state)
    match = None
    if setup.match_length is not None:
        own, other = before[turn], before[turn.other]
        match = MatchScore(setup.match_length, own, other, state.crawford)
    offered = _BEAVER_LEVELS.get(state.stage)
    wanted = to_act(state)
    acting = None
    if state.resigning is not None and offered is None and wanted != (turn.other,):
        acting = wanted[0]  # the player who is not on turn has offered to resign
    return GameState(
        position=state.turn_start if running else state.position,
        on_roll=turn,
        dice=state.dice if state.stage is Stage.MOVING else None,
        cube=Cube(state.cube_value, owner, max(cap, state.cube_value)),
        match=match,
        jacoby=bool(setup.rules.jacoby and setup.cube),
        beavers=bool(setup.rules.beaver and setup.cube),
        money_score=(before[turn], before[turn.other]) if match is None else (0, 0),
        double_offered=offered is not None,
        resignation=state.resignation if state.resigning is not None else Resignation.NONE,
        phase=_phase(state),
        beaver_level=offered or 0,
        acting=acting,
    )
