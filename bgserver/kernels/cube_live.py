"""The live cube: its piecewise linear value, and what share of it a position has.

Conventions as in `bgserver.kernels.cube`, which puts the parts together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.kernels._jit import kernel

if TYPE_CHECKING:
    from bgserver.kernels.cube import Stakes

__all__ = [
    "FREE_DOUBLE_WAIT",
    "NO_LIFTS",
    "free_share",
    "live_share",
    "live_take_point",
    "live_value",
]

FREE_DOUBLE_WAIT = 0.12
"""What is lost of the live value where the next double of one player costs him nothing.

A player who loses the match with this game whatever the cube shows (a trailer after the Crawford
game, a taker whose opponent now wins with this cube) turns it at his very next turn, so nearly
all of the live value is his; the less, the nearer he is to his cash point, beyond which he may lose
his market before. Measured on the engine's own look-ahead, as the lifts of
`bgserver.kernels.cube`.
"""
NO_LIFTS = (0.0, 0.0)
"""Lifts of the symmetrical formula."""
_NO_THREAT = 0.45
"""Winning chance from which the opponent is too far from a double for a lift of his threat."""
_FULL_THREAT = 0.2


@kernel
def live_take_point(passed: float, lose: float, gain: float, reach: float) -> float:
    """Chance at which a player is indifferent between passing and taking.

    Args:
        passed: The taker's value after a pass.
        lose: His value after losing at the doubled cube.
        gain: His value at the far end of his line: a win, or his own cash at the doubled cube.
        reach: The winning chance at that far end: 1, or his own cash point.
    """
    if gain <= lose:
        return 0.0
    return min(1.0, max(0.0, reach * (passed - lose) / (gain - lose)))


@kernel
def live_value(
    chance: float, stakes: Stakes, take_point: float, cash_point: float, able: int
) -> float:
    """The piecewise linear live-cube value.

    The corners stay even where a player would do better to play on for the gammon than to cash:
    leaving them out there was measured to be worse, since the gammon share of a position is not
    the same at every winning chance.

    Args:
        chance: P(win) of the player on roll.
        stakes: Values at the four corners.
        take_point: His take point; used if the opponent can double.
        cash_point: His cash point; used if he can double.
        able: 1 if he can double, plus 2 if the opponent can.
    """
    low, low_value = 0.0, stakes.lose
    high, high_value = 1.0, stakes.win
    if able & 1:
        if chance >= cash_point:
            if cash_point >= 1.0:
                return stakes.cash
            share = (chance - cash_point) / (1.0 - cash_point)
            return stakes.cash + (stakes.win - stakes.cash) * share
        high, high_value = cash_point, stakes.cash
    if able & 2:
        if chance <= take_point:
            if take_point <= 0.0:
                return stakes.passed
            return stakes.lose + (stakes.passed - stakes.lose) * chance / take_point
        low, low_value = take_point, stakes.passed
    if high <= low:
        return 0.5 * (low_value + high_value)
    return low_value + (high_value - low_value) * (chance - low) / (high - low)


@kernel
def live_share(efficiency: float, lifts: tuple[float, float], chance: float, gain: float) -> float:
    """Share of the live value.

    Args:
        efficiency: Cube efficiency.
        lifts: Of a gain, and of a threat by a player who is all but sure to double soon.
        chance: P(win) of the player on roll.
        gain: The live value minus the dead one.
    """
    lift = lifts[0]
    if gain < 0.0:
        near = (_NO_THREAT - chance) / (_NO_THREAT - _FULL_THREAT)
        lift = lifts[1] * min(1.0, max(0.0, near))
    return efficiency + lift * efficiency * (1.0 - efficiency)


@kernel
def free_share(chance: float, cash_point: float) -> float:
    """Share of the live value where a player with this chance doubles at his next turn."""
    if chance >= cash_point:
        return 1.0 - FREE_DOUBLE_WAIT
    return 1.0 - FREE_DOUBLE_WAIT * chance / cash_point
