"""Weights files: what is saved is loaded, and no damage gets past the loader."""

from __future__ import annotations

import json
import random
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bgserver.engine import weights as weights_module
from bgserver.engine.errors import DataError
from bgserver.engine.evaluator import Engine
from bgserver.engine.plays import variant_code
from bgserver.engine.position import Variant
from bgserver.engine.weights import FORMATS, RawWeights, Weights, load_weights, save_weights
from bgserver.kernels.features import N_DENSE, UNIT_VALUES
from bgserver.kernels.network import N_OUTPUTS, OUTPUT_COLUMNS
from bgserver.training.td import initial_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

WIDTHS = (64, 32)
FORMAT = FORMATS[Variant.BACKGAMMON]


@pytest.fixture
def weights() -> Weights:
    """Small random weights."""
    raw = initial_weights(*WIDTHS, 3)
    return Weights(Variant.BACKGAMMON, "7", "made for a test", raw)


@pytest.fixture
def path(tmp_path: Path, weights: Weights) -> Path:
    """A good weights file."""
    path = tmp_path / "some.npz"
    save_weights(path, weights)
    return path


def parts_of(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path) as data:
        return {name: data[name] for name in data.files}


def write_parts(path: Path, parts: Mapping[str, Any]) -> None:
    np.savez(path, **parts)


def reason(path: Path, variant: Variant = Variant.BACKGAMMON) -> str:
    """Why the file is refused; the message must name the file."""
    with pytest.raises(DataError) as caught:
        load_weights(path, variant)
    message = str(caught.value)
    assert str(path) in message
    return message


def test_what_is_saved_is_loaded(path: Path, weights: Weights) -> None:
    loaded = load_weights(path, Variant.BACKGAMMON)
    assert (loaded.variant, loaded.version, loaded.origin) == (
        Variant.BACKGAMMON,
        "7",
        "made for a test",
    )
    for name, array in weights.raw._asdict().items():
        np.testing.assert_array_equal(getattr(loaded.raw, name), array)
        assert getattr(loaded.raw, name).dtype == np.float32


def test_saving_again_leaves_no_other_file(path: Path, weights: Weights) -> None:
    save_weights(path, weights)
    assert [entry.name for entry in path.parent.iterdir()] == ["some.npz"]


@pytest.mark.parametrize("variant", list(Variant))
def test_folded_rows_are_the_units_of_each_number_of_checkers(
    weights: Weights, variant: Variant
) -> None:
    networks = replace(weights, variant=variant).networks()
    raw = weights.raw
    for table, units in (
        (networks.table, raw.units),
        (networks.scout.table, raw.scout_units[None]),
    ):
        assert not table[:, :, :, 0].any()
        for checkers in range(1, 16):
            values = UNIT_VALUES[variant_code(variant), checkers]
            expected = sum(values[u] * units[:, :, :, u] for u in range(len(values)))
            np.testing.assert_allclose(table[:, :, :, checkers], expected, atol=1e-5)


def test_the_last_layer_is_filled_up_with_nothing(weights: Weights) -> None:
    networks = weights.networks()
    for filled, array in ((networks.w3, weights.raw.w3), (networks.b3, weights.raw.b3)):
        assert filled.shape == (*array.shape[:-1], OUTPUT_COLUMNS)
        np.testing.assert_array_equal(filled[..., :N_OUTPUTS], array)
        assert not filled[..., N_OUTPUTS:].any()


@pytest.mark.parametrize("variant", list(Variant))
def test_the_packaged_weights_are_good(engine: Engine, variant: Variant) -> None:
    packaged = engine.core(variant).weights
    assert packaged.version
    assert packaged.origin


# --- damage --------------------------------------------------------------------------------------


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "No such file" in reason(tmp_path / "nowhere.npz")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert "directory" in reason(tmp_path)


def test_every_truncation_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    for length in sorted({0, 1, 4, 100, len(whole) // 2, len(whole) - 1, len(whole) - 23}):
        path.write_bytes(whole[:length])
        assert "truncated or not a weights file" in reason(path)


def test_changed_bytes_are_noticed_or_harmless(path: Path, weights: Weights) -> None:
    """No damage leads to other weights, or to an error of another kind."""
    whole = path.read_bytes()
    rng = random.Random(1)
    edges = [*range(400), *range(len(whole) - 1200, len(whole))]  # where the structure is
    for place in rng.sample(edges, 300) + rng.sample(range(len(whole)), 100):
        damaged = bytearray(whole)
        damaged[place] ^= rng.randrange(1, 256)
        path.write_bytes(damaged)
        try:
            loaded = load_weights(path, Variant.BACKGAMMON)
        except DataError:
            continue
        for name, array in weights.raw._asdict().items():
            np.testing.assert_array_equal(getattr(loaded.raw, name), array)


@pytest.mark.parametrize(
    "content", [b"", b"no archive at all\n", b"PK\x03\x04 only the first bytes", b"\x93NUMPY"]
)
def test_other_files_are_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert "truncated or not a weights file" in reason(path)


def test_a_single_array_is_refused(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros(3, dtype=np.float32))
    assert "truncated or not a weights file" in reason(path)


def test_an_archive_of_something_else_is_refused(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert "truncated or not a weights file" in reason(path)


def test_pickled_objects_are_never_loaded(path: Path) -> None:
    parts = parts_of(path)
    parts["b1"] = np.array([{"a": 1}], dtype=object)
    write_parts(path, parts)
    assert "truncated or not a weights file" in reason(path)


def test_a_huge_file_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights_module, "_MAX_FILE_BYTES", 1000)
    assert "larger than 1000 bytes" in reason(path)


def test_weights_of_the_other_game_are_refused(path: Path) -> None:
    message = reason(path, Variant.LONG_NARDY)
    assert "expected weights for long_nardy, found 'backgammon'" in message


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ("not json", "no readable description"),
        ("[1, 2]", "no readable description"),
        ('{"variant": "backgammon"}', f"expected format {FORMAT}, found None"),
        (
            '{"format": "bgserver-weights/1", "variant": "backgammon"}',
            f"expected format {FORMAT}, found 'bgserver-weights/1'",
        ),
        # Networks of the same shapes that saw a race as if it were contact.
        (
            '{"format": "bgserver-weights/2", "variant": "backgammon"}',
            f"expected format {FORMAT}, found 'bgserver-weights/2'",
        ),
        (json.dumps({"format": FORMAT}), "expected weights for backgammon, found None"),
    ],
)
def test_other_descriptions_are_refused(path: Path, meta: str, expected: str) -> None:
    write_parts(path, {**parts_of(path), "meta": np.array(meta)})
    assert expected in reason(path)


def with_value(value: float) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    def change(array: NDArray[np.float32]) -> NDArray[np.float32]:
        array = array.copy()
        array.flat[array.size // 2] = value
        return array

    return change


@pytest.mark.parametrize("name", RawWeights._fields)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (with_value(np.nan), "holds NaN or infinite numbers"),
        (with_value(np.inf), "holds NaN or infinite numbers"),
        (lambda array: array.astype(np.float64), "is float64, expected float32"),
        (lambda array: array.astype(">f4"), "is >f4, expected float32"),
        (lambda array: array[:1], "has shape"),
        (lambda array: array[..., :-1], "expected"),
        (lambda array: array[0], ""),
        (lambda array: array[None], ""),
        (lambda _: np.zeros((), dtype=np.float32), ""),
    ],
    ids=["nan", "inf", "float64", "big endian", "one class", "narrow", "flat", "deep", "scalar"],
)
def test_every_wrong_array_is_named(
    path: Path,
    name: str,
    change: Callable[[NDArray[np.float32]], NDArray[np.float32]],
    expected: str,
) -> None:
    parts = parts_of(path)
    parts[name] = change(parts[name])
    write_parts(path, parts)
    assert expected in reason(path)


@pytest.mark.parametrize(
    ("widths", "expected"),
    [((48, 32), "first layer of 48"), ((64, 0), "second layer of 0"), ((64, 33), "layer of 33")],
)
def test_layers_that_do_not_fill_whole_vectors_are_refused(
    path: Path, weights: Weights, widths: tuple[int, int], expected: str
) -> None:
    """The kernels would write beyond such layers."""
    width1, width2 = widths
    c = len(weights.raw.b1)
    raw = weights.raw._replace(
        units=np.zeros((c, *weights.raw.units.shape[1:4], width1), dtype=np.float32),
        w_dense=np.zeros((c, N_DENSE, width1), dtype=np.float32),
        b1=np.zeros((c, width1), dtype=np.float32),
        w2=np.zeros((c, width1, width2), dtype=np.float32),
        b2=np.zeros((c, width2), dtype=np.float32),
        w3=np.zeros((c, width2, N_OUTPUTS), dtype=np.float32),
    )
    save_weights(path, replace(weights, raw=raw))
    assert f"{expected}, expected a multiple of 32" in reason(path)


@pytest.mark.parametrize("name", [*RawWeights._fields, "meta"])
def test_every_missing_array_is_named(path: Path, name: str) -> None:
    parts = parts_of(path)
    del parts[name]
    write_parts(path, parts)
    assert (f"lacks {name}" if name != "meta" else "no readable description") in reason(path)


def test_the_engine_does_not_start_without_weights(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"backgammon\.npz"):
        Engine.load(weights=tmp_path)
