"""Scripted persons at games of a server, through the Python client."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from bgserver_client import AsyncGame
from bgserver_client.v1 import common_pb2, game_pb2

if TYPE_CHECKING:
    from collections.abc import Callable

    from bgserver_client import AsyncClient

__all__ = [
    "FIRST",
    "OVER",
    "SECOND",
    "finish_turn",
    "pair",
    "play_on",
    "play_through",
    "play_until",
    "until",
]

FIRST, SECOND = common_pb2.SEAT_FIRST, common_pb2.SEAT_SECOND
OVER = game_pb2.GAME_STAGE_GAME_OVER
_ANSWERS = {
    game_pb2.ACTION_KIND_TAKE: "take",
    game_pb2.ACTION_KIND_PLAY_ON: "play_on",
    game_pb2.ACTION_KIND_REFUSE: "refuse",
}


async def pair(
    client: AsyncClient, preset: str = "classic", **settings: Any
) -> tuple[AsyncGame, AsyncGame]:
    """Two persons at a table that has just begun."""
    first = await AsyncGame.create(client, preset, **settings)
    second = await AsyncGame.join(client, first.invitations[1])
    await first.refresh()
    return first, second


async def play_on(game: AsyncGame) -> None:
    """Do one thing, whatever comes first: answer, roll, move, confirm."""
    for kind, name in _ANSWERS.items():
        if game.can(kind):
            await game.act(name)  # type: ignore[arg-type]  # one of the names
            return
    if game.can(game_pb2.ACTION_KIND_ROLL):
        await game.roll()
    elif game.legal.steps:
        step = game.legal.steps[0]
        await game.move(step.source, step.target, low_die_first=step.low_die_first)
    else:
        await game.confirm()


async def finish_turn(game: AsyncGame) -> None:
    """Roll if need be, and play until it is the other's turn or the game is over."""
    await game.refresh()
    while game.is_my_turn and game.view.stage != OVER:
        await play_on(game)


async def play_until(
    first: AsyncGame, second: AsyncGame, wanted: Callable[[game_pb2.GameView], bool]
) -> None:
    """Let both players take turns until one of their views is as wanted."""
    for _ in range(1000):
        for game in (first, second):
            await game.refresh()
            if wanted(game.view):
                return
            if game.is_my_turn:
                await finish_turn(game)
                if wanted(game.view):
                    return
    message = "the game did not get there"
    raise AssertionError(message)


async def play_through(first: AsyncGame, second: AsyncGame) -> None:
    """Play one game and end the session."""
    await play_until(first, second, lambda view: view.stage == OVER)
    await first.refresh()
    await first.act("end_session")


async def until(
    game: AsyncGame, wanted: Callable[[game_pb2.GameEvent], bool], after: int
) -> game_pb2.GameEvent:
    """The first event after number `after` that is as wanted; the game's view is of then."""
    watching = game.watch(after_event=after, include_views=True)
    async with aclosing(watching) as messages:
        async for message in messages:
            if message.HasField("event") and wanted(message.event):
                return message.event
    message_text = "the game ended before that"
    raise AssertionError(message_text)
