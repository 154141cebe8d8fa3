"""Bear-off databases: indexes, plays inside the home board, their tables, and what they answer.

An arrangement is 0 to 15 checkers of one side on its points 1 to 6. Each has an index by the
combinatorial number system: with s(k) the number of checkers on the k highest points, the
numbers s(k) + k - 1 are strictly increasing and the index is the sum of C(s(k) + k - 1, k).
Two properties follow and carry everything here:

- every step lowers some s(k) and raises none, so a play always leads to a smaller index, and
  tables are filled in index order;
- the total s(6) is the leading digit, so the arrangements of at most n checkers are the first
  C(n + 6, 6) indexes, and those with all 15 are the last 15,504.

Plays are found on a packed arrangement: four bits a point, point 1 lowest. Neither side can
block or hit, so every number of every roll can be played until the last checker is off, and the
duty to play both numbers (2.8 to 2.12 of the rules) never forbids anything.

The one-sided database plays every arrangement so that the expected number of rolls is smallest;
plays within 1e-12 of the smallest count as equal, and then the smallest index is taken. For the
race to the first checker off (which saves the gammon) all 15 checkers are played so that the
expected number of rolls to that first checker is smallest, ties by the rolls for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ARRANGEMENTS",
    "CUBELESS",
    "CUBE_CENTERED",
    "CUBE_OPPONENT",
    "CUBE_ROLLER",
    "ENTRIES",
    "FIRST_FULL",
    "FIRST_OFF",
    "FIRST_WIDTH",
    "HOME_POINTS",
    "MAX_BEAROFF_PLAYS",
    "ROLL_WIDTH",
    "TWO_SIDED_SIZE",
    "BearoffTables",
    "arrangement_index",
    "bearoff_plays",
    "bearoff_race_probabilities",
    "build_one_sided",
    "build_two_sided_row",
    "list_two_sided_plays",
    "nardy_opponent_arrangement",
    "no_bearoff_tables",
    "opponent_arrangement",
    "own_arrangement",
    "pack_arrangement",
    "packed_index",
    "two_sided_equity",
    "two_sided_no_double",
    "unpack_index",
]

HOME_POINTS = 6
ARRANGEMENTS = 54264
"""C(21, 6): at most 15 checkers on 6 points."""
FIRST_FULL = 38760
"""C(20, 6): the first index whose arrangement has all 15 checkers."""
ROLL_WIDTH = 31
"""Rolls 0..30: the worst, 15 checkers on point 6 and 2-1 every time, takes 90 / 3 rolls."""
FIRST_WIDTH = 11
"""Rolls 0..10 to the first of 15 checkers off; more never happens (found by building wider)."""
ENTRIES = 69768
"""Distributions of the one-sided database: `ARRANGEMENTS` for all checkers, then those of the
first checker off, entry `FIRST_OFF + index` for the arrangements from `FIRST_FULL` on."""
FIRST_OFF = ARRANGEMENTS - FIRST_FULL
MAX_BEAROFF_PLAYS = 126
"""Ways to give four equal steps to six points, C(9, 4)."""
TWO_SIDED_SIZE = 924
"""C(12, 6): at most 6 checkers on 6 points."""

CUBELESS = 0
"""Equity without a cube."""
CUBE_CENTERED = 1
"""The cube is centred: both may double."""
CUBE_ROLLER = 2
"""The player who is about to roll owns the cube."""
CUBE_OPPONENT = 3
"""The other player owns the cube."""

_TIE = 1e-12


def _binomials() -> NDArray[np.int64]:
    """C(n, k) for n in 0..21 and k in 0..6."""
    table = np.zeros((22, HOME_POINTS + 1), dtype=np.int64)
    table[:, 0] = 1
    for n in range(1, 22):
        for k in range(1, HOME_POINTS + 1):
            table[n, k] = table[n - 1, k - 1] + table[n - 1, k]
    return table


_BINOMIAL = _binomials()


class BearoffTables(NamedTuple):
    """The databases as arrays for kernels.

    All are read-only, so that the compiled types are the same for a mapped file and for memory.
    A database that is not loaded has arrays of length 0.
    """

    probabilities: NDArray[np.float32]
    """One-sided: the distributions one after the other, each without its near-zero ends."""
    offsets: NDArray[np.int32]
    """[ENTRIES + 1] where each distribution begins in `probabilities`, and the end of the last."""
    starts: NDArray[np.uint8]
    """[ENTRIES] the number of rolls that the first probability of a distribution belongs to."""
    mean_rolls: NDArray[np.float32]
    """[ARRANGEMENTS] expected rolls to bear off all checkers."""
    two_sided: NDArray[np.float32]
    """[roller, opponent, 4] for at most 6 checkers each: equities before the roll, no double
    made in this turn, by cube state (`CUBELESS`...), for a cube of 1."""


def no_bearoff_tables() -> BearoffTables:
    """Tables of the right types with nothing loaded."""
    parts = (
        np.zeros(0, dtype=np.float32),
        np.zeros(0, dtype=np.int32),
        np.zeros(0, dtype=np.uint8),
        np.zeros(0, dtype=np.float32),
        np.zeros((0, 0, 4), dtype=np.float32),
    )
    for part in parts:
        part.setflags(write=False)
    return BearoffTables(*parts)


# --- indexes ---------------------------------------------------------------------------------


@kernel
def arrangement_index(counts: NDArray[np.int8]) -> int:
    """Index of `counts`: int8[6], checkers on points 1..6, read-only, at most 15 in all."""
    total = 0
    index = 0
    for k in range(1, 7):
        total += counts[6 - k]
        index += _BINOMIAL[total + k - 1, k]
    return index


@kernel
def unpack_index(index: int, counts: NDArray[np.int8]) -> None:
    """Write the arrangement of `index` (0..54263) to `counts`: int8[6], points 1..6."""
    above = -1
    for k in range(6, 0, -1):
        digit = k - 1
        while _BINOMIAL[digit + 1, k] <= index:
            digit += 1
        index -= _BINOMIAL[digit, k]
        held = digit - k + 1  # checkers on the k highest points
        if above >= 0:
            counts[5 - k] = above - held
        above = held
    counts[5] = above


@kernel
def pack_arrangement(counts: NDArray[np.int8]) -> int:
    """The packed form of `counts`: int8[6], points 1..6, read-only."""
    packed = 0
    for point in range(6):
        packed |= int(counts[point]) << (4 * point)
    return packed


@kernel
def packed_index(packed: int) -> int:
    """Index of a packed arrangement."""
    total = 0
    index = 0
    for k in range(1, 7):
        total += (packed >> (4 * (6 - k))) & 15
        index += _BINOMIAL[total + k - 1, k]
    return index


@kernel
def own_arrangement(board: NDArray[np.int8]) -> int:
    """Index of the own checkers on `board`, or -1 if one of them is not at home.

    `board` is the reference vector of either game, int8[26], read-only.
    """
    for point in range(7, 26):
        if board[point] > 0:
            return -1
    total = 0
    index = 0
    for k in range(1, 7):
        total += max(board[7 - k], 0)
        index += _BINOMIAL[total + k - 1, k]
    return index


@kernel
def opponent_arrangement(board: NDArray[np.int8]) -> int:
    """Index of the opponent's checkers on a backgammon board, or -1 if not all are at home.

    If both sides are at home there is no contact left. `board`: int8[26], read-only.
    """
    for point in range(19):
        if board[point] < 0:
            return -1
    total = 0
    index = 0
    for k in range(1, 7):
        total += max(-board[18 + k], 0)
        index += _BINOMIAL[total + k - 1, k]
    return index


@kernel
def nardy_opponent_arrangement(board: NDArray[np.int8]) -> int:
    """Index of the opponent's checkers on a Long Nardy board, or -1 if not all are at home.

    The opponent's home is 13..18 in own numbers. `board`: int8[26], read-only.
    """
    for point in range(26):
        if board[point] < 0 and not 13 <= point <= 18:
            return -1
    total = 0
    index = 0
    for k in range(1, 7):
        total += max(-board[19 - k], 0)
        index += _BINOMIAL[total + k - 1, k]
    return index


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


# --- answers ---------------------------------------------------------------------------------


@kernel
def _chance_earlier(entry: int, other: int, lead: int, tables: BearoffTables) -> float:
    """Chance that distribution `entry` takes fewer than `lead` rolls more than `other`.

    The sum over the rolls n of `other` of P(n) P(entry <= n + lead - 1): no differences, so what
    is impossible is exactly 0.
    """
    first = tables.offsets[entry]
    number = tables.offsets[entry + 1] - first
    start = int(tables.starts[entry])
    other_first = tables.offsets[other]
    other_start = int(tables.starts[other])
    total = 0.0
    so_far = 0.0  # float64, also in plain Python, where numpy would stay with float32
    used = 0
    for k in range(tables.offsets[other + 1] - other_first):
        while used < number and start + used <= other_start + k + lead - 1:
            so_far += float(tables.probabilities[first + used])
            used += 1
        total += float(tables.probabilities[other_first + k]) * so_far
    return min(total, 1.0)


@kernel
def bearoff_race_probabilities(
    own: int, opponent: int, tables: BearoffTables, out: NDArray[np.float32]
) -> None:
    """The five probabilities of the player who has just moved; the opponent rolls next.

    Exact for two players who each play their own side as if alone (module docstring): real
    players may deviate when the race is close, which the two-sided table knows; if it is loaded
    and holds the pair, P(win) comes from it and is exact without that reservation. Gammons
    exist while the loser still has all 15 checkers, backgammons never, since all are at home.

    Args:
        own: Index of the mover's arrangement; 0 if the mover has just won.
        opponent: Index of the opponent's arrangement, at least 1.
        tables: With the one-sided database loaded.
        out: float32[5], written: P(win), P(win gammon), 0, P(lose gammon), 0.
    """
    if own < tables.two_sided.shape[0] and opponent < tables.two_sided.shape[0]:
        win = 0.5 - 0.5 * float(tables.two_sided[opponent, own, CUBELESS])
    else:
        # The opponent's n-th roll comes before the mover's: the mover must need fewer rolls.
        win = _chance_earlier(own, opponent, 0, tables)
    win_gammon = 0.0
    lose_gammon = 0.0
    if opponent >= FIRST_FULL:
        win_gammon = min(_chance_earlier(own, FIRST_OFF + opponent, 0, tables), win)
    if own >= FIRST_FULL:
        # Before the opponent's n-th roll the mover has had n - 1: as many as needed is too late.
        lose_gammon = _chance_earlier(opponent, FIRST_OFF + own, 1, tables)
        lose_gammon = min(lose_gammon, 1.0 - win)
    out[0] = win
    out[1] = win_gammon
    out[2] = 0.0
    out[3] = lose_gammon
    out[4] = 0.0


@kernel
def two_sided_no_double(roller: int, opponent: int, cube: int, tables: BearoffTables) -> float:
    """Equity of the player about to roll who does not double in this turn, for a cube of 1.

    Both indexes below `tables.two_sided.shape[0]`; `cube`: `CUBELESS`, `CUBE_CENTERED`...
    Doubled and taken, the equity is twice that of `CUBE_OPPONENT`; passed, it is 1.
    """
    return tables.two_sided[roller, opponent, cube]


@kernel
def two_sided_equity(roller: int, opponent: int, cube: int, tables: BearoffTables) -> float:
    """Equity of the player about to roll with the best cube actions of both, for a cube of 1."""
    equity = tables.two_sided[roller, opponent, cube]
    if cube == CUBE_CENTERED or cube == CUBE_ROLLER:
        doubled = 2.0 * tables.two_sided[roller, opponent, CUBE_OPPONENT]
        equity = max(equity, min(1.0, doubled))
    return equity
