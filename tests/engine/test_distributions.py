"""Student's t and the sign test against closed forms, tables and plain sums."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from bgserver.engine.distributions import (
    even_binomial_p_value,
    incomplete_beta,
    student_p_value,
    student_quantile,
)


@pytest.mark.parametrize("t", [0.0, 0.01, 0.5, 1.0, 2.0, 12.7, 1e4])
def test_tails_with_closed_forms(t: float) -> None:
    for signed in (t, -t):
        # One degree of freedom is Cauchy's distribution; two have a closed form too.
        assert student_p_value(signed, 1) == pytest.approx(2 * math.atan2(1, t) / math.pi)
        assert student_p_value(signed, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-12)


@pytest.mark.parametrize("freedom", [3, 7, 40, 400])
@pytest.mark.parametrize("t", [0.3, 1.96, 3.5])
def test_tails_are_integrals_of_the_density(freedom: int, t: float) -> None:
    x = np.linspace(0, t, 20_001)
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    scale = math.exp(log_scale) / math.sqrt(freedom * math.pi)
    density = scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2)
    inside = float(((density[1:] + density[:-1]) / 2).sum()) * t / 20_000
    assert student_p_value(t, freedom) == pytest.approx(1 - 2 * inside, abs=1e-8)


def test_many_degrees_of_freedom_are_normal() -> None:
    for freedom in (10**6, 10**6 + 1, 1 << 32):
        assert student_p_value(1.5, freedom) == pytest.approx(math.erfc(1.5 / 2**0.5), rel=1e-5)
        assert student_quantile(freedom) == pytest.approx(1.959964, abs=3e-6)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [
        # Two-sided 95 %, as in any table.
        (1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.5706), (10, 2.2281),
        (20, 2.0860), (30, 2.0423), (60, 2.0003), (100, 1.9840), (1000, 1.9623),
    ],
)  # fmt: skip
def test_quantiles_that_are_in_tables(freedom: int, quantile: float) -> None:
    assert student_quantile(freedom) == pytest.approx(quantile, abs=5.1e-5)


def test_quantiles_have_their_tails() -> None:
    for freedom in (1, 2, 9, 98, 99, 100, 101, 150, 5000):
        assert student_p_value(student_quantile(freedom), freedom) == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize("trials", [1, 2, 7, 40, 301])
def test_the_sign_test_is_a_sum_of_binomials(trials: int) -> None:
    for wins in range(trials + 1):
        most = max(wins, trials - wins)
        tail = sum(math.comb(trials, more) for more in range(most, trials + 1))
        wanted = min(Fraction(1), Fraction(2 * tail, 2**trials))
        assert even_binomial_p_value(wins, trials) == pytest.approx(float(wanted), rel=1e-9)


def test_the_beta_function_ends_at_0_and_1() -> None:
    for a, b in ((0.5, 0.5), (3.0, 0.5), (1e6, 2.0)):
        assert (incomplete_beta(a, b, 0.0), incomplete_beta(a, b, 1.0)) == (0, 1)
        for x in (0.1, 0.5, 0.99):
            both = incomplete_beta(a, b, x) + incomplete_beta(b, a, 1 - x)
            assert both == pytest.approx(1)
