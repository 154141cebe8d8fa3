"""A server whose batches and rollouts are done by a Dask cluster."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import grpc
import pytest

from bgserver.engine.errors import ClusterError
from bgserver.server.app import BgServer
from bgserver.server.config import ServerConfig
from bgserver.v1 import common_pb2, engine_pb2, engine_pb2_grpc, rollout_pb2
from tests.dask_cluster import dask_cluster
from tests.server.requests import failing, roll, start

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.v1.engine_pb2_grpc import EngineServiceAsyncStub as Stub
    from tests.server.conftest import Starter

_PATIENCE_S = 90


def _questions() -> list[engine_pb2.AnalyzeBatchRequest]:
    limit = common_pb2.Limit(level=common_pb2.LEVEL_LOOKAHEAD_1)
    return [
        engine_pb2.AnalyzeBatchRequest(
            id=f"{first}{second}",
            rank_plays=engine_pb2.RankPlaysRequest(
                position=start(), dice=roll(first, second), limit=limit, max_plays=3
            ),
        )
        for first in range(1, 7)
        for second in range(1, first + 1)
    ]


def _rollout() -> rollout_pb2.RolloutRequest:
    return rollout_pb2.RolloutRequest(position=start(), trials=180, truncate_plies=4, seed=2)


async def _batch(stub: Stub, most: int | None = None) -> dict[str, bytes]:
    return {
        answer.id: answer.SerializeToString(deterministic=True)
        async for answer in stub.AnalyzeBatch(iter(_questions()[:most]))
    }


async def _rolled(stub: Stub) -> bytes:
    *_, last = [part async for part in stub.Rollout(_rollout())]
    return last.SerializeToString(deterministic=True)


async def test_a_cluster_answers_with_the_same_bits_and_may_go_and_come(
    start_server: Starter, engine_stub: Stub
) -> None:
    expected = await _batch(engine_stub), await _rolled(engine_stub)
    evaluation = engine_pb2.EvaluateRequest(position=start())
    with dask_cluster(2) as processes:
        async with (
            start_server(cluster=processes.address) as server,
            grpc.aio.insecure_channel(server.address) as channel,
        ):
            stub = engine_pb2_grpc.EngineServiceStub(channel)
            assert (await _batch(stub), await _rolled(stub)) == expected
            assert server.pool.unfinished == 0  # nothing of it was done here

            processes.end()
            for ask in (_batch, _rolled):
                async with failing() as failure:
                    await ask(stub)
                assert failure.code is grpc.StatusCode.UNAVAILABLE
                assert failure.reason == ClusterError.LOST
                assert processes.address in failure.message
            assert await stub.Evaluate(evaluation) == await engine_stub.Evaluate(evaluation)

            processes.restart(1)
            end = time.monotonic() + _PATIENCE_S
            while not await _works(stub):
                assert time.monotonic() < end
            assert await _batch(stub) == expected[0]


async def _works(stub: Stub) -> bool:
    try:
        await _batch(stub, most=1)
    except grpc.aio.AioRpcError as error:
        assert error.code() is grpc.StatusCode.UNAVAILABLE  # noqa: PT017 -- or it is another fault
        await asyncio.sleep(0.1)
        return False
    return True


async def test_a_server_does_not_start_without_its_cluster(engine: Engine) -> None:
    config = ServerConfig(port=0, threads=1, log_level="error", cluster="tls://127.0.0.1:9")
    server = BgServer(config, loader=lambda *_: engine)
    await server.listen()
    with pytest.raises(ClusterError, match="cannot reach a Dask scheduler"):
        await server.warm_up()
    await server.stop()
