"""The supervised fit with PyTorch; an extra, so these tests have a marker of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.errors import DataError
from bgserver.engine.position import Position, Variant
from bgserver.engine.weights import RawWeights, Weights
from bgserver.kernels import evaluate, network
from bgserver.kernels.classes import CLASS_RACE
from bgserver.training.encoding import encode
from bgserver.training.shards import Labels
from bgserver.training.td import initial_weights
from tests.training.test_labels import labels_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine
    from bgserver.training.supervised import Epoch

pytestmark = pytest.mark.train
BOTH = pytest.mark.parametrize("variant", list(Variant))


def fitted(
    labels: Labels, variant: int, epochs: int, checkpoint: Path | None = None
) -> tuple[RawWeights, list[Epoch]]:
    """A small network fitted from the same random weights."""
    from bgserver.training.supervised import FitPlan, fit  # noqa: PLC0415 -- an optional extra

    told: list[Epoch] = []
    plan = FitPlan(epochs=epochs, batch=256, held_out=400)
    weights = fit(
        initial_weights(32, 32, 1),
        variant,
        labels,
        plan,
        checkpoint,
        lambda epoch, _: told.append(replace(epoch, seconds=0)),
    )
    return weights, told


def assert_same_bits(first: RawWeights, second: RawWeights) -> None:
    for name, array in first._asdict().items():
        np.testing.assert_array_equal(getattr(second, name), array, err_msg=name)


@BOTH
def test_fitting_brings_a_network_nearer_to_its_labels(engine: Engine, variant: Variant) -> None:
    core = engine.core(variant)
    labels = labels_of(engine, variant, 30)
    weights, epochs = fitted(labels, core.code, 12)
    assert [epoch.number for epoch in epochs] == list(range(1, 13))
    assert epochs[-1].error < epochs[0].error
    assert epochs[-1].error < 0.5  # a network that knows nothing is about one point off
    again, epochs_again = fitted(labels, core.code, 12)
    assert_same_bits(weights, again)
    assert epochs == epochs_again


def test_an_interrupted_fit_goes_on_to_the_same_bits(engine: Engine, tmp_path: Path) -> None:
    from bgserver.training import supervised  # noqa: PLC0415 -- an optional extra

    labels = labels_of(engine, Variant.BACKGAMMON, 6)
    whole, epochs = fitted(labels, 0, 3)
    checkpoint = tmp_path / "checkpoint"
    plan = supervised.FitPlan(epochs=3, batch=256, held_out=400)

    def stop(epoch: Epoch, _: RawWeights) -> None:
        if epoch.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        supervised.fit(initial_weights(32, 32, 1), 0, labels, plan, checkpoint, stop)
    rest, epochs_left = fitted(labels, 0, 3, checkpoint)
    assert_same_bits(whole, rest)
    assert epochs_left == epochs[2:]


@BOTH
def test_what_is_trained_is_what_the_engine_evaluates(engine: Engine, variant: Variant) -> None:
    import torch  # noqa: PLC0415 -- an optional extra

    from bgserver.training.supervised import Networks  # noqa: PLC0415 -- the same

    core = engine.core(variant)
    labels = labels_of(engine, variant, 2)
    encoded = encode(labels.boards, core.code)
    module = Networks(core.weights.raw)
    scratch = network.make_scratch(core.evaluator.networks)
    found = np.zeros(5, dtype=np.float32)
    for row in range(0, len(labels.boards), 7):
        units = torch.from_numpy(encoded.units[row : row + 1])
        dense = torch.from_numpy(encoded.dense[row : row + 1])
        logits = module.logits(int(encoded.classes[row]), units, dense)
        evaluate.evaluate_board(labels.boards[row], core.code, core.evaluator, scratch, found)
        expected = torch.sigmoid(logits)[0, 0].item()
        assert found[0] == pytest.approx(expected, abs=1e-5)
    assert_same_bits(core.weights.raw, module.raw())
    assert Weights(variant, "", "", module.raw()).networks()


def test_one_network_can_be_fitted_alone(engine: Engine) -> None:
    from bgserver.training.supervised import FitPlan, fit  # noqa: PLC0415 -- an optional extra

    labels = labels_of(engine, Variant.BACKGAMMON, 12)
    before = initial_weights(32, 32, 1)
    told: list[Epoch] = []
    plan = FitPlan(epochs=6, batch=64, held_out=200, classes=(CLASS_RACE,))
    after = fit(before, 0, labels, plan, report=lambda epoch, _: told.append(epoch))
    for name, array in before._asdict().items():
        changed = array != getattr(after, name)
        if name.startswith("scout"):
            assert not changed.any()
        else:
            assert changed[CLASS_RACE].any()
            assert not np.delete(changed, CLASS_RACE, axis=0).any()
    assert told[-1].error < told[0].error


def test_of_cousins_only_the_differences_are_learned(engine: Engine) -> None:
    labels = labels_of(engine, Variant.BACKGAMMON, 6)
    half = int(np.flatnonzero(np.diff(labels.turns))[80]) + 1  # siblings stay on one side

    def with_cousins(shift: float, share: float) -> NDArray[np.float64]:
        """Chances to win of the cousins by the fitted network."""
        targets = labels.targets.copy()
        targets[half:, 0] = share * (targets[half:, 0] - 0.5) + 0.5 + shift
        changed = replace(labels, targets=targets, cousins=len(labels.boards) - half)
        weights, _ = fitted(changed, 0, 12)
        networks = Weights(Variant.BACKGAMMON, "", "", weights).networks()
        scratch = network.make_scratch(networks)
        evaluator = engine.core(Variant.BACKGAMMON).evaluator._replace(networks=networks)
        found = np.zeros(5, dtype=np.float32)
        wins = []
        for board in labels.boards[half:]:
            evaluate.evaluate_board(board, 0, evaluator, scratch, found)
            wins.append(float(found[0]))
        return np.array(wins)

    plain = with_cousins(0.0, 1.0)
    assert np.abs(with_cousins(0.3, 1.0) - plain).max() < 1e-4
    assert np.abs(with_cousins(0.0, -9.0) - plain).max() > 1e-3


def test_a_fit_leaves_the_numbers_of_the_process_alone(engine: Engine) -> None:
    smallest = np.array([5e-324])
    fitted(labels_of(engine, Variant.BACKGAMMON, 2), 0, 1)
    assert float((smallest * 1.0)[0]) == 5e-324
    assert 5e-324 * 1.0 > 0.0


def test_a_network_without_labels_cannot_be_fitted() -> None:
    from bgserver.training.supervised import FitPlan, fit  # noqa: PLC0415 -- an optional extra

    start = np.array(Position.start().points, dtype=np.int8)
    labels = Labels(
        np.repeat(start[None], 80, axis=0),
        np.full((80, 5), 0.4, np.float32),
        np.arange(80, dtype=np.int32),
    )
    with pytest.raises(DataError, match="too few labels"):
        fit(initial_weights(32, 32, 1), 0, labels, FitPlan(classes=(CLASS_RACE,)))


def test_an_output_that_is_never_wrong_is_left_alone(engine: Engine) -> None:
    """Labels at or below 0 would drive it down for ever, and to pull it up would disturb others."""
    from bgserver.training import supervised  # noqa: PLC0415 -- an optional extra

    labels = labels_of(engine, Variant.BACKGAMMON, 2)
    count = len(labels.targets) // 8
    nothing = RawWeights(*(np.zeros_like(array) for array in initial_weights(32, 32, 1)))

    def pull(output: float, target: float) -> float:
        targets = np.full_like(labels.targets, target)
        batch = supervised._batch(replace(labels, targets=targets), np.arange(count), 0)
        networks = supervised.Networks(nothing._replace(b3=np.full_like(nothing.b3, output)))
        supervised._loss(networks, batch, supervised.FitPlan(equity_weight=0)).backward()
        gradient = networks.b3.grad
        assert gradient is not None
        return -float(gradient.sum())

    assert pull(-11.0, -0.005) < 0.0
    assert pull(-13.0, -0.005) == pull(-900.0, 0.0) == 0.0
    assert pull(-13.0, 0.005) > 0.0
    assert pull(11.0, 1.005) > 0.0
    assert pull(13.0, 1.005) == pull(900.0, 1.0) == 0.0
    assert pull(13.0, 0.995) < 0.0
