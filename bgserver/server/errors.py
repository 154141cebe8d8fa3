"""The one catalogue of errors: which class becomes which gRPC status.

Whatever a servicer raises passes through `status_of`. Only what the catalogue allows reaches the
caller; an unknown exception becomes INTERNAL with an id, and its text and stack go to the log.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
from google.protobuf import any_pb2
from google.rpc import (  # type: ignore[import-untyped]  # generated code without stubs
    error_details_pb2,
    status_pb2,
)

from bgserver.engine.errors import (
    AmbiguousPlayError,
    CancelledError,
    ClusterError,
    DataError,
    DeadlineError,
    EngineError,
    IllegalPlayError,
    InvalidInputError,
    NotReadyError,
    OverloadedError,
    WrongMomentError,
)
from bgserver.games.errors import (
    AbsentPlayerError,
    NotASeatError,
    RequestReusedError,
    StorageError,
    UnknownGameError,
    UnknownInvitationError,
    VersionMismatchError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.protobuf.message import Message

    from bgserver.engine.errors import Fault

__all__ = [
    "CATALOGUE",
    "DOMAIN",
    "AuthenticationError",
    "Entry",
    "StatusError",
    "entry_of",
    "reason_of",
    "status_of",
]

DOMAIN = "bgserver"
"""Domain of every `ErrorInfo`."""
_MAX_DETAIL_BYTES = 4096
"""gRPC refuses trailers above 8 KiB; a request with hundreds of faults must still be answered."""


class AuthenticationError(EngineError):
    """The call carries no accepted token."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How a class of errors is told to the caller."""

    code: grpc.StatusCode
    """The gRPC status."""
    reason: str
    """`ErrorInfo.reason`, unless the error carries its own."""
    message: str | None = None
    """The public text; None: the error's own, which was written for callers."""


CATALOGUE: dict[type[EngineError], Entry] = {
    EngineError: Entry(grpc.StatusCode.INTERNAL, "INTERNAL", "internal error"),
    InvalidInputError: Entry(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_INPUT"),
    IllegalPlayError: Entry(grpc.StatusCode.INVALID_ARGUMENT, "ILLEGAL_PLAY"),
    AmbiguousPlayError: Entry(grpc.StatusCode.INVALID_ARGUMENT, "AMBIGUOUS_PLAY"),
    WrongMomentError: Entry(grpc.StatusCode.FAILED_PRECONDITION, "WRONG_MOMENT"),
    OverloadedError: Entry(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED"),
    NotReadyError: Entry(grpc.StatusCode.UNAVAILABLE, "NOT_READY"),
    ClusterError: Entry(grpc.StatusCode.UNAVAILABLE, "CLUSTER"),
    CancelledError: Entry(grpc.StatusCode.CANCELLED, "CANCELLED", "the call was cancelled"),
    DeadlineError: Entry(grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE", "the deadline has passed"),
    DataError: Entry(grpc.StatusCode.INTERNAL, "DATA", "the server's data files are damaged"),
    AuthenticationError: Entry(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_REQUIRED"),
    UnknownGameError: Entry(grpc.StatusCode.NOT_FOUND, "GAME_NOT_FOUND"),
    UnknownInvitationError: Entry(grpc.StatusCode.NOT_FOUND, "INVITATION_NOT_FOUND"),
    NotASeatError: Entry(grpc.StatusCode.PERMISSION_DENIED, "NOT_A_SEAT"),
    VersionMismatchError: Entry(grpc.StatusCode.ABORTED, "VERSION_MISMATCH"),
    RequestReusedError: Entry(grpc.StatusCode.ALREADY_EXISTS, "REQUEST_ID_REUSED"),
    AbsentPlayerError: Entry(grpc.StatusCode.UNAVAILABLE, "PLAYER_ABSENT"),
    StorageError: Entry(
        grpc.StatusCode.UNAVAILABLE, "STORAGE", "games cannot be stored or read now"
    ),
}
"""Each class of `EngineError` with what the caller is told."""

_CODES = {code.value[0]: code for code in grpc.StatusCode}


class StatusError(Exception):
    """A call that failed, in the terms of the transport: code, message and details."""

    def __init__(self, status: status_pb2.Status) -> None:
        self.status = status
        super().__init__(status.message)

    @property
    def code(self) -> grpc.StatusCode:
        """The gRPC status code."""
        return _CODES[self.status.code]


def status_of(error: BaseException, request_id: str) -> tuple[status_pb2.Status, Entry | None]:
    """The status that a caller gets for an error, and its catalogue entry (None: unknown error)."""
    entry = _entry_of(error)
    if entry is None or not isinstance(error, EngineError):
        return _internal(request_id), None
    message = entry.message if entry.message is not None else str(error)
    status = status_pb2.Status(code=entry.code.value[0], message=message)
    reason = reason_of(error, entry)
    metadata = {"request_id": request_id}
    if isinstance(error, VersionMismatchError):
        metadata["version"] = str(error.version)
    info = error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=metadata)
    details: list[Message] = [info]
    if isinstance(error, InvalidInputError | AbsentPlayerError):
        bad_request, summary = _bad_request(error.faults)
        details.append(bad_request)
        status.message = summary
    if isinstance(error, OverloadedError):
        retry = error_details_pb2.RetryInfo()
        fraction, whole = math.modf(error.retry_after_s)
        retry.retry_delay.seconds = int(whole)
        retry.retry_delay.nanos = int(fraction * 1e9)
        details.append(retry)
    for detail in details:
        packed = any_pb2.Any()
        packed.Pack(detail)
        status.details.append(packed)
    return status, entry


def entry_of(error: EngineError) -> Entry:
    """The catalogue's entry for an error."""
    return _entry_of(error) or CATALOGUE[EngineError]


def reason_of(error: EngineError, entry: Entry) -> str:
    """The stable reason that the caller is told."""
    return error.reason if isinstance(error, WrongMomentError | ClusterError) else entry.reason


def _entry_of(error: BaseException) -> Entry | None:
    for kind in type(error).__mro__:
        if kind in CATALOGUE:
            return CATALOGUE[kind]
    return None


def _internal(request_id: str) -> status_pb2.Status:
    status = status_pb2.Status(
        code=grpc.StatusCode.INTERNAL.value[0], message=f"internal error, id {request_id}"
    )
    info = error_details_pb2.ErrorInfo(
        reason="INTERNAL", domain=DOMAIN, metadata={"request_id": request_id}
    )
    status.details.add().Pack(info)
    return status


def _bad_request(faults: Sequence[Fault]) -> tuple[error_details_pb2.BadRequest, str]:
    """Every fault as a violation, as far as the trailers hold them, and all of them in words."""
    bad_request = error_details_pb2.BadRequest()
    size = 0
    for number, fault in enumerate(faults):
        violation = error_details_pb2.BadRequest.FieldViolation(
            field=fault.field, description=fault.message, reason=fault.reason
        )
        size += violation.ByteSize()
        if size > _MAX_DETAIL_BYTES:
            left = len(faults) - number
            bad_request.field_violations.add(
                field="", reason="MORE_FAULTS", description=f"and {left} more faults"
            )
            break
        bad_request.field_violations.append(violation)
    text = "; ".join(
        f"{violation.field}: {violation.description}".removeprefix(": ")
        for violation in bad_request.field_violations
    )
    return bad_request, text if len(text) <= 1000 else f"{text[:1000]}..."
