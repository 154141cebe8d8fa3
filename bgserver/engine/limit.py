"""How far a question may go: to a level, or as deep as a time allows.

A question that can be deepened is looked at level by level. With a time, each level begins only if
it may fit, judged by what the level before has cost, and is given up when the time is over. So the
figures are always those of a complete level, bit for bit what asking for that level gives.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

from bgserver.engine.levels import Level
from bgserver.engine.rollout_level import RolloutLevel

if TYPE_CHECKING:
    from collections.abc import Callable

    from bgserver.engine.work import Work

__all__ = ["MAX_MILLISECONDS", "Limit", "Question", "TimeLimit", "deepen_in_time"]

MAX_MILLISECONDS = 600_000
"""Longest time that can be asked for: the deepest level takes seconds."""

_GROWTH = 21
"""Cost of a board against one of the level before, which is looked at once for each roll."""
_SURE_SHARE = 0.25
"""A level is left out only if not even this share of its expected cost fits. The growth differs
much from board to board: quartiles of 8 and 76 in 60 positions of games. There a quarter reached
nearly all that trying every level reaches, for up to a third less of the time."""


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """As deep as can be looked until a moment; the static level in any case."""

    end: float
    """When the time is over, on `clock`."""
    clock: Callable[[], float] = time.monotonic
    """A clock in seconds that never goes back."""

    @classmethod
    def starting_now(cls, milliseconds: int, clock: Callable[[], float] = time.monotonic) -> Self:
        """The limit for a time that begins now.

        Args:
            milliseconds: 1..`MAX_MILLISECONDS`; not checked here.
            clock: What tells the time.
        """
        return cls(clock() + milliseconds / 1000, clock)

    @property
    def left_s(self) -> float:
        """Seconds that are left; not positive when the time is over."""
        return self.end - self.clock()


Limit: TypeAlias = Level | TimeLimit | RolloutLevel
"""How far a question may go."""


class Question(Protocol):
    """Something that is judged statically first and then one level deeper at a time."""

    deepest: int
    """Rolls that the deepest level looks ahead."""

    def boards(self, depth: int) -> int:
        """How many boards `look(depth)` looks at, at least 1."""

    def look(self, depth: int) -> Work[None]:
        """Look `depth` rolls ahead, after all lower depths; leaves no trace if it is given up."""


def deepen_in_time(question: Question, limit: TimeLimit) -> Work[None]:
    """Deepen a question until the time is over or the next level does not fit."""
    board_s = 0.0  # cost of a board; nothing tells yet what the first level costs
    for depth in range(1, question.deepest + 1):
        boards = question.boards(depth)
        left_s = limit.left_s
        if left_s <= 0 or _SURE_SHARE * _GROWTH * board_s * boards > left_s:
            return
        finished = yield from _look_in_time(question.look(depth), limit)
        if not finished:
            return
        board_s = (left_s - limit.left_s) / boards


def _look_in_time(work: Work[None], limit: TimeLimit) -> Work[bool]:
    """Run a work until it ends (True) or the time is over (False)."""
    while limit.left_s > 0:
        try:
            next(work)
        except StopIteration:
            return True
        yield
    work.close()
    return False
