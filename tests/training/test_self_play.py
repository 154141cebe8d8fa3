"""Self-play training: repeatable to the bit, resumable, and it learns."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.position import Variant
from bgserver.engine.weights import RawWeights, Weights, save_weights
from bgserver.engine.work import run
from bgserver.games.contest import play_unit
from bgserver.games.statistics import Statistics
from bgserver.training.self_play import (
    SelfPlayPlan,
    load_checkpoint,
    run_self_play,
    save_checkpoint,
)
from bgserver.training.td import initial_weights
from tests.simulations import simulation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BOTH = pytest.mark.parametrize("variant", list(Variant))
WIDTHS = (32, 32)


def small_plan(variant: Variant) -> SelfPlayPlan:
    """Six steps in two stages, a checkpoint after every second."""
    return SelfPlayPlan(
        variant,
        schedule=((80, 0.02), (40, 0.005)),
        seed=5,
        width1=WIDTHS[0],
        width2=WIDTHS[1],
        games_per_step=20,
        steps_per_checkpoint=2,
    )


def assert_same(found: RawWeights, expected: RawWeights) -> None:
    for name in RawWeights._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


class PulledPlugError(Exception):
    """The training process goes away."""


def plug_pulled_after(games: int) -> Callable[[int, int], None]:
    def progress(done: int, _: int) -> None:
        if done >= games:
            raise PulledPlugError

    return progress


def test_stages_follow_each_other() -> None:
    plan = replace(small_plan(Variant.BACKGAMMON), schedule=((100, 0.5), (50, 0.25), (1, 0.125)))
    rates = [plan.rate_at(game) for game in (0, 99, 100, 149, 150, 151, 1000)]
    assert rates == [0.5, 0.5, 0.25, 0.25, 0.125, None, None]
    assert plan.total_games == 151


@BOTH
def test_the_same_plan_gives_the_same_bits(tmp_path: Path, variant: Variant) -> None:
    plan = small_plan(variant)
    first = run_self_play(plan, tmp_path / "first")
    assert_same(run_self_play(plan, tmp_path / "second"), first)
    other = run_self_play(replace(plan, seed=6), tmp_path / "third")
    assert not np.array_equal(other.units, first.units)
    assert not np.array_equal(first.units, initial_weights(*WIDTHS, plan.seed).units)
    for array in first:
        assert np.isfinite(array).all()


@BOTH
@pytest.mark.parametrize("after", [40, 60, 100])
def test_a_run_that_was_cut_off_ends_with_the_same_bits(
    tmp_path: Path, variant: Variant, after: int
) -> None:
    plan = small_plan(variant)
    whole = run_self_play(plan, tmp_path / "whole")
    folder = tmp_path / "cut"
    with pytest.raises(PulledPlugError):
        run_self_play(plan, folder, plug_pulled_after(after))
    _, games, _ = load_checkpoint(folder / "checkpoint.npz")
    assert after - 20 <= games <= after
    assert_same(run_self_play(plan, folder), whole)
    assert load_checkpoint(folder / "checkpoint.npz")[1] == plan.total_games


def test_a_finished_run_is_not_played_again(tmp_path: Path) -> None:
    plan = small_plan(Variant.BACKGAMMON)
    calls: list[tuple[int, int]] = []
    weights = run_self_play(plan, tmp_path, lambda *call: calls.append(call))
    assert calls == [(games, 120) for games in range(20, 121, 20)]
    calls.clear()
    assert_same(run_self_play(plan, tmp_path, lambda *call: calls.append(call)), weights)
    assert calls == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.npz", "log.jsonl"]


def test_the_log_tells_how_it_went(tmp_path: Path) -> None:
    run_self_play(small_plan(Variant.BACKGAMMON), tmp_path)
    entries = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [entry["games"] for entry in entries] == list(range(20, 121, 20))
    assert [entry["rate"] for entry in entries] == [0.02] * 4 + [0.005] * 2
    for entry in entries:
        assert 10 < entry["turns_per_game"] < 400
        assert entry["seconds"] >= 0


def test_checkpoints_keep_every_bit(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.npz"
    weights = initial_weights(*WIDTHS, 9)
    save_checkpoint(path, weights, 12_345, 6.5)
    loaded, games, seconds = load_checkpoint(path)
    assert_same(loaded, weights)
    assert (games, seconds) == (12_345, 6.5)
    assert [entry.name for entry in tmp_path.iterdir()] == ["checkpoint.npz"]


def wins_against_random(raw: RawWeights, folder: Path, games: int) -> float:
    """Share of games that a static player with these weights wins, through files as released."""
    folder.mkdir()
    for variant in Variant:
        save_weights(folder / f"{variant.value}.npz", Weights(variant, "0", "test", raw))
    engine = Engine.load(weights=folder)
    spec = simulation(cube=False, count=games, seed=3, levels=(Level.STATIC, Level.RANDOM))
    statistics = Statistics()
    for index in range(games):
        statistics.add(run(play_unit(engine, spec, index)))
    return statistics.game_win_rate.mean


def test_a_few_hundred_games_teach_how_to_beat_random_play(tmp_path: Path) -> None:
    plan = replace(small_plan(Variant.BACKGAMMON), schedule=((800, 0.02),), games_per_step=200)
    trained = run_self_play(plan, tmp_path / "training")
    untrained = initial_weights(*WIDTHS, plan.seed)
    share = wins_against_random(trained, tmp_path / "trained", 60)
    assert share > 0.8
    assert share > wins_against_random(untrained, tmp_path / "untrained", 60) + 0.15
