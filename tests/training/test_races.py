"""Races labelled by the distributions of both sides' rolls: by slow means, and by exact tables."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.bearoff import BearoffDatabase, load_bearoff
from bgserver.engine.errors import DataError
from bgserver.engine.position import Position, Variant
from bgserver.kernels.bearoff import bearoff_race_probabilities, own_arrangement
from bgserver.kernels.classes import CLASS_RACE
from bgserver.kernels.moves import BACKGAMMON, make_play_buffers
from bgserver.training import shards
from bgserver.training.encoding import classes_of
from bgserver.training.race_labels import races_among, relabel, sides_to_learn
from bgserver.training.shards import Labels, read_shards, write_labels
from bgserver.training.sides import (
    CLEAR,
    FIRST,
    LONGEST,
    HomeTable,
    choose_plays,
    compare,
    formula_network,
    home_table,
    known_entries,
    look_up,
    sides_of,
)
from tests import naive
from tests.bearoff_oracle import ROLL_WEIGHTS
from tests.training.test_labels import assert_same, labels_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine

Side = tuple[int, ...]


@pytest.fixture(scope="module")
def database() -> BearoffDatabase:
    return load_bearoff(with_two_sided=False)


@pytest.fixture(scope="module")
def table(database: BearoffDatabase) -> HomeTable:
    return home_table(database.tables)


def side_with(points: dict[int, int]) -> NDArray[np.int8]:
    """Checkers by point."""
    side = np.zeros(26, dtype=np.int8)
    for point, count in points.items():
        side[point] = count
    return side


def board_with(own: dict[int, int], opponent: dict[int, int]) -> list[int]:
    """The checkers of both, each by the player's own points."""
    board = np.zeros(26, dtype=np.int8)
    for point, count in own.items():
        board[point] = count
    for point, count in opponent.items():
        board[25 - point] = -count
    return [int(count) for count in board]


def random_homes(number: int, checkers: int | None = None) -> NDArray[np.int8]:
    """Sides at home."""
    random = np.random.default_rng(7)
    sides = np.zeros((number, 26), dtype=np.int8)
    for side in sides:
        for point in random.integers(1, 7, checkers or random.integers(1, 16)):
            side[point] += 1
    return sides


# --- sides -----------------------------------------------------------------------------------


def test_chances_are_what_counting_all_pairs_of_rolls_gives() -> None:
    random = np.random.default_rng(5)
    both = random.random((2, 6, 2, LONGEST)) ** 4
    both[..., 0] = 0  # nobody is there yet
    both[..., -1] = 0
    both /= both.sum(axis=-1, keepdims=True)
    # The first checker is not off after the last, except in distributions such as these.
    own, opponent = both
    win, win_gammon, lose_gammon = compare(own, opponent)
    for row in range(6):
        expected = np.zeros(3)
        for mine, his in itertools.product(range(LONGEST), repeat=2):
            # His roll of a number comes before the mover's.
            expected[0] += own[row, CLEAR, mine] * opponent[row, CLEAR, his] * (mine < his)
            expected[1] += own[row, CLEAR, mine] * opponent[row, FIRST, his] * (mine < his)
            expected[2] += own[row, FIRST, mine] * opponent[row, CLEAR, his] * (his <= mine)
        assert win[row] == pytest.approx(expected[0])
        assert win_gammon[row] == pytest.approx(min(expected[1], expected[0]))
        assert lose_gammon[row] == pytest.approx(min(expected[2], 1 - expected[0]))


def test_sides_of_a_board_are_numbered_each_by_its_own_player() -> None:
    own, opponent = sides_of(np.array([Position.start().points], dtype=np.int8))
    start = side_with({6: 5, 8: 3, 13: 5, 24: 2})
    np.testing.assert_array_equal(own[0], start)
    np.testing.assert_array_equal(opponent[0], start)


def test_sides_at_home_have_the_exact_distributions(
    database: BearoffDatabase, table: HomeTable
) -> None:
    sides = np.concatenate([random_homes(40), random_homes(20, 15)])
    found = look_up(sides, table, np.full((len(sides), 2, LONGEST), np.nan))
    for side, chances in zip(sides, found, strict=True):
        counts = side[1:7].tolist()
        clear = database.rolls_to_clear(counts)
        np.testing.assert_allclose(chances[CLEAR, : len(clear)], clear, rtol=1e-6)
        assert not chances[CLEAR, len(clear) :].any()
        # With fewer checkers the first is off already.
        first = database.rolls_to_first(counts) if sum(counts) == 15 else np.ones(1)
        np.testing.assert_allclose(chances[FIRST, : len(first)], first, rtol=1e-6)
        assert not chances[FIRST, len(first) :].any()


def test_two_sides_at_home_have_the_chances_of_the_bearoff(
    database: BearoffDatabase, table: HomeTable
) -> None:
    sides = np.concatenate([random_homes(40), random_homes(40, 15)])
    other = np.random.default_rng(3).permutation(sides)
    nothing = np.zeros((len(sides), 2, LONGEST))
    found = compare(look_up(sides, table, nothing), look_up(other, table, nothing.copy()))
    expected = np.zeros(5, dtype=np.float32)
    for row, (mine, his) in enumerate(zip(sides, other, strict=True)):
        bearoff_race_probabilities(
            own_arrangement(mine), own_arrangement(his), database.tables, expected
        )
        chances = [float(part[row]) for part in found]
        np.testing.assert_allclose(chances, expected[[0, 1, 3]], atol=1e-6)


def test_a_side_with_checkers_outside_is_not_in_the_table(table: HomeTable) -> None:
    sides = np.stack([side_with({7: 1, 6: 14}), side_with({7: 1, 6: 13}), side_with({6: 15})])
    assert (known_entries(sides, CLEAR) < 0).tolist() == [True, True, False]
    assert (known_entries(sides, FIRST) < 0).tolist() == [True, False, False]
    guess = np.full((3, 2, LONGEST), 0.5)
    found = look_up(sides, table, guess.copy())
    np.testing.assert_array_equal(found[0], guess[0])
    np.testing.assert_array_equal(found[1, CLEAR], guess[1, CLEAR])
    assert found[1, FIRST, 0] == 1


def results(side: Side, roll: tuple[int, int]) -> list[Side]:
    """Sides after a roll, by the rules oracle."""
    board = (*side[:24], -1, 0)  # an opponent must exist; he is far away
    found = naive.legal_results(board, roll, naive.BACKGAMMON)
    return [(*after[:24], 0, 0) for after in found]


def first_off(side: Side, database: BearoffDatabase) -> float:
    """Expected rolls to the first checker off, of a side at home or with one off."""
    if sum(side) < 15:
        return 0.0
    chances = database.rolls_to_first(side[1:7])
    return float(chances @ np.arange(len(chances)))


@pytest.mark.parametrize("goal", [CLEAR, FIRST])
def test_the_play_after_which_the_fewest_rolls_are_expected_is_chosen(
    database: BearoffDatabase, table: HomeTable, goal: int
) -> None:
    """Every roll brings the last checker home."""
    side = side_with({7: 1, 6: 3, 5: 2, 4: 5, 2: 3, 1: 1})
    (plays,) = choose_plays(side[None], goal, formula_network(4), table, make_play_buffers())
    rolls = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]

    def expected(after: Side) -> float:
        if goal == FIRST:
            return first_off(after, database)
        return database.mean_rolls(after[1:7])

    chosen = {tuple(play.tolist()) for play in plays}
    assert len(chosen) > 5
    seen = 0
    for roll in rolls:
        possible = [after for after in results(tuple(side.tolist()), roll) if not any(after[7:])]
        found = [after for after in possible if after in chosen]
        fewest = min(expected(after) for after in possible)
        assert min(expected(after) for after in found) == pytest.approx(fewest, abs=1e-6)
        seen += 1
    assert seen == len(plays)


# --- labels ----------------------------------------------------------------------------------


def evenly(sides: NDArray[np.int8]) -> NDArray[np.float64]:
    """The same distributions for all sides."""
    chances = np.zeros((len(sides), 2, LONGEST))
    chances[:, CLEAR, 1:21] = 0.05
    chances[:, FIRST, 1:11] = 0.1
    return chances


@pytest.fixture(scope="module")
def labels(engine: Engine) -> Labels:
    return labels_of(engine, Variant.BACKGAMMON, 30)


def test_boards_and_turns_of_races_are_kept(labels: Labels) -> None:
    races = races_among(labels)
    are = classes_of(labels.boards, BACKGAMMON) == CLASS_RACE
    assert 100 < len(races.boards) < len(labels.boards)
    np.testing.assert_array_equal(races.boards, labels.boards[are])
    np.testing.assert_array_equal(races.turns, labels.turns[are])
    told: list[tuple[int, int]] = []
    found = relabel(races, evenly, lambda done, total: told.append((done, total)))
    np.testing.assert_array_equal(found.boards, races.boards)
    np.testing.assert_array_equal(found.turns, races.turns)
    assert told[-1] == (len(races.boards), len(races.boards))
    np.testing.assert_allclose(found.targets[:, 0], 0.475, rtol=1e-6)
    np.testing.assert_allclose(found.targets[:, 1], 0.225, rtol=1e-6)
    np.testing.assert_allclose(found.targets[:, 3], 0.275, rtol=1e-6)


def test_backgammons_stay_where_they_are_possible() -> None:
    mine = {5: 7, 4: 7}
    boards = np.array(
        [
            board_with(mine, {19: 1, 8: 14}),
            board_with(mine, {18: 1, 8: 14}),
            board_with(mine, {19: 1, 8: 13}),
            board_with({19: 1, 8: 14}, mine),
        ],
        dtype=np.int8,
    )
    old = np.full((4, 5), 0.25, dtype=np.float32)
    races = Labels(boards, old, np.arange(4, dtype=np.int32))
    found = relabel(races, evenly).targets
    np.testing.assert_array_equal(found[:, 2] > 0, [True, False, False, False])
    np.testing.assert_array_equal(found[:, 4] > 0, [False, False, False, True])
    assert found[0, 2] == found[3, 4] == 0.25


def test_labels_of_races_are_written_in_shards_of_whole_turns(
    labels: Labels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "_SHARD_LABELS", 40)
    races = races_among(labels)
    write_labels(tmp_path, races)
    paths = list(tmp_path.glob("labels-*.npz"))
    assert 2 < len(paths) <= len(races.boards) / 40 + 1
    found = read_shards([tmp_path])
    np.testing.assert_array_equal(found.boards, races.boards)
    np.testing.assert_array_equal(found.targets, races.targets)
    np.testing.assert_array_equal(np.diff(found.turns) == 0, np.diff(races.turns) == 0)
    for path in paths:
        assert np.load(path)["turns"][0] == 0


def test_sides_to_learn_from_are_different_ones_outside_home(labels: Labels) -> None:
    boards = races_among(labels).boards
    sides = sides_to_learn(boards, 50, 1)
    known = {tuple(side) for part in sides_of(boards) for side in part.tolist()}
    found = {tuple(side) for side in sides.tolist()}
    assert len(sides) == len(found) == 50
    assert found <= known
    assert sides[:, 7:].any(axis=1).all()
    np.testing.assert_array_equal(sides_to_learn(boards, 50, 1), sides)
    assert {tuple(side) for side in sides_to_learn(boards, 50, 2).tolist()} != found


def test_labels_without_races_are_refused() -> None:
    start = np.array([Position.start().points], dtype=np.int8)
    nothing = Labels(start, np.zeros((1, 5), np.float32), np.zeros(1, np.int32))
    with pytest.raises(DataError, match="no races"):
        races_among(nothing)
    home = np.array([board_with({1: 2}, {1: 2})], dtype=np.int8)
    with pytest.raises(DataError, match="outside home"):
        sides_to_learn(home, 10, 1)


# --- learning --------------------------------------------------------------------------------


@functools.cache
def rolls_to_clear(side: Side) -> Fraction:
    """Expected rolls to bear off all checkers by the best plays, by the rules oracle."""
    if not any(side):
        return Fraction(0)
    total = Fraction(1)
    for roll, weight in ROLL_WEIGHTS:
        total += weight * min(rolls_to_clear(after) for after in results(side, roll))
    return total


def small_sides() -> NDArray[np.int8]:
    """All sides of at most three checkers up to point 9, some outside home, in random order."""
    sides = []
    for checkers in (1, 2, 3):
        for places in itertools.combinations_with_replacement(range(1, 10), checkers):
            if places[-1] > 6:
                side = np.zeros(26, dtype=np.int8)
                for point in places:
                    side[point] += 1
                sides.append(side)
    return np.random.default_rng(2).permutation(np.array(sides))


@pytest.mark.train
def test_learned_rolls_are_near_those_of_exact_enumeration(
    database: BearoffDatabase, table: HomeTable
) -> None:
    from bgserver.training.side_networks import (  # noqa: PLC0415 -- an optional extra
        Round,
        SidesPlan,
        learn_sides,
    )

    few = small_sides()
    full = np.stack(
        [side_with({7: 1, 6: 14 - low, point: low}) for point in range(1, 6) for low in range(1, 9)]
    )
    sides = np.random.default_rng(4).permutation(np.concatenate([few, full]))
    plan = SidesPlan(
        rounds=(Round(1.0, 3, 40, 60), Round(1.0, 2, 40, 150)), widths=(32, 32), batch=32
    )
    told: list[tuple[int, int]] = []
    network = learn_sides(sides, table, plan, lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == told[-1][1]
    rolls = np.arange(LONGEST)
    found = network.distributions(few, table)
    np.testing.assert_allclose(found.sum(axis=2), 1, atol=1e-5)
    expected = np.array([float(rolls_to_clear(tuple(side))) for side in few.tolist()])
    errors = found[:, CLEAR] @ rolls - expected
    assert np.sqrt((errors**2).mean()) < 0.06
    assert expected.std() > 0.3
    # One roll brings the checker home; then the table knows the rest.
    firsts = []
    for side in full.tolist():
        mean = 1.0
        for roll, weight in ROLL_WEIGHTS:
            plays = results(tuple(side), roll)
            mean += float(weight) * min(
                first_off(after, database) for after in plays if not any(after[7:])
            )
        firsts.append(mean)
    errors = network.distributions(full, table)[:, FIRST] @ rolls - np.array(firsts)
    assert np.sqrt((errors**2).mean()) < 0.06


@pytest.mark.train
def test_learning_is_repeated_to_the_same_bits(labels: Labels, table: HomeTable) -> None:
    import torch  # noqa: PLC0415 -- an optional extra

    from bgserver.training.side_networks import (  # noqa: PLC0415 -- the same
        Round,
        SidesPlan,
        learn_sides,
    )

    races = races_among(labels)
    sides = sides_to_learn(races.boards, 120, 1)

    def learned(seed: int) -> Labels:
        plan = SidesPlan((Round(0.5, 2, 2, 2), Round(1.0, 2, 2, 2)), (16, 16), batch=32, seed=seed)
        network = learn_sides(sides, table, plan)
        return relabel(races, lambda part: network.distributions(part, table))

    state = torch.random.get_rng_state()
    once = learned(1)
    assert_same(once, learned(1))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not np.array_equal(learned(2).targets, once.targets)
