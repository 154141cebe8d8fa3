"""The time of games: a clock that never jumps, and that a test can hold in its hands."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Clock", "SystemClock", "Timer"]


class Timer(Protocol):
    """Something that will happen unless it is cancelled."""

    def cancel(self) -> None:
        """Do not let it happen."""
        ...


class Clock(Protocol):
    """Tells the time and wakes."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Call on the event loop at `when`, soon if that has passed."""
        ...


class SystemClock:
    """The system's time when it was made, and from then on what has truly passed.

    Setting the system's clock therefore moves nobody's time limit.
    """

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.monotonic() + self._offset

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        """Call on the event loop at `when`."""
        return asyncio.get_running_loop().call_later(max(0.0, when - self.now()), callback)
