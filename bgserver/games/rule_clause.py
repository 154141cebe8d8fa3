"""One clause of the rules in two languages."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Clause", "Language", "Topic", "listed"]


class Language(enum.Enum):
    """A language that the rules are told in, by its code of ISO 639."""

    ENGLISH = "en"
    GERMAN = "de"


class Topic(enum.Enum):
    """What a clause is about, in reading order. Stable: part of the API."""

    AIM = "aim"
    OPENING = "opening"
    MOVING = "moving"
    HEAD = "head"
    BLOCKS = "blocks"
    BEARING_OFF = "bearing_off"
    SCORING = "scoring"
    CUBE = "cube"
    SESSION = "session"
    GIVING_UP = "giving_up"
    CLOCK = "clock"
    TURN = "turn"
    BOTS = "bots"


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of the rules."""

    topic: Topic
    """What it is about."""
    parameters: tuple[str, ...]
    """The parameters that it tells, as fields of `Rules` name them, those of Long Nardy with
    `long_nardy.` before; empty for what all rules have in common."""
    english: str
    """Its words in English."""
    german: str
    """Its words in German."""

    def text(self, language: Language) -> str:
        """Its words in a language."""
        return self.german if language is Language.GERMAN else self.english


def listed(values: Iterable[object], conjunction: str) -> str:
    """`1, 3, 5 or 7`."""
    *most, last = map(str, values)
    return f"{', '.join(most)} {conjunction} {last}" if most else last
