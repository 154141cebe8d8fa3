"""The file that games are kept in: its tables, migrations, and what is checked on opening.

One SQLite file in WAL mode. Every migration runs once, in order, each in a transaction of its own;
the table `schema_version` says which have run. A file of a newer version is refused, not guessed
at.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bgserver.games.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["IN_MEMORY", "FileLock", "open_existing", "open_writer"]

IN_MEMORY = ":memory:"
"""Instead of a file: games that are forgotten when the process ends."""
_APPLICATION_ID = 0x42475376  # "BGSv", so that a foreign file is not taken for one of ours
_PAGE_CACHE_KIB = 8_192
_BUSY_S = 10.0

_MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE setting (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
    -- What changes with every action; everything large is elsewhere.
    CREATE TABLE game (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        created_at REAL NOT NULL,
        changed_at REAL NOT NULL,
        version INTEGER NOT NULL,
        status INTEGER NOT NULL,
        listed INTEGER NOT NULL,
        preset TEXT NOT NULL,
        due_at REAL,
        brief TEXT NOT NULL
    );
    CREATE INDEX game_due ON game (due_at) WHERE due_at IS NOT NULL;
    CREATE INDEX game_listed ON game (key) WHERE listed;
    CREATE INDEX game_status ON game (status, changed_at);
    CREATE TABLE detail (game INTEGER PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE snapshot (game INTEGER PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL);
    CREATE TABLE event (
        game INTEGER NOT NULL,
        number INTEGER NOT NULL,
        body TEXT NOT NULL,
        note TEXT,
        request TEXT,
        PRIMARY KEY (game, number)
    ) WITHOUT ROWID;
    -- Hashes of tokens, invitations and request ids.
    CREATE TABLE code (
        hash BLOB PRIMARY KEY,
        game INTEGER NOT NULL,
        role TEXT NOT NULL,
        content BLOB
    ) WITHOUT ROWID;
    CREATE INDEX code_game ON code (game);
    """,
)


class FileLock:
    """Keeps other servers away from a file for as long as this process lives.

    It is the lock of a small SQLite file beside the data file, because SQLite can lock on every
    system and the operating system lets go of it when the process dies, however it dies. Symbolic
    links are followed to the one file; a file with several names (hard links) is refused, for
    SQLite keeps its log under the name by which a file was opened.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock; makes the folder if there is none.

        Raises:
            StorageError: Another server has it, the folder cannot be written, or the data file has
                several names.
        """
        self._lock = path.with_name(f"{path.name}-lock")
        self._lock_is_new = False
        self._new_folders: list[Path] = []
        try:
            _require_one_name(path)
            self._new_folders = [folder for folder in path.parents if not folder.exists()]
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._locked()
        except (OSError, sqlite3.OperationalError) as error:
            self._remove_folders()
            if "locked" in str(error):
                message = f"another server uses {path}; give this one another file with --data"
                raise StorageError(message) from None
            message = f"cannot open {path}: {error}"
            raise StorageError(message) from error
        names = [] if path.exists() else [path.name, f"{path.name}-wal", f"{path.name}-shm"]
        self._new_files = [path.with_name(name) for name in names]

    def release(self) -> None:
        """Let go of it."""
        self._connection.close()

    def undo(self) -> None:
        """Let go of it and remove what was not there before: data file, lock and folders."""
        removed = [_remove(file) for file in self._new_files]
        if not self._lock_is_new or not all(removed):
            self.release()
            return
        # While it is still held, where a system allows that: nobody else's lock is removed then.
        is_removed = _remove(self._lock)
        self.release()
        if not is_removed:
            _remove(self._lock)
        self._remove_folders()

    def _locked(self) -> sqlite3.Connection:
        """A connection that has locked the file that goes by the lock's name."""
        while True:
            self._lock_is_new = not self._lock.exists()
            self._lock.touch()
            number = _number(self._lock)
            connection = sqlite3.connect(
                self._lock, timeout=0.5, isolation_level=None, check_same_thread=False
            )
            failure: sqlite3.OperationalError | None = None
            try:
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                failure = error
            # A server that undid its start may have removed the file in the meantime.
            is_same = number is not None and _number(self._lock) == number
            if is_same and failure is None:
                return connection
            connection.close()
            if is_same and failure is not None:
                raise failure

    def _remove_folders(self) -> None:
        """Remove the folders that were made, from the innermost on, unless others use them."""
        for folder in self._new_folders:
            with suppress(OSError):
                folder.rmdir()


def _require_one_name(path: Path) -> None:
    """Refuse a data file with hard links, by which two servers could meet in it unseen."""
    if path.is_file() and (names := path.stat().st_nlink) > 1:
        message = (
            f"{path} has {names} names (hard links), so that another server may use it unnoticed; "
            "give this one a copy, or another file, with --data"
        )
        raise StorageError(message)


def _number(file: Path) -> int | None:
    """What tells a file from another one that later has its name; None if there is none."""
    try:
        return file.stat().st_ino
    except FileNotFoundError:
        return None


def _remove(file: Path) -> bool:
    """Remove a file; whether it is gone."""
    try:
        file.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def open_writer(path: str, now: Callable[[], float]) -> sqlite3.Connection:
    """Open the data file for writing; make it, or bring it up to date.

    Args:
        path: The file, or `IN_MEMORY`.
        now: The time, for the table of versions.

    Raises:
        StorageError: It is no data file, damaged, too new, or cannot be written.
    """
    with _named(path):
        connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
        try:
            _check_kind(connection, path)
            if connection.execute("PRAGMA application_id").fetchone() == (0,):
                # Both only before the first table.
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KIB}")
            _migrate(connection, path, now)
            _check_integrity(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def open_existing(path: str) -> sqlite3.Connection:
    """Open the data file for reading only, while a server may be using it.

    Raises:
        StorageError: There is none, it is no data file, or of another version.
    """
    with _named(path):
        if not Path(path).exists():
            message = f"there is no file {path}"
            raise StorageError(message)
        uri = f"{Path(path).resolve().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
        try:
            _check_kind(connection, path)
            version = _version(connection)
            if version != len(_MIGRATIONS):
                message = f"{path} has version {version}, expected {len(_MIGRATIONS)}"
                raise StorageError(message)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def _named(path: str) -> Iterator[None]:
    """Turns errors of SQLite into `StorageError` that names the file."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        message = f"cannot use {path}: {error}"
        raise StorageError(message) from error


def _check_kind(connection: sqlite3.Connection, path: str) -> None:
    """Refuse files that are no data files of ours."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application_id != _APPLICATION_ID and (application_id or tables):
        message = f"{path} is a database of another program"
        raise StorageError(message)


def _version(connection: sqlite3.Connection) -> int:
    found = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE name = 'schema_version'"
    ).fetchone()
    if found == (0,):
        return 0
    (version,) = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    return int(version or 0)


def _migrate(connection: sqlite3.Connection, path: str, now: Callable[[], float]) -> None:
    version = _version(connection)
    if version > len(_MIGRATIONS):
        message = (
            f"{path} has version {version}, and this program knows versions up to "
            f"{len(_MIGRATIONS)}: use a newer bgserver"
        )
        raise StorageError(message)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, applied_at REAL)"
    )
    connection.execute("COMMIT")
    for number, script in enumerate(_MIGRATIONS[version:], version + 1):
        row = f"INSERT INTO schema_version VALUES ({number}, {now()!r});"  # noqa: S608 -- numbers
        # One transaction: a migration is there as a whole or not at all.
        connection.executescript(f"BEGIN IMMEDIATE; {script}; {row} COMMIT;")


def _check_integrity(connection: sqlite3.Connection, path: str) -> None:
    """Find damage at the start, and not in the middle of a game."""
    found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(3)")]
    if found != ["ok"]:
        message = f"{path} is damaged: {'; '.join(found)}; restore it from a backup"
        raise StorageError(message)
