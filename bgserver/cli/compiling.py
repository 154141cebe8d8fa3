"""Tells whoever sees no progress bar that a command is compiling, which happens once."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["telling_of_compilation"]

_ONCE = "compiling, which is done once and may take a minute or two"
_ALWAYS = (
    "compiling, which may take a minute or two; set BGSERVER_CACHE_DIR to a writable folder, "
    "and it is done only once"
)


@contextmanager
def telling_of_compilation() -> Iterator[None]:
    """Write a line to stderr as soon as a kernel has to be compiled in this process.

    Kernels that come from the cache are not worth a word. On a terminal bars and spinners say that
    something is going on.
    """
    if sys.stderr.isatty():
        yield
        return
    from numba.core import event  # noqa: PLC0415 -- loads slowly

    class Teller(event.Listener):
        """Speaks at the first compilation."""

        has_spoken = False

        def on_start(self, _: object) -> None:
            """A kernel is about to be compiled."""
            if not self.has_spoken:
                self.has_spoken = True
                sys.stderr.write(f"{_text()}\n")
                sys.stderr.flush()

        def on_end(self, _: object) -> None:
            """It is compiled."""

    with event.install_listener("numba:compile", Teller()):
        yield


def _text() -> str:
    from bgserver.engine.paths import kernel_cache_dir  # noqa: PLC0415 -- loads Numba

    return _ALWAYS if kernel_cache_dir is None else _ONCE
