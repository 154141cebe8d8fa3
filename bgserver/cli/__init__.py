"""The command line. Modules load what they need when a command runs, so that it starts fast."""

from __future__ import annotations

import os
import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line with the arguments of this process."""
    _open_standard_streams()
    # gRPC's C library writes notices of its own to stderr unless told not to.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Until the program is loaded Ctrl-C just ends the process; later it is an exception.
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from bgserver.cli.app import run  # noqa: PLC0415 -- it loads gRPC, which reads the variable

    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run(sys.argv[1:])


def _open_standard_streams() -> None:
    """Give the process the standard streams that whoever started it has closed.

    Without that Python has None in their place, and the next file or connection that is opened
    gets their number, and with it whatever is written to stderr.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))
