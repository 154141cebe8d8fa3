"""Running statistics against independent formulas."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from bgserver.engine.distributions import student_p_value, student_quantile
from bgserver.engine.position import Seat
from bgserver.engine.statistics import wilson_interval
from bgserver.games.simulation import (
    GameEnd,
    Misconduct,
    PlayedGame,
    Seating,
    Tally,
    UnitResult,
)
from bgserver.games.statistics import Statistics, mean_loss

Z = 1.959964


def random_game(rng: random.Random) -> PlayedGame:
    """A game with a random result."""
    dropped = rng.random() < 0.2
    result = 1 if dropped else rng.choice([1, 1, 1, 2, 2, 3])
    cube = rng.choice([1, 1, 2, 4])
    winner = rng.choice(list(Seat))
    end = GameEnd.DROPPED if dropped else GameEnd.BORNE_OFF
    return PlayedGame(winner, result * cube, result, cube, end, rng.randint(10, 90))


def unit(index: int, *games: PlayedGame, is_match: bool = False) -> UnitResult:
    """A unit of these games, won by the winner of the last."""
    points = [sum(game.points for game in games if game.winner is seat) for seat in Seat]
    return UnitResult(index, games, games[-1].winner, (points[0], points[1]), is_match)


def test_nothing_counted_yet() -> None:
    statistics = Statistics()
    assert (statistics.games, statistics.matches, statistics.dropped) == (0, 0, 0)
    for rate in (statistics.game_win_rate, statistics.match_win_rate):
        assert (rate.mean, rate.low, rate.high) == (0, 0, 1)
    points = statistics.points_per_game
    assert (points.mean, points.low, points.high) == (0, -math.inf, math.inf)
    assert statistics.p_value is None
    assert statistics.mean_turns == statistics.mean_cube == 0


def test_one_game_has_no_spread() -> None:
    statistics = Statistics()
    statistics.add(unit(0, PlayedGame(Seat.SECOND, 4, 2, 2, GameEnd.BORNE_OFF, 51)))
    points = statistics.points_per_game
    assert (points.mean, points.low, points.high) == (-4, -math.inf, math.inf)
    assert statistics.p_value is None
    assert [player.wins for player in statistics.players] == [[0, 0, 0], [0, 1, 0]]


def test_mean_loss_is_that_of_all_choices_of_a_player() -> None:
    statistics = Statistics()
    assert mean_loss(statistics.players[0].own_plays) is None
    for count, lost in ((10, 0.5), (30, 0.1)):
        tallies = (Tally(count, lost), Tally())
        game = PlayedGame(Seat.FIRST, 1, 1, 1, GameEnd.BORNE_OFF, 51, own_plays=tallies)
        statistics.add(unit(0, game))
    first, second = (mean_loss(player.own_plays) for player in statistics.players)
    assert first == pytest.approx(0.6 / 40)
    assert second is None


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
    error = points.std(ddof=1) / np.sqrt(count)
    found = statistics.points_per_game
    assert found.mean == pytest.approx(points.mean(), abs=1e-12)
    half = student_quantile(count - 1) * error
    least = 2.0 ** (1 - count)
    assert statistics.p_value == pytest.approx(
        max(least, student_p_value(points.mean() / error, count - 1))
    )
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
            assert statistics.players[seat].wins[result - 1] == won
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
    most = max(won, 40 - won)
    assert statistics.p_value == pytest.approx(
        min(1, 2 * sum(math.comb(40, wins) for wins in range(most, 41)) / 2**40)
    )


def test_the_order_of_units_does_not_matter() -> None:
    """Units come in as the workers finish them."""
    rng = random.Random(2)
    units = [unit(index, random_game(rng)) for index in range(500)]
    reports = []
    for order in (units, units[::-1], rng.sample(units, len(units))):
        statistics = Statistics()
        for entry in order:
            statistics.add(entry)
        reports.append((statistics.points_per_game, statistics.game_win_rate))
    assert reports[0] == reports[1] == reports[2]


def swapped(game: PlayedGame) -> PlayedGame:
    """A game with the players in each other's seats."""
    return game if game.winner is None else replace(game, winner=game.winner.other)


def test_a_player_is_the_same_in_either_seat() -> None:
    rng = random.Random(3)
    fixed, alternating = Statistics(), Statistics(Seating.ALTERNATING)
    for index in range(60):
        game = random_game(rng)
        fixed.add(unit(index, game))
        here = game if index % 2 == 0 else swapped(game)
        alternating.add(replace(unit(index, here), swapped=index % 2 == 1))
    assert alternating.points_per_game == fixed.points_per_game
    assert alternating.game_win_rate == fixed.game_win_rate
    for one, other in zip(alternating.players, fixed.players, strict=True):
        assert one.wins == other.wins


def test_pairs_with_the_same_dice_are_one_observation() -> None:
    """Games that luck alone decides come out even, and with no doubt about it."""
    rng = random.Random(4)
    paired, plain = Statistics(Seating.DUPLICATE), Statistics(Seating.ALTERNATING)
    for number in range(40):
        game = random_game(rng)  # the same seat wins both
        for index in (2 * number, 2 * number + 1):
            result = replace(unit(index, game), swapped=index % 2 == 1)
            paired.add(result)
            plain.add(result)
    assert paired.observations == 40
    points = paired.points_per_game
    assert points.mean == points.low == points.high == 0
    assert plain.points_per_game.low < 0 < plain.points_per_game.high
    assert paired.p_value == 1
    assert paired.games == 80


@pytest.mark.parametrize("is_match", [False, True])
def test_the_interval_of_pairs_is_that_of_their_sums(is_match: bool) -> None:
    rng = random.Random(5)
    statistics = Statistics(Seating.DUPLICATE)
    sums = []
    for index in range(200):
        result = replace(unit(index, random_game(rng), is_match=is_match), swapped=index % 2 == 1)
        statistics.add(result)
        seat = Seat(index % 2)
        won = result.winner is seat
        sums.append(float(won) if is_match else result.points[seat] - result.points[seat.other])
    pairs = np.array(sums).reshape(100, 2).mean(axis=1)
    error = pairs.std(ddof=1) / 10
    t = (pairs.mean() - (0.5 if is_match else 0)) / error
    assert statistics.p_value == pytest.approx(student_p_value(t, 99))
    if is_match:
        more = np.append(pairs, [0, 1])
        trials = 100 * more.mean() * (1 - more.mean()) / (more.var() * 102 / 101)
        wanted = wilson_interval(pairs.mean() * trials, trials)
        found = statistics.match_win_rate
        assert found.low == pytest.approx(wanted.low)
    else:
        found = statistics.points_per_game
        assert found.high - found.mean == pytest.approx(student_quantile(99) * error)
    assert found.mean == pytest.approx(pairs.mean())


def played_pairs(*results: tuple[int, int], is_match: bool = False) -> Statistics:
    """Pairs of units with these points of the first player."""
    statistics = Statistics(Seating.DUPLICATE)
    for number, pair in enumerate(results):
        for half, points in enumerate(pair):
            winner = Seat((points < 0) ^ half)
            game = PlayedGame(winner, abs(points), abs(points), 1, GameEnd.BORNE_OFF, 50)
            index = 2 * number + half
            statistics.add(replace(unit(index, game, is_match=is_match), swapped=half == 1))
    return statistics


@pytest.mark.parametrize("pairs", [1, 2, 5])
@pytest.mark.parametrize("is_match", [False, True])
def test_few_pairs_that_all_say_the_same_prove_nothing(pairs: int, is_match: bool) -> None:
    statistics = played_pairs(*[(1, 3)] * pairs, is_match=is_match)
    points = statistics.points_per_game
    assert (points.mean, points.low, points.high) == (2, -math.inf, math.inf)
    assert statistics.p_value is None
    rates = [statistics.game_win_rate]
    if is_match:
        rates.append(statistics.match_win_rate)
    for rate in rates:
        assert rate.mean == rate.high == 1
        assert rate.low < 0.6


@pytest.mark.parametrize("games", [1, 3, 5, 7, 11])
@pytest.mark.parametrize("points", [1, 2, 5])
def test_rounding_is_no_spread(games: int, points: int) -> None:
    """A mean such as 1/3 cannot be written down; equal sessions are equal all the same."""
    statistics = Statistics(Seating.DUPLICATE)
    won = PlayedGame(Seat.FIRST, points, 1, points, GameEnd.BORNE_OFF, 50)
    drawn = replace(won, winner=None, points=0, result=0, end=GameEnd.DRAWN)
    for index in range(8):
        game = won if index % 2 == 0 else swapped(won)
        session = unit(index, *[drawn] * (games - 1), game)
        statistics.add(replace(session, swapped=index % 2 == 1))
    assert statistics.points_per_game.mean == pytest.approx(points / games)
    assert statistics.points_per_game.high == math.inf
    assert statistics.p_value is None


@pytest.mark.parametrize("pairs", [6, 20, 30, 2000])
def test_many_pairs_that_all_say_the_same_prove_what_a_sign_test_would(pairs: int) -> None:
    statistics = played_pairs(*[(1, 1)] * pairs)
    assert statistics.p_value == 2.0 ** (1 - pairs)
    assert (statistics.points_per_game.high == 1) == (pairs >= 30)
    even = played_pairs(*[(1, -1)] * pairs)
    assert even.p_value == 1
    rate = even.game_win_rate
    assert 0 < rate.low < 0.5 < rate.high < 1
    assert rate.high - rate.low < 2 / pairs**0.5


def test_no_few_pairs_are_more_telling_than_their_number() -> None:
    """Whatever the spread: two pairs of nearly the same points are still only two."""
    for pairs in range(2, 8):
        statistics = played_pairs((2, 3), *[(3, 3)] * (pairs - 1))
        assert statistics.p_value is not None
        assert statistics.p_value >= 2.0 ** (1 - pairs)
        points = statistics.points_per_game
        assert math.isfinite(points.high)
        assert points.low < points.mean < points.high


@pytest.mark.parametrize("pairs", [2, 4, 12])
@pytest.mark.parametrize("chances", [(1, 2, 1), (1, 18, 1), (12, 4, 1), (9, 1, 0), (1, 0, 1)])
def test_intervals_of_few_pairs_hold_the_truth(pairs: int, chances: tuple[int, int, int]) -> None:
    rng = random.Random(pairs)
    rounds = 400
    truth = (chances[0] + chances[1] / 2) / sum(chances)
    held = 0
    for _ in range(rounds):
        drawn = rng.choices([(1, 1), (1, -1), (-1, -1)], chances, k=pairs)
        rate = played_pairs(*drawn, is_match=True).match_win_rate
        assert rate.low < rate.high
        held += rate.low <= truth <= rate.high
    assert held / rounds > 0.92


@pytest.mark.parametrize("pairs", [2, 4, 12])
def test_equals_are_seldom_told_apart(pairs: int) -> None:
    rng = random.Random(pairs)
    rounds = 600
    found = 0
    for _ in range(rounds):
        drawn = [(rng.choice([-2, -1, 1, 2]), rng.choice([-2, -1, 1, 2])) for _ in range(pairs)]
        p_value = played_pairs(*drawn).p_value
        found += p_value is not None and p_value < 0.05
    assert found / rounds < 0.08


def test_half_a_pair_waits_for_its_twin() -> None:
    statistics = Statistics(Seating.DUPLICATE)
    statistics.add(unit(0, random_game(random.Random(1))))
    assert statistics.games == 1
    assert statistics.observations == 0


def test_who_misbehaves_is_counted() -> None:
    statistics = Statistics()
    for misconduct in (Misconduct.SLOW, Misconduct.SLOW, Misconduct.ILLEGAL):
        game = PlayedGame(Seat.FIRST, 2, 1, 2, GameEnd.FORFEITED, 9, misconduct=misconduct)
        statistics.add(unit(0, game))
    first, second = statistics.players
    assert not first.forfeits
    assert second.forfeits == {Misconduct.SLOW: 2, Misconduct.ILLEGAL: 1}
    assert first.wins == [3, 0, 0]
    assert statistics.dropped == 0


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
