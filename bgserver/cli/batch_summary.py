"""What came out of a batch, as a table, as JSON and as a picture."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from bgserver.cli.batch_lines import Figure

__all__ = ["Summary", "draw"]

_NAMES = {"evaluate": "evaluations", "plays": "plays", "cube": "cube decisions"}
_BINS = 60


class Summary:
    """Counts answers as they come."""

    def __init__(self) -> None:
        self.errors: Counter[str] = Counter()
        """Questions without an answer, by reason."""
        self.actions: Counter[str] = Counter()
        """Cube decisions by the right action."""
        self.equities: dict[str, array[float]] = {kind: array("f") for kind in _NAMES}
        """Equities by the kind of the question."""

    @property
    def lines(self) -> int:
        """Questions so far."""
        return self.errors.total() + sum(map(len, self.equities.values()))

    def add(self, figure: Figure) -> None:
        """Count an answer."""
        if figure.equity is None:
            self.errors[figure.word] += 1
            return
        self.equities[figure.kind].append(figure.equity)
        if figure.kind == "cube":
            self.actions[figure.word] += 1

    def fields(self) -> dict[str, Any]:
        """The summary for JSON."""
        return {
            "lines": self.lines,
            "errors": dict(self.errors.most_common()),
            "equities": {
                kind: dict(zip(("count", "mean", "sd", "min", "max"), row, strict=True))
                for kind, equities in self.equities.items()
                if (row := _row(equities))
            },
            "actions": dict(self.actions.most_common()),
        }

    def table(self) -> Table:
        """The summary for people."""
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        table.add_column("")
        for heading in ("Lines", "Mean equity", "SD", "Least", "Most"):
            table.add_column(heading, justify="right", no_wrap=True)
        for kind, equities in self.equities.items():
            if row := _row(equities):
                count, *figures = row
                table.add_row(_NAMES[kind], f"{count:,}", *(f"{figure:+.4f}" for figure in figures))
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
    """Draw the distribution of the equities.

    Args:
        summary: What came out.
        path: The picture, a PNG file.

    Raises:
        ImportError: matplotlib is not installed.
        OSError: The file cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 -- an extra
    from matplotlib.figure import Figure as Picture  # noqa: PLC0415 -- an extra

    picture = Picture(figsize=(8, 5), layout="constrained")
    FigureCanvasAgg(picture)
    axes = picture.add_subplot()
    kinds = [kind for kind, equities in summary.equities.items() if equities]
    axes.hist(
        [summary.equities[kind] for kind in kinds],
        bins=_BINS,
        label=[f"{_NAMES[kind]} ({len(summary.equities[kind]):,})" for kind in kinds],
        histtype="stepfilled",
        alpha=0.6,
    )
    axes.set_xlabel("equity")
    axes.set_ylabel("lines")
    axes.set_title("Distribution of equities")
    if kinds:
        axes.legend()
    picture.savefig(path, format="png", dpi=120)
