"""What a table does without anybody acting: automation, bots' turns, clocks (`rules.md` section 6).

Time comes in from outside, so that a test can run hours of play at once. How clocks run:

- The limit is for a whole turn, roll, play and answers together, and begins anew when the other
  player has to act (6.1). While a play can still be revoked the player's own clock runs on.
- A resignation stops the turn's clock; its answer has a limit of its own; refused, the turn's
  clock goes on where it stood.
- Between two games the clock runs for everybody who is not ready. In a match it makes them ready,
  elsewhere it ends the session: nobody is dragged into games without end. For the same reason a
  session of two bots ends after its game: nobody could go on with it, or end it.
- After a restart the caller books the time in which nobody could act (`excuse_downtime`).

What the clock does when `on_timeout` is LEGAL_PLAY (6.10): it rolls, plays any legal rest of the
turn, drops a double, plays on after a beaver or raccoon, and refuses a resignation.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.position import Resignation, Seat
from bgserver.games import events as ev
from bgserver.games import turn
from bgserver.games.cube import OFFER_STAGES, double_refusals
from bgserver.games.events import By, EndReason
from bgserver.games.flow import Ledger
from bgserver.games.rules import OnTimeout
from bgserver.games.setup import SeatKind
from bgserver.games.state import Stage, to_act

if TYPE_CHECKING:
    from bgserver.games.dice import DiceSource
    from bgserver.games.events import Event
    from bgserver.games.state import TableState

__all__ = ["Due", "DueKind", "due", "excuse_downtime", "settle"]


class DueKind(enum.Enum):
    """What a table does without anybody acting."""

    SERVER = "server"
    """The rules act at once: auto-roll, the only play, a forfeit, a bot's or the autopilot's roll
    where there is nothing to judge. Call `settle`."""
    TIMEOUT = "timeout"
    """A player's time is over then. Call `settle` at that time."""
    BOT = "bot"
    """A bot, or the autopilot, must judge: ask one and give its action to `decide`."""


@dataclass(frozen=True, slots=True)
class Due:
    """What comes next if nobody acts."""

    kind: DueKind
    """What it is."""
    seat: Seat
    """Whose."""
    at: float
    """When, in seconds since the epoch; at or before now for what is due at once."""
    by: By = By.SERVER
    """BOT: what to give to `decide`, `By.BOT` or `By.AUTOPILOT`."""


def due(state: TableState) -> Due | None:
    """What comes next if nobody acts, None if the table waits for people without a clock."""
    waits_for = to_act(state)
    by_itself = _by_itself(state)
    if by_itself is not None:
        return Due(DueKind.SERVER, by_itself, state.clock_from)
    for seat in waits_for:
        if _is_automated(state, seat) and state.stage is not Stage.GAME_OVER:
            return Due(DueKind.BOT, seat, state.clock_from, _hand(state, seat))
    for seat in waits_for:
        limit = state.setup.turn_seconds
        if limit is not None and state.setup.seats[seat] is SeatKind.PERSON:
            return Due(DueKind.TIMEOUT, seat, state.clock_from + limit)
    return None


def _is_automated(state: TableState, seat: Seat) -> bool:
    return state.setup.seats[seat] is SeatKind.BOT or state.autopilot[seat]


def _hand(state: TableState, seat: Seat) -> By:
    """Who acts for a seat that no person acts for."""
    return By.BOT if state.setup.seats[seat] is SeatKind.BOT else By.AUTOPILOT


def _by_itself(state: TableState) -> Seat | None:
    """The seat for which the rules act at once, None if they do not."""
    if state.stage is Stage.GAME_OVER:
        return _ready_by_itself(state)
    if state.resigning is not None or state.stage in OFFER_STAGES:
        return None
    acts = None
    if state.stage is Stage.TO_ROLL:
        acts = _rolls_by_itself(state)
    elif state.stage is Stage.MOVING:
        acts = _plays_by_itself(state)
    return state.turn if acts else None


def _ready_by_itself(state: TableState) -> Seat | None:
    """A bot or autopilot that goes on, or ends a session of two bots; None to wait for a person."""
    if _is_over_for_bots(state):
        return Seat.FIRST
    automated = [seat for seat in Seat if _is_automated(state, seat)]
    if len(automated) == 2 and not state.setup.is_match:
        return None  # they would play on for ever, and a person may come back
    return next((seat for seat in automated if not state.ready[seat]), None)


def _is_over_for_bots(state: TableState) -> bool:
    """Whether nobody could go on with a session, or end it."""
    only_bots = all(kind is SeatKind.BOT for kind in state.setup.seats)
    return state.stage is Stage.GAME_OVER and only_bots and not state.setup.is_match


def _rolls_by_itself(state: TableState) -> bool:
    """Whether there is nothing to decide before the roll (6.9)."""
    if state.autopilot[state.turn]:
        return True  # the autopilot never doubles (6.5)
    if state.setup.rules.auto_roll or _is_automated(state, state.turn):
        return bool(double_refusals(state, state.turn))
    return False


def _plays_by_itself(state: TableState) -> bool:
    """Whether there is nothing to decide about the roll (2.11, 6.7)."""
    if state.last_answer or turn.is_forfeit(state):
        return True
    if turn.is_complete(state):
        by_server = all(by is By.SERVER for by in state.steps_by)
        return by_server or _is_automated(state, state.turn)
    return state.setup.rules.auto_play_single and turn.only_rest(state) is not None


def settle(state: TableState, dice: DiceSource, now: float) -> list[Event]:
    """The events of all that the server does by itself up to `now`; stops where a bot must judge.

    Args:
        state: The state of the table.
        dice: Where the dice come from.
        now: The time in seconds since the epoch.
    """
    ledger = Ledger(state, dice, now, By.SERVER)
    while True:
        following = due(ledger.state)
        if following is None or following.kind is DueKind.BOT:
            return ledger.events
        if following.kind is DueKind.SERVER:
            _act_by_itself(ledger, following.seat)
        elif following.at <= now:
            _time_out(ledger, following.seat)
        else:
            return ledger.events


def _act_by_itself(ledger: Ledger, seat: Seat) -> None:
    state = ledger.state
    automated = _is_automated(state, seat)
    ledger.by = _hand(state, seat) if automated else By.SERVER
    if _is_over_for_bots(state):
        ledger.end_session(None, EndReason.STOPPED)
    elif state.stage is Stage.GAME_OVER:
        ledger.ready(seat)
    elif state.stage is Stage.TO_ROLL:
        ledger.roll(seat)
    elif state.last_answer:
        ledger.last_answer()
    elif turn.is_forfeit(state):
        ledger.forfeit()
    elif turn.is_complete(state):
        ledger.confirm()
    else:
        ledger.by = By.SERVER
        ledger.make_steps(turn.only_rest(state) or ())


def _time_out(ledger: Ledger, seat: Seat) -> None:
    """A player's time is over (6.3, 6.10, 6.11)."""
    state = ledger.state
    rules = state.setup.rules
    ledger.by = By.TIMEOUT
    if state.stage is Stage.GAME_OVER:
        if state.setup.is_match:
            ledger.ready(seat)
        else:
            ledger.end_session(None, EndReason.STOPPED)
        return
    count = state.timeouts[seat] + 1
    ledger.book(ev.TimedOut(ledger.now, seat, count))
    if rules.loses_after_timeouts and count >= rules.loses_after_timeouts:
        ledger.end_game(seat.other, Resignation.SINGLE, state.cube_value, EndReason.TIMEOUT)
    elif rules.on_timeout is OnTimeout.AUTOPILOT:
        ledger.book(ev.AutopilotStarted(ledger.now, seat))
    elif state.resigning is not None:
        ledger.book(ev.ResignationRefused(ledger.now, seat, by=By.TIMEOUT))
    elif state.stage is Stage.DOUBLE:
        ledger.drop(seat)
    elif state.stage in OFFER_STAGES:
        ledger.play_on(seat)
    else:
        _play_anything(ledger, seat)


def _play_anything(ledger: Ledger, seat: Seat) -> None:
    """Finish a turn with the first legal play."""
    if ledger.state.stage is Stage.TO_ROLL:
        ledger.roll(seat)
    state = ledger.state
    if state.last_answer or turn.is_forfeit(state):
        return  # the rules do the rest
    ledger.make_steps(turn.any_rest(state))
    if ledger.state.stage is Stage.MOVING and ledger.state.turn is seat:
        ledger.confirm()


def excuse_downtime(state: TableState, seconds: float, now: float) -> list[Event]:
    """The event that keeps running clocks from counting a time when the server stood still.

    Args:
        state: The state after replaying the log.
        seconds: How long nobody could act: from the last sign of life before to the restart. No
            more is excused than has passed since the present clock started.
        now: The time in seconds since the epoch.

    Returns:
        One event, or none where no clock runs.
    """
    if state.setup.turn_seconds is None or state.stage is Stage.SESSION_OVER:
        return []
    excused = max(0.0, min(seconds, now - state.clock_from))
    return [ev.DowntimeExcused(now, excused)] if excused > 0 else []
