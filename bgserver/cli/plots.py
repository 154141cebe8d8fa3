"""What a plot needs, looked at before the work that it is to show."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["require_plot"]

_ENDINGS = (".png", ".svg", ".pdf")


def require_plot(path: Path, field: str = "--plot") -> None:
    """See that a plot can be drawn and written.

    Args:
        path: Where it is to be written; the ending says in which form.
        field: The option that asks for it.

    Raises:
        InvalidInputError: It cannot; every fault is named.
    """
    faults = [
        *_ending_faults(path, field),
        *_place_faults(path, field),
    ]
    if importlib.util.find_spec("matplotlib") is None:
        message = "plots need matplotlib: pip install 'bgserver[plot]'"
        faults.append(Fault(field, "EXTRA_MISSING", message))
    if faults:
        raise InvalidInputError(faults)


def _ending_faults(path: Path, field: str) -> list[Fault]:
    if path.suffix.lower() in _ENDINGS:
        return []
    message = f"expected a file ending with one of {', '.join(_ENDINGS)}, got {path.name!r}"
    return [Fault(field, "UNKNOWN_FORMAT", message)]


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
