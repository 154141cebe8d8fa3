"""The command line. Modules load what they need when a command runs, so that it starts fast."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line with the arguments of this process."""
    # gRPC's C library writes notices of its own to stderr unless told not to.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from bgserver.cli.app import run  # noqa: PLC0415 -- it loads gRPC, which reads the variable

    run(sys.argv[1:])
