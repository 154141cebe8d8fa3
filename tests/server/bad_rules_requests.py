"""Bad requests to `RulesService`."""

from __future__ import annotations

import grpc

from bgserver.v1 import common_pb2, rules_pb2
from tests.server.bad_case import (
    FINISHED,
    NARDY,
    START,
    Case,
    apply,
    in_phase,
    marked,
    nardy,
    plays,
    points,
    state,
    steps_of,
)
from tests.server.requests import START_XGID, board, roll, start, xgid

_XGID = "position.xgid"
CASES = [
    Case("nothing at all", "Rules/ListPlays", plays(None), [("position", "POSITION_REQUIRED")]),
    Case(
        "25 numbers",
        "Rules/ListPlays",
        plays(board(START[:25]), 3, 1),
        [("position.position.points", "WRONG_LENGTH")],
    ),
    Case(
        "27 numbers",
        "Rules/ListPlays",
        plays(board([*START, 0]), 3, 1),
        [("position.position.points", "WRONG_LENGTH")],
    ),
    Case(
        "16 checkers of both sides",
        "Rules/ListPlays",
        plays(points(p6=6, p12=-6), 3, 1),
        [
            ("position.position.points", "TOO_MANY_OWN_CHECKERS"),
            ("position.position.points", "TOO_MANY_OPPOSING_CHECKERS"),
        ],
    ),
    Case(
        "bars of the wrong side, and a bad die",
        "Rules/ListPlays",
        plays(points(p0=1, p25=-1, p1=0, p24=0), 3, 7),
        [
            ("position.position.points[0]", "BAR_SIGN"),
            ("position.position.points[25]", "BAR_SIGN"),
            ("dice.second", "DIE_OUT_OF_RANGE"),
        ],
    ),
    Case(
        "a number that no checker count can be",
        "Rules/ListPlays",
        plays(points(p6=2**31 - 1), 3, 1),
        [("position.position.points", "TOO_MANY_OWN_CHECKERS")],
    ),
    Case(
        "a bar in long nardy",
        "Rules/ListPlays",
        plays(nardy([-1] + [0] * 11 + [-14] + [0] * 11 + [15, 0]), 3, 1),
        [("position.position.points[0]", "NO_BAR_IN_LONG_NARDY")],
    ),
    Case(
        "an unknown game",
        "Rules/ListPlays",
        plays(
            common_pb2.PositionSource(
                position=common_pb2.Position(
                    points=START,
                    variant=9,  # type: ignore[arg-type]  # on purpose
                )
            ),
            3,
            1,
        ),
        [("position.position.variant", "UNKNOWN_VALUE")],
    ),
    Case("no dice", "Rules/ListPlays", plays(start()), [("dice", "DICE_REQUIRED")]),
    Case(
        "dice of zeros",
        "Rules/ListPlays",
        plays(start(), 0, 0),
        [("dice.first", "DIE_OUT_OF_RANGE"), ("dice.second", "DIE_OUT_OF_RANGE")],
    ),
    Case(
        "two different rolls",
        "Rules/ListPlays",
        plays(xgid(START_XGID.replace(":00:", ":31:")), 6, 5),
        [("dice", "DICE_CONTRADICT")],
    ),
    Case(
        "an _XGID with four faults",
        "Rules/ListPlays",
        plays(xgid("XGID=-b----E-C---eE---c-e---PB-:0:2:1:71:0:0:0:0:6"), 3, 1),
        [
            (f"{_XGID}.position", "BAD_LETTER"),
            (f"{_XGID}.cube_owner", "BAD_OWNER"),
            (f"{_XGID}.dice", "BAD_DICE"),
        ],
    ),
    Case(
        "no play",
        "Rules/ApplyPlay",
        apply(None, 3, 1),
        [("play", "PLAY_REQUIRED")],
    ),
    Case(
        "notation that is none",
        "Rules/ApplyPlay",
        apply("hello world", 3, 1),
        [("notation", "BAD_SYNTAX"), ("notation", "BAD_SYNTAX")],
    ),
    Case(
        "a blocked play",
        "Rules/ApplyPlay",
        apply("24/18 13/12", 6, 5),
        [("notation", "NO_SUCH_DIE")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "a play that leaves a number out",
        "Rules/ApplyPlay",
        apply("8/5", 3, 1),
        [("notation", "MUST_USE_BOTH")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "steps onto a blocked point",
        "Rules/ApplyPlay",
        apply(None, 5, 1, steps=steps_of((24, 19), (6, 5))),
        [("steps.steps[0]", "BLOCKED")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "steps off the board",
        "Rules/ApplyPlay",
        apply(None, 5, 1, steps=steps_of((30, 25))),
        [
            ("steps.steps[0].source", "OUT_OF_RANGE"),
            ("steps.steps[0].target", "OUT_OF_RANGE"),
        ],
    ),
    Case(
        "plays of a finished game",
        "Rules/ListPlays",
        plays(board(FINISHED), 3, 1),
        [],
        reason="GAME_OVER",
        code=grpc.StatusCode.FAILED_PRECONDITION,
    ),
    Case(
        "plays before a game has begun",
        "Rules/ListPlays",
        rules_pb2.ListPlaysRequest(
            position=in_phase(common_pb2.GAME_PHASE_NOT_STARTED),
            dice=common_pb2.Dice(first=3, second=1),
        ),
        [],
        reason="GAME_NOT_STARTED",
        code=grpc.StatusCode.FAILED_PRECONDITION,
    ),
    Case(
        "a step said to hit where nothing stands",
        "Rules/ApplyPlay",
        apply(None, 3, 1, steps=marked((8, 5, 3, True), (6, 5, 1, False))),
        [("steps.steps[0].hit", "NO_HIT")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "a step with the other die",
        "Rules/ApplyPlay",
        apply(None, 3, 1, steps=marked((8, 5, 3, False), (6, 5, 3, False))),
        [("steps.steps[1].die", "NO_SUCH_DIE")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "a step of two numbers",
        "Rules/ApplyPlay",
        apply(None, 3, 1, steps=steps_of((24, 20))),
        [("steps.steps[0]", "NO_SUCH_DIE")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "a bear-off that only two steps could make",
        "Rules/ApplyPlay",
        rules_pb2.ApplyPlayRequest(
            position=board([0, 0, 0, 0, 0, 2] + [0] * 18 + [-2, 0]),
            dice=roll(6, 1),
            steps=steps_of((5, 0)),
        ),
        [("steps.steps", "MUST_USE_BOTH")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "a state that is wrong in every part",
        "Rules/ConvertPosition",
        rules_pb2.ConvertPositionRequest(
            position=state(
                on_roll=9,
                phase=9,
                resignation=9,
                beaver_level=9,
                cube=common_pb2.Cube(
                    value=3,
                    owner=9,  # type: ignore[arg-type]  # on purpose
                    cap=0,
                ),
                match=common_pb2.MatchScore(length=5, on_roll=7),
                jacoby=True,
            )
        ),
        [
            (f"position.state.{field}", reason)
            for field, reason in (
                ("on_roll", "UNKNOWN_VALUE"),
                ("cube.owner", "UNKNOWN_VALUE"),
                ("resignation", "UNKNOWN_VALUE"),
                ("phase", "UNKNOWN_VALUE"),
                ("beaver_level", "OUT_OF_RANGE"),
                ("cube.value", "NOT_A_CUBE_VALUE"),
                ("cube.cap", "NOT_A_CUBE_VALUE"),
                ("jacoby", "JACOBY_IN_MATCH"),
            )
        ],
    ),
    Case(
        "an owner that cannot be read, but might be either player",
        "Rules/ConvertPosition",
        rules_pb2.ConvertPositionRequest(
            position=state(
                cube=common_pb2.Cube(
                    value=2,
                    owner=9,  # type: ignore[arg-type]  # on purpose
                ),
                match=common_pb2.MatchScore(length=5),
            )
        ),
        [("position.state.cube.owner", "UNKNOWN_VALUE")],
    ),
    Case(
        "long nardy with all that needs a cube",
        "Rules/ConvertPosition",
        rules_pb2.ConvertPositionRequest(
            position=common_pb2.PositionSource(
                state=common_pb2.GameState(
                    position=nardy(NARDY).position,
                    cube=common_pb2.Cube(value=2),
                    jacoby=True,
                    beavers=True,
                    double_offered=True,
                )
            )
        ),
        [
            (f"position.state.{field}", "NO_CUBE_IN_LONG_NARDY")
            for field in ("cube.value", "double_offered", "jacoby", "beavers")
        ],
    ),
]
