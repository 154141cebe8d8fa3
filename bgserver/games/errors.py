"""What can go wrong with games that are held: unknown ones, foreign seats, lost races, storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bgserver.engine.errors import Fault

__all__ = [
    "AbsentPlayerError",
    "NotASeatError",
    "RequestReusedError",
    "StorageError",
    "UnknownGameError",
    "UnknownInvitationError",
    "VersionMismatchError",
]


class UnknownGameError(EngineError):
    """There is no such game, or the token does not open it: callers cannot tell which."""

    def __init__(self) -> None:
        super().__init__("there is no such game, or the token does not open it")


class UnknownInvitationError(EngineError):
    """The invitation leads to no open seat (any more)."""

    def __init__(self) -> None:
        super().__init__("the invitation leads to no open seat")


class NotASeatError(EngineError):
    """The token may read the game, but does not belong to a seat."""

    def __init__(self) -> None:
        super().__init__("this token may read the game, but it belongs to no seat")


class VersionMismatchError(EngineError):
    """Another event has happened since the version that the caller has seen."""

    def __init__(self, expected: int, version: int) -> None:
        self.version = version
        """The present version."""
        super().__init__(f"expected version {expected}, the game is at version {version}")


class RequestReusedError(EngineError):
    """The id of an earlier request, or of an action, came with another content."""

    def __init__(self, field: str = "request_id") -> None:
        super().__init__(f"this {field} belongs to an earlier request with other content")


class AbsentPlayerError(EngineError):
    """Players at other servers do not answer; `faults` names every one of them."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        """Each player's field with its address and what came of asking it."""
        super().__init__("; ".join(f"{fault.field}: {fault.message}" for fault in self.faults))


class StorageError(EngineError):
    """Games cannot be read or stored; what was to be stored did not happen."""
