"""Bad requests, and what clients are told about each: code, reason, faults with their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import grpc

from bgserver.v1 import common_pb2, engine_pb2, rules_pb2, simulation_pb2
from tests.server.requests import START_XGID, board, roll, start, xgid

if TYPE_CHECKING:
    from google.protobuf.message import Message

_START = list(start().position.points)
_NARDY = [0] * 12 + [-15] + [0] * 11 + [15, 0]
_FINISHED = [0] * 19 + [-15] + [0] * 6
INVALID = grpc.StatusCode.INVALID_ARGUMENT
ENDS = ("source", "target")


def _points(**changes: int) -> common_pb2.PositionSource:
    """The start with some counts changed, `p6=20` for point 6."""
    points = list(_START)
    for name, count in changes.items():
        points[int(name[1:])] = count
    return board(points)


def _nardy(points: list[int]) -> common_pb2.PositionSource:
    position = common_pb2.Position(points=points, variant=common_pb2.VARIANT_LONG_NARDY)
    return common_pb2.PositionSource(position=position)


def state(**fields: Any) -> common_pb2.PositionSource:
    position = common_pb2.Position(points=_START)
    return common_pb2.PositionSource(state=common_pb2.GameState(position=position, **fields))


def _plays(source: common_pb2.PositionSource | None, *dice: int) -> rules_pb2.ListPlaysRequest:
    return rules_pb2.ListPlaysRequest(position=source, dice=roll(*dice) if dice else None)


def apply(notation: Any, *dice: int, steps: Any = None) -> rules_pb2.ApplyPlayRequest:
    return rules_pb2.ApplyPlayRequest(
        position=start(), dice=roll(*dice), notation=notation, steps=steps
    )


def steps_of(*pairs: tuple[int, int]) -> rules_pb2.StepList:
    return rules_pb2.StepList(
        steps=[common_pb2.Step(source=source, target=target) for source, target in pairs]
    )


def _marked(*steps: tuple[int, int, int, bool]) -> rules_pb2.StepList:
    return rules_pb2.StepList(
        steps=[
            common_pb2.Step(source=source, target=target, die=die, hit=hit)
            for source, target, die, hit in steps
        ]
    )


class Case(NamedTuple):
    """A bad request and what the client is told."""

    name: str
    method: str
    request: Message
    faults: list[tuple[str, str]]
    reason: str = "INVALID_INPUT"
    code: grpc.StatusCode = INVALID


def _in_phase(phase: common_pb2.GamePhase.ValueType) -> common_pb2.PositionSource:
    """The start position in a game that is in another phase than being played."""
    state = common_pb2.GameState(position=start().position, phase=phase)
    return common_pb2.PositionSource(state=state)


_XGID = "position.xgid"
CASES = [
    Case("nothing at all", "Rules/ListPlays", _plays(None), [("position", "POSITION_REQUIRED")]),
    Case(
        "25 numbers",
        "Rules/ListPlays",
        _plays(board(_START[:25]), 3, 1),
        [("position.position.points", "WRONG_LENGTH")],
    ),
    Case(
        "27 numbers",
        "Rules/ListPlays",
        _plays(board([*_START, 0]), 3, 1),
        [("position.position.points", "WRONG_LENGTH")],
    ),
    Case(
        "16 checkers of both sides",
        "Rules/ListPlays",
        _plays(_points(p6=6, p12=-6), 3, 1),
        [
            ("position.position.points", "TOO_MANY_OWN_CHECKERS"),
            ("position.position.points", "TOO_MANY_OPPOSING_CHECKERS"),
        ],
    ),
    Case(
        "bars of the wrong side, and a bad die",
        "Rules/ListPlays",
        _plays(_points(p0=1, p25=-1, p1=0, p24=0), 3, 7),
        [
            ("position.position.points[0]", "BAR_SIGN"),
            ("position.position.points[25]", "BAR_SIGN"),
            ("dice.second", "DIE_OUT_OF_RANGE"),
        ],
    ),
    Case(
        "a number that no checker count can be",
        "Rules/ListPlays",
        _plays(_points(p6=2**31 - 1), 3, 1),
        [("position.position.points", "TOO_MANY_OWN_CHECKERS")],
    ),
    Case(
        "a bar in long nardy",
        "Rules/ListPlays",
        _plays(_nardy([-1] + [0] * 11 + [-14] + [0] * 11 + [15, 0]), 3, 1),
        [("position.position.points[0]", "NO_BAR_IN_LONG_NARDY")],
    ),
    Case(
        "an unknown game",
        "Rules/ListPlays",
        _plays(
            common_pb2.PositionSource(
                position=common_pb2.Position(
                    points=_START,
                    variant=9,  # type: ignore[arg-type]  # on purpose
                )
            ),
            3,
            1,
        ),
        [("position.position.variant", "UNKNOWN_VALUE")],
    ),
    Case("no dice", "Rules/ListPlays", _plays(start()), [("dice", "DICE_REQUIRED")]),
    Case(
        "dice of zeros",
        "Rules/ListPlays",
        _plays(start(), 0, 0),
        [("dice.first", "DIE_OUT_OF_RANGE"), ("dice.second", "DIE_OUT_OF_RANGE")],
    ),
    Case(
        "two different rolls",
        "Rules/ListPlays",
        _plays(xgid(START_XGID.replace(":00:", ":31:")), 6, 5),
        [("dice", "DICE_CONTRADICT")],
    ),
    Case(
        "an XGID with four faults",
        "Rules/ListPlays",
        _plays(xgid("XGID=-b----E-C---eE---c-e---PB-:0:2:1:71:0:0:0:0:6"), 3, 1),
        [
            (f"{_XGID}.position", "BAD_LETTER"),
            (f"{_XGID}.cube_owner", "BAD_OWNER"),
            (f"{_XGID}.dice", "BAD_DICE"),
        ],
    ),
    Case(
        "half an XGID",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(position=xgid("XGID=-b----E-C---eE---c-e----B-:0:0:1")),
        [(_XGID, "FIELD_COUNT")],
    ),
    Case(
        "a GNU ID that is too short",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(
            position=common_pb2.PositionSource(gnu_id=common_pb2.GnuId(position_id="4HPwATDgc"))
        ),
        [("position.gnu_id.position_id", "WRONG_LENGTH")],
    ),
    Case(
        "a state with an impossible cube and score",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(
            position=state(
                cube=common_pb2.Cube(value=3),
                match=common_pb2.MatchScore(length=5, on_roll=5, opponent=0),
                jacoby=True,
            )
        ),
        [
            ("position.state.cube.value", "NOT_A_CUBE_VALUE"),
            ("position.state.match", "SCORE_NOT_BELOW_LENGTH"),
            ("position.state.jacoby", "JACOBY_IN_MATCH"),
        ],
    ),
    Case(
        "a level for simulations only",
        "Engine/RankPlays",
        engine_pb2.RankPlaysRequest(
            position=start(),
            dice=roll(3, 1),
            limit=common_pb2.Limit(level=common_pb2.LEVEL_RANDOM),
        ),
        [("limit.level", "UNSUPPORTED_LEVEL")],
    ),
    Case(
        "an unknown level and no dice",
        "Engine/RankPlays",
        engine_pb2.RankPlaysRequest(
            position=start(),
            limit=common_pb2.Limit(level=77),  # type: ignore[arg-type]  # on purpose
        ),
        [("dice", "DICE_REQUIRED"), ("limit.level", "UNKNOWN_VALUE")],
    ),
    Case(
        "a limit that limits nothing",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(position=start(), limit=common_pb2.Limit()),
        [("limit", "LIMIT_REQUIRED")],
    ),
    Case(
        "a level that is not said",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(
            position=start(), limit=common_pb2.Limit(level=common_pb2.LEVEL_UNSPECIFIED)
        ),
        [("limit.level", "LEVEL_REQUIRED")],
    ),
    Case(
        "no time, and no dice",
        "Engine/RankPlays",
        engine_pb2.RankPlaysRequest(position=start(), limit=common_pb2.Limit(milliseconds=0)),
        [("dice", "DICE_REQUIRED"), ("limit.milliseconds", "OUT_OF_RANGE")],
    ),
    Case(
        "more than ten minutes, and a cube in long nardy",
        "Engine/AdviseCube",
        engine_pb2.AdviseCubeRequest(
            position=_nardy(_NARDY), limit=common_pb2.Limit(milliseconds=600_001)
        ),
        [
            ("limit.milliseconds", "OUT_OF_RANGE"),
            ("position.position.variant", "NO_CUBE_IN_LONG_NARDY"),
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
        _plays(board(_FINISHED), 3, 1),
        [],
        reason="GAME_OVER",
        code=grpc.StatusCode.FAILED_PRECONDITION,
    ),
    Case(
        "evaluation of a finished game",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(position=board(_FINISHED)),
        [],
        reason="GAME_OVER",
        code=grpc.StatusCode.FAILED_PRECONDITION,
    ),
    Case(
        "plays before a game has begun",
        "Rules/ListPlays",
        rules_pb2.ListPlaysRequest(
            position=_in_phase(common_pb2.GAME_PHASE_NOT_STARTED),
            dice=common_pb2.Dice(first=3, second=1),
        ),
        [],
        reason="GAME_NOT_STARTED",
        code=grpc.StatusCode.FAILED_PRECONDITION,
    ),
    Case(
        "evaluation after a dropped double",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(position=_in_phase(common_pb2.GAME_PHASE_DROPPED)),
        [],
        reason="GAME_OVER",
        code=grpc.StatusCode.FAILED_PRECONDITION,
    ),
    Case(
        "a play while a double waits for its answer",
        "Engine/RankPlays",
        engine_pb2.RankPlaysRequest(
            position=common_pb2.PositionSource(
                xgid="XGID=-b----E-C---eE---c-e----B-:0:0:1:D:0:0:0:0:10"
            ),
            dice=common_pb2.Dice(first=3, second=1),
        ),
        [],
        reason="OFFER_PENDING",
        code=grpc.StatusCode.FAILED_PRECONDITION,
    ),
    Case(
        "a step said to hit where nothing stands",
        "Rules/ApplyPlay",
        apply(None, 3, 1, steps=_marked((8, 5, 3, True), (6, 5, 1, False))),
        [("steps.steps[0].hit", "NO_HIT")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "a step with the other die",
        "Rules/ApplyPlay",
        apply(None, 3, 1, steps=_marked((8, 5, 3, False), (6, 5, 3, False))),
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
                    position=_nardy(_NARDY).position,
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
    Case(
        "the cube in long nardy",
        "Engine/AdviseCube",
        engine_pb2.AdviseCubeRequest(position=_nardy(_NARDY)),
        [("position.position.variant", "NO_CUBE_IN_LONG_NARDY")],
    ),
    Case(
        "raccoons without beavers and without an owner, and half a question about the market",
        "Engine/AdviseCube",
        engine_pb2.AdviseCubeRequest(position=start(), raccoons=True, market_replies=True),
        [
            ("raccoon_owner", "RACCOON_OWNER_REQUIRED"),
            ("raccoons", "RACCOON_WITHOUT_BEAVER"),
            ("market_replies", "MARKET_LOSERS_REQUIRED"),
        ],
    ),
    Case(
        "raccoons in a match",
        "Engine/AdviseCube",
        engine_pb2.AdviseCubeRequest(
            position=state(match=common_pb2.MatchScore(length=5)),
            raccoons=True,
            raccoon_owner=rules_pb2.RACCOON_OWNER_BEAVERER,
        ),
        [("raccoons", "RACCOON_IN_MATCH"), ("raccoons", "RACCOON_WITHOUT_BEAVER")],
    ),
    Case(
        "a score table of nothing",
        "Engine/AdviseCubeByScore",
        engine_pb2.AdviseCubeByScoreRequest(
            position=start(), away=0, limit=common_pb2.Limit(milliseconds=0)
        ),
        [("limit.milliseconds", "OUT_OF_RANGE"), ("away", "OUT_OF_RANGE")],
    ),
    Case(
        "a score table too large, in long nardy",
        "Engine/AdviseCubeByScore",
        engine_pb2.AdviseCubeByScoreRequest(position=_nardy(_NARDY), away=26),
        [("position.position.variant", "NO_CUBE_IN_LONG_NARDY"), ("away", "OUT_OF_RANGE")],
    ),
    Case(
        "a score table with a centred cube that no match has",
        "Engine/AdviseCubeByScore",
        engine_pb2.AdviseCubeByScoreRequest(position=state(cube=common_pb2.Cube(value=2))),
        [("position.state.cube.value", "CENTERED_CUBE_ABOVE_ONE")],
    ),
    Case(
        "a match that is too long for the engine",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(position=state(match=common_pb2.MatchScore(length=65))),
        [("position.state.match.length", "MATCH_TOO_LONG")],
    ),
    Case(
        "a match that is too long for the engine, as XGID",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(position=xgid(START_XGID.replace(":0:6", ":65:6"))),
        [("position.xgid.match_length", "MATCH_TOO_LONG")],
    ),
    Case(
        "an unknown preset, no games, an unknown level",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            preset="casino",
            first=common_pb2.Player(
                level=66,  # type: ignore[arg-type]  # on purpose
            ),
        ),
        [
            ("first.level", "UNKNOWN_VALUE"),
            ("count", "OUT_OF_RANGE"),
            ("preset", "UNKNOWN_PRESET"),
        ],
    ),
    Case(
        "strengths beyond the scale, of no known name, and of a player that plays at random",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            first=common_pb2.Player(numeric_strength=101),
            second=common_pb2.Player(
                level=common_pb2.LEVEL_RANDOM,
                named_strength=66,  # type: ignore[arg-type]  # on purpose
            ),
        ),
        [
            ("first.numeric_strength", "OUT_OF_RANGE"),
            ("second.named_strength", "UNKNOWN_VALUE"),
            ("second.named_strength", "RANDOM_HAS_NO_STRENGTH"),
            ("count", "OUT_OF_RANGE"),
        ],
    ),
    Case(
        "a bot beyond the scale, in a board that is none, with a roll that is none",
        "Engine/ChoosePlay",
        engine_pb2.ChoosePlayRequest(
            position=_points(p6=20),
            dice=roll(7, 1),
            player=common_pb2.Player(numeric_strength=2**32 - 1),
        ),
        [
            ("position.position.points", "TOO_MANY_OWN_CHECKERS"),
            ("dice.first", "DIE_OUT_OF_RANGE"),
            ("player.numeric_strength", "OUT_OF_RANGE"),
        ],
    ),
    Case(
        "a bot that plays at random, with a cube in long nardy",
        "Engine/ChooseCubeAction",
        engine_pb2.ChooseCubeActionRequest(
            position=_nardy(_NARDY), player=common_pb2.Player(level=common_pb2.LEVEL_RANDOM)
        ),
        [
            ("player.level", "UNSUPPORTED_LEVEL"),
            ("position.position.variant", "NO_CUBE_IN_LONG_NARDY"),
        ],
    ),
    Case(
        "rules with lists that are far too long, and a bot that nobody knows",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            count=1,
            rules=rules_pb2.Rules(match_lengths=[5] * 65, turn_seconds=[5] * 65, bots=["me"]),
        ),
        [("rules.match_lengths", "TOO_MANY_VALUES"), ("rules.turn_seconds", "TOO_MANY_VALUES")],
    ),
    Case(
        "a bot that nobody knows",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(count=1, rules=rules_pb2.Rules(bots=["normal", "me"])),
        [("rules.bots", "UNKNOWN_VALUE")],
    ),
    Case(
        "rules that contradict each other",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            preset="money", count=1, rules=rules_pb2.Rules(crawford=True, raccoon=True)
        ),
        [
            ("rules.crawford", "CRAWFORD_WITHOUT_MATCH"),
            ("rules.raccoon", "RACCOON_WITHOUT_BEAVER"),
            ("rules.raccoon_owner", "RACCOON_OWNER_REQUIRED"),
        ],
    ),
    Case(
        "a match length of another preset",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            preset="tournament", count=1, match_length=6, rules=rules_pb2.Rules(holland=True)
        ),
        [("match_length", "MATCH_LENGTH_NOT_IN_PRESET")],
    ),
    Case(
        "options of long nardy that nobody plays",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            preset="long_nardy",
            count=1,
            rules=rules_pb2.Rules(
                long_nardy=rules_pb2.LongNardyRules(
                    head_per_turn=2, prime_check=rules_pb2.PRIME_CHECK_NONE
                )
            ),
        ),
        [
            ("rules.long_nardy.head_per_turn", "UNSUPPORTED_OPTION"),
            ("rules.long_nardy.prime_check", "UNSUPPORTED_OPTION"),
        ],
    ),
    Case(
        "a simulation with everything out of range",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            count=3,
            seating=99,  # type: ignore[arg-type]  # on purpose
            judge=common_pb2.LEVEL_RANDOM,
            session_games=0,
            decision_ms=600_001,
            first_unit=3,
            first=common_pb2.Player(address="127.0.0.1:50051"),
        ),
        [
            ("first.address", "ADDRESS_NOT_ALLOWED"),
            ("seating", "UNKNOWN_VALUE"),
            ("judge", "UNSUPPORTED_LEVEL"),
            ("session_games", "OUT_OF_RANGE"),
            ("decision_ms", "OUT_OF_RANGE"),
            ("first_unit", "OUT_OF_RANGE"),
        ],
    ),
    Case(
        "a time for players at other servers, of which there are none",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(count=1, decision_ms=5),
        [("decision_ms", "NO_REMOTE_PLAYER")],
    ),
    Case(
        "half a pair to begin with, and sessions in a match",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            preset="joypip",
            count=4,
            seating=simulation_pb2.SEATING_DUPLICATE,
            first_unit=1,
            session_games=2,
        ),
        [("first_unit", "NOT_A_PAIR"), ("session_games", "SESSION_IN_MATCH")],
    ),
    Case(
        "a bot at another server",
        "Engine/ChoosePlay",
        engine_pb2.ChoosePlayRequest(
            position=start(), dice=roll(3, 1), player=common_pb2.Player(address="localhost:1")
        ),
        [("player.address", "REMOTE_NOT_HERE")],
    ),
]
