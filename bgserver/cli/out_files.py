"""Files that a command writes at its end, looked at before the work that goes into them."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["UNKNOWN_FORMAT", "out_file_faults", "require_out_file"]

UNKNOWN_FORMAT = "UNKNOWN_FORMAT"
"""Reason of the fault of a file whose ending is none of those that it may have."""


def require_out_file(path: Path, field: str, endings: Sequence[str] = ()) -> None:
    """See that a file can be written.

    Args:
        path: The file.
        field: The option that names it.
        endings: Those that it may have; any if there are none here.

    Raises:
        InvalidInputError: It cannot; every fault is named.
    """
    faults = out_file_faults(path, field, endings)
    if faults:
        raise InvalidInputError(faults)


def out_file_faults(path: Path, field: str, endings: Sequence[str] = ()) -> list[Fault]:
    """What is wrong with a file that is to be written; arguments as of `require_out_file`."""
    faults = []
    if endings and path.suffix.lower() not in endings:
        message = f"expected a file ending with one of {', '.join(endings)}, got {path.name!r}"
        faults.append(Fault(field, UNKNOWN_FORMAT, message))
    return faults + _place_faults(path, field)


def _place_faults(path: Path, field: str) -> list[Fault]:
    if not path.parent.is_dir():
        return [Fault(field, "FOLDER_MISSING", f"there is no folder {path.parent}")]
    if path.is_dir():
        return [Fault(field, "NOT_A_FILE", f"{path} is a folder")]
    if path.exists():
        if os.access(path, os.W_OK):
            return []
        return [Fault(field, "NOT_WRITABLE", f"{path} cannot be written")]
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            return []
    except OSError as error:
        message = f"{path.parent} cannot be written: {error.strerror}"
        return [Fault(field, "NOT_WRITABLE", message)]
