"""What is wrong with a game state, whatever form it came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.formats._draft import draft_of

if TYPE_CHECKING:
    from bgserver.engine.errors import Fault
    from bgserver.engine.position import GameState

__all__ = ["state_faults"]


def state_faults(state: GameState) -> list[Fault]:
    """Every rule that the state breaks; the faults name the fields of `GameState`.

    The board itself is not looked at: a `Position` checks that when it is made.
    """
    _, faults = draft_of(state, "this check")
    # Text formats describe backgammon only; a state may be of either game.
    return [fault for fault in faults if fault.reason != "VARIANT_NOT_IN_FORMAT"]
