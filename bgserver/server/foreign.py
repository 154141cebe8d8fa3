"""What other servers are called and what they say: addresses, and words to be shown."""

from __future__ import annotations

import re

__all__ = ["DEFAULT_PORT", "SCHEDULER_EXPECTED", "address_fault", "is_scheduler", "plain"]

DEFAULT_PORT = 50051
"""Port of a server that is not told another."""

SCHEDULER_EXPECTED = "expected tcp://HOST:PORT, for example tcp://127.0.0.1:8786"
"""What to say of an address that cannot be that of a Dask scheduler."""
_SCHEMES = frozenset({"tcp", "tls", "ucx", "ws", "wss"})
_HOST = r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+"
_ADDRESS = re.compile(rf"(?:{_HOST}):([0-9]{{1,10}})")
_MAX_PORT = 65535
_MAX_SHOWN = 80
# A whole sequence of a terminal goes, not only the character that begins it.
_ESCAPE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*")


def address_fault(address: str) -> str:
    """What is wrong with the address of a server; empty if it is a `host:port`.

    gRPC would take a port modulo 65536, and 443 where there is none.

    Args:
        address: What was given.
    """
    shown = f"got {address[:_MAX_SHOWN]!r}"
    if "://" in address:
        return f"expected host:port, without http:// or the like, {shown}"
    if match := _ADDRESS.fullmatch(address):
        if 1 <= int(match[1]) <= _MAX_PORT:
            return ""
        return f"expected a port from 1 to {_MAX_PORT}, {shown}"
    if re.fullmatch(rf"(?:{_HOST}):?", address):
        host = address.removesuffix(":")[:_MAX_SHOWN]
        hint = f"{host}:{DEFAULT_PORT}"
        return f"expected host:port, {shown}; a server has port {DEFAULT_PORT} by default: {hint}"
    return f"expected host:port, {shown}"


def is_scheduler(address: str) -> bool:
    """Whether an address can be that of a Dask scheduler; without a scheme it is one of TCP."""
    scheme, separator, place = address.rpartition("://")
    return (not separator or scheme in _SCHEMES) and not address_fault(place)


def plain(text: str, *, lines: bool = False) -> str:
    """Words from elsewhere as they may be shown: nothing in them moves a cursor or sets colours.

    Args:
        text: What was said.
        lines: Whether ends of lines and tabs are kept; else they become spaces.
    """
    kept = "\n\t" if lines else ""
    spaced = "\n\r\t"
    return "".join(
        char if char.isprintable() or char in kept else " " if char in spaced else ""
        for char in _ESCAPE.sub("", text)
    )
