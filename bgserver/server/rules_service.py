"""`RulesService`: legal plays, positions and their forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.inspection import Phase, game_value, inspect
from bgserver.engine.moments import require_roll_to_play
from bgserver.engine.plays import step_graph
from bgserver.engine.step_input import play_of_steps
from bgserver.formats.board import render_board
from bgserver.formats.gnu_id import format_gnu_id, gnu_id_losses
from bgserver.formats.notation import parse_play
from bgserver.formats.xgid import format_xgid
from bgserver.games.presets import PRESETS
from bgserver.server.convert_plays import (
    play_message,
    plays_bytes,
    step_faults,
    step_graph_message,
)
from bgserver.server.convert_rules import (
    preset_message,
    read_languages,
    read_rules,
    rules_message,
    text_message,
)
from bgserver.server.convert_state import (
    dice_message,
    position_message,
    read_dice,
    read_source,
    refuse,
    state_message,
)
from bgserver.server.pool import Priority, one_chunk
from bgserver.v1 import rules_pb2

if TYPE_CHECKING:
    from google.protobuf.descriptor import ServiceDescriptor

    from bgserver.engine.inspection import Inspection
    from bgserver.engine.position import Dice, GameState
    from bgserver.server.context import CallContext
    from bgserver.server.runtime import Runtime

__all__ = ["RulesServicer"]

_DEFAULT_PRESET = "money"
_PHASES = {
    Phase.CONTACT: rules_pb2.PHASE_CONTACT,
    Phase.RACE: rules_pb2.PHASE_RACE,
    Phase.BEAR_OFF: rules_pb2.PHASE_BEAR_OFF,
    Phase.FINISHED: rules_pb2.PHASE_FINISHED,
}


class RulesServicer:
    """Knows the rules, judges nothing."""

    service: ServiceDescriptor = rules_pb2.DESCRIPTOR.services_by_name["RulesService"]

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def list_plays(self, request: rules_pb2.ListPlaysRequest, context: CallContext) -> bytes:
        """Every distinct result of a roll."""
        state, dice = _position_and_dice(request)
        if not dice.is_double and not request.include_step_graph:
            return _list_plays(request, state, dice)
        # A double may have thousands of results: that is for the pool.
        work = one_chunk(lambda: _list_plays(request, state, dice))
        return await self._runtime.pool.run(work, Priority.INTERACTIVE, context.deadline)

    async def apply_play(
        self, request: rules_pb2.ApplyPlayRequest, context: CallContext
    ) -> rules_pb2.ApplyPlayResponse:
        """Make one play."""
        state, dice = _position_and_dice(request)
        work = one_chunk(lambda: _apply_play(request, state, dice))
        return await self._runtime.pool.run(work, Priority.INTERACTIVE, context.deadline)

    async def inspect_position(
        self, request: rules_pb2.InspectPositionRequest, context: CallContext
    ) -> rules_pb2.InspectPositionResponse:
        """Facts of a position, or its faults."""
        faults: list[Fault] = []
        state = read_source(request.position, faults)
        if state is None:
            refuse([fault for fault in faults if fault.reason == "POSITION_REQUIRED"])
            return rules_pb2.InspectPositionResponse(faults=map(_fault_message, faults))
        work = one_chunk(lambda: inspect(state.position))
        found = await self._runtime.pool.run(work, Priority.INTERACTIVE, context.deadline)
        return _inspection_message(found)

    def convert_position(
        self, request: rules_pb2.ConvertPositionRequest, context: CallContext
    ) -> rules_pb2.ConvertPositionResponse:
        """A position in every form."""
        del context
        faults: list[Fault] = []
        state = read_source(request.position, faults)
        refuse(faults)
        if state is None:
            message = "a position without faults was not read"
            raise AssertionError(message)
        response = rules_pb2.ConvertPositionResponse(
            state=state_message(state), board=render_board(state.position)
        )
        losses: list[Fault] = []
        try:
            response.xgid = format_xgid(state)
        except InvalidInputError as error:
            losses.extend(_below("xgid", fault) for fault in error.faults)
        try:
            gnu = format_gnu_id(state)
            response.gnu_id.position_id, response.gnu_id.match_id = gnu
            losses.extend(_below("gnu_id", fault) for fault in gnu_id_losses(state))
        except InvalidInputError as error:
            losses.extend(_below("gnu_id", fault) for fault in error.faults)
        response.losses.extend(map(_fault_message, losses))
        return response

    def list_presets(
        self, request: rules_pb2.ListPresetsRequest, context: CallContext
    ) -> rules_pb2.ListPresetsResponse:
        """The rule sets known by name."""
        del request, context
        return rules_pb2.ListPresetsResponse(presets=map(preset_message, PRESETS.values()))

    def describe_rules(
        self, request: rules_pb2.DescribeRulesRequest, context: CallContext
    ) -> rules_pb2.DescribeRulesResponse:
        """A rule set as parameters and as text."""
        del context
        faults: list[Fault] = []
        languages = read_languages(request.language, faults)
        rules = read_rules(request.preset, _DEFAULT_PRESET, request.rules, faults)
        refuse(faults)
        if rules is None:
            message = "a request without faults was not read"
            raise AssertionError(message)
        return rules_pb2.DescribeRulesResponse(
            rules=rules_message(rules),
            texts=[text_message(rules, language) for language in languages],
        )


def _position_and_dice(
    request: rules_pb2.ListPlaysRequest | rules_pb2.ApplyPlayRequest,
) -> tuple[GameState, Dice]:
    """The position and the roll of a request, with the faults of both at once."""
    faults: list[Fault] = []
    state = read_source(request.position, faults)
    dice = read_dice(request.dice if request.HasField("dice") else None, state, faults)
    if isinstance(request, rules_pb2.ApplyPlayRequest):
        form = request.WhichOneof("play")
        if form is None:
            faults.append(Fault("play", "PLAY_REQUIRED", "expected notation or steps"))
        elif form == "steps":
            faults.extend(step_faults(request.steps.steps, "steps.steps"))
    refuse(faults)
    if state is None or dice is None:
        message = "a request without faults was not read"
        raise AssertionError(message)
    require_roll_to_play(state)
    return state, dice


def _list_plays(request: rules_pb2.ListPlaysRequest, state: GameState, dice: Dice) -> bytes:
    """The answer, serialised."""
    position = state.position
    response = rules_pb2.ListPlaysResponse(dice=dice_message(dice))
    if request.include_step_graph:
        graph = step_graph(position, dice, first_turn=request.first_turn)
        response.step_graph.CopyFrom(step_graph_message(graph))
    plays = plays_bytes(position, dice, first_turn=request.first_turn)
    return plays + response.SerializeToString()


def _apply_play(
    request: rules_pb2.ApplyPlayRequest, state: GameState, dice: Dice
) -> rules_pb2.ApplyPlayResponse:
    position = state.position
    by_steps = request.WhichOneof("play") == "steps"
    try:
        if by_steps:
            steps = [(step.source, step.target, step.die, step.hit) for step in request.steps.steps]
            play = play_of_steps(position, dice, steps, first_turn=request.first_turn)
        else:
            play = parse_play(request.notation, position, dice, first_turn=request.first_turn)
    except InvalidInputError as error:
        # The engine names the steps, the notation's reader the play: the API has other names.
        moved = [
            _below("steps", fault) if by_steps else Fault("notation", fault.reason, fault.message)
            for fault in error.faults
        ]
        raise type(error)(moved) from error
    return rules_pb2.ApplyPlayResponse(
        play=play_message(play, position),
        next=position_message(play.result.turned()),
        game_value=max(0, game_value(play.result)),
    )


def _below(path: str, fault: Fault) -> Fault:
    return Fault(f"{path}.{fault.field}", fault.reason, fault.message)


def _fault_message(fault: Fault) -> rules_pb2.Fault:
    return rules_pb2.Fault(field=fault.field, reason=fault.reason, message=fault.message)


def _inspection_message(found: Inspection) -> rules_pb2.InspectPositionResponse:
    return rules_pb2.InspectPositionResponse(
        pips=found.pips,
        opponent_pips=found.opponent_pips,
        phase=_PHASES[found.phase],
        blots=[
            rules_pb2.Blot(
                point=blot.point, opponent=blot.opponent, hitting_rolls=blot.hitting_rolls
            )
            for blot in found.blots
        ],
        entering_rolls=found.entering_rolls,
        opponent_entering_rolls=found.opponent_entering_rolls,
        off=found.off,
        opponent_off=found.opponent_off,
        result=found.result,
    )
