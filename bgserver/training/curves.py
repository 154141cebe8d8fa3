"""Learning curves of fits as a plot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["draw_curves"]


def draw_curves(logs: Sequence[Path], out: Path) -> None:
    """Draw the errors on held-out labels by epoch, one fit after the other.

    Args:
        logs: Logs that `bgserver train fit` wrote, one JSON object for each epoch.
        out: The file to write; its ending says which form, `.png` for example.
    """
    mpl.use("agg")  # no screen is needed
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    first = 1
    for number, path in enumerate(logs):
        lines = path.read_text(encoding="utf-8").splitlines()
        epochs = [json.loads(line) for line in lines if line]
        places = range(first, first + len(epochs))
        first += len(epochs)
        for field, colour, name in (
            ("error", "tab:blue", "equity"),
            ("sibling_error", "tab:orange", "difference between siblings"),
            ("scout_error", "tab:green", "difference, scout"),
        ):
            values = [1000 * epoch[field] for epoch in epochs]
            label = f"{name}" if number == 0 else None
            axes.plot(places, values, color=colour, marker=".", label=label)
        axes.axvline(first - 0.5, color="lightgrey", linewidth=0.8)
        axes.text(
            first - 0.6,
            0.01,
            path.stem,
            transform=axes.get_xaxis_transform(),  # y as a share of the height
            fontsize=7,
            color="grey",
            rotation="vertical",
            horizontalalignment="right",
        )
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ScalarFormatter())
    axes.yaxis.set_minor_formatter(ScalarFormatter())
    axes.set_xlabel("epoch")
    axes.set_ylabel("error on held-out labels, mEq (RMS)")
    axes.legend()
    figure.savefig(out, dpi=120)
