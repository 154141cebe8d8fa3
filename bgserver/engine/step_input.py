"""A play that somebody enters step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, IllegalPlayError
from bgserver.engine.plays import legal_plays, step_graph
from bgserver.engine.refusals import explain_illegal_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver.engine.plays import Play
    from bgserver.engine.position import Dice, Position

__all__ = ["play_of_steps"]


def play_of_steps(
    position: Position,
    dice: Dice,
    steps: Sequence[tuple[int, int, int]],
    *,
    first_turn: bool = False,
) -> Play:
    """The legal play that the steps make.

    Args:
        position: The board of the player who has rolled.
        dice: The roll.
        steps: (source, target, die) in the order in which they are made; die 0 means any that
            fits.
        first_turn: Long Nardy: this is the mover's first turn (head exception, 7.5).

    Returns:
        The play in its canonical order of steps.

    Raises:
        IllegalPlayError: The steps are no legal complete play; the fault says why.
        WrongMomentError: `GAME_OVER` if one side has borne off all checkers.
    """
    graph = step_graph(position, dice, first_turn=first_turn)
    # Several dice may fit one bear-off step, so more than one node can be reached.
    reached = {0}
    for source, target, die in steps:
        reached = {
            edge.target_node
            for node in reached
            for edge in graph.nodes[node].edges
            if (edge.step.source, edge.step.target) == (source, target)
            and die in {0, edge.step.die}
        }
    for node in sorted(reached):
        play_index = graph.nodes[node].play_index
        if play_index is not None:
            return legal_plays(position, dice, first_turn=first_turn)[play_index]
    pairs = [(source, target) for source, target, _ in steps]
    fault = explain_illegal_steps(position, dice, pairs, first_turn)
    if fault is None:
        fault = Fault("steps", "NO_SUCH_DIE", "each step is one checker moved by one of the dice")
    raise IllegalPlayError([fault])
