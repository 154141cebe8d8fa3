"""GNU Backgammon's Position ID (14 characters) and Match ID (12 characters).

Both are base64 text of bytes whose bits count from the lowest one up.

The Position ID holds 80 bits: for the player who is not on roll, then for the player on roll, the
points 1 to 24 and the bar as that player numbers them, each as many ones as it holds checkers and
then a zero; unused bits at the end are zero. It does not say who is on roll.

The Match ID holds 67 bits:

| bits | meaning |
| --- | --- |
| 0-3 | the cube shows 2 to this power |
| 4-5 | its owner: 0, 1, or 3 for centred |
| 6 | player on roll |
| 7 | Crawford game |
| 8-10 | 0 not started, 1 being played, 2 over, 3 resigned, 4 dropped |
| 11 | player who must act |
| 12 | a double is on offer |
| 13-14 | a resignation is on offer: 1 single, 2 gammon, 3 backgammon |
| 15-17, 18-20 | dice, 0 before the roll |
| 21-35 | match length, 0 in money play |
| 36-50, 51-65 | points of player 0 and player 1 |
| 66 | 1 without, 0 with the Jacoby rule (money play) |

Our seat FIRST is GNU's player 1 and SECOND is player 0. A pending beaver shows as a double on offer
with a cube that belongs to the opponent of the player on roll, who must act; with a raccoon the
opponent must act. GNU writes bit 66 as 1 in matches; older programs leave it 0 there and both are
accepted. The format knows no highest cube and no beaver option, see `gnu_id_losses`.

A centred cube above 1 is accepted in money play, where automatic doubles make it, and refused in
a match. Once a game is over its score includes the result.
"""

from __future__ import annotations

import binascii
import re
from typing import Literal

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
from bgserver.formats._draft import MAX_CUBE_EXPONENT, NO_OFFER, Draft, Paths, draft_of
from bgserver.formats._text import shown

__all__ = ["format_gnu_id", "gnu_id_losses", "parse_gnu_id"]

_POSITION_LENGTH = 14
_MATCH_LENGTH = 12
_POSITION_BITS = 80
_BAR_INDEX = 24
_NUMBERS_OF_A_SIDE = 25
_BASE64 = re.compile(r"[A-Za-z0-9+/]*", re.ASCII)
_STANDARD_CAP_EXPONENT = 6
_PHASES = (
    GamePhase.NOT_STARTED,
    GamePhase.PLAYING,
    GamePhase.FINISHED,
    GamePhase.RESIGNED,
    GamePhase.DROPPED,
)
_PHASE_NUMBERS = {phase: number for number, phase in enumerate(_PHASES)}
_CENTERED = 3
_MATCH_PATH = "gnu_id.match_id"
_PATHS = Paths(
    cube_value=f"{_MATCH_PATH}.cube_value",
    cube_owner=f"{_MATCH_PATH}.cube_owner",
    cap=f"{_MATCH_PATH}.cube_value",
    turn=f"{_MATCH_PATH}.turn",
    dice=f"{_MATCH_PATH}.dice",
    offer=f"{_MATCH_PATH}.double",
    score=f"{_MATCH_PATH}.score",
    crawford=f"{_MATCH_PATH}.crawford",
    jacoby=f"{_MATCH_PATH}.jacoby",
    beavers=f"{_MATCH_PATH}.double",
    match_length=f"{_MATCH_PATH}.match_length",
    resignation=f"{_MATCH_PATH}.resignation",
    phase=f"{_MATCH_PATH}.game_state",
    first="player 1",
    second="player 0",
)


def parse_gnu_id(position_id: str, match_id: str | None = None) -> GameState:
    """The state that a Position ID and a Match ID describe.

    The two may also come joined by a colon as `position_id`, as GNU Backgammon prints them. Without
    a Match ID the state is that of money play before the roll with FIRST on roll. The highest cube
    is taken as 64, or as the value that is on the cube or on offer where that is more.

    Raises:
        InvalidInputError: With one fault for everything that is wrong (`gnu_id.position_id`,
            `gnu_id.match_id`, `gnu_id.match_id.dice`...).

    >>> state = parse_gnu_id("4HPwATDgc/ABMA", "cAmmAAAAAAAE")
    >>> state.dice, state.match.length
    (Dice(first=4, second=1), 5)
    """
    if match_id is None and len(position_id) <= 2 * (_POSITION_LENGTH + _MATCH_LENGTH):
        position_id, colon, rest = position_id.partition(":")
        match_id = rest if colon else None
    faults: list[Fault] = []
    points = _read_position(position_id, faults)
    if match_id is None:
        if faults or points is None:
            raise InvalidInputError(faults)
        return GameState(Position(points))
    draft = _read_match(match_id, faults)
    if points is not None and draft is not None and draft.phase is GamePhase.FINISHED:
        own = any(count > 0 for count in points)
        opposing = any(count < 0 for count in points)
        if own and opposing:
            message = "the game is marked as over, but both sides have checkers on the board"
            faults.append(Fault(_PATHS.phase, "BOARD_NOT_FINISHED", message))
    if faults or points is None or draft is None:
        raise InvalidInputError(faults)
    return draft.state(Position(points))


def format_gnu_id(state: GameState) -> tuple[str, str]:
    """The Position ID and the Match ID of a state.

    Everything round trips but the highest cube and the beaver option, which the format does not
    know (`gnu_id_losses` lists what is lost), and the order of the dice (the higher comes first).

    Raises:
        InvalidInputError: If the state breaks a rule or is one of Long Nardy.
    """
    draft, faults = draft_of(state, "a GNU ID")
    exponent, offer, length = draft.cube_exponent, draft.offer, draft.length
    first, second = draft.scores
    if faults or exponent is None or offer is None or length is None:
        raise InvalidInputError(faults)
    if first is None or second is None:
        raise InvalidInputError(faults)
    owner = _player(draft.cube_owner) if isinstance(draft.cube_owner, Seat) else _CENTERED
    high, low = (state.dice.high, state.dice.low) if state.dice is not None else (0, 0)
    bits = exponent
    bits |= owner << 4
    bits |= _player(state.on_roll) << 6
    bits |= int(bool(draft.crawford)) << 7
    bits |= _PHASE_NUMBERS[state.phase] << 8
    bits |= _player(state.to_act) << 11
    bits |= int(offer != NO_OFFER) << 12
    bits |= state.resignation << 13
    bits |= high << 15
    bits |= low << 18
    bits |= length << 21
    bits |= second << 36
    bits |= first << 51
    bits |= int(not state.jacoby) << 66
    match_id = _encode(bits.to_bytes(9, "little"))
    return _position_id(state.position.points), match_id


def gnu_id_losses(state: GameState) -> tuple[Fault, ...]:
    """What of `state` its GNU IDs do not carry, each with the field and the reason.

    Empty if `parse_gnu_id(*format_gnu_id(state))` gives an equal state (up to the order of dice).
    """
    losses: list[Fault] = []
    turned = state.cube.value * (2 if state.double_offered else 1)
    if state.cube.cap != max(1 << _STANDARD_CAP_EXPONENT, turned):
        message = f"a GNU ID does not carry the highest cube, here {state.cube.cap}"
        losses.append(Fault("cube.cap", "NOT_IN_FORMAT", message))
    if state.beavers and not state.beaver_level:
        message = "a GNU ID does not carry the beaver option"
        losses.append(Fault("beavers", "NOT_IN_FORMAT", message))
    return tuple(losses)


def _player(seat: Seat) -> int:
    """GNU's number of a seat."""
    return 1 - seat


def _encode(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii").rstrip("=")


def _position_id(points: tuple[int, ...]) -> str:
    bits = 0
    place = 0
    opposing = [max(0, -count) for count in reversed(points)][1:]
    own = [max(0, count) for count in points][1:]
    for count in opposing + own:
        bits |= ((1 << count) - 1) << place
        place += count + 1
    return _encode(bits.to_bytes(_POSITION_BITS // 8, "little"))


def _decode(text: str, length: int, path: str, faults: list[Fault]) -> int | None:
    """The bits of a base64 text as one number, None (and a fault) if it is not such a text."""
    if len(text) != length:
        message = f"expected {length} characters, got {len(text)}: {shown(text)}"
        faults.append(Fault(path, "WRONG_LENGTH", message))
        return None
    if not _BASE64.fullmatch(text):
        wrong = "".join(sorted({letter for letter in text if not _BASE64.fullmatch(letter)}))
        message = f"expected letters, digits, '+' or '/', got {shown(wrong)}"
        faults.append(Fault(path, "BAD_LETTER", message))
        return None
    padding = "=" * (-length % 4)
    data = binascii.a2b_base64(text + padding)
    if padding and _encode(data) != text:
        message = f"bits beyond the last are set in {shown(text)}"
        faults.append(Fault(path, "UNUSED_BITS", message))
        return None
    return int.from_bytes(data, "little")


def _read_position(text: str, faults: list[Fault]) -> tuple[int, ...] | None:
    """The board as the player on roll sees it, None (and faults) if it is none."""
    path = "gnu_id.position_id"
    bits = _decode(text.strip() if len(text) < 100 else text, _POSITION_LENGTH, path, faults)
    if bits is None:
        return None
    sides: list[list[int]] = []
    for _ in range(2):
        counts = []
        for _ in range(_NUMBERS_OF_A_SIDE):
            # The lowest zero bit ends the run of ones.
            count = ((bits + 1) & ~bits).bit_length() - 1
            counts.append(count)
            bits >>= count + 1
        sides.append(counts)
    found = len(faults)
    for name, counts in zip(("the opponent", "the player on roll"), sides, strict=True):
        if sum(counts) > CHECKERS:
            message = f"{name} has {sum(counts)} checkers, at most {CHECKERS} are possible"
            faults.append(Fault(path, "TOO_MANY_CHECKERS", message))
    if bits:
        message = "bits are set behind the last point"
        faults.append(Fault(path, "UNUSED_BITS", message))
    opposing, own = sides
    both = [point for point in range(1, BAR) if own[point - 1] and opposing[_BAR_INDEX - point]]
    if both:
        listed = ", ".join(map(str, both[:4])) + (", ..." if len(both) > 4 else "")
        message = f"both sides have checkers on point {listed} of the player on roll"
        faults.append(Fault(path, "SHARED_POINT", message))
    if len(faults) > found:
        return None
    points = [0, *own]
    points[OPPONENT_BAR] = -opposing[_BAR_INDEX]
    for index, count in enumerate(opposing[:_BAR_INDEX]):
        if count:
            points[_BAR_INDEX - index] = -count
    faults.extend(
        Fault(path, fault.reason, fault.message)
        for fault in position_faults(tuple(points), Variant.BACKGAMMON)
    )
    return tuple(points) if len(faults) == found else None


def _read_match(text: str, faults: list[Fault]) -> Draft | None:
    """All fields of a Match ID, None (and a fault) if it is no such text."""
    bits = _decode(text.strip() if len(text) < 100 else text, _MATCH_LENGTH, _MATCH_PATH, faults)
    if bits is None:
        return None
    if bits >> 67:
        message = "bits behind the last field are set"
        faults.append(Fault(_MATCH_PATH, "UNUSED_BITS", message))
    exponent = bits & 15
    on_roll = Seat(1 - (bits >> 6 & 1))
    to_act = Seat(1 - (bits >> 11 & 1))
    resignation = Resignation(bits >> 13 & 3)
    length = bits >> 21 & 32767
    owner = _owner(bits >> 4 & 3, faults)
    offer = _offer(bits, owner, on_roll, answering=to_act.other if resignation else to_act)
    phase_number = bits >> 8 & 7
    phase = _PHASES[phase_number] if phase_number < len(_PHASES) else None
    if phase is None:
        message = f"expected a game state from 0 to {len(_PHASES) - 1}, got {phase_number}"
        faults.append(Fault(_PATHS.phase, "OUT_OF_RANGE", message))
    draft = Draft(
        cube_exponent=exponent,
        cube_owner=owner,
        cap_exponent=min(
            MAX_CUBE_EXPONENT, max(_STANDARD_CAP_EXPONENT, exponent + (offer != NO_OFFER))
        ),
        on_roll=on_roll,
        to_act=to_act,
        dice=_dice(bits >> 15 & 7, bits >> 18 & 7, faults),
        offer=offer,
        scores=(bits >> 51 & 32767, bits >> 36 & 32767),
        length=length,
        crawford=bool(bits >> 7 & 1),
        jacoby=not (bits >> 66 & 1 or length),
        beavers=offer > 0 and not length,
        resignation=resignation,
        phase=phase,
    )
    faults.extend(draft.faults(_PATHS))
    return draft


def _owner(number: int, faults: list[Fault]) -> Seat | Literal["centered"] | None:
    if number == _CENTERED:
        return "centered"
    if number > 1:
        message = f"expected 0 or 1 for a player or 3 for a centred cube, got {number}"
        faults.append(Fault(_PATHS.cube_owner, "BAD_OWNER", message))
        return None
    return Seat(1 - number)


def _offer(
    bits: int, owner: Seat | Literal["centered"] | None, on_roll: Seat, answering: Seat
) -> int:
    """The beaver level of the offer; each turn of the cube passes the answer to the other side."""
    if not bits >> 12 & 1:
        return NO_OFFER
    if owner is not on_roll.other:
        return 0
    return 1 if answering is on_roll else 2


def _dice(first: int, second: int, faults: list[Fault]) -> Dice | None:
    if first == 0 and second == 0:
        return None
    if not (1 <= first <= 6 and 1 <= second <= 6):
        message = f"expected two dice from 1 to 6 or none, got {first} and {second}"
        faults.append(Fault(_PATHS.dice, "BAD_DICE", message))
        return None
    return Dice(first, second)
