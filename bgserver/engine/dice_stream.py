"""Dice that follow from a seed and the number of the game, wherever the game is played."""

from __future__ import annotations

from bgserver.kernels import dice as dice_kernels

__all__ = ["StreamDice"]


class StreamDice:
    """Counter-based dice of the games from a number on; a `DiceSource` of tables."""

    def __init__(self, seed: int, first_game: int) -> None:
        """Dice of some games.

        Args:
            seed: Seed of the whole run, 0..2**32-1.
            first_game: Number of the table's first game within the run; the others follow.
        """
        self._seed = seed
        self._first_game = first_game

    def number(self, game: int) -> int:
        """Number, within the run, of the table's game `game`, which is counted from 1."""
        return self._first_game + game - 1

    def roll(self, game: int, index: int) -> tuple[int, int]:
        """Throw two dice."""
        first, second = dice_kernels.roll(self._seed, self.number(game), index)
        return first, second

    def commitment(self, game: int) -> str | None:  # noqa: ARG002 -- the protocol's
        """None: nothing is promised."""
        return None

    def reveal(self, game: int) -> str | None:  # noqa: ARG002 -- part of the interface
        """None: the seed is no secret."""
        return None
