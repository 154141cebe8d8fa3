"""Figures with 95 % confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bgserver.engine.distributions import student_p_value, student_quantile

__all__ = ["Estimate", "RatioEstimate", "wilson_interval"]

_Z = 1.959964  # two-sided 95 % quantile of the normal distribution
_TELLING = 6  # fewer blocks cannot be significant, however clear: the sign test says 2 ** (1 - 5)
_ROUNDING = 1e-13  # of sums of squares; one block in a billion that differs is still seen
_SETTLED = 30  # so many equal blocks are believed to have no spread


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % confidence interval."""

    mean: float
    """The mean."""
    low: float
    """Lower end."""
    high: float
    """Upper end."""


def wilson_interval(successes: float, trials: float) -> Estimate:
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


class RatioEstimate:
    """The mean of many values that come in independent blocks of any size.

    A block is what does not depend on the other blocks: a game, or two matches with the same dice.
    With blocks of one value this is the ordinary mean with Student's interval.
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
        if residual <= _ROUNDING * self._squares:  # no spread at all
            return 0.0
        variance = residual / (self.blocks - 1)
        return math.sqrt(variance * self.blocks) / self._count

    def interval(self) -> Estimate:
        """The mean with Student's interval over blocks.

        Without end where nothing is known of the spread: with fewer than two blocks, or fewer
        than 30 that all say the same.
        """
        mean, error = self.mean, self.error
        if self.blocks < 2 or (error == 0.0 and self.blocks < _SETTLED):
            return Estimate(mean, -math.inf, math.inf)
        half = student_quantile(self.blocks - 1) * error
        return Estimate(mean, mean - half, mean + half)

    def share_interval(self) -> Estimate:
        """The mean of values in 0..1, with a Wilson interval; 0..1 without blocks.

        The trials are so many as would spread the share as the blocks do. One block of ones and
        one of zeros are counted besides to find that number, so that few blocks that all say the
        same do not pass for certainty: blocks of nothing but ones count one trial each.
        """
        if self.blocks == 0:
            return Estimate(0.0, 0.0, 1.0)
        size = self._count / self.blocks
        share = (self._sum + size) / (self._count + 2.0 * size)
        residual = self._squares - 2.0 * share * self._products + share * share * self._counts
        residual = max(0.0, residual) + size * size * (share * share + (1.0 - share) ** 2)
        variance = residual / (self.blocks + 1) / (size * size)
        trials = self.blocks * share * (1.0 - share) / variance
        return wilson_interval(self.mean * trials, trials)

    def p_value(self, null: float = 0.0) -> float | None:
        """Chance of a mean at least so far from `null` by luck alone: Student's t over blocks.

        Never less than the sign test of so many blocks could give, 2 ** (1 - blocks).

        Returns:
            The chance; None with fewer than two blocks, or fewer than six that all say the same.
        """
        error = self.error
        if self.blocks < 2 or (error == 0.0 and self.blocks < _TELLING):
            return None
        off = self.mean - null
        if off == 0.0:
            return 1.0
        least = math.ldexp(1.0, 1 - self.blocks)
        if error == 0.0:
            return least
        return max(least, student_p_value(off / error, self.blocks - 1))
