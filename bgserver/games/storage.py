"""Where games are kept: one SQLite file, one thread that writes, one that reads.

Everything that is written goes through one thread, which puts all that waits into one transaction:
with many games in play a single flush to the disk serves dozens of actions. What `append` and the
others promise: once their future is done, the change survives a crash of the process and of the
machine. A future that fails means that nothing of the change was stored.

Stable: the methods of `Storage`.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bgserver.engine.errors import OverloadedError
from bgserver.games import storage_queries as queries
from bgserver.games.errors import RequestReusedError, UnknownInvitationError
from bgserver.games.storage_records import Status
from bgserver.games.storage_schema import IN_MEMORY, FileLock, open_existing, open_writer
from bgserver.games.storage_workers import Worker, Writer

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from bgserver.games.storage_records import Append, Code, Detail, EventRow, GameRow, Loaded

__all__ = ["IN_MEMORY", "Storage"]

_T = TypeVar("_T")
_RETRY_AFTER_S = 60.0


def _or_never(time: float | None) -> float:
    return -1.0 if time is None else time


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
        self._lock = None if path == IN_MEMORY else FileLock(Path(path).resolve())
        self._writer: Worker | None = None
        self._reader: Worker | None = None
        try:
            self._writer = Writer(
                "bgserver-games",
                lambda: open_writer(path, now),
                lambda connection: queries.set_setting(connection, "alive_at", now()),
            )
            # A database in memory belongs to its connection.
            self._reader = (
                self._writer
                if path == IN_MEMORY
                else Worker("bgserver-games-read", lambda: open_existing(path))
            )
            # Before anything is written, which says that the server is alive.
            self.last_alive_at, self.secret = self._reader.submit(_beginning).result()
            """When the last server on this file was alive, None for a new file; and a secret that
            tokens are made with."""
            if not self.secret:
                self.secret = self._writer.submit(_make_secret).result()
        except BaseException:
            self.discard()
            raise

    def close(self) -> None:
        """Finish what was submitted and let go of the file."""
        self._end_workers()
        if self._lock is not None:
            self._lock.release()

    def discard(self) -> None:
        """Let go of the file, and remove it if it was made here: the server has never started."""
        self._end_workers()
        if self._lock is not None:
            self._lock.undo()

    def _end_workers(self) -> None:
        if self._reader is not None and self._reader is not self._writer:
            self._reader.close()
        if self._writer is not None:
            self._writer.close()

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
                found = queries.find_code(connection, request.hash)
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
            key = queries.insert_game(connection, row)
            queries.put_detail(connection, key, detail)
            queries.put_codes(connection, key, codes if request is None else [*codes, request])
            if append is not None:
                queries.append_events(connection, key, append)
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
            queries.put_detail(connection, key, detail)
            queries.put_codes(connection, key, codes)
            if append is not None:
                queries.append_events(connection, key, append)

        return self._write(task)

    def append(self, append: Append) -> Future[None]:
        """Store events.

        Raises:
            StorageError: They could not be stored, or do not follow the last one.
        """
        return self._write(lambda connection: queries.append_events(connection, append.key, append))

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
                queries.delete_game(connection, key)
            if rows:
                connection.execute("PRAGMA incremental_vacuum")
            return [game_id for _, game_id in rows]

        return self._write(task)

    # --- reading ---

    def load(self, game_id: str) -> Future[Loaded | None]:
        """A game to be played on; None if there is none with this id."""
        return self._read(lambda connection: queries.load_game(connection, game_id))

    def events(self, game_id: str, after: int, most: int) -> Future[list[EventRow]]:
        """Events after number `after`, at most `most` of them."""
        return self._read(lambda connection: queries.later_events(connection, game_id, after, most))

    def codes(self, hashes: Sequence[bytes]) -> Future[list[tuple[str, str, bytes | None]]]:
        """(id of the game, role, content) for each of these hashes that is known."""
        return self._read(lambda connection: queries.find_codes(connection, hashes))

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
            lambda connection: queries.list_rows(
                connection, status=status, preset=preset, ids=ids, before=before, most=most
            )
        )

    def unfinished(self) -> Future[dict[Status, int]]:
        """How many games wait for players, and how many are being played."""

        def task(connection: sqlite3.Connection) -> dict[Status, int]:
            query = "SELECT status, count(*) FROM game WHERE status < ? GROUP BY status"
            found = dict(connection.execute(query, (int(Status.OVER),)).fetchall())
            return {one: found.get(int(one), 0) for one in (Status.WAITING, Status.RUNNING)}

        return self._read(task)

    def due(self) -> Future[list[tuple[str, float, float]]]:
        """(id, when, changed last) of all games in which something is to happen by itself."""
        query = "SELECT id, due_at, changed_at FROM game WHERE due_at IS NOT NULL ORDER BY due_at"
        return self._read(lambda connection: connection.execute(query).fetchall())


_CLOSED = "the storage is not open"


def _beginning(connection: sqlite3.Connection) -> tuple[float | None, bytes]:
    found = dict(connection.execute("SELECT name, value FROM setting").fetchall())
    return found.get("alive_at"), found.get("secret", b"")


def _make_secret(connection: sqlite3.Connection) -> bytes:
    secret = secrets.token_bytes(32)
    queries.set_setting(connection, "secret", secret)
    return secret
