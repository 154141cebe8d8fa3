"""Where bgserver keeps what it can build again: compiled kernels and databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.kernels._jit import cache_root, kernel_cache_dir

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["cache_dir", "kernel_cache_dir"]


def cache_dir() -> Path:
    """The user's cache folder of bgserver, `BGSERVER_CACHE_DIR` if that is set.

    It may not exist yet and may not be writable: `bgserver.engine.files` finds out.

    Raises:
        OSError: The system cannot say where the user's home is.
    """
    try:
        return cache_root()
    except RuntimeError as error:  # pathlib's way to say that there is no home folder
        raise OSError(str(error)) from error
