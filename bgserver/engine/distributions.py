"""Tails of Student's t and of the binomial distribution, by the incomplete beta function."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

__all__ = ["even_binomial_p_value", "incomplete_beta", "student_p_value", "student_quantile"]

_Z = NormalDist().inv_cdf(0.975)
_EXPANDED_FROM = 100  # degrees of freedom; there the expansion is exact to ten digits
_NORMAL_FROM = 1_000_000  # degrees of freedom; there the gamma functions lose more than it differs
_PRECISION = 1e-15
_TINY = 1e-300
_MAX_STEPS = 1_000_000


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), for positive a and b and x in 0..1."""
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    factor = math.exp(log_factor + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1.0) / (a + b + 2.0):
        return factor * _beta_fraction(a, b, x) / a
    return 1.0 - factor * _beta_fraction(b, a, 1.0 - x) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the function (DLMF 8.17.22), by Lentz's method."""
    c = 1.0
    d = 1.0 / _not_0(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for step in range(1, _MAX_STEPS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            d = 1.0 / _not_0(1.0 + term * d)
            c = _not_0(1.0 + term / c)
            value *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            break
    return value


def _not_0(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def student_p_value(t: float, freedom: int) -> float:
    """Chance that Student's t is at least so far from 0, on either side."""
    if freedom > _NORMAL_FROM:
        return math.erfc(abs(t) / math.sqrt(2.0))
    return incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))


def student_quantile(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t."""
    if freedom < _EXPANDED_FROM:
        return _small_quantile(freedom)
    z, square = _Z, _Z * _Z
    # Abramowitz and Stegun, 26.7.5.
    first = (square + 1) / 4
    second = ((5 * square + 16) * square + 3) / 96
    third = (((3 * square + 19) * square + 17) * square - 15) / 384
    fourth = ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160
    inverse = 1.0 / freedom
    terms = first + inverse * (second + inverse * (third + inverse * fourth))
    return z * (1.0 + inverse * terms)


@cache
def _small_quantile(freedom: int) -> float:
    low, high = 1.0, 16.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if student_p_value(middle, freedom) > 0.05:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def even_binomial_p_value(successes: float, trials: int) -> float:
    """Chance that fair trials come out at least so unevenly, on either side (the sign test)."""
    most = max(successes, trials - successes)
    return min(1.0, 2.0 * incomplete_beta(most, trials - most + 1.0, 0.5))
