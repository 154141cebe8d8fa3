"""Move notation: `13/8 6/5*`, `bar/22`, `6/off(2)`.

Written: one canonical text for each result. Steps of one checker are joined (`24/13`), but a point
where it hits on the way stays visible (`24/18*/13`); equal moves are counted (`8/5(2)`); moves go
from high to low; `bar` and `off` are in lower case, `*` follows the point that is hit; a forfeited
turn is `cannot move`.

Read: in any order, with `25` for `bar` and `0` for `off`, any case, commas, extra blanks, joined
moves with or without the points between, and with or without `*`. A star where nothing is hit is
wrong. A missing star is accepted where the result is unique; where both a hitting and a quiet way
exist, no star means the quiet one, as it does in canonical text. Nothing is ever guessed: what
still fits several results is refused with all of them, and an illegal play with its reason.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.errors import (
    AmbiguousPlayError,
    Fault,
    IllegalPlayError,
    InvalidInputError,
)
from bgserver.engine.plays import legal_plays, step_graph
from bgserver.engine.position import BAR, OFF, Variant
from bgserver.engine.refusals import explain_illegal_steps, point_name, traps_all
from bgserver.formats._text import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bgserver.engine.plays import Play, StepGraph
    from bgserver.engine.position import Dice, Position

__all__ = ["CANNOT_MOVE", "format_play", "parse_play"]

CANNOT_MOVE = "cannot move"
"""The notation of a forfeited turn."""
_FORFEITS = (CANNOT_MOVE, "can't move", "no move", "no play")
_MAX_TEXT = 200
_MAX_MOVES = 4
_FIELD = "play"
_POINT = r"(?:bar|off|[0-9]{1,2})"
_MOVE = re.compile(
    rf"(?P<path>{_POINT}(?:/{_POINT}\*?)+)(?:\((?P<count>[0-9])\))?(?P<star>\*?)", re.ASCII
)
_NAMES = {"bar": BAR, "off": OFF}


# --- writing -------------------------------------------------------------------------------------


def format_play(play: Play, position: Position) -> str:
    """The canonical notation of a play.

    Args:
        play: The play.
        position: The board before the play, seen by the mover.
    """
    if not play.steps:
        return CANNOT_MOVE
    steps = [(step.source, step.target) for step in play.steps]
    from_the_back = sorted(steps, reverse=True)
    hits: set[int] = set()
    if position.variant is Variant.BACKGAMMON:
        hits = {target for _, target in steps if target != OFF and position.points[target] == -1}
        steps = from_the_back
    elif not _meets_prime(position, from_the_back):
        # Any legal steps can be made from the back, unless the prime rule forbids one then.
        steps = from_the_back
    chains = Counter(_chains(steps))
    ends = {chain[-1] for chain in chains}
    moves = []
    for chain, count in sorted(chains.items(), key=lambda item: item[0], reverse=True):
        text = point_name(chain[0])
        for point in chain[1:]:
            is_end = point == chain[-1]
            # A hit shows once, on the way only if no checker stays on the point.
            shows_hit = point in hits and (is_end or point not in ends)
            if is_end or shows_hit:
                text += f"/{point_name(point)}{'*' * shows_hit}"
            if shows_hit:
                hits.remove(point)
        moves.append((-chain[0], -chain[-1], text + (f"({count})" if count > 1 else "")))
    return " ".join(text for _, _, text in sorted(moves))


def _meets_prime(position: Position, steps: Iterable[tuple[int, int]]) -> bool:
    """True if one of the boards on the way breaks Long Nardy's prime rule."""
    points = list(position.points)
    for source, target in steps:
        points[source] -= 1
        if target != OFF:
            points[target] += 1
        if traps_all(points):
            return True
    return False


def _chains(steps: Iterable[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The steps joined where one ends and a later one begins: the way of each checker."""
    chains: list[list[int]] = []
    for source, target in steps:
        # Of several checkers that could move on the one from farthest back does.
        waiting = [chain for chain in chains if chain[-1] == source]
        if waiting:
            max(waiting).append(target)
        else:
            chains.append([source, target])
    return [tuple(chain) for chain in chains]


# --- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Move:
    """One checker's move as it is written."""

    points: tuple[int, ...]
    """The source, points that it must touch, and the target."""
    stars: frozenset[int]
    """Points that carry a star."""


def parse_play(text: str, position: Position, dice: Dice, *, first_turn: bool = False) -> Play:
    """The legal play that a text means.

    Args:
        text: The notation.
        position: The board of the player who has rolled.
        dice: The roll.
        first_turn: Long Nardy: this is the mover's first turn (head exception, 7.5).

    Raises:
        InvalidInputError: If the text is no notation; one fault for each bad move.
        IllegalPlayError: If the play is not legal, with the reason (`rules.md` 2.28).
        AmbiguousPlayError: If it fits several results, with one fault for each.
        WrongMomentError: `GAME_OVER` if one side has borne off all checkers.

    >>> from bgserver.engine.position import Dice, Position
    >>> start = Position.start()
    >>> play = parse_play("6/5, 8 / 5", start, Dice(3, 1))
    >>> format_play(play, start)
    '8/5 6/5'
    """
    moves = _read(text)
    plays = legal_plays(position, dice, first_turn=first_turn)
    graph = step_graph(position, dice, first_turn=first_turn)
    found = [plays[index] for index in sorted(_matching_plays(graph, moves))]
    if not found:
        raise IllegalPlayError([_illegality(moves, position, dice, first_turn=first_turn)])
    stars = frozenset(point for move in moves for point in move.stars)
    hits = {play: _hits(play, position) for play in found}
    fitting = [play for play in found if stars <= hits[play]]
    if not fitting:
        wrong = sorted(stars - frozenset().union(*hits.values())) or sorted(stars)
        message = f"nothing is hit on point {', '.join(map(str, wrong))}"
        raise IllegalPlayError([Fault(_FIELD, "NO_HIT", message)])
    exact = [play for play in fitting if stars == hits[play]]
    chosen = exact or fitting
    if len(chosen) > 1:
        raise AmbiguousPlayError(
            Fault(_FIELD, "AMBIGUOUS_PLAY", f"it could be {format_play(play, position)}")
            for play in chosen
        )
    return chosen[0]


def _read(text: str) -> list[_Move]:
    """The moves of a text; none for a forfeited turn."""
    if len(text) > _MAX_TEXT:
        message = f"expected at most {_MAX_TEXT} characters, got {len(text)}"
        raise InvalidInputError([Fault(_FIELD, "TOO_LONG", message)])
    plain = " ".join(text.lower().replace(",", " ").split())
    if plain in _FORFEITS:
        return []
    plain = re.sub(r" ?/ ?", "/", plain)
    plain = re.sub(r" ([(*])", r"\1", plain)
    words = plain.split()
    if not words:
        message = f"expected moves such as 13/8 6/5, or {CANNOT_MOVE!r}, got nothing"
        raise InvalidInputError([Fault(_FIELD, "EMPTY", message)])
    faults: list[Fault] = []
    moves: list[_Move] = []
    for word in words:
        moves.extend(_read_word(word, faults))
    if len(moves) > _MAX_MOVES:
        message = f"at most {_MAX_MOVES} checkers can move, got {len(moves)} moves"
        faults.append(Fault(_FIELD, "TOO_MANY_MOVES", message))
    if faults:
        raise InvalidInputError(faults)
    return moves


def _read_word(word: str, faults: list[Fault]) -> Iterator[_Move]:
    match = _MOVE.fullmatch(word)
    if match is None:
        message = f"expected a move such as 13/8, bar/22* or 6/off(2), got {shown(word)}"
        faults.append(Fault(_FIELD, "BAD_SYNTAX", message))
        return
    names = match["path"].split("/")
    names[-1] += match["star"]
    points = tuple(_point(name.rstrip("*")) for name in names)
    stars = frozenset(
        point for point, name in zip(points, names, strict=True) if name.endswith("*")
    )
    count = int(match["count"] or 1)
    if max(points) > BAR or BAR in points[1:] or OFF in points[:-1]:
        message = f"a move goes from bar or a point to a point or off, got {shown(word)}"
        faults.append(Fault(_FIELD, "POINT_OUT_OF_RANGE", message))
    elif any(source <= target for source, target in itertools.pairwise(points)):
        message = f"checkers move from high to low points, got {shown(word)}"
        faults.append(Fault(_FIELD, "WRONG_DIRECTION", message))
    elif not 1 <= count <= _MAX_MOVES:
        message = f"a move is made 1 to {_MAX_MOVES} times, got {shown(word)}"
        faults.append(Fault(_FIELD, "BAD_COUNT", message))
    elif names[-1].endswith("**") or (OFF in stars):
        message = f"a star marks one hit on a point, got {shown(word)}"
        faults.append(Fault(_FIELD, "BAD_SYNTAX", message))
    else:
        yield from [_Move(points, stars)] * count


def _point(name: str) -> int:
    return _NAMES[name] if name in _NAMES else int(name)


def _matching_plays(graph: StepGraph, moves: list[_Move]) -> set[int]:
    """Indices of the legal plays that some legal order of steps makes as the moves say."""
    found: set[int] = set()
    # A state is a node of the graph and, for each move, where its checker is now.
    start = (0, tuple(move.points[0] for move in moves))
    seen = {start}
    open_states = [start]
    while open_states:
        node_index, checkers = open_states.pop()
        node = graph.nodes[node_index]
        arrived = all(
            checker == move.points[-1] for checker, move in zip(checkers, moves, strict=True)
        )
        if node.is_complete and node.play_index is not None and arrived:
            found.add(node.play_index)
        for edge in node.edges:
            for index, (checker, move) in enumerate(zip(checkers, moves, strict=True)):
                if checker != edge.step.source or checker == move.points[-1]:
                    continue
                following = next(point for point in move.points if point < checker)
                if edge.step.target < following:
                    continue
                state = (
                    edge.target_node,
                    (*checkers[:index], edge.step.target, *checkers[index + 1 :]),
                )
                if state not in seen:
                    seen.add(state)
                    open_states.append(state)
    return found


def _hits(play: Play, position: Position) -> frozenset[int]:
    """The points on which a play hits."""
    if position.variant is not Variant.BACKGAMMON:
        return frozenset()
    return frozenset(
        point
        for point in range(1, BAR)
        if position.points[point] == -1 and play.result.points[point] >= 0
    )


def _illegality(moves: list[_Move], position: Position, dice: Dice, *, first_turn: bool) -> Fault:
    """Why no legal play makes the moves: from the order of them that comes farthest."""
    ordered = sorted(moves, key=lambda move: move.points, reverse=True)
    faults = []
    for order in itertools.permutations(ordered):
        steps = [pair for move in order for pair in itertools.pairwise(move.points)]
        faults.append(explain_illegal_steps(position, dice, steps, first_turn))
    farthest = max((fault for fault in faults if fault is not None), key=_steps_made)
    return Fault(_FIELD, farthest.reason, farthest.message)


def _steps_made(fault: Fault) -> int:
    """How many steps could be made before the fault; a fault of `steps` comes after all."""
    index = re.search(r"\d+", fault.field)
    return int(index.group()) if index else _MAX_TEXT
