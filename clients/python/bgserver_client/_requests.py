"""Builds request messages from what a person would write; shared by both clients."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import grpc

from bgserver_client.errors import InvalidArgumentError, Violation
from bgserver_client.v1 import common_pb2, engine_pb2, rules_pb2, simulation_pb2

PositionLike: TypeAlias = (
    str
    | Sequence[int]
    | common_pb2.Position
    | common_pb2.GameState
    | common_pb2.GnuId
    | common_pb2.PositionSource
)
"""A position: an XGID; a GNU Position ID, alone or followed by `:` and a Match ID; the words
`start` and `nardy-start`; 26 numbers from the view of the player on roll (backgammon); or a
message."""

DiceLike: TypeAlias = common_pb2.Dice | tuple[int, int]
"""A roll: `(3, 1)` or a message."""

StepLike: TypeAlias = common_pb2.Step | tuple[int, int]
"""A step: `(source, target)` or a message; 25 is the bar and 0 is off."""

LevelName: TypeAlias = Literal["static", "lookahead_1", "lookahead_2", "lookahead_3", "random"]
LevelLike: TypeAlias = LevelName | common_pb2.Level.ValueType
"""How a player decides: a name such as `static`, or a value of the enum `Level`."""

DepthName: TypeAlias = Literal["static", "lookahead_1", "lookahead_2", "lookahead_3"]
DepthLike: TypeAlias = DepthName | common_pb2.Level.ValueType
"""How deep the engine looks: a name such as `static`, or a value of the enum `Level`."""

JudgeLike: TypeAlias = DepthLike | str
"""How deep the engine looks: a level, or the name of a rollout level, such as `rollout_fast` or
`rollout_fast@1`; `get_info` lists them."""

StrengthName: TypeAlias = Literal["beginner", "normal", "expert"]
PlayerLike: TypeAlias = LevelLike | StrengthName | common_pb2.Player
"""A player: a level, a strength's name for a static player of that strength, or a message, which
`player` makes."""

SeatingName: TypeAlias = Literal["fixed", "alternating", "duplicate"]
"""Where the players of a simulation sit."""

VariantName: TypeAlias = Literal["backgammon", "long_nardy"]
VariantLike: TypeAlias = VariantName | common_pb2.Variant.ValueType
"""A game: its name, or a value of the enum `Variant`."""

_LANGUAGES = {"en": rules_pb2.LANGUAGE_ENGLISH, "de": rules_pb2.LANGUAGE_GERMAN}
_START = (0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0)
_NARDY_START = (0,) * 12 + (-15,) + (0,) * 11 + (15, 0)
_GNU_ID = re.compile(r"([A-Za-z0-9+/]{14})(?:={0,2}:([A-Za-z0-9+/]*))?")


def fault(description: str, *, field: str, reason: str) -> InvalidArgumentError:
    """The error for a value that cannot even be put into a request."""
    return InvalidArgumentError(
        grpc.StatusCode.INVALID_ARGUMENT,
        description,
        reason="INVALID_INPUT",
        violations=(Violation(field, reason, description),),
    )


def start_position(variant: VariantLike = "backgammon") -> common_pb2.Position:
    """The start position of a game."""
    value = variant_value(variant)
    points = _NARDY_START if value == common_pb2.VARIANT_LONG_NARDY else _START
    return common_pb2.Position(points=points, variant=value)


def position_source(position: PositionLike) -> common_pb2.PositionSource:
    """The request form of a position."""
    if isinstance(position, common_pb2.PositionSource):
        return position
    if isinstance(position, common_pb2.Position):
        return common_pb2.PositionSource(position=position)
    if isinstance(position, common_pb2.GameState):
        return common_pb2.PositionSource(state=position)
    if isinstance(position, common_pb2.GnuId):
        return common_pb2.PositionSource(gnu_id=position)
    if isinstance(position, str):
        return _source_from_text(position.strip())
    try:
        return common_pb2.PositionSource(position=common_pb2.Position(points=list(position)))
    except (TypeError, ValueError) as error:
        message = f"expected 26 small integers, got {position!r}"
        raise fault(message, field="position.position.points", reason="NOT_A_BOARD") from error


def _source_from_text(text: str) -> common_pb2.PositionSource:
    if text == "start":
        return common_pb2.PositionSource(position=start_position())
    if text == "nardy-start":
        return common_pb2.PositionSource(position=start_position("long_nardy"))
    if match := _GNU_ID.fullmatch(text):
        gnu_id = common_pb2.GnuId(position_id=match[1], match_id=match[2] or "")
        return common_pb2.PositionSource(gnu_id=gnu_id)
    return common_pb2.PositionSource(xgid=plain_text(text, "position.xgid"))


def dice_message(dice: DiceLike | None) -> common_pb2.Dice | None:
    """The request form of a roll."""
    if dice is None or isinstance(dice, common_pb2.Dice):
        return dice
    try:
        first, second = dice
        return common_pb2.Dice(first=first, second=second)
    except (TypeError, ValueError) as error:
        message = f"expected two numbers from 1 to 6, got {dice!r}"
        raise fault(message, field="dice", reason="NOT_A_ROLL") from error


def level_value(
    level: str | common_pb2.Level.ValueType, field: str = "level", *, plays: bool = False
) -> common_pb2.Level.ValueType:
    """The enum value of a level.

    Args:
        level: The level.
        field: The field that it is for.
        plays: Whether it is that of a player, who may also play at random.
    """
    if isinstance(level, str):
        known = get_args(LevelName if plays else DepthName)
        if level not in known:
            names = ", ".join(known)
            message = f"expected one of {names}, got {level!r}"
            raise fault(message, field=field, reason="UNKNOWN_LEVEL")
        return common_pb2.Level.Value(f"LEVEL_{level.upper()}")
    return level


def player(
    level: LevelLike = "static",
    strength: StrengthName | int | None = None,
    *,
    address: str = "",
) -> common_pb2.Player:
    """A player of the engine.

    Args:
        level: How deep it looks.
        strength: How well it chooses among what it sees: a name, or 0 (the weakest) to 100; by
            default the full engine.
        address: In simulations: `host:port` of another bgserver that plays instead.
    """
    message = _player(level, strength, "player")
    message.address = plain_text(address, "player.address")
    return message


def player_message(player: PlayerLike, field: str) -> common_pb2.Player:
    """The request form of a player."""
    if isinstance(player, common_pb2.Player):
        return player
    if player in get_args(StrengthName):
        return _player("static", str(player), field)
    if isinstance(player, str) and player not in get_args(LevelName):
        names = ", ".join((*get_args(LevelName), *get_args(StrengthName)))
        message = f"expected one of {names}, got {player!r}"
        raise fault(message, field=field, reason="UNKNOWN_PLAYER")
    return _player(player, None, field)


def _player(
    level: str | common_pb2.Level.ValueType, strength: str | int | None, field: str
) -> common_pb2.Player:
    message = common_pb2.Player(level=level_value(level, f"{field}.level", plays=True))
    if isinstance(strength, str):
        if strength not in get_args(StrengthName):
            names = ", ".join(get_args(StrengthName))
            text = f"expected one of {names}, or a number, got {strength!r}"
            raise fault(text, field=f"{field}.named_strength", reason="UNKNOWN_STRENGTH")
        message.named_strength = common_pb2.Strength.Value(f"STRENGTH_{strength.upper()}")
    elif strength is not None:
        message.numeric_strength = _count(strength, f"{field}.numeric_strength")
    return message


def limit_message(level: JudgeLike | None, milliseconds: int | None) -> common_pb2.Limit | None:
    """How far the engine may go; None means to the static level."""
    if milliseconds is None:
        if isinstance(level, str) and level.startswith("rollout"):
            return common_pb2.Limit(preset=plain_text(level, "limit.preset"))
        return None if level is None else common_pb2.Limit(level=level_value(level, "limit.level"))
    if level is not None:
        message = f"expected a level or milliseconds, got {level!r} and {milliseconds!r}"
        raise fault(message, field="limit", reason="LIMIT_AMBIGUOUS")
    return common_pb2.Limit(milliseconds=_count(milliseconds, "limit.milliseconds"))


def variant_value(variant: VariantLike) -> common_pb2.Variant.ValueType:
    """The enum value of a game."""
    if isinstance(variant, str):
        if variant not in get_args(VariantName):
            names = ", ".join(get_args(VariantName))
            message = f"expected one of {names}, got {variant!r}"
            raise fault(message, field="variant", reason="UNKNOWN_VARIANT")
        return common_pb2.Variant.Value(f"VARIANT_{variant.upper()}")
    return variant


def list_plays(
    position: PositionLike, dice: DiceLike | None, *, first_turn: bool, include_step_graph: bool
) -> rules_pb2.ListPlaysRequest:
    """Request of ListPlays."""
    return rules_pb2.ListPlaysRequest(
        position=position_source(position),
        dice=dice_message(dice),
        first_turn=first_turn,
        include_step_graph=include_step_graph,
    )


def apply_play(
    position: PositionLike,
    play: str | Sequence[StepLike],
    dice: DiceLike | None,
    *,
    first_turn: bool,
) -> rules_pb2.ApplyPlayRequest:
    """Request of ApplyPlay."""
    request = rules_pb2.ApplyPlayRequest(
        position=position_source(position), dice=dice_message(dice), first_turn=first_turn
    )
    if isinstance(play, str):
        request.notation = plain_text(play, "notation")
    else:
        request.steps.SetInParent()
        request.steps.steps.extend(_step(step, index) for index, step in enumerate(play))
    return request


def _step(step: StepLike, index: int) -> common_pb2.Step:
    if isinstance(step, common_pb2.Step):
        return step
    try:
        source, target = step
        return common_pb2.Step(source=source, target=target)
    except (TypeError, ValueError) as error:
        message = f"expected (source, target) with points from 0 to 25, got {step!r}"
        raise fault(message, field=f"steps.steps[{index}]", reason="NOT_A_STEP") from error


def inspect_position(position: PositionLike) -> rules_pb2.InspectPositionRequest:
    """Request of InspectPosition."""
    return rules_pb2.InspectPositionRequest(position=position_source(position))


def convert_position(position: PositionLike) -> rules_pb2.ConvertPositionRequest:
    """Request of ConvertPosition."""
    return rules_pb2.ConvertPositionRequest(position=position_source(position))


def evaluate(
    position: PositionLike, level: JudgeLike | None, milliseconds: int | None
) -> engine_pb2.EvaluateRequest:
    """Request of Evaluate."""
    return engine_pb2.EvaluateRequest(
        position=position_source(position), limit=limit_message(level, milliseconds)
    )


def rank_plays(
    position: PositionLike,
    dice: DiceLike | None,
    *,
    level: JudgeLike | None,
    milliseconds: int | None,
    max_plays: int,
    cubeless: bool,
    first_turn: bool,
) -> engine_pb2.RankPlaysRequest:
    """Request of RankPlays."""
    return engine_pb2.RankPlaysRequest(
        position=position_source(position),
        dice=dice_message(dice),
        limit=limit_message(level, milliseconds),
        max_plays=_count(max_plays, "max_plays"),
        cubeless=cubeless,
        first_turn=first_turn,
    )


def advise_cube(
    position: PositionLike,
    level: JudgeLike | None,
    milliseconds: int | None,
    *,
    raccoons: bool = False,
    raccoon_owner: rules_pb2.RaccoonOwner.ValueType = rules_pb2.RACCOON_OWNER_UNSPECIFIED,
    market_losers: bool = False,
    market_replies: bool = False,
) -> engine_pb2.AdviseCubeRequest:
    """Request of AdviseCube."""
    return engine_pb2.AdviseCubeRequest(
        position=position_source(position),
        limit=limit_message(level, milliseconds),
        raccoons=raccoons,
        raccoon_owner=raccoon_owner,
        market_losers=market_losers,
        market_replies=market_replies,
    )


def advise_cube_by_score(
    position: PositionLike, level: JudgeLike | None, milliseconds: int | None, away: int | None
) -> engine_pb2.AdviseCubeByScoreRequest:
    """Request of AdviseCubeByScore."""
    return engine_pb2.AdviseCubeByScoreRequest(
        position=position_source(position),
        limit=limit_message(level, milliseconds),
        away=None if away is None else _count(away, "away"),
    )


def choose_play(
    position: PositionLike,
    dice: DiceLike | None,
    *,
    player: PlayerLike,
    first_turn: bool,
    seed: int | None,
    game: int,
    turn: int,
) -> engine_pb2.ChoosePlayRequest:
    """Request of ChoosePlay."""
    return engine_pb2.ChoosePlayRequest(
        position=position_source(position),
        dice=dice_message(dice),
        player=player_message(player, "player"),
        first_turn=first_turn,
        seed=None if seed is None else _count(seed, "seed"),
        game=_count(game, "game"),
        turn=_count(turn, "turn"),
    )


def choose_cube_action(
    position: PositionLike, *, player: PlayerLike, seed: int | None, game: int, turn: int
) -> engine_pb2.ChooseCubeActionRequest:
    """Request of ChooseCubeAction."""
    return engine_pb2.ChooseCubeActionRequest(
        position=position_source(position),
        player=player_message(player, "player"),
        seed=None if seed is None else _count(seed, "seed"),
        game=_count(game, "game"),
        turn=_count(turn, "turn"),
    )


def describe_rules(
    preset: str, *, rules: rules_pb2.Rules | None, language: str | None
) -> rules_pb2.DescribeRulesRequest:
    """Request of DescribeRules."""
    if language is not None and language not in _LANGUAGES:
        message = f"expected one of {', '.join(_LANGUAGES)}, got {language!r}"
        raise fault(message, field="language", reason="UNKNOWN_VALUE")
    return rules_pb2.DescribeRulesRequest(
        preset=plain_text(preset, "preset"),
        rules=rules,
        language=rules_pb2.LANGUAGE_UNSPECIFIED if language is None else _LANGUAGES[language],
    )


def simulate(
    count: int,
    *,
    preset: str,
    rules: rules_pb2.Rules | None,
    match_length: int | None,
    seed: int | None,
    first: PlayerLike,
    second: PlayerLike,
    include_records: bool,
    statistics_only: bool,
    seating: SeatingName,
    judge: DepthLike | None,
    session_games: int | None,
    first_unit: int,
    decision_ms: int | None,
) -> simulation_pb2.SimulateRequest:
    """Request of Simulate."""
    if seating not in get_args(SeatingName):
        message = f"expected one of {', '.join(get_args(SeatingName))}, got {seating!r}"
        raise fault(message, field="seating", reason="UNKNOWN_VALUE")
    return simulation_pb2.SimulateRequest(
        preset=plain_text(preset, "preset"),
        rules=rules,
        match_length=None if match_length is None else _count(match_length, "match_length"),
        count=_count(count, "count"),
        seed=None if seed is None else _count(seed, "seed"),
        first=player_message(first, "first"),
        second=player_message(second, "second"),
        include_records=include_records,
        statistics_only=statistics_only,
        seating=simulation_pb2.Seating.Value(f"SEATING_{seating.upper()}"),
        judge=common_pb2.LEVEL_UNSPECIFIED if judge is None else level_value(judge, "judge"),
        session_games=None if session_games is None else _count(session_games, "session_games"),
        first_unit=_count(first_unit, "first_unit"),
        decision_ms=None if decision_ms is None else _count(decision_ms, "decision_ms"),
    )


def plain_text(text: str, field: str) -> str:
    """`text`, if UTF-8 can say it: half a surrogate pair it cannot."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = f"expected text, got {text!r}"
        raise fault(message, field=field, reason="NOT_TEXT") from error
    return text


def _count(number: int, field: str) -> int:
    """`number`, if a uint32 can hold it."""
    if not 0 <= number < 1 << 32:
        message = f"expected 0 to {(1 << 32) - 1}, got {number}"
        raise fault(message, field=field, reason="OUT_OF_RANGE")
    return number
