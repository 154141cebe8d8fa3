"""What is asked of the data file and told it, each on a connection of the caller's.

Functions that write belong in a transaction of the caller's.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bgserver.games.codec import decoded, encoded
from bgserver.games.errors import StorageError
from bgserver.games.storage_records import Brief, Detail, EventRow, GameRow, Loaded, Status

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from bgserver.games.storage_records import Append, Code

__all__ = [
    "append_events",
    "delete_game",
    "find_code",
    "find_codes",
    "insert_game",
    "later_events",
    "list_rows",
    "load_game",
    "put_codes",
    "put_detail",
    "set_setting",
    "whole_game",
]

_GAME_COLUMNS = "key, id, created_at, changed_at, version, status, listed, preset, due_at, brief"


def set_setting(connection: sqlite3.Connection, name: str, value: object) -> None:
    """Keep a value that belongs to no game."""
    connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, value))


def insert_game(connection: sqlite3.Connection, row: GameRow) -> int:
    """Store the row of a new game; its key, which is given here."""
    cursor = connection.execute(
        f"INSERT INTO game ({_GAME_COLUMNS}) VALUES (NULL{', ?' * 9})",  # noqa: S608 -- only names of our own
        _game_values(row)[1:],
    )
    return cursor.lastrowid or 0


_PARTS = (
    ("game", "key"),
    ("detail", "game"),
    ("snapshot", "game"),
    ("event", "game"),
    ("code", "game"),
)


def delete_game(connection: sqlite3.Connection, key: int) -> None:
    """Delete all that is stored of a game."""
    for name, column in _PARTS:
        connection.execute(f"DELETE FROM {name} WHERE {column} = ?", (key,))  # noqa: S608 -- only names of our own


def _text(value: object) -> str:
    return json.dumps(encoded(value), separators=(",", ":"), ensure_ascii=False)


def find_code(
    connection: sqlite3.Connection, digest: bytes
) -> tuple[int, str, bytes | None] | None:
    """(key of the game, role, content) of a hash; None if it is unknown."""
    row: tuple[int, str, bytes | None] | None = connection.execute(
        "SELECT game, role, content FROM code WHERE hash = ?", (digest,)
    ).fetchone()
    return row


def find_codes(
    connection: sqlite3.Connection, hashes: Sequence[bytes]
) -> list[tuple[str, str, bytes | None]]:
    """(id of the game, role, content) for each of these hashes that is known."""
    marks = ", ".join("?" * len(hashes))
    query = (
        "SELECT game.id, code.role, code.content FROM code JOIN game"  # noqa: S608 -- only names of our own
        f" ON game.key = code.game WHERE code.hash IN ({marks})"
    )
    return connection.execute(query, tuple(hashes)).fetchall()


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


def put_detail(connection: sqlite3.Connection, key: int, detail: Detail) -> None:
    """Store what is settled about a game, instead of what was before."""
    connection.execute("INSERT OR REPLACE INTO detail VALUES (?, ?)", (key, _text(detail)))


def put_codes(connection: sqlite3.Connection, key: int, codes: Iterable[Code]) -> None:
    """Store tokens, invitations and ids of requests of a game."""
    connection.executemany(
        "INSERT INTO code VALUES (?, ?, ?, ?)",
        [(code.hash, key, code.role, code.content) for code in codes],
    )


def append_events(connection: sqlite3.Connection, key: int, append: Append) -> None:
    """Store events of a game, and what they change.

    Raises:
        StorageError: They do not follow the last one that is stored.
    """
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


def load_game(connection: sqlite3.Connection, game_id: str) -> Loaded | None:
    """A game to be played on; None if there is none with this id."""
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


def later_events(
    connection: sqlite3.Connection, game_id: str, after: int, most: int
) -> list[EventRow]:
    """Events after number `after`, at most `most` of them."""
    found = connection.execute("SELECT key FROM game WHERE id = ?", (game_id,)).fetchone()
    if found is None:
        return []
    return [EventRow(*row) for row in connection.execute(_EVENTS, (found[0], after, most))]


def whole_game(
    connection: sqlite3.Connection, game_id: str
) -> tuple[GameRow, Detail, list[EventRow]] | None:
    """A game with all its events; None if there is none with this id."""
    loaded = load_game(connection, game_id)
    if loaded is None:
        return None
    return loaded.row, loaded.detail, later_events(connection, game_id, 0, -1)


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
