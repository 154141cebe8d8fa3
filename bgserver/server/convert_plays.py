"""Plays, steps and step graphs of the engine for the API, and a request's play for the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault
from bgserver.engine.plays import Play, play_rows
from bgserver.engine.position import Variant
from bgserver.formats.notation import format_play
from bgserver.server.convert_enums import VARIANT
from bgserver.v1 import common_pb2, rules_pb2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver.engine.plays import Step, StepGraph
    from bgserver.engine.position import Dice, Position

__all__ = [
    "play_message",
    "plays_bytes",
    "step_faults",
    "step_graph_message",
    "step_message",
]


_MAX_STEPS = 4
_MAX_WRITTEN = 1 << 14
_written: dict[tuple[Step, ...], bytes] = {}
"""Notation and steps of backgammon plays, serialised: they depend on the steps only, and the same
ones come again and again."""

# The wire format of `ListPlaysResponse.plays` (field 1) and `Play.result` (field 3) with its 26
# `points` (field 1, packed, one byte each) and `variant` (field 2).
_PLAYS_TAG = b"\x0a"
_RESULT = b"\x1a\x1e\x0a\x1a"
_VARIANT_TAG = b"\x10"
_RESULT_BYTES = 32


def plays_bytes(position: Position, dice: Dice, *, first_turn: bool) -> bytes:
    """The plays of a roll as the field `plays` of a serialised `ListPlaysResponse`.

    Written by hand, because building 16 messages with 26 numbers each takes longer than all the
    rest of the call: 100 microseconds against 15 (`bench/server_latency.py`).
    """
    boards, steps_of_plays = play_rows(position, dice, first_turn=first_turn)
    # Zigzag: 0, -1, 1, -2... become 0, 1, 2, 3...; 15 checkers still fit into one byte.
    points = ((boards << 1) ^ (boards >> 7)).tobytes()
    result_end = _VARIANT_TAG + bytes([VARIANT.to_api(position.variant)])
    pieces: list[bytes] = []
    for row, steps in enumerate(steps_of_plays):
        written = _write(steps, position)
        pieces += (
            _PLAYS_TAG,
            _varint(len(written) + _RESULT_BYTES),
            written,
            _RESULT,
            points[26 * row : 26 * row + 26],
            result_end,
        )
    return b"".join(pieces)


def _write(steps: tuple[Step, ...], position: Position) -> bytes:
    """A play without its result, serialised."""
    is_backgammon = position.variant is Variant.BACKGAMMON
    written = _written.get(steps) if is_backgammon else None
    if written is None:
        # The notation asks for the steps only, so the board before stands in for the one after.
        message = common_pb2.Play(
            notation=format_play(Play(steps, position), position), steps=map(step_message, steps)
        )
        written = message.SerializeToString()
        if is_backgammon:
            if len(_written) >= _MAX_WRITTEN:
                _written.clear()
            _written[steps] = written
    return written


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128, number >> 7])


def play_message(play: Play, position: Position) -> common_pb2.Play:
    """One play.

    Args:
        play: The play.
        position: The board before it.
    """
    message = common_pb2.Play.FromString(_write(play.steps, position))
    message.result.points.extend(play.result.points)
    message.result.variant = VARIANT.to_api(position.variant)
    return message


def step_message(step: Step) -> common_pb2.Step:
    """One step."""
    return common_pb2.Step(source=step.source, target=step.target, die=step.die, hit=step.hit)


def step_graph_message(graph: StepGraph) -> rules_pb2.StepGraph:
    """Every legal step order."""
    message = rules_pb2.StepGraph()
    for node in graph.nodes:
        added = message.nodes.add(complete=node.is_complete)
        if node.play_index is not None:
            added.play_index = node.play_index
        for edge in node.edges:
            added.edges.add(step=step_message(edge.step), target_node=edge.target_node)
    return message


def step_faults(steps: Sequence[common_pb2.Step], path: str) -> list[Fault]:
    """Steps that no board and no die could ever allow."""
    faults = []
    if len(steps) > _MAX_STEPS:
        message = f"a turn has at most {_MAX_STEPS} steps, got {len(steps)}"
        faults.append(Fault(path, "TOO_MANY_STEPS", message))
    # Not all of them: a request may hold a million.
    for number, step in enumerate(steps[:_MAX_STEPS]):
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
