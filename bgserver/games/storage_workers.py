"""Threads that own a connection to the data file, and do one job after another with it."""

from __future__ import annotations

import queue
import sqlite3
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bgserver.games.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Worker", "Writer"]

_T = TypeVar("_T")
_MOST_IN_ONE = 256  # of a transaction, so that the first of them does not wait long


class _Job(Generic[_T]):
    """Something to do with a connection."""

    __slots__ = ("future", "task")

    def __init__(self, task: Callable[[sqlite3.Connection], _T]) -> None:
        self.task = task
        self.future: Future[_T] = Future()


class Worker:
    """A thread that owns a connection."""

    def __init__(self, name: str, connect: Callable[[], sqlite3.Connection]) -> None:
        """Start the thread; returns once it has connected, or raises what kept it from that."""
        self._jobs: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._connect = connect
        opened: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(opened,), name=name, daemon=True)
        self._thread.start()
        opened.result()

    def submit(self, task: Callable[[sqlite3.Connection], _T]) -> Future[_T]:
        """Have the thread do something; what it gives or raises is in the future."""
        job = _Job(task)
        self._jobs.put(job)
        return job.future

    def close(self) -> None:
        """Do all that has been submitted, then end."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self, opened: Future[None]) -> None:
        try:
            connection = self._connect()
        except BaseException as error:  # noqa: BLE001 -- raised where the worker is made
            opened.set_exception(error)
            return
        opened.set_result(None)
        ended = False
        while not ended:
            waiting, ended = self._next()
            # Nobody waits any more for a job whose future was cancelled. The others cannot be
            # cancelled from here on.
            self._do(connection, [j for j in waiting if j.future.set_running_or_notify_cancel()])
        connection.close()

    def _next(self) -> tuple[list[_Job[Any]], bool]:
        """All jobs that wait, at least one unless the end has come; whether it has."""
        jobs: list[_Job[Any]] = []
        item = self._jobs.get()
        while item is not None:
            jobs.append(item)
            if len(jobs) == _MOST_IN_ONE:
                return jobs, False
            try:
                item = self._jobs.get_nowait()
            except queue.Empty:
                return jobs, False
        return jobs, True

    def _do(self, connection: sqlite3.Connection, jobs: list[_Job[Any]]) -> None:
        for job in jobs:
            try:
                result = job.task(connection)
            except sqlite3.Error as error:
                job.future.set_exception(_failure(error))
            except Exception as error:  # noqa: BLE001 -- handed to whoever waits
                job.future.set_exception(error)
            else:
                job.future.set_result(result)


class Writer(Worker):
    """A worker whose jobs share transactions."""

    def __init__(
        self,
        name: str,
        connect: Callable[[], sqlite3.Connection],
        before_commit: Callable[[sqlite3.Connection], None],
    ) -> None:
        """Start the thread; `before_commit` is done at the end of every transaction."""
        self._before_commit = before_commit
        super().__init__(name, connect)

    def _do(self, connection: sqlite3.Connection, jobs: list[_Job[Any]]) -> None:
        if not jobs:
            return
        outcomes: list[tuple[_Job[Any], Any, Exception | None]] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            outcomes.extend((job, *_apart(connection, job)) for job in jobs)
            self._before_commit(connection)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            # Nothing of this transaction was stored, whatever the jobs thought.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            failure = _failure(error)
            outcomes = [(job, None, failure) for job in jobs]
        for job, result, failed in outcomes:
            if failed is not None:
                job.future.set_exception(failed)
            else:
                job.future.set_result(result)


def _apart(connection: sqlite3.Connection, job: _Job[Any]) -> tuple[Any, Exception | None]:
    """Do one job of a transaction; if it fails, only its own changes are undone."""
    connection.execute("SAVEPOINT job")
    try:
        result = job.task(connection)
    except sqlite3.OperationalError:
        raise  # the disk or the file, and not this job: the whole transaction has failed
    except Exception as error:  # noqa: BLE001 -- handed to whoever waits for the job
        connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")
        return None, error
    connection.execute("RELEASE job")
    return result, None


def _failure(error: sqlite3.Error) -> StorageError:
    failure = StorageError(f"games cannot be stored or read now: {error}")
    failure.__cause__ = error
    return failure
