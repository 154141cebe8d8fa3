"""The worker pool: order, fairness, cancelling, deadlines."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from bgserver.engine.errors import DeadlineError, NotReadyError
from bgserver.server.pool import Priority, WorkerPool, one_chunk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bgserver.engine.work import Work


@pytest_asyncio.fixture
async def pool() -> AsyncIterator[WorkerPool]:
    """A pool with a single worker, so that the order of chunks is the order of turns."""
    pool = WorkerPool(1, asyncio.get_running_loop())
    yield pool
    await asyncio.to_thread(pool.close)


class _Gate:
    """Holds the only worker until the test has queued what it wants to see in order."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self.entered = threading.Event()

    def work(self) -> Work[None]:
        self.entered.set()
        self._open.wait()
        yield

    def open(self) -> None:
        self._open.set()


def _noting(notes: list[str], name: str, chunks: int) -> Work[str]:
    for _ in range(chunks):
        notes.append(name)
        yield
    return name


class _Endless:
    """A work without end that tells of its beginning and its closing."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.closed = threading.Event()

    def work(self) -> Work[None]:
        try:
            while True:
                self.started.set()
                yield
        finally:
            self.closed.set()


async def test_urgent_jobs_go_first_and_equal_ones_take_turns(pool: WorkerPool) -> None:
    gate = _Gate()
    notes: list[str] = []
    first = pool.submit(gate.work(), Priority.INTERACTIVE)
    await asyncio.to_thread(gate.entered.wait)
    jobs = [
        pool.submit(_noting(notes, "batch a", 2), Priority.BATCH),
        pool.submit(_noting(notes, "batch b", 2), Priority.BATCH),
        pool.submit(_noting(notes, "analysis", 2), Priority.ANALYSIS),
        pool.submit(_noting(notes, "person", 1), Priority.INTERACTIVE),
    ]
    gate.open()
    assert await asyncio.gather(first, *jobs) == [None, "batch a", "batch b", "analysis", "person"]
    assert notes == [
        "person",
        "analysis",
        "analysis",
        "batch a",
        "batch b",
        "batch a",
        "batch b",
    ]


async def test_a_long_job_lets_an_urgent_one_pass_between_its_chunks(pool: WorkerPool) -> None:
    endless = _Endless()
    job = pool.submit(endless.work(), Priority.BATCH)
    await asyncio.to_thread(endless.started.wait)
    assert await pool.run(one_chunk(lambda: 7), Priority.INTERACTIVE) == 7
    job.cancel()
    await pool.wait_idle()
    assert endless.closed.is_set()


async def test_cancelling_the_task_drops_a_waiting_job_and_a_running_one(pool: WorkerPool) -> None:
    endless = _Endless()
    notes: list[str] = []
    running = asyncio.create_task(pool.run(endless.work(), Priority.INTERACTIVE))
    waiting = asyncio.create_task(pool.run(_noting(notes, "never", 1), Priority.BATCH))
    await asyncio.to_thread(endless.started.wait)
    assert pool.unfinished == 2
    waiting.cancel()
    running.cancel()
    await asyncio.gather(running, waiting, return_exceptions=True)
    await pool.wait_idle()
    assert endless.closed.is_set()
    assert not notes
    assert pool.unfinished == 0


async def test_the_deadline_stops_a_job(pool: WorkerPool) -> None:
    endless = _Endless()
    with pytest.raises(DeadlineError):
        await pool.run(endless.work(), Priority.BATCH, time.monotonic() + 0.05)
    assert endless.closed.is_set()


async def test_errors_reach_whoever_waits(pool: WorkerPool) -> None:
    def fail() -> None:
        message = "broken"
        raise LookupError(message)

    with pytest.raises(LookupError, match="broken"):
        await pool.run(one_chunk(fail), Priority.BATCH)
    assert await pool.run(one_chunk(lambda: 1), Priority.BATCH) == 1


async def test_closing_drops_what_is_left(pool: WorkerPool) -> None:
    job = pool.submit(_Endless().work(), Priority.BATCH)
    await asyncio.to_thread(pool.close)
    with pytest.raises(asyncio.CancelledError):
        await job
    with pytest.raises(NotReadyError):
        pool.submit(one_chunk(lambda: 1), Priority.BATCH)


async def test_thousands_of_short_jobs_on_many_threads() -> None:
    pool = WorkerPool(8, asyncio.get_running_loop())
    jobs = [
        pool.submit(_noting([], str(number), 1), Priority(number % 3)) for number in range(3_000)
    ]
    assert await asyncio.gather(*jobs) == [str(number) for number in range(3_000)]
    await asyncio.to_thread(pool.close)
