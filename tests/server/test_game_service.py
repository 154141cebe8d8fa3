"""`GameService`: secrets, races, repeated requests, watching, lists, hints, exports."""

from __future__ import annotations

import asyncio
import json
import uuid
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from bgserver_client import (
    AbortedError,
    AlreadyExistsError,
    AsyncClient,
    AsyncGame,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    ResourceExhaustedError,
    person,
    player,
)
from bgserver_client.v1 import common_pb2, game_pb2, rules_pb2

from bgserver.games.dice import verify
from bgserver.games.events import event_from_json
from bgserver.games.state import replay
from tests.server.players import FIRST, SECOND, play_on, play_until
from tests.server.requests import failing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import grpc

    from bgserver.server.app import BgServer
    from tests.server.conftest import Starter

_OVER = game_pb2.GAME_STAGE_GAME_OVER


@pytest_asyncio.fixture
async def client(server: BgServer) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(server.address) as client:
        yield client


async def _pair(client: AsyncClient, preset: str = "classic", **settings: Any) -> tuple[Any, Any]:
    """Two persons at a table that has just begun."""
    first = await AsyncGame.create(client, preset, **settings)
    second = await AsyncGame.join(client, first.invitations[1])
    await first.refresh()
    return first, second


async def _play_through(first: AsyncGame, second: AsyncGame) -> None:
    """Play one game and end the session."""
    await play_until(first, second, lambda view: view.stage == _OVER)
    await first.refresh()
    await first.act("end_session")


# --- who may do what -----------------------------------------------------------------------------


async def test_tokens_open_what_they_are_for(client: AsyncClient) -> None:
    created = await client.create_game("classic", second=person(), seed=1)
    other = await client.create_game("classic", second=person(), seed=1)
    tokens = {created.first_token, created.second_token, created.spectator_token}
    assert len(tokens) == 3
    for token in tokens:
        assert (await client.get_game(created.game_id, token)).view.game_id == created.game_id
    messages = set()
    for game_id, token in [
        (created.game_id, ""),
        (created.game_id, "guess"),
        (created.game_id, other.first_token),
        ("0123456789abcdef", created.first_token),
        ("", ""),
    ]:
        for call in (
            client.get_game(game_id, token),
            client.act(game_id, token, 1, "roll"),
            client.hint(game_id, token),
            client.export_game(game_id, token),
        ):
            with pytest.raises(NotFoundError) as caught:
                await call
            messages.add((caught.value.reason, caught.value.message))
        with pytest.raises(NotFoundError):
            async for _ in client.watch(game_id, token):
                pass
    assert len(messages) == 1  # nothing tells a game that exists from one that does not


async def test_a_seat_acts_for_itself_only(client: AsyncClient) -> None:
    created = await client.create_game("classic", second=person(), seed=1)
    view = created.view
    waiting = created.second_token if view.turn == FIRST else created.first_token
    for token in (waiting, created.spectator_token):
        expected = PermissionDeniedError if token != waiting else FailedPreconditionError
        with pytest.raises(expected):
            await client.act(created.game_id, token, view.version, "confirm")
    answer = await client.get_game(created.game_id, created.spectator_token)
    assert not answer.view.HasField("legal")
    with pytest.raises(PermissionDeniedError) as caught:
        await client.hint(created.game_id, created.spectator_token)
    assert caught.value.reason == "NOT_A_SEAT"


async def test_the_secrets_are_not_in_the_file(start_server: Starter, tmp_path: Any) -> None:
    path = tmp_path / "games.db"
    request_id = str(uuid.uuid4())
    async with start_server(data=str(path)) as server, AsyncClient(server.address) as client:
        created = await client.create_game("classic", second="open", request_id=request_id)
        joined = await client.join_game(created.second_invitation)
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    for secret in (
        created.first_token,
        created.spectator_token,
        created.second_invitation,
        joined.token,
        request_id,
    ):
        assert secret.encode() not in stored


# --- creating and joining ------------------------------------------------------------------------


async def test_a_repeated_request_gives_the_same_game(client: AsyncClient) -> None:
    request_id = str(uuid.uuid4())
    calls = [client.create_game("joypip", match_length=3, request_id=request_id) for _ in range(5)]
    answers = await asyncio.gather(*calls)
    assert all(answer == answers[0] for answer in answers)
    with pytest.raises(AlreadyExistsError) as caught:
        await client.create_game("joypip", match_length=5, request_id=request_id)
    assert caught.value.reason == "REQUEST_ID_REUSED"

    join_id = str(uuid.uuid4())
    invitation = answers[0].second_invitation
    joins = [client.join_game(invitation, person="Ben", request_id=join_id) for _ in range(3)]
    joined = await asyncio.gather(*joins)
    assert {answer.token for answer in joined} == {joined[0].token}
    assert (await client.get_game(joined[0].game_id, joined[0].token)).view.viewer == SECOND
    with pytest.raises(AlreadyExistsError):
        await client.join_game(invitation, person="Bob", request_id=join_id)


async def test_a_seat_is_taken_once(client: AsyncClient) -> None:
    created = await client.create_game("classic", first="open", second="open")
    assert not created.first_token
    outcomes = await asyncio.gather(
        *(client.join_game(created.first_invitation) for _ in range(4)), return_exceptions=True
    )
    taken = [one for one in outcomes if not isinstance(one, BaseException)]
    assert len(taken) == 1
    assert all(
        isinstance(one, NotFoundError) and one.reason == "INVITATION_NOT_FOUND"
        for one in outcomes
        if isinstance(one, BaseException)
    )
    # Still one seat open: nothing has begun, and nobody can act.
    token = taken[0].token
    answer = await client.get_game(created.game_id, token)
    assert (answer.view.stage, answer.view.version) == (game_pb2.GAME_STAGE_WAITING, 0)
    assert {reason for one in answer.view.legal.refusals for reason in one.reasons} == {
        "GAME_WAITING"
    }
    with pytest.raises(FailedPreconditionError) as caught:
        await client.act(created.game_id, token, 0, "roll")
    assert caught.value.reason == "GAME_WAITING"
    joined = await client.join_game(created.second_invitation)
    assert joined.view.version > 0


async def test_a_listed_game_is_joined_until_it_is_full(client: AsyncClient) -> None:
    created = await client.create_game("classic", first="open", second="open", listed=True)
    outcomes = await asyncio.gather(
        *(client.join_game(game_id=created.game_id) for _ in range(4)), return_exceptions=True
    )
    taken = [one.seat for one in outcomes if not isinstance(one, BaseException)]
    assert sorted(taken) == [FIRST, SECOND]
    assert [one.reason for one in outcomes if isinstance(one, FailedPreconditionError)] == [
        "NO_OPEN_SEAT"
    ] * 2


async def test_every_fault_of_a_new_game_is_named(client: AsyncClient) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        await client.create_game(
            "joypip",
            rules=rules_pb2.Rules(jacoby=True, beaver=True, raccoon=True, crawford=False),
            match_length=4,
            turn_seconds=31,
            first=person("x" * 41),
            second=player("random"),
            request_id="short",
        )
    assert {(one.field, one.reason) for one in caught.value.violations} == {
        ("rules.jacoby", "JACOBY_IN_MATCH"),
        ("rules.beaver", "BEAVER_IN_MATCH"),
        ("rules.raccoon", "RACCOON_IN_MATCH"),
        ("rules.raccoon_owner", "RACCOON_OWNER_REQUIRED"),
        ("rules.crawford", "FIXED_BY_PRESET"),
        ("match_length", "MATCH_LENGTH_NOT_IN_PRESET"),
        ("turn_seconds", "TIME_LIMIT_NOT_IN_PRESET"),
        ("first.person.name", "TOO_LONG"),
        ("second.engine.level", "UNSUPPORTED_LEVEL"),
        ("request_id", "WRONG_LENGTH"),
    }


async def test_too_many_games(start_server: Starter) -> None:
    async with start_server(max_games=2) as server, AsyncClient(server.address) as client:
        for _ in range(2):
            await client.create_game("classic")
        with pytest.raises(ResourceExhaustedError):
            await client.create_game("classic")


# --- acting --------------------------------------------------------------------------------------


async def test_of_two_actions_at_once_one_is_too_late(client: AsyncClient) -> None:
    first, second = await _pair(client, seed=1)
    for _ in range(20):
        for game in (first, second):
            await game.refresh()
        game = first if first.is_my_turn else second
        version = game.view.version
        name = "roll" if game.can(game_pb2.ACTION_KIND_ROLL) else None
        if name is None:
            steps = game.legal.steps
            chosen: Any = (steps[0].source, steps[0].target) if steps else "confirm"
        else:
            chosen = name
        outcomes = await asyncio.gather(
            *(client.act(game.id, game.token, version, chosen) for _ in range(3)),
            return_exceptions=True,
        )
        done = [one for one in outcomes if isinstance(one, game_pb2.ActResponse)]
        late = [one for one in outcomes if isinstance(one, AbortedError)]
        assert (len(done), len(late)) == (1, 2)
        assert {one.reason for one in late} == {"VERSION_MISMATCH"}
        assert [event.number for event in done[0].events] == list(
            range(version + 1, done[0].view.version + 1)
        )


async def test_a_repeated_action_is_done_once(client: AsyncClient) -> None:
    first, second = await _pair(client, seed=1)
    game = first if first.is_my_turn else second
    version, step = game.view.version, game.legal.steps[0]
    move = (step.source, step.target)
    answers = await asyncio.gather(
        *(client.act(game.id, game.token, version, move, action_id="one") for _ in range(3))
    )
    answers.append(await client.act(game.id, game.token, version, move, action_id="one"))
    assert {answer.view.version for answer in answers} == {answers[0].view.version}
    assert len(answers[0].view.steps) == len(step.steps)
    with pytest.raises(AbortedError):
        await client.act(game.id, game.token, version, move, action_id="two")
    # Another action with the id of this one is not what was done, and is not done.
    for other in ("undo", "double", (step.source, step.source)):
        with pytest.raises(AlreadyExistsError) as caught:
            await client.act(game.id, game.token, version, other, action_id="one")
        assert caught.value.reason == "REQUEST_ID_REUSED"
    await game.refresh()
    assert game.view == answers[0].view
    # The id belongs to this version: later it is free again.
    await client.act(game.id, game.token, game.view.version, "undo", action_id="one")


async def test_what_is_refused_changes_nothing(channel: grpc.aio.Channel, server: Any) -> None:
    async with AsyncClient(server.address) as client:
        first, second = await _pair(client, seed=1)
        game = first if first.is_my_turn else second
        version = game.view.version
        bad: list[tuple[Any, set[tuple[str, str]]]] = [
            (
                (26, 40),
                {("action.step.source", "OUT_OF_RANGE"), ("action.step.target", "OUT_OF_RANGE")},
            ),
            ((3, 5), {("action.step.target", "BACKWARDS")}),
            (game_pb2.GameAction(), {("action", "ACTION_REQUIRED")}),
            (
                game_pb2.GameAction(play=game_pb2.GameAction.WholePlay()),
                {("action.play", "PLAY_REQUIRED")},
            ),
            (
                game_pb2.GameAction(play=game_pb2.GameAction.WholePlay(notation="13/x")),
                {("action.play.notation", "BAD_SYNTAX")},
            ),
        ]
        for action, faults in bad:
            with pytest.raises(InvalidArgumentError) as caught:
                await client.act(game.id, game.token, version, action, action_id="y")
            assert {(one.field, one.reason) for one in caught.value.violations} == faults
        moments: list[tuple[Any, str]] = [
            ("double", "OPENING_TURN"),
            ("take", "NO_OFFER"),
            ("undo", "NOTHING_TO_UNDO"),
            ("confirm", "MUST_USE_BOTH"),
            ((2, 1), "NO_CHECKER"),
            ("next_game", "GAME_RUNNING"),
        ]
        for action, reason in moments:
            with pytest.raises(FailedPreconditionError) as refused:
                await client.act(game.id, game.token, version, action)
            assert refused.value.reason == reason
        async with failing() as failure:
            request = game_pb2.ActRequest(game_id=game.id, token=game.token)
            path = "/bgserver.v1.GameService/Act"
            await channel.unary_unary(path, bytes, bytes)(request.SerializeToString())
        assert set(failure.faults) == {
            ("expected_version", "VERSION_REQUIRED"),
            ("action", "ACTION_REQUIRED"),
        }
        await game.refresh()
        assert game.view.version == version


async def test_a_whole_play_in_notation(client: AsyncClient) -> None:
    first, second = await _pair(client, seed=1)
    game = first if first.is_my_turn else second
    hint = await game.hint(max_plays=1)
    best = hint.plays[0].play
    await game.move(best.steps[0].source, best.steps[0].target)
    following = await game.hint()
    assert following.plays[0].play.notation == best.notation  # the step made belongs to it
    view = await game.play(best.notation)
    assert list(view.position.points) == list(best.result.points)


# --- watching ------------------------------------------------------------------------------------


async def test_watchers_get_every_event_once(client: AsyncClient) -> None:
    first, second = await _pair(client, seed=5)

    async def watch(after: int, again_after: int) -> list[int]:
        """Watch, going away and coming back after every so many events."""
        numbers: list[int] = []
        ended = False
        while not ended:
            last = numbers[-1] if numbers else after
            async with client.watch(first.id, first.token, after_event=last) as messages:
                count = 0
                ended = True
                async for message in messages:
                    numbers.append(message.event.number)
                    count += 1
                    if count == again_after:
                        ended = False
                        break
        return numbers

    watchers = [asyncio.create_task(watch(after, again)) for after, again in ((0, 7), (3, 999))]
    await _play_through(first, second)
    late = asyncio.create_task(watch(0, 100))
    last = first.view.version
    assert await watchers[0] == list(range(1, last + 1))
    assert await watchers[1] == list(range(4, last + 1))
    assert await late == list(range(1, last + 1))


async def test_who_does_not_read_holds_up_nobody(client: AsyncClient) -> None:
    first, second = await _pair(client, seed=5)
    stream = client.watch(first.id, first.token, include_views=True)
    await anext(stream)
    await _play_through(first, second)
    numbers = [message.event.number async for message in stream]
    assert numbers == list(range(2, first.view.version + 1))


async def test_views_come_with_the_last_event(client: AsyncClient) -> None:
    waiting = await AsyncGame.create(client, "classic", seed=1)
    watching = waiting.watch(include_views=True)
    async with aclosing(watching) as messages:
        message = await anext(messages)
        assert (message.HasField("event"), message.view.second.open) == (False, True)
        second = await AsyncGame.join(client, waiting.invitations[1], person="Ben")
        views = []
        async for message in messages:
            if message.HasField("view"):
                assert message.view.version == message.event.number
                views.append(message.view)
                break
    assert views[0].second.name == "Ben"
    assert views[0].version == second.view.version


async def test_an_event_that_has_not_happened(client: AsyncClient) -> None:
    created = await client.create_game("classic", second=person())
    with pytest.raises(InvalidArgumentError) as caught:
        async for _ in client.watch(created.game_id, created.first_token, after_event=1000):
            pass
    assert caught.value.violations[0].field == "after_event"


async def test_watchers_do_not_count_as_calls_in_work(start_server: Starter) -> None:
    async with (
        start_server(max_pending_requests=1, max_watchers=3) as server,
        AsyncClient(server.address) as client,
    ):
        created = await client.create_game("classic", second=person())
        streams = [client.watch(created.game_id, created.first_token) for _ in range(3)]
        for stream in streams:
            assert (await anext(stream)).event.number == 1
        with pytest.raises(ResourceExhaustedError):
            async for _ in client.watch(created.game_id, created.first_token):
                pass
        assert (await client.get_game(created.game_id, created.first_token)).view.version
        for stream in streams:
            await stream.close()


# --- lists, hints, exports -----------------------------------------------------------------------


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
    first, second = await _pair(client, seed=1)
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
    first, second = await _pair(client, "traditional", fair_dice=True)
    assert first.view.dice_kind == game_pb2.DICE_KIND_FAIR
    assert len(first.view.dice_commitment) == 64
    await _play_through(first, second)
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
        first, second = await _pair(client, "traditional", seed=9)
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


# --- bots ----------------------------------------------------------------------------------------


async def test_two_bots_play_a_match_to_its_end(client: AsyncClient) -> None:
    created = await client.create_game(
        "joypip", match_length=1, first="beginner", second=player("static", 50), seed=4
    )
    assert not created.first_token
    events = [
        message.event async for message in client.watch(created.game_id, created.spectator_token)
    ]
    assert events[-1].session_ended.winner in {FIRST, SECOND}
    actors = {event.actor for event in events if event.HasField("play_confirmed")}
    assert game_pb2.ACTOR_BOT in actors


async def test_games_of_bots_only_are_few(start_server: Starter) -> None:
    async with (
        start_server(max_engine_games=1) as server,
        AsyncClient(server.address) as client,
    ):
        match: dict[str, Any] = {"match_length": 7, "first": "beginner", "second": "beginner"}
        created = await client.create_game("joypip", **match)
        with pytest.raises(ResourceExhaustedError):
            await client.create_game("joypip", **match)
        async for _ in client.watch(created.game_id, created.spectator_token):
            pass
        await client.create_game("joypip", **match)
        assert (await client.get_info()).limits.max_engine_games == 1


async def test_more_games_than_memory_holds(start_server: Starter) -> None:
    async with (
        start_server(max_games_in_memory=2) as server,
        AsyncClient(server.address) as client,
    ):
        games = [
            await AsyncGame.create(client, "traditional", second="expert", seed=seed)
            for seed in range(6)
        ]
        for _ in range(15):
            for game in games:
                await game.refresh()
                if game.is_my_turn and game.view.stage != _OVER:
                    await play_on(game)
        assert server.runtime.games.in_memory <= 4  # two, and those that a bot is busy with
        assert all(game.view.version > 20 for game in games)
