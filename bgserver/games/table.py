"""What happens at a table: which events follow from an action, and what the server does by itself.

A caller keeps a log and its state:

    open_table(setup, dice, now)             the first events; the state is `replay` of them
    decide(state, seat, action, dice, now)   more events, to be folded in with `apply`; or it
                                             raises, and nothing has changed
    settle(state, dice, now)                 what the server does at once, after each of these
    due(state)                               what comes next without anybody acting, and when:
                                             BOT means to ask a bot (`bgserver.games.bot`) and to
                                             give its answer to `decide`, anything else to call
                                             `settle` at that time

All functions are pure but for the dice. Stable: the signatures here, `Due`, `LegalActions`,
`StepOption` and the reasons.

Reasons of `WrongMomentError`, besides those of a step (2.28: `NO_SUCH_DIE`, `NO_CHECKER`,
`BAR_FIRST`, `BLOCKED`, `NOT_ALL_HOME`, `CHECKER_BEHIND`, `MUST_USE_BOTH`, `MUST_USE_HIGHER`,
`HEAD_LIMIT`, `PRIME_TRAPS_ALL`) and of a double (4.8: `CUBE_OFF`, `CRAWFORD_GAME`,
`ONE_POINT_MATCH`, `ALREADY_ROLLED`, `OPENING_TURN`, `NOT_CUBE_OWNER`, `CUBE_AT_CAP`,
`HOLLAND_WAIT`, and `DEAD_CUBE`, `ALREADY_DOUBLED`): `NOT_YOUR_TURN`, `GAME_OVER`, `MATCH_OVER`,
`SESSION_OVER` (sessions that are no match), `GAME_RUNNING`, `OFFER_PENDING`, `NO_OFFER`,
`NOT_ROLLED`, `UNDO_OFF`, `NOTHING_TO_UNDO`, `BEAVERS_OFF`, `RACCOONS_OFF`,
`BEAVER_NOT_DROPPABLE`, `NO_RESIGNATION`, `ALREADY_READY`, `MATCH_RUNNING`, `NO_AUTOPILOT`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError, WrongMomentError
from bgserver.engine.position import BAR, OFF, Resignation, Seat
from bgserver.games import actions as act
from bgserver.games import cube, turn
from bgserver.games import events as ev
from bgserver.games.actions import ActionKind
from bgserver.games.automation import Due, DueKind, due, excuse_downtime, settle
from bgserver.games.events import By, EndReason
from bgserver.games.flow import Ledger
from bgserver.games.rules import ResignScope
from bgserver.games.state import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bgserver.engine.plays import Step
    from bgserver.games.actions import Action, StepOrder
    from bgserver.games.dice import DiceSource
    from bgserver.games.events import Event
    from bgserver.games.setup import Setup
    from bgserver.games.state import TableState

__all__ = [
    "Due",
    "DueKind",
    "LegalActions",
    "StepOption",
    "decide",
    "due",
    "excuse_downtime",
    "legal_actions",
    "open_table",
    "refusals",
    "settle",
]


_MAX_STEPS = 4


@dataclass(frozen=True, slots=True)
class StepOption:
    """A step, of one die or of several in one tap, that is possible now."""

    source: int
    """1..24 or 25 for the bar, in the player's own numbers."""
    target: int
    """1..24 or 0 for off."""
    order: StepOrder
    """What to send. LOW_FIRST only where that hits other checkers or uses other dice."""
    steps: tuple[Step, ...]
    """The single steps with their dice and hits."""


@dataclass(frozen=True, slots=True)
class LegalActions:
    """What a seat can do at this moment."""

    seat: Seat
    """Whose."""
    actions: frozenset[ActionKind]
    """Every kind of action that is possible now. STEP: see `steps`. RESIGN: see `resignations`."""
    steps: tuple[StepOption, ...]
    """Every step that is possible now: a source, a target; combined targets included."""
    refusals: Mapping[ActionKind, tuple[str, ...]]
    """For every kind that is not possible: all reasons, the most telling first."""
    resignations: tuple[Resignation, ...]
    """What may be conceded."""


def open_table(setup: Setup, dice: DiceSource, now: float) -> list[Event]:
    """The events with which a table begins: up to the first player's turn.

    Args:
        setup: A checked setup (`new_setup`).
        dice: Where the dice come from.
        now: The time in seconds since the epoch.
    """
    ledger = Ledger(None, dice, now)
    ledger.book(ev.SessionStarted(now, setup))
    ledger.start_game()
    return ledger.events


def decide(
    state: TableState,
    seat: Seat,
    action: Action,
    dice: DiceSource,
    now: float,
    by: By = By.PLAYER,
) -> list[Event]:
    """The events that an action leads to; the state itself is not changed.

    Args:
        state: The state of the table.
        seat: Who acts.
        action: What.
        dice: Where the dice come from.
        now: The time in seconds since the epoch.
        by: BOT and AUTOPILOT for what a bot decided, otherwise PLAYER. An action of the player
            ends the autopilot.

    Raises:
        WrongMomentError: The action is not possible now; `reason` says why.
        InvalidInputError: The action makes no sense at any time, every fault named.
    """
    faults = _action_faults(state, action)
    if faults:
        raise InvalidInputError(faults)
    reasons = refusals(state, seat, action.kind)
    if reasons:
        raise WrongMomentError(reasons[0], _message(action.kind, reasons))
    steps: tuple[Step, ...] = ()
    if isinstance(action, act.MakeStep):
        steps = turn.expand_step(state, action.source, action.target, action.order)
    elif isinstance(action, act.PlayTurn):
        steps = turn.steps_of_pairs(state, action.steps)
    ledger = Ledger(state, dice, now, by)
    if by is By.PLAYER and state.autopilot[seat]:
        ledger.book(ev.AutopilotEnded(now, seat))
    if action.kind in {ActionKind.STEP, ActionKind.PLAY}:
        ledger.make_steps(steps)
        is_final = any(isinstance(event, ev.PlayConfirmed) for event in ledger.events)
        if action.kind is ActionKind.PLAY and not is_final:
            _confirm(ledger, seat, action)
    else:
        _PERFORMERS[action.kind](ledger, seat, action)
    return ledger.events


def _action_faults(state: TableState, action: Action) -> list[Fault]:
    """What makes an action senseless at any time."""
    if isinstance(action, act.MakeStep):
        return _pair_faults(action.source, action.target, "step")
    if isinstance(action, act.PlayTurn):
        if len(action.steps) > _MAX_STEPS:
            message = f"a turn has at most {_MAX_STEPS} steps, got {len(action.steps)}"
            return [Fault("play.steps", "TOO_MANY", message)]
        return [
            fault
            for index, (source, target) in enumerate(action.steps)
            for fault in _pair_faults(source, target, f"play.steps[{index}]")
        ]
    if isinstance(action, act.Resign) and state.setup.rules.resign_scope is ResignScope.GAME:
        highest = state.setup.rules.highest_result
        if not 1 <= action.result <= highest:
            message = f"a game is lost as 1 (single) to {highest}, got {int(action.result)}"
            return [Fault("resign.result", "OUT_OF_RANGE", message)]
    return []


def _pair_faults(source: int, target: int, field: str) -> list[Fault]:
    faults = []
    if not 1 <= source <= BAR:
        message = f"expected a point 1 to 24, or 25 for the bar, got {source}"
        faults.append(Fault(f"{field}.source", "OUT_OF_RANGE", message))
    if not OFF <= target < BAR:
        message = f"expected a point 1 to 24, or 0 for off, got {target}"
        faults.append(Fault(f"{field}.target", "OUT_OF_RANGE", message))
    elif not faults and target >= source:
        message = f"checkers move to lower points, got {source} to {target}"
        faults.append(Fault(f"{field}.target", "BACKWARDS", message))
    return faults


def _message(kind: ActionKind, reasons: tuple[str, ...]) -> str:
    name = kind.value.replace("_", " ")
    return f"{name} is not possible now: {', '.join(reasons).lower().replace('_', ' ')}"


# --- what is possible ----------------------------------------------------------------------------


def legal_actions(state: TableState, seat: Seat) -> LegalActions:
    """Everything that a seat can do now, and why it cannot do the rest."""
    found = {kind: refusals(state, seat, kind) for kind in ActionKind}
    steps: tuple[StepOption, ...] = ()
    if not found[ActionKind.STEP]:
        steps = tuple(StepOption(*option) for option in turn.step_expansions(state))
        if not steps:
            found[ActionKind.STEP] = ("NO_SUCH_DIE",)
    resignations: tuple[Resignation, ...] = ()
    if not found[ActionKind.RESIGN] and state.setup.rules.resign_scope is ResignScope.GAME:
        highest = state.setup.rules.highest_result
        resignations = tuple(result for result in Resignation if 1 <= result <= highest)
    return LegalActions(
        seat,
        frozenset(kind for kind, reasons in found.items() if not reasons),
        steps,
        {kind: reasons for kind, reasons in found.items() if reasons},
        resignations,
    )


def refusals(state: TableState, seat: Seat, kind: ActionKind) -> tuple[str, ...]:
    """Why a kind of action is not possible now, the most telling reason first; empty if it is."""
    return tuple(dict.fromkeys(_REFUSALS[kind](state, seat)))


def _session_over(state: TableState) -> list[str]:
    if state.stage is not Stage.SESSION_OVER:
        return []
    return ["MATCH_OVER" if state.setup.is_match else "SESSION_OVER"]


def _game_over(state: TableState) -> list[str]:
    return ["GAME_OVER"] if state.stage in {Stage.GAME_OVER, Stage.SESSION_OVER} else []


def _is_pending(state: TableState) -> bool:
    return state.stage in cube.OFFER_STAGES or state.resigning is not None


def _roll_refusals(state: TableState, seat: Seat) -> list[str]:
    reasons = _game_over(state)
    if reasons or cube.may_interrupt(state, seat):
        return reasons
    if _is_pending(state):
        reasons.append("OFFER_PENDING")
    if seat is not state.turn:
        reasons.append("NOT_YOUR_TURN")
    elif state.stage is Stage.MOVING:
        reasons.append("ALREADY_ROLLED")
    return reasons


def _moving_refusals(state: TableState, seat: Seat) -> list[str]:
    reasons = _game_over(state)
    if reasons:
        return reasons
    if _is_pending(state):
        reasons.append("OFFER_PENDING")
    if seat is not state.turn:
        reasons.append("NOT_YOUR_TURN")
    elif state.stage is not Stage.MOVING:
        reasons.append("NOT_ROLLED")
    return reasons


def _undo_refusals(state: TableState, seat: Seat) -> list[str]:
    reasons = [] if state.setup.rules.undo else ["UNDO_OFF"]
    reasons += _moving_refusals(state, seat)
    if not reasons and not _undone(state):
        reasons.append("NOTHING_TO_UNDO")
    return reasons


def _undone(state: TableState) -> int:
    """How many steps go back together: the player's last one and what the server added to it."""
    own = [index for index, by in enumerate(state.steps_by) if by is not By.SERVER]
    return len(state.steps) - own[-1] if own else 0


def _confirm_refusals(state: TableState, seat: Seat) -> list[str]:
    reasons = _moving_refusals(state, seat)
    if not reasons and state.last_answer:
        reasons.append("MUST_USE_BOTH")
    elif not reasons and not turn.is_complete(state):
        reasons.append(turn.incomplete_refusal(state).reason)
    return reasons


def _resign_refusals(state: TableState, _seat: Seat) -> list[str]:
    if state.setup.rules.resign_scope is ResignScope.MATCH:
        return _session_over(state)
    reasons = _game_over(state)
    if not reasons and _is_pending(state):
        reasons.append("OFFER_PENDING")
    return reasons


def _answer_refusals(state: TableState, seat: Seat) -> list[str]:
    reasons = _game_over(state)
    if state.resigning is None:
        reasons.append("NO_RESIGNATION")
    elif state.resigning is seat:
        reasons.append("NOT_YOUR_TURN")
    return reasons


def _next_game_refusals(state: TableState, seat: Seat) -> list[str]:
    reasons = _session_over(state)
    if not reasons and state.stage is not Stage.GAME_OVER:
        reasons.append("GAME_RUNNING")
    elif not reasons and state.ready[seat]:
        reasons.append("ALREADY_READY")
    return reasons


def _end_session_refusals(state: TableState, _seat: Seat) -> list[str]:
    reasons = _session_over(state)
    if not reasons and state.setup.is_match:
        reasons.append("MATCH_RUNNING")
    if not reasons and state.stage is not Stage.GAME_OVER:
        reasons.append("GAME_RUNNING")
    return reasons


def _return_refusals(state: TableState, seat: Seat) -> list[str]:
    reasons = _session_over(state)
    if not state.autopilot[seat]:
        reasons.append("NO_AUTOPILOT")
    return reasons


_REFUSALS: Mapping[ActionKind, Callable[[TableState, Seat], Iterable[str]]] = {
    ActionKind.ROLL: _roll_refusals,
    ActionKind.STEP: _moving_refusals,
    ActionKind.UNDO: _undo_refusals,
    ActionKind.CONFIRM: _confirm_refusals,
    ActionKind.PLAY: _moving_refusals,
    ActionKind.DOUBLE: cube.double_refusals,
    ActionKind.TAKE: cube.take_refusals,
    ActionKind.DROP: cube.drop_refusals,
    ActionKind.BEAVER: cube.beaver_refusals,
    ActionKind.RACCOON: cube.raccoon_refusals,
    ActionKind.PLAY_ON: cube.play_on_refusals,
    ActionKind.RESIGN: _resign_refusals,
    ActionKind.ACCEPT: _answer_refusals,
    ActionKind.REFUSE: _answer_refusals,
    ActionKind.NEXT_GAME: _next_game_refusals,
    ActionKind.END_SESSION: _end_session_refusals,
    ActionKind.RETURN: _return_refusals,
}


# --- what the actions do -------------------------------------------------------------------------


def _begin_turn(ledger: Ledger, seat: Seat) -> None:
    """With `confirm = opponent_roll`: acting makes the opponent's play final (2.25)."""
    if cube.may_interrupt(ledger.state, seat):
        ledger.confirm(By.SERVER)


def _roll(ledger: Ledger, seat: Seat, _action: Action) -> None:
    _begin_turn(ledger, seat)
    ledger.roll(seat)


def _double(ledger: Ledger, seat: Seat, _action: Action) -> None:
    _begin_turn(ledger, seat)
    ledger.book(ev.DoubleOffered(ledger.now, seat, 2 * ledger.state.cube_value, by=ledger.by))


def _undo(ledger: Ledger, seat: Seat, action: Action) -> None:
    state = ledger.state
    everything = isinstance(action, act.Undo) and action.all
    count = len(state.steps) if everything else _undone(state)
    ledger.book(ev.StepsUndone(ledger.now, seat, count))


def _confirm(ledger: Ledger, _seat: Seat, _action: Action) -> None:
    if turn.is_forfeit(ledger.state):
        ledger.forfeit()
    else:
        ledger.confirm()


def _take(ledger: Ledger, seat: Seat, _action: Action) -> None:
    ledger.book(ev.DoubleTaken(ledger.now, seat, 2 * ledger.state.cube_value, by=ledger.by))


def _drop(ledger: Ledger, seat: Seat, _action: Action) -> None:
    ledger.drop(seat)


def _beaver(ledger: Ledger, seat: Seat, _action: Action) -> None:
    ledger.book(ev.Beavered(ledger.now, seat, 4 * ledger.state.cube_value, by=ledger.by))


def _raccoon(ledger: Ledger, seat: Seat, _action: Action) -> None:
    ledger.book(ev.Raccooned(ledger.now, seat, 4 * ledger.state.cube_value, by=ledger.by))


def _play_on(ledger: Ledger, seat: Seat, _action: Action) -> None:
    ledger.play_on(seat)


def _resign(ledger: Ledger, seat: Seat, action: Action) -> None:
    if ledger.state.setup.rules.resign_scope is ResignScope.MATCH:
        ledger.end_session(seat.other, EndReason.RESIGNED)
    elif isinstance(action, act.Resign):
        ledger.book(ev.ResignationOffered(ledger.now, seat, action.result))


def _accept(ledger: Ledger, seat: Seat, _action: Action) -> None:
    state = ledger.state
    ledger.book(ev.ResignationAccepted(ledger.now, seat, by=ledger.by))
    ledger.end_game(seat, state.resignation, state.cube_value, EndReason.RESIGNED)


def _refuse(ledger: Ledger, seat: Seat, _action: Action) -> None:
    ledger.book(ev.ResignationRefused(ledger.now, seat, by=ledger.by))


def _next_game(ledger: Ledger, seat: Seat, _action: Action) -> None:
    ledger.ready(seat)


def _end_session(ledger: Ledger, _seat: Seat, _action: Action) -> None:
    ledger.end_session(None, EndReason.STOPPED)


def _return(_ledger: Ledger, _seat: Seat, _action: Action) -> None:
    """Nothing more: any action of the player ends the autopilot."""


_PERFORMERS: Mapping[ActionKind, Callable[[Ledger, Seat, Action], None]] = {
    ActionKind.ROLL: _roll,
    ActionKind.UNDO: _undo,
    ActionKind.CONFIRM: _confirm,
    ActionKind.DOUBLE: _double,
    ActionKind.TAKE: _take,
    ActionKind.DROP: _drop,
    ActionKind.BEAVER: _beaver,
    ActionKind.RACCOON: _raccoon,
    ActionKind.PLAY_ON: _play_on,
    ActionKind.RESIGN: _resign,
    ActionKind.ACCEPT: _accept,
    ActionKind.REFUSE: _refuse,
    ActionKind.NEXT_GAME: _next_game,
    ActionKind.END_SESSION: _end_session,
    ActionKind.RETURN: _return,
}
