"""`GameService`: complete games and matches that the server holds."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError, WrongMomentError
from bgserver.engine.position import Seat
from bgserver.games.errors import RequestReusedError, VersionMismatchError
from bgserver.games.presets import PRESETS
from bgserver.games.storage_records import Status
from bgserver.server.convert_enums import SEAT
from bgserver.server.convert_game import summary_message, view_message
from bgserver.server.convert_game_request import (
    read_action,
    read_game,
    read_name,
    request_id_faults,
)
from bgserver.server.convert_state import refuse
from bgserver.server.game_export import export
from bgserver.server.game_hint import hint
from bgserver.server.game_pages import page_key, page_token
from bgserver.server.pool import Priority, one_chunk
from bgserver.server.questions import judging_levels
from bgserver.v1 import game_pb2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from google.protobuf.descriptor import ServiceDescriptor
    from google.protobuf.message import Message

    from bgserver.games.storage_records import EventRow
    from bgserver.server.context import CallContext
    from bgserver.server.game_host import GameHost
    from bgserver.server.game_table import LiveTable
    from bgserver.server.runtime import Runtime

__all__ = ["GameServicer"]

_PAGE = 256  # events that a watcher reads at once
_MOST_TOKENS = 100
_MOST_LISTED = 200
_LISTED = 50
_DIGEST_LETTERS = 32
_STATUS = {
    game_pb2.GAME_FILTER_WAITING: Status.WAITING,
    game_pb2.GAME_FILTER_RUNNING: Status.RUNNING,
    game_pb2.GAME_FILTER_OVER: Status.OVER,
}


class GameServicer:
    """Creates games, shows them, and lets players act."""

    service: ServiceDescriptor = game_pb2.DESCRIPTOR.services_by_name["GameService"]
    idle_streams: frozenset[str] = frozenset({"watch"})
    """Streams that wait most of the time and do not count as calls in work."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @property
    def _host(self) -> GameHost:
        return self._runtime.games

    async def create_game(
        self, request: game_pb2.CreateGameRequest, context: CallContext
    ) -> game_pb2.CreateGameResponse:
        """Create a game."""
        detail = read_game(request, judging_levels(self._runtime.engine))
        created = await self._host.create(
            detail,
            request.preset,
            listed=request.listed,
            request_id=request.request_id,
            digest=_digest(request),
            caller=context.caller,
        )
        codes = created.codes
        seat = next((seat for seat in Seat if seat.name.lower() in codes), None)
        return game_pb2.CreateGameResponse(
            game_id=created.table.row.id,
            first_token=codes.get("first", ""),
            second_token=codes.get("second", ""),
            spectator_token=codes["spectator"],
            first_invitation=codes.get("invite_first", ""),
            second_invitation=codes.get("invite_second", ""),
            view=await self._view(created.table, seat, context),
        )

    async def join_game(
        self, request: game_pb2.JoinGameRequest, context: CallContext
    ) -> game_pb2.JoinGameResponse:
        """Take an open seat."""
        faults = request_id_faults(request.request_id)
        name = read_name(request.person, "person", faults)
        if request.WhichOneof("game") is None:
            message = "expected an invitation, or the id of a listed game"
            faults.append(Fault("game", "GAME_REQUIRED", message))
        refuse(faults)
        joined = await self._host.join(
            invitation=request.invitation,
            game_id=request.game_id,
            name=name,
            request_id=request.request_id,
            digest=_digest(request),
        )
        return game_pb2.JoinGameResponse(
            game_id=joined.table.row.id,
            seat=SEAT.to_api(joined.seat),
            token=joined.token,
            view=await self._view(joined.table, joined.seat, context),
        )

    async def get_game(
        self, request: game_pb2.GetGameRequest, context: CallContext
    ) -> game_pb2.GetGameResponse:
        """Tell how a game stands."""
        faults: list[Fault] = []
        view_from = None
        if request.view_from:
            view_from = SEAT.read(request.view_from, "view_from", faults)
        refuse(faults)
        access = await self._host.access(request.game_id, request.token)
        view = await self._view(
            access.table,
            access.seat,
            context,
            view_from=view_from,
            with_board=request.include_board,
        )
        return game_pb2.GetGameResponse(view=view)

    async def list_games(
        self, request: game_pb2.ListGamesRequest, context: CallContext
    ) -> game_pb2.ListGamesResponse:
        """List games, the newest first."""
        del context
        faults: list[Fault] = []
        status = _STATUS.get(request.filter)
        if request.filter and status is None:
            message = f"expected one of GAME_FILTER_..., got {request.filter}"
            faults.append(Fault("filter", "UNKNOWN_VALUE", message))
        if request.preset and request.preset not in PRESETS:
            message = f"expected one of {', '.join(PRESETS)}, or none, got {request.preset[:40]!r}"
            faults.append(Fault("preset", "UNKNOWN_PRESET", message))
        if request.page_size > _MOST_LISTED:
            message = f"expected 1 to {_MOST_LISTED}, or 0, got {request.page_size}"
            faults.append(Fault("page_size", "OUT_OF_RANGE", message))
        if len(request.tokens) > _MOST_TOKENS:
            message = f"expected at most {_MOST_TOKENS}, got {len(request.tokens)}"
            faults.append(Fault("tokens", "TOO_MANY_VALUES", message))
        before = None
        if request.page_token:
            before = page_key(self._host.storage.secret, request.page_token)
            if before is None:
                message = "expected next_page_token of an earlier answer"
                faults.append(Fault("page_token", "UNKNOWN_VALUE", message))
        refuse(faults)
        ids = await self._host.games_of(request.tokens) if request.tokens else None
        size = request.page_size or _LISTED
        rows = await asyncio.wrap_future(
            self._host.storage.rows(
                status=status, preset=request.preset, ids=ids, before=before, most=size + 1
            )
        )
        following = ""
        if len(rows) > size:
            following = page_token(self._host.storage.secret, rows[size - 1][0].key)
        return game_pb2.ListGamesResponse(
            games=[summary_message(row, detail) for row, detail in rows[:size]],
            next_page_token=following,
        )

    async def act(self, request: game_pb2.ActRequest, context: CallContext) -> game_pb2.ActResponse:
        """Act for a seat."""
        action, expected = read_action(request)
        access = await self._host.access(request.game_id, request.token)
        seat, table = access.require_seat(), access.table
        if table.state is None:
            message = "a seat is still open: the game has not begun"
            raise WrongMomentError(reason="GAME_WAITING", message=message)
        mark = _mark(seat, request)
        with table.pinned():
            if not await self._was_done(table, expected, mark):
                try:
                    await table.act(seat, action, expected, mark)
                except InvalidInputError as error:
                    raise type(error)(map(_named_as_sent, error.faults)) from None
                except VersionMismatchError:
                    # The same request may have been faster.
                    if not await self._was_done(table, expected, mark):
                        raise
            rows = await self._events(table, expected)
            return game_pb2.ActResponse(
                view=await self._view(table, seat, context),
                events=[table.written(row)[0] for row in rows],
            )

    async def _was_done(self, table: LiveTable, expected: int, mark: str | None) -> bool:
        """Whether an action was done already, at the version that the caller had seen.

        Raises:
            RequestReusedError: Its id belongs to another action at this version.
        """
        if mark is None or table.version <= expected:
            return False
        rows = table.recent(expected)
        if rows is None:
            rows = await asyncio.wrap_future(
                self._host.storage.events(table.row.id, expected, most=1)
            )
        done = rows[0].request if rows else None
        if done is None or done[:-_DIGEST_LETTERS] != mark[:-_DIGEST_LETTERS]:
            return False
        if done != mark:
            field = "action_id"
            raise RequestReusedError(field)
        return True

    async def _events(self, table: LiveTable, after: int) -> Sequence[EventRow]:
        """The next events after number `after`, at most a page of them."""
        rows = table.recent(after)
        if rows is None:
            rows = await asyncio.wrap_future(
                self._host.storage.events(table.row.id, after, most=_PAGE)
            )
        return rows

    async def watch(
        self, request: game_pb2.WatchRequest, context: CallContext
    ) -> AsyncIterator[game_pb2.WatchResponse | bytes]:
        """Stream the events of a game.

        What a slow reader has not read yet is not kept for it in memory: when it comes for more,
        the events are read where they are stored.
        """
        last = request.after_event
        version = (await self._host.access(request.game_id, request.token)).table.version
        if last > version:
            message = f"the last event is number {version}, got {last}"
            refuse([Fault("after_event", "OUT_OF_RANGE", message)])
        has_view = not request.include_views
        while True:
            # Looked up each time: a game may be read anew, or deleted, while somebody watches.
            access = await self._host.access(request.game_id, request.token)
            table = access.table
            if last < table.version:
                for row in await self._events(table, last):
                    last = row.number
                    event, written = table.written(row)
                    if request.include_views and last == table.version:
                        view = await self._view(table, access.seat, context)
                        # Something may have happened while the view was made.
                        if view.version == last:
                            has_view = True
                            yield game_pb2.WatchResponse(event=event, view=view)
                            continue
                    yield written
                continue
            if not has_view:
                has_view = True
                yield game_pb2.WatchResponse(view=await self._view(table, access.seat, context))
                continue
            if table.is_over:
                return
            with table.pinned():
                await table.wait_for_change(last)
            if table.version == last and request.include_views:
                has_view = False  # somebody has joined: no event, but another view

    async def hint(
        self, request: game_pb2.HintRequest, context: CallContext
    ) -> game_pb2.HintResponse:
        """Ask the engine what to do."""
        access = await self._host.access(request.game_id, request.token)
        seat, table = access.require_seat(), access.table
        work = hint(self._runtime.engine, request, table.detail, table.state, seat)
        return await self._runtime.pool.run(work, Priority.INTERACTIVE, context.deadline)

    async def export_game(
        self, request: game_pb2.ExportGameRequest, context: CallContext
    ) -> game_pb2.ExportGameResponse:
        """Write a game down."""
        access = await self._host.access(request.game_id, request.token)
        table = access.table
        rows: list[EventRow] = []
        while len(rows) < table.version:
            page = await asyncio.wrap_future(
                self._host.storage.events(table.row.id, len(rows), most=_PAGE)
            )
            if not page:
                break
            rows += page
        row, detail = table.row, table.detail
        work = one_chunk(lambda: export(row, detail, rows, request.format))
        return await self._runtime.pool.run(work, Priority.ANALYSIS, context.deadline)

    async def _view(
        self,
        table: LiveTable,
        seat: Seat | None,
        context: CallContext,
        *,
        view_from: Seat | None = None,
        with_board: bool = False,
    ) -> game_pb2.GameView:
        """How a table looks; the legal steps of a double take some milliseconds to find."""
        row, detail, state = table.row, table.detail, table.state
        now = self._host.clock.now()

        def make() -> game_pb2.GameView:
            return view_message(
                row, detail, state, now, seat=seat, view_from=view_from, with_board=with_board
            )

        return await self._runtime.pool.run(one_chunk(make), Priority.INTERACTIVE, context.deadline)


def _mark(seat: Seat, request: game_pb2.ActRequest) -> str | None:
    """What an action is known by again: seat, id and content; None if it has no id."""
    if not request.action_id:
        return None
    content = _digest(request.action).hex()[:_DIGEST_LETTERS]
    return f"{int(seat)}:{request.action_id}:{content}"


def _digest(request: Message) -> bytes:
    """The content of a request, to know it again."""
    return hashlib.sha256(request.SerializeToString(deterministic=True)).digest()


def _named_as_sent(fault: Fault) -> Fault:
    """A fault of an action with the field's path in the request."""
    if fault.field.startswith("action."):
        return fault
    field = fault.field.replace("play.steps[", "play.steps.steps[")
    return Fault(f"action.{field}", fault.reason, fault.message)
