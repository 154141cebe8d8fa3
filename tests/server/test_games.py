"""Whole games through the API: a JoyPip match with everything, and a game of every other preset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bgserver_client import AsyncClient, AsyncGame, FailedPreconditionError, person
from bgserver_client.v1 import game_pb2

from tests.server.manual_clock import ManualClock
from tests.server.players import FIRST, SECOND, finish_turn, play_on, play_until, until

if TYPE_CHECKING:
    from bgserver.server.app import BgServer
    from tests.server.conftest import Starter

_DOUBLE = game_pb2.ACTION_KIND_DOUBLE
_OVER = game_pb2.GAME_STAGE_GAME_OVER


async def _double_and_drop(first: AsyncGame, second: AsyncGame) -> None:
    """The first player doubles at the first chance, the second drops."""

    def may_double(view: game_pb2.GameView) -> bool:
        return view.viewer == FIRST and _DOUBLE in view.legal.actions

    await play_until(first, second, may_double)
    await first.refresh()
    view = await first.double()
    assert view.cube_offered == 2
    await second.refresh()
    view = await second.drop()
    assert view.last_outcome.reason == game_pb2.END_REASON_DROPPED
    assert view.last_outcome.points == 1


async def test_a_joypip_match(start_server: Starter) -> None:
    clock = ManualClock()
    async with start_server(clock=clock) as server, AsyncClient(server.address) as client:
        first = await AsyncGame.create(
            client, "joypip", match_length=3, turn_seconds=45, first=person("Anna"), seed=3
        )
        assert first.view.stage == game_pb2.GAME_STAGE_WAITING
        second = await AsyncGame.join(client, first.invitations[1], person="Ben")
        assert second.view.first.name == "Anna"
        assert second.view.has_cube

        await _double_and_drop(first, second)
        for game in (first, second):
            await game.refresh()
            await game.next_game()
        await _double_and_drop(first, second)
        for game in (first, second):
            await game.refresh()
            await game.next_game()

        # 2:0, so the third game is the Crawford game.
        await first.refresh()
        assert (first.view.first.points, first.view.second.points) == (2, 0)
        assert first.view.crawford
        await play_until(first, second, lambda view: view.viewer == FIRST and view.turn == FIRST)
        await first.refresh()
        with pytest.raises(FailedPreconditionError) as caught:
            await first.double()
        assert caught.value.reason == "CRAWFORD_GAME"
        refusals = {one.action: list(one.reasons) for one in first.legal.refusals}
        assert refusals[_DOUBLE][0] == "CRAWFORD_GAME"

        # A step and back.
        before = list(first.view.position.points)
        step = first.legal.steps[0]
        await first.move(step.source, step.target)
        assert first.view.steps
        await second.refresh()
        assert second.view.steps == first.view.steps  # the opponent sees it too
        await first.undo(everything=True)
        assert list(first.view.position.points) == before

        # Anna does not move: the autopilot plays for her until she is back.
        assert first.view.clock.seat == FIRST
        assert first.view.clock.seconds_left == 45
        version = first.view.version
        clock.advance(45.5)
        await until(first, lambda event: event.HasField("autopilot_started"), version)
        played = await until(first, lambda event: event.HasField("play_confirmed"), version)
        assert (played.seat, played.actor) == (FIRST, game_pb2.ACTOR_AUTOPILOT)
        await finish_turn(second)
        await until(
            first,
            lambda event: event.HasField("play_confirmed") and event.seat == FIRST,
            played.number,
        )
        await first.refresh()
        assert first.view.first.autopilot
        await first.act("return")
        assert not first.view.first.autopilot

        # Giving up loses the match.
        await second.refresh()
        await second.resign()
        assert second.is_over
        await first.refresh()
        assert first.view.winner == FIRST
        events = [message.event async for message in first.watch()]
        assert [event.number for event in events] == list(range(1, first.view.version + 1))
        assert events[-1].session_ended.reason == game_pb2.END_REASON_RESIGNED
        assert "Anna" in await first.export("mat")


@pytest.mark.parametrize(
    ("preset", "match_length"),
    [
        ("classic", None),
        ("traditional", None),
        ("long_nardy", None),
        ("tournament", 5),
        ("money", None),
        ("joinpal", None),
    ],
)
async def test_a_game_of_every_other_preset(
    server: BgServer, preset: str, match_length: int | None
) -> None:
    async with AsyncClient(server.address) as client:
        game = await AsyncGame.create(
            client, preset, match_length=match_length, second="beginner", seed=11
        )
        while await game.wait_for_turn() and game.view.stage != _OVER:
            await play_on(game)
        assert game.view.stage == _OVER
        assert not game.view.HasField("dice")  # nothing is left to be played
        assert not game.view.dice_left
        outcome = game.view.last_outcome
        assert outcome.points == outcome.result * outcome.cube
        points = {FIRST: game.view.first.points, SECOND: game.view.second.points}
        assert points[outcome.winner] == outcome.points
        if match_length is None:
            await game.act("end_session")
            assert game.is_over
        else:
            await game.next_game()
            assert game.view.game_number == 2
