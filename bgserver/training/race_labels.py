"""Labels of backgammon races anew, from the distributions of both sides' rolls.

A label by look-ahead holds the luck of its game, in a race as everywhere. Where both sides play on
their own, the distributions of the rolls that each needs give the chances to win and of gammons
without it, and their errors are much alike for siblings. Only backgammons depend on more than
that; they are rare and stay as the old labels have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.errors import DataError
from bgserver.kernels.classes import CLASS_RACE
from bgserver.kernels.moves import BACKGAMMON
from bgserver.training.encoding import classes_of
from bgserver.training.shards import Labels
from bgserver.training.sides import compare, sides_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["races_among", "relabel", "sides_to_learn"]

_PART = 20_000  # labels at once


def races_among(labels: Labels) -> Labels:
    """The races of labels of backgammon, in the same order.

    Raises:
        DataError: There are none.
    """
    rows = classes_of(labels.boards, BACKGAMMON) == CLASS_RACE
    if not rows.any():
        message = "no races of backgammon among the labels"
        raise DataError(message)
    return Labels(labels.boards[rows], labels.targets[rows], labels.turns[rows])


def sides_to_learn(boards: NDArray[np.int8], count: int, seed: int) -> NDArray[np.int8]:
    """Different sides of boards with checkers outside home.

    Args:
        boards: int8[n, 26]: races.
        count: Most sides.
        seed: Of the choice and the order.

    Returns:
        int8[at most count, 26], in random order, each in its own numbering.

    Raises:
        DataError: All sides are at home.
    """
    random = np.random.default_rng(seed)
    # Siblings share one side, and many sides are home: more boards than sides are needed.
    chosen = boards[random.permutation(len(boards))[: 2 * count]]
    sides = np.concatenate(sides_of(chosen))
    sides = np.unique(sides[sides[:, 7:].any(axis=1)], axis=0)
    if len(sides) == 0:
        message = "no race among the labels has a checker outside home"
        raise DataError(message)
    return sides[random.permutation(len(sides))[:count]]


def _may_lose_backgammon(sides: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Whether sides have borne off nothing and are not out of the other's home, bool[n]."""
    return np.asarray((sides.sum(axis=1) == 15) & sides[:, 19:].any(axis=1))


def relabel(
    races: Labels,
    distributions: Callable[[NDArray[np.int8]], NDArray[np.float64]],
    progress: Callable[[int, int], None] | None = None,
) -> Labels:
    """Give races the chances that follow from the distributions of their sides.

    Args:
        races: Labels of races after a play.
        distributions: Of sides, int8[n, 26]: float64[n, N_GOALS, LONGEST].
        progress: Told (labels done, labels in all).

    Returns:
        The same boards and turns; old chances of backgammons where those are possible.
    """
    targets = races.targets.copy()
    count = len(targets)
    for first in range(0, count, _PART):
        part = slice(first, min(first + _PART, count))
        own, opponent = sides_of(races.boards[part])
        win, win_gammon, lose_gammon = compare(distributions(own), distributions(opponent))
        targets[part, 0] = win
        targets[part, 1] = win_gammon
        targets[part, 2] *= _may_lose_backgammon(opponent)
        targets[part, 3] = lose_gammon
        targets[part, 4] *= _may_lose_backgammon(own)
        if progress is not None:
            progress(part.stop, count)
    return Labels(races.boards, targets, races.turns)
