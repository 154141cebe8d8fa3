"""The one inner loop that carries the evaluator: four rows times a matrix, kept in registers.

Plain loops over arrays load and store every partial sum; written as LLVM vectors the sums of
four boards and 32 columns stay in registers from the first input to the last. Each sum is made
in the order of the inputs, so its bits do not depend on the row or on what the other rows hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["COLUMNS", "ROWS", "add_product"]

ROWS = 4
"""Rows that are multiplied together."""
_LANES = 16
COLUMNS = 2 * _LANES
"""The columns of a matrix are a multiple of this."""

_Typed = tuple[Any, "Callable[..., Any]"]

# Numba's own types know neither what its helpers take, nor that the caller of an intrinsic does
# not pass the typing context.
_intrinsic: Any = intrinsic
_helpers: Any = cgutils


def _pointer(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    """Pointer to the first element of an array."""
    return context.make_array(array_type)(context, builder, array).data


def _load(builder: Any, pointer: Any, vector: Any) -> Any:
    """Load a vector that need not be aligned."""
    value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    value.align = 4
    return value


@_intrinsic
def add_product(
    typing_context: Any,
    x: Any,
    x_at: Any,
    x_stride: Any,
    w: Any,
    w_at: Any,
    n_inputs: Any,
    out: Any,
    out_at: Any,
    width: Any,
) -> _Typed | None:
    """Add x @ w to out, for four rows.

    Nothing is checked: the caller answers for shapes and contiguous float32 arrays.

    Args:
        typing_context: Numba's.
        x: Array that holds the four rows of inputs.
        x_at: Where the first row begins, in elements of the flat array.
        x_stride: Elements from one row to the next.
        w: Array that holds the matrix [n_inputs, width].
        w_at: Where it begins.
        n_inputs: Inputs.
        out: Array that holds the four rows of sums.
        out_at: Where the first row begins; the next follow at once.
        width: Columns; a multiple of `COLUMNS`.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, x_at, x_stride, w, w_at, n_inputs, out, out_at, width = arguments
        x_type, w_type, out_type = signature.args[0], signature.args[3], signature.args[6]
        x_data = builder.gep(_pointer(context, builder, x_type, x), [x_at])
        w_data = builder.gep(_pointer(context, builder, w_type, w), [w_at])
        out_data = builder.gep(_pointer(context, builder, out_type, out), [out_at])
        scalar = ir.FloatType()
        vector = ir.VectorType(scalar, _LANES)
        index = ir.IntType(64)
        fuse = _helpers.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fmuladd.v{_LANES}f32"
        )
        sums = [
            [_helpers.alloca_once(builder, vector) for _ in range(COLUMNS // _LANES)]
            for _ in range(ROWS)
        ]

        def sum_pointer(row: int, part: int, column: Any) -> Any:
            at = builder.add(builder.mul(width, index(row)), column)
            return builder.gep(out_data, [builder.add(at, index(part * _LANES))])

        with _helpers.for_range_slice(builder, index(0), width, index(COLUMNS)) as (column, _):
            for row in range(ROWS):
                for part, place in enumerate(sums[row]):
                    builder.store(_load(builder, sum_pointer(row, part, column), vector), place)
            with _helpers.for_range(builder, n_inputs) as loop:
                line = builder.gep(w_data, [builder.add(builder.mul(loop.index, width), column)])
                weights = [
                    _load(builder, builder.gep(line, [index(part * _LANES)]), vector)
                    for part in range(COLUMNS // _LANES)
                ]
                for row in range(ROWS):
                    at = builder.add(builder.mul(x_stride, index(row)), loop.index)
                    value = builder.load(builder.gep(x_data, [at]))
                    spread = builder.shuffle_vector(
                        builder.insert_element(vector(ir.Undefined), value, ir.IntType(32)(0)),
                        vector(ir.Undefined),
                        ir.VectorType(ir.IntType(32), _LANES)([0] * _LANES),
                    )
                    for place, weight in zip(sums[row], weights, strict=True):
                        total = builder.call(fuse, [spread, weight, builder.load(place)])
                        builder.store(total, place)
            for row in range(ROWS):
                for part, place in enumerate(sums[row]):
                    pointer = sum_pointer(row, part, column)
                    target = builder.bitcast(pointer, vector.as_pointer())
                    builder.store(builder.load(place), target).align = 4
        return context.get_dummy_value()

    for array in (x, w, out):
        if not isinstance(array, types.Array) or array.dtype != types.float32:
            return None
    integers = (types.int64,) * 2
    signature = types.void(x, *integers, w, types.int64, types.int64, out, types.int64, types.int64)
    return signature, generate
