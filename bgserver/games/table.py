"""What happens at a table: which events follow from an action, and what the server does by itself.

A caller keeps a log and its state:

    state, log = apply events of `open_table(setup, dice, now)`
    events = decide(state, seat, action, dice, now)     raises, and nothing has changed
    state = apply(...) over them; then events = settle(state, dice, now), apply, until it is empty
    due(state): what comes next without anybody acting, and when
        BOT: ask a bot (`bgserver.games.bot`), give its answer to `decide` with `by=`
        anything else: at that time, `settle`

All functions are pure but for the dice. Stable: the signatures here, `Due`, `LegalActions`,
`StepOption` and the reasons.

Reasons of `WrongMomentError`, besides those of a step (2.28: `NO_SUCH_DIE`, `NO_CHECKER`,
`BAR_FIRST`, `BLOCKED`, `NOT_ALL_HOME`, `CHECKER_BEHIND`, `MUST_USE_BOTH`, `MUST_USE_HIGHER`,
`HEAD_LIMIT`, `PRIME_TRAPS_ALL`) and of a double (4.8: `CUBE_OFF`, `CRAWFORD_GAME`,
`ONE_POINT_MATCH`, `ALREADY_ROLLED`, `OPENING_TURN`, `NOT_CUBE_OWNER`, `CUBE_AT_CAP`,
`HOLLAND_WAIT`, and `DEAD_CUBE`, `ALREADY_DOUBLED`): `NOT_YOUR_TURN`, `GAME_OVER`, `MATCH_OVER` (or
session over), `GAME_RUNNING`, `OFFER_PENDING`, `NO_OFFER`, `NOT_ROLLED`, `UNDO_OFF`,
`NOTHING_TO_UNDO`, `BEAVERS_OFF`, `RACCOONS_OFF`, `BEAVER_NOT_DROPPABLE`, `NO_RESIGNATION`,
`ALREADY_READY`, `MATCH_RUNNING`, `NO_AUTOPILOT`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.games.events import By

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bgserver.engine.plays import Step
    from bgserver.engine.position import Resignation, Seat
    from bgserver.games.actions import Action, ActionKind, StepOrder
    from bgserver.games.dice import DiceSource
    from bgserver.games.events import Event
    from bgserver.games.setup import Setup
    from bgserver.games.state import TableState

__all__ = [
    "Due",
    "DueKind",
    "LegalActions",
    "StepOption",
    "decide",
    "due",
    "excuse_downtime",
    "legal_actions",
    "open_table",
    "settle",
]


class DueKind(enum.Enum):
    """What a table does without anybody acting."""

    SERVER = "server"
    """The rules act at once: auto-roll, the only play, a forfeit, a bot's or the autopilot's roll
    where there is nothing to judge. Call `settle`."""
    TIMEOUT = "timeout"
    """A player's time is over then. Call `settle` at that time."""
    BOT = "bot"
    """A bot, or the autopilot, must judge: ask one and give its action to `decide`."""


@dataclass(frozen=True, slots=True)
class Due:
    """What comes next if nobody acts."""

    kind: DueKind
    """What it is."""
    seat: Seat
    """Whose."""
    at: float
    """When, in seconds since the epoch; at or before now for what is due at once."""
    by: By = By.SERVER
    """BOT: what to give to `decide`, `By.BOT` or `By.AUTOPILOT`."""


@dataclass(frozen=True, slots=True)
class StepOption:
    """A step, of one die or of several in one tap, that is possible now."""

    source: int
    """1..24 or 25 for the bar, in the player's own numbers."""
    target: int
    """1..24 or 0 for off."""
    order: StepOrder
    """What to send. LOW_FIRST only where it leads to another board than HIGH_FIRST."""
    steps: tuple[Step, ...]
    """The single steps with their dice and hits."""


@dataclass(frozen=True, slots=True)
class LegalActions:
    """What a seat can do at this moment."""

    seat: Seat
    """Whose."""
    actions: frozenset[ActionKind]
    """Every kind of action that is possible now. STEP: see `steps`. RESIGN: see `resignations`."""
    steps: tuple[StepOption, ...]
    """Every step that is possible now: a source, a target; combined targets included."""
    refusals: Mapping[ActionKind, tuple[str, ...]]
    """For every kind that is not possible: all reasons, the most telling first."""
    resignations: tuple[Resignation, ...]
    """What may be conceded."""


def open_table(setup: Setup, dice: DiceSource, now: float) -> list[Event]:
    """The events with which a table begins: up to the first player's turn.

    Args:
        setup: A checked setup (`new_setup`).
        dice: Where the dice come from.
        now: The time in seconds since the epoch.
    """
    raise NotImplementedError


def decide(
    state: TableState,
    seat: Seat,
    action: Action,
    dice: DiceSource,
    now: float,
    by: By = By.PLAYER,
) -> list[Event]:
    """The events that an action leads to; the state itself is not changed.

    Args:
        state: The state of the table.
        seat: Who acts.
        action: What.
        dice: Where the dice come from.
        now: The time in seconds since the epoch.
        by: BOT and AUTOPILOT for what a bot decided, otherwise PLAYER. An action of the player
            ends the autopilot.

    Raises:
        WrongMomentError: The action is not possible now; `reason` says why.
        InvalidInputError: The action makes no sense at any time, every fault named.
    """
    raise NotImplementedError


def legal_actions(state: TableState, seat: Seat) -> LegalActions:
    """Everything that a seat can do now, and why it cannot do the rest."""
    raise NotImplementedError


def due(state: TableState) -> Due | None:
    """What comes next if nobody acts, None if the table waits for people without a clock."""
    raise NotImplementedError


def settle(state: TableState, dice: DiceSource, now: float) -> list[Event]:
    """The events of all that the server does by itself up to `now`; stops where a bot must judge.

    Args:
        state: The state of the table.
        dice: Where the dice come from.
        now: The time in seconds since the epoch.
    """
    raise NotImplementedError


def excuse_downtime(state: TableState, seconds: float, now: float) -> list[Event]:
    """The event that keeps running clocks from counting a time when the server stood still.

    Args:
        state: The state after replaying the log.
        seconds: How long nobody could act: from the last sign of life before to the restart.
        now: The time in seconds since the epoch.
    """
    raise NotImplementedError
