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

__all__ = ["COLUMNS", "ROWS", "add_product_relu", "product_plain", "product_relu"]

ROWS = 4
"""Rows that are multiplied together."""
_LANES = 16
COLUMNS = 2 * _LANES
"""The columns of a matrix are a multiple of this."""

# Numba's type of an intrinsic does not know that the typing context is not passed by the caller.
_intrinsic: Any = intrinsic
_tools: Any = cgutils  # they carry no annotations
_Typed = tuple[Any, "Callable[..., Any]"]


def _pointer(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    """Pointer to the first element of an array."""
    return context.make_array(array_type)(context, builder, array).data


def _load(builder: Any, pointer: Any, vector: Any) -> Any:
    """Load a vector that need not be aligned."""
    value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    value.align = 4
    return value


def _vector_function(builder: Any, vector: Any, name: str, arguments: int) -> Any:
    """An LLVM function of vectors."""
    signature = ir.FunctionType(vector, [vector] * arguments)
    return _tools.get_or_insert_function(builder.module, signature, f"llvm.{name}.v{_LANES}f32")


def _spread(builder: Any, value: Any, vector: Any) -> Any:
    """A vector of equal values."""
    first = builder.insert_element(vector(ir.Undefined), value, ir.IntType(32)(0))
    zeros = ir.VectorType(ir.IntType(32), _LANES)([0] * _LANES)
    return builder.shuffle_vector(first, vector(ir.Undefined), zeros)


def _row_product(sums_in_out: bool, relu: bool) -> Any:
    """Make the intrinsic for one kind of layer.

    Args:
        sums_in_out: Sums begin with what `out` holds; otherwise with the biases.
        relu: Negative sums become 0 in the end.
    """

    @_intrinsic
    def product(
        typing_context: Any,
        x: Any,
        x_at: Any,
        x_stride: Any,
        w: Any,
        w_at: Any,
        n_inputs: Any,
        biases: Any,
        biases_at: Any,
        out: Any,
        out_at: Any,
        width: Any,
    ) -> _Typed | None:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            x, x_at, x_stride, w, w_at, n_inputs, biases, biases_at, out, out_at, width = arguments
            x_type, w_type, biases_type, out_type = (signature.args[k] for k in (0, 3, 6, 8))
            x_data = builder.gep(_pointer(context, builder, x_type, x), [x_at])
            w_data = builder.gep(_pointer(context, builder, w_type, w), [w_at])
            bias_data = builder.gep(_pointer(context, builder, biases_type, biases), [biases_at])
            out_data = builder.gep(_pointer(context, builder, out_type, out), [out_at])
            vector = ir.VectorType(ir.FloatType(), _LANES)
            index = ir.IntType(64)
            fuse = _vector_function(builder, vector, "fmuladd", 3)
            greater = _vector_function(builder, vector, "maxnum", 2)
            parts = range(COLUMNS // _LANES)
            sums = [[_tools.alloca_once(builder, vector) for _ in parts] for _ in range(ROWS)]

            def place_of(row: int, part: int, column: Any) -> Any:
                at = builder.add(builder.mul(width, index(row)), column)
                return builder.gep(out_data, [builder.add(at, index(part * _LANES))])

            with _tools.for_range_slice(builder, index(0), width, index(COLUMNS)) as (column, _):
                for row in range(ROWS):
                    for part in parts:
                        if sums_in_out:
                            begin = place_of(row, part, column)
                        else:
                            at = builder.add(column, index(part * _LANES))
                            begin = builder.gep(bias_data, [at])
                        builder.store(_load(builder, begin, vector), sums[row][part])
                with _tools.for_range(builder, n_inputs) as loop:
                    line = builder.add(builder.mul(loop.index, width), column)
                    weights = [
                        _load(
                            builder,
                            builder.gep(w_data, [builder.add(line, index(part * _LANES))]),
                            vector,
                        )
                        for part in parts
                    ]
                    for row in range(ROWS):
                        at = builder.add(builder.mul(x_stride, index(row)), loop.index)
                        value = _spread(builder, builder.load(builder.gep(x_data, [at])), vector)
                        for place, weight in zip(sums[row], weights, strict=True):
                            total = builder.call(fuse, [value, weight, builder.load(place)])
                            builder.store(total, place)
                for row in range(ROWS):
                    for part in parts:
                        total = builder.load(sums[row][part])
                        if relu:
                            total = builder.call(greater, [total, vector([0.0] * _LANES)])
                        target = place_of(row, part, column)
                        target = builder.bitcast(target, vector.as_pointer())
                        builder.store(total, target).align = 4
            return context.get_dummy_value()

        for array in (x, w, biases, out):
            if not isinstance(array, types.Array) or array.dtype != types.float32:
                return None
        i64 = types.int64
        signature = types.void(x, i64, i64, w, i64, i64, biases, i64, out, i64, i64)
        return signature, generate

    return product


# Nothing is checked here: the caller answers for shapes and contiguous float32 arrays.
#     x, x_at, x_stride   array with the four rows of inputs, where the first begins in the flat
#                         array, elements from one row to the next
#     w, w_at, n_inputs   array with the matrix [n_inputs, width], where it begins
#     biases, biases_at   array with the biases [width], where they begin
#     out, out_at, width  array with the four rows of sums, where the first begins; the next
#                         follow at once; width is a multiple of `COLUMNS`
add_product_relu = _row_product(sums_in_out=True, relu=True)
"""out = relu(out + x @ w)."""
product_relu = _row_product(sums_in_out=False, relu=True)
"""out = relu(biases + x @ w)."""
product_plain = _row_product(sums_in_out=False, relu=False)
"""out = biases + x @ w."""
