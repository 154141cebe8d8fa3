"""All games of a server: those in memory, those on disk, and the timers of both.

A game is in memory while somebody uses it; otherwise it is a row in the file, and, if a clock runs
in it, a timer. After a restart running clocks go on where they stood: the time in which no server
was there is not counted, from its last sign of life on (it gives one with every event, and each
second while a clock runs).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bgserver.engine.errors import WrongMomentError
from bgserver.engine.position import Seat
from bgserver.games.errors import (
    NotASeatError,
    RequestReusedError,
    StorageError,
    UnknownGameError,
    UnknownInvitationError,
)
from bgserver.games.storage_records import Code, GameRow, Occupant, OccupantKind, Status
from bgserver.server.engine_games import EngineGames
from bgserver.server.game_moves import append_of, begin, brief_of, is_engine_game, restored
from bgserver.server.game_table import LiveTable
from bgserver.server.pool import Priority, one_chunk

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from structlog.typing import FilteringBoundLogger

    from bgserver.engine.evaluator import Engine
    from bgserver.games.storage import Storage
    from bgserver.games.storage_records import Detail
    from bgserver.server.game_clock import Clock, Timer
    from bgserver.server.game_moves import Progress
    from bgserver.server.pool import WorkerPool
    from bgserver.server.runtime import Runtime

__all__ = ["Access", "Created", "GameHost", "Joined"]

_T = TypeVar("_T")
_ROLES = {"first": Seat.FIRST, "second": Seat.SECOND}
_SEAT_ROLES = {seat: role for role, seat in _ROLES.items()}
_HEARTBEAT_S = 1.0
_CLEANING_S = 3600.0
_DAY_S = 86_400.0
_INVITATION_LETTERS = 10


@dataclass(frozen=True, slots=True)
class Access:
    """A game that a token opens."""

    table: LiveTable
    """The game."""
    seat: Seat | None
    """Whose token it is; None for spectators."""

    def require_seat(self) -> Seat:
        """The seat; raises `NotASeatError` for spectators."""
        if self.seat is None:
            raise NotASeatError
        return self.seat


@dataclass(frozen=True, slots=True)
class Created:
    """A new game and its secrets."""

    table: LiveTable
    """The game."""
    codes: dict[str, str]
    """Tokens and invitations by their roles."""


@dataclass(frozen=True, slots=True)
class Joined:
    """A seat that was taken."""

    table: LiveTable
    """The game."""
    seat: Seat
    """The seat."""
    token: str
    """Its token."""


class GameHost:
    """Holds the games of one server. Its methods belong to the server's event loop."""

    def __init__(self, runtime: Runtime, storage: Storage, clock: Clock) -> None:
        """A host that has not started.

        Args:
            runtime: The pool, the engine and the configuration.
            storage: Where games are kept; closed by `close`.
            clock: The time.
        """
        self._runtime = runtime
        self.storage = storage
        """Where games are kept."""
        self.clock = clock
        """The time."""
        self._tables: OrderedDict[str, LiveTable] = OrderedDict()
        self._loading: dict[str, asyncio.Task[LiveTable]] = {}
        self._timers: dict[str, Timer] = {}
        self.engine_games = EngineGames(runtime.config)
        """The games without persons."""
        self.bots_at_work = 0
        """How many engine players are deciding, or wait for a worker to decide."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._heartbeat: Timer | None = None
        self._cleaning: Timer | None = None
        self._has_started = False
        self._is_closed = False
        self._outage: tuple[float, float] | None = None

    @property
    def engine(self) -> Engine:
        """What bots judge with."""
        return self._runtime.engine

    @property
    def pool(self) -> WorkerPool:
        """The worker threads."""
        return self._runtime.pool

    @property
    def logger(self) -> FilteringBoundLogger:
        """Where defects are told."""
        return self._runtime.logger

    @property
    def in_memory(self) -> int:
        """How many games are in memory."""
        return len(self._tables)

    async def start(self) -> None:
        """Go on with the games that were running; to be called when calls are answered."""
        self._has_started = True
        if self.storage.last_alive_at is not None:
            self._outage = (self.storage.last_alive_at, self.clock.now())
        for game_id, due_at, changed_at in await asyncio.wrap_future(self.storage.due()):
            excused = 0.0
            if self._outage is not None and changed_at <= self._outage[0]:
                excused = self._outage[1] - self._outage[0]
            self.set_timer(game_id, due_at + excused)
        self._beat()
        self._clean()

    async def close(self) -> None:
        """Stop, and store what is being stored; a host that has never started leaves no file."""
        self._is_closed = True
        for timer in (*self._timers.values(), self._heartbeat, self._cleaning):
            if timer is not None:
                timer.cancel()
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        end = self.storage.close if self._has_started else self.storage.discard
        await asyncio.to_thread(end)

    def spawn(self, coroutine: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Run something that ends by itself; `close` waits for it."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # --- games in memory ---

    async def table(self, game_id: str) -> LiveTable:
        """A game, read from the storage if it is not in memory.

        Raises:
            UnknownGameError: There is none with this id.
            StorageError: It cannot be read.
        """
        found = self._tables.get(game_id)
        if found is not None:
            self._tables.move_to_end(game_id)
            return found
        loading = self._loading.get(game_id)
        if loading is None:
            loading = self._loading[game_id] = self.spawn(self._load(game_id))
            loading.add_done_callback(lambda _: self._loading.pop(game_id, None))
        return await asyncio.shield(loading)

    async def _load(self, game_id: str) -> LiveTable:
        loaded = await asyncio.wrap_future(self.storage.load(game_id))
        if loaded is None:
            raise UnknownGameError
        now = self.clock.now()
        state, progress = await self.pool.run(
            one_chunk(lambda: restored(loaded, now, self._outage)), Priority.INTERACTIVE
        )
        table = LiveTable(self, loaded, state, progress.due if progress is not None else None)
        if progress is not None and progress.rows:
            append = table.append_of(progress, now)
            await asyncio.wrap_future(self.storage.append(append))
            table.publish(progress, append)
        self._tables[game_id] = table
        self.note_engine_game(table, is_running=table.is_running)
        self._evict()
        table.arm()
        return table

    def forget(self, table: LiveTable) -> None:
        """Drop a game from memory; it is read again when it is needed."""
        if self._tables.get(table.row.id) is table:
            del self._tables[table.row.id]
        if table.row.due_at is not None:
            self.set_timer(table.row.id, self.clock.now() + _HEARTBEAT_S)

    def _evict(self) -> None:
        """Drop games that nobody uses, the longest unused first, down to the limit."""
        excess = len(self._tables) - self._runtime.config.max_games_in_memory
        for game_id, table in list(self._tables.items()):
            if excess <= 0:
                return
            if not table.is_busy:
                del self._tables[game_id]
                excess -= 1

    def note_engine_game(self, table: LiveTable, *, is_running: bool) -> None:
        """Count a game that engine players play among themselves, while it runs."""
        is_running = is_running and is_engine_game(table.detail)
        self.engine_games.note(table.row.id, is_running=is_running)

    def set_timer(self, game_id: str, when: float | None) -> None:
        """Look at a game at `when`; None: no more."""
        timer = self._timers.pop(game_id, None)
        if timer is not None:
            timer.cancel()
        if when is not None and not self._is_closed:
            self._timers[game_id] = self.clock.call_at(when, lambda: self._ring(game_id))
            self._beat()

    def _ring(self, game_id: str) -> None:
        self._timers.pop(game_id, None)
        if not self._is_closed:
            self.spawn(self._wake(game_id))

    async def _wake(self, game_id: str) -> None:
        try:
            (await self.table(game_id)).arm()
        except UnknownGameError:
            return  # deleted in the meantime
        except Exception as error:
            self.logger.error("a game cannot be read", game=game_id, exc_info=error)

    def _beat(self) -> None:
        """Give a sign of life now and then while a clock runs."""
        if self._heartbeat is None and self._timers and not self._is_closed:
            when = self.clock.now() + _HEARTBEAT_S
            self._heartbeat = self.clock.call_at(when, self._on_beat)

    def _on_beat(self) -> None:
        self._heartbeat = None
        if not self._is_closed:
            self.storage.heartbeat()
            self._beat()

    def _clean(self) -> None:
        """Delete old games now and then, if the configuration wants that."""
        config = self._runtime.config
        if self._is_closed or (config.keep_finished_days is None and config.keep_idle_days is None):
            return
        self._cleaning = self.clock.call_at(self.clock.now() + _CLEANING_S, self._clean)
        self.spawn(self._delete_old())

    async def _delete_old(self) -> None:
        """Delete the games that are older than the configuration keeps them."""
        config, now = self._runtime.config, self.clock.now()
        finished, idle = (
            None if days is None else now - _DAY_S * days
            for days in (config.keep_finished_days, config.keep_idle_days)
        )
        while ids := await self._deleted(finished, idle):
            for game_id in ids:
                table = self._tables.get(game_id)
                if table is not None:
                    table.lose()  # who watches it hears that it is gone
                self.set_timer(game_id, None)
                self.engine_games.note(game_id, is_running=False)

    async def _deleted(self, finished: float | None, idle: float | None) -> Sequence[str]:
        """Games deleted now; none if the file cannot be written: the next cleaning tries again."""
        try:
            return await asyncio.wrap_future(self.storage.delete_before(finished, idle))
        except StorageError as error:
            self.logger.warning("old games cannot be deleted now", reason=str(error))
            return ()

    # --- who may do what ---

    async def access(self, game_id: str, token: str) -> Access:
        """The game that a token opens.

        Raises:
            UnknownGameError: There is no such game, or the token does not open it.
        """
        table = await self.table(game_id)
        role = table.roles.get(_hash(token)) if token else None
        if role in _ROLES:
            return Access(table, _ROLES[role])
        if role == "spectator" or (table.row.listed and not token):
            return Access(table, None)
        raise UnknownGameError

    async def games_of(self, tokens: Sequence[str]) -> list[str]:
        """The ids of the games that these tokens open."""
        found = await asyncio.wrap_future(self.storage.codes([_hash(token) for token in tokens]))
        readers = {*_ROLES, "spectator"}
        return [game_id for game_id, role, _ in found if role in readers]

    # --- new games ---

    async def create(
        self,
        detail: Detail,
        preset: str,
        *,
        listed: bool,
        request_id: str,
        digest: bytes,
        caller: str,
    ) -> Created:
        """Make a game; it starts if no seat is open.

        Args:
            detail: Rules, seats, dice.
            preset: Name of the preset.
            listed: Whether everybody may read it.
            request_id: The caller's id for this request, or nothing.
            digest: The content of the request, to know it again.
            caller: Who asks, for the limit of one client.

        Raises:
            RequestReusedError: The id belongs to another request.
            OverloadedError: There are too many games.
            StorageError: It could not be stored.
        """
        now = self.clock.now()
        nonce = request_id or secrets.token_hex(16)
        game_id = secrets.token_hex(8)
        roles = ["spectator"]
        for seat, occupant in zip(Seat, detail.occupants, strict=True):
            if occupant.kind is OccupantKind.PERSON:
                roles.append(_SEAT_ROLES[seat])
            elif occupant.kind is OccupantKind.OPEN:
                roles.append(f"invite_{_SEAT_ROLES[seat]}")
        codes = [Code(_hash(self._derived(nonce, game_id, role)), role) for role in roles]
        row = GameRow(0, game_id, now, now, 0, Status.WAITING, listed, preset, None, brief_of(None))
        progress = await self._beginning(detail, now)
        append = None if progress is None else append_of(progress, 0, 0, now)
        if is_engine_game(detail) and not await self._is_known(request_id):
            self.engine_games.admit(game_id, caller)
        request = None
        if request_id:
            request = Code(_hash(request_id), "request", digest)
        most = self._runtime.config.max_games

        async def store() -> Created:
            try:
                stored = self.storage.create(row, detail, codes, append, request, most)
                made, _ = await asyncio.wrap_future(stored)
                table = await self.table(made)
            except BaseException:
                self.engine_games.note(game_id, is_running=False)
                raise
            if made != game_id:  # the same request was faster
                self.engine_games.note(game_id, is_running=False)
            self.note_engine_game(table, is_running=table.is_running)
            return Created(table, {role: self._derived(nonce, made, role) for role in roles})

        # To its end even if the caller goes away: what is stored is counted and played.
        return await asyncio.shield(self.spawn(store()))

    async def _is_known(self, request_id: str) -> bool:
        """Whether a request with this id was done before."""
        if not request_id:
            return False
        found = await asyncio.wrap_future(self.storage.codes([_hash(request_id)]))
        return bool(found)

    async def _beginning(self, detail: Detail, now: float) -> Progress | None:
        """The first events, if all seats are taken."""
        if any(occupant.kind is OccupantKind.OPEN for occupant in detail.occupants):
            return None
        return await self.pool.run(one_chunk(lambda: begin(detail, now)), Priority.INTERACTIVE)

    async def join(
        self, *, invitation: str, game_id: str, name: str, request_id: str, digest: bytes
    ) -> Joined:
        """Take an open seat, by an invitation or in a listed game.

        Raises:
            UnknownInvitationError: The invitation leads to no open seat.
            UnknownGameError: There is no such listed game.
            WrongMomentError: `NO_OPEN_SEAT`: the listed game is full.
            RequestReusedError: The id belongs to another request.
            StorageError: It could not be stored.
        """
        before = await self._joined_before(request_id, digest)
        if before is not None:
            return before
        try:
            return await self._join(invitation, game_id, name, request_id, digest)
        except (UnknownInvitationError, WrongMomentError):
            # The same request may have been faster.
            before = await self._joined_before(request_id, digest)
            if before is None:
                raise
            return before

    async def _join(
        self, invitation: str, game_id: str, name: str, request_id: str, digest: bytes
    ) -> Joined:
        invited: Seat | None = None
        if invitation:
            table, invited = await self._invited(invitation)
        else:
            table = await self.table(game_id)
            if not table.row.listed:
                raise UnknownGameError

        async def change() -> Joined:
            seat = _open_seat(table.detail, invited)
            occupants = list(table.detail.occupants)
            occupants[seat] = Occupant(OccupantKind.PERSON, name)
            detail = replace(table.detail, occupants=(occupants[0], occupants[1]))
            nonce = request_id or secrets.token_hex(16)
            role = _SEAT_ROLES[seat]
            token = self._derived(nonce, table.row.id, f"join_{role}")
            codes = [Code(_hash(token), role)]
            if request_id:
                codes.append(Code(_hash(request_id), "request", digest + bytes([seat])))
            now = self.clock.now()
            progress = await self._beginning(detail, now)
            append = None if progress is None else table.append_of(progress, now)
            stored = self.storage.join(table.row.key, f"invite_{role}", detail, codes, append)
            try:
                await asyncio.wrap_future(stored)
            except BaseException:
                table.lose()
                raise
            roles = {code: name for code, name in table.roles.items() if name != f"invite_{role}"}
            table.seat_taken(detail, {**roles, codes[0].hash: role})
            if progress is not None and append is not None:
                table.publish(progress, append)
            return Joined(table, seat, token)

        with table.pinned():
            return await table.exclusively(change)

    async def _invited(self, invitation: str) -> tuple[LiveTable, Seat]:
        plain = invitation.strip().upper().replace("-", "")
        found = await asyncio.wrap_future(self.storage.codes([_hash(plain)]))
        for game_id, role, _ in found:
            if role.startswith("invite_"):
                return await self.table(game_id), _ROLES[role.removeprefix("invite_")]
        raise UnknownInvitationError

    async def _joined_before(self, request_id: str, digest: bytes) -> Joined | None:
        """The answer to a request that was done before, if it was."""
        if not request_id:
            return None
        found = await asyncio.wrap_future(self.storage.codes([_hash(request_id)]))
        if not found:
            return None
        game_id, _, content = found[0]
        if content is None or content[:-1] != digest:
            raise RequestReusedError
        seat = Seat(content[-1])
        token = self._derived(request_id, game_id, f"join_{_SEAT_ROLES[seat]}")
        return Joined(await self.table(game_id), seat, token)

    def _derived(self, nonce: str, game_id: str, role: str) -> str:
        """A secret that only this server can make, and only with the request's id.

        The file holds its hash and one half of what makes it, the caller holds the other half: so a
        repeated request gets the same token, and whoever reads the file gets none.
        """
        message = f"{nonce}\0{game_id}\0{role}".encode()
        digest = hmac.new(self.storage.secret, message, hashlib.sha256).digest()
        if role.startswith("invite_"):
            return base64.b32encode(digest).decode()[:_INVITATION_LETTERS]
        return base64.urlsafe_b64encode(digest).decode()[:40]


def _open_seat(detail: Detail, invited: Seat | None) -> Seat:
    """The seat that somebody may take: the one of the invitation, or else the first open one."""
    for seat in Seat if invited is None else (invited,):
        if detail.occupants[seat].kind is OccupantKind.OPEN:
            return seat
    if invited is not None:
        raise UnknownInvitationError
    raise WrongMomentError(reason="NO_OPEN_SEAT", message="no seat of this game is open")


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
