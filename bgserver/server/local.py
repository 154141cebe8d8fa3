"""The services without a network, in this process: what the command line uses without a server.

The same servicers answer, behind the same gate, with the same errors. The event loop runs on a
thread of its own; callers are ordinary synchronous code.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self, cast

from bgserver.games.storage import IN_MEMORY, Storage
from bgserver.server.app import load_engine, no_progress
from bgserver.server.config import ServerConfig
from bgserver.server.errors import StatusError
from bgserver.server.game_clock import SystemClock
from bgserver.server.game_host import GameHost
from bgserver.server.gate import Gate
from bgserver.server.log import make_logger
from bgserver.server.metrics import Metrics
from bgserver.server.pool import WorkerPool
from bgserver.server.runtime import Condition, Runtime
from bgserver.server.services import bound_methods

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
    from types import TracebackType

    from google.protobuf.message import Message

    from bgserver.server.app import EngineLoader, Progress
    from bgserver.server.context import CallContext
    from bgserver.server.methods import BoundMethod, Reply

__all__ = ["LocalTransport"]

_WITHOUT_ENGINE = "/bgserver.v1.RulesService/"
_WITH_GAMES = "/bgserver.v1.GameService/"
_AHEAD = 16  # answers of a stream that may wait for a slow reader


class LocalTransport:
    """Calls methods by their full names (`/bgserver.v1.RulesService/ListPlays`).

    The engine is loaded when a method first needs it; `RulesService` never does. To be closed, or
    used as a context manager. Calls may come from several threads.
    """

    def __init__(
        self,
        config: ServerConfig | None = None,
        on_progress: Progress | None = None,
        *,
        loader: EngineLoader = load_engine,
    ) -> None:
        """Start the event loop.

        Args:
            config: Threads, limits and files; address and tokens are not used.
            on_progress: Told of the loading of the engine, on the calling thread.
            loader: How to get the engine.
        """
        self._config = config or ServerConfig(log_level="warning")
        self._on_progress = on_progress or no_progress
        self._loader = loader
        self._engine_lock = threading.Lock()
        self._has_engine = False
        self._has_games = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="bgserver-local", daemon=True
        )
        self._thread.start()
        self._pool, self._runtime = self._on_loop(self._set_up())
        self._runtime.condition = Condition.SERVING
        self._methods = bound_methods(self._runtime)
        self._gate = Gate(self._runtime, Metrics(self._methods), make_logger(self._config))

    @property
    def methods(self) -> dict[str, BoundMethod]:
        """All methods by full name, with their message classes."""
        return self._methods

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop everything."""
        self._pool.close()
        if self._has_games:
            self._on_loop(self._runtime.games.close())
        self._on_loop(_end_other_tasks())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def wait_idle(self) -> None:
        """Wait until nothing is computed any more."""
        self._on_loop(self._pool.wait_idle())

    def unary(self, name: str, request: Message, timeout_s: float | None = None) -> Message:
        """Call a unary method.

        Args:
            name: Full name of the method.
            request: The request.
            timeout_s: When to give up.

        Raises:
            StatusError: Whatever the server would answer.
            KeyError: There is no such method.
        """
        answer: Message = self._on_loop(self._unary(self._prepared(name), request, timeout_s))
        return answer

    def stream(
        self,
        name: str,
        requests: Message | Iterable[Message],
        timeout_s: float | None = None,
    ) -> Iterator[Message]:
        """Call a method that streams its answers; closing the iterator cancels the call.

        Args:
            name: Full name of the method.
            requests: The request, or all of them for a method that streams both ways; they are
                read as the method asks for them, on another thread.
            timeout_s: When to give up.

        Raises:
            StatusError: Whatever the server would answer.
            KeyError: There is no such method.
        """
        method = self._prepared(name)
        answers: asyncio.Queue[Message | StatusError | None] = asyncio.Queue(_AHEAD)
        pump = self._pump(method, requests, timeout_s, answers)
        task = asyncio.run_coroutine_threadsafe(pump, self._loop)
        try:
            while True:
                answer = self._on_loop(answers.get())
                if answer is None:
                    return
                if isinstance(answer, StatusError):
                    raise answer
                yield answer
        finally:
            task.cancel()

    async def _set_up(self) -> tuple[WorkerPool, Runtime]:
        pool = WorkerPool(self._config.threads, asyncio.get_running_loop())
        return pool, Runtime(self._config, pool)

    def _on_loop(self, coroutine: Any) -> Any:  # noqa: ANN401 -- passes any result through
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:  # Ctrl-C too: nobody waits for the answer any more
            future.cancel()
            raise

    def _prepared(self, name: str) -> BoundMethod:
        method = self._methods[name]
        if not name.startswith(_WITHOUT_ENGINE):
            with self._engine_lock:
                if not self._has_engine:
                    engine = self._loader(self._config, self._on_progress)
                    self._runtime.set_engine(engine)
                    self._has_engine = True
        if name.startswith(_WITH_GAMES):
            with self._engine_lock:
                if not self._has_games:
                    self._on_loop(self._open_games())
                    self._has_games = True
        return method

    async def _open_games(self) -> None:
        """Games of this process; they end with it."""
        clock = SystemClock()
        storage = await asyncio.to_thread(Storage, IN_MEMORY, clock.now)
        games = GameHost(self._runtime, storage, clock)
        self._runtime.set_games(games)
        await games.start()

    async def _unary(
        self, method: BoundMethod, request: Message, timeout_s: float | None
    ) -> Message:
        context, _ = self._gate.arrive(method.name, (), timeout_s)
        handler = cast("Callable[[Message, CallContext], Any]", method.handler)
        try:
            self._gate.admit(None)
            try:
                async with asyncio.timeout(timeout_s):
                    reply = handler(request, context)
                    if not method.on_loop:
                        reply = await reply
            finally:
                self._gate.leave()
        except Exception as error:
            raise StatusError(self._gate.failed(context, error, streaming=False)) from error
        self._gate.succeeded(context, streaming=False)
        return _message(method, reply)

    async def _pump(
        self,
        method: BoundMethod,
        requests: Message | Iterable[Message],
        timeout_s: float | None,
        answers: asyncio.Queue[Message | StatusError | None],
    ) -> None:
        """Put the answers of a stream into a queue, then its error or None."""
        context, _ = self._gate.arrive(method.name, (), timeout_s)
        handler = cast("Callable[[Any, CallContext], AsyncGenerator[Reply, None]]", method.handler)
        source: object = requests
        if method.client_streaming:
            source = _read_on_thread(cast("Iterable[Message]", requests))
        try:
            self._gate.admit(None, idle=method.idle)
            try:
                async with (
                    asyncio.timeout(timeout_s),
                    aclosing(handler(source, context)) as replies,
                ):
                    async for reply in replies:
                        await answers.put(_message(method, reply))
            finally:
                self._gate.leave(idle=method.idle)
        except Exception as error:  # noqa: BLE001 -- raised again by whoever reads the answers
            status = self._gate.failed(context, error, streaming=True)
            await answers.put(StatusError(status))
            return
        self._gate.succeeded(context, streaming=True)
        await answers.put(None)


def _message(method: BoundMethod, reply: Reply) -> Message:
    return method.response.FromString(reply) if isinstance(reply, bytes) else reply


async def _end_other_tasks() -> None:
    """Cancel what still runs on this loop and wait until it has ended."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _read_on_thread(requests: Iterable[Message]) -> AsyncIterator[Message]:
    """The items of an iterable that may block."""
    iterator = iter(requests)
    end = object()
    while (item := await asyncio.to_thread(next, iterator, end)) is not end:
        yield cast("Message", item)
