"""What happens in a game, in words for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.v1 import common_pb2, game_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["describe", "headline"]

_CUBE = {
    game_pb2.ACTION_KIND_DOUBLE: "doubles to {}",
    game_pb2.ACTION_KIND_TAKE: "takes, the cube is at {}",
    game_pb2.ACTION_KIND_DROP: "drops and loses {}",
    game_pb2.ACTION_KIND_BEAVER: "beavers to {}",
    game_pb2.ACTION_KIND_RACCOON: "raccoons to {}",
    game_pb2.ACTION_KIND_PLAY_ON: "plays on, the cube is at {}",
}
_RESULTS = {
    common_pb2.RESIGNATION_SINGLE: "a single game",
    common_pb2.RESIGNATION_GAMMON: "a gammon",
    common_pb2.RESIGNATION_BACKGAMMON: "a backgammon",
}


def describe(
    events: Iterable[game_pb2.GameEvent], names: dict[common_pb2.Seat.ValueType, str]
) -> list[str]:
    """A line for each event that a player wants to hear of.

    Args:
        events: The events.
        names: What the players are called, by seat; nobody at 0.
    """
    lines = []
    for event in events:
        text = _text(event, names)
        if text:
            lines.append(text)
    return lines


def _text(event: game_pb2.GameEvent, names: dict[common_pb2.Seat.ValueType, str]) -> str:
    who = names.get(event.seat, "")
    kind = event.WhichOneof("event")
    if kind == "opening_rolled":
        rolled = event.opening_rolled
        first, second = names[common_pb2.SEAT_FIRST], names[common_pb2.SEAT_SECOND]
        return f"Opening: {first} {rolled.first}, {second} {rolled.second}"
    if kind == "dice_rolled":
        dice = event.dice_rolled.dice
        return f"{who}: {dice.first}-{dice.second}"
    if kind == "play_confirmed":
        return f"{who}: {event.play_confirmed.notation}"
    if kind == "cube_turned":
        return f"{who} {_CUBE[event.cube_turned.action].format(event.cube_turned.value)}"
    if kind == "game_ended":
        return _outcome(event.game_ended, names)
    if kind == "session_ended":
        winner = event.session_ended.winner
        return f"{names[winner]} wins the match" if winner else "The session is over"
    return _plain(event, kind or "", who)


def _plain(event: game_pb2.GameEvent, kind: str, who: str) -> str:
    """Events that need few words."""
    texts = {
        "game_started": f"Game {event.game_started.game_number}"
        + (", the Crawford game" if event.game_started.crawford else ""),
        "automatic_double": f"The cube doubles by itself to {event.automatic_double.value}",
        "turn_forfeited": f"{who} cannot move",
        "resignation_offered": f"{who} offers to lose "
        f"{_RESULTS.get(event.resignation_offered.result, 'the game')}",
        "resignation_accepted": f"{who} accepts",
        "resignation_refused": f"{who} refuses",
        "timed_out": f"{who}: time is over",
        "autopilot_started": f"The autopilot plays for {who}",
        "autopilot_ended": f"{who} is back",
        "dice_committed": f"Dice are settled: SHA-256 {event.dice_committed.commitment}",
        "dice_revealed": f"Seed of the dice: {event.dice_revealed.seed}",
    }
    return texts.get(kind, "")


def _outcome(
    ended: game_pb2.GameEvent.GameEnded, names: dict[common_pb2.Seat.ValueType, str]
) -> str:
    outcome = ended.outcome
    score = f"{ended.first_points}:{ended.second_points}"
    if not outcome.winner:
        return f"A draw; {score}"
    points = f"{outcome.points} point{'s' * (outcome.points != 1)}"
    return f"{names[outcome.winner]} wins {_RESULTS[outcome.result]}, {points}; {score}"


def headline(view: game_pb2.GameView, names: dict[common_pb2.Seat.ValueType, str]) -> str:
    """Score and cube in a line."""
    parts = [
        f"{names[common_pb2.SEAT_FIRST]} {view.first.points}",
        f"{names[common_pb2.SEAT_SECOND]} {view.second.points}",
    ]
    if view.HasField("match_length"):
        parts.append(f"match to {view.match_length}")
    if view.crawford:
        parts.append("Crawford game")
    if view.has_cube:
        owner = names.get(view.cube_owner, "") if view.cube_owner else "centred"
        parts.append(f"cube {view.cube_value} ({owner})")
    return ", ".join(parts)
