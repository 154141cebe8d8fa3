"""The handle of games for asyncio."""

from __future__ import annotations

import asyncio
import time
import uuid
from contextlib import aclosing
from typing import TYPE_CHECKING, Self

from bgserver_client import _game_requests
from bgserver_client._options import RETRY_PAUSE_S
from bgserver_client.errors import AbortedError, UnavailableError
from bgserver_client.v1 import game_pb2

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from bgserver_client._aio import AsyncClient
    from bgserver_client._game_requests import (
        ActionLike,
        FormatName,
        ResignationName,
        SeatLike,
    )
    from bgserver_client._requests import DepthLike, StepLike
    from bgserver_client.v1 import common_pb2, rules_pb2

_DEFAULT_PATIENCE_S = 30.0


class AsyncGame:
    """One game, match or session on a server, seen from one seat: `Game` for asyncio.

    Args:
        client: A connection to the server.
        game_id: The game.
        token: Token of a seat or of the spectators; may be empty for a listed game.
        patience_s: How long to wait for a server that cannot be reached.
    """

    def __init__(
        self,
        client: AsyncClient,
        game_id: str,
        token: str = "",
        *,
        patience_s: float = _DEFAULT_PATIENCE_S,
    ) -> None:
        self._client = client
        self.id = game_id
        """Id of the game."""
        self.token = token
        """The secret that opens it."""
        self.view = game_pb2.GameView(game_id=game_id)
        """The game as it was last heard of; empty before that."""
        self.invitations: tuple[str, str] = ("", "")
        """Of a game that was created here: invitations to the open seats."""
        self.spectator_token = ""
        """Of a game that was created here: the token for spectators."""
        self._patience_s = patience_s

    @classmethod
    async def create(
        cls,
        client: AsyncClient,
        preset: str,
        *,
        rules: rules_pb2.Rules | None = None,
        match_length: int | None = None,
        cube: bool | None = None,
        turn_seconds: int | None = None,
        first: SeatLike | None = None,
        second: SeatLike | None = None,
        seed: int | None = None,
        fair_dice: bool = False,
        listed: bool = False,
        no_hints: bool = False,
    ) -> Self:
        """Create a game and sit down at the first seat that is a person's.

        The arguments are those of `Client.create_game`.
        """
        answer = await client.create_game(
            preset,
            rules=rules,
            match_length=match_length,
            cube=cube,
            turn_seconds=turn_seconds,
            first=first,
            second=second,
            seed=seed,
            fair_dice=fair_dice,
            listed=listed,
            no_hints=no_hints,
            request_id=uuid.uuid4().hex,
        )
        token = answer.first_token or answer.second_token or answer.spectator_token
        game = cls(client, answer.game_id, token)
        game.view = answer.view
        game.invitations = (answer.first_invitation, answer.second_invitation)
        game.spectator_token = answer.spectator_token
        return game

    @classmethod
    async def join(
        cls,
        client: AsyncClient,
        invitation: str | None = None,
        *,
        game_id: str | None = None,
        person: str = "",
    ) -> Self:
        """Take an open seat, by an invitation or in a listed game."""
        answer = await client.join_game(
            invitation, game_id=game_id, person=person, request_id=uuid.uuid4().hex
        )
        game = cls(client, answer.game_id, answer.token)
        game.view = answer.view
        return game

    # --- looking ---

    @property
    def seat(self) -> common_pb2.Seat.ValueType:
        """From which seat the board is seen: the own one."""
        return self.view.viewer

    @property
    def legal(self) -> game_pb2.LegalActions:
        """What the own seat could do when the game was last heard of."""
        return self.view.legal

    @property
    def is_my_turn(self) -> bool:
        """Whether the game waits for the own seat."""
        return self.view.HasField("legal") and self.view.viewer in self.view.to_act

    @property
    def is_over(self) -> bool:
        """Whether match or session are over."""
        return self.view.stage == game_pb2.GAME_STAGE_SESSION_OVER

    def can(self, *kinds: game_pb2.ActionKind.ValueType) -> bool:
        """Whether one of these kinds of actions is possible."""
        return any(kind in self.view.legal.actions for kind in kinds)

    async def refresh(self, *, include_board: bool = False) -> game_pb2.GameView:
        """Ask how the game stands."""
        answer = await self._client.get_game(self.id, self.token, include_board=include_board)
        self.view = answer.view
        return self.view

    async def watch(
        self, *, after_event: int = 0, include_views: bool = False
    ) -> AsyncGenerator[game_pb2.WatchResponse, None]:
        """The events of the game, each once and in order, up to its end.

        After a lost connection it goes on by itself with the next event.

        Args:
            after_event: Number of the last event that is known already.
            include_views: Also bring `view` up to date, with each event that no other one follows
                yet.
        """
        last = after_event
        until: float | None = None
        while True:
            stream = self._client.watch(
                self.id, self.token, after_event=last, include_views=include_views
            )
            try:
                async with stream:
                    async for message in stream:
                        until = None
                        if message.HasField("event"):
                            last = message.event.number
                        if message.HasField("view"):
                            self.view = message.view
                        yield message
                return
            except UnavailableError:
                until = until or time.monotonic() + self._patience_s
                if time.monotonic() >= until:
                    raise
                await asyncio.sleep(RETRY_PAUSE_S)

    async def wait_for_turn(self) -> bool:
        """Wait until the game waits for the own seat.

        Returns:
            True then; False once match or session are over.
        """
        await self.refresh()
        if not (self.is_my_turn or self.is_over):
            watching = self.watch(after_event=self.view.version, include_views=True)
            async with aclosing(watching) as messages:
                async for _ in messages:
                    if self.is_my_turn or self.is_over:
                        break
        return not self.is_over

    # --- acting ---

    async def act(self, action: ActionLike) -> game_pb2.GameView:
        """Do something; the game afterwards, with all that followed by itself.

        Raises:
            AbortedError: The game has moved on since `view`, which shows it as it is now.
            FailedPreconditionError: It is not possible now; `reason` says why.
        """
        action_id = uuid.uuid4().hex
        until = time.monotonic() + self._patience_s
        while True:
            try:
                answer = await self._client.act(
                    self.id, self.token, self.view.version, action, action_id=action_id
                )
            except UnavailableError:
                if time.monotonic() >= until:
                    raise
                await asyncio.sleep(RETRY_PAUSE_S)
            except AbortedError:
                await self.refresh()
                raise
            else:
                self.view = answer.view
                return self.view

    async def roll(self) -> game_pb2.GameView:
        """Roll the dice."""
        return await self.act("roll")

    async def move(
        self, source: int, target: int, *, low_die_first: bool = False
    ) -> game_pb2.GameView:
        """Move one checker by one die, or by several in one tap.

        Args:
            source: Own point, or 25 for the bar.
            target: Own point, or 0 for off.
            low_die_first: With several dice: the lower one goes first.
        """
        return await self.act(
            _game_requests.step_action(source, target, low_die_first=low_die_first)
        )

    async def undo(self, *, everything: bool = False) -> game_pb2.GameView:
        """Take back the last step, or all of them."""
        return await self.act(game_pb2.GameAction(undo=game_pb2.GameAction.Undo(all=everything)))

    async def confirm(self) -> game_pb2.GameView:
        """Make the play final."""
        return await self.act("confirm")

    async def play(self, play: str | Sequence[StepLike]) -> game_pb2.GameView:
        """Make a whole play, in notation (`8/5 6/5`) or the steps that are left, and confirm."""
        return await self.act(_game_requests.play_action(play))

    async def double(self) -> game_pb2.GameView:
        """Offer a double."""
        return await self.act("double")

    async def take(self) -> game_pb2.GameView:
        """Take a double."""
        return await self.act("take")

    async def drop(self) -> game_pb2.GameView:
        """Drop a double, beaver or raccoon."""
        return await self.act("drop")

    async def resign(self, result: ResignationName = "single") -> game_pb2.GameView:
        """Offer to lose the game; where the rules say so, give up the match."""
        return await self.act(_game_requests.resign_action(result))

    async def next_game(self) -> game_pb2.GameView:
        """Be ready for the next game of the match or session."""
        return await self.act("next_game")

    # --- the rest ---

    async def hint(
        self,
        *,
        level: DepthLike | None = None,
        milliseconds: int | None = None,
        max_plays: int = 0,
    ) -> game_pb2.HintResponse:
        """What the engine would do."""
        return await self._client.hint(
            self.id, self.token, level=level, milliseconds=milliseconds, max_plays=max_plays
        )

    async def export(self, format: FormatName = "json") -> str:  # noqa: A002 -- the API's name
        """The game written down."""
        return (await self._client.export_game(self.id, self.token, format=format)).text
