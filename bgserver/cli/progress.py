"""Progress on stderr for whatever takes longer than a moment."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["busy", "counter", "rate_text", "steps"]

_FAST = 10
_PATIENCE_S = 0.7
_stop_spinner: ContextVar[Callable[[], None]] = ContextVar("stop_spinner", default=lambda: None)


class _Console(Console):
    """Leaves the cursor alone: a process that is ended under a bar must not take it away."""

    def show_cursor(self, show: bool = True) -> bool:  # noqa: ARG002 -- overridden
        """Do nothing."""
        return False


def _stderr() -> Console:
    return _Console(stderr=True, highlight=False)


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner with the time elapsed, if the block takes longer than a moment."""
    console = _stderr()
    if not console.is_terminal:
        yield
        return
    progress = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(),
        console=console, transient=True,
    )  # fmt: skip
    progress.add_task(what, total=None)
    with _later(progress, _PATIENCE_S) as stop:
        token = _stop_spinner.set(stop)
        try:
            yield
        finally:
            _stop_spinner.reset(token)


@contextmanager
def _later(progress: Progress, delay_s: float) -> Iterator[Callable[[], None]]:
    """Show `progress` after a delay, until the block ends or the function given is called."""
    timer = threading.Timer(delay_s, progress.start)
    timer.daemon = True
    timer.start()

    def stop() -> None:
        timer.cancel()
        timer.join()
        progress.stop()

    try:
        yield stop
    finally:
        stop()


@contextmanager
def steps(*, always: bool = False) -> Iterator[Callable[[str, float], None]]:
    """A bar for work that reports (what, fraction done); shown after a moment, or always.

    Takes the place of a spinner. Where stderr is no terminal, each step is a line of its own, if
    always shown.
    """
    _stop_spinner.get()()
    console = _stderr()
    if not console.is_terminal:
        yield _lines(console) if always else _silent
        return
    progress = Progress(
        TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
        console=console, transient=True,
    )  # fmt: skip
    task = progress.add_task("starting", total=1.0)

    def advance(what: str, fraction: float) -> None:
        progress.update(task, description=what, completed=fraction)

    with _later(progress, 0.0 if always else _PATIENCE_S):
        yield advance


def _silent(what: str, fraction: float) -> None:
    """Nobody is watching."""


def _lines(console: Console) -> Callable[[str, float], None]:
    last = ""

    def advance(what: str, fraction: float) -> None:
        nonlocal last
        if what != last:
            last = what
            console.print(f"{100 * fraction:3.0f} %  {what}", markup=False)

    return advance


def rate_text(rate: float) -> str:
    """Things a second, with a digit more where they are few."""
    return f"{rate:,.{0 if rate >= _FAST else 1}f}/s"


@contextmanager
def counter(what: str, total: int, *, done: int = 0) -> Iterator[Callable[[int, str], None]]:
    """A bar for `total` things, with their rate and the time left; takes (done, remark).

    Args:
        what: What is being done.
        total: How many things there are.
        done: How many of them were done before.
    """
    console = _stderr()
    progress = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[remark]}"),
        console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    task = progress.add_task(what, total=total, completed=done, rate="", remark="")

    def advance(done: int, remark: str) -> None:
        speed = progress.tasks[0].speed
        rate = rate_text(speed) if speed else ""
        progress.update(task, completed=done, rate=rate, remark=remark)

    with progress:
        yield advance
