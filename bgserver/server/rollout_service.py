"""`EngineService.Rollout`: rollouts with progress, within limits."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from typing import TYPE_CHECKING

from bgserver.engine.errors import OverloadedError
from bgserver.server.convert_rollout import begin_rollout, rollout_message
from bgserver.server.pool import Priority

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from concurrent.futures import Future

    import numpy as np
    from numpy.typing import NDArray

    from bgserver.server.context import CallContext
    from bgserver.server.runtime import Runtime
    from bgserver.v1 import rollout_pb2

__all__ = ["RolloutMethods"]

_RETRY_AFTER_S = 5.0
_TOLD_EVERY_S = 0.1


class RolloutMethods:
    """The part of `EngineService` that rolls out."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._rollouts_of: Counter[str] = Counter()

    async def rollout(
        self, request: rollout_pb2.RolloutRequest, context: CallContext
    ) -> AsyncIterator[rollout_pb2.RolloutResponse]:
        """Stream the progress of a rollout, then its result."""
        runtime = self._runtime
        engine, config = runtime.engine, runtime.config
        self._admit(context.caller)
        flight: deque[asyncio.Future[NDArray[np.float64]]] = deque()
        executor = None
        try:
            work = begin_rollout(
                request, engine, config.max_rollout_trials, config.max_rollout_plays
            )
            spec, run = await runtime.pool.run(work, Priority.INTERACTIVE, context.deadline)
            executor = runtime.executor(Priority.BATCH, context.deadline)
            chunks = run.chunks()
            told = time.monotonic()
            while run.stopped_by is None:
                while len(flight) < executor.slots and (chunk := next(chunks, None)) is not None:
                    future: Future[NDArray[np.float64]] = executor.submit(chunk)
                    flight.append(asyncio.wrap_future(future))
                run.add(await flight.popleft())
                if run.stopped_by is None and run.trials > 0:
                    now = time.monotonic()
                    if now - told >= _TOLD_EVERY_S:
                        told = now
                        yield rollout_message(engine, spec, run)
            yield rollout_message(engine, spec, run)
        finally:
            self._rollouts_of[context.caller] -= 1
            self._rollouts_of += Counter()  # forgets callers without rollouts
            for waiting in flight:
                waiting.cancel()
            if executor is not None:
                executor.close()

    def _admit(self, caller: str) -> None:
        """Count a rollout in.

        Raises:
            OverloadedError: There are too many already.
        """
        config = self._runtime.config
        if self._rollouts_of[caller] >= config.max_rollouts_per_client:
            message = (
                f"{config.max_rollouts_per_client} rollouts of this client are in work already"
            )
            raise OverloadedError(message, _RETRY_AFTER_S)
        if self._rollouts_of.total() >= config.max_rollouts:
            message = f"{config.max_rollouts} rollouts are in work already"
            raise OverloadedError(message, _RETRY_AFTER_S)
        self._rollouts_of[caller] += 1
