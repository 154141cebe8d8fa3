"""What a Dask worker does with chunks. Nothing here imports Dask or the engine until it runs.

The scheduler imports this module too, so it must stay light.
"""

from __future__ import annotations

import pickle
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from bgserver.engine.errors import ClusterError

if TYPE_CHECKING:
    from bgserver.engine.chunks import Chunk
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.identity import Identity

__all__ = ["EngineSource", "engine_of", "run_chunk"]

_LOOK_EVERY_S = 0.05
_engines: dict[EngineSource, Engine] = {}
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class EngineSource:
    """How a worker gets the engine, and which one it must be."""

    identity: Identity
    """What the figures depend on; a worker with another engine refuses to work."""
    weights: str | None = None
    """Folder with weights, by a path that every worker knows; None for the packaged ones."""
    match_equity_table: str | None = None
    """File of the table, in the same way."""

    @classmethod
    def of(cls, engine: Engine, weights: Path | None, match_equity_table: Path | None) -> Self:
        """The source of an engine that was loaded from these places."""
        from bgserver.engine.identity import identity_of  # noqa: PLC0415 -- loads Numba

        return cls(
            identity_of(engine),
            None if weights is None else str(weights.absolute()),
            None if match_equity_table is None else str(match_equity_table.absolute()),
        )


def engine_of(source: EngineSource) -> Engine:
    """The engine of this process, loaded and compiled when it is first asked for.

    Raises:
        ClusterError: It is not the engine that the source names.
        DataError: A file is missing or damaged.
    """
    with _lock:
        engine = _engines.get(source)
        if engine is None:
            engine = _engines[source] = _load(source)
        return engine


def _load(source: EngineSource) -> Engine:
    from bgserver.engine.evaluator import Engine  # noqa: PLC0415 -- loads Numba
    from bgserver.engine.identity import identity_of  # noqa: PLC0415 -- loads Numba

    engine = Engine.load(
        weights=None if source.weights is None else Path(source.weights),
        met=None if source.match_equity_table is None else Path(source.match_equity_table),
    )
    found = identity_of(engine)
    if found != source.identity:
        wanted = source.identity
        message = (
            f"a worker has bgserver {found.version} with weights and tables {found.digest}, "
            f"expected {wanted.version} with {wanted.digest}"
        )
        raise ClusterError(ClusterError.MISMATCH, message)
    engine.warm_up()
    return engine


def run_chunk(data: bytes, source: EngineSource) -> Any:  # noqa: ANN401 -- whatever the chunk gives
    """Do a pickled chunk; None if nobody wants its result any more.

    Args:
        data: The chunk.
        source: The engine to do it with.
    """
    chunk: Chunk[Any] = pickle.loads(data)  # noqa: S301 -- Dask itself runs what clients send
    work = chunk.work(engine_of(source))
    is_wanted = _watch_own_task()
    looked = time.monotonic()
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
        if (now := time.monotonic()) - looked > _LOOK_EVERY_S:
            looked = now
            if not is_wanted():
                work.close()
                return None


def _watch_own_task() -> Any:  # noqa: ANN401 -- a function without arguments that gives a bool
    """A function that tells whether the task of this thread is still wanted."""
    from distributed import get_worker  # noqa: PLC0415 -- belongs to the extra

    worker = get_worker()
    key = worker.get_current_task()

    def is_wanted() -> bool:
        task = worker.state.tasks.get(key)
        # A task that was cancelled while it runs stays known until it ends.
        return task is not None and task.state in {"executing", "long-running"}

    return is_wanted
