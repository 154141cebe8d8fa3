"""The stream of `AnalyzeBatch`: questions in, answers out, each side no faster than the other."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, TypeAlias

from bgserver.engine.errors import EngineError, OverloadedError
from bgserver.server.analysis import AnalysisChunk, Answer, expected_s
from bgserver.server.pool import Priority
from bgserver.server.questions import RolloutLimits

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from concurrent.futures import Future

    from bgserver.engine.chunks import Executor
    from bgserver.server.context import CallContext
    from bgserver.server.runtime import Runtime
    from bgserver.v1 import engine_pb2

    _Done: TypeAlias = "asyncio.Future[list[Answer]] | BaseException | None"

__all__ = ["analyze"]

_READ_AHEAD = 64
_READ_AHEAD_A_SECOND = 2000  # of a chunk, so that short questions can fill one
_MOST_IN_CHUNK = 1024
_RETRY_AFTER_S = 5.0
_PARTING_S = 0.2


async def analyze(
    runtime: Runtime,
    requests: AsyncIterator[engine_pb2.AnalyzeBatchRequest],
    context: CallContext,
) -> AsyncGenerator[bytes, None]:
    """The serialised answers to a stream of questions, as they are found.

    So many chunks are in work as the executor has slots; a chunk leaves its slot when the client
    has taken all its answers. So a client that does not read is not read from, but for some
    questions ahead.

    Raises:
        OverloadedError: Too many batches are in work.
        ClusterError: The cluster that does them has gone.
    """
    try:
        executor = _admit(runtime, context)
    except EngineError:
        await _discard(requests)
        raise
    runtime.batches += 1
    limits = RolloutLimits(runtime.config.max_rollout_trials, runtime.config.max_rollout_plays)
    stream = _Stream(executor, requests, limits)
    try:
        async for answer in stream.answers():
            if answer.defect is not None:
                runtime.logger.error(
                    "question", request_id=context.request_id, exception=answer.defect
                )
            yield answer.response
    except EngineError:
        await stream.discard()
        raise
    finally:
        runtime.batches -= 1
        await stream.close()
        executor.close()


def _admit(runtime: Runtime, context: CallContext) -> Executor:
    """What does the chunks of a new batch."""
    most = runtime.config.max_batches
    if runtime.batches >= most:
        message = f"{most} batches are in work already"
        raise OverloadedError(message, _RETRY_AFTER_S)
    return runtime.executor(Priority.ANALYSIS, context.deadline)


async def _discard(requests: AsyncIterator[engine_pb2.AnalyzeBatchRequest]) -> None:
    """Read for a moment what a client has sent already, before it is refused.

    A client of `grpc.aio` that is refused while it sends hears of an internal error instead.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PARTING_S):
            async for _ in requests:
                pass


class _Stream:
    """One call in work: a task reads questions, another makes chunks of them."""

    def __init__(
        self,
        executor: Executor,
        requests: AsyncIterator[engine_pb2.AnalyzeBatchRequest],
        limits: RolloutLimits,
    ) -> None:
        self._executor = executor
        self._limits = limits
        self._questions: asyncio.Queue[engine_pb2.AnalyzeBatchRequest | None]
        ahead = max(_READ_AHEAD, int(_READ_AHEAD_A_SECOND * executor.grain_s))
        self._questions = asyncio.Queue(ahead)
        # Holds no more than there are slots.
        self._done: asyncio.Queue[_Done] = asyncio.Queue()
        self._in_flight = 0
        self._discarding = False
        self._room = asyncio.Event()
        self._tasks = (
            asyncio.create_task(self._read(requests)),
            asyncio.create_task(self._dispatch()),
        )

    async def answers(self) -> AsyncIterator[Answer]:
        """The answers, chunk by chunk as they are done."""
        ended = False
        while not (ended and self._in_flight == 0):
            done = await self._done.get()
            if done is None:
                ended = True
                continue
            if isinstance(done, BaseException):
                raise done
            for answer in done.result():
                yield answer
            self._in_flight -= 1
            self._room.set()
        await asyncio.gather(*self._tasks)  # raises what went wrong with the requests

    async def discard(self) -> None:
        """Read for a moment what the client has sent already; see `_discard`."""
        reader, dispatcher = self._tasks
        dispatcher.cancel()
        self._discarding = True
        while not self._questions.empty():
            self._questions.get_nowait()
        await asyncio.wait({reader}, timeout=_PARTING_S)

    async def close(self) -> None:
        """Stop reading."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(self, requests: AsyncIterator[engine_pb2.AnalyzeBatchRequest]) -> None:
        try:
            async for request in requests:
                if not self._discarding:
                    await self._questions.put(request)
        except Exception:
            await self._questions.put(None)  # what was asked before is still answered
            raise
        await self._questions.put(None)

    async def _dispatch(self) -> None:
        try:
            while True:
                while self._in_flight >= self._executor.slots:
                    self._room.clear()
                    await self._room.wait()
                chunk = await self._next_chunk()
                if chunk is None:
                    break
                self._in_flight += 1
                future: Future[list[Answer]] = self._executor.submit(chunk)
                asyncio.wrap_future(future).add_done_callback(self._note)
        except Exception as error:  # noqa: BLE001 -- raised again by whoever reads the answers
            self._done.put_nowait(error)
        else:
            self._done.put_nowait(None)

    def _note(self, done: asyncio.Future[list[Answer]]) -> None:
        if not done.cancelled():
            done.exception()  # marks it as seen, also if another failure is told first
        self._done.put_nowait(done)

    async def _next_chunk(self) -> AnalysisChunk | None:
        """The questions that wait, as many as make a chunk; None at the end.

        A question that comes alone does not wait for others.
        """
        question = await self._questions.get()
        if question is None:
            return None
        requests = [question.SerializeToString()]
        seconds = expected_s(question)
        while seconds < self._executor.grain_s and len(requests) < _MOST_IN_CHUNK:
            try:
                question = self._questions.get_nowait()
            except asyncio.QueueEmpty:
                break
            if question is None:
                self._questions.put_nowait(None)
                break
            requests.append(question.SerializeToString())
            seconds += expected_s(question)
        return AnalysisChunk(tuple(requests), self._limits)
