"""The rules of both games, slow and obvious: the oracle that the real engine is compared with.

Written from the rules alone, in plain Python, sharing nothing with the engine. The numbers in
the comments are the clauses of the rules. A board is a sequence of 26 integers seen by the
player on turn (1.4): [1..24] own points, positive own checkers, negative opposing ones; [25] own
checkers on the bar; [0] minus the opposing checkers on the bar. A step is (source, target, die)
with source 25 for the bar and target 0 for off.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BACKGAMMON = "backgammon"
LONG_NARDY = "long_nardy"
VARIANTS = (BACKGAMMON, LONG_NARDY)

BAR = 25
OFF = 0
HEAD = 24
ALL_ROLLS = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]
"""The 21 different rolls, higher number first."""

Board = tuple[int, ...]
Step = tuple[int, int, int]


# --- the board (section 1) -----------------------------------------------------------------------


def start(variant: str) -> Board:
    """The start position: 1.8 for backgammon, 1.9 for Long Nardy."""
    board = [0] * 26
    if variant == BACKGAMMON:
        board[24], board[13], board[8], board[6] = 2, 5, 3, 5
        board[1], board[12], board[17], board[19] = -2, -5, -3, -5
    else:
        board[24], board[12] = 15, -15
    return tuple(board)


def turn(board: Sequence[int], variant: str) -> Board:
    """The same board seen by the other player (1.5)."""
    turned = [0] * 26
    for point in range(26):
        if variant == BACKGAMMON:
            turned[25 - point] = -board[point]
        elif 1 <= point <= 12:
            turned[point + 12] = -board[point]
        elif 13 <= point <= 24:
            turned[point - 12] = -board[point]
    return tuple(turned)


def own_in_play(board: Sequence[int]) -> int:
    """How many checkers of the player on turn are on the board or the bar."""
    return sum(count for count in board if count > 0)


def opposing_in_play(board: Sequence[int]) -> int:
    """How many opposing checkers are on the board or the bar."""
    return -sum(count for count in board if count < 0)


def pips(board: Sequence[int]) -> int:
    """Pip count of the player on turn; the bar counts 25 (1.7)."""
    return sum(point * count for point, count in enumerate(board) if count > 0)


def is_over(board: Sequence[int]) -> bool:
    """True once a side has no checker left (1.10)."""
    return own_in_play(board) == 0 or opposing_in_play(board) == 0


def faults(board: Sequence[int], variant: str) -> list[str]:
    """What is wrong with a board (1.4 and 1.6), empty if nothing is."""
    found = []
    if len(board) != 26:
        found.append("not 26 values")
    if own_in_play(board) > 15:
        found.append("more than 15 own checkers")
    if opposing_in_play(board) > 15:
        found.append("more than 15 opposing checkers")
    if board[BAR] < 0 or board[0] > 0:
        found.append("wrong side on a bar")
    if variant == LONG_NARDY and (board[BAR] != 0 or board[0] != 0):
        found.append("a bar in Long Nardy")
    return found


# --- single steps (2.5 to 2.7, 2.16 to 2.22, 7.3 to 7.11) ----------------------------------------


def all_home(board: Sequence[int]) -> bool:
    """True if all own checkers in play are on points 1 to 6, none on the bar (2.20)."""
    return all(board[point] <= 0 for point in range(7, 26))


def is_blocked(board: Sequence[int], point: int, variant: str) -> bool:
    """True if an own checker may not land on the point (2.7, 7.3)."""
    if variant == LONG_NARDY:
        return board[point] <= -1
    return board[point] <= -2


def may_bear_off(board: Sequence[int], source: int, die: int) -> bool:
    """True if the checker on `source` may be borne off with `die` (2.20, 2.21)."""
    if not all_home(board):
        return False
    if source == die:
        return True
    nobody_behind = all(board[point] <= 0 for point in range(source + 1, 7))
    return source < die and nobody_behind


def after_step(board: Sequence[int], source: int, target: int) -> Board:
    """The board after one own step; a blot that is hit goes to its bar (2.16)."""
    board = list(board)
    board[source] -= 1
    if target != OFF:
        if board[target] == -1:
            board[target] = 0
            board[0] -= 1
        board[target] += 1
    return tuple(board)


def traps_all(board: Sequence[int]) -> bool:
    """True if the own checkers hold a block that breaks the six-prime rule (7.7, 7.8).

    Walks the opponent's path from its end, the opponent's numbers 1, 2, ..., 24, which are the
    own points 13..24 and then 1..12. Six held points in a row with no opposing checker met
    before them have every opposing checker behind them.
    """
    in_a_row = 0
    for count in (*board[13:25], *board[1:13]):
        if count < 0:
            return False
        in_a_row = in_a_row + 1 if count > 0 else 0
        if in_a_row == 6:
            return opposing_in_play(board) == 15  # else the opponent has begun to bear off
    return False


def head_allowance(dice: tuple[int, int], *, first_turn: bool) -> int:
    """How many checkers may leave the head this turn (7.5)."""
    if first_turn and dice in {(3, 3), (4, 4), (6, 6)}:
        return 2
    return 1


def is_legal_step(board: Sequence[int], step: Step, variant: str, head_left: int = 1) -> bool:
    """True if a step is legal in itself.

    `head_left` says how many checkers may still leave the head (Long Nardy only).
    """
    source, target, die = step
    if board[source] <= 0 or target != (source - die if source > die else OFF):
        return False
    if board[BAR] > 0 and source != BAR:  # 2.17; Long Nardy has no bar
        return False
    if target == OFF:
        if not may_bear_off(board, source, die):
            return False
    elif is_blocked(board, target, variant):
        return False
    if variant == LONG_NARDY:
        if source == HEAD and head_left == 0:
            return False
        if traps_all(after_step(board, source, target)):  # 7.9: after every single step
            return False
    return True


def legal_steps(board: Sequence[int], die: int, variant: str, head_left: int = 1) -> list[Step]:
    """All single steps with `die` that are legal in themselves, from the highest source down."""
    if is_over(board):
        return []
    sources = [point for point in range(BAR, 0, -1) if board[point] > 0]
    steps = [(source, max(source - die, OFF), die) for source in sources]
    return [step for step in steps if is_legal_step(board, step, variant, head_left)]


# --- whole plays (2.8 to 2.12) -------------------------------------------------------------------


def numbers_to_play(dice: tuple[int, int]) -> tuple[int, ...]:
    """The numbers of a roll, four equal ones for a double (2.6)."""
    if dice[0] == dice[1]:
        return (dice[0],) * 4
    return tuple(sorted(dice))


def legal_sequences(
    board: Sequence[int], dice: tuple[int, int], variant: str, *, first_turn: bool = False
) -> list[tuple[Step, ...]]:
    """Every sequence of steps that is a legal play, in every order: 2.12 word for word."""
    cannot_be_continued: list[tuple[Step, ...]] = []

    def extend(
        board: Sequence[int], left: tuple[int, ...], head_left: int, made: tuple[Step, ...]
    ) -> None:
        steps = [
            step
            for die in sorted(set(left))
            for step in legal_steps(board, die, variant, head_left)
        ]
        if not steps:
            cannot_be_continued.append(made)
        for source, target, die in steps:
            extend(
                after_step(board, source, target),
                without(left, die),
                head_left - (source == HEAD),
                (*made, (source, target, die)),
            )

    extend(board, numbers_to_play(dice), head_allowance(dice, first_turn=first_turn), ())
    longest = max(len(sequence) for sequence in cannot_be_continued)
    wins = [own_in_play(play(board, sequence)) == 0 for sequence in cannot_be_continued]
    only_higher = (
        longest == 1
        and dice[0] != dice[1]
        and any(sequence[0][2] == max(dice) for sequence in cannot_be_continued)
    )
    return [
        sequence
        for sequence, is_win in zip(cannot_be_continued, wins, strict=True)
        if is_win
        or (len(sequence) == longest and not (only_higher and sequence[0][2] == min(dice)))
    ]


def legal_results(
    board: Sequence[int], dice: tuple[int, int], variant: str, *, first_turn: bool = False
) -> set[Board]:
    """The boards that legal plays lead to, still seen by the player who moved (2.12)."""
    _, results = _played_as_far_as_possible(tuple(board), dice, variant, first_turn)
    return set(results)


def count_played(
    board: Sequence[int], dice: tuple[int, int], variant: str, *, first_turn: bool = False
) -> int:
    """How many numbers of the roll must be played (the L of 2.12)."""
    length, _ = _played_as_far_as_possible(tuple(board), dice, variant, first_turn)
    return length


@functools.lru_cache(maxsize=16)
def _played_as_far_as_possible(
    board: Board, dice: tuple[int, int], variant: str, first_turn: bool
) -> tuple[int, frozenset[Board]]:
    """The same definition as in `legal_sequences`, walked breadth first: length and results.

    `level` holds all states after the same number of steps, so that a board that is reached in
    several ways is looked at once.
    """
    level = {(board, numbers_to_play(dice), head_allowance(dice, first_turn=first_turn))}
    length = 0
    won: set[Board] = set()
    while True:
        following = set()
        for now, left, head_left in level:
            for die in set(left):
                still_left = without(left, die)
                for source, target, _ in legal_steps(now, die, variant, head_left):
                    then = after_step(now, source, target)
                    following.add((then, still_left, head_left - (source == HEAD)))
        won |= {now for now, _, _ in following if own_in_play(now) == 0}
        if not following:
            break
        level = following
        length += 1
    if length == 1 and dice[0] != dice[1]:
        level = {state for state in level if state[1] == (min(dice),)} or level
    return length, frozenset({now for now, _, _ in level} | won)


def is_legal_play(
    board: Sequence[int],
    dice: tuple[int, int],
    variant: str,
    steps: Sequence[Step],
    *,
    first_turn: bool = False,
) -> bool:
    """True if the steps, in this order, are one of `legal_sequences`; for one play only."""
    now = tuple(board)
    left = numbers_to_play(dice)
    head_left = head_allowance(dice, first_turn=first_turn)
    for source, target, die in steps:
        step = (source, target, die)
        if die not in left or not is_legal_step(now, step, variant, head_left):
            return False
        now = after_step(now, source, target)
        left = without(left, die)
        head_left -= source == HEAD
    if own_in_play(now) == 0:
        return True
    length = count_played(board, dice, variant, first_turn=first_turn)
    if length == 1 and dice[0] != dice[1] and legal_steps(board, max(dice), variant):
        return len(steps) == 1 and steps[0][2] == max(dice)
    return len(steps) == length


def without(numbers: tuple[int, ...], used: int) -> tuple[int, ...]:
    """The numbers left after one of them has been used."""
    left = list(numbers)
    left.remove(used)
    return tuple(left)


def play(board: Sequence[int], steps: Iterable[Step]) -> Board:
    """The board after the steps, not checked, still seen by the player who moved."""
    board = tuple(board)
    for source, target, _ in steps:
        board = after_step(board, source, target)
    return board


# --- results and counts (sections 3 and 9) -------------------------------------------------------


def game_value(board: Sequence[int], variant: str) -> int:
    """What the game is worth to the player on turn at cube value 1, negative for a loss.

    0 while the game goes on; else 1 single or oin, 2 gammon or mars, 3 backgammon (3.1 to 3.4,
    7.12).
    """
    if own_in_play(board) == 0:
        return loss_of_opponent(board, variant)
    if opposing_in_play(board) == 0:
        return -loss_of_opponent(turn(board, variant), variant)
    return 0


def loss_of_opponent(board: Sequence[int], variant: str) -> int:
    """The points that the opponent loses on a board where the player on turn has won."""
    if opposing_in_play(board) < 15:
        return 1
    if variant == LONG_NARDY:
        return 2
    on_bar_or_in_winners_home = any(board[point] < 0 for point in range(7))
    return 3 if on_bar_or_in_winners_home else 2


@functools.lru_cache(maxsize=len(ALL_ROLLS))
def _results(board: Board, dice: tuple[int, int]) -> set[Board]:
    """`legal_results` of backgammon, kept while one blot after the other is asked about."""
    return legal_results(board, dice, BACKGAMMON)


def hitting_rolls(board: Sequence[int], blot: int) -> int:
    """Rolls of 36 with a legal play that hits the opposing blot on the own point `blot` (9.1)."""
    rolls = 0
    for dice in ALL_ROLLS:
        # an opposing checker leaves its point only when it is hit
        if any(result[blot] >= 0 for result in _results(tuple(board), dice)):
            rolls += 1 if dice[0] == dice[1] else 2
    return rolls


def entering_rolls(board: Sequence[int], checkers: int) -> int:
    """Rolls of 36 that bring at least `checkers` own checkers in from the bar (9.2)."""
    rolls = 0
    for dice in ALL_ROLLS:
        results = legal_results(board, dice, BACKGAMMON)
        if any(board[BAR] - result[BAR] >= checkers for result in results):
            rolls += 1 if dice[0] == dice[1] else 2
    return rolls


def has_contact(board: Sequence[int], variant: str) -> bool:
    """True if the ways that the two sides still have to go share a point."""
    turned = turn(board, variant)
    own_way = range(1, max(point for point in range(1, 26) if board[point] > 0) + 1)
    opposing_way = range(1, max(point for point in range(1, 26) if turned[point] > 0) + 1)
    if variant == BACKGAMMON:
        return own_way[-1] > 25 - opposing_way[-1]
    return any((number + 11) % 24 + 1 in own_way for number in opposing_way)
