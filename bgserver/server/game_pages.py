"""Tokens of the pages of `ListGames`: a place in the list, signed, so that none can be made up."""

from __future__ import annotations

import hashlib
import hmac

__all__ = ["page_key", "page_token"]

_MARK_LETTERS = 16


def page_token(secret: bytes, key: int) -> str:
    """The token of the page that begins after the game with this key."""
    place = f"{key:x}"
    return f"{place}-{_mark(secret, place)}"


def page_key(secret: bytes, token: str) -> int | None:
    """The key in a token; None if it was not given out."""
    place, _, mark = token.partition("-")
    if not hmac.compare_digest(mark.encode(), _mark(secret, place).encode()):
        return None
    return int(place, 16)


def _mark(secret: bytes, place: str) -> str:
    return hmac.new(secret, f"page\0{place}".encode(), hashlib.sha256).hexdigest()[:_MARK_LETTERS]
