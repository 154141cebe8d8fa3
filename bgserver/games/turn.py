"""One roll played step by step: what is possible, several dice in one tap, what is left.

The graph of all step orders of a roll is built once and kept for the rest of the turn.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from bgserver.engine.errors import WrongMomentError
from bgserver.engine.plays import step_graph
from bgserver.engine.position import OFF, Dice, Variant
from bgserver.engine.refusals import explain_illegal_steps
from bgserver.games.actions import StepOrder
from bgserver.games.rules import HeadException, HeadExceptionScope, LongNardyRules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bgserver.engine.plays import Step, StepGraph
    from bgserver.engine.position import Position
    from bgserver.games.state import TableState

__all__ = [
    "any_rest",
    "expand_step",
    "first_turn",
    "incomplete_refusal",
    "is_complete",
    "is_forfeit",
    "last_answer_steps",
    "only_rest",
    "rest_to",
    "results_left",
    "step_expansions",
    "steps_of_pairs",
]

_KEPT_GRAPHS = 256  # a wide double takes about 1 MB, an ordinary roll 20 KB


def first_turn(state: TableState) -> bool:
    """Whether the head exception of Long Nardy holds in this turn, if the dice are right (7.5)."""
    rules = state.setup.rules
    if rules.variant is not Variant.LONG_NARDY:
        return False
    options = rules.long_nardy or LongNardyRules()
    if options.head_exception is HeadException.NONE:
        return False
    if options.head_exception_scope is HeadExceptionScope.FIRST_TURN_OF_GAME:
        return sum(state.turns) == 0
    return state.turns[state.turn] == 0


@functools.lru_cache(maxsize=_KEPT_GRAPHS)
def _graph(position: Position, high: int, low: int, is_first_turn: bool) -> StepGraph:
    return step_graph(position, Dice(high, low), first_turn=is_first_turn)


def _graph_of(state: TableState) -> StepGraph:
    dice = _dice(state)
    return _graph(state.turn_start, dice.high, dice.low, first_turn(state))


def _dice(state: TableState) -> Dice:
    if state.dice is None:
        message = "no dice are being played"
        raise AssertionError(message)
    return state.dice


def _node(state: TableState, graph: StepGraph) -> int:
    """Where the steps made so far have led."""
    node = 0
    for step in state.steps:
        node = next(edge.target_node for edge in graph.nodes[node].edges if edge.step == step)
    return node


def is_complete(state: TableState) -> bool:
    """Whether the steps made so far are a legal complete play (2.26)."""
    if state.last_answer:
        return False
    graph = _graph_of(state)
    return graph.nodes[_node(state, graph)].is_complete


def is_forfeit(state: TableState) -> bool:
    """Whether no number of the roll can be played (2.11)."""
    return not state.last_answer and _graph_of(state).nodes[0].is_complete


def _paths(
    graph: StepGraph, node: int, source: int, target: int, most: int
) -> Iterator[tuple[Step, ...]]:
    """The ways to move one checker from `source` to `target` with at most `most` dice."""
    for edge in graph.nodes[node].edges:
        step = edge.step
        if step.source != source or step.target < target:
            continue
        if step.target == target:
            yield (step,)
        elif most > 1:
            for rest in _paths(graph, edge.target_node, step.target, target, most - 1):
                yield (step, *rest)


def _preferred(ways: Sequence[tuple[Step, ...]], order: StepOrder) -> tuple[Step, ...]:
    """Of several ways the one with the fewest dice, then the one with the wanted die first."""
    sign = -1 if order is StepOrder.HIGH_FIRST else 1
    return min(ways, key=lambda way: (len(way), [sign * step.die for step in way]))


def expand_step(
    state: TableState, source: int, target: int, order: StepOrder, field: str = "step"
) -> tuple[Step, ...]:
    """The single steps of a step of one or several dice (2.13, 2.14).

    Raises:
        WrongMomentError: No legal play goes on like this; the reason is one of 2.28.
    """
    graph = _graph_of(state)
    ways = list(_paths(graph, _node(state, graph), source, target, 4))
    if ways:
        return _preferred(ways, order)
    pairs = [(step.source, step.target) for step in state.steps]
    raise _refusal(state, [*pairs, (source, target)], field)


def _refusal(state: TableState, pairs: Sequence[tuple[int, int]], field: str) -> WrongMomentError:
    """Why steps from the start of the turn do not belong to any legal play."""
    fault = explain_illegal_steps(state.turn_start, _dice(state), pairs, first_turn(state))
    if fault is None:
        # As pairs the steps can be read as a legal play, but not with the dice used so far.
        message = "the number that is left cannot be played like this"
        return WrongMomentError("NO_SUCH_DIE", message)
    message = fault.message if fault.field != "steps" else f"{field}: {fault.message}"
    return WrongMomentError(fault.reason, message)


def incomplete_refusal(state: TableState) -> WrongMomentError:
    """Why the steps made so far cannot be confirmed: `MUST_USE_BOTH` or `MUST_USE_HIGHER`."""
    graph = _graph_of(state)
    dice = _dice(state)
    edges = graph.nodes[_node(state, graph)].edges
    single = all(graph.nodes[edge.target_node].is_complete for edge in edges)
    if not state.steps and single and not dice.is_double:
        number = edges[0].step.die
        reason = "MUST_USE_HIGHER" if number == dice.high else "MUST_USE_BOTH"
        return WrongMomentError(reason, f"the {number} can be played and must be")
    message = "more numbers can be played and must be"
    return WrongMomentError("MUST_USE_BOTH", message)


def step_expansions(state: TableState) -> list[tuple[int, int, StepOrder, tuple[Step, ...]]]:
    """Every step that is possible now, with one or several dice.

    Returns:
        (source, target, order, single steps), from high sources and targets to low ones; the order
        LOW_FIRST only where it hits other checkers or uses other dice.
    """
    graph = _graph_of(state)
    ways: dict[tuple[int, int], list[tuple[Step, ...]]] = {}
    _collect(graph, _node(state, graph), (), ways)
    found = []
    for (source, target), options in sorted(ways.items(), reverse=True):
        high = _preferred(options, StepOrder.HIGH_FIRST)
        found.append((source, target, StepOrder.HIGH_FIRST, high))
        low = _preferred(options, StepOrder.LOW_FIRST)
        if _traces(low) != _traces(high):
            found.append((source, target, StepOrder.LOW_FIRST, low))
    return found


def _traces(way: tuple[Step, ...]) -> tuple[set[int], list[int]]:
    """What a way leaves behind: the points it hits on, and the dice it uses up."""
    return {step.target for step in way if step.hit}, sorted(step.die for step in way)


def _collect(
    graph: StepGraph,
    node: int,
    made: tuple[Step, ...],
    ways: dict[tuple[int, int], list[tuple[Step, ...]]],
) -> None:
    for edge in graph.nodes[node].edges:
        if made and edge.step.source != made[-1].target:
            continue
        way = (*made, edge.step)
        ways.setdefault((way[0].source, edge.step.target), []).append(way)
        if edge.step.target != OFF:
            _collect(graph, edge.target_node, way, ways)


def steps_of_pairs(state: TableState, pairs: Sequence[tuple[int, int]]) -> tuple[Step, ...]:
    """The single steps of (source, target) pairs that finish the turn from where it stands.

    Where a bear-off leaves the choice of the die, the one is taken with which the rest fits.

    Raises:
        WrongMomentError: They are no legal rest of the play.
    """
    graph = _graph_of(state)
    found = _finish(graph, _node(state, graph), list(pairs))
    if found is None:
        made = [(step.source, step.target) for step in state.steps]
        raise _refusal(state, [*made, *pairs], "play")
    return found


def _finish(
    graph: StepGraph, node: int, pairs: Sequence[tuple[int, int]]
) -> tuple[Step, ...] | None:
    if not pairs:
        return () if graph.nodes[node].is_complete else None
    (source, target), *rest = pairs
    for way in sorted(_paths(graph, node, source, target, 4), key=_high_first):
        end = node
        for step in way:
            end = next(edge.target_node for edge in graph.nodes[end].edges if edge.step == step)
        after = _finish(graph, end, rest)
        if after is not None:
            return way + after
    return None


def _high_first(way: tuple[Step, ...]) -> tuple[int, list[int]]:
    return len(way), [-step.die for step in way]


def _ends(graph: StepGraph, node: int) -> Iterator[tuple[int, int]]:
    """(node, play index) of every complete play that can be reached, each node once."""
    seen = {node}
    waiting = [node]
    while waiting:
        at = waiting.pop()
        index = graph.nodes[at].play_index
        if index is not None:
            yield at, index
        for edge in graph.nodes[at].edges:
            if edge.target_node not in seen:
                seen.add(edge.target_node)
                waiting.append(edge.target_node)


def results_left(state: TableState) -> list[Position]:
    """The distinct boards that the turn can still lead to, seen by the player on turn."""
    graph = _graph_of(state)
    boards = {index: at for at, index in _ends(graph, _node(state, graph))}
    return [graph.nodes[at].position for _, at in sorted(boards.items())]


def only_rest(state: TableState) -> tuple[Step, ...] | None:
    """The steps that are left if they can lead to one board only (6.7); None if there is a choice.

    Empty if the play is complete.
    """
    graph = _graph_of(state)
    node = _node(state, graph)
    found: int | None = None
    for _, index in _ends(graph, node):
        if found is not None and index != found:
            return None
        found = index
    steps: list[Step] = []
    while graph.nodes[node].edges:
        edge = graph.nodes[node].edges[0]
        steps.append(edge.step)
        node = edge.target_node
    return tuple(steps)


def any_rest(state: TableState) -> tuple[Step, ...]:
    """Some steps that finish the play."""
    return rest_to(state, results_left(state)[0]) or ()


def rest_to(state: TableState, result: Position) -> tuple[Step, ...] | None:
    """Steps that lead from where the turn stands to a board; None if none do."""
    graph = _graph_of(state)
    return _way_to(graph, _node(state, graph), result, set())


def _way_to(
    graph: StepGraph, node: int, result: Position, dead: set[int]
) -> tuple[Step, ...] | None:
    if graph.nodes[node].is_complete:
        return () if graph.nodes[node].position.points == result.points else None
    for edge in graph.nodes[node].edges:
        if edge.target_node in dead:
            continue
        rest = _way_to(graph, edge.target_node, result, dead)
        if rest is not None:
            return (edge.step, *rest)
        dead.add(edge.target_node)
    return None


def last_answer_steps(state: TableState) -> tuple[tuple[int, int, int], ...]:
    """How the last checker goes in Long Nardy's last answer (7.14): (source, target, die).

    The opponent has nothing left on the board and the player one checker at home, so there is
    nothing to choose: it moves until it is off or the dice are used up.
    """
    dice = _dice(state)
    at = next(point for point, count in enumerate(state.position.points) if count > 0)
    numbers = [dice.high] * 4 if dice.is_double else [dice.high, dice.low]
    steps = []
    for number in numbers:
        target = max(at - number, OFF)
        steps.append((at, target, number))
        at = target
        if at == OFF:
            break
    return tuple(steps)
