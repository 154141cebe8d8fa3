"""Bad requests to `EngineService`."""

from __future__ import annotations

import grpc

from bgserver.v1 import common_pb2, engine_pb2, rules_pb2
from tests.server.bad_case import FINISHED, NARDY, Case, in_phase, nardy, points, state
from tests.server.requests import START_XGID, board, roll, start, xgid

_XGID = "position.xgid"
CASES = [
    Case(
        "half an _XGID",
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
            position=nardy(NARDY), limit=common_pb2.Limit(milliseconds=600_001)
        ),
        [
            ("limit.milliseconds", "OUT_OF_RANGE"),
            ("position.position.variant", "NO_CUBE_IN_LONG_NARDY"),
        ],
    ),
    Case(
        "evaluation of a finished game",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(position=board(FINISHED)),
        [],
        reason="GAME_OVER",
        code=grpc.StatusCode.FAILED_PRECONDITION,
    ),
    Case(
        "evaluation after a dropped double",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(position=in_phase(common_pb2.GAME_PHASE_DROPPED)),
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
        "the cube in long nardy",
        "Engine/AdviseCube",
        engine_pb2.AdviseCubeRequest(position=nardy(NARDY)),
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
        engine_pb2.AdviseCubeByScoreRequest(position=nardy(NARDY), away=26),
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
        "a match that is too long for the engine, as _XGID",
        "Engine/Evaluate",
        engine_pb2.EvaluateRequest(position=xgid(START_XGID.replace(":0:6", ":65:6"))),
        [("position.xgid.match_length", "MATCH_TOO_LONG")],
    ),
    Case(
        "a bot beyond the scale, in a board that is none, with a roll that is none",
        "Engine/ChoosePlay",
        engine_pb2.ChoosePlayRequest(
            position=points(p6=20),
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
            position=nardy(NARDY), player=common_pb2.Player(level=common_pb2.LEVEL_RANDOM)
        ),
        [
            ("player.level", "UNSUPPORTED_LEVEL"),
            ("position.position.variant", "NO_CUBE_IN_LONG_NARDY"),
        ],
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
