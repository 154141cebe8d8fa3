"""Bit masks of points: bit p stands for point p, 25 for the bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from bgserver.kernels._jit import kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "changed_points",
    "count_bits",
    "highest_bit",
    "longest_run",
    "most_in_six",
    "reverse_points",
]

_ONE = np.uint64(1)

# The processor's own instructions, through LLVM. Numba's type of an intrinsic does not know that
# the typing context is not passed by the caller.
_intrinsic: Any = intrinsic
_Typed = tuple[Any, "Callable[..., Any]"]


@_intrinsic
def _count_bits(typing_context: Any, mask: Any) -> _Typed:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@_intrinsic
def _leading_zeros(typing_context: Any, mask: Any) -> _Typed:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        false = context.get_constant(types.boolean, False)
        return builder.ctlz(arguments[0], false)

    return types.int64(types.uint64), generate


@kernel
def count_bits(mask: np.uint64) -> int:
    """Number of set bits."""
    bits: int = _count_bits(mask)
    return bits


@kernel
def highest_bit(mask: np.uint64) -> int:
    """Index of the highest set bit; -1 for an empty mask."""
    zeros: int = _leading_zeros(mask)
    return 63 - zeros


@kernel
def changed_points(before: NDArray[np.int8], after: NDArray[np.int8]) -> np.uint64:
    """Mask of the 26 places on which two boards differ."""
    mask = np.uint64(0)
    for point in range(26):
        mask |= np.uint64(before[point] != after[point]) << np.uint64(point)
    return mask


@kernel
def reverse_points(mask: np.uint64) -> np.uint64:
    """Bit p moves to bit 25 - p, for p in 1..24: the points as the other side numbers them."""
    bits = mask >> _ONE
    bits = ((bits >> np.uint64(1)) & np.uint64(0x555555)) | (
        (bits & np.uint64(0x555555)) << np.uint64(1)
    )
    bits = ((bits >> np.uint64(2)) & np.uint64(0x333333)) | (
        (bits & np.uint64(0x333333)) << np.uint64(2)
    )
    bits = ((bits >> np.uint64(4)) & np.uint64(0x0F0F0F)) | (
        (bits & np.uint64(0x0F0F0F)) << np.uint64(4)
    )
    bits = (
        ((bits >> np.uint64(16)) & np.uint64(0xFF))
        | (bits & np.uint64(0xFF00))
        | ((bits & np.uint64(0xFF)) << np.uint64(16))
    )
    return bits << _ONE


@kernel
def longest_run(mask: np.uint64) -> int:
    """Length of the longest run of set bits."""
    run = 0
    while mask:
        mask &= mask >> _ONE
        run += 1
    return run


@kernel
def most_in_six(mask: np.uint64, lowest: np.uint64) -> int:
    """Most set bits among any six in a row that begin at a bit of `lowest`.

    All windows are counted at once: bit p of the three words below is the binary number of set
    bits in p..p+5.
    """
    a, b, c = mask, mask >> np.uint64(1), mask >> np.uint64(2)
    d, e, f = mask >> np.uint64(3), mask >> np.uint64(4), mask >> np.uint64(5)
    sum_low, carry_low = a ^ b ^ c, (a & b) | (c & (a ^ b))
    sum_high, carry_high = d ^ e ^ f, (d & e) | (f & (d ^ e))
    ones, carry = sum_low ^ sum_high, sum_low & sum_high
    twos = carry_low ^ carry_high ^ carry
    fours = (carry_low & carry_high) | (carry & (carry_low ^ carry_high))
    most = 0
    windows = lowest
    if fours & windows:
        windows &= fours
        most += 4
    if twos & windows:
        windows &= twos
        most += 2
    if ones & windows:
        most += 1
    return most
