"""What clients are told about bad requests: code, reason and every fault with its field."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import grpc
import pytest

from bgserver.engine.errors import EngineError
from bgserver.server.errors import CATALOGUE, AuthenticationError
from bgserver.v1 import common_pb2, engine_pb2, rules_pb2, simulation_pb2
from tests.server.requests import START_XGID, board, call, failing, list_plays, roll, start, xgid

if TYPE_CHECKING:
    from google.protobuf.message import Message

_START = list(start().position.points)
_NARDY = [0] * 12 + [-15] + [0] * 11 + [15, 0]
_FINISHED = [0] * 19 + [-15] + [0] * 6
_INVALID = grpc.StatusCode.INVALID_ARGUMENT
_ENDS = ("source", "target")


def _points(**changes: int) -> common_pb2.PositionSource:
    """The start with some counts changed, `p6=20` for point 6."""
    points = list(_START)
    for name, count in changes.items():
        points[int(name[1:])] = count
    return board(points)


def _nardy(points: list[int]) -> common_pb2.PositionSource:
    position = common_pb2.Position(points=points, variant=common_pb2.VARIANT_LONG_NARDY)
    return common_pb2.PositionSource(position=position)


def _state(**fields: Any) -> common_pb2.PositionSource:
    position = common_pb2.Position(points=_START)
    return common_pb2.PositionSource(state=common_pb2.GameState(position=position, **fields))


def _plays(source: common_pb2.PositionSource | None, *dice: int) -> rules_pb2.ListPlaysRequest:
    return rules_pb2.ListPlaysRequest(position=source, dice=roll(*dice) if dice else None)


def _apply(notation: Any, *dice: int, steps: Any = None) -> rules_pb2.ApplyPlayRequest:
    return rules_pb2.ApplyPlayRequest(
        position=start(), dice=roll(*dice), notation=notation, steps=steps
    )


def _steps(*pairs: tuple[int, int]) -> rules_pb2.StepList:
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
    code: grpc.StatusCode = _INVALID


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
            position=_state(
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
        _apply(None, 3, 1),
        [("play", "PLAY_REQUIRED")],
    ),
    Case(
        "notation that is none",
        "Rules/ApplyPlay",
        _apply("hello world", 3, 1),
        [("notation", "BAD_SYNTAX"), ("notation", "BAD_SYNTAX")],
    ),
    Case(
        "a blocked play",
        "Rules/ApplyPlay",
        _apply("24/18 13/12", 6, 5),
        [("notation", "NO_SUCH_DIE")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "a play that leaves a number out",
        "Rules/ApplyPlay",
        _apply("8/5", 3, 1),
        [("notation", "MUST_USE_BOTH")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "steps onto a blocked point",
        "Rules/ApplyPlay",
        _apply(None, 5, 1, steps=_steps((24, 19), (6, 5))),
        [("steps.steps[0]", "BLOCKED")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "steps off the board",
        "Rules/ApplyPlay",
        _apply(None, 5, 1, steps=_steps((30, 25))),
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
        _apply(None, 3, 1, steps=_marked((8, 5, 3, True), (6, 5, 1, False))),
        [("steps.steps[0].hit", "NO_HIT")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "a step with the other die",
        "Rules/ApplyPlay",
        _apply(None, 3, 1, steps=_marked((8, 5, 3, False), (6, 5, 3, False))),
        [("steps.steps[1].die", "NO_SUCH_DIE")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "a step of two numbers",
        "Rules/ApplyPlay",
        _apply(None, 3, 1, steps=_steps((24, 20))),
        [("steps.steps[0]", "NO_SUCH_DIE")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "a bear-off that only two steps could make",
        "Rules/ApplyPlay",
        rules_pb2.ApplyPlayRequest(
            position=board([0, 0, 0, 0, 0, 2] + [0] * 18 + [-2, 0]),
            dice=roll(6, 1),
            steps=_steps((5, 0)),
        ),
        [("steps.steps", "MUST_USE_BOTH")],
        reason="ILLEGAL_PLAY",
    ),
    Case(
        "a state that is wrong in every part",
        "Rules/ConvertPosition",
        rules_pb2.ConvertPositionRequest(
            position=_state(
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
            position=_state(
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
        "a match that is too long for the engine",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(position=_state(match=common_pb2.MatchScore(length=65))),
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
            ("rules.raccoon", "RACCOON_NEEDS_BEAVER"),
            ("rules.raccoon_owner", "RACCOON_OWNER_REQUIRED"),
        ],
    ),
    Case(
        "rules that the simulation does not play",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            preset="tournament", count=1, match_length=6, rules=rules_pb2.Rules(holland=True)
        ),
        [("rules.holland", "UNSUPPORTED_OPTION"), ("match_length", "LENGTH_NOT_ALLOWED")],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_bad_requests(channel: grpc.aio.Channel, case: Case) -> None:
    data = case.request.SerializeToString()
    async with failing() as failure:
        if isinstance(case.request, simulation_pb2.SimulateRequest):
            path = "/bgserver.v1.SimulationService/Simulate"
            await channel.unary_stream(path, bytes, bytes)(data).read()
        else:
            await call(channel, case.method, data)
    assert (failure.code, failure.reason, failure.domain) == (case.code, case.reason, "bgserver")
    assert failure.faults == case.faults
    for field, _ in case.faults:
        assert field in failure.message


async def test_ambiguous_notation_names_the_results(channel: grpc.aio.Channel) -> None:
    # 24/16 passes over 20 or 21 ... with 5-3: 13/5 may hit on 8 or on 10.
    points = [0, 0, 0, 0, 0, 0, 5, 0, -1, 0, -1, 0, 0, 5, 0, 0, 0, 0, -5, -5, 0, 0, 0, 0, 2, 0]
    request = rules_pb2.ApplyPlayRequest(position=board(points), dice=roll(5, 3), notation="13/5")
    async with failing() as failure:
        await call(channel, "Rules/ApplyPlay", request.SerializeToString())
    assert failure.code == _INVALID
    assert failure.reason == "AMBIGUOUS_PLAY"
    assert len(failure.faults) == 2


async def test_bytes_that_are_no_message(channel: grpc.aio.Channel) -> None:
    async with failing() as failure:
        await call(channel, "Rules/ListPlays", b"\xff\xff\xff\xff")
    assert failure.code == _INVALID
    assert failure.faults == [("", "MALFORMED_MESSAGE")]


async def test_the_message_names_values_that_exist(channel: grpc.aio.Channel) -> None:
    source = _state(resignation=9)
    request = rules_pb2.ConvertPositionRequest(position=source)
    async with failing() as failure:
        await call(channel, "Rules/ConvertPosition", request.SerializeToString())
    named = re.findall(r"RESIGNATION_\w+", failure.message)
    assert set(named) == set(common_pb2.Resignation.keys())


async def test_an_unknown_method(channel: grpc.aio.Channel) -> None:
    async with failing() as failure:
        await call(channel, "Rules/Cheat", b"")
    assert failure.code == grpc.StatusCode.UNIMPLEMENTED


async def test_hundreds_of_faults_still_arrive(channel: grpc.aio.Channel) -> None:
    rules = rules_pb2.Rules(match_lengths=[99] * 64, turn_seconds=[0] * 64)
    request = simulation_pb2.SimulateRequest(preset="joypip", count=1, rules=rules)
    async with failing() as failure:
        path = "/bgserver.v1.SimulationService/Simulate"
        await channel.unary_stream(path, bytes, bytes)(request.SerializeToString()).read()
    assert failure.code == _INVALID
    assert failure.faults[0] == ("rules.match_lengths", "OUT_OF_RANGE")
    assert failure.faults[-1] == ("", "MORE_FAULTS")


async def test_a_million_steps_are_not_looked_at_one_by_one(channel: grpc.aio.Channel) -> None:
    steps = _steps(*[(99, 99)] * 500_000)
    request = _apply(None, 3, 1, steps=steps).SerializeToString()
    async with failing() as failure:
        await call(channel, "Rules/ApplyPlay", request)
    assert failure.code == _INVALID
    places = [f"steps.steps[{number}].{name}" for number in range(4) for name in _ENDS]
    assert failure.faults[0] == ("steps.steps", "TOO_MANY_STEPS")
    assert failure.faults[1:] == [(place, "OUT_OF_RANGE") for place in places]


async def test_the_server_answers_after_all_that(channel: grpc.aio.Channel) -> None:
    data = await call(channel, "Rules/ListPlays", list_plays().SerializeToString())
    assert len(rules_pb2.ListPlaysResponse.FromString(data).plays) == 16


def _classes(root: type[EngineError]) -> set[type[EngineError]]:
    return {root}.union(*map(_classes, root.__subclasses__()))


def test_every_engine_error_is_in_the_catalogue() -> None:
    assert _classes(EngineError) == CATALOGUE.keys()
    assert AuthenticationError in CATALOGUE
