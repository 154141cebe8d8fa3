"""A real Dask cluster of separate processes on this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path(__file__).resolve().parent.parent
_STOP_S = 20


@dataclass
class LocalCluster:
    """A scheduler and its workers; each worker has one thread."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self, **environment: str) -> subprocess.Popen[bytes]:
        """Start one more worker; it joins when it can."""
        arguments = ["worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        worker = _dask([*arguments, "--host", "127.0.0.1"], environment)
        self.workers.append(worker)
        return worker

    def restart(self, workers: int) -> None:
        """Kill everything and start it anew at the same address."""
        self.end()
        port = self.address.rpartition(":")[2]
        self.scheduler = _scheduler(port)
        for _ in range(workers):
            self.add_worker()

    def end(self) -> None:
        """Kill everything."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait(_STOP_S)
        self.workers.clear()


@contextmanager
def dask_cluster(workers: int) -> Iterator[LocalCluster]:
    """A running scheduler, and workers that are on their way."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    cluster = LocalCluster(f"tcp://127.0.0.1:{port}", _scheduler(str(port)))
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.end()


def _scheduler(port: str) -> subprocess.Popen[bytes]:
    arguments = ["scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
    return _dask(arguments, {})


def _dask(arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    # Workers need the chunks of the tests too.
    paths = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
