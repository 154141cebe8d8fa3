"""The product of four rows with a matrix: its sums, its bits, and what it leaves alone."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from bgserver.kernels._jit import kernel
from bgserver.kernels.vectors import COLUMNS, ROWS, add_product

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHAPES = [(1, 32), (3, 64), (7, 32), (32, 32), (60, 256), (256, 32)]


class _Operand(NamedTuple):
    """A flat array with rows somewhere in it."""

    flat: NDArray[np.float32]
    at: int
    stride: int


@kernel
def _product(x: _Operand, w: _Operand, n_inputs: int, out: _Operand, width: int) -> None:
    """The kernel under test is an intrinsic, which only compiled code can call."""
    add_product(x.flat, x.at, x.stride, w.flat, w.at, n_inputs, out.flat, out.at, width)


def multiplied(
    x: NDArray[np.float32], w: NDArray[np.float32], sums: NDArray[np.float32]
) -> NDArray[np.float32]:
    """`sums + x @ w`, with the operands in the middle of larger arrays of NaN."""
    n_inputs, width = w.shape
    stride = n_inputs + 3
    rows = np.full((ROWS, stride), np.nan, dtype=np.float32)
    rows[:, :n_inputs] = x
    around = np.full(5, np.nan, dtype=np.float32)
    flat_x, flat_w, out = (
        np.concatenate([around, part.ravel(), around]) for part in (rows, w, sums)
    )
    _product(
        _Operand(flat_x, 5, stride),
        _Operand(flat_w, 5, width),
        n_inputs,
        _Operand(out, 5, 0),
        width,
    )
    assert np.isnan(out[:5]).all()
    assert np.isnan(out[-5:]).all()
    return out[5:-5].reshape(ROWS, width)


def operands(
    n_inputs: int, width: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    rng = np.random.default_rng(n_inputs * 1000 + width)
    shapes = ((ROWS, n_inputs), (n_inputs, width), (ROWS, width))
    x, w, sums = (rng.normal(size=shape).astype(np.float32) for shape in shapes)
    return x, w, sums


@pytest.mark.parametrize(("n_inputs", "width"), SHAPES)
def test_the_product_is_added(n_inputs: int, width: int) -> None:
    x, w, sums = operands(n_inputs, width)
    expected = sums.astype(np.float64) + x.astype(np.float64) @ w.astype(np.float64)
    np.testing.assert_allclose(multiplied(x, w, sums), expected, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("width", [COLUMNS, 3 * COLUMNS])
def test_no_inputs_add_nothing(width: int) -> None:
    x, w, sums = operands(0, width)
    np.testing.assert_array_equal(multiplied(x, w, sums), sums)


@pytest.mark.parametrize(("n_inputs", "width"), SHAPES)
def test_a_row_has_the_same_bits_in_any_place_beside_any_others(n_inputs: int, width: int) -> None:
    x, w, sums = operands(n_inputs, width)
    expected = multiplied(x, w, sums)
    for order in itertools.permutations(range(ROWS)):
        places = list(order)
        np.testing.assert_array_equal(multiplied(x[places], w, sums[places]), expected[places])
    for row in range(ROWS):
        others = np.full_like(x, np.inf)
        others[row] = x[row]
        np.testing.assert_array_equal(multiplied(others, w, sums)[row], expected[row])


def test_columns_have_the_same_bits_in_a_wider_matrix() -> None:
    x, w, sums = operands(60, 4 * COLUMNS)
    expected = multiplied(x, w, sums)
    for first in range(0, 4 * COLUMNS, COLUMNS):
        part = slice(first, first + COLUMNS)
        alone = multiplied(x, np.ascontiguousarray(w[:, part]), sums[:, part])
        np.testing.assert_array_equal(alone, expected[:, part])
