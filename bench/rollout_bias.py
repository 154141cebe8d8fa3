"""Rollouts of many positions beside GNU Backgammon's: is there a bias?

Usage: `python -m bench.rollout_bias --out FILE [--positions 100] [--trials 144] [--cubeless]`.
Positions are those of games of the engine against itself; both programs roll out each of them,
static play, to the end, with variance reduction, for money without the Jacoby rule, with the cube
centred. Ctrl-C stops; the same command goes on with the same file. Each difference is divided by
the joint standard error; the sum of the squares is compared with the chi-square distribution, and
the mean of the differences with its error. Each program plays by its own network, so a small
difference of the truth itself is part of what is measured.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.peers.client import PeerError, add_program_arguments
from bench.peers.rollouts import RolloutCase, roll_out_by_gnubg
from bench.time_limit import questions_of_games
from bgserver.engine.evaluator import Engine
from bgserver.engine.position import GameState, Position
from bgserver.engine.rollout_run import RolloutRun
from bgserver.engine.rollout_spec import RolloutOptions, StopRules, position_rollout
from bgserver.engine.work import run
from bgserver.formats.gnu_id import format_gnu_id

_PER_CALL = 4  # positions that GNU Backgammon is asked about at once
Figures = tuple[float, float]
"""Mean and standard error."""
_NAMES = ("win", "win gammon", "win backgammon", "lose gammon", "lose backgammon", "cubeless")
_ROUNDING = 0.00005  # its figures have four decimals


@dataclass(frozen=True)
class Compared:
    """One position."""

    points: tuple[int, ...]
    """The board."""
    cubeful: bool
    """With cube."""
    trials: int
    """Trials of each program."""
    ours: list[tuple[float, float]]
    """Mean and error of each figure."""
    theirs: list[tuple[float, float]]
    """The same of GNU Backgammon."""


def _ours(engine: Engine, position: Position, *, cubeful: bool, trials: int) -> list[Figures]:
    options = RolloutOptions(seed=1, cubeful=cubeful)
    rollout = RolloutRun(
        engine, position_rollout(GameState(position), options), StopRules(trials=trials)
    )
    for chunk in rollout.chunks():
        rollout.add(run(chunk.work(engine)))
    entry = rollout.result().entries[0]
    figures = (*entry.probabilities, entry.cubeless_equity, entry.equity)
    return [(figure.mean, figure.standard_error) for figure in figures]


def _compare(
    engine: Engine, gnubg: str, positions: list[Position], *, cubeful: bool, trials: int
) -> list[Compared]:
    cases = [RolloutCase(":".join(format_gnu_id(GameState(place)))) for place in positions]
    theirs, _ = roll_out_by_gnubg(gnubg, cases, trials, cubeful=cubeful)
    return [
        Compared(
            place.points,
            cubeful,
            trials,
            _ours(engine, place, cubeful=cubeful, trials=trials),
            list(zip(found.means, found.errors, strict=True)),
        )
        for place, found in zip(positions, theirs, strict=True)
    ]


def _report(done: list[Compared], *, cubeful: bool) -> None:
    print(f"{len(done)} positions, {'with' if cubeful else 'without'} cube")
    print(f"{'':18}{'mean diff.':>12}{'error':>10}{'chi-square':>12}{'of':>5}{'p':>8}")
    names = (*_NAMES, "cubeful") if cubeful else _NAMES
    for index, name in enumerate(names):
        differences, squares = [], []
        for entry in done:
            (mean, error), (their_mean, their_error) = entry.ours[index], entry.theirs[index]
            joint = math.hypot(error, their_error, _ROUNDING)
            differences.append(mean - their_mean)
            # Rare outcomes have errors that are themselves uncertain; both must have been seen.
            if error > _ROUNDING and their_error > _ROUNDING:
                squares.append(((mean - their_mean) / joint) ** 2)
        count = len(differences)
        mean = sum(differences) / count
        spread = math.sqrt(sum((value - mean) ** 2 for value in differences) / max(1, count - 1))
        chance = _upper_tail(sum(squares), len(squares))
        error = spread / math.sqrt(count)
        print(
            f"{name:18}{mean:+12.4f}{error:10.4f}{sum(squares):12.1f}{len(squares):5}{chance:8.3f}"
        )


def _upper_tail(square: float, freedom: int) -> float:
    """Chance of a larger chi-square (Wilson and Hilferty's approximation, 1931)."""
    if freedom == 0:
        return 1.0
    scale = 2.0 / (9.0 * freedom)
    deviation = ((square / freedom) ** (1 / 3) - (1.0 - scale)) / math.sqrt(scale)
    return 0.5 * math.erfc(deviation / math.sqrt(2.0))


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="file of the results")
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument("--trials", type=int, default=144)
    parser.add_argument("--cubeless", action="store_true")
    add_program_arguments(parser)
    options = parser.parse_args()
    engine = Engine.load()
    # Every third one: neighbours of one game are much alike.
    questions = questions_of_games(engine, 3 * options.positions, 11)[::3]
    positions = [position for position, _ in questions]
    cubeful = not options.cubeless
    done: list[Compared] = []
    if options.out.exists():
        for line in options.out.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            entry["points"] = tuple(entry["points"])
            done.append(Compared(**entry))
        if any((entry.cubeful, entry.trials) != (cubeful, options.trials) for entry in done):
            message = f"{options.out} holds another comparison"
            raise SystemExit(message)
    try:
        for first in range(len(done), len(positions), _PER_CALL):
            part = positions[first : first + _PER_CALL]
            found = _compare(engine, options.gnubg, part, cubeful=cubeful, trials=options.trials)
            with options.out.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(asdict(entry)) + "\n" for entry in found)
            done += found
            print(f"{len(done)} of {len(positions)}", flush=True)
    except KeyboardInterrupt:
        print("stopped")
    except PeerError as error:
        raise SystemExit(str(error)) from None
    if done:
        _report(done, cubeful=cubeful)


if __name__ == "__main__":
    main()
