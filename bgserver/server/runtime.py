"""What all servicers share: configuration, worker pool, engine, and how the server is doing."""

from __future__ import annotations

import asyncio
import enum
from typing import TYPE_CHECKING

from bgserver.engine.errors import NotReadyError
from bgserver.engine.identity import identity_of
from bgserver.server.log import make_logger
from bgserver.server.pool import Priority
from bgserver.server.pool_executor import PoolExecutor

if TYPE_CHECKING:
    from bgserver.engine.chunks import Executor
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.identity import Identity
    from bgserver.server.cluster_link import ClusterLink
    from bgserver.server.config import ServerConfig
    from bgserver.server.game_host import GameHost
    from bgserver.server.pool import WorkerPool

__all__ = ["Condition", "Runtime"]


class Condition(enum.Enum):
    """The life of a server."""

    WARMING = "warming"
    """The engine is being loaded and compiled."""
    SERVING = "serving"
    """Calls are answered."""
    STOPPING = "stopping"
    """Calls in work are finished, new ones refused."""


class Runtime:
    """The shared state of one server."""

    def __init__(self, config: ServerConfig, pool: WorkerPool) -> None:
        self.config = config
        """The configuration."""
        self.pool = pool
        """The worker threads."""
        self.logger = make_logger(config)
        """Where defects are told that callers only hear of."""
        self.condition = Condition.WARMING
        """How the server is doing."""
        self.simulations = 0
        """Simulations in work."""
        self.batches = 0
        """AnalyzeBatch streams in work."""
        self.cluster: ClusterLink | None = None
        """The cluster that does batches and rollouts, if there is one."""
        self._games: GameHost | None = None
        self._engine: Engine | None = None
        self._identity: Identity | None = None
        self.stopping = asyncio.Event()
        """Set when streams must end."""

    @property
    def engine(self) -> Engine:
        """The engine.

        Raises:
            NotReadyError: It is not loaded yet.
        """
        if self._engine is None:
            message = "the engine is still being loaded"
            raise NotReadyError(message)
        return self._engine

    @property
    def identity(self) -> Identity:
        """The version and the digest of the engine.

        Raises:
            NotReadyError: It is not loaded yet.
        """
        if self._identity is None:
            self._identity = identity_of(self.engine)
        return self._identity

    @property
    def games(self) -> GameHost:
        """The games that the server holds.

        Raises:
            NotReadyError: They are not opened yet.
        """
        if self._games is None:
            message = "the games are still being opened"
            raise NotReadyError(message)
        return self._games

    def set_games(self, games: GameHost) -> None:
        """Provide the games."""
        self._games = games

    def set_engine(self, engine: Engine) -> None:
        """Provide the engine and begin to serve."""
        self._engine = engine
        if self.condition is Condition.WARMING:
            self.condition = Condition.SERVING

    def executor(self, priority: Priority, deadline: float | None = None) -> Executor:
        """What does the chunks of one call; to be closed when the call ends.

        Where a person waits that is always this process.

        Args:
            priority: Who goes first.
            deadline: When chunks give up with `DeadlineError`, on the clock of `time.monotonic`;
                a cluster leaves that to whoever waits.

        Raises:
            NotReadyError: The engine is not loaded yet.
            ClusterError: The cluster has gone.
        """
        if self.cluster is not None and priority is not Priority.INTERACTIVE:
            return self.cluster.executor()
        return PoolExecutor(self.pool, self.engine, priority, deadline)

    def require_serving(self) -> None:
        """Raise `NotReadyError` unless calls are answered now."""
        if self.condition is Condition.WARMING:
            message = "the server is starting: the engine is being compiled"
            raise NotReadyError(message)
        if self.condition is Condition.STOPPING:
            message = "the server is shutting down"
            raise NotReadyError(message)
