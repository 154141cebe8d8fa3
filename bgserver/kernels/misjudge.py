"""The choice of a player who misjudges positions as people do.

What a play seems to be worth is its equity plus noise. Most of the noise comes from what each
point, and each three neighbouring points, seem to be worth with so many checkers on them, a random
table that all plays of one decision share: plays that differ in one checker are misjudged alike,
plays with different ideas are not.
The noise grows with the number of plays that are nearly as good as the best, is smaller in races
and smaller still in bear-offs, and from time to time there is a lapse of attention. Plays that
lose more than a limit are never made, so nothing absurd is; a game that can be won now is won.

All of it follows from counter-based random numbers (`bgserver.kernels.dice`), so that the same
decision of the same game goes the same way on every thread.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.classes import CLASS_RACE, position_class
from bgserver.kernels.dice import mix, random_bits
from bgserver.kernels.moves import BACKGAMMON
from bgserver.kernels.network import N_OUTPUTS, equity, game_outcome
from bgserver.kernels.search import best_static
from bgserver.kernels.worth import worth_of_plays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.choose import ChoiceMemory
    from bgserver.kernels.cube import CubeState, MatchTable
    from bgserver.kernels.evaluate import Evaluator
    from bgserver.kernels.search import SearchMemory

__all__ = [
    "OFFER_DOUBLE",
    "OFFER_TAKE",
    "Misjudgement",
    "choose_misjudged",
    "misjudged_offer",
    "misjudged_row",
]

OFFER_DOUBLE = 1
"""`misjudged_offer`: whether to double."""
OFFER_TAKE = 2
"""`misjudged_offer`: whether to take."""

_DRAWS = 1 << 40  # draw numbers far from those of the dice
_DRAWS_PER_TURN = 1024
_ATTENTION = 0
_PLAYS = 3
_POINTS = 64
_ZONES = 512
_STATES = 8
_POINTS_PER_ZONE = 3
_MOST_COUNTED = 4  # more checkers on a point look all the same

# The sum of four numbers of 16 bits is close to a normal distribution and has a bounded tail.
_MASK = np.uint64(0xFFFF)
_WORD = np.uint64(16)
_FACTOR = np.uint64(0x100000001B3)
_MEAN = 2.0 * 65535.0
_DEVIATION = 65536.0 / math.sqrt(3.0)

_LAPSE = 0.5
"""Spread of the logarithm of the attention: one decision in ten has over 1.9 times the noise of
the median one, one in a hundred over 3.2 times."""
_NEARLY = 0.05
"""Loss, in points, of a play that is called nearly as good as the best."""
_EASE = 0.7
"""How much less noise there is where only one play comes into question."""
_POINT = 0.3
"""Noise of one point, as a part of the whole; plays differ in two to eight points."""
_ZONE = 0.4
"""Noise that three neighbouring points have in common."""
_PLAY = 0.3
"""Noise of a play by itself."""
_RACE = 0.6
_BEAROFF = 0.4


class Misjudgement(NamedTuple):
    """How much a player misjudges, and which decision of which game this is."""

    noise: float
    """Standard deviation in points where many plays come into question; 0 for none."""
    limit: float
    """Plays that lose more than so many points are never made."""
    seed: int
    """Seed of the game."""
    game: int
    """Number of the game."""
    turn: int
    """Number of the turn within the game."""


@kernel
def _normal(bits: np.uint64) -> float:
    """A number of nearly normal distribution, at most 3.5 standard deviations from 0."""
    total = np.uint64(0)
    for _ in range(4):
        total += bits & _MASK
        bits >>= _WORD
    return (float(total) - _MEAN) / _DEVIATION


@kernel
def _draw(judge: Misjudgement, number: int) -> np.uint64:
    """Random bits of one decision."""
    return random_bits(judge.seed, judge.game, _DRAWS + judge.turn * _DRAWS_PER_TURN + number)


@kernel
def _misjudged_point(judge: Misjudgement, point: int, count: int) -> float:
    """How much a point with so many checkers on it is overrated."""
    state = min(_MOST_COUNTED, max(-2, count)) + 2
    by_itself = _normal(_draw(judge, _POINTS + point * _STATES + state))
    zone = (point + 2) // _POINTS_PER_ZONE  # 1 to 3, 4 to 6...
    with_neighbours = _normal(_draw(judge, _ZONES + zone * _STATES + state))
    return _POINT * by_itself + _ZONE * with_neighbours


@kernel
def _misjudged_play(board: NDArray[np.int8], base: np.uint64) -> float:
    """How much a play is overrated by itself."""
    key = base
    for point in range(26):
        key = (key ^ np.uint64(board[point] + 16)) * _FACTOR
    return _normal(mix(key))


@kernel
def _ease_of_phase(board: NDArray[np.int8], variant: int) -> float:
    """Noise by the kind of position, 1 where the sides can still meet."""
    if position_class(board, variant) != CLASS_RACE:
        return 1.0
    for point in range(7, 25):
        if board[point] > 0:
            return _RACE
    return _BEAROFF


@kernel
def _checkers(board: NDArray[np.int8]) -> int:
    """Own checkers that are not borne off."""
    left = 0
    for point in range(1, 26):
        left += max(0, board[point])
    return left


@kernel
def misjudged_row(
    boards: NDArray[np.int8],
    worth: NDArray[np.float64],
    count: int,
    variant: int,
    judge: Misjudgement,
) -> int:
    """Index of the play that seems best.

    Args:
        boards: int8[>= count, 26], read only: boards after the plays, seen by the mover.
        worth: float64[>= count, any], read only: equities in column 0.
        count: How many plays, at least 1.
        variant: The game.
        judge: `Misjudgement`.
    """
    best = 0
    for row in range(1, count):
        if worth[row, 0] > worth[best, 0]:
            best = row
    if count == 1 or judge.noise <= 0.0 or game_outcome(boards[best], variant) > 0:
        return best
    candidates = 0.0
    for row in range(count):
        candidates += math.exp((worth[row, 0] - worth[best, 0]) / _NEARLY)
    ease = _ease_of_phase(boards[best], variant)
    noise = judge.noise * ease * (1.0 - _EASE / candidates)
    noise *= math.exp(_LAPSE * _normal(_draw(judge, _ATTENTION)))
    # Everybody bears off what he can.
    most_left = _checkers(boards[best]) if ease < 1.0 else 15
    base = _draw(judge, _PLAYS)
    own = _misjudged_play(boards[best], base)
    chosen = best
    seeming_best = 0.0
    for row in range(count):
        loss = worth[best, 0] - worth[row, 0]
        if row == best or loss > judge.limit or _checkers(boards[row]) > most_left:
            continue
        seeming = _PLAY * (_misjudged_play(boards[row], base) - own)
        for point in range(26):
            if boards[row, point] != boards[best, point]:
                seeming += _misjudged_point(judge, point, boards[row, point])
                seeming -= _misjudged_point(judge, point, boards[best, point])
        seeming = noise * seeming - loss
        if seeming > seeming_best:
            seeming_best = seeming
            chosen = row
    return chosen


@kernel
def choose_misjudged(
    board: NDArray[np.int8],
    dice: tuple[int, int],
    game: tuple[int, bool],
    evaluator: Evaluator,
    cube: tuple[CubeState, MatchTable],
    memory: SearchMemory,
    choice: ChoiceMemory,
    judge: Misjudgement,
) -> tuple[int, int, float]:
    """The play of a static player who misjudges; the plays are in `memory.plays`.

    Args:
        board: int8[26]: the board of the player who has rolled, a running game.
        dice: (a, b).
        game: (variant, whether it is the player's first turn in Long Nardy).
        evaluator: `Evaluator`.
        cube: (`CubeState` seen by the mover, `MatchTable`).
        memory: `SearchMemory`; `plays` and `values` are written.
        choice: `ChoiceMemory`.
        judge: `Misjudgement`.

    Returns:
        Index of the play, number of plays, and what it loses, in points.
    """
    variant, first_turn = game
    best, count = best_static(board, dice[0], dice[1], variant, first_turn, evaluator, memory)
    if count == 1:
        return best, count, 0.0
    if variant == BACKGAMMON:
        for row in range(count):
            for index in range(N_OUTPUTS):
                choice.values[row, index] = memory.values[row, index]
        worth_of_plays(
            memory.plays.boards[:count],
            choice.values[:count],
            cube[0],
            cube[1],
            evaluator.bearoff,
            choice.board,
            choice.chances,
            choice.worth,
        )
    else:
        for row in range(count):
            choice.worth[row, 0] = equity(memory.values[row])
    row = misjudged_row(memory.plays.boards, choice.worth, count, variant, judge)
    most = choice.worth[0, 0]
    for other in range(1, count):
        most = max(most, choice.worth[other, 0])
    return row, count, most - choice.worth[row, 0]


@kernel
def misjudged_offer(
    board: NDArray[np.int8], variant: int, offer: int, gain: float, judge: Misjudgement
) -> bool:
    """Whether a cube action seems right.

    Args:
        board: int8[26]: the board before the roll, seen by the player on roll; read only.
        variant: The game.
        offer: `OFFER_DOUBLE` or `OFFER_TAKE`.
        gain: What the action truly gains against its alternative, in points.
        judge: `Misjudgement`; `limit` is the most that a wrong action may cost.
    """
    if judge.noise <= 0.0 or abs(gain) > judge.limit:
        return gain >= 0.0
    noise = judge.noise * _ease_of_phase(board, variant)
    return gain + noise * _normal(_draw(judge, offer)) >= 0.0
