"""Loss of the engine's plays on the reference checker decisions, beside the peers' static ones.

    python -m bench.checker_reference                          # static
    python -m bench.checker_reference --level lookahead_1 --every 4
    python -m bench.checker_reference --weights FOLDER         # other weights

Loss of a choice: the best candidate's equity minus the chosen one's, against the mean of two deep
evaluations by independent engines (`bench/reference/README.md`). The choice is made among the
candidates given, cubeless. The sets are for measuring, never for training or tuning.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.lookahead import DEPTHS, look_ahead
from bgserver.engine.position import Variant
from bgserver.engine.work import run

_FILE = Path(__file__).parent / "reference" / "checker_decisions.jsonl"
_CLASSES = {1: "bear-off, two-sided", 2: "bear-off", 3: "race", 4: "crashed", 5: "contact"}


def _equities(chances: Any) -> Any:
    values = np.asarray(chances, dtype=np.float64)
    return 2 * values[..., 0] - 1 + values[..., 1:3].sum(-1) - values[..., 3:5].sum(-1)


def _loss(truth: Any, values: Any) -> float:
    """Thousandths of a point that the best by `values` loses against `truth`."""
    return float(truth.max() - truth[int(np.argmax(values))]) * 1000


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--level", choices=[level.value for level in DEPTHS], default="static")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take every n-th decision only")
    options = parser.parse_args()
    depth = DEPTHS[Level(options.level)]
    core = Engine.load(weights=options.weights).core(Variant.BACKGAMMON)
    decisions = [json.loads(line) for line in _FILE.read_text().splitlines()][:: options.every]
    names = ("bgserver", "GNU Backgammon 0-ply", "Open Sage 1-ply")
    losses: dict[str, dict[int, list[float]]] = {name: {} for name in names}
    for decision in track(decisions, description=options.level):
        boards = np.array(decision["cand"], dtype=np.int8)
        boards[:, 0] *= -1  # the files count the opponent's bar as positive
        own = [
            run(look_ahead(board, depth, core.code, core.evaluator, core.threads))
            for board in boards
        ]
        truth = (_equities(decision["gnubg2"]) + _equities(decision["sage3"])) / 2
        for name, values in zip(
            names, (_equities(own), decision["gnubg0"], decision["sage1"]), strict=True
        ):
            losses[name].setdefault(decision["class"], []).append(_loss(truth, values))
    table = Table(title=f"mean loss in mEq, {len(decisions)} decisions, bgserver {options.level}")
    for heading in ("", *names, "decisions"):
        table.add_column(heading, justify="right")
    for number, name in _CLASSES.items():
        rows = [losses[player].get(number, []) for player in names]
        if rows[0]:
            table.add_row(name, *(f"{np.mean(row):.2f}" for row in rows), str(len(rows[0])))
    totals = [np.concatenate(list(losses[player].values())).mean() for player in names]
    table.add_row("all", *(f"{total:.2f}" for total in totals), str(len(decisions)))
    Console().print(table)


if __name__ == "__main__":
    main()
