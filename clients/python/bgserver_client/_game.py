"""A handle to play a game with: what the server knows about it, and one method for each action."""

from __future__ import annotations

import time
import uuid
from contextlib import closing
from typing import TYPE_CHECKING, Self

from bgserver_client import _game_requests
from bgserver_client._options import RETRY_PAUSE_S
from bgserver_client.errors import AbortedError, UnavailableError
from bgserver_client.v1 import game_pb2

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from bgserver_client._game_requests import (
        ActionLike,
        FormatName,
        ResignationName,
        SeatLike,
    )
    from bgserver_client._requests import DepthLike, StepLike
    from bgserver_client._sync import Client
    from bgserver_client.v1 import common_pb2, rules_pb2

_DEFAULT_PATIENCE_S = 30.0


class Game:
    """One game, match or session on a server, seen from one seat.

    `view` is the game as it was last heard of; every method that acts brings it up to date. Actions
    and watching survive a lost connection and a restart of the server: they are tried again for
    `patience_s`, and never done twice.

    Args:
        client: A connection to the server.
        game_id: The game.
        token: Token of a seat or of the spectators; may be empty for a listed game.
        patience_s: How long to wait for a server that cannot be reached.
    """

    def __init__(
        self,
        client: Client,
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
    def create(
        cls,
        client: Client,
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
        answer = client.create_game(
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
    def join(
        cls,
        client: Client,
        invitation: str | None = None,
        *,
        game_id: str | None = None,
        person: str = "",
    ) -> Self:
        """Take an open seat, by an invitation or in a listed game."""
        answer = client.join_game(
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

    def refresh(self, *, include_board: bool = False) -> game_pb2.GameView:
        """Ask how the game stands."""
        self.view = self._client.get_game(self.id, self.token, include_board=include_board).view
        return self.view

    def watch(
        self, *, after_event: int = 0, include_views: bool = False
    ) -> Generator[game_pb2.WatchResponse, None, None]:
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
                with stream:
                    for message in stream:
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
                time.sleep(RETRY_PAUSE_S)

    def wait_for_turn(self) -> bool:
        """Wait until the game waits for the own seat.

        Returns:
            True then; False once match or session are over.
        """
        self.refresh()
        if not (self.is_my_turn or self.is_over):
            with closing(self.watch(after_event=self.view.version, include_views=True)) as messages:
                for _ in messages:
                    if self.is_my_turn or self.is_over:
                        break
        return not self.is_over

    # --- acting ---

    def act(self, action: ActionLike) -> game_pb2.GameView:
        """Do something; the game afterwards, with all that followed by itself.

        Raises:
            AbortedError: The game has moved on since `view`, which shows it as it is now.
            FailedPreconditionError: It is not possible now; `reason` says why.
        """
        action_id = uuid.uuid4().hex
        until = time.monotonic() + self._patience_s
        while True:
            try:
                answer = self._client.act(
                    self.id, self.token, self.view.version, action, action_id=action_id
                )
            except UnavailableError:
                if time.monotonic() >= until:
                    raise
                time.sleep(RETRY_PAUSE_S)
            except AbortedError:
                self.refresh()
                raise
            else:
                self.view = answer.view
                return self.view

    def roll(self) -> game_pb2.GameView:
        """Roll the dice."""
        return self.act("roll")

    def move(self, source: int, target: int, *, low_die_first: bool = False) -> game_pb2.GameView:
        """Move one checker by one die, or by several in one tap.

        Args:
            source: Own point, or 25 for the bar.
            target: Own point, or 0 for off.
            low_die_first: With several dice: the lower one goes first.
        """
        return self.act(_game_requests.step_action(source, target, low_die_first=low_die_first))

    def undo(self, *, everything: bool = False) -> game_pb2.GameView:
        """Take back the last step, or all of them."""
        return self.act(game_pb2.GameAction(undo=game_pb2.GameAction.Undo(all=everything)))

    def confirm(self) -> game_pb2.GameView:
        """Make the play final."""
        return self.act("confirm")

    def play(self, play: str | Sequence[StepLike]) -> game_pb2.GameView:
        """Make a whole play, in notation (`8/5 6/5`) or the steps that are left, and confirm."""
        return self.act(_game_requests.play_action(play))

    def double(self) -> game_pb2.GameView:
        """Offer a double."""
        return self.act("double")

    def take(self) -> game_pb2.GameView:
        """Take a double."""
        return self.act("take")

    def drop(self) -> game_pb2.GameView:
        """Drop a double, beaver or raccoon."""
        return self.act("drop")

    def resign(self, result: ResignationName = "single") -> game_pb2.GameView:
        """Offer to lose the game; where the rules say so, give up the match."""
        return self.act(_game_requests.resign_action(result))

    def next_game(self) -> game_pb2.GameView:
        """Be ready for the next game of the match or session."""
        return self.act("next_game")

    # --- the rest ---

    def hint(
        self,
        *,
        level: DepthLike | None = None,
        milliseconds: int | None = None,
        max_plays: int = 0,
    ) -> game_pb2.HintResponse:
        """What the engine would do."""
        return self._client.hint(
            self.id, self.token, level=level, milliseconds=milliseconds, max_plays=max_plays
        )

    def export(self, format: FormatName = "json") -> str:  # noqa: A002 -- the API's name
        """The game written down."""
        return self._client.export_game(self.id, self.token, format=format).text
