"""Every RPC of `EngineService`, as a client sees it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import grpc
import numpy as np
import pytest

from bgserver import __version__
from bgserver.engine.levels import Level
from bgserver.engine.position import Dice, GameState, Position, Variant
from bgserver.engine.work import run
from bgserver.v1 import common_pb2, engine_pb2, engine_pb2_grpc, rules_pb2
from tests import positions
from tests.server.requests import START_XGID, board, failing, roll, start, xgid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bgserver.engine.evaluator import Engine
    from bgserver.server.app import BgServer
    from bgserver.v1.engine_pb2_grpc import EngineServiceAsyncStub as Stub
    from tests.server.conftest import Starter


def _boards(variant: Variant, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    cases = positions.cases(variant.value, 5)
    rows = [case.board for case in (next(cases) for _ in range(2 * count)) if _goes_on(case.board)]
    return np.array(rows[:count], dtype=np.int8)


def _goes_on(board: tuple[int, ...]) -> bool:
    return any(count > 0 for count in board) and any(count < 0 for count in board)


@pytest.mark.parametrize("variant", Variant)
async def test_evaluate_gives_what_the_engine_says(
    engine_stub: Stub, engine: Engine, variant: Variant
) -> None:
    reply = await engine_stub.Evaluate(engine_pb2.EvaluateRequest(position=start(variant)))
    expected = run(engine.evaluate(GameState(position=Position.start(variant)), Level.STATIC))
    assert reply.probabilities.win == pytest.approx(expected.probabilities[0], abs=1e-6)
    assert reply.cubeless_equity == pytest.approx(expected.cubeless_equity, abs=1e-6)
    assert reply.cubeful_equity == pytest.approx(expected.cubeful_equity, abs=1e-6)
    assert not reply.HasField("match_winning_chances")
    assert reply.level == common_pb2.LEVEL_STATIC
    assert reply.position_class == expected.position_class
    assert reply.position_class == ("contact" if variant is Variant.BACKGAMMON else "opening")


async def test_evaluate_in_a_match_gives_winning_chances(engine_stub: Stub) -> None:
    source = xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:5:6")
    reply = await engine_stub.Evaluate(engine_pb2.EvaluateRequest(position=source))
    assert 0.4 < reply.match_winning_chances < 0.6


async def test_rank_plays_is_ordered_and_limited(engine_stub: Stub) -> None:
    request = engine_pb2.RankPlaysRequest(
        position=start(),
        dice=roll(3, 1),
        max_plays=3,
        limit=common_pb2.Limit(level=common_pb2.LEVEL_LOOKAHEAD_1),
    )
    reply = await engine_stub.RankPlays(request)
    assert reply.total_plays == 16
    assert reply.plays[0].play.notation == "8/5 6/5"
    assert len(reply.plays) == 3
    # Deeper levels come first; only figures of one level can be compared.
    order = [(-play.level, play.equity_loss) for play in reply.plays]
    assert order == sorted(order)
    assert order[0] == (-common_pb2.LEVEL_LOOKAHEAD_1, 0)


async def test_advise_cube(engine_stub: Stub) -> None:
    request = engine_pb2.AdviseCubeRequest(position=xgid(START_XGID))
    reply = await engine_stub.AdviseCube(request)
    assert reply.action == engine_pb2.CUBE_ACTION_NO_DOUBLE_TAKE
    assert reply.double_pass_equity == 1
    assert reply.no_double_equity > reply.double_take_equity
    assert not reply.refusals
    assert not reply.HasField("double_beaver_equity")


async def test_advise_cube_where_no_double_is_allowed(engine_stub: Stub) -> None:
    crawford = xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:4:2:1:5:6")
    reply = await engine_stub.AdviseCube(engine_pb2.AdviseCubeRequest(position=crawford))
    assert reply.action == engine_pb2.CUBE_ACTION_NOT_ALLOWED
    assert "CRAWFORD_GAME" in reply.refusals
    assert not reply.HasField("double_take_equity")


async def test_market_losers_and_raccoons_come_on_request(engine_stub: Stub) -> None:
    jacoby = xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:3:0:10")
    plain = await engine_stub.AdviseCube(engine_pb2.AdviseCubeRequest(position=jacoby))
    assert not plain.HasField("market_losers")
    assert plain.beaver_answer == engine_pb2.BEAVER_ANSWER_PLAY_ON
    request = engine_pb2.AdviseCubeRequest(
        position=jacoby,
        raccoons=True,
        raccoon_owner=rules_pb2.RACCOON_OWNER_BEAVERER,
        market_losers=True,
        limit=common_pb2.Limit(level=common_pb2.LEVEL_LOOKAHEAD_1),
    )
    counted = await engine_stub.AdviseCube(request)
    losers = counted.market_losers
    assert len(losers.rolls) == 21
    assert losers.count == sum(roll.ways * roll.losing for roll in losers.rolls)
    assert not any(roll.replies for roll in losers.rolls)
    request.market_replies = True
    listed = (await engine_stub.AdviseCube(request)).market_losers
    assert listed.count == losers.count
    assert all(bool(roll.replies) == bool(roll.losing) for roll in listed.rolls)


async def test_advise_cube_by_score(engine_stub: Stub) -> None:
    request = engine_pb2.AdviseCubeByScoreRequest(position=xgid(START_XGID))
    reply = await engine_stub.AdviseCubeByScore(request)
    assert len(reply.scores) == 49 + 12
    assert reply.level == common_pb2.LEVEL_STATIC
    money = await engine_stub.AdviseCube(engine_pb2.AdviseCubeRequest(position=xgid(START_XGID)))
    assert reply.money.action_text == money.action_text
    assert reply.money.no_double_equity == money.no_double_equity
    assert not reply.money.HasField("no_double_mwc")
    first, second = reply.scores[1:3]
    assert (first.away, first.opponent_away, first.crawford) == (1, 2, True)
    assert first.action == engine_pb2.CUBE_ACTION_NOT_ALLOWED
    assert not first.HasField("double_take_mwc")
    assert (second.away, second.opponent_away, second.crawford) == (1, 2, False)
    assert second.dead_cube
    assert 0 < second.no_double_mwc < 1


@pytest.mark.parametrize("milliseconds", [1, 60, 600_000])
async def test_a_time_gives_the_figures_of_the_level_that_is_named(
    engine_stub: Stub, milliseconds: int
) -> None:
    limit = common_pb2.Limit(milliseconds=milliseconds)
    race = board([0, 0, 1, 0, 0, 1, 1, *[0] * 14, -2, -2, -3, 0, 0])
    request = engine_pb2.RankPlaysRequest(position=race, dice=roll(2, 1), limit=limit)
    in_time = await engine_stub.RankPlays(request)
    level = in_time.plays[0].level
    request.limit.level = level
    assert in_time == await engine_stub.RankPlays(request)
    question = engine_pb2.AdviseCubeRequest(position=race, limit=limit)
    advice = await engine_stub.AdviseCube(question)
    question.limit.level = advice.level
    assert advice == await engine_stub.AdviseCube(question)
    if milliseconds == 600_000:  # all levels fit
        assert level == advice.level == common_pb2.LEVEL_LOOKAHEAD_3


async def test_a_time_ends_the_search(engine_stub: Stub) -> None:
    """From the start three rolls ahead would take a hundred times longer."""
    request = engine_pb2.EvaluateRequest(position=start(), limit=common_pb2.Limit(milliseconds=1))
    reply = await engine_stub.Evaluate(request)
    assert reply.level < common_pb2.LEVEL_LOOKAHEAD_3


async def test_get_info(engine_stub: Stub, server: BgServer) -> None:
    reply = await engine_stub.GetInfo(engine_pb2.GetInfoRequest())
    assert reply.version == __version__
    assert common_pb2.LEVEL_STATIC in reply.levels
    assert common_pb2.LEVEL_RANDOM not in reply.levels
    assert reply.limits.max_message_bytes == server.config.max_message_bytes
    assert {network.variant for network in reply.networks} == {
        common_pb2.VARIANT_BACKGAMMON,
        common_pb2.VARIANT_LONG_NARDY,
    }
    assert reply.threads == 2
    assert reply.match_equity_table


@pytest.mark.parametrize("variant", Variant)
async def test_evaluate_batch_answers_each_request_in_order(
    engine_stub: Stub, engine: Engine, variant: Variant
) -> None:
    boards = _boards(variant, 600)
    sizes = [1, 300, 7, 292]
    starts = np.cumsum([0, *sizes])

    async def requests() -> AsyncIterator[engine_pb2.EvaluateBatchRequest]:
        for number, first in enumerate(starts[:-1]):
            rows = boards[first : starts[number + 1]]
            yield engine_pb2.EvaluateBatchRequest(
                points=rows.tobytes(),
                id=number,
                variant=common_pb2.VARIANT_LONG_NARDY
                if variant is Variant.LONG_NARDY
                else common_pb2.VARIANT_BACKGAMMON,
            )

    replies = [reply async for reply in engine_stub.EvaluateBatch(requests())]
    assert [reply.id for reply in replies] == [0, 1, 2, 3]
    assert [len(reply.probabilities) for reply in replies] == [20 * size for size in sizes]
    joined = b"".join(reply.probabilities for reply in replies)
    found = np.frombuffer(joined, dtype="<f4").reshape(-1, 5)
    expected = run(engine.evaluate_batch(boards, variant, Level.STATIC))
    np.testing.assert_array_equal(found, expected)


async def test_evaluate_batch_in_lock_step(engine_stub: Stub) -> None:
    # A client that waits for each answer before it sends the next request must not wait for ever.
    row = np.array(Position.start().points, dtype=np.int8).tobytes()
    answered = asyncio.Event()

    async def requests() -> AsyncIterator[engine_pb2.EvaluateBatchRequest]:
        for number in range(5):
            answered.clear()
            yield engine_pb2.EvaluateBatchRequest(points=row, id=number)
            await answered.wait()

    expected = 0
    async for reply in engine_stub.EvaluateBatch(requests()):
        assert reply.id == expected
        expected += 1
        answered.set()
    assert expected == 5


async def test_evaluate_batch_names_the_first_faulty_rows(engine_stub: Stub) -> None:
    rows = np.tile(np.array(Position.start().points, dtype=np.int8), (100, 1))
    rows[3, 6] = 9
    rows[40, 25] = -1
    rows[41:] = 0
    rows[41:, 1] = 1
    good = engine_pb2.EvaluateBatchRequest(points=rows[:2].tobytes(), id=1)
    bad = engine_pb2.EvaluateBatchRequest(points=rows.tobytes(), id=2)
    ids = []
    async with failing() as failure:
        async for reply in engine_stub.EvaluateBatch(iter([good, bad])):
            ids += [reply.id]
    assert ids == [1]
    assert failure.faults[:3] == [
        ("points[3]", "TOO_MANY_OWN_CHECKERS"),
        ("points[40][25]", "BAR_SIGN"),
        ("points[40]", "TOO_MANY_OPPOSING_CHECKERS"),
    ]
    assert failure.faults[3] == ("points[41]", "GAME_OVER")
    assert len(failure.faults) == 10


@pytest.mark.parametrize(
    ("size", "level", "field"),
    [(25, 1, "points"), (0, 1, "points"), (26, 3, "level"), (26 * 11, 1, "points")],
)
async def test_evaluate_batch_refuses_wrong_sizes_and_levels(
    start_server: Starter, size: int, level: common_pb2.Level.ValueType, field: str
) -> None:
    row = np.array(Position.start().points, dtype=np.int8).tobytes()
    request = engine_pb2.EvaluateBatchRequest(points=(row * 20)[:size], level=level)
    async with (
        start_server(max_batch_positions=10) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        async with failing() as failure:
            async for _ in stub.EvaluateBatch(iter([request])):
                pass
    assert [path for path, _ in failure.faults] == [field]


@pytest.mark.parametrize("threads", [1, 2, 8])
async def test_same_request_same_bits_on_any_number_of_threads(
    start_server: Starter, engine: Engine, threads: int
) -> None:
    boards = _boards(Variant.BACKGAMMON, 4_000)
    expected = run(engine.evaluate_batch(boards, Variant.BACKGAMMON, Level.STATIC)).tobytes()
    ranking = run(engine.rank(GameState(), Dice(6, 4), Level.LOOKAHEAD_1))
    async with (
        start_server(threads=threads) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        parts = [
            engine_pb2.EvaluateBatchRequest(points=boards[first : first + 500].tobytes())
            for first in range(0, len(boards), 500)
        ]
        replies = [reply async for reply in stub.EvaluateBatch(iter(parts))]
        ranked = await stub.RankPlays(
            engine_pb2.RankPlaysRequest(
                position=start(),
                dice=roll(6, 4),
                limit=common_pb2.Limit(level=common_pb2.LEVEL_LOOKAHEAD_1),
            )
        )
    assert b"".join(reply.probabilities for reply in replies) == expected
    assert [play.equity for play in ranked.plays] == [
        float(np.float32(play.equity)) for play in ranking
    ]
