"""Chunks: long computations cut into parts that any thread, process or machine can do.

A rollout, a batch or an analysis is a list of chunks. Where they are cut depends on the question
alone, never on who works on it, and whoever asked puts the results together in the order of the
chunks. So the answer is the same, bit for bit, on one thread, on many and on a cluster, and a
worker that is lost costs only the chunks that it had.
"""

from __future__ import annotations

from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from concurrent.futures import Future

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.work import Work

__all__ = ["Chunk", "Executor", "results_in_order"]

_KEPT = 8
_R = TypeVar("_R")
_R_co = TypeVar("_R_co", covariant=True)


class Chunk(Protocol[_R_co]):
    """A part of a computation: a frozen dataclass that can be pickled, and so can its result.

    The result depends on nothing but the fields and the engine's weights and tables.
    """

    def work(self, engine: Engine) -> Work[_R_co]:
        """The computation, which yields between pieces of 5 ms at most."""
        ...


class Executor(Protocol):
    """Does chunks, somewhere."""

    @property
    def slots(self) -> int:
        """How many chunks to keep submitted so that no worker waits for more."""
        ...

    @property
    def grain_s(self) -> float:
        """Seconds that a chunk should take at least, so that handing it over costs little.

        For work that may be cut anywhere; where the cuts change the result they are fixed.
        """
        ...

    def submit(self, chunk: Chunk[_R]) -> Future[_R]:
        """Begin with a chunk as soon as a worker is free; may be called on any thread.

        Cancelling the future, also while its chunk is being worked on, drops the work between two
        pieces. A failure of the chunk is the future's exception.

        Raises:
            NotReadyError: The executor is closed.
        """
        ...

    def close(self) -> None:
        """Cancel what was submitted and is not done, and let go of what the executor owns."""
        ...


def results_in_order(executor: Executor, chunks: Iterable[Chunk[_R]]) -> Generator[_R, None, None]:
    """The results of chunks in the order of the chunks, for callers that may block.

    So many chunks are kept in work as the executor has slots; results that wait for an earlier one
    are kept, up to some times as many. Closing the generator, or a failure of a chunk, cancels the
    others.
    """
    source = iter(chunks)
    line: deque[Future[_R]] = deque()
    done: SimpleQueue[Future[_R]] = SimpleQueue()
    in_work = 0
    try:
        while True:
            while not done.empty():
                done.get()
                in_work -= 1
            slots = executor.slots
            while (
                in_work < slots
                and len(line) < _KEPT * slots
                and (chunk := next(source, None)) is not None
            ):
                future = executor.submit(chunk)
                line.append(future)
                in_work += 1
                future.add_done_callback(done.put)
            if not line:
                return
            if line[0].done():
                yield line.popleft().result()
            else:
                done.get()
                in_work -= 1
    finally:
        for future in line:
            future.cancel()
