"""What the summary of a batch says."""

from __future__ import annotations

import math

from rich.console import Console

from bgserver.cli.batch_lines import Figure
from bgserver.cli.batch_summary import Summary


def _summary() -> Summary:
    summary = Summary()
    for number, equity in enumerate((0.5, -0.25, 1.25, 0.5)):
        summary.add(Figure(number, "evaluate", equity, ""))
    summary.add(Figure(5, "cube", 1.0, "double/pass"))
    summary.add(Figure(6, "rollout", 0.25, "", convergence=((36, 0.5), (72, 0.25))))
    summary.add(Figure(7, "rollout", 0.75, "", convergence=((36, 0.0),)))
    for number in range(10, 18):
        summary.add(Figure(number, "error", None, "INVALID_INPUT", f"bad {number}"))
    return summary


def test_figures() -> None:
    fields = _summary().fields()
    assert fields["lines"] == 15
    assert fields["errors"] == {"INVALID_INPUT": 8}
    assert fields["actions"] == {"double/pass": 1}
    evaluations = fields["equities"]["evaluate"]
    assert (evaluations["count"], evaluations["mean"]) == (4, 0.5)
    assert math.isclose(evaluations["sd"], math.sqrt(1.125 / 3))
    assert (evaluations["min"], evaluations["max"]) == (-0.25, 1.25)
    assert fields["equities"]["cube"]["sd"] == 0
    assert "plays" not in fields["equities"]
    assert (fields["standardErrors"]["count"], fields["standardErrors"]["max"]) == (2, 0.25)


def test_only_the_first_refusals_are_kept_and_exact_rollouts_do_not_converge() -> None:
    summary = _summary()
    assert [figure.line for figure in summary.refusals] == [10, 11, 12, 13, 14]
    assert {trials: list(errors) for trials, errors in summary.errors_after.items()} == {
        36: [0.5],
        72: [0.25],
    }


def test_the_table_names_what_there_is() -> None:
    console = Console(width=100)
    with console.capture() as capture:
        console.print(_summary().table())
    text = capture.get()
    for part in ("evaluations", "cube decisions", "rollouts", "their standard errors",
                 "double/pass", "without an answer: INVALID_INPUT", "+0.5000"):  # fmt: skip
        assert part in text
    assert "plays" not in text


def test_an_empty_batch() -> None:
    fields = Summary().fields()
    assert (fields["lines"], fields["equities"], fields["standardErrors"]) == (0, {}, {})
