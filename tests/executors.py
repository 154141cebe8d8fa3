"""Chunks that tests give to executors, and what every executor must do."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import pytest

from bgserver.engine.chunks import Executor, results_in_order
from bgserver.engine.errors import NotReadyError, WrongMomentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.work import Work

_PATIENCE_S = 20


@dataclass(frozen=True)
class Square:
    """The square of a number, in two pieces."""

    number: int

    def work(self, engine: Engine) -> Work[int]:
        del engine
        yield
        return self.number * self.number


@dataclass(frozen=True)
class Refuses:
    """A chunk that fails after a piece."""

    def work(self, engine: Engine) -> Work[int]:
        del engine
        yield
        reason = "NEVER"
        raise WrongMomentError(reason, "this chunk always fails")


@dataclass(frozen=True)
class Endless:
    """A chunk without end that tells of its beginning and its closing."""

    started: ClassVar[threading.Event] = threading.Event()
    closed: ClassVar[threading.Event] = threading.Event()

    def work(self, engine: Engine) -> Work[int]:
        del engine
        try:
            while True:
                self.started.set()
                yield
        finally:
            self.closed.set()

    @classmethod
    def renew(cls) -> None:
        cls.started.clear()
        cls.closed.clear()


def check_contract(make: Callable[[], Executor]) -> None:
    """What whoever uses an executor may rely on; on a thread that may block."""
    executor = make()
    try:
        assert executor.slots >= 1
        assert list(results_in_order(executor, map(Square, range(50)))) == [
            number * number for number in range(50)
        ]
        with pytest.raises(WrongMomentError, match="always fails") as caught:
            executor.submit(Refuses()).result(_PATIENCE_S)
        assert caught.value.reason == "NEVER"
        _check_cancelling(executor)
    finally:
        executor.close()
    _check_closing(make())


def _check_cancelling(executor: Executor) -> None:
    """A chunk that is cancelled while it runs makes room for others."""
    Endless.renew()
    endless = [executor.submit(Endless()) for _ in range(executor.slots)]
    assert Endless.started.wait(_PATIENCE_S)
    waiting = executor.submit(Square(7))
    for future in endless:
        assert future.cancel()
    assert waiting.result(_PATIENCE_S) == 49
    assert Endless.closed.wait(_PATIENCE_S)


def _check_closing(executor: Executor) -> None:
    Endless.renew()
    running = executor.submit(Endless())
    assert Endless.started.wait(_PATIENCE_S)
    executor.close()
    with pytest.raises(CancelledError):
        running.result(_PATIENCE_S)
    assert Endless.closed.wait(_PATIENCE_S)
    with pytest.raises(NotReadyError):
        executor.submit(Square(1))
