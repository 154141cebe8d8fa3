"""What move filters cost and save: `python -m bench.tune_filters`.

Decisions of self-play games (`bench.own_decisions`) are judged at every depth without a
filter. A filter's price is what its choice loses against the unfiltered choice of the same depth;
its cost is the number of plays that it lets through, in units of the deepest look-ahead. The
reference decisions are not looked at.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.own_decisions import decisions, kept
from bgserver.engine.evaluator import Engine
from bgserver.engine.position import Variant

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.own_decisions import Decision

_Price = tuple[float, float, float]
_Filter = tuple[float, int]
_Result = tuple[_Price, tuple[_Filter, _Filter | None]]

_WINDOWS = (0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32)
_MOSTS = (2, 3, 4, 5, 6, 8, 10, 12)


def price(found: list[Decision], first: _Filter, second: _Filter | None) -> _Price:
    """(loss in mEq, plays looked at one roll ahead, plays looked at two rolls ahead), means."""
    loss = ones = twos = 0.0
    for decision in found:
        places = kept(decision.static, *first)
        ones += len(places)
        if second is None:
            chosen = places[int(np.argmax(decision.one[places]))]
            loss += decision.one.max() - decision.one[chosen]
            continue
        deeper = places[kept(decision.one[places], *second)]
        twos += len(deeper)
        chosen = deeper[int(np.argmax(decision.two[deeper]))]
        loss += decision.two.max() - decision.two[chosen]
    count = len(found)
    return 1000 * loss / count, ones / count, twos / count


def main() -> None:
    """Print the filters that no other beats in both price and cost."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--variant", type=Variant, default=Variant.BACKGAMMON)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--weights", type=Path)
    options = parser.parse_args()
    core = Engine.load(weights=options.weights).core(options.variant)
    stream = decisions(core, options.count, options.seed)
    found = list(track(stream, total=options.count, description="decisions"))
    singles = [(window, most) for window in _WINDOWS for most in _MOSTS]
    _print(
        "static to one roll",
        [(price(found, one, None), (one, None)) for one in singles],
        lambda result: result[1],
    )
    # A look two rolls ahead costs 22 looks one roll ahead.
    _print(
        "static to one roll to two",
        [
            (price(found, one, two), (one, two))
            for one in singles
            if one[0] >= 0.12 and one[1] >= 5
            for two in singles
        ],
        lambda result: result[2] + result[1] / 22,
    )


def _print(title: str, results: list[_Result], cost: Callable[[_Price], float]) -> None:
    table = Table("first", "second", "plays 1 ahead", "plays 2 ahead", "loss mEq", title=title)
    cheapest = np.inf
    for result, filters in sorted(results, key=lambda entry: (entry[0][0], cost(entry[0]))):
        if cost(result) < cheapest:
            cheapest = cost(result)
            loss, ones, twos = result
            cells = [str(entry or "") for entry in filters]
            table.add_row(*cells, f"{ones:.2f}", f"{twos:.2f}", f"{loss:.3f}")
    Console().print(table)


if __name__ == "__main__":
    main()
