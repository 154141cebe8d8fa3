"""What the comparisons share: work cut into chunks, processes, a progress bar, a verdict."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 1_000
"""Cases that a process compares before it reports."""
LOGGED = 50_000
"""Cases between two lines of a log, where there is no terminal for a progress bar."""
SHOWN = 20
"""Differences that are printed; all are counted."""

console = Console()


@dataclass
class Tally:
    """What has been compared."""

    cases: int = 0
    """Boards with a roll."""
    results: int = 0
    """Distinct legal results of these."""
    excused: int = 0
    """Cases in which a peer is known to follow another rule."""
    differences: list[str] = field(default_factory=list)
    """One description for each case that differs."""

    def add(self, other: Tally) -> None:
        """Add the tally of a chunk."""
        self.cases += other.cases
        self.results += other.results
        self.excused += other.excused
        self.differences += other.differences


Compare = Callable[[str, str, int], Tally]
"""Compares `CHUNK` cases: (what with, variant, seed of the chunk)."""


def run(compare: Compare, against: str, variant: str, count: int, seed: int, workers: int) -> Tally:
    """Compare `count` cases in several processes and print the outcome."""
    chunks = -(-count // CHUNK)
    total = Tally()
    begun = time.monotonic()
    with _progress() as progress, _pool(workers) as pool:
        task = progress.add_task(f"{variant} against {against}", total=chunks * CHUNK)
        seeds = _chunk_seeds(seed, chunks)
        jobs = [pool.submit(compare, against, variant, chunk_seed) for chunk_seed in seeds]
        for job in jobs:
            tally = job.result()
            for difference in tally.differences[: max(0, SHOWN - len(total.differences))]:
                progress.console.print(difference, markup=False, highlight=False, soft_wrap=True)
            total.add(tally)
            progress.update(task, completed=total.cases)
            if not console.is_terminal and total.cases % LOGGED == 0:
                console.print(f"{total.cases:,} compared, {len(total.differences)} differences")
    elapsed = time.monotonic() - begun
    console.print(
        f"{variant} against {against}: {total.cases:,} positions, {total.results:,} results, "
        f"{len(total.differences)} differences, {total.excused:,} excused, seed {seed}, "
        f"{elapsed:.0f} s",
        highlight=False,
        soft_wrap=True,
    )
    return total


def _chunk_seeds(seed: int, chunks: int) -> Iterator[int]:
    return iter(range(seed * 1_000_000, seed * 1_000_000 + chunks))


def _pool(workers: int) -> ProcessPoolExecutor:
    # fork would copy the progress bar's thread
    return ProcessPoolExecutor(max_workers=workers, mp_context=get_context("spawn"))


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


def default_workers() -> int:
    """Processes to start unless told otherwise."""
    return min(2, os.cpu_count() or 1)
