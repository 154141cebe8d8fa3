"""Compare the engine with the oracle on one case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.plays import StepGraph, legal_plays, step_graph
from bgserver.engine.position import Dice, Position, Variant
from tests import naive

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bgserver.engine.plays import Step
    from tests.positions import Case


def difference(case: Case) -> str | None:
    """What the engine's plays have wrong, None if nothing.

    The results must be those of the oracle, each exactly once, and the steps of each play one of
    the oracle's legal sequences to that result, with the hits where they happen.
    """
    position = Position(case.board, Variant(case.variant))
    plays = legal_plays(position, Dice(*case.dice), first_turn=case.first_turn)
    found = [play.result.points for play in plays]
    expected = naive.legal_results(case.board, case.dice, case.variant, first_turn=case.first_turn)
    if len(found) != len(set(found)):
        return f"{len(found) - len(set(found))} results given twice"
    if set(found) != expected:
        missing = sorted(expected - set(found))
        extra = sorted(set(found) - expected)
        return f"missing results {missing}, results that are not legal {extra}"
    for play in plays:
        steps = oracle_steps(play.steps)
        if not naive.is_legal_play(
            case.board, case.dice, case.variant, steps, first_turn=case.first_turn
        ):
            return f"the steps {steps} are no legal play"
        if naive.play(case.board, steps) != play.result.points:
            return f"the steps {steps} do not lead to {play.result.points}"
        if [step.hit for step in play.steps] != hits(case.board, steps):
            return f"hits of {play.steps} are marked wrongly"
    return None


def graph_difference(case: Case) -> str | None:
    """What the engine's step graph has wrong, None if its paths are all legal step orders."""
    position = Position(case.board, Variant(case.variant))
    dice = Dice(*case.dice)
    plays = legal_plays(position, dice, first_turn=case.first_turn)
    graph = step_graph(position, dice, first_turn=case.first_turn)
    expected = naive.legal_sequences(
        case.board, case.dice, case.variant, first_turn=case.first_turn
    )
    found = list(_paths(graph))
    orders = [oracle_steps(steps) for steps, _ in found]
    if len(orders) != len(set(orders)):
        return "an order of steps is given by two paths"
    if set(orders) != set(expected):
        missing = sorted(set(expected) - set(orders))
        extra = sorted(set(orders) - set(expected))
        return f"missing orders {missing}, orders that are not legal {extra}"
    for (steps, index), order in zip(found, orders, strict=True):
        node = graph.nodes[index]
        result = naive.play(case.board, order)
        if node.position.points != result:
            return f"the path {order} ends on {node.position.points}"
        if node.play_index is None or plays[node.play_index].result.points != result:
            return f"the path {order} names the wrong play {node.play_index}"
        if [step.hit for step in steps] != hits(case.board, order):
            return f"hits of {steps} are marked wrongly"
    return None


def oracle_steps(steps: Sequence[Step]) -> tuple[naive.Step, ...]:
    """The engine's steps as the oracle writes them."""
    return tuple((step.source, step.target, step.die) for step in steps)


def hits(board: Sequence[int], steps: Sequence[naive.Step]) -> list[bool]:
    """Which of the steps hit."""
    hitting = []
    now = tuple(board)
    for source, target, _ in steps:
        then = naive.after_step(now, source, target)
        hitting.append(then[0] < now[0])
        now = then
    return hitting


def _paths(graph: StepGraph) -> Iterator[tuple[tuple[Step, ...], int]]:
    """Every path from the first node to a complete one, with the index of the latter."""
    stack: list[tuple[tuple[Step, ...], int]] = [((), 0)]
    while stack:
        steps, index = stack.pop()
        node = graph.nodes[index]
        if node.is_complete:
            yield steps, index
        elif not node.edges:
            message = f"node {index} is a dead end"
            raise AssertionError(message)
        stack.extend(((*steps, edge.step), edge.target_node) for edge in node.edges)
