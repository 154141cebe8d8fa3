"""Dense features of backgammon: shots as exact counts of rolls, escapes, primes, bar, timing.

Everything is computed from bit masks of points and small tables, nearly without branches. "Own"
is the player who has just moved; masks of the opponent are in the opponent's own numbering.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.bits import count_bits, highest_bit, longest_run, reverse_points
from bgserver.kernels.blocks import ENTER, HOME_BITS, escape_chance, write_escapes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["N_FACTS", "write_backgammon_facts"]

N_FACTS = 60
"""Length of the vector."""

_ONE = np.uint64(1)
_POINTS = np.uint64(0x1FFFFFE)  # bits 1..24
_OUTSIDE = np.uint64(0x1FFFF80)  # bits 7..24
_BAR_BIT = np.uint64(1 << 25)
_SIX = np.uint64(0x3F)

_MIXED = [(high, low) for high in range(2, 7) for low in range(1, high)]
_HIGH = np.array([high for high, _ in _MIXED], dtype=np.uint64)
_LOW = np.array([low for _, low in _MIXED], dtype=np.uint64)


@kernel
def _rear(hits: np.uint64) -> int:
    """Pips that the owner loses by the costliest hit, 0 without one.

    In the hitter's numbering the blot on point p has come 25 - (25 - p) = p pips from the bar.
    """
    return max(highest_bit(hits), 0)


@kernel
def _hits_from_bar(
    movers: np.uint64, bar: int, free: np.uint64, blots: np.uint64, high: int, low: int
) -> np.uint64:
    """Blots that a roll hits while checkers must enter; masks as in `_write_shots`."""
    a = np.uint64(high)
    b = np.uint64(low)
    enter_a = (_BAR_BIT >> a) & free
    enter_b = (_BAR_BIT >> b) & free
    hits = np.uint64(0)
    if high == low:
        if enter_a:
            hits = enter_a & blots
            reach = movers | enter_a
            for _ in range(4 - bar):
                reach = (reach >> a) & free
                hits |= reach & blots
    elif bar == 1:
        if enter_a:
            hits |= (enter_a | ((movers | enter_a) >> b)) & blots
        if enter_b:
            hits |= (enter_b | ((movers | enter_b) >> a)) & blots
    else:
        hits = (enter_a | enter_b) & blots
    return hits


@kernel
def _write_shots(
    movers: np.uint64,
    bar: int,
    blocked: np.uint64,
    blots: np.uint64,
    out: NDArray[np.float32],
    at: int,
) -> None:
    """Exact hitting rolls of the side to roll against the other side's blots.

    All masks are in the hitter's numbering. Written: out[at] the share of 36 rolls that hit,
    out[at + 1] the share that can hit any of two blots or more, out[at + 2] the pips that the
    owner loses by the costliest hit of a roll, mean over all rolls, divided by 24.

    Args:
        movers: Points with the hitter's checkers.
        bar: The hitter's checkers on the bar.
        blocked: Points with two or more of the other side's checkers.
        blots: Points with one of the other side's checkers.
        out: float32 vector.
        at: First index to write.
    """
    if blots == 0:
        out[at] = 0
        out[at + 1] = 0
        out[at + 2] = 0
        return
    single = 0
    double = 0
    lost = 0
    free = _POINTS & ~blocked
    if bar > 0:
        for high in range(1, 7):
            for low in range(1, high + 1):
                hits = _hits_from_bar(movers, bar, free, blots, high, low)
                weight = 1 if high == low else 2
                single += weight * int(hits != 0)
                double += weight * int((hits & (hits - _ONE)) != 0)
                lost += weight * _rear(hits)
    else:
        for index in range(15):
            a = _HIGH[index]
            b = _LOW[index]
            by_a = (movers >> a) & free
            by_b = (movers >> b) & free
            hits = (by_a | by_b | (by_a >> b) | (by_b >> a)) & blots
            single += 2 * int(hits != 0)
            double += 2 * int((hits & (hits - _ONE)) != 0)
            lost += 2 * _rear(hits)
        for die in range(1, 7):
            a = np.uint64(die)
            first = (movers >> a) & free
            second = (first >> a) & free
            third = (second >> a) & free
            hits = (first | second | third | (third >> a)) & blots
            single += int(hits != 0)
            double += int((hits & (hits - _ONE)) != 0)
            lost += _rear(hits)
    out[at] = np.float32(single) / np.float32(36)
    out[at + 1] = np.float32(double) / np.float32(36)
    out[at + 2] = np.float32(lost) / np.float32(36 * 24)


@kernel
def _write_distribution(
    board: NDArray[np.int8], out: NDArray[np.float32]
) -> tuple[int, int, int, int]:
    """Pips, stacking, timing of both sides; returns pips and checkers left, own and opponent's.

    Written: out[0..5] and out[6..11] pips, pips on points 7 to 18, checkers above three on a
    point, checkers on points 1 and 2, spread, checkers borne off; out[54..57] spare pips at home
    and pips that still have to be made to bring everybody home, for either side.
    """
    own_pips = opp_pips = 0
    own_outside = opp_outside = 0
    own_stacked = opp_stacked = 0
    own_spread = opp_spread = 0
    own_spare = opp_spare = 0
    own_away = opp_away = 0
    own_total = opp_total = 0
    for point in range(1, 26):
        own = max(int(board[point]), 0)
        opp = max(-int(board[25 - point]), 0)
        middle = point - 6 if 6 < point <= 18 else 0
        away = max(point - 6, 0)
        home = point - 1 if point <= 6 else 0
        own_total += own
        opp_total += opp
        own_pips += point * own
        opp_pips += point * opp
        own_outside += middle * own
        opp_outside += middle * opp
        own_stacked += max(own - 3, 0)
        opp_stacked += max(opp - 3, 0)
        own_spread += own * own
        opp_spread += opp * opp
        own_spare += home * max(own - 2, 0)
        opp_spare += home * max(opp - 2, 0)
        own_away += away * own
        opp_away += away * opp
    own_deep = max(int(board[1]), 0) + max(int(board[2]), 0)
    opp_deep = max(-int(board[24]), 0) + max(-int(board[23]), 0)
    out[0] = np.float32(own_pips) / np.float32(100)
    out[1] = np.float32(own_outside) / np.float32(60)
    out[2] = np.float32(own_stacked) / np.float32(6)
    out[3] = np.float32(own_deep) / np.float32(6)
    out[4] = np.float32(own_spread) / np.float32(60)
    out[5] = np.float32(15 - own_total) / np.float32(10)
    out[6] = np.float32(opp_pips) / np.float32(100)
    out[7] = np.float32(opp_outside) / np.float32(60)
    out[8] = np.float32(opp_stacked) / np.float32(6)
    out[9] = np.float32(opp_deep) / np.float32(6)
    out[10] = np.float32(opp_spread) / np.float32(60)
    out[11] = np.float32(15 - opp_total) / np.float32(10)
    out[54] = np.float32(own_spare) / np.float32(20)
    out[55] = np.float32(opp_spare) / np.float32(20)
    out[56] = np.float32(own_away) / np.float32(60)
    out[57] = np.float32(opp_away) / np.float32(60)
    return own_pips, opp_pips, own_total, opp_total


@kernel
def _blocks_ahead(made: np.uint64, runner: int) -> np.float32:
    """Longest run of made points in front of the other side's rearmost checker, divided by 6.

    Args:
        made: Made points in the blocker's numbering.
        runner: Number of the rearmost checker in the runner's numbering; the points in front of
            it are those above 25 - runner in the blocker's.
    """
    first = np.uint64(max(1, 26 - runner))
    return np.float32(longest_run((made >> first) << first)) / np.float32(6)


@kernel
def _write_containment(blocked: np.uint64, out: NDArray[np.float32], at: int) -> None:
    """How well a block holds whatever may come behind it.

    Written: out[at] the mean escape chance of a checker on the bar and on each of the six points
    next to it, out[at + 2] the least one of a checker on any of the points 24 to 15.

    Args:
        blocked: Points blocked, in the numbering of the side that is held.
        out: float32 vector.
        at: First index to write.
    """
    ahead = reverse_points(blocked)
    total = escape_chance(25, ahead)
    least = np.float32(1)
    for point in range(24, 14, -1):
        chance = escape_chance(point, ahead)
        least = min(least, chance)
        if point >= 19:
            total += chance
    out[at] = total / np.float32(7)
    out[at + 2] = least


@kernel
def _playable(movers: np.uint64, blocked: np.uint64) -> tuple[int, int]:
    """(pairs of a point outside home and a number that may be played there, such numbers)."""
    free = _POINTS & ~blocked
    pairs = 0
    numbers = 0
    for die in range(1, 7):
        sources = ((movers & _OUTSIDE) >> np.uint64(die)) & free
        pairs += count_bits(sources)
        numbers += int(sources != 0)
    return pairs, numbers


@kernel
def _checkers_behind(board: NDArray[np.int8], own_rear: int, opp_rear: int) -> tuple[int, int]:
    """Pips of each side's checkers up to the other side's rearmost one."""
    own_behind = 0
    opp_behind = 0
    for point in range(1, 26):
        own = max(int(board[point]), 0)
        opp = max(-int(board[25 - point]), 0)
        own_behind += own * max(point - (25 - opp_rear), 0)
        opp_behind += opp * max(point - (25 - own_rear), 0)
    return own_behind, opp_behind


@kernel
def write_backgammon_facts(board: NDArray[np.int8], out: NDArray[np.float32]) -> None:
    """Write the `N_FACTS` dense features of a board after a play.

    Args:
        board: int8[26], read only.
        out: float32[>= N_FACTS], written.
    """
    own = own_made = opp = opp_made = np.uint64(0)
    for point in range(1, 25):
        count = int(board[point])
        at_own = np.uint64(point)
        at_opp = np.uint64(25 - point)
        own |= np.uint64(count > 0) << at_own
        own_made |= np.uint64(count > 1) << at_own
        opp |= np.uint64(count < 0) << at_opp
        opp_made |= np.uint64(count < -1) << at_opp
    own_bar = int(board[25])
    opp_bar = -int(board[0])
    own_blots = own & ~own_made
    opp_blots = opp & ~opp_made
    own_made_seen = reverse_points(own_made)  # in the opponent's numbering
    opp_made_seen = reverse_points(opp_made)  # in the own numbering
    own_pips, opp_pips, own_total, opp_total = _write_distribution(board, out)
    lead = opp_pips - own_pips
    out[12] = max(np.float32(-2), min(np.float32(2), np.float32(lead) / np.float32(50)))
    scale = np.sqrt(np.float32(own_pips + opp_pips)) * np.float32(2) + np.float32(1)
    out[13] = np.float32(lead + 4) / scale
    # Shots: the opponent rolls next; the own shots are those of the roll after.
    _write_shots(opp, opp_bar, own_made_seen, reverse_points(own_blots), out, 14)
    _write_shots(own, own_bar, opp_made_seen, reverse_points(opp_blots), out, 17)
    own_home = (own_made >> _ONE) & _SIX
    opp_home = (opp_made >> _ONE) & _SIX
    # Number n enters on the closer's point n.
    out_opp = np.float32(1) - ENTER[own_home]
    out_own = np.float32(1) - ENTER[opp_home]
    out[20] = out_opp
    out[21] = out_own
    out[22] = np.float32(min(opp_bar, 3)) * out_opp
    out[23] = np.float32(min(own_bar, 3)) * out_own
    out[24] = np.float32(HOME_BITS[own_home]) / np.float32(6)
    out[25] = np.float32(HOME_BITS[opp_home]) / np.float32(6)
    own_runners = own | (np.uint64(own_bar > 0) << np.uint64(25))
    opp_runners = opp | (np.uint64(opp_bar > 0) << np.uint64(25))
    write_escapes(own_runners, 12, opp_made_seen, out, 26)
    write_escapes(opp_runners, 12, own_made_seen, out, 29)
    # Anchors: points held in the other side's home board.
    own_anchor = (own_made >> np.uint64(19)) & _SIX
    opp_anchor = (opp_made >> np.uint64(19)) & _SIX
    out[32] = np.float32(HOME_BITS[own_anchor]) / np.float32(3)
    out[33] = np.float32(HOME_BITS[opp_anchor]) / np.float32(3)
    # The foremost anchor, 6 for the one on point 19, 0 without any.
    out[34] = _foremost(own_anchor)
    out[35] = _foremost(opp_anchor)
    own_rear = max(highest_bit(own_runners), 0)
    opp_rear = max(highest_bit(opp_runners), 0)
    own_behind, opp_behind = _checkers_behind(board, own_rear, opp_rear)
    own_back = own_bar
    opp_back = opp_bar
    for point in range(19, 25):
        own_back += max(int(board[point]), 0)
        opp_back += max(-int(board[25 - point]), 0)
    out[36] = np.float32(own_back) / np.float32(4)
    out[37] = np.float32(opp_back) / np.float32(4)
    out[38] = np.float32(own_behind) / np.float32(100)
    out[39] = np.float32(opp_behind) / np.float32(100)
    out[40] = np.float32(count_bits(own_blots)) / np.float32(4)
    out[41] = np.float32(count_bits(opp_blots)) / np.float32(4)
    out[42] = np.float32(own_rear) / np.float32(25)
    out[43] = np.float32(opp_rear) / np.float32(25)
    # Nothing borne off yet: the gammon is still open.
    out[44] = np.float32(own_total == 15)
    out[45] = np.float32(opp_total == 15)
    out[46] = _blocks_ahead(own_made, opp_rear)
    out[47] = _blocks_ahead(opp_made, own_rear)
    _write_containment(own_made_seen, out, 48)
    _write_containment(opp_made_seen, out, 49)
    own_pairs, own_numbers = _playable(own, opp_made_seen)
    opp_pairs, opp_numbers = _playable(opp, own_made_seen)
    out[52] = np.float32(own_pairs) / np.float32(20)
    out[53] = np.float32(opp_pairs) / np.float32(20)
    out[58] = np.float32(own_numbers) / np.float32(6)
    out[59] = np.float32(opp_numbers) / np.float32(6)


@kernel
def _foremost(anchors: np.uint64) -> np.float32:
    """The lowest point held of 19..24 as 6..1 divided by 6, 0 without any."""
    if anchors == 0:
        return np.float32(0)
    lowest = highest_bit(anchors & (~anchors + _ONE))
    return np.float32(6 - lowest) / np.float32(6)
