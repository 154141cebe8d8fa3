"""What a Dask cluster costs, chunk by chunk, and what it makes of a large job.

    python -m bench.dask_overhead [--workers 2] [--questions 300] [--job 1000000]
                                  [--cluster-workers 100]

Starts a scheduler and workers as processes of this machine and measures the processor time that
each of them, and the client, spends on a chunk that does nothing; then the questions of a batch:
what one costs in this process, and what it costs as lines of a chunk of half a second on the
cluster. From these figures it computes a job on more workers than this machine has: the slowest
of workers, scheduler and client, and the start and the end, when not all workers have work.
Processor times change little when the machine is busy with other things.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pickle
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bgserver.cli.batch_lines import LinesChunk, LineSettings, line_seconds
from bgserver.cli.batch_summary import Summary
from bgserver.engine.chunks import results_in_order
from bgserver.engine.cluster import connect_cluster
from bgserver.engine.dask_worker import EngineSource
from bgserver.engine.evaluator import Engine
from bgserver.engine.work import run
from bgserver.server.analysis import AnalysisChunk
from bgserver.server.questions import RolloutLimits
from tests import positions
from tests.dask_cluster import dask_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.engine.dask_executor import DaskCluster
    from tests.dask_cluster import LocalCluster

_GRAIN_S = 0.5
_EMPTY = 500
_CHUNKS = 30
_MOST_LINES = 1024  # as in `bgserver.cli.batch_jobs`
_ROLLOUT: Any = {"kind": "evaluate", "rollout": True}
_SETTINGS = (
    ("static", LineSettings()),
    ("lookahead_1", LineSettings(level="lookahead_1")),
    ("lookahead_2", LineSettings(level="lookahead_2")),
    (
        "rollout, 360 trials, 7 rolls",
        LineSettings("evaluate", rollout=True, trials=360, truncate=7),
    ),
    ("rollout, 1296 trials", LineSettings("evaluate", rollout=True)),
)
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Costs:
    """Processor time in seconds that one chunk takes beside its work."""

    client: float = 0.0
    scheduler: float = 0.0
    worker: float = 0.0


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


@contextmanager
def _costs(processes: LocalCluster, chunks: int) -> Iterator[Costs]:
    """The processor time of everyone in the block, for each of the chunks."""
    pids = (os.getpid(), processes.scheduler.pid, *(w.pid for w in processes.workers))
    before = [_processor_s(pid) for pid in pids]
    costs = Costs()
    yield costs
    client, scheduler, *workers = (
        (_processor_s(pid) - start) / chunks for pid, start in zip(pids, before, strict=True)
    )
    costs.client, costs.scheduler, costs.worker = client, scheduler, sum(workers)


def _questions(count: int) -> list[bytes]:
    """Decisions of random games: plays, for the most part."""
    lines: list[bytes] = []
    cases = positions.cases("backgammon", 11)
    while len(lines) < count:
        board = list(next(cases).board)
        if any(n > 0 for n in board) and any(n < 0 for n in board):
            number = len(lines)
            dice = [1 + number % 6, 1 + number // 6 % 6]
            lines.append(json.dumps({"position": board, "dice": dice}).encode())
    return lines


def _line_s(engine: Engine, lines: list[bytes], settings: LineSettings) -> tuple[float, float]:
    """Processor time of a line where it is answered, and of its way through the client."""
    chunk = LinesChunk(tuple(enumerate(lines, 1)), settings)
    start = time.process_time()
    written = run(chunk.work(engine))
    answered = (time.process_time() - start) / len(lines)
    with tempfile.TemporaryFile() as file:
        start = time.process_time()
        pickle.dumps(LinesChunk(tuple(enumerate(lines, 1)), settings))
        found = pickle.loads(pickle.dumps(written))  # noqa: S301 -- our own
        file.write(found.lines)
        summary = Summary()
        for figure in found.figures:
            summary.add(figure)
        handed = (time.process_time() - start) / len(lines)
    return answered, handed


def _chunk_s(
    processes: LocalCluster,
    engine: Engine,
    cluster: DaskCluster,
    lines: list[bytes],
    line_s: float,
) -> tuple[float, float]:
    """Processor time of a chunk of half a second of lines: in this process, and at a worker."""
    size = max(1, round(_GRAIN_S / line_s))
    many = tuple(enumerate((lines * math.ceil(size / len(lines)))[:size], 1))
    chunk = LinesChunk(many, _SETTINGS[1][1])
    start = time.process_time()
    run(chunk.work(engine))
    here = time.process_time() - start
    with _costs(processes, _CHUNKS) as costs:
        list(results_in_order(cluster.executor(), [chunk] * _CHUNKS))
    return here, costs.worker


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--job", type=int, default=1_000_000)
    parser.add_argument("--cluster-workers", type=int, default=100)
    options = parser.parse_args()
    engine = Engine.load()
    engine.warm_up()
    lines = _questions(options.questions)
    with dask_cluster(options.workers) as processes:
        start = time.perf_counter()
        with connect_cluster(processes.address, EngineSource.of(engine, None, None)) as cluster:
            while cluster.threads < options.workers:
                time.sleep(0.1)
            print(
                f"connected, {options.workers} workers ready: {time.perf_counter() - start:.1f} s"
            )
            executor = cluster.executor()
            nothing = [AnalysisChunk((), RolloutLimits())] * _EMPTY
            list(results_in_order(executor, nothing))
            started = time.perf_counter()
            with _costs(processes, _EMPTY) as costs:
                for future in [executor.submit(chunk) for chunk in nothing]:
                    future.result()
            seconds = (time.perf_counter() - started) / _EMPTY
            print(
                f"an empty chunk, processor time: client {1000 * costs.client:.2f} ms, scheduler "
                f"{1000 * costs.scheduler:.2f} ms, worker {1000 * costs.worker:.2f} ms; "
                f"{1000 * seconds:.2f} ms went by"
            )
            one_s, _ = _line_s(engine, lines, _SETTINGS[1][1])
            here, there = _chunk_s(processes, engine, cluster, lines, one_s)
            print(f"a chunk of lines, processor time: {here:.3f} s here, {there:.3f} s at a worker")
    _print_job(engine, lines, costs, max(1.0, there / here), options.job, options.cluster_workers)


def _print_job(
    engine: Engine, lines: list[bytes], costs: Costs, slower: float, job: int, workers: int
) -> None:
    """What many workers make of a large job.

    Args:
        engine: The engine.
        lines: Questions of the kind of the job's.
        costs: What a chunk costs beside its work.
        slower: Processor time of a chunk at a worker, against the same in this process.
        job: Lines.
        workers: Workers of one thread each.
    """
    print(f"\n{job:,} lines on {workers} workers of one thread each, by these figures:")
    print(f"{'':30} {'line':>10} {'one thread':>12} {'cluster':>10} {'speed-up':>9}  limit")
    for name, settings in _SETTINGS:
        few = lines if not settings.rollout else lines[: max(1, len(lines) // 100)]
        line_s, handed_s = _line_s(engine, few, settings)
        each_s = max(line_seconds(line, settings) for line in few)
        size = 1 if settings.rollout else min(_MOST_LINES, math.ceil(_GRAIN_S / each_s))
        chunk_s = size * line_s
        chunks = job / size
        parts = {
            "workers": slower * (job * line_s / workers + chunk_s),
            "scheduler": chunks * costs.scheduler,
            "client": chunks * costs.client + job * handed_s,
        }
        limit = max(parts, key=lambda part: parts[part])
        alone = job * (line_s + handed_s)
        print(
            f"{name:30} {1000 * line_s:8.2f} ms {_hours(alone):>12} {_hours(parts[limit]):>10} "
            f"{alone / parts[limit]:8.0f}x  {limit}"
        )


def _hours(seconds: float) -> str:
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 36_000 else f"{seconds / 3600:.1f} h"


if __name__ == "__main__":
    main()
