"""Play generation for backgammon and Long Nardy.

One depth-first search over the dice serves both games. The games differ in which points are
open, in the bar and hits (backgammon), and in the head and prime rules (Long Nardy). A board is
the reference vector of `rules.md` 1.4: int8[26], seen by the mover.

Sources of a step are found with bit masks, bit p standing for point p (25 = the own bar): a
source is legal for die d if bit p-d of the open points is set, so one shift tests all points.

Duplicates: with two different dice the same board can be reached in several ways, so results
pass through a hash set of 64-bit keys. The key is a sum of random odd constants, one for each
checker on each point, so a step changes it by two additions. With a double, steps of one size
commute: any legal sequence stays legal when it is sorted by descending source (blocked points
never change within a turn, a higher checker never depends on a lower one), and a board
determines its sorted sequence, so sorted sequences give each result exactly once without a set.
The exception is Long Nardy's prime rule, which is tested after every step and may forbid one
order and allow another; if it ever forbids a step, the roll is searched again in all orders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.bits import highest_bit

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "BACKGAMMON",
    "LONG_NARDY",
    "MAX_PLAYS",
    "PlayBuffers",
    "apply_step",
    "breaks_prime_rule",
    "generate_plays",
    "head_allowance",
    "legal_sources",
    "make_play_buffers",
    "open_points",
    "own_points",
    "prime_limit",
    "turn_board",
]

BACKGAMMON = 0
LONG_NARDY = 1

MAX_PLAYS = 3060
"""Most distinct results of one roll: ways to share four steps among 15 checkers, C(18, 4)."""

BAR = 25
HEAD = 24
_HOME_MASK = np.uint64(0b1111110)
_SLOTS = 8192  # over twice the states of one roll, so that probing stays short
_SLOT_SHIFT = np.uint64(64 - 13)
_ONE = np.uint64(1)


def _random_odd_keys(count: int, seed: int) -> NDArray[np.uint64]:
    """Fixed odd 64-bit constants (splitmix64), the same in every process."""
    mask = (1 << 64) - 1
    keys = np.zeros(count, dtype=np.uint64)
    state = seed
    for index in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        mixed = state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        keys[index] = (mixed ^ (mixed >> 31)) | 1
    return keys


_OWN_KEYS = _random_odd_keys(26, 1)
_HIT_KEYS = _random_odd_keys(26, 2)


class PlayBuffers(NamedTuple):
    """Memory of the play generator; the caller owns one set for each thread and nesting level."""

    boards: NDArray[np.int8]
    """[MAX_PLAYS, 26], written: the boards after each play, still seen by the mover."""
    steps: NDArray[np.int8]
    """[MAX_PLAYS, 4, 2], written: source and target of each step; target 0 is off."""
    n_steps: NDArray[np.int8]
    """[MAX_PLAYS], written: steps of each play, 0..4."""
    slot_keys: NDArray[np.uint64]
    """Scratch: hash set of boards already seen."""
    slot_stamps: NDArray[np.int64]
    """Scratch: the search that filled each slot."""
    stamp: NDArray[np.int64]
    """[1], scratch: number of the present search."""
    status: NDArray[np.int64]
    """[4], scratch: count and lengths, see `_search`."""
    board: NDArray[np.int8]
    """[26], scratch: the board in the course of the search."""


def make_play_buffers() -> PlayBuffers:
    """Allocate one set of buffers (about 250 kB)."""
    return PlayBuffers(
        boards=np.zeros((MAX_PLAYS, 26), dtype=np.int8),
        steps=np.zeros((MAX_PLAYS, 4, 2), dtype=np.int8),
        n_steps=np.zeros(MAX_PLAYS, dtype=np.int8),
        slot_keys=np.zeros(_SLOTS, dtype=np.uint64),
        slot_stamps=np.zeros(_SLOTS, dtype=np.int64),
        stamp=np.zeros(1, dtype=np.int64),
        status=np.zeros(4, dtype=np.int64),
        board=np.zeros(26, dtype=np.int8),
    )


@kernel
def turn_board(board: NDArray[np.int8], variant: int, out: NDArray[np.int8]) -> None:
    """Write to `out` the board seen by the other player; `out` must not be `board`."""
    if variant == LONG_NARDY:
        out[0] = 0
        out[25] = 0
        for point in range(1, 13):
            out[point + 12] = -board[point]
            out[point] = -board[point + 12]
    else:
        for point in range(26):
            out[point] = -board[25 - point]


@kernel
def own_points(board: NDArray[np.int8]) -> np.uint64:
    """Bit mask of points (and 25, the bar) that hold own checkers."""
    mask = np.uint64(0)
    for point in range(1, 26):
        if board[point] > 0:
            mask |= _ONE << np.uint64(point)
    return mask


@kernel
def open_points(board: NDArray[np.int8], variant: int) -> np.uint64:
    """Bit mask of the points 1..24 on which the mover may land."""
    least = -1 if variant == BACKGAMMON else 0
    mask = np.uint64(0)
    for point in range(1, 25):
        if board[point] >= least:
            mask |= _ONE << np.uint64(point)
    return mask


@kernel
def legal_sources(own: np.uint64, open_mask: np.uint64, die: int) -> np.uint64:
    """Bit mask of the sources from which a step of `die` may be made; head and prime apart."""
    shift = np.uint64(die)
    if own >> np.uint64(BAR):
        if (open_mask >> np.uint64(BAR - die)) & _ONE:
            return _ONE << np.uint64(BAR)
        return np.uint64(0)
    sources = own & (open_mask << shift)
    if own != 0 and own & ~_HOME_MASK == 0:
        if (own >> shift) & _ONE:
            sources |= _ONE << shift
        elif own >> shift == 0:
            sources |= _ONE << np.uint64(highest_bit(own))
    return sources


@kernel
def prime_limit(board: NDArray[np.int8]) -> int:
    """The opponent's lowest occupied number in Long Nardy, 0 once it has begun to bear off.

    A block that starts (in the opponent's numbers) above this limit has an opposing checker
    past it and is legal (`rules.md` 7.7, 7.8).
    """
    checkers = 0
    lowest = 25
    for number in range(24, 0, -1):
        own = number + 12 if number <= 12 else number - 12
        if board[own] < 0:
            checkers -= board[own]
            lowest = number
    return lowest if checkers == 15 else 0


@kernel
def breaks_prime_rule(own: np.uint64, limit: int) -> bool:
    """True if the own points hold a six-prime in Long Nardy with no opposing checker past it.

    Args:
        own: Mask of own points, bits 1..24.
        limit: From `prime_limit`.
    """
    points = (own >> _ONE) & np.uint64(0xFFFFFF)
    # Rotated by half a board, bit i stands for the opponent's number i + 1.
    path = ((points << np.uint64(12)) | (points >> np.uint64(12))) & np.uint64(0xFFFFFF)
    pairs = path & (path >> _ONE)
    blocks = pairs & (pairs >> np.uint64(2)) & (pairs >> np.uint64(4))
    if blocks == 0:
        return False
    # The lowest block is the hardest to be past.
    first = 1
    while blocks & _ONE == 0:
        blocks >>= _ONE
        first += 1
    return limit >= first


@kernel
def head_allowance(variant: int, die_a: int, die_b: int, first_turn: bool) -> int:
    """How many checkers may leave point 24 this turn (`rules.md` 7.5)."""
    if variant == BACKGAMMON:
        return 4
    if first_turn and die_a == die_b and (die_a == 3 or die_a == 4 or die_a == 6):
        return 2
    return 1


@kernel
def apply_step(board: NDArray[np.int8], source: int, target: int, variant: int) -> int:
    """Move one checker on `board`; return 1 if it hit. The step must be legal."""
    board[source] -= 1
    if target <= 0:
        return 0
    if variant == BACKGAMMON and board[target] < 0:
        board[target] = 1
        board[0] -= 1
        return 1
    board[target] += 1
    return 0


@kernel
def _undo_step(board: NDArray[np.int8], source: int, target: int, hit: int) -> None:
    board[source] += 1
    if target > 0:
        board[target] -= 1
        if hit:
            board[target] = -1
            board[0] += 1


@kernel
def _seen_before(key: np.uint64, buffers: PlayBuffers) -> bool:
    """Add a key to the hash set of the present search; True if it was there."""
    stamp = buffers.stamp[0]
    slot = key >> _SLOT_SHIFT
    while buffers.slot_stamps[slot] == stamp:
        if buffers.slot_keys[slot] == key:
            return True
        slot = (slot + np.uint64(1)) & np.uint64(_SLOTS - 1)
    buffers.slot_stamps[slot] = stamp
    buffers.slot_keys[slot] = key
    return False


@kernel
def _search(
    first_die: int,
    second_die: int,
    n_dice: int,
    variant: int,
    head: int,
    in_order: bool,
    status: NDArray[np.int64],
    buffers: PlayBuffers,
) -> None:
    """Search one order of the dice depth first and record the longest plays.

    Args:
        first_die: Die of the first step (of all steps for a double).
        second_die: Die of the second step.
        n_dice: 2 or 4.
        variant: The game.
        head: Checkers that may leave the head.
        in_order: Only sequences of descending sources, without the hash set (doubles).
        status: int64[4], read and written: count, longest length, shortest length that is
            still accepted, and 1 if the prime rule refused a step.
        buffers: `PlayBuffers` with the start in `board`.
    """
    board = buffers.board
    boards = buffers.boards
    steps = buffers.steps
    n_steps = buffers.n_steps
    open_mask = open_points(board, variant)
    limit = prime_limit(board) if variant == LONG_NARDY else 0
    todo0 = todo1 = todo2 = todo3 = np.uint64(0)
    own0 = own_points(board)
    own1 = own2 = own3 = own0
    key0 = np.uint64(0)
    key1 = key2 = key3 = key0
    # The path: source, target and hit of each step made.
    source0 = source1 = source2 = source3 = 0
    target0 = target1 = target2 = target3 = 0
    hit0 = hit1 = hit2 = hit3 = 0
    child0 = child1 = child2 = child3 = False
    depth = 0
    todo0 = legal_sources(own0, open_mask, first_die)
    while True:
        if depth == 0:
            todo, own, key, bound = todo0, own0, key0, 25
        elif depth == 1:
            todo, own, key, bound = todo1, own1, key1, source0
        elif depth == 2:
            todo, own, key, bound = todo2, own2, key2, source1
        else:
            todo, own, key, bound = todo3, own3, key3, source2
        length = -1  # set when a play is complete
        made = depth
        back = False
        if todo == 0:
            child = child0
            if depth == 1:
                child = child1
            elif depth == 2:
                child = child2
            elif depth == 3:
                child = child3
            if not child and depth > 0:
                length = depth
            back = True
        else:
            source = highest_bit(todo)
            todo &= ~(_ONE << np.uint64(source))
            if depth == 0:
                todo0 = todo
            elif depth == 1:
                todo1 = todo
            elif depth == 2:
                todo2 = todo
            else:
                todo3 = todo
            if in_order and source > bound:
                continue
            die = second_die if depth == 1 else first_die
            target = source - die
            target = max(target, 0)
            if variant == LONG_NARDY:
                if source == HEAD:
                    used = 0
                    if depth > 0 and source0 == HEAD:
                        used += 1
                    if depth > 1 and source1 == HEAD:
                        used += 1
                    if depth > 2 and source2 == HEAD:
                        used += 1
                    if used >= head:
                        continue
            hit = apply_step(board, source, target, variant)
            new_own = own
            if board[source] == 0:
                new_own &= ~(_ONE << np.uint64(source))
            if target > 0:
                new_own |= _ONE << np.uint64(target)
            if variant == LONG_NARDY and breaks_prime_rule(new_own, limit):
                status[3] = 1
                _undo_step(board, source, target, hit)
                continue
            key -= _OWN_KEYS[source]
            if target > 0:
                key += _OWN_KEYS[target]
                if hit:
                    key += _HIT_KEYS[target]
            if depth == 0:
                source0, target0, hit0, child0 = source, target, hit, True
            elif depth == 1:
                source1, target1, hit1, child1 = source, target, hit, True
            elif depth == 2:
                source2, target2, hit2, child2 = source, target, hit, True
            else:
                source3, target3, hit3, child3 = source, target, hit, True
            made = depth + 1
            if new_own == 0:
                length = n_dice  # the last checker is off: always a complete play
                back = True
            elif made == n_dice:
                length = n_dice
                back = True
            else:
                skip = False
                if not in_order and n_dice == 4:
                    skip = _seen_before(key, buffers)
                if skip:
                    _undo_step(board, source, target, hit)
                    continue
                next_die = second_die if made == 1 else first_die
                next_todo = legal_sources(new_own, open_mask, next_die)
                if made == 1:
                    todo1, own1, key1, child1 = next_todo, new_own, key, False
                elif made == 2:
                    todo2, own2, key2, child2 = next_todo, new_own, key, False
                else:
                    todo3, own3, key3, child3 = next_todo, new_own, key, False
                depth = made
                continue
        if length > 0 and length >= status[2]:
            if length > status[1]:
                status[0] = 0
                status[1] = length
                status[2] = length
            # A play that stops early (made == depth) is reached once only: intermediate boards
            # of a double are visited once, and a single step decides its board.
            if in_order or made == depth or not _seen_before(key, buffers):
                row = status[0]
                for point in range(26):
                    boards[row, point] = board[point]
                if made > 0:
                    steps[row, 0, 0] = source0
                    steps[row, 0, 1] = target0
                if made > 1:
                    steps[row, 1, 0] = source1
                    steps[row, 1, 1] = target1
                if made > 2:
                    steps[row, 2, 0] = source2
                    steps[row, 2, 1] = target2
                if made > 3:
                    steps[row, 3, 0] = source3
                    steps[row, 3, 1] = target3
                n_steps[row] = made
                status[0] = row + 1
        if back:
            # Undo the step that led here: the one just made, or the one before this depth.
            if made > depth:
                _undo_step(board, source, target, hit)
                continue
            if depth == 0:
                return
            depth -= 1
            if depth == 0:
                _undo_step(board, source0, target0, hit0)
            elif depth == 1:
                _undo_step(board, source1, target1, hit1)
            elif depth == 2:
                _undo_step(board, source2, target2, hit2)
            else:
                _undo_step(board, source3, target3, hit3)


@kernel
def generate_plays(
    points: NDArray[np.int8],
    die_a: int,
    die_b: int,
    variant: int,
    first_turn: bool,
    buffers: PlayBuffers,
) -> int:
    """Write every distinct result of a roll once, with one list of steps for each.

    Args:
        points: int8[26], read only: a board of a running game seen by the mover.
        die_a: 1..6.
        die_b: 1..6.
        variant: `BACKGAMMON` or `LONG_NARDY`.
        first_turn: Long Nardy: this is the mover's first turn (head exception, 7.5).
        buffers: `PlayBuffers`; `boards`, `steps` and `n_steps` are written.

    Returns:
        The number of results, 1..MAX_PLAYS. A turn that must be forfeited has one result: the
        unchanged board with no steps.
    """
    for point in range(26):
        buffers.board[point] = points[point]
    status = buffers.status
    status[:] = 0
    head = head_allowance(variant, die_a, die_b, first_turn)
    if die_a == die_b:
        status[2] = 1
        _search(die_a, die_a, 4, variant, head, True, status, buffers)
        if status[3]:
            status[:] = 0
            status[2] = 1
            buffers.stamp[0] += 1
            _search(die_a, die_a, 4, variant, head, False, status, buffers)
    else:
        high = max(die_a, die_b)
        low = min(die_a, die_b)
        status[2] = 1
        buffers.stamp[0] += 1
        _search(high, low, 2, variant, head, False, status, buffers)
        # If the high number can be played alone, the low number alone is no longer legal.
        if status[1] > 0:
            status[2] = 2
        _search(low, high, 2, variant, head, False, status, buffers)
    if status[0] == 0:
        for point in range(26):
            buffers.boards[0, point] = points[point]
        buffers.n_steps[0] = 0
        return 1
    return int(status[0])
