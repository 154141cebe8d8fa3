"""`AnalyzeBatch`: many questions of any kind through one stream."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from bgserver.engine.evaluator import Engine
from bgserver.v1 import common_pb2, engine_pb2, engine_pb2_grpc, rollout_pb2
from tests.server.bad_requests import CASES
from tests.server.requests import START_XGID, failing, roll, start, xgid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bgserver.server.app import BgServer
    from bgserver.v1.engine_pb2_grpc import EngineServiceAsyncStub as Stub
    from tests.server.conftest import Starter

_CUBE_XGID = "XGID=-a-aBBC-B---aD--bd-f----B-:0:0:1:00:0:0:0:0:10"
_LOOKAHEAD_1 = common_pb2.Limit(level=common_pb2.LEVEL_LOOKAHEAD_1)
_FOREVER = common_pb2.Limit(milliseconds=600_000)
_ITEM_OF = {
    "Evaluate": "evaluate",
    "RankPlays": "rank_plays",
    "AdviseCube": "advise_cube",
    "Rollout": "rollout",
}


def _item(name: str, **question: Any) -> engine_pb2.AnalyzeBatchRequest:
    return engine_pb2.AnalyzeBatchRequest(id=name, **question)


def _evaluation(
    name: str, text: str = START_XGID, limit: common_pb2.Limit | None = None
) -> engine_pb2.AnalyzeBatchRequest:
    request = engine_pb2.EvaluateRequest(position=xgid(text), limit=limit)
    return _item(name, evaluate=request)


def _rollout(source: common_pb2.PositionSource, trials: int) -> rollout_pb2.RolloutRequest:
    return rollout_pb2.RolloutRequest(
        position=source,
        kind=rollout_pb2.ROLLOUT_KIND_CUBE,
        trials=trials,
        truncate_plies=5,
        seed=3,
    )


async def test_every_kind_is_answered_as_by_its_own_method(engine_stub: Stub) -> None:
    evaluation = engine_pb2.EvaluateRequest(position=start(), limit=_LOOKAHEAD_1)
    plays = engine_pb2.RankPlaysRequest(position=start(), dice=roll(3, 1), max_plays=3)
    cube = engine_pb2.AdviseCubeRequest(position=xgid(_CUBE_XGID))
    rollout = _rollout(xgid(_CUBE_XGID), trials=100)
    items = [
        _item("a", evaluate=evaluation),
        _item("b", rank_plays=plays),
        _item("", advise_cube=cube),
        _item("r", rollout=rollout),
    ]
    answers = {answer.id: answer async for answer in engine_stub.AnalyzeBatch(iter(items))}
    assert answers["a"].evaluate == await engine_stub.Evaluate(evaluation)
    assert answers["b"].rank_plays == await engine_stub.RankPlays(plays)
    assert answers[""].advise_cube == await engine_stub.AdviseCube(cube)
    *_, rolled = [part async for part in engine_stub.Rollout(rollout)]
    assert answers["r"].rollout == rolled
    assert [point.trials for point in answers["r"].convergence] == [36, 72, 100]
    last = max(entry.equity.standard_error for entry in rolled.entries)
    assert answers["r"].convergence[-1].standard_error == last


async def test_all_answers_come_whatever_their_order(engine_stub: Stub) -> None:
    items = [
        _evaluation(str(number), limit=_LOOKAHEAD_1 if number % 50 == 0 else None)
        for number in range(2000)
    ]
    answers = [answer.id async for answer in engine_stub.AnalyzeBatch(iter(items))]
    assert sorted(answers, key=int) == [item.id for item in items]


async def test_an_empty_batch_ends(engine_stub: Stub) -> None:
    assert [answer async for answer in engine_stub.AnalyzeBatch(iter([]))] == []


class _Conversation:
    """A stream whose questions the test asks one by one."""

    def __init__(self, stub: Stub) -> None:
        self._questions: asyncio.Queue[engine_pb2.AnalyzeBatchRequest | None] = asyncio.Queue()
        self._answers = aiter(stub.AnalyzeBatch(self._asked()))

    async def _asked(self) -> AsyncIterator[engine_pb2.AnalyzeBatchRequest]:
        while (question := await self._questions.get()) is not None:
            yield question

    async def ask(self, name: str) -> None:
        self._questions.put_nowait(_evaluation(name))
        assert (await anext(self._answers)).id == name

    async def end(self) -> None:
        self._questions.put_nowait(None)
        assert await anext(self._answers, None) is None


async def test_questions_one_by_one(engine_stub: Stub) -> None:
    """A client that waits for each answer gets it before it asks the next question."""
    conversation = _Conversation(engine_stub)
    for name in ("a", "b", "c"):
        await conversation.ask(name)
    await conversation.end()


async def test_bad_questions_among_good_ones(engine_stub: Stub) -> None:
    """Each bad question is refused with the faults of its own method; the others are answered."""
    items = []
    expected = {}
    for number, case in enumerate(CASES):
        method = case.method.removeprefix("Engine/")
        if method in _ITEM_OF:
            items += [
                _item(f"bad {number}", **{_ITEM_OF[method]: case.request}),
                _evaluation(f"good {number}"),
            ]
            expected[f"bad {number}"] = case
    assert len(expected) > 10
    answers = {answer.id: answer async for answer in engine_stub.AnalyzeBatch(iter(items))}
    assert len(answers) == len(items)
    for name, answer in answers.items():
        if name.startswith("good"):
            assert answer.WhichOneof("answer") == "evaluate"
            continue
        case = expected[name]
        assert answer.error.code == case.code.value[0]
        assert answer.error.reason == case.reason
        assert [(fault.field, fault.reason) for fault in answer.error.faults] == case.faults


async def test_a_question_about_a_finished_game_names_the_moment(engine_stub: Stub) -> None:
    finished = common_pb2.Position(points=[0] * 19 + [-15] + [0] * 6)
    request = engine_pb2.EvaluateRequest(position=common_pb2.PositionSource(position=finished))
    items = [_item("over", evaluate=request), _evaluation("going on")]
    answers = {answer.id: answer async for answer in engine_stub.AnalyzeBatch(iter(items))}
    assert answers["over"].error.code == grpc.StatusCode.FAILED_PRECONDITION.value[0]
    assert answers["over"].error.reason == "GAME_OVER"
    assert answers["going on"].HasField("evaluate")


async def test_a_missing_question_is_named(engine_stub: Stub) -> None:
    answers = [a async for a in engine_stub.AnalyzeBatch(iter([_item("nothing")]))]
    assert answers[0].id == "nothing"
    assert [(f.field, f.reason) for f in answers[0].error.faults] == [
        ("question", "QUESTION_REQUIRED")
    ]


async def test_a_defect_takes_no_other_question_with_it(
    start_server: Starter, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> object:
        message = "a secret of the house"
        raise RuntimeError(message)

    monkeypatch.setattr(Engine, "advise_cube", broken)
    cube = engine_pb2.AdviseCubeRequest(position=start())
    items = [_item("broken", advise_cube=cube), _evaluation("whole")]
    async with (
        start_server() as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        answers = {answer.id: answer for answer in await _all(stub.AnalyzeBatch(iter(items)))}
    assert answers["broken"].error == engine_pb2.QuestionError(
        code=grpc.StatusCode.INTERNAL.value[0], reason="INTERNAL", message="internal error"
    )
    assert answers["whole"].HasField("evaluate")
    assert "a secret of the house" in capsys.readouterr().err  # in the server's log


async def test_a_client_that_does_not_read_is_not_read_from(
    engine_stub: Stub, server: BgServer
) -> None:
    many = 1000
    drawn = 0
    all_drawn = asyncio.Event()

    async def items() -> AsyncIterator[engine_pb2.AnalyzeBatchRequest]:
        nonlocal drawn
        while drawn < many:
            drawn += 1
            yield _evaluation("x" * 100_000)
        all_drawn.set()

    call = engine_stub.AnalyzeBatch(items())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(all_drawn.wait(), 1.0)
    await server.pool.wait_idle()
    assert 0 < drawn < many / 2
    answers = [answer async for answer in call]
    assert len(answers) == many


async def test_cancelling_frees_the_workers(engine_stub: Stub, server: BgServer) -> None:
    asked = asyncio.Event()

    async def items() -> AsyncIterator[engine_pb2.AnalyzeBatchRequest]:
        yield _evaluation("first")
        for _ in range(200):  # more than are read ahead
            yield _evaluation("long", limit=_FOREVER)
        asked.set()

    call = engine_stub.AnalyzeBatch(items())
    assert (await anext(aiter(call))).id == "first"
    assert server.pool.unfinished > 0
    call.cancel()
    await asyncio.wait_for(server.pool.wait_idle(), 2.0)
    assert not asked.is_set()


async def test_rollouts_of_a_batch_keep_to_the_limits(start_server: Starter) -> None:
    async with (
        start_server(max_rollout_trials=72) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        items = [_item(str(n), rollout=_rollout(xgid(_CUBE_XGID), n)) for n in (72, 73)]
        answers = {answer.id: answer for answer in await _all(stub.AnalyzeBatch(iter(items)))}
    assert answers["72"].rollout.trials == 72
    assert [fault.field for fault in answers["73"].error.faults] == ["trials"]


async def test_cancelling_a_rollout_of_a_batch_frees_the_workers(
    engine_stub: Stub, server: BgServer
) -> None:
    call = engine_stub.AnalyzeBatch(
        iter([_evaluation("first"), _item("endless", rollout=_rollout(xgid(_CUBE_XGID), 10**7))])
    )
    assert (await anext(aiter(call))).id == "first"
    call.cancel()
    await asyncio.wait_for(server.pool.wait_idle(), 2.0)


async def test_no_more_batches_than_allowed(start_server: Starter) -> None:
    async with (
        start_server(max_batches=1) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        first = _Conversation(stub)
        await first.ask("a")
        async with failing() as failure:
            await _all(stub.AnalyzeBatch(iter([_evaluation("b")])))
        assert failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert failure.retry_after_s is not None
        await first.end()
        assert len(await _all(stub.AnalyzeBatch(iter([_evaluation("c")])))) == 1


async def test_a_client_that_is_refused_while_it_sends_hears_why(start_server: Starter) -> None:
    async with (
        start_server(max_batches=1) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        first = _Conversation(stub)
        await first.ask("a")
        for _ in range(10):
            async with failing() as failure:
                await _all(stub.AnalyzeBatch(iter([_evaluation("b")] * 64)))
            assert failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        await first.end()


async def _all(call: Any) -> list[engine_pb2.AnalyzeBatchResponse]:
    return [answer async for answer in call]


async def test_a_malformed_question_ends_the_stream_after_the_answers(
    channel: grpc.aio.Channel,
) -> None:
    path = "/bgserver.v1.EngineService/AnalyzeBatch"
    call: Any = channel.stream_stream(path, bytes, bytes)
    good = _evaluation("good").SerializeToString()
    answers = []

    async with failing() as failure:
        async for answer in call(iter([good, b"\xff\xff"])):
            answers.append(answer)  # noqa: PERF401 -- what came before the failure counts
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [engine_pb2.AnalyzeBatchResponse.FromString(a).id for a in answers] == ["good"]


@pytest.mark.parametrize("threads", [1, 2, 8])
async def test_same_questions_same_bits_on_any_number_of_threads(
    start_server: Starter, threads: int
) -> None:
    items = []
    for first in range(1, 7):
        for second in range(1, first + 1):
            plays = engine_pb2.RankPlaysRequest(
                position=start(), dice=roll(first, second), limit=_LOOKAHEAD_1, max_plays=4
            )
            items.append(_item(f"{first}{second}", rank_plays=plays))
    async with (
        start_server(threads=threads) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        answers = {answer.id: answer for answer in await _all(stub.AnalyzeBatch(iter(items)))}
        for item in items:
            expected = await stub.RankPlays(item.rank_plays)
            assert answers[item.id].rank_plays.SerializeToString(deterministic=True) == (
                expected.SerializeToString(deterministic=True)
            )
