"""Bear-off plays, and the kernels that fill the bear-off databases with them.

Plays are found on a packed arrangement: four bits a point, point 1 lowest. Neither side can
block or hit, so every number of every roll can be played until the last checker is off, and the
duty to play both numbers (2.8 to 2.12 of the rules) never forbids anything.

The one-sided database plays every arrangement so that the expected number of rolls is smallest;
plays within 1e-12 of the smallest count as equal, and then the smallest index is taken. For the
race to the first checker off (which saves the gammon) all 15 checkers are played so that the
expected number of rolls to that first checker is smallest, ties by the rolls for all of them.
The two-sided database plays for the equity of each cube state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.bearoff import (
    CUBE_CENTERED,
    CUBE_OPPONENT,
    CUBE_ROLLER,
    CUBELESS,
    FIRST_FULL,
    TWO_SIDED_SIZE,
    pack_arrangement,
    packed_index,
    unpack_index,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "FIRST_WIDTH",
    "MAX_BEAROFF_PLAYS",
    "ROLL_WIDTH",
    "bearoff_plays",
    "build_one_sided",
    "build_two_sided_row",
    "list_two_sided_plays",
]

MAX_BEAROFF_PLAYS = 126
"""Ways to give four equal steps to six points, C(9, 4)."""
ROLL_WIDTH = 31
"""Rolls 0..30: the worst, 15 checkers on point 6 and 2-1 every time, takes 90 / 3 rolls."""
FIRST_WIDTH = 11
"""Rolls 0..10 to the first of 15 checkers off; more never happens (found by building wider)."""

_TIE = 1e-12


# --- plays -----------------------------------------------------------------------------------


@kernel
def _step(packed: int, point: int, die: int) -> int:
    """The packed arrangement after one step from `point` (1..6), -1 if it is not legal (2.21)."""
    shift = 4 * (point - 1)
    if (packed >> shift) & 15 == 0:
        return -1
    if die > point and packed >> (shift + 4) != 0:
        return -1
    packed -= 1 << shift
    if die < point:
        packed += 1 << (shift - 4 * die)
    return packed


@kernel
def _add_once(plays: NDArray[np.int64], count: int, packed: int) -> int:
    """Append `packed` to the first `count` of `plays` if it is new; the new count."""
    for k in range(count):
        if plays[k] == packed:
            return count
    plays[count] = packed
    return count + 1


@kernel
def bearoff_plays(packed: int, first: int, second: int, buffers: NDArray[np.int64]) -> int:
    """All distinct results of one roll for a packed arrangement that is not empty.

    Args:
        packed: The arrangement before the roll.
        first: One die.
        second: The other die.
        buffers: int64[2, MAX_BEAROFF_PLAYS], scratch; row 0 receives the packed results.

    Returns:
        The number of results, at least 1.
    """
    plays = buffers[0]
    if first == second:
        return _double_plays(packed, first, plays, buffers[1])
    count = 0
    for order in range(2):
        die = first if order == 0 else second
        other = second if order == 0 else first
        for point in range(6, 0, -1):
            middle = _step(packed, point, die)
            if middle < 0:
                continue
            if middle == 0:
                count = _add_once(plays, count, 0)
                continue
            for source in range(6, 0, -1):
                after = _step(middle, source, other)
                if after >= 0:
                    count = _add_once(plays, count, after)
    return count


@kernel
def _double_plays(
    packed: int, die: int, plays: NDArray[np.int64], scratch: NDArray[np.int64]
) -> int:
    """All results of a double, written to `plays`; the number of results.

    Equal steps commute, so only sequences by descending source are followed. The source of the
    last step rides above the 24 bits of the arrangement (stored less 1, so that it fits 3 bits).
    """
    scratch[0] = packed | 5 << 24
    count = 1
    for _ in range(4):
        reached = 0
        for k in range(count):
            state = scratch[k] & 0xFFFFFF
            if state == 0:
                reached = _add_once(plays, reached, 0)
                continue
            for point in range(int(scratch[k] >> 24) + 1, 0, -1):
                after = _step(state, point, die)
                if after == 0:
                    reached = _add_once(plays, reached, 0)
                elif after > 0:
                    plays[reached] = after | (point - 1) << 24
                    reached += 1
        count = reached
        for k in range(count):
            scratch[k] = plays[k]
    final = 0
    for k in range(count):
        final = _add_once(plays, final, scratch[k] & 0xFFFFFF)
    return final


# --- building --------------------------------------------------------------------------------


@kernel
def build_one_sided(
    begin: int,
    end: int,
    rolls: NDArray[np.float64],
    mean_rolls: NDArray[np.float64],
    first_off: NDArray[np.float64],
    first_mean: NDArray[np.float64],
    buffers: NDArray[np.int64],
) -> None:
    """Fill the one-sided tables for indexes `begin` to `end` - 1; all lower ones are filled.

    Args:
        begin: First index, at least 1 (index 0, nothing left, is the caller's: 0 rolls).
        end: One past the last index.
        rolls: float64[ARRANGEMENTS, ROLL_WIDTH], written: chance of each number of rolls.
        mean_rolls: float64[ARRANGEMENTS], written.
        first_off: float64[FIRST_OFF, FIRST_WIDTH], written, from `FIRST_FULL` on.
        first_mean: float64[FIRST_OFF], written, the expected rolls to the first checker off.
        buffers: int64[2, MAX_BEAROFF_PLAYS], scratch.
    """
    counts = np.empty(6, dtype=np.int8)
    for index in range(begin, end):
        unpack_index(index, counts)
        packed = pack_arrangement(counts)
        full = index - FIRST_FULL
        mean = 0.0
        gammon_mean = 0.0
        for first in range(1, 7):
            for second in range(1, first + 1):
                weight = (1.0 if first == second else 2.0) / 36.0
                number = bearoff_plays(packed, first, second, buffers)
                best = -1
                best_first = -1
                for k in range(number):
                    after = packed_index(buffers[0, k])
                    if _is_better(after, best, mean_rolls):
                        best = after
                    if full >= 0 and _is_better_for_first(
                        after, best_first, mean_rolls, first_mean
                    ):
                        best_first = after
                mean += weight * mean_rolls[best]
                for k in range(1, ROLL_WIDTH):
                    rolls[index, k] += weight * rolls[best, k - 1]
                if full >= 0:
                    if best_first < FIRST_FULL:
                        first_off[full, 1] += weight
                    else:
                        gammon_mean += weight * first_mean[best_first - FIRST_FULL]
                        for k in range(1, FIRST_WIDTH):
                            first_off[full, k] += weight * first_off[best_first - FIRST_FULL, k - 1]
        mean_rolls[index] = 1.0 + mean
        if full >= 0:
            first_mean[full] = 1.0 + gammon_mean


@kernel
def _is_better(after: int, best: int, mean_rolls: NDArray[np.float64]) -> bool:
    """True if `after` is preferred to `best` (-1: none yet) for the fewest expected rolls."""
    if best < 0:
        return True
    gain = mean_rolls[best] - mean_rolls[after]
    return gain > _TIE or (gain >= -_TIE and after < best)


@kernel
def _is_better_for_first(
    after: int, best: int, mean_rolls: NDArray[np.float64], first_mean: NDArray[np.float64]
) -> bool:
    """True if `after` is preferred to `best` (-1: none yet) for a quick first checker off."""
    if best < 0:
        return True
    after_first = first_mean[after - FIRST_FULL] if after >= FIRST_FULL else 0.0
    best_first = first_mean[best - FIRST_FULL] if best >= FIRST_FULL else 0.0
    gain = best_first - after_first
    return gain > _TIE or (gain >= -_TIE and _is_better(after, best, mean_rolls))


@kernel
def list_two_sided_plays(
    starts: NDArray[np.int32], targets: NDArray[np.int16], buffers: NDArray[np.int64]
) -> int:
    """List the results of each of the 21 rolls for each arrangement of 1 to 6 checkers.

    Args:
        starts: int32[TWO_SIDED_SIZE * 21 + 1], written: where the results of arrangement a and
            roll r (high die first: 11, 21, 22, 31...) begin in `targets`: entry 21 * a + r.
        targets: int16[n], written: indexes of the results. Pass length 0 to count only.
        buffers: int64[2, MAX_BEAROFF_PLAYS], scratch.

    Returns:
        The number of results in all.
    """
    counts = np.empty(6, dtype=np.int8)
    total = 0
    for index in range(TWO_SIDED_SIZE):
        unpack_index(index, counts)
        packed = pack_arrangement(counts)
        roll = 0
        for first in range(1, 7):
            for second in range(1, first + 1):
                starts[21 * index + roll] = total
                roll += 1
                if index == 0:
                    continue
                number = bearoff_plays(packed, first, second, buffers)
                for k in range(number):
                    if total < targets.shape[0]:
                        targets[total] = packed_index(buffers[0, k])
                    total += 1
    starts[21 * TWO_SIDED_SIZE] = total
    return total


@kernel
def build_two_sided_row(
    larger: int,
    starts: NDArray[np.int32],
    targets: NDArray[np.int16],
    equities: NDArray[np.float64],
) -> None:
    """Fill all pairs whose larger index is `larger`; those with a smaller one are filled.

    Args:
        larger: 1..TWO_SIDED_SIZE - 1.
        starts: From `list_two_sided_plays`.
        targets: From `list_two_sided_plays`.
        equities: float64[TWO_SIDED_SIZE, TWO_SIDED_SIZE, 4], written, in the layout of
            `BearoffTables.two_sided`. Pairs with index 0 are the caller's: +1 where the roller
            is off, -1 where the opponent is.
    """
    for smaller in range(1, larger):
        _solve_pair(larger, smaller, starts, targets, equities)
    # The smaller side's successors with the roles exchanged are the pairs just filled.
    for smaller in range(1, larger + 1):
        _solve_pair(smaller, larger, starts, targets, equities)


@kernel
def _solve_pair(
    roller: int,
    opponent: int,
    starts: NDArray[np.int32],
    targets: NDArray[np.int16],
    equities: NDArray[np.float64],
) -> None:
    cubeless = 0.0
    centered = 0.0
    owned = 0.0
    opposed = 0.0
    roll = 0
    for first in range(1, 7):
        for second in range(1, first + 1):
            weight = 1.0 if first == second else 2.0
            begin = starts[21 * roller + roll]
            end = starts[21 * roller + roll + 1]
            roll += 1
            best_cubeless = -9.0
            best_centered = -9.0
            best_owned = -9.0
            best_opposed = -9.0
            for k in range(begin, end):
                reply = equities[opponent, targets[k]]
                # After the play the opponent is the roller: a cube that I own is one that his
                # opponent owns, and where he may double he does so if it gains.
                doubled = min(1.0, 2.0 * reply[CUBE_OPPONENT])
                best_cubeless = max(best_cubeless, -reply[CUBELESS])
                best_centered = max(best_centered, -max(reply[CUBE_CENTERED], doubled))
                best_owned = max(best_owned, -reply[CUBE_OPPONENT])
                best_opposed = max(best_opposed, -max(reply[CUBE_ROLLER], doubled))
            cubeless += weight * best_cubeless
            centered += weight * best_centered
            owned += weight * best_owned
            opposed += weight * best_opposed
    equities[roller, opponent, CUBELESS] = cubeless / 36.0
    equities[roller, opponent, CUBE_CENTERED] = centered / 36.0
    equities[roller, opponent, CUBE_ROLLER] = owned / 36.0
    equities[roller, opponent, CUBE_OPPONENT] = opposed / 36.0
