"""What rollout levels say: plays ranked, positions evaluated, cube actions weighed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bgserver.engine.cube_rules import double_refusals
from bgserver.engine.rollout_advice import cube_utilities, possible_chances
from bgserver.engine.rollout_run import RolloutRun
from bgserver.engine.rollout_spec import (
    STRUCTURAL_REFUSALS,
    RolloutKind,
    cube_rollout,
    play_rollout,
    position_rollout,
)

if TYPE_CHECKING:
    from bgserver.engine.cube_advice import CubeUtilities
    from bgserver.engine.evaluator import Engine, Evaluation
    from bgserver.engine.position import Dice, GameState
    from bgserver.engine.ranking import RankedPlay
    from bgserver.engine.rollout_level import RolloutLevel
    from bgserver.engine.rollout_spec import RolloutSpec
    from bgserver.engine.rollout_sums import Figure
    from bgserver.engine.work import Work

__all__ = ["evaluate_by_rollout", "rank_by_rollout", "weigh_cube_by_rollout"]


def _roll_out(engine: Engine, spec: RolloutSpec, level: RolloutLevel) -> Work[RolloutRun]:
    """Play the whole rollout, one chunk after the other."""
    rules = level.rules
    if spec.kind is RolloutKind.POSITION or len(spec.candidates) == 1:
        rules = rules.for_one_candidate()
    run = RolloutRun(engine, spec, rules)
    for chunk in run.chunks():
        rows = yield from chunk.work(engine)
        run.add(rows)
        yield
    return run


def rank_by_rollout(
    engine: Engine,
    state: GameState,
    dice: Dice,
    level: RolloutLevel,
    *,
    cubeless: bool,
    first_turn: bool,
) -> Work[list[RankedPlay]]:
    """Rank the plays of a roll; those that were rolled out come first.

    Arguments and errors as `Engine.rank`.
    """
    ranked = yield from engine.rank(
        state, dice, level.first, cubeless=cubeless, first_turn=first_turn
    )
    near = [
        entry
        for entry in ranked[: level.most]
        if entry.equity_loss <= level.window and entry.level is level.first
    ]
    if len(near) < 2:
        return ranked
    options = replace(level.options, cubeful=False if cubeless else None)
    spec = play_rollout(state, dice, [entry.play for entry in near], options, first_turn=first_turn)
    run = yield from _roll_out(engine, spec, level)
    result = run.result()
    rolled = [
        replace(
            near[entry.index],
            equity=entry.equity.mean,
            probabilities=tuple(possible_chances(entry.probabilities)),
            match_winning_chances=_mean(entry.match_winning_chances),
            preset=level.full_name,
        )
        for entry in result.entries
    ]
    top = rolled[0].equity
    return [
        replace(entry, equity_loss=max(0.0, top - entry.equity))
        for entry in rolled + ranked[len(near) :]
    ]


def evaluate_by_rollout(engine: Engine, state: GameState, level: RolloutLevel) -> Work[Evaluation]:
    """Evaluate a position before the roll; errors as `Engine.evaluate`."""
    base = yield from engine.evaluate(state, level.first)
    run = yield from _roll_out(engine, position_rollout(state, level.options), level)
    entry = run.result().entries[0]
    return replace(
        base,
        probabilities=tuple(possible_chances(entry.probabilities)),
        cubeless_equity=entry.cubeless_equity.mean,
        cubeful_equity=entry.equity.mean,
        match_winning_chances=_mean(entry.match_winning_chances),
        preset=level.full_name,
    )


def weigh_cube_by_rollout(
    engine: Engine, state: GameState, level: RolloutLevel
) -> Work[tuple[CubeUtilities | None, Evaluation]]:
    """What the cube actions are worth, None where no double is possible, and the evaluation.

    The cubeful figures of the evaluation are left to the caller, if there are utilities.
    """
    if STRUCTURAL_REFUSALS.intersection(double_refusals(state)):
        return None, (yield from evaluate_by_rollout(engine, state, level))
    base = yield from engine.evaluate(state, level.first)
    run = yield from _roll_out(engine, cube_rollout(state, level.options), level)
    entry = run.result().entries[0]
    evaluation = replace(
        base,
        probabilities=tuple(possible_chances(entry.probabilities)),
        cubeless_equity=entry.cubeless_equity.mean,
        preset=level.full_name,
    )
    return cube_utilities(run), evaluation


def _mean(figure: Figure | None) -> float | None:
    return None if figure is None else figure.mean
