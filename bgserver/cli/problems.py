"""Failures as the user sees them: lines on stderr, an exit code, and no traceback."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypedDict

import grpc
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # generated, no stubs

from bgserver.engine.errors import DataError, EngineError, Fault, InvalidInputError
from bgserver.server.errors import StatusError, status_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from google.rpc import status_pb2

__all__ = [
    "BAD_INPUT",
    "FAILED",
    "INTERRUPTED",
    "REFUSED",
    "UNAVAILABLE",
    "ErrorLine",
    "ViolationLine",
    "error_line",
    "gathered",
    "input_error",
    "report",
    "status_for",
]

FAILED = 1
"""Exit code of a failure that no other code describes."""
BAD_INPUT = 2
"""Exit code of bad input."""
UNAVAILABLE = 3
"""Exit code if the server cannot be reached, is not ready or does not answer in time."""
INTERRUPTED = 130
"""Exit code after Ctrl-C."""
REFUSED = 4
"""Exit code if the server refuses to work for this caller, or now."""

_EXIT_CODES = {
    grpc.StatusCode.INVALID_ARGUMENT: BAD_INPUT,
    grpc.StatusCode.FAILED_PRECONDITION: BAD_INPUT,
    grpc.StatusCode.NOT_FOUND: BAD_INPUT,
    grpc.StatusCode.UNAVAILABLE: UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED: UNAVAILABLE,
    grpc.StatusCode.UNAUTHENTICATED: REFUSED,
    grpc.StatusCode.PERMISSION_DENIED: REFUSED,
    grpc.StatusCode.RESOURCE_EXHAUSTED: REFUSED,
}


class ViolationLine(TypedDict):
    """One fault of a request, in JSON."""

    field: str
    reason: str
    description: str


class ErrorLine(TypedDict):
    """A failure in JSON."""

    code: str
    reason: str
    message: str
    violations: list[ViolationLine]
    retryAfterS: float | None


def input_error(message: str, *, field: str, reason: str) -> InvalidInputError:
    """The error for something that was typed wrongly."""
    return InvalidInputError([Fault(field, reason, message)])


@contextmanager
def gathered(faults: list[Fault]) -> Iterator[None]:
    """Add what turns out to be typed wrongly to `faults`, so that all is named at once."""
    try:
        yield
    except InvalidInputError as error:
        faults.extend(error.faults)


def error_line(status: status_pb2.Status) -> ErrorLine:
    """A status in JSON."""
    reason = ""
    violations: list[ViolationLine] = []
    retry_after_s: float | None = None
    info = error_details_pb2.ErrorInfo()
    bad_request = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    for detail in status.details:
        if detail.Unpack(info):
            reason = info.reason
        elif detail.Unpack(bad_request):
            violations += [
                {"field": fault.field, "reason": fault.reason, "description": fault.description}
                for fault in bad_request.field_violations
            ]
        elif detail.Unpack(retry):
            retry_after_s = retry.retry_delay.ToTimedelta().total_seconds()
    return {
        "code": StatusError(status).code.name,
        "reason": reason,
        "message": status.message,
        "violations": violations,
        "retryAfterS": retry_after_s,
    }


def report(error: Exception, hints: Mapping[str, str] | None = None) -> int | None:
    """Write what went wrong to stderr; the exit code, or None for typer's own exceptions.

    Args:
        error: What went wrong.
        hints: What to add to a fault, by its reason.
    """
    if type(error).__module__.partition(".")[0] in {"typer", "click"}:
        return None
    status = status_for(error)
    if status is None:
        return _report_defect(error)
    line = error_line(status)
    if line["violations"]:
        for violation in line["violations"]:
            text = f"{violation['field']}: {violation['description']}".removeprefix(": ")
            if hint := (hints or {}).get(violation["reason"]):
                text = f"{text}; {hint}"
            sys.stderr.write(f"error: {text}\n")
    else:
        sys.stderr.write(f"error: {line['message'] or line['code'].lower()}\n")
    if line["retryAfterS"] is not None:
        sys.stderr.write(f"try again in {line['retryAfterS']:g} s\n")
    return _EXIT_CODES.get(StatusError(status).code, FAILED)


def status_for(error: Exception) -> status_pb2.Status | None:
    """The status of an error that was foreseen; None for anything else."""
    if isinstance(error, StatusError):
        return error.status
    if isinstance(error, EngineError):
        status = status_of(error, "")[0]
        if isinstance(error, DataError):
            status.message = str(error)  # a server hides its files from callers, not from its user
        return status
    return None


def _report_defect(error: Exception) -> int:
    """A defect of bgserver: one line for the user, and the stack for whoever asks for it."""
    sys.stderr.write(f"error: internal error: {type(error).__name__}: {error}\n")
    if os.environ.get("BGSERVER_TRACEBACK"):
        traceback.print_exception(error)
    else:
        sys.stderr.write("set BGSERVER_TRACEBACK=1 to see where it happened\n")
    return FAILED
