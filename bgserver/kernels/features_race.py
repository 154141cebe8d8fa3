"""Dense features of a race in backgammon: rolls that either side needs, and who needs fewer.

Nobody can hit or block any more, so each side's rolls to bear off all checkers, and to bear off
the first one, are numbers of its own. Their means and variances come from formulas here, fitted
to the exact bear-off table (checkers at home) and to one-sided games that are played to it; the
chances to win and to save the gammon follow as if both numbers had normal distributions. What the
formulas leave is for the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.first_off import FIRST_OFF_CHANCES, FIRST_OFF_ROLLS, place_outside

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["N_RACE_FACTS", "N_ROLLS_COUNTED", "write_race_facts", "write_side_facts"]

N_RACE_FACTS = 60
"""Length of the vector."""
_PAIRS = 44  # first of the features of both sides together
N_ROLLS_COUNTED = 10
"""Rolls within which the chance to have borne off a first checker is counted."""

# Rolls to bear off all checkers, fitted to 30,000 sides of games: of sides at home the formula is
# off by 0.07 rolls (root mean square), of others by 0.08. See `write_side_facts` for the
# order.
_CLEAR = np.array(
    [
        *(0.0056, 11.7401, 1.5400, 1.2557, 0.5544, 0.1398, 0.0540, -0.0152, -0.5102, 1.0922),
        *(-0.6385, -0.0577, 0.3634),
    ]
)
_CLEAR_GAP = np.array([0.0, 0.0606, 0.0207, 0.0110, 0.0842, 0.1129, 0.1156])
_CLEAR_EXTRA = np.array([0.0, 1.3767, 1.0706, 0.7314, 0.1265, -0.1403, -0.2178])
# Rolls to bear off the first of 15 checkers, of sides with some outside home that play for it: off
# by 0.13.
_FIRST = np.array(
    [0.6188, 1.1059, 0.6634, 0.5397, -0.5030, -0.4071, 0.4571, -0.3345, 0.1966, 0.1268]
)
_FIRST_GAP = np.array([0.0, 0.1238, 0.0783, 0.0477, 0.0568, 0.0270, 0.0064])
_FIRST_AT_HOME = 1.05


@kernel
def _normal(z: float) -> float:
    """The normal distribution function, to 0.01, by the logistic one."""
    chance: float = 1.0 / (1.0 + np.exp(-1.702 * z))
    return chance


@kernel
def _clip(value: float, most: float) -> np.float32:
    return np.float32(max(-most, min(most, value)))


@kernel
def _first_at_once(side: NDArray[np.int8], outside: int) -> float:
    """Chance that a side of 15 checkers bears one off with its next roll.

    Counted roll by roll: all but one of the numbers bring everybody home, and the last one bears
    off from where checkers stand now or the last has come to. Plays that bear off after a step at
    home are left out.

    Args:
        side: int8[26]: the side's checkers in its own numbering.
        outside: Its checkers outside home.
    """
    if outside > 3:
        return 0.0
    bears = 0  # bit d: number d bears off
    highest = 0
    for point in range(1, 7):
        if side[point] > 0:
            highest = point
    for point in range(1, 7):
        if side[point] > 0 or point > highest:
            bears |= 1 << point
    far = 0
    for point in range(7, 26):
        if side[point] > 0:
            far = point
    ways = 0
    for high in range(1, 7):
        if bears >> high & 1:
            steps = 0
            for point in range(7, far + 1):
                steps += side[point] * ((point - 7) // high + 1)
            ways += int(steps <= 3)
        for low in range(1, high):
            by_high = bears >> high & 1
            by_low = bears >> low & 1
            if outside == 0:
                ways += 2 * (by_high | by_low)
            elif outside == 1:
                first = far - high <= 6 and (by_low or far - high == low)
                second = far - low <= 6 and (by_high or far - low == high)
                ways += 2 * int(first or second)
    return ways / 36.0


@kernel
def write_side_facts(
    side: NDArray[np.int8], first: NDArray[np.float64], out: NDArray[np.float32], at: int
) -> tuple[float, float, int, int]:
    """Write one side's features to every second place from `at`.

    Args:
        side: int8[26]: the side's checkers in its own numbering.
        first: float64[N_ROLLS_COUNTED], written: chance to have borne off a checker within 1, 2...
            rolls.
        out: float32[N_RACE_FACTS].
        at: 0 for the own side, 1 for the opponent's.

    Returns:
        Mean rolls to bear off all checkers, mean rolls to the first, pips, checkers left.
    """
    total = 0
    pips = 0
    away = 0
    outside = 0
    crossings = 0
    rear = 0
    stacked = 0
    spare = 0
    held_pips = 0
    held = 0
    for point in range(1, 26):
        count = int(side[point])
        if count == 0:
            continue
        total += count
        pips += point * count
        rear = point
        stacked += max(count - 3, 0)
        if point > 6:
            outside += count
            away += (point - 6) * count
            crossings += (point - 1) // 6 * count
        else:
            spare += (point - 1) * max(count - 2, 0)
        if point > 18:
            held += count
            held_pips += (point - 18) * count
    # Mean rolls to bear off all checkers.
    n = float(total)
    p = float(pips)
    limit = max(n / 2 - p / 8.167, 0.0)  # more checkers than pips: two leave with a roll
    odd = float(total % 2)
    mean = _CLEAR[0] + _CLEAR[1] * p / 100 + _CLEAR[2] * n / 10
    mean += (_CLEAR[3] * side[1] + _CLEAR[4] * side[2] + _CLEAR[5] * side[3]) / 10
    mean += _CLEAR[6] * limit + _CLEAR[7] * limit * limit + _CLEAR[8] * n * n / 100
    mean += _CLEAR[9] * np.sqrt(p) / 10 + _CLEAR[10] * np.sqrt(n) / 3
    mean += odd * (_CLEAR[11] + _CLEAR[12] * np.exp(-max(p - 2 * n, 0.0) / 8))
    lowest = 6
    gaps = 0
    gap_cost = 0.0
    for point in range(1, 7):
        empty = side[point] == 0
        gaps += int(empty)
        if empty:
            mean += _CLEAR_GAP[point]
            gap_cost += _FIRST_GAP[point]
        else:
            lowest = min(lowest, point)
        mean += _CLEAR_EXTRA[point] * max(int(side[point]) - 2, 0) / 10
    mean = max(mean, 1.0)
    # Rolls to the first checker off.
    mean_first = 0.0
    if total == 15:
        if outside == 0:
            mean_first = _FIRST_AT_HOME
        else:
            mean_first = _FIRST[0] + _FIRST[1] * away / 10 + gap_cost
            mean_first += (
                _FIRST[2] * outside
                + _FIRST[3] * (outside - 1)
                + _FIRST[4] * max(outside - 2, 0)
                + _FIRST[5] * max(outside - 4, 0)
                + _FIRST[6] * crossings
            ) / 5
            mean_first += (
                _FIRST[7] * max(away - 8, 0)
                + _FIRST[8] * max(away - 16, 0)
                + _FIRST[9] * max(rear - 12, 0)
            ) / 10
        spread = np.sqrt(max(0.26 * mean_first - 0.5, 0.05))
        row = place_outside(side)
        for number in range(N_ROLLS_COUNTED):
            if row >= 0 and number < FIRST_OFF_ROLLS:
                first[number] = FIRST_OFF_CHANCES[lowest - 1, row, number]
            else:
                first[number] = _normal((number + 1.5 - mean_first) / spread)
        first[0] = _first_at_once(side, outside)
        for number in range(1, N_ROLLS_COUNTED):
            first[number] = max(first[number], first[number - 1])
    else:
        first[:] = 1.0
    out[at] = np.float32(p / 100)
    out[at + 2] = np.float32(mean / 10)
    out[at + 4] = np.float32(away / 30)
    out[at + 6] = np.float32(outside / 8)
    out[at + 8] = np.float32(crossings / 10)
    out[at + 10] = np.float32(rear / 24)
    out[at + 12] = np.float32((15 - total) / 10)
    out[at + 14] = np.float32(total == 15)
    out[at + 16] = np.float32((side[1] + side[2]) / 6)
    out[at + 18] = np.float32(gaps / 6)
    out[at + 20] = np.float32(mean_first / 5)
    for number in range(4):
        out[at + 22 + 2 * number] = np.float32(first[number])
    out[at + 30] = np.float32((total + 1) // 2 / 8)
    out[at + 32] = np.float32(total % 2)
    out[at + 34] = np.float32(stacked / 6)
    out[at + 36] = np.float32(limit / 3)
    out[at + 38] = np.float32(spare / 20)
    out[at + 40] = np.float32(held_pips / 10)
    out[at + 42] = np.float32(held / 4)
    return mean, mean_first, pips, total


@kernel
def _variance(mean: float) -> float:
    """Variance of the rolls to bear off, by their mean: of sides of games, to about a fifth."""
    return 0.105 * mean + 0.0065 * mean * mean


@kernel
def _gammon(first: NDArray[np.float64], mean: float, total: int, later: int) -> float:
    """Chance that one side bears off before the other has borne off its first checker.

    Args:
        first: float64[N_ROLLS_COUNTED]: chance of the other's first within 1, 2... rolls.
        mean: The one's mean rolls to bear off.
        total: Its checkers.
        later: 1 if the one rolls first, else 0.
    """
    spread = np.sqrt(_variance(mean))
    chance = 0.0
    before = 0.0
    for number in range(1, N_ROLLS_COUNTED + 1):
        rolls = number - 1 + later  # that the one has had before the other's roll `number`
        if 4 * rolls >= total:
            chance += (first[number - 1] - before) * _normal((rolls + 0.5 - mean) / spread)
        before = first[number - 1]
    return chance + (1.0 - before) * _normal((N_ROLLS_COUNTED + later + 0.5 - mean) / spread)


@kernel
def _logit(chance: float) -> np.float32:
    """A chance on the scale of the networks' outputs, divided by 3, -2.3 to 2.3."""
    held = max(0.001, min(0.999, chance))
    return np.float32(np.log(held / (1 - held)) / 3)


@kernel
def write_race_facts(board: NDArray[np.int8], out: NDArray[np.float32]) -> None:
    """Write the `N_RACE_FACTS` dense features of a race after a play.

    Args:
        board: int8[26], read only.
        out: float32[>= N_RACE_FACTS], written.
    """
    side = np.zeros(26, dtype=np.int8)
    own_first = np.zeros(N_ROLLS_COUNTED, dtype=np.float64)
    opp_first = np.zeros(N_ROLLS_COUNTED, dtype=np.float64)
    for point in range(1, 26):
        side[point] = max(board[point], 0)
    own, own_to_first, own_pips, own_total = write_side_facts(side, own_first, out, 0)
    for point in range(1, 26):
        side[point] = max(-board[25 - point], 0)
    opp, opp_to_first, opp_pips, opp_total = write_side_facts(side, opp_first, out, 1)
    spread = np.sqrt(_variance(own) + _variance(opp))
    # The opponent rolls next: as many rolls as he needs are too many.
    z = (opp - own - 0.5) / spread
    lead = opp_pips - own_pips
    at = _PAIRS
    out[at] = _clip(z, 4.0)
    out[at + 1] = _logit(_normal(z))
    out[at + 2] = np.float32(_normal(z))
    out[at + 3] = _clip(lead / 50, 2.0)
    out[at + 4] = _clip((lead + 4) / 20, 2.0)
    out[at + 5] = _clip((opp - own) / 3, 2.0)
    out[at + 6] = 0
    out[at + 7] = 0
    out[at + 8] = 0
    out[at + 9] = 0
    out[at + 10] = 0
    out[at + 11] = 0
    if opp_total == 15:
        chance = _gammon(opp_first, own, own_total, 0)
        out[at + 6] = np.float32(chance)
        out[at + 7] = _logit(chance)
        out[at + 8] = _clip((opp_to_first - own) / 3, 2.0)
    if own_total == 15:
        chance = _gammon(own_first, opp, opp_total, 1)
        out[at + 9] = np.float32(chance)
        out[at + 10] = _logit(chance)
        out[at + 11] = _clip((own_to_first - opp) / 3, 2.0)
    for index in range(at + 12, N_RACE_FACTS):
        out[index] = 0
