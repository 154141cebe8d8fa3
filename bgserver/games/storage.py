"""Where games are kept: one SQLite file, one thread that writes, one that reads.

Everything that is written goes through one thread, which puts all that waits into one transaction:
with many games in play a single flush to the disk serves dozens of actions. What `append` and the
others promise: once their future is done, the change survives a crash of the process and of the
machine. A future that fails means that nothing of the change was stored.

Stable: the methods of `Storage`.
"""

from __future__ import annotations

import json
import queue
import secrets
import sqlite3
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bgserver.engine.errors import OverloadedError
from bgserver.games.codec import decoded, encoded
from bgserver.games.errors import RequestReusedError, StorageError, UnknownInvitationError
from bgserver.games.storage_records import (
    Brief,
    Detail,
    EventRow,
    GameRow,
    Loaded,
    Status,
)
from bgserver.games.storage_schema import IN_MEMORY, FileLock, open_existing, open_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bgserver.games.storage_records import Append, Code

__all__ = ["IN_MEMORY", "Storage", "list_rows", "read_only", "whole_game"]

_T = TypeVar("_T")
_MOST_IN_ONE = 256  # of a transaction, so that the first of them does not wait long
_GAME_COLUMNS = "key, id, created_at, changed_at, version, status, listed, preset, due_at, brief"
_RETRY_AFTER_S = 60.0


class _Job(Generic[_T]):
    """Something to do with a connection."""

    __slots__ = ("future", "task")

    def __init__(self, task: Callable[[sqlite3.Connection], _T]) -> None:
        self.task = task
        self.future: Future[_T] = Future()


class _Worker:
    """A thread that owns a connection."""

    def __init__(self, name: str, connect: Callable[[], sqlite3.Connection]) -> None:
        self._jobs: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._connect = connect
        opened: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(opened,), name=name, daemon=True)
        self._thread.start()
        opened.result()

    def submit(self, task: Callable[[sqlite3.Connection], _T]) -> Future[_T]:
        job = _Job(task)
        self._jobs.put(job)
        return job.future

    def close(self) -> None:
        """Do all that has been submitted, then end."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self, opened: Future[None]) -> None:
        try:
            connection = self._connect()
        except BaseException as error:  # noqa: BLE001 -- raised where the worker is made
            opened.set_exception(error)
            return
        opened.set_result(None)
        ended = False
        while not ended:
            jobs, ended = self._next()
            self._do(connection, jobs)
        connection.close()

    def _next(self) -> tuple[list[_Job[Any]], bool]:
        """All jobs that wait, at least one unless the end has come; whether it has."""
        jobs: list[_Job[Any]] = []
        item = self._jobs.get()
        while item is not None:
            jobs.append(item)
            if len(jobs) == _MOST_IN_ONE:
                return jobs, False
            try:
                item = self._jobs.get_nowait()
            except queue.Empty:
                return jobs, False
        return jobs, True

    def _do(self, connection: sqlite3.Connection, jobs: list[_Job[Any]]) -> None:
        for job in jobs:
            try:
                result = job.task(connection)
            except sqlite3.Error as error:
                job.future.set_exception(_failure(error))
            except Exception as error:  # noqa: BLE001 -- handed to whoever waits
                job.future.set_exception(error)
            else:
                job.future.set_result(result)


class _Writer(_Worker):
    """A worker whose jobs share transactions."""

    def __init__(
        self, name: str, connect: Callable[[], sqlite3.Connection], now: Callable[[], float]
    ) -> None:
        self._now = now
        super().__init__(name, connect)

    def _do(self, connection: sqlite3.Connection, jobs: list[_Job[Any]]) -> None:
        if not jobs:
            return
        outcomes: list[tuple[_Job[Any], Any, Exception | None]] = []
        try:
            connection.execute("BEGIN IMMEDIATE")
            outcomes.extend((job, *_apart(connection, job)) for job in jobs)
            _set(connection, "alive_at", self._now())
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            # Nothing of this transaction was stored, whatever the jobs thought.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            failure = _failure(error)
            outcomes = [(job, None, failure) for job in jobs]
        for job, result, failed in outcomes:
            if failed is not None:
                job.future.set_exception(failed)
            else:
                job.future.set_result(result)


def _apart(connection: sqlite3.Connection, job: _Job[Any]) -> tuple[Any, Exception | None]:
    """Do one job of a transaction; if it fails, only its own changes are undone."""
    connection.execute("SAVEPOINT job")
    try:
        result = job.task(connection)
    except sqlite3.OperationalError:
        raise  # the disk or the file, and not this job: the whole transaction has failed
    except Exception as error:  # noqa: BLE001 -- handed to whoever waits for the job
        connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")
        return None, error
    connection.execute("RELEASE job")
    return result, None


def _failure(error: sqlite3.Error) -> StorageError:
    failure = StorageError(f"games cannot be stored or read now: {error}")
    failure.__cause__ = error
    return failure


class Storage:
    """The games of one server."""

    def __init__(self, path: str, now: Callable[[], float]) -> None:
        """Open or make the data file; blocks while it is checked.

        Args:
            path: The file; `IN_MEMORY` keeps games until the process ends.
            now: The time in seconds since the epoch.

        Raises:
            StorageError: The file is in use, damaged, foreign, too new or cannot be written.
        """
        self.path = path
        """Where the games are kept."""
        self._lock = None if path == IN_MEMORY else FileLock(Path(path))
        self._writer: _Worker | None = None
        self._reader: _Worker | None = None
        try:
            self._writer = _Writer("bgserver-games", lambda: open_writer(path, now), now)
            # A database in memory belongs to its connection.
            self._reader = (
                self._writer
                if path == IN_MEMORY
                else _Worker("bgserver-games-read", lambda: open_existing(path))
            )
            # Before anything is written, which says that the server is alive.
            self.last_alive_at, self.secret = self._reader.submit(_beginning).result()
            """When the last server on this file was alive, None for a new file; and a secret that
            tokens are made with."""
            if not self.secret:
                self.secret = self._writer.submit(_make_secret).result()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Finish what was submitted and let go of the file."""
        if self._reader is not None and self._reader is not self._writer:
            self._reader.close()
        if self._writer is not None:
            self._writer.close()
        if self._lock is not None:
            self._lock.release()

    def _write(self, task: Callable[[sqlite3.Connection], _T]) -> Future[_T]:
        if self._writer is None:
            raise AssertionError(_CLOSED)
        return self._writer.submit(task)

    def _read(self, task: Callable[[sqlite3.Connection], _T]) -> Future[_T]:
        if self._reader is None:
            raise AssertionError(_CLOSED)
        return self._reader.submit(task)

    # --- writing ---

    def create(
        self,
        row: GameRow,
        detail: Detail,
        codes: Sequence[Code],
        append: Append | None,
        request: Code | None,
        most: int,
    ) -> Future[tuple[str, bool]]:
        """Store a new game.

        Args:
            row: The game; its `key` is given here.
            detail: What is settled.
            codes: Tokens and invitations.
            append: The first events, if it starts at once; its `key` is given here.
            request: The id of the request, if it has one, with its digest.
            most: Most games that are not over.

        Returns:
            The id of the game and whether it is new: an earlier one if the request was done before.

        Raises:
            RequestReusedError: The request's id belongs to another request.
            OverloadedError: There are too many games.
        """

        def task(connection: sqlite3.Connection) -> tuple[str, bool]:
            if request is not None:
                found = _code(connection, request.hash)
                if found is not None:
                    game, _, content = found
                    if content != request.content:
                        raise RequestReusedError
                    (game_id,) = connection.execute(
                        "SELECT id FROM game WHERE key = ?", (game,)
                    ).fetchone()
                    return str(game_id), False
            (unfinished,) = connection.execute(
                "SELECT count(*) FROM game WHERE status < ?", (int(Status.OVER),)
            ).fetchone()
            if unfinished >= most:
                message = f"{most} games are unfinished already"
                raise OverloadedError(message, _RETRY_AFTER_S)
            cursor = connection.execute(
                f"INSERT INTO game ({_GAME_COLUMNS}) VALUES (NULL{', ?' * 9})",  # noqa: S608 -- only names of our own
                _game_values(row)[1:],
            )
            key = cursor.lastrowid or 0
            _put_detail(connection, key, detail)
            _put_codes(connection, key, codes if request is None else [*codes, request])
            if append is not None:
                _append(connection, key, append)
            return row.id, True

        return self._write(task)

    def join(
        self,
        key: int,
        invitation_role: str,
        detail: Detail,
        codes: Sequence[Code],
        append: Append | None,
    ) -> Future[None]:
        """Store that somebody has taken an open seat.

        Args:
            key: The game.
            invitation_role: Role of the invitation that is used up.
            detail: With the seat taken.
            codes: The token of the seat, and the id of the request if it has one.
            append: The first events, if the game starts.

        Raises:
            UnknownInvitationError: The seat was taken in the meantime.
        """

        def task(connection: sqlite3.Connection) -> None:
            used = connection.execute(
                "DELETE FROM code WHERE game = ? AND role = ?", (key, invitation_role)
            )
            if used.rowcount != 1:
                raise UnknownInvitationError
            _put_detail(connection, key, detail)
            _put_codes(connection, key, codes)
            if append is not None:
                _append(connection, key, append)

        return self._write(task)

    def append(self, append: Append) -> Future[None]:
        """Store events.

        Raises:
            StorageError: They could not be stored, or do not follow the last one.
        """
        return self._write(lambda connection: _append(connection, append.key, append))

    def heartbeat(self) -> Future[None]:
        """Note that the server is alive, for the clocks after a crash."""
        return self._write(lambda _: None)

    def delete_before(
        self, finished: float | None, idle: float | None, most: int = 100
    ) -> Future[list[str]]:
        """Delete old games, at most `most` at once.

        Args:
            finished: Games that are over and changed last before this time; None keeps them.
            idle: Games that are not over and changed last before this time; None keeps them.
            most: How many.

        Returns:
            The ids of the deleted games.
        """

        def task(connection: sqlite3.Connection) -> list[str]:
            rows: list[tuple[int, str]] = connection.execute(
                "SELECT key, id FROM game WHERE (status = 2 AND changed_at < ?)"
                " OR (status < 2 AND changed_at < ?) LIMIT ?",
                (_or_never(finished), _or_never(idle), most),
            ).fetchall()
            for key, _ in rows:
                for name, column in _PARTS:
                    connection.execute(f"DELETE FROM {name} WHERE {column} = ?", (key,))  # noqa: S608 -- only names of our own
            if rows:
                connection.execute("PRAGMA incremental_vacuum")
            return [game_id for _, game_id in rows]

        return self._write(task)

    # --- reading ---

    def load(self, game_id: str) -> Future[Loaded | None]:
        """A game to be played on; None if there is none with this id."""
        return self._read(lambda connection: _load(connection, game_id))

    def events(self, game_id: str, after: int, most: int) -> Future[list[EventRow]]:
        """Events after number `after`, at most `most` of them."""
        return self._read(lambda connection: _events(connection, game_id, after, most))

    def codes(self, hashes: Sequence[bytes]) -> Future[list[tuple[str, str, bytes | None]]]:
        """(id of the game, role, content) for each of these hashes that is known."""

        def task(connection: sqlite3.Connection) -> list[tuple[str, str, bytes | None]]:
            marks = ", ".join("?" * len(hashes))
            query = (
                "SELECT game.id, code.role, code.content FROM code JOIN game"  # noqa: S608 -- only names of our own
                f" ON game.key = code.game WHERE code.hash IN ({marks})"
            )
            return connection.execute(query, tuple(hashes)).fetchall()

        return self._read(task)

    def rows(
        self,
        *,
        status: Status | None,
        preset: str,
        ids: Sequence[str] | None,
        before: int | None,
        most: int,
    ) -> Future[list[tuple[GameRow, Detail]]]:
        """Games, the newest first.

        Args:
            status: Only games of this status.
            preset: Only games of this preset, unless empty.
            ids: Only these games; None means the listed ones.
            before: Only games with a lower key.
            most: How many.
        """
        return self._read(
            lambda connection: list_rows(
                connection, status=status, preset=preset, ids=ids, before=before, most=most
            )
        )

    def due(self) -> Future[list[tuple[str, float, float]]]:
        """(id, when, changed last) of all games in which something is to happen by itself."""
        query = "SELECT id, due_at, changed_at FROM game WHERE due_at IS NOT NULL ORDER BY due_at"
        return self._read(lambda connection: connection.execute(query).fetchall())


_CLOSED = "the storage is not open"
_PARTS = (
    ("game", "key"),
    ("detail", "game"),
    ("snapshot", "game"),
    ("event", "game"),
    ("code", "game"),
)


def read_only(path: str) -> sqlite3.Connection:
    """A connection for `list_rows` and `whole_game`, beside a server or without one.

    Raises:
        StorageError: There is no such file, or it is no data file.
    """
    return open_existing(path)


def _beginning(connection: sqlite3.Connection) -> tuple[float | None, bytes]:
    found = dict(connection.execute("SELECT name, value FROM setting").fetchall())
    return found.get("alive_at"), found.get("secret", b"")


def _make_secret(connection: sqlite3.Connection) -> bytes:
    secret = secrets.token_bytes(32)
    _set(connection, "secret", secret)
    return secret


def _set(connection: sqlite3.Connection, name: str, value: object) -> None:
    connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, value))


def _or_never(time: float | None) -> float:
    return -1.0 if time is None else time


def _text(value: object) -> str:
    return json.dumps(encoded(value), separators=(",", ":"), ensure_ascii=False)


def _code(connection: sqlite3.Connection, digest: bytes) -> tuple[int, str, bytes | None] | None:
    row: tuple[int, str, bytes | None] | None = connection.execute(
        "SELECT game, role, content FROM code WHERE hash = ?", (digest,)
    ).fetchone()
    return row


def _game_values(row: GameRow) -> tuple[object, ...]:
    return (
        row.key,
        row.id,
        row.created_at,
        row.changed_at,
        row.version,
        int(row.status),
        row.listed,
        row.preset,
        row.due_at,
        _text(row.brief),
    )


def _game_row(values: Sequence[Any]) -> GameRow:
    key, game_id, created_at, changed_at, version, status, listed, preset, due_at, brief = values
    return GameRow(
        key,
        game_id,
        created_at,
        changed_at,
        version,
        Status(status),
        bool(listed),
        preset,
        due_at,
        decoded(Brief, json.loads(brief)),
    )


def _put_detail(connection: sqlite3.Connection, key: int, detail: Detail) -> None:
    connection.execute("INSERT OR REPLACE INTO detail VALUES (?, ?)", (key, _text(detail)))


def _put_codes(connection: sqlite3.Connection, key: int, codes: Iterable[Code]) -> None:
    connection.executemany(
        "INSERT INTO code VALUES (?, ?, ?, ?)",
        [(code.hash, key, code.role, code.content) for code in codes],
    )


def _append(connection: sqlite3.Connection, key: int, append: Append) -> None:
    last = append.version + len(append.events)
    changed = connection.execute(
        "UPDATE game SET changed_at = ?, version = ?, status = ?, due_at = ?, brief = ?"
        " WHERE key = ? AND version = ?",
        (
            append.changed_at,
            last,
            int(append.status),
            append.due_at,
            _text(append.brief),
            key,
            append.version,
        ),
    )
    if changed.rowcount != 1:
        message = f"the events do not follow version {append.version} of the stored game"
        raise StorageError(message)
    connection.executemany(
        "INSERT INTO event VALUES (?, ?, ?, ?, ?)",
        [(key, row.number, row.body, row.note, row.request) for row in append.events],
    )
    if append.snapshot is not None:
        connection.execute(
            "INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?)", (key, last, append.snapshot)
        )


def _load(connection: sqlite3.Connection, game_id: str) -> Loaded | None:
    # One transaction, so that everything is of one moment.
    connection.execute("SAVEPOINT load")
    try:
        values = connection.execute(
            f"SELECT {_GAME_COLUMNS} FROM game WHERE id = ?",  # noqa: S608 -- only names of our own
            (game_id,),
        ).fetchone()
        if values is None:
            return None
        row = _game_row(values)
        (detail,) = connection.execute(
            "SELECT body FROM detail WHERE game = ?", (row.key,)
        ).fetchone()
        snapshot: tuple[int, str] | None = connection.execute(
            "SELECT version, body FROM snapshot WHERE game = ?", (row.key,)
        ).fetchone()
        roles = dict(
            connection.execute(
                "SELECT hash, role FROM code WHERE game = ? AND role != 'request'", (row.key,)
            ).fetchall()
        )
        events = connection.execute(
            _EVENTS, (row.key, snapshot[0] if snapshot is not None else 0, -1)
        ).fetchall()
    finally:
        connection.execute("RELEASE load")
    return Loaded(
        row,
        decoded(Detail, json.loads(detail)),
        roles,
        snapshot,
        tuple(EventRow(*event) for event in events),
    )


_EVENTS = (
    "SELECT number, body, note, request FROM event WHERE game = ? AND number > ?"
    " ORDER BY number LIMIT ?"
)


def _events(connection: sqlite3.Connection, game_id: str, after: int, most: int) -> list[EventRow]:
    found = connection.execute("SELECT key FROM game WHERE id = ?", (game_id,)).fetchone()
    if found is None:
        return []
    return [EventRow(*row) for row in connection.execute(_EVENTS, (found[0], after, most))]


def whole_game(
    connection: sqlite3.Connection, game_id: str
) -> tuple[GameRow, Detail, list[EventRow]] | None:
    """A game with all its events; None if there is none with this id."""
    loaded = _load(connection, game_id)
    if loaded is None:
        return None
    return loaded.row, loaded.detail, _events(connection, game_id, 0, -1)


def list_rows(
    connection: sqlite3.Connection,
    *,
    status: Status | None = None,
    preset: str = "",
    ids: Sequence[str] | None = None,
    everything: bool = False,
    before: int | None = None,
    most: int = 50,
) -> list[tuple[GameRow, Detail]]:
    """As `Storage.rows`; `everything` shows games that are not listed, too."""
    where = ["1"]
    values: list[object] = []
    if ids is not None:
        where.append(f"id IN ({', '.join('?' * len(ids))})")
        values += ids
    elif not everything:
        where.append("listed")
    if status is not None:
        where.append("status = ?")
        values.append(int(status))
    if preset:
        where.append("preset = ?")
        values.append(preset)
    if before is not None:
        where.append("key < ?")
        values.append(before)
    query = (
        f"SELECT {_GAME_COLUMNS}, detail.body FROM game JOIN detail ON detail.game = key"  # noqa: S608 -- only names of our own
        f" WHERE {' AND '.join(where)} ORDER BY key DESC LIMIT ?"
    )
    return [
        (_game_row(row[:-1]), decoded(Detail, json.loads(row[-1])))
        for row in connection.execute(query, (*values, most))
    ]
