"""How deep the engine looks."""

from __future__ import annotations

import enum

__all__ = ["Level", "bot_name"]


class Level(enum.Enum):
    """How deep the engine looks, from the network's judgement to three rolls ahead."""

    STATIC = "static"
    LOOKAHEAD_1 = "lookahead_1"
    LOOKAHEAD_2 = "lookahead_2"
    LOOKAHEAD_3 = "lookahead_3"
    RANDOM = "random"


def bot_name(level: Level, strength: str) -> str:
    """What a player of the engine is called, wherever names are shown: `bgserver lookahead_1 75`.

    Args:
        level: How deep it looks; static goes without saying.
        strength: Its strength by name, or the number of one without a name.
    """
    return " ".join(["bgserver", *([] if level is Level.STATIC else [level.value]), strength])
