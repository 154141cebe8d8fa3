"""Positions, dice and game states of the API to those of the engine, and back.

Readers add every fault to a list and go on, so that a caller learns of all of them at once;
`refuse` raises them in the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.position import (
    Cube,
    CubeOwner,
    Dice,
    GamePhase,
    GameState,
    MatchScore,
    Position,
    Seat,
    position_faults,
)
from bgserver.formats.gnu_id import parse_gnu_id
from bgserver.formats.state import state_faults
from bgserver.formats.xgid import parse_xgid
from bgserver.server.convert_enums import CUBE_OWNER, GAME_PHASE, RESIGNATION, SEAT, VARIANT
from bgserver.v1 import common_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "dice_message",
    "position_message",
    "read_dice",
    "read_source",
    "refuse",
    "state_message",
]

_POINTS = 26
_MAX_BEAVER_LEVEL = 2
# Fields that the API names otherwise than the engine.
_API_NAMES = {
    "money_score[0]": "money_score_on_roll",
    "money_score[1]": "money_score_opponent",
    "money_score": "money_score_on_roll",
    "match.score": "match",
}


def refuse(faults: list[Fault]) -> None:
    """Raise `InvalidInputError` if there are any faults."""
    if faults:
        raise InvalidInputError(faults)


def read_source(
    source: common_pb2.PositionSource, faults: list[Fault], path: str = "position"
) -> GameState | None:
    """The state that a request describes in one of four forms; None if it is faulty."""
    form = source.WhichOneof("source")
    if form == "position":
        position = _read_position(source.position, f"{path}.position", faults)
        return None if position is None else GameState(position)
    if form == "state":
        return _read_state(source.state, f"{path}.state", faults)
    try:
        if form == "xgid":
            return parse_xgid(source.xgid)
        if form == "gnu_id":
            return parse_gnu_id(source.gnu_id.position_id, source.gnu_id.match_id or None)
    except InvalidInputError as error:
        faults.extend(_moved(error.faults, path))
        return None
    message = "expected one of position, state, xgid, gnu_id"
    faults.append(Fault(path, "POSITION_REQUIRED", message))
    return None


def _read_position(message: common_pb2.Position, path: str, faults: list[Fault]) -> Position | None:
    variant = VARIANT.read(message.variant, f"{path}.variant", faults)
    if variant is None:
        return None
    if len(message.points) != _POINTS:
        # Before anything looks at them: there may be millions.
        text = f"expected {_POINTS} values, got {len(message.points)}"
        faults.append(Fault(f"{path}.points", "WRONG_LENGTH", text))
        return None
    points = tuple(message.points)
    try:
        return Position(points, variant)
    except InvalidInputError:
        faults.extend(position_faults(points, variant, f"{path}.points"))
        return None


def _read_state(message: common_pb2.GameState, path: str, faults: list[Fault]) -> GameState | None:
    before = len(faults)
    position: Position | None = None
    if message.HasField("position"):
        position = _read_position(message.position, f"{path}.position", faults)
    else:
        faults.append(Fault(f"{path}.position", "POSITION_REQUIRED", "a state needs a board"))
    dice = None
    if message.HasField("dice"):
        dice = _read_dice(message.dice, f"{path}.dice", faults)
    on_roll = SEAT.read(message.on_roll, f"{path}.on_roll", faults)
    owner = CUBE_OWNER.read(message.cube.owner, f"{path}.cube.owner", faults)
    resignation = RESIGNATION.read(message.resignation, f"{path}.resignation", faults)
    phase = GAME_PHASE.read(message.phase, f"{path}.phase", faults)
    acting = SEAT.read(message.acting, f"{path}.acting", faults) if message.acting else None
    cube, match = message.cube, message.match
    beaver_level: int | None = message.beaver_level
    if message.beaver_level > _MAX_BEAVER_LEVEL:
        text = f"expected 0 to {_MAX_BEAVER_LEVEL}, got {message.beaver_level}"
        faults.append(Fault(f"{path}.beaver_level", "OUT_OF_RANGE", text))
        beaver_level = None
    # Defaults stand in for what could not be read, so that the other fields are checked.
    unread = {
        name
        for name, value in (
            ("on_roll", on_roll),
            ("cube.owner", owner),
            ("resignation", resignation),
            ("phase", phase),
            ("acting", acting or not message.acting or None),
            ("beaver_level", beaver_level),
        )
        if value is None
    }
    state = GameState(
        position=position or Position.start(),
        on_roll=on_roll or Seat.FIRST,
        dice=dice,
        cube=Cube(
            cube.value if cube.HasField("value") else 1,
            owner or CubeOwner.CENTERED,
            cube.cap if cube.HasField("cap") else 64,
        ),
        match=MatchScore(match.length, match.on_roll, match.opponent, match.crawford)
        if message.HasField("match")
        else None,
        jacoby=message.jacoby,
        beavers=message.beavers,
        money_score=(message.money_score_on_roll, message.money_score_opponent),
        double_offered=message.double_offered,
        resignation=resignation if resignation is not None else _NO_RESIGNATION,
        phase=phase or GamePhase.PLAYING,
        beaver_level=beaver_level or 0,
        acting=acting,
    )
    faults.extend(_moved(state_faults(state, unread), path))
    return state if len(faults) == before else None


_NO_RESIGNATION = GameState().resignation


def _moved(faults: Iterable[Fault], path: str) -> list[Fault]:
    """The same faults with the names of the API, below `path`."""
    return [
        Fault(f"{path}.{_API_NAMES.get(fault.field, fault.field)}", fault.reason, fault.message)
        for fault in faults
    ]


def _read_dice(message: common_pb2.Dice, path: str, faults: list[Fault]) -> Dice | None:
    try:
        return Dice(message.first, message.second)
    except InvalidInputError as error:
        faults.extend(
            Fault(f"{path}{fault.field.removeprefix('dice')}", fault.reason, fault.message)
            for fault in error.faults
        )
        return None


def read_dice(
    message: common_pb2.Dice | None, state: GameState | None, faults: list[Fault]
) -> Dice | None:
    """The roll of a request: its own field `dice`, or the one that the position carries.

    Args:
        message: The field, None if it is not set.
        state: The state that was read; None if it was faulty.
        faults: Gets a fault if there is no roll, a bad one, or two different ones.
    """
    carried = state.dice if state is not None else None
    if message is None:
        if state is not None and carried is None:
            text = "the position carries no roll, so the request must give one"
            faults.append(Fault("dice", "DICE_REQUIRED", text))
        return carried
    given = _read_dice(message, "dice", faults)
    if (
        given is not None
        and carried is not None
        and (given.high, given.low) != (carried.high, carried.low)
    ):
        text = (
            f"the request rolls {given.first}-{given.second}, "
            f"its position carries {carried.first}-{carried.second}"
        )
        faults.append(Fault("dice", "DICE_CONTRADICT", text))
    return given


def position_message(position: Position) -> common_pb2.Position:
    """A position for the API."""
    return common_pb2.Position(points=position.points, variant=VARIANT.to_api(position.variant))


def dice_message(dice: Dice) -> common_pb2.Dice:
    """A roll for the API."""
    return common_pb2.Dice(first=dice.first, second=dice.second)


def state_message(state: GameState) -> common_pb2.GameState:
    """A state for the API."""
    message = common_pb2.GameState(
        position=position_message(state.position),
        on_roll=SEAT.to_api(state.on_roll),
        dice=dice_message(state.dice) if state.dice is not None else None,
        cube=common_pb2.Cube(
            value=state.cube.value, owner=CUBE_OWNER.to_api(state.cube.owner), cap=state.cube.cap
        ),
        jacoby=state.jacoby,
        beavers=state.beavers,
        double_offered=state.double_offered,
        resignation=RESIGNATION.to_api(state.resignation),
        phase=GAME_PHASE.to_api(state.phase),
        money_score_on_roll=state.money_score[0],
        money_score_opponent=state.money_score[1],
        beaver_level=state.beaver_level,
    )
    if state.acting is not None:
        message.acting = SEAT.to_api(state.acting)
    if state.match is not None:
        message.match.length = state.match.length
        message.match.on_roll = state.match.on_roll
        message.match.opponent = state.match.opponent
        message.match.crawford = state.match.crawford
    return message
