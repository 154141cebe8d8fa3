"""Batches of questions through both clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bgserver_client import AsyncClient, Client, InvalidArgumentError, Question

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from bgserver_client.v1 import engine_pb2

# The last roll, with 19 of 36 chances, whatever the networks say.
_CUBE = (0, 0, 1, 0, 0, 1, *[0] * 18, -1, 0)


def _questions() -> Iterator[engine_pb2.AnalyzeBatchRequest]:
    for number in range(100):
        yield Question.evaluate(f"{number} position", "start")
        yield Question.rank_plays(f"{number} plays", "start", (3, 1), max_plays=1)
        yield Question.advise_cube(f"{number} cube", _CUBE)
        yield Question.rank_plays(f"{number} bad", "start", (7, 1))
    yield Question.rollout("1 rollout", "start", dice=(3, 1), trials=36, seed=1, truncate_plies=3)


def _check(answers: dict[str, engine_pb2.AnalyzeBatchResponse]) -> None:
    assert len(answers) == 401
    for name, answer in answers.items():
        kind = name.split()[1]
        if kind == "position":
            assert answer.evaluate.position_class == "contact"
        elif kind == "plays":
            assert answer.rank_plays.plays[0].play.notation == "8/5 6/5"
        elif kind == "rollout":
            assert answer.rollout.entries[0].play.notation == "8/5 6/5"
            assert answer.convergence[-1].trials == answer.rollout.trials == 36
        elif kind == "cube":
            assert answer.advise_cube.action_text == "double/take"
        else:
            assert [fault.field for fault in answer.error.faults] == ["dice.first"]


def test_every_question_is_answered(server_address: str) -> None:
    with Client(server_address) as client, client.analyze_batch(_questions()) as stream:
        _check({answer.id: answer for answer in stream})


async def test_every_question_is_answered_with_asyncio(server_address: str) -> None:
    async def questions() -> AsyncIterator[engine_pb2.AnalyzeBatchRequest]:
        for question in _questions():
            yield question

    async with AsyncClient(server_address) as client:
        for asked in (questions(), _questions()):
            _check({answer.id: answer async for answer in client.analyze_batch(asked)})


def test_the_caller_s_own_errors_reach_the_caller(server_address: str) -> None:
    def questions() -> Iterator[engine_pb2.AnalyzeBatchRequest]:
        yield Question.evaluate("a", "start")
        yield Question.evaluate("b", "start", level="static", milliseconds=3)

    with Client(server_address) as client, pytest.raises(InvalidArgumentError) as caught:
        list(client.analyze_batch(questions()))
    assert caught.value.violations[0].reason == "LIMIT_AMBIGUOUS"
