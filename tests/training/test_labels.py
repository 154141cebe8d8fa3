"""Labelled decisions: whose turn they belong to, and that any game can be labelled alone."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.errors import DataError
from bgserver.engine.lookahead import look_ahead
from bgserver.engine.position import Position, Variant
from bgserver.engine.work import run
from bgserver.kernels.dice import roll
from bgserver.training.labels import _look_along_the_game
from bgserver.training.shards import CARRIED, Labels, label_games, read_shards, write_shards
from tests import naive

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine

BOTH = pytest.mark.parametrize("variant", list(Variant))
SEED = 3


def games_of(
    engine: Engine,
    variant: Variant,
    count: int,
    first_game: int = 0,
    second_rolls: int = 0,
    carried: float = CARRIED,
) -> list[Labels]:
    core = engine.core(variant)
    games = label_games(core, SEED, first_game, second_rolls, carried)
    return [labels for _, labels in itertools.islice(games, count)]


def labels_of(engine: Engine, variant: Variant, games: int, first_game: int = 0) -> Labels:
    """The labels of some games in one, with turns told apart."""
    return joined(games_of(engine, variant, games, first_game))


def joined(games: list[Labels]) -> Labels:
    return Labels(
        np.concatenate([game.boards for game in games]),
        np.concatenate([game.targets for game in games]),
        np.concatenate([game.turns + 1000 * number for number, game in enumerate(games)]),
    )


def _at_once(engine: Engine, variant: Variant, board: NDArray[np.int8]) -> float:
    """The mover's chance to win, without a look ahead."""
    core = engine.core(variant)
    return float(run(look_ahead(board, 0, core.code, core.evaluator, core.threads))[0])


def assert_same(found: Labels, expected: Labels) -> None:
    for name in ("boards", "targets", "turns"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


@BOTH
@pytest.mark.parametrize(("second_rolls", "depth"), [(0, 1), (21, 2)])
def test_labels_are_what_the_teacher_thinks_some_rolls_ahead(
    engine: Engine, variant: Variant, second_rolls: int, depth: int
) -> None:
    core = engine.core(variant)
    for labels in games_of(engine, variant, 2, second_rolls=second_rolls, carried=0):
        assert len(labels.boards) == len(labels.targets) == len(labels.turns) > 10
        for row in range(0, len(labels.boards), 10):
            board = labels.boards[row]
            assert naive.faults(board.tolist(), variant.value) == []
            assert not naive.is_over(board.tolist())
            expected = run(look_ahead(board, depth, core.code, core.evaluator, core.threads))
            np.testing.assert_allclose(labels.targets[row], expected, atol=1e-6)


@BOTH
def test_a_sample_of_second_rolls_estimates_two_rolls_without_bias(
    engine: Engine, variant: Variant
) -> None:
    """Over many labels the sample errs to both sides, and less than one roll ahead does."""
    games = 4
    two = joined(games_of(engine, variant, games, second_rolls=21, carried=0)).targets
    one = joined(games_of(engine, variant, games, carried=0)).targets - two
    some = joined(games_of(engine, variant, games, second_rolls=7, carried=0)).targets - two
    assert np.abs(some).max() > 0
    assert (some**2).mean() < (one**2).mean()
    for output in (0, 1, 3):
        error = some[:, output].std() / np.sqrt(games)  # labels of one game are no more than one
        assert abs(some[:, output].mean()) < 4 * error


@BOTH
def test_turns_are_equal_exactly_for_plays_of_one_roll(engine: Engine, variant: Variant) -> None:
    """Siblings all arise from one board by the game's roll; those of two turns never do."""
    for game, labels in enumerate(games_of(engine, variant, 3)):
        assert (np.diff(labels.turns) >= 0).all()
        assert len(set(labels.turns.tolist())) > 10
        several = 0
        for turn in set(labels.turns.tolist()):
            siblings = labels.boards[labels.turns == turn].tolist()
            dice = roll(SEED, game, turn // 2)
            most = sum(naive.numbers_to_play(dice))
            # Own pips fall by the same roll from the same board: at most so far apart.
            pips = [naive.pips(board) for board in siblings]
            assert max(pips) - min(pips) <= most
            several += len(siblings) > 1
        assert several > 5


@BOTH
def test_siblings_are_plays_from_the_board_that_the_turn_before_left(
    engine: Engine, variant: Variant
) -> None:
    """Each turn's plays follow from some play of the turn before, where that was labelled."""
    followed = missed = 0
    for game, labels in enumerate(games_of(engine, variant, 3)):
        turns = labels.turns.tolist()
        for turn in sorted({turn // 2 for turn in turns})[1:]:
            siblings = {tuple(board) for board in labels.boards[labels.turns // 2 == turn].tolist()}
            earlier = labels.boards[labels.turns // 2 == turn - 1].tolist()
            dice = roll(SEED, game, turn)
            before = [naive.turn(board, variant.value) for board in earlier]
            reached = [
                naive.legal_results(board, dice, variant.value, first_turn=board[24] == 15)
                for board in before
            ]
            if any(siblings <= results for results in reached):
                followed += 1
            else:
                missed += 1  # the play made had not been labelled
    assert followed > 5 * missed


@BOTH
def test_what_later_turns_found_out_moves_close_siblings_together(
    engine: Engine, variant: Variant
) -> None:
    moved = compared = 0
    for plain, carried in zip(
        games_of(engine, variant, 4, carried=0), games_of(engine, variant, 4), strict=True
    ):
        np.testing.assert_array_equal(plain.boards, carried.boards)
        addition = carried.targets - plain.targets
        wins = addition[:, 0]
        for turn in set(plain.turns.tolist()):
            rows = plain.turns == turn
            np.testing.assert_allclose(wins[rows], wins[rows][0], atol=1e-6)
            compared += int(rows.sum() > 1)
            moved += bool(abs(wins[rows][0]) > 1e-4)
        # Nothing comes after the last turn.
        last = plain.turns == plain.turns.max()
        np.testing.assert_array_equal(addition[last], 0)
    assert compared > 50
    assert moved > 50


@BOTH
@pytest.mark.parametrize("second_rolls", [0, 3])
def test_each_finding_is_counted_once_on_its_way_back(
    engine: Engine, variant: Variant, second_rolls: int
) -> None:
    """A label that has looked two rolls ahead already knows what the next play is worth at one."""
    (whole,) = games_of(engine, variant, 1, 0, second_rolls)
    (plain,) = games_of(engine, variant, 1, 0, second_rolls, carried=0)
    (one_roll,) = games_of(engine, variant, 1, 0, 0, carried=0)
    first = [int(np.flatnonzero(whole.turns == turn)[0]) for turn in sorted(set(whole.turns))]
    first = [row for row in first if whole.turns[row] % 2 == 0]
    compared = 0
    for row, following in itertools.pairwise(first):
        if whole.turns[following] != whole.turns[row] + 2:
            continue
        known = one_roll.targets[following, 0]
        if second_rolls == 0:
            known = _at_once(engine, variant, whole.boards[following])
        expected = plain.targets[row, 0] - (whole.targets[following, 0] - known)
        assert whole.targets[row, 0] == pytest.approx(expected, abs=1e-5)
        compared += 1
    assert compared > 10


def test_a_finding_goes_back_with_the_other_view_and_the_share() -> None:
    """Three turns: at the second the best play was not made, so nothing passes it."""
    targets = np.array([[0.6, 0.2, 0.1, 0.1, 0], [0.5, 0.2, 0.1, 0.1, 0]] * 2, dtype=np.float32)
    at_once = np.array([[0.5, 0.1, 0, 0.1, 0], [0.5, 0.2, 0, 0.1, 0], [0.7, 0.2, 0.1, 0.1, 0]])
    arguments = (np.array([0, 2, 3]), np.array([2, 1, 1]), at_once, np.ones(3, dtype=np.bool_))
    found = targets.copy()
    _look_along_the_game(0.5, 3, *arguments, np.array([True, False, True]), found)
    np.testing.assert_array_equal(found[2:], targets[2:])
    # Turn 1 found 0.1 more wins and 0.1 more backgammons than it seemed at once.
    addition = np.array([-0.05, 0, 0, 0, 0.05])
    np.testing.assert_allclose(found[:2], targets[:2] + addition, atol=1e-6)
    _look_along_the_game(0.5, 3, *arguments, np.ones(3, dtype=np.bool_), targets)
    # Turn 2 found 0.2 fewer wins, which were the opponent's at turn 1.
    assert targets[2, 0] == pytest.approx(0.6 + 0.1)
    assert targets[0, 0] == pytest.approx(0.6 - 0.5 * 0.2)


@BOTH
def test_a_game_always_has_the_same_labels(engine: Engine, variant: Variant) -> None:
    """So that games can be labelled by many processes, each its own range."""
    both = games_of(engine, variant, 2, first_game=7)
    assert_same(games_of(engine, variant, 1, first_game=8)[0], both[1])
    assert_same(games_of(engine, variant, 1, first_game=7)[0], both[0])
    assert not np.array_equal(both[0].boards, both[1].boards)


@BOTH
def test_some_games_begin_at_unusual_boards(engine: Engine, variant: Variant) -> None:
    start = naive.start(variant.value)
    unusual = 0
    for game, labels in enumerate(games_of(engine, variant, 24)):
        turn = labels.turns[0]
        dice = roll(SEED, game, 0)
        first = {tuple(board) for board in labels.boards[labels.turns == turn].tolist()}
        usual = naive.legal_results(
            start, dice, variant.value, first_turn=variant is Variant.LONG_NARDY
        )
        unusual += turn != 0 or not first <= usual
    assert 1 <= unusual < 16


@pytest.mark.parametrize("variant", list(Variant))
def test_plain_games_are_those_from_the_start(engine: Engine, variant: Variant) -> None:
    """They keep their numbers and their labels."""
    core = engine.core(variant)
    start = list(Position.start(variant).points)
    everything = dict(itertools.islice(label_games(core, SEED, 0), 24))
    plain = dict(itertools.islice(label_games(core, SEED, 0, plain=True), 6))
    assert max(plain) < 24
    for game, labels in plain.items():
        np.testing.assert_array_equal(labels.targets, everything[game].targets)
        dice = roll(SEED, game, 0)
        legal = naive.legal_results(
            start, dice, variant.value, first_turn=variant is Variant.LONG_NARDY
        )
        assert labels.turns[0] == 0
        assert tuple(labels.boards[0].tolist()) in legal
    # Three of eight games, and one of eight of three more.
    numbers = [number for number, _ in itertools.islice(label_games(core, SEED, 0, plain=True), 20)]
    assert 30 <= numbers[-1] <= 75


@BOTH
def test_cousins_are_replies_by_one_roll_to_the_close_plays_of_another(
    engine: Engine, variant: Variant
) -> None:
    """And they are judged as labels are."""
    core = engine.core(variant)
    checked = 0
    plays_of = games_of(engine, variant, 3)
    for game, cousins in itertools.islice(label_games(core, SEED, 0, cousins=True), 3):
        plays = plays_of[game]
        for turn in sorted(set(cousins.turns.tolist())):
            dice = roll(SEED + 4, game, turn // 2)
            close = plays.boards[plays.turns == turn].tolist()
            turned = [naive.turn(board, variant.value) for board in close]
            replies: set[tuple[int, ...]] = set()
            for board in turned:
                first_turn = variant is Variant.LONG_NARDY and board[24] == 15
                replies |= naive.legal_results(board, dice, variant.value, first_turn=first_turn)
            group = cousins.boards[cousins.turns == turn].tolist()
            assert 2 <= len(group) <= 4
            # Plays that the bear-off tables judge have no label, but their replies may have.
            if len(close) >= len(group):
                assert {tuple(board) for board in group} <= replies
                checked += 1
        for row in range(0, len(cousins.boards), 9):
            value = run(look_ahead(cousins.boards[row], 1, core.code, core.evaluator, core.threads))
            np.testing.assert_allclose(cousins.targets[row], value, atol=1e-6)
    assert checked > 30


def test_cousins_are_kept_apart_when_shards_are_read(engine: Engine, tmp_path: Path) -> None:
    core = engine.core(Variant.BACKGAMMON)
    for name in ("plays", "cousins"):
        (tmp_path / name).mkdir()
        list(write_shards(core, SEED, tmp_path / name, 50, cousins=name == "cousins"))
    plays, cousins = (read_shards([tmp_path / name]) for name in ("plays", "cousins"))
    both = read_shards([tmp_path / "plays"], [tmp_path / "cousins"])
    assert (plays.cousins, cousins.cousins) == (0, 0)
    assert both.cousins == len(cousins.boards) > 0
    np.testing.assert_array_equal(both.boards[len(plays.boards) :], cousins.boards)


def test_shards_keep_the_labels_and_a_later_run_goes_on_after_them(
    engine: Engine, tmp_path: Path
) -> None:
    core = engine.core(Variant.BACKGAMMON)
    *_, first = write_shards(core, SEED, tmp_path, 100)
    *_, second = write_shards(core, SEED, tmp_path, 100)
    assert first >= 100
    found = read_shards([tmp_path])
    assert len(found.boards) == first + second
    games: list[Labels] = []
    while sum(len(game.boards) for game in games) < first + second:
        games += games_of(engine, Variant.BACKGAMMON, 1, first_game=len(games))
    expected = joined(games)
    np.testing.assert_array_equal(found.boards, expected.boards)
    np.testing.assert_array_equal(found.targets, expected.targets)
    # Turns of different games are told apart, siblings are kept together.
    np.testing.assert_array_equal(np.diff(found.turns) == 0, np.diff(expected.turns) == 0)


def test_folders_are_read_one_after_the_other(engine: Engine, tmp_path: Path) -> None:
    core = engine.core(Variant.BACKGAMMON)
    folders = [tmp_path / "one", tmp_path / "two"]
    for seed, folder in enumerate(folders):
        folder.mkdir()
        list(write_shards(core, seed, folder, 50))
    parts = [read_shards([folder]) for folder in folders]
    both = read_shards(folders)
    np.testing.assert_array_equal(both.boards, np.concatenate([part.boards for part in parts]))
    assert not set(both.turns[: len(parts[0].turns)]) & set(both.turns[len(parts[0].turns) :])


def test_shards_that_are_missing_or_damaged_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=re.escape(str(tmp_path))):
        read_shards([tmp_path])
    damaged = tmp_path / "labels-7.npz"
    damaged.write_bytes(b"PK nothing")
    with pytest.raises(DataError, match=r"labels-7\.npz"):
        read_shards([tmp_path])
