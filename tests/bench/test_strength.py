"""The commands that let the engine play and judge itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bench.own_decisions import Decision, decisions, kept
from bench.strength.__main__ import main
from bench.strength.own import choice
from bgserver.engine.levels import Level
from bgserver.engine.position import Variant

if TYPE_CHECKING:
    from pathlib import Path

    from bgserver.engine.evaluator import Engine


@pytest.mark.parametrize("variant", ["backgammon", "long_nardy"])
def test_a_ladder_is_continued_and_equal_players_are_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], variant: str
) -> None:
    path = tmp_path / "ladder.jsonl"
    command = ["ladder", "--variant", variant, "--out", str(path), "--json"]
    for games in (2, 4):
        assert main([*command, "--games", str(games)]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed["result"]["games"] == games
        assert printed["result"]["points_per_game"]["mean"] == pytest.approx(0, abs=1e-12)
    assert len([line for line in path.read_text().splitlines() if '"pair"' in line]) == 2


def test_a_ladder_of_other_players_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["ladder", "--out", str(tmp_path / "ladder.jsonl"), "--games", "2"]
    assert main(command) == 0
    assert main([*command, "--second", "lookahead_1", "--variant", "long_nardy"]) == 1
    told = capsys.readouterr().err
    assert "second 'static', now 'lookahead_1'" in told
    assert "variant 'backgammon', now 'long_nardy'" in told


def test_missing_weights_and_unknown_levels_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["ladder", "--out", str(tmp_path / "ladder.jsonl"), "--second"]
    assert main([*command, f"static:{tmp_path / 'nowhere'}"]) == 1
    assert "nowhere" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*command, "clever"])
    assert "unknown 'clever'; levels are static" in capsys.readouterr().err


def test_a_shallow_level_chooses_by_what_it_sees_within_its_filter() -> None:
    static = np.array([0.5, 0.45, 0.4, 0.1])
    one = np.array([0.3, 0.2, 0.4, 0.9])
    decision = Decision("contact", static, one, np.zeros(4))
    assert choice(decision, Level.STATIC) == 0
    assert choice(decision, Level.LOOKAHEAD_1) == 2  # the last is no candidate of the filter
    assert kept(np.array([0.1, 0.5, 0.45]), 0.1, 3).tolist() == [1, 2]


def test_decisions_have_candidates_best_first_and_repeat(engine: Engine) -> None:
    core = engine.core(Variant.LONG_NARDY)
    found = [list(decisions(core, 3, 5)) for _ in range(2)]
    for once, again in zip(*found, strict=True):
        assert 1 <= len(once.static) <= 16
        assert (np.diff(once.static) <= 0).all()
        assert once.static[0] - once.static[-1] <= 0.6
        assert np.array_equal(once.two, again.two)
