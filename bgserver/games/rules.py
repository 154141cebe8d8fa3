"""The parameters of a game's rules, and what goes with what (`rules.md` sections 4, 7.14 and 8).

The names of fields and enum members are those of the API (`Rules` in rules.proto).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault
from bgserver.engine.position import Variant

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BOTS",
    "MAX_MATCH_LENGTH",
    "AutoDouble",
    "AutoDoubleScope",
    "Confirm",
    "CubeUse",
    "HeadException",
    "HeadExceptionScope",
    "HollandCount",
    "HollandScope",
    "Koks",
    "LongNardyRules",
    "NextStarter",
    "OnTimeout",
    "OpeningDice",
    "OpeningStarter",
    "PrimeCheck",
    "PrimeRelease",
    "PrimeSeam",
    "RaccoonOwner",
    "ResignScope",
    "Rules",
    "Session",
    "match_length_faults",
    "rules_faults",
]

BOTS = ("beginner", "normal", "expert")
"""Strengths of bots, weakest first."""
MAX_MATCH_LENGTH = 64
"""Longest match in points."""
_MAX_CUBE_CAP = 1 << 15
_MAX_HOLLAND_ROLLS = 10
_MAX_TURN_SECONDS = 24 * 3600


class OpeningStarter(enum.Enum):
    """Who begins after the opening dice (2.1)."""

    HIGHER = "higher"
    LOWER = "lower"


class OpeningDice(enum.Enum):
    """What the starter plays (2.3)."""

    USE_BOTH = "use_both"
    FRESH_ROLL = "fresh_roll"


class Confirm(enum.Enum):
    """What makes a play final (2.25)."""

    DONE = "done"
    OPPONENT_ROLL = "opponent_roll"


class CubeUse(enum.Enum):
    """Whether there is a cube (4.1)."""

    OFF = "off"
    ON = "on"
    SELECTABLE = "selectable"


class AutoDouble(enum.Enum):
    """Automatic doubles (4.23-4.26)."""

    NONE = "none"
    A = "a"
    B = "b"


class AutoDoubleScope(enum.Enum):
    """Which roll variant B looks at (4.25)."""

    FIRST_ROLL_OF_GAME = "first_roll_of_game"
    FIRST_ROLL_OF_EACH_SIDE = "first_roll_of_each_side"


class HollandCount(enum.Enum):
    """Which rolls count for the Holland rule (4.14)."""

    PER_SIDE = "per_side"
    TOTAL = "total"


class HollandScope(enum.Enum):
    """Whom the Holland rule restricts (4.14)."""

    TRAILER = "trailer"
    BOTH = "both"


class RaccoonOwner(enum.Enum):
    """Who owns the cube after a raccoon (4.22)."""

    BEAVERER = "beaverer"
    RACCOONER = "raccooner"


class Session(enum.Enum):
    """Kind of encounter."""

    SINGLE = "single"
    MONEY = "money"
    MATCH = "match"


class ResignScope(enum.Enum):
    """What giving up loses (3.10)."""

    GAME = "game"
    MATCH = "match"


class OnTimeout(enum.Enum):
    """What happens when a turn's time is over (section 6)."""

    AUTOPILOT = "autopilot"
    LEGAL_PLAY = "legal_play"


class NextStarter(enum.Enum):
    """Who begins the later games (7.14)."""

    OPENING = "opening"
    WINNER = "winner"


class HeadException(enum.Enum):
    """When two checkers may leave the head (7.5, 7.14)."""

    LISTED_DOUBLES = "listed_doubles"
    ANY_DOUBLE = "any_double"
    WHEN_BLOCKED = "when_blocked"
    NONE = "none"


class HeadExceptionScope(enum.Enum):
    """In which turn the head exception holds."""

    EACH_PLAYER_FIRST_TURN = "each_player_first_turn"
    FIRST_TURN_OF_GAME = "first_turn_of_game"


class PrimeCheck(enum.Enum):
    """When a block of six is tested (7.9)."""

    EACH_STEP = "each_step"
    END_OF_TURN = "end_of_turn"
    NONE = "none"


class PrimeRelease(enum.Enum):
    """What makes a block of six legal (7.7)."""

    ONE_PAST = "one_past"
    ONE_IN_HOME = "one_in_home"


class PrimeSeam(enum.Enum):
    """Which six points are consecutive (7.8)."""

    OPPONENT_PATH = "opponent_path"
    CIRCULAR = "circular"


class Koks(enum.Enum):
    """Whether a third level of winning is counted (7.14)."""

    NONE = "none"
    THREE = "three"


@dataclass(frozen=True, slots=True)
class LongNardyRules:
    """The options of Long Nardy; the defaults are those of the preset."""

    head_per_turn: int = 1
    """Checkers that may leave the head in a turn."""
    head_exception: HeadException = HeadException.LISTED_DOUBLES
    """When one more may leave; the list is 3-3, 4-4, 6-6."""
    head_exception_scope: HeadExceptionScope = HeadExceptionScope.EACH_PLAYER_FIRST_TURN
    """In which turn."""
    prime_length: int = 6
    """Length of a forbidden block."""
    prime_release: PrimeRelease = PrimeRelease.ONE_PAST
    """What makes a block legal."""
    prime_seam: PrimeSeam = PrimeSeam.OPPONENT_PATH
    """Which points are consecutive."""
    prime_check: PrimeCheck = PrimeCheck.EACH_STEP
    """When a block is tested."""
    prime_lifted_when_opponent_bears_off: bool = True
    """Whether blocks are free once the opponent bears off."""
    koks: Koks = Koks.NONE
    """Whether a third level of winning is counted."""
    last_move_draw: bool = False
    """Whether the second player may answer when 14 or more are off."""


@dataclass(frozen=True, slots=True)
class Rules:
    """A complete set of rules. None stands for a parameter that does not apply."""

    variant: Variant = Variant.BACKGAMMON
    """The game."""
    session: Session = Session.SINGLE
    """Kind of encounter."""
    opening_starter: OpeningStarter = OpeningStarter.HIGHER
    """Who begins."""
    opening_dice: OpeningDice = OpeningDice.USE_BOTH
    """What the starter plays."""
    next_starter: NextStarter = NextStarter.OPENING
    """Who begins the later games."""
    confirm: Confirm = Confirm.DONE
    """What makes a play final."""
    undo: bool = True
    """Whether steps may be taken back before confirmation."""
    highest_result: int = 3
    """Highest result before the cube; 2 in Long Nardy, 3 there with koks."""
    backgammon_needs_none_off: bool | None = True
    """Whether a backgammon needs a loser who has borne off nothing (3.4)."""
    cube: CubeUse = CubeUse.OFF
    """Whether there is a cube."""
    cube_cap: int | None = None
    """Highest cube value."""
    forbid_dead_cube: bool | None = None
    """Whether a double that cannot matter is refused (4.7)."""
    match_lengths: tuple[int, ...] = ()
    """Match lengths on offer; empty means any."""
    crawford: bool | None = None
    """The Crawford rule (4.10)."""
    holland: bool | None = None
    """The Holland rule (4.14)."""
    holland_rolls: int | None = None
    """Rolls that must be played first."""
    holland_count: HollandCount | None = None
    """Which rolls count."""
    holland_scope: HollandScope | None = None
    """Whom it restricts."""
    jacoby: bool | None = None
    """Gammons count only after a taken double (4.17)."""
    jacoby_auto_double_counts: bool | None = None
    """Whether an automatic double counts as taken."""
    beaver: bool | None = None
    """Whoever takes may turn the cube once more (4.19)."""
    beaver_may_be_dropped: bool | None = None
    """Whether a beaver may be answered by dropping (4.20)."""
    raccoon: bool | None = None
    """The beavered doubler may turn the cube once more (4.21)."""
    raccoon_owner: RaccoonOwner | None = None
    """Who owns the cube after a raccoon; no default (4.22)."""
    auto_double: AutoDouble | None = None
    """Automatic doubles."""
    auto_double_limit: int | None = None
    """Most automatic doubles of a game."""
    auto_double_b_scope: AutoDoubleScope | None = None
    """Which roll variant B looks at."""
    resign_scope: ResignScope = ResignScope.GAME
    """What giving up loses."""
    turn_seconds: tuple[int, ...] = ()
    """Time limits per turn on offer; empty means no clock."""
    on_timeout: OnTimeout | None = None
    """What happens when the time is over."""
    loses_after_timeouts: int | None = None
    """The timeout of one player that loses the game; 0 means never."""
    auto_play_single: bool = False
    """Whether the only legal result is played at once."""
    auto_roll: bool = False
    """Whether the server rolls at once when the player cannot double."""
    bots: tuple[str, ...] = BOTS
    """Strengths of the bots on offer."""
    long_nardy: LongNardyRules | None = None
    """The options of Long Nardy."""

    @property
    def has_cube(self) -> bool:
        """True if a cube is in use (a selectable one is, unless the players say otherwise)."""
        return self.cube is not CubeUse.OFF


def rules_faults(rules: Rules, path: str = "rules") -> list[Fault]:
    """Everything in `rules` that contradicts itself or is out of range (table after 4.27).

    Args:
        rules: Any set of rules.
        path: Field path that the faults start with.
    """
    return [
        Fault(f"{path}.{name}", reason, message)
        for faults in (_range_faults(rules), _match_faults(rules), _cube_faults(rules))
        for name, reason, message in faults
    ]


def _range_faults(rules: Rules) -> Iterator[tuple[str, str, str]]:
    cap = rules.cube_cap
    if cap is not None and (cap < 1 or cap & (cap - 1) or cap > _MAX_CUBE_CAP):
        yield "cube_cap", "NOT_A_CUBE_VALUE", f"expected a power of two up to 32768, got {cap}"
    for length in rules.match_lengths:
        if not 1 <= length <= MAX_MATCH_LENGTH:
            yield "match_lengths", "OUT_OF_RANGE", f"expected 1 to 64 points, got {length}"
    for seconds in rules.turn_seconds:
        if not 1 <= seconds <= _MAX_TURN_SECONDS:
            yield "turn_seconds", "OUT_OF_RANGE", f"expected 1 s to 86400 s, got {seconds}"
    for bot in rules.bots:
        if bot not in BOTS:
            yield "bots", "UNKNOWN_VALUE", f"expected {', '.join(BOTS)}, got {bot[:40]!r}"
    highest = _most_levels(rules)
    if not 1 <= rules.highest_result <= highest:
        message = f"expected 1 to {highest} in this game, got {rules.highest_result}"
        yield "highest_result", "OUT_OF_RANGE", message
    rolls = rules.holland_rolls
    if rolls is not None and not 1 <= rolls <= _MAX_HOLLAND_ROLLS:
        yield "holland_rolls", "OUT_OF_RANGE", f"expected 1 to {_MAX_HOLLAND_ROLLS}, got {rolls}"
    if rules.long_nardy is not None and rules.variant is not Variant.LONG_NARDY:
        yield "long_nardy", "NOT_IN_BACKGAMMON", "these options belong to long nardy"


def _most_levels(rules: Rules) -> int:
    """How many levels of winning a game has."""
    if rules.variant is Variant.BACKGAMMON:
        return 3
    return 3 if rules.long_nardy is not None and rules.long_nardy.koks is Koks.THREE else 2


def _match_faults(rules: Rules) -> Iterator[tuple[str, str, str]]:
    is_match = rules.session is Session.MATCH
    if rules.crawford and not is_match:
        yield "crawford", "CRAWFORD_WITHOUT_MATCH", "the Crawford rule is for matches only"
    if rules.match_lengths and not is_match:
        yield "match_lengths", "LENGTH_WITHOUT_MATCH", "only a match has a length"
    if rules.resign_scope is ResignScope.MATCH and not is_match:
        yield "resign_scope", "RESIGN_WITHOUT_MATCH", "there is no match to resign"
    if rules.holland and not is_match:
        yield "holland", "HOLLAND_WITHOUT_MATCH", "the Holland rule is for matches only"
    if rules.holland and not rules.crawford:
        yield "holland", "HOLLAND_WITHOUT_CRAWFORD", "the Holland rule needs the Crawford rule"
    if not is_match:
        return
    if rules.jacoby:
        yield "jacoby", "JACOBY_IN_MATCH", "the Jacoby rule is for money play only"
    if rules.beaver:
        yield "beaver", "BEAVER_IN_MATCH", "there are no beavers in a match"
    if rules.raccoon:
        yield "raccoon", "RACCOON_IN_MATCH", "there are no raccoons in a match"
    if rules.auto_double not in {None, AutoDouble.NONE}:
        yield "auto_double", "AUTO_DOUBLE_IN_MATCH", "there are no automatic doubles in a match"


def _cube_faults(rules: Rules) -> Iterator[tuple[str, str, str]]:
    auto_double = rules.auto_double not in {None, AutoDouble.NONE}
    if not rules.has_cube:
        for name, is_on in (
            ("holland", rules.holland),
            ("jacoby", rules.jacoby),
            ("beaver", rules.beaver),
            ("raccoon", rules.raccoon),
            ("auto_double", auto_double),
        ):
            if is_on:
                yield name, "RULE_NEEDS_CUBE", f"{name} needs a cube, and the cube is off"
    if rules.raccoon and not rules.beaver:
        yield "raccoon", "RACCOON_WITHOUT_BEAVER", "raccoons need beavers"
    if rules.raccoon and rules.raccoon_owner is None:
        message = "say who owns the cube after a raccoon: the sources disagree"
        yield "raccoon_owner", "RACCOON_OWNER_REQUIRED", message


def match_length_faults(
    rules: Rules, length: int | None, path: str = "match_length"
) -> list[Fault]:
    """What is wrong with playing a match of `length` (None: not stated) by these rules."""
    if length is None:
        return []
    if rules.session is not Session.MATCH:
        message = f"only a match has a length, and this is {rules.session.value} play"
        return [Fault(path, "LENGTH_WITHOUT_MATCH", message)]
    if not 1 <= length <= MAX_MATCH_LENGTH:
        message = f"expected 1 to {MAX_MATCH_LENGTH} points, got {length}"
        return [Fault(path, "OUT_OF_RANGE", message)]
    if rules.match_lengths and length not in rules.match_lengths:
        allowed = ", ".join(str(one) for one in rules.match_lengths)
        return [
            Fault(path, "MATCH_LENGTH_NOT_IN_PRESET", f"expected one of {allowed}, got {length}")
        ]
    return []
