"""Work: a computation cut into short pieces, so that whoever runs it can stop or reorder it.

A piece of work is a generator that yields between chunks of at most a few milliseconds and
returns its result. It may be resumed on another thread after each yield, so it must not keep
per-thread memory across one. The server's pool runs many of them by priority; scripts and tests
use `run`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

__all__ = ["Work", "run"]

_T = TypeVar("_T")

Work: TypeAlias = Generator[None, None, _T]
"""A computation in pieces that ends with a result of type T."""


def run(work: Work[_T]) -> _T:
    """Run a piece of work to its end on this thread and return its result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: _T = end.value
            return result
