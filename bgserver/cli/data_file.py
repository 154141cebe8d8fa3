"""Where `bgserver serve` keeps games unless told otherwise."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

__all__ = ["data_files", "data_folder", "default_data_file", "writable_data_file"]

_DEFAULT_PORT = 50051
_IN_MEMORY = ":memory:"


def default_data_file(port: int = _DEFAULT_PORT) -> str:
    """The file of games of a server on this port, in the user's data folder.

    Each port has a file of its own, so that several servers do not get in each other's way, and a
    server that starts again on its port finds its games.

    Raises:
        RuntimeError: The system cannot say where the user's home is.
    """
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    name = "games.db" if port == _DEFAULT_PORT else f"games-{port}.db"
    return str(base / "bgserver" / name)


def data_folder() -> str:
    """The folder of these files, as it is shown to people."""
    try:
        return str(Path(default_data_file()).parent)
    except RuntimeError:
        return "your data folder"


def data_files() -> list[str]:
    """The files of games in the user's data folder, by name; none if there is no such folder."""
    try:
        folder = Path(default_data_file()).parent
        return sorted(str(file) for file in folder.glob("games*.db"))
    except (OSError, RuntimeError):
        return []


def writable_data_file(port: int) -> tuple[str, str]:
    """The default file of a server, and why it is none.

    Returns:
        The file and nothing; or `:memory:` and the reason: the folder cannot be written, or the
        port is any free one, so that nobody would find the games again.
    """
    if port == 0:
        return _IN_MEMORY, "the port is any free one"
    try:
        path = Path(default_data_file(port))
        # The folders that are missing are made by a server that starts, in the last one there is.
        folder = next(folder for folder in path.parents if folder.exists())
        with tempfile.TemporaryFile(dir=folder):
            return str(path), ""
    except (OSError, RuntimeError) as error:
        return _IN_MEMORY, f"no file can be written: {error}"
