"""What the networks see of a position: sparse piece counts and dense expert features.

All features are of a board after a play, seen by the player who has just moved ("own"); the
opponent rolls next. Sparse units say how many checkers stand on each point of each side.
Dense features are facts of the game that a small network finds hard to compute: shots as exact
counts of rolls, escapes, primes, bar entry, timing, stacking. They are computed from bit masks of
points (bit p = point p of one side's own numbering) and tables over masks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.moves import BACKGAMMON, LONG_NARDY, highest_bit

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "CLASS_CONTACT",
    "CLASS_NAMES",
    "CLASS_RACE",
    "N_CLASSES",
    "N_DENSE",
    "N_UNITS",
    "UNITS_PER_POINT",
    "UNIT_VALUES",
    "dense_features",
    "position_class",
]

UNITS_PER_POINT = 4
N_UNITS = 2 * 26 * UNITS_PER_POINT
"""Sparse units: side (own, opponent), index 0..25 in that side's numbering (25 = bar), unit."""

N_DENSE = 48
"""Length of the dense feature vector of either game."""

CLASS_CONTACT = 0
CLASS_RACE = 1
N_CLASSES = 2
CLASS_NAMES = ("contact", "race")

_ONE = np.uint64(1)
_POINTS = np.uint64(0x1FFFFFE)  # bits 1..24
_HOME = np.uint64(0x7E)  # bits 1..6
_BAR_BIT = np.uint64(1 << 25)


def _unit_values() -> NDArray[np.float32]:
    """Values of the four units of a point by game and number of checkers, float32[2, 16, 4]."""
    values = np.zeros((2, 16, UNITS_PER_POINT), dtype=np.float32)
    for count in range(1, 16):
        values[BACKGAMMON, count] = (
            count == 1,
            count >= 2,
            count >= 3,
            max(0, count - 3) / 2,
        )
        values[LONG_NARDY, count] = (
            count >= 1,
            count >= 2,
            count >= 3,
            max(0, count - 3) / 4,
        )
    return values


UNIT_VALUES = _unit_values()


def _escape_table() -> NDArray[np.float32]:
    """Rolls of 36 that take a checker past a block, by mask of blocked distances 1..12.

    Bit d-1 of the index means that the point at distance d is blocked. A roll escapes if the
    checker can move at least 7 pips with it, or past the farthest blocked point if that is
    nearer; every landing must be open.
    """
    table = np.zeros(4096, dtype=np.float32)
    for mask in range(4096):
        goal = min(mask.bit_length() + 1, 7)
        rolls = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                weight = 1 if high == low else 2
                if high == low:
                    paths = [[high] * 4]
                else:
                    paths = [[high, low], [low, high]]
                best = 0
                for path in paths:
                    distance = 0
                    for die in path:
                        distance += die
                        if distance <= 12 and mask >> (distance - 1) & 1:
                            break
                        best = max(best, distance)
                if best >= goal:
                    rolls += weight
        table[mask] = rolls / 36
    return table


def _enter_table() -> NDArray[np.float32]:
    """Chance that one checker enters, by mask of closed home points (bit n-1 = number n)."""
    table = np.zeros(64, dtype=np.float32)
    for mask in range(64):
        closed = mask.bit_count()
        table[mask] = (36 - closed * closed) / 36
    return table


def _bit_counts() -> NDArray[np.int64]:
    return np.array([mask.bit_count() for mask in range(4096)], dtype=np.int64)


_ESCAPES = _escape_table()
_ENTER = _enter_table()
_BITS = _bit_counts()


@kernel
def position_class(board: NDArray[np.int8], variant: int) -> int:
    """Class of a running game's board: `CLASS_CONTACT` or `CLASS_RACE`.

    Race means that no checker of either side still has to pass an opposing one.
    """
    if variant == BACKGAMMON:
        if board[25] > 0 or board[0] < 0:
            return CLASS_CONTACT
        own_back = 24
        while own_back > 0 and board[own_back] <= 0:
            own_back -= 1
        for point in range(1, own_back):
            if board[point] < 0:
                return CLASS_CONTACT
        return CLASS_RACE
    own_back = 24
    while own_back > 0 and board[own_back] <= 0:
        own_back -= 1
    for point in range(1, own_back):
        if board[point] < 0:
            return CLASS_CONTACT
    opponent_back = 24
    while opponent_back > 0:
        own = opponent_back + 12 if opponent_back <= 12 else opponent_back - 12
        if board[own] < 0:
            break
        opponent_back -= 1
    for number in range(1, opponent_back):
        own = number + 12 if number <= 12 else number - 12
        if board[own] > 0:
            return CLASS_CONTACT
    return CLASS_RACE


@kernel
def _popcount24(mask: np.uint64) -> int:
    shifted = mask >> _ONE
    low = _BITS[shifted & np.uint64(0xFFF)]
    high = _BITS[(shifted >> np.uint64(12)) & np.uint64(0xFFF)]
    return int(low + high)


@kernel
def _reverse24(mask: np.uint64) -> np.uint64:
    """Bit p moves to bit 25 - p, for p in 1..24."""
    bits = mask >> _ONE
    bits = ((bits >> np.uint64(1)) & np.uint64(0x555555)) | (
        (bits & np.uint64(0x555555)) << np.uint64(1)
    )
    bits = ((bits >> np.uint64(2)) & np.uint64(0x333333)) | (
        (bits & np.uint64(0x333333)) << np.uint64(2)
    )
    bits = ((bits >> np.uint64(4)) & np.uint64(0x0F0F0F)) | (
        (bits & np.uint64(0x0F0F0F)) << np.uint64(4)
    )
    bits = (
        ((bits >> np.uint64(16)) & np.uint64(0xFF))
        | (bits & np.uint64(0xFF00))
        | ((bits & np.uint64(0xFF)) << np.uint64(16))
    )
    return bits << _ONE


@kernel
def _hits_from_bar(
    movers: np.uint64, bar: int, free: np.uint64, blots: np.uint64, high: int, low: int
) -> np.uint64:
    """Blots that a roll hits while checkers must enter; masks as in `_shots`."""
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
def _shots(
    movers: np.uint64,
    bar: int,
    blocked: np.uint64,
    blots: np.uint64,
    out: NDArray[np.float32],
    at: int,
) -> None:
    """Exact hitting rolls of the side to roll against the other side's blots.

    All masks are in the hitter's numbering. Written: out[at] the share of 36 rolls that hit,
    out[at + 1] the share that hit two blots or more, out[at + 2] the mean over all rolls of the
    owner's number, divided by 24, of the rearmost blot that is hit (0 where none is).

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
    any_rolls = 0
    two_rolls = 0
    rear = 0
    free = _POINTS & ~blocked
    for high in range(1, 7):
        for low in range(1, high + 1):
            if bar > 0:
                hits = _hits_from_bar(movers, bar, free, blots, high, low)
            elif high == low:
                a = np.uint64(high)
                first = (movers >> a) & free
                second = (first >> a) & free
                third = (second >> a) & free
                hits = (first | second | third | (third >> a)) & blots
            else:
                a = np.uint64(high)
                b = np.uint64(low)
                by_a = (movers >> a) & free
                by_b = (movers >> b) & free
                hits = (by_a | by_b | (by_a >> b) | (by_b >> a)) & blots
            if hits:
                weight = 1 if high == low else 2
                any_rolls += weight
                if hits & (hits - _ONE):
                    two_rolls += weight
                rear += weight * (25 - highest_bit(hits & (~hits + _ONE)))
    out[at] = any_rolls / 36.0
    out[at + 1] = two_rolls / 36.0
    out[at + 2] = rear / (36.0 * 24.0)


@kernel
def _escape_features(
    checkers: np.uint64, back_limit: int, blocked: np.uint64, out: NDArray[np.float32], at: int
) -> None:
    """How well the rear checkers get past the other side's block.

    Masks in the runner's own numbering. Written: out[at] the escape chance of the rearmost
    checker, out[at + 1] the mean over occupied points behind or in the block, out[at + 2] the
    largest number of blocked points among any six in a row ahead of the rearmost.

    Args:
        checkers: Points with the runner's checkers (bit 25 for the bar).
        back_limit: Points above this number count as rear.
        blocked: Points blocked for the runner.
        out: float32 vector.
        at: First index to write.
    """
    out[at] = 1
    out[at + 1] = 1
    out[at + 2] = 0
    if checkers == 0:
        return
    rear = highest_bit(checkers)
    total = 0.0
    count = 0
    point = rear
    ahead = _reverse24(blocked)  # bit q = point 25 - q, so that the nearest points come first
    while point > back_limit:
        if (checkers >> np.uint64(point)) & _ONE:
            # Distances 1..12 ahead as bits 0..11.
            mask = (ahead >> np.uint64(26 - point)) & np.uint64(0xFFF)
            chance = _ESCAPES[mask]
            if point == rear:
                out[at] = chance
            total += chance
            count += 1
        point -= 1
    if count > 0:
        out[at + 1] = total / count
    most = 0
    front = rear - 1
    while front >= 6:
        window = (blocked >> np.uint64(front - 5)) & np.uint64(0x3F)
        most = max(most, _BITS[window])
        front -= 1
    out[at + 2] = most / 6.0


@kernel
def _home_shape(
    board: NDArray[np.int8], sign: int, reverse: bool, out: NDArray[np.float32], at: int
) -> tuple[int, int]:
    """Distribution features of one side: pips, stacking, wastage, timing (six values)."""
    pips = 0
    outside = 0
    stacked = 0
    deep = 0
    spread = 0.0
    total = 0
    for point in range(1, 26):
        index = 25 - point if reverse else point
        count = sign * board[index]
        if count <= 0:
            continue
        total += count
        pips += point * count
        if count > 3:
            stacked += count - 3
        if point <= 2:
            deep += count
        if 6 < point <= 18:
            outside += (point - 6) * count
        spread += count * count
    out[at] = pips / 100.0
    out[at + 1] = outside / 60.0
    out[at + 2] = stacked / 6.0
    out[at + 3] = deep / 6.0
    out[at + 4] = spread / 60.0
    out[at + 5] = (15 - total) / 10.0
    return pips, total


@kernel
def _dense_backgammon(board: NDArray[np.int8], out: NDArray[np.float32]) -> None:
    own = np.uint64(0)
    own_made = np.uint64(0)
    opp = np.uint64(0)  # in the opponent's numbering
    opp_made = np.uint64(0)
    for point in range(1, 25):
        count = board[point]
        if count > 0:
            bit = _ONE << np.uint64(point)
            own |= bit
            if count > 1:
                own_made |= bit
        elif count < 0:
            bit = _ONE << np.uint64(25 - point)
            opp |= bit
            if count < -1:
                opp_made |= bit
    own_bar = board[25]
    opp_bar = -board[0]
    own_blots = own & ~own_made
    opp_blots = opp & ~opp_made
    own_made_seen = _reverse24(own_made)  # in the opponent's numbering
    opp_made_seen = _reverse24(opp_made)  # in the own numbering
    own_pips, own_total = _home_shape(board, 1, False, out, 0)
    opp_pips, opp_total = _home_shape(board, -1, True, out, 6)
    difference = (opp_pips - own_pips) / 50.0
    out[12] = max(-2.0, min(2.0, difference))
    out[13] = (opp_pips - own_pips + 4) / (np.sqrt(np.float32(own_pips + opp_pips)) * 2.0 + 1.0)
    # Shots: the opponent rolls next; the own shots are those of the roll after.
    _shots(opp, opp_bar, own_made_seen, _reverse24(own_blots), out, 14)
    _shots(own, own_bar, opp_made_seen, _reverse24(opp_blots), out, 17)
    own_home = (own_made & _HOME) >> _ONE
    opp_home = (opp_made & _HOME) >> _ONE
    # Number n enters on the closer's point n.
    enter_opp = _ENTER[own_home]
    enter_own = _ENTER[opp_home]
    out[20] = 1 - enter_opp
    out[21] = 1 - enter_own
    out[22] = min(opp_bar, 3) * (1 - enter_opp)
    out[23] = min(own_bar, 3) * (1 - enter_own)
    out[24] = _BITS[own_home] / 6.0
    out[25] = _BITS[opp_home] / 6.0
    bar_bit = np.uint64(1 << 25)
    own_runners = own | bar_bit if own_bar > 0 else own
    opp_runners = opp | bar_bit if opp_bar > 0 else opp
    _escape_features(own_runners, 12, opp_made_seen, out, 26)
    _escape_features(opp_runners, 12, own_made_seen, out, 29)
    # Anchors: points held in the other side's home board.
    own_anchor = (own_made >> np.uint64(19)) & np.uint64(0x3F)
    opp_anchor = (opp_made >> np.uint64(19)) & np.uint64(0x3F)
    out[32] = _BITS[own_anchor] / 3.0
    out[33] = _BITS[opp_anchor] / 3.0
    own_front = 0
    opp_front = 0
    for step in range(6):
        if own_front == 0 and (own_anchor >> np.uint64(step)) & _ONE:
            own_front = 6 - step
        if opp_front == 0 and (opp_anchor >> np.uint64(step)) & _ONE:
            opp_front = 6 - step
    out[34] = own_front / 6.0
    out[35] = opp_front / 6.0
    # Checkers still behind the other side's rearmost checker, and their pips to get past.
    own_back = 0
    opp_back = 0
    own_rear = highest_bit(own_runners) if own_runners else 0
    opp_rear = highest_bit(opp_runners) if opp_runners else 0
    own_behind = 0
    opp_behind = 0
    for point in range(1, 26):
        count = board[point]
        if count > 0:
            if point >= 19:
                own_back += count
            if point > 25 - opp_rear:
                own_behind += count * (point - (25 - opp_rear))
        other = -board[25 - point]
        if other > 0:
            if point >= 19:
                opp_back += other
            if point > 25 - own_rear:
                opp_behind += other * (point - (25 - own_rear))
    out[36] = own_back / 4.0
    out[37] = opp_back / 4.0
    out[38] = own_behind / 100.0
    out[39] = opp_behind / 100.0
    out[40] = _popcount24(own_blots) / 4.0
    out[41] = _popcount24(opp_blots) / 4.0
    out[42] = own_rear / 25.0
    out[43] = opp_rear / 25.0
    # Nothing borne off yet: the gammon is still open.
    out[44] = 1.0 if own_total == 15 else 0.0
    out[45] = 1.0 if opp_total == 15 else 0.0
    out[46] = _blocks_ahead(own_made, opp_rear)
    out[47] = _blocks_ahead(opp_made, own_rear)


@kernel
def _blocks_ahead(made: np.uint64, runner: int) -> float:
    """Longest run of made points in front of the other side's rearmost checker, divided by 6.

    Args:
        made: Made points in the blocker's numbering.
        runner: Number of the rearmost checker in the runner's numbering; the points in front of
            it are those above 25 - runner in the blocker's.
    """
    first = np.uint64(max(1, 26 - runner))
    return _longest_run((made >> first) << first) / 6.0


@kernel
def _longest_run(mask: np.uint64) -> int:
    """Length of the longest run of set bits."""
    run = 0
    while mask:
        mask &= mask >> _ONE
        run += 1
    return run


@kernel
def _nardy_side(
    board: NDArray[np.int8], sign: int, turned: bool, out: NDArray[np.float32], at: int
) -> int:
    """Eighteen features of one side in Long Nardy, in its own numbering."""
    own = np.uint64(0)
    other = np.uint64(0)
    pips = 0
    total = 0
    stacked = 0
    spread = 0.0
    quarter0 = quarter1 = quarter2 = quarter3 = 0
    head = 0
    deep = 0
    for point in range(1, 25):
        index = point
        if turned:
            index = point + 12 if point <= 12 else point - 12
        count = sign * board[index]
        if count > 0:
            own |= _ONE << np.uint64(point)
            pips += point * count
            total += count
            spread += count * count
            if count > 3:
                stacked += count - 3
            if point <= 6:
                quarter0 += count
                if point <= 2:
                    deep += count
            elif point <= 12:
                quarter1 += count
            elif point <= 18:
                quarter2 += count
            else:
                quarter3 += count
            if point == 24:
                head = count
        elif count < 0:
            other |= _ONE << np.uint64(point)
    out[at] = pips / 150.0
    out[at + 1] = (15 - total) / 10.0
    out[at + 2] = head / 8.0
    out[at + 3] = quarter0 / 8.0
    out[at + 4] = quarter1 / 8.0
    out[at + 5] = quarter2 / 8.0
    out[at + 6] = quarter3 / 8.0
    out[at + 7] = stacked / 8.0
    out[at + 8] = spread / 80.0
    out[at + 9] = deep / 6.0
    _escape_features(own, 6, other, out, at + 10)
    # Mobility: over the six numbers, the share of occupied points that can move it.
    free = _POINTS & ~other
    steps = 0
    blocked_numbers = 0
    for die in range(1, 7):
        sources = own & ((free << np.uint64(die)) & _POINTS)
        moves = _popcount24(sources)
        steps += min(moves, 4)
        if moves == 0:
            blocked_numbers += 1
    out[at + 13] = steps / 24.0
    out[at + 14] = blocked_numbers / 6.0
    out[at + 15] = 1.0 if total == 15 else 0.0
    out[at + 16] = _longest_run(own) / 6.0
    out[at + 17] = _popcount24(own) / 10.0
    return pips


@kernel
def _dense_nardy(board: NDArray[np.int8], out: NDArray[np.float32]) -> None:
    own_pips = _nardy_side(board, 1, False, out, 0)
    opp_pips = _nardy_side(board, -1, True, out, 18)
    difference = (opp_pips - own_pips) / 50.0
    out[36] = max(-3.0, min(3.0, difference))
    out[37] = (opp_pips - own_pips + 4) / (np.sqrt(np.float32(own_pips + opp_pips)) * 2.0 + 1.0)
    # Who stands on which quarter of the other's path decides who blocks whom.
    own_ahead = 0
    opp_ahead = 0
    own_seen = 0
    opp_seen = 0
    for point in range(1, 25):
        count = board[point]
        if count < 0:
            opp_seen -= count
        elif count > 0:
            own_ahead += count * opp_seen
    for number in range(1, 25):
        index = number + 12 if number <= 12 else number - 12
        count = -board[index]
        if count < 0:
            own_seen -= count
        elif count > 0:
            opp_ahead += count * own_seen
    out[38] = own_ahead / 100.0
    out[39] = opp_ahead / 100.0
    for index in range(40, N_DENSE):
        out[index] = 0


@kernel
def dense_features(board: NDArray[np.int8], variant: int, out: NDArray[np.float32]) -> None:
    """Write the dense features of a board after a play, seen by the player who made it.

    Args:
        board: int8[26], read only.
        variant: The game.
        out: float32[N_DENSE], written; values are roughly within -3..3.
    """
    if variant == BACKGAMMON:
        _dense_backgammon(board, out)
    else:
        _dense_nardy(board, out)
