"""Where `bgserver serve` keeps games unless told otherwise."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["default_data_file"]


def default_data_file() -> str:
    """The file of games in the user's data folder, `BGSERVER_DATA` if that is set."""
    configured = os.environ.get("BGSERVER_DATA")
    if configured:
        return configured
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return str(base / "bgserver" / "games.db")
