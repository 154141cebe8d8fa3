"""What came out of a batch, as a table, as JSON and as a picture."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

from bgserver.cli.tables import plain_table

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from rich.table import Table

    from bgserver.cli.batch_lines import Figure

__all__ = ["Summary", "draw"]

_NAMES = {
    "evaluate": "evaluations",
    "plays": "plays",
    "cube": "cube decisions",
    "rollout": "rollouts",
}
_BINS = 60
_NAMED = 5
_COLUMNS = ("count", "mean", "sd", "min", "max")


class Summary:
    """Counts answers as they come."""

    def __init__(self) -> None:
        self.errors: Counter[str] = Counter()
        """Questions without an answer, by reason."""
        self.actions: Counter[str] = Counter()
        """Cube decisions by the right action."""
        self.equities: dict[str, array[float]] = {kind: array("f") for kind in _NAMES}
        """Equities by the kind of the question."""
        self.errors_after: dict[int, array[float]] = {}
        """Standard errors of rollouts that are not exact, by the trials so far."""
        self.last_errors = array("f")
        """Their standard errors at the end."""
        self.refusals: list[Figure] = []
        """The first questions without an answer."""

    @property
    def lines(self) -> int:
        """Questions so far."""
        return self.errors.total() + sum(map(len, self.equities.values()))

    def add(self, figure: Figure) -> None:
        """Count an answer."""
        if figure.equity is None:
            self.errors[figure.word] += 1
            if len(self.refusals) < _NAMED:
                self.refusals.append(figure)
            return
        self.equities[figure.kind].append(figure.equity)
        if figure.kind in {"cube", "rollout"} and figure.word:
            self.actions[figure.word] += 1
        for trials, error in figure.convergence:
            if error > 0:  # else the tables know the worth: nothing converges
                self.errors_after.setdefault(trials, array("f")).append(error)
        if figure.convergence:
            self.last_errors.append(figure.convergence[-1][1])

    def fields(self) -> dict[str, Any]:
        """The summary for JSON."""
        return {
            "lines": self.lines,
            "errors": dict(self.errors.most_common()),
            "equities": {
                kind: dict(zip(_COLUMNS, row, strict=True))
                for kind, equities in self.equities.items()
                if (row := _row(equities))
            },
            "actions": dict(self.actions.most_common()),
            "standardErrors": dict(zip(_COLUMNS, row, strict=True))
            if (row := _row(self.last_errors))
            else {},
        }

    def table(self) -> Table:
        """The summary for people."""
        table = plain_table("", "Lines", "Mean equity", "SD", "Least", "Most", left=("",))
        for kind, equities in self.equities.items():
            if row := _row(equities):
                count, *figures = row
                table.add_row(_NAMES[kind], f"{count:,}", *(f"{figure:+.4f}" for figure in figures))
        if row := _row(self.last_errors):
            _, *figures = row
            table.add_row("their standard errors", "", *(f"{figure:.4f}" for figure in figures))
        for heading, counts in (("", self.actions), ("without an answer: ", self.errors)):
            if counts:
                table.add_section()
            for word, count in counts.most_common():
                table.add_row(f"{heading}{word}", f"{count:,}", "", "", "", "")
        return table


def _row(equities: array[float]) -> tuple[int, float, float, float, float] | None:
    """Count, mean, standard deviation, least and most."""
    count = len(equities)
    if not count:
        return None
    mean = math.fsum(equities) / count
    squares = math.fsum((equity - mean) ** 2 for equity in equities)
    deviation = math.sqrt(squares / (count - 1)) if count > 1 else 0.0
    return count, mean, deviation, min(equities), max(equities)


def draw(summary: Summary, path: Path) -> None:
    """Draw the distribution of the equities, and of rollouts how they converged.

    Args:
        summary: What came out.
        path: The picture; its ending says which form, `.png` for example.

    Raises:
        ImportError: matplotlib is not installed.
        OSError: The file cannot be written.
    """
    from matplotlib.figure import Figure as Picture  # noqa: PLC0415 -- an extra

    panels = 2 if summary.errors_after else 1
    picture = Picture(figsize=(8 * panels, 5), layout="constrained")
    axes = picture.subplots(1, panels, squeeze=False)[0]
    _draw_equities(summary, axes[0])
    if summary.errors_after:
        _draw_convergence(summary, axes[1])
    picture.savefig(path, dpi=120)


def _draw_equities(summary: Summary, axes: Axes) -> None:
    kinds = [kind for kind, equities in summary.equities.items() if equities]
    axes.hist(
        [summary.equities[kind] for kind in kinds],
        bins=min(_BINS, 5 + summary.lines // 5),
        label=[f"{_NAMES[kind]} ({len(summary.equities[kind]):,})" for kind in kinds],
        histtype="stepfilled",
        alpha=0.6,
    )
    axes.set_xlabel("equity")
    axes.set_ylabel("lines")
    axes.set_title("Distribution of equities")
    if kinds:
        axes.legend()


def _draw_convergence(summary: Summary, axes: Axes) -> None:
    """Standard errors over trials: the median, and where four fifths of the rollouts are."""
    trials = sorted(summary.errors_after)
    middle, low, high = (
        [_quantile(summary.errors_after[count], share) for count in trials]
        for share in (0.5, 0.1, 0.9)
    )
    axes.fill_between(trials, low, high, alpha=0.3, label="10 % to 90 % of the rollouts")
    axes.plot(trials, middle, marker=".", label="median")
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        for formatted in (axis.set_major_formatter, axis.set_minor_formatter):
            formatted("{x:g}")
    axes.set_xlabel("trials")
    axes.set_ylabel("standard error of the equity")
    axes.set_title("Convergence")
    axes.legend()


def _quantile(values: array[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
