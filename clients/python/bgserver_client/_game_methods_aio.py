"""The methods of `GameService`, with asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver_client import _game_requests
from bgserver_client._connection_aio import AsyncConnection
from bgserver_client._streams import AsyncResponseStream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver_client._game_requests import (
        ActionLike,
        FilterName,
        FormatName,
        SeatLike,
        SeatName,
    )
    from bgserver_client._requests import DepthLike
    from bgserver_client.v1 import game_pb2, rules_pb2


class AsyncGameMethods(AsyncConnection):
    """Games that the server holds; a part of `AsyncClient`."""

    async def create_game(
        self,
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
        request_id: str = "",
        timeout_s: float | None = None,
    ) -> game_pb2.CreateGameResponse:
        """Create a game, match or session that the server holds.

        `Game.create` does the same and gives a handle to play with.

        Args:
            preset: Name of the rules, see `list_presets`.
            rules: What differs from the preset.
            match_length: Match length in points; needed in match play.
            cube: Whether to use a cube where the rules leave the choice; by default yes.
            turn_seconds: Seconds per turn, one of those that the rules offer; by default the middle
                one between two persons, none against the engine.
            first: Who sits in the first seat: `person(...)`, `"open"` or an engine player; by
                default a person without a name.
            second: Who sits in the second seat; by default it is open.
            seed: Seed of the dice, for the same dice again.
            fair_dice: Dice that everybody can check after the game.
            listed: Show the game in lists and let everybody read it.
            no_hints: No hints in this game.
            request_id: At least 16 characters that nobody can guess: the same id gives the same
                game again, so that the call may be repeated.
            timeout_s: Time limit of this call.
        """
        request = _game_requests.create_game(
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
            request_id=request_id,
        )
        return await self._call(self._games.CreateGame, request, timeout_s)

    async def join_game(
        self,
        invitation: str | None = None,
        *,
        game_id: str | None = None,
        person: str = "",
        request_id: str = "",
        timeout_s: float | None = None,
    ) -> game_pb2.JoinGameResponse:
        """Take an open seat.

        Args:
            invitation: An invitation to a seat.
            game_id: Instead: the id of a listed game.
            person: A name to show.
            request_id: As in `create_game`.
            timeout_s: Time limit of this call.
        """
        request = _game_requests.join_game(invitation, game_id, person, request_id)
        return await self._call(self._games.JoinGame, request, timeout_s)

    async def get_game(
        self,
        game_id: str,
        token: str = "",
        *,
        view_from: SeatName | None = None,
        include_board: bool = False,
        timeout_s: float | None = None,
    ) -> game_pb2.GetGameResponse:
        """How a game stands, and what the token's seat can do.

        Args:
            game_id: The game.
            token: Token of a seat or of the spectators; may be empty for a listed game.
            view_from: Whose view of the board; by default the token's own seat.
            include_board: Also draw the board as text.
            timeout_s: Time limit of this call.
        """
        request = _game_requests.get_game(game_id, token, view_from, include_board=include_board)
        return await self._call(self._games.GetGame, request, timeout_s)

    async def list_games(
        self,
        *,
        filter: FilterName = "all",  # noqa: A002 -- the API's name
        preset: str = "",
        tokens: Sequence[str] = (),
        page_size: int = 0,
        page_token: str = "",
        timeout_s: float | None = None,
    ) -> game_pb2.ListGamesResponse:
        """Games, the newest first.

        Args:
            filter: Which games.
            preset: Only games of this preset; empty means all.
            tokens: Only the games of these tokens; empty means the listed games.
            page_size: Most games in one answer; 0 means 50.
            page_token: `next_page_token` of the last answer.
            timeout_s: Time limit of this call.
        """
        request = _game_requests.list_games(filter, preset, tokens, page_size, page_token)
        return await self._call(self._games.ListGames, request, timeout_s)

    async def act(
        self,
        game_id: str,
        token: str,
        expected_version: int,
        action: ActionLike,
        *,
        action_id: str = "",
        timeout_s: float | None = None,
    ) -> game_pb2.ActResponse:
        """Act for a seat.

        Args:
            game_id: The game.
            token: Token of the seat.
            expected_version: The version that the caller has seen; if the game has moved on, the
                action is not done (`AbortedError`).
            action: A name such as `"roll"`, a step `(13, 8)`, or a message.
            action_id: A name for this action: if it was done already, it is not done again.
            timeout_s: Time limit of this call.
        """
        request = _game_requests.act(game_id, token, expected_version, action, action_id)
        return await self._call(self._games.Act, request, timeout_s)

    def watch(
        self,
        game_id: str,
        token: str = "",
        *,
        after_event: int = 0,
        include_views: bool = False,
        timeout_s: float | None = None,
    ) -> AsyncResponseStream[game_pb2.WatchResponse]:
        """The events of a game, each once and in order, up to its end.

        `Game.watch` does the same and goes on by itself after a lost connection.

        Args:
            game_id: The game.
            token: Token of a seat or of the spectators; may be empty for a listed game.
            after_event: Number of the last event that the caller has.
            include_views: Also send the game as it stands, with each event that no other one
                follows yet.
            timeout_s: Time limit of the whole stream; none by default.
        """
        request = _game_requests.watch(game_id, token, after_event, include_views=include_views)
        call = self._games.Watch(request, timeout=timeout_s, metadata=self._metadata)
        return AsyncResponseStream(call, lambda message: message)

    async def hint(
        self,
        game_id: str,
        token: str,
        *,
        level: DepthLike | None = None,
        milliseconds: int | None = None,
        max_plays: int = 0,
        timeout_s: float | None = None,
    ) -> game_pb2.HintResponse:
        """What the engine would do in the place of a seat.

        Args:
            game_id: The game.
            token: Token of the seat, which must be the one to act.
            level: How deep to look; by default static.
            milliseconds: Instead of a level: look as deep as this time allows.
            max_plays: Return at most so many plays; 0 means 5.
            timeout_s: Time limit of this call; the client's default begins after `milliseconds`.
        """
        request = _game_requests.hint(game_id, token, level, milliseconds, max_plays)
        return await self._call(self._games.Hint, request, timeout_s, milliseconds)

    async def export_game(
        self,
        game_id: str,
        token: str = "",
        *,
        format: FormatName = "json",  # noqa: A002 -- the API's name
        timeout_s: float | None = None,
    ) -> game_pb2.ExportGameResponse:
        """A game written down.

        Args:
            game_id: The game.
            token: Token of a seat or of the spectators; may be empty for a listed game.
            format: `json` with every event, or `mat` for other backgammon programs.
            timeout_s: Time limit of this call.
        """
        request = _game_requests.export_game(game_id, token, format)
        return await self._call(self._games.ExportGame, request, timeout_s)
