"""Requests that many tests send, and how they read errors."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import grpc
import pytest
from google.rpc import (  # type: ignore[import-untyped]  # generated code without stubs
    error_details_pb2,
    status_pb2,
)

from bgserver.engine.position import Position, Variant
from bgserver.v1 import common_pb2, rules_pb2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

START_XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:6"


def board(points: Sequence[int]) -> common_pb2.PositionSource:
    """A bare backgammon board."""
    return common_pb2.PositionSource(position=common_pb2.Position(points=points))


def start(variant: Variant = Variant.BACKGAMMON) -> common_pb2.PositionSource:
    """The start position."""
    api_variant = (
        common_pb2.VARIANT_BACKGAMMON
        if variant is Variant.BACKGAMMON
        else common_pb2.VARIANT_LONG_NARDY
    )
    position = common_pb2.Position(points=Position.start(variant).points, variant=api_variant)
    return common_pb2.PositionSource(position=position)


def xgid(text: str) -> common_pb2.PositionSource:
    """A position as XGID."""
    return common_pb2.PositionSource(xgid=text)


def roll(first: int, second: int) -> common_pb2.Dice:
    """A roll."""
    return common_pb2.Dice(first=first, second=second)


def list_plays(first: int = 3, second: int = 1) -> rules_pb2.ListPlaysRequest:
    """The plays of a roll from the start."""
    return rules_pb2.ListPlaysRequest(position=start(), dice=roll(first, second))


async def call(channel: grpc.aio.Channel, path: str, data: bytes) -> bytes:
    """Call a unary method with bytes that may be no message; `path` is `Rules/ListPlays`."""
    service, method = path.split("/")
    name = f"/bgserver.v1.{service}Service/{method}"
    answer: bytes = await channel.unary_unary(name, bytes, bytes)(data)
    return answer


@dataclass
class Failure:
    """A failed call."""

    code: grpc.StatusCode = grpc.StatusCode.OK
    message: str = ""
    reason: str = ""
    domain: str = ""
    faults: list[tuple[str, str]] = field(default_factory=list)
    """(field, reason) of each violation."""
    retry_after_s: float | None = None


@asynccontextmanager
async def failing() -> AsyncIterator[Failure]:
    """Expects a call to fail; the failure is filled in afterwards."""
    failure = Failure()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        yield failure
    _fill(failure, caught.value)


def _fill(failure: Failure, error: grpc.aio.AioRpcError) -> None:
    failure.code = error.code()
    failure.message = error.details() or ""
    metadata = cast("tuple[tuple[str, bytes], ...]", error.trailing_metadata() or ())
    for key, value in metadata:
        if key != "grpc-status-details-bin":
            continue
        status = status_pb2.Status.FromString(value)
        assert status.code == failure.code.value[0]
        assert status.message == failure.message
        for detail in status.details:
            info = error_details_pb2.ErrorInfo()
            bad_request = error_details_pb2.BadRequest()
            retry = error_details_pb2.RetryInfo()
            if detail.Unpack(info):
                failure.reason, failure.domain = info.reason, info.domain
            if detail.Unpack(bad_request):
                failure.faults = [
                    (violation.field, violation.reason)
                    for violation in bad_request.field_violations
                ]
            if detail.Unpack(retry):
                failure.retry_after_s = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9
