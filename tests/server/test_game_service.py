"""`GameService`: secrets, seats, races, repeated requests, refusals."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from bgserver_client import (
    AbortedError,
    AlreadyExistsError,
    AsyncClient,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    ResourceExhaustedError,
    person,
    player,
)
from bgserver_client.v1 import game_pb2, rules_pb2

from tests.server.players import FIRST, SECOND, pair
from tests.server.requests import failing

if TYPE_CHECKING:
    import grpc

    from tests.server.conftest import Starter


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
    first, second = await pair(client, seed=1)
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
    first, second = await pair(client, seed=1)
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
        first, second = await pair(client, seed=1)
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
    first, second = await pair(client, seed=1)
    game = first if first.is_my_turn else second
    hint = await game.hint(max_plays=1)
    best = hint.plays[0].play
    await game.move(best.steps[0].source, best.steps[0].target)
    following = await game.hint()
    assert following.plays[0].play.notation == best.notation  # the step made belongs to it
    view = await game.play(best.notation)
    assert list(view.position.points) == list(best.result.points)
