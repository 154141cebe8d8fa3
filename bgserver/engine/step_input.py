"""A play that somebody enters step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, IllegalPlayError
from bgserver.engine.plays import legal_plays, step_graph
from bgserver.engine.refusals import explain_illegal_steps, point_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver.engine.plays import Play
    from bgserver.engine.position import Dice, Position

__all__ = ["play_of_steps"]


def play_of_steps(
    position: Position,
    dice: Dice,
    steps: Sequence[tuple[int, int, int, bool]],
    *,
    first_turn: bool = False,
) -> Play:
    """The legal play that the steps make.

    Args:
        position: The board of the player who has rolled.
        dice: The roll.
        steps: (source, target, die, hit) in the order in which they are made; die 0 means any
            that fits, and hit False leaves open whether the step hits.
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
    mistaken: Fault | None = None
    for number, (source, target, die, hit) in enumerate(steps):
        edges = [
            edge
            for node in reached
            for edge in graph.nodes[node].edges
            if (edge.step.source, edge.step.target) == (source, target)
        ]
        fitting = [edge for edge in edges if die in {0, edge.step.die}]
        reached = {edge.target_node for edge in fitting if edge.step.hit or not hit}
        if not reached and mistaken is None:
            mistaken = _mistake(f"steps[{number}]", steps[number], bool(edges), bool(fitting))
    for node in sorted(reached):
        play_index = graph.nodes[node].play_index
        if play_index is not None:
            return legal_plays(position, dice, first_turn=first_turn)[play_index]
    pairs = [(source, target) for source, target, *_ in steps]
    fault = explain_illegal_steps(position, dice, pairs, first_turn) or mistaken
    if fault is None:
        # With 6-1, 5/off alone is legal as two steps (5/4 4/off), but it was read as one.
        message = "each step is one checker moved by one of the dice, and some are left to play"
        fault = Fault("steps", "MUST_USE_BOTH", message)
    raise IllegalPlayError([fault])


def _mistake(field: str, step: tuple[int, int, int, bool], has_edge: bool, fits_die: bool) -> Fault:
    """What is wrong with a step whose points alone would be fine."""
    source, target, die, _ = step
    name = f"{point_name(source)}/{point_name(target)}"
    if fits_die:
        return Fault(f"{field}.hit", "NO_HIT", f"{name}: nothing is hit on point {target}")
    if has_edge:
        return Fault(f"{field}.die", "NO_SUCH_DIE", f"{name} is not made with a {die}")
    message = f"{name}: a step is one checker moved by one of the dice"
    return Fault(field, "NO_SUCH_DIE", message)
