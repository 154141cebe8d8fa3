"""What is settled before the first game of a table: rules, length, cube, clock, kinds of seats."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bgserver.games.codec import Json, decoded, encoded
from bgserver.games.rules import Rules, Session

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SeatKind", "Setup", "new_setup"]


class SeatKind(enum.Enum):
    """Who sits in a seat."""

    PERSON = "person"
    BOT = "bot"


@dataclass(frozen=True, slots=True)
class Setup:
    """What is settled before the first game of a table. Stable: part of the log."""

    rules: Rules
    """All rules."""
    preset: str = ""
    """The preset they came from, for display."""
    match_length: int | None = None
    """Points of the match; None if this is no match."""
    cube: bool = False
    """Whether the players use a cube (a selectable one may have been left out, 4.1)."""
    turn_seconds: int | None = None
    """Time limit per turn; None without a clock."""
    seats: tuple[SeatKind, SeatKind] = (SeatKind.PERSON, SeatKind.PERSON)
    """Who sits in the first and in the second seat."""

    @property
    def is_match(self) -> bool:
        """Whether the games make up a match."""
        return self.rules.session is Session.MATCH

    def to_json(self) -> Json:
        """The JSON form."""
        form: Json = encoded(self)
        return form

    @classmethod
    def from_json(cls, form: Json) -> Setup:
        """The setup of a JSON form; raises `InvalidInputError` for anything else."""
        return decoded(cls, form, "setup")


def new_setup(
    preset: str,
    overrides: Mapping[str, Any] | None = None,
    *,
    match_length: int | None = None,
    cube: bool | None = None,
    turn_seconds: int | None = None,
    seats: tuple[SeatKind, SeatKind] = (SeatKind.PERSON, SeatKind.PERSON),
) -> Setup:
    """A checked setup (4.27: every fault at once).

    Args:
        preset: Name of the preset that gives what is not stated.
        overrides: Changed rules, as `merged_rules` takes them.
        match_length: Points of the match; needed in match play only.
        cube: Whether to use a cube where the rules leave the choice; default on.
        turn_seconds: One of the time limits of the rules; the default is the middle one, and no
            limit against bots (6.1, 6.2).
        seats: Who plays.

    Raises:
        InvalidInputError: Anything does not fit; field paths start with `preset`, `rules`,
            `match_length`, `cube` or `turn_seconds`.
    """
    raise NotImplementedError
