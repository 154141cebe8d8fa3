"""What a bad request is and what its client is told; and parts that bad requests are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import grpc

from bgserver.v1 import common_pb2, rules_pb2
from tests.server.requests import board, roll, start

if TYPE_CHECKING:
    from google.protobuf.message import Message

START = list(start().position.points)
NARDY = [0] * 12 + [-15] + [0] * 11 + [15, 0]
FINISHED = [0] * 19 + [-15] + [0] * 6
INVALID = grpc.StatusCode.INVALID_ARGUMENT
ENDS = ("source", "target")


class Case(NamedTuple):
    """A bad request and what the client is told."""

    name: str
    method: str
    request: Message
    faults: list[tuple[str, str]]
    reason: str = "INVALID_INPUT"
    code: grpc.StatusCode = INVALID


def points(**changes: int) -> common_pb2.PositionSource:
    """The start with some counts changed, `p6=20` for point 6."""
    points = list(START)
    for name, count in changes.items():
        points[int(name[1:])] = count
    return board(points)


def nardy(points: list[int]) -> common_pb2.PositionSource:
    position = common_pb2.Position(points=points, variant=common_pb2.VARIANT_LONG_NARDY)
    return common_pb2.PositionSource(position=position)


def state(**fields: Any) -> common_pb2.PositionSource:
    position = common_pb2.Position(points=START)
    return common_pb2.PositionSource(state=common_pb2.GameState(position=position, **fields))


def plays(source: common_pb2.PositionSource | None, *dice: int) -> rules_pb2.ListPlaysRequest:
    return rules_pb2.ListPlaysRequest(position=source, dice=roll(*dice) if dice else None)


def apply(notation: Any, *dice: int, steps: Any = None) -> rules_pb2.ApplyPlayRequest:
    return rules_pb2.ApplyPlayRequest(
        position=start(), dice=roll(*dice), notation=notation, steps=steps
    )


def steps_of(*pairs: tuple[int, int]) -> rules_pb2.StepList:
    return rules_pb2.StepList(
        steps=[common_pb2.Step(source=source, target=target) for source, target in pairs]
    )


def marked(*steps: tuple[int, int, int, bool]) -> rules_pb2.StepList:
    return rules_pb2.StepList(
        steps=[
            common_pb2.Step(source=source, target=target, die=die, hit=hit)
            for source, target, die, hit in steps
        ]
    )


def in_phase(phase: common_pb2.GamePhase.ValueType) -> common_pb2.PositionSource:
    """The start position in a game that is in another phase than being played."""
    state = common_pb2.GameState(position=start().position, phase=phase)
    return common_pb2.PositionSource(state=state)
