"""A clock that goes on only when a test says so."""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ManualClock"]


class _Alarm:
    """Something that will happen unless it is cancelled."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        self.callback = None


class ManualClock:
    """Time in a test's hands; to be used on one event loop."""

    def __init__(self, start: float = 1_000_000_000.0) -> None:
        self._now = start
        self._numbers = itertools.count()
        self._alarms: list[tuple[float, int, _Alarm]] = []

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._now

    def call_at(self, when: float, callback: Callable[[], None]) -> _Alarm:
        """Call once the time has come, at the next `advance` if that is now."""
        alarm = _Alarm(callback)
        heapq.heappush(self._alarms, (when, next(self._numbers), alarm))
        return alarm

    def advance(self, seconds: float) -> None:
        """Let time pass, and happen what is due."""
        end = self._now + seconds
        while self._alarms and self._alarms[0][0] <= end:
            when, _, alarm = heapq.heappop(self._alarms)
            self._now = max(self._now, when)
            if alarm.callback is not None:
                alarm.callback()
        self._now = end
