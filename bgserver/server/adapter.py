"""Binds servicers to `grpc.aio`: the only module that meets gRPC's call contexts."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

import grpc

from bgserver.engine.errors import NotReadyError
from bgserver.server.errors import StatusError
from bgserver.server.methods import parse, parse_stream

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

    from google.protobuf.message import Message
    from google.rpc import status_pb2  # type: ignore[import-untyped]  # generated without stubs

    from bgserver.server.context import CallContext
    from bgserver.server.gate import Gate
    from bgserver.server.methods import BoundMethod, Reply

    GrpcContext = grpc.aio.ServicerContext[bytes, bytes]

__all__ = ["GrpcAdapter"]

_DETAILS_KEY = "grpc-status-details-bin"


class GrpcAdapter:
    """Serves bound methods through a gate; messages are (de)serialised here, not by gRPC."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._waiting: set[asyncio.Task[Any]] = set()
        self._ending = False

    def handlers(
        self, methods: dict[str, BoundMethod]
    ) -> list[grpc.GenericRpcHandler[bytes, bytes]]:
        """The handlers to add to a server, one for each service."""
        services: dict[str, dict[str, grpc.RpcMethodHandler[bytes, bytes]]] = {}
        for method in methods.values():
            _, service, name = method.name.split("/")
            services.setdefault(service, {})[name] = self._handler(method)
        return [
            grpc.method_handlers_generic_handler(service, handlers)
            for service, handlers in services.items()
        ]

    def end_streams(self) -> None:
        """End all streams with UNAVAILABLE, now and from now on."""
        self._ending = True
        # Those that are sending an answer just now see the flag when that is done.
        for task in self._waiting:
            task.cancel()

    def _handler(self, method: BoundMethod) -> grpc.RpcMethodHandler[bytes, bytes]:
        # grpc's types know synchronous behaviours only.
        if method.client_streaming and method.server_streaming:
            return grpc.stream_stream_rpc_method_handler(cast("Any", self._streaming(method)))
        if method.server_streaming:
            return grpc.unary_stream_rpc_method_handler(cast("Any", self._streaming(method)))
        if method.client_streaming:
            message = f"{method.name} streams requests only, which nothing here needs yet"
            raise TypeError(message)
        return grpc.unary_unary_rpc_method_handler(cast("Any", self._unary(method)))

    def _unary(self, method: BoundMethod) -> Callable[[bytes, GrpcContext], Awaitable[bytes]]:
        gate = self._gate
        handler = cast("Callable[[Message, CallContext], Any]", method.handler)

        async def serve(data: bytes, grpc_context: GrpcContext) -> bytes:
            context, authorization = self._arrive(method, grpc_context)
            admitted = False
            try:
                gate.admit(authorization)
                admitted = True
                reply = handler(parse(method, data), context)
                if not method.on_loop:
                    reply = await reply
                answer = _serialised(reply)
            except asyncio.CancelledError as error:
                gate.failed(context, error, streaming=False)
                raise
            except Exception as error:  # noqa: BLE001 -- translated for the caller, and logged
                status = gate.failed(context, error, streaming=False)
                await _abort(grpc_context, status)
            finally:
                if admitted:
                    gate.leave()
            gate.succeeded(context, streaming=False)
            return answer

        return serve

    def _streaming(self, method: BoundMethod) -> Callable[..., AsyncIterator[bytes]]:
        gate = self._gate
        handler = cast("Callable[[Any, CallContext], AsyncGenerator[Reply, None]]", method.handler)

        async def serve(
            data: bytes | AsyncIterator[bytes], grpc_context: GrpcContext
        ) -> AsyncGenerator[bytes, None]:
            context, authorization = self._arrive(method, grpc_context)
            task = cast("asyncio.Task[Any]", asyncio.current_task())
            admitted = False
            try:
                gate.admit(authorization, idle=method.idle)
                admitted = True
                request = (
                    parse(method, data) if isinstance(data, bytes) else parse_stream(method, data)
                )
                async with aclosing(handler(request, context)) as replies:
                    while (reply := await self._next(replies, task)) is not None:
                        yield _serialised(reply)
            except asyncio.CancelledError as error:
                gate.failed(context, error, streaming=True)
                raise
            except Exception as error:  # noqa: BLE001 -- translated for the caller, and logged
                status = gate.failed(context, error, streaming=True)
                await _abort(grpc_context, status)
            finally:
                if admitted:
                    gate.leave(idle=method.idle)
            gate.succeeded(context, streaming=True)

        return serve

    async def _next(
        self, replies: AsyncGenerator[Reply, None], task: asyncio.Task[Any]
    ) -> Reply | None:
        """The next answer of a stream, None at its end; `NotReadyError` if streams must end."""
        self._waiting.add(task)
        try:
            if not self._ending:
                return await anext(replies, None)
        except asyncio.CancelledError:
            if not self._ending:
                raise
            task.uncancel()
        finally:
            self._waiting.discard(task)
        message = "the server is shutting down"
        raise NotReadyError(message)

    def _arrive(
        self, method: BoundMethod, grpc_context: GrpcContext
    ) -> tuple[CallContext, str | None]:
        metadata = cast("tuple[tuple[str, str | bytes], ...]", grpc_context.invocation_metadata())
        return self._gate.arrive(
            method.name, metadata or (), grpc_context.time_remaining(), grpc_context.peer()
        )


def _serialised(reply: Reply) -> bytes:
    return reply if isinstance(reply, bytes) else reply.SerializeToString()


async def _abort(grpc_context: GrpcContext, status: status_pb2.Status) -> None:
    code = StatusError(status).code
    await grpc_context.abort(code, status.message, ((_DETAILS_KEY, status.SerializeToString()),))
