"""Matches between engines at different servers, and with engines that misbehave."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import grpc
import pytest

from bgserver.v1 import common_pb2, rules_pb2, simulation_pb2, simulation_pb2_grpc
from tests.server.bad_engine import Manner, misbehaving
from tests.server.requests import failing

if TYPE_CHECKING:
    from bgserver.server.app import BgServer
    from bgserver.v1.simulation_pb2_grpc import SimulationServiceAsyncStub as Stub
    from tests.server.conftest import Starter

_FORFEITED = simulation_pb2.GAME_END_FORFEITED


async def play(
    server: BgServer, request: simulation_pb2.SimulateRequest
) -> tuple[list[simulation_pb2.GameResult], simulation_pb2.SimulationStatistics]:
    """The games of a simulation, and the final statistics."""
    games = []
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: Stub = simulation_pb2_grpc.SimulationServiceStub(channel)
        async for event in stub.Simulate(request):
            if event.HasField("game"):
                games.append(event.game)
            elif event.HasField("statistics"):
                final = event.statistics
    assert final.final
    return games, final


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("money", rules_pb2.Rules()),
        ("long_nardy", rules_pb2.Rules()),
        ("tournament", rules_pb2.Rules(holland=True)),
        (
            "money",
            rules_pb2.Rules(
                beaver=True, raccoon=True, raccoon_owner=rules_pb2.RACCOON_OWNER_BEAVERER
            ),
        ),
    ],
    ids=["money", "nardy", "tournament", "raccoon"],
)
async def test_a_match_over_grpc_is_the_one_within_a_process(
    start_server: Starter, preset: str, changes: rules_pb2.Rules
) -> None:
    request = simulation_pb2.SimulateRequest(
        preset=preset,
        rules=changes,
        count=2,
        seed=5,
        seating=simulation_pb2.SEATING_DUPLICATE,
        first=common_pb2.Player(numeric_strength=90),
        second=common_pb2.Player(numeric_strength=30),
        include_records=True,
    )
    async with start_server() as other, start_server(remote_engines=("*",)) as server:
        here, statistics = await play(server, request)
        request.first.address = other.address
        there, statistics_there = await play(server, request)
        request.second.address = server.address
        both, _ = await play(server, request)
    for game in here:
        assert game.first_seat.own_plays.count > 0
    # An engine elsewhere does not tell what it thinks of its own errors.
    for game in (*here, *there, *both):
        game.first_seat.ClearField("own_plays")
        game.second_seat.ClearField("own_plays")
    assert here == there == both
    assert statistics.points_per_game == statistics_there.points_per_game
    assert [game.swapped for game in here if game.ends_session] in ([False, True], [])
    assert statistics.observations == 1


@pytest.mark.parametrize(
    ("manner", "misconduct"),
    [
        (Manner.SLOW, simulation_pb2.MISCONDUCT_SLOW),
        (Manner.DIES, simulation_pb2.MISCONDUCT_FAILED),
        (Manner.FAILS, simulation_pb2.MISCONDUCT_FAILED),
        (Manner.ILLEGAL_PLAY, simulation_pb2.MISCONDUCT_ILLEGAL),
        (Manner.ILLEGAL_CUBE, simulation_pb2.MISCONDUCT_ILLEGAL),
        (Manner.NONSENSE, simulation_pb2.MISCONDUCT_ILLEGAL),
        (Manner.GARBLED, simulation_pb2.MISCONDUCT_ILLEGAL),
    ],
)
async def test_an_engine_that_misbehaves_loses_and_the_run_goes_on(
    start_server: Starter, manner: Manner, misconduct: simulation_pb2.Misconduct.ValueType
) -> None:
    async with misbehaving(manner) as (address, engine), start_server(remote_engines=("*",)) as us:
        request = simulation_pb2.SimulateRequest(
            preset="money",
            count=4,
            seed=2,
            seating=simulation_pb2.SEATING_ALTERNATING,
            second=common_pb2.Player(address=address),
            decision_ms=300,
            include_records=True,
        )
        games, statistics = await play(us, request)
        assert engine.decisions > engine.after
    assert len(games) == 4
    for game in games:
        assert game.end == _FORFEITED
        assert game.misconduct == misconduct
        bad_seat = common_pb2.SEAT_FIRST if game.swapped else common_pb2.SEAT_SECOND
        assert game.winner not in {bad_seat, common_pb2.SEAT_UNSPECIFIED}
        assert game.result == 1
        assert game.points == game.cube_value
    second = statistics.second
    assert second.slow + second.failed + second.illegal == 4
    assert sum(statistics.first.wins) == 4


async def test_a_match_is_not_lost_with_one_game(start_server: Starter) -> None:
    async with (
        misbehaving(Manner.FAILS, after=1) as (address, _),
        start_server(remote_engines=("*",)) as us,
    ):
        request = simulation_pb2.SimulateRequest(
            preset="joypip", match_length=3, count=1, first=common_pb2.Player(address=address)
        )
        games, statistics = await play(us, request)
    assert [game.end for game in games] == [_FORFEITED] * len(games)
    assert len(games) == statistics.first.failed > 1
    assert statistics.match_win_rate.mean == 0


async def test_nothing_is_played_where_nobody_is(start_server: Starter) -> None:
    """An address without a server, and one that takes the call and never says a word."""
    nobody = "127.0.0.1:9"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        silent = f"127.0.0.1:{listener.getsockname()[1]}"
        request = simulation_pb2.SimulateRequest(
            preset="traditional",
            count=3,
            first=common_pb2.Player(address=nobody),
            second=common_pb2.Player(address=silent),
            decision_ms=300,
        )
        async with start_server(remote_engines=("*",)) as us, failing() as failure:
            await play(us, request)
    assert failure.code == grpc.StatusCode.UNAVAILABLE
    assert failure.reason == "PLAYER_ABSENT"
    assert failure.faults == [
        ("first.address", "PLAYER_ABSENT"),
        ("second.address", "PLAYER_ABSENT"),
    ]
    assert f"{nobody} cannot be reached" in failure.message
    assert f"{silent} gave no answer within 3 s" in failure.message


async def test_nothing_is_played_against_an_engine_that_refuses(start_server: Starter) -> None:
    async with (
        start_server(auth_tokens=("secret",)) as closed,
        start_server(remote_engines=("*",)) as us,
        failing() as failure,
    ):
        request = simulation_pb2.SimulateRequest(
            preset="long_nardy", count=3, second=common_pb2.Player(address=closed.address)
        )
        await play(us, request)
    assert failure.faults == [("second.address", "PLAYER_ABSENT")]
    assert f"{closed.address} does not play: UNAUTHENTICATED" in failure.message


@pytest.mark.parametrize(
    ("manner", "why"),
    [(Manner.GARBLED, "its answer cannot be read"), (Manner.EMPTY, "its answer holds no play")],
)
async def test_nothing_is_played_against_an_engine_that_cannot_be_understood(
    start_server: Starter, manner: Manner, why: str
) -> None:
    async with (
        misbehaving(manner, after=0) as (address, _),
        start_server(remote_engines=("*",)) as us,
        failing() as failure,
    ):
        request = simulation_pb2.SimulateRequest(
            preset="money", count=3, second=common_pb2.Player(address=address)
        )
        await play(us, request)
    assert failure.faults == [("second.address", "PLAYER_ABSENT")]
    assert f"{address} does not play: {why}" in failure.message


async def test_what_an_engine_says_moves_no_cursor(start_server: Starter) -> None:
    async with (
        misbehaving(Manner.FAILS, after=0, words="\x1b[31mred\x1b]0;title\x07 \x9b2J\x7f!") as (
            address,
            _,
        ),
        start_server(remote_engines=("*",)) as us,
        failing() as failure,
    ):
        request = simulation_pb2.SimulateRequest(
            preset="money", count=3, second=common_pb2.Player(address=address)
        )
        await play(us, request)
    assert failure.message.endswith(f"{address} does not play: INTERNAL: red !")


async def test_an_engine_that_behaves_plays_on(start_server: Starter) -> None:
    async with (
        misbehaving(Manner.GOOD) as (address, _),
        start_server(remote_engines=("*",)) as us,
    ):
        request = simulation_pb2.SimulateRequest(
            preset="long_nardy", count=2, seed=1, first=common_pb2.Player(address=address)
        )
        games, _ = await play(us, request)
    assert [game.end for game in games] == [simulation_pb2.GAME_END_BORNE_OFF] * 2


async def test_beavers_and_raccoons_of_an_engine_elsewhere(start_server: Starter) -> None:
    """It doubles when it is behind, is beavered, and answers by its own equities: it raccoons."""
    async with (
        misbehaving(Manner.EAGER) as (address, _),
        start_server(remote_engines=("*",)) as us,
    ):
        request = simulation_pb2.SimulateRequest(
            preset="money",
            rules=rules_pb2.Rules(
                beaver=True, raccoon=True, raccoon_owner=rules_pb2.RACCOON_OWNER_RACCOONER
            ),
            count=8,
            seed=1,
            first=common_pb2.Player(address=address),
            include_records=True,
        )
        games, statistics = await play(us, request)
    assert statistics.first.doubles >= 8
    assert 0 < statistics.first.raccoons <= statistics.second.beavers  # less at the cap
    assert all(game.end != _FORFEITED for game in games)
    turned = [turn for game in games for turn in game.record if turn.raccooned]
    assert all(turn.beavered and turn.seat == common_pb2.SEAT_FIRST for turn in turned)
    assert len(turned) == statistics.first.raccoons


async def test_an_equity_that_is_no_number_forfeits_the_game(start_server: Starter) -> None:
    """It is asked for some as soon as it is beavered."""
    async with (
        misbehaving(Manner.UNBOUNDED) as (address, _),
        start_server(remote_engines=("*",)) as us,
    ):
        request = simulation_pb2.SimulateRequest(
            preset="money",
            rules=rules_pb2.Rules(
                beaver=True, raccoon=True, raccoon_owner=rules_pb2.RACCOON_OWNER_RACCOONER
            ),
            count=8,
            seed=1,
            first=common_pb2.Player(address=address),
        )
        games, statistics = await play(us, request)
    assert len(games) == 8
    assert statistics.first.illegal == statistics.second.beavers > 0
    assert {game.misconduct for game in games if game.end == _FORFEITED} == {
        simulation_pb2.MISCONDUCT_ILLEGAL
    }


@pytest.mark.parametrize(
    ("allowed", "address", "reason"),
    [
        ((), "127.0.0.1:50051", "ADDRESS_NOT_ALLOWED"),
        (("127.0.0.1:50051",), "127.0.0.1:50052", "ADDRESS_NOT_ALLOWED"),
        (("*",), "nowhere", "NOT_AN_ADDRESS"),
        (("*",), "127.0.0.1:0", "NOT_AN_ADDRESS"),
        (("*",), "127.0.0.1:99999", "NOT_AN_ADDRESS"),
        (("*",), "unix:/tmp/socket", "NOT_AN_ADDRESS"),
        (("*",), "dns://8.8.8.8/example.org:80", "NOT_AN_ADDRESS"),
    ],
)
async def test_which_addresses_are_refused(
    start_server: Starter, allowed: tuple[str, ...], address: str, reason: str
) -> None:
    request = simulation_pb2.SimulateRequest(count=1, first=common_pb2.Player(address=address))
    async with start_server(remote_engines=allowed) as server, failing() as failure:
        await play(server, request)
    assert failure.code == grpc.StatusCode.INVALID_ARGUMENT
    assert failure.faults == [("first.address", reason)]
