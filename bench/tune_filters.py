"""What move filters cost and save: `python -m bench.tune_filters`.

Decisions of self-play games (one turn in ten at random) are judged at every depth without a
filter. A filter's price is what its choice loses against the unfiltered choice of the same depth;
its cost is the number of plays that it lets through, in units of the deepest look-ahead. The
reference decisions are not looked at.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bgserver.engine.evaluator import Engine
from bgserver.engine.plays import board_array
from bgserver.engine.position import Position, Variant
from bgserver.kernels import search
from bgserver.kernels.dice import random_bits, roll
from bgserver.kernels.moves import turn_board
from bgserver.kernels.network import equity, game_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import GameCore

_Price = tuple[float, float, float]
_Filter = tuple[float, int]
_Result = tuple[_Price, tuple[_Filter, _Filter | None]]

_WINDOWS = (0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32)
_MOSTS = (2, 3, 4, 5, 6, 8, 10, 12)
_WIDEST = 0.6
_MOST_JUDGED = 16


@dataclass(frozen=True)
class Decision:
    """Equities of the plays of one roll at each depth, best static first."""

    static: NDArray[np.float64]
    one: NDArray[np.float64]
    two: NDArray[np.float64]


def decisions(core: GameCore, count: int, seed: int) -> Iterator[Decision]:
    """Decisions with at least two plays, every third turn of self-play games."""
    memory, deeper = (search.make_search_memory(core.evaluator.networks) for _ in range(2))
    turned = np.zeros(26, dtype=np.int8)
    out = np.zeros(5)
    game = 0
    found = 0
    while True:
        board = board_array(Position.start(core.weights.variant))
        for turn in range(300):
            dice = roll(seed, game, turn)
            first = search.may_be_first_turn(board, core.code)
            best, n_plays = search.best_static(
                board, *dice, core.code, first, core.evaluator, memory
            )
            boards = memory.plays.boards[:n_plays].copy()
            worth = np.array([equity(memory.values[row]) for row in range(n_plays)])
            bits = int(random_bits(seed + 1, game, turn))
            if n_plays > 1 and bits % 3 == 0:
                rows = np.argsort(-worth, kind="stable")[:_MOST_JUDGED].tolist()
                rows = [row for row in rows if worth[row] >= worth[best] - _WIDEST]
                one, two = np.zeros(len(rows)), np.zeros(len(rows))
                for place, row in enumerate(rows):
                    args = (boards[row], core.code, core.evaluator, deeper, out)
                    search.look_one_roll(*args)
                    one[place] = equity(out)
                    search.look_two_rolls(*args)
                    two[place] = equity(out)
                yield Decision(worth[rows], one, two)
                found += 1
                if found == count:
                    return
            chosen = (bits >> 32) % n_plays if bits % 10 == 1 else best
            if game_outcome(boards[chosen], core.code) > 0:
                break
            turn_board(boards[chosen], core.code, turned)
            board[:] = turned
        game += 1


def kept(values: NDArray[np.float64], window: float, most: int) -> NDArray[np.int64]:
    """Places of the plays that a filter lets through, best first."""
    order: NDArray[np.int64] = np.argsort(-values, kind="stable")[:most]
    places: NDArray[np.int64] = order[values[order] >= values[order[0]] - window]
    return places


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
