"""The connection that every method of the client calls through, for ordinary, blocking code."""

from __future__ import annotations

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
from bgserver_client._streams import ResponseStream
from bgserver_client.errors import (
    DeadlineExceededError,
    UnavailableError,
    UnimplementedError,
    from_grpc,
)
from bgserver_client.v1 import engine_pb2_grpc, game_pb2_grpc, rules_pb2_grpc, simulation_pb2_grpc

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


class Connection:
    """A channel to a server and its services; the base of the parts of `Client`."""

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        *,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
        token: str | None = None,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        if credentials is None:
            self._channel = grpc.insecure_channel(checked(address), CHANNEL_OPTIONS)
        else:
            self._channel = grpc.secure_channel(
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

    def close(self) -> None:
        """Close the connection; running calls end with `CancelledError`."""
        self._channel.close()

    def __enter__(self) -> Self:
        """Itself; the connection closes with the block."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the connection."""
        self.close()

    def _call(
        self,
        method: grpc.UnaryUnaryMultiCallable[_Request, _Response],
        request: _Request,
        timeout_s: float | None,
        milliseconds: int | None = None,
    ) -> _Response:
        limit = patience_s(timeout_s, self._timeout_s, milliseconds)
        try:
            return method(request, timeout=limit, metadata=self._metadata)
        except grpc.RpcError as error:
            raise from_grpc(error) from None

    def wait_until_ready(self, timeout_s: float = 600.0) -> None:
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
                with ResponseStream(call, lambda reply: reply.status) as states:
                    if health_pb2.HealthCheckResponse.SERVING in states:
                        return
            except DeadlineExceededError:
                break
            except UnimplementedError:
                return  # reachable, and without a health service there is nothing to wait for
            except UnavailableError:
                time.sleep(min(RETRY_PAUSE_S, left))  # it went away: a restart may follow
        raise not_ready(self._address, timeout_s)
