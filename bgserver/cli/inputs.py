"""Reads positions, dice, levels and games as a person types them."""

from __future__ import annotations

import re

from bgserver.cli.options import LevelName, level_value
from bgserver.cli.problems import gathered, input_error
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.position import Position, Variant
from bgserver.server.foreign import address_fault
from bgserver.v1 import common_pb2

__all__ = [
    "is_nardy",
    "parse_contestant",
    "parse_dice",
    "parse_player",
    "parse_position",
    "read_position",
    "read_turn",
]

_XGID = "XGID="
_WORDS = {"start": Variant.BACKGAMMON, "nardy-start": Variant.LONG_NARDY}
_GNU_ID = re.compile(r"([A-Za-z0-9+/]{14})(?:={0,2}:([A-Za-z0-9+/]*))?")
_NUMBERS = re.compile(r"\[?([-+]?\d{1,18}(?:[\s,]+[-+]?\d{1,18})*)\]?")
_DICE = re.compile(r"(\d)(\d)|(\d{1,9})[\s,/-]+(\d{1,9})")
_NUMBER = re.compile(r"\d{1,9}")
_STRENGTHS = tuple(
    name.removeprefix("STRENGTH_").lower() for name in common_pb2.Strength.keys()[1:]
)
_VARIANTS = {
    Variant.BACKGAMMON: common_pb2.VARIANT_BACKGAMMON,
    Variant.LONG_NARDY: common_pb2.VARIANT_LONG_NARDY,
}


def parse_position(text: str, *, nardy: bool = False) -> common_pb2.PositionSource:
    """A position as a request gives it.

    Args:
        text: `start`, `nardy-start`, a GNU Position ID (and `:` and a Match ID), 26 numbers, or an
            XGID, which the server judges.
        nardy: What 26 numbers mean: Long Nardy instead of backgammon.

    Raises:
        InvalidInputError: It is none of these, or a number is far too large to be a count of
            checkers.
    """
    text = text.strip()
    if text.lower() in _WORDS:
        variant = _WORDS[text.lower()]
        return _board(Position.start(variant).points, variant)
    if match := _GNU_ID.fullmatch(text):
        gnu_id = common_pb2.GnuId(position_id=match[1], match_id=match[2] or "")
        return common_pb2.PositionSource(gnu_id=gnu_id)
    if match := _NUMBERS.fullmatch(text):
        numbers = tuple(int(number) for number in re.split(r"[\s,]+", match[1]))
        return _board(numbers, Variant.LONG_NARDY if nardy else Variant.BACKGAMMON)
    # What says that it is an XGID is told what is wrong with it as one.
    if ":" not in text and not text.upper().startswith(_XGID):
        message = (
            "expected an XGID, a GNU Position ID (14 characters), start, nardy-start or 26 numbers,"
            f" got {text!r}"
        )
        raise input_error(message, field="position", reason="NOT_A_POSITION")
    return common_pb2.PositionSource(xgid=text)


def is_nardy(source: common_pb2.PositionSource) -> bool:
    """Whether a position is one of Long Nardy, which XGIDs and GNU IDs never are."""
    board = source.state.position if source.HasField("state") else source.position
    return board.variant == common_pb2.VARIANT_LONG_NARDY


def read_position(
    text: str, *, nardy: bool = False, first_turn: bool = False
) -> common_pb2.PositionSource:
    """A position, and that the flags given with it mean something for it.

    Args:
        text: As for `parse_position`.
        nardy: The flag `--nardy`.
        first_turn: The flag `--first-turn`.

    Raises:
        InvalidInputError: It is no position, or a flag is for others.
    """
    source = parse_position(text, nardy=nardy)
    if nardy and not is_nardy(source):
        message = "only 26 numbers can mean Long Nardy; its start is nardy-start"
        raise input_error(message, field="--nardy", reason="ONLY_FOR_NUMBERS")
    if first_turn and not is_nardy(source):
        message = "only Long Nardy has a rule for a player's first turn, and this is backgammon"
        raise input_error(message, field="--first-turn", reason="ONLY_IN_LONG_NARDY")
    return source


def read_turn(
    position: str, dice: str | None, *, nardy: bool, first_turn: bool
) -> tuple[common_pb2.PositionSource, common_pb2.Dice | None]:
    """A position and its roll, if that is given; arguments as of `read_position` and `parse_dice`.

    Raises:
        InvalidInputError: Something is wrong; every fault is named.
    """
    faults: list[Fault] = []
    source = common_pb2.PositionSource()
    roll = None
    with gathered(faults):
        source = read_position(position, nardy=nardy, first_turn=first_turn)
    with gathered(faults):
        roll = parse_dice(dice)
    if faults:
        raise InvalidInputError(faults)
    return source, roll


def _board(points: tuple[int, ...], variant: Variant) -> common_pb2.PositionSource:
    try:
        position = common_pb2.Position(points=points, variant=_VARIANTS[variant])
    except ValueError as error:
        message = "expected 26 numbers from -15 to 15"
        raise input_error(
            message, field="position.position.points", reason="NOT_A_BOARD"
        ) from error
    return common_pb2.PositionSource(position=position)


def parse_dice(text: str | None) -> common_pb2.Dice | None:
    """A roll, written `31`, `3-1`, `3,1` or `3 1`.

    Raises:
        InvalidInputError: It is written in another way.
    """
    if text is None:
        return None
    match = _DICE.fullmatch(text.strip())
    if match is None:
        message = f"expected a roll such as 31, 3-1 or 3,1, got {text[:40]!r}"
        raise input_error(message, field="dice", reason="NOT_A_ROLL")
    first, second = (int(number) for number in match.groups() if number is not None)
    return common_pb2.Dice(first=min(first, 99), second=min(second, 99))


def parse_contestant(text: str, field: str) -> common_pb2.Player:
    """A player, here or at another server: as `parse_player`, and `@host:port` behind it.

    Args:
        text: What was typed; nothing before the `@` means static.
        field: What it is for.

    Raises:
        InvalidInputError: It is none of these.
    """
    words, at, address = (part.strip() for part in text.partition("@"))
    player = parse_player(words if words or not at else LevelName.STATIC.value, field)
    fault = ""
    if at:
        fault = address_fault(address) if address else f"expected PLAYER@HOST:PORT, got {text!r}"
    if fault:
        raise input_error(fault, field=field, reason="NOT_AN_ADDRESS")
    player.address = address
    return player


def parse_player(text: str, field: str = "player") -> common_pb2.Player:
    """A player: a level, a strength (by name or from 0 to 100), or both, `lookahead_1:normal`.

    Args:
        text: What was typed.
        field: What it is for.

    Raises:
        InvalidInputError: It is none of these.
    """
    levels = tuple(name.value for name in LevelName)
    words = text.strip().lower()
    level, colon, strength = words.partition(":")
    if words not in levels and not colon:
        level, strength = LevelName.STATIC.value, words
    is_number = _NUMBER.fullmatch(strength) is not None
    if words not in levels and not (level in levels and (is_number or strength in _STRENGTHS)):
        message = (
            f"expected a level ({', '.join(levels)}), a strength ({', '.join(_STRENGTHS)}, or 0 to "
            f"100), or both as in lookahead_1:normal, got {text!r}"
        )
        raise input_error(message, field=field, reason="UNKNOWN_PLAYER")
    player = common_pb2.Player(level=level_value(LevelName(level)))
    if is_number:
        player.numeric_strength = int(strength)
    elif strength:
        player.named_strength = common_pb2.Strength.Value(f"STRENGTH_{strength.upper()}")
    return player
