"""How games look: views for either seat, and lines of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.levels import Level
from bgserver.engine.position import Seat
from bgserver.engine.strength import NAMED_STRENGTHS, Strength
from bgserver.formats.board import render_board
from bgserver.games.actions import ActionKind, StepOrder
from bgserver.games.automation import DueKind
from bgserver.games.cube import OFFER_STAGES
from bgserver.games.state import Stage, to_act
from bgserver.games.storage_records import DiceKind, OccupantKind
from bgserver.games.table import due, legal_actions
from bgserver.games.views import game_state, seat_view
from bgserver.server.convert_enums import LEVEL, RESIGNATION, SEAT, VARIANT, EnumMap
from bgserver.server.convert_game_event import ACTION_KIND, outcome_message
from bgserver.server.convert_plays import step_message
from bgserver.server.convert_rules import rules_message
from bgserver.server.convert_state import dice_message, position_message, state_message
from bgserver.v1 import common_pb2, game_pb2

if TYPE_CHECKING:
    from bgserver.games.state import TableState
    from bgserver.games.storage_records import Detail, GameRow, Occupant

__all__ = ["summary_message", "view_message"]

_DICE_KIND = EnumMap(game_pb2.DiceKind, DiceKind)
_STAGES = {
    stage.value: game_pb2.GameStage.Value(f"GAME_STAGE_{stage.name}")
    for stage in Stage
    if stage is not Stage.OPENING  # never seen from outside
} | {"waiting": game_pb2.GAME_STAGE_WAITING}
_STRENGTHS = {
    strength: common_pb2.Strength.Value(f"STRENGTH_{name.upper()}")
    for name, strength in NAMED_STRENGTHS.items()
}


def view_message(
    row: GameRow,
    detail: Detail,
    state: TableState | None,
    now: float,
    *,
    seat: Seat | None,
    view_from: Seat | None = None,
    with_board: bool = False,
) -> game_pb2.GameView:
    """A game as somebody sees it.

    Args:
        row: Its row.
        detail: Rules, seats, dice.
        state: Where the table stands; None while it waits for players.
        now: The time, for the clock.
        seat: Whose token asks; None for spectators.
        view_from: From which seat to look; None for the own one, for spectators the first.
        with_board: Also draw the board.
    """
    viewer = view_from if view_from is not None else seat if seat is not None else Seat.FIRST
    setup = detail.setup
    message = game_pb2.GameView(
        game_id=row.id,
        version=state.version if state is not None else 0,
        stage=_STAGES[state.stage.value if state is not None else "waiting"],
        viewer=SEAT.to_api(viewer),
        first=_seat_info(detail, state, Seat.FIRST),
        second=_seat_info(detail, state, Seat.SECOND),
        rules=rules_message(setup.rules),
        preset=row.preset,
        match_length=setup.match_length,
        has_cube=setup.cube,
        dice_kind=_DICE_KIND.to_api(detail.dice),
        hints=detail.hints,
        listed=row.listed,
    )
    if state is None:
        if seat is not None:
            message.legal.CopyFrom(_waiting_actions())
        return message
    _fill_board(message, state, viewer, with_board=with_board)
    _fill_game(message, state)
    clock = due(state)
    if clock is not None and clock.kind is DueKind.TIMEOUT and setup.turn_seconds is not None:
        message.clock.seat = SEAT.to_api(clock.seat)
        message.clock.seconds_left = max(0.0, clock.at - now)
        message.clock.turn_seconds = setup.turn_seconds
    if seat is not None:
        message.legal.CopyFrom(_legal_message(state, seat))
    return message


def _fill_board(
    message: game_pb2.GameView, state: TableState, viewer: Seat, *, with_board: bool
) -> None:
    view = seat_view(state, viewer)
    message.position.CopyFrom(position_message(view.position))
    message.pips, message.opponent_pips = view.pips
    message.off, message.opponent_off = view.off
    if with_board:
        message.board = render_board(view.position)
    if state.stage is not Stage.SESSION_OVER:
        message.turn = SEAT.to_api(state.turn)
    if state.stage is Stage.MOVING and state.dice is not None:
        message.dice.CopyFrom(dice_message(state.dice))
        message.dice_left.extend(_dice_left(state))
        message.steps.extend(map(step_message, state.steps))
    message.state.CopyFrom(state_message(game_state(state)))


def _dice_left(state: TableState) -> list[int]:
    dice = state.dice
    if dice is None:
        return []
    left = [dice.high] * 4 if dice.is_double else [dice.high, dice.low]
    for step in state.steps:
        left.remove(step.die)
    return left


def _fill_game(message: game_pb2.GameView, state: TableState) -> None:
    message.dice_commitment = state.commitment
    message.game_number = state.game
    message.crawford = state.crawford
    message.to_act.extend(map(SEAT.to_api, to_act(state)))
    message.cube_value = state.cube_value
    if state.cube_owner is not None:
        message.cube_owner = SEAT.to_api(state.cube_owner)
    if state.stage in OFFER_STAGES:
        message.cube_offered = 2 * state.cube_value
    if state.resigning is not None:
        message.resigning = SEAT.to_api(state.resigning)
        message.resignation = RESIGNATION.to_api(state.resignation)
    if state.last_result is not None:
        message.last_outcome.CopyFrom(outcome_message(state.last_result))
    if state.winner is not None:
        message.winner = SEAT.to_api(state.winner)


def _seat_info(detail: Detail, state: TableState | None, seat: Seat) -> game_pb2.SeatInfo:
    message = _occupant_message(detail.occupants[seat])
    if state is not None:
        message.autopilot = state.autopilot[seat]
        message.points = state.score[seat]
        message.timeouts = state.timeouts[seat]
        message.ready = state.stage is Stage.GAME_OVER and state.ready[seat]
    return message


def _occupant_message(occupant: Occupant) -> game_pb2.SeatInfo:
    message = game_pb2.SeatInfo(name=occupant.name, open=occupant.kind is OccupantKind.OPEN)
    if occupant.kind is OccupantKind.ENGINE:
        message.engine.level = LEVEL.to_api(Level(occupant.level))
        named = _STRENGTHS.get(Strength(occupant.strength))
        if named is not None:
            message.engine.named_strength = named
        else:
            message.engine.numeric_strength = occupant.strength
    return message


def _legal_message(state: TableState, seat: Seat) -> game_pb2.LegalActions:
    legal = legal_actions(state, seat)
    return game_pb2.LegalActions(
        actions=[ACTION_KIND.to_api(kind) for kind in ActionKind if kind in legal.actions],
        steps=[
            game_pb2.StepOption(
                source=option.source,
                target=option.target,
                low_die_first=option.order is StepOrder.LOW_FIRST,
                steps=map(step_message, option.steps),
            )
            for option in legal.steps
        ],
        refusals=[
            game_pb2.Refusal(action=ACTION_KIND.to_api(kind), reasons=reasons)
            for kind, reasons in legal.refusals.items()
        ],
        resignations=map(RESIGNATION.to_api, legal.resignations),
    )


def _waiting_actions() -> game_pb2.LegalActions:
    return game_pb2.LegalActions(
        refusals=[
            game_pb2.Refusal(action=ACTION_KIND.to_api(kind), reasons=["GAME_WAITING"])
            for kind in ActionKind
        ]
    )


def summary_message(row: GameRow, detail: Detail) -> game_pb2.GameSummary:
    """A line of a list."""
    seats = [_occupant_message(occupant) for occupant in detail.occupants]
    for seat, points in zip(seats, row.brief.score, strict=True):
        seat.points = points
    message = game_pb2.GameSummary(
        game_id=row.id,
        stage=_STAGES[row.brief.stage],
        preset=row.preset,
        match_length=detail.setup.match_length,
        first=seats[0],
        second=seats[1],
        version=row.version,
        created_at=row.created_at,
        changed_at=row.changed_at,
        turn_seconds=detail.setup.turn_seconds or 0,
        variant=VARIANT.to_api(detail.setup.rules.variant),
    )
    if row.brief.winner is not None:
        message.winner = SEAT.to_api(Seat(row.brief.winner))
    return message
