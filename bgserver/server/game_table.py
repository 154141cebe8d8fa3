"""One game in memory: its state, who acts when, and what is due without anybody acting.

Whatever changes a game happens under its lock and in this order: decide, store, publish. So nobody
is answered, and no watcher is told, before the events are on disk; and of two actions at the same
version one is too late.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from bgserver.engine.errors import CancelledError, NotReadyError
from bgserver.engine.strength import DecisionKey
from bgserver.games.automation import DueKind
from bgserver.games.bot import bot_action
from bgserver.games.errors import StorageError, VersionMismatchError
from bgserver.games.events import By
from bgserver.games.storage_records import Status
from bgserver.server.convert_game_event import event_message
from bgserver.server.game_moves import act, append_of, is_engine_game, player_in, settled
from bgserver.server.pool import Priority, one_chunk
from bgserver.v1 import game_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from bgserver.engine.position import Seat
    from bgserver.games.actions import Action
    from bgserver.games.automation import Due
    from bgserver.games.state import TableState
    from bgserver.games.storage_records import Append, Detail, EventRow, GameRow, Loaded
    from bgserver.server.game_host import GameHost
    from bgserver.server.game_moves import Progress

__all__ = ["LiveTable"]

_T = TypeVar("_T")
_TAIL = 24  # events of a game that watchers are served from memory
_SNAPSHOT_EVERY = 64
_RETRY_S = 5.0


class LiveTable:
    """A game that somebody looks at or plays, or in which something is about to happen."""

    def __init__(
        self, host: GameHost, loaded: Loaded, state: TableState | None, due: Due | None
    ) -> None:
        self._host = host
        self.row: GameRow = loaded.row
        """Id, times and the rest of what lists show."""
        self.detail: Detail = loaded.detail
        """Rules, seats, dice."""
        self.roles = dict(loaded.roles)
        """Hashes of the tokens and what they open."""
        self.state = state
        """Where the table stands; None while it waits for players."""
        self.pins = 0
        """How many calls hold it in memory."""
        self.lock = asyncio.Lock()
        """Held by whoever changes the game."""
        self._due = due
        self._due_task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._written: dict[int, tuple[game_pb2.GameEvent, bytes]] = {}
        self._tail: deque[EventRow] = deque(loaded.events[-_TAIL:], _TAIL)
        self._snapshot_version = loaded.snapshot[0] if loaded.snapshot is not None else 0
        self._is_lost = False

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """Keep it in memory: what is asked of it meanwhile is asked of the game as it is."""
        self.pins += 1
        try:
            yield
        finally:
            self.pins -= 1

    @property
    def version(self) -> int:
        """Number of the last event."""
        return self.row.version

    @property
    def is_over(self) -> bool:
        """Whether no event will follow."""
        return self.row.status is Status.OVER

    @property
    def is_running(self) -> bool:
        """Whether something is going to happen by itself."""
        return self._due is not None

    @property
    def is_busy(self) -> bool:
        """Whether it has to stay in memory for now."""
        return self.pins > 0 or self.lock.locked() or self._due_task is not None

    async def act(
        self,
        seat: Seat,
        action: Callable[[TableState], Action],
        expected: int,
        request: str | None,
    ) -> None:
        """Do what a player wants.

        Args:
            seat: Whose seat.
            action: The action, made from the state that it is for.
            expected: The version that the player has seen.
            request: Seat, id and digest of the action, to know it again.

        Raises:
            VersionMismatchError: Something else has happened since.
            WrongMomentError: It is not possible now.
            InvalidInputError: It makes no sense at any time.
            StorageError: It could not be stored and has not happened.
        """

        async def change() -> None:
            state = self.state
            if state is None or self.version != expected:
                raise VersionMismatchError(expected, self.version)
            now = self._host.clock.now()
            detail = self.detail
            progress = await self._computed(
                lambda: act(state, seat, action(state), detail, now, By.PLAYER, request)
            )
            await self.store(progress, now)

        await self.exclusively(change)

    async def exclusively(self, change: Callable[[], Coroutine[None, None, _T]]) -> _T:
        """Run a change under the lock and what it makes due, even if the caller goes away."""

        async def locked() -> _T:
            async with self.lock:
                if self._is_lost:
                    message = "games cannot be stored now"
                    raise StorageError(message)
                result = await change()
            self.arm()
            return result

        return await asyncio.shield(self._host.spawn(locked()))

    async def store(self, progress: Progress, now: float) -> None:
        """Store what has happened and publish it; the lock must be held."""
        if not progress.rows:
            self._due = progress.due
            return
        append = self.append_of(progress, now)
        try:
            await asyncio.wrap_future(self._host.storage.append(append))
        except BaseException:
            self.lose()
            raise
        self.publish(progress, append)

    def lose(self) -> None:
        """Let the game be read again, because a change may be on disk or not."""
        self._is_lost = True
        self._host.forget(self)
        self._wake_watchers()

    def append_of(self, progress: Progress, now: float) -> Append:
        """What is to be stored of a progress."""
        behind = progress.state.version - self._snapshot_version
        return append_of(
            progress, self.row.key, self.version, now, with_snapshot=behind >= _SNAPSHOT_EVERY
        )

    def publish(self, progress: Progress, append: Append) -> None:
        """Show what has been stored."""
        self.state = progress.state
        self._due = progress.due
        self._tail.extend(progress.rows)
        if append.snapshot is not None:
            self._snapshot_version = progress.state.version
        self.row = replace(
            self.row,
            changed_at=append.changed_at,
            version=progress.state.version,
            status=append.status,
            due_at=append.due_at,
            brief=append.brief,
        )
        self._wake_watchers()

    def seat_taken(self, detail: Detail, roles: dict[bytes, str]) -> None:
        """Show that somebody has joined."""
        self.detail = detail
        self.roles = roles
        self._wake_watchers()

    def _wake_watchers(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def wait_for_change(self, last: int) -> None:
        """Wait until something is published after event number `last`."""
        if self.version == last and not self._is_lost:
            await self._changed.wait()

    def recent(self, after: int) -> Sequence[EventRow] | None:
        """The events after number `after`; None if they are only in the storage."""
        if not self._tail or self._tail[0].number > after + 1:
            return None
        return [row for row in self._tail if row.number > after]

    def written(self, row: EventRow) -> tuple[game_pb2.GameEvent, bytes]:
        """An event for the API, and the serialised `WatchResponse` with it; all share them."""
        found = self._written.get(row.number)
        if found is None:
            message = event_message(row)
            found = message, game_pb2.WatchResponse(event=message).SerializeToString()
            if self._tail and row.number >= self._tail[0].number:
                if len(self._written) >= _TAIL:
                    self._written.clear()
                self._written[row.number] = found
        return found

    # --- what happens by itself ---

    def arm(self) -> None:
        """See to it that what is due happens."""
        due = self._due
        if due is None or self._is_lost:
            self._host.set_timer(self.row.id, None)
        elif due.kind is DueKind.TIMEOUT and due.at > self._host.clock.now():
            self._host.set_timer(self.row.id, due.at)
        elif self._due_task is None:
            self._due_task = self._host.spawn(self._run_due())

    async def _run_due(self) -> None:
        """Let happen what is due, until nothing is."""
        again_at: float | None = None
        try:
            while (due := self._due) is not None and not self._is_lost:
                now = self._host.clock.now()
                if due.kind is DueKind.TIMEOUT and due.at > now:
                    again_at = due.at
                    return
                if due.kind is DueKind.BOT:
                    await self._bot_acts(due)
                elif not await self._settle(due):
                    return
        except (NotReadyError, CancelledError):
            return  # the server is stopping; the next one goes on
        except Exception as error:
            self._host.logger.error("a game is stuck", game=self.row.id, exc_info=error)
            again_at = self._host.clock.now() + _RETRY_S
        finally:
            self._due_task = None
            self._host.note_engine_game(self, is_running=self.is_running)
            self._host.set_timer(self.row.id, again_at)

    async def _bot_acts(self, due: Due) -> None:
        """Ask a bot and do what it says, unless something else has happened meanwhile."""
        state, detail = self.state, self.detail
        if state is None:
            return
        work = bot_action(
            self._host.engine,
            state,
            due.seat,
            player_in(detail, due.seat),
            DecisionKey(detail.bot_seed, state.game, sum(state.turns)),
            doubles=due.by is By.BOT,
        )
        self._host.bots_at_work += 1
        try:
            action = await self._host.pool.run(work, self._priority)
        finally:
            self._host.bots_at_work -= 1

        async def change() -> None:
            if self.state is not state:
                return
            now = self._host.clock.now()
            progress = await self._computed(
                lambda: act(state, due.seat, action, detail, now, due.by)
            )
            await self.store(progress, now)

        await self.exclusively(change)

    async def _settle(self, due: Due) -> bool:
        """Let the rules or the clock act; whether anything has happened."""

        async def change() -> bool:
            state, detail = self.state, self.detail
            if state is None or self._due is not due:
                return True
            now = self._host.clock.now()
            progress = await self._computed(lambda: settled(state, detail, now))
            await self.store(progress, now)
            return bool(progress.rows)

        return await self.exclusively(change)

    async def _computed(self, function: Callable[[], _T]) -> _T:
        """The result of a function of some milliseconds, computed by a worker."""
        return await self._host.pool.run(one_chunk(function), self._priority)

    @property
    def _priority(self) -> Priority:
        """How urgent moves are: where no person waits, a game is one long job among others."""
        return Priority.BATCH if is_engine_game(self.detail) else Priority.INTERACTIVE
