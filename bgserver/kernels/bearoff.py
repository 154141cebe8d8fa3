"""Bear-off databases: the indexes of arrangements, the tables and what they answer.

An arrangement is 0 to 15 checkers of one side on its points 1 to 6. Each has an index by the
combinatorial number system: with s(k) the number of checkers on the k highest points, the
numbers s(k) + k - 1 are strictly increasing and the index is the sum of C(s(k) + k - 1, k).
Two properties follow and carry everything here:

- every step lowers some s(k) and raises none, so a play always leads to a smaller index, and
  tables are filled in index order;
- the total s(6) is the leading digit, so the arrangements of at most n checkers are the first
  C(n + 6, 6) indexes, and those with all 15 are the last 15,504.

`bgserver.kernels.bearoff_build` fills the tables and says which plays they assume.
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
    "HOME_POINTS",
    "TWO_SIDED_SIZE",
    "BearoffTables",
    "arrangement_index",
    "bearoff_race_probabilities",
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
ENTRIES = 69768
"""Distributions of the one-sided database: `ARRANGEMENTS` for all checkers, then those of the
first checker off, entry `FIRST_OFF + index` for the arrangements from `FIRST_FULL` on."""
FIRST_OFF = ARRANGEMENTS - FIRST_FULL
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
    return float(tables.two_sided[roller, opponent, cube])


@kernel
def two_sided_equity(roller: int, opponent: int, cube: int, tables: BearoffTables) -> float:
    """Equity of the player about to roll with the best cube actions of both, for a cube of 1."""
    equity = float(tables.two_sided[roller, opponent, cube])
    if cube == CUBE_CENTERED or cube == CUBE_ROLLER:
        doubled = 2.0 * float(tables.two_sided[roller, opponent, CUBE_OPPONENT])
        equity = max(equity, min(1.0, doubled))
    return equity
