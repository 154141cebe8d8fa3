"""Failures in the words of the command line: options instead of the fields of a request."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from google.protobuf import any_pb2
from google.rpc import (  # type: ignore[import-untyped]  # generated, no stubs
    error_details_pb2,
    status_pb2,
)

from bgserver.engine.errors import InvalidInputError
from bgserver.server.errors import StatusError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["naming_options", "retold"]


@contextmanager
def naming_options(options: Mapping[str, str]) -> Iterator[None]:
    """Name options in place of the fields that they fill; other fields keep their names.

    Args:
        options: The option of each field, for example `match_length`: `--match-length`.
    """
    try:
        yield
    except InvalidInputError as error:
        faults = [replace(one, field=options.get(one.field, one.field)) for one in error.faults]
        raise type(error)(faults) from None
    except StatusError as error:
        raise StatusError(_renamed(error.status, options)) from None


def retold(status: status_pb2.Status, reason: str, message: str) -> status_pb2.Status:
    """A status that says `message` of the faults with this reason."""
    found = status_pb2.Status(code=status.code, message=status.message)
    for detail in status.details:
        bad_request = error_details_pb2.BadRequest()
        packed = any_pb2.Any()
        packed.CopyFrom(detail)
        if detail.Unpack(bad_request):
            for violation in bad_request.field_violations:
                if violation.reason == reason:
                    violation.description = message
            packed.Pack(bad_request)
        found.details.append(packed)
    return found


def _renamed(status: status_pb2.Status, options: Mapping[str, str]) -> status_pb2.Status:
    found = status_pb2.Status(code=status.code, message=status.message)
    for detail in status.details:
        bad_request = error_details_pb2.BadRequest()
        packed = any_pb2.Any()
        packed.CopyFrom(detail)
        if detail.Unpack(bad_request):
            for violation in bad_request.field_violations:
                violation.field = options.get(violation.field, violation.field)
            packed.Pack(bad_request)
        found.details.append(packed)
    return found
