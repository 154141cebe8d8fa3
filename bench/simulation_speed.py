"""How many games between static players are played in a second, and how many turn by turn.

    python -m bench.simulation_speed --seconds 10 --threads 2

For each rule set the same games are played in bulk and turn by turn, in turns of a second, and
compared. Seconds are processor time over the number of threads, so that other work on the machine
does not count as far as possible: on a machine of one's own they are those of the clock.
"""

from __future__ import annotations

import argparse
import itertools
import time
from concurrent.futures import ThreadPoolExecutor

from bgserver.engine.evaluator import Engine
from bgserver.engine.work import run
from bgserver.games.contest import play_unit
from bgserver.games.setup import new_setup
from bgserver.games.simulation import SimulationSpec, UnitResult

_SETS = (("money", None), ("tournament", 5), ("traditional", None), ("long_nardy", None))


def _play_for(
    engine: Engine, spec: SimulationSpec, first: int, seconds: float, threads: int, *, quick: bool
) -> tuple[dict[int, UnitResult], float]:
    """Units from `first` on, as many as fit into the time; and the processor seconds they took."""
    numbers = itertools.count(first)
    found: dict[int, UnitResult] = {}
    start, used = time.monotonic(), time.process_time()

    def work() -> None:
        while time.monotonic() - start < seconds:
            index = next(numbers)
            found[index] = run(play_unit(engine, spec, index, quick=quick))

    with ThreadPoolExecutor(threads) as pool:
        for job in [pool.submit(work) for _ in range(threads)]:
            job.result()
    return found, time.process_time() - used


def _measure(
    engine: Engine, preset: str, length: int | None, seconds: int, threads: int
) -> tuple[float, float]:
    """Games a second of `threads` processors, in bulk and turn by turn."""
    spec = SimulationSpec(new_setup(preset, match_length=length), count=1 << 30, seed=1)
    games, times = {True: 0, False: 0}, {True: 0.0, False: 0.0}
    first = 0
    for quick in (True, False):
        _play_for(engine, spec, 0, 0.2, threads, quick=quick)  # compiles what is missing
    for _ in range(seconds):
        played = {}
        for quick in (True, False):
            played[quick], took = _play_for(engine, spec, first, 1.0, threads, quick=quick)
            games[quick] += sum(len(unit.games) for unit in played[quick].values())
            times[quick] += took
        both = played[True].keys() & played[False].keys()
        assert all(played[True][index] == played[False][index] for index in both)
        first += len(played[True])
    return threads * games[True] / times[True], threads * games[False] / times[False]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=5, help="for each rule set and way")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    engine = Engine.load()
    engine.warm_up()
    print(f"games a second, {options.threads} threads: in bulk, turn by turn, ratio")
    for preset, length in _SETS:
        quick, slow = _measure(engine, preset, length, options.seconds, options.threads)
        print(f"{preset:12} {quick:7.0f} {slow:7.0f} {quick / slow:6.1f}")


if __name__ == "__main__":
    main()
