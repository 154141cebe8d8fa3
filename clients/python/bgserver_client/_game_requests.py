"""Requests of games from what a person would write; shared by both clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from bgserver_client._requests import (
    DepthLike,
    PlayerLike,
    StepLike,
    fault,
    limit_message,
    plain_text,
    player_message,
)
from bgserver_client._requests import _count as count
from bgserver_client.v1 import common_pb2, game_pb2, rules_pb2

if TYPE_CHECKING:
    from collections.abc import Sequence

SeatLike: TypeAlias = Literal["open"] | PlayerLike | game_pb2.SeatSetup
"""Who sits in a seat: `"open"`, an engine player (a level, a strength's name or `player(...)`), or
a message, which `person` makes."""

PlainActionName: TypeAlias = Literal[
    "roll",
    "undo",
    "confirm",
    "double",
    "take",
    "drop",
    "beaver",
    "raccoon",
    "play_on",
    "resign",
    "accept",
    "refuse",
    "next_game",
    "end_session",
    "return",
]
ActionLike: TypeAlias = PlainActionName | StepLike | game_pb2.GameAction
"""What a seat does: a name where that is enough, a step `(source, target)`, or a message."""

FilterName: TypeAlias = Literal["all", "waiting", "running", "over"]
SeatName: TypeAlias = Literal["first", "second"]
FormatName: TypeAlias = Literal["json", "mat"]
ResignationName: TypeAlias = Literal["single", "gammon", "backgammon"]


def person(name: str = "") -> game_pb2.SeatSetup:
    """A person at a seat.

    Args:
        name: A name to show, at most 40 characters.
    """
    return game_pb2.SeatSetup(person=game_pb2.Person(name=plain_text(name, "person.name")))


def seat_setup(seat: SeatLike | None, field: str) -> game_pb2.SeatSetup | None:
    """The request form of a seat."""
    if seat is None or isinstance(seat, game_pb2.SeatSetup):
        return seat
    if seat == "open":
        return game_pb2.SeatSetup(open=game_pb2.OpenSeat())
    return game_pb2.SeatSetup(engine=player_message(seat, f"{field}.engine"))


def action_message(action: ActionLike) -> game_pb2.GameAction:
    """The request form of an action."""
    if isinstance(action, game_pb2.GameAction):
        return action
    if not isinstance(action, str):
        step = _step(action, "action.step")
        move = game_pb2.GameAction.Move(source=step.source, target=step.target)
        return game_pb2.GameAction(step=move)
    if action not in get_args(PlainActionName):
        names = ", ".join(get_args(PlainActionName))
        message = f"expected one of {names}, a step or a message, got {action!r}"
        raise fault(message, field="action", reason="UNKNOWN_ACTION")
    request = game_pb2.GameAction()
    getattr(request, action).SetInParent()
    return request


def _step(step: StepLike, field: str) -> common_pb2.Step:
    if isinstance(step, common_pb2.Step):
        return step
    try:
        source, target = step
        return common_pb2.Step(source=source, target=target)
    except (TypeError, ValueError) as error:
        message = f"expected (source, target) with points from 0 to 25, got {step!r}"
        raise fault(message, field=field, reason="NOT_A_STEP") from error


def play_action(play: str | Sequence[StepLike]) -> game_pb2.GameAction:
    """The action that makes all steps that are left and confirms."""
    whole = game_pb2.GameAction.WholePlay()
    if isinstance(play, str):
        whole.notation = plain_text(play, "action.play.notation")
    else:
        whole.steps.SetInParent()
        for index, step in enumerate(play):
            whole.steps.steps.append(_step(step, f"action.play.steps.steps[{index}]"))
    return game_pb2.GameAction(play=whole)


def step_action(source: int, target: int, *, low_die_first: bool) -> game_pb2.GameAction:
    """The action that moves one checker."""
    step = _step((source, target), "action.step")
    move = game_pb2.GameAction.Move(
        source=step.source, target=step.target, low_die_first=low_die_first
    )
    return game_pb2.GameAction(step=move)


def resign_action(result: ResignationName) -> game_pb2.GameAction:
    """The action that gives up."""
    if result not in get_args(ResignationName):
        names = ", ".join(get_args(ResignationName))
        message = f"expected one of {names}, got {result!r}"
        raise fault(message, field="action.resign.result", reason="UNKNOWN_VALUE")
    value = common_pb2.Resignation.Value(f"RESIGNATION_{result.upper()}")
    return game_pb2.GameAction(resign=game_pb2.GameAction.Resign(result=value))


def create_game(
    preset: str,
    *,
    rules: rules_pb2.Rules | None,
    match_length: int | None,
    cube: bool | None,
    turn_seconds: int | None,
    first: SeatLike | None,
    second: SeatLike | None,
    seed: int | None,
    fair_dice: bool,
    listed: bool,
    no_hints: bool,
    request_id: str,
) -> game_pb2.CreateGameRequest:
    """Request of CreateGame."""
    if seed is not None and fair_dice:
        message = "expected a seed or fair dice, got both"
        raise fault(message, field="dice", reason="DICE_AMBIGUOUS")
    request = game_pb2.CreateGameRequest(
        preset=plain_text(preset, "preset"),
        rules=rules,
        match_length=None if match_length is None else count(match_length, "match_length"),
        cube=cube,
        turn_seconds=None if turn_seconds is None else count(turn_seconds, "turn_seconds"),
        first=seat_setup(first, "first"),
        second=seat_setup(second, "second"),
        listed=listed,
        no_hints=no_hints,
        request_id=plain_text(request_id, "request_id"),
    )
    if seed is not None:
        request.seed = count(seed, "seed")
    elif fair_dice:
        request.fair_dice.SetInParent()
    return request


def join_game(
    invitation: str | None, game_id: str | None, person: str, request_id: str
) -> game_pb2.JoinGameRequest:
    """Request of JoinGame."""
    if invitation is not None and game_id is not None:
        message = "expected an invitation or the id of a listed game, got both"
        raise fault(message, field="game", reason="GAME_AMBIGUOUS")
    request = game_pb2.JoinGameRequest(
        person=game_pb2.Person(name=plain_text(person, "person.name")),
        request_id=plain_text(request_id, "request_id"),
    )
    if invitation is not None:
        request.invitation = plain_text(invitation, "invitation")
    if game_id is not None:
        request.game_id = plain_text(game_id, "game_id")
    return request


def get_game(
    game_id: str, token: str, view_from: SeatName | None, *, include_board: bool
) -> game_pb2.GetGameRequest:
    """Request of GetGame."""
    return game_pb2.GetGameRequest(
        game_id=plain_text(game_id, "game_id"),
        token=plain_text(token, "token"),
        view_from=_seat_value(view_from),
        include_board=include_board,
    )


def _seat_value(seat: SeatName | None) -> common_pb2.Seat.ValueType:
    if seat is None:
        return common_pb2.SEAT_UNSPECIFIED
    if seat not in get_args(SeatName):
        message = f"expected first or second, got {seat!r}"
        raise fault(message, field="view_from", reason="UNKNOWN_SEAT")
    return common_pb2.Seat.Value(f"SEAT_{seat.upper()}")


def list_games(
    filter: FilterName,  # noqa: A002 -- the API's name
    preset: str,
    tokens: Sequence[str],
    page_size: int,
    page_token: str,
) -> game_pb2.ListGamesRequest:
    """Request of ListGames."""
    if filter not in get_args(FilterName):
        names = ", ".join(get_args(FilterName))
        message = f"expected one of {names}, got {filter!r}"
        raise fault(message, field="filter", reason="UNKNOWN_VALUE")
    name = "UNSPECIFIED" if filter == "all" else filter.upper()
    return game_pb2.ListGamesRequest(
        filter=game_pb2.GameFilter.Value(f"GAME_FILTER_{name}"),
        preset=plain_text(preset, "preset"),
        tokens=[plain_text(token, "tokens") for token in tokens],
        page_size=count(page_size, "page_size"),
        page_token=plain_text(page_token, "page_token"),
    )


def act(
    game_id: str, token: str, expected_version: int, action: ActionLike, action_id: str
) -> game_pb2.ActRequest:
    """Request of Act."""
    return game_pb2.ActRequest(
        game_id=plain_text(game_id, "game_id"),
        token=plain_text(token, "token"),
        expected_version=count(expected_version, "expected_version"),
        action=action_message(action),
        action_id=plain_text(action_id, "action_id"),
    )


def watch(
    game_id: str, token: str, after_event: int, *, include_views: bool
) -> game_pb2.WatchRequest:
    """Request of Watch."""
    return game_pb2.WatchRequest(
        game_id=plain_text(game_id, "game_id"),
        token=plain_text(token, "token"),
        after_event=count(after_event, "after_event"),
        include_views=include_views,
    )


def hint(
    game_id: str,
    token: str,
    level: DepthLike | None,
    milliseconds: int | None,
    max_plays: int,
) -> game_pb2.HintRequest:
    """Request of Hint."""
    return game_pb2.HintRequest(
        game_id=plain_text(game_id, "game_id"),
        token=plain_text(token, "token"),
        limit=limit_message(level, milliseconds),
        max_plays=count(max_plays, "max_plays"),
    )


def export_game(
    game_id: str,
    token: str,
    format: FormatName,  # noqa: A002 -- the API's name
) -> game_pb2.ExportGameRequest:
    """Request of ExportGame."""
    if format not in get_args(FormatName):
        message = f"expected json or mat, got {format!r}"
        raise fault(message, field="format", reason="UNKNOWN_VALUE")
    return game_pb2.ExportGameRequest(
        game_id=plain_text(game_id, "game_id"),
        token=plain_text(token, "token"),
        format=game_pb2.ExportFormat.Value(f"EXPORT_FORMAT_{format.upper()}"),
    )
