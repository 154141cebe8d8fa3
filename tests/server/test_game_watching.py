"""Watching a game through `GameService`."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest
from bgserver_client import (
    AsyncClient,
    AsyncGame,
    InvalidArgumentError,
    ResourceExhaustedError,
    person,
)

from tests.server.players import pair, play_through

if TYPE_CHECKING:
    from tests.server.conftest import Starter


async def test_watchers_get_every_event_once(client: AsyncClient) -> None:
    first, second = await pair(client, seed=5)

    async def watch(after: int, again_after: int) -> list[int]:
        """Watch, going away and coming back after every so many events."""
        numbers: list[int] = []
        ended = False
        while not ended:
            last = numbers[-1] if numbers else after
            async with client.watch(first.id, first.token, after_event=last) as messages:
                count = 0
                ended = True
                async for message in messages:
                    numbers.append(message.event.number)
                    count += 1
                    if count == again_after:
                        ended = False
                        break
        return numbers

    watchers = [asyncio.create_task(watch(after, again)) for after, again in ((0, 7), (3, 999))]
    await play_through(first, second)
    late = asyncio.create_task(watch(0, 100))
    last = first.view.version
    assert await watchers[0] == list(range(1, last + 1))
    assert await watchers[1] == list(range(4, last + 1))
    assert await late == list(range(1, last + 1))


async def test_who_does_not_read_holds_up_nobody(client: AsyncClient) -> None:
    first, second = await pair(client, seed=5)
    stream = client.watch(first.id, first.token, include_views=True)
    await anext(stream)
    await play_through(first, second)
    numbers = [message.event.number async for message in stream]
    assert numbers == list(range(2, first.view.version + 1))


async def test_views_come_with_the_last_event(client: AsyncClient) -> None:
    waiting = await AsyncGame.create(client, "classic", seed=1)
    watching = waiting.watch(include_views=True)
    async with aclosing(watching) as messages:
        message = await anext(messages)
        assert (message.HasField("event"), message.view.second.open) == (False, True)
        second = await AsyncGame.join(client, waiting.invitations[1], person="Ben")
        views = []
        async for message in messages:
            if message.HasField("view"):
                assert message.view.version == message.event.number
                views.append(message.view)
                break
    assert views[0].second.name == "Ben"
    assert views[0].version == second.view.version


async def test_an_event_that_has_not_happened(client: AsyncClient) -> None:
    created = await client.create_game("classic", second=person())
    with pytest.raises(InvalidArgumentError) as caught:
        async for _ in client.watch(created.game_id, created.first_token, after_event=1000):
            pass
    assert caught.value.violations[0].field == "after_event"


async def test_watchers_do_not_count_as_calls_in_work(start_server: Starter) -> None:
    async with (
        start_server(max_pending_requests=1, max_watchers=3) as server,
        AsyncClient(server.address) as client,
    ):
        created = await client.create_game("classic", second=person())
        streams = [client.watch(created.game_id, created.first_token) for _ in range(3)]
        for stream in streams:
            assert (await anext(stream)).event.number == 1
        with pytest.raises(ResourceExhaustedError):
            async for _ in client.watch(created.game_id, created.first_token):
                pass
        assert (await client.get_game(created.game_id, created.first_token)).view.version
        for stream in streams:
            await stream.close()
