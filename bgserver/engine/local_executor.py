"""Chunks done by threads of this process."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Self, TypeVar

from bgserver.engine.errors import NotReadyError

if TYPE_CHECKING:
    from types import TracebackType

    from bgserver.engine.chunks import Chunk
    from bgserver.engine.evaluator import Engine

__all__ = ["LocalExecutor"]

_R = TypeVar("_R")
_AHEAD_PER_THREAD = 2  # one in work and one that waits, so that no thread waits for its caller


class LocalExecutor:
    """An `Executor` whose threads take chunks in the order in which they were submitted.

    To be closed, or used as a context manager.
    """

    def __init__(self, engine: Engine, threads: int) -> None:
        """Start the threads.

        Args:
            engine: What the chunks are worked on with.
            threads: How many chunks are in work at once, at least 1.
        """
        self._engine = engine
        self._waiting: deque[tuple[Chunk[Any], Future[Any]]] = deque()
        self._in_work: set[Future[Any]] = set()
        self._condition = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._run, name=f"bgserver-chunks-{number}", daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def grain_s(self) -> float:
        """Seconds that a chunk should take at least."""
        return 0.005

    @property
    def slots(self) -> int:
        """How many chunks to keep submitted."""
        return _AHEAD_PER_THREAD * len(self._threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def submit(self, chunk: Chunk[_R]) -> Future[_R]:
        """Begin with a chunk as soon as a thread is free; see `Executor`.

        Raises:
            NotReadyError: The executor is closed.
        """
        # Stays pending, and so can be cancelled, until there is a result.
        future: Future[_R] = Future()
        with self._condition:
            if self._closed:
                message = "the executor is closed"
                raise NotReadyError(message)
            self._waiting.append((chunk, future))
            self._condition.notify()
        return future

    def close(self) -> None:
        """Cancel what is not done and end the threads."""
        with self._condition:
            self._closed = True
            futures = [future for _, future in self._waiting] + list(self._in_work)
            self._waiting.clear()
            self._condition.notify_all()
        # Outside the lock: a callback of a future may submit.
        for future in futures:
            future.cancel()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._waiting:
                    if self._closed:
                        return
                    self._condition.wait()
                chunk, future = self._waiting.popleft()
                self._in_work.add(future)
            self._do(chunk, future)
            with self._condition:
                self._in_work.discard(future)

    def _do(self, chunk: Chunk[Any], future: Future[Any]) -> None:
        result: Any = None
        failure: BaseException | None = None
        try:
            work = chunk.work(self._engine)
            while not future.cancelled():
                next(work)
            work.close()
        except StopIteration as end:
            result = end.value
        except BaseException as error:  # noqa: BLE001 -- handed to whoever waits for the chunk
            failure = error
        if not future.set_running_or_notify_cancel():
            return
        if failure is not None:
            future.set_exception(failure)
        else:
            future.set_result(result)
