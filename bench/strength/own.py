"""Loss of the shallow levels by the engine's own judgement two rolls ahead, on self-play.

There are reference decisions for backgammon alone; this is there for both games. It says how much a
network contradicts its own look-ahead: whoever judges two rolls ahead has the faults of the same
network, so losses come out too small, and figures of different weights are a hint, no ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.progress import track
from rich.table import Table

from bench.own_decisions import class_names, decisions, kept
from bench.strength.reference import mean_and_error
from bgserver.engine.levels import Level
from bgserver.engine.lookahead import MOVE_FILTERS

if TYPE_CHECKING:
    from rich.console import Console

    from bench.own_decisions import Decision
    from bgserver.engine.evaluator import GameCore

__all__ = ["LEVELS", "OwnLosses", "figures", "measure", "print_table"]

LEVELS = (Level.STATIC, Level.LOOKAHEAD_1)
"""The levels that are judged."""


@dataclass(frozen=True, slots=True)
class OwnLosses:
    """What the levels lost in one class, decision by decision."""

    name: str
    """The class, or `all`."""
    by_level: dict[Level, list[float]]
    """Thousandths of a point."""

    @property
    def count(self) -> int:
        """Decisions."""
        return len(self.by_level[LEVELS[0]])


def choice(decision: Decision, level: Level) -> int:
    """The candidate that a level plays."""
    if level is Level.STATIC:
        return 0
    allowed = kept(decision.static, MOVE_FILTERS[0].window, MOVE_FILTERS[0].most)
    return int(allowed[decision.one[allowed].argmax()])


def measure(core: GameCore, count: int, seed: int, console: Console) -> list[OwnLosses]:
    """Losses by class of the position before the roll, and of all, with a progress bar."""
    rows = {name: OwnLosses(name, {level: [] for level in LEVELS}) for name in class_names(core)}
    whole = OwnLosses("all", {level: [] for level in LEVELS})
    stream = decisions(core, count, seed)
    for decision in track(stream, description="decisions", total=count, console=console):
        best = decision.two.max()
        for level in LEVELS:
            loss = 1000 * float(best - decision.two[choice(decision, level)])
            rows[decision.position_class].by_level[level].append(loss)
            whole.by_level[level].append(loss)
    return [row for row in rows.values() if row.count] + [whole]


def figures(rows: list[OwnLosses]) -> dict[str, Any]:
    """All figures, for a program."""
    found: dict[str, Any] = {}
    for row in rows:
        found[row.name] = {"decisions": row.count}
        for level, losses in row.by_level.items():
            mean, error = mean_and_error(losses)
            found[row.name][level.value] = {"mean_meq": mean, "standard_error_meq": error}
    return found


def print_table(rows: list[OwnLosses], console: Console) -> None:
    """Print the losses of the levels side by side."""
    table = Table(title="mean loss in mEq and its standard error, judged two rolls ahead")
    table.add_column("")
    for heading in (*(level.value for level in LEVELS), "decisions"):
        table.add_column(heading, justify="right")
    for row in rows:
        if row.name == "all":
            table.add_section()
        pairs = [mean_and_error(losses) for losses in row.by_level.values()]
        cells = [f"{mean:.2f} ± {error:.2f}" for mean, error in pairs]
        table.add_row(row.name, *cells, str(row.count))
    console.print(table)
