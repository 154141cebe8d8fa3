"""Packing positions from whatever holds numbers, and unpacking probabilities."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np
import pytest
from bgserver_client import Client, InvalidArgumentError, split_batches, start_position
from bgserver_client._batches import pack, unpack
from bgserver_client.v1 import engine_pb2

if TYPE_CHECKING:
    from bgserver_client import BatchLike

_START = list(start_position().points)
_PACKED = array("b", _START).tobytes()


@pytest.mark.parametrize(
    "batch",
    [
        _PACKED * 2,
        bytearray(_PACKED * 2),
        memoryview(_PACKED * 2),
        array("b", _START * 2),
        array("i", _START * 2),
        _START * 2,
        [_START, _START],
        [tuple(_START), np.array(_START)],
        np.array([_START, _START], dtype=np.int8),
        np.array([_START, _START]),
        np.array([_START, [0] * 26, _START], dtype=np.int8)[::2],
    ],
    ids=[
        "bytes", "bytearray", "memoryview", "int8", "int32", "flat", "rows", "mixed rows",
        "numpy int8", "numpy int64", "numpy strided",
    ],
)  # fmt: skip
def test_pack_takes_every_form(batch: BatchLike) -> None:
    assert pack(batch) == _PACKED * 2


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (b"", "WRONG_LENGTH"),
        ([], "WRONG_LENGTH"),
        (bytes(27), "WRONG_LENGTH"),
        ([_START, _START[:25]], "WRONG_LENGTH"),
        ([[200] * 26], "NOT_A_BOARD"),
        ([["a"] * 26], "NOT_A_BOARD"),
        ([1.5] * 26, "NOT_A_BOARD"),
        (3, "NOT_A_BOARD"),
    ],
)
def test_pack_refuses_what_is_no_batch(batch: BatchLike, reason: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        pack(batch)
    assert caught.value.violations[0].reason == reason


def test_unpack_gives_rows_that_numpy_can_wrap() -> None:
    values = np.arange(10, dtype="<f4").reshape(2, 5) / 16
    view = unpack(engine_pb2.EvaluateBatchResponse(probabilities=values.tobytes()))
    assert view.tolist() == values.tolist()
    assert np.array_equal(np.asarray(view), values)


def test_split_batches_keeps_order_and_loses_nothing() -> None:
    points = np.arange(7 * 26, dtype=np.uint8).reshape(7, 26).view(np.int8)
    parts = list(split_batches(points, 3))
    assert [len(part) // 26 for part in parts] == [3, 3, 1]
    assert b"".join(parts) == points.tobytes()


def test_a_bare_array_is_no_series_of_batches() -> None:
    points = np.array([_START, _START], dtype=np.int8)
    with pytest.raises(InvalidArgumentError) as caught, Client("127.0.0.1:1") as client:
        client.evaluate_batch(points)
    assert caught.value.violations[0].reason == "NOT_BATCHES"


def test_rows_of_another_length_are_not_read_across() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        pack(np.zeros((26, 25), dtype=np.int8))
    assert caught.value.violations[0].reason == "WRONG_LENGTH"
