"""What a match between engines tells: a table, and a plot of the score over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from bgserver.engine.statistics import Estimate
    from bgserver.games.statistics import Statistics
    from bgserver.v1 import simulation_pb2

__all__ = ["Course", "draw", "points_remark", "report_table", "score_table"]

_MOST_POINTS = 2000
_TOO_FEW = "too few"


def _has_interval(estimate: Estimate | simulation_pb2.Estimate) -> bool:
    """Whether enough has been played for an interval."""
    return math.isfinite(estimate.high - estimate.low)


def _points_interval(points: Estimate | simulation_pb2.Estimate) -> str:
    """The interval of the points a game, as a table shows it."""
    return f"{points.low:+.4f} to {points.high:+.4f}" if _has_interval(points) else _TOO_FEW


def points_remark(points: Estimate | simulation_pb2.Estimate) -> str:
    """The points a game, as a bar shows them."""
    spread = f" ± {(points.high - points.low) / 2:.3f}" if _has_interval(points) else ""
    return f"{points.mean:+.3f}{spread} points a game"


def score_table(statistics: simulation_pb2.SimulationStatistics, names: tuple[str, str]) -> Table:
    """The beginning of a table: points, matches and games, the first player's and the second's."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("")
    for name in (*names, "95 % interval of the first"):
        table.add_column(name, justify="right")
    points = statistics.points_per_game
    table.add_row(
        "Points a game", f"{points.mean:+.4f}", f"{-points.mean:+.4f}",
        _points_interval(points),
    )  # fmt: skip
    if statistics.matches:
        table.add_row("Matches won %", *_shares(statistics.match_win_rate))
    table.add_row("Games won %", *_shares(statistics.game_win_rate))
    return table


def report_table(statistics: simulation_pb2.SimulationStatistics, names: tuple[str, str]) -> Table:
    """The figures of a match, the first player's beside the second's."""
    table = score_table(statistics, names)
    first, second = statistics.first, statistics.second
    for name, place in (("Single wins", 0), ("Gammons", 1), ("Backgammons", 2)):
        _count(table, name, first.wins[place], second.wins[place])
    table.add_row(
        "Gammon rate %", f"{100 * first.gammon_rate:.1f}", f"{100 * second.gammon_rate:.1f}", ""
    )
    table.add_section()
    for name, field in (
        ("Doubles", "doubles"), ("Drops", "drops"), ("Beavers", "beavers"),
        ("Raccoons", "raccoons"), ("Forfeits: too slow", "slow"),
        ("Forfeits: no answer", "failed"), ("Forfeits: illegal", "illegal"),
    ):  # fmt: skip
        _count(table, name, getattr(first, field), getattr(second, field), unless_both_0=True)
    _losses(table, statistics)
    table.add_section()
    if statistics.draws:
        table.add_row("Draws", f"{statistics.draws:,}", "", "")
    spread = f"± {statistics.turns_deviation:.1f}, {statistics.shortest} to {statistics.longest}"
    table.add_row("Turns a game", f"{statistics.mean_turns:.1f}", spread, "")
    cubes = ", ".join(f"{one.value}: {one.games:,}" for one in statistics.cube_values)
    if len(statistics.cube_values) > 1:
        table.add_row("Final cube", f"{statistics.mean_cube:.2f}", cubes, "")
    chance = f"{statistics.p_value:.2g}" if statistics.HasField("p_value") else _TOO_FEW
    table.add_row("Chance between equals", chance, "", "")
    return table


def _count(
    table: Table, name: str, first: int, second: int, *, unless_both_0: bool = False
) -> None:
    if first or second or not unless_both_0:
        table.add_row(name, f"{first:,}", f"{second:,}", "")


def _losses(table: Table, statistics: simulation_pb2.SimulationStatistics) -> None:
    """Losses per decision in thousandths of a point."""
    for name, field in (
        ("Own errors, mEq a play", "own_plays"),
        ("Judged loss, mEq a play", "judged_plays"),
        ("Judged loss, mEq a cube decision", "judged_cube"),
    ):
        cells = []
        for player in (statistics.first, statistics.second):
            tally = getattr(player, field)
            cells.append(f"{1000 * tally.lost / tally.count:.1f}" if tally.count else "")
        if any(cells):
            table.add_row(name, *cells, "")
    players = (statistics.first, statistics.second)
    if any(player.HasField("judged_loss") for player in players):
        cells = [f"{1000 * player.judged_loss:.1f}" for player in players]
        table.add_row("Judged loss, mEq a decision", *cells, "")


def _shares(rate: simulation_pb2.Estimate) -> tuple[str, str, str]:
    first, low, high = (100 * share for share in (rate.mean, rate.low, rate.high))
    return f"{first:.2f}", f"{100 - first:.2f}", f"{low:.2f} to {high:.2f}"


@dataclass(frozen=True, slots=True)
class _Point:
    games: int
    score: Estimate


class Course:
    """How the score went, thinned out to a number of points that a plot can show."""

    def __init__(self, count: int) -> None:
        """Nothing yet.

        Args:
            count: Games, sessions or matches that will be played.
        """
        self._every = max(1, count // _MOST_POINTS)
        self._units = 0
        self.points: list[_Point] = []
        """Games and score so far."""

    def add(self, statistics: Statistics) -> None:
        """Note the score after one more unit."""
        self._units += 1
        if self._units % self._every == 0 and statistics.observations > 1:
            score = statistics.match_win_rate if statistics.matches else statistics.points_per_game
            if not _has_interval(score):
                return
            self.points.append(_Point(statistics.games, score))


def draw(course: Course, path: Path, names: tuple[str, str], *, matches: bool) -> None:
    """Write a plot of the score with its interval.

    Args:
        course: How the score went.
        path: A file; its ending says which form, `.png` for example.
        names: Of the players.
        matches: Whether the score is of matches won, and not of points.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 -- an extra, and slow to load

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    games = [point.games for point in course.points]
    low = [point.score.low for point in course.points]
    high = [point.score.high for point in course.points]
    axes.fill_between(games, low, high, alpha=0.25, label="95 % interval")
    axes.plot(games, [point.score.mean for point in course.points], label=names[0])
    axes.axhline(0.5 if matches else 0.0, color="black", linewidth=0.8)
    if course.points:
        # The first games say nothing and would leave no room for the rest.
        settled = course.points[len(course.points) // 10 :]
        bottom = min(point.score.low for point in settled)
        top = max(point.score.high for point in settled)
        middle = 0.5 if matches else 0.0
        bottom, top = min(bottom, middle), max(top, middle)
        margin = 0.05 * (top - bottom) or 0.1
        axes.set_ylim(bottom - margin, top + margin)
    axes.set_xlabel("games")
    axes.set_ylabel("share of matches won" if matches else "points a game")
    axes.set_title(f"{names[0]} against {names[1]}")
    axes.legend()
    figure.savefig(path, dpi=120)
