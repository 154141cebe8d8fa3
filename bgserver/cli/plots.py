"""What a plot needs, looked at before the work that it is to show."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from bgserver.cli.out_files import out_file_faults
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
    faults = out_file_faults(path, field, _ENDINGS)
    if importlib.util.find_spec("matplotlib") is None:
        message = 'plots need matplotlib: pip install "bgserver[plot]"'
        faults.append(Fault(field, "EXTRA_MISSING", message))
    if faults:
        raise InvalidInputError(faults)
