"""Chunks done by the workers of a Dask cluster. Import it through `bgserver.engine.cluster`."""

from __future__ import annotations

import asyncio
import importlib.metadata
import logging
import pickle
import threading
from concurrent.futures import CancelledError as FuturesCancelledError
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from distributed import Client, KilledWorker
from distributed.diagnostics.plugin import WorkerPlugin

from bgserver.engine.dask_worker import EngineSource, engine_of, run_chunk
from bgserver.engine.errors import ClusterError, NotReadyError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future
    from types import TracebackType

    from tornado.platform.asyncio import AsyncIOLoop

    from bgserver.engine.chunks import Chunk

__all__ = ["DaskCluster", "DaskExecutor"]

_R = TypeVar("_R")
_CONNECT_S = 10
_WORKERS_S = 30  # until a first worker has come, and again when the last has gone
_LOOK_EVERY_S = 1.0
_AHEAD_PER_THREAD = 2
_NAMED = 3


class _Prepares(WorkerPlugin):
    """Makes each worker, also those that join later, load and compile before it takes work."""

    def __init__(self, source: EngineSource) -> None:
        self.name = f"bgserver-{source.identity.version}-{source.identity.digest}"
        self._source = source

    async def setup(self, worker: object) -> None:
        """Load the engine; the worker goes on talking to its scheduler meanwhile."""
        del worker
        await asyncio.to_thread(engine_of, self._source)


class DaskCluster:
    """A connection to a cluster whose workers are prepared; makes executors.

    To be closed, or used as a context manager.
    """

    def __init__(
        self,
        address: str,
        source: EngineSource,
        *,
        connect_timeout_s: float = _CONNECT_S,
        workers_timeout_s: float = _WORKERS_S,
    ) -> None:
        """Connect and prepare the workers; returns when they are compiled.

        Args:
            address: Of the scheduler, `tcp://host:port`.
            source: The engine that the workers must have.
            connect_timeout_s: Patience with a scheduler that does not answer.
            workers_timeout_s: Patience with a cluster that has no workers.

        Raises:
            ClusterError: See `bgserver.engine.cluster.connect_cluster`.
        """
        self.address = address
        """Where the scheduler is."""
        self._source = source
        self._workers_timeout_s = workers_timeout_s
        self._pending: set[asyncio.Task[Any]] = set()
        self._failure: ClusterError | None = None
        self._threads = 0
        # Failures are told by exceptions; the notices of the libraries would be in their way.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = Client(address, timeout=connect_timeout_s, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            message = f"cannot reach a Dask scheduler at {address}: {error}"
            raise ClusterError(ClusterError.UNREACHABLE, message) from error
        try:
            self._prepare()
        except BaseException:
            self._client.close()
            raise
        loop = cast("AsyncIOLoop", self._client.loop)
        self._loop = loop.asyncio_loop
        self._monitor = asyncio.run_coroutine_threadsafe(self._watch(), self._loop)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def is_lost(self) -> bool:
        """True if the scheduler or all workers have gone; a new connection is needed."""
        return self._failure is not None or self._client.status != "running"

    @property
    def threads(self) -> int:
        """Threads of all workers, as of a moment ago."""
        return self._threads

    def executor(self) -> DaskExecutor:
        """An executor; closing it cancels its own chunks only."""
        return DaskExecutor(self)

    def close(self) -> None:
        """Cancel everything and close the connection."""
        self._monitor.cancel()
        self._client.close()

    def start(self, chunk: Chunk[_R]) -> Future[_R]:
        """Send a chunk; may be called on any thread.

        Raises:
            ClusterError: The scheduler or all workers have gone.
        """
        if self.is_lost:
            raise self._failure or self._lost()
        done: Coroutine[Any, Any, _R] = self._do(pickle.dumps(chunk))
        try:
            return asyncio.run_coroutine_threadsafe(done, self._loop)
        except RuntimeError:  # the loop has ended
            done.close()
            raise self._lost() from None

    async def _do(self, data: bytes) -> Any:  # noqa: ANN401 -- whatever the chunk gives
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._pending.add(task)
        future = None
        try:
            future = self._client.submit(run_chunk, data, self._source, pure=False)
            return await future
        except KilledWorker as error:
            message = f"several workers of the Dask cluster died over one chunk: {error}"
            raise ClusterError(ClusterError.LOST, message) from error
        except asyncio.CancelledError:
            if self._failure is not None:  # cancelled by `_watch`
                raise self._failure from None
            raise
        except (FuturesCancelledError, OSError) as error:
            raise self._lost() from error
        finally:
            self._pending.discard(task)
            if future is not None:
                future.release()

    def _lost(self) -> ClusterError:
        message = f"the connection to the Dask scheduler at {self.address} was lost"
        return ClusterError(ClusterError.LOST, message)

    async def _watch(self) -> None:
        """Count the workers; without any for long, what is waiting fails instead of waiting on."""
        loop = asyncio.get_running_loop()
        since = loop.time()
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            try:
                self._threads = sum((await self._client.nthreads()).values())
            except (OSError, FuturesCancelledError):
                continue  # the client itself notices that the scheduler has gone
            if self._threads or not self._pending:
                since = loop.time()
            elif loop.time() - since > self._workers_timeout_s:
                self._failure = ClusterError(
                    ClusterError.LOST, f"the Dask cluster at {self.address} has no workers any more"
                )
                for task in tuple(self._pending):
                    task.cancel()
                return

    def _prepare(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=self._workers_timeout_s)
        except TimeoutError:
            message = f"the Dask cluster at {self.address} has no workers"
            raise ClusterError(ClusterError.NO_WORKERS, message) from None
        self._require_version()
        try:
            self._client.register_plugin(_Prepares(self._source))
        except (OSError, FuturesCancelledError) as error:
            raise self._lost() from error
        self._threads = sum(self._client.nthreads().values())

    def _require_version(self) -> None:
        """See that the scheduler and all workers have the bgserver that we have."""
        ask: Callable[[str], str] = importlib.metadata.version
        wanted = self._source.identity.version
        try:
            found = {"the scheduler": self._client.run_on_scheduler(ask, "bgserver")}
        except importlib.metadata.PackageNotFoundError as error:
            found = {"the scheduler": error}
        workers = self._client.run(ask, "bgserver", on_error="return")
        found.update({f"worker {address}": version for address, version in workers.items()})
        others = [
            f"{who} has {'none' if isinstance(version, Exception) else version}"
            for who, version in found.items()
            if version != wanted
        ]
        if others:
            more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
            message = f"expected bgserver {wanted} everywhere: {', '.join(others[:_NAMED])}{more}"
            raise ClusterError(ClusterError.MISMATCH, message)


class DaskExecutor:
    """An `Executor` whose chunks are done by a cluster."""

    def __init__(self, cluster: DaskCluster) -> None:
        """Use a connection, which stays open when the executor is closed."""
        self._cluster = cluster
        self._unfinished: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self._closed = False

    @property
    def slots(self) -> int:
        """How many chunks to keep submitted."""
        return _AHEAD_PER_THREAD * max(1, self._cluster.threads)

    @property
    def grain_s(self) -> float:
        """Seconds that a chunk should take at least."""
        return 0.5

    def submit(self, chunk: Chunk[_R]) -> Future[_R]:
        """Send a chunk to the cluster; see `Executor`.

        Raises:
            NotReadyError: The executor is closed.
            ClusterError: The scheduler or all workers have gone.
        """
        with self._lock:
            if self._closed:
                message = "the executor is closed"
                raise NotReadyError(message)
            future = self._cluster.start(chunk)
            self._unfinished.add(future)
        future.add_done_callback(self._forget)
        return future

    def close(self) -> None:
        """Cancel what is not done."""
        with self._lock:
            self._closed = True
            futures = tuple(self._unfinished)
        for future in futures:
            future.cancel()

    def _forget(self, future: Future[Any]) -> None:
        with self._lock:
            self._unfinished.discard(future)
