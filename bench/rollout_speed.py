"""Time that a rollout of the start position takes to a standard error of 0.005, beside a peer.

Usage: `python -m bench.rollout_speed [--trials 1296] [--rounds 3] [--no-peer]`. Cubeless, static
play, to the end, with variance reduction, on one thread, by GNU Backgammon in turn with the engine:
each round is a rollout of both with another seed. The time to an error is the processor's time of
all rounds times the square of (standard error / 0.005); it does not depend on the trials. Then the
same trials on one thread and on two, by the clock: that needs two free cores.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import TYPE_CHECKING

from bench.peers.client import PeerError, add_program_arguments
from bench.peers.rollouts import RolloutCase, roll_out_by_gnubg
from bgserver.engine.evaluator import Engine
from bgserver.engine.local_executor import LocalExecutor
from bgserver.engine.position import GameState
from bgserver.engine.rollout import RolloutChunk
from bgserver.engine.rollout_run import RolloutRun, roll_out
from bgserver.engine.rollout_spec import RolloutOptions, StopRules, position_rollout
from bgserver.engine.work import run

if TYPE_CHECKING:
    from bgserver.engine.rollout_spec import RolloutSpec

_START = RolloutCase("4HPwATDgc/ABMA:cAkAAAAAAAAA")
_ERROR = 0.005


def _spec(seed: int) -> RolloutSpec:
    return position_rollout(GameState(), RolloutOptions(seed=seed, cubeful=False))


def _ours(engine: Engine, seed: int, trials: int) -> tuple[float, float, float]:
    """Equity, standard error and seconds of one rollout on this thread."""
    rollout = RolloutRun(engine, _spec(seed), StopRules(trials=trials))
    began = time.thread_time()
    for chunk in rollout.chunks():
        rollout.add(run(chunk.work(engine)))
    seconds = time.thread_time() - began
    equity = rollout.result().entries[0].equity
    return equity.mean, equity.standard_error, seconds


def _report(name: str, results: list[tuple[float, float, float]], trials: int) -> float:
    """Print the mean of the rounds; the time to the error."""
    error = statistics.fmean(found[1] ** 2 for found in results) ** 0.5
    seconds = statistics.fmean(found[2] for found in results)
    needed: float = seconds * (error / _ERROR) ** 2
    mean = statistics.fmean(found[0] for found in results)
    print(
        f"{name:22}{mean:+9.4f}{error:10.5f}{trials:8}{seconds:10.2f} s{needed:10.2f} s",
        flush=True,
    )
    return needed


def _by_the_clock(engine: Engine, threads: int, trials: int) -> tuple[float, float]:
    """Seconds by the clock, and of processor time, which other programs do not stretch."""
    with LocalExecutor(engine, threads) as executor:
        began, used = time.perf_counter(), time.process_time()
        for _ in roll_out(engine, _spec(9), StopRules(trials=trials), executor):
            pass
        return time.perf_counter() - began, time.process_time() - used


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1296)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-peer", action="store_true", help="the engine alone")
    add_program_arguments(parser)
    options = parser.parse_args()
    engine = Engine.load()
    run(RolloutChunk(_spec(0), 0, 0, 1).work(engine))  # compiles
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}\n")
    print(f"{'':22}{'equity':>9}{'error':>10}{'trials':>8}{'time':>12}{'to 0.005':>12}")
    ours, theirs = [], []
    for seed in range(1, options.rounds + 1):
        ours.append(_ours(engine, seed, options.trials))
        if options.no_peer:
            continue
        try:
            (found,), seconds = roll_out_by_gnubg(
                options.gnubg, [_START], options.trials, cubeful=False, seed=seed
            )
        except PeerError as error:
            raise SystemExit(str(error)) from None
        theirs.append((found.means[5], found.errors[5], seconds))
    needed = _report("bgserver", ours, options.trials)
    if theirs:
        peer = _report("GNU Backgammon", theirs, options.trials)
        print(f"\n{peer / needed:.2f} times faster")
    (one, one_cpu), (two, two_cpu) = (
        _by_the_clock(engine, threads, options.trials) for threads in (1, 2)
    )
    print(f"\n1 thread {one:.2f} s, 2 threads {two:.2f} s: {one / two:.2f} times faster")
    print(f"of processor time {one_cpu:.2f} s and {two_cpu:.2f} s")


if __name__ == "__main__":
    main()
