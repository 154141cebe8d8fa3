"""How often the stated 95 % intervals of short rollouts hold the truth.

Usage: `python -m bench.rollout_coverage [--repeats 200] [--trials 72] [--positions 4]`. The truth
is the mean of one rollout of the same position that is as long as all the short ones together; its
own error is taken into account. Positions are those of games of the engine against itself, the
start first; a coverage of 95 % is missed by 1.5 % in 200 repeats by chance alone.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING

from bench.time_limit import questions_of_games
from bgserver.engine.evaluator import Engine
from bgserver.engine.position import GameState, Position
from bgserver.engine.rollout_run import RolloutResult, RolloutRun
from bgserver.engine.rollout_spec import RolloutOptions, StopRules, position_rollout
from bgserver.engine.work import run

if TYPE_CHECKING:
    from bgserver.engine.rollout_sums import Figure

_NAMES = ("equity", "cubeless", "win", "win g.", "lose g.")
_Z = 1.959964
_TRUTH_SEED = 1 << 31


def _roll_out(engine: Engine, position: Position, seed: int, trials: int) -> RolloutResult:
    spec = position_rollout(GameState(position=position), RolloutOptions(seed=seed))
    rollout = RolloutRun(engine, spec, StopRules(trials=trials))
    for chunk in rollout.chunks():
        rollout.add(run(chunk.work(engine)))
    return rollout.result()


def _figures(result: RolloutResult) -> list[Figure]:
    entry = result.entries[0]
    chances = entry.probabilities
    return [entry.equity, entry.cubeless_equity, chances[0], chances[1], chances[3]]


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--trials", type=int, default=72)
    parser.add_argument("--positions", type=int, default=4)
    options = parser.parse_args()
    engine = Engine.load()
    engine.warm_up()
    positions = [Position.start()]
    positions += [position for position, _ in questions_of_games(engine, 3 * options.positions, 5)][
        ::3
    ]
    print(f"{options.repeats} rollouts of {options.trials} trials, cubeful money\n")
    print(f"{'':34}" + "".join(f"{name:>10}" for name in _NAMES))
    all_inside = [0] * len(_NAMES)
    for number, position in enumerate(positions[: options.positions]):
        total = options.repeats * options.trials
        truth = _figures(_roll_out(engine, position, _TRUTH_SEED + number, total))
        inside = [0] * len(_NAMES)
        squares = [0.0] * len(_NAMES)
        for repeat in range(options.repeats):
            seed = 1000 * number + repeat
            found = _figures(_roll_out(engine, position, seed, options.trials))
            for index, (short, long) in enumerate(zip(found, truth, strict=True)):
                error = math.hypot(short.standard_error, long.standard_error)
                deviation = abs(short.mean - long.mean)
                inside[index] += deviation <= _Z * error
                squares[index] += (deviation / error) ** 2 if error > 0 else 1.0
        all_inside = [sum(pair) for pair in zip(all_inside, inside, strict=True)]
        shares = "".join(f"{100 * count / options.repeats:9.1f}%" for count in inside)
        print(f"position {number}, inside the interval {'':2}{shares}")
        ratios = "".join(f"{math.sqrt(value / options.repeats):10.3f}" for value in squares)
        print(f"{'':12}deviation / error     {ratios}")
        sys.stdout.flush()
    count = options.repeats * min(options.positions, len(positions))
    print(f"{'all':34}" + "".join(f"{100 * inside / count:9.1f}%" for inside in all_inside))


if __name__ == "__main__":
    main()
