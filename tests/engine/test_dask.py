"""Chunks on a real Dask cluster of separate processes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from pathlib import Path  # noqa: TC003 -- dataclasses are pickled with it
from typing import TYPE_CHECKING

import pytest

from bgserver.engine.chunks import results_in_order
from bgserver.engine.cluster import connect_cluster
from bgserver.engine.dask_executor import DaskCluster
from bgserver.engine.dask_worker import EngineSource
from bgserver.engine.errors import ClusterError, InvalidInputError, NotReadyError
from bgserver.engine.identity import identity_of
from bgserver.engine.levels import Level
from bgserver.engine.local_executor import LocalExecutor
from bgserver.engine.position import Dice, GameState
from tests.dask_cluster import LocalCluster, dask_cluster
from tests.executors import Square

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.work import Work

_PATIENCE_S = 60


@pytest.fixture(scope="module")
def source(engine: Engine) -> EngineSource:
    return EngineSource(identity_of(engine))


@pytest.fixture(scope="module")
def processes() -> Iterator[LocalCluster]:
    with dask_cluster(2) as processes:
        yield processes


@pytest.fixture(scope="module")
def cluster(processes: LocalCluster, source: EngineSource) -> Iterator[DaskCluster]:
    with connect_cluster(processes.address, source) as cluster:
        yield cluster


def _wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not is_so():
        assert time.monotonic() < end
        threading.Event().wait(0.01)


@dataclass(frozen=True)
class Ranked:
    """The plays of a roll, with all digits."""

    dice: Dice

    def work(self, engine: Engine) -> Work[bytes]:
        ranked = yield from engine.rank(GameState(), self.dice, Level.LOOKAHEAD_1)
        return pickle.dumps([(play.play.steps, play.equity, play.probabilities) for play in ranked])


@dataclass(frozen=True)
class Refused:
    """Fails with all that a caller must learn."""

    def work(self, engine: Engine) -> Work[None]:
        yield from engine.rank(GameState(), Dice(3, 1), Level.RANDOM)


@dataclass(frozen=True)
class Noted:
    """Writes files that tell of its beginning and its closing; ends after `seconds`, or never."""

    number: int
    folder: Path
    seconds: float | None

    def work(self, engine: Engine) -> Work[int]:
        del engine
        (self.folder / f"begun-{self.number}-{os.getpid()}").touch()
        begun = time.monotonic()
        try:
            while self.seconds is None or time.monotonic() < begun + self.seconds:
                threading.Event().wait(0.002)
                yield
        except GeneratorExit:
            (self.folder / f"closed-{self.number}").touch()
            raise
        return self.number


def test_results_come_in_order_and_with_the_bits_of_this_process(
    cluster: DaskCluster, engine: Engine
) -> None:
    chunks = [Ranked(Dice(first, second)) for first in range(1, 7) for second in range(1, first)]
    executor = cluster.executor()
    assert executor.slots >= 2
    with LocalExecutor(engine, 2) as threads:
        here = list(results_in_order(threads, chunks))
    assert list(results_in_order(executor, chunks)) == here
    executor.close()
    with pytest.raises(NotReadyError):
        executor.submit(Square(1))


def test_a_failure_arrives_as_it_was(cluster: DaskCluster) -> None:
    with pytest.raises(InvalidInputError) as caught:
        cluster.executor().submit(Refused()).result(_PATIENCE_S)
    assert [fault.reason for fault in caught.value.faults] == ["UNSUPPORTED_LEVEL"]


def test_cancelling_and_closing_free_the_workers(cluster: DaskCluster, tmp_path: Path) -> None:
    executor, other = cluster.executor(), cluster.executor()
    endless = [executor.submit(Noted(number, tmp_path, None)) for number in range(6)]
    _wait_until(lambda: len(list(tmp_path.glob("begun-*"))) == cluster.threads)
    assert endless[0].cancel()
    executor.close()
    assert other.submit(Square(9)).result(_PATIENCE_S) == 81
    for future in endless:
        with pytest.raises(CancelledError):
            future.result(_PATIENCE_S)
    _wait_until(lambda: len(list(tmp_path.glob("closed-*"))) >= 2)


def test_workers_with_other_weights_or_another_version_are_named(
    processes: LocalCluster, source: EngineSource, cluster: DaskCluster
) -> None:
    del cluster  # its workers are there
    for wanted, what in (
        (replace(source.identity, digest="0" * 16), source.identity.digest),
        (replace(source.identity, version="99.0"), f"the scheduler has {source.identity.version}"),
    ):
        with pytest.raises(ClusterError, match=what) as caught:
            connect_cluster(processes.address, EngineSource(wanted))
        assert caught.value.reason == ClusterError.MISMATCH


def test_a_worker_that_joins_later_works_too(
    processes: LocalCluster, cluster: DaskCluster, tmp_path: Path
) -> None:
    before = cluster.threads
    worker = processes.add_worker()
    _wait_until(lambda: cluster.threads > before)
    executor = cluster.executor()
    chunks = [Noted(number, tmp_path, 0.05) for number in range(40)]
    assert list(results_in_order(executor, chunks)) == list(range(40))
    assert list(tmp_path.glob(f"begun-*-{worker.pid}"))


def test_nothing_is_lost_with_a_killed_worker_and_all_is_told_with_a_killed_scheduler(
    source: EngineSource, tmp_path: Path
) -> None:
    with dask_cluster(2) as processes, connect_cluster(processes.address, source) as cluster:
        _wait_until(lambda: cluster.threads == 2)
        executor = cluster.executor()
        chunks = [Noted(number, tmp_path, 0.1) for number in range(30)]
        results = results_in_order(executor, chunks)
        killed = processes.workers[0]
        _wait_until_begun(results, tmp_path, killed.pid)
        killed.kill()
        rest = list(results)
        assert rest == list(range(30))[-len(rest) :]
        begun = [path.name.split("-")[1] for path in tmp_path.glob("begun-*")]
        assert len(begun) > len(set(begun))  # what the worker had was begun again

        waiting = executor.submit(Noted(99, tmp_path, None))
        _wait_until(lambda: any(tmp_path.glob("begun-99-*")))
        processes.scheduler.kill()
        with pytest.raises(ClusterError) as caught:
            waiting.result(_PATIENCE_S)
        assert caught.value.reason == ClusterError.LOST
        assert processes.address in str(caught.value)
        with pytest.raises(ClusterError):
            executor.submit(Square(1)).result(_PATIENCE_S)
        assert cluster.is_lost


def _wait_until_begun(results: Iterator[int], folder: Path, pid: int) -> None:
    """Take results until the worker has begun with something."""
    expected = iter(range(30))
    while not any(folder.glob(f"begun-*-{pid}")):
        assert next(results) == next(expected)


def test_without_workers_it_says_so(source: EngineSource) -> None:
    with dask_cluster(0) as processes:
        with pytest.raises(ClusterError) as caught:
            DaskCluster(processes.address, source, workers_timeout_s=0.2)
        assert caught.value.reason == ClusterError.NO_WORKERS


def test_what_waits_fails_when_the_last_worker_has_gone(
    source: EngineSource, tmp_path: Path
) -> None:
    with (
        dask_cluster(1) as processes,
        DaskCluster(processes.address, source, workers_timeout_s=3.0) as cluster,
    ):
        waiting = cluster.executor().submit(Noted(0, tmp_path, None))
        _wait_until(lambda: any(tmp_path.glob("begun-0-*")))
        processes.workers[0].kill()
        with pytest.raises(ClusterError, match="no workers") as caught:
            waiting.result(_PATIENCE_S)
        assert caught.value.reason == ClusterError.LOST


def test_nobody_there_is_told(source: EngineSource) -> None:
    for address in ("tcp://127.0.0.1:9", "127.0.0.1", "nonsense://x:1"):
        with pytest.raises(ClusterError, match="cannot reach") as caught:
            DaskCluster(address, source, connect_timeout_s=0.5)
        assert caught.value.reason == ClusterError.UNREACHABLE


def test_without_the_extra_the_error_says_what_to_install() -> None:
    script = (
        "import sys\n"
        "sys.modules['distributed'] = None\n"
        "from bgserver.engine.cluster import connect_cluster\n"
        "from bgserver.engine.errors import ClusterError\n"
        "try:\n"
        "    connect_cluster('tcp://127.0.0.1:9', None)\n"
        "except ClusterError as error:\n"
        "    print(error.reason, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("CLUSTER_EXTRA_MISSING")
    assert 'pip install "bgserver[dask]"' in done.stdout


def test_dask_is_not_loaded_unless_a_cluster_is_asked_for() -> None:
    script = (
        "import sys\n"
        "import bgserver.cli.app, bgserver.server.app, bgserver.server.local\n"
        "import bgserver.engine.cluster, bgserver.engine.dask_worker\n"
        "loaded = {'dask', 'distributed', 'tornado'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
