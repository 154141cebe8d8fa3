"""Legal plays of a roll in Python terms, on top of the play generation kernels."""

from __future__ import annotations

import functools
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.errors import Fault, IllegalPlayError
from bgserver.engine.moments import require_running
from bgserver.engine.position import OFF, Dice, Position, Variant
from bgserver.kernels import moves
from bgserver.kernels import step_graph as graph_kernels

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Play",
    "Step",
    "StepEdge",
    "StepGraph",
    "StepNode",
    "board_array",
    "legal_plays",
    "play_between",
    "play_of_row",
    "play_rows",
    "position_of_board",
    "step_graph",
    "steps_of_row",
    "variant_code",
]


@dataclass(frozen=True, slots=True)
class Step:
    """One checker moved by one die, in the mover's numbers."""

    source: int
    """1..24, or 25 for the bar."""
    target: int
    """1..24, or 0 for off."""
    die: int
    """1..6; larger than source - target only when bearing off."""
    hit: bool
    """True if the step hits a blot."""


@dataclass(frozen=True, slots=True)
class Play:
    """Everything that a player does with one roll."""

    steps: tuple[Step, ...]
    """One legal order of the steps; empty if the turn is forfeited."""
    result: Position
    """The board after the play, still seen by the mover."""


@dataclass(frozen=True, slots=True)
class StepEdge:
    """A legal next step within a turn."""

    step: Step
    """The step."""
    target_node: int
    """Index of the node it leads to."""


@dataclass(frozen=True, slots=True)
class StepNode:
    """A board within a turn."""

    position: Position
    """The board, seen by the mover."""
    edges: tuple[StepEdge, ...]
    """The steps that are legal next."""
    is_complete: bool
    """True if the play may be confirmed here."""
    play_index: int | None
    """Index into `legal_plays` of the same roll if complete."""


@dataclass(frozen=True, slots=True)
class StepGraph:
    """Every legal step order: each path from node 0 to a complete node is one of them."""

    nodes: tuple[StepNode, ...]
    """The nodes; node 0 is the board before the play."""


class _Buffers(threading.local):
    """One set of kernel buffers for each thread."""

    def __init__(self) -> None:
        self.plays = moves.make_play_buffers()
        self.graph = graph_kernels.make_graph_buffers()


_buffers = _Buffers()


def variant_code(variant: Variant) -> int:
    """The kernels' code of a game."""
    return moves.BACKGAMMON if variant is Variant.BACKGAMMON else moves.LONG_NARDY


def board_array(position: Position) -> NDArray[np.int8]:
    """The position as the kernels' reference vector, int8[26]."""
    return np.array(position.points, dtype=np.int8)


def legal_plays(position: Position, dice: Dice, *, first_turn: bool = False) -> list[Play]:
    """Every distinct result of a roll, each once, with one canonical list of steps.

    Args:
        position: The board of the player who has rolled.
        dice: The roll.
        first_turn: Long Nardy: this is the mover's first turn (head exception, 7.5).

    Returns:
        At least one play; a forfeited turn gives one play without steps.

    Raises:
        WrongMomentError: `GAME_OVER` if one side has borne off all checkers.
    """
    boards, steps = play_rows(position, dice, first_turn=first_turn)
    variant = position.variant
    return [
        Play(made, position_of_board(board, variant))
        for made, board in zip(steps, boards.tolist(), strict=True)
    ]


def play_rows(
    position: Position, dice: Dice, *, first_turn: bool = False
) -> tuple[NDArray[np.int8], list[tuple[Step, ...]]]:
    """What `legal_plays` tells, without an object for each play.

    Returns:
        int8[n, 26], the boards after the plays, valid until this thread asks again; and the steps.
    """
    require_running(position)
    buffers = _buffers.plays
    variant = position.variant
    count = moves.generate_plays(
        board_array(position), dice.high, dice.low, variant_code(variant), first_turn, buffers
    )
    rows = buffers.steps[:count].tolist()
    lengths = buffers.n_steps[:count].tolist()
    start = list(position.points)
    steps = [
        steps_of_row(start, row, length, dice, variant)
        for row, length in zip(rows, lengths, strict=True)
    ]
    return buffers.boards[:count], steps


def play_of_row(position: Position, dice: Dice, buffers: moves.PlayBuffers, row: int) -> Play:
    """One play out of the generator's buffers.

    Args:
        position: The board before the play.
        dice: The roll.
        buffers: As `generate_plays` left them for this roll.
        row: Index of the play.
    """
    steps = steps_of_row(
        list(position.points),
        buffers.steps[row].tolist(),
        int(buffers.n_steps[row]),
        dice,
        position.variant,
    )
    return Play(steps, position_of_board(buffers.boards[row].tolist(), position.variant))


def position_of_board(points: list[int], variant: Variant) -> Position:
    """A position of 26 counts that a kernel made: legal by construction, so not checked again."""
    position = object.__new__(Position)
    object.__setattr__(position, "points", tuple(points))
    object.__setattr__(position, "variant", variant)
    return position


def steps_of_row(
    start: list[int], row: list[list[int]], length: int, dice: Dice, variant: Variant
) -> tuple[Step, ...]:
    """Steps with dice and hits from a kernel's (source, target) pairs.

    Args:
        start: 26 counts before the play; not changed.
        row: Pairs (source, target), at least `length` of them.
        length: Steps in the play.
        dice: The roll.
        variant: The game.
    """
    can_hit = variant is Variant.BACKGAMMON
    pairs = row[:length]
    dies: list[int] | None = None
    hit_before: list[int] = []
    steps: list[Step] = []
    for index, (source, target) in enumerate(pairs):
        die = source - target
        hit = False
        if target == OFF:
            if dies is None:
                dies = _dice_of_steps(start, pairs, dice)
            die = dies[index]
        elif can_hit and start[target] == -1 and target not in hit_before:
            hit = True
            hit_before.append(target)
        steps.append(_step(source, target, die, hit))
    return tuple(steps)


@functools.cache
def _step(source: int, target: int, die: int, hit: bool) -> Step:
    """A step; there are so few that each is made only once."""
    return Step(source, target, die, hit)


def _dice_of_steps(start: list[int], steps: list[list[int]], dice: Dice) -> list[int]:
    """Which die each step used; only a bear-off leaves a choice."""
    if dice.is_double:
        return [dice.high] * len(steps)
    for order in ((dice.high, dice.low), (dice.low, dice.high)):
        if _dice_fit(start, steps, order):
            return list(order[: len(steps)])
    message = f"steps {steps!r} do not fit the dice {dice!r}"
    raise AssertionError(message)


def _dice_fit(start: list[int], steps: list[list[int]], order: tuple[int, int]) -> bool:
    """True if the dice make the steps in this order (`rules.md` 2.21 for the bear-off)."""
    own = [max(count, 0) for count in start]
    for (source, target), die in zip(steps, order, strict=False):
        own[source] -= 1
        if source - target != die and (target != OFF or source > die or any(own[source + 1 :])):
            return False
        if target != OFF:
            own[target] += 1
    return True


def play_between(
    position: Position, dice: Dice, result: Position, *, first_turn: bool = False
) -> Play:
    """The legal play that leads to `result` (seen by the mover).

    Raises:
        IllegalPlayError: If no legal play leads there.
    """
    require_running(position)
    buffers = _buffers.plays
    code = variant_code(position.variant)
    count = moves.generate_plays(
        board_array(position), dice.high, dice.low, code, first_turn, buffers
    )
    rows = np.flatnonzero((buffers.boards[:count] == board_array(result)).all(axis=1))
    if len(rows):
        return play_of_row(position, dice, buffers, int(rows[0]))
    fault = Fault("play", "ILLEGAL_PLAY", "no legal play leads to this board")
    raise IllegalPlayError([fault])


def step_graph(position: Position, dice: Dice, *, first_turn: bool = False) -> StepGraph:
    """Every legal step order of a roll as a graph; arguments and errors as `legal_plays`."""
    require_running(position)
    variant = position.variant
    buffers = _buffers.graph
    n_nodes, n_edges = graph_kernels.build_graph(
        board_array(position), dice.high, dice.low, variant_code(variant), first_turn, buffers
    )
    plays = legal_plays(position, dice, first_turn=first_turn)
    index_of = {play.result.points: index for index, play in enumerate(plays)}
    states = buffers.state[:n_nodes].tolist()
    boards = buffers.boards[:n_nodes].tolist()
    numbers: dict[int, int] = {}
    for node, state in enumerate(states):
        if state > 0:
            numbers[node] = len(numbers)
    edges: list[list[StepEdge]] = [[] for _ in numbers]
    for node, source, target, die, hit, target_node in buffers.edges[:n_edges].tolist():
        if states[node] != 1 or states[target_node] == 0:
            continue  # nothing follows a complete play
        step = Step(source, target, die, bool(hit))
        edges[numbers[node]].append(StepEdge(step, numbers[target_node]))
    nodes = []
    for node, number in numbers.items():
        board = position_of_board(boards[node], variant)
        complete = states[node] == 2
        play_index = index_of[board.points] if complete else None
        nodes.append(StepNode(board, tuple(edges[number]), complete, play_index))
    return StepGraph(tuple(nodes))
