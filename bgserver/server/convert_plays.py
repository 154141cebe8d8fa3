"""Plays, steps and step graphs of the engine for the API, and a request's play for the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault
from bgserver.engine.position import Variant
from bgserver.formats.notation import format_play
from bgserver.server.convert_enums import VARIANT
from bgserver.v1 import common_pb2, rules_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bgserver.engine.plays import Play, Step, StepGraph
    from bgserver.engine.position import Position

__all__ = ["add_plays", "play_message", "step_graph_message"]


_MAX_WRITTEN = 1 << 14
_written: dict[tuple[Step, ...], bytes] = {}
"""Notation and steps of backgammon plays, serialised. They depend on the steps only, and the same
ones come again and again: it saves most of the time of a call."""


def add_plays(
    response: rules_pb2.ListPlaysResponse, plays: Iterable[Play], position: Position
) -> None:
    """Add plays to an answer."""
    # Filled in place: a constructor for each sub-message would double the time.
    for play in plays:
        _fill_play(response.plays.add(), play, position)


def play_message(play: Play, position: Position) -> common_pb2.Play:
    """One play.

    Args:
        play: The play.
        position: The board before it.
    """
    message = common_pb2.Play()
    _fill_play(message, play, position)
    return message


def _fill_play(message: common_pb2.Play, play: Play, position: Position) -> None:
    written = _written.get(play.steps) if position.variant is Variant.BACKGAMMON else None
    if written is not None:
        message.MergeFromString(written)
    else:
        message.notation = format_play(play, position)
        message.steps.extend(map(_step_message, play.steps))
        if position.variant is Variant.BACKGAMMON:
            if len(_written) >= _MAX_WRITTEN:
                _written.clear()
            _written[play.steps] = message.SerializeToString()
    message.result.points.extend(play.result.points)
    message.result.variant = VARIANT.to_api(position.variant)


def _step_message(step: Step) -> common_pb2.Step:
    return common_pb2.Step(source=step.source, target=step.target, die=step.die, hit=step.hit)


def step_graph_message(graph: StepGraph) -> rules_pb2.StepGraph:
    """Every legal step order."""
    message = rules_pb2.StepGraph()
    for node in graph.nodes:
        added = message.nodes.add(complete=node.is_complete)
        if node.play_index is not None:
            added.play_index = node.play_index
        for edge in node.edges:
            added.edges.add(step=_step_message(edge.step), target_node=edge.target_node)
    return message


def step_faults(steps: Iterable[common_pb2.Step], path: str) -> list[Fault]:
    """Steps that no board and no die could ever allow."""
    faults = []
    for number, step in enumerate(steps):
        if not 1 <= step.source <= 25:
            message = f"expected a point 1 to 24 or 25 for the bar, got {step.source}"
            faults.append(Fault(f"{path}[{number}].source", "OUT_OF_RANGE", message))
        if step.target > 24:
            message = f"expected a point 1 to 24 or 0 for off, got {step.target}"
            faults.append(Fault(f"{path}[{number}].target", "OUT_OF_RANGE", message))
        if step.die > 6:
            message = f"expected 1 to 6, or 0 for any that fits, got {step.die}"
            faults.append(Fault(f"{path}[{number}].die", "OUT_OF_RANGE", message))
    return faults
