"""The bear-off databases: built in about a second, cached, mapped into memory.

One-sided (all 54,264 arrangements of up to 15 checkers): how many rolls until all checkers are
off, and for 15 checkers until the first one is. Two-sided (up to 6 checkers each): equities
without a cube and in money play with the cube in each place, no Jacoby rule, no limit to the
cube. `bgserver.kernels.bearoff_build` says how they are computed.

Accuracy. Both are computed in float64 and stored in float32: a stored number differs from the
computed one by less than 6e-8. The one-sided distributions lose the ends below 2**-32 each, so
that each sums to 1 within 1e-7.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from bgserver.engine.bearoff_file import (
    OneSided,
    read_one_sided,
    read_two_sided,
    write_one_sided,
    write_two_sided,
)
from bgserver.engine.errors import DataError
from bgserver.engine.paths import cache_dir
from bgserver.kernels import bearoff as kernels
from bgserver.kernels import bearoff_build as builders

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Progress = Callable[[int, int], None]
    """Called with (done, total) between chunks; an exception from it stops the work."""

__all__ = [
    "BearoffDatabase",
    "build_one_sided",
    "build_two_sided",
    "compute_one_sided",
    "compute_two_sided",
    "load_bearoff",
    "one_sided_path",
    "two_sided_path",
]

_LOG = logging.getLogger(__name__)
_NEAR_ZERO = 2.0**-32
_CHUNK = 512  # arrangements a kernel call, about 4 ms
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class BearoffDatabase:
    """The loaded databases and where they come from."""

    tables: kernels.BearoffTables
    """The arrays, for kernels."""
    one_sided_file: Path | None
    """The file that is mapped; None if the database lives in memory only."""
    two_sided_file: Path | None
    """The same for the two-sided database; None also if it is not loaded."""

    @property
    def has_two_sided(self) -> bool:
        """True if the two-sided database is loaded."""
        return len(self.tables.two_sided) > 0

    def rolls_to_clear(self, counts: Sequence[int]) -> NDArray[np.float64]:
        """Chances of bearing off all checkers with exactly 0, 1, 2... rolls.

        Args:
            counts: Checkers on points 1..6, at most 15 in all.
        """
        return self._distribution(_index(counts))

    def rolls_to_first(self, counts: Sequence[int]) -> NDArray[np.float64]:
        """Chances that the first of 15 checkers leaves with roll 0, 1, 2...

        Args:
            counts: Checkers on points 1..6, 15 in all.
        """
        index = _index(counts)
        if index < kernels.FIRST_FULL:
            message = f"expected 15 checkers, got {list(counts)!r}"
            raise ValueError(message)
        return self._distribution(kernels.FIRST_OFF + index)

    def mean_rolls(self, counts: Sequence[int]) -> float:
        """Expected number of rolls to bear off all of `counts`, checkers on points 1..6."""
        return float(self.tables.mean_rolls[_index(counts)])

    def _distribution(self, entry: int) -> NDArray[np.float64]:
        begin, end = self.tables.offsets[entry : entry + 2]
        chances = self.tables.probabilities[begin:end].astype(np.float64)
        return np.concatenate([np.zeros(self.tables.starts[entry]), chances])


def _index(counts: Sequence[int]) -> int:
    if len(counts) != kernels.HOME_POINTS or min(counts) < 0 or sum(counts) > 15:
        message = f"expected 6 numbers of checkers, at most 15 in all, got {list(counts)!r}"
        raise ValueError(message)
    return kernels.arrangement_index(np.array(counts, dtype=np.int8))


# --- computing -------------------------------------------------------------------------------


def compute_one_sided(progress: Progress | None = None) -> OneSided:
    """Compute the one-sided database in memory.

    Args:
        progress: Told of arrangements done and in all.
    """
    size = kernels.ARRANGEMENTS
    rolls = np.zeros((size, builders.ROLL_WIDTH))
    mean_rolls = np.zeros(size)
    first_off = np.zeros((kernels.FIRST_OFF, builders.FIRST_WIDTH))
    first_mean = np.zeros(kernels.FIRST_OFF)
    buffers = _play_buffers()
    rolls[0, 0] = 1.0
    for begin in range(1, size, _CHUNK):
        end = min(begin + _CHUNK, size)
        builders.build_one_sided(begin, end, rolls, mean_rolls, first_off, first_mean, buffers)
        if progress is not None:
            progress(end, size)
    probabilities, lengths, starts = (
        np.concatenate(parts) for parts in zip(_trimmed(rolls), _trimmed(first_off), strict=True)
    )
    offsets = np.zeros(kernels.ENTRIES + 1, dtype=np.int32)
    np.cumsum(lengths, out=offsets[1:])
    tables = OneSided(
        probabilities.astype(np.float32),
        offsets,
        starts.astype(np.uint8),
        mean_rolls.astype(np.float32),
    )
    for array in tables:
        array.setflags(write=False)
    return tables


def _trimmed(
    distributions: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """The rows without their near-zero ends, joined; the length and the start of each."""
    width = distributions.shape[1]
    kept = distributions >= _NEAR_ZERO
    starts = kept.argmax(axis=1)
    ends = width - kept[:, ::-1].argmax(axis=1)
    columns = np.arange(width)
    inside = (columns >= starts[:, None]) & (columns < ends[:, None])
    return distributions[inside], ends - starts, starts


def compute_two_sided(progress: Progress | None = None) -> NDArray[np.float32]:
    """Compute the two-sided database in memory, the array of `BearoffTables.two_sided`.

    Args:
        progress: Told of pairs done and in all.
    """
    size = kernels.TWO_SIDED_SIZE
    buffers = _play_buffers()
    starts = np.zeros(21 * size + 1, dtype=np.int32)
    number = builders.list_two_sided_plays(starts, np.zeros(0, dtype=np.int16), buffers)
    targets = np.zeros(number, dtype=np.int16)
    builders.list_two_sided_plays(starts, targets, buffers)
    equities = np.zeros((size, size, 4))
    equities[0, :] = 1.0
    equities[:, 0] = -1.0
    for larger in range(1, size):
        builders.build_two_sided_row(larger, starts, targets, equities)
        if progress is not None:
            progress((larger + 1) ** 2, size * size)
    table = equities.astype(np.float32)
    table.setflags(write=False)
    return table


def _play_buffers() -> NDArray[np.int64]:
    return np.zeros((2, builders.MAX_BEAROFF_PLAYS), dtype=np.int64)


# --- files -----------------------------------------------------------------------------------


def one_sided_path() -> Path:
    """Where the one-sided database is cached."""
    return cache_dir() / "bearoff" / "one_sided.bin"


def two_sided_path() -> Path:
    """Where the two-sided database is cached."""
    return cache_dir() / "bearoff" / "two_sided.bin"


def build_one_sided(path: Path, progress: Progress | None = None) -> None:
    """Compute the one-sided database and write it to `path`; `OSError` if that is impossible."""
    write_one_sided(path, compute_one_sided(progress))


def build_two_sided(path: Path, progress: Progress | None = None) -> None:
    """Compute the two-sided database and write it to `path`; `OSError` if that is impossible."""
    write_two_sided(path, compute_two_sided(progress))


def load_bearoff(
    one_sided: Path | None = None,
    two_sided: Path | None = None,
    *,
    with_two_sided: bool = True,
    progress: Progress | None = None,
) -> BearoffDatabase:
    """Load the databases; what the cache lacks is computed and cached.

    A cached file that is damaged or of another version is replaced with one warning. If the
    cache cannot be written the databases live in memory.

    Args:
        one_sided: A file of that database to use instead of the cache.
        two_sided: The same for the two-sided database.
        with_two_sided: False loads the one-sided database only.
        progress: Told of arrangements and pairs done and in all, of both parts together;
            not called if nothing has to be computed.

    Raises:
        DataError: A file that was asked for by name is missing, damaged or of another version.
    """
    pairs = kernels.TWO_SIDED_SIZE**2 if with_two_sided else 0
    total = kernels.ARRANGEMENTS + pairs

    def shifted(shift: int) -> Progress | None:
        if progress is None:
            return None
        return lambda done, _: progress(shift + done, total)

    one, one_file = _load(
        one_sided, one_sided_path, read_one_sided, write_one_sided, compute_one_sided, shifted(0)
    )
    if not with_two_sided:
        empty = kernels.no_bearoff_tables().two_sided
        return BearoffDatabase(kernels.BearoffTables(*one, two_sided=empty), one_file, None)
    two, two_file = _load(
        two_sided,
        two_sided_path,
        read_two_sided,
        write_two_sided,
        compute_two_sided,
        shifted(kernels.ARRANGEMENTS),
    )
    return BearoffDatabase(kernels.BearoffTables(*one, two_sided=two), one_file, two_file)


def _load(
    configured: Path | None,
    cached: Callable[[], Path],
    read: Callable[[Path], _T],
    write: Callable[[Path, _T], None],
    compute: Callable[[Progress | None], _T],
    progress: Progress | None,
) -> tuple[_T, Path | None]:
    """The database from the configured file, else the cache, else computed; and its file."""
    if configured is not None:
        return read(configured), configured
    path: Path | None = None
    try:
        path = cached()
        if path.exists():
            return read(path), path
    except DataError as error:
        _LOG.warning("%s; it is built anew", error)
    except OSError as error:
        _LOG.info("no cache for the bear-off databases: %s", error)
    data = compute(progress)
    if path is not None:
        try:
            write(path, data)
            return read(path), path
        except OSError as error:
            _LOG.info("the bear-off database is kept in memory: %s", error)
    return data, None
