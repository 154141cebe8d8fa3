"""Files that no reader ever sees half written."""

from __future__ import annotations

import contextlib
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write `parts` one after the other to `path`, so that no reader ever sees half a file.

    Args:
        path: The file; missing folders are made, an existing file is replaced.
        parts: The contents.

    Raises:
        OSError: The folder or the file cannot be written; an existing file is unchanged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not a `tempfile`, whose mode would shut out other users of a shared cache.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as file:
            for part in parts:
                file.write(part)
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
