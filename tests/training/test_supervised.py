"""Labels by look-ahead and the fit to them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.lookahead import look_ahead
from bgserver.engine.position import Variant
from bgserver.engine.work import run
from bgserver.training.labels import Labels, label_games, read_shards, write_shards
from bgserver.training.supervised import Epoch, fit, widened
from bgserver.training.td import initial_weights
from tests import naive

if TYPE_CHECKING:
    from pathlib import Path

    from bgserver.engine.evaluator import Engine

BOTH = pytest.mark.parametrize("variant", list(Variant))


def labels_of(engine: Engine, variant: Variant, games: int, first_game: int = 0) -> Labels:
    core = engine.core(variant)
    parts = list(itertools.islice(label_games(core, 3, first_game), games))
    return Labels(
        np.concatenate([boards for boards, _ in parts]),
        np.concatenate([targets for _, targets in parts]),
    )


@BOTH
def test_labels_are_the_teacher_one_roll_ahead(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    labels = labels_of(engine, variant, 2)
    assert len(labels.boards) > 100
    for row in range(0, len(labels.boards), 10):
        board = labels.boards[row]
        assert naive.faults(board.tolist(), variant.value) == []
        assert not naive.is_over(board.tolist())
        expected = run(look_ahead(board, 1, core.code, core.evaluator, core.threads))
        np.testing.assert_allclose(labels.targets[row], expected, atol=1e-6)


@BOTH
def test_a_game_always_has_the_same_labels(engine: Engine, variant: Variant) -> None:
    """So that games can be labelled by many processes, each its own range."""
    both = labels_of(engine, variant, 2, first_game=7)
    first, second = (labels_of(engine, variant, 1, first_game=game) for game in (7, 8))
    np.testing.assert_array_equal(both.boards, np.concatenate([first.boards, second.boards]))
    np.testing.assert_array_equal(both.targets, np.concatenate([first.targets, second.targets]))


@BOTH
def test_fitting_brings_a_network_nearer_to_its_labels(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    labels = labels_of(engine, variant, 20 if variant is Variant.BACKGAMMON else 8)
    results = []
    for _ in range(2):
        weights = initial_weights(16, 8, 1)
        epochs: list[Epoch] = []
        fit(weights, core.code, labels, (0.02, 0.02, 0.01, 0.005), 1, epochs.append)
        assert [(epoch.number, epoch.rate) for epoch in epochs] == [
            (1, 0.02),
            (2, 0.02),
            (3, 0.01),
            (4, 0.005),
        ]
        assert epochs[-1].error < epochs[0].error
        assert epochs[-1].error < 0.5  # a network that knows nothing is about one point off
        results.append((weights, epochs))
    for name, array in results[0][0]._asdict().items():  # the same bits again
        np.testing.assert_array_equal(getattr(results[1][0], name), array)
    assert results[0][1] == results[1][1]


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


def test_a_widened_network_computes_the_same(engine: Engine) -> None:
    raw = initial_weights(16, 8, 1)
    wide = widened(raw, 8, 2)
    assert wide.b1.shape[1] == 24
    labels = labels_of(engine, Variant.BACKGAMMON, 1)
    errors: list[float] = []
    for weights in (raw, wide):
        fit(weights, 0, labels, (0.0,), 1, lambda epoch: errors.append(epoch.error))
    assert errors[0] == pytest.approx(errors[1], rel=1e-5)
    assert errors[0] > 0
