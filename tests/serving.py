"""Starts the real server as a process of its own, as a user would."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_START_S = 240  # the very first start compiles everything
_STOP_S = 20

BGSERVER = (sys.executable, "-c", "from bgserver.cli import main; main()")
"""The command line of this checkout."""


@contextmanager
def serving(*options: str) -> Iterator[str]:
    """A running server on a free port; its address."""
    process = subprocess.Popen(
        [*BGSERVER, "serve", "--port", "0", "--log-level", "warning", *options],
        stdout=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(_START_S, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        watchdog.cancel()
        assert line.startswith("bgserver is ready on "), f"the server said {line!r}"
        yield line.split()[-1]
    finally:
        watchdog.cancel()
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_STOP_S)
        finally:
            process.kill()
            process.communicate()
