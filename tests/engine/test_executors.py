"""Threads that do chunks, and the order in which results come back."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.engine.chunks import results_in_order
from bgserver.engine.local_executor import LocalExecutor
from tests.executors import Square, check_contract

if TYPE_CHECKING:
    from bgserver.engine.chunks import Chunk
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.work import Work


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_keep_the_contract(engine: Engine, threads: int) -> None:
    check_contract(lambda: LocalExecutor(engine, threads))


class _Backwards:
    """An executor of three slots that has done nothing until they are full, then the last first."""

    slots = 3
    grain_s = 0.0

    def __init__(self, failing: int | None = None) -> None:
        self.begun: list[int] = []
        self.futures: list[Future[Any]] = []
        self._failing = failing

    def submit(self, chunk: Chunk[Any]) -> Future[Any]:
        assert isinstance(chunk, Square)
        self.begun.append(chunk.number)
        self.futures.append(Future())
        if len(self.futures) % self.slots == 0:
            for number in reversed(range(len(self.futures) - self.slots, len(self.futures))):
                if number == self._failing:
                    self.futures[number].set_exception(KeyError(number))
                    return self.futures[-1]
                self.futures[number].set_result(number)
        return self.futures[-1]

    def close(self) -> None:
        """Nothing to let go of."""


def test_results_come_in_the_order_of_the_chunks() -> None:
    executor = _Backwards()
    results = results_in_order(executor, map(Square, range(6)))
    assert next(results) == 0
    assert executor.begun == [0, 1, 2]  # as many as there are slots
    assert list(results) == [1, 2, 3, 4, 5]


def test_a_failure_cancels_what_was_begun() -> None:
    executor = _Backwards(failing=0)
    with pytest.raises(KeyError):
        next(results_in_order(executor, map(Square, range(6))))
    assert executor.begun == [0, 1, 2]


def test_closing_the_results_cancels_what_was_begun(engine: Engine) -> None:
    _Waits.renew()
    with LocalExecutor(engine, 1) as executor:
        results = results_in_order(executor, [_Waits(0), _Waits(1), _Waits(2)])
        assert next(results) == 0
        assert _Waits.begun.wait(20)
        results.close()
        assert _Waits.closed.wait(20)


@dataclass(frozen=True)
class _Waits:
    """The first is done at once, the others never."""

    number: int

    def work(self, engine: Engine) -> Work[int]:
        del engine
        try:
            while self.number > 0:
                self.begun.set()
                yield
        finally:
            if self.number > 0:
                self.closed.set()
        return self.number

    begun = threading.Event()
    closed = threading.Event()

    @classmethod
    def renew(cls) -> None:
        cls.begun.clear()
        cls.closed.clear()


@dataclass(frozen=True)
class _Meets:
    """Ends when two others work at the same time."""

    def work(self, engine: Engine) -> Work[int]:
        del engine
        self.barrier.wait()
        yield
        return threading.get_ident()

    barrier = threading.Barrier(3, timeout=20)


def test_every_thread_works(engine: Engine) -> None:
    with LocalExecutor(engine, 3) as executor:
        assert len(set(results_in_order(executor, [_Meets(), _Meets(), _Meets()]))) == 3
