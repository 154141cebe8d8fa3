"""The luck of the dice, to be taken off the result of a game.

The luck of a roll is the static equity of a good play of it minus the mean of that over all rolls
that could have come. Whatever the network thinks, its mean over the dice is exactly 0, as long as
roll and mean are judged by the same function: so points minus luck have the mean of the points, for
any two players and any weights, and vary much less. A better network leaves less of the variance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.plays import board_array
from bgserver.engine.position import Variant
from bgserver.engine.ranking import EQUITY_WEIGHTS
from bgserver.kernels import search

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.position import Dice, Position

__all__ = ["LuckMeter"]

_ROLLS = zip(search.HIGH.tolist(), search.LOW.tolist(), strict=True)
_ROW = {roll: row for row, roll in enumerate(_ROLLS)}
_NO_DOUBLES = np.where(search.HIGH == search.LOW, 0.0, search.WAYS)


class LuckMeter:
    """Measures the luck of rolls, cubeless; may be used by many threads."""

    def __init__(self, engine: Engine, variant: Variant = Variant.BACKGAMMON) -> None:
        self._core = engine.core(variant)
        # Both dice of the first roll of Long Nardy are thrown by the one who begins.
        self._opening = _NO_DOUBLES if variant is Variant.BACKGAMMON else search.WAYS

    def luck(self, position: Position, dice: Dice, *, opening: bool) -> float:
        """Points that a roll is better than the mean.

        Args:
            position: The board of the player who rolled.
            dice: The roll.
            opening: The first roll of a game, which is no double in backgammon.
        """
        core = self._core
        memory = core.threads.memory
        # The search knows no history and may take a first turn of Long Nardy for a later one or the
        # reverse; it does so with every roll of the position, and luck stays fair.
        search.best_replies(board_array(position.turned()), core.code, core.evaluator, memory)
        found = memory.reply_values.astype(np.float64) @ EQUITY_WEIGHTS
        weights = self._opening if opening else search.WAYS
        mean = float(found @ weights) / float(weights.sum())
        return float(found[_ROW[dice.high, dice.low]]) - mean
