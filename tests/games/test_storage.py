"""The file of games: what is stored stays, what fails leaves nothing, foreign files are refused."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.engine.errors import OverloadedError
from bgserver.games.errors import RequestReusedError, StorageError, UnknownInvitationError
from bgserver.games.setup import new_setup
from bgserver.games.storage import IN_MEMORY, Storage
from bgserver.games.storage_queries import list_rows, whole_game
from bgserver.games.storage_records import (
    Append,
    Brief,
    Code,
    Detail,
    DiceKind,
    EventRow,
    GameRow,
    Occupant,
    OccupantKind,
    Status,
)
from bgserver.games.storage_schema import open_existing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

_DETAIL = Detail(
    setup=new_setup("classic"),
    occupants=(Occupant(OccupantKind.PERSON, "Anna"), Occupant(OccupantKind.OPEN)),
    dice=DiceKind.SYSTEM,
    dice_secret="",
    bot_seed=7,
    hints=True,
)


class _Time:
    """The time, in a test's hands."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> _Time:
    return _Time()


@pytest.fixture(params=["file", "memory"])
def storage(request: pytest.FixtureRequest, tmp_path: Path, time: _Time) -> Iterator[Storage]:
    path = IN_MEMORY if request.param == "memory" else str(tmp_path / "games.db")
    with closing(Storage(path, time)) as storage:
        yield storage


def _row(name: str, at: float = 1000.0) -> GameRow:
    return GameRow(0, name, at, at, 0, Status.WAITING, True, "classic", None, Brief("waiting"))


def _create(storage: Storage, name: str, at: float = 1000.0, **settings: Any) -> tuple[str, bool]:
    arguments = {
        "codes": [
            Code(f"token {name}".encode(), "first"),
            Code(f"{name}!".encode(), "invite_second"),
        ],
        "append": None,
        "request": None,
        "most": 100,
    }
    return storage.create(_row(name, at), _DETAIL, **{**arguments, **settings}).result()


def _append(key: int, version: int, count: int = 1, **settings: Any) -> Append:
    events = tuple(
        EventRow(version + 1 + number, f'{{"event":"x","at":{version}}}') for number in range(count)
    )
    append = Append(key, version, events, 1001.0, Status.RUNNING, 1030.0, Brief("moving", (1, 0)))
    return replace(append, **settings)


def test_what_is_stored_can_be_read(storage: Storage) -> None:
    assert _create(storage, "a") == ("a", True)
    loaded = storage.load("a").result()
    assert loaded is not None
    assert loaded.detail == _DETAIL
    assert loaded.roles == {b"token a": "first", b"a!": "invite_second"}
    storage.append(_append(loaded.row.key, 0, 3)).result()
    storage.append(_append(loaded.row.key, 3, 2, snapshot='{"s":1}')).result()
    storage.append(_append(loaded.row.key, 5, 1)).result()
    again = storage.load("a").result()
    assert again is not None
    assert (again.row.version, again.row.due_at, again.row.brief.score) == (6, 1030.0, (1, 0))
    assert again.snapshot == (5, '{"s":1}')
    assert [row.number for row in again.events] == [6]
    assert [row.number for row in storage.events("a", 1, most=3).result()] == [2, 3, 4]
    assert storage.events("a", 6, most=3).result() == []
    assert storage.load("b").result() is None
    assert storage.due().result() == [("a", 1030.0, 1001.0)]


def test_events_must_follow(storage: Storage) -> None:
    _create(storage, "a")
    futures: list[Future[None]] = [
        storage.append(_append(1, version)) for version in (0, 0, 1, 5, 2)
    ]
    outcomes = [future.exception() for future in futures]
    assert [type(one) for one in outcomes] == [
        type(None), StorageError, type(None), StorageError, type(None),
    ]  # fmt: skip
    rows = storage.events("a", 0, most=10).result()
    assert [row.number for row in rows] == [1, 2, 3]


def test_a_request_is_done_once(storage: Storage) -> None:
    request = Code(b"id", "request", b"content")
    assert _create(storage, "a", request=request) == ("a", True)
    assert _create(storage, "b", request=request) == ("a", False)
    with pytest.raises(RequestReusedError):
        _create(storage, "c", request=replace(request, content=b"other"))
    with pytest.raises(OverloadedError):
        _create(storage, "d", most=1)
    assert [row.id for row, _ in _all(storage)] == ["a"]


def test_an_invitation_is_used_once(storage: Storage) -> None:
    _create(storage, "a")
    taken = replace(_DETAIL, occupants=(_DETAIL.occupants[0], Occupant(OccupantKind.PERSON)))
    joins = [
        storage.join(1, "invite_second", taken, [Code(name, "second")], None)
        for name in (b"one", b"two")
    ]
    assert joins[0].exception() is None
    assert isinstance(joins[1].exception(), UnknownInvitationError)
    loaded = storage.load("a").result()
    assert loaded is not None
    assert loaded.detail == taken
    assert loaded.roles == {b"token a": "first", b"one": "second"}


def test_a_change_that_fails_leaves_nothing_behind(storage: Storage) -> None:
    """Not even if it fails at its last statement, among changes of others that succeed."""
    _create(storage, "a")
    taken = replace(_DETAIL, occupants=(_DETAIL.occupants[0], Occupant(OccupantKind.PERSON)))
    known = [Code(b"token a", "second")]  # belongs to the first seat already
    failing = storage.join(1, "invite_second", taken, known, None)
    following = storage.append(_append(1, 0))
    assert isinstance(failing.exception(), sqlite3.IntegrityError)
    assert following.exception() is None
    loaded = storage.load("a").result()
    assert loaded is not None
    assert (loaded.row.version, loaded.detail) == (1, _DETAIL)
    assert loaded.roles == {b"token a": "first", b"a!": "invite_second"}


def _all(storage: Storage, **settings: Any) -> list[tuple[GameRow, Detail]]:
    arguments = {"status": None, "preset": "", "ids": None, "before": None, "most": 10}
    return storage.rows(**{**arguments, **settings}).result()


def test_old_games_are_deleted(storage: Storage) -> None:
    for number, name in enumerate("abcd"):
        _create(storage, name, at=1000.0 + number)
        if name in "ab":
            over = _append(number + 1, 0, status=Status.OVER, changed_at=1000.0 + number)
            storage.append(over).result()
    assert storage.delete_before(None, None).result() == []
    assert storage.delete_before(1000.5, None).result() == ["a"]
    assert storage.delete_before(None, 1002.5).result() == ["c"]
    assert [row.id for row, _ in _all(storage)] == ["d", "b"]
    assert storage.events("a", 0, most=9).result() == []
    assert storage.codes([b"token a", b"token b"]).result() == [("b", "first", None)]


def test_a_restart(tmp_path: Path, time: _Time) -> None:
    path = tmp_path / "new folder" / "games.db"
    with closing(Storage(str(path), time)) as storage:
        assert storage.last_alive_at is None
        secret = storage.secret
        _create(storage, "a")
        time.now = 1010.0
        storage.heartbeat().result()
    time.now = 2000.0
    with closing(Storage(str(path), time)) as storage:
        assert storage.last_alive_at == 1010.0
        assert storage.secret == secret
        assert [row.id for row, _ in _all(storage)] == ["a"]
        # Beside the server, and without changing anything.
        with closing(open_existing(str(path))) as connection:
            assert [row.id for row, _ in list_rows(connection, everything=True)] == ["a"]
            assert whole_game(connection, "b") is None
            with pytest.raises(sqlite3.OperationalError):
                connection.execute("DELETE FROM game")


def test_a_file_belongs_to_one_server(tmp_path: Path, time: _Time) -> None:
    path, link = str(tmp_path / "games.db"), str(tmp_path / "link.db")
    Path(link).symlink_to(path)
    with closing(Storage(path, time)):
        for name in (path, link):
            with pytest.raises(StorageError, match="another server"):
                Storage(name, time)
    Storage(link, time).close()


def test_a_file_with_two_names_is_refused(tmp_path: Path, time: _Time) -> None:
    """SQLite keeps a log for each name: two servers would spoil each other's games."""
    path, other = tmp_path / "games.db", tmp_path / "other.db"
    with closing(Storage(str(path), time)) as storage:
        _create(storage, "a")
        other.hardlink_to(path)
        with pytest.raises(StorageError, match="2 names") as caught:
            Storage(str(other), time)
        assert str(other) in str(caught.value)
        assert "--data" in str(caught.value)
    assert sorted(tmp_path.iterdir()) == [path, tmp_path / "games.db-lock", other]
    other.unlink()
    with closing(Storage(str(path), time)) as storage:
        assert [row.id for row, _ in _all(storage)] == ["a"]


def test_a_server_that_never_started_leaves_what_was_there(tmp_path: Path, time: _Time) -> None:
    path = tmp_path / "new folder" / "inner" / "games.db"
    Storage(str(path), time).discard()
    assert list(tmp_path.iterdir()) == []
    with closing(Storage(str(path), time)) as storage:
        _create(storage, "a")
    Storage(str(path), time).discard()
    with closing(Storage(str(path), time)) as storage:
        assert [row.id for row, _ in _all(storage)] == ["a"]


def test_a_file_is_not_left_to_two_servers_by_one_that_never_started(
    tmp_path: Path, time: _Time
) -> None:
    path = str(tmp_path / "games.db")
    for _ in range(5):
        first = Storage(path, time)
        # Waits for the lock, and gets it while the first one removes it.
        with ThreadPoolExecutor() as threads:
            second = threads.submit(Storage, path, time)
            first.discard()
            with closing(second.result()), pytest.raises(StorageError, match="another server"):
                Storage(path, time)


def test_a_question_that_nobody_waits_for_costs_no_other(storage: Storage) -> None:
    _create(storage, "a")
    for _ in range(200):
        questions = [storage.load("a") for _ in range(4)]
        for question in questions[1:]:
            question.cancel()
        assert questions[0].result(timeout=30) is not None
    assert storage.append(_append(1, 0)).exception(timeout=30) is None
    assert [row.version for row, _ in _all(storage)] == [1]


def _foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (x)")


def _text(path: Path) -> None:
    path.write_text("This is not a database. " * 100)


def _newer(path: Path) -> None:
    Storage(str(path), lambda: 0.0).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO schema_version VALUES (99, 0)")
        connection.commit()


def _damaged(path: Path) -> None:
    with closing(Storage(str(path), lambda: 0.0)) as storage:
        for number in range(50):
            _create(storage, f"game {number}")
    size = path.stat().st_size
    with path.open("r+b") as file:
        for page in range(4096, size - 4096, 4096):
            file.seek(page)
            file.write(bytes(64))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_foreign, "another program"),
        (_text, "not a database"),
        (_newer, "version 99"),
        (_damaged, r"damaged|malformed"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, make: Any, message: str) -> None:
    path = tmp_path / "games.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(StorageError, match=message) as caught:
        Storage(str(path), lambda: 0.0)
    assert str(path) in str(caught.value)
    if make is not _damaged:
        assert path.read_bytes() == before
    if make in {_foreign, _text}:
        assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file"):
        Storage(str(tmp_path / "file" / "games.db"), lambda: 0.0)
    with pytest.raises(StorageError, match="no file"):
        open_existing(str(tmp_path / "none.db"))
