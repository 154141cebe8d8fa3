"""Questions to the engine and its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.errors import Fault
from bgserver.engine.levels import Level
from bgserver.engine.limit import MAX_MILLISECONDS, TimeLimit
from bgserver.engine.position import Variant, position_faults
from bgserver.engine.rollout_level import ROLLOUT_LEVELS, find_rollout_level
from bgserver.server.convert_enums import LEVEL, VARIANT
from bgserver.server.convert_plays import play_message
from bgserver.server.convert_state import read_source, refuse
from bgserver.v1 import common_pb2, engine_pb2, game_pb2

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Evaluation
    from bgserver.engine.limit import Limit
    from bgserver.engine.position import GameState, Position
    from bgserver.engine.ranking import RankedPlay

__all__ = [
    "batch_faults",
    "evaluation_message",
    "probabilities_message",
    "ranked_play_message",
    "read_batch",
    "read_level",
    "read_limit",
    "read_question",
    "refuse_nardy",
]

_MAX_MATCH_LENGTH = 64
_MAX_ROWS_NAMED = 10
_MATCH_LENGTH_IN = {
    "state": "state.match.length",
    "xgid": "xgid.match_length",
    "gnu_id": "gnu_id.match_id.match_length",
}
_WIDTH = 26


def read_level(
    number: int, supported: Collection[Level], faults: list[Fault], field: str = "level"
) -> Level | None:
    """The level that a request asks for."""
    level = LEVEL.read(number, field, faults, supported)
    if level is not None and level not in supported:
        names = ", ".join(f"LEVEL_{one.name}" for one in Level if one in supported)
        message = f"expected one of {names} here, got LEVEL_{level.name}"
        faults.append(Fault(field, "UNSUPPORTED_LEVEL", message))
        return None
    return level


def read_limit(
    request: engine_pb2.EvaluateRequest
    | engine_pb2.RankPlaysRequest
    | engine_pb2.AdviseCubeRequest
    | engine_pb2.AdviseCubeByScoreRequest
    | game_pb2.HintRequest,
    supported: Collection[Level],
    faults: list[Fault],
) -> Limit | None:
    """How far a request lets the engine go; a time begins now."""
    if not request.HasField("limit"):
        return Level.STATIC
    limit = request.limit
    kind = limit.WhichOneof("limit")
    if kind is None:
        message = "expected a level, milliseconds or a preset"
        faults.append(Fault("limit", "LIMIT_REQUIRED", message))
        return None
    if kind == "level":
        if limit.level == common_pb2.LEVEL_UNSPECIFIED:
            message = "expected a level, got LEVEL_UNSPECIFIED; without a limit it is static"
            faults.append(Fault("limit.level", "LEVEL_REQUIRED", message))
            return None
        return read_level(limit.level, supported, faults, "limit.level")
    if kind == "preset":
        found = find_rollout_level(limit.preset)
        if found is None:
            names = ", ".join(entry.full_name for entry in ROLLOUT_LEVELS)
            message = f"expected one of {names}, got {limit.preset[:40]!r}"
            faults.append(Fault("limit.preset", "UNKNOWN_PRESET", message))
        return found
    if not 1 <= limit.milliseconds <= MAX_MILLISECONDS:
        message = f"expected 1 to {MAX_MILLISECONDS}, got {limit.milliseconds}"
        faults.append(Fault("limit.milliseconds", "OUT_OF_RANGE", message))
        return None
    return TimeLimit.starting_now(limit.milliseconds)


def read_question(source: common_pb2.PositionSource, faults: list[Fault]) -> GameState | None:
    """The state that the engine is asked about."""
    state = read_source(source, faults)
    match = state.match if state is not None else None
    if match is not None and match.length > _MAX_MATCH_LENGTH:
        message = f"the engine knows matches up to {_MAX_MATCH_LENGTH} points, got {match.length}"
        field = f"position.{_MATCH_LENGTH_IN[source.WhichOneof('source') or '']}"
        faults.append(Fault(field, "MATCH_TOO_LONG", message))
        return None
    return state


def refuse_nardy(
    source: common_pb2.PositionSource, state: GameState | None, faults: list[Fault]
) -> None:
    """Add a fault if a question about the cube is about Long Nardy, which has none."""
    if state is not None and state.position.variant is Variant.LONG_NARDY:
        form = source.WhichOneof("source")
        field = "position.state.position" if form == "state" else f"position.{form}"
        message = "long nardy is played without a cube"
        faults.append(Fault(f"{field}.variant", "NO_CUBE_IN_LONG_NARDY", message))


def probabilities_message(five: Sequence[float]) -> common_pb2.Probabilities:
    """The five chances."""
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = five
    return common_pb2.Probabilities(
        win=win,
        win_gammon=win_gammon,
        win_backgammon=win_backgammon,
        lose_gammon=lose_gammon,
        lose_backgammon=lose_backgammon,
    )


def evaluation_message(evaluation: Evaluation) -> engine_pb2.EvaluateResponse:
    """An evaluation."""
    return engine_pb2.EvaluateResponse(
        probabilities=probabilities_message(evaluation.probabilities),
        cubeless_equity=evaluation.cubeless_equity,
        cubeful_equity=evaluation.cubeful_equity,
        match_winning_chances=evaluation.match_winning_chances,
        level=LEVEL.to_api(evaluation.level),
        position_class=evaluation.position_class,
        preset=evaluation.preset or "",
    )


def ranked_play_message(ranked: RankedPlay, position: Position) -> engine_pb2.RankedPlay:
    """A play and its worth; `position` is the board before it."""
    return engine_pb2.RankedPlay(
        play=play_message(ranked.play, position),
        equity=ranked.equity,
        equity_loss=ranked.equity_loss,
        probabilities=probabilities_message(ranked.probabilities),
        level=LEVEL.to_api(ranked.level),
        match_winning_chances=ranked.match_winning_chances,
        preset=ranked.preset or "",
    )


def read_batch(
    request: engine_pb2.EvaluateBatchRequest, most: int, levels: Collection[Level]
) -> tuple[NDArray[np.int8], Variant, Level]:
    """Points, game and level of a batch; the rows are not looked at (see `batch_faults`).

    Raises:
        InvalidInputError: The size, the game or the level is wrong.
    """
    faults: list[Fault] = []
    variant = VARIANT.read(request.variant, "variant", faults)
    level = read_level(request.level, levels, faults)
    rows, rest = divmod(len(request.points), _WIDTH)
    if rest or not 1 <= rows <= most:
        message = f"expected 1 to {most} rows of {_WIDTH} bytes, got {len(request.points)} bytes"
        faults.append(Fault("points", "WRONG_LENGTH", message))
    refuse(faults)
    if variant is None or level is None:
        message = "a batch without faults was not read"
        raise AssertionError(message)
    # A copy, for kernels are compiled for arrays that can be written.
    points = np.frombuffer(request.points, dtype=np.int8).reshape(rows, _WIDTH).copy()
    return points, variant, level


def batch_faults(points: NDArray[np.int8], variant: Variant) -> list[Fault]:
    """The faults of the first rows that are no boards of running games.

    Args:
        points: [n, 26].
        variant: The game of all rows.
    """
    own = np.maximum(points, 0).sum(axis=1, dtype=np.int32)
    opposing = own - points.sum(axis=1, dtype=np.int32)
    bar, opponent_bar = points[:, 25], points[:, 0]
    # Cheap tests that hold for every faulty row, and for some good ones.
    suspicious = (own > 15) | (own < 1) | (opposing > 15) | (opposing < 1)
    suspicious |= (bar < 0) | (opponent_bar > 0)
    if variant is Variant.LONG_NARDY:
        suspicious |= (bar != 0) | (opponent_bar != 0)
    else:
        suspicious |= (bar != 0) & (opponent_bar != 0)
    faults: list[Fault] = []
    for row in np.flatnonzero(suspicious).tolist():
        path = f"points[{row}]"
        found = position_faults(tuple(points[row].tolist()), variant, path)
        if not found and (own[row] == 0 or opposing[row] == 0):
            found = [Fault(path, "GAME_OVER", "one side has borne off all its checkers")]
        faults.extend(found)
        if len(faults) >= _MAX_ROWS_NAMED:
            break
    return faults
