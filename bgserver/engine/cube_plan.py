"""Which cube states a look-ahead has to carry, turn by turn.

Before each roll the player whose turn it is may double and the other may pass, take or beaver.
From the states of one turn the states of the next follow, and since plays do not turn the cube
they are the same for every roll: the plan is made once for a question.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bgserver.engine.cube_advice import CubeUtilities
from bgserver.engine.cube_rules import raccoon_side
from bgserver.kernels import cube as kernels
from bgserver.kernels.cube_actions import beaver_allowed
from bgserver.kernels.cube_ladder import with_cube
from bgserver.kernels.cubeful import BEAVER, MAX_STATES, TAKE, CubePlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.engine.cube_rules import RaccoonOwner
    from bgserver.kernels.cube import CubeState, MatchTable

__all__ = ["CubeSearch", "plan_cube", "utility_of_turn"]

_State: TypeAlias = tuple[int, int]  # value and owner of the cube
_NO_STATE = "a plan without the state of the first turn"


@dataclass(frozen=True, slots=True, eq=False)
class CubeSearch:
    """What a look-ahead with the cube needs to know beside the board."""

    plan: CubePlan
    """The states, turn by turn."""
    table: MatchTable
    """Match equity table."""
    first: tuple[int, int, int, int]
    """The states of the first turn after no double, and after a double of the player on roll that
    is taken, beavered or, being beavered, raccooned; -1 where there is no such action."""

    def utilities(self, values: NDArray[np.float64]) -> CubeUtilities:
        """What the player on roll can get from the cube now.

        Args:
            values: float64[>= states of the first turn]: their values.
        """
        known = [None if number < 0 else float(values[number]) for number in self.first]
        no_double, take, beaver, raccoon = known
        if no_double is None:
            raise AssertionError(_NO_STATE)
        return CubeUtilities(no_double, take, beaver, raccoon)


def plan_cube(
    state: CubeState,
    table: MatchTable,
    depth: int,
    *,
    raccoon_owner: RaccoonOwner | None = None,
) -> CubeSearch:
    """Plan the cube states of a look-ahead.

    At the first turn a legal double is followed even if it can gain nothing, so that its value can
    be told. Raccoons are followed there only: in later turns nobody beavers so wrongly that one
    would be right.

    Args:
        state: Seen by the player on roll, who may double now.
        table: Match equity table, long enough for the match.
        depth: Rolls that are looked ahead, at least 1.
        raccoon_owner: Who owns the cube after a raccoon, if one may follow a beaver now.
    """
    has_cube = state.owner != kernels.OPPOSING and not state.crawford
    is_legal = has_cube and 2 * state.value <= state.cap
    courses = _courses(state, is_legal=is_legal)
    if raccoon_owner is not None and courses[BEAVER] is not None and 8 * state.value <= state.cap:
        courses.append((8 * state.value, raccoon_side(raccoon_owner)))
    turns: list[list[_State]] = [[]]
    first = _add(turns[0], courses)
    links = np.full((depth, MAX_STATES, 3), -1, dtype=np.int64)
    passed = np.zeros((depth, MAX_STATES))
    theirs = state
    for turn in range(depth - 1):
        theirs = kernels.turned(theirs)
        turns.append([])
        for number, (value, owner) in enumerate(turns[turn]):
            mine = with_cube(kernels.turned(theirs), value, owner)
            after = kernels.turned(mine)
            courses = _courses(after, is_legal=kernels.may_double(after))
            links[turn, number] = _add(turns[turn + 1], courses)
            passed[turn, number] = kernels.passed_utility(after, table)
    counts = np.array([len(states) for states in turns], dtype=np.int64)
    if counts.max() > MAX_STATES:
        message = f"{counts.max()} cube states at one turn"
        raise AssertionError(message)
    values = np.ones((depth, MAX_STATES), dtype=np.int64)
    owners = np.zeros((depth, MAX_STATES), dtype=np.int64)
    for turn, states in enumerate(turns):
        for number, (value, owner) in enumerate(states):
            values[turn, number], owners[turn, number] = value, owner
    lowest = with_cube(state, state.value, kernels.CENTERED)
    plan = CubePlan(
        state=lowest,
        counts=counts,
        values=values,
        owners=owners,
        links=links,
        passed=passed,
        most=(int(values.max()) // state.value).bit_length() - 1,
        key=_key(tuple(lowest), turns, table.pre.shape),
    )
    places = (*first, -1)[:4]
    return CubeSearch(plan, table, (places[0], places[1], places[2], places[3]))


def utility_of_turn(found: CubeUtilities, state: CubeState, table: MatchTable) -> float:
    """What a turn is worth to the player on roll when both play the cube rightly.

    Args:
        found: What he can get from the cube.
        state: Seen by him.
        table: Match equity table.
    """
    if found.double_take is None or not kernels.may_double(state):
        return found.no_double
    taken = found.double_take
    if found.double_beaver is not None and beaver_allowed(state):
        taken = min(taken, found.double_beaver)
    return max(found.no_double, min(taken, kernels.passed_utility(state, table)))


def _courses(state: CubeState, *, is_legal: bool) -> list[_State | None]:
    """The states after no double, take and beaver, seen by the player on roll."""
    courses: list[_State | None] = [(state.value, state.owner), None, None]
    if is_legal:
        courses[TAKE] = (2 * state.value, kernels.OPPOSING)
        if beaver_allowed(state):
            courses[BEAVER] = (4 * state.value, kernels.OPPOSING)
    return courses


def _add(states: list[_State], courses: list[_State | None]) -> list[int]:
    """Add the states that are missing; the place of each course, -1 for none."""
    for course in courses:
        if course is not None and course not in states:
            states.append(course)
    return [-1 if course is None else states.index(course) for course in courses]


def _key(*meaning: object) -> np.uint64:
    """A number that other plans do not have."""
    digest = hashlib.blake2b(repr(meaning).encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))
