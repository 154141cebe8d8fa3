"""The file format of the bear-off databases.

A header of 64 bytes (magic, kind, format version, points, checkers, payload size, CRC-32 of the
payload), then the arrays of `BearoffTables` of that kind one after the other. All numbers are in
the byte order of the machine, for the files are read by memory map and do not travel: a machine
of the other order reads a wrong version. Probabilities and equities are float32.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.engine.errors import DataError
from bgserver.engine.files import write_atomically
from bgserver.kernels.bearoff import ARRANGEMENTS, ENTRIES, HOME_POINTS, TWO_SIDED_SIZE

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = [
    "VERSION",
    "OneSided",
    "read_one_sided",
    "read_two_sided",
    "write_one_sided",
    "write_two_sided",
]

VERSION = 1
"""Goes up when the layout, the play criterion or the meaning of a number changes."""

_HEADER = struct.Struct("=8s4sIHHQI32x")
_MAGIC = b"BGSVBEAR"
_ONE_SIDED = b"one\0"
_TWO_SIDED = b"two\0"
_CHECKERS = {_ONE_SIDED: 15, _TWO_SIDED: 6}
_ONE_SIDED_FIXED = 4 * (ENTRIES + 1) + 4 * ARRANGEMENTS + ENTRIES
_TWO_SIDED_SHAPE = (TWO_SIDED_SIZE, TWO_SIDED_SIZE, 4)


class OneSided(NamedTuple):
    """The arrays of the one-sided database, as in `BearoffTables`, all read-only."""

    probabilities: NDArray[np.float32]
    offsets: NDArray[np.int32]
    starts: NDArray[np.uint8]
    mean_rolls: NDArray[np.float32]


def write_one_sided(path: Path, tables: OneSided) -> None:
    """Write the one-sided database; raises `OSError` if that is impossible."""
    arrays = (tables.offsets, tables.mean_rolls, tables.probabilities, tables.starts)
    _write(path, _ONE_SIDED, arrays)


def write_two_sided(path: Path, equities: NDArray[np.float32]) -> None:
    """Write the two-sided database; raises `OSError` if that is impossible."""
    _write(path, _TWO_SIDED, (equities,))


def read_one_sided(path: Path) -> OneSided:
    """Map the one-sided database at `path`.

    Raises:
        DataError: It is missing, unreadable, damaged or of another version.
    """
    payload = _read(path, _ONE_SIDED)
    count, rest = divmod(len(payload) - _ONE_SIDED_FIXED, 4)
    if count < ENTRIES or rest:
        raise _fault(path, f"the payload has an impossible size, {len(payload)} bytes")
    offsets = np.frombuffer(payload, np.int32, ENTRIES + 1)
    position = offsets.nbytes
    mean_rolls = np.frombuffer(payload, np.float32, ARRANGEMENTS, position)
    position += mean_rolls.nbytes
    probabilities = np.frombuffer(payload, np.float32, count, position)
    position += probabilities.nbytes
    starts = np.frombuffer(payload, np.uint8, ENTRIES, position)
    # Kernels trust the offsets: a file made by another hand must not lead them astray.
    if offsets[0] != 0 or offsets[-1] != count or (np.diff(offsets) < 1).any():
        raise _fault(path, "the offsets do not fit the probabilities")
    if not _all_within(probabilities, 0.0, 1.0) or not _all_within(mean_rolls, 0.0, 30.0):
        raise _fault(path, "a number is out of range")
    return OneSided(probabilities, offsets, starts, mean_rolls)


def read_two_sided(path: Path) -> NDArray[np.float32]:
    """Map the two-sided database at `path`; the array of `BearoffTables.two_sided`.

    Raises:
        DataError: It is missing, unreadable, damaged or of another version.
    """
    payload = _read(path, _TWO_SIDED)
    expected = 4 * TWO_SIDED_SIZE * TWO_SIDED_SIZE * 4
    if len(payload) != expected:
        raise _fault(path, f"expected a payload of {expected} bytes, got {len(payload)}")
    equities = np.frombuffer(payload, np.float32).reshape(_TWO_SIDED_SHAPE)
    if not _all_within(equities, -1.0, 1.0):
        raise _fault(path, "an equity is out of range")
    return equities


def _all_within(array: NDArray[np.float32], low: float, high: float) -> bool:
    return bool(((array >= low) & (array <= high)).all())  # false for NaN


def _write(path: Path, kind: bytes, arrays: tuple[NDArray[np.generic], ...]) -> None:
    parts = []
    crc = 0
    for array in arrays:
        data = array.data.cast("B")
        crc = zlib.crc32(data, crc)
        parts.append(data)
    size = sum(len(part) for part in parts)
    header = _HEADER.pack(_MAGIC, kind, VERSION, HOME_POINTS, _CHECKERS[kind], size, crc)
    write_atomically(path, [header, *parts])


def _read(path: Path, kind: bytes) -> memoryview:
    """The payload of a file of `kind`, checked."""
    try:
        with path.open("rb") as file:
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
        raise _fault(path, str(error)) from error
    if len(data) < _HEADER.size:
        raise _fault(path, f"{len(data)} bytes are too few for a header")
    magic, found_kind, version, points, checkers, size, crc = _HEADER.unpack_from(data)
    if magic != _MAGIC or found_kind != kind:
        raise _fault(path, "this is not a bear-off database of the expected kind")
    if version != VERSION:
        raise _fault(path, f"expected format version {VERSION}, got {version}")
    if (points, checkers) != (HOME_POINTS, _CHECKERS[kind]):
        raise _fault(path, f"it is for {checkers} checkers on {points} points")
    payload = data[_HEADER.size :]
    if len(payload) != size:
        raise _fault(path, f"expected {size} bytes after the header, got {len(payload)}")
    if zlib.crc32(payload) != crc:
        raise _fault(path, "the checksum is wrong")
    return payload


def _fault(path: Path, reason: str) -> DataError:
    return DataError(f"bear-off database {str(path)!r}: {reason}")
