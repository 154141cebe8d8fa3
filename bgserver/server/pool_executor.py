"""Chunks done by the server's worker pool, among everything else that it computes."""

from __future__ import annotations

import contextlib
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bgserver.engine.errors import NotReadyError

if TYPE_CHECKING:
    import asyncio

    from bgserver.engine.chunks import Chunk
    from bgserver.engine.evaluator import Engine
    from bgserver.server.pool import Priority, WorkerPool

__all__ = ["PoolExecutor"]

_R = TypeVar("_R")


class PoolExecutor:
    """An `Executor` for one call; closing it cancels the chunks of that call only."""

    def __init__(
        self,
        pool: WorkerPool,
        engine: Engine,
        priority: Priority,
        deadline: float | None = None,
    ) -> None:
        """Make an executor.

        Args:
            pool: Where the chunks are worked on.
            engine: What they are worked on with.
            priority: Who goes first.
            deadline: When chunks give up with `DeadlineError`, on the clock of `time.monotonic`.
        """
        self._pool = pool
        self._engine = engine
        self._priority = priority
        self._deadline = deadline
        self._unfinished: set[Future[Any]] = set()
        self._closed = False

    @property
    def grain_s(self) -> float:
        """Seconds that a chunk should take at least."""
        return 0.005

    @property
    def slots(self) -> int:
        """How many chunks to keep submitted."""
        return self._pool.threads + 1

    def submit(self, chunk: Chunk[_R]) -> Future[_R]:
        """Begin with a chunk as soon as a worker is free; see `Executor`.

        Raises:
            NotReadyError: The executor is closed.
        """
        message = "the executor is closed"
        if self._closed:
            raise NotReadyError(message)
        # Stays pending, and so can be cancelled, until there is a result.
        future: Future[_R] = Future()
        try:
            self._pool.loop.call_soon_threadsafe(self._start, chunk, future)
        except RuntimeError:  # the event loop is closed
            raise NotReadyError(message) from None
        self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        return future

    def close(self) -> None:
        """Cancel what is not done."""
        self._closed = True
        for future in tuple(self._unfinished):
            future.cancel()

    def _start(self, chunk: Chunk[_R], future: Future[_R]) -> None:
        """Hand a chunk to the pool; on its event loop."""
        if future.cancelled():
            return
        try:
            inner = self._pool.submit(chunk.work(self._engine), self._priority, self._deadline)
        except NotReadyError as error:
            future.set_exception(error)
            return
        inner.add_done_callback(partial(_settle, future))
        future.add_done_callback(partial(self._cancel_inner, inner))

    def _cancel_inner(self, inner: asyncio.Future[Any], future: Future[Any]) -> None:
        if future.cancelled():
            with contextlib.suppress(RuntimeError):  # the event loop is closed: nothing runs
                self._pool.loop.call_soon_threadsafe(inner.cancel)


def _settle(future: Future[Any], inner: asyncio.Future[Any]) -> None:
    """Hand over the outcome of the pool."""
    if inner.cancelled():
        future.cancel()
    if not future.set_running_or_notify_cancel():
        if not inner.cancelled():
            inner.exception()  # marks it as seen, so that asyncio does not report it
        return
    error = inner.exception()
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(inner.result())
