"""How deep the engine looks."""

from __future__ import annotations

import enum

__all__ = ["Level"]


class Level(enum.Enum):
    """How deep the engine looks, from the network's judgement to three rolls ahead."""

    STATIC = "static"
    LOOKAHEAD_1 = "lookahead_1"
    LOOKAHEAD_2 = "lookahead_2"
    LOOKAHEAD_3 = "lookahead_3"
    RANDOM = "random"
