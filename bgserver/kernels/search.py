"""Look-ahead: averages over the 21 rolls, both sides answering with the best static play.

All kernels here take a board after a play, seen by the mover; the opponent rolls next. The
opponent's best reply is sought among the few plays that the scout finds promising. Levels deeper
than two rolls are composed of these pieces by `bgserver.engine.lookahead`, so that no kernel
call lasts long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.evaluate import CLASS_BEAROFF, evaluate_children, judge_class
from bgserver.kernels.moves import (
    HEAD,
    LONG_NARDY,
    MAX_PLAYS,
    PlayBuffers,
    generate_plays,
    make_play_buffers,
    turn_board,
)
from bgserver.kernels.network import (
    N_OUTPUTS,
    Networks,
    NetworkScratch,
    equity,
    flip,
    game_outcome,
    make_scratch,
    write_outcome,
)
from bgserver.kernels.scout import begin_scouting, choose_promising

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.evaluate import Evaluator

__all__ = [
    "N_ROLLS",
    "SearchMemory",
    "best_replies",
    "best_static",
    "considers_all",
    "find_promising",
    "look_one_roll",
    "look_two_rolls",
    "make_search_memory",
    "may_be_first_turn",
]

N_ROLLS = 21
PROMISING = 8
"""Replies to one roll that go through the full network, at most."""
PROMISING_WINDOW = np.float32(0.15)
"""Points that the scout's estimate of such a reply may be below its best one."""

_CACHE_SLOTS = 8192

_ROLLS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]
HIGH = np.array([high for high, _ in _ROLLS], dtype=np.int64)
"""int64[21]: the higher die of each roll."""
LOW = np.array([low for _, low in _ROLLS], dtype=np.int64)
"""int64[21]: the lower die."""
WAYS = np.where(HIGH == LOW, 1.0, 2.0)
"""float64[21]: ways of 36."""


class SearchMemory(NamedTuple):
    """Memory of the search; one set for each thread."""

    plays: PlayBuffers
    """Plays of the player to move."""
    values: NDArray[np.float32]
    """[MAX_PLAYS, 5]: chances after each of them."""
    scratch: NetworkScratch
    """The evaluator's."""
    turned: NDArray[np.int8]
    """[26]: the board seen by the player to move."""
    promising: NDArray[np.int8]
    """[21 * PROMISING, 26]: boards after the promising replies to all rolls."""
    promising_values: NDArray[np.float32]
    """[21 * PROMISING, 5]: the replier's chances after them."""
    first: NDArray[np.int64]
    """[22]: where the replies to each roll begin in `promising`."""
    scores: NDArray[np.float32]
    """[MAX_PLAYS]: the scout's estimates."""
    chosen: NDArray[np.int64]
    """[PROMISING]: its choice."""
    replies: NDArray[np.int8]
    """[21, 26]: the best reply to each roll."""
    reply_values: NDArray[np.float32]
    """[21, 5]: the replier's chances after it."""
    next_boards: NDArray[np.int8]
    """[21, 26]: replies that wait to be looked at one roll further."""
    cache_used: NDArray[np.bool_]
    """[_CACHE_SLOTS]."""
    cache_boards: NDArray[np.int8]
    """[_CACHE_SLOTS, 26]: boards looked at one roll ahead lately."""
    cache_values: NDArray[np.float64]
    """[_CACHE_SLOTS, 5]: their values."""


def make_search_memory(networks: Networks) -> SearchMemory:
    """Allocate one set of memory for these networks."""
    most = N_ROLLS * PROMISING
    return SearchMemory(
        plays=make_play_buffers(),
        values=np.zeros((MAX_PLAYS, N_OUTPUTS), dtype=np.float32),
        scratch=make_scratch(networks),
        turned=np.zeros(26, dtype=np.int8),
        promising=np.zeros((most, 26), dtype=np.int8),
        promising_values=np.zeros((most, N_OUTPUTS), dtype=np.float32),
        first=np.zeros(N_ROLLS + 1, dtype=np.int64),
        scores=np.zeros(MAX_PLAYS, dtype=np.float32),
        chosen=np.zeros(PROMISING, dtype=np.int64),
        replies=np.zeros((N_ROLLS, 26), dtype=np.int8),
        reply_values=np.zeros((N_ROLLS, N_OUTPUTS), dtype=np.float32),
        next_boards=np.zeros((N_ROLLS, 26), dtype=np.int8),
        cache_used=np.zeros(_CACHE_SLOTS, dtype=np.bool_),
        cache_boards=np.zeros((_CACHE_SLOTS, 26), dtype=np.int8),
        cache_values=np.zeros((_CACHE_SLOTS, N_OUTPUTS), dtype=np.float64),
    )


@kernel
def may_be_first_turn(board: NDArray[np.int8], variant: int) -> bool:
    """Long Nardy: whether the player to move still has everything on the head.

    A search does not know the history; a player who has forfeited the first turn (7.13) is rare
    enough to be taken for one who has not moved yet.
    """
    return variant == LONG_NARDY and board[HEAD] == 15


@kernel
def _best_row(values: NDArray[np.float32], begin: int, end: int) -> int:
    """The row with the best equity, the first of equals."""
    best = begin
    best_equity = equity(values[begin])
    for row in range(begin + 1, end):
        worth = equity(values[row])
        if worth > best_equity:
            best_equity = worth
            best = row
    return best


@kernel
def best_static(
    board: NDArray[np.int8],
    die_a: int,
    die_b: int,
    variant: int,
    first_turn: bool,
    evaluator: Evaluator,
    memory: SearchMemory,
) -> tuple[int, int]:
    """Generate and evaluate the plays of a roll; return the index of the best and the count.

    Args:
        board: int8[26]: the board of the player who has rolled, a running game.
        die_a: 1..6.
        die_b: 1..6.
        variant: The game.
        first_turn: Long Nardy: the player's first turn.
        evaluator: `Evaluator`.
        memory: `SearchMemory`; `plays` and `values` are written.
    """
    count = generate_plays(board, die_a, die_b, variant, first_turn, memory.plays)
    boards = memory.plays.boards
    evaluate_children(boards, count, board, variant, evaluator, memory.scratch, memory.values)
    return _best_row(memory.values, 0, count), count


@kernel
def find_promising(variant: int, evaluator: Evaluator, memory: SearchMemory) -> None:
    """Find and evaluate the promising plays of each of the 21 rolls.

    Args:
        variant: The game.
        evaluator: `Evaluator`.
        memory: `SearchMemory`; `turned` holds the board of the player to roll, a running game;
            `promising`, `promising_values` and `first` are written.
    """
    turned = memory.turned
    boards = memory.plays.boards
    first_turn = may_be_first_turn(turned, variant)
    scout = evaluator.networks.scout
    begin_scouting(turned, variant, scout, memory.scratch)
    total = 0
    for number in range(N_ROLLS):
        count = generate_plays(turned, HIGH[number], LOW[number], variant, first_turn, memory.plays)
        chosen = choose_promising(
            boards,
            count,
            PROMISING,
            PROMISING_WINDOW,
            turned,
            variant,
            scout,
            memory.scratch,
            memory.scores,
            memory.chosen,
        )
        memory.first[number] = total
        for place in range(chosen):
            memory.promising[total, :] = boards[memory.chosen[place]]
            total += 1
    memory.first[N_ROLLS] = total
    evaluate_children(
        memory.promising,
        total,
        turned,
        variant,
        evaluator,
        memory.scratch,
        memory.promising_values,
    )


@kernel
def considers_all(board: NDArray[np.int8], variant: int, evaluator: Evaluator) -> bool:
    """Whether every reply to a board is judged fully, none left out by the scout.

    So it is where the bear-off tables judge, which are exact and cheap, and where the mover bears
    off and the opponent has not begun: there the scout mistakes plays that save the gammon or the
    backgammon (one position of a rollout lost three times as many backgammons with its choice).

    Args:
        board: int8[26]: the board after the mover's play, seen by the mover; a running game.
        variant: The game.
        evaluator: `Evaluator`.
    """
    if judge_class(board, variant, evaluator) == CLASS_BEAROFF:
        return True
    own = 0
    opponents = 0
    for point in range(26):
        own += max(board[point], 0)
        opponents += max(-board[point], 0)
    return own < 15 and opponents == 15


@kernel
def best_replies(
    board: NDArray[np.int8], variant: int, evaluator: Evaluator, memory: SearchMemory
) -> None:
    """The opponent's best static reply to each of the 21 rolls.

    Args:
        board: int8[26]: the board after the mover's play, seen by the mover; a running game.
        variant: The game.
        evaluator: `Evaluator`.
        memory: `SearchMemory`; `replies` and `reply_values` are written, seen by the opponent.
    """
    turned = memory.turned
    turn_board(board, variant, turned)
    first_turn = may_be_first_turn(turned, variant)
    boards = memory.plays.boards
    if considers_all(board, variant, evaluator):
        for number in range(N_ROLLS):
            best, _ = best_static(
                turned, HIGH[number], LOW[number], variant, first_turn, evaluator, memory
            )
            memory.replies[number, :] = boards[best]
            memory.reply_values[number, :] = memory.values[best]
        return
    find_promising(variant, evaluator, memory)
    for number in range(N_ROLLS):
        best = _best_row(memory.promising_values, memory.first[number], memory.first[number + 1])
        memory.replies[number, :] = memory.promising[best]
        memory.reply_values[number, :] = memory.promising_values[best]


@kernel
def _slot(board: NDArray[np.int8]) -> int:
    """Cache slot of a board."""
    key = np.uint64(0xCBF29CE484222325)
    for point in range(26):
        key = (key ^ np.uint64(np.uint8(board[point]))) * np.uint64(0x100000001B3)
    return int(np.int64((key >> np.uint64(32)) & np.uint64(_CACHE_SLOTS - 1)))


@kernel
def look_one_roll(
    board: NDArray[np.int8],
    variant: int,
    evaluator: Evaluator,
    memory: SearchMemory,
    out: NDArray[np.float64],
) -> None:
    """Chances of the mover after a play, one roll ahead.

    Args:
        board: int8[26]: the board after the play, seen by the mover.
        variant: The game.
        evaluator: `Evaluator`; always the same one for this memory.
        memory: `SearchMemory`; keeps the values of boards looked at lately.
        out: float64[5], written: the mean over the opponent's 36 rolls.
    """
    value = game_outcome(board, variant)
    if value > 0:
        write_outcome(value, out)
        return
    slot = _slot(board)
    if memory.cache_used[slot] and (memory.cache_boards[slot] == board).all():
        out[:] = memory.cache_values[slot]
        return
    best_replies(board, variant, evaluator, memory)
    out[:] = 0
    for number in range(N_ROLLS):
        for index in range(N_OUTPUTS):
            out[index] += WAYS[number] * memory.reply_values[number, index]
    out /= 36.0
    flip(out, out)
    memory.cache_used[slot] = True
    memory.cache_boards[slot, :] = board
    memory.cache_values[slot, :] = out


@kernel
def look_two_rolls(
    board: NDArray[np.int8],
    variant: int,
    evaluator: Evaluator,
    memory: SearchMemory,
    out: NDArray[np.float64],
) -> None:
    """Chances of the mover after a play, two rolls ahead: one further after each best reply.

    Args:
        board: int8[26]: the board after the play, seen by the mover.
        variant: The game.
        evaluator: `Evaluator`; always the same one for this memory.
        memory: `SearchMemory`.
        out: float64[5], written.
    """
    value = game_outcome(board, variant)
    if value > 0:
        write_outcome(value, out)
        return
    best_replies(board, variant, evaluator, memory)
    memory.next_boards[:] = memory.replies
    total = np.zeros(N_OUTPUTS)
    for number in range(N_ROLLS):
        look_one_roll(memory.next_boards[number], variant, evaluator, memory, out)
        for index in range(N_OUTPUTS):
            total[index] += WAYS[number] * out[index]
    out[:] = total
    out /= 36.0
    flip(out, out)
