"""XGID: one line of text for a position with cube, dice, score and rules.

An XGID has ten fields separated by colons, usually behind the prefix `XGID=`:

1. 26 characters: the top player's bar, the bottom player's points 1 to 24, the bottom player's
   bar; `-` empty, `A`-`O` 1 to 15 checkers of the bottom player, `a`-`o` of the top player. The
   view is always the bottom player's, whoever is on roll;
2. the cube shows 2 to this power;
3. its owner: 1 bottom, -1 top, 0 centred;
4. the turn: 1 bottom, -1 top. While a double is on offer it stays the doubler's;
5. `00` before the roll, two digits after it, or what is on offer: `D` a double, `B` a beaver, `R` a
   raccoon. Fields 2 and 3 then show the cube as it was before the double;
6. points of the bottom player;
7. points of the top player;
8. in a match 1 for the Crawford game, in money play 1 for Jacoby plus 2 for beavers;
9. the match length, 0 for money play;
10. no double may raise the cube above 2 to this power.

Our seat FIRST is the bottom player. A centred cube above 1 is accepted in money play, where
automatic doubles make it, and refused in a match.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.position import (
    BAR,
    CHECKERS,
    OPPONENT_BAR,
    Dice,
    GamePhase,
    GameState,
    Position,
    Resignation,
    Seat,
    Variant,
    position_faults,
)
from bgserver.formats._draft import MAX_CUBE_EXPONENT, MAX_SCORE, NO_OFFER, Draft, Paths, draft_of
from bgserver.formats._text import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["format_xgid", "parse_xgid"]

_PREFIX = "XGID="
_FIELD_NAMES = (
    "position",
    "cube_value",
    "cube_owner",
    "turn",
    "dice",
    "score",
    "score",
    "crawford",
    "match_length",
    "max_cube",
)
_MAX_TEXT = 200
_LETTERS = 26
_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)
_SIGNS = {"1": Seat.FIRST, "-1": Seat.SECOND}
_OFFERS = ("D", "B", "R")
_PATHS = Paths(
    cube_value="xgid.cube_value",
    cube_owner="xgid.cube_owner",
    cap="xgid.max_cube",
    turn="xgid.turn",
    dice="xgid.dice",
    offer="xgid.dice",
    score="xgid.score",
    crawford="xgid.crawford",
    jacoby="xgid.crawford",
    beavers="xgid.crawford",
    match_length="xgid.match_length",
    resignation="xgid",
    phase="xgid",
    first="bottom player",
    second="top player",
)
_TO_COUNT = {"-": 0}
_TO_COUNT.update({chr(ord("A") + count - 1): count for count in range(1, CHECKERS + 1)})
_TO_COUNT.update({chr(ord("a") + count - 1): -count for count in range(1, CHECKERS + 1)})
_TO_LETTER = {count: letter for letter, count in _TO_COUNT.items()}


def parse_xgid(text: str) -> GameState:
    """The state that an XGID describes.

    The prefix `XGID=` and blanks around the text may be missing or present.

    Raises:
        InvalidInputError: With one fault for every bad field (`xgid.position`, `xgid.dice`...).

    >>> state = parse_xgid("XGID=-b----E-C---eE---c-e----B-:1:-1:1:31:2:4:0:7:10")
    >>> state.dice, state.cube.value, state.match.away
    (Dice(first=3, second=1), 2, (5, 3))
    """
    if len(text) > _MAX_TEXT:
        message = f"expected at most {_MAX_TEXT} characters, got {len(text)}"
        raise InvalidInputError([Fault("xgid", "TOO_LONG", message)])
    body = text.strip()
    if body[: len(_PREFIX)].upper() == _PREFIX:
        body = body[len(_PREFIX) :]
    fields = body.split(":")
    faults: list[Fault] = []
    if len(fields) != len(_FIELD_NAMES):
        message = f"expected {len(_FIELD_NAMES)} fields between colons, got {len(fields)}"
        faults.append(Fault("xgid", "FIELD_COUNT", message))
    reader = _Reader(fields, faults)
    points = reader.points()
    draft = reader.draft()
    faults.extend(draft.faults(_PATHS))
    if faults or points is None:
        raise InvalidInputError(faults)
    position = Position(points if draft.on_roll is Seat.FIRST else _turned(points))
    return draft.state(position)


def format_xgid(state: GameState) -> str:
    """The XGID of a state, with its prefix.

    Everything that XGID can say round trips. What it cannot say (Long Nardy, a resignation on
    offer, a game that is not being played) is refused, never dropped.

    Raises:
        InvalidInputError: If the state breaks a rule or XGID cannot express it.
    """
    draft, faults = draft_of(state, "XGID")
    if state.resignation is not Resignation.NONE:
        message = "XGID cannot say that a resignation is on offer"
        faults.append(Fault("resignation", "NOT_IN_FORMAT", message))
    if state.phase is not GamePhase.PLAYING:
        message = f"XGID cannot say that the game is {state.phase.value}"
        faults.append(Fault("phase", "NOT_IN_FORMAT", message))
    exponent, cap, offer = draft.cube_exponent, draft.cap_exponent, draft.offer
    if faults or exponent is None or cap is None or offer is None:
        raise InvalidInputError(faults)
    owner: Seat | None = draft.cube_owner if isinstance(draft.cube_owner, Seat) else None
    if offer > 0:
        # Back to the cube before the double; the doubler owned it unless it was centred at 1.
        exponent -= offer
        owner = state.on_roll if exponent else None
    points = state.position.points
    if state.on_roll is Seat.SECOND:
        points = _turned(points)
    if offer != NO_OFFER:
        dice = _OFFERS[offer]
    else:
        dice = f"{state.dice.first}{state.dice.second}" if state.dice is not None else "00"
    flag = int(bool(draft.crawford)) if draft.length else state.jacoby + 2 * state.beavers
    letters = "".join([_TO_LETTER[count] for count in points])
    sign = "0" if owner is None else _sign(owner)
    first, second = draft.scores
    return (
        f"{_PREFIX}{letters}:{exponent}:{sign}:{_sign(state.on_roll)}:{dice}:{first}:{second}:"
        f"{flag}:{draft.length}:{cap}"
    )


def _sign(seat: Seat) -> str:
    return "1" if seat is Seat.FIRST else "-1"


def _turned(points: Sequence[int]) -> tuple[int, ...]:
    return tuple([-count for count in reversed(points)])


class _Reader:
    """Reads the fields one by one; every fault goes to the list it was given."""

    def __init__(self, fields: list[str], faults: list[Fault]) -> None:
        self._fields = fields
        self._faults = faults

    def _text(self, index: int) -> str | None:
        """The field, or None where the text is too short (the field count tells so)."""
        return self._fields[index] if index < len(self._fields) else None

    def _fault(self, index: int, reason: str, message: str) -> None:
        self._faults.append(Fault(f"xgid.{_FIELD_NAMES[index]}", reason, message))

    def points(self) -> tuple[int, ...] | None:
        """The board as the bottom player sees it, None if it is none."""
        text = self._text(0)
        if text is None:
            return None
        if len(text) != _LETTERS:
            message = f"expected {_LETTERS} characters, got {len(text)}: {shown(text)}"
            self._fault(0, "WRONG_LENGTH", message)
            return None
        points = tuple([_TO_COUNT.get(letter, CHECKERS + 1) for letter in text])
        wrong = sorted({letter for letter in text if letter not in _TO_COUNT})
        if wrong:
            message = f"expected '-', A to O or a to o, got {shown(''.join(wrong))}"
            self._fault(0, "BAD_LETTER", message)
            return None
        found = len(self._faults)
        if points[OPPONENT_BAR] > 0:
            message = f"character 1 is the top player's bar, got {text[0]!r} of the bottom player"
            self._fault(0, "BAR_SIGN", message)
        if points[BAR] < 0:
            message = f"character 26 is the bottom player's bar, got {text[-1]!r} of the top player"
            self._fault(0, "BAR_SIGN", message)
        bottom = sum([count for count in points if count > 0])
        top = bottom - sum(points)
        for name, count in (("bottom", bottom), ("top", top)):
            if count > CHECKERS:
                message = f"the {name} player has {count} checkers, at most {CHECKERS} are possible"
                self._fault(0, "TOO_MANY_CHECKERS", message)
        if len(self._faults) > found:
            return None
        # What remains to be checked is the same from both sides.
        for fault in position_faults(points, Variant.BACKGAMMON):
            self._fault(0, fault.reason, fault.message)
        return points if len(self._faults) == found else None

    def draft(self) -> Draft:
        """All fields but the position; those that cannot be read are left unknown."""
        exponent = self._number(1, MAX_CUBE_EXPONENT)
        owner = self._owner()
        on_roll = self._seat(3)
        dice, offer = self._dice()
        scores = (self._number(5, MAX_SCORE), self._number(6, MAX_SCORE))
        length = self._number(8, MAX_SCORE)
        flag = self._number(7, 3)
        jacoby: bool | None
        beavers: bool | None
        crawford: bool | None
        if flag is None or length is None:
            crawford = jacoby = beavers = None
        elif length == 0:
            crawford, jacoby, beavers = False, bool(flag & 1), bool(flag & 2)
        else:
            crawford, jacoby, beavers = bool(flag & 1), False, bool(flag & 2)
        if offer is not None and offer > 0 and exponent is not None:
            # Our states show the cube as it is, XGID as it was before the double.
            if exponent == 0 and owner not in {None, "centered"}:
                message = "a cube that a player owns shows 2 or more"
                self._fault(2, "OWNED_CUBE_AT_ONE", message)
            if on_roll is not None and owner is on_roll.other:
                message = "the player who turns the cube must own it or find it centred"
                self._fault(4, "NOT_CUBE_OWNER", message)
            exponent += offer
            owner = on_roll.other if on_roll is not None else None
        to_act = None
        if on_roll is not None and offer is not None:
            to_act = on_roll.other if offer in {0, 2} else on_roll
        return Draft(
            cube_exponent=exponent,
            cube_owner=owner,
            cap_exponent=self._number(9, MAX_CUBE_EXPONENT),
            on_roll=on_roll,
            to_act=to_act,
            dice=dice,
            offer=offer,
            scores=scores,
            length=length,
            crawford=crawford,
            jacoby=jacoby,
            beavers=beavers,
        )

    def _number(self, index: int, most: int) -> int | None:
        text = self._text(index)
        if text is None:
            return None
        if not _NUMBER.fullmatch(text):
            self._fault(index, "NOT_A_NUMBER", f"expected 0 to {most}, got {shown(text)}")
            return None
        value = int(text)
        if value > most:
            self._fault(index, "OUT_OF_RANGE", f"expected 0 to {most}, got {value}")
            return None
        return value

    def _seat(self, index: int) -> Seat | None:
        text = self._text(index)
        if text is None:
            return None
        seat = _SIGNS.get(text)
        if seat is None:
            message = f"expected 1 (bottom player) or -1 (top player), got {shown(text)}"
            self._fault(index, "BAD_SEAT", message)
        return seat

    def _owner(self) -> Seat | Literal["centered"] | None:
        text = self._text(2)
        if text == "0":
            return "centered"
        if text is None or text in _SIGNS:
            return _SIGNS.get(text or "")
        message = f"expected 1 (bottom player), -1 (top player) or 0 (centred), got {shown(text)}"
        self._fault(2, "BAD_OWNER", message)
        return None

    def _dice(self) -> tuple[Dice | None, int | None]:
        """The roll and the offer; the offer is None where the field cannot be read."""
        text = self._text(4)
        if text == "00":
            return None, NO_OFFER
        if text in _OFFERS:
            return None, _OFFERS.index(text)
        if text is not None and re.fullmatch("[1-6][1-6]", text):
            return Dice(int(text[0]), int(text[1])), NO_OFFER
        if text is not None:
            message = f"expected 00, two dice from 1 to 6, D, B or R, got {shown(text)}"
            self._fault(4, "BAD_DICE", message)
        return None, None
