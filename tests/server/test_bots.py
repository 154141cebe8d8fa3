"""Bots as a front end uses them that runs the game itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bgserver.engine.position import Variant
from bgserver.v1 import common_pb2, engine_pb2, rules_pb2
from tests.server.requests import roll, start, xgid

if TYPE_CHECKING:
    from bgserver.v1.engine_pb2_grpc import EngineServiceAsyncStub as Stub
    from bgserver.v1.rules_pb2_grpc import RulesServiceAsyncStub as RulesStub

_BEGINNER = common_pb2.Player(named_strength=common_pb2.STRENGTH_BEGINNER)
_WEAKEST = common_pb2.Player(numeric_strength=0)


async def test_by_default_the_best_play(engine_stub: Stub) -> None:
    ranking = engine_pb2.RankPlaysRequest(position=start(), dice=roll(6, 2))
    best = (await engine_stub.RankPlays(ranking)).plays[0].play
    request = engine_pb2.ChoosePlayRequest(position=start(), dice=roll(6, 2))
    reply = await engine_stub.ChoosePlay(request)
    assert reply.play == best
    assert reply.equity_loss == 0
    assert (reply.dice.first, reply.dice.second) == (6, 2)


async def test_a_seed_is_told_and_repeats_the_play_and_the_loss_is_true(engine_stub: Stub) -> None:
    ranking = engine_pb2.RankPlaysRequest(position=start(), dice=roll(6, 2))
    ranked = (await engine_stub.RankPlays(ranking)).plays
    losses = {entry.play.notation: entry.equity_loss for entry in ranked}
    lost = 0.0
    for turn in range(20):
        request = engine_pb2.ChoosePlayRequest(
            position=start(), dice=roll(6, 2), player=_WEAKEST, turn=turn
        )
        reply = await engine_stub.ChoosePlay(request)
        assert reply.equity_loss == pytest.approx(losses[reply.play.notation], abs=1e-5)
        lost += reply.equity_loss
        request.seed = reply.seed
        assert await engine_stub.ChoosePlay(request) == reply
    assert lost > 0


@pytest.mark.parametrize("variant", Variant)
async def test_two_bots_play_a_whole_game(
    engine_stub: Stub, rules_stub: RulesStub, variant: Variant
) -> None:
    dice = [(one, two) for one in range(1, 7) for two in range(1, 7)]
    position = start(variant)
    for turn in range(1000):
        first, second = dice[(7 * turn + turn * turn) % 36]
        request = engine_pb2.ChoosePlayRequest(
            position=position,
            dice=roll(first, second),
            player=_BEGINNER if turn % 2 else _WEAKEST,
            first_turn=turn < 2,
            seed=1,
            turn=turn,
        )
        reply = await engine_stub.ChoosePlay(request)
        applied = await rules_stub.ApplyPlay(
            rules_pb2.ApplyPlayRequest(
                position=position,
                dice=request.dice,
                steps=rules_pb2.StepList(steps=reply.play.steps),
                first_turn=request.first_turn,
            )
        )
        assert applied.game_value == reply.game_value
        if reply.game_value:
            return
        position = common_pb2.PositionSource(position=applied.next)
    pytest.fail("the game does not end")


async def test_cube_actions(engine_stub: Stub) -> None:
    async def move(
        source: common_pb2.PositionSource, player: common_pb2.Player | None = None
    ) -> engine_pb2.CubeMove.ValueType:
        request = engine_pb2.ChooseCubeActionRequest(position=source, player=player, seed=4)
        return (await engine_stub.ChooseCubeAction(request)).move

    even = "XGID=-b----E-C---eE---c-e----B-:0:0:1:{}:0:0:{}:0:10"
    assert await move(xgid(even.format("00", 0))) == engine_pb2.CUBE_MOVE_ROLL
    assert await move(xgid(even.format("D", 0))) == engine_pb2.CUBE_MOVE_TAKE
    assert await move(xgid(even.format("D", 2))) == engine_pb2.CUBE_MOVE_BEAVER
    assert await move(xgid(even.format("D", 0)), _WEAKEST) == engine_pb2.CUBE_MOVE_TAKE
    # 51 pips against 75.
    points = [0, 2, 3, 3, 3, 2, 2, *[0] * 12, -5, -5, -5, *[0] * 4]
    race = common_pb2.Position(points=points)
    assert await move(common_pb2.PositionSource(position=race)) == engine_pb2.CUBE_MOVE_DOUBLE
    offered = common_pb2.GameState(position=race, double_offered=True)
    for player in (None, _WEAKEST):
        answer = await move(common_pb2.PositionSource(state=offered), player)
        assert answer == engine_pb2.CUBE_MOVE_PASS
