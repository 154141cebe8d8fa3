"""The connection that every method of the client calls through, for asyncio."""

from __future__ import annotations

import asyncio
import time
from typing import Self, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from bgserver_client._options import (
    CHANNEL_OPTIONS,
    DEFAULT_ADDRESS,
    DEFAULT_TIMEOUT_S,
    RETRY_PAUSE_S,
    bearer,
    checked,
    not_ready,
    patience_s,
)
from bgserver_client._streams import AsyncResponseStream
from bgserver_client.errors import (
    DeadlineExceededError,
    UnavailableError,
    UnimplementedError,
    from_grpc,
)
from bgserver_client.v1 import engine_pb2_grpc, game_pb2_grpc, rules_pb2_grpc, simulation_pb2_grpc

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


class AsyncConnection:
    """A channel to a server and its services; the base of the parts of `AsyncClient`."""

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
        token: str | None = None,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        if credentials is None:
            self._channel = grpc.aio.insecure_channel(checked(address), CHANNEL_OPTIONS)
        else:
            self._channel = grpc.aio.secure_channel(
                checked(address, secure=True), credentials, CHANNEL_OPTIONS
            )
        self._address = address
        self._timeout_s = timeout_s
        self._metadata = bearer(token)
        self._rules = rules_pb2_grpc.RulesServiceStub(self._channel)
        self._engine = engine_pb2_grpc.EngineServiceStub(self._channel)
        self._games = game_pb2_grpc.GameServiceStub(self._channel)
        self._simulation = simulation_pb2_grpc.SimulationServiceStub(self._channel)
        self._health = health_pb2_grpc.HealthStub(self._channel)

    async def close(self) -> None:
        """Close the connection; running calls end with `CancelledError`."""
        await self._channel.close(None)

    async def __aenter__(self) -> Self:
        """Itself; the connection closes with the block."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Close the connection."""
        await self.close()

    async def _call(
        self,
        method: grpc.aio.UnaryUnaryMultiCallable[_Request, _Response],
        request: _Request,
        timeout_s: float | None,
        milliseconds: int | None = None,
    ) -> _Response:
        limit = patience_s(timeout_s, self._timeout_s, milliseconds)
        try:
            return await method(request, timeout=limit, metadata=self._metadata)
        except grpc.RpcError as error:
            raise from_grpc(error) from None

    async def wait_until_ready(self, timeout_s: float = 600.0) -> None:
        """Wait until the server can be reached and has compiled what it needs.

        Args:
            timeout_s: How long; a first start compiles for minutes.

        Raises:
            DeadlineExceededError: It was not ready in time.
        """
        end = time.monotonic() + timeout_s
        while (left := end - time.monotonic()) > 0:
            call = self._health.Watch(
                health_pb2.HealthCheckRequest(),
                timeout=left,
                metadata=self._metadata,
                wait_for_ready=True,
            )
            try:
                async with AsyncResponseStream(call, lambda reply: reply.status) as states:
                    async for state in states:
                        if state == health_pb2.HealthCheckResponse.SERVING:
                            return
            except DeadlineExceededError:
                break
            except UnimplementedError:
                return  # reachable, and without a health service there is nothing to wait for
            except UnavailableError:
                await asyncio.sleep(min(RETRY_PAUSE_S, left))  # gone: a restart may follow
        raise not_ready(self._address, timeout_s)
