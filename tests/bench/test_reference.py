"""Losses on the reference decisions."""

from __future__ import annotations

import pytest

from bench.strength.reference import Losses, decisions, mean_and_error, recorded


def test_recorded_losses_of_the_peers() -> None:
    reference = decisions()
    assert len(reference) == 400
    losses = {player.name: mean_and_error(player.all)[0] for player in recorded(reference)}
    # Worked out from the file with other code when it was made.
    assert losses["GNU Backgammon 0-ply"] == pytest.approx(5.53, abs=0.01)
    assert losses["Open Sage 1-ply"] == pytest.approx(3.42, abs=0.01)


def test_the_best_candidate_loses_nothing_and_the_others_something() -> None:
    for decision in decisions(every=40):
        losses = [decision.loss(board) for board in decision.truth]
        assert min(losses) == 0
        assert max(losses) > 0


def test_figures_by_class() -> None:
    losses = Losses("somebody")
    losses.add(5, 3.0)
    losses.add(5, 5.0)
    losses.add(3, 1.0)
    figures = losses.figures()
    assert figures["classes"]["contact"] == {
        "mean_meq": 4.0,
        "standard_error_meq": 1.0,
        "decisions": 2,
    }
    assert figures["all"]["mean_meq"] == 3.0
    assert figures["mean_ms"] is None
