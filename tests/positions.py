"""Seeded random boards of both games: reached by play, and constructed to be awkward.

Everything here uses the oracle only, so that the engine is never asked to make its own tests.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests import naive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_HOME = range(1, 7)
_OUTER = range(7, 13)
_ALL = range(1, 25)
_STANDARD_OPPONENT_HOME = range(19, 25)
_NARDY_OPPONENT_HOME = range(13, 19)
_TASTES = ("any", "hit", "build", "run", "hold", "block")
_MAX_TURNS = 100
"""Two players who hit whatever they can might go on for very long."""


@dataclass(frozen=True)
class Case:
    """A board, a roll and what else decides the legal plays."""

    board: naive.Board
    dice: tuple[int, int]
    variant: str
    kind: str
    first_turn: bool = False

    def __str__(self) -> str:
        """All that is needed to try the case again."""
        first_turn = ", first turn" if self.first_turn else ""
        return f"{self.variant} ({self.kind}{first_turn}) {list(self.board)} {self.dice}"


def cases(variant: str, seed: int, count: int | None = None) -> Iterator[Case]:
    """Random cases, alternately from random games and constructed; endless without `count`."""
    rng = random.Random(f"{variant} {seed}")
    sources = itertools.cycle((played(variant, rng), constructed(variant, rng)))
    endless = (next(source) for source in sources)
    return itertools.islice(endless, count)


def roll(rng: random.Random) -> tuple[int, int]:
    """Two fair dice."""
    return rng.randint(1, 6), rng.randint(1, 6)


# --- reached by play -----------------------------------------------------------------------------


def played(variant: str, rng: random.Random) -> Iterator[Case]:
    """The boards of random games from the start, endless.

    The players make legal single steps, each with a taste of its own, so that all kinds of
    boards arise. They need not obey the rules about whole plays.
    """
    while True:
        board = naive.start(variant)
        tastes = itertools.cycle(rng.choices(_TASTES, k=2))
        for turn, taste in zip(range(_MAX_TURNS), tastes, strict=False):
            dice = roll(rng)
            first_turn = variant == naive.LONG_NARDY and turn < 2
            yield Case(board, dice, variant, f"played, {taste}", first_turn)
            board = _moved(board, dice, variant, first_turn, taste, rng)
            if naive.is_over(board):
                break
            board = naive.turn(board, variant)


def _moved(
    board: naive.Board,
    dice: tuple[int, int],
    variant: str,
    first_turn: bool,
    taste: str,
    rng: random.Random,
) -> naive.Board:
    head_left = naive.head_allowance(dice, first_turn=first_turn)
    numbers = list(naive.numbers_to_play(dice))
    rng.shuffle(numbers)
    for die in numbers:
        steps = naive.legal_steps(board, die, variant, head_left)
        if steps:
            source, target, _ = _choice(board, steps, taste, rng)
            head_left -= source == naive.HEAD
            board = naive.after_step(board, source, target)
    return board


def _choice(
    board: naive.Board, steps: list[naive.Step], taste: str, rng: random.Random
) -> naive.Step:
    likings: dict[str, Callable[[naive.Step], float]] = {
        "hit": lambda step: step[1] != naive.OFF and board[step[1]] == -1,
        "build": lambda step: (board[step[1]] > 0) - (board[step[0]] == 2),
        "run": lambda step: step[0],
        "hold": lambda step: -step[0],
        "block": lambda step: longest_block(naive.after_step(board, step[0], step[1])),
    }
    if taste == "any" or rng.random() < 0.2:
        return rng.choice(steps)
    liking = likings[taste]
    return max(rng.sample(steps, len(steps)), key=liking)


def longest_block(board: naive.Board) -> int:
    """The longest run of held points on the circle of 24 points."""
    circle = [count > 0 for count in (*board[1:25], *board[1:25])]
    runs = [len(list(run)) for held, run in itertools.groupby(circle) if held]
    return min(24, max(runs, default=0))


# --- constructed ---------------------------------------------------------------------------------


def constructed(variant: str, rng: random.Random) -> Iterator[Case]:
    """Constructed boards of all kinds in turn, endless."""
    makers = _STANDARD_MAKERS if variant == naive.BACKGAMMON else _NARDY_MAKERS
    for maker in itertools.cycle(makers):
        board = _possible(maker, variant, rng)
        first_turn = variant == naive.LONG_NARDY and board[naive.HEAD] >= 12 and rng.random() < 0.5
        yield Case(board, roll(rng), variant, maker.__name__.strip("_"), first_turn)


def _possible(
    maker: Callable[[random.Random], list[int]], variant: str, rng: random.Random
) -> naive.Board:
    """Boards of the maker until one can stand in a game."""
    while True:
        board = tuple(maker(rng))
        turned = naive.turn(board, variant)
        if naive.faults(board, variant) or naive.is_over(board):
            continue
        if variant == naive.BACKGAMMON and _closed_out(board) and _closed_out(turned):
            continue
        if variant == naive.LONG_NARDY and (naive.traps_all(board) or naive.traps_all(turned)):
            continue
        return board


def _closed_out(board: naive.Board) -> bool:
    return board[naive.BAR] > 0 and all(board[point] <= -2 for point in _STANDARD_OPPONENT_HOME)


def _put(
    board: list[int], points: Iterable[int], count: int, sign: int, rng: random.Random
) -> None:
    """Put `count` checkers of a side on some of the points that the other side does not hold."""
    free = [point for point in points if board[point] * sign >= 0]
    if not free:
        return
    chosen = rng.sample(free, rng.randint(1, min(len(free), max(1, count))))
    for _ in range(count):
        board[rng.choice(chosen)] += sign


def _some_off(rng: random.Random) -> int:
    """How many of 15 checkers are left: mostly all."""
    return 15 - rng.choice([0, 0, 0, 0, 0, 1, 2, 5, 9])


def _scattered(rng: random.Random) -> list[int]:
    board = [0] * 26
    _put(board, range(1, 26), _some_off(rng), 1, rng)
    _put(board, range(25), _some_off(rng), -1, rng)
    return board


def _on_the_bar(rng: random.Random) -> list[int]:
    board = [0] * 26
    board[naive.BAR] = rng.randint(1, 3)
    closed = rng.sample(_STANDARD_OPPONENT_HOME, rng.randint(0, 6))
    for point in closed:
        board[point] = -2
    _put(board, _ALL, 15 - board[naive.BAR], 1, rng)
    _put(board, range(25) if rng.random() < 0.3 else _ALL, 15 - 2 * len(closed), -1, rng)
    return board


def _closed_board(rng: random.Random) -> list[int]:
    board = [0] * 26
    board[naive.BAR] = rng.randint(1, 3)
    for point in _STANDARD_OPPONENT_HOME:
        board[point] = -2
    _put(board, _ALL, 3, -1, rng)
    _put(board, _ALL, _some_off(rng) - board[naive.BAR], 1, rng)
    return board


def _bear_off(rng: random.Random) -> list[int]:
    board = [0] * 26
    _put(board, _HOME, rng.randint(1, 15), 1, rng)
    _put(board, _STANDARD_OPPONENT_HOME, rng.randint(1, 15), -1, rng)
    return board


def _bear_off_with_contact(rng: random.Random) -> list[int]:
    board = [0] * 26
    anchored = rng.randint(1, 4)
    _put(board, range(7), anchored, -1, rng)
    _put(board, _HOME, rng.randint(1, 14), 1, rng)
    if rng.random() < 0.4:
        _put(board, _OUTER, 1, 1, rng)
    _put(board, range(13, 25), rng.randint(0, 15 - anchored), -1, rng)
    return board


def _crunched(rng: random.Random) -> list[int]:
    board = [0] * 26
    back = rng.randint(1, 3)
    _put(board, range(18, 26), back, 1, rng)
    _put(board, range(14, 25), 13, -1, rng)
    _put(board, _ALL, 2, -1, rng)
    _put(board, range(1, 4), 15 - back, 1, rng)
    return board


def _nearly_finished(rng: random.Random) -> list[int]:
    board = [0] * 26
    _put(board, _HOME if rng.random() < 0.7 else range(1, 26), rng.randint(1, 3), 1, rng)
    _put(board, range(25), rng.randint(1, 3), -1, rng)
    return board


def _race(rng: random.Random) -> list[int]:
    board = [0] * 26
    _put(board, range(1, 13), rng.randint(3, 15), 1, rng)
    _put(board, range(13, 25), rng.randint(3, 15), -1, rng)
    return board


_STANDARD_MAKERS = (
    _scattered,
    _on_the_bar,
    _closed_board,
    _bear_off,
    _bear_off_with_contact,
    _crunched,
    _nearly_finished,
    _race,
)


def _nardy_scattered(rng: random.Random) -> list[int]:
    board = [0] * 26
    sides = [1, -1]
    rng.shuffle(sides)
    for sign in sides:
        _put(board, _ALL, 15, sign, rng)
    return board


def _nardy_block(rng: random.Random) -> list[int]:
    """Five or six of six points in a row anywhere on the circle, few opposing checkers past."""
    board = [0] * 26
    first = rng.randint(1, 24)
    window = [(first + i - 1) % 24 + 1 for i in range(6)]
    for point in rng.sample(window, rng.choice([5, 5, 6])):
        board[point] = 1
    past = rng.choice([0, 0, 1, 2])
    _put(board, _ALL, past, -1, rng)
    _put(board, range(1, 13), 15 - past, -1, rng)
    _put(board, _ALL, 15 - naive.own_in_play(board), 1, rng)
    return board


def _nardy_shut_in(rng: random.Random) -> list[int]:
    """All opposing checkers behind a block that still has a gap or two, many points taken.

    Here the order of steps decides how many numbers can be played, even of a double.
    """
    board = [0] * 26
    lowest = rng.randint(1, 16)
    path = [*range(13, 25), *range(1, 13)]  # the opponent's 1..24 in own numbers
    block = path[lowest - 1 : lowest + 5]
    for point in rng.sample(block, rng.choice([4, 5])):
        board[point] = 1
    behind = path[lowest + 5 :]
    for point in rng.sample(behind, rng.randint(1, len(behind))):
        board[point] = -1
    _put(board, [point for point in behind if board[point] < 0], 15 + _opposing(board), -1, rng)
    _put(board, _ALL, 15 - naive.own_in_play(board), 1, rng)
    return board


def _opposing(board: list[int]) -> int:
    return -naive.opposing_in_play(board)


def _nardy_head(rng: random.Random) -> list[int]:
    board = [0] * 26
    board[naive.HEAD] = rng.randint(8, 15)
    _put(board, _ALL, 15 - board[naive.HEAD], 1, rng)
    ahead = rng.randint(0, 6)
    _put(board, range(13, 24), ahead, -1, rng)
    _put(board, range(1, 13), 15 - ahead, -1, rng)
    return board


def _nardy_walled_in(rng: random.Random) -> list[int]:
    """Opposing checkers on most points just in front of the own ones."""
    board = [0] * 26
    front = rng.randint(7, 24)
    for point in rng.sample(range(front - 6, front), rng.randint(3, 6)):
        board[point] = -1
    _put(board, _ALL, 15 + _opposing(board), -1, rng)
    _put(board, range(front, 25), rng.randint(10, 15), 1, rng)
    _put(board, _ALL, 15 - naive.own_in_play(board), 1, rng)
    return board


def _nardy_bear_off(rng: random.Random) -> list[int]:
    """The own side at home, opposing checkers perhaps passing through."""
    board = [0] * 26
    if rng.random() < 0.5:
        _put(board, _HOME, rng.randint(1, 4), -1, rng)
    _put(board, _ALL, 15 + _opposing(board), -1, rng)
    own = rng.randint(1, 15)
    if rng.random() < 0.3:
        own = 15
        _put(board, _OUTER, 1, 1, rng)
    _put(board, _HOME, own - naive.own_in_play(board), 1, rng)
    return board


def _nardy_nearly_finished(rng: random.Random) -> list[int]:
    board = [0] * 26
    _put(board, _HOME, rng.randint(1, 3), 1, rng)
    _put(board, _NARDY_OPPONENT_HOME, rng.randint(1, 3), -1, rng)
    return board


def _nardy_race(rng: random.Random) -> list[int]:
    board = [0] * 26
    _put(board, range(1, 13), 15, 1, rng)
    _put(board, range(13, 25), 15, -1, rng)
    return board


_NARDY_MAKERS = (
    _nardy_scattered,
    _nardy_block,
    _nardy_head,
    _nardy_shut_in,
    _nardy_walled_in,
    _nardy_bear_off,
    _nardy_nearly_finished,
    _nardy_race,
)
