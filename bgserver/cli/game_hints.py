"""Where else games may be: hints for whoever looks for one in the wrong place."""

from __future__ import annotations

from pathlib import Path

from bgserver.cli.data_file import data_files, default_data_file

__all__ = ["file_hints", "nothing_in_file", "nothing_listed", "server_hints"]

_MOST = 5


def file_hints(path: str) -> list[str]:
    """A line about the other files of games on this machine, if there are any.

    Args:
        path: The file that was looked at.
    """
    others = [file for file in data_files() if Path(file).resolve() != Path(path).resolve()]
    if not others:
        return []
    more = f" and {len(others) - _MOST} more" if len(others) > _MOST else ""
    return [f"other files of games (--data): {', '.join(others[:_MOST])}{more}"]


def nothing_in_file(path: str, *, is_filtered: bool) -> list[str]:
    """What to say where a file has no game to list.

    Args:
        path: The file.
        is_filtered: Whether games of another kind may be in it.
    """
    what = "no such game" if is_filtered else "no game"
    hints = [f"{what} in {path}"]
    if is_filtered:
        hints.append("without --filter and --preset all its games are listed")
    hints.append("a server that was started with --data keeps its games elsewhere")
    return hints + file_hints(path)


def nothing_listed(address: str, *, is_filtered: bool) -> list[str]:
    """What to say where a server lists no game.

    Args:
        address: The server's address.
        is_filtered: Whether it may list games of another kind.
    """
    what = "no such game" if is_filtered else "no game"
    return [f"{what} listed by {address}", *server_hints(address)]


def server_hints(address: str) -> list[str]:
    """What a server does not list, and where to see it.

    Args:
        address: The server's address.
    """
    hints = ["a server lists the games that were created as `listed`, and no others"]
    port = address.rpartition(":")[2]
    if port.isdecimal() and Path(file := default_data_file(int(port))).exists():
        hints.append(f"if it runs on this machine, its file has them all: --data {file}")
    else:
        hints.append("its file has them all: --data FILE, on its machine")
    return hints
