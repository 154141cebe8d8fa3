"""A game state on its way in or out of a text format, and the rules it must obey.

Both ID formats read their fields into a `Draft`. A field that could not be read stays None, and
every rule that needs it is skipped, so that one pass names each fault exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

from bgserver.engine.errors import Fault
from bgserver.engine.position import (
    Cube,
    CubeOwner,
    Dice,
    GamePhase,
    GameState,
    MatchScore,
    Position,
    Resignation,
    Seat,
    Variant,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["MAX_CUBE_EXPONENT", "MAX_SCORE", "NO_OFFER", "Draft", "Paths", "draft_of"]

MAX_SCORE = 32767
"""Longest match and highest score: the 15 bits of a GNU match ID."""
MAX_CUBE_EXPONENT = 15
"""Highest cube is 2 to this power: the 4 bits of a GNU match ID."""
NO_OFFER = -1
"""`Draft.offer` when the cube is not on offer."""
_MAX_LEVEL = 2
_T = TypeVar("_T")
_OPEN_PHASES = (GamePhase.PLAYING, GamePhase.NOT_STARTED)


@dataclass(frozen=True, slots=True)
class Paths:
    """The field paths that the faults of one format name."""

    cube_value: str
    cube_owner: str
    cap: str
    turn: str
    dice: str
    offer: str
    score: str
    crawford: str
    jacoby: str
    beavers: str
    match_length: str
    resignation: str
    phase: str
    first: str
    """How messages call the seat FIRST."""
    second: str
    """How messages call the seat SECOND."""


_STATE_PATHS = Paths(
    cube_value="cube.value",
    cube_owner="cube.owner",
    cap="cube.cap",
    turn="acting",
    dice="dice",
    offer="double_offered",
    score="match.score",
    crawford="match.crawford",
    jacoby="jacoby",
    beavers="beavers",
    match_length="match.length",
    resignation="resignation",
    phase="phase",
    first="first player",
    second="second player",
)


@dataclass(slots=True)
class Draft:
    """The fields of a `GameState` by seat; None where a field could not be read."""

    cube_exponent: int | None = None
    """The cube shows 2 to this power; while an offer is pending, before the last turn of it."""
    cube_owner: Seat | Literal["centered"] | None = None
    """None where unknown."""
    cap_exponent: int | None = None
    on_roll: Seat | None = None
    to_act: Seat | None = None
    dice: Dice | None = None
    offer: int | None = NO_OFFER
    """`NO_OFFER`, or the `beaver_level` of the offer."""
    scores: tuple[int | None, int | None] = (None, None)
    """Points of (FIRST, SECOND)."""
    length: int | None = None
    """Match length, 0 in money play."""
    crawford: bool | None = False
    jacoby: bool | None = False
    beavers: bool | None = False
    resignation: Resignation | None = Resignation.NONE
    phase: GamePhase | None = GamePhase.PLAYING

    def forget(self, unread: Collection[str]) -> None:
        """Make fields of `GameState` unknown whose values only stand in for unreadable ones."""
        if "on_roll" in unread:
            self.on_roll = self.to_act = self.cube_owner = None
        if "acting" in unread:
            self.to_act = None
        if "cube.owner" in unread:
            self.cube_owner = None
        if "beaver_level" in unread:
            self.offer = None
        if "resignation" in unread:
            self.resignation = None
        if "phase" in unread:
            self.phase = None

    def faults(self, paths: Paths) -> list[Fault]:
        """Every rule that the fields break; `paths` names them as the caller's format does."""
        found = list(self._score_faults(paths))
        found.extend(self._crawford_faults(paths, scores_are_good=not found))
        found.extend(self._cube_faults(paths))
        found.extend(self._offer_faults(paths))
        found.extend(self._option_faults(paths))
        found.extend(self._phase_faults(paths))
        return found

    def _score_faults(self, paths: Paths) -> Iterator[Fault]:
        if not self.length:
            return
        reached = [
            (name, score)
            for name, score in zip((paths.first, paths.second), self.scores, strict=True)
            if score is not None and score >= self.length
        ]
        if self.phase in _OPEN_PHASES:
            for name, score in reached:
                message = (
                    f"the {name} has {score} points, "
                    f"which is not below the match length {self.length}"
                )
                yield Fault(paths.score, "SCORE_NOT_BELOW_LENGTH", message)
        elif len(reached) > 1:
            message = f"both players have reached the match length {self.length}"
            yield Fault(paths.score, "SCORES_CONTRADICT", message)

    def _crawford_faults(self, paths: Paths, *, scores_are_good: bool) -> Iterator[Fault]:
        if not self.crawford:
            return
        if self.length == 0:
            message = "the Crawford game exists in matches only"
            yield Fault(paths.crawford, "CRAWFORD_WITHOUT_MATCH", message)
            return
        # After the game has ended the score includes its result and says nothing about before.
        if self.length and scores_are_good and self.phase in _OPEN_PHASES:
            first, second = self.scores
            one_away = [score == self.length - 1 for score in self.scores]
            if None not in self.scores and one_away[0] == one_away[1]:
                message = (
                    "in the Crawford game exactly one side is 1 point away from the match, "
                    f"got {first} : {second} of {self.length}"
                )
                yield Fault(paths.crawford, "CRAWFORD_IMPOSSIBLE", message)
        if self.cube_exponent or isinstance(self.cube_owner, Seat):
            message = "the cube stays centred at 1 in the Crawford game"
            yield Fault(paths.cube_value, "CUBE_IN_CRAWFORD_GAME", message)
        if self.offer is not None and self.offer != NO_OFFER:
            message = "nobody can double in the Crawford game"
            yield Fault(paths.offer, "DOUBLE_IN_CRAWFORD_GAME", message)

    def _cube_faults(self, paths: Paths) -> Iterator[Fault]:
        exponent = self.cube_exponent
        if exponent is None:
            return
        if exponent == 0 and isinstance(self.cube_owner, Seat):
            message = "a cube that a player owns shows 2 or more"
            yield Fault(paths.cube_owner, "OWNED_CUBE_AT_ONE", message)
        if exponent > 0 and self.cube_owner == "centered" and self.length and not self.crawford:
            message = (
                f"a centred cube shows 1 in a match (automatic doubles are for money), "
                f"got {1 << exponent}"
            )
            yield Fault(paths.cube_value, "CENTERED_CUBE_ABOVE_ONE", message)
        if exponent > 0 and self.length == 1 and not self.crawford:
            message = "the cube is not used in a match to 1 point"
            yield Fault(paths.cube_value, "CUBE_IN_ONE_POINT_MATCH", message)
        if self.cap_exponent is not None and exponent > self.cap_exponent:
            message = f"the cube shows {1 << exponent}, above its maximum {1 << self.cap_exponent}"
            yield Fault(paths.cube_value, "CUBE_ABOVE_CAP", message)

    def _offer_faults(self, paths: Paths) -> Iterator[Fault]:
        level = self.offer
        if level is None or level == NO_OFFER:
            return
        if self.dice is not None:
            message = "a double cannot be on offer when the dice are rolled"
            yield Fault(paths.dice, "DICE_WITH_DOUBLE", message)
        if self.length == 1:
            message = "nobody can double in a match to 1 point"
            yield Fault(paths.offer, "DOUBLE_IN_ONE_POINT_MATCH", message)
        if self.phase is not None and self.phase is not GamePhase.PLAYING:
            message = "a double cannot be on offer when no game is being played"
            yield Fault(paths.offer, "DOUBLE_WITHOUT_GAME", message)
        if self.on_roll is not None and isinstance(self.cube_owner, Seat):
            expected = self.on_roll if level == 0 else self.on_roll.other
            if self.cube_owner is not expected:
                message = "the player who turns the cube must own it or find it centred"
                yield Fault(paths.offer, "NOT_CUBE_OWNER", message)
        if level > 0 and self.cube_owner == "centered":
            message = "the cube belongs to the player who was doubled once it is beavered"
            yield Fault(paths.cube_owner, "BEAVERED_CUBE_CENTERED", message)
        exponent, cap = self.cube_exponent, self.cap_exponent
        if exponent is not None and cap is not None and exponent == cap:
            message = f"the cube stands at its maximum {1 << cap} and cannot be turned again"
            yield Fault(paths.offer, "CUBE_AT_CAP", message)
        if exponent is not None and exponent < level:
            answer = "beaver" if level == 1 else "raccoon"
            message = f"after a {answer} the cube shows at least {1 << level}"
            yield Fault(paths.cube_value, "BEAVERED_CUBE_TOO_LOW", message)
        if level > 0 and self.beavers is False and self.length == 0:
            message = "a beaver is pending, but beavers are off"
            yield Fault(paths.beavers, "BEAVERS_OFF", message)
        if level > 0 and self.length:
            message = "there are no beavers in a match"
            yield Fault(paths.offer, "BEAVER_IN_MATCH", message)

    def _option_faults(self, paths: Paths) -> Iterator[Fault]:
        if not self.length:
            return
        if self.jacoby:
            message = "the Jacoby rule is for money play only"
            yield Fault(paths.jacoby, "JACOBY_IN_MATCH", message)
        if self.beavers:
            yield Fault(paths.beavers, "BEAVER_IN_MATCH", "there are no beavers in a match")

    def _phase_faults(self, paths: Paths) -> Iterator[Fault]:
        if self.phase is None:
            return
        may_resign = self.phase in {GamePhase.PLAYING, GamePhase.RESIGNED}
        if self.resignation and not may_resign:
            message = "a resignation is set, but the game is neither being played nor resigned"
            yield Fault(paths.resignation, "RESIGNATION_WITHOUT_GAME", message)
        if self.resignation is Resignation.NONE and self.phase is GamePhase.RESIGNED:
            message = "the game was resigned, but no resignation is set"
            yield Fault(paths.resignation, "RESIGNATION_MISSING", message)
        if self.phase is not GamePhase.PLAYING or self.resignation is None or self.offer is None:
            return
        offered = self.offer != NO_OFFER
        if self.resignation is not Resignation.NONE and not offered:
            return  # either side may resign while nothing else is pending
        natural = self._natural_actor()
        if None not in (natural, self.to_act) and natural is not self.to_act:
            message = (
                "the other player must answer what is on offer"
                if offered
                else "nothing is on offer, so the player on roll must act"
            )
            yield Fault(paths.turn, "TURN_CONTRADICTS", message)

    def _natural_actor(self) -> Seat | None:
        """Who acts as far as the other fields tell; the same as `GameState.to_act` by itself."""
        if self.on_roll is None:
            return None
        flips = int(self.phase is GamePhase.DROPPED or self.offer in {0, _MAX_LEVEL})
        flips += int(bool(self.resignation))
        return self.on_roll.other if flips % 2 else self.on_roll

    def state(self, position: Position) -> GameState:
        """The finished state; only for a draft without faults in which everything is known.

        Args:
            position: The board, seen by the player on roll.
        """
        on_roll, length, offer = _known(self.on_roll), _known(self.length), _known(self.offer)
        first, second = _known(self.scores[0]), _known(self.scores[1])
        own, opponent = (first, second) if on_roll is Seat.FIRST else (second, first)
        if not isinstance(self.cube_owner, Seat):
            owner = CubeOwner.CENTERED
        else:
            owner = CubeOwner.ON_ROLL if self.cube_owner is on_roll else CubeOwner.OPPONENT
        return GameState(
            position=position,
            on_roll=on_roll,
            dice=self.dice,
            cube=Cube(1 << _known(self.cube_exponent), owner, 1 << _known(self.cap_exponent)),
            match=MatchScore(length, own, opponent, bool(self.crawford)) if length else None,
            jacoby=bool(self.jacoby),
            beavers=bool(self.beavers),
            money_score=(0, 0) if length else (own, opponent),
            double_offered=offer != NO_OFFER,
            resignation=_known(self.resignation),
            phase=_known(self.phase),
            beaver_level=max(offer, 0),
            acting=self.to_act if self.to_act is not self._natural_actor() else None,
        )


def _known(value: _T | None) -> _T:
    """`value`, which the caller has made sure of."""
    if value is None:
        message = "a draft with an unknown field has no state"
        raise ValueError(message)
    return value


def draft_of(
    state: GameState, format_name: str, unread: Collection[str] = ()
) -> tuple[Draft, list[Fault]]:
    """The draft of a state that is to be written, and everything that is wrong with the state.

    Faults name the fields of `GameState`.

    Args:
        state: Any state, checked here.
        format_name: The target, as messages call it.
        unread: Fields of the state that could not be read: rules that need them are skipped.
    """
    faults: list[Fault] = []
    if state.position.variant is not Variant.BACKGAMMON:
        message = f"{format_name} describes backgammon only, got {state.position.variant.value}"
        faults.append(Fault("position.variant", "VARIANT_NOT_IN_FORMAT", message))
    exponents: list[int | None] = []
    for path, value in (("cube.value", state.cube.value), ("cube.cap", state.cube.cap)):
        exponent = value.bit_length() - 1
        good = value > 0 and value == 1 << exponent and exponent <= MAX_CUBE_EXPONENT
        if not good:
            message = f"expected a power of two from 1 to {1 << MAX_CUBE_EXPONENT}, got {value}"
            faults.append(Fault(path, "NOT_A_CUBE_VALUE", message))
        exponents.append(exponent if good else None)
    score, length = _checked_scores(state, faults)
    if state.beaver_level and not (state.double_offered and 0 < state.beaver_level <= _MAX_LEVEL):
        message = (
            f"expected 0, or 1 to {_MAX_LEVEL} while a double is on offer, got {state.beaver_level}"
        )
        faults.append(Fault("beaver_level", "BEAVER_LEVEL", message))
    owners: dict[CubeOwner, Seat | Literal["centered"]] = {
        CubeOwner.CENTERED: "centered",
        CubeOwner.ON_ROLL: state.on_roll,
        CubeOwner.OPPONENT: state.on_roll.other,
    }
    draft = Draft(
        cube_exponent=exponents[0],
        cube_owner=owners[state.cube.owner],
        cap_exponent=exponents[1],
        on_roll=state.on_roll,
        to_act=state.to_act,
        dice=state.dice,
        offer=state.beaver_level if state.double_offered else NO_OFFER,
        scores=score if state.on_roll is Seat.FIRST else (score[1], score[0]),
        length=length,
        crawford=state.match is not None and state.match.crawford,
        jacoby=state.jacoby,
        beavers=state.beavers,
        resignation=state.resignation,
        phase=state.phase,
    )
    if unread:
        draft.forget(unread)
    faults.extend(draft.faults(_STATE_PATHS))
    return draft, faults


def _checked_scores(
    state: GameState, faults: list[Fault]
) -> tuple[tuple[int | None, int | None], int | None]:
    """Points of (player on roll, opponent) and the match length; None where out of range."""
    match = state.match
    if match is None:
        named = [
            ("money_score[0]", state.money_score[0], 0),
            ("money_score[1]", state.money_score[1], 0),
        ]
        length: int | None = 0
    else:
        named = [
            ("match.on_roll", match.on_roll, 0),
            ("match.opponent", match.opponent, 0),
            ("match.length", match.length, 1),
        ]
        length = match.length if 1 <= match.length <= MAX_SCORE else None
        if state.money_score != (0, 0):
            message = f"a match has no money score, got {state.money_score[0]}, "
            message += f"{state.money_score[1]}"
            faults.append(Fault("money_score", "MONEY_SCORE_IN_MATCH", message))
    for path, value, least in named:
        if not least <= value <= MAX_SCORE:
            message = f"expected {least} to {MAX_SCORE}, got {value}"
            faults.append(Fault(path, "SCORE_OUT_OF_RANGE", message))
    first, second = (value if 0 <= value <= MAX_SCORE else None for _, value, _ in named[:2])
    return (first, second), length
