"""Games over restarts: nothing is lost, watchers go on, clocks are fair; and over many clocks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from bgserver_client import AsyncClient, AsyncGame, NotFoundError, UnavailableError
from bgserver_client.v1 import game_pb2

from bgserver.server.app import BgServer, ServerStartError
from bgserver.server.config import ServerConfig
from tests.server.manual_clock import ManualClock
from tests.server.players import OVER, finish_turn, pair, play_until, until

if TYPE_CHECKING:
    from pathlib import Path

    from bgserver.engine.evaluator import Engine
    from tests.server.conftest import Starter


async def test_players_and_watchers_go_on_after_a_restart(
    start_server: Starter, tmp_path: Path
) -> None:
    data = str(tmp_path / "games.db")
    numbers: list[int] = []
    async with start_server(data=data) as server:
        port = server.port
        client = AsyncClient(server.address)
        first, second = await pair(client, "traditional", seed=3)

        async def watch() -> None:
            numbers.extend([message.event.number async for message in first.watch()])

        watcher = asyncio.create_task(watch())
        await play_until(first, second, lambda view: view.version > 100)
        version = (await first.refresh()).version
        await second.refresh()
    with pytest.raises(UnavailableError):
        await client.get_game(first.id, first.token, timeout_s=0.5)
    # An action while no server is there waits for the next one.
    acting = first if first.is_my_turn else second
    action: Any = _step(acting) if acting.legal.steps else "confirm"
    waiting = asyncio.create_task(acting.act(action))
    async with start_server(data=data, port=port):
        await waiting
        assert acting.view.version > version
        await play_until(first, second, lambda view: view.stage == OVER)
        await first.refresh()
        await first.act("end_session")
        await watcher
        assert numbers == list(range(1, first.view.version + 1))
        await client.close()


def _step(game: AsyncGame) -> tuple[int, int]:
    return game.legal.steps[0].source, game.legal.steps[0].target


async def test_an_outage_is_not_the_players_time(
    start_server: Starter, engine: Engine, tmp_path: Path
) -> None:
    data = str(tmp_path / "games.db")
    clock = ManualClock()
    async with (
        start_server(data=data, clock=clock) as server,
        AsyncClient(server.address) as client,
    ):
        first, second = await pair(client, "joinpal", turn_seconds=60)
        acting = first if first.is_my_turn else second
        clock.advance(20)
        assert (await acting.refresh()).clock.seconds_left == 40
        version = acting.view.version
    clock.advance(3500)
    config = ServerConfig(port=0, threads=2, log_level="error", data=data)
    server = BgServer(config, loader=lambda *_: engine, clock=clock)
    await server.listen()
    clock.advance(100)  # so long it takes to compile the engine
    await server.warm_up()
    async with AsyncClient(server.address) as client:
        again = AsyncGame(client, acting.id, acting.token)
        await again.refresh()
        # The last sign of life was at most a second before the end.
        assert 39 <= again.view.clock.seconds_left <= 41
        assert again.view.stage == acting.view.stage
        excused = await until(again, lambda event: event.HasField("downtime_excused"), version)
        assert 3598 <= excused.downtime_excused.seconds <= 3601
        clock.advance(42)
        await until(again, lambda event: event.HasField("timed_out"), version)
    await server.stop()


async def test_the_third_timeout_loses_a_joinpal_game(start_server: Starter) -> None:
    clock = ManualClock()
    async with start_server(clock=clock) as server, AsyncClient(server.address) as client:
        first, second = await pair(client, "joinpal", turn_seconds=30, seed=2)
        loser, other = (first, second) if first.is_my_turn else (second, first)
        for count in (1, 2, 3):
            await finish_turn(other)
            version = (await loser.refresh()).version
            assert loser.is_my_turn
            clock.advance(29)
            assert (await loser.refresh()).version == version
            clock.advance(2)
            event = await until(loser, lambda event: event.HasField("timed_out"), version)
            assert event.timed_out.count == count
        await loser.refresh()
        assert loser.view.stage == OVER
        outcome = loser.view.last_outcome
        assert (outcome.reason, outcome.points) == (game_pb2.END_REASON_TIMEOUT, 1)
        assert outcome.winner == other.seat


async def test_bots_go_on_after_a_restart(start_server: Starter, tmp_path: Path) -> None:
    data = str(tmp_path / "games.db")
    async with start_server(data=data) as server, AsyncClient(server.address) as client:
        created = await client.create_game(
            "joypip", match_length=3, first="beginner", second="beginner", seed=4
        )
        async for message in client.watch(created.game_id, created.spectator_token):
            if message.event.number > 40:
                break
    async with start_server(data=data) as server, AsyncClient(server.address) as client:
        events = [m.event async for m in client.watch(created.game_id, created.spectator_token)]
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert events[-1].session_ended.winner


async def test_old_games_go(start_server: Starter, tmp_path: Path) -> None:
    clock = ManualClock()
    settings = {"data": str(tmp_path / "games.db"), "clock": clock, "keep_idle_days": 7}
    async with start_server(**settings) as server, AsyncClient(server.address) as client:
        old = await client.create_game("classic", second="open")
        waiting = asyncio.create_task(anext(client.watch(old.game_id, old.spectator_token)))
        await client.get_game(old.game_id, old.spectator_token)
        clock.advance(5 * 86_400)
        young = await client.create_game("classic", second="open")
        clock.advance(3 * 86_400)
        with pytest.raises(NotFoundError):
            await waiting
        tokens = [old.spectator_token, young.spectator_token]
        answer = await client.list_games(tokens=tokens)
        assert [game.game_id for game in answer.games] == [young.game_id]


async def test_a_data_file_that_cannot_be_used(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "games.db"
    path.write_text("no database " * 1000)
    config = ServerConfig(port=0, threads=1, log_level="error", data=str(path))
    server = BgServer(config, loader=lambda *_: engine)
    with pytest.raises(ServerStartError, match=r"games\.db"):
        await server.listen()
    await server.stop()


async def test_a_full_disk_loses_nothing(start_server: Starter, tmp_path: Path) -> None:
    data = str(tmp_path / "games.db")
    async with start_server(data=data) as server, AsyncClient(server.address) as client:
        first, second = await pair(client, "traditional", seed=3)
        acting = first if first.is_my_turn else second
        acting = AsyncGame(client, acting.id, acting.token, patience_s=0.0)
        await acting.refresh()
        storage = server.runtime.games.storage
        # The file may not grow any more.
        await asyncio.wrap_future(
            storage._write(lambda db: db.execute("PRAGMA max_page_count = 1").fetchone())
        )
        step = _step(acting)
        failures = 0
        version = acting.view.version
        for _ in range(200):
            try:
                await client.act(acting.id, acting.token, acting.view.version, step)
                await acting.refresh()
                await acting.undo(everything=True)
            except UnavailableError as error:
                assert error.reason == "STORAGE"  # noqa: PT017 -- any of many attempts
                failures += 1
                break
        assert failures == 1
        await asyncio.wrap_future(
            storage._write(lambda db: db.execute("PRAGMA max_page_count = 1000000").fetchone())
        )
        await acting.refresh()
        assert acting.view.version >= version
        await play_until(first, second, lambda view: view.stage == OVER)
        events = [m.event.number async for m in _all(client, first)]
        assert events == list(range(1, first.view.version + 1))


async def _all(client: AsyncClient, game: AsyncGame) -> Any:
    """The events so far."""
    version = (await game.refresh()).version
    async for message in client.watch(game.id, game.token):
        yield message
        if message.event.number == version:
            return
