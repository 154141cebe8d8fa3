"""The lines of a batch as jobs of chunks, and an executor that is kept busy with them.

Short questions share a chunk. A rollout is a chunk as long as there are more of them than workers;
long ones, and the last ones, are cut into chunks of trials, so that all workers have work to the
end, and a worker that is lost costs only the trials that it had. Where the cuts are changes nothing
in the answers.
"""

from __future__ import annotations

import itertools
import traceback
from collections import deque
from concurrent.futures import CancelledError
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

from bgserver.cli.batch_lines import (
    LinesChunk,
    UnreadableLineError,
    Written,
    line_seconds,
    read_line,
    refused,
    written,
)
from bgserver.engine.errors import ClusterError, EngineError, NotReadyError
from bgserver.engine.work import run
from bgserver.server.analysis import error_message
from bgserver.server.convert_rollout import begin_rollout, rollout_message
from bgserver.server.questions import Convergence, RolloutLimits
from bgserver.v1 import engine_pb2

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from concurrent.futures import Future
    from typing import TypeAlias

    from bgserver.cli.batch_lines import LineSettings
    from bgserver.engine.chunks import Chunk, Executor
    from bgserver.engine.evaluator import Engine

    Line: TypeAlias = tuple[int, bytes]

__all__ = ["answer_lines"]

_MOST_LINES = 1024
_KEPT = 8
_AHEAD_OF_STOP = 8  # chunks of a rollout that may end before its last trial
_WHOLE = 2  # rollouts for each slot of the executor, from which on they are not cut
_LONG_TRIALS = 5000  # rollouts with more are always cut
_NO_LIMITS = RolloutLimits()


class _Job(Protocol):
    """Some lines on the way to their answers."""

    most_ahead: int | None
    """Most chunks to have in work at once; None for any number."""

    def next_chunk(self) -> Chunk[Any] | None:
        """What is to be done next; None if there is nothing more."""

    def add(self, result: Any) -> None:  # noqa: ANN401 -- of the chunk
        """Take a result; results come in the order of the chunks."""

    def fail(self, error: Exception) -> None:
        """Take the failure of a chunk, which is a defect."""

    def written(self) -> Written | None:
        """The answers; None while they are not known."""


class _LinesJob:
    """Lines that share one chunk."""

    most_ahead: int | None = None

    def __init__(self, chunk: LinesChunk) -> None:
        self.chunk = chunk
        """All of them."""
        self._is_given_out = False
        self._written: Written | None = None

    def next_chunk(self) -> Chunk[Written] | None:
        """The chunk, once."""
        if self._is_given_out:
            return None
        self._is_given_out = True
        return self.chunk

    def add(self, result: Written) -> None:
        """Take its result."""
        self._written = result

    def fail(self, error: Exception) -> None:
        """Lines catch their own defects: this is one of the chunk."""
        raise error

    def written(self) -> Written | None:
        """The answers."""
        return self._written


class _RolloutJob:
    """A line with a rollout, cut into chunks of trials."""

    def __init__(
        self, number: int, request: engine_pb2.AnalyzeBatchRequest, engine: Engine
    ) -> None:
        rollout = request.rollout
        self._number = number
        self._engine = engine
        self._spec, self._run = run(
            begin_rollout(rollout, engine, _NO_LIMITS.trials, _NO_LIMITS.plays)
        )
        self._convergence = Convergence(self._run)
        self._chunks = self._run.chunks()
        self._id = request.id
        self._failure: Written | None = None
        may_end = rollout.HasField("standard_error") or rollout.HasField("joint_deviations")
        self.most_ahead = _AHEAD_OF_STOP if may_end else None

    def next_chunk(self) -> Chunk[Any] | None:
        """Some trials."""
        return next(self._chunks, None) if self._failure is None else None

    def add(self, result: Any) -> None:  # noqa: ANN401 -- of the chunk
        """Take their figures."""
        self._run.add(result)
        self._convergence.look()

    def fail(self, error: Exception) -> None:
        """Answer that bgserver has failed."""
        text = "".join(traceback.format_exception(error))
        failed = error_message(EngineError("internal error"))
        response = engine_pb2.AnalyzeBatchResponse(id=self._id, error=failed)
        self._failure = _one(self._number, response, [f"line {self._number}: {text}"])

    def written(self) -> Written | None:
        """The answer, once the rollout has ended."""
        if self._failure is not None or self._run.stopped_by is None:
            return self._failure
        response = engine_pb2.AnalyzeBatchResponse(
            id=self._id,
            rollout=rollout_message(self._engine, self._spec, self._run),
            convergence=self._convergence.points,
        )
        return _one(self._number, response)


class _KnownJob:
    """A line whose answer is known at once."""

    most_ahead: int | None = None

    def __init__(self, ready: Written) -> None:
        self._ready = ready

    def next_chunk(self) -> None:
        """Nothing is to be done."""

    def add(self, result: object) -> None:
        """Is never called."""

    def fail(self, error: Exception) -> None:
        """Is never called."""

    def written(self) -> Written | None:
        """The answer."""
        return self._ready


def _one(
    number: int, response: engine_pb2.AnalyzeBatchResponse, defects: Iterable[str] = ()
) -> Written:
    text, figure = written(number, response)
    return Written(text, number, [figure], list(defects))


def _jobs(
    lines: Iterable[Line], count: int, settings: LineSettings, engine: Engine, executor: Executor
) -> Iterator[_Job]:
    """The lines as jobs.

    Args:
        lines: The lines with their numbers.
        count: How many they are.
        settings: What holds for lines that do not say otherwise.
        engine: What puts rollouts together.
        executor: Who does the work.
    """
    part: list[Line] = []
    seconds = 0.0
    for left, line in zip(itertools.count(count, -1), lines, strict=False):
        is_cut = left < _WHOLE * executor.slots
        rollout = _rollout_job(*line, settings, engine, is_cut=is_cut)
        if rollout is None:
            part.append(line)
            seconds += line_seconds(line[1], settings)
        if part and (
            rollout is not None or seconds >= executor.grain_s or len(part) >= _MOST_LINES
        ):
            yield _LinesJob(LinesChunk(tuple(part), settings))
            part, seconds = [], 0.0
        if rollout is not None:
            yield rollout
    if part:
        yield _LinesJob(LinesChunk(tuple(part), settings))


def _rollout_job(
    number: int, line: bytes, settings: LineSettings, engine: Engine, *, is_cut: bool
) -> _Job | None:
    """The job of a line with a rollout that is cut; None for any other line."""
    if not settings.rollout and b"rollout" not in line:
        return None
    try:
        request = read_line(line, settings)
    except UnreadableLineError as error:
        return _KnownJob(_one(number, refused(error)))
    if request.WhichOneof("question") != "rollout":
        return None
    if not is_cut and request.rollout.trials <= _LONG_TRIALS:
        return None
    try:
        return _RolloutJob(number, request, engine)
    except EngineError as error:
        response = engine_pb2.AnalyzeBatchResponse(id=request.id, error=error_message(error))
        return _KnownJob(_one(number, response))


class _Flight:
    """A job and its chunks that are in work."""

    def __init__(self, job: _Job) -> None:
        self._job = job
        self._futures: deque[Future[Any]] = deque()

    def submit(self, executor: Executor) -> tuple[Future[Any] | None, bool]:
        """Submit the next chunk, if there is room for it; (its future, more may follow)."""
        job, futures = self._job, self._futures
        if futures and futures[0].done():
            self._collect()
        if job.most_ahead is not None and len(futures) >= job.most_ahead:
            return None, True
        chunk = job.next_chunk()
        if chunk is None:
            return None, False
        future = executor.submit(chunk)
        futures.append(future)
        return future, True

    def finish(self) -> Written | None:
        """The answers, if they are there; what was begun in vain is cancelled."""
        self._collect()
        answers = self._job.written()
        if answers is not None:
            self.cancel()
        return answers

    def cancel(self) -> None:
        """Drop what is in work."""
        for future in self._futures:
            future.cancel()

    def _collect(self) -> None:
        """Hand the results that are there to the job."""
        futures = self._futures
        while futures and futures[0].done():
            future = futures.popleft()
            try:
                self._job.add(future.result())
            except (CancelledError, ClusterError, NotReadyError):
                raise
            except Exception as error:  # noqa: BLE001 -- an answer is made of it
                self._job.fail(error)
                return


def answer_lines(
    executor: Executor, engine: Engine, lines: Iterable[Line], count: int, settings: LineSettings
) -> Generator[Written, None, None]:
    """The answers to lines, in their order; closing the generator cancels what is in work.

    Args:
        executor: Who does the work.
        engine: The engine of whoever does it, or one like it.
        lines: The lines with their numbers.
        count: How many they are.
        settings: What holds for lines that do not say otherwise.
    """
    source = _jobs(lines, count, settings, engine, executor)
    flights: deque[_Flight] = deque()
    opened: deque[_Flight] = deque()  # those that may have more chunks
    done: SimpleQueue[Future[Any]] = SimpleQueue()
    in_work = 0
    try:
        while True:
            while not done.empty():
                done.get()
                in_work -= 1
            slots = executor.slots
            while in_work < slots:
                future = _submit(executor, opened)
                if future is not None:
                    future.add_done_callback(done.put)
                    in_work += 1
                    continue
                job = next(source, None) if len(flights) < _KEPT * slots else None
                if job is None:
                    break
                flights.append(_Flight(job))
                opened.append(flights[-1])
            if not flights:
                return
            answers = flights[0].finish()
            if answers is not None:
                flights.popleft()
                yield answers
            else:
                done.get()
                in_work -= 1
    finally:
        for flight in flights:
            flight.cancel()


def _submit(executor: Executor, opened: deque[_Flight]) -> Future[Any] | None:
    """Submit a chunk of the first job that has one; None if none has."""
    for flight in tuple(opened):
        future, may_follow = flight.submit(executor)
        if not may_follow:
            opened.remove(flight)
        if future is not None:
            return future
    return None
