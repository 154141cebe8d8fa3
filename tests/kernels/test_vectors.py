"""The product of four rows with a matrix: its sums, its bits, and what it leaves alone."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from bgserver.kernels._jit import kernel
from bgserver.kernels.vectors import (
    COLUMNS,
    ROWS,
    add_product_relu,
    product_plain,
    product_relu,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHAPES = [(1, 32), (3, 64), (7, 32), (32, 32), (60, 256), (256, 32)]


class _Operand(NamedTuple):
    """A flat array with rows somewhere in it."""

    flat: NDArray[np.float32]
    at: int
    stride: int


# The kernels under test are intrinsics, which only compiled code can call.


@kernel
def _add_relu(x: _Operand, w: _Operand, biases: _Operand, out: _Operand, width: int) -> None:
    add_product_relu(
        x.flat,
        x.at,
        x.stride,
        w.flat,
        w.at,
        w.stride,
        biases.flat,
        biases.at,
        out.flat,
        out.at,
        width,
    )


@kernel
def _relu(x: _Operand, w: _Operand, biases: _Operand, out: _Operand, width: int) -> None:
    product_relu(
        x.flat,
        x.at,
        x.stride,
        w.flat,
        w.at,
        w.stride,
        biases.flat,
        biases.at,
        out.flat,
        out.at,
        width,
    )


@kernel
def _plain(x: _Operand, w: _Operand, biases: _Operand, out: _Operand, width: int) -> None:
    product_plain(
        x.flat,
        x.at,
        x.stride,
        w.flat,
        w.at,
        w.stride,
        biases.flat,
        biases.at,
        out.flat,
        out.at,
        width,
    )


KINDS = {"add_relu": _add_relu, "relu": _relu, "plain": _plain}
ALL_KINDS = pytest.mark.parametrize("kind", list(KINDS))


def multiplied(
    kind: str,
    x: NDArray[np.float32],
    w: NDArray[np.float32],
    biases: NDArray[np.float32],
    sums: NDArray[np.float32],
) -> NDArray[np.float32]:
    """A layer of one kind, with the operands in the middle of larger arrays of NaN."""
    n_inputs, width = w.shape
    stride = n_inputs + 3
    rows = np.full((ROWS, stride), np.nan, dtype=np.float32)
    rows[:, :n_inputs] = x
    around = np.full(5, np.nan, dtype=np.float32)
    flat_x, flat_w, flat_biases, out = (
        np.concatenate([around, part.ravel(), around]) for part in (rows, w, biases, sums)
    )
    KINDS[kind](
        _Operand(flat_x, 5, stride),
        _Operand(flat_w, 5, n_inputs),
        _Operand(flat_biases, 5, 0),
        _Operand(out, 5, 0),
        width,
    )
    assert np.isnan(out[:5]).all()
    assert np.isnan(out[-5:]).all()
    return out[5:-5].reshape(ROWS, width)


def operands(n_inputs: int, width: int) -> tuple[NDArray[np.float32], ...]:
    """Random inputs, weights, biases and sums."""
    rng = np.random.default_rng(n_inputs * 1000 + width)
    shapes = ((ROWS, n_inputs), (n_inputs, width), (width,), (ROWS, width))
    return tuple(rng.normal(size=shape).astype(np.float32) for shape in shapes)


@ALL_KINDS
@pytest.mark.parametrize(("n_inputs", "width"), SHAPES)
def test_layers_are_those_of_the_formula(kind: str, n_inputs: int, width: int) -> None:
    x, w, biases, sums = operands(n_inputs, width)
    begin = sums if kind == "add_relu" else np.tile(biases, (ROWS, 1))
    expected = begin.astype(np.float64) + x.astype(np.float64) @ w.astype(np.float64)
    if kind != "plain":
        expected = np.maximum(expected, 0)
        assert (expected == 0).any()
    found = multiplied(kind, x, w, biases, sums)
    np.testing.assert_allclose(found, expected, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("width", [COLUMNS, 3 * COLUMNS])
def test_no_inputs_add_nothing(width: int) -> None:
    x, w, biases, sums = operands(0, width)
    found = multiplied("add_relu", x, w, biases, sums)
    np.testing.assert_array_equal(found, np.maximum(sums, 0))
    found = multiplied("plain", x, w, biases, sums)
    np.testing.assert_array_equal(found, np.tile(biases, (ROWS, 1)))


@ALL_KINDS
@pytest.mark.parametrize(("n_inputs", "width"), SHAPES)
def test_a_row_has_the_same_bits_in_any_place_beside_any_others(
    kind: str, n_inputs: int, width: int
) -> None:
    x, w, biases, sums = operands(n_inputs, width)
    expected = multiplied(kind, x, w, biases, sums)
    for order in itertools.permutations(range(ROWS)):
        places = list(order)
        found = multiplied(kind, x[places], w, biases, sums[places])
        np.testing.assert_array_equal(found, expected[places])
    for row in range(ROWS):
        others = np.full_like(x, np.inf)
        others[row] = x[row]
        found = multiplied(kind, others, w, biases, sums)
        np.testing.assert_array_equal(found[row], expected[row])


def test_columns_have_the_same_bits_in_a_wider_matrix() -> None:
    x, w, biases, sums = operands(60, 4 * COLUMNS)
    expected = multiplied("relu", x, w, biases, sums)
    for first in range(0, 4 * COLUMNS, COLUMNS):
        part = slice(first, first + COLUMNS)
        narrow = np.ascontiguousarray(w[:, part])
        alone = multiplied("relu", x, narrow, biases[part], sums[:, part])
        np.testing.assert_array_equal(alone, expected[:, part])
