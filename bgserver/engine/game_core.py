"""What the engine judges one of the two games with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.lookahead import ThreadMemory
from bgserver.engine.plays import variant_code
from bgserver.kernels.evaluate import Evaluator

if TYPE_CHECKING:
    from bgserver.engine.bearoff import BearoffDatabase
    from bgserver.engine.weights import Weights

__all__ = ["GameCore"]


class GameCore:
    """What one of the two games is judged with."""

    def __init__(self, weights: Weights, bearoff: BearoffDatabase) -> None:
        networks = weights.networks()
        self.weights = weights
        """The weights as loaded."""
        self.code = variant_code(weights.variant)
        """The kernels' code of the game."""
        self.evaluator = Evaluator(networks, bearoff.tables)
        """Networks and tables for kernels."""
        self.threads = ThreadMemory(networks)
        """Kernel memory of the calling thread."""
