"""Cube actions: who should double, take, pass or beaver, and where that changes.

Conventions as in `bgserver.kernels.cube`: all seen by the player on roll before the roll.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.cube import (
    GammonShares,
    double_utilities,
    doubled,
    doublers,
    gammon_shares,
    may_double,
    passed_utility,
    position_utility,
    turned,
    waiting_utility,
)

if TYPE_CHECKING:
    from bgserver.kernels.cube import CubeState, MatchTable, Probabilities

__all__ = [
    "DOUBLE_BEAVER",
    "DOUBLE_PASS",
    "DOUBLE_TAKE",
    "NO_CUBE",
    "NO_DOUBLE_BEAVER",
    "NO_DOUBLE_TAKE",
    "TOO_GOOD_PASS",
    "TOO_GOOD_TAKE",
    "beaver_allowed",
    "cash_point",
    "classify",
    "critical_points",
    "cube_action",
    "cube_utilities",
    "is_double",
    "turn_utility",
]

NO_DOUBLE_TAKE = 0
"""Do not double; the opponent would take."""
DOUBLE_TAKE = 1
"""Double; the opponent takes."""
DOUBLE_PASS = 2
"""Double; the opponent passes."""
TOO_GOOD_TAKE = 3
"""Play on, which is worth more than cashing; the opponent would take."""
TOO_GOOD_PASS = 4
"""Play on, which is worth more than cashing; the opponent would pass."""
NO_DOUBLE_BEAVER = 5
"""Do not double; the opponent would beaver."""
DOUBLE_BEAVER = 6
"""Double although the opponent beavers (possible with Jacoby only)."""
NO_CUBE = 7
"""The player on roll cannot double, or no double of his can gain anything."""

_BISECTIONS = 40
"""Halvings of [0, 1]: enough for twelve decimal places."""

_ROUNDING = 1e-9


@kernel
def beaver_allowed(state: CubeState) -> bool:
    """True if a taker of a double from this state may turn the cube once more."""
    return state.beavers and state.away_own == 0 and 4 * state.value <= state.cap


@kernel
def cube_utilities(
    probabilities: Probabilities, state: CubeState, table: MatchTable, efficiency: float
) -> tuple[float, float, float, bool]:
    """What the player on roll can get from the cube now.

    Returns:
        Utilities of no double, of double and take (or beaver, if that is allowed and better for
        the opponent) and of double and pass; and whether the taker beavers.
    """
    chance = float(probabilities[0])
    shares = gammon_shares(probabilities)
    no_double, double_take = double_utilities(chance, shares, state, table, efficiency)
    beaver = False
    if beaver_allowed(state):
        beavered_state = doubled(doubled(state))
        beavered = position_utility(chance, shares, beavered_state, table, efficiency)
        if beavered < double_take:
            beaver = True
            double_take = beavered
    return no_double, double_take, passed_utility(state, table), beaver


@kernel
def classify(no_double: float, double_take: float, double_pass: float, beaver: bool) -> int:
    """The best actions of both players as one of the action codes of this module.

    The doubler doubles if that costs nothing. All four arguments as `cube_utilities` returns
    them, in any one unit.
    """
    if double_take >= double_pass:
        return DOUBLE_PASS if no_double <= double_pass else TOO_GOOD_PASS
    if double_take >= no_double:
        return DOUBLE_BEAVER if beaver else DOUBLE_TAKE
    if no_double > double_pass:
        return TOO_GOOD_TAKE
    return NO_DOUBLE_BEAVER if beaver else NO_DOUBLE_TAKE


@kernel
def cube_action(
    probabilities: Probabilities, state: CubeState, table: MatchTable, efficiency: float
) -> int:
    """Best actions of both players before the roll; `NO_CUBE` where no double can gain."""
    if not may_double(state):
        return NO_CUBE
    no_double, double_take, double_pass, beaver = cube_utilities(
        probabilities, state, table, efficiency
    )
    return classify(no_double, double_take, double_pass, beaver)


@kernel
def turn_utility(
    probabilities: Probabilities, state: CubeState, table: MatchTable, efficiency: float
) -> float:
    """Utility for the player on roll who may double now, when both play the cube rightly.

    This is what a position is worth to the player whose turn begins; `waiting_utility` is its value
    once he has decided not to double.
    """
    if not may_double(state):
        shares = gammon_shares(probabilities)
        return waiting_utility(float(probabilities[0]), shares, state, table, efficiency)
    no_double, double_take, double_pass, _ = cube_utilities(probabilities, state, table, efficiency)
    return max(no_double, min(double_take, double_pass))


@kernel
def is_double(action: int) -> bool:
    """True for the actions that turn the cube."""
    return action in (DOUBLE_TAKE, DOUBLE_PASS, DOUBLE_BEAVER)


@kernel
def _doubling_gain(
    chance: float, shares: GammonShares, state: CubeState, table: MatchTable, efficiency: float
) -> float:
    """What a double that is taken gains against waiting."""
    no_double, taken = double_utilities(chance, shares, state, table, efficiency)
    return taken - no_double


@kernel
def critical_points(
    shares: GammonShares, state: CubeState, table: MatchTable, efficiency: float
) -> tuple[float, float, float, float]:
    """Winning chances of the player on roll at which the right cube action changes.

    The gammon shares stay the same while the winning chance varies.

    Returns:
        His take point if the opponent doubled now; the chance from which his own double gains;
        the opponent's drop point (his cash point); the chance from which he is too good. NaN
        where there is no such point: a player who cannot double, or a cube that can win nothing.
    """
    able = doublers(state)
    take = np.nan
    if able & 2:
        mirrored = turned(state)
        swapped = GammonShares(
            shares.lose_gammon, shares.lose_backgammon, shares.win_gammon, shares.win_backgammon
        )
        take = 1.0 - cash_point(swapped, mirrored, table, efficiency)
    if not able & 1:
        return take, np.nan, np.nan, np.nan
    cash = cash_point(shares, state, table, efficiency)
    passed = passed_utility(state, table)
    double = np.nan
    # At the cash point a double is worth the cash; it gains there unless playing on gains more.
    # With a live cube both are equal there but for rounding.
    slack = _ROUNDING * state.value
    if _doubling_gain(0.0, shares, state, table, efficiency) >= 0.0:
        double = 0.0
    elif waiting_utility(cash, shares, state, table, efficiency) <= passed + slack:
        low, high = 0.0, cash
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            if _doubling_gain(middle, shares, state, table, efficiency) >= 0.0:
                high = middle
            else:
                low = middle
        double = high
    too_good = np.nan
    if waiting_utility(1.0, shares, state, table, efficiency) > passed:
        low, high = 0.0, 1.0
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            if waiting_utility(middle, shares, state, table, efficiency) > passed:
                high = middle
            else:
                low = middle
        too_good = high
    return take, double, cash, too_good


@kernel
def cash_point(
    shares: GammonShares, state: CubeState, table: MatchTable, efficiency: float
) -> float:
    """The lowest winning chance at which the opponent should pass; 1 if he always takes.

    The player on roll must be able to double. The gammon shares stay the same.
    """
    passed = passed_utility(state, table)
    after = doubled(state)
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if position_utility(middle, shares, after, table, efficiency) >= passed:
            high = middle
        else:
            low = middle
    return high
