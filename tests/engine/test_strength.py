"""Weaker players err as much as their strength says, and never absurdly."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.cube_rules import double_refusals
from bgserver.engine.errors import InvalidInputError
from bgserver.engine.levels import Level
from bgserver.engine.player import Player
from bgserver.engine.plays import board_array, legal_plays
from bgserver.engine.position import Cube, Dice, GameState, MatchScore, Position, Variant
from bgserver.engine.strength import (
    BEGINNER,
    EXPERT,
    NAMED_STRENGTHS,
    NORMAL,
    DecisionKey,
    Noise,
    Strength,
    cube_noise,
    play_noise,
)
from bgserver.engine.work import run
from bgserver.games.contest import play_unit
from bgserver.games.rules import BOTS
from bgserver.games.statistics import Statistics, mean_loss
from bgserver.kernels.misjudge import misjudged_row
from tests import naive, positions
from tests.simulations import simulation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.engine.evaluator import Engine

WEAKEST = Strength(0)
BOTH = pytest.mark.parametrize("variant", list(Variant))


def cases(variant: Variant, seed: int, count: int) -> Iterator[tuple[GameState, Dice, bool]]:
    """States of running games with a roll and whether it is a first turn."""
    running = (
        (GameState(Position(case.board, variant)), Dice(*case.dice), case.first_turn)
        for case in positions.cases(variant.value, seed)
        if not naive.is_over(case.board)
    )
    return itertools.islice(running, count)


def keys(count: int) -> list[DecisionKey]:
    return [DecisionKey(5, 1, turn) for turn in range(count)]


# --- the scale -----------------------------------------------------------------------------------


def test_stronger_players_are_meant_to_lose_less() -> None:
    losses = [Strength(value).mean_loss for value in range(101)]
    assert losses == sorted(losses, reverse=True)
    assert len(set(losses)) == 101
    assert losses[-1] == 0


def test_named_strengths_are_what_their_names_promise() -> None:
    assert list(NAMED_STRENGTHS.values()) == sorted(NAMED_STRENGTHS.values())
    assert tuple(NAMED_STRENGTHS) == BOTS  # what presets offer
    assert 0.060 <= BEGINNER.mean_loss <= 0.080
    assert 0.015 <= NORMAL.mean_loss <= 0.020
    assert not EXPERT.errs


@BOTH
def test_noise_falls_smoothly_to_nothing(variant: Variant) -> None:
    noises = [play_noise(Strength(value), variant) for value in range(101)]
    for weaker, stronger in itertools.pairwise(noises):
        assert stronger.deviation < weaker.deviation
        assert stronger.limit < weaker.limit
        assert weaker.deviation - stronger.deviation < 0.05
    assert noises[-1].deviation == 0
    assert cube_noise(EXPERT).deviation == 0


@pytest.mark.parametrize("value", [-1, 101, 2**32])
def test_a_strength_beyond_the_scale_is_refused(value: int) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Strength(value)
    (fault,) = caught.value.faults
    assert (fault.field, fault.reason) == ("strength", "OUT_OF_RANGE")


# --- plays ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [Level.STATIC, Level.LOOKAHEAD_1])
@BOTH
def test_no_play_loses_more_than_the_limit_and_the_loss_is_told(
    engine: Engine, variant: Variant, level: Level
) -> None:
    limit = play_noise(BEGINNER, variant).limit
    player = Player(engine, level, BEGINNER)
    erred = 0
    for state, dice, first_turn in cases(variant, 4, 80 if level is Level.STATIC else 10):
        ranked = run(engine.rank(state, dice, level, first_turn=first_turn))
        for key in keys(5):
            choice = run(player.choose(state, dice, first_turn=first_turn, key=key))
            entry = next(one for one in ranked if one.play == choice.play)
            if len(ranked) == 1:
                assert choice.loss is None
                continue
            assert choice.loss is not None
            assert choice.loss <= limit
            if entry.level is ranked[0].level:
                assert choice.loss == pytest.approx(entry.equity_loss, abs=1e-6)
            assert choice.value == naive.game_value(choice.play.result.points, variant.value)
            erred += choice.loss > 0
    assert erred > 0


@BOTH
def test_a_game_that_can_be_won_now_is_won(engine: Engine, variant: Variant) -> None:
    points = [0] * 26
    points[6], points[2] = 1, 1
    points[19 if variant is Variant.BACKGAMMON else 15] = -3
    state = GameState(Position(tuple(points), variant))
    assert len(legal_plays(state.position, Dice(6, 5))) > 1
    player = Player(engine, Level.STATIC, WEAKEST)
    for key in keys(200):
        assert run(player.choose(state, Dice(6, 5), first_turn=False, key=key)).value > 0


def test_nobody_leaves_a_checker_that_he_can_bear_off(engine: Engine) -> None:
    points = [0] * 26
    points[1:7] = [2, 2, 3, 2, 2, 2]
    points[19:25] = [-2, -2, -3, -2, -2, -2]
    state = GameState(Position(tuple(points)))
    plays = legal_plays(state.position, Dice(5, 1))
    assert min(play.result.own_off for play in plays) < 4
    player = Player(engine, Level.STATIC, WEAKEST)
    for key in keys(200):
        choice = run(player.choose(state, Dice(5, 1), first_turn=False, key=key))
        assert choice.play.result.own_off == 4


@BOTH
def test_the_same_decision_is_misjudged_in_the_same_way(engine: Engine, variant: Variant) -> None:
    player = Player(engine, Level.STATIC, BEGINNER)
    state = GameState(Position.start(variant))

    def chosen(key: DecisionKey) -> Position:
        return run(player.choose(state, Dice(4, 3), first_turn=True, key=key)).play.result

    assert [chosen(key) for key in keys(30)] == [chosen(key) for key in keys(30)]
    if variant is Variant.BACKGAMMON:  # the first play of Long Nardy is often forced
        for varied in (
            [DecisionKey(1, 1, turn) for turn in range(30)],
            [DecisionKey(1, game, 1) for game in range(30)],
            [DecisionKey(seed, 1, 1) for seed in range(30)],
        ):
            assert len({chosen(key) for key in varied}) > 3


def test_plays_that_differ_little_are_misjudged_alike() -> None:
    """Two plays with one idea seem better than a third one together; another idea does not."""
    start = Position.start().points

    def moved(*steps: tuple[int, int]) -> Position:
        points = list(start)
        for source, target in steps:
            points[source] -= 1
            points[target] += 1
        return Position(tuple(points))

    safe = moved((13, 7), (13, 9))
    builder, other_builder = moved((6, 5), (13, 9)), moved((6, 5), (13, 10))
    running = moved((24, 18), (24, 21))
    noise = Noise(0.2, 1.0)

    def preferred(position: Position) -> list[bool]:
        boards = np.stack([board_array(safe), board_array(position)])
        worth = np.zeros((2, 2))
        return [misjudged_row(boards, worth, 2, 0, noise.at(key)) == 1 for key in keys(2000)]

    def agreement(one: Position, other: Position) -> float:
        pairs = zip(preferred(one), preferred(other), strict=True)
        return sum(a == b for a, b in pairs) / 2000

    assert agreement(builder, other_builder) > agreement(builder, running) + 0.05


def test_a_difficult_choice_is_missed_more_often_than_an_easy_one() -> None:
    boards = np.stack([play.result.points for play in legal_plays(Position.start(), Dice(3, 1))])
    boards = boards.astype(np.int8)
    noise = Noise(0.2, 1.0)

    def missed(others: list[float]) -> float:
        worth = np.array([[0.0, 0.0], *([loss, 0.0] for loss in others)])
        rows = [misjudged_row(boards, worth, len(worth), 0, noise.at(key)) for key in keys(2000)]
        return sum(row != 0 for row in rows) / 2000

    assert missed([-0.05]) < missed([-0.05] * 8) - 0.1
    assert missed([-0.2]) < missed([-0.05]) - 0.05


# --- the cube ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "here", [GameState(), GameState(match=MatchScore(7, 2, 4)), GameState(jacoby=True)]
)
def test_cube_errors_are_never_huge(engine: Engine, here: GameState) -> None:
    player = Player(engine, Level.STATIC, WEAKEST)
    limit = cube_noise(WEAKEST).limit + 1e-9
    wrong_doubles = wrong_answers = 0
    for case, _, _ in cases(Variant.BACKGAMMON, 3, 150):
        state = replace(here, position=case.position)
        advice, _ = run(engine.advise_cube(state, Level.STATIC))
        if double_refusals(state) or advice.double_take is None or advice.double_pass is None:
            continue
        waiting = advice.no_double.equity
        take, passed = advice.double_take.equity, advice.double_pass.equity
        for key in keys(4):
            if run(player.wants_to_double(state, key)):
                loss = waiting - min(take, passed)
                assert loss <= limit
                if loss > 1e-3:
                    assert waiting > 0  # nobody doubles as the underdog by mistake
                    wrong_doubles += 1
            else:
                assert min(take, passed) - waiting <= limit
            takes, _ = run(player.answer_to_double(state, key))
            loss = take - passed if takes else passed - take
            assert loss <= limit
            wrong_answers += loss > 1e-3
    assert wrong_doubles > 0
    assert wrong_answers > 0


def test_nobody_doubles_where_that_cannot_gain(engine: Engine) -> None:
    """At the last point of a match the cube is dead: the points do not count any more."""
    match = MatchScore(5, 4, 2)
    player = Player(engine, Level.STATIC, WEAKEST)
    for case, _, _ in cases(Variant.BACKGAMMON, 6, 60):
        state = replace(case, match=match, cube=Cube(1))
        assert not any(run(player.wants_to_double(state, key)) for key in keys(5))


# --- calibration ---------------------------------------------------------------------------------


@pytest.mark.parametrize("strength", [BEGINNER, NORMAL, Strength(85)])
@BOTH
def test_a_strength_loses_about_what_it_says(
    engine: Engine, variant: Variant, strength: Strength
) -> None:
    spec = simulation(variant, count=24, seed=3, strengths=(strength, strength))
    statistics = Statistics()
    for index in range(spec.count):
        statistics.add(run(play_unit(engine, spec, index)))
    for player in statistics.players:
        loss = mean_loss(player.own_plays)
        assert loss is not None
        assert 0.6 * strength.mean_loss < loss < 1.6 * strength.mean_loss


@BOTH
def test_weaker_players_lose_games(engine: Engine, variant: Variant) -> None:
    spec = simulation(variant, cube=False, count=60, seed=4, strengths=(BEGINNER, EXPERT))
    statistics = Statistics()
    for index in range(spec.count):
        statistics.add(run(play_unit(engine, spec, index)))
    assert statistics.game_win_rate.mean < 0.4
