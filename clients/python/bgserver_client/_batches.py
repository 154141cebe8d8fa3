"""Packs positions for EvaluateBatch and unpacks the answers; works with and without NumPy."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, Union, cast

from bgserver_client._requests import DepthLike, VariantLike, fault, level_value, variant_value
from bgserver_client.v1 import engine_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer


class _Array(Protocol):
    """A NumPy array, which is a buffer too, but is not typed as one before Python 3.12."""

    @property
    def __array_interface__(self) -> dict[str, object]: ...


BatchLike: TypeAlias = Union["Buffer", _Array, Sequence[int | Sequence[int]]]
"""Positions, each 26 numbers from the view of the player on roll: a buffer of signed bytes or other
integers (bytes, `array`, a NumPy array of n x 26), a list of lists, or one flat list."""

_ROW = 26
_OUTPUTS = 5


def pack(batch: BatchLike) -> bytes:
    """The bytes of a batch as EvaluateBatch wants them, n x 26 of them."""
    view = _view(batch)
    shape = (view.shape or ()) if view is not None else ()
    if len(shape) > 1 and shape[-1] != _ROW:
        message = f"expected rows of {_ROW} values, got shape {shape}"
        raise fault(message, field="points", reason="WRONG_LENGTH")
    if view is None:
        packed = _pack_numbers(cast("Sequence[int | Sequence[int]]", batch))
    elif view.itemsize == 1:
        packed = view.tobytes()
    else:
        packed = _pack_numbers(view.tolist())
    if not packed or len(packed) % _ROW:
        message = f"expected a positive multiple of {_ROW} values, got {len(packed)}"
        raise fault(message, field="points", reason="WRONG_LENGTH")
    return packed


def _view(batch: BatchLike) -> memoryview | None:
    """The memory of a buffer; None for a sequence."""
    try:
        return memoryview(cast("Buffer", batch))
    except TypeError:
        return None


def _pack_numbers(values: Sequence[int | Sequence[int]]) -> bytes:
    try:
        return array("b", _flat(values)).tobytes()
    except (TypeError, OverflowError) as error:
        message = f"expected rows of {_ROW} integers from -15 to 15: {error}"
        raise fault(message, field="points", reason="NOT_A_BOARD") from error


def _flat(values: Sequence[int | Sequence[int]]) -> Iterator[int]:
    for index, row in enumerate(values):
        if isinstance(row, int):
            yield row
        elif len(row) == _ROW:
            yield from row
        else:
            message = f"expected {_ROW} values in row {index}, got {len(row)}"
            raise fault(message, field="points", reason="WRONG_LENGTH")


def require_batches(batches: object) -> None:
    """Refuse a bare array: its rows would be taken for batches, one request each."""
    try:
        memoryview(cast("Buffer", batches))
    except TypeError:
        return
    message = "expected batches, got one array: pass split_batches(points), or [points]"
    raise fault(message, field="points", reason="NOT_BATCHES")


class BatchRequests:
    """Makes the numbered requests of one EvaluateBatch stream."""

    def __init__(self, variant: VariantLike, level: DepthLike) -> None:
        self._variant = variant_value(variant)
        self._level = level_value(level)
        self._next_id = 0

    def request(self, batch: BatchLike) -> engine_pb2.EvaluateBatchRequest:
        """The request for one batch."""
        identifier = self._next_id
        self._next_id = (identifier + 1) & 0xFFFF_FFFF
        return engine_pb2.EvaluateBatchRequest(
            points=pack(batch), variant=self._variant, level=self._level, id=identifier
        )


def unpack(response: engine_pb2.EvaluateBatchResponse) -> memoryview[float]:
    """The probabilities of one answer as a float32 view of n x 5."""
    values = array("f")
    values.frombytes(response.probabilities)
    if sys.byteorder == "big":
        values.byteswap()
    shape = [len(values) // _OUTPUTS, _OUTPUTS]
    return memoryview(values).cast("B").cast("f", shape)


def split_batches(points: BatchLike, size: int = 4096) -> Iterator[bytes]:
    """Cuts many positions into batches of at most `size` positions for `evaluate_batch`."""
    packed = pack(points)
    step = size * _ROW
    for start in range(0, len(packed), step):
        yield packed[start : start + step]
