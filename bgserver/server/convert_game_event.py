"""Events of games for the API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bgserver.games import events as ev
from bgserver.games.actions import ActionKind
from bgserver.games.events import By, EndReason, event_from_json
from bgserver.server.convert_enums import RESIGNATION, SEAT, EnumMap
from bgserver.server.convert_rules import rules_message
from bgserver.v1 import common_pb2, game_pb2

if TYPE_CHECKING:
    from collections.abc import Callable

    from bgserver.engine.position import Seat
    from bgserver.games.storage_records import EventRow

__all__ = ["ACTION_KIND", "event_message", "outcome_message"]

ACTION_KIND = EnumMap(game_pb2.ActionKind, ActionKind)
_ACTOR = EnumMap(game_pb2.Actor, By)
_END_REASON = EnumMap(game_pb2.EndReason, EndReason)
_Event = game_pb2.GameEvent


def event_message(row: EventRow) -> game_pb2.GameEvent:
    """One event as it is stored."""
    event = event_from_json(json.loads(row.body))
    name, part = _PARTS[type(event)](event)
    message = game_pb2.GameEvent(number=row.number, at=event.at, **{name: part})
    if row.note is not None:
        message.play_confirmed.notation = row.note
    seat = getattr(event, "seat", None)
    if seat is not None:
        message.seat = SEAT.to_api(seat)
    by = getattr(event, "by", None)
    if by is not None:
        message.actor = _ACTOR.to_api(by)
    return message


def outcome_message(ended: ev.GameEnded) -> game_pb2.GameOutcome:
    """How a single game ended."""
    message = game_pb2.GameOutcome(
        result=RESIGNATION.to_api(ended.result),
        cube=ended.cube,
        points=ended.points,
        reason=_END_REASON.to_api(ended.reason),
    )
    if ended.winner is not None:
        message.winner = SEAT.to_api(ended.winner)
    return message


def _session_started(event: ev.SessionStarted) -> _Event.SessionStarted:
    setup = event.setup
    return _Event.SessionStarted(
        preset=setup.preset,
        rules=rules_message(setup.rules),
        match_length=setup.match_length,
        has_cube=setup.cube,
        turn_seconds=setup.turn_seconds or 0,
    )


def _dice_rolled(event: ev.DiceRolled) -> _Event.DiceRolled:
    dice = common_pb2.Dice(first=event.first, second=event.second)
    return _Event.DiceRolled(dice=dice, opening=event.opening)


def _step_made(event: ev.StepMade) -> _Event.StepMade:
    step = common_pb2.Step(source=event.source, target=event.target, die=event.die, hit=event.hit)
    return _Event.StepMade(step=step)


def _cube(kind: ActionKind, value: int, owner: Seat | None = None) -> tuple[str, Any]:
    message = _Event.CubeTurned(action=ACTION_KIND.to_api(kind), value=value)
    if owner is not None:
        message.owner = SEAT.to_api(owner)
    return "cube_turned", message


def _game_ended(event: ev.GameEnded) -> _Event.GameEnded:
    return _Event.GameEnded(
        outcome=outcome_message(event),
        first_points=event.score[0],
        second_points=event.score[1],
    )


def _session_ended(event: ev.SessionEnded) -> _Event.SessionEnded:
    message = _Event.SessionEnded(
        reason=_END_REASON.to_api(event.reason),
        first_points=event.score[0],
        second_points=event.score[1],
    )
    if event.winner is not None:
        message.winner = SEAT.to_api(event.winner)
    return message


def _plain(name: str, kind: Callable[[], object]) -> Callable[[Any], tuple[str, Any]]:
    return lambda _: (name, kind())


_PARTS: dict[type[ev.Event], Callable[[Any], tuple[str, Any]]] = {
    ev.SessionStarted: lambda event: ("session_started", _session_started(event)),
    ev.DiceCommitted: lambda event: (
        "dice_committed",
        _Event.DiceCommitted(game_number=event.game, commitment=event.commitment),
    ),
    ev.DiceRevealed: lambda event: (
        "dice_revealed",
        _Event.DiceRevealed(game_number=event.game, seed=event.seed),
    ),
    ev.GameStarted: lambda event: (
        "game_started",
        _Event.GameStarted(game_number=event.game, crawford=event.crawford),
    ),
    ev.OpeningRolled: lambda event: (
        "opening_rolled",
        _Event.OpeningRolled(first=event.first, second=event.second),
    ),
    ev.AutomaticDouble: lambda event: (
        "automatic_double",
        _Event.AutomaticDouble(value=event.value),
    ),
    ev.TurnStarted: _plain("turn_started", _Event.TurnStarted),
    ev.DiceRolled: lambda event: ("dice_rolled", _dice_rolled(event)),
    ev.StepMade: lambda event: ("step_made", _step_made(event)),
    ev.StepsUndone: lambda event: ("steps_undone", _Event.StepsUndone(count=event.count)),
    ev.PlayConfirmed: _plain("play_confirmed", _Event.PlayConfirmed),
    ev.TurnForfeited: _plain("turn_forfeited", _Event.TurnForfeited),
    ev.DoubleOffered: lambda event: _cube(ActionKind.DOUBLE, event.value),
    ev.DoubleTaken: lambda event: _cube(ActionKind.TAKE, event.value, event.seat),
    ev.CubeDropped: lambda event: _cube(ActionKind.DROP, event.value),
    ev.Beavered: lambda event: _cube(ActionKind.BEAVER, event.value, event.seat),
    ev.Raccooned: lambda event: _cube(ActionKind.RACCOON, event.value),
    ev.PlayedOn: lambda event: _cube(ActionKind.PLAY_ON, event.value, event.owner),
    ev.ResignationOffered: lambda event: (
        "resignation_offered",
        _Event.ResignationOffered(result=RESIGNATION.to_api(event.result)),
    ),
    ev.ResignationAccepted: _plain("resignation_accepted", _Event.ResignationAccepted),
    ev.ResignationRefused: _plain("resignation_refused", _Event.ResignationRefused),
    ev.TimedOut: lambda event: ("timed_out", _Event.TimedOut(count=event.count)),
    ev.AutopilotStarted: _plain("autopilot_started", _Event.AutopilotStarted),
    ev.AutopilotEnded: _plain("autopilot_ended", _Event.AutopilotEnded),
    ev.DowntimeExcused: lambda event: (
        "downtime_excused",
        _Event.DowntimeExcused(seconds=event.seconds),
    ),
    ev.GameEnded: lambda event: ("game_ended", _game_ended(event)),
    ev.ReadyForNextGame: _plain("ready_for_next_game", _Event.ReadyForNextGame),
    ev.SessionEnded: lambda event: ("session_ended", _session_ended(event)),
}
