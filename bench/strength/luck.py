"""The luck of the dice, to be taken off the result of a game.

The luck of a roll is the static equity of its best play minus the mean of that over all rolls that
could have come. Whatever the network thinks, its mean over the dice is exactly 0, as long as roll
and mean are judged by the same function: so points minus luck have the mean of the points, for any
two players and any weights, and vary much less. A better network leaves less of the variance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.plays import board_array
from bgserver.engine.position import Variant
from bgserver.kernels._jit import kernel
from bgserver.kernels.network import equity
from bgserver.kernels.search import best_static

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.position import Dice, Position
    from bgserver.kernels.evaluate import Evaluator
    from bgserver.kernels.search import SearchMemory

__all__ = ["LuckMeter"]

_ROLLS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]
_ANY = np.array([1.0 if high == low else 2.0 for high, low in _ROLLS])
_OPENING = np.array([0.0 if high == low else 2.0 for high, low in _ROLLS])
_ROW = {roll: row for row, roll in enumerate(_ROLLS)}


@kernel
def _best_equities(
    board: NDArray[np.int8],
    variant: int,
    evaluator: Evaluator,
    memory: SearchMemory,
    out: NDArray[np.float64],
) -> None:
    """Static equity of the best play of each roll, in the order of `_ROLLS`.

    Args:
        board: int8[26]: the board of the player on roll, a running game.
        variant: The game.
        evaluator: What judges.
        memory: Of the calling thread.
        out: float64[21], written.
    """
    row = 0
    for high in range(1, 7):
        for low in range(1, high + 1):
            best, _ = best_static(board, high, low, variant, False, evaluator, memory)
            out[row] = equity(memory.values[best])
            row += 1


class LuckMeter:
    """Measures the luck of rolls in backgammon, cubeless; may be used by many threads."""

    def __init__(self, engine: Engine) -> None:
        self._core = engine.core(Variant.BACKGAMMON)

    def luck(self, position: Position, dice: Dice, *, opening: bool) -> float:
        """Points that a roll is better than the mean.

        Args:
            position: The board of the player who rolled.
            dice: The roll.
            opening: The first roll of a game, which is no double.
        """
        core = self._core
        found = np.zeros(len(_ROLLS), dtype=np.float64)
        _best_equities(board_array(position), core.code, core.evaluator, core.threads.memory, found)
        weights = _OPENING if opening else _ANY
        mean = float(found @ weights) / float(weights.sum())
        return float(found[_ROW[dice.high, dice.low]]) - mean
