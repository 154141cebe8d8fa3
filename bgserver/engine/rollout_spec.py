"""What is to be rolled out, and how: values, and every fault that they can have.

A rollout plays many games from a position, from the boards after several plays of a roll, or
after each cube action. `RolloutSpec` says all that its figures depend on; `StopRules` say only how
many trials are played, so a finished rollout can be continued with other rules.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bgserver.engine.cube_rules import check_cube_question, double_refusals, require_possible
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.levels import Level
from bgserver.engine.lookahead import DEPTHS
from bgserver.engine.moments import require_playing, require_roll_to_play
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Cube, CubeOwner, Position, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bgserver.engine.plays import Play
    from bgserver.engine.position import Dice, GameState, MatchScore

__all__ = [
    "DEFAULT_TRIALS",
    "MAX_CANDIDATES",
    "MAX_PLIES",
    "MAX_TRIALS",
    "STRUCTURAL_REFUSALS",
    "RolloutAction",
    "RolloutCandidate",
    "RolloutKind",
    "RolloutLevels",
    "RolloutOptions",
    "RolloutSpec",
    "StopRules",
    "cube_rollout",
    "option_faults",
    "play_rollout",
    "position_rollout",
    "stop_faults",
]

DEFAULT_TRIALS = 1296
"""Trials unless asked otherwise: each combination of the first two rolls once."""
MAX_TRIALS = 100_000_000
"""Most trials of one candidate that the engine plays."""
MAX_PLIES = 1_000
"""Most rolls before a cut, or with the early levels."""
MAX_CANDIDATES = 64
"""Most plays that are rolled out together."""
STRUCTURAL_REFUSALS = frozenset(
    {"CRAWFORD_GAME", "ONE_POINT_MATCH", "NOT_CUBE_OWNER", "CUBE_AT_CAP"}
)
"""Reasons against a double that no waiting cures: there is nothing to compare."""


class RolloutKind(enum.Enum):
    """What is compared."""

    POSITION = "position"
    """One position before the roll."""
    PLAYS = "plays"
    """Plays of a roll."""
    CUBE = "cube"
    """No double, double and take, and with beavers double and beaver."""


class RolloutAction(enum.Enum):
    """A course of the cube that is rolled out; double and pass needs no rollout."""

    NO_DOUBLE = "no double"
    DOUBLE_TAKE = "double/take"
    DOUBLE_BEAVER = "double/beaver"


@dataclass(frozen=True, slots=True)
class RolloutLevels:
    """How both sides play."""

    checker: Level = Level.STATIC
    """The level of their plays."""
    cube: Level = Level.STATIC
    """The level of their cube actions."""

    @property
    def is_static(self) -> bool:
        """True if nothing looks ahead."""
        return self.checker is Level.STATIC and self.cube is Level.STATIC


@dataclass(frozen=True, slots=True)
class RolloutOptions:
    """How to roll out."""

    seed: int = 0
    """Seed of the dice, 0..2**32-1."""
    cubeful: bool | None = None
    """With cube and score; None: in backgammon, where Long Nardy has no cube."""
    levels: RolloutLevels = field(default_factory=RolloutLevels)
    """How both sides play after the early plies."""
    early_plies: int = 0
    """Rolls of a trial that are played with `early_levels`; 0: none."""
    early_levels: RolloutLevels | None = None
    """How both sides play these rolls; needed with `early_plies` and only then."""
    truncate_plies: int | None = None
    """Cut each trial after so many rolls and evaluate it there; None: to the end."""
    truncate_level: Level = Level.STATIC
    """How deep the evaluation there looks."""
    stop_at_bearoff: bool = True
    """End a trial where the bear-off tables know its worth exactly: without cube whenever both
    sides are home without contact, for money with cube at six checkers or fewer a side."""
    reduce_variance: bool = True
    """Take the luck of each roll off."""
    opening: bool = False
    """The first roll is never a double: a game from its start position."""


@dataclass(frozen=True, slots=True)
class StopRules:
    """When a rollout ends: at the first of these.

    All but `trials` are looked at after every 36 trials, so that what they decide does not depend
    on who plays the trials.
    """

    trials: int = DEFAULT_TRIALS
    """Most trials of each candidate, at least 1."""
    min_trials: int = 1
    """Trials of each candidate before the rules below may end anything; more than 1 only if there
    is one of them."""
    standard_error: float | None = None
    """End when the standard error of every equity is at most this."""
    joint_deviations: float | None = None
    """Give up a play that is so many joint standard deviations behind the best, and end when only
    the best is left; with cube actions, end when both decisions are so clear."""

    def for_one_candidate(self) -> StopRules:
        """The same rules where it turns out that there is nothing to compare."""
        min_trials = 1 if self.standard_error is None else self.min_trials
        return replace(self, joint_deviations=None, min_trials=min_trials)


@dataclass(frozen=True, slots=True)
class RolloutCandidate:
    """One position that trials begin from."""

    state: GameState
    """Before the first roll, seen by the player who makes it."""
    may_act: bool
    """Whether he may turn the cube before it."""
    asker_on_roll: bool
    """Whether he is the player who asks; else it is the opponent's roll."""
    play: Play | None = None
    """The play that led here."""
    action: RolloutAction | None = None
    """The cube action that led here."""


@dataclass(frozen=True, slots=True)
class RolloutSpec:
    """All that the figures of a rollout depend on, but for the number of trials."""

    kind: RolloutKind
    """What is compared."""
    state: GameState
    """What was asked about, seen by the player who asks: the player on roll."""
    dice: Dice | None
    """His roll, if plays are compared."""
    candidates: tuple[RolloutCandidate, ...]
    """What is rolled out."""
    options: RolloutOptions
    """How."""

    @property
    def cubeful(self) -> bool:
        """Whether cube and score count."""
        wanted = self.options.cubeful
        return self.state.position.variant is Variant.BACKGAMMON if wanted is None else wanted

    def levels_at(self, ply: int) -> RolloutLevels:
        """How both sides play roll number `ply` of a trial, from 0."""
        options = self.options
        if options.early_levels is not None and ply < options.early_plies:
            return options.early_levels
        return options.levels


def position_rollout(state: GameState, options: RolloutOptions) -> RolloutSpec:
    """The rollout of a position before the roll; the player on roll may double first.

    Raises:
        InvalidInputError: Something is impossible; every fault is named.
        WrongMomentError: See `bgserver.engine.moments`.
    """
    _refuse(option_faults(options, state, RolloutKind.POSITION))
    require_possible(state)
    require_roll_to_play(state)
    state = replace(state, dice=None)
    candidate = RolloutCandidate(state, may_act=True, asker_on_roll=True)
    return RolloutSpec(RolloutKind.POSITION, state, None, (candidate,), options)


def play_rollout(
    state: GameState,
    dice: Dice,
    plays: Sequence[Play],
    options: RolloutOptions,
    *,
    first_turn: bool = False,
) -> RolloutSpec:
    """The rollout of plays of a roll.

    Args:
        state: The state of the player who has rolled; its own `dice` are ignored.
        dice: The roll.
        plays: Which plays; each must be legal, and a result may be there only once.
        options: How.
        first_turn: Long Nardy: the player's first turn.

    Raises:
        InvalidInputError: Something is impossible; every fault is named.
        WrongMomentError: See `bgserver.engine.moments`.
    """
    faults = option_faults(options, state, RolloutKind.PLAYS)
    if not 1 <= len(plays) <= MAX_CANDIDATES:
        message = f"expected 1 to {MAX_CANDIDATES} plays, got {len(plays)}"
        faults.append(Fault("plays", "WRONG_NUMBER_OF_PLAYS", message))
    _refuse(faults)
    require_possible(state)
    require_roll_to_play(state)
    legal = {
        play.result.points for play in legal_plays(state.position, dice, first_turn=first_turn)
    }
    seen: dict[tuple[int, ...], int] = {}
    for index, play in enumerate(plays):
        points = play.result.points
        if points not in legal:
            message = "no legal play of this roll leads to this board"
            faults.append(Fault(f"plays[{index}]", "ILLEGAL_PLAY", message))
        elif points in seen:
            message = f"the same result as plays[{seen[points]}]"
            faults.append(Fault(f"plays[{index}]", "DUPLICATE_PLAY", message))
        seen.setdefault(points, index)
    _refuse(faults)
    candidates = tuple(
        RolloutCandidate(_after(state, play), may_act=True, asker_on_roll=False, play=play)
        for play in plays
    )
    return RolloutSpec(RolloutKind.PLAYS, replace(state, dice=None), dice, candidates, options)


def cube_rollout(state: GameState, options: RolloutOptions) -> RolloutSpec:
    """The rollout of the cube actions of the player on roll.

    Raises:
        InvalidInputError: Something is impossible; every fault is named.
        WrongMomentError: The game is over, a beaver is on offer, or no double is possible here
            (`NO_DOUBLE_POSSIBLE`).
    """
    _refuse(option_faults(options, state, RolloutKind.CUBE))
    check_cube_question(state)
    require_playing(state)
    state = replace(state, dice=None, double_offered=False, beaver_level=0)
    impossible = STRUCTURAL_REFUSALS.intersection(double_refusals(state))
    if impossible:
        message = f"there is no cube action to compare: {', '.join(sorted(impossible))}"
        _refuse([Fault("cube", "NO_DOUBLE_POSSIBLE", message)])
    candidates = [RolloutCandidate(state, False, True, action=RolloutAction.NO_DOUBLE)]
    cube = state.cube
    turns = [(RolloutAction.DOUBLE_TAKE, 2)]
    if state.beavers and 4 * cube.value <= cube.cap:
        turns.append((RolloutAction.DOUBLE_BEAVER, 4))
    for action, factor in turns:
        turned = Cube(factor * cube.value, CubeOwner.OPPONENT, cube.cap)
        candidates.append(RolloutCandidate(replace(state, cube=turned), False, True, action=action))
    return RolloutSpec(RolloutKind.CUBE, state, None, tuple(candidates), options)


def _after(state: GameState, play: Play) -> GameState:
    """The state of the opponent after a play, before his roll."""
    owners = {
        CubeOwner.CENTERED: CubeOwner.CENTERED,
        CubeOwner.ON_ROLL: CubeOwner.OPPONENT,
        CubeOwner.OPPONENT: CubeOwner.ON_ROLL,
    }
    return replace(
        state,
        position=play.result.turned(),
        on_roll=state.on_roll.other,
        dice=None,
        cube=replace(state.cube, owner=owners[state.cube.owner]),
        match=_turned_score(state.match),
    )


def _turned_score(match: MatchScore | None) -> MatchScore | None:
    if match is None:
        return None
    return replace(match, on_roll=match.opponent, opponent=match.on_roll)


def option_faults(
    options: RolloutOptions, state: GameState | None, kind: RolloutKind | None
) -> list[Fault]:
    """Everything that is wrong with options for a question.

    Args:
        options: The options.
        state: What is asked about; None if that is not known, for it is faulty itself.
        kind: What is compared; None the same.
    """
    return list(_option_faults(options, state, kind))


def _option_faults(
    options: RolloutOptions, state: GameState | None, kind: RolloutKind | None
) -> Iterator[Fault]:
    if not 0 <= options.seed < 1 << 32:
        yield Fault("seed", "OUT_OF_RANGE", f"expected 0 to {(1 << 32) - 1}, got {options.seed}")
    if options.cubeful and state is not None and state.position.variant is Variant.LONG_NARDY:
        yield Fault("cubeful", "NO_CUBE_IN_LONG_NARDY", "long nardy is played without a cube")
    if kind is RolloutKind.CUBE and options.cubeful is False:
        yield Fault("cubeful", "CUBE_WITHOUT_CUBE", "cube actions are compared with cube only")
    yield from _level_faults(options.levels, "levels")
    if options.early_levels is not None:
        yield from _level_faults(options.early_levels, "early_levels")
    if not 0 <= options.early_plies <= MAX_PLIES:
        message = f"expected 0 to {MAX_PLIES}, got {options.early_plies}"
        yield Fault("early_plies", "OUT_OF_RANGE", message)
    elif options.early_plies > 0 and options.early_levels is None:
        message = f"say how the first {options.early_plies} rolls are played"
        yield Fault("early_levels", "EARLY_LEVELS_REQUIRED", message)
    elif options.early_plies == 0 and options.early_levels is not None:
        message = "say for how many rolls the early levels hold"
        yield Fault("early_plies", "EARLY_PLIES_REQUIRED", message)
    if options.truncate_plies is not None and not 1 <= options.truncate_plies <= MAX_PLIES:
        message = f"expected 1 to {MAX_PLIES}, got {options.truncate_plies}"
        yield Fault("truncate_plies", "OUT_OF_RANGE", message)
    if options.truncate_level not in DEPTHS:
        yield _level_fault("truncate_level", options.truncate_level)
    elif options.truncate_plies is None and options.truncate_level is not Level.STATIC:
        message = "trials that are played to the end are not evaluated"
        yield Fault("truncate_level", "NOT_TRUNCATED", message)
    if options.opening and not _may_be_opening(state, kind):
        message = "only the start position, with a centred cube, is rolled out as an opening"
        yield Fault("opening", "NOT_AN_OPENING", message)


def _may_be_opening(state: GameState | None, kind: RolloutKind | None) -> bool:
    """Whether a game may begin there, as far as that is known."""
    if kind not in (None, RolloutKind.POSITION):
        return False
    return state is None or (
        state.position == Position.start(state.position.variant)
        and state.cube.owner is CubeOwner.CENTERED
    )


def _level_faults(levels: RolloutLevels, path: str) -> Iterator[Fault]:
    for name in ("checker", "cube"):
        level = getattr(levels, name)
        if level not in DEPTHS:
            yield _level_fault(f"{path}.{name}", level)


def _level_fault(path: str, level: Level) -> Fault:
    names = ", ".join(entry.value for entry in DEPTHS)
    return Fault(path, "UNSUPPORTED_LEVEL", f"expected one of {names}, got {level.value}")


def stop_faults(
    rules: StopRules, candidates: int, most: int = MAX_TRIALS, played: int = 0
) -> list[Fault]:
    """Everything that is wrong with stop rules.

    Args:
        rules: The rules.
        candidates: How many candidates are rolled out.
        most: Most trials of one candidate.
        played: Trials of the state that is gone on with.
    """
    faults: list[Fault] = []
    possible = 1 <= rules.trials <= most
    if not possible:
        message = f"expected 1 to {most}, got {rules.trials}"
        faults.append(Fault("trials", "OUT_OF_RANGE", message))
    elif rules.trials < played:
        message = f"the state holds {played} trials already, and the rollout ends at {rules.trials}"
        faults.append(Fault("trials", "BELOW_STATE", message))
    if rules.min_trials < 1:
        message = f"expected at least 1, got {rules.min_trials}"
        faults.append(Fault("min_trials", "OUT_OF_RANGE", message))
    elif possible and rules.min_trials > rules.trials:
        message = f"{rules.min_trials} trials at least contradict {rules.trials} at most"
        faults.append(Fault("min_trials", "MIN_ABOVE_MAX", message))
    if rules.min_trials > 1 and rules.standard_error is None and rules.joint_deviations is None:
        message = "without standard_error and joint_deviations nothing ends before the last trial"
        faults.append(Fault("min_trials", "NOTHING_TO_DELAY", message))
    for name, value in (
        ("standard_error", rules.standard_error),
        ("joint_deviations", rules.joint_deviations),
    ):
        if value is not None and not (math.isfinite(value) and value > 0):
            faults.append(Fault(name, "NOT_POSITIVE", f"expected more than 0, got {value}"))
    if rules.joint_deviations is not None and candidates < 2:
        message = "there is only one candidate, so nothing can be ahead of another"
        faults.append(Fault("joint_deviations", "NOTHING_TO_COMPARE", message))
    return faults


def _refuse(faults: Sequence[Fault]) -> None:
    if faults:
        raise InvalidInputError(faults)
