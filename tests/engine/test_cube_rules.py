"""Which cubes, scores and options are possible, and when a double is legal."""

from __future__ import annotations

from typing import Any

import pytest

from bgserver.engine.cube_rules import cube_faults, double_refusals
from bgserver.engine.position import (
    Cube,
    CubeOwner,
    Dice,
    GamePhase,
    GameState,
    MatchScore,
    Resignation,
)

OWN_TWO = Cube(2, CubeOwner.ON_ROLL)
THEIR_TWO = Cube(2, CubeOwner.OPPONENT)


# Legality of a double, rules 4.3 and 4.8.


@pytest.mark.parametrize(
    ("state", "reasons"),
    [
        (GameState(), ()),
        (GameState(match=MatchScore(7, 6, 2, crawford=True)), ("CRAWFORD_GAME",)),
        (GameState(match=MatchScore(1)), ("ONE_POINT_MATCH",)),
        (GameState(dice=Dice(3, 1)), ("ALREADY_ROLLED",)),
        (GameState(cube=THEIR_TWO), ("NOT_CUBE_OWNER",)),
        (GameState(cube=Cube(64, CubeOwner.ON_ROLL)), ("CUBE_AT_CAP",)),
        (GameState(double_offered=True), ("OFFER_PENDING",)),
        (GameState(resignation=Resignation.GAMMON), ("OFFER_PENDING",)),
        (GameState(phase=GamePhase.FINISHED), ("GAME_OVER",)),
        (
            GameState(cube=Cube(64, CubeOwner.OPPONENT), dice=Dice(6, 6)),
            ("ALREADY_ROLLED", "NOT_CUBE_OWNER", "CUBE_AT_CAP"),
        ),
    ],
)
def test_every_reason_against_a_double_is_named(state: GameState, reasons: tuple[str, ...]) -> None:
    assert double_refusals(state) == reasons


@pytest.mark.parametrize(
    ("cube", "match", "options", "expected"),
    [
        (Cube(), None, {}, []),
        (Cube(8), None, {}, []),
        (Cube(64), None, {"jacoby": True, "beavers": True}, []),
        (Cube(3), None, {}, [("cube.value", "CUBE_VALUE_NOT_POWER_OF_TWO")]),
        (Cube(0), None, {}, [("cube.value", "CUBE_VALUE_NOT_POWER_OF_TWO")]),
        (Cube(-2), None, {}, [("cube.value", "CUBE_VALUE_NOT_POWER_OF_TWO")]),
        (Cube(1 << 31), None, {}, [
            ("cube.value", "CUBE_VALUE_NOT_POWER_OF_TWO"),
            ("cube.value", "CUBE_ABOVE_CAP"),
        ]),
        (Cube(cap=48), None, {}, [("cube.cap", "CUBE_CAP_NOT_POWER_OF_TWO")]),
        (Cube(128, CubeOwner.ON_ROLL), None, {}, [("cube.value", "CUBE_ABOVE_CAP")]),
        (Cube(1, CubeOwner.ON_ROLL), None, {}, [("cube.owner", "OWNED_CUBE_AT_ONE")]),
        (Cube(2), MatchScore(7), {}, [("cube.value", "CENTERED_CUBE_ABOVE_ONE")]),
        (OWN_TWO, MatchScore(1), {}, [("cube.value", "CUBE_IN_ONE_POINT_MATCH")]),
        (OWN_TWO, MatchScore(5, 4, 1, crawford=True), {}, [
            ("cube.value", "CUBE_IN_CRAWFORD_GAME")
        ]),
        (Cube(), MatchScore(0), {}, [("match.length", "LENGTH_OUT_OF_RANGE")]),
        (Cube(), MatchScore(513), {}, [("match.length", "LENGTH_OUT_OF_RANGE")]),
        (Cube(), MatchScore(5, -1, 5), {}, [
            ("match.on_roll", "SCORE_NEGATIVE"),
            ("match.opponent", "SCORE_NOT_BELOW_LENGTH"),
        ]),
        (Cube(), MatchScore(5, 3, 3, crawford=True), {}, [
            ("match.crawford", "CRAWFORD_IMPOSSIBLE")
        ]),
        (Cube(), MatchScore(5, 4, 4, crawford=True), {}, [
            ("match.crawford", "CRAWFORD_IMPOSSIBLE")
        ]),
        (Cube(), MatchScore(5), {"jacoby": True, "beavers": True}, [
            ("jacoby", "JACOBY_IN_MATCH"),
            ("beavers", "BEAVER_IN_MATCH"),
        ]),
        (Cube(), None, {"raccoons": True}, [
            ("raccoons", "RACCOON_WITHOUT_BEAVER"),
            ("raccoon_owner", "RACCOON_OWNER_REQUIRED"),
        ]),
    ],
)  # fmt: skip
def test_impossible_cubes_scores_and_options_are_named(
    cube: Cube, match: MatchScore | None, options: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    faults = cube_faults(cube, match, **options)
    assert [(fault.field, fault.reason) for fault in faults] == expected


def test_paths_carry_a_prefix() -> None:
    (fault,) = cube_faults(Cube(3), None, path="position.state.")
    assert fault.field == "position.state.cube.value"
