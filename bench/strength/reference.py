"""Loss of plays on the reference checker decisions, beside the peers' recorded choices.

Loss of a choice: the best candidate's equity minus the chosen one's, cubeless, against the mean of
two deep evaluations by independent engines (`bench/reference/README.md`). The sets are for
measuring, never for training or tuning.

The engine ranks all legal plays, filters and all; its choice is the first of the candidates in that
order, as the peers' figures are for choices among the candidates. How often its best play of all is
no candidate is counted beside it, and the mean with 120 mEq for each of these: too hard where a
race is lost anyway and more plays than the six candidates are equally good.
"""

from __future__ import annotations

import json
import math
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.progress import track
from rich.table import Table

from bench.peers import Case, Peer, level_name
from bgserver.engine.levels import Level
from bgserver.engine.position import Dice, GameState, Position
from bgserver.engine.work import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from bench.peers import PeerPrograms
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.rollout_level import RolloutLevel

__all__ = ["CLASSES", "Decision", "Losses", "decisions", "measure", "measure_peer", "recorded"]

CLASSES = {
    1: "bear-off, two-sided",
    2: "bear-off",
    3: "race",
    4: "crashed",
    5: "contact",
}
"""The classes of the file."""
OUTSIDE_MEQ = 120.0
"""What a play outside the candidates counts (`bench/reference/README.md`)."""

_FILE = Path(__file__).parents[1] / "reference" / "checker_decisions.jsonl"
_STATIC = {"gnubg0": "GNU Backgammon 0-ply", "sage1": "Open Sage 1-ply"}
_DEEP = {"gnubg2": "GNU Backgammon 2-ply", "sage3": "Open Sage 3-ply"}

Board = tuple[int, ...]


@dataclass(frozen=True)
class Decision:
    """One reference decision."""

    board: Board
    """As `Position.points`."""
    dice: tuple[int, int]
    """The roll."""
    kind: int
    """A key of `CLASSES`."""
    truth: dict[Board, float]
    """Equity in points of each candidate."""
    recorded: dict[str, list[float]]
    """What the peers thought of the candidates, by their names."""

    def loss(self, choice: Board) -> float:
        """Thousandths of a point that a candidate gives up."""
        return 1000 * (max(self.truth.values()) - self.truth[choice])


class Choice(NamedTuple):
    """How a player decided."""

    ranked: list[Board]
    """Boards after plays, the best first."""
    seconds: float
    """Time that it took."""
    cpu_seconds: float
    """Processor time that it took."""


@dataclass
class Losses:
    """What one player lost, decision by decision."""

    name: str
    """Who."""
    by_class: dict[int, list[float]] = field(default_factory=dict)
    """Losses in mEq."""
    strict: list[float] = field(default_factory=list)
    """The same of the best play of all, `OUTSIDE_MEQ` if it is no candidate; empty if unknown."""
    outside: int = 0
    """Decisions whose best play of all is no candidate."""
    seconds: list[float] = field(default_factory=list)
    """Time of each decision; empty if it was not measured."""
    cpu_seconds: list[float] = field(default_factory=list)
    """Processor time of each, which other programs do not stretch."""

    def add(self, kind: int, loss: float) -> None:
        """Count one decision."""
        self.by_class.setdefault(kind, []).append(loss)

    @property
    def all(self) -> list[float]:
        """Losses of all classes."""
        return [loss for losses in self.by_class.values() for loss in losses]

    def figures(self) -> dict[str, Any]:
        """All figures, for a program."""
        rows = {CLASSES[kind]: self.by_class[kind] for kind in sorted(self.by_class)}
        return {
            "classes": {name: _figures(losses) for name, losses in rows.items()},
            "all": _figures(self.all),
            "outside": self.outside if self.strict else None,
            "all_outside_as_120": _figures(self.strict) if self.strict else None,
            "mean_ms": 1000 * statistics.fmean(self.seconds) if self.seconds else None,
            "mean_cpu_ms": 1000 * statistics.fmean(self.cpu_seconds) if self.cpu_seconds else None,
            "median_ms": 1000 * statistics.median(self.seconds) if self.seconds else None,
        }


def _figures(losses: list[float]) -> dict[str, float]:
    mean, error = mean_and_error(losses)
    return {"mean_meq": mean, "standard_error_meq": error, "decisions": len(losses)}


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error; the error is 0 of a single value."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, 0.0
    return mean, statistics.stdev(values) / math.sqrt(len(values))


def decisions(every: int = 1) -> list[Decision]:
    """Every n-th decision of the reference file."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()[::every]
    return [_decision(json.loads(line)) for line in lines]


def _decision(row: dict[str, Any]) -> Decision:
    candidates = [_points(board) for board in row["cand"]]
    values = {title: row[name] for name, title in _STATIC.items()}
    for name, title in _DEEP.items():
        values[title] = [_equity(chances) for chances in row[name]]
    deep = zip(*(values[title] for title in _DEEP.values()), strict=True)
    truth = dict(zip(candidates, map(statistics.fmean, deep), strict=True))
    first, second = row["dice"]
    return Decision(_points(row["board"]), (first, second), row["class"], truth, values)


def _points(board: list[int]) -> Board:
    """The file counts the opponent's checkers on the bar as a positive number."""
    return (-board[0], *board[1:])


def _equity(chances: list[float]) -> float:
    win, gammon, backgammon, lost_gammon, lost_backgammon = chances
    return 2 * win - 1 + gammon + backgammon - lost_gammon - lost_backgammon


def recorded(reference: list[Decision]) -> list[Losses]:
    """What the peers' recorded evaluations lose, static ones first."""
    players = []
    for title in (*_STATIC.values(), *_DEEP.values()):
        losses = Losses(title)
        for decision in reference:
            values = decision.recorded[title]
            losses.add(
                decision.kind, decision.loss(list(decision.truth)[values.index(max(values))])
            )
        players.append(losses)
    return players


def measure(
    engine: Engine, level: Level | RolloutLevel, reference: list[Decision], console: Console
) -> Losses:
    """What the engine loses at a level, with a progress bar."""
    name = level.value if isinstance(level, Level) else level.full_name

    def choose(decision: Decision) -> Choice:
        state = GameState(position=Position(decision.board))
        before, used = time.perf_counter(), time.process_time()
        ranked = run(engine.rank(state, Dice(*decision.dice), level, cubeless=True))
        seconds, cpu_seconds = time.perf_counter() - before, time.process_time() - used
        return Choice([play.play.result.points for play in ranked], seconds, cpu_seconds)

    choose(reference[0])  # whatever is compiled or loaded belongs to no decision
    return _measure(f"bgserver {name}", choose, reference, console)


def measure_peer(
    programs: PeerPrograms, name: str, rolls: int, reference: list[Decision], console: Console
) -> Losses:
    """What a peer loses that is asked now; answers that are no candidates are left out.

    Raises:
        PeerError: It cannot be asked.
    """
    with Peer(programs, name) as peer:

        def choose(decision: Decision) -> Choice:
            [answer] = peer.ask([Case(decision.board, decision.dice)], rolls)
            return Choice([answer.board], answer.seconds, answer.cpu_seconds)

        choose(reference[0])
        return _measure(f"{level_name(name, rolls)}, asked now", choose, reference, console)


def _measure(
    name: str,
    choose: Callable[[Decision], Choice],
    reference: list[Decision],
    console: Console,
) -> Losses:
    losses = Losses(name)
    for decision in track(reference, description=name, console=console):
        ranked, seconds, cpu_seconds = choose(decision)
        losses.seconds.append(seconds)
        losses.cpu_seconds.append(cpu_seconds)
        inside = ranked[0] in decision.truth
        losses.outside += not inside
        losses.strict.append(decision.loss(ranked[0]) if inside else OUTSIDE_MEQ)
        among = [board for board in ranked if board in decision.truth]
        if among:
            losses.add(decision.kind, decision.loss(among[0]))
    return losses


def print_table(players: list[Losses], reference: list[Decision], console: Console) -> None:
    """Print the losses of all players side by side."""
    table = Table(title=f"mean loss in mEq and its standard error, {len(reference)} decisions")
    table.add_column("")
    for player in players:
        table.add_column(player.name, justify="right")
    table.add_column("decisions", justify="right")
    kinds = [decision.kind for decision in reference]
    for kind, name in CLASSES.items():
        if kind in kinds:
            cells = [_cell(player.by_class.get(kind, [])) for player in players]
            table.add_row(name, *cells, str(kinds.count(kind)))
    table.add_section()
    table.add_row("all", *(_cell(player.all) for player in players), str(len(reference)))
    table.add_section()
    outside = [str(player.outside) if player.strict else "" for player in players]
    table.add_row("best play no candidate", *outside, "")
    table.add_row("all, that as 120 mEq", *(_cell(player.strict) for player in players), "")
    table.add_row("ms a decision", *(_mean_ms(player.seconds) for player in players), "")
    table.add_row("of processor time", *(_mean_ms(player.cpu_seconds) for player in players), "")
    console.print(table)


def _cell(losses: list[float]) -> str:
    if not losses:
        return ""
    mean, error = mean_and_error(losses)
    return f"{mean:.2f} ± {error:.2f}"


def _mean_ms(seconds: list[float]) -> str:
    return f"{1000 * statistics.fmean(seconds):.2f}" if seconds else ""
