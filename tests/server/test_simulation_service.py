"""`SimulationService`, as a client sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest

from bgserver.engine.plays import play_between
from bgserver.engine.position import Dice, Position, Variant
from bgserver.formats.notation import parse_play
from bgserver.v1 import common_pb2, rules_pb2, simulation_pb2, simulation_pb2_grpc
from tests.server.requests import failing

if TYPE_CHECKING:
    from bgserver.server.app import BgServer
    from bgserver.v1.simulation_pb2_grpc import SimulationServiceAsyncStub as Stub
    from tests.server.conftest import Starter

_RANDOM = common_pb2.Player(level=common_pb2.LEVEL_RANDOM)
_ENDLESS = 1_000_000


async def _run(
    stub: Stub, request: simulation_pb2.SimulateRequest
) -> tuple[
    list[simulation_pb2.GameResult],
    list[simulation_pb2.MatchResult],
    list[simulation_pb2.SimulationStatistics],
]:
    games, matches, statistics = [], [], []
    async for reply in stub.Simulate(request):
        if reply.HasField("game"):
            games.append(reply.game)
        elif reply.HasField("match"):
            matches.append(reply.match)
        else:
            statistics.append(reply.statistics)
    return games, matches, statistics


@pytest.mark.parametrize("preset", ["money", "traditional", "long_nardy", "joinpal", "classic"])
async def test_games_come_in_order_with_statistics_that_fit(
    simulation_stub: Stub, preset: str
) -> None:
    request = simulation_pb2.SimulateRequest(preset=preset, count=30, seed=4, second=_RANDOM)
    games, matches, statistics = await _run(simulation_stub, request)
    assert [game.index for game in games] == list(range(30))
    assert not matches
    final = statistics[-1]
    assert final.final
    assert not any(entry.final for entry in statistics[:-1])
    assert (final.games, final.matches, final.done, final.seed) == (30, 0, 30, 4)
    first = sum(game.winner == common_pb2.SEAT_FIRST for game in games)
    assert final.game_win_rate.mean == pytest.approx(first / 30)
    assert sum(final.first_wins) == first
    assert final.game_win_rate.low <= final.game_win_rate.mean <= final.game_win_rate.high
    assert not final.HasField("match_win_rate")
    points = [
        game.points if game.winner == common_pb2.SEAT_FIRST else -game.points for game in games
    ]
    assert final.points_per_game.mean == pytest.approx(sum(points) / 30)


async def test_matches_end_when_the_length_is_reached(simulation_stub: Stub) -> None:
    request = simulation_pb2.SimulateRequest(
        preset="tournament", count=3, seed=4, match_length=7, second=_RANDOM
    )
    games, matches, statistics = await _run(simulation_stub, request)
    assert [match.index for match in matches] == [0, 1, 2]
    assert [game.index for game in games] == list(range(len(games)))
    for match in matches:
        own = [game for game in games if game.match_index == match.index]
        assert len(own) == match.games
        assert max(match.first_points, match.second_points) >= 7
        assert min(match.first_points, match.second_points) < 7
    assert statistics[-1].matches == 3
    assert statistics[-1].HasField("match_win_rate")


async def test_an_unstated_match_length_is_the_shortest_of_the_preset(
    simulation_stub: Stub,
) -> None:
    request = simulation_pb2.SimulateRequest(preset="joypip", count=2, seed=1, second=_RANDOM)
    _, matches, _ = await _run(simulation_stub, request)
    assert [match.games for match in matches] == [1, 1]


@pytest.mark.parametrize("variant", Variant)
async def test_records_replay(simulation_stub: Stub, variant: Variant) -> None:
    request = simulation_pb2.SimulateRequest(
        preset="money" if variant is Variant.BACKGAMMON else "long_nardy",
        count=2,
        seed=9,
        include_records=True,
    )
    games, _, _ = await _run(simulation_stub, request)
    for game in games:
        expected: Position | None = Position.start(variant)
        turns = {common_pb2.SEAT_FIRST: 0, common_pb2.SEAT_SECOND: 0}
        for turn in game.record:
            position = Position(tuple(turn.position.points), variant)
            assert position == expected
            if not turn.HasField("dice"):
                assert turn.doubled
                assert not turn.taken
                assert game.end == simulation_pb2.GAME_END_DROPPED
                continue
            dice = Dice(turn.dice.first, turn.dice.second)
            first_turn = turns[turn.seat] == 0
            turns[turn.seat] += 1
            play = parse_play(turn.play, position, dice, first_turn=first_turn)
            assert play_between(position, dice, play.result, first_turn=first_turn) == play
            over = play.result.own_off == 15
            expected = None if over else play.result.turned()
        if game.end == simulation_pb2.GAME_END_BORNE_OFF:
            assert expected is None


async def test_statistics_only(simulation_stub: Stub) -> None:
    request = simulation_pb2.SimulateRequest(count=5, seed=1, statistics_only=True)
    games, _, statistics = await _run(simulation_stub, request)
    assert not games
    assert statistics[-1].games == 5


async def test_without_a_seed_the_answer_tells_one_that_repeats(simulation_stub: Stub) -> None:
    request = simulation_pb2.SimulateRequest(count=5, second=_RANDOM)
    games, _, statistics = await _run(simulation_stub, request)
    request.seed = statistics[-1].seed
    again, _, _ = await _run(simulation_stub, request)
    assert again == games


async def test_weaker_players_lose_and_tell_what_their_plays_lose(simulation_stub: Stub) -> None:
    request = simulation_pb2.SimulateRequest(
        preset="long_nardy",
        count=30,
        seed=4,
        first=common_pb2.Player(named_strength=common_pb2.STRENGTH_BEGINNER),
        second=common_pb2.Player(numeric_strength=100),
    )
    _, _, statistics = await _run(simulation_stub, request)
    final = statistics[-1]
    assert final.game_win_rate.mean < 0.5
    assert 0.03 < final.first_loss < 0.15
    assert not final.HasField("second_loss")


async def test_a_name_is_its_number_and_the_default_is_expert(simulation_stub: Stub) -> None:
    def player(**strength: int) -> simulation_pb2.SimulateRequest:
        named = common_pb2.Player(**strength)  # type: ignore[arg-type]  # on purpose
        return simulation_pb2.SimulateRequest(count=4, seed=8, first=named, include_records=True)

    for one, other in (
        (player(named_strength=common_pb2.STRENGTH_NORMAL), player(numeric_strength=60)),
        (player(named_strength=common_pb2.STRENGTH_EXPERT), player()),
        (player(named_strength=common_pb2.STRENGTH_UNSPECIFIED), player()),
    ):
        assert (await _run(simulation_stub, one))[0] == (await _run(simulation_stub, other))[0]


@pytest.mark.parametrize("threads", [1, 2, 8])
async def test_same_seed_same_games_on_any_number_of_threads(
    start_server: Starter, threads: int
) -> None:
    request = simulation_pb2.SimulateRequest(
        preset="tournament",
        count=4,
        seed=11,
        first=common_pb2.Player(numeric_strength=35),
        include_records=True,
    )
    async with (
        start_server(threads=threads) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = simulation_pb2_grpc.SimulationServiceStub(channel)
        games, matches, _ = await _run(stub, request)
    async with (
        start_server(threads=2) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = simulation_pb2_grpc.SimulationServiceStub(channel)
        assert (await _run(stub, request))[:2] == (games, matches)


async def test_cancelling_stops_the_computation(simulation_stub: Stub, server: BgServer) -> None:
    call = simulation_stub.Simulate(simulation_pb2.SimulateRequest(count=_ENDLESS))
    async for _ in call:
        break
    assert server.pool.unfinished > 0
    call.cancel()
    await server.pool.wait_idle()
    assert server.runtime.simulations == 0


async def test_the_deadline_stops_the_computation(simulation_stub: Stub, server: BgServer) -> None:
    async with failing() as failure:
        async for _ in simulation_stub.Simulate(
            simulation_pb2.SimulateRequest(count=_ENDLESS), timeout=0.3
        ):
            pass
    assert failure.code == grpc.StatusCode.DEADLINE_EXCEEDED
    await server.pool.wait_idle()


async def test_too_many_simulations_are_refused(start_server: Starter) -> None:
    async with (
        start_server(max_simulations=1) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = simulation_pb2_grpc.SimulationServiceStub(channel)
        first = stub.Simulate(simulation_pb2.SimulateRequest(count=_ENDLESS))
        async for _ in first:
            break
        async with failing() as failure:
            async for _ in stub.Simulate(simulation_pb2.SimulateRequest(count=1)):
                pass
        assert failure.code == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert failure.retry_after_s == 5
        first.cancel()
        await server.pool.wait_idle()
        _, _, statistics = await _run(stub, simulation_pb2.SimulateRequest(count=1))
        assert statistics[-1].final


async def test_rules_of_the_request_differ_from_the_preset(simulation_stub: Stub) -> None:
    request = simulation_pb2.SimulateRequest(
        count=40, seed=2, rules=rules_pb2.Rules(cube=rules_pb2.CUBE_USE_OFF)
    )
    _, _, statistics = await _run(simulation_stub, request)
    assert statistics[-1].mean_cube == 1
    assert statistics[-1].dropped == 0
