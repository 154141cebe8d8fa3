"""Games that engine players play among themselves leave the server to others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver_client import AsyncClient, AsyncGame, player

from tests.server.players import play_on

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.conftest import Starter

_GAMES = 4
_PATIENCE_S = 60.0  # more than a fair share needs, less than the games last


async def _is_served(client: AsyncClient) -> None:
    """A simulation and a rollout get their share, and a person an answer."""
    simulated = client.simulate(2, seed=1, timeout_s=_PATIENCE_S)
    assert [reply async for reply in simulated][-1].statistics.final
    rolled = client.rollout("4HPwATDgc/ABMA", trials=36, seed=1, timeout_s=_PATIENCE_S)
    assert [reply async for reply in rolled]
    game = await AsyncGame.create(client, "traditional", second="expert", seed=2)
    for _ in range(3):
        await game.wait_for_turn()
        await play_on(game)


async def test_games_without_persons_starve_nobody(start_server: Starter, tmp_path: Path) -> None:
    settings = {"threads": 1, "data": str(tmp_path / "games.db"), "max_engine_games": _GAMES}
    slow = player("lookahead_3")
    async with start_server(**settings) as server, AsyncClient(server.address) as client:
        for seed in range(_GAMES):
            await client.create_game(
                "tournament", match_length=17, first=slow, second=slow, seed=seed, listed=True
            )
        await _is_served(client)
        assert len((await client.list_games(filter="running")).games) == _GAMES
    # Nor do they when they go on after a restart.
    async with start_server(**settings) as server, AsyncClient(server.address) as client:
        await _is_served(client)
        assert len((await client.list_games(filter="running")).games) == _GAMES
