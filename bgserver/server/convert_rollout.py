"""Requests and results of rollouts."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.levels import Level
from bgserver.engine.rollout_advice import advise_by_rollout
from bgserver.engine.rollout_run import RolloutRun, StopReason
from bgserver.engine.rollout_spec import (
    DEFAULT_TRIALS,
    RolloutAction,
    RolloutKind,
    RolloutLevels,
    RolloutOptions,
    StopRules,
    cube_rollout,
    option_faults,
    play_rollout,
    position_rollout,
    stop_faults,
)
from bgserver.engine.rollout_sums import RolloutState
from bgserver.formats.notation import parse_play
from bgserver.server.convert_engine import read_level, read_question, refuse_nardy
from bgserver.server.convert_enums import LEVEL, EnumMap
from bgserver.server.convert_plays import play_message
from bgserver.server.convert_state import dice_message, read_dice, refuse
from bgserver.v1 import rollout_pb2

if TYPE_CHECKING:
    from collections.abc import Collection

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.plays import Play
    from bgserver.engine.position import Dice, GameState
    from bgserver.engine.rollout_run import RolloutEntry, RolloutResult
    from bgserver.engine.rollout_spec import RolloutSpec
    from bgserver.engine.rollout_sums import Figure
    from bgserver.engine.work import Work

__all__ = ["RolloutQuestion", "begin_rollout", "read_rollout", "rollout_message"]

_KIND = EnumMap(rollout_pb2.RolloutKind, RolloutKind, default=RolloutKind.POSITION)
_ACTION = EnumMap(rollout_pb2.RolloutAction, RolloutAction)
_STOP = EnumMap(rollout_pb2.RolloutStop, StopReason)
_NO_ACTION = rollout_pb2.ROLLOUT_ACTION_UNSPECIFIED
_DEFAULT_PLAYS = 4


@dataclass(frozen=True, slots=True)
class RolloutQuestion:
    """What a request asks."""

    kind: RolloutKind
    """What is compared."""
    state: GameState
    """The position."""
    dice: Dice | None
    """The roll, where plays are compared."""
    plays: list[Play]
    """Those that are named; none: the best ones."""
    options: RolloutOptions
    """How to roll out."""
    rules: StopRules
    """When to end."""
    before: RolloutState | None
    """What is gone on with."""


def read_rollout(
    request: rollout_pb2.RolloutRequest,
    levels: Collection[Level],
    most_trials: int,
    most_plays: int,
) -> Work[RolloutQuestion]:
    """Read a request.

    Args:
        request: The request.
        levels: Those that the engine has.
        most_trials: Most trials of one candidate.
        most_plays: Most plays at once.

    Raises:
        InvalidInputError: Something is wrong; every fault is named.
    """
    faults: list[Fault] = []
    kind = _KIND.read(request.kind, "kind", faults)
    state = read_question(request.position, faults)
    dice = _read_roll(request, kind, state, faults)
    if kind is RolloutKind.CUBE:
        refuse_nardy(request.position, state, faults)
    options = _read_options(request, levels, faults)
    faults.extend(option_faults(options, state, kind))
    before = None
    if request.state:
        try:
            before = RolloutState.from_bytes(request.state)
        except InvalidInputError as error:
            faults.extend(error.faults)
    rules = _read_rules(request, kind, most_trials, 0 if before is None else before.done, faults)
    for field, number in (("plays", len(request.plays)), ("max_plays", request.max_plays)):
        if number > most_plays:
            faults.append(Fault(field, "OUT_OF_RANGE", f"at most {most_plays} plays, got {number}"))
    plays: list[Play] = []
    if state is not None and dice is not None and len(request.plays) <= most_plays:
        plays = yield from _read_plays(request, state, dice, faults)
    refuse(faults)
    if kind is None or state is None:
        message = "a request without faults was not read"
        raise AssertionError(message)
    return RolloutQuestion(kind, state, dice, plays, options, rules, before)


def begin_rollout(
    request: rollout_pb2.RolloutRequest, engine: Engine, most_trials: int, most_plays: int
) -> Work[tuple[RolloutSpec, RolloutRun]]:
    """Read a request and get ready to run it.

    Args:
        request: The request.
        engine: The engine.
        most_trials: Most trials of one candidate.
        most_plays: Most plays at once.

    Raises:
        InvalidInputError: Something is wrong; every fault is named.
        WrongMomentError: The game is over, or an offer is pending.
    """
    question = yield from read_rollout(request, engine.levels, most_trials, most_plays)
    state, options, rules = question.state, question.options, question.rules
    yield
    if question.kind is RolloutKind.POSITION:
        spec = position_rollout(state, options)
    elif question.kind is RolloutKind.CUBE:
        spec = cube_rollout(state, options)
    else:
        dice, plays = question.dice, question.plays
        if dice is None:
            message = "a request without faults has no roll"
            raise AssertionError(message)
        if not request.plays:
            cubeless = options.cubeful is False
            ranked = yield from engine.rank(
                state, dice, Level.STATIC, cubeless=cubeless, first_turn=request.first_turn
            )
            plays = [entry.play for entry in ranked[: request.max_plays or _DEFAULT_PLAYS]]
        spec = play_rollout(state, dice, plays, options, first_turn=request.first_turn)
        if len(plays) == 1 and not request.plays:
            # A roll that leaves no choice: nothing of what was asked for is wrong.
            rules = rules.for_one_candidate()
    yield
    return spec, RolloutRun(engine, spec, rules, question.before)


def _read_roll(
    request: rollout_pb2.RolloutRequest,
    kind: RolloutKind | None,
    state: GameState | None,
    faults: list[Fault],
) -> Dice | None:
    """The roll whose plays are compared; nothing of the kind may be there otherwise."""
    if kind is RolloutKind.PLAYS:
        return read_dice(request.dice if request.HasField("dice") else None, state, faults)
    if kind is not None:
        faults.extend(
            Fault(field, "ONLY_FOR_PLAYS", "this is only for ROLLOUT_KIND_PLAYS")
            for field, is_set in (
                ("dice", request.HasField("dice")),
                ("plays", bool(request.plays)),
                ("max_plays", request.max_plays > 0),
            )
            if is_set
        )
    return None


def _read_options(
    request: rollout_pb2.RolloutRequest, levels: Collection[Level], faults: list[Fault]
) -> RolloutOptions:
    """The options; the default stands for what cannot be read, which is among the faults."""
    usual = _read_levels(request.levels, "levels", levels, faults)
    early = None
    if request.HasField("early_levels"):
        early = _read_levels(request.early_levels, "early_levels", levels, faults)
    truncate_level = read_level(request.truncate_level, levels, faults, "truncate_level")
    return RolloutOptions(
        seed=request.seed if request.HasField("seed") else secrets.randbits(32),
        cubeful=request.cubeful if request.HasField("cubeful") else None,
        levels=usual,
        early_plies=request.early_plies,
        early_levels=early,
        truncate_plies=request.truncate_plies if request.HasField("truncate_plies") else None,
        truncate_level=truncate_level or Level.STATIC,
        stop_at_bearoff=not request.HasField("stop_at_bearoff") or request.stop_at_bearoff,
        reduce_variance=not request.HasField("reduce_variance") or request.reduce_variance,
        opening=request.opening,
    )


def _read_levels(
    message: rollout_pb2.RolloutLevels, path: str, levels: Collection[Level], faults: list[Fault]
) -> RolloutLevels:
    checker = read_level(message.checker, levels, faults, f"{path}.checker")
    cube = read_level(message.cube, levels, faults, f"{path}.cube")
    return RolloutLevels(checker or Level.STATIC, cube or Level.STATIC)


def _read_rules(
    request: rollout_pb2.RolloutRequest,
    kind: RolloutKind | None,
    most_trials: int,
    played: int,
    faults: list[Fault],
) -> StopRules:
    rules = StopRules(
        trials=request.trials if request.HasField("trials") else DEFAULT_TRIALS,
        min_trials=request.min_trials if request.HasField("min_trials") else 1,
        standard_error=request.standard_error if request.HasField("standard_error") else None,
        joint_deviations=request.joint_deviations if request.HasField("joint_deviations") else None,
    )
    ends_early = rules.standard_error is not None or rules.joint_deviations is not None
    if ends_early and not request.HasField("trials"):
        message = "say after how many trials it ends even if the error stays too large"
        faults.append(Fault("trials", "TRIALS_REQUIRED", message))
    candidates = 1 if kind in (None, RolloutKind.POSITION) or len(request.plays) == 1 else 2
    faults.extend(stop_faults(rules, candidates, most_trials, played))
    return rules


def _read_plays(
    request: rollout_pb2.RolloutRequest, state: GameState, dice: Dice, faults: list[Fault]
) -> Work[list[Play]]:
    """The plays that are named."""
    plays: list[Play] = []
    for index, text in enumerate(request.plays):
        try:
            plays.append(parse_play(text, state.position, dice, first_turn=request.first_turn))
        except InvalidInputError as error:
            faults.extend(
                Fault(f"plays[{index}]", fault.reason, fault.message) for fault in error.faults
            )
        yield
    return plays


def rollout_message(
    engine: Engine, spec: RolloutSpec, run: RolloutRun
) -> rollout_pb2.RolloutResponse:
    """What a rollout has found so far."""
    result = run.result()
    message = rollout_pb2.RolloutResponse(
        entries=[_entry_message(entry, spec) for entry in result.entries],
        trials=result.trials,
        most_trials=result.most_trials,
        seed=spec.options.seed,
        double_pass_equity=result.double_pass,
        double_pass_mwc=result.double_pass_mwc,
        dice=dice_message(spec.dice) if spec.dice is not None else None,
        levels=rollout_pb2.RolloutLevels(
            checker=LEVEL.to_api(spec.options.levels.checker),
            cube=LEVEL.to_api(spec.options.levels.cube),
        ),
    )
    if spec.kind is RolloutKind.CUBE:
        message.action_text = advise_by_rollout(engine, run).text
    _add_end(message, result)
    return message


def _add_end(message: rollout_pb2.RolloutResponse, result: RolloutResult) -> None:
    """What only the last message says."""
    if result.stopped_by is not None:
        message.stopped_by = _STOP.to_api(result.stopped_by)
        message.state = result.state.to_bytes()


def _entry_message(entry: RolloutEntry, spec: RolloutSpec) -> rollout_pb2.RolloutEntry:
    play, action = entry.candidate.play, entry.candidate.action
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = map(
        _figure, entry.probabilities
    )
    chances = entry.match_winning_chances
    return rollout_pb2.RolloutEntry(
        play=play_message(play, spec.state.position) if play is not None else None,
        action=_ACTION.to_api(action) if action is not None else _NO_ACTION,
        index=entry.index,
        trials=entry.trials,
        given_up=not entry.is_active,
        equity=_figure(entry.equity),
        cubeless_equity=_figure(entry.cubeless_equity),
        win=win,
        win_gammon=win_gammon,
        win_backgammon=win_backgammon,
        lose_gammon=lose_gammon,
        lose_backgammon=lose_backgammon,
        match_winning_chances=_figure(chances) if chances is not None else None,
        behind=_figure(entry.behind),
        better_chance=entry.better_chance,
    )


def _figure(figure: Figure) -> rollout_pb2.RolloutFigure:
    return rollout_pb2.RolloutFigure(mean=figure.mean, standard_error=figure.standard_error)
