"""How much equity the engine's cube decisions give up on the reference decisions.

    python -m bench.cube_reference                       # static
    python -m bench.cube_reference --levels static,lookahead_1,lookahead_2 --groups
    python -m bench.cube_reference --levels lookahead_1 --formula --worst 10 --weights FOLDER

    python -m bench.cube_reference --decisions more.jsonl

`--formula` adds what the static formula for the cube makes of the same chances: beside the level
itself it tells wrong chances from a wrong formula. `--groups` splits the losses by what decides the
position and by the score.

The yardstick is the mean of the two deep evaluations in `bench/reference/cube_decisions.jsonl`. The
same is printed for the static and deep evaluations recorded there. Two losses are counted for
every decision: of the double (or not) of the player on roll, and of the opponent's take (or pass)
if he is doubled.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bgserver.engine.cube import advise_cube
from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.position import Cube, CubeOwner, GameState, MatchScore, Position
from bgserver.engine.rollout_level import ROLLOUT_LEVELS, RolloutLevel, find_rollout_level
from bgserver.engine.work import run

if TYPE_CHECKING:
    from bgserver.engine.cube_advice import CubeAdvice

REFERENCE = Path(__file__).parent / "reference" / "cube_decisions.jsonl"
_OWNERS = {
    "centered": CubeOwner.CENTERED,
    "player": CubeOwner.ON_ROLL,
    "opponent": CubeOwner.OPPONENT,
}


class Values(NamedTuple):
    """Equities of the player on roll, on the current cube."""

    no_double: float
    double_take: float
    double_pass: float

    @property
    def doubles(self) -> bool:
        """True if doubling costs nothing."""
        return min(self.double_take, self.double_pass) >= self.no_double

    @property
    def takes(self) -> bool:
        """True if the opponent should take."""
        return self.double_take <= self.double_pass


@dataclass(frozen=True)
class Decision:
    """One reference decision."""

    name: str
    state: GameState
    truth: Values
    recorded: dict[str, Values]

    @property
    def kind(self) -> str:
        """`money` or `match`."""
        return "money" if self.state.match is None else "match"

    def losses(self, choice: Values) -> tuple[float, float]:
        """Equity that `choice` gives up by its double and by its take."""
        truth = self.truth
        doubled = min(truth.double_take, truth.double_pass)
        wrong_double = choice.doubles != truth.doubles
        wrong_take = choice.takes != truth.takes
        return (
            abs(doubled - truth.no_double) if wrong_double else 0.0,
            abs(truth.double_take - truth.double_pass) if wrong_take else 0.0,
        )


def decisions(path: Path = REFERENCE) -> list[Decision]:
    """The decisions of the reference file."""
    with path.open(encoding="utf-8") as file:
        return [_decision(json.loads(line)) for line in file]


def _decision(row: dict[str, Any]) -> Decision:
    recorded = {name: Values(*row[name][1:4]) for name in ("gnubg0", "gnubg2")}
    recorded |= {name: Values(*row[name][:3]) for name in ("sage1", "sage3")}
    deep = (recorded["gnubg2"], recorded["sage3"])
    truth = Values(*(statistics.fmean(pair) for pair in zip(*deep, strict=True)))
    return Decision(row["id"], _state(row["board"], row["cube"]), truth, recorded)


def _state(board: list[int], cube: dict[str, Any]) -> GameState:
    own, opponent = cube["away"]
    match = None
    if own:
        length = max(own, opponent, 2)
        match = MatchScore(length, length - own, length - opponent, cube["crawford"])
    return GameState(
        position=Position((-board[0], *board[1:])),
        cube=Cube(cube["value"], _OWNERS[cube["owner"]]),
        match=match,
        jacoby=cube["jacoby"],
    )


def _values(advice: CubeAdvice) -> Values:
    if advice.double_take is None or advice.double_pass is None:
        return Values(advice.no_double.equity, -9.0, 1.0)
    return Values(advice.no_double.equity, advice.double_take.equity, advice.double_pass.equity)


def report(name: str, chosen: list[tuple[Decision, Values]]) -> None:
    """Print the mean losses of one engine in thousandths of a point, with their errors."""
    columns = []
    for kind in ("money", "match", ""):
        losses = [entry.losses(values) for entry, values in chosen if entry.kind.startswith(kind)]
        for column in zip(*losses, strict=True):
            error = statistics.stdev(column) / math.sqrt(len(column)) if len(column) > 1 else 0.0
            columns.append(f"{1000 * statistics.fmean(column):7.2f} ±{1000 * error:5.2f}")
    print(f"{name:>24} {' '.join(columns)}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--levels", type=_levels, default=[Level.STATIC], help="with commas between them"
    )
    parser.add_argument(
        "--decisions", type=Path, default=REFERENCE, help="a file of `bench.cube_decisions`"
    )
    parser.add_argument("--every", type=int, default=1, help="take every n-th decision only")
    parser.add_argument("--formula", action="store_true", help="the static formula as well")
    parser.add_argument("--groups", action="store_true", help="losses group by group")
    parser.add_argument("--worst", type=int, default=0, help="print the worst decisions")
    parser.add_argument("--weights", type=Path, help="folder with other weights")
    options = parser.parse_args()
    engine = Engine.load(weights=options.weights)
    reference = decisions(options.decisions)[:: options.every]
    print(f"{len(reference)} decisions; mean loss in mEq a decision")
    print(f"{'':>24} {'money':^29} {'match':^29} {'all':^29}")
    print(f"{'':>24} {' '.join(['double'.rjust(14), 'take'.rjust(14)] * 3)}")
    ours: list[tuple[Decision, Values]] = []
    for level in options.levels:
        started = time.perf_counter()
        answers = [run(engine.advise_cube(entry.state, level)) for entry in reference]
        seconds = time.perf_counter() - started
        ours = [
            (entry, _values(answer[0])) for entry, answer in zip(reference, answers, strict=True)
        ]
        name = level.name if isinstance(level, RolloutLevel) else level.value
        report(f"bgserver {name}", ours)
        if options.formula:
            by_formula = [
                (entry, _values(advise_cube(found.probabilities, entry.state, met=engine.met)))
                for entry, (_, found) in zip(reference, answers, strict=True)
            ]
            report("formula on its chances", by_formula)
        print(f"{'':>24} {seconds:.2f} s")
        if options.groups:
            losses_of: dict[str, list[tuple[float, float]]] = {}
            for (entry, values), (_, found) in zip(ours, answers, strict=True):
                for name in _group(entry.state, found.position_class):
                    losses_of.setdefault(name, []).append(entry.losses(values))
            for group, lost in sorted(losses_of.items()):
                double, take = (1000 * statistics.fmean(part) for part in zip(*lost, strict=True))
                print(f"{group:>24} {double:7.2f} {take:7.2f}  of {len(lost)}")
    for name in ("gnubg0", "sage1", "gnubg2", "sage3"):
        report(name, [(entry, entry.recorded[name]) for entry in reference])
    worst = sorted(ours, key=lambda pair: -sum(pair[0].losses(pair[1])))[: options.worst]
    for entry, values in worst:
        losses = ", ".join(f"{1000 * loss:.0f}" for loss in entry.losses(values))
        print(f"{entry.name}: lost {losses} mEq; {_line(values)}; reference {_line(entry.truth)}")
        print(f"    {entry.state.position.points} {entry.state.cube} {entry.state.match}")


def _levels(text: str) -> list[Level | RolloutLevel]:
    names = text.split(",")
    known = [level.value for level in Engine.levels] + [level.name for level in ROLLOUT_LEVELS]
    if not set(names) <= set(known):
        message = f"expected some of {', '.join(known)}"
        raise argparse.ArgumentTypeError(message)
    return [find_rollout_level(name) or Level(name) for name in names]


def _group(state: GameState, position_class: str) -> list[str]:
    """Groups that a decision belongs to."""
    groups = ["contact" if position_class in ("contact", "crashed", "opening") else "race"]
    if state.match is None:
        groups.append("money, jacoby" if state.jacoby else "money")
        return groups
    own, opponent = state.match.away
    nearest = min(own, opponent)
    score = "1 away" if nearest == 1 else "2 away" if nearest == 2 else "3 and 4 away"
    groups.append(f"match, {score if nearest < 5 else '5 away and more'}")
    groups.append("match, cube centred" if state.cube.value == 1 else "match, cube turned")
    return groups


def _line(values: Values) -> str:
    return " / ".join(f"{value:+.3f}" for value in values)


if __name__ == "__main__":
    main()
