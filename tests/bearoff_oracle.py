"""The bear-off in plain Python, exact fractions, on the plays of the rules oracle.

An arrangement is a tuple of six numbers, the checkers on points 1 to 6. Nothing here knows
indexes, packed numbers or tables of the engine.
"""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

from tests import naive

Arrangement = tuple[int, ...]
Distribution = tuple[Fraction, ...]

EMPTY: Arrangement = (0,) * 6
ROLL_WEIGHTS = [(roll, Fraction(1 if roll[0] == roll[1] else 2, 36)) for roll in naive.ALL_ROLLS]


def arrangements(checkers: int) -> list[Arrangement]:
    """All arrangements of at most `checkers` checkers, in the order of their index.

    That order compares how many checkers there are in all, then above point 1, above point 2...
    """
    counts = range(checkers + 1)
    found = [a for a in itertools.product(counts, repeat=6) if sum(a) <= checkers]
    return sorted(found, key=order)


def order(arrangement: Arrangement) -> tuple[int, ...]:
    """What the index order compares."""
    return tuple(sum(arrangement[point:]) for point in range(6))


@functools.cache
def results(arrangement: Arrangement, roll: tuple[int, int]) -> tuple[Arrangement, ...]:
    """The distinct results of a roll, in index order."""
    board = (0, *arrangement, *(0,) * 17, -1, 0)  # an opponent must exist; he is far away
    boards = naive.legal_results(board, roll, naive.BACKGAMMON)
    return tuple(sorted({tuple(after[1:7]) for after in boards}, key=order))


@functools.cache
def rolls_to_clear(arrangement: Arrangement) -> Distribution:
    """Chances of 0, 1, 2... rolls to bear off all checkers, for the fewest rolls on average."""
    if arrangement == EMPTY:
        return (Fraction(1),)
    chances: dict[int, Fraction] = {}
    for roll, weight in ROLL_WEIGHTS:
        for rolls, chance in enumerate(rolls_to_clear(best_play(arrangement, roll))):
            chances[rolls + 1] = chances.get(rolls + 1, Fraction(0)) + weight * chance
    return tuple(chances.get(rolls, Fraction(0)) for rolls in range(max(chances) + 1))


def mean(distribution: Distribution) -> Fraction:
    """Expected number of rolls."""
    return sum((rolls * chance for rolls, chance in enumerate(distribution)), Fraction(0))


def best_play(arrangement: Arrangement, roll: tuple[int, int]) -> Arrangement:
    """The result with the fewest expected rolls, the first in index order among equals."""
    return min(results(arrangement, roll), key=lambda after: mean(rolls_to_clear(after)))


@functools.cache
def winning_chance(roller: Arrangement, opponent: Arrangement) -> Fraction:
    """Chance that the player about to roll wins if each side plays by `best_play`."""
    chance = Fraction(0)
    for roll, weight in ROLL_WEIGHTS:
        after = best_play(roller, roll)
        chance += weight * (1 if after == EMPTY else 1 - winning_chance(opponent, after))
    return chance


@functools.cache
def equities(roller: Arrangement, opponent: Arrangement) -> tuple[Fraction, ...]:
    """Equities of the player about to roll who does not double now, by perfect play of both.

    Without a cube; cube centred; owned by the roller; owned by the opponent.
    """
    totals = [Fraction(0)] * 4
    for roll, weight in ROLL_WEIGHTS:
        options = [replies(opponent, after) for after in results(roller, roll)]
        for state in range(4):
            totals[state] += weight * max(option[state] for option in options)
    return tuple(totals)


def replies(opponent: Arrangement, after: Arrangement) -> tuple[Fraction, ...]:
    """What a play is worth to its player, by the place of the cube before and after it."""
    if after == EMPTY:
        return (Fraction(1),) * 4
    cubeless, centered, he_owns, i_own = equities(opponent, after)
    doubled = min(Fraction(1), 2 * i_own)
    return -cubeless, -max(centered, doubled), -i_own, -max(he_owns, doubled)
