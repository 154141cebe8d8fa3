"""When the cube may be turned, taken or dropped, and why not (`rules.md` section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.games.rules import (
    AutoDouble,
    AutoDoubleScope,
    Confirm,
    HollandCount,
    HollandScope,
    OpeningDice,
    RaccoonOwner,
)
from bgserver.games.state import Stage
from bgserver.games.turn import is_complete

if TYPE_CHECKING:
    from bgserver.engine.position import Seat
    from bgserver.games.state import TableState

__all__ = [
    "OFFER_STAGES",
    "answerer",
    "automatic_double",
    "beaver_refusals",
    "double_refusals",
    "drop_refusals",
    "may_interrupt",
    "owner_after",
    "play_on_refusals",
    "raccoon_refusals",
    "take_refusals",
]

OFFER_STAGES = frozenset({Stage.DOUBLE, Stage.BEAVER, Stage.RACCOON})
"""The cube has been turned and waits for an answer."""


def may_interrupt(state: TableState, seat: Seat) -> bool:
    """Whether `seat` may begin its turn over an unconfirmed complete play (2.25)."""
    return (
        state.setup.rules.confirm is Confirm.OPPONENT_ROLL
        and state.stage is Stage.MOVING
        and state.resigning is None
        and seat is state.turn.other
        and not state.last_answer
        and is_complete(state)
    )


def double_refusals(state: TableState, seat: Seat) -> tuple[str, ...]:
    """Why `seat` may not double now (4.3, 4.8), the most telling reason first; empty if it may."""
    setup = state.setup
    own_turn = seat is state.turn or may_interrupt(state, seat)
    rolled = state.stage is Stage.MOVING and seat is state.turn
    opening = rolled and state.rolled == (0, 0) and setup.rules.opening_dice is OpeningDice.USE_BOTH
    reasons = (
        (state.stage in {Stage.GAME_OVER, Stage.SESSION_OVER}, "GAME_OVER"),
        (not setup.cube, "CUBE_OFF"),
        (setup.cube and setup.match_length == 1, "ONE_POINT_MATCH"),
        (state.crawford, "CRAWFORD_GAME"),
        (state.stage in OFFER_STAGES or state.resigning is not None, "OFFER_PENDING"),
        (not own_turn, "NOT_YOUR_TURN"),
        (opening, "OPENING_TURN"),
        (rolled, "ALREADY_ROLLED"),
        (state.stage is Stage.TO_ROLL and own_turn and state.doubled, "ALREADY_DOUBLED"),
        (state.cube_owner not in {None, seat}, "NOT_CUBE_OWNER"),
        (setup.cube and not _below_cap(state, 2), "CUBE_AT_CAP"),
        (_waits_for_holland(state, seat), "HOLLAND_WAIT"),
        (_is_dead(state, seat), "DEAD_CUBE"),
    )
    return tuple(reason for holds, reason in reasons if holds)


def _below_cap(state: TableState, factor: int) -> bool:
    """Whether the cube may go to `factor` times its value (3.5)."""
    cap = state.setup.rules.cube_cap
    return cap is None or factor * state.cube_value <= cap


def _waits_for_holland(state: TableState, seat: Seat) -> bool:
    """Whether the Holland rule still keeps `seat` from doubling (4.14)."""
    rules = state.setup.rules
    if not rules.holland or not state.crawford_done or state.crawford:
        return False
    trails = state.score[seat] < state.score[seat.other]
    if rules.holland_scope is not HollandScope.BOTH and not trails:
        return False
    turns = list(state.turns)
    if may_interrupt(state, seat):
        turns[seat.other] += 1  # doubling confirms the play that is on the board
    played = sum(turns) if rules.holland_count is HollandCount.TOTAL else min(turns)
    return played < (rules.holland_rolls or 0)


def _is_dead(state: TableState, seat: Seat) -> bool:
    """Whether winning the cube as it is already wins the match (4.7, `forbid_dead_cube`)."""
    length = state.setup.match_length
    if not state.setup.rules.forbid_dead_cube or length is None:
        return False
    return state.score[seat] + state.cube_value >= length


def answerer(state: TableState) -> Seat | None:
    """Who must answer the cube; None if it is not on offer."""
    if state.stage not in OFFER_STAGES:
        return None
    return state.turn if state.stage is Stage.BEAVER else state.turn.other


def _answer_refusals(state: TableState, seat: Seat, *stages: Stage) -> list[str]:
    if state.stage in {Stage.GAME_OVER, Stage.SESSION_OVER}:
        return ["GAME_OVER"]
    reasons = []
    if state.resigning is not None:
        reasons.append("OFFER_PENDING")
    if state.stage not in stages:
        reasons.append("NO_OFFER")
    elif seat is not answerer(state):
        reasons.append("NOT_YOUR_TURN")
    return reasons


def take_refusals(state: TableState, seat: Seat) -> tuple[str, ...]:
    """Why `seat` cannot take now."""
    return tuple(_answer_refusals(state, seat, Stage.DOUBLE))


def drop_refusals(state: TableState, seat: Seat) -> tuple[str, ...]:
    """Why `seat` cannot drop now."""
    reasons = _answer_refusals(state, seat, *OFFER_STAGES)
    if state.stage is Stage.BEAVER and state.setup.rules.beaver_may_be_dropped is False:
        reasons.append("BEAVER_NOT_DROPPABLE")
    return tuple(reasons)


def beaver_refusals(state: TableState, seat: Seat) -> tuple[str, ...]:
    """Why `seat` cannot beaver now (4.19)."""
    reasons = _answer_refusals(state, seat, Stage.DOUBLE)
    if not state.setup.rules.beaver:
        reasons.append("BEAVERS_OFF")
    elif state.stage is Stage.DOUBLE and not _below_cap(state, 4):
        reasons.append("CUBE_AT_CAP")
    return tuple(reasons)


def raccoon_refusals(state: TableState, seat: Seat) -> tuple[str, ...]:
    """Why `seat` cannot raccoon now (4.21)."""
    reasons = _answer_refusals(state, seat, Stage.BEAVER)
    if not state.setup.rules.raccoon:
        reasons.append("RACCOONS_OFF")
    elif state.stage is Stage.BEAVER and not _below_cap(state, 4):
        reasons.append("CUBE_AT_CAP")
    return tuple(reasons)


def play_on_refusals(state: TableState, seat: Seat) -> tuple[str, ...]:
    """Why `seat` cannot accept a beaver or a raccoon now."""
    return tuple(_answer_refusals(state, seat, Stage.BEAVER, Stage.RACCOON))


def owner_after(state: TableState) -> Seat:
    """Who owns the cube once the beaver or raccoon is accepted (4.19, 4.22)."""
    raccooner_owns = state.setup.rules.raccoon_owner is RaccoonOwner.RACCOONER
    if state.stage is Stage.RACCOON and raccooner_owns:
        return state.turn
    return state.turn.other


def automatic_double(state: TableState, kind: AutoDouble, seat: Seat | None = None) -> int | None:
    """The cube's new value if equal dice double the stake (4.23-4.25), else None.

    Args:
        state: The state before the dice are booked.
        kind: Which variant asks: A about the opening dice, B about a roll of two dice.
        seat: B: who has rolled.
    """
    rules = state.setup.rules
    if rules.auto_double is not kind or not state.setup.cube:
        return None
    if state.auto_doubles >= (rules.auto_double_limit or 0) or not _below_cap(state, 2):
        return None
    if kind is AutoDouble.B and seat is not None:
        of_each = rules.auto_double_b_scope is AutoDoubleScope.FIRST_ROLL_OF_EACH_SIDE
        earlier = state.rolled[seat] if of_each else sum(state.rolled)
        if earlier > 0:
            return None
    return 2 * state.cube_value
