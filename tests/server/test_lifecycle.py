"""Starting, health, reflection, limits, shutting down, hostile peers."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import urllib.request
from typing import TYPE_CHECKING

import grpc
import pytest
from bgserver_client import AsyncClient, person, player
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from pydantic import ValidationError

from bgserver.engine.errors import DataError
from bgserver.server.app import BgServer, ServerStartError, load_engine, no_progress
from bgserver.server.config import ServerConfig
from bgserver.v1 import (
    engine_pb2,
    engine_pb2_grpc,
    rules_pb2_grpc,
    simulation_pb2,
    simulation_pb2_grpc,
)
from tests.server.requests import failing, list_plays

if TYPE_CHECKING:
    from pathlib import Path

    from bgserver.engine.evaluator import Engine
    from tests.server.conftest import Starter

_SERVICES = {
    "bgserver.v1.RulesService",
    "bgserver.v1.EngineService",
    "bgserver.v1.GameService",
    "bgserver.v1.SimulationService",
}
_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def _health(channel: grpc.aio.Channel, service: str = "") -> int:
    stub = health_pb2_grpc.HealthStub(channel)
    reply = await stub.Check(health_pb2.HealthCheckRequest(service=service))
    return int(reply.status)


async def test_health_and_calls_while_the_engine_is_compiled(engine: Engine) -> None:
    compiled = threading.Event()
    told = []

    def load(_: ServerConfig, progress: object) -> Engine:
        told.append(progress)
        compiled.wait()
        return engine

    server = BgServer(ServerConfig(port=0, threads=1, log_level="error"), loader=load)
    await server.listen()
    warm_up = asyncio.create_task(server.warm_up())
    async with grpc.aio.insecure_channel(server.address) as channel:
        assert await _health(channel) == _NOT_SERVING
        async with failing() as failure:
            await rules_pb2_grpc.RulesServiceStub(channel).ListPlays(list_plays())
        assert (failure.code, failure.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_READY")
        compiled.set()
        await warm_up
        for service in ("", *_SERVICES):
            assert await _health(channel, service) == _SERVING
        reply = await rules_pb2_grpc.RulesServiceStub(channel).ListPlays(list_plays())
        assert len(reply.plays) == 16
    await server.stop()
    assert len(told) == 1


async def test_a_second_server_on_the_same_port_is_refused(
    start_server: Starter, engine: Engine
) -> None:
    async with start_server() as server:
        second = BgServer(
            ServerConfig(port=server.port, threads=1, log_level="error"), loader=lambda *_: engine
        )
        with pytest.raises(ServerStartError, match=str(server.port)):
            await second.listen()
        await second.stop()


async def test_a_start_that_fails_leaves_no_file(start_server: Starter, tmp_path: Path) -> None:
    def damaged(*_: object) -> Engine:
        message = "weights.npz is damaged"
        raise DataError(message)

    data = tmp_path / "new folder" / "games.db"
    async with start_server(metrics_port=0) as other:
        for port, metrics_port, error in (
            (other.port, None, ServerStartError),
            (0, other.metrics_port, ServerStartError),
            (0, None, DataError),
        ):
            config = ServerConfig(
                port=port, metrics_port=metrics_port, data=str(data), threads=1, log_level="error"
            )
            server = BgServer(config, loader=damaged)
            with pytest.raises(error):
                await _start(server)
            await server.stop()
            assert not _holds_anything(tmp_path)
    async with start_server(data=str(data)):
        pass
    assert data.exists()


def _holds_anything(folder: Path) -> bool:
    return any(folder.iterdir())


async def _start(server: BgServer) -> None:
    await server.listen()
    await server.warm_up()


async def test_reflection_lists_the_services(start_server: Starter) -> None:
    async with start_server() as server:
        # The database of grpc_reflection is synchronous, so it must not run on this loop.
        def services() -> set[str]:
            with grpc.insecure_channel(server.address) as channel:
                return set(ProtoReflectionDescriptorDatabase(channel).get_services())

        found = await asyncio.to_thread(services)
    assert found >= _SERVICES | {"grpc.health.v1.Health"}


async def test_a_message_that_is_too_large(start_server: Starter) -> None:
    async with (
        start_server() as server,
        grpc.aio.insecure_channel(
            server.address, options=[("grpc.max_send_message_length", -1)]
        ) as channel,
    ):
        request = engine_pb2.EvaluateBatchRequest(points=bytes(5 * 1024 * 1024))
        async with failing() as failure:
            async for _ in engine_pb2_grpc.EngineServiceStub(channel).EvaluateBatch(
                iter([request])
            ):
                pass
        assert failure.code == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert await _health(channel) == _SERVING


async def test_random_bytes_on_the_port(start_server: Starter) -> None:
    async with start_server() as server:
        for garbage in (os.urandom(4096), b"GET / HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(garbage)
            await writer.drain()
            writer.write_eof()
            await reader.read()
            writer.close()
        async with grpc.aio.insecure_channel(server.address) as channel:
            assert await _health(channel) == _SERVING


async def test_calls_beyond_the_limit_are_told_when_to_come_again(start_server: Starter) -> None:
    async with (
        start_server(max_pending_requests=1) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stream = simulation_pb2_grpc.SimulationServiceStub(channel).Simulate(
            simulation_pb2.SimulateRequest(count=1_000_000)
        )
        async for _ in stream:
            break
        async with failing() as failure:
            await rules_pb2_grpc.RulesServiceStub(channel).ListPlays(list_plays())
        assert (failure.code, failure.reason) == (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "OVERLOADED",
        )
        assert failure.retry_after_s == 0.5
        stream.cancel()
        await server.pool.wait_idle()
        reply = await rules_pb2_grpc.RulesServiceStub(channel).ListPlays(list_plays())
        assert len(reply.plays) == 16


async def test_stopping_ends_streams_and_refuses_new_calls(start_server: Starter) -> None:
    async with start_server() as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            stream = simulation_pb2_grpc.SimulationServiceStub(channel).Simulate(
                simulation_pb2.SimulateRequest(count=1_000_000)
            )
            async for _ in stream:
                break
            stopping = asyncio.create_task(server.stop())
            async with failing() as failure:
                async for _ in stream:
                    pass
            assert (failure.code, failure.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_READY")
            await stopping
            async with failing() as failure:
                await rules_pb2_grpc.RulesServiceStub(channel).ListPlays(list_plays())
            assert failure.code == grpc.StatusCode.UNAVAILABLE
        assert server.pool.unfinished == 0


async def test_tokens(start_server: Starter, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("from-file\n")
    async with (
        start_server(auth_tokens=("from-config",), auth_token_file=file) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = rules_pb2_grpc.RulesServiceStub(channel)
        for token in ("from-config", "from-file"):
            metadata = (("authorization", f"Bearer {token}"),)
            assert len((await stub.ListPlays(list_plays(), metadata=metadata)).plays) == 16
        for bad in ((), (("authorization", "Bearer wrong"),), (("authorization", "from-file"),)):
            async with failing() as failure:
                await stub.ListPlays(list_plays(), metadata=bad)
            assert failure.code == grpc.StatusCode.UNAUTHENTICATED
            assert failure.reason == "TOKEN_REQUIRED"
        assert await _health(channel) == _SERVING


async def _metrics(server: BgServer) -> str:
    def read() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.metrics_port}/metrics") as reply:
            return str(reply.read(), "utf-8")

    return await asyncio.to_thread(read)


async def test_metrics_count_calls_by_outcome(start_server: Starter) -> None:
    async with (
        start_server(metrics_port=0) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = rules_pb2_grpc.RulesServiceStub(channel)
        await stub.ListPlays(list_plays())
        async with failing():
            await stub.ListPlays(list_plays(7, 7))
        text = await _metrics(server)
    method = "/bgserver.v1.RulesService/ListPlays"
    assert f'bgserver_calls_total{{code="OK",method="{method}"}} 1.0' in text
    assert f'bgserver_calls_total{{code="INVALID_ARGUMENT",method="{method}"}} 1.0' in text


async def test_metrics_count_games_watchers_and_bots(start_server: Starter) -> None:
    async with (
        start_server(metrics_port=0) as server,
        AsyncClient(server.address) as client,
    ):
        await client.create_game("classic")
        await client.create_game("classic", first=person("Anna"), second=person("Ben"))
        deep = player("lookahead_3")
        match = await client.create_game("joypip", match_length=7, first=deep, second=deep)
        async with client.watch(match.game_id, match.spectator_token) as events:
            await anext(events)
            lines: list[str] = []
            while "bgserver_bots_at_work 1.0" not in lines:  # it is nearly always deciding
                lines = (await _metrics(server)).splitlines()
    for line in (
        'bgserver_games{status="waiting"} 1.0',
        'bgserver_games{status="running"} 2.0',
        "bgserver_memory_games 3.0",
        "bgserver_engine_games 1.0",
        "bgserver_watchers 1.0",
    ):
        assert line in lines


async def test_unknown_errors_do_not_leak(
    start_server: Starter, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken:
        """An engine with a bug."""

        levels = ()

        def networks(self) -> None:
            message = "secret text"
            raise RuntimeError(message)

    async with start_server() as server:
        server.runtime.set_engine(Broken())  # type: ignore[arg-type]  # on purpose
        async with (
            grpc.aio.insecure_channel(server.address) as channel,
            failing() as failure,
        ):
            await engine_pb2_grpc.EngineServiceStub(channel).GetInfo(
                engine_pb2.GetInfoRequest(), metadata=(("x-request-id", "abc123"),)
            )
    assert (failure.code, failure.message) == (
        grpc.StatusCode.INTERNAL,
        "internal error, id abc123",
    )
    logged = capsys.readouterr().err
    assert "secret text" in logged
    assert "abc123" in logged


def test_configuration_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BGSERVER_PORT", "1234")
    monkeypatch.setenv("BGSERVER_THREADS", "3")
    config = ServerConfig()
    assert (config.host, config.port, config.threads) == ("127.0.0.1", 1234, 3)
    with pytest.raises(ValidationError, match="port"):
        ServerConfig(port=70_000)


def test_the_garbage_collector_leaves_the_compiler_alone() -> None:
    try:
        load_engine(ServerConfig(), no_progress)
        assert len(gc.get_objects()) < 10_000  # 200,000 take 0.1 s, in which nobody is answered
    finally:
        gc.unfreeze()
