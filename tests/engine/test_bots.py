"""Bots in games that somebody else runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bgserver.engine.bots import choose_cube_action, choose_play
from bgserver.engine.errors import InvalidInputError, WrongMomentError
from bgserver.engine.levels import Level
from bgserver.engine.player import CubeMove
from bgserver.engine.position import (
    Cube,
    CubeOwner,
    Dice,
    GamePhase,
    GameState,
    MatchScore,
    Position,
    Resignation,
    Variant,
)
from bgserver.engine.strength import BEGINNER, EXPERT, DecisionKey, Strength
from bgserver.engine.work import run

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine

FULL = (Level.STATIC, EXPERT)
KEY = DecisionKey(1, 2, 3)
EVEN = GameState()


def race(own: dict[int, int], opponents: dict[int, int]) -> GameState:
    """A race; both sides in their own numbers."""
    points = [0] * 26
    for point, count in own.items():
        points[point] = count
    for point, count in opponents.items():
        points[25 - point] = -count
    return GameState(Position(tuple(points)))


# 86 pips against 93: about where a double becomes right.
CLOSE = race({6: 5, 5: 4, 4: 3, 8: 3}, {6: 5, 5: 4, 4: 3, 10: 2, 11: 1})
# 51 pips against 75.
WON = race({1: 2, 2: 3, 3: 3, 4: 3, 5: 2, 6: 2}, {6: 5, 5: 5, 4: 5})


@pytest.mark.parametrize("level", [Level.STATIC, Level.LOOKAHEAD_1])
def test_the_full_engine_plays_the_best_play(engine: Engine, level: Level) -> None:
    player = (level, EXPERT)
    choice = run(choose_play(engine, EVEN, Dice(6, 5), player, first_turn=False, key=KEY))
    assert choice.play == run(engine.rank(EVEN, Dice(6, 5), level))[0].play
    assert choice.loss is None


def test_each_turn_has_errors_of_its_own(engine: Engine) -> None:
    def chosen(turn: int) -> Position:
        key = DecisionKey(1, 2, turn)
        player = (Level.STATIC, BEGINNER)
        work = choose_play(engine, EVEN, Dice(6, 2), player, first_turn=False, key=key)
        return run(work).play.result

    assert len({chosen(turn) for turn in range(20)}) > 1
    assert [chosen(turn) for turn in range(20)] == [chosen(turn) for turn in range(20)]


@pytest.mark.parametrize("strength", [EXPERT, Strength(0)])
def test_what_is_clear_is_clear_to_everybody(engine: Engine, strength: Strength) -> None:
    player = (Level.STATIC, strength)
    assert run(choose_cube_action(engine, EVEN, player, KEY)).move is CubeMove.ROLL
    offered = replace(EVEN, double_offered=True)
    assert run(choose_cube_action(engine, offered, player, KEY)).move is CubeMove.TAKE
    hopeless = replace(WON, double_offered=True)
    assert run(choose_cube_action(engine, hopeless, player, KEY)).move is CubeMove.PASS


def test_a_cube_action_and_its_loss_fit_the_advice(engine: Engine) -> None:
    advice, _ = run(engine.advise_cube(CLOSE, Level.STATIC))
    assert advice.double_take is not None
    assert advice.double_pass is not None
    take, passed = advice.double_take.equity, advice.double_pass.equity
    gain = min(take, passed) - advice.no_double.equity
    seen = set()
    for strength in (EXPERT, Strength(0)):
        for turn in range(60):
            key = DecisionKey(1, 1, turn)
            player = (Level.STATIC, strength)
            choice = run(choose_cube_action(engine, CLOSE, player, key))
            expected = gain if choice.move is CubeMove.ROLL else -gain
            assert choice.loss == pytest.approx(max(0.0, expected), abs=1e-6)
            offered = replace(CLOSE, double_offered=True)
            answer = run(choose_cube_action(engine, offered, player, key))
            expected = take - passed if answer.move is CubeMove.TAKE else passed - take
            assert answer.loss == pytest.approx(max(0.0, expected), abs=1e-6)
            seen |= {choice.move, answer.move}
            if strength is EXPERT:
                assert choice.loss == answer.loss == 0
    assert {CubeMove.ROLL, CubeMove.DOUBLE} <= seen


@pytest.mark.parametrize(
    "state",
    [
        replace(WON, match=MatchScore(5, 4, 2, crawford=True)),
        replace(WON, match=MatchScore(1)),
        replace(WON, cube=Cube(2, CubeOwner.OPPONENT)),
        replace(WON, cube=Cube(64, CubeOwner.ON_ROLL)),
    ],
)
def test_where_the_rules_allow_no_double_the_bot_rolls(engine: Engine, state: GameState) -> None:
    choice = run(choose_cube_action(engine, state, FULL, KEY))
    assert (choice.move, choice.loss) == (CubeMove.ROLL, 0)


def test_a_foolish_double_is_beavered(engine: Engine) -> None:
    state = replace(EVEN, beavers=True, double_offered=True)
    assert run(choose_cube_action(engine, state, FULL, KEY)).move is CubeMove.BEAVER


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (replace(EVEN, phase=GamePhase.NOT_STARTED), "GAME_NOT_STARTED"),
        (replace(EVEN, phase=GamePhase.DROPPED), "GAME_OVER"),
        (replace(EVEN, dice=Dice(3, 1)), "ALREADY_ROLLED"),
        (replace(EVEN, resignation=Resignation.SINGLE), "OFFER_PENDING"),
        (replace(EVEN, beavers=True, double_offered=True, beaver_level=1), "OFFER_PENDING"),
        (replace(EVEN, match=MatchScore(1), double_offered=True), "ONE_POINT_MATCH"),
    ],
)
def test_moments_without_a_cube_decision(engine: Engine, state: GameState, reason: str) -> None:
    with pytest.raises(WrongMomentError) as caught:
        run(choose_cube_action(engine, state, FULL, KEY))
    assert caught.value.reason == reason


def test_moments_without_a_play(engine: Engine) -> None:
    for state, reason in (
        (replace(EVEN, phase=GamePhase.RESIGNED), "GAME_OVER"),
        (replace(EVEN, double_offered=True), "OFFER_PENDING"),
    ):
        with pytest.raises(WrongMomentError) as caught:
            run(choose_play(engine, state, Dice(3, 1), FULL, first_turn=False, key=KEY))
        assert caught.value.reason == reason


def test_what_cannot_go_together_is_refused(engine: Engine) -> None:
    impossible = replace(EVEN, match=MatchScore(5), jacoby=True, cube=Cube(3))
    with pytest.raises(InvalidInputError) as caught:
        run(choose_play(engine, impossible, Dice(3, 1), FULL, first_turn=False, key=KEY))
    assert len(caught.value.faults) > 1
    nardy = GameState(Position.start(Variant.LONG_NARDY))
    with pytest.raises(InvalidInputError):
        run(choose_cube_action(engine, nardy, FULL, KEY))
