"""Speed of evaluation and of decisions beside other engines, measured in turns in one run.

    python -m bench.speed                                             # evaluations a second
    python -m bench.speed --peer-python peer-env/bin/python           # decision times as well
    python -m bench.speed --weights FOLDER --rounds 9 --json

Static evaluations a second and core: all plays of random rolls of contact positions out of games of
the engine against itself, play generation and all features included, beside `calibrate` of GNU
Backgammon (its own count of static evaluations; it makes its random boards outside its clock).

Decision time: all plays of 3-1 and 6-4 from the start, one and two rolls ahead, beside Open Sage
2-ply and 3-ply (its numbers for the same depths). Engines are compiled and warm, but nobody has a
result at hand: ours is loaded anew for every decision, Open Sage forgets its own after each.

All processes are bound to the same `--cores` cores. On a busy machine a process gets a share of a
core only: rates for the whole core are worked out with that share, and beside the time of a
decision stands the processor time that it took, of all threads together.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track

from bench.peers import (
    Case,
    Peer,
    PeerError,
    PeerPrograms,
    add_program_arguments,
    level_name,
    programs_of,
)
from bench.strength.match import rolls
from bgserver.engine.errors import EngineError
from bgserver.engine.evaluator import Engine
from bgserver.engine.inspection import Phase, game_value, inspect
from bgserver.engine.levels import Level
from bgserver.engine.position import Dice, GameState, Position, Variant
from bgserver.engine.work import run
from bgserver.kernels._jit import kernel
from bgserver.kernels.search import best_static

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GAMES = 60  # enough for some 2,000 contact positions
_ITERATIONS = 250  # of `calibrate`, 1,024 evaluations each: about two seconds
_SECONDS = 2.0
_DICE = (Dice(3, 1), Dice(6, 4))
_DEPTHS = {Level.LOOKAHEAD_1: 1, Level.LOOKAHEAD_2: 2}

console = Console(stderr=True)


class Rate(NamedTuple):
    """Evaluations a second in one round."""

    per_second: float
    """By the clock on the wall."""
    share: float
    """Share of the core that the process had, 0..1."""

    @property
    def whole_core(self) -> float:
        """What the whole core would have made."""
        return self.per_second / self.share


class Spent(NamedTuple):
    """What a decision took."""

    seconds: float
    """By the clock on the wall."""
    cpu_seconds: float
    """Of processor time."""


@dataclass
class Timing:
    """Decision times of one roll at one depth."""

    dice: Dice
    level: Level
    cubeful: bool
    ours: list[Spent] = field(default_factory=list)
    theirs: list[Spent] = field(default_factory=list)


# --- static evaluations ---------------------------------------------------------------------------


def contact_rolls(engine: Engine, games: int) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Contact positions of games of the engine against itself, and the rolls that came."""
    boards: list[tuple[int, ...]] = []
    dice: list[tuple[int, int]] = []
    for game in range(games):
        position = Position.start()
        for roll in rolls(1, game):
            if inspect(position).phase is Phase.CONTACT:
                boards.append(position.points)
                dice.append((roll.high, roll.low))
            ranked = run(engine.rank(GameState(position=position), roll, Level.STATIC))
            after = ranked[0].play.result
            if game_value(after) > 0:
                break
            position = after.turned()
    return np.array(boards, dtype=np.int8), np.array(dice, dtype=np.int64)


@kernel
def _evaluate_all(boards: Any, dice: Any, variant: Any, evaluator: Any, memory: Any) -> int:
    """Generate and evaluate all plays of all rolls; how many there were."""
    total = 0
    for row in range(len(boards)):
        roll = dice[row]
        _, count = best_static(boards[row], roll[0], roll[1], variant, False, evaluator, memory)
        total += count
    return total


def our_rate(engine: Engine, boards: NDArray[np.int8], dice: NDArray[np.int64]) -> Rate:
    """Evaluate for some seconds."""
    core = engine.core(Variant.BACKGAMMON)
    memory = core.threads.memory
    begun, used = time.perf_counter(), time.process_time()
    done = 0
    while time.perf_counter() - begun < _SECONDS:
        done += _evaluate_all(boards, dice, core.code, core.evaluator, memory)
    wall = time.perf_counter() - begun
    return Rate(done / wall, min(1.0, (time.process_time() - used) / wall))


def gnubg_rate(program: str) -> Rate:
    """Ask GNU Backgammon to calibrate.

    Raises:
        PeerError: It does not say a rate.
    """
    begun, used = time.perf_counter(), _children_s()
    try:
        done = subprocess.run(
            [program, "-t", "-q", "-r"],
            input=f"calibrate {_ITERATIONS}\n",
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        message = f"gnubg cannot be run with {program!r}: {error}"
        raise PeerError(message) from error
    wall = time.perf_counter() - begun
    found = re.search(r"(\d+) static evaluations/second", done.stdout)
    if found is None:
        message = f"gnubg says no rate: {done.stdout[-500:]}"
        raise PeerError(message)
    return Rate(float(found.group(1)), min(1.0, (_children_s() - used) / wall))


def _children_s() -> float:
    """Processor time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def static_rates(weights: Path | None, program: str, rounds: int) -> dict[str, list[Rate]]:
    """Both engines in turns."""
    engine = Engine.load(weights=weights)
    boards, dice = contact_rolls(engine, _GAMES)
    our_rate(engine, boards, dice)  # compiles
    found: dict[str, list[Rate]] = {"bgserver": [], "gnubg": []}
    for _ in track(range(rounds), description="static evaluations", console=console):
        found["bgserver"].append(our_rate(engine, boards, dice))
        found["gnubg"].append(gnubg_rate(program))
    return found


# --- decisions ------------------------------------------------------------------------------------


def our_decision(weights: Path | None, timing: Timing) -> Spent:
    """Time of one decision of an engine that has judged nothing like it."""
    engine = Engine.load(weights=weights)
    # Touches memory and tables with another board and another roll.
    elsewhere = GameState(position=Position.start().turned())
    run(engine.rank(elsewhere, Dice(5, 5), Level.STATIC))
    begun, used = time.perf_counter(), time.process_time()
    run(engine.rank(GameState(), timing.dice, timing.level, cubeless=not timing.cubeful))
    return Spent(time.perf_counter() - begun, time.process_time() - used)


def decision_times(
    weights: Path | None, programs: PeerPrograms, cores: int, rounds: int
) -> list[Timing]:
    """Both engines in turns."""
    timings = [
        Timing(dice, level, cubeful)
        for level in _DEPTHS
        for dice in _DICE
        for cubeful in (False, True)
    ]
    start = Position.start().points
    warm = Timing(Dice(5, 2), Level.LOOKAHEAD_1, cubeful=True)
    our_decision(weights, warm)
    with Peer(programs, "bgsage", threads=cores) as peer:
        for ahead in _DEPTHS.values():
            for cubeful in (False, True):
                peer.ask([Case(start, (5, 2))], ahead, cubeful=cubeful)
        turns = [timing for timing in timings for _ in range(rounds)]
        for timing in track(turns, description="decisions", console=console):
            case = Case(start, (timing.dice.first, timing.dice.second))
            timing.ours.append(our_decision(weights, timing))
            [answer] = peer.ask([case], _DEPTHS[timing.level], cubeful=timing.cubeful)
            timing.theirs.append(Spent(answer.seconds, answer.cpu_seconds))
    return timings


# --- the report -----------------------------------------------------------------------------------


def _static_figures(rates: dict[str, list[Rate]]) -> dict[str, Any]:
    figures: dict[str, Any] = {
        name: {
            "per_second": statistics.median(rate.per_second for rate in found),
            "share_of_core": statistics.median(rate.share for rate in found),
            "per_second_whole_core": statistics.median(rate.whole_core for rate in found),
            "rounds": [rate.per_second for rate in found],
        }
        for name, found in rates.items()
    }
    pairs = list(zip(rates["bgserver"], rates["gnubg"], strict=True))
    figures["ratio"] = statistics.median(
        ours.per_second / other.per_second for ours, other in pairs
    )
    figures["ratio_whole_core"] = statistics.median(
        ours.whole_core / other.whole_core for ours, other in pairs
    )
    return figures


def _decision_figures(timing: Timing) -> dict[str, Any]:
    ours, our_cpu = _medians(timing.ours)
    theirs, their_cpu = _medians(timing.theirs)
    return {
        "dice": f"{timing.dice.first}-{timing.dice.second}",
        "level": timing.level.value,
        "peer_level": level_name("bgsage", _DEPTHS[timing.level]),
        "cubeful": timing.cubeful,
        "ms": 1000 * ours,
        "peer_ms": 1000 * theirs,
        "times_faster": theirs / ours,
        "cpu_ms": 1000 * our_cpu,
        "peer_cpu_ms": 1000 * their_cpu,
        "times_less_cpu": their_cpu / our_cpu,
    }


def _medians(times: list[Spent]) -> tuple[float, float]:
    """Of the seconds and of the processor seconds."""
    seconds, used = zip(*times, strict=True)
    return statistics.median(seconds), statistics.median(used)


def _print(figures: dict[str, Any]) -> None:
    print(f"{figures['date']}, {figures['machine']}, {figures['cores']} core(s)")
    static = figures.get("static")
    if static is not None:
        print("\nstatic evaluations a second and core, medians; in brackets for the whole core")
        for name in ("bgserver", "gnubg"):
            row = static[name]
            print(
                f"{name:>10} {row['per_second']:>11,.0f}  ({row['per_second_whole_core']:,.0f}; "
                f"it had {row['share_of_core']:.0%} of the core)"
            )
        print(f"{'ratio':>10} {static['ratio']:>11.2f}  ({static['ratio_whole_core']:.2f})")
    if "decisions" in figures:
        print("\ndecision from the start, all plays, medians in ms; in brackets of processor time")
        for row in figures["decisions"]:
            cube = "cubeful" if row["cubeful"] else "cubeless"
            print(
                f"{row['dice']} {cube:<8} "
                f"{row['level']:<11} {row['ms']:>7.1f} ({row['cpu_ms']:.1f})"
                f"   {row['peer_level']} {row['peer_ms']:>7.1f} ({row['peer_cpu_ms']:.1f})"
                f"   {row['times_faster']:.1f} times faster ({row['times_less_cpu']:.1f})"
            )


def main() -> int:
    """Measure what can be measured; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, help="folder with other weights")
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each kind")
    parser.add_argument("--cores", type=int, default=1, help="cores that each engine may use")
    parser.add_argument("--json", action="store_true", help="print figures for a program")
    add_program_arguments(parser)
    options = parser.parse_args()
    programs = programs_of(options)
    # Child processes are bound to the same cores.
    cores = sorted(os.sched_getaffinity(0))[-options.cores :]
    os.sched_setaffinity(0, cores)
    figures: dict[str, Any] = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": os.uname().machine,
        "cores": len(cores),
    }
    try:
        if programs.gnubg is not None:
            rates = static_rates(options.weights, programs.gnubg, options.rounds)
            figures["static"] = _static_figures(rates)
        if programs.python is not None:
            timings = decision_times(options.weights, programs, len(cores), options.rounds)
            figures["decisions"] = [_decision_figures(timing) for timing in timings]
    except (PeerError, EngineError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(figures, indent=2))
    else:
        _print(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
