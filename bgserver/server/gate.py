"""What every call passes on its way in and out, whatever the transport.

In: authentication, readiness, admission. Out: translation of errors, metrics, log. It is one
object and not a chain of gRPC interceptors, because the in-process transport needs the same, and
because a chain of coroutines would double the time of a short call.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from typing import TYPE_CHECKING

from bgserver.engine.errors import CancelledError, DeadlineError, OverloadedError
from bgserver.games.errors import StorageError
from bgserver.server.context import CallContext, new_request_id
from bgserver.server.errors import AuthenticationError, status_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.rpc import status_pb2  # type: ignore[import-untyped]  # generated without stubs
    from structlog.typing import FilteringBoundLogger

    from bgserver.server.metrics import Metrics
    from bgserver.server.runtime import Runtime

__all__ = ["Gate"]

_MAX_REQUEST_ID = 64
_RETRY_AFTER_S = 0.5


class Gate:
    """Lets calls in and tells how they ended."""

    def __init__(
        self,
        runtime: Runtime,
        metrics: Metrics,
        logger: FilteringBoundLogger,
        tokens: frozenset[str] = frozenset(),
    ) -> None:
        self._runtime = runtime
        self._metrics = metrics
        self._logger = logger
        self._tokens = [token.encode() for token in tokens]
        self._most = runtime.config.max_pending_requests
        self._pending = 0
        self._most_idle = runtime.config.max_watchers
        self._idle = 0

    @property
    def pending(self) -> int:
        """Calls in work and waiting."""
        return self._pending

    def arrive(
        self,
        method: str,
        metadata: Iterable[tuple[str, str | bytes]],
        timeout_s: float | None,
        peer: str = "",
    ) -> tuple[CallContext, str | None]:
        """The context of a new call, and the value of its `authorization`.

        Args:
            method: Full name of the method.
            metadata: What the call carries.
            timeout_s: How long the caller waits.
            peer: The caller's address and port.
        """
        request_id = authorization = None
        for key, value in metadata:
            if key == "x-request-id":
                text = value if isinstance(value, str) else value.decode(errors="replace")
                if text.isascii() and text.isprintable():
                    request_id = text[:_MAX_REQUEST_ID]
            elif key == "authorization" and isinstance(value, str):
                authorization = value
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        caller = peer.rpartition(":")[0]
        if self._tokens and authorization is not None:
            caller = hashlib.sha256(authorization.encode()).hexdigest()
        context = CallContext(method, request_id or new_request_id(), deadline, caller)
        return context, authorization

    def admit(self, authorization: str | None, *, idle: bool = False) -> None:
        """Let a call in; each call that was let in must `leave`.

        Args:
            authorization: What the caller sent.
            idle: A stream that waits most of the time: it has a limit of its own, so that many of
                them do not keep out calls with work to do.

        Raises:
            AuthenticationError: It carries no accepted token.
            NotReadyError: The server is starting or stopping.
            OverloadedError: Too many calls are in work.
        """
        if self._tokens and not self._is_known(authorization):
            message = "expected the metadata authorization: Bearer <token> with an accepted token"
            raise AuthenticationError(message)
        self._runtime.require_serving()
        if idle:
            if self._idle >= self._most_idle:
                message = f"{self._most_idle} streams are open already"
                raise OverloadedError(message, _RETRY_AFTER_S)
            self._idle += 1
            self._metrics.watch_watchers(self._idle)
            return
        if self._pending >= self._most:
            message = f"{self._most} calls are in work already"
            raise OverloadedError(message, _RETRY_AFTER_S)
        self._pending += 1
        self._metrics.watch_pending(self._pending)

    def _is_known(self, authorization: str | None) -> bool:
        scheme, _, token = (authorization or "").partition(" ")
        given = token.strip().encode()
        # All tokens are compared, so that the time tells nothing about them.
        matches = [hmac.compare_digest(given, known) for known in self._tokens]
        return scheme.lower() == "bearer" and any(matches)

    def leave(self, *, idle: bool = False) -> None:
        """Note that a call that was let in has ended; `idle` as it was admitted."""
        if idle:
            self._idle -= 1
            self._metrics.watch_watchers(self._idle)
            return
        self._pending -= 1
        self._metrics.watch_pending(self._pending)

    def succeeded(self, context: CallContext, *, streaming: bool) -> None:
        """Note the success of a call."""
        seconds = time.perf_counter() - context.started
        self._metrics.count(context.method, "OK", None if streaming else seconds)
        self._logger.debug(
            "call", method=context.method, request_id=context.request_id, code="OK", seconds=seconds
        )

    def failed(
        self, context: CallContext, error: BaseException, *, streaming: bool
    ) -> status_pb2.Status:
        """Note the failure of a call and return what the caller is told."""
        if isinstance(error, asyncio.CancelledError):
            error = CancelledError("the call was cancelled")
        elif isinstance(error, TimeoutError):
            error = DeadlineError("the deadline has passed")
        status, entry = status_of(error, context.request_id)
        code = entry.code.name if entry is not None else "INTERNAL"
        seconds = time.perf_counter() - context.started
        self._metrics.count(context.method, code, None if streaming else seconds)
        fields = {
            "method": context.method,
            "request_id": context.request_id,
            "code": code,
            "seconds": round(seconds, 6),
        }
        if code == "INTERNAL" or isinstance(error, StorageError):
            self._logger.error("call", **fields, exc_info=error)
        else:
            self._logger.debug("call", **fields, message=status.message)
        return status
