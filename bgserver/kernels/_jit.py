"""The one decorator of all kernels, and where their compiled code is kept.

Numba's on-disk cache looks only at the file of the function itself: it does not notice a callee
that changed in another file. So the cache folder is named after a hash of all kernel sources;
any change of any kernel starts a fresh folder. Where no folder can be written (a read-only
install without a home), kernels are compiled in memory and everything still works.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numba
from numba.core import config

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["cache_root", "fast_kernel", "kernel", "kernel_cache_dir", "vector_kernel"]

_F = TypeVar("_F", bound="Callable[..., Any]")

# No nnan and no ninf: a NaN in a weights file must be seen, not optimised away.
_FASTMATH = {"nsz", "arcp", "contract", "afn", "reassoc"}


def cache_root() -> Path:
    """The folder for everything that bgserver can rebuild: `BGSERVER_CACHE_DIR`, or the user's.

    The folder may not exist yet, and may not be writable.
    """
    configured = os.environ.get("BGSERVER_CACHE_DIR")
    if configured:
        return Path(configured)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", str(Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "bgserver"


def _source_hash() -> str:
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _writable_cache_dir() -> Path | None:
    """The folder of this version's compiled kernels, or None if it cannot be written."""
    try:
        folder = cache_root() / "kernels" / _source_hash()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # RuntimeError: no home folder can be determined
        return None


kernel_cache_dir: Path | None = _writable_cache_dir()
"""Where compiled kernels are kept; None if they live in memory only."""


# Numba makes its settings at run time, so that no type checker knows them.
_settings: Any = config


def _compile(function: _F, fastmath: object) -> _F:
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": fastmath,
        "cache": kernel_cache_dir is not None,
    }
    # Numba reads the folder when it decorates; it is put back so that other users of Numba in
    # the same process keep theirs.
    previous = _settings.CACHE_DIR
    if kernel_cache_dir is not None:
        _settings.CACHE_DIR = str(kernel_cache_dir)
    try:
        compiled: _F = numba.njit(**options)(function)
    finally:
        _settings.CACHE_DIR = previous
    return compiled


def kernel(function: _F) -> _F:
    """Compile a kernel that releases the GIL; floating point strictly in written order."""
    return _compile(function, fastmath=False)


def vector_kernel(function: _F) -> _F:
    """Compile a kernel in which a product and a sum may become one instruction, and nothing else.

    Sums keep their written order, so loops over independent elements are vectorised and give
    the same bits for the same element wherever it stands.
    """
    return _compile(function, fastmath={"contract"})


def fast_kernel(function: _F) -> _F:
    """Compile a kernel whose sums may be reordered, so that LLVM can vectorise them (training).

    The order is fixed when it is compiled: the same machine gives the same bits on any thread.
    """
    return _compile(function, fastmath=_FASTMATH)
