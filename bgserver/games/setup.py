"""What is settled before the first game of a table: rules, length, cube, clock, kinds of seats."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.position import Variant
from bgserver.games.presets import PRESETS, merge_rules
from bgserver.games.rules import (
    MAX_MATCH_LENGTH,
    CubeUse,
    HeadException,
    LongNardyRules,
    Rules,
    Session,
    match_length_faults,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SeatKind", "Setup", "new_setup", "unsupported_faults"]


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
        overrides: Changed rules, as `merge_rules` takes them.
        match_length: Points of the match; needed in match play only.
        cube: Whether to use a cube where the rules leave the choice; default on.
        turn_seconds: One of the time limits of the rules; the default is the middle one, and no
            limit against bots (6.1, 6.2).
        seats: Who plays.

    Raises:
        InvalidInputError: Anything does not fit; field paths start with `preset`, `rules`,
            `match_length`, `cube` or `turn_seconds`.
    """
    if preset not in PRESETS:
        message = f"expected one of {', '.join(PRESETS)}, got {preset[:40]!r}"
        raise InvalidInputError([Fault("preset", "UNKNOWN_PRESET", message)])
    changes = dict(overrides or {})
    choice = changes.get("cube", PRESETS[preset].rules.cube)
    if choice is CubeUse.SELECTABLE and cube is not None:
        changes["cube"] = CubeUse.ON if cube else CubeUse.OFF
    rules, faults = merge_rules(PRESETS[preset], changes)
    faults += unsupported_faults(rules)
    faults += _length_faults(rules, match_length)
    if cube is not None and cube != rules.has_cube:
        message = f"these rules say the cube is {rules.cube.value}"
        faults.append(Fault("cube", "CUBE_NOT_IN_PRESET", message))
    if turn_seconds is not None and turn_seconds not in rules.turn_seconds:
        limits = ", ".join(f"{limit} s" for limit in rules.turn_seconds) or "no limit"
        message = f"expected {limits}, got {turn_seconds} s"
        faults.append(Fault("turn_seconds", "TIME_LIMIT_NOT_IN_PRESET", message))
    if faults:
        raise InvalidInputError(faults)
    if turn_seconds is None and rules.turn_seconds and SeatKind.BOT not in seats:
        turn_seconds = sorted(rules.turn_seconds)[len(rules.turn_seconds) // 2]
    return Setup(rules, preset, match_length, rules.has_cube, turn_seconds, seats)


def _length_faults(rules: Rules, match_length: int | None) -> list[Fault]:
    if match_length is None and rules.session is Session.MATCH:
        allowed = ", ".join(map(str, rules.match_lengths)) or f"1 to {MAX_MATCH_LENGTH}"
        message = f"say to how many points the match goes: {allowed}"
        return [Fault("match_length", "MATCH_LENGTH_REQUIRED", message)]
    return match_length_faults(rules, match_length)


_NARDY_DEFAULTS = LongNardyRules()
# Options of Long Nardy that the play generator does not know (7.14); the others are free.
_NARDY_FIXED = (
    "head_per_turn",
    "prime_length",
    "prime_release",
    "prime_seam",
    "prime_check",
)


def unsupported_faults(rules: Rules, path: str = "rules") -> list[Fault]:
    """Options that make sense but that tables do not play by (7.14: `UNSUPPORTED_OPTION`)."""
    if rules.variant is not Variant.LONG_NARDY:
        return []
    options = rules.long_nardy or _NARDY_DEFAULTS
    found = [
        name for name in _NARDY_FIXED if getattr(options, name) != getattr(_NARDY_DEFAULTS, name)
    ]
    if options.head_exception not in {HeadException.LISTED_DOUBLES, HeadException.NONE}:
        found.append("head_exception")
    message = "only the value of the preset long_nardy is supported"
    faults = [Fault(f"{path}.long_nardy.{name}", "UNSUPPORTED_OPTION", message) for name in found]
    if rules.has_cube:
        message = "long nardy is played without a cube"
        faults.append(Fault(f"{path}.cube", "UNSUPPORTED_OPTION", message))
    return faults
