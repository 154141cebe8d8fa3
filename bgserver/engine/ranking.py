"""Ranks the plays of a roll: all statically, the best of them deeper and deeper.

Each level looks at the plays that the level before found near the best (`MOVE_FILTERS`). A play
keeps the figures of the deepest level that has looked at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.cube_plan import plan_cube, utility_of_turn
from bgserver.engine.cube_rules import cube_state
from bgserver.engine.lookahead import (
    DEPTHS,
    MOVE_FILTERS,
    look_ahead,
    look_ahead_with_cube,
)
from bgserver.engine.plays import board_array, legal_plays
from bgserver.engine.position import Variant
from bgserver.kernels import search
from bgserver.kernels.cube import normalised, turned
from bgserver.kernels.network import N_OUTPUTS
from bgserver.kernels.worth import worth_of_plays

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bgserver.engine.game_core import GameCore
    from bgserver.engine.levels import Level
    from bgserver.engine.plays import Play
    from bgserver.engine.position import Dice, GameState
    from bgserver.engine.work import Work
    from bgserver.kernels.cube import MatchTable

__all__ = ["EQUITY_WEIGHTS", "RankedPlay", "Ranking"]

EQUITY_WEIGHTS = np.array([2.0, 1.0, 1.0, -1.0, -1.0])
"""Five chances times these, minus 1, are the cubeless money equity."""
_LEVELS: tuple[Level, ...] = tuple(DEPTHS)


@dataclass(frozen=True, slots=True)
class RankedPlay:
    """A play and its worth, seen by the player who makes it."""

    play: Play
    """The play."""
    equity: float
    """What it was ranked by, in points of the present cube."""
    equity_loss: float
    """Equity of the best play minus this one's, at least 0."""
    probabilities: tuple[float, ...]
    """Five cubeless chances after the play."""
    level: Level
    """The level of these figures."""
    match_winning_chances: float | None
    """After the play, 0..1; None in money play, in Long Nardy, or if ranked cubeless."""
    preset: str | None = None
    """The rollout level of the figures (`level` is then the level before it); else None."""


class Ranking:
    """The plays of one roll on the way from level to level; a `Question`."""

    deepest = len(MOVE_FILTERS)
    """Rolls that the deepest level looks ahead."""

    def __init__(
        self,
        core: GameCore,
        state: GameState,
        dice: Dice,
        table: MatchTable,
        *,
        cubeless: bool,
        first_turn: bool,
    ) -> None:
        """Rank statically.

        Args:
            core: What the game is judged with.
            state: The state of the player who has rolled; a possible one.
            dice: The roll.
            table: Match equities for this match.
            cubeless: Rank by cubeless money equity instead of with cube and score.
            first_turn: Long Nardy: the player's first turn.
        """
        self._core = core
        self._state = state
        self._table = table
        self._is_cubeless = cubeless or state.position.variant is Variant.LONG_NARDY
        self._plays = legal_plays(state.position, dice, first_turn=first_turn)
        memory = core.threads.memory
        search.best_static(
            board_array(state.position),
            dice.high,
            dice.low,
            core.code,
            first_turn,
            core.evaluator,
            memory,
        )
        # `legal_plays` and the search use the same generator: row k is play k.
        self._values = memory.values[: len(self._plays)].astype(np.float64)
        self._boards = memory.plays.boards[: len(self._plays)].copy()
        self._worth = self._worth_of(self._boards, self._values)
        self._reached = [0] * len(self._plays)
        self._order = _best_first(range(len(self._plays)), self._worth)

    @property
    def is_forced(self) -> bool:
        """True if there is nothing to choose."""
        return len(self._plays) == 1

    def boards(self, depth: int) -> int:
        """How many plays `look(depth)` looks at."""
        return len(self._chosen(depth))

    def look(self, depth: int) -> Work[None]:
        """Look `depth` rolls ahead after the best plays; leaves no trace if it is given up.

        The lower depths must have been looked at, except before a forced play.
        """
        chosen = self._chosen(depth)
        core = self._core
        values = np.zeros((len(chosen), N_OUTPUTS), dtype=np.float64)
        if self._is_cubeless:
            for number, row in enumerate(chosen):
                values[number] = yield from look_ahead(
                    self._boards[row], depth, core.code, core.evaluator, core.threads
                )
                yield
            worth = self._worth_of(self._boards[chosen], values)
        else:
            worth = np.zeros((len(chosen), 2), dtype=np.float64)
            cube, table = cube_state(self._state), self._table
            theirs = turned(cube)
            states = plan_cube(theirs, table, depth)
            for number, row in enumerate(chosen):
                values[number], found = yield from look_ahead_with_cube(
                    self._boards[row], depth, states, core.evaluator, core.threads
                )
                yield
                utility = -utility_of_turn(states.utilities(found), theirs, table)
                worth[number] = normalised(utility, cube, table), utility
        self._values[chosen] = values
        self._worth[chosen] = worth
        for row in chosen:
            self._reached[row] = depth
        others = [row for row in self._order if row not in chosen]
        self._order = _best_first(chosen, self._worth) + others

    def plays(self) -> list[RankedPlay]:
        """The plays, best first; plays of a deeper level come first."""
        # Long Nardy is played for points whatever the score.
        has_chances = self._state.match is not None and not self._is_cubeless
        top = float(self._worth[self._order[0], 0])
        return [
            RankedPlay(
                self._plays[row],
                float(self._worth[row, 0]),
                max(0.0, top - float(self._worth[row, 0])),
                tuple(self._values[row].tolist()),
                _LEVELS[self._reached[row]],
                0.5 * (float(self._worth[row, 1]) + 1.0) if has_chances else None,
            )
            for row in self._order
        ]

    def _chosen(self, depth: int) -> list[int]:
        """The plays that are near the best at the depth before."""
        limit = MOVE_FILTERS[depth - 1]
        best = self._worth[self._order[0], 0]
        return [
            row for row in self._order[: limit.most] if best - self._worth[row, 0] <= limit.window
        ]

    def _worth_of(
        self, boards: NDArray[np.int8], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Equity and utility of the mover after each play, float64[n, 2]."""
        worth = np.zeros((len(boards), 2), dtype=np.float64)
        if self._is_cubeless:
            worth[:, 0] = values @ EQUITY_WEIGHTS - 1.0
            return worth
        worth_of_plays(
            boards,
            values,
            cube_state(self._state),
            self._table,
            self._core.evaluator.bearoff,
            np.zeros(26, dtype=np.int8),
            np.zeros(N_OUTPUTS, dtype=np.float64),
            worth,
        )
        return worth


def _best_first(rows: Iterable[int], worth: NDArray[np.float64]) -> list[int]:
    """Rows by falling equity; equal ones in the order of the plays."""
    return sorted(rows, key=lambda row: (-worth[row, 0], row))
