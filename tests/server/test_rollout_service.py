"""`EngineService.Rollout`, as a client sees it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from bgserver.engine.position import GameState
from bgserver.engine.rollout_run import RolloutRun
from bgserver.engine.rollout_spec import RolloutOptions, StopRules, position_rollout
from bgserver.engine.work import run
from bgserver.v1 import common_pb2, engine_pb2, engine_pb2_grpc, rollout_pb2
from tests.server.requests import START_XGID, board, failing, roll, start, xgid

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.server.app import BgServer
    from bgserver.v1.engine_pb2_grpc import EngineServiceAsyncStub as Stub
    from tests.server.conftest import Starter

_FREE_AFTER_S = 0.1
_TRIES = 10
_ENDLESS = 1_000_000
_PLAYS = rollout_pb2.ROLLOUT_KIND_PLAYS
_CUBE = rollout_pb2.ROLLOUT_KIND_CUBE


def ask(**fields: Any) -> rollout_pb2.RolloutRequest:
    return rollout_pb2.RolloutRequest(**{"position": start(), "seed": 3, **fields})


async def answers(
    stub: Stub, request: rollout_pb2.RolloutRequest
) -> list[rollout_pb2.RolloutResponse]:
    return [answer async for answer in stub.Rollout(request)]


async def test_progress_and_then_the_result(engine: Engine, engine_stub: Stub) -> None:
    *progress, last = await answers(engine_stub, ask(trials=72))
    assert last.stopped_by == rollout_pb2.ROLLOUT_STOP_TRIALS
    assert (last.trials, last.most_trials, last.seed) == (72, 72, 3)
    assert all(not answer.stopped_by and not answer.state for answer in progress)
    trials = [answer.trials for answer in progress]
    assert trials == sorted(trials)
    # The same rollout in this process.
    rollout = RolloutRun(
        engine, position_rollout(GameState(), RolloutOptions(seed=3)), StopRules(trials=72)
    )
    for chunk in rollout.chunks():
        rollout.add(run(chunk.work(engine)))
    entry = rollout.result().entries[0]
    assert last.entries[0].equity.mean == entry.equity.mean
    assert last.entries[0].equity.standard_error == entry.equity.standard_error
    assert last.entries[0].lose_gammon.mean == entry.probabilities[3].mean
    assert last.state == rollout.result().state.to_bytes()


async def test_progress_is_told_at_most_ten_times_a_second(engine_stub: Stub) -> None:
    began = time.monotonic()
    count = len(await answers(engine_stub, ask(trials=2592, truncate_plies=1)))
    assert count <= 2 + 10 * (time.monotonic() - began)


async def test_plays(engine_stub: Stub) -> None:
    request = ask(
        kind=_PLAYS, dice=roll(3, 1), plays=["8/5 6/5", "24/20"], trials=72, truncate_plies=4
    )
    last = (await answers(engine_stub, request))[-1]
    assert [entry.play.notation for entry in last.entries] == ["8/5 6/5", "24/20"]
    assert [entry.index for entry in last.entries] == [0, 1]
    assert last.entries[0].behind.mean == 0.0
    assert last.entries[1].behind.mean > 0.1
    assert last.entries[1].better_chance > 0.99
    assert last.dice == roll(3, 1)
    chosen = ask(kind=_PLAYS, dice=roll(3, 1), max_plays=3, trials=36, truncate_plies=2)
    best = (await answers(engine_stub, chosen))[-1]
    assert len(best.entries) == 3
    assert best.entries[0].play.notation == "8/5 6/5"


async def test_a_forced_play_is_rolled_out_too(engine_stub: Stub) -> None:
    closed = [0, 0, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    closed += [-2, -2, -2, -2, -2, -2, 1]
    request = ask(
        position=board(closed),
        kind=_PLAYS,
        dice=roll(6, 5),
        trials=36,
        min_trials=20,
        truncate_plies=2,
        joint_deviations=2.0,
    )
    last = (await answers(engine_stub, request))[-1]
    assert [entry.play.notation for entry in last.entries] == ["cannot move"]


async def test_cube_actions_in_a_match(engine_stub: Stub) -> None:
    source = xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:2:3:0:7:10")
    request = ask(position=source, kind=_CUBE, trials=36, truncate_plies=3)
    last = (await answers(engine_stub, request))[-1]
    assert [entry.action for entry in last.entries] == [
        rollout_pb2.ROLLOUT_ACTION_NO_DOUBLE,
        rollout_pb2.ROLLOUT_ACTION_DOUBLE_TAKE,
    ]
    assert last.action_text == "no double/take"
    assert last.double_pass_equity == pytest.approx(1.0)
    assert last.double_pass_mwc == pytest.approx(0.5)
    assert all(entry.HasField("match_winning_chances") for entry in last.entries)


async def test_going_on_is_one_rollout(engine_stub: Stub) -> None:
    whole = (await answers(engine_stub, ask(trials=90, truncate_plies=3)))[-1]
    begun = (await answers(engine_stub, ask(trials=50, truncate_plies=3)))[-1]
    rest = (await answers(engine_stub, ask(trials=90, truncate_plies=3, state=begun.state)))[-1]
    assert rest == whole


async def test_cancelling_frees_the_workers(server: BgServer, engine_stub: Stub) -> None:
    """Within 0.1 s; the best of some tries, as the machine may be busy with other things."""
    taken: list[float] = []
    while not taken or (min(taken) >= _FREE_AFTER_S and len(taken) < _TRIES):
        call = engine_stub.Rollout(ask(trials=_ENDLESS))
        await anext(aiter(call))
        began = time.monotonic()
        call.cancel()
        async with asyncio.timeout(5):
            await server.runtime.pool.wait_idle()
        taken.append(time.monotonic() - began)
    assert min(taken) < _FREE_AFTER_S


async def test_a_deadline_ends_a_rollout(server: BgServer, engine_stub: Stub) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        async for _ in engine_stub.Rollout(ask(trials=_ENDLESS), timeout=0.5):
            pass
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await server.runtime.pool.wait_idle()


async def test_light_requests_are_answered_meanwhile(engine_stub: Stub) -> None:
    call = engine_stub.Rollout(ask(trials=_ENDLESS))
    await anext(aiter(call))
    request = engine_pb2.EvaluateRequest(
        position=start(), limit=common_pb2.Limit(level=common_pb2.LEVEL_LOOKAHEAD_1)
    )
    for _ in range(20):
        await engine_stub.Evaluate(request, timeout=5)
    assert not call.done()
    call.cancel()


@pytest.mark.parametrize(
    "limit", [{"max_rollouts": 1}, {"max_rollouts_per_client": 1}], ids=["server", "client"]
)
async def test_rollouts_at_once_are_limited(start_server: Starter, limit: dict[str, int]) -> None:
    async with (
        start_server(**limit) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        running = stub.Rollout(ask(trials=_ENDLESS))
        await anext(aiter(running))
        async with failing() as failure:
            await answers(stub, ask(trials=1))
        assert failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert failure.retry_after_s is not None
        running.cancel()
        await server.runtime.pool.wait_idle()
        assert await answers(stub, ask(trials=1))


async def test_limits_are_told_and_kept(start_server: Starter) -> None:
    async with (
        start_server(max_rollout_trials=10, max_rollout_plays=2) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        info = await stub.GetInfo(engine_pb2.GetInfoRequest())
        assert (info.limits.max_rollout_trials, info.limits.max_rollout_plays) == (10, 2)
        async with failing() as failure:
            await answers(stub, ask(trials=11, kind=_PLAYS, dice=roll(3, 1), max_plays=3))
        assert set(failure.faults) == {
            ("trials", "OUT_OF_RANGE"),
            ("max_plays", "OUT_OF_RANGE"),
        }


_POINTS = list(start().position.points)
_CLOSED = [-1, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2, -2, -2, -2, -2, -2, 1]


@pytest.mark.parametrize(
    ("request_", "faults"),
    [
        (ask(trials=0), {("trials", "OUT_OF_RANGE")}),
        (ask(trials=4_000_000_000), {("trials", "OUT_OF_RANGE")}),
        (ask(truncate_plies=0), {("truncate_plies", "OUT_OF_RANGE")}),
        (ask(trials=10, min_trials=20, standard_error=0.1), {("min_trials", "MIN_ABOVE_MAX")}),
        (ask(trials=100, min_trials=36), {("min_trials", "NOTHING_TO_DELAY")}),
        (ask(standard_error=0.01), {("trials", "TRIALS_REQUIRED")}),
        (
            ask(trials=10, standard_error=0.0, joint_deviations=-1.0),
            {
                ("standard_error", "NOT_POSITIVE"),
                ("joint_deviations", "NOT_POSITIVE"),
                ("joint_deviations", "NOTHING_TO_COMPARE"),
            },
        ),
        (ask(kind=9), {("kind", "UNKNOWN_VALUE")}),
        (ask(kind=_PLAYS), {("dice", "DICE_REQUIRED")}),
        (ask(kind=_PLAYS, dice=roll(3, 9)), {("dice.second", "DIE_OUT_OF_RANGE")}),
        (
            ask(plays=["8/5"], max_plays=2),
            {
                ("plays", "ONLY_FOR_PLAYS"),
                ("max_plays", "ONLY_FOR_PLAYS"),
            },
        ),
        (
            ask(kind=_PLAYS, dice=roll(3, 1), plays=["8/5 6/5", "6/2 oops", "6/5 8/5"]),
            {("plays[1]", "BAD_SYNTAX")},
        ),
        (
            ask(kind=_PLAYS, dice=roll(3, 1), plays=["8/5 6/5", "6/5 8/5"]),
            {("plays[1]", "DUPLICATE_PLAY")},
        ),
        (ask(position=board(_CLOSED)), {("position.position.points", "BOTH_CLOSED_OUT")}),
        (ask(state=b"nonsense"), {("state", "NOT_A_ROLLOUT_STATE")}),
        (
            ask(
                early_plies=3,
                truncate_level=common_pb2.LEVEL_LOOKAHEAD_1,
                levels=rollout_pb2.RolloutLevels(checker=common_pb2.LEVEL_RANDOM),
            ),
            {
                ("levels.checker", "UNSUPPORTED_LEVEL"),
                ("early_levels", "EARLY_LEVELS_REQUIRED"),
                ("truncate_level", "NOT_TRUNCATED"),
            },
        ),
        (
            ask(
                early_plies=2000,
                truncate_plies=0,
                levels=rollout_pb2.RolloutLevels(checker=common_pb2.LEVEL_RANDOM),
            ),
            {
                ("levels.checker", "UNSUPPORTED_LEVEL"),
                ("early_plies", "OUT_OF_RANGE"),
                ("truncate_plies", "OUT_OF_RANGE"),
            },
        ),
        (
            ask(truncate_plies=5000, truncate_level=77),
            {("truncate_level", "UNKNOWN_VALUE"), ("truncate_plies", "OUT_OF_RANGE")},
        ),
        (
            ask(position=None, truncate_plies=0, trials=0, kind=77, opening=True),
            {
                ("position", "POSITION_REQUIRED"),
                ("kind", "UNKNOWN_VALUE"),
                ("truncate_plies", "OUT_OF_RANGE"),
                ("trials", "OUT_OF_RANGE"),
            },
        ),
        (
            ask(position=xgid("XGID=nonsense"), truncate_plies=0, trials=0, state=b"{}"),
            {
                ("position.xgid", "FIELD_COUNT"),
                ("position.xgid.position", "WRONG_LENGTH"),
                ("truncate_plies", "OUT_OF_RANGE"),
                ("trials", "OUT_OF_RANGE"),
                ("state", "NOT_A_ROLLOUT_STATE"),
            },
        ),
        (
            ask(kind=_PLAYS, dice=roll(3, 1), plays=["8/5 6/5"], max_plays=100_000),
            {("max_plays", "OUT_OF_RANGE")},
        ),
        (
            ask(kind=_PLAYS, dice=roll(3, 1), plays=["8/5 6/5"] * 33),
            {("plays", "OUT_OF_RANGE")},
        ),
        (
            ask(kind=_PLAYS, dice=roll(3, 1), plays=["8/5 6/5", "oops"], truncate_plies=0),
            {("plays[1]", "BAD_SYNTAX"), ("truncate_plies", "OUT_OF_RANGE")},
        ),
        (
            ask(early_plies=3, truncate_level=common_pb2.LEVEL_LOOKAHEAD_1),
            {("early_levels", "EARLY_LEVELS_REQUIRED"), ("truncate_level", "NOT_TRUNCATED")},
        ),
    ],
    ids=lambda value: "" if isinstance(value, set) else str(value).replace("\n", " ")[-40:],
)
async def test_every_fault_is_named(
    engine_stub: Stub, request_: rollout_pb2.RolloutRequest, faults: set[tuple[str, str]]
) -> None:
    async with failing() as failure:
        await answers(engine_stub, request_)
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert set(failure.faults) == faults


async def test_a_state_with_more_trials_is_a_fault_of_the_trials(engine_stub: Stub) -> None:
    begun = (await answers(engine_stub, ask(trials=72, truncate_plies=2)))[-1]
    async with failing() as failure:
        await answers(engine_stub, ask(trials=36, truncate_plies=0, state=begun.state))
    assert set(failure.faults) == {("trials", "BELOW_STATE"), ("truncate_plies", "OUT_OF_RANGE")}


@pytest.mark.parametrize("number", [common_pb2.LEVEL_RANDOM, 77])
async def test_levels_that_are_refused_are_not_offered(engine_stub: Stub, number: int) -> None:
    levels = rollout_pb2.RolloutLevels(checker=number)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await answers(engine_stub, ask(levels=levels))
    details = str(caught.value.details())
    assert "LEVEL_LOOKAHEAD_3" in details
    assert "LEVEL_RANDOM" not in details.partition(", got ")[0]


async def test_finished_games_are_refused(engine_stub: Stub) -> None:
    points = [0] * 26
    points[19] = -3
    async with failing() as failure:
        await answers(engine_stub, ask(position=board(points)))
    assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "GAME_OVER")


@pytest.mark.parametrize("name", ["rollout_fast", "rollout_fast@1"])
async def test_rollout_levels_rank_and_evaluate(engine_stub: Stub, name: str) -> None:
    limit = common_pb2.Limit(preset=name)
    request = engine_pb2.RankPlaysRequest(position=start(), dice=roll(4, 1), limit=limit)
    answer = await engine_stub.RankPlays(request)
    rolled = [play for play in answer.plays if play.preset]
    assert {play.preset for play in rolled} == {"rollout_fast@1"}
    assert rolled == list(answer.plays[: len(rolled)])
    assert [play.equity for play in rolled] == sorted((p.equity for p in rolled), reverse=True)
    assert await engine_stub.RankPlays(request) == answer
    evaluated = await engine_stub.Evaluate(
        engine_pb2.EvaluateRequest(position=start(), limit=limit)
    )
    assert evaluated.preset == "rollout_fast@1"
    advice = await engine_stub.AdviseCube(
        engine_pb2.AdviseCubeRequest(position=xgid(START_XGID), limit=limit)
    )
    assert advice.preset == "rollout_fast@1"
    assert advice.action_text == "no double/take"


async def test_unknown_rollout_levels_are_named(engine_stub: Stub) -> None:
    info = await engine_stub.GetInfo(engine_pb2.GetInfoRequest())
    assert "rollout_fast@1" in info.rollout_levels
    async with failing() as failure:
        await engine_stub.Evaluate(
            engine_pb2.EvaluateRequest(
                position=start(), limit=common_pb2.Limit(preset="rollout_fast@0")
            )
        )
    assert failure.faults == [("limit.preset", "UNKNOWN_PRESET")]
