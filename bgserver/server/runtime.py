"""What all servicers share: configuration, worker pool, engine, and how the server is doing."""

from __future__ import annotations

import asyncio
import enum
from typing import TYPE_CHECKING

from bgserver.engine.errors import NotReadyError

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.server.config import ServerConfig
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
        self.condition = Condition.WARMING
        """How the server is doing."""
        self.simulations = 0
        """Simulations in work."""
        self._engine: Engine | None = None
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

    def set_engine(self, engine: Engine) -> None:
        """Provide the engine and begin to serve."""
        self._engine = engine
        if self.condition is Condition.WARMING:
            self.condition = Condition.SERVING

    def require_serving(self) -> None:
        """Raise `NotReadyError` unless calls are answered now."""
        if self.condition is Condition.WARMING:
            message = "the server is starting: the engine is being compiled"
            raise NotReadyError(message)
        if self.condition is Condition.STOPPING:
            message = "the server is shutting down"
            raise NotReadyError(message)
