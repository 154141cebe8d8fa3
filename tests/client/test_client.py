"""The Python client against a running server, with and without asyncio."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import grpc
import numpy as np
import pytest
from bgserver_client import (
    AsyncClient,
    Client,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    RpcError,
    UnauthenticatedError,
    UnavailableError,
    player,
    split_batches,
    start_position,
)
from bgserver_client.v1 import common_pb2, engine_pb2

from tests.serving import serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from bgserver_client.v1 import simulation_pb2

_XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"
_WON = [0, -2, *[0] * 24]
_NOBODY_LISTENS = "127.0.0.1:9"


@pytest.fixture
def client(server_address: str) -> Iterator[Client]:
    with Client(server_address) as connection:
        connection.wait_until_ready()
        yield connection


@pytest.fixture
async def aclient(server_address: str) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(server_address) as connection:
        await connection.wait_until_ready()
        yield connection


def test_every_method_answers(client: Client) -> None:
    assert len(client.list_plays("start", (3, 1)).plays) == 16
    applied = client.apply_play(_XGID, "8/5 6/5", (3, 1))
    assert applied.play.notation == "8/5 6/5"
    by_steps = client.apply_play("start", [(6, 5), (8, 5)], (3, 1))
    assert by_steps.next == applied.next
    assert client.inspect_position("start").pips == 167
    assert client.convert_position("start").gnu_id.position_id == "4HPwATDgc/ABMA"
    assert "money" in {preset.name for preset in client.list_presets().presets}
    assert len(client.describe_rules("joypip").texts) == 2
    assert client.describe_rules(language="de").texts[0].summary.startswith("Backgammon, Geldspiel")
    assert 0.4 < client.evaluate("start").probabilities.win < 0.65
    ranking = client.rank_plays("start", (3, 1), max_plays=3)
    assert len(ranking.plays) == 3
    assert ranking.total_plays == 16
    assert client.advise_cube(_XGID).action == engine_pb2.CUBE_ACTION_NO_DOUBLE_TAKE
    counted = client.advise_cube(_XGID, market_losers=True, market_replies=True)
    assert len(counted.market_losers.rolls) == 21
    assert len(client.advise_cube_by_score("start", away=3).scores) == 13
    assert client.evaluate("start", level="lookahead_1").level == common_pb2.LEVEL_LOOKAHEAD_1
    assert client.rank_plays("start", (3, 1), milliseconds=5).plays
    assert client.advise_cube(_XGID, milliseconds=5).level
    assert common_pb2.LEVEL_STATIC in client.get_info().levels


async def test_every_method_answers_with_asyncio(aclient: AsyncClient) -> None:
    assert len((await aclient.list_plays("start", (3, 1))).plays) == 16
    applied = await aclient.apply_play("start", "8/5 6/5", (3, 1))
    assert applied.play.notation == "8/5 6/5"
    assert (await aclient.inspect_position("start")).pips == 167
    assert (await aclient.convert_position("nardy-start")).xgid == ""
    assert (await aclient.list_presets()).presets
    assert len((await aclient.describe_rules("classic", language="en")).texts) == 1
    assert 0.4 < (await aclient.evaluate("start")).probabilities.win < 0.65
    assert len((await aclient.rank_plays("start", (3, 1))).plays) == 16
    assert (await aclient.advise_cube(_XGID)).action == engine_pb2.CUBE_ACTION_NO_DOUBLE_TAKE
    assert len((await aclient.advise_cube_by_score("start", away=2, level="static")).scores) == 6
    judged = await aclient.evaluate("start", level="lookahead_1")
    assert judged.level == common_pb2.LEVEL_LOOKAHEAD_1
    assert (await aclient.rank_plays("start", (3, 1), milliseconds=5)).plays
    assert (await aclient.advise_cube(_XGID, milliseconds=5)).level
    assert (await aclient.get_info()).version


def test_step_graph_and_long_nardy(client: Client) -> None:
    answer = client.list_plays("nardy-start", (6, 6), first_turn=True, include_step_graph=True)
    assert [play.notation for play in answer.plays] == ["24/18(2)"]
    assert answer.step_graph.nodes[-1].complete


def test_faults_name_every_field(client: Client) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        client.list_plays("start", (7, 0))
    error = caught.value
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert error.reason == "INVALID_INPUT"
    assert [violation.field for violation in error.violations] == ["dice.first", "dice.second"]
    assert {violation.reason for violation in error.violations} == {"DIE_OUT_OF_RANGE"}
    assert "dice.first" in str(error)


async def test_faults_name_every_field_with_asyncio(aclient: AsyncClient) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        await aclient.list_plays("start", (7, 0))
    assert [violation.field for violation in caught.value.violations] == [
        "dice.first",
        "dice.second",
    ]


def test_finished_game_is_a_failed_precondition(client: Client) -> None:
    with pytest.raises(FailedPreconditionError) as caught:
        client.list_plays(_WON, (3, 1))
    assert caught.value.reason == "GAME_OVER"


@pytest.mark.parametrize(
    "address",
    [
        *("", "host", "host:", "host:0", "host:65536", "host:abc", "host:-1", "host:5\n"),
        *("[::1]", "::1", "fe80::1", "http://host:5", "HTTP://host:5", "tcp://host:5"),
    ],
)
async def test_what_is_no_address_is_refused(address: str) -> None:
    for kind in (Client, AsyncClient):
        with pytest.raises(
            ValueError, match=r"expected (host:port|a port from 1 to 65535)"
        ) as caught:
            kind(address)
        assert repr(address) in str(caught.value)


@pytest.mark.parametrize(
    "address", ["host:65535", "[::1]:1", "unix:/run/it", "dns:///host:5", "ipv4:10.0.0.1"]
)
def test_addresses_and_names_of_grpc_are_taken(address: str) -> None:
    Client(address).close()


async def test_a_tls_connection_has_a_port_by_itself() -> None:
    credentials = grpc.ssl_channel_credentials()
    Client("engine.example.com", credentials=credentials).close()
    await AsyncClient("engine.example.com", credentials=credentials).close()
    with pytest.raises(ValueError, match="expected a port"):
        Client("engine.example.com:70000", credentials=credentials)


def test_unreachable_server_is_unavailable() -> None:
    with Client(_NOBODY_LISTENS) as client, pytest.raises(UnavailableError) as caught:
        client.list_presets()
    assert isinstance(caught.value, ConnectionError)


async def test_unreachable_server_is_unavailable_with_asyncio() -> None:
    async with AsyncClient(_NOBODY_LISTENS) as client:
        with pytest.raises(UnavailableError):
            await client.list_presets()


def test_waiting_for_a_server_that_never_comes_ends_in_time() -> None:
    expected = f"{_NOBODY_LISTENS} was not ready within 0.3 s"
    with Client(_NOBODY_LISTENS) as client, pytest.raises(DeadlineExceededError, match=expected):
        client.wait_until_ready(timeout_s=0.3)


async def test_waiting_for_a_server_that_never_comes_ends_in_time_with_asyncio() -> None:
    async with AsyncClient(_NOBODY_LISTENS) as client:
        with pytest.raises(TimeoutError, match=r"was not ready within 0\.3 s"):
            await client.wait_until_ready(timeout_s=0.3)


def test_time_limit_of_a_stream(client: Client) -> None:
    with pytest.raises(DeadlineExceededError):
        for _ in client.simulate(10_000_000, timeout_s=0.2):
            pass


@pytest.fixture
def silent_address() -> Iterator[str]:
    """Somebody who listens and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(("of_client", "of_call"), [(0.2, None), (60, 0.2), (None, 0.2)])
def test_time_limits_of_client_and_call(
    silent_address: str, of_client: float | None, of_call: float | None
) -> None:
    with (
        Client(silent_address, timeout_s=of_client) as client,
        pytest.raises(TimeoutError) as caught,
    ):
        client.list_presets(timeout_s=of_call)
    assert isinstance(caught.value, DeadlineExceededError)


def test_token(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("tokens") / "tokens"
    file.write_text("sesame\n")
    with serving("--auth-token-file", str(file)) as address:
        with Client(address) as stranger, pytest.raises(UnauthenticatedError):
            stranger.list_presets()
        with Client(address, token="sesame") as friend:  # noqa: S106 -- no secret
            assert friend.list_presets().presets


def _points(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    return np.tile(np.array(start_position().points, dtype=np.int8), (count, 1))


def test_batches_come_back_in_order(client: Client) -> None:
    single = client.evaluate("start").probabilities
    points = _points(1000)
    points[500:] = np.array(_bear_off(), dtype=np.int8)
    parts = [np.asarray(part) for part in client.evaluate_batch(split_batches(points, 64))]
    assert [len(part) for part in parts] == [64] * 15 + [40]
    chances = np.concatenate(parts)
    assert chances.dtype == np.float32
    assert chances[0, 0] == pytest.approx(single.win, abs=1e-6)
    assert (chances[:500] == chances[0]).all()
    assert (chances[500:] == chances[-1]).all()
    assert chances[-1, 0] > 0.99


def _bear_off() -> list[int]:
    points = [0] * 26
    points[1], points[24] = 2, -15
    return points


def test_more_batches_than_may_be_in_flight_need_no_more_memory(client: Client) -> None:
    taken = 0

    def batches() -> Iterator[bytes]:
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield _points(1).tobytes()

    with client.evaluate_batch(batches()) as answers:
        next(answers)
        assert taken <= 10
        assert sum(1 for _ in answers) == 99


def test_what_the_callers_batches_raise_reaches_the_caller(client: Client) -> None:
    def batches() -> Iterator[bytes]:
        yield _points(2).tobytes()
        message = "disk gone"
        raise OSError(message)

    answers = client.evaluate_batch(batches())
    assert next(answers).shape == (2, 5)
    with pytest.raises(OSError, match="disk gone"):
        next(answers)


async def test_batches_with_asyncio(aclient: AsyncClient) -> None:
    async def batches() -> AsyncIterator[bytes]:
        for part in split_batches(_points(100), 10):
            yield part

    shapes = [part.shape async for part in aclient.evaluate_batch(batches())]
    assert shapes == [(10, 5)] * 10
    plain = [part.shape async for part in aclient.evaluate_batch(split_batches(_points(30), 10))]
    assert plain == [(10, 5)] * 3


async def test_what_the_callers_batches_raise_reaches_the_caller_with_asyncio(
    aclient: AsyncClient,
) -> None:
    async def batches() -> AsyncIterator[bytes]:
        yield _points(2).tobytes()
        message = "disk gone"
        raise OSError(message)

    answers = aclient.evaluate_batch(batches())
    assert (await anext(answers)).shape == (2, 5)
    with pytest.raises(OSError, match="disk gone"):
        await anext(answers)


def test_a_bad_batch_ends_the_stream_with_its_fault(client: Client) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        list(client.evaluate_batch([bytes([15, *[1] * 25])]))
    assert caught.value.violations


def _final(
    events: list[simulation_pb2.SimulateResponse],
) -> simulation_pb2.SimulationStatistics:
    assert events[-1].statistics.final
    return events[-1].statistics


def test_simulation_is_repeatable_and_tells_each_game(client: Client) -> None:
    first = list(client.simulate(20, seed=7, second="random", include_records=True))
    games = [event.game for event in first if event.HasField("game")]
    assert sorted(game.index for game in games) == list(range(20))
    assert all(game.record for game in games)
    again = list(client.simulate(20, seed=7, second="random", statistics_only=True))
    assert not any(event.HasField("game") for event in again)
    assert _final(again) == _final(first)


def test_bots(client: Client) -> None:
    for chosen in ("expert", "lookahead_1", player(strength=10)):
        reply = client.choose_play("start", (6, 2), player=chosen, seed=5, turn=3)
        again = client.choose_play("start", (6, 2), player=chosen, seed=5, turn=3)
        assert reply == again
    assert client.choose_cube_action("start", player="beginner").move == engine_pb2.CUBE_MOVE_ROLL


async def test_bots_with_asyncio(aclient: AsyncClient) -> None:
    reply = await aclient.choose_play("nardy-start", (6, 2), player="normal", first_turn=True)
    assert reply.play.steps
    move = (await aclient.choose_cube_action(_XGID)).move
    assert move == engine_pb2.CUBE_MOVE_ROLL


def test_simulation_between_players_of_several_strengths(client: Client) -> None:
    final = _final(list(client.simulate(20, seed=7, first="beginner", second=player(strength=90))))
    assert final.first_loss > 5 * final.second_loss > 0


async def test_simulation_with_asyncio(aclient: AsyncClient) -> None:
    events = [event async for event in aclient.simulate(20, seed=7, preset="long_nardy")]
    assert _final(events).games == 20


def test_closing_a_stream_stops_the_work_and_ends_the_iteration(client: Client) -> None:
    with client.simulate(10_000_000, second="random") as events:
        next(events)
        closer = threading.Thread(target=events.close)
        closer.start()
        for _ in events:
            pass
        closer.join()
    assert list(events) == []


async def test_closing_a_stream_with_asyncio(aclient: AsyncClient) -> None:
    async with aclient.simulate(10_000_000, second="random") as events:
        await anext(events)
    assert [event async for event in events] == []


def test_every_failure_is_an_rpc_error(client: Client) -> None:
    failing: list[Callable[[], object]] = [
        lambda: client.list_plays("start", (9, 9)),
        lambda: list(client.simulate(5, preset="no such preset")),
        lambda: client.evaluate([1] * 26),
        lambda: client.rank_plays("XGID=nonsense", (3, 1)),
    ]
    for attempt in failing:
        with pytest.raises(RpcError):
            attempt()
