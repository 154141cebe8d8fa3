"""Labels by look-ahead: what they are, and that games can be labelled in any order."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.lookahead import look_ahead
from bgserver.engine.position import Variant
from bgserver.engine.work import run
from bgserver.training.labels import Labels, label_games, read_shards, write_shards
from tests import naive

if TYPE_CHECKING:
    from pathlib import Path

    from bgserver.engine.evaluator import Engine

BOTH = pytest.mark.parametrize("variant", list(Variant))


def labels_of(engine: Engine, variant: Variant, games: int, first_game: int = 0) -> Labels:
    """The labels of some games; turns are not told apart across games."""
    core = engine.core(variant)
    parts = list(itertools.islice(label_games(core, 3, first_game), games))
    return Labels(
        np.concatenate([part.boards for part in parts]),
        np.concatenate([part.targets for part in parts]),
        np.concatenate([part.turns for part in parts]),
    )


@BOTH
@pytest.mark.parametrize("depth", [1, 2])
def test_labels_are_the_teacher_looking_ahead(
    engine: Engine, variant: Variant, depth: int
) -> None:
    core = engine.core(variant)
    labels = next(label_games(core, 3, 0, depth))
    assert len(labels.boards) > 50
    for row in range(0, len(labels.boards), 10):
        board = labels.boards[row]
        assert naive.faults(board.tolist(), variant.value) == []
        assert not naive.is_over(board.tolist())
        expected = run(look_ahead(board, depth, core.code, core.evaluator, core.threads))
        np.testing.assert_allclose(labels.targets[row], expected, atol=1e-6)


@BOTH
def test_a_game_always_has_the_same_labels(engine: Engine, variant: Variant) -> None:
    """So that games can be labelled by many processes, each its own range."""
    both = labels_of(engine, variant, 2, first_game=7)
    first, second = (labels_of(engine, variant, 1, first_game=game) for game in (7, 8))
    np.testing.assert_array_equal(both.boards, np.concatenate([first.boards, second.boards]))
    np.testing.assert_array_equal(both.targets, np.concatenate([first.targets, second.targets]))


def test_shards_go_on_where_the_last_run_ended(engine: Engine, tmp_path: Path) -> None:
    core = engine.core(Variant.BACKGAMMON)
    first = list(write_shards(core, 3, tmp_path, 200))
    second = list(write_shards(core, 3, tmp_path, 100))
    labels = read_shards([tmp_path])
    assert len(labels.boards) == first[-1] + second[-1]
    assert first[-1] >= 200
    assert second[-1] >= 100
    games = len(first) + len(second)
    np.testing.assert_array_equal(
        labels.boards, labels_of(engine, Variant.BACKGAMMON, games).boards
    )
