"""The file of a match: what was to be played, and every pair of games as it ended.

One line of JSON each: first the settings; a line `{"run": ...}` whenever playing begins; then a
line for each pair. Lines are only ever appended, and one process at a time may do so; a line that
an interruption cut short is dropped, and its pair is played again.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bgserver.engine.statistics import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import TracebackType
    from typing import Self

__all__ = ["MatchFile", "Pair", "RecordError", "Summary", "summarize"]

_Z = 1.959964  # two-sided 95 % quantile of the normal distribution


class RecordError(Exception):
    """The file belongs to another match, to another process, or is damaged."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two games with the same dice; who is asked about moves first in the first of them."""

    number: int
    """Number of the pair, from 0; the dice depend on it."""
    points: tuple[int, int]
    """What that player won in each game: 1, 2 or 3, negative if it lost."""
    luck: tuple[float, float]
    """Points that the dice gave to that player in each game."""
    turns: tuple[int, int]
    """Turns of both players in each game."""


class MatchFile:
    """The file of one match, open for more pairs; a context manager."""

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        """Open a file, or begin it.

        Args:
            path: The file.
            settings: What is to be played; must be those that the file began with.

        Raises:
            RecordError: See there.
        """
        self.pairs: dict[int, Pair] = {}
        """The pairs that have been played, by number."""
        self.runs: list[dict[str, Any]] = []
        """What was noted when playing began."""
        self._path = path
        self._file = path.open("a+", encoding="utf-8", newline="\n")
        try:
            self._read(settings)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def begin_run(self, note: dict[str, Any]) -> None:
        """Note that playing begins."""
        self.runs.append(note)
        self._append({"run": note})

    def add(self, pair: Pair) -> None:
        """Write a pair that has been played."""
        if pair.number in self.pairs:
            message = f"pair {pair.number} has been played before"
            raise RecordError(message)
        self._append(
            {"pair": pair.number, "points": pair.points, "luck": pair.luck, "turns": pair.turns}
        )
        self.pairs[pair.number] = pair

    def _read(self, settings: dict[str, Any]) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            message = f"{self._path}: another process is playing this match"
            raise RecordError(message) from error
        self._file.seek(0)
        text = self._file.read()
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self._file.truncate(len(whole.encode()))
        lines = whole.splitlines()
        if not lines:
            self._append({"settings": settings})
            return
        for number, line in enumerate(lines, 1):
            try:
                self._take(json.loads(line), settings, first=number == 1)
            except (ValueError, KeyError, TypeError) as error:
                message = f"{self._path}: line {number} is damaged: {line[:80]!r}"
                raise RecordError(message) from error

    def _take(self, entry: dict[str, Any], settings: dict[str, Any], *, first: bool) -> None:
        if first:
            self._require_equal(entry["settings"], settings)
        elif "run" in entry:
            self.runs.append(entry["run"])
        else:
            (one, two), luck, turns = entry["points"], entry["luck"], entry["turns"]
            pair = Pair(
                int(entry["pair"]),
                (int(one), int(two)),
                (float(luck[0]), float(luck[1])),
                (int(turns[0]), int(turns[1])),
            )
            if pair.number in self.pairs:
                message = f"{self._path}: pair {pair.number} is there twice"
                raise RecordError(message)
            self.pairs[pair.number] = pair

    def _require_equal(self, found: dict[str, Any], wanted: dict[str, Any]) -> None:
        names = sorted(found.keys() | wanted.keys())
        differences = [
            f"{name} {found.get(name)!r}, now {wanted.get(name)!r}"
            for name in names
            if found.get(name) != wanted.get(name)
        ]
        if differences:
            message = f"{self._path} belongs to another match: {'; '.join(differences)}"
            raise RecordError(message)

    def _append(self, entry: dict[str, Any]) -> None:
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


@dataclass(frozen=True, slots=True)
class Summary:
    """What the pairs tell, seen by the player who is asked about."""

    games: int
    """Games played, two a pair."""
    points_per_game: Estimate
    """Points per game with the luck of the dice taken off."""
    with_luck: Estimate
    """Points per game as they were won."""
    worth_games: float
    """How many games with dice of their own and luck would have told as much."""
    win_rate: float
    """Share of the games won."""
    gammon_rate: float
    """Share of the games won as a gammon or backgammon."""
    backgammon_rate: float
    """Share of the games won as a backgammon."""
    lost_gammon_rate: float
    """Share of the games lost as a gammon or backgammon."""
    lost_backgammon_rate: float
    """Share of the games lost as a backgammon."""
    turns: float
    """Mean turns of a game, both players together."""


def summarize(pairs: Iterable[Pair]) -> Summary:
    """Statistics of at least one pair; intervals are those of the means of pairs.

    The interval of a single pair is infinite.
    """
    pairs = list(pairs)
    points = [value for pair in pairs for value in pair.points]
    won = [statistics.fmean(pair.points) for pair in pairs]
    earned = [mean - statistics.fmean(pair.luck) for mean, pair in zip(won, pairs, strict=True)]
    worth = float(len(points))
    if len(pairs) > 1 and (variance := statistics.variance(earned)) > 0:
        worth = len(pairs) * statistics.variance(points) / variance

    def share(lowest: int, highest: int) -> float:
        return sum(lowest <= value <= highest for value in points) / len(points)

    return Summary(
        games=len(points),
        points_per_game=_estimate(earned),
        with_luck=_estimate(won),
        worth_games=worth,
        win_rate=share(1, 3),
        gammon_rate=share(2, 3),
        backgammon_rate=share(3, 3),
        lost_gammon_rate=share(-3, -2),
        lost_backgammon_rate=share(-3, -3),
        turns=statistics.fmean([turns for pair in pairs for turns in pair.turns]),
    )


def _estimate(values: list[float]) -> Estimate:
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Estimate(mean, -math.inf, math.inf)
    half = _Z * statistics.stdev(values) / math.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half)
