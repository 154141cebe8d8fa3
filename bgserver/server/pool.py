"""One pool of worker threads for all that computes.

A job is a `Work` (a generator that yields between chunks of a few milliseconds). A worker takes
the job that is first in line of the most urgent priority, advances it by one chunk, and puts it
back at the end of its line: so a move request waits for one chunk at most, however large the
simulations are, and jobs of one priority share the workers evenly. Between chunks a job is dropped
if nobody waits for it any more or its deadline has passed.
"""

from __future__ import annotations

import asyncio
import enum
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bgserver.engine.errors import DeadlineError, NotReadyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bgserver.engine.work import Work

__all__ = ["Priority", "WorkerPool", "discard", "one_chunk"]

_T = TypeVar("_T")


class Priority(enum.IntEnum):
    """Who goes first."""

    INTERACTIVE = 0
    """A person waits: plays, one evaluation, one decision."""
    ANALYSIS = 1
    """A script waits: batches of positions."""
    BATCH = 2
    """Simulations."""


def one_chunk(function: Callable[[], _T]) -> Work[_T]:
    """A work of one chunk, for what takes a few milliseconds at most."""
    yield from ()
    return function()


def discard(future: asyncio.Future[Any] | None) -> None:
    """Drop a job whose outcome nobody will look at."""
    if future is not None and not future.cancel() and not future.cancelled():
        future.exception()  # marks it as seen, so that asyncio does not report it


class _Job(Generic[_T]):
    """A work and whoever waits for it."""

    __slots__ = ("deadline", "dropped", "future", "priority", "work")

    def __init__(
        self,
        work: Work[_T],
        priority: Priority,
        deadline: float | None,
        future: asyncio.Future[_T],
    ) -> None:
        self.work = work
        self.priority = priority
        self.deadline = deadline
        self.future = future
        self.dropped = False

    def advance(self) -> tuple[bool, _T | None, BaseException | None]:
        """Run one chunk; (finished, result, error)."""
        try:
            if self.dropped:
                self.work.close()
                return True, None, None
            if self.deadline is not None and time.monotonic() >= self.deadline:
                self.work.close()
                return True, None, DeadlineError("the deadline has passed")
            next(self.work)
        except StopIteration as end:
            return True, end.value, None
        except BaseException as error:  # noqa: BLE001 -- handed to whoever waits for the job
            return True, None, error
        return False, None, None


class WorkerPool:
    """Threads that advance jobs; results come back on the event loop."""

    def __init__(self, threads: int, loop: asyncio.AbstractEventLoop) -> None:
        self.threads = threads
        """How many jobs are in work at once."""
        self.loop = loop
        """Where results come back."""
        self._lines: tuple[deque[_Job[Any]], ...] = tuple(deque() for _ in Priority)
        self._condition = threading.Condition()
        self._closed = False
        self._unfinished = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._outcomes: deque[tuple[_Job[Any], Any, BaseException | None]] = deque()
        self._delivery_due = False
        self._threads = [
            threading.Thread(target=self._run, name=f"bgserver-worker-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def unfinished(self) -> int:
        """Jobs that run or wait; those that were dropped count until a worker has let go."""
        return self._unfinished

    async def wait_idle(self) -> None:
        """Wait until no job runs or waits."""
        await self._idle.wait()

    def submit(
        self, work: Work[_T], priority: Priority, deadline: float | None = None
    ) -> asyncio.Future[_T]:
        """Queue a work; to be called on the event loop.

        Cancelling the future drops the work at its next chunk border.

        Args:
            work: What to compute.
            priority: Who goes first.
            deadline: When to give up with `DeadlineError`, on the clock of `time.monotonic`.

        Raises:
            NotReadyError: The pool is closed.
        """
        if self._closed:
            message = "the server is shutting down"
            raise NotReadyError(message)
        future: asyncio.Future[_T] = self.loop.create_future()
        job = _Job(work, priority, deadline, future)
        future.add_done_callback(lambda done: self._drop(job) if done.cancelled() else None)
        self._unfinished += 1
        self._idle.clear()
        with self._condition:
            self._lines[priority].append(job)
            self._condition.notify()
        return future

    async def run(self, work: Work[_T], priority: Priority, deadline: float | None = None) -> _T:
        """Queue a work and wait for its result; if this is cancelled the work is dropped."""
        return await self.submit(work, priority, deadline)

    def close(self) -> None:
        """Drop all jobs and end the threads."""
        with self._condition:
            self._closed = True
            for line in self._lines:
                for job in line:
                    job.dropped = True
            self._condition.notify_all()
        for thread in self._threads:
            thread.join()

    def _drop(self, job: _Job[Any]) -> None:
        with self._condition:
            job.dropped = True
            # To the front, so that a worker lets go of it at once.
            line = self._lines[job.priority]
            if job in line:
                line.remove(job)
                self._lines[Priority.INTERACTIVE].appendleft(job)

    def _run(self) -> None:
        while True:
            with self._condition:
                job = self._next()
                while job is None:
                    if self._closed:
                        return
                    self._condition.wait()
                    job = self._next()
            while True:
                finished, result, error = job.advance()
                if finished:
                    self._deliver(job, result, error)
                    break
                with self._condition:
                    job.dropped = job.dropped or self._closed
                    self._lines[job.priority].append(job)
                    following = self._next()
                if following is not None:
                    job = following

    def _next(self) -> _Job[Any] | None:
        for line in self._lines:
            if line:
                return line.popleft()
        return None

    def _deliver(self, job: _Job[Any], result: object, error: BaseException | None) -> None:
        """Hand over an outcome; one wake-up of the loop serves all that arrive before it runs."""
        with self._condition:
            self._outcomes.append((job, result, error))
            if self._delivery_due:
                return
            self._delivery_due = True
        try:
            self.loop.call_soon_threadsafe(self._settle)
        except RuntimeError:
            return  # the loop is closed: nobody waits

    def _settle(self) -> None:
        with self._condition:
            outcomes, self._outcomes = self._outcomes, deque()
            self._delivery_due = False
        for job, result, error in outcomes:
            self._unfinished -= 1
            if job.future.done():
                continue
            if error is not None:
                job.future.set_exception(error)
            elif job.dropped:
                job.future.cancel()
            else:
                job.future.set_result(result)
        if self._unfinished == 0:
            self._idle.set()
