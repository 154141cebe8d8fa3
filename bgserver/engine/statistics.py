"""Figures with 95 % confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Estimate", "RatioEstimate", "normal_p_value", "wilson_interval"]

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


def wilson_interval(successes: float, trials: int) -> Estimate:
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


def normal_p_value(mean: float, error: float) -> float:
    """Chance that a mean is at least so far from 0 by luck alone, with this standard error."""
    if error <= 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return math.erfc(abs(mean) / error / math.sqrt(2.0))


class RatioEstimate:
    """The mean of many values that come in independent blocks of any size.

    A block is what does not depend on the other blocks: a game, or two matches with the same dice.
    With blocks of one value this is the ordinary mean with its normal interval.
    """

    def __init__(self) -> None:
        self.blocks = 0
        """Blocks so far."""
        # Values are whole numbers or halves, so that the sums are exact in any order.
        self._sum = self._count = 0.0
        self._squares = self._products = self._counts = 0.0

    def add(self, total: float, count: int) -> None:
        """Count a block of `count` values with this sum."""
        self.blocks += 1
        self._sum += total
        self._count += count
        self._squares += total * total
        self._products += total * count
        self._counts += count * count

    @property
    def mean(self) -> float:
        """Mean of all values; 0 without any."""
        return self._sum / self._count if self._count else 0.0

    @property
    def error(self) -> float:
        """Standard error of the mean; 0 with fewer than two blocks."""
        if self.blocks < 2:
            return 0.0
        mean = self.mean
        residual = self._squares - 2.0 * mean * self._products + mean * mean * self._counts
        variance = max(0.0, residual) / (self.blocks - 1)
        return math.sqrt(variance * self.blocks) / self._count

    def interval(self) -> Estimate:
        """The mean with its interval."""
        mean, half = self.mean, _Z * self.error
        return Estimate(mean, mean - half, mean + half)
