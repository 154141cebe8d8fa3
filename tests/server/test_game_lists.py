"""Lists of games, hints, views of a board, fair and seeded dice, exports, through `GameService`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bgserver_client import (
    AsyncClient,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    person,
)
from bgserver_client.v1 import common_pb2, game_pb2

from bgserver.games.dice import verify
from bgserver.games.events import event_from_json
from bgserver.games.state import replay
from tests.server.players import FIRST, SECOND, pair, play_through, play_until


async def test_lists(client: AsyncClient) -> None:
    hidden = await client.create_game("classic")
    listed = [await client.create_game("classic", listed=True) for _ in range(3)]
    match = await client.create_game("joypip", match_length=5, listed=True, second="expert")
    everything = [game.game_id for game in reversed([*listed, match])]

    async def ids(**settings: Any) -> list[str]:
        return [game.game_id for game in (await client.list_games(**settings)).games]

    assert await ids() == everything
    assert await ids(preset="joypip") == [match.game_id]
    assert await ids(filter="waiting") == everything[1:]
    assert await ids(filter="running") == [match.game_id]
    assert await ids(filter="over") == []
    assert await ids(tokens=[hidden.first_token, "guess"]) == [hidden.game_id]
    assert await ids(tokens=["guess"]) == []
    paged: list[str] = []
    page = ""
    while True:
        answer = await client.list_games(page_size=3, page_token=page)
        paged += [game.game_id for game in answer.games]
        page = answer.next_page_token
        if not page:
            break
    assert paged == everything
    summary = (await client.list_games(preset="joypip")).games[0]
    assert (summary.match_length, summary.second.engine.named_strength) == (
        5,
        common_pb2.STRENGTH_EXPERT,
    )
    # A page that was not given out is none, nor is an unknown preset.
    given = (await client.list_games(page_size=1)).next_page_token
    for made_up in ("abc", "1", given[:-1], f"f{given}", given.partition("-")[0], "-", "x-y"):
        with pytest.raises(InvalidArgumentError) as bad:
            await client.list_games(preset="chess", page_token=made_up)
        assert {(one.field, one.reason) for one in bad.value.violations} == {
            ("preset", "UNKNOWN_PRESET"),
            ("page_token", "UNKNOWN_VALUE"),
        }
    # A listed game may be read and joined by everybody.
    assert (await client.get_game(everything[0])).view.listed
    joined = await client.join_game(game_id=listed[0].game_id)
    assert joined.seat == SECOND
    with pytest.raises(NotFoundError):
        await client.join_game(game_id=hidden.game_id)
    for full in (listed[0], match):
        with pytest.raises(FailedPreconditionError) as refused:
            await client.join_game(game_id=full.game_id)
        assert refused.value.reason == "NO_OPEN_SEAT"
    with pytest.raises(PermissionDeniedError):
        await client.act(listed[0].game_id, "", 1, "roll")


async def test_hints_are_for_whose_turn_it_is(client: AsyncClient) -> None:
    first, second = await pair(client, seed=1)
    mover, other = (first, second) if first.is_my_turn else (second, first)
    hint = await mover.hint(max_plays=3)
    assert hint.version == mover.view.version
    assert len(hint.plays) == 3
    assert hint.plays[0].equity >= hint.plays[1].equity
    with pytest.raises(FailedPreconditionError) as caught:
        await other.hint()
    assert caught.value.reason == "NOT_YOUR_TURN"
    await mover.play(hint.plays[0].play.notation)
    await other.refresh()
    advice = await other.hint(level="lookahead_1")
    assert advice.HasField("cube")
    assert advice.action in {game_pb2.ACTION_KIND_ROLL, game_pb2.ACTION_KIND_DOUBLE}
    created = await client.create_game("classic", second="expert", no_hints=True, seed=1)
    with pytest.raises(FailedPreconditionError) as off:
        await client.hint(created.game_id, created.first_token)
    assert off.value.reason == "HINTS_OFF"


async def test_either_side_of_the_board(client: AsyncClient) -> None:
    created = await client.create_game("classic", second=person(), seed=1)
    views = [
        (
            await client.get_game(
                created.game_id, created.spectator_token, view_from=side, include_board=True
            )
        ).view
        for side in ("first", "second")
    ]
    points = [list(view.position.points) for view in views]
    assert points[1] == [-count for count in reversed(points[0])]
    assert [view.viewer for view in views] == [FIRST, SECOND]
    assert all(view.board and view.pips == 167 for view in views)


async def test_fair_dice_can_be_checked_after_the_game(client: AsyncClient) -> None:
    first, second = await pair(client, "traditional", fair_dice=True)
    assert first.view.dice_kind == game_pb2.DICE_KIND_FAIR
    assert len(first.view.dice_commitment) == 64
    await play_through(first, second)
    record = json.loads(await first.export())
    events = [event_from_json(form) for form in record["events"]]
    assert verify(events) == []
    assert replay(events).version == first.view.version
    roll = next(event for event in record["events"] if event["event"] == "opening_rolled")
    roll["first"] = roll["first"] % 6 + 1
    assert verify([event_from_json(form) for form in record["events"]])


async def test_seeded_dice_are_the_same_again(client: AsyncClient) -> None:
    records = []
    for _ in range(2):
        first, second = await pair(client, "traditional", seed=9)
        assert first.view.dice_kind == game_pb2.DICE_KIND_SEEDED
        await play_until(first, second, lambda view: view.version > 60)
        records.append(json.loads(await first.export())["events"])
    plain = [[{**event, "at": 0} for event in record] for record in records]
    assert plain[0] == plain[1]


async def test_exports(client: AsyncClient) -> None:
    waiting = await client.create_game("classic")
    with pytest.raises(FailedPreconditionError) as caught:
        await client.export_game(waiting.game_id, waiting.first_token)
    assert caught.value.reason == "GAME_WAITING"
    nardy = await client.create_game("long_nardy", second=person(), seed=1)
    with pytest.raises(InvalidArgumentError):
        await client.export_game(nardy.game_id, nardy.first_token, format="mat")
    answer = await client.export_game(nardy.game_id, nardy.first_token)
    assert answer.file_name == f"{nardy.game_id}.json"
    assert json.loads(answer.text)["game_id"] == nardy.game_id
