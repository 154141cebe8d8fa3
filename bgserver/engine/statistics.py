"""Running statistics of simulated games and matches, with 95 % confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.position import Seat

if TYPE_CHECKING:
    from bgserver.engine.simulation import UnitResult

__all__ = ["Estimate", "Statistics", "wilson_interval"]

_Z = 1.959964  # two-sided 95 % quantile of the normal distribution


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % confidence interval."""

    mean: float
    """The mean."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""


def wilson_interval(successes: int, trials: int) -> Estimate:
    """A share with its Wilson score interval (E. B. Wilson, 1927); 0..1 without trials."""
    if trials == 0:
        return Estimate(0.0, 0.0, 1.0)
    share = successes / trials
    scale = 1 + _Z * _Z / trials
    middle = (share + _Z * _Z / (2 * trials)) / scale
    spread = share * (1 - share) / trials + _Z * _Z / (4 * trials * trials)
    half = _Z / scale * math.sqrt(spread)
    # The share lies within its interval, whatever the rounding at shares of 0 and 1.
    low = max(0.0, min(share, middle - half))
    return Estimate(share, low, min(1.0, max(share, middle + half)))


class Statistics:
    """Statistics of the units counted so far, seen by the first seat."""

    def __init__(self) -> None:
        self.games = 0
        """Games counted."""
        self.matches = 0
        """Matches counted; 0 outside matches."""
        self.wins: dict[Seat, list[int]] = {Seat.FIRST: [0, 0, 0], Seat.SECOND: [0, 0, 0]}
        """Wins of each seat by result: single, gammon, backgammon."""
        self.dropped = 0
        """Games that ended with a dropped double."""
        self._choices = [0, 0]
        self._lost = [0.0, 0.0]
        self._match_wins = 0
        self._turns = 0
        self._cubes = 0
        # Points are whole numbers, so that the sums are exact in any order.
        self._points = 0
        self._squares = 0

    def add(self, unit: UnitResult) -> None:
        """Count a game or match."""
        for game in unit.games:
            self.games += 1
            self.wins[game.winner][game.result - 1] += 1
            self.dropped += game.dropped
            self._turns += game.turns
            self._cubes += game.cube_value
            for seat in Seat:
                self._choices[seat] += game.choices[seat]
                self._lost[seat] += game.lost[seat]
            points = game.points if game.winner is Seat.FIRST else -game.points
            self._points += points
            self._squares += points * points
        if unit.is_match:
            self.matches += 1
            self._match_wins += unit.winner is Seat.FIRST

    @property
    def points_per_game(self) -> Estimate:
        """Points per game that the first seat won, losses negative (normal interval)."""
        if self.games == 0:
            return Estimate(0.0, 0.0, 0.0)
        mean = self._points / self.games
        half = 0.0
        if self.games > 1:
            variance = (self._squares - self.games * mean * mean) / (self.games - 1)
            half = _Z * math.sqrt(max(0.0, variance) / self.games)
        return Estimate(mean, mean - half, mean + half)

    @property
    def game_win_rate(self) -> Estimate:
        """Share of the games that the first seat won (Wilson interval)."""
        return wilson_interval(sum(self.wins[Seat.FIRST]), self.games)

    @property
    def match_win_rate(self) -> Estimate:
        """Share of the matches that the first seat won (Wilson interval)."""
        return wilson_interval(self._match_wins, self.matches)

    @property
    def mean_turns(self) -> float:
        """Mean turns of a game, both players together."""
        return self._turns / self.games if self.games else 0.0

    @property
    def mean_cube(self) -> float:
        """Mean final cube value."""
        return self._cubes / self.games if self.games else 0.0

    def mean_loss(self, seat: Seat) -> float | None:
        """Mean loss of a seat's plays that were a choice, in points, by its own judgement.

        None before the first such play, and for a player who makes no errors of its own.
        """
        return self._lost[seat] / self._choices[seat] if self._choices[seat] else None
