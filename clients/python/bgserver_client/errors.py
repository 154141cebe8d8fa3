"""The errors of the client: one tree, each with the code, the reason and the faults by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # generated, no stubs
from grpc_status import rpc_status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.rpc import status_pb2

__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "RpcError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "Violation",
    "from_grpc",
]


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong with a request."""

    field: str
    """Path of the field, for example `position.points[25]` or `dice.first`."""
    reason: str
    """Stable upper-case code, for example `DIE_OUT_OF_RANGE`; empty if the server gave none."""
    description: str
    """What was expected and what was given, for a person to read."""

    def __str__(self) -> str:
        """The field and what is wrong with it."""
        return f"{self.field}: {self.description}" if self.field else self.description


class RpcError(Exception):
    """Root of all errors of the client; raised itself for codes without a class of their own."""

    code: grpc.StatusCode
    """The gRPC status code."""
    message: str
    """The server's one-line explanation."""
    reason: str
    """Stable upper-case code of the cause, for example `GAME_OVER`; empty if there is none."""
    violations: tuple[Violation, ...]
    """Every fault of the request at once; empty unless the request was at fault."""
    retry_after_s: float | None
    """Seconds after which to try again, where the server says so."""

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        *,
        reason: str = "",
        violations: Iterable[Violation] = (),
        retry_after_s: float | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.reason = reason
        self.violations = tuple(violations)
        self.retry_after_s = retry_after_s
        faults = "; ".join(str(violation) for violation in self.violations)
        super().__init__(f"{code.name}: {faults or message}")


class InvalidArgumentError(RpcError, ValueError):
    """The request is malformed or impossible; `violations` names every fault at once."""


class FailedPreconditionError(RpcError):
    """The request is well formed but not possible now, for example because the game is over."""


class NotFoundError(RpcError, LookupError):
    """The thing that the request names does not exist."""


class AbortedError(RpcError):
    """Another request was faster; read the state again and decide anew."""


class AlreadyExistsError(RpcError):
    """The id of the request was used for another one."""


class ResourceExhaustedError(RpcError):
    """A limit of the server is reached; see `retry_after_s`."""


class UnavailableError(RpcError, ConnectionError):
    """The server cannot be reached, is still starting or is shutting down."""


class DeadlineExceededError(RpcError, TimeoutError):
    """The time limit of the call passed; the server has stopped computing."""


class CancelledError(RpcError):
    """The call was cancelled by the other side."""


class UnauthenticatedError(RpcError):
    """The server wants a valid token."""


class PermissionDeniedError(RpcError):
    """The token does not allow this call."""


class UnimplementedError(RpcError):
    """The server does not know the method; it may be older than this client."""


class InternalError(RpcError):
    """A fault of the server; the message carries an id that its log explains."""


_CLASSES: dict[grpc.StatusCode, type[RpcError]] = {
    grpc.StatusCode.ABORTED: AbortedError,
    grpc.StatusCode.ALREADY_EXISTS: AlreadyExistsError,
    grpc.StatusCode.CANCELLED: CancelledError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceededError,
    grpc.StatusCode.FAILED_PRECONDITION: FailedPreconditionError,
    grpc.StatusCode.INTERNAL: InternalError,
    grpc.StatusCode.INVALID_ARGUMENT: InvalidArgumentError,
    grpc.StatusCode.NOT_FOUND: NotFoundError,
    grpc.StatusCode.PERMISSION_DENIED: PermissionDeniedError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ResourceExhaustedError,
    grpc.StatusCode.UNAUTHENTICATED: UnauthenticatedError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.UNIMPLEMENTED: UnimplementedError,
}


def from_grpc(error: grpc.RpcError) -> RpcError:
    """The client's error for an error of the gRPC library, with all details unpacked."""
    if not isinstance(error, grpc.Call | grpc.aio.AioRpcError):
        return RpcError(grpc.StatusCode.UNKNOWN, str(error))
    code = error.code()
    error_class = _CLASSES.get(code, RpcError)
    message = error.details() or code.name.lower().replace("_", " ")
    status = _rich_status(error)
    if status is None:
        return error_class(code, message)
    reason, violations, retry_after_s = _details(status)
    return error_class(
        code, message, reason=reason, violations=violations, retry_after_s=retry_after_s
    )


def _rich_status(error: grpc.Call | grpc.aio.AioRpcError) -> status_pb2.Status | None:
    """The `google.rpc.Status` of an error, if it carries one that matches the plain status."""
    try:
        # grpc_status reads code, details and trailing metadata only.
        return rpc_status.from_call(error)  # type: ignore[arg-type]  # both kinds have these
    except ValueError:
        return None


def _details(status: status_pb2.Status) -> tuple[str, list[Violation], float | None]:
    """Reason, violations and retry delay among the details of a status."""
    reason = ""
    violations: list[Violation] = []
    retry_after_s: float | None = None
    info = error_details_pb2.ErrorInfo()
    bad_request = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    for detail in status.details:
        if detail.Unpack(info):
            reason = info.reason
        elif detail.Unpack(bad_request):
            violations += [
                Violation(fault.field, fault.reason, fault.description)
                for fault in bad_request.field_violations
            ]
        elif detail.Unpack(retry):
            retry_after_s = retry.retry_delay.ToTimedelta().total_seconds()
    return reason, violations, retry_after_s
