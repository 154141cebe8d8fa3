"""Rollouts through the Python client."""

from __future__ import annotations

import pytest
from bgserver_client import AsyncClient, Client, InvalidArgumentError
from bgserver_client.v1 import rollout_pb2


@pytest.fixture
def client(server_address: str) -> Client:
    return Client(server_address)


def test_the_stream_ends_with_the_result(client: Client) -> None:
    with client.rollout("start", trials=36, truncate_plies=2, seed=1) as answers:
        *progress, last = answers
    assert not any(answer.stopped_by for answer in progress)
    assert last.stopped_by == rollout_pb2.ROLLOUT_STOP_TRIALS
    assert len(last.entries) == 1


def test_just_the_result(client: Client) -> None:
    told: list[int] = []
    result = client.roll_out(
        "start",
        lambda answer: told.append(answer.trials),
        dice=(3, 1),
        plays=["24/20", "8/5 6/5"],
        trials=720,
        seed=1,
        truncate_plies=4,
    )
    assert [entry.play.notation for entry in result.entries] == ["8/5 6/5", "24/20"]
    assert told == sorted(told)
    more = client.roll_out(
        "start",
        dice=(3, 1),
        plays=["24/20", "8/5 6/5"],
        trials=756,
        seed=1,
        truncate_plies=4,
        state=result.state,
    )
    assert more.trials == 756


def test_kinds_and_levels_by_name(client: Client) -> None:
    cube = client.roll_out("start", kind="cube", trials=36, truncate_plies=1, levels="static")
    assert cube.action_text == "no double/take"
    pair = client.roll_out(
        "start", trials=1, truncate_plies=1, levels=("lookahead_1", "static"), cubeful=False
    )
    assert pair.entries[0].trials == 1
    for arguments in ({"kind": "score"}, {"levels": "deep"}, {"plays": "8/5 6/5"}):
        with pytest.raises(InvalidArgumentError):
            client.roll_out("start", **arguments)  # type: ignore[arg-type]  # names are tried out


async def test_asynchronously(server_address: str) -> None:
    async with AsyncClient(server_address) as client:
        result = await client.roll_out("nardy-start", trials=36, truncate_plies=2, seed=4)
        async with client.rollout("nardy-start", trials=36, truncate_plies=2, seed=4) as answers:
            async for answer in answers:
                last = answer
    assert last == result


def test_rollout_levels(client: Client) -> None:
    assert "rollout_fast@1" in client.get_info().rollout_levels
    answer = client.evaluate("start", level="rollout_fast")
    assert answer.preset == "rollout_fast@1"
