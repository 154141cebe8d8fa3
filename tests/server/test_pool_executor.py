"""Chunks in the server's worker pool."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from bgserver.engine.errors import DeadlineError, NotReadyError
from bgserver.server.pool import Priority, WorkerPool
from bgserver.server.pool_executor import PoolExecutor
from tests.executors import Endless, Square, check_contract

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine


async def test_the_pool_keeps_the_contract(engine: Engine) -> None:
    pool = WorkerPool(2, asyncio.get_running_loop())
    await asyncio.to_thread(check_contract, lambda: PoolExecutor(pool, engine, Priority.BATCH))
    await pool.wait_idle()
    await asyncio.to_thread(pool.close)


async def test_chunks_give_up_at_the_deadline(engine: Engine) -> None:
    pool = WorkerPool(1, asyncio.get_running_loop())
    executor = PoolExecutor(pool, engine, Priority.BATCH, time.monotonic() + 0.05)
    with pytest.raises(DeadlineError):
        await asyncio.wrap_future(executor.submit(Endless()))
    await asyncio.to_thread(pool.close)


async def test_closing_one_executor_leaves_the_chunks_of_another(engine: Engine) -> None:
    pool = WorkerPool(1, asyncio.get_running_loop())
    Endless.renew()
    first = PoolExecutor(pool, engine, Priority.BATCH)
    second = PoolExecutor(pool, engine, Priority.ANALYSIS)
    endless = first.submit(Endless())
    await asyncio.to_thread(Endless.started.wait)
    squared = second.submit(Square(3))
    first.close()
    assert await asyncio.wrap_future(squared) == 9
    assert endless.cancelled()
    await asyncio.to_thread(pool.close)


async def test_a_closed_pool_takes_no_chunks(engine: Engine) -> None:
    pool = WorkerPool(1, asyncio.get_running_loop())
    executor = PoolExecutor(pool, engine, Priority.BATCH)
    await asyncio.to_thread(pool.close)
    with pytest.raises(NotReadyError, match="shutting down"):
        await asyncio.wrap_future(executor.submit(Square(1)))
