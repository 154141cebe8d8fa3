"""Games of `GameService` in which the engine sits at the table."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from bgserver_client import AsyncClient, AsyncGame, ResourceExhaustedError, person, player
from bgserver_client.v1 import game_pb2

from tests.server.players import FIRST, OVER, SECOND, play_on

if TYPE_CHECKING:
    from tests.server.conftest import Starter

SESSION_OVER = game_pb2.GAME_STAGE_SESSION_OVER


async def test_two_bots_play_a_match_to_its_end(client: AsyncClient) -> None:
    created = await client.create_game(
        "joypip", match_length=1, first="beginner", second=player("static", 50), seed=4
    )
    assert not created.first_token
    events = [
        message.event async for message in client.watch(created.game_id, created.spectator_token)
    ]
    assert events[-1].session_ended.winner in {FIRST, SECOND}
    actors = {event.actor for event in events if event.HasField("play_confirmed")}
    assert game_pb2.ACTOR_BOT in actors


async def test_a_session_of_two_bots_ends_after_its_game(client: AsyncClient) -> None:
    """Nobody could go on with it, or end it; and whoever watches must come to an end."""
    created = await client.create_game(
        "long_nardy", first="beginner", second="beginner", seed=3, listed=True
    )
    async with asyncio.timeout(120):
        events = [message.event async for message in client.watch(created.game_id)]
    assert events[-2].HasField("game_ended")
    assert events[-1].session_ended.reason == game_pb2.END_REASON_STOPPED
    assert [event.HasField("game_started") for event in events].count(True) == 1
    (listed,) = (await client.list_games()).games
    assert listed.stage == SESSION_OVER


async def test_games_of_bots_only_are_few(start_server: Starter) -> None:
    async with (
        start_server(max_engine_games=1) as server,
        AsyncClient(server.address) as client,
    ):
        match: dict[str, Any] = {"match_length": 7, "first": "beginner", "second": "beginner"}
        created = await client.create_game("joypip", **match, request_id="the first request")
        with pytest.raises(ResourceExhaustedError):
            await client.create_game("joypip", **match)
        again = await client.create_game("joypip", **match, request_id="the first request")
        assert again.game_id == created.game_id  # a repeated request begins no game
        async for _ in client.watch(created.game_id, created.spectator_token):
            pass
        await client.create_game("joypip", **match)
        assert (await client.get_info()).limits.max_engine_games == 1


async def test_calls_that_are_cancelled_cost_nobody_else(start_server: Starter) -> None:
    """Whenever it happens: games that were made go on, are counted, and others are answered."""
    most = 4
    async with (
        start_server(max_engine_games=most, max_engine_games_per_client=most) as server,
        AsyncClient(server.address) as client,
    ):
        for number in range(120):
            made = client.create_game(
                "joypip", match_length=1, first="beginner", second="beginner", listed=True
            )
            for call in (client.list_games(), made):
                task = asyncio.ensure_future(call)
                await asyncio.wait({task}, timeout=0.0002 * (number % 40))
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        async with asyncio.timeout(60):
            while True:
                games = (await client.list_games(page_size=200)).games
                running = [game for game in games if game.stage != SESSION_OVER]
                assert len(running) <= most
                if not running:
                    break
        assert games
        await client.create_game("joypip", match_length=1, first="beginner", second="beginner")


async def test_one_client_leaves_room_for_others(start_server: Starter) -> None:
    """Clients are told apart by their tokens; what is refused is not counted."""
    match: dict[str, Any] = {"match_length": 7, "first": "expert", "second": "expert"}
    async with (
        start_server(
            max_engine_games=3, max_engine_games_per_client=2, auth_tokens=("one", "other")
        ) as server,
        AsyncClient(server.address, token="one") as client,  # noqa: S106 -- a test's
        AsyncClient(server.address, token="other") as other,  # noqa: S106 -- a test's
    ):
        limits = (await client.get_info()).limits
        assert (limits.max_engine_games, limits.max_engine_games_per_client) == (3, 2)
        made = await asyncio.gather(
            *(client.create_game("joypip", **match) for _ in range(5)), return_exceptions=True
        )
        refused = [one for one in made if isinstance(one, ResourceExhaustedError)]
        assert len(refused) == 3
        assert all("this client" in one.message for one in refused)
        with pytest.raises(ResourceExhaustedError, match="this client"):
            await client.create_game("joypip", **match)
        await client.create_game("classic", first=person("Anna"), second="expert")
        await other.create_game("joypip", **match)
        with pytest.raises(ResourceExhaustedError, match="3 games of engine players"):
            await other.create_game("joypip", **match)


async def test_more_games_than_memory_holds(start_server: Starter) -> None:
    async with (
        start_server(max_games_in_memory=2) as server,
        AsyncClient(server.address) as client,
    ):
        games = [
            await AsyncGame.create(client, "traditional", second="expert", seed=seed)
            for seed in range(6)
        ]
        for _ in range(15):
            for game in games:
                await game.refresh()
                if game.is_my_turn and game.view.stage != OVER:
                    await play_on(game)
        assert server.runtime.games.in_memory <= 4  # two, and those that a bot is busy with
        assert all(game.view.version > 20 for game in games)
