"""The weights file: one for each game, checked completely before it is used.

A file is a NumPy `.npz` archive (its parts carry checksums) with the arrays of `RawWeights`, as
they were trained, and a JSON text `meta`: format, game, version, origin. On loading the sparse
units of the first layer are folded into one row for each number of checkers.

The format also says what the networks were trained to see. Where the features of a game change
their meaning, its format has to change, although the shapes stay: old weights would be read
without complaint and judge wildly.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bgserver.engine.errors import DataError
from bgserver.engine.files import write_atomically
from bgserver.engine.plays import variant_code
from bgserver.engine.position import Variant
from bgserver.kernels.classes import N_CLASSES
from bgserver.kernels.features import N_DENSE, UNIT_VALUES, UNITS_PER_POINT
from bgserver.kernels.network import N_OUTPUTS, OUTPUT_COLUMNS, SCOUT_WIDTH, Networks, Scout
from bgserver.kernels.vectors import COLUMNS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["FORMATS", "RawWeights", "Weights", "fold_units", "load_weights", "save_weights"]

FORMATS = {
    Variant.BACKGAMMON: "bgserver-weights/3",  # a race has features of its own
    Variant.LONG_NARDY: "bgserver-weights/2",
}
"""What a file of either game has to say it is."""
_MAX_FILE_BYTES = 64 << 20


class RawWeights(NamedTuple):
    """The networks of one game as they are trained, one for each position class c."""

    units: NDArray[np.float32]
    """[c, 2, 26, 4, width1]: side (own, opponent), own number (25 = bar), unit."""
    w_dense: NDArray[np.float32]
    """[c, N_DENSE, width1]."""
    b1: NDArray[np.float32]
    """[c, width1]."""
    w2: NDArray[np.float32]
    """[c, width1, width2]."""
    b2: NDArray[np.float32]
    """[c, width2]."""
    w3: NDArray[np.float32]
    """[c, width2, 5]."""
    b3: NDArray[np.float32]
    """[c, 5]."""
    scout_units: NDArray[np.float32]
    """[2, 26, 4, SCOUT_WIDTH]: the scout's, as `units`."""
    scout_b1: NDArray[np.float32]
    """[SCOUT_WIDTH]."""
    scout_w2: NDArray[np.float32]
    """[SCOUT_WIDTH]."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The networks of one game with what is known about them."""

    variant: Variant
    """The game."""
    version: str
    """Version of the weights, for example `1`."""
    origin: str
    """How they were made, in one sentence."""
    raw: RawWeights
    """The arrays."""

    def networks(self) -> Networks:
        """The networks in the form that the evaluator reads."""
        raw = self.raw
        return Networks(
            table=fold_units(raw.units, self.variant),
            w_dense=raw.w_dense,
            b1=raw.b1,
            w2=raw.w2,
            b2=raw.b2,
            w3=_padded(raw.w3),
            b3=_padded(raw.b3),
            scout=Scout(
                table=fold_units(raw.scout_units[None], self.variant),
                b1=raw.scout_b1[None],
                w2=raw.scout_w2,
            ),
        )


def fold_units(units: NDArray[np.float32], variant: Variant) -> NDArray[np.float32]:
    """Fold raw units [..., 2, 26, 4, w] into rows by checker count [..., 2, 26, 16, w]."""
    values = UNIT_VALUES[variant_code(variant)]
    folded = np.einsum("nu,...spuw->...spnw", values, units)
    return np.ascontiguousarray(folded, dtype=np.float32)


def _padded(array: NDArray[np.float32]) -> NDArray[np.float32]:
    """The last axis filled up with 0 to `OUTPUT_COLUMNS`."""
    filled = np.zeros((*array.shape[:-1], OUTPUT_COLUMNS), dtype=np.float32)
    filled[..., : array.shape[-1]] = array
    return filled


def save_weights(path: Path, weights: Weights) -> None:
    """Write a weights file atomically."""
    meta = {
        "format": FORMATS[weights.variant],
        "variant": weights.variant.value,
        "version": weights.version,
        "origin": weights.origin,
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, meta=np.array(json.dumps(meta)), **weights.raw._asdict())
    write_atomically(path, [buffer.getvalue()])


def load_weights(path: Path, variant: Variant) -> Weights:
    """Read a weights file.

    Raises:
        DataError: The file is missing, truncated, of another format or game, of wrong shapes, or
            holds NaN or infinite numbers; the message names the file and the reason.
    """
    parts = _read_parts(path)
    meta = _read_meta(path, parts, variant)
    missing = [name for name in RawWeights._fields if name not in parts]
    if missing:
        raise DataError(_problem(path, f"lacks {', '.join(missing)}"))
    raw = RawWeights(*(np.ascontiguousarray(parts[name]) for name in RawWeights._fields))
    _check_arrays(path, raw)
    return Weights(variant, str(meta.get("version", "")), str(meta.get("origin", "")), raw)


def _problem(path: Path, reason: str) -> str:
    return f"weights file {path}: {reason}"


def _read_parts(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of the archive, each checked by its checksum."""
    too_large = _problem(path, f"larger than {_MAX_FILE_BYTES} bytes")
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise DataError(too_large)
        content = path.read_bytes()
    except OSError as error:
        raise DataError(_problem(path, error.strerror or "cannot be read")) from error
    parts = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MAX_FILE_BYTES:
                raise DataError(too_large)
            for entry in archive.infolist():
                stream = io.BytesIO(archive.read(entry))
                array = np.lib.format.read_array(stream, allow_pickle=False)
                parts[entry.filename.removesuffix(".npy")] = array
    except DataError:
        raise
    except Exception as error:
        # Damage makes zipfile and NumPy raise nearly anything: BadZipFile, NotImplementedError
        # for a flag that was never set, RuntimeError, MemoryError for a wild shape.
        raise DataError(_problem(path, "truncated or not a weights file")) from error
    return parts


def _read_meta(path: Path, parts: dict[str, NDArray[Any]], variant: Variant) -> dict[str, object]:
    try:
        meta = json.loads(str(parts["meta"]))
    except (KeyError, ValueError) as error:
        raise DataError(_problem(path, "has no readable description")) from error
    if not isinstance(meta, dict):
        raise DataError(_problem(path, "has no readable description"))
    if meta.get("variant") != variant.value:
        reason = f"expected weights for {variant.value}, found {meta.get('variant')!r}"
        raise DataError(_problem(path, reason))
    expected = FORMATS[variant]
    if meta.get("format") != expected:
        reason = (
            f"expected format {expected}, found {meta.get('format')!r}: made for another version "
            "of bgserver; train again, or use the packaged weights"
        )
        raise DataError(_problem(path, reason))
    return meta


def _check_arrays(path: Path, raw: RawWeights) -> None:
    if raw.b1.ndim != 2 or raw.b2.ndim != 2:
        raise DataError(_problem(path, "has biases of the wrong shape"))
    width1 = raw.b1.shape[1]
    width2 = raw.b2.shape[1]
    for name, width in (("first", width1), ("second", width2)):
        if width == 0 or width % COLUMNS != 0:
            reason = f"{name} layer of {width}, expected a multiple of {COLUMNS}"
            raise DataError(_problem(path, reason))
    shapes: dict[str, tuple[int, ...]] = {
        "units": (N_CLASSES, 2, 26, UNITS_PER_POINT, width1),
        "w_dense": (N_CLASSES, N_DENSE, width1),
        "b1": (N_CLASSES, width1),
        "w2": (N_CLASSES, width1, width2),
        "b2": (N_CLASSES, width2),
        "w3": (N_CLASSES, width2, N_OUTPUTS),
        "b3": (N_CLASSES, N_OUTPUTS),
        "scout_units": (2, 26, UNITS_PER_POINT, SCOUT_WIDTH),
        "scout_b1": (SCOUT_WIDTH,),
        "scout_w2": (SCOUT_WIDTH,),
    }
    for name, shape in shapes.items():
        array = getattr(raw, name)
        if array.dtype != np.float32:
            raise DataError(_problem(path, f"{name} is {array.dtype}, expected float32"))
        if array.shape != shape:
            raise DataError(_problem(path, f"{name} has shape {array.shape}, expected {shape}"))
        if not np.isfinite(array).all():
            raise DataError(_problem(path, f"{name} holds NaN or infinite numbers"))
