"""Static values of one position in many cube states at once.

A search asks for the same position with the cube centred, turned, turned again, in either hand.
What costs most of a value (`bgserver.kernels.cube`) is the recursion over all higher cubes, and
that is the same for all of these states: here it is done once for a position and kept as a ladder
with a rung for each cube value. The values are those of `turn_utility`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.cube import (
    OPPOSING,
    CubeState,
    Stakes,
    doublers,
    match_stakes,
    match_value,
    money_value,
    passed_utility,
    waiting_lifts,
)
from bgserver.kernels.cube_actions import beaver_allowed
from bgserver.kernels.cube_live import NO_LIFTS, live_take_point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.cube import GammonShares, MatchTable

__all__ = ["RUNGS", "CubeLadder", "climb", "make_cube_ladder", "with_cube", "worth_of_turn"]

RUNGS = 36
"""Cube values that a ladder has room for; rung k is the lowest value times 2**k."""


class CubeLadder(NamedTuple):
    """One position on cubes of rising value, seen by the player on roll."""

    cash: NDArray[np.float64]
    """[RUNGS, 2]: live-cube cash points of the player on roll and of the opponent."""
    stakes: NDArray[np.float64]
    """[RUNGS, 4]: match play: the fields of `Stakes`."""


def make_cube_ladder() -> CubeLadder:
    """Allocate one."""
    return CubeLadder(np.zeros((RUNGS, 2)), np.zeros((RUNGS, 4)))


@kernel
def with_cube(state: CubeState, value: int, owner: int) -> CubeState:
    """The same score and rules with another cube."""
    return CubeState(
        value,
        owner,
        state.away_own,
        state.away_opponent,
        state.crawford,
        state.post_crawford,
        state.jacoby,
        state.beavers,
        state.cap,
    )


@kernel
def _stakes_of(ladder: CubeLadder, rung: int) -> Stakes:
    return Stakes(
        ladder.stakes[rung, 0],
        ladder.stakes[rung, 1],
        ladder.stakes[rung, 2],
        ladder.stakes[rung, 3],
    )


@kernel
def _climb_match(
    shares: GammonShares, state: CubeState, table: MatchTable, most: int, ladder: CubeLadder
) -> None:
    """As `_match_cash_points` of `bgserver.kernels.cube`, keeping what it finds on the way."""
    top = 0
    value = state.value
    while (value < state.away_own or value < state.away_opponent) and 2 * value <= state.cap:
        value *= 2
        top += 1
    for rung in range(max(top, most) + 1):
        stakes = match_stakes(shares, state, table, state.value << rung)
        ladder.stakes[rung, 0] = stakes.win
        ladder.stakes[rung, 1] = stakes.lose
        ladder.stakes[rung, 2] = stakes.cash
        ladder.stakes[rung, 3] = stakes.passed
        ladder.cash[rung, 0] = 1.0
        ladder.cash[rung, 1] = 1.0
    for rung in range(top - 1, -1, -1):
        value = state.value << rung
        stakes = _stakes_of(ladder, rung)
        higher = _stakes_of(ladder, rung + 1)
        can_redouble = 4 * value <= state.cap
        if state.away_own > value:
            # The opponent takes at 2 * value and may redouble from there unless he wins anyway.
            gain, reach = 1.0 - higher.lose, 1.0
            if can_redouble and state.away_opponent > 2 * value:
                gain, reach = 1.0 - higher.passed, ladder.cash[rung + 1, 1]
            take = live_take_point(1.0 - stakes.cash, 1.0 - higher.win, gain, reach)
            ladder.cash[rung, 0] = 1.0 - take
        if state.away_opponent > value:
            gain, reach = higher.win, 1.0
            if can_redouble and state.away_own > 2 * value:
                gain, reach = higher.cash, ladder.cash[rung + 1, 0]
            take = live_take_point(stakes.passed, higher.lose, gain, reach)
            ladder.cash[rung, 1] = 1.0 - take


@kernel
def _climb_money(shares: GammonShares, state: CubeState, most: int, ladder: CubeLadder) -> None:
    """As `_money_cash_points` of `bgserver.kernels.cube`, keeping what it finds on the way."""
    win = 1.0 + shares.win_gammon + 2.0 * shares.win_backgammon
    lose = 1.0 + shares.lose_gammon + 2.0 * shares.lose_backgammon
    top = 0
    while state.value << (top + 1) <= state.cap:
        top += 1
    for rung in range(top, most + 1):
        ladder.cash[rung, 0] = 1.0
        ladder.cash[rung, 1] = 1.0
    own = 1.0 - (win - 0.5) / (win + lose)
    opponent = 1.0 - (lose - 0.5) / (win + lose)
    win_slope = (win - 0.5) / (win + 1.0)
    lose_slope = (lose - 0.5) / (lose + 1.0)
    for rung in range(top - 1, -1, -1):
        if rung < top - 1:
            own, opponent = 1.0 - opponent * win_slope, 1.0 - own * lose_slope
        if rung <= most:
            ladder.cash[rung, 0] = own
            ladder.cash[rung, 1] = opponent


@kernel
def climb(
    shares: GammonShares, state: CubeState, table: MatchTable, most: int, ladder: CubeLadder
) -> None:
    """Fill a ladder for a position.

    Args:
        shares: The position's gammon shares.
        state: Score and rules seen by the player on roll; its cube value is that of rung 0.
        table: Match equity table.
        most: The highest rung that will be asked for, below `RUNGS`.
        ladder: Written.
    """
    if state.away_own > 0:
        _climb_match(shares, state, table, most, ladder)
    else:
        _climb_money(shares, state, most, ladder)


@kernel
def _worth(
    chance: float,
    shares: GammonShares,
    state: CubeState,
    efficiency: float,
    ladder: CubeLadder,
    rung: int,
    lifts: tuple[float, float],
) -> float:
    """Utility in a state that stands on a rung."""
    points = (ladder.cash[rung, 0], ladder.cash[rung, 1])
    if state.away_own > 0:
        return match_value(chance, _stakes_of(ladder, rung), state, efficiency, points, lifts)
    return money_value(chance, shares, state, efficiency, points, lifts)


@kernel
def worth_of_turn(
    chance: float,
    shares: GammonShares,
    state: CubeState,
    table: MatchTable,
    efficiency: float,
    ladder: CubeLadder,
    rung: int,
) -> float:
    """`turn_utility` of a state whose cube value is that of a rung of the position's ladder.

    The two rungs above must be filled as well.
    """
    lifts = waiting_lifts(state)
    no_double = _worth(chance, shares, state, efficiency, ladder, rung, lifts)
    if not doublers(state) & 1:
        return no_double
    after = with_cube(state, 2 * state.value, OPPOSING)
    taken = _worth(chance, shares, after, efficiency, ladder, rung + 1, NO_LIFTS)
    if beaver_allowed(state):
        after = with_cube(state, 4 * state.value, OPPOSING)
        beavered = _worth(chance, shares, after, efficiency, ladder, rung + 2, NO_LIFTS)
        taken = min(taken, beavered)
    return max(no_double, min(taken, passed_utility(state, table)))
