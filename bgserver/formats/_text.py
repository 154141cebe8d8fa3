"""Small helpers that all text parsers share."""

from __future__ import annotations

__all__ = ["shown"]

_MAX_SHOWN = 32


def shown(text: str) -> str:
    """`text` quoted for an error message: plain ASCII, at most 40 characters."""
    quoted = ascii(text[:_MAX_SHOWN])
    if len(text) <= _MAX_SHOWN and len(quoted) <= _MAX_SHOWN + 2:
        return quoted
    return f"{quoted[: _MAX_SHOWN + 1]}..."
