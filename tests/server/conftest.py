"""A real server inside the test's own event loop, on a free port, and real stubs."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import grpc
import pytest
import pytest_asyncio
from bgserver_client import AsyncClient

from bgserver.engine.evaluator import Engine
from bgserver.server.app import BgServer
from bgserver.server.config import ServerConfig
from bgserver.v1 import engine_pb2_grpc, rules_pb2_grpc, simulation_pb2_grpc

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from bgserver.server.game_clock import Clock

    Starter = Callable[..., AbstractAsyncContextManager[BgServer]]


@pytest.fixture(scope="session")
def engine() -> Engine:
    """One engine for all tests; loading it for each would cost seconds."""
    engine = Engine.load()
    engine.warm_up()
    return engine


@pytest.fixture
def start_server(engine: Engine) -> Starter:
    """Starts further servers: `async with start_server(max_pending_requests=1) as server`."""

    @asynccontextmanager
    async def start(
        extra: Any = (), clock: Clock | None = None, **settings: Any
    ) -> AsyncIterator[BgServer]:
        defaults = {"port": 0, "threads": 2, "shutdown_grace_s": 2.0, "log_level": "error"}
        settings = {**defaults, **settings}
        config = ServerConfig(**settings)
        server = BgServer(config, loader=lambda *_: engine, extra=extra, clock=clock)
        await server.listen()
        await server.warm_up()
        try:
            yield server
        finally:
            await server.stop()

    return start


@pytest_asyncio.fixture
async def server(start_server: Starter) -> AsyncIterator[BgServer]:
    """A server with default limits."""
    async with start_server() as server:
        yield server


@pytest_asyncio.fixture
async def channel(server: BgServer) -> AsyncIterator[grpc.aio.Channel]:
    """A connection to `server`."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        yield channel


@pytest_asyncio.fixture
async def client(server: BgServer) -> AsyncIterator[AsyncClient]:
    """A client of `server`."""
    async with AsyncClient(server.address) as client:
        yield client


@pytest.fixture
def rules_stub(channel: grpc.aio.Channel) -> rules_pb2_grpc.RulesServiceAsyncStub:
    """`RulesService` of `server`."""
    return rules_pb2_grpc.RulesServiceStub(channel)


@pytest.fixture
def engine_stub(channel: grpc.aio.Channel) -> engine_pb2_grpc.EngineServiceAsyncStub:
    """`EngineService` of `server`."""
    return engine_pb2_grpc.EngineServiceStub(channel)


@pytest.fixture
def simulation_stub(channel: grpc.aio.Channel) -> simulation_pb2_grpc.SimulationServiceAsyncStub:
    """`SimulationService` of `server`."""
    return simulation_pb2_grpc.SimulationServiceStub(channel)
