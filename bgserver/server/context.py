"""What a servicer may know about the call it serves, whatever the transport."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field

__all__ = ["CallContext", "new_request_id"]


def new_request_id() -> str:
    """A fresh id that log lines and error replies share."""
    return uuid.uuid4().hex[:16]


@dataclass(slots=True)
class CallContext:
    """One call. If the caller goes away, the servicer's task is cancelled."""

    method: str
    """Full name, `/package.Service/Method`."""
    request_id: str
    """Given by the caller (`x-request-id`), or made here."""
    deadline: float | None = None
    """When the caller stops waiting, on the clock of `time.monotonic`; None: never."""
    caller: str = ""
    """Who calls, for limits of one client: a digest of the token, or the address without port."""
    started: float = field(default_factory=time.perf_counter)
    """When the call arrived, on the clock of `time.perf_counter`."""
