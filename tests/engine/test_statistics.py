"""Running statistics against independent formulas."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bgserver.engine.position import Seat
from bgserver.engine.simulation import GameRecord, UnitResult
from bgserver.engine.statistics import Statistics, wilson_interval

Z = 1.959964


def random_game(rng: random.Random) -> GameRecord:
    """A game with a random result."""
    dropped = rng.random() < 0.2
    result = 1 if dropped else rng.choice([1, 1, 1, 2, 2, 3])
    cube = rng.choice([1, 1, 2, 4])
    winner = rng.choice(list(Seat))
    return GameRecord(winner, result * cube, result, cube, dropped, rng.randint(10, 90), None)


def unit(index: int, *games: GameRecord, is_match: bool = False) -> UnitResult:
    """A unit of these games, won by the winner of the last."""
    points = [sum(game.points for game in games if game.winner is seat) for seat in Seat]
    return UnitResult(index, games, games[-1].winner, (points[0], points[1]), is_match)


def test_nothing_counted_yet() -> None:
    statistics = Statistics()
    assert (statistics.games, statistics.matches, statistics.dropped) == (0, 0, 0)
    for rate in (statistics.game_win_rate, statistics.match_win_rate):
        assert (rate.mean, rate.low, rate.high) == (0, 0, 1)
    points = statistics.points_per_game
    assert (points.mean, points.low, points.high) == (0, 0, 0)
    assert statistics.mean_turns == statistics.mean_cube == 0


def test_one_game_has_no_spread() -> None:
    statistics = Statistics()
    statistics.add(unit(0, GameRecord(Seat.SECOND, 4, 2, 2, False, 51, None)))
    points = statistics.points_per_game
    assert (points.mean, points.low, points.high) == (-4, -4, -4)
    assert statistics.wins == {Seat.FIRST: [0, 0, 0], Seat.SECOND: [0, 1, 0]}


def test_mean_loss_is_that_of_all_choices_of_a_seat() -> None:
    statistics = Statistics()
    assert statistics.mean_loss(Seat.FIRST) is None
    for choices, lost in (((10, 0), (0.5, 0.0)), ((30, 0), (0.1, 0.0))):
        game = GameRecord(Seat.FIRST, 1, 1, 1, False, 51, None, choices, lost)
        statistics.add(unit(0, game))
    assert statistics.mean_loss(Seat.FIRST) == pytest.approx(0.6 / 40)
    assert statistics.mean_loss(Seat.SECOND) is None


@pytest.mark.parametrize("count", [2, 3, 50, 2000])
def test_means_and_intervals_are_those_of_numpy(count: int) -> None:
    rng = random.Random(count)
    games = [random_game(rng) for _ in range(count)]
    statistics = Statistics()
    for index, game in enumerate(games):
        statistics.add(unit(index, game))
    points = np.array(
        [game.points if game.winner is Seat.FIRST else -game.points for game in games]
    )
    half = Z * points.std(ddof=1) / np.sqrt(count)
    found = statistics.points_per_game
    assert found.mean == pytest.approx(points.mean(), abs=1e-12)
    assert found.low == pytest.approx(points.mean() - half, abs=1e-9)
    assert found.high == pytest.approx(points.mean() + half, abs=1e-9)
    assert statistics.games == count
    assert statistics.matches == 0
    assert statistics.mean_turns == pytest.approx(np.mean([game.turns for game in games]))
    assert statistics.mean_cube == pytest.approx(np.mean([game.cube_value for game in games]))
    assert statistics.dropped == sum(game.dropped for game in games)
    for seat in Seat:
        for result in (1, 2, 3):
            won = sum(game.winner is seat and game.result == result for game in games)
            assert statistics.wins[seat][result - 1] == won
    assert statistics.game_win_rate.mean == pytest.approx((points > 0).mean())


def test_matches_are_counted_beside_their_games() -> None:
    rng = random.Random(1)
    statistics = Statistics()
    matches = [
        unit(index, *(random_game(rng) for _ in range(rng.randint(1, 5))), is_match=True)
        for index in range(40)
    ]
    for match in matches:
        statistics.add(match)
    won = sum(match.winner is Seat.FIRST for match in matches)
    assert statistics.matches == 40
    assert statistics.games == sum(len(match.games) for match in matches)
    assert statistics.match_win_rate == wilson_interval(won, 40)


def test_the_order_of_units_does_not_matter() -> None:
    """Units come in as the workers finish them."""
    rng = random.Random(2)
    units = [unit(index, random_game(rng)) for index in range(500)]
    reports = []
    for order in (units, units[::-1], rng.sample(units, len(units))):
        statistics = Statistics()
        for entry in order:
            statistics.add(entry)
        reports.append((statistics.points_per_game, statistics.game_win_rate, statistics.wins))
    assert reports[0] == reports[1] == reports[2]


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # Wilson score intervals without continuity correction, R. G. Newcombe, "Two-sided
        # confidence intervals for the single proportion", Statistics in Medicine 17 (1998).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_intervals_that_are_published(
    successes: int, trials: int, low: float, high: float
) -> None:
    found = wilson_interval(successes, trials)
    assert found.mean == successes / trials
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def test_wilson_intervals_are_symmetric_and_stay_within_0_and_1() -> None:
    for trials in (1, 2, 10, 1000):
        for successes in {0, 1, trials // 2, trials}:
            found = wilson_interval(successes, trials)
            mirrored = wilson_interval(trials - successes, trials)
            assert 0 <= found.low <= found.mean <= found.high <= 1
            assert found.low == pytest.approx(1 - mirrored.high)


def test_wilson_bounds_solve_their_equation() -> None:
    """Each bound is the share at which the observed one lies 1.96 standard errors away."""
    found = wilson_interval(37, 120)
    for bound in (found.low, found.high):
        error = Z * np.sqrt(bound * (1 - bound) / 120)
        assert abs(found.mean - bound) == pytest.approx(error)
