"""Answers to cube questions, as values.

Everything is seen by the player on roll before the roll. `bgserver.engine.cube` computes them.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = [
    "BeaverAdvice",
    "BeaverAnswer",
    "CubeAction",
    "CubeAdvice",
    "CubeUtilities",
    "CubeValue",
    "CubeWindow",
    "GammonValues",
    "TakeAction",
]


class CubeAction(enum.Enum):
    """The best actions of both players; the value is how players say it with a centred cube."""

    NO_DOUBLE_TAKE = "no double/take"
    DOUBLE_TAKE = "double/take"
    DOUBLE_PASS = "double/pass"  # noqa: S105 -- no password, a cube action
    TOO_GOOD_TAKE = "too good to double/take"
    TOO_GOOD_PASS = "too good to double/pass"  # noqa: S105 -- no password, a cube action
    OPTIONAL_DOUBLE_TAKE = "optional double/take"
    OPTIONAL_DOUBLE_PASS = "optional double/pass"  # noqa: S105 -- no password, a cube action
    NO_DOUBLE_BEAVER = "no double/beaver"
    DOUBLE_BEAVER = "double/beaver"
    OPTIONAL_DOUBLE_BEAVER = "optional double/beaver"
    NOT_ALLOWED = "double not allowed"

    @property
    def doubles(self) -> bool:
        """True if the action includes turning the cube; optional doubles do."""
        return self in _DOUBLING_ACTIONS


_DOUBLING_ACTIONS = frozenset(
    {
        CubeAction.DOUBLE_TAKE,
        CubeAction.DOUBLE_PASS,
        CubeAction.DOUBLE_BEAVER,
        CubeAction.OPTIONAL_DOUBLE_TAKE,
        CubeAction.OPTIONAL_DOUBLE_PASS,
        CubeAction.OPTIONAL_DOUBLE_BEAVER,
    }
)


class TakeAction(enum.Enum):
    """The answers to a double."""

    PASS = "pass"  # noqa: S105 -- no password, a cube action
    TAKE = "take"
    BEAVER = "beaver"


class BeaverAnswer(enum.Enum):
    """The answers to a beaver, and to a raccoon."""

    PLAY_ON = "play on"
    DROP = "drop"
    RACCOON = "raccoon"


@dataclass(frozen=True, slots=True)
class CubeValue:
    """What one course of action is worth to the player on roll."""

    equity: float
    """On the current cube: -1 for losing a single game at its value, 1 for winning one."""
    mwc: float | None
    """Match winning chance; None in money play."""


@dataclass(frozen=True, slots=True)
class CubeUtilities:
    """Values from a deeper search, as utilities (`bgserver.kernels.cube`)."""

    no_double: float
    """The cube stays."""
    double_take: float | None
    """The cube is turned and the opponent owns it at twice the value; None where that is not
    possible."""
    double_beaver: float | None = None
    """The opponent owns it at four times the value; None for the static value."""
    raccoon: float | None = None
    """The cube shows eight times the value; None for the static value."""


@dataclass(frozen=True, slots=True)
class CubeWindow:
    """Winning chances of the player on roll at which the right action changes.

    The gammon shares of wins and losses are those of the position. None where there is no such
    point.
    """

    own_take_point: float | None
    """Below it the player on roll would pass if the opponent doubled."""
    double_point: float | None
    """From here on a double gains; the market window opens."""
    cash_point: float | None
    """From here on the opponent passes; the market is lost."""
    too_good_point: float | None
    """From here on playing on for the gammon is worth more than cashing."""
    dead_cash_point: float | None
    """`cash_point` if nobody turned the cube again (except an automatic redouble)."""
    live_cash_point: float | None
    """`cash_point` if the opponent could redouble with full efficiency."""

    @property
    def opponent_take_point(self) -> float | None:
        """The winning chance that the opponent needs to take."""
        return None if self.cash_point is None else 1.0 - self.cash_point


@dataclass(frozen=True, slots=True)
class GammonValues:
    """How often games end in gammons, and what these are worth at this score and cube."""

    own_rate: float
    """Share of the own wins that are gammons or backgammons."""
    opponent_rate: float
    """The same for the opponent's wins."""
    own_value: float
    """What a gammon adds to a single win, as a part of the difference between a single win and a
    single loss: 0.5 in money play, 0 while Jacoby kills gammons."""
    opponent_value: float
    """The same for the opponent's gammons."""
    own_value_doubled: float | None
    """`own_value` on a cube at twice the value; None where no double is possible."""
    opponent_value_doubled: float | None
    """`opponent_value` on a cube at twice the value."""


@dataclass(frozen=True, slots=True)
class CubeAdvice:
    """Everything there is to say about one cube decision."""

    action: CubeAction
    """The best actions of both players. `NOT_ALLOWED` if no double is possible here; while a
    double is on offer, what it should have been."""
    text: str
    """The action as players say it, with `redouble` for an owned cube."""
    response: TakeAction | None
    """The opponent's best answer to a double; None where none is possible."""
    refusals: tuple[str, ...]
    """Why the player on roll may not double now; empty if he may."""
    is_dead: bool
    """No double of the player on roll can gain anything, though it may be legal."""
    no_double: CubeValue
    """The cube stays where it is for now."""
    double_take: CubeValue | None
    """The opponent takes; None where no double is possible."""
    double_pass: CubeValue | None
    """The opponent passes; None where no double is possible."""
    double_beaver: CubeValue | None
    """The opponent beavers and the player on roll answers best; None without beavers."""
    beaver_answer: BeaverAnswer | None
    """The best answer to a beaver; None without beavers."""
    cubeless: CubeValue
    """Nobody turns the cube any more."""
    cubeless_equity: float
    """Cubeless money equity, gammons counting: 2 w - 1 + wg + wb - lg - lb."""
    efficiency: float
    """The cube efficiency that was used."""
    window: CubeWindow
    """Where the right action changes."""
    gammons: GammonValues
    """Gammon rates and values."""

    @property
    def best(self) -> CubeValue:
        """The value of the position when both play their cube actions rightly."""
        if self.action.doubles and self.double_take is not None:
            if self.response is TakeAction.PASS and self.double_pass is not None:
                return self.double_pass
            if self.response is TakeAction.BEAVER and self.double_beaver is not None:
                return self.double_beaver
            return self.double_take
        return self.no_double


@dataclass(frozen=True, slots=True)
class BeaverAdvice:
    """What to answer to a beaver or a raccoon; equities on the cube that a drop loses."""

    answer: BeaverAnswer
    """The best answer of the player who must answer."""
    play_on: float
    """Equity of the player on roll (the doubler) if the answer is to play on."""
    drop: float | None
    """His equity if the answer is to drop; None if that is not allowed."""
    raccoon: float | None
    """His equity if he raccoons and the opponent answers best; None if he may not."""
