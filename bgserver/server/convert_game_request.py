"""What requests of `GameService` ask for: new games, and actions."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from bgserver.engine.errors import Fault, InvalidInputError, WrongMomentError
from bgserver.engine.position import Resignation
from bgserver.formats.notation import parse_play
from bgserver.games import actions as act
from bgserver.games.actions import StepOrder
from bgserver.games.presets import PRESETS
from bgserver.games.setup import SeatKind, new_setup
from bgserver.games.state import Stage
from bgserver.games.storage_records import Detail, DiceKind, Occupant, OccupantKind
from bgserver.games.turn import first_turn, rest_to
from bgserver.server.convert_enums import RESIGNATION
from bgserver.server.convert_player import read_player
from bgserver.server.convert_plays import step_faults
from bgserver.server.convert_rules import read_overrides
from bgserver.server.convert_state import refuse
from bgserver.v1 import common_pb2, game_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from bgserver.engine.levels import Level
    from bgserver.games.actions import Action
    from bgserver.games.state import TableState

    Maker = Callable[[TableState], Action]
    """Makes an action of the state that it is for."""

__all__ = [
    "id_faults",
    "read_action",
    "read_game",
    "read_name",
    "request_id_faults",
]

_MAX_NAME = 40
_LEAST_REQUEST_ID = 16
_MAX_ID = 64
_UNREAD = "a request without faults was not read"


def id_faults(value: str, field: str, least: int = 0) -> list[Fault]:
    """What is wrong with an id that a caller has chosen."""
    if value and not least <= len(value) <= _MAX_ID:
        message = f"expected {least} to {_MAX_ID} characters, got {len(value)}"
        return [Fault(field, "WRONG_LENGTH", message)]
    return []


def request_id_faults(value: str) -> list[Fault]:
    """What is wrong with the id of a request; it opens the tokens, so it must not be guessed."""
    return id_faults(value, "request_id", _LEAST_REQUEST_ID)


def read_name(person: game_pb2.Person, field: str, faults: list[Fault]) -> str:
    """The name of a person."""
    name = person.name.strip()
    if len(name) > _MAX_NAME:
        message = f"expected at most {_MAX_NAME} characters, got {len(name)}"
        faults.append(Fault(f"{field}.name", "TOO_LONG", message))
    elif not name.isprintable():
        message = "expected a name on one line, got control characters"
        faults.append(Fault(f"{field}.name", "NOT_PRINTABLE", message))
    return name


def read_game(request: game_pb2.CreateGameRequest, levels: Collection[Level]) -> Detail:
    """Everything that is settled about a new game.

    Args:
        request: The request.
        levels: The levels that judge.

    Raises:
        InvalidInputError: Something is wrong; every fault is named.
    """
    faults: list[Fault] = []
    default_first = game_pb2.SeatSetup(person=game_pb2.Person())
    default_second = game_pb2.SeatSetup(open=game_pb2.OpenSeat())
    first = request.first if request.HasField("first") else default_first
    second = request.second if request.HasField("second") else default_second
    occupants = [
        _read_occupant(seat, field, levels, faults)
        for seat, field in ((first, "first"), (second, "second"))
    ]
    faults += request_id_faults(request.request_id)
    overrides: dict[str, Any] = {}
    if request.preset in PRESETS:
        overrides = read_overrides(request.rules, faults)
    kinds = [
        SeatKind.BOT if one is not None and one.kind is OccupantKind.ENGINE else SeatKind.PERSON
        for one in occupants
    ]
    setup = None
    try:
        setup = new_setup(
            request.preset,
            overrides,
            match_length=request.match_length if request.HasField("match_length") else None,
            cube=request.cube if request.HasField("cube") else None,
            turn_seconds=request.turn_seconds if request.HasField("turn_seconds") else None,
            seats=(kinds[0], kinds[1]),
        )
    except InvalidInputError as error:
        faults += error.faults
    refuse(faults)
    if setup is None or occupants[0] is None or occupants[1] is None:
        raise AssertionError(_UNREAD)
    dice, secret = DiceKind.SYSTEM, ""
    if request.WhichOneof("dice") == "seed":
        dice, secret = DiceKind.SEEDED, str(request.seed)
    elif request.WhichOneof("dice") == "fair_dice":
        dice, secret = DiceKind.FAIR, secrets.token_hex(32)
    seeded = dice is DiceKind.SEEDED
    return Detail(
        setup=setup,
        occupants=(occupants[0], occupants[1]),
        dice=dice,
        dice_secret=secret,
        bot_seed=request.seed if seeded else secrets.randbits(32),
        hints=not request.no_hints,
    )


def _read_occupant(
    seat: game_pb2.SeatSetup, field: str, levels: Collection[Level], faults: list[Fault]
) -> Occupant | None:
    kind = seat.WhichOneof("occupant")
    if kind == "person":
        return Occupant(OccupantKind.PERSON, read_name(seat.person, f"{field}.person", faults))
    if kind == "open":
        return Occupant(OccupantKind.OPEN)
    if kind == "engine":
        player = read_player(seat.engine, levels, faults, f"{field}.engine")
        if player is None:
            return None
        level, strength = player
        return Occupant(OccupantKind.ENGINE, "", level.value, strength.value)
    faults.append(Fault(field, "OCCUPANT_REQUIRED", "expected one of person, engine, open"))
    return None


# --- actions -------------------------------------------------------------------------------------

_PLAIN: dict[str, Action] = {
    "roll": act.Roll(),
    "confirm": act.Confirm(),
    "double": act.Double(),
    "take": act.Take(),
    "drop": act.Drop(),
    "beaver": act.Beaver(),
    "raccoon": act.Raccoon(),
    "play_on": act.PlayOn(),
    "accept": act.AcceptResignation(),
    "refuse": act.RefuseResignation(),
    "next_game": act.NextGame(),
    "end_session": act.EndSession(),
    "return": act.Return(),
}


def read_action(request: game_pb2.ActRequest) -> tuple[Maker, int]:
    """The action of a request, and the version that it is for.

    Raises:
        InvalidInputError: Something is wrong; every fault is named.
    """
    faults = id_faults(request.action_id, "action_id")
    if not request.HasField("expected_version"):
        message = "expected the version of the game that the caller has seen"
        faults.append(Fault("expected_version", "VERSION_REQUIRED", message))
    maker = _read_action(request.action, faults)
    refuse(faults)
    if maker is None:
        raise AssertionError(_UNREAD)
    return maker, request.expected_version


def _read_action(action: game_pb2.GameAction, faults: list[Fault]) -> Maker | None:
    kind = action.WhichOneof("action")
    if kind is None:
        faults.append(Fault("action", "ACTION_REQUIRED", "expected one of the actions"))
        return None
    if kind == "play":
        return _read_play(action.play, faults)
    wanted = _PLAIN.get(kind)
    if kind == "step":
        order = StepOrder.LOW_FIRST if action.step.low_die_first else StepOrder.HIGH_FIRST
        wanted = act.MakeStep(action.step.source, action.step.target, order)
    elif kind == "undo":
        wanted = act.Undo(action.undo.all)
    elif kind == "resign":
        result = RESIGNATION.read(action.resign.result, "action.resign.result", faults)
        wanted = act.Resign(result or Resignation.SINGLE)
    if wanted is None:
        message = f"the action {kind} is not read"
        raise AssertionError(message)
    chosen = wanted
    return lambda _: chosen


def _read_play(play: game_pb2.GameAction.WholePlay, faults: list[Fault]) -> Maker | None:
    form = play.WhichOneof("play")
    if form is None:
        faults.append(Fault("action.play", "PLAY_REQUIRED", "expected notation or steps"))
        return None
    if form == "steps":
        steps: list[common_pb2.Step] = list(play.steps.steps)
        faults += step_faults(steps, "action.play.steps.steps")
        pairs = tuple((step.source, step.target) for step in steps)
        return lambda _: act.PlayTurn(pairs)
    return lambda state: _play_of_notation(state, play.notation)


def _play_of_notation(state: TableState, notation: str) -> Action:
    """The rest of a turn, from a whole play in notation."""
    if state.stage is not Stage.MOVING or state.dice is None:
        return act.PlayTurn(())  # refused with the reason that the table has for it
    try:
        play = parse_play(notation, state.turn_start, state.dice, first_turn=first_turn(state))
    except InvalidInputError as error:
        raise type(error)(
            Fault("action.play.notation", fault.reason, fault.message) for fault in error.faults
        ) from None
    steps = rest_to(state, play.result)
    if steps is None:
        message = "the steps that were made do not belong to this play; take them back first"
        raise WrongMomentError(reason="OTHER_STEPS_MADE", message=message)
    return act.PlayTurn(tuple((step.source, step.target) for step in steps))
