"""Bear-off kernels against the plain-Python oracle and against published figures."""

from __future__ import annotations

import functools
import random
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.bearoff import compute_one_sided, compute_two_sided
from bgserver.kernels import bearoff
from bgserver.kernels.bearoff_build import MAX_BEAROFF_PLAYS, bearoff_plays
from tests import bearoff_oracle as oracle
from tests import naive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.bearoff_oracle import Arrangement


@pytest.fixture(scope="module")
def tables() -> bearoff.BearoffTables:
    """Both databases, computed in memory (about a second)."""
    return bearoff.BearoffTables(*compute_one_sided(), two_sided=compute_two_sided())


@pytest.fixture(scope="module")
def one_sided_only(tables: bearoff.BearoffTables) -> bearoff.BearoffTables:
    return tables._replace(two_sided=bearoff.no_bearoff_tables().two_sided)


@functools.cache
def all_arrangements() -> list[Arrangement]:
    return [tuple(row) for row in unpacked().tolist()]


@functools.cache
def unpacked() -> NDArray[np.int8]:
    counts = np.zeros((bearoff.ARRANGEMENTS, 6), dtype=np.int8)
    for index in range(bearoff.ARRANGEMENTS):
        bearoff.unpack_index(index, counts[index])
    return counts


def index_of(arrangement: Arrangement) -> int:
    return bearoff.arrangement_index(np.array(arrangement, dtype=np.int8))


def distribution(tables: bearoff.BearoffTables, entry: int) -> list[float]:
    begin, end = tables.offsets[entry : entry + 2]
    stored: list[float] = tables.probabilities[begin:end].tolist()
    return [0.0] * int(tables.starts[entry]) + stored


def one_roll_of_36(tables: bearoff.BearoffTables, arrangement: Arrangement) -> float:
    """In how many of 36 rolls all checkers leave at once."""
    chances = distribution(tables, index_of(arrangement))
    return 36 * sum(chances[:2])


def on_points(*points: int) -> Arrangement:
    return tuple(points.count(point) for point in range(1, 7))


def random_arrangement(rng: random.Random, checkers: int) -> Arrangement:
    return on_points(*(rng.randint(1, 6) for _ in range(checkers)))


# --- indexes ---------------------------------------------------------------------------------


def test_index_is_a_bijection_of_all_54264_arrangements() -> None:
    rows = all_arrangements()
    assert len(rows) == len(set(rows)) == 54264
    assert all(min(row) >= 0 and sum(row) <= 15 for row in rows)
    assert rows == sorted(rows, key=oracle.order)
    counts = unpacked()
    for index in range(bearoff.ARRANGEMENTS):
        assert bearoff.arrangement_index(counts[index]) == index


def test_packed_form_has_the_same_index() -> None:
    for row in random.Random(1).sample(all_arrangements(), 500):
        packed = bearoff.pack_arrangement(np.array(row, dtype=np.int8))
        assert bearoff.packed_index(packed) == index_of(row)


def test_few_checkers_come_first_and_full_arrangements_last() -> None:
    totals = unpacked().sum(axis=1)
    assert (totals[: bearoff.TWO_SIDED_SIZE] <= 6).all()
    assert (totals[bearoff.TWO_SIDED_SIZE :] > 6).all()
    assert (totals[bearoff.FIRST_FULL :] == 15).all()
    assert (totals[: bearoff.FIRST_FULL] < 15).all()
    assert bearoff.ENTRIES == bearoff.ARRANGEMENTS + bearoff.FIRST_OFF


def test_indexes_of_both_sides_of_a_board() -> None:
    own, other = (1, 0, 2, 0, 0, 4), (0, 3, 0, 0, 1, 2)
    board = np.zeros(26, dtype=np.int8)
    board[1:7] = own
    board[19:25] = [-count for count in reversed(other)]
    assert bearoff.own_arrangement(board) == index_of(own)
    assert bearoff.opponent_arrangement(board) == index_of(other)
    turned = np.array(naive.turn(board.tolist(), naive.BACKGAMMON), dtype=np.int8)
    assert bearoff.own_arrangement(turned) == index_of(other)
    assert bearoff.opponent_arrangement(turned) == index_of(own)
    assert bearoff.nardy_opponent_arrangement(board) == -1
    nardy = np.zeros(26, dtype=np.int8)
    nardy[1:7] = own
    nardy[13:19] = [-count for count in other]
    assert bearoff.own_arrangement(nardy) == index_of(own)
    assert bearoff.nardy_opponent_arrangement(nardy) == index_of(other)
    assert bearoff.opponent_arrangement(nardy) == -1


@pytest.mark.parametrize("point", [7, 18, 24, 25])
def test_a_checker_outside_or_on_the_bar_has_no_index(point: int) -> None:
    board = np.zeros(26, dtype=np.int8)
    board[3] = 2
    board[point] = 1
    assert bearoff.own_arrangement(board) == -1
    turned = np.array(naive.turn(board.tolist(), naive.BACKGAMMON), dtype=np.int8)
    assert bearoff.opponent_arrangement(turned) == -1


# --- plays -----------------------------------------------------------------------------------


def test_plays_are_those_of_the_rules() -> None:
    rng = random.Random(2)
    few = oracle.arrangements(2)[1:]
    many = [random_arrangement(rng, rng.randint(3, 15)) for _ in range(150)]
    buffers = np.zeros((2, MAX_BEAROFF_PLAYS), dtype=np.int64)
    for row in few + many:
        packed = bearoff.pack_arrangement(np.array(row, dtype=np.int8))
        for roll in naive.ALL_ROLLS:
            count = bearoff_plays(packed, roll[0], roll[1], buffers)
            found = [bearoff.packed_index(int(after)) for after in buffers[0, :count]]
            expected = [index_of(after) for after in oracle.results(row, roll)]
            assert sorted(found) == expected, (row, roll)


def test_most_plays_fit_the_buffers() -> None:
    buffers = np.zeros((2, MAX_BEAROFF_PLAYS), dtype=np.int64)
    packed = bearoff.pack_arrangement(np.array((2, 2, 2, 2, 3, 4), dtype=np.int8))
    assert 30 < bearoff_plays(packed, 1, 1, buffers) <= MAX_BEAROFF_PLAYS


# --- one-sided -------------------------------------------------------------------------------


@pytest.mark.parametrize(("point", "rolls"), [(1, 36), (2, 36), (3, 36), (4, 34), (5, 31), (6, 27)])
def test_one_checker_off_in_one_roll(
    tables: bearoff.BearoffTables, point: int, rolls: float
) -> None:
    assert one_roll_of_36(tables, on_points(point)) == pytest.approx(rolls, abs=1e-5)


# Rolls of 36 that take two checkers off, a table found in most books on the game.
TWO_CHECKERS = {
    (1, 1): 36, (2, 1): 36, (3, 1): 34, (4, 1): 29, (5, 1): 23, (6, 1): 15,
    (2, 2): 26, (3, 2): 25, (4, 2): 23, (5, 2): 19, (6, 2): 13,
    (3, 3): 17, (4, 3): 17, (5, 3): 14, (6, 3): 10,
    (4, 4): 11, (5, 4): 10, (6, 4): 8,
    (5, 5): 6, (6, 5): 6,
    (6, 6): 4,
}  # fmt: skip


@pytest.mark.parametrize(("points", "rolls"), TWO_CHECKERS.items())
def test_two_checkers_off_in_one_roll(
    tables: bearoff.BearoffTables, points: tuple[int, ...], rolls: float
) -> None:
    assert one_roll_of_36(tables, on_points(*points)) == pytest.approx(rolls, abs=1e-5)


@pytest.mark.parametrize("rolls", range(2, 9))
def test_stack_on_the_ace_point_has_the_known_effective_pip_count(
    tables: bearoff.BearoffTables, rolls: int
) -> None:
    """Trice's rule: a position of N rolls without doubles is worth 7 N + 1 pips."""
    mean = tables.mean_rolls[index_of((2 * rolls - 1, 0, 0, 0, 0, 0))]
    assert mean * 49 / 6 == pytest.approx(7 * rolls + 1, abs=0.04)


def test_small_arrangements_equal_the_exact_oracle(tables: bearoff.BearoffTables) -> None:
    for row in oracle.arrangements(3):
        expected = oracle.rolls_to_clear(row)
        found = distribution(tables, index_of(row))
        assert len(found) <= len(expected)
        padded = found + [0.0] * (len(expected) - len(found))
        assert padded == pytest.approx([float(chance) for chance in expected], abs=6e-8), row
        mean = float(oracle.mean(expected))
        assert tables.mean_rolls[index_of(row)] == pytest.approx(mean, rel=1e-7), row


def test_random_arrangements_follow_from_their_successors(tables: bearoff.BearoffTables) -> None:
    """One roll ahead by the rules oracle, the best play by expected rolls."""
    rng = random.Random(3)
    means = tables.mean_rolls.astype(np.float64)
    for _ in range(60):
        row = random_arrangement(rng, rng.randint(4, 15))
        expected = 1 + sum(
            float(weight) * min(means[index_of(after)] for after in oracle.results(row, roll))
            for roll, weight in oracle.ROLL_WEIGHTS
        )
        assert means[index_of(row)] == pytest.approx(expected, abs=2e-6), row


def test_every_distribution_sums_to_one_and_has_its_mean(tables: bearoff.BearoffTables) -> None:
    probabilities = tables.probabilities.astype(np.float64)
    begins = tables.offsets[:-1]
    lengths = np.diff(tables.offsets)
    assert lengths.min() >= 1
    assert np.abs(np.add.reduceat(probabilities, begins) - 1).max() < 1e-7
    rolls = np.arange(len(probabilities)) - np.repeat(begins - tables.starts, lengths)
    means = np.add.reduceat(probabilities * rolls, begins)
    assert np.abs(means[: bearoff.ARRANGEMENTS] - tables.mean_rolls).max() < 2e-6
    assert (means[bearoff.ARRANGEMENTS :] >= 1 - 1e-7).all()


def test_fewer_checkers_never_need_more_rolls(tables: bearoff.BearoffTables) -> None:
    """Taking one checker away; moving one nearer may open a gap and does cost now and then."""
    counts = unpacked()
    for point in range(6):
        held = np.flatnonzero(counts[:, point])
        less = counts[held].copy()
        less[:, point] -= 1
        without = np.array([bearoff.arrangement_index(row) for row in less])
        assert (tables.mean_rolls[without] <= tables.mean_rolls[held] + 1e-6).all()


def test_a_gap_costs_more_than_a_pip(tables: bearoff.BearoffTables) -> None:
    filled, gapped = index_of((7, 1, 6, 0, 0, 0)), index_of((8, 0, 6, 0, 0, 0))
    assert tables.mean_rolls[gapped] > tables.mean_rolls[filled] + 0.3


def test_first_checker_off_a_full_stack(tables: bearoff.BearoffTables) -> None:
    """From point 6 it leaves at once with the 17 rolls that hit at a distance of six."""
    entry = bearoff.FIRST_OFF + index_of((0, 0, 0, 0, 0, 15))
    assert distribution(tables, entry)[1] == pytest.approx(17 / 36, abs=1e-7)
    entry = bearoff.FIRST_OFF + index_of((15, 0, 0, 0, 0, 0))
    assert distribution(tables, entry) == pytest.approx([0, 1], abs=1e-7)


def test_first_checker_off_follows_from_its_successors(tables: bearoff.BearoffTables) -> None:
    def mean_first(row: Arrangement) -> float:
        if sum(row) < 15:
            return 0.0
        entry = bearoff.FIRST_OFF + index_of(row)
        return sum(n * chance for n, chance in enumerate(distribution(tables, entry)))

    rng = random.Random(4)
    rows: list[Arrangement] = [
        (0, 0, 0, 0, 0, 15),
        (0, 0, 0, 0, 15, 0),
        (1, 0, 0, 0, 0, 14),
        (0, 0, 0, 0, 8, 7),
    ]
    rows += [random_arrangement(rng, 15) for _ in range(20)]
    for row in rows:
        expected = 1 + sum(
            float(weight) * min(mean_first(after) for after in oracle.results(row, roll))
            for roll, weight in oracle.ROLL_WEIGHTS
        )
        assert mean_first(row) == pytest.approx(expected, abs=1e-6), row


# --- the race --------------------------------------------------------------------------------


def race(tables: bearoff.BearoffTables, own: Arrangement, opponent: Arrangement) -> list[float]:
    out = np.full(5, 9.0, dtype=np.float32)
    bearoff.bearoff_race_probabilities(index_of(own), index_of(opponent), tables, out)
    return out.tolist()


def test_race_equals_playing_it_out(one_sided_only: bearoff.BearoffTables) -> None:
    rows = oracle.arrangements(2)[1:]
    for own in rows:
        for opponent in rows:
            expected = 1 - float(oracle.winning_chance(opponent, own))
            found = race(one_sided_only, own, opponent)
            assert found == pytest.approx([expected, 0, 0, 0, 0], abs=1e-6), (own, opponent)


def test_race_of_many_checkers_equals_the_turns_one_by_one(
    one_sided_only: bearoff.BearoffTables,
) -> None:
    rng = random.Random(5)
    for _ in range(200):
        own = random_arrangement(rng, rng.randint(1, 15))
        opponent = random_arrangement(rng, rng.randint(1, 15))
        mine = distribution(one_sided_only, index_of(own))
        his = distribution(one_sided_only, index_of(opponent))
        win, playing_mine, playing_his = 0.0, 1.0, 1.0
        for turn in range(1, 32):
            playing_his -= his[turn] if turn < len(his) else 0.0  # he rolls first
            win += playing_his * (mine[turn] if turn < len(mine) else 0.0)
            playing_mine -= mine[turn] if turn < len(mine) else 0.0
        assert playing_mine == pytest.approx(0, abs=1e-6)
        assert race(one_sided_only, own, opponent)[0] == pytest.approx(win, abs=1e-6)


def test_gammon_race_equals_playing_it_out(tables: bearoff.BearoffTables) -> None:
    """The winner by the clearing play, the loser by the play for the first checker off."""
    means: dict[Arrangement, float] = {}

    def mean_first(row: Arrangement) -> float:
        if sum(row) < 15:
            return 0.0
        if row not in means:
            entry = bearoff.FIRST_OFF + index_of(row)
            means[row] = sum(n * p for n, p in enumerate(distribution(tables, entry)))
        return means[row]

    def saving_play(row: Arrangement, roll: tuple[int, int]) -> Arrangement:
        choices = oracle.results(row, roll)
        best = min(mean_first(after) for after in choices)
        return next(after for after in choices if mean_first(after) < best + 1e-6)

    @functools.cache
    def gammon(winner: Arrangement, loser: Arrangement, winner_rolls: bool) -> Fraction:
        chance = Fraction(0)
        for roll, weight in oracle.ROLL_WEIGHTS:
            if winner_rolls:
                after = oracle.best_play(winner, roll)
                chance += weight * (1 if after == oracle.EMPTY else gammon(after, loser, False))
            else:
                after = saving_play(loser, roll)
                chance += weight * (gammon(winner, after, True) if sum(after) == 15 else 0)
        return chance

    loser = (0, 0, 0, 0, 0, 15)
    for winner in [(1, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 1), (3, 0, 0, 0, 0, 0)]:
        rolls_next = race(tables, loser, winner)
        assert rolls_next[3] == pytest.approx(float(gammon(winner, loser, True)), abs=1e-6)
        assert rolls_next[0] + rolls_next[3] <= 1
        waits = race(tables, winner, loser)
        assert waits[1] == pytest.approx(float(gammon(winner, loser, False)), abs=1e-6)
        assert waits[2] == waits[4] == 0


def test_a_finished_game_is_won(
    tables: bearoff.BearoffTables, one_sided_only: bearoff.BearoffTables
) -> None:
    full = (0, 0, 0, 0, 0, 15)
    for loaded in (tables, one_sided_only):
        assert race(loaded, oracle.EMPTY, (1, 0, 0, 0, 0, 0)) == [1, 0, 0, 0, 0]
        assert race(loaded, oracle.EMPTY, full) == pytest.approx([1, 1, 0, 0, 0], abs=1e-7)


def test_no_gammon_once_a_checker_is_off(tables: bearoff.BearoffTables) -> None:
    assert race(tables, (2, 2, 2, 2, 3, 3), (0, 0, 0, 0, 0, 1))[3] == 0
    assert race(tables, (0, 0, 0, 0, 0, 1), (2, 2, 2, 2, 3, 3))[1] == 0


def test_probabilities_are_ordered(tables: bearoff.BearoffTables) -> None:
    rng = random.Random(6)
    for _ in range(500):
        own = random_arrangement(rng, rng.choice([1, 2, 4, 15]))
        opponent = random_arrangement(rng, rng.choice([1, 2, 4, 15]))
        win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = race(tables, own, opponent)
        assert 0 <= win_gammon <= win <= 1
        assert 0 <= lose_gammon <= 1 - win + 1e-7
        assert win_backgammon == lose_backgammon == 0


# --- two-sided -------------------------------------------------------------------------------


def two_sided(
    tables: bearoff.BearoffTables, roller: Arrangement, opponent: Arrangement
) -> list[float]:
    equities: list[float] = tables.two_sided[index_of(roller), index_of(opponent)].tolist()
    return equities


def test_two_sided_equals_the_exact_oracle(tables: bearoff.BearoffTables) -> None:
    rows = oracle.arrangements(2)[1:]
    for roller in rows:
        for opponent in rows:
            expected = [float(equity) for equity in oracle.equities(roller, opponent)]
            assert two_sided(tables, roller, opponent) == pytest.approx(expected, abs=1e-7)


def test_two_sided_entries_follow_from_their_successors(tables: bearoff.BearoffTables) -> None:
    rng = random.Random(7)
    for _ in range(150):
        roller = random_arrangement(rng, rng.randint(3, 6))
        opponent = random_arrangement(rng, rng.randint(3, 6))
        expected = [0.0] * 4
        for roll, weight in oracle.ROLL_WEIGHTS:
            options = []
            for after in oracle.results(roller, roll):
                cubeless, centered, he_owns, i_own = two_sided(tables, opponent, after)
                doubled = min(1.0, 2 * i_own)
                options.append((-cubeless, -max(centered, doubled), -i_own, -max(he_owns, doubled)))
            for state in range(4):
                expected[state] += float(weight) * max(option[state] for option in options)
        assert two_sided(tables, roller, opponent) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("checkers", "win"), [(2, 1.0), (4, 31 / 36), (6, 0.788)])
def test_equal_stacks_on_the_ace_point(
    tables: bearoff.BearoffTables, checkers: int, win: float
) -> None:
    """One, two and three rolls each, of which only doubles save a roll."""
    stack = (checkers, 0, 0, 0, 0, 0)
    assert two_sided(tables, stack, stack)[0] == pytest.approx(2 * win - 1, abs=5e-4)
    index = index_of(stack)
    # The three-roll position is a double and a pass, as every book says.
    for cube in (bearoff.CUBE_CENTERED, bearoff.CUBE_ROLLER):
        assert bearoff.two_sided_equity(index, index, cube, tables) == 1.0
    twice = 2 * bearoff.two_sided_no_double(index, index, bearoff.CUBE_OPPONENT, tables)
    assert twice >= 1


def test_last_roll_double(tables: bearoff.BearoffTables) -> None:
    """5-2 against a checker on the ace point: 19 of 36, so doubling doubles the gain."""
    roller, opponent = index_of(on_points(5, 2)), index_of(on_points(1))
    even = 2 * 19 / 36 - 1
    for cube, equity in [
        (bearoff.CUBELESS, even),
        (bearoff.CUBE_CENTERED, 2 * even),
        (bearoff.CUBE_ROLLER, 2 * even),
        (bearoff.CUBE_OPPONENT, even),
    ]:
        found = bearoff.two_sided_equity(roller, opponent, cube, tables)
        assert found == pytest.approx(equity, abs=1e-6)


def test_owning_the_cube_is_never_worse(tables: bearoff.BearoffTables) -> None:
    """Roller's cube, then centred, then the opponent's; a dead cube is the cubeless game."""
    play = tables.two_sided[1:, 1:].astype(np.float64)
    doubled = np.minimum(1.0, 2 * play[..., bearoff.CUBE_OPPONENT])
    owned = np.maximum(play[..., bearoff.CUBE_ROLLER], doubled)
    centered = np.maximum(play[..., bearoff.CUBE_CENTERED], doubled)
    assert (owned >= centered - 1e-6).all()
    assert (centered >= play[..., bearoff.CUBE_OPPONENT] - 1e-6).all()
    assert (owned >= play[..., bearoff.CUBELESS] - 1e-6).all()
    assert (play[..., bearoff.CUBE_OPPONENT] <= play[..., bearoff.CUBELESS] + 1e-6).all()


# Equities of GNU Backgammon 1.07 (`gnubg_ts0.bd`, 16 bits) before the roll, no double made:
# without a cube, centred, owned by the roller, owned by the opponent.
PEER = [
    ((0, 0, 0, 0, 0, 6), (0, 0, 0, 0, 0, 6), (0.3023, 0.4849, 0.5449, 0.2215)),
    ((1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 1), (0.4011, 0.6022, 0.6367, 0.3511)),
    ((0, 1, 0, 2, 0, 1), (2, 0, 1, 0, 1, 0), (0.0098, 0.0676, 0.1349, -0.0422)),
    ((0, 0, 3, 0, 2, 0), (3, 1, 0, 0, 1, 1), (0.4629, 0.6505, 0.6788, 0.4318)),
    ((2, 2, 2, 0, 0, 0), (0, 0, 0, 0, 2, 2), (0.7801, 0.9011, 0.9011, 0.7786)),
    ((0, 0, 0, 2, 2, 2), (0, 2, 2, 0, 0, 0), (-0.8526, -0.9687, -0.8469, -0.9707)),
]


@pytest.mark.parametrize(("roller", "opponent", "equities"), PEER)
def test_two_sided_agrees_with_a_peer(
    tables: bearoff.BearoffTables,
    roller: Arrangement,
    opponent: Arrangement,
    equities: tuple[float, ...],
) -> None:
    assert two_sided(tables, roller, opponent) == pytest.approx(equities, abs=2e-4)


def test_knowing_the_score_hardly_changes_the_race(
    tables: bearoff.BearoffTables, one_sided_only: bearoff.BearoffTables
) -> None:
    """The worst of all pairs is 0.014, the average 0.0009."""
    worst = race(tables, (3, 2, 1, 0, 0, 0), (0, 0, 2, 2, 2, 0))
    alone = race(one_sided_only, (3, 2, 1, 0, 0, 0), (0, 0, 2, 2, 2, 0))
    assert alone[0] - worst[0] == pytest.approx(0.0139, abs=1e-4)
    rng = random.Random(8)
    for _ in range(500):
        own = random_arrangement(rng, rng.randint(1, 6))
        opponent = random_arrangement(rng, rng.randint(1, 6))
        gap = race(tables, own, opponent)[0] - race(one_sided_only, own, opponent)[0]
        assert abs(gap) < 0.0145
