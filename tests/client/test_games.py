"""Games through the Python client, with and without asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bgserver_client import (
    AbortedError,
    AsyncClient,
    AsyncGame,
    Client,
    FailedPreconditionError,
    Game,
    InvalidArgumentError,
    UnavailableError,
    person,
)
from bgserver_client.v1 import common_pb2, game_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

_OVER = game_pb2.GAME_STAGE_GAME_OVER


@pytest.fixture
def client(server_address: str) -> Iterator[Client]:
    with Client(server_address) as connection:
        connection.wait_until_ready()
        yield connection


def test_a_game_against_a_bot(client: Client) -> None:
    game = Game.create(client, "traditional", first=person("Anna"), second="beginner", seed=5)
    assert game.seat == common_pb2.SEAT_FIRST
    turns = 0
    while game.wait_for_turn() and game.view.stage != _OVER:
        hint = game.hint(max_plays=1)
        if hint.plays:
            game.play(hint.plays[0].play.notation)
            turns += 1
        else:
            game.act("confirm" if game.can(game_pb2.ACTION_KIND_CONFIRM) else "roll")
    assert turns > 10
    assert game.view.last_outcome.winner
    game.act("end_session")
    assert game.is_over
    assert not game.wait_for_turn()
    numbers = [message.event.number for message in game.watch()]
    assert numbers == list(range(1, game.view.version + 1))
    assert game.export("mat").startswith(" 0 point match")


def test_two_persons_step_by_step(client: Client) -> None:
    first = Game.create(client, "classic", seed=1)
    second = Game.join(client, first.invitations[1], person="Ben")
    first.refresh(include_board=True)
    assert "pips X" in first.view.board
    mover, other = (first, second) if first.is_my_turn else (second, first)
    assert not other.is_my_turn
    before = list(mover.view.position.points)
    step = mover.legal.steps[0]
    mover.move(step.source, step.target)
    mover.undo()
    assert list(mover.view.position.points) == before
    mover.play([(one.source, one.target) for one in mover.hint(max_plays=1).plays[0].play.steps])
    with pytest.raises(AbortedError):
        other.roll()  # the handle had not heard of the play
    other.double()  # now it has
    assert other.view.cube_offered == 2
    mover.wait_for_turn()
    mover.take()
    other.refresh()
    other.roll()
    with pytest.raises(FailedPreconditionError) as caught:
        other.double()
    assert caught.value.reason in {"ALREADY_ROLLED", "NOT_YOUR_TURN", "NOT_CUBE_OWNER"}
    mover.refresh()
    other.refresh()
    other.resign("gammon")
    mover.refresh()
    view = mover.act("accept")
    assert view.last_outcome.points == 4
    mover.next_game()
    other.refresh()
    other.next_game()
    assert other.view.game_number == 2


async def test_the_same_with_asyncio(server_address: str) -> None:
    async with AsyncClient(server_address) as client:
        first = await AsyncGame.create(client, "money", seed=1, listed=True)
        second = await AsyncGame.join(client, game_id=first.id, person="Ben")
        await first.refresh()
        mover, other = (first, second) if first.is_my_turn else (second, first)
        await mover.play((await mover.hint(max_plays=1)).plays[0].play.notation)
        await other.refresh()
        await other.double()
        await mover.wait_for_turn()
        await mover.drop()
        assert mover.view.last_outcome.points == 1
        assert (await client.list_games(tokens=[first.token])).games[0].game_id == first.id


def test_what_cannot_even_be_asked(client: Client) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        client.act("id", "token", 1, "jump")  # type: ignore[arg-type]  # on purpose
    assert caught.value.violations[0].reason == "UNKNOWN_ACTION"
    with pytest.raises(InvalidArgumentError):
        client.create_game("classic", seed=1, fair_dice=True)
    with pytest.raises(InvalidArgumentError):
        client.join_game("CODE", game_id="id")
    with pytest.raises(InvalidArgumentError):
        client.list_games(filter="good")  # type: ignore[arg-type]  # on purpose


def test_patience_ends() -> None:
    with Client("127.0.0.1:9") as client:
        game = Game(client, "id", "token", patience_s=0.0)
        with pytest.raises(UnavailableError):
            game.roll()
        with pytest.raises(UnavailableError):
            next(game.watch())
