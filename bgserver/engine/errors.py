"""The errors of the engine: one small tree, each input fault named with its field.

Every error that a caller can provoke derives from `EngineError`. Faults of the input carry a
tuple of `Fault`, one for each thing that is wrong, so that a front end can show all of them at
once. The server maps each class to one gRPC status (`bgserver.server.errors`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "AmbiguousPlayError",
    "CancelledError",
    "ClusterError",
    "DataError",
    "DeadlineError",
    "EngineError",
    "Fault",
    "IllegalPlayError",
    "InvalidInputError",
    "NotReadyError",
    "OverloadedError",
    "WrongMomentError",
]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with an input."""

    field: str
    """Path of the field as the API names it, for example `position.points[25]` or `dice.first`."""
    reason: str
    """Stable upper-case code, for example `TOO_MANY_CHECKERS`."""
    message: str
    """What was expected and what was given, in lower case, for a person to read."""


class EngineError(Exception):
    """Root of all errors that the engine raises on purpose."""


class InvalidInputError(EngineError, ValueError):
    """The input is malformed or impossible; `faults` names every fault at once."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__("; ".join(f"{fault.field}: {fault.message}" for fault in self.faults))

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Fault, ...]]]:
        # Chunks fail in other processes too.
        return type(self), (self.faults,)


class IllegalPlayError(InvalidInputError):
    """The play is well formed but not legal here."""


class AmbiguousPlayError(InvalidInputError):
    """The notation fits plays with different results; `faults` lists them."""


class WrongMomentError(EngineError):
    """The request is well formed but not possible now; `reason` says why (`GAME_OVER`...)."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (self.reason, str(self))


class OverloadedError(EngineError):
    """The queue is full; try again after `retry_after_s` seconds."""

    def __init__(self, message: str, retry_after_s: float) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(message)

    def __reduce__(self) -> tuple[type[Self], tuple[str, float]]:
        return type(self), (str(self), self.retry_after_s)


class NotReadyError(EngineError):
    """The engine is still compiling or is shutting down."""


class CancelledError(EngineError):
    """The caller went away; the computation was stopped."""


class DeadlineError(EngineError):
    """The caller's deadline passed; the computation was stopped."""


class ClusterError(EngineError):
    """The cluster cannot do the work; `reason` says why."""

    UNREACHABLE = "CLUSTER_UNREACHABLE"
    """There is no scheduler, or it is none of Dask."""
    NO_WORKERS = "CLUSTER_NO_WORKERS"
    """There is a scheduler only."""
    MISMATCH = "CLUSTER_MISMATCH"
    """Scheduler or workers have another bgserver, or other weights."""
    LOST = "CLUSTER_LOST"
    """Scheduler or workers have gone."""
    EXTRA_MISSING = "CLUSTER_EXTRA_MISSING"
    """Dask is not installed here."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)

    def __reduce__(self) -> tuple[type[Self], tuple[str, str]]:
        return type(self), (self.reason, str(self))


class DataError(EngineError):
    """A weights or table file is missing, truncated, of another version or holds NaN."""
