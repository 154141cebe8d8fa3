"""What a step at a table costs: the rules of whole games, without network and storage.

`python -m bench.tables [--games N] [--preset NAME]` plays random games and prints, for each kind
of call, the CPU time that it took. `rebuilt` is what building the graph of a roll's step orders
costs, once for each turn; everything else finds it ready.
"""

from __future__ import annotations

import argparse
import platform
import random
import time
from collections import defaultdict
from typing import TYPE_CHECKING

from bgserver.engine.plays import step_graph
from bgserver.games import actions as act
from bgserver.games.dice import SeededDice
from bgserver.games.setup import new_setup
from bgserver.games.state import Stage, apply, replay
from bgserver.games.table import decide, legal_actions, open_table, settle
from bgserver.games.turn import first_turn

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from bgserver.games.actions import Action
    from bgserver.games.dice import DiceSource
    from bgserver.games.events import Event
    from bgserver.games.state import TableState

    T = TypeVar("T")

_LENGTHS = {"joypip": 7, "tournament": 17}


class _Watch:
    """CPU times by the name of what was done."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)

    def run(self, name: str, call: Callable[..., T], *arguments: object) -> T:
        start = time.process_time()
        result = call(*arguments)
        self.times[name].append(1e3 * (time.process_time() - start))
        return result

    def show(self) -> None:
        print(f"{'call':10}{'count':>9}{'mean ms':>10}{'median':>10}{'p99':>10}{'max':>10}")
        for name, times in sorted(self.times.items()):
            times.sort()
            figures = (
                sum(times) / len(times),
                times[len(times) // 2],
                times[int(len(times) * 0.99)],
                times[-1],
            )
            print(f"{name:10}{len(times):9,}" + "".join(f"{one:10.3f}" for one in figures))


def _settled(state: TableState, dice: DiceSource) -> TableState:
    return _booked(state, settle(state, dice, 0.0))


def _done(state: TableState, action: Action, dice: DiceSource) -> TableState:
    return _booked(state, decide(state, state.turn, action, dice, 0.0))


def _booked(state: TableState, events: list[Event]) -> TableState:
    for event in events:
        state = apply(state, event)
    return state


def _rebuilt(state: TableState) -> None:
    if state.dice is not None:
        step_graph(state.turn_start, state.dice, first_turn=first_turn(state))


def _play(preset: str, seed: int, watch: _Watch) -> int:
    """Play one game at random; its number of events."""
    rng, dice = random.Random(seed), SeededDice(seed)
    setup = new_setup(preset, match_length=_LENGTHS.get(preset))
    state = replay(open_table(setup, dice, 0.0))
    while state.result is None:
        state = watch.run("settle", _settled, state, dice)
        if state.result is not None:
            break
        action: Action = act.Roll()
        if state.stage is Stage.MOVING:
            if not state.steps:
                watch.run("rebuilt", _rebuilt, state)
            legal = watch.run("legal", legal_actions, state, state.turn)
            action = act.Confirm()
            if legal.steps:
                option = rng.choice(legal.steps)
                action = act.MakeStep(option.source, option.target)
        state = watch.run(action.kind.value, _done, state, action, dice)
    return state.version


def main() -> None:
    """Run as the module docstring says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--preset", default="classic")
    options = parser.parse_args()
    watch = _Watch()
    _play(options.preset, 0, _Watch())
    events = sum(_play(options.preset, seed, watch) for seed in range(1, options.games + 1))
    print(f"{options.games} games of {options.preset}, {events:,} events, Python", end=" ")
    print(f"{platform.python_version()} on {platform.machine()}")
    watch.show()


if __name__ == "__main__":
    main()
