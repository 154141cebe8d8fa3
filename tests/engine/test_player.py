"""How levels play: exactly what the engine advises, and better the deeper they look."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bgserver.engine.cube_rules import double_refusals
from bgserver.engine.levels import Level
from bgserver.engine.player import Player, choose_randomly
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import (
    Cube,
    CubeOwner,
    Dice,
    GameState,
    MatchScore,
    Position,
    Seat,
    Variant,
)
from bgserver.engine.strength import DecisionKey
from bgserver.engine.work import run
from bgserver.games.contest import play_unit
from bgserver.games.statistics import Statistics
from tests import naive, positions
from tests.simulations import simulation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.engine.evaluator import Engine

BOTH = pytest.mark.parametrize("variant", list(Variant))
MONEY_AND_MATCH = [
    GameState(),
    GameState(cube=Cube(2, CubeOwner.ON_ROLL), jacoby=True),
    GameState(jacoby=True, beavers=True),
    GameState(match=MatchScore(7, 2, 4)),
    GameState(match=MatchScore(5, 3, 4, crawford=True)),
    GameState(match=MatchScore(5, 4, 3), cube=Cube(2, CubeOwner.ON_ROLL)),
]


def cases(variant: Variant, seed: int, count: int) -> Iterator[tuple[Position, Dice, bool]]:
    """Random positions of running games with a roll and whether it is a first turn."""
    running = (
        (Position(case.board, variant), Dice(*case.dice), case.first_turn)
        for case in positions.cases(variant.value, seed)
        if not naive.is_over(case.board)
    )
    return itertools.islice(running, count)


@pytest.mark.parametrize("state", MONEY_AND_MATCH)
@pytest.mark.parametrize("level", [Level.STATIC, Level.LOOKAHEAD_1])
def test_a_player_plays_the_best_ranked_play(
    engine: Engine, state: GameState, level: Level
) -> None:
    player = Player(engine, level)
    for position, dice, _ in cases(Variant.BACKGAMMON, 1, 60 if level is Level.STATIC else 8):
        here = replace(state, position=position)
        choice = run(player.choose(here, dice, first_turn=False))
        best = run(engine.rank(here, dice, level))[0].play
        assert choice.play == best
        assert choice.value == naive.game_value(best.result.points, naive.BACKGAMMON)


@pytest.mark.parametrize("level", [Level.STATIC, Level.LOOKAHEAD_1])
def test_a_player_of_long_nardy_plays_a_best_ranked_play(engine: Engine, level: Level) -> None:
    player = Player(engine, level)
    for position, dice, first_turn in cases(Variant.LONG_NARDY, 2, 60):
        state = GameState(position=position)
        choice = run(player.choose(state, dice, first_turn=first_turn))
        ranked = run(engine.rank(state, dice, level, first_turn=first_turn))
        chosen = next(entry for entry in ranked if entry.play == choice.play)
        assert chosen.equity_loss < 1e-6  # equal ones may change places
        assert choice.value == naive.game_value(choice.play.result.points, naive.LONG_NARDY)


@pytest.mark.parametrize("state", MONEY_AND_MATCH)
@pytest.mark.parametrize("level", [Level.STATIC, Level.LOOKAHEAD_1])
def test_a_player_turns_the_cube_as_the_engine_advises(
    engine: Engine, state: GameState, level: Level
) -> None:
    player = Player(engine, level)
    doubled = 0
    for position, _, _ in cases(Variant.BACKGAMMON, 3, 120 if level is Level.STATIC else 10):
        here = replace(state, position=position)
        if double_refusals(here):
            continue
        advice, _ = run(engine.advise_cube(here, level))
        name = advice.action.name
        doubles = run(player.wants_to_double(here))
        if name.startswith("OPTIONAL"):
            continue  # both are right
        assert doubles == advice.action.doubles, (here, advice)
        if not doubles:
            continue
        takes, beavers = run(player.answer_to_double(here))
        assert takes == (not name.endswith("PASS"))
        assert beavers == name.endswith("BEAVER")
        doubled += 1
    if level is Level.STATIC and not state.match:
        assert doubled > 5


def test_random_plays_are_legal_and_equally_likely(engine: Engine) -> None:
    state = GameState()
    results = {play.result for play in legal_plays(state.position, Dice(4, 1))}
    counts: Counter[Position] = Counter()
    for number in range(2800):
        key = DecisionKey(9, 0, number)
        choice = choose_randomly(engine, state, Dice(4, 1), key, first_turn=False)
        counts[choice.play.result] += 1
        assert choice.value == 0
    assert set(counts) == results
    expected = 2800 / len(results)
    assert sum((count - expected) ** 2 for count in counts.values()) / expected < 40


# --- strength ------------------------------------------------------------------------------------


def share_won(engine: Engine, variant: Variant, levels: tuple[Level, Level], games: int) -> float:
    """Share of games that the first seat wins without a cube."""
    spec = simulation(variant, cube=False, count=games, seed=11, levels=levels)
    statistics = Statistics()
    for index in range(games):
        statistics.add(run(play_unit(engine, spec, index)))
    return statistics.game_win_rate.mean


@BOTH
def test_the_static_level_beats_random_play(engine: Engine, variant: Variant) -> None:
    assert share_won(engine, variant, (Level.STATIC, Level.RANDOM), 100) > 0.95


@BOTH
def test_equal_levels_win_equally_often(engine: Engine, variant: Variant) -> None:
    """Neither seat has an advantage."""
    share = share_won(engine, variant, (Level.STATIC, Level.STATIC), 150)
    assert abs(share - 0.5) < 0.17  # four standard deviations


def test_seats_do_not_matter(engine: Engine) -> None:
    levels = (Level.RANDOM, Level.STATIC)
    assert share_won(engine, Variant.BACKGAMMON, levels, 50) < 0.1
    assert Seat.FIRST.other is Seat.SECOND
