"""What is wrong with a game state, whatever form it came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault
from bgserver.engine.position import Variant
from bgserver.formats._draft import draft_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bgserver.engine.position import GameState

__all__ = ["state_faults"]


def state_faults(state: GameState, unread: Collection[str] = ()) -> list[Fault]:
    """Every rule that the state breaks; the faults name the fields of `GameState`.

    The board itself is not looked at: a `Position` checks that when it is made.

    Args:
        state: Any state.
        unread: Fields that could not be read, as faults name them: whatever stands in for them is
            not looked at.
    """
    _, faults = draft_of(state, "this check", unread)
    if state.position.variant is Variant.LONG_NARDY:
        faults.extend(_cube_in_nardy(state))
    # Text formats describe backgammon only; a state may be of either game.
    return [fault for fault in faults if fault.reason != "VARIANT_NOT_IN_FORMAT"]


def _cube_in_nardy(state: GameState) -> Iterator[Fault]:
    """Everything in a state of Long Nardy that needs a cube."""
    for path, is_set in (
        ("cube.value", state.cube.value > 1),
        ("double_offered", state.double_offered),
        ("jacoby", state.jacoby),
        ("beavers", state.beavers),
        ("match.crawford", state.match is not None and state.match.crawford),
    ):
        if is_set:
            yield Fault(path, "NO_CUBE_IN_LONG_NARDY", "long nardy is played without a cube")
