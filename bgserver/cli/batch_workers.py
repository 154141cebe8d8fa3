"""Who answers the lines of `bgserver batch`: threads here, a cluster, or a server."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from bgserver import __version__
from bgserver.cli.batch_lines import (
    UnreadableLineError,
    Written,
    read_line,
    refused,
    written,
)
from bgserver.cli.compiling import telling_of_compilation
from bgserver.cli.config import read_config
from bgserver.cli.methods import method_for
from bgserver.cli.problems import input_error
from bgserver.cli.progress import busy, steps
from bgserver.cli.transport import GrpcTransport, ask
from bgserver.v1 import engine_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from bgserver.cli.batch_lines import Figure, LineSettings
    from bgserver.cli.transport import Transport
    from bgserver.engine.chunks import Executor
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.identity import Identity

    Line: TypeAlias = tuple[int, bytes]
    Answers: TypeAlias = Callable[
        [Iterable[Line], int, LineSettings], Generator[Written, None, None]
    ]

__all__ = ["Workers", "here", "on_cluster", "on_server"]

_IN_FLIGHT = 1024
_TOGETHER = 32  # answers of a server that are written at once, if they come fast
_WRITTEN_EVERY_S = 0.2


@dataclass(frozen=True)
class Workers:
    """Who answers."""

    version: str
    """Version of bgserver that makes the figures."""
    digest: str
    """Digest of its weights and tables."""
    rollout_levels: tuple[str, ...]
    """Its rollout levels with their versions."""
    answers: Answers
    """The answers to lines, of which there are so many, in their order; closing the generator
    stops the work."""


@contextmanager
def here(threads: int | None) -> Iterator[Workers]:
    """Threads of this process.

    Args:
        threads: How many; None for one for each processor.
    """
    from bgserver.engine.identity import identity_of  # noqa: PLC0415 -- loads Numba
    from bgserver.engine.local_executor import LocalExecutor  # noqa: PLC0415 -- loads slowly
    from bgserver.server.app import load_engine  # noqa: PLC0415 -- loads Numba

    config = read_config(threads=threads)
    with telling_of_compilation():
        with steps() as on_progress:
            engine = load_engine(config, on_progress)
        identity = identity_of(engine)
        with LocalExecutor(engine, config.threads) as executor:
            yield _workers(identity, executor, engine)


@contextmanager
def on_cluster(address: str) -> Iterator[Workers]:
    """The workers of a Dask cluster, with the weights and tables that this process has.

    Args:
        address: Of the scheduler.

    Raises:
        ClusterError: The cluster cannot do it.
    """
    from bgserver.engine.cluster import connect_cluster, require_dask  # noqa: PLC0415 -- loads slowly

    require_dask()
    from bgserver.engine.dask_worker import EngineSource  # noqa: PLC0415 -- loads slowly
    from bgserver.engine.evaluator import Engine  # noqa: PLC0415 -- loads Numba

    config = read_config()
    with telling_of_compilation(), steps() as on_progress:
        engine = Engine.load(
            weights=config.weights, met=config.match_equity_table, progress=on_progress
        )
        engine.warm_up(on_progress)  # rollouts are put together here
    source = EngineSource.of(engine, config.weights, config.match_equity_table)
    with busy("preparing the workers of the cluster"):
        cluster = connect_cluster(address, source)
    with cluster, closing(cluster.executor()) as executor:
        yield _workers(source.identity, executor, engine)


def _workers(identity: Identity, executor: Executor, engine: Engine) -> Workers:
    """Those behind an executor."""
    from bgserver.cli.batch_jobs import answer_lines  # noqa: PLC0415 -- loads Numba
    from bgserver.engine.rollout_level import ROLLOUT_LEVELS  # noqa: PLC0415 -- the same

    levels = tuple(level.full_name for level in ROLLOUT_LEVELS)
    answers = partial(answer_lines, executor, engine)
    return Workers(identity.version, identity.digest, levels, answers)


@contextmanager
def on_server(address: str, token: str | None, timeout_s: float | None) -> Iterator[Workers]:
    """A running server.

    Args:
        address: Where it is.
        token: For a server that asks for one.
        timeout_s: When to give up.
    """
    with closing(GrpcTransport(address, token=token, timeout_s=timeout_s)) as transport:
        info = ask(transport, engine_pb2.GetInfoRequest(), engine_pb2.GetInfoResponse)

        def answers(
            lines: Iterable[Line], count: int, settings: LineSettings
        ) -> Generator[Written, None, None]:
            del count
            return _Conversation(transport, lines, settings).answers()

        levels = tuple(info.rollout_levels)
        yield Workers(info.version or __version__, info.digest, levels, answers)


class _Conversation:
    """One stream to a server; puts its answers into the order of the lines."""

    def __init__(self, transport: Transport, lines: Iterable[Line], settings: LineSettings) -> None:
        self._transport = transport
        self._lines = iter(lines)
        self._settings = settings
        # Shared with the thread on which gRPC takes the requests.
        self._lock = threading.Lock()
        self._asked: deque[tuple[int, str]] = deque()  # numbers and ids, in order
        self._refused: dict[int, engine_pb2.AnalyzeBatchResponse] = {}
        self._room = threading.Semaphore(_IN_FLIGHT)
        self._ended = False
        self._answered: dict[int, engine_pb2.AnalyzeBatchResponse] = {}

    def answers(self) -> Generator[Written, None, None]:
        """The answers, in the order of the lines."""
        method = method_for(engine_pb2.AnalyzeBatchRequest())
        replies = self._transport.stream(method, self._requests())
        written_at = time.monotonic()
        try:
            for reply in replies:
                if not isinstance(reply, engine_pb2.AnalyzeBatchResponse):
                    message = f"expected AnalyzeBatchResponse, got {type(reply).__name__}"
                    raise TypeError(message)
                self._answered[int(reply.id)] = reply
                now = time.monotonic()
                if len(self._answered) >= _TOGETHER or now - written_at >= _WRITTEN_EVERY_S:
                    written_at = now
                    yield from self._ready()
            yield from self._ready()
            if self._asked:
                message = "the server ended the stream before it answered"
                raise input_error(message, field="", reason="STREAM_ENDED")
        finally:
            self._ended = True
            self._room.release()
            replies.close()

    def _requests(self) -> Iterator[engine_pb2.AnalyzeBatchRequest]:
        """The questions, no more than there is room for.

        A line that cannot be read is sent as a question without content, so that it has its place
        among the answers; what is wrong with it is known here.
        """
        for number, line in self._lines:
            self._room.acquire()
            if self._ended:
                return
            try:
                request = read_line(line, self._settings)
            except UnreadableLineError as error:
                request = engine_pb2.AnalyzeBatchRequest(id=error.identifier)
                with self._lock:
                    self._refused[number] = refused(error)
            with self._lock:
                self._asked.append((number, request.id))
            request.id = str(number)
            yield request

    def _ready(self) -> Generator[Written, None, None]:
        """The answers that follow those before without a gap."""
        lines: list[bytes] = []
        figures: list[Figure] = []
        last = 0
        while True:
            with self._lock:
                if not self._asked or self._asked[0][0] not in self._answered:
                    break
                last, name = self._asked.popleft()
                refusal = self._refused.pop(last, None)
            answer = refusal or self._answered[last]
            del self._answered[last]
            self._room.release()
            answer.id = name
            text, figure = written(last, answer)
            lines.append(text)
            figures.append(figure)
        if lines:
            yield Written(b"".join(lines), last, figures, [])
