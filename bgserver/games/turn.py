"""One roll played step by step: what is possible, several dice in one tap, what is left.

The graph of all step orders of a roll is built once and kept for the rest of the turn.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from bgserver.engine.errors import WrongMomentError
from bgserver.engine.plays import Step, step_graph
from bgserver.engine.position import OFF, Dice, Position, Variant
from bgserver.engine.refusals import explain_illegal_steps
from bgserver.games.actions import StepOrder
from bgserver.games.rules import HeadException, HeadExceptionScope, LongNardyRules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
    "step_expansions",
    "steps_of_pairs",
]

_KEPT_GRAPHS = 1024  # one takes 10 KB on average, 1 MB at worst

_Edge = tuple[int, int, int, bool, int]
"""A step that is possible: source, target, die, hit, and the node it leads to."""


class _Graph(NamedTuple):
    """The boards within a turn and the steps between them; node 0 is the start.

    Numbers in tuples only: the garbage collector does not have to look at them, however many
    rolls are kept.
    """

    edges: tuple[tuple[_Edge, ...], ...]
    """For each node the steps that are possible next."""
    ends: tuple[int, ...]
    """For each node the number of the result if the play is complete there, else -1."""
    results: tuple[tuple[int, ...], ...]
    """The distinct boards that the roll can lead to, 26 counts each, seen by the mover."""


@functools.lru_cache(maxsize=2048)
def _step(source: int, target: int, die: int, hit: bool) -> Step:
    """A step; there are so few that each is made only once."""
    return Step(source, target, die, hit)


def _made(edge: _Edge) -> Step:
    return _step(*edge[:4])


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
def _graph(position: Position, high: int, low: int, is_first_turn: bool) -> _Graph:
    nodes = step_graph(position, Dice(high, low), first_turn=is_first_turn).nodes
    edges = tuple(
        tuple(
            (one.step.source, one.step.target, one.step.die, one.step.hit, one.target_node)
            for one in node.edges
        )
        for node in nodes
    )
    ends = tuple(-1 if node.play_index is None else node.play_index for node in nodes)
    boards = {end: node.position.points for end, node in zip(ends, nodes, strict=True)}
    return _Graph(edges, ends, tuple(boards[index] for index in range(max(boards) + 1)))


def _graph_of(state: TableState) -> _Graph:
    dice = _dice(state)
    return _graph(state.turn_start, dice.high, dice.low, first_turn(state))


def _dice(state: TableState) -> Dice:
    if state.dice is None:
        message = "no dice are being played"
        raise AssertionError(message)
    return state.dice


def _node(state: TableState, graph: _Graph) -> int:
    """Where the steps made so far have led."""
    return _after(graph, 0, state.steps)


def _after(graph: _Graph, node: int, steps: Iterable[Step]) -> int:
    for step in steps:
        made = (step.source, step.target, step.die, step.hit)
        node = next(edge[4] for edge in graph.edges[node] if edge[:4] == made)
    return node


def is_complete(state: TableState) -> bool:
    """Whether the steps made so far are a legal complete play (2.26)."""
    if state.last_answer:
        return False
    graph = _graph_of(state)
    return graph.ends[_node(state, graph)] >= 0


def is_forfeit(state: TableState) -> bool:
    """Whether no number of the roll can be played (2.11)."""
    return not state.last_answer and _graph_of(state).ends[0] >= 0


def _paths(
    graph: _Graph, node: int, source: int, target: int, most: int
) -> Iterator[tuple[Step, ...]]:
    """The ways to move one checker from `source` to `target` with at most `most` dice."""
    for edge in graph.edges[node]:
        if edge[0] != source or edge[1] < target:
            continue
        if edge[1] == target:
            yield (_made(edge),)
        elif most > 1:
            for rest in _paths(graph, edge[4], edge[1], target, most - 1):
                yield (_made(edge), *rest)


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
    edges = graph.edges[_node(state, graph)]
    single = all(graph.ends[edge[4]] >= 0 for edge in edges)
    if not state.steps and single and not dice.is_double:
        number = edges[0][2]
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
    graph: _Graph,
    node: int,
    made: tuple[Step, ...],
    ways: dict[tuple[int, int], list[tuple[Step, ...]]],
) -> None:
    for edge in graph.edges[node]:
        if made and edge[0] != made[-1].target:
            continue
        way = (*made, _made(edge))
        ways.setdefault((way[0].source, edge[1]), []).append(way)
        if edge[1] != OFF:
            _collect(graph, edge[4], way, ways)


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


def _finish(graph: _Graph, node: int, pairs: Sequence[tuple[int, int]]) -> tuple[Step, ...] | None:
    if not pairs:
        return () if graph.ends[node] >= 0 else None
    (source, target), *rest = pairs
    for way in sorted(_paths(graph, node, source, target, 4), key=_high_first):
        after = _finish(graph, _after(graph, node, way), rest)
        if after is not None:
            return way + after
    return None


def _high_first(way: tuple[Step, ...]) -> tuple[int, list[int]]:
    return len(way), [-step.die for step in way]


def _ends(graph: _Graph, node: int) -> Iterator[int]:
    """The result of every complete play that can be reached; some more than once."""
    seen = {node}
    waiting = [node]
    while waiting:
        at = waiting.pop()
        if graph.ends[at] >= 0:
            yield graph.ends[at]
        for edge in graph.edges[at]:
            if edge[4] not in seen:
                seen.add(edge[4])
                waiting.append(edge[4])


def only_rest(state: TableState) -> tuple[Step, ...] | None:
    """The steps that are left if they can lead to one board only (6.7); None if there is a choice.

    Empty if the play is complete.
    """
    graph = _graph_of(state)
    node = _node(state, graph)
    found = -1
    for index in _ends(graph, node):
        if found not in {-1, index}:
            return None
        found = index
    return _rest(graph, node)


def _rest(graph: _Graph, node: int) -> tuple[Step, ...]:
    """Some steps to the end of the play."""
    steps: list[Step] = []
    while graph.ends[node] < 0:
        edge = graph.edges[node][0]
        steps.append(_made(edge))
        node = edge[4]
    return tuple(steps)


def any_rest(state: TableState) -> tuple[Step, ...]:
    """Some steps that finish the play."""
    graph = _graph_of(state)
    return _rest(graph, _node(state, graph))


def rest_to(state: TableState, result: Position) -> tuple[Step, ...] | None:
    """Steps that lead from where the turn stands to a board; None if none do."""
    graph = _graph_of(state)
    if result.points not in graph.results:
        return None
    wanted = graph.results.index(result.points)
    return _way_to(graph, _node(state, graph), wanted, set())


def _way_to(graph: _Graph, node: int, wanted: int, dead: set[int]) -> tuple[Step, ...] | None:
    if graph.ends[node] >= 0:
        return () if graph.ends[node] == wanted else None
    for edge in graph.edges[node]:
        if edge[4] in dead:
            continue
        rest = _way_to(graph, edge[4], wanted, dead)
        if rest is not None:
            return (_made(edge), *rest)
        dead.add(edge[4])
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
