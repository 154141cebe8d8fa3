"""Simulated games and matches, replayed by the oracle and by a second account of the cube."""

from __future__ import annotations

import itertools
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.engine.levels import Level
from bgserver.engine.player import Player
from bgserver.engine.position import Dice, GameState, Seat, Variant
from bgserver.engine.strength import BEGINNER, EXPERT, NORMAL, Strength
from bgserver.engine.work import run
from bgserver.games.contest import play_unit
from bgserver.games.rules import AutoDouble, OpeningDice
from bgserver.games.simulation import Contestant, PlayedGame, SimulationSpec, UnitResult
from bgserver.kernels.dice import roll
from tests import naive
from tests.simulations import simulation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.engine.evaluator import Engine

BOTH = pytest.mark.parametrize("variant", list(Variant))


def money(**changes: Any) -> SimulationSpec:
    """Money games of backgammon with a cube between static players, but for the changes."""
    return simulation(**{"records": True, **changes})


def nardy(**changes: Any) -> SimulationSpec:
    """Games of Long Nardy as its preset plays them, but for the changes."""
    return money(variant=Variant.LONG_NARDY, **changes)


def is_fresh(spec: SimulationSpec) -> bool:
    return spec.setup.rules.opening_dice is OpeningDice.FRESH_ROLL


def units(engine: Engine, spec: SimulationSpec, count: int) -> list[UnitResult]:
    return [run(play_unit(engine, spec, index)) for index in range(count)]


def slowly(engine: Engine, spec: SimulationSpec, count: int) -> list[UnitResult]:
    """The same with every decision asked for: what `reckless` needs."""
    return [run(play_unit(engine, spec, index, quick=False)) for index in range(count)]


def games(engine: Engine, spec: SimulationSpec, count: int) -> Iterator[PlayedGame]:
    """Independent games."""
    return independent(units(engine, spec, count))


def reckless_games(engine: Engine, spec: SimulationSpec, count: int) -> Iterator[PlayedGame]:
    """Independent games of reckless players."""
    return independent(slowly(engine, spec, count))


def independent(played: list[UnitResult]) -> Iterator[PlayedGame]:
    """The games of units of one game."""
    for unit in played:
        (game,) = unit.games
        assert not unit.is_match
        assert game.winner is not None
        assert unit.winner is game.winner
        assert unit.points[game.winner] == game.points
        assert unit.points[game.winner.other] == 0
        yield game


@pytest.fixture
def reckless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Players double at random moments, so that everything about the cube happens often."""

    def sometimes(_: Player, state: GameState, *__: object) -> bool:
        return hash(state.position.points) % 12 == 0

    monkeypatch.setattr(Player, "_doubles", sometimes)


def check_game(
    spec: SimulationSpec, game: PlayedGame, *, crawford: bool = False, value: int = 1
) -> None:
    """Everything that the rules say about a game's cube and result.

    Args:
        spec: What was played.
        game: A game with its record.
        crawford: It was the Crawford game.
        value: The cube before the first turn.
    """
    assert game.record is not None
    rules = spec.setup.rules
    cap = rules.cube_cap or 1
    owner: Seat | None = None
    taken = False
    for number, turn in enumerate(game.record):
        is_last = number == len(game.record) - 1
        assert turn.seat is (game.record[0].seat if number % 2 == 0 else game.record[0].seat.other)
        assert turn.cube_value == value
        if turn.doubled:
            assert spec.setup.cube
            assert owner in (None, turn.seat)
            assert 2 * value <= cap
            assert not crawford
            assert spec.setup.match_length != 1
            assert number > 0 or is_fresh(spec)  # 4.3: the dice are already rolled
            if not turn.taken:
                assert is_last
                assert turn.dice is None
                assert turn.play is None
                assert (game.winner, game.result, game.dropped) == (turn.seat, 1, True)
                break  # 3.6: the value before the double
            assert rules.beaver or not turn.beavered
            if turn.beavered and turn.dice is None:
                assert is_last
                assert (game.winner, game.result, game.dropped) == (turn.seat.other, 1, True)
                value *= 2  # 4.20: the value before the beaver
                break
            value *= 4 if turn.beavered else 2
            owner, taken = turn.seat.other, True
        else:
            assert not turn.taken
            assert not turn.beavered
        assert turn.dice is not None
        assert turn.play is not None
        is_first_roll = number == (0 if is_fresh(spec) else 1)
        automatic = rules.auto_double is AutoDouble.B and spec.setup.cube
        if automatic and is_first_roll and turn.dice.is_double:
            value = min(2 * value, max(value, cap))
        assert value <= cap
        natural = naive.game_value(turn.play.result.points, rules.variant.value)
        assert is_last == (natural > 0)
        if is_last:
            counts_single = rules.jacoby and not taken  # 4.17
            assert game.result == (1 if counts_single else natural)
            assert (game.winner, game.dropped) == (turn.seat, False)
    assert game.cube_value == value
    assert game.points == game.result * value
    assert game.turns == len(game.record) - game.dropped


def check_plays(spec: SimulationSpec, game: PlayedGame) -> None:
    """Every play is legal, and the boards follow from each other."""
    assert game.record is not None
    variant = spec.setup.rules.variant.value
    board = naive.start(variant)
    for number, turn in enumerate(game.record):
        assert turn.position.points == board
        if turn.play is None:
            break
        assert turn.dice is not None
        dice = (turn.dice.first, turn.dice.second)
        steps = [(step.source, step.target, step.die) for step in turn.play.steps]
        first_turn = spec.setup.rules.variant is Variant.LONG_NARDY and number < 2
        assert naive.is_legal_play(board, dice, variant, steps, first_turn=first_turn)
        after = naive.play(board, steps)
        assert turn.play.result.points == after
        board = naive.turn(after, variant)


# --- the same games everywhere -------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec",
    [
        money(),
        money(levels=(Level.RANDOM, Level.STATIC), seed=2**32 - 1),
        money(match_length=3),
        nardy(),
        money(match_length=3, strengths=(BEGINNER, NORMAL)),
        nardy(strengths=(Strength(0), BEGINNER)),
    ],
    ids=["money", "random", "match", "nardy", "weak", "weak nardy"],
)
def test_a_unit_is_the_same_in_any_order_and_on_any_thread(
    engine: Engine, spec: SimulationSpec
) -> None:
    count = 16
    expected = units(engine, spec, count)
    assert [unit.index for unit in expected] == list(range(count))
    assert len({unit.games for unit in expected}) == count
    order = list(range(count))
    random.Random(1).shuffle(order)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda index: run(play_unit(engine, spec, index)), order))
    assert sorted(found, key=lambda unit: unit.index) == expected


def test_units_advanced_in_turns_are_the_same(engine: Engine) -> None:
    spec = money(match_length=3, levels=(Level.STATIC, Level.RANDOM))
    expected = units(engine, spec, 6)
    running = {index: play_unit(engine, spec, index) for index in range(6)}
    found: dict[int, UnitResult] = {}
    with ThreadPoolExecutor(3) as pool:
        while running:
            futures = {index: pool.submit(next, work) for index, work in running.items()}
            for index, future in futures.items():
                error = future.exception()
                if isinstance(error, StopIteration):
                    found[index] = error.value
                    del running[index]
                else:
                    assert error is None
    assert [found[index] for index in range(6)] == expected


def test_records_change_nothing_but_the_records(engine: Engine) -> None:
    with_records = units(engine, money(), 10)
    without = units(engine, money(records=False), 10)
    for kept, dropped in zip(with_records, without, strict=True):
        assert all(game.record is None for game in dropped.games)
        shorn = tuple(replace(game, record=None) for game in kept.games)
        assert replace(kept, games=shorn) == dropped


@pytest.mark.parametrize("spec", [money(), money(match_length=3), nardy()])
def test_experts_are_the_levels_themselves(engine: Engine, spec: SimulationSpec) -> None:
    experts = (Contestant(strength=EXPERT), Contestant(strength=Strength(100)))
    played = units(engine, spec, 4)
    assert units(engine, replace(spec, players=experts), 4) == played
    plays = [tally for unit in played for game in unit.games for tally in game.own_plays]
    assert not any(tally.count for tally in plays)


def test_losses_are_counted_for_the_seat_that_errs(engine: Engine) -> None:
    for game in games(engine, money(strengths=(EXPERT, BEGINNER)), 4):
        first, second = game.own_plays
        assert first.count == first.lost == 0
        assert 0 < second.count <= game.turns
        assert second.lost > 0


def test_another_seed_plays_other_games(engine: Engine) -> None:
    assert units(engine, money(seed=1), 5) != units(engine, money(seed=2), 5)


def test_the_dice_are_the_counter_based_stream(engine: Engine) -> None:
    """Game k rolls the numbers of game 4096 k, so that a match has room for its games."""
    for unit in units(engine, money(cube=False), 5):
        (game,) = unit.games
        assert game.record is not None
        rolled = [turn.dice for turn in game.record]
        stream = (Dice(*roll(1, 4096 * unit.index, number)) for number in itertools.count())
        without_ties = itertools.dropwhile(lambda dice: dice.is_double, stream)
        assert rolled == list(itertools.islice(without_ties, len(rolled)))


# --- games ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        (money(), 12),
        (money(levels=(Level.RANDOM, Level.STATIC), seed=3), 8),
        (money(levels=(Level.RANDOM, Level.RANDOM), seed=4), 3),
        (money(levels=(Level.LOOKAHEAD_1, Level.STATIC), seed=5), 3),
        (nardy(), 12),
        (nardy(levels=(Level.STATIC, Level.RANDOM), fresh_roll=False), 6),
        (nardy(levels=(Level.RANDOM, Level.LOOKAHEAD_1)), 2),
        (money(strengths=(Strength(0), Strength(0)), beaver=True), 12),
        (money(levels=(Level.LOOKAHEAD_1, Level.STATIC), strengths=(BEGINNER, NORMAL)), 2),
        (nardy(strengths=(Strength(0), BEGINNER)), 8),
    ],
    ids=[
        "static",
        "against random",
        "random",
        "look-ahead",
        "nardy",
        "nardy 2",
        "nardy 3",
        "weak",
        "weak look-ahead",
        "weak nardy",
    ],
)
def test_every_play_is_legal_and_every_result_right(
    engine: Engine, spec: SimulationSpec, count: int
) -> None:
    for game in games(engine, spec, count):
        check_game(spec, game)
        check_plays(spec, game)


@pytest.mark.parametrize("lower", [False, True])
@BOTH
def test_2_1_the_opening_decides_who_starts(engine: Engine, variant: Variant, lower: bool) -> None:
    spec = money(
        variant=variant,
        cube=False,
        fresh_roll=False,
        lower_starts=lower,
        levels=(Level.RANDOM,) * 2,
    )
    starters = set()
    for game in games(engine, spec, 12):
        assert game.record is not None
        dice = game.record[0].dice
        assert dice is not None
        assert not dice.is_double  # 2.2
        lower_is_first = dice.first < dice.second
        first_starts = lower_is_first if lower else not lower_is_first
        assert game.record[0].seat is (Seat.FIRST if first_starts else Seat.SECOND)
        starters.add(game.record[0].seat)
    assert len(starters) == 2


@pytest.mark.parametrize("lower", [False, True])
def test_2_3_a_fresh_roll_follows_the_opening(engine: Engine, lower: bool) -> None:
    spec = money(fresh_roll=True, lower_starts=lower, cube=False, levels=(Level.RANDOM,) * 2)
    doubles = 0
    for unit in units(engine, spec, 30):
        draws = (roll(spec.seed, 4096 * unit.index, number) for number in itertools.count())
        opening = next(dice for dice in draws if dice[0] != dice[1])
        record = unit.games[0].record
        assert record is not None
        first_starts = (opening[0] > opening[1]) != lower
        assert record[0].seat is (Seat.FIRST if first_starts else Seat.SECOND)
        assert record[0].dice == Dice(*next(draws))
        doubles += record[0].dice.is_double
    assert doubles > 0


def test_all_kinds_of_results_occur(engine: Engine) -> None:
    spec = money(levels=(Level.RANDOM, Level.RANDOM), records=False)
    assert {game.result for game in games(engine, spec, 80)} == {1, 2, 3}


# --- the cube ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("reckless")
@pytest.mark.parametrize("cap", [1, 2, 8, 64])
@pytest.mark.parametrize("beaver", [False, True])
def test_the_cube_obeys_its_rules(engine: Engine, cap: int, beaver: bool) -> None:
    spec = money(cube_cap=cap, beaver=beaver, fresh_roll=beaver)
    seen = {"doubled": 0, "beavered": 0, "dropped": 0}
    for game in reckless_games(engine, spec, 40):
        check_game(spec, game)
        assert game.record is not None
        seen["doubled"] += any(turn.doubled for turn in game.record)
        seen["beavered"] += any(turn.beavered for turn in game.record)
        seen["dropped"] += game.dropped
    assert (seen["doubled"] > 0) == (cap >= 2)
    assert (seen["beavered"] > 0) == (beaver and cap >= 4)
    assert (seen["dropped"] > 0) == (cap >= 2)


def test_static_players_use_the_cube_with_sense(engine: Engine) -> None:
    """Doubles are neither rare nor made at once, and both answers occur."""
    answers = []
    for game in games(engine, money(), 40):
        check_game(money(), game)
        assert game.record is not None
        answers += [turn.taken for turn in game.record if turn.doubled]
        assert not any(turn.doubled for turn in game.record[:1])
    assert 20 < len(answers) < 100
    assert set(answers) == {True, False}


@pytest.mark.usefixtures("reckless")
def test_no_cube_no_double(engine: Engine) -> None:
    for game in reckless_games(engine, money(cube=False), 6):
        check_game(money(cube=False), game)
        assert game.cube_value == 1


@pytest.mark.usefixtures("reckless")
def test_a_random_player_never_doubles_and_always_takes(engine: Engine) -> None:
    spec = money(levels=(Level.STATIC, Level.RANDOM), beaver=True)
    doubled = 0
    for game in reckless_games(engine, spec, 15):
        check_game(spec, game)
        assert game.record is not None
        for turn in game.record:
            if turn.doubled:
                assert turn.seat is Seat.FIRST
                assert turn.taken
                assert not turn.beavered
                doubled += 1
    assert doubled > 10


@pytest.mark.usefixtures("reckless")
@pytest.mark.parametrize("first", [Level.STATIC, Level.RANDOM])
def test_4_17_jacoby(engine: Engine, first: Level) -> None:
    """Gammons count as single until a double has been taken, and then in full."""
    spec = money(jacoby=True, levels=(first, Level.RANDOM))
    results: dict[bool, set[int]] = {True: set(), False: set()}
    for game in reckless_games(engine, spec, 30):
        check_game(spec, game)
        assert game.record is not None
        last = game.record[-1].play
        assert last is not None  # a random player takes every double
        if naive.game_value(last.result.points, naive.BACKGAMMON) > 1:
            results[any(turn.taken for turn in game.record)].add(game.result)
    assert results[True] <= {2, 3}
    assert results[False] <= {1}
    assert results[first is Level.STATIC]  # random players do not double


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("cap", [64, 1])
def test_4_24_automatic_doubles_variant_a(engine: Engine, fresh: bool, cap: int) -> None:
    """A tie of the opening doubles the stake once; the cube stays in the middle."""
    spec = money(auto_double=AutoDouble.A, fresh_roll=fresh, cube_cap=cap)
    values = []
    for unit in units(engine, spec, 30):
        first, second = roll(spec.seed, 4096 * unit.index, 0)
        value = 2 if first == second and cap > 1 else 1
        check_game(spec, unit.games[0], value=value)
        values.append(value)
    assert set(values) == ({1, 2} if cap > 1 else {1})


@pytest.mark.usefixtures("reckless")
@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("cap", [64, 1])
def test_4_25_automatic_doubles_variant_b(engine: Engine, fresh: bool, cap: int) -> None:
    """A double as the first roll of two dice doubles the stake."""
    spec = money(auto_double=AutoDouble.B, fresh_roll=fresh, cube_cap=cap)
    doubled = 0
    for game in reckless_games(engine, spec, 40):
        check_game(spec, game)
        assert game.record is not None
        first_roll = game.record[0 if fresh else 1]
        doubled += first_roll.dice is not None and first_roll.dice.is_double
    assert doubled > 0


@pytest.mark.parametrize("auto_double", [AutoDouble.A, AutoDouble.B])
def test_automatic_doubles_leave_the_cube_to_both(engine: Engine, auto_double: AutoDouble) -> None:
    """4.23, and 4.17: they do not count as taken for Jacoby."""
    spec = money(auto_double=auto_double, jacoby=True)
    doublers = set()
    for game in games(engine, spec, 60):
        assert game.record is not None
        was_doubled = any(turn.doubled for turn in game.record[:3])
        if len(game.record) > 2 and game.record[2].cube_value == 2 and not was_doubled:
            doublers |= {turn.seat for turn in game.record if turn.doubled}
    assert doublers == set(Seat)
    # With a cap of 2 nobody can double after one, so that no gammon counts.
    capped = games(engine, money(auto_double=auto_double, jacoby=True, cube_cap=2), 60)
    results = [game.result for game in capped if game.cube_value == 2 and not any(game.doubles)]
    assert len(results) > 4
    assert set(results) == {1}


# --- matches -------------------------------------------------------------------------------------


def check_match(spec: SimulationSpec, match: UnitResult) -> int:
    """Scores, the Crawford game and the end; returns the number of Crawford games."""
    length = spec.setup.match_length
    assert length is not None
    assert match.is_match
    points = [0, 0]
    crawford_games = 0
    for game in match.games:
        assert max(points) < length  # 5.5
        one_away = length - 1 in points
        first = crawford_games == 0 and length > 1 and spec.setup.cube
        crawford = bool(spec.setup.rules.crawford) and one_away and first
        check_game(spec, game, crawford=crawford)
        crawford_games += crawford
        assert game.winner is not None
        points[game.winner] += game.points
    assert match.winner is not None
    assert points[match.winner] >= length > points[match.winner.other]
    assert match.points == tuple(points)
    assert match.winner is match.games[-1].winner
    return crawford_games


@pytest.mark.usefixtures("reckless")
@pytest.mark.parametrize("length", [1, 2, 3, 5, 7])
def test_matches_follow_their_rules(engine: Engine, length: int) -> None:
    spec = money(match_length=length)
    crawford_games = [check_match(spec, match) for match in slowly(engine, spec, 20)]
    assert set(crawford_games) <= {0, 1}
    if length != 2:  # there the first double that is taken decides the match
        assert (1 in crawford_games) == (length > 1)


@pytest.mark.usefixtures("reckless")
def test_4_10_and_4_11_the_cube_rests_in_one_game_only(engine: Engine) -> None:
    spec = money(match_length=3)
    rested = used_after = 0
    for match in slowly(engine, spec, 25):
        check_match(spec, match)
        points = [0, 0]
        was_crawford = False
        for game in match.games:
            assert game.record is not None
            doubled = any(turn.doubled for turn in game.record)
            if 2 in points:
                used_after += was_crawford and doubled
                rested += not was_crawford
                was_crawford = True
            assert game.winner is not None
            points[game.winner] += game.points
    assert rested > 0
    assert used_after > 0


@pytest.mark.usefixtures("reckless")
def test_without_crawford_the_cube_never_rests(engine: Engine) -> None:
    spec = money(match_length=3, crawford=False)
    doubled = 0
    for match in slowly(engine, spec, 15):
        check_match(spec, match)
        points = [0, 0]
        for game in match.games:
            assert game.record is not None
            if 2 in points:
                doubled += any(turn.doubled for turn in game.record)
            assert game.winner is not None
            points[game.winner] += game.points
    assert doubled > 0


def test_every_game_of_a_match_has_its_own_dice(engine: Engine) -> None:
    for match in units(engine, money(match_length=5), 4):
        rolled = [
            tuple(turn.dice for turn in game.record[:6]) for game in match.games if game.record
        ]
        assert len(set(rolled)) == len(match.games)


@pytest.mark.parametrize(
    "spec",
    [
        money(match_length=64),
        money(match_length=5, cube=False),
        nardy(match_length=4),
        money(match_length=5, levels=(Level.RANDOM, Level.STATIC)),
    ],
    ids=["long", "no cube", "nardy", "random"],
)
def test_other_matches_end_as_they_should(engine: Engine, spec: SimulationSpec) -> None:
    for match in units(engine, spec, 2):
        check_match(spec, match)


# --- pieces --------------------------------------------------------------------------------------


def test_a_long_game_is_played_in_pieces(engine: Engine) -> None:
    """So that a pool can answer others in between."""
    spec = money(levels=(Level.RANDOM, Level.RANDOM), cube=False)
    pieces = sum(1 for _ in play_unit(engine, spec, 0))
    assert pieces > 2
