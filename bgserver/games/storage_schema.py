"""The file that games are kept in: its tables, migrations, and what is checked on opening.

One SQLite file in WAL mode. Every migration runs once, in order, each in a transaction of its own;
the table `schema_version` says which have run. A file of a newer version is refused, not guessed
at.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
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
    system and the operating system lets go of it when the process dies, however it dies.
    """

    def __init__(self, path: Path) -> None:
        """Take the lock.

        Raises:
            StorageError: Another server has it, or the folder cannot be written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                path.with_name(f"{path.name}-lock"),
                timeout=0.5,
                isolation_level=None,
                check_same_thread=False,
            )
        except (OSError, sqlite3.OperationalError) as error:
            message = f"cannot open {path}: {error}"
            raise StorageError(message) from error
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            self._connection.close()
            if "locked" in str(error):
                message = f"another server uses {path}; give this one another file with --data"
                raise StorageError(message) from None
            message = f"cannot open {path}: {error}"
            raise StorageError(message) from error

    def release(self) -> None:
        """Let go of it."""
        self._connection.close()


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
