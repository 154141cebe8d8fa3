"""What a seat can do. Stable: class names, fields and `kind`."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar

from bgserver.engine.position import Resignation

__all__ = [
    "AcceptResignation",
    "Action",
    "ActionKind",
    "Beaver",
    "Confirm",
    "Double",
    "Drop",
    "EndSession",
    "MakeStep",
    "NextGame",
    "PlayOn",
    "PlayTurn",
    "Raccoon",
    "RefuseResignation",
    "Resign",
    "Return",
    "Roll",
    "StepOrder",
    "Take",
    "Undo",
]


class ActionKind(enum.Enum):
    """Stable names of the actions."""

    ROLL = "roll"
    STEP = "step"
    UNDO = "undo"
    CONFIRM = "confirm"
    PLAY = "play"
    DOUBLE = "double"
    TAKE = "take"
    DROP = "drop"
    BEAVER = "beaver"
    RACCOON = "raccoon"
    PLAY_ON = "play_on"
    RESIGN = "resign"
    ACCEPT = "accept"
    REFUSE = "refuse"
    NEXT_GAME = "next_game"
    END_SESSION = "end_session"
    RETURN = "return"


class StepOrder(enum.Enum):
    """Which die goes first where a step leaves the choice (2.14)."""

    HIGH_FIRST = "high_first"
    LOW_FIRST = "low_first"


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a seat wants to do."""

    kind: ClassVar[ActionKind]
    """Stable name."""


@dataclass(frozen=True, slots=True)
class Roll(Action):
    """Roll the dice."""

    kind: ClassVar[ActionKind] = ActionKind.ROLL


@dataclass(frozen=True, slots=True)
class MakeStep(Action):
    """Move one checker by one die, or by several in one tap (2.13, 2.14)."""

    kind: ClassVar[ActionKind] = ActionKind.STEP
    source: int
    """1..24, or 25 for the bar, in the player's own numbers."""
    target: int
    """1..24, or 0 for off, below `source`."""
    order: StepOrder = StepOrder.HIGH_FIRST
    """Which die goes first if that makes a difference."""


@dataclass(frozen=True, slots=True)
class Undo(Action):
    """Take back the last step, or all steps of the turn.

    Steps that the server made by itself after a player's step go back together with it.
    """

    kind: ClassVar[ActionKind] = ActionKind.UNDO
    all: bool = False
    """All steps."""


@dataclass(frozen=True, slots=True)
class Confirm(Action):
    """Make the play final: the button Done."""

    kind: ClassVar[ActionKind] = ActionKind.CONFIRM


@dataclass(frozen=True, slots=True)
class PlayTurn(Action):
    """Make all steps that are left and confirm: for bots and scripts."""

    kind: ClassVar[ActionKind] = ActionKind.PLAY
    steps: tuple[tuple[int, int], ...]
    """(source, target) as in `MakeStep`, in this order; empty if all have been made."""


@dataclass(frozen=True, slots=True)
class Double(Action):
    """Offer a double before the roll."""

    kind: ClassVar[ActionKind] = ActionKind.DOUBLE


@dataclass(frozen=True, slots=True)
class Take(Action):
    """Take the double."""

    kind: ClassVar[ActionKind] = ActionKind.TAKE


@dataclass(frozen=True, slots=True)
class Drop(Action):
    """Drop the double, beaver or raccoon, and lose the value before it."""

    kind: ClassVar[ActionKind] = ActionKind.DROP


@dataclass(frozen=True, slots=True)
class Beaver(Action):
    """Take the double and turn the cube once more."""

    kind: ClassVar[ActionKind] = ActionKind.BEAVER


@dataclass(frozen=True, slots=True)
class Raccoon(Action):
    """Answer a beaver by turning the cube once more."""

    kind: ClassVar[ActionKind] = ActionKind.RACCOON


@dataclass(frozen=True, slots=True)
class PlayOn(Action):
    """Accept a beaver or a raccoon."""

    kind: ClassVar[ActionKind] = ActionKind.PLAY_ON


@dataclass(frozen=True, slots=True)
class Resign(Action):
    """Offer to lose the game, or, where the rules say so, give up the match."""

    kind: ClassVar[ActionKind] = ActionKind.RESIGN
    result: Resignation = Resignation.SINGLE
    """What is conceded; without meaning where giving up loses the match."""


@dataclass(frozen=True, slots=True)
class AcceptResignation(Action):
    """Accept the opponent's resignation."""

    kind: ClassVar[ActionKind] = ActionKind.ACCEPT


@dataclass(frozen=True, slots=True)
class RefuseResignation(Action):
    """Refuse the opponent's resignation."""

    kind: ClassVar[ActionKind] = ActionKind.REFUSE


@dataclass(frozen=True, slots=True)
class NextGame(Action):
    """Be ready for the next game."""

    kind: ClassVar[ActionKind] = ActionKind.NEXT_GAME


@dataclass(frozen=True, slots=True)
class EndSession(Action):
    """Stop a money session or a series of single games, between two games."""

    kind: ClassVar[ActionKind] = ActionKind.END_SESSION


@dataclass(frozen=True, slots=True)
class Return(Action):
    """Take the seat back from the autopilot; every other action does so too (6.4)."""

    kind: ClassVar[ActionKind] = ActionKind.RETURN
