"""The services without a network answer and fail like those of a server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import grpc
import numpy as np
import pytest

from bgserver.engine.position import Position
from bgserver.server.config import ServerConfig
from bgserver.server.errors import StatusError
from bgserver.server.local import LocalTransport
from bgserver.v1 import engine_pb2, rules_pb2, simulation_pb2
from tests.server.requests import call, list_plays, roll, start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.engine.evaluator import Engine

_SIMULATE = "/bgserver.v1.SimulationService/Simulate"
_BATCH = "/bgserver.v1.EngineService/EvaluateBatch"


@pytest.fixture
def local(engine: Engine) -> Iterator[LocalTransport]:
    config = ServerConfig(threads=2, log_level="error")
    with LocalTransport(config, loader=lambda *_: engine) as local:
        yield local


@pytest.mark.parametrize(
    ("path", "request_"),
    [
        ("Rules/ListPlays", list_plays(2, 2)),
        ("Rules/ListPresets", rules_pb2.ListPresetsRequest()),
        ("Engine/RankPlays", engine_pb2.RankPlaysRequest(position=start(), dice=roll(4, 3))),
        ("Engine/AdviseCube", engine_pb2.AdviseCubeRequest(position=start())),
        ("Engine/GetInfo", engine_pb2.GetInfoRequest()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_the_same_answers_as_over_the_network(
    channel: grpc.aio.Channel,
    engine: Engine,
    path: str,
    request_: rules_pb2.ListPlaysRequest,
) -> None:
    remote = await call(channel, path, request_.SerializeToString())
    service, method = path.split("/")

    def ask() -> bytes:
        config = ServerConfig(threads=2, log_level="error")
        with LocalTransport(config, loader=lambda *_: engine) as local:
            name = f"/bgserver.v1.{service}Service/{method}"
            return local.unary(name, request_).SerializeToString()

    # Maps are not serialised in a fixed order, but no answer has one.
    assert await asyncio.to_thread(ask) == remote


def test_the_same_errors(local: LocalTransport) -> None:
    with pytest.raises(StatusError, match=r"dice\.first") as caught:
        local.unary("/bgserver.v1.RulesService/ListPlays", list_plays(7, 1))
    assert caught.value.code == grpc.StatusCode.INVALID_ARGUMENT
    assert len(caught.value.status.details) == 2


def test_streams(local: LocalTransport) -> None:
    request = simulation_pb2.SimulateRequest(count=3, seed=1)
    replies = list(local.stream(_SIMULATE, request))
    assert sum(reply.HasField("game") for reply in replies) == 3
    row = np.array(Position.start().points, dtype=np.int8).tobytes()
    batches = [engine_pb2.EvaluateBatchRequest(points=row, id=number) for number in range(40)]
    ids = [
        reply.id
        for reply in local.stream(_BATCH, batches)
        if isinstance(reply, engine_pb2.EvaluateBatchResponse)
    ]
    assert ids == list(range(40))


def test_a_stream_that_fails(local: LocalTransport) -> None:
    with pytest.raises(StatusError) as caught:
        list(local.stream(_SIMULATE, simulation_pb2.SimulateRequest(count=0)))
    assert caught.value.code == grpc.StatusCode.INVALID_ARGUMENT


def test_leaving_a_stream_stops_the_computation(local: LocalTransport) -> None:
    stream = local.stream(_SIMULATE, simulation_pb2.SimulateRequest(count=1_000_000))
    next(iter(stream))
    del stream
    local.wait_idle()


def test_a_deadline(local: LocalTransport) -> None:
    request = simulation_pb2.SimulateRequest(count=1_000_000, statistics_only=True)
    with pytest.raises(StatusError) as caught:
        list(local.stream(_SIMULATE, request, timeout_s=0.2))
    assert caught.value.code == grpc.StatusCode.DEADLINE_EXCEEDED


def test_rules_need_no_engine() -> None:
    def load(*_: object) -> Engine:
        pytest.fail("the engine was loaded")

    with LocalTransport(ServerConfig(threads=1, log_level="error"), loader=load) as local:
        reply = local.unary("/bgserver.v1.RulesService/ListPlays", list_plays())
    assert isinstance(reply, rules_pb2.ListPlaysResponse)
    assert len(reply.plays) == 16
