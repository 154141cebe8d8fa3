"""Where bgserver keeps what it can build again: compiled kernels and databases."""

from __future__ import annotations

import contextlib
import secrets
from typing import TYPE_CHECKING

from bgserver.kernels._jit import cache_root, kernel_cache_dir

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["cache_dir", "kernel_cache_dir", "write_atomically"]


def cache_dir() -> Path:
    """The user's cache folder of bgserver, `BGSERVER_CACHE_DIR` if that is set.

    It may not exist yet and may not be writable: `write_atomically` finds out.

    Raises:
        OSError: The system cannot say where the user's home is.
    """
    try:
        return cache_root()
    except RuntimeError as error:  # pathlib's way to say that there is no home folder
        raise OSError(str(error)) from error


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
