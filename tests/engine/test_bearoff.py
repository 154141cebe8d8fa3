"""Files, cache and loading of the bear-off databases."""

from __future__ import annotations

import logging
import sys
import zlib
from typing import TYPE_CHECKING

import numba
import numpy as np
import pytest

from bgserver.engine import bearoff, bearoff_file
from bgserver.engine.errors import DataError
from bgserver.engine.files import write_atomically
from bgserver.engine.paths import cache_dir
from bgserver.kernels.bearoff import no_bearoff_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Damage = Callable[[bytes], bytes]

HEADER_SIZE = 64
CRC_AT = 28


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("BGSERVER_CACHE_DIR", str(folder))
    return folder


@pytest.fixture(scope="module")
def one_sided_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("bearoff") / "one.bin"
    bearoff.build_one_sided(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def two_sided_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("bearoff") / "two.bin"
    bearoff.build_two_sided(path)
    return path.read_bytes()


def load_one_sided(path: Path | None = None) -> bearoff.BearoffDatabase:
    return bearoff.load_bearoff(path, with_two_sided=False)


def with_crc(data: bytes) -> bytes:
    """The same file with a checksum that fits its payload."""
    crc = zlib.crc32(data[HEADER_SIZE:])
    return data[:CRC_AT] + crc.to_bytes(4, sys.byteorder) + data[CRC_AT + 4 :]


def patched(data: bytes, at: int, value: bytes) -> bytes:
    return data[:at] + value + data[at + len(value) :]


DAMAGE: dict[str, Damage] = {
    "empty": lambda _: b"",
    "header only in part": lambda data: data[:40],
    "truncated": lambda data: data[:-1],
    "longer": lambda data: data + b"\0",
    "one bit": lambda data: patched(data, 1_000_000, bytes([data[1_000_000] ^ 4])),
    "other magic": lambda data: patched(data, 0, b"?"),
    "other kind": lambda data: patched(data, 8, b"xxx"),
    "other version": lambda data: patched(data, 12, b"\x63"),
    "other size of board": lambda data: patched(data, 16, b"\x07"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_cache_is_rebuilt_with_one_warning(
    cache: Path, caplog: pytest.LogCaptureFixture, one_sided_bytes: bytes, damage: Damage
) -> None:
    path = cache / "bearoff" / "one_sided.bin"
    write_atomically(path, [damage(one_sided_bytes)])
    with caplog.at_level(logging.WARNING):
        database = load_one_sided()
    assert len(caplog.records) == 1
    assert str(path) in caplog.text
    assert database.one_sided_file == path
    assert path.read_bytes() == one_sided_bytes
    caplog.clear()
    load_one_sided()
    assert not caplog.records


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_configured_file_is_refused(
    tmp_path: Path, one_sided_bytes: bytes, two_sided_bytes: bytes, damage: Damage
) -> None:
    one = tmp_path / "one.bin"
    one.write_bytes(one_sided_bytes)
    path = tmp_path / "mine.bin"
    path.write_bytes(damage(two_sided_bytes))
    with pytest.raises(DataError, match=r"mine\.bin"):
        bearoff.load_bearoff(one, path)
    assert path.read_bytes() == damage(two_sided_bytes)


def test_missing_or_swapped_configured_file_is_refused(
    tmp_path: Path, one_sided_bytes: bytes, two_sided_bytes: bytes
) -> None:
    missing = tmp_path / "nothing.bin"
    with pytest.raises(DataError, match=r"nothing\.bin.*No such file"):
        load_one_sided(missing)
    with pytest.raises(DataError, match="Is a directory"):
        load_one_sided(tmp_path)
    two = tmp_path / "two.bin"
    two.write_bytes(two_sided_bytes)
    with pytest.raises(DataError, match="expected kind"):
        load_one_sided(two)
    one = tmp_path / "one.bin"
    one.write_bytes(one_sided_bytes)
    with pytest.raises(DataError, match="expected kind"):
        bearoff_file.read_two_sided(one)


@pytest.mark.parametrize(
    ("at", "value", "reason"),
    [
        (HEADER_SIZE, np.int32(1).tobytes(), "offsets"),
        (HEADER_SIZE + 400, np.int32(2**30).tobytes(), "offsets"),
        (1_000_000, np.float32(np.nan).tobytes(), "out of range"),
        (1_000_000, np.float32(1.5).tobytes(), "out of range"),
    ],
)
def test_senseless_numbers_are_refused(
    tmp_path: Path, one_sided_bytes: bytes, at: int, value: bytes, reason: str
) -> None:
    path = tmp_path / "one.bin"
    path.write_bytes(with_crc(patched(one_sided_bytes, at, value)))
    with pytest.raises(DataError, match=reason):
        bearoff_file.read_one_sided(path)


def test_senseless_equities_are_refused(tmp_path: Path, two_sided_bytes: bytes) -> None:
    path = tmp_path / "two.bin"
    path.write_bytes(with_crc(patched(two_sided_bytes, 640, np.float32(np.nan).tobytes())))
    with pytest.raises(DataError, match="out of range"):
        bearoff_file.read_two_sided(path)


def test_first_load_builds_and_the_next_one_maps(cache: Path) -> None:
    calls: list[tuple[int, int]] = []
    built = bearoff.load_bearoff(progress=lambda done, total: calls.append((done, total)))
    assert built.has_two_sided
    assert built.one_sided_file == cache / "bearoff" / "one_sided.bin"
    assert built.two_sided_file == cache / "bearoff" / "two_sided.bin"
    total = 54264 + 924 * 924
    assert len(calls) > 100
    assert calls == sorted(calls)
    assert calls[-1] == (total, total)
    assert all(all_of_it == total for _, all_of_it in calls)
    calls.clear()
    mapped = bearoff.load_bearoff(progress=lambda done, total: calls.append((done, total)))
    assert not calls
    for first, second in zip(built.tables, mapped.tables, strict=True):
        np.testing.assert_array_equal(first, second)


def test_unwritable_cache_means_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where the folder would have to be")
    monkeypatch.setenv("BGSERVER_CACHE_DIR", str(blocked))
    with caplog.at_level(logging.WARNING):
        database = bearoff.load_bearoff()
    assert not caplog.records
    assert database.one_sided_file is None
    assert database.two_sided_file is None
    assert database.has_two_sided
    assert database.mean_rolls([15, 0, 0, 0, 0, 0]) == pytest.approx(6.9796, abs=1e-4)


def test_compiled_types_do_not_depend_on_where_the_tables_are(
    tmp_path: Path, one_sided_bytes: bytes
) -> None:
    path = tmp_path / "one.bin"
    path.write_bytes(one_sided_bytes)
    mapped = load_one_sided(path).tables
    computed = mapped._replace(**bearoff.compute_one_sided()._asdict())
    assert numba.typeof(mapped) == numba.typeof(computed) == numba.typeof(no_bearoff_tables())
    assert not any(array.flags.writeable for array in mapped)


def test_stopped_build_leaves_no_file(cache: Path) -> None:
    class StopError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done > total // 2:
            raise StopError

    with pytest.raises(StopError):
        bearoff.load_bearoff(progress=stop)
    assert [path.name for path in (cache / "bearoff").iterdir()] == ["one_sided.bin"]


def test_failed_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    write_atomically(path, [b"old ", b"contents"])

    def parts() -> Iterator[bytes]:
        yield b"half"
        message = "disk full"
        raise OSError(message)

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, parts())
    assert path.read_bytes() == b"old contents"
    assert list(tmp_path.iterdir()) == [path]


def test_cache_dir_follows_the_environment(cache: Path) -> None:
    assert cache_dir() == cache


def test_distributions_by_counts(tmp_path: Path, one_sided_bytes: bytes) -> None:
    path = tmp_path / "one.bin"
    path.write_bytes(one_sided_bytes)
    database = load_one_sided(path)
    assert not database.has_two_sided
    single = database.rolls_to_clear([0, 0, 0, 0, 0, 1])
    assert single == pytest.approx([0, 27 / 36, 9 / 36], abs=6e-8)
    assert database.rolls_to_clear([0] * 6).tolist() == [1.0]
    assert database.rolls_to_first([0, 0, 0, 0, 0, 15])[1] == pytest.approx(17 / 36, abs=6e-8)
    with pytest.raises(ValueError, match="15 checkers"):
        database.rolls_to_first([0, 0, 0, 0, 0, 14])
    for counts in ([16, 0, 0, 0, 0, 0], [1, -1, 0, 0, 0, 0], [1, 1]):
        with pytest.raises(ValueError, match="at most 15"):
            database.mean_rolls(counts)
