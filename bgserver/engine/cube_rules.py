"""What the rules say about the cube: impossible combinations, and when a double is not legal.

Numbers are those of the rules specification (4.3 to 4.27): reasons have the names given there.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.met import MAX_LENGTH, is_post_crawford
from bgserver.engine.position import CubeOwner, GamePhase, Resignation, Variant
from bgserver.kernels.cube import CENTERED, OPPOSING, OWNED, CubeState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.engine.position import Cube, GameState, MatchScore

__all__ = [
    "MAX_CUBE_VALUE",
    "RaccoonOwner",
    "check_cube_question",
    "cube_faults",
    "cube_state",
    "double_refusals",
    "raccoon_side",
    "require_possible",
]

MAX_CUBE_VALUE = 1 << 30
"""The largest cube value, and cap, that the engine calculates with."""

_OWNERS = {
    CubeOwner.CENTERED: CENTERED,
    CubeOwner.ON_ROLL: OWNED,
    CubeOwner.OPPONENT: OPPOSING,
}


class RaccoonOwner(enum.Enum):
    """Who owns the cube after a raccoon; the sources disagree (4.22)."""

    BEAVERER = "beaverer"
    RACCOONER = "raccooner"


def raccoon_side(owner: RaccoonOwner | None) -> int:
    """`CubeState.owner` after a raccoon of the player on roll; unstated means the beaverer."""
    return OWNED if owner is RaccoonOwner.RACCOONER else OPPOSING


def cube_faults(
    cube: Cube,
    match: MatchScore | None,
    *,
    jacoby: bool = False,
    beavers: bool = False,
    raccoons: bool = False,
    raccoon_owner: RaccoonOwner | None = None,
    path: str = "",
) -> list[Fault]:
    """Everything that is impossible about a cube, a score and the money options together.

    Args:
        cube: The cube.
        match: The score, or None in money play. A centred cube above 1 is possible in money play
            only (automatic doubles).
        jacoby: The Jacoby rule is in force.
        beavers: Beavers are allowed.
        raccoons: Raccoons are allowed.
        raccoon_owner: Who owns the cube after a raccoon.
        path: Prefix of the field names, for example `state.`.
    """
    found = list(_value_faults(cube))
    if match is not None:
        found.extend(_match_faults(match))
        if not found:
            found.extend(_cube_in_match_faults(cube, match))
    found.extend(
        Fault(field, reason, message)
        for wrong, field, reason, message in (
            (match and jacoby, "jacoby", "JACOBY_IN_MATCH", "jacoby is for money play only"),
            (match and beavers, "beavers", "BEAVER_IN_MATCH", "there are no beavers in a match"),
            (match and raccoons, "raccoons", "RACCOON_IN_MATCH", "no raccoons in a match"),
            (
                raccoons and not beavers,
                "raccoons",
                "RACCOON_WITHOUT_BEAVER",
                "raccoons answer beavers, which are off",
            ),
            (
                raccoons and raccoon_owner is None,
                "raccoon_owner",
                "RACCOON_OWNER_REQUIRED",
                "state who owns the cube after a raccoon",
            ),
        )
        if wrong
    )
    return [Fault(path + fault.field, fault.reason, fault.message) for fault in found]


def _is_cube_number(value: int) -> bool:
    return 1 <= value <= MAX_CUBE_VALUE and value & (value - 1) == 0


def _value_faults(cube: Cube) -> Iterator[Fault]:
    for field, value in (("value", cube.value), ("cap", cube.cap)):
        if not _is_cube_number(value):
            message = f"expected a power of two from 1 to {MAX_CUBE_VALUE}, got {value}"
            yield Fault(f"cube.{field}", f"CUBE_{field.upper()}_NOT_POWER_OF_TWO", message)
    if cube.value > cube.cap:
        message = f"the cube shows {cube.value}, above its maximum {cube.cap}"
        yield Fault("cube.value", "CUBE_ABOVE_CAP", message)
    if cube.owner is not CubeOwner.CENTERED and cube.value == 1:
        message = "a cube that a player owns shows 2 or more"
        yield Fault("cube.owner", "OWNED_CUBE_AT_ONE", message)


def _match_faults(match: MatchScore) -> Iterator[Fault]:
    if not 1 <= match.length <= MAX_LENGTH:
        message = f"matches go to 1 to {MAX_LENGTH} points, got {match.length}"
        yield Fault("match.length", "LENGTH_OUT_OF_RANGE", message)
        return
    scores = (("on_roll", match.on_roll), ("opponent", match.opponent))
    good = True
    for field, score in scores:
        if score < 0:
            yield Fault(f"match.{field}", "SCORE_NEGATIVE", f"expected 0 or more, got {score}")
            good = False
        elif score >= match.length:
            message = f"{score} points are not below the match length {match.length}"
            yield Fault(f"match.{field}", "SCORE_NOT_BELOW_LENGTH", message)
            good = False
    if good and match.crawford:
        away = match.away
        if (away[0] == 1) == (away[1] == 1):
            message = "in the Crawford game exactly one side needs 1 point, "
            message += f"not {away[0]} and {away[1]}"
            yield Fault("match.crawford", "CRAWFORD_IMPOSSIBLE", message)


def _cube_in_match_faults(cube: Cube, match: MatchScore) -> Iterator[Fault]:
    """Faults of a good cube at a good score."""
    if cube.value == 1:
        return
    if match.crawford:
        message = "the cube stays centred at 1 in the Crawford game"
        yield Fault("cube.value", "CUBE_IN_CRAWFORD_GAME", message)
    elif match.length == 1:
        message = "the cube is not used in a match to 1 point"
        yield Fault("cube.value", "CUBE_IN_ONE_POINT_MATCH", message)
    elif cube.owner is CubeOwner.CENTERED:
        message = f"a centred cube shows 1 in a match, got {cube.value}"
        yield Fault("cube.value", "CENTERED_CUBE_ABOVE_ONE", message)


def double_refusals(state: GameState) -> tuple[str, ...]:
    """Why the player on roll may not double now (4.3, 4.8); empty if he may.

    Reasons that a `GameState` cannot tell are left to the caller: `CUBE_OFF`, `OPENING_TURN` and
    `HOLLAND_WAIT`.
    """
    match, cube = state.match, state.cube
    pending = state.double_offered or state.resignation is not Resignation.NONE
    reasons = (
        (match is not None and match.crawford, "CRAWFORD_GAME"),
        (match is not None and match.length == 1, "ONE_POINT_MATCH"),
        (state.dice is not None, "ALREADY_ROLLED"),
        (cube.owner is CubeOwner.OPPONENT, "NOT_CUBE_OWNER"),
        (2 * cube.value > cube.cap, "CUBE_AT_CAP"),
        (pending, "OFFER_PENDING"),
        (state.position.is_finished or state.phase is not GamePhase.PLAYING, "GAME_OVER"),
    )
    return tuple(reason for holds, reason in reasons if holds)


def check_cube_question(
    state: GameState,
    *,
    raccoons: bool = False,
    raccoon_owner: RaccoonOwner | None = None,
) -> None:
    """Raise `InvalidInputError` with every fault unless `state` can be asked about its cube."""
    faults = cube_faults(
        state.cube,
        state.match,
        jacoby=state.jacoby,
        beavers=state.beavers,
        raccoons=raccoons,
        raccoon_owner=raccoon_owner,
    )
    if state.position.variant is not Variant.BACKGAMMON:
        message = "the doubling cube belongs to backgammon"
        faults.append(Fault("position.variant", "CUBE_NOT_IN_VARIANT", message))
    if faults:
        raise InvalidInputError(faults)


def require_possible(state: GameState) -> None:
    """Raise `InvalidInputError` if cube, score and money rules cannot go together."""
    faults = cube_faults(state.cube, state.match, jacoby=state.jacoby, beavers=state.beavers)
    if state.position.variant is Variant.LONG_NARDY and state.cube.value > 1:
        message = "long nardy is played without a cube"
        faults.append(Fault("cube.value", "NO_CUBE_IN_LONG_NARDY", message))
    if faults:
        raise InvalidInputError(faults)


def cube_state(state: GameState) -> CubeState:
    """Cube, score and money rules in the form that kernels take; the state must be faultless."""
    match = state.match
    away_own, away_opponent = match.away if match is not None else (0, 0)
    return CubeState(
        value=state.cube.value,
        owner=_OWNERS[state.cube.owner],
        away_own=away_own,
        away_opponent=away_opponent,
        crawford=match is not None and match.crawford,
        post_crawford=match is not None and is_post_crawford(match),
        jacoby=state.jacoby,
        beavers=state.beavers,
        cap=state.cube.cap,
    )
