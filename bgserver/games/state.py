"""The state of a table: an immutable value, folded over the events.

`apply` asks no rule: it only books what an event says. `bgserver.games.table` decides which
events there are. Stable: the fields of `TableState`, `apply`, `replay`, `to_act`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from bgserver.engine.plays import Step
from bgserver.engine.position import OFF, OPPONENT_BAR, Dice, Position, Resignation, Seat
from bgserver.games import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from bgserver.games.setup import Setup

__all__ = ["Stage", "TableState", "apply", "replay", "to_act"]

_T = TypeVar("_T")


class Stage(enum.Enum):
    """What a table waits for. A pending resignation comes on top of any of them."""

    OPENING = "opening"
    """The opening dice; never seen between two actions."""
    TO_ROLL = "to_roll"
    """The player on turn doubles or rolls."""
    MOVING = "moving"
    """The player on turn plays the dice."""
    DOUBLE = "double"
    """The opponent of the player on turn answers a double."""
    BEAVER = "beaver"
    """The player on turn, who has doubled, answers a beaver."""
    RACCOON = "raccoon"
    """The opponent of the player on turn answers a raccoon."""
    GAME_OVER = "game_over"
    """The game is over, the next one waits for both players."""
    SESSION_OVER = "session_over"
    """Match or session are over for good."""


@dataclass(frozen=True, slots=True)
class TableState:
    """Everything about a table at one moment. Pairs are of the first and the second seat."""

    setup: Setup
    """What was settled before the first game."""
    version: int = 0
    """Events so far."""
    stage: Stage = Stage.OPENING
    """What the table waits for."""
    score: tuple[int, int] = (0, 0)
    """Points before the present game; with it once it is over."""
    crawford_done: bool = False
    """Whether the Crawford game has begun or been played."""
    winner: Seat | None = None
    """Winner of the match, once it is over."""
    last_result: ev.GameEnded | None = None
    """How the last finished game ended."""

    result: ev.GameEnded | None = None
    """How the present game ended; None while it runs."""

    game: int = 0
    """Number of the present game, from 1."""
    crawford: bool = False
    """Whether it is the Crawford game."""
    commitment: str = ""
    """Provably fair dice: the promise for this game."""
    starter: Seat | None = None
    """Who began."""
    turn: Seat = Seat.FIRST
    """Whose turn it is; without meaning during the opening."""
    turn_start: Position = Position.start()  # noqa: RUF009 -- an immutable value
    """The board at the start of the turn, seen by the player on turn."""
    position: Position = Position.start()  # noqa: RUF009 -- frozen
    """The board with the steps made so far, seen by the player on turn."""
    dice: Dice | None = None
    """The roll that is being played."""
    steps: tuple[Step, ...] = ()
    """Steps of this turn, provisional until confirmed."""
    steps_by: tuple[ev.By, ...] = ()
    """Who made each of them."""
    rolls: int = 0
    """Pairs of dice thrown in this game, the opening's included."""
    rolled: tuple[int, int] = (0, 0)
    """Rolls of two dice by each seat, the opening's not included."""
    turns: tuple[int, int] = (0, 0)
    """Finished turns of each seat."""
    last_answer: bool = False
    """Long Nardy: the first player is done and the second player has one last turn (7.14)."""

    cube_value: int = 1
    """Value of the cube; while an offer is pending the value that dropping it loses."""
    cube_owner: Seat | None = None
    """Who owns it; None while it is centred."""
    doubled: bool = False
    """Whether a double was offered in this turn: the offerer must roll next (4.6)."""
    taken: bool = False
    """Whether a double was taken in this game (Jacoby, 4.17)."""
    auto_doubles: int = 0
    """Automatic doubles of this game."""
    resigning: Seat | None = None
    """Who has offered to resign; None if nobody."""
    resignation: Resignation = Resignation.NONE
    """What that offer concedes."""

    timeouts: tuple[int, int] = (0, 0)
    """Timeouts of this game."""
    autopilot: tuple[bool, bool] = (False, False)
    """Whether a bot acts for a player who let the time run out."""
    ready: tuple[bool, bool] = (False, False)
    """Who is ready for the next game."""
    clock_from: float = 0.0
    """When the time of whoever must act began to run, in seconds since the epoch."""
    clock_used: float = 0.0
    """Seconds that the player on turn had used before a resignation interrupted the turn."""


def to_act(state: TableState) -> tuple[Seat, ...]:
    """The seats that the table waits for, and whose time runs.

    With `confirm = opponent_roll` the opponent of a player who has made a complete play may act
    as well, but nobody waits for him: the player may still confirm, and his time runs.
    """
    if state.stage is Stage.SESSION_OVER:
        return ()
    if state.stage is Stage.GAME_OVER:
        return tuple(seat for seat in Seat if not state.ready[seat])
    if state.resigning is not None:
        return (state.resigning.other,)
    if state.stage in {Stage.DOUBLE, Stage.RACCOON}:
        return (state.turn.other,)
    return (state.turn,)


def replay(events: Iterable[ev.Event]) -> TableState:
    """The state after a log; the first event must be `SessionStarted`."""
    state: TableState | None = None
    for event in events:
        state = apply(state, event)
    if state is None:
        message = "a log begins with session_started, this one is empty"
        raise ValueError(message)
    return state


def apply(state: TableState | None, event: ev.Event) -> TableState:
    """The state after one more event; `state` is None before the first one."""
    if state is None:
        if not isinstance(event, ev.SessionStarted):
            message = f"a log begins with session_started, this one with {event.name}"
            raise ValueError(message)
        variant = event.setup.rules.variant
        start = Position.start(variant)
        return TableState(
            event.setup, version=1, turn_start=start, position=start, clock_from=event.at
        )
    changes = _HANDLERS[type(event)](state, event)
    return replace(state, version=state.version + 1, **changes)


def _with(pair: tuple[_T, _T], seat: Seat, value: _T) -> tuple[_T, _T]:
    """A pair with one half changed."""
    return (value, pair[1]) if seat is Seat.FIRST else (pair[0], value)


def _moved(position: Position, step: Step) -> Position:
    points = list(position.points)
    points[step.source] -= 1
    if step.target != OFF:
        if points[step.target] < 0:
            points[OPPONENT_BAR] += points[step.target]
            points[step.target] = 0
        points[step.target] += 1
    if not any(points):
        return position  # an empty board (a draw, 7.14) is no position: the last one stays
    return Position(tuple(points), position.variant)


_Changes = dict[str, "Any"]


def _game_started(state: TableState, event: ev.GameStarted) -> _Changes:
    start = Position.start(state.setup.rules.variant)
    return {
        "stage": Stage.OPENING,
        "result": None,
        "game": event.game,
        "crawford": event.crawford,
        "crawford_done": state.crawford_done or event.crawford,
        "starter": None,
        "turn_start": start,
        "position": start,
        "dice": None,
        "steps": (),
        "steps_by": (),
        "rolls": 0,
        "rolled": (0, 0),
        "turns": (0, 0),
        "last_answer": False,
        "cube_value": 1,
        "cube_owner": None,
        "doubled": False,
        "taken": False,
        "auto_doubles": 0,
        "resigning": None,
        "resignation": Resignation.NONE,
        "timeouts": (0, 0),
        "ready": (False, False),
        "clock_from": event.at,
        "clock_used": 0.0,
    }


def _turn_started(state: TableState, event: ev.TurnStarted) -> _Changes:
    changes: _Changes = {
        "stage": Stage.TO_ROLL,
        "turn": event.seat,
        "dice": None,
        "steps": (),
        "steps_by": (),
        "doubled": False,
        "clock_from": event.at,
        "clock_used": 0.0,
    }
    if state.starter is None:
        changes["starter"] = event.seat
    else:
        turned = state.position.turned()
        changes["position"] = turned
        changes["turn_start"] = turned
        # The first player has borne off everything and the game is not over: a last answer.
        changes["last_answer"] = turned.is_finished
    return changes


def _dice_rolled(state: TableState, event: ev.DiceRolled) -> _Changes:
    changes: _Changes = {"stage": Stage.MOVING, "dice": Dice(event.first, event.second)}
    if not event.opening:
        changes["rolls"] = state.rolls + 1
        changes["rolled"] = _with(state.rolled, event.seat, state.rolled[event.seat] + 1)
    return changes


def _step_made(state: TableState, event: ev.StepMade) -> _Changes:
    step = Step(event.source, event.target, event.die, event.hit)
    return {
        "position": _moved(state.position, step),
        "steps": (*state.steps, step),
        "steps_by": (*state.steps_by, event.by),
    }


def _steps_undone(state: TableState, event: ev.StepsUndone) -> _Changes:
    left = len(state.steps) - event.count
    position = state.turn_start
    for step in state.steps[:left]:
        position = _moved(position, step)
    return {
        "position": position,
        "steps": state.steps[:left],
        "steps_by": state.steps_by[:left],
    }


def _turn_done(state: TableState, event: ev.PlayConfirmed | ev.TurnForfeited) -> _Changes:
    return {"turns": _with(state.turns, event.seat, state.turns[event.seat] + 1)}


def _double_offered(_state: TableState, event: ev.DoubleOffered) -> _Changes:
    return {"stage": Stage.DOUBLE, "doubled": True, "clock_from": event.at}


def _double_taken(_state: TableState, event: ev.DoubleTaken) -> _Changes:
    return {
        "stage": Stage.TO_ROLL,
        "cube_value": event.value,
        "cube_owner": event.seat,
        "taken": True,
        "clock_from": event.at,
    }


def _beavered(_state: TableState, event: ev.Beavered) -> _Changes:
    return {
        "stage": Stage.BEAVER,
        "cube_value": event.value // 2,
        "cube_owner": event.seat,
        "taken": True,
        "clock_from": event.at,
    }


def _raccooned(_state: TableState, event: ev.Raccooned) -> _Changes:
    return {"stage": Stage.RACCOON, "cube_value": event.value // 2, "clock_from": event.at}


def _played_on(_state: TableState, event: ev.PlayedOn) -> _Changes:
    return {
        "stage": Stage.TO_ROLL,
        "cube_value": event.value,
        "cube_owner": event.owner,
        "clock_from": event.at,
    }


def _resignation_offered(state: TableState, event: ev.ResignationOffered) -> _Changes:
    # The interrupted turn keeps the time it has used: offers must not wind the clock up again.
    return {
        "resigning": event.seat,
        "resignation": event.result,
        "clock_from": event.at,
        "clock_used": max(0.0, event.at - state.clock_from),
    }


def _resignation_refused(state: TableState, event: ev.ResignationRefused) -> _Changes:
    return {
        "resigning": None,
        "resignation": Resignation.NONE,
        "clock_from": event.at - state.clock_used,
        "clock_used": 0.0,
    }


def _autopilot_ended(state: TableState, event: ev.AutopilotEnded) -> _Changes:
    changes: _Changes = {"autopilot": _with(state.autopilot, event.seat, False)}
    if event.seat in to_act(state):
        changes["clock_from"] = event.at
    return changes


def _game_ended(_state: TableState, event: ev.GameEnded) -> _Changes:
    return {
        "stage": Stage.GAME_OVER,
        "score": event.score,
        "last_result": event,
        "result": event,
        "resigning": None,
        "resignation": Resignation.NONE,
        "clock_from": event.at,
        "clock_used": 0.0,
    }


def _session_ended(_state: TableState, event: ev.SessionEnded) -> _Changes:
    return {
        "stage": Stage.SESSION_OVER,
        "score": event.score,
        "winner": event.winner,
        "autopilot": (False, False),
        "resigning": None,
        "resignation": Resignation.NONE,
    }


_HANDLERS: dict[type[ev.Event], Callable[[TableState, Any], _Changes]] = {
    ev.DiceCommitted: lambda _, event: {"commitment": event.commitment},
    ev.DiceRevealed: lambda _, __: {},
    ev.GameStarted: _game_started,
    ev.OpeningRolled: lambda state, _: {"rolls": state.rolls + 1},
    ev.AutomaticDouble: lambda state, event: {
        "cube_value": event.value,
        "auto_doubles": state.auto_doubles + 1,
    },
    ev.TurnStarted: _turn_started,
    ev.DiceRolled: _dice_rolled,
    ev.StepMade: _step_made,
    ev.StepsUndone: _steps_undone,
    ev.PlayConfirmed: _turn_done,
    ev.TurnForfeited: _turn_done,
    ev.DoubleOffered: _double_offered,
    ev.DoubleTaken: _double_taken,
    ev.CubeDropped: lambda _, __: {},
    ev.Beavered: _beavered,
    ev.Raccooned: _raccooned,
    ev.PlayedOn: _played_on,
    ev.ResignationOffered: _resignation_offered,
    ev.ResignationAccepted: lambda _, __: {},
    ev.ResignationRefused: _resignation_refused,
    ev.TimedOut: lambda state, event: {"timeouts": _with(state.timeouts, event.seat, event.count)},
    ev.AutopilotStarted: lambda state, event: {
        "autopilot": _with(state.autopilot, event.seat, True)
    },
    ev.AutopilotEnded: _autopilot_ended,
    ev.DowntimeExcused: lambda state, event: {"clock_from": state.clock_from + event.seconds},
    ev.GameEnded: _game_ended,
    ev.ReadyForNextGame: lambda state, event: {"ready": _with(state.ready, event.seat, True)},
    ev.SessionEnded: _session_ended,
}
