"""What a rollout of the cube actions says is best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.cube import advise_cube
from bgserver.engine.cube_advice import CubeUtilities
from bgserver.engine.rollout_spec import RolloutAction
from bgserver.kernels.rollout_trial import UTILITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver.engine.cube_advice import CubeAdvice
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.rollout_run import RolloutRun
    from bgserver.engine.rollout_sums import Figure

__all__ = ["advise_by_rollout", "cube_utilities", "possible_chances"]


def advise_by_rollout(engine: Engine, run: RolloutRun) -> CubeAdvice:
    """Advice on the cube from the figures of a rollout of the cube actions so far."""
    chances = [run.sums.figure(0, index) for index in range(UTILITY)]
    return advise_cube(
        possible_chances(chances),
        run.spec.state,
        met=engine.met,
        utilities=cube_utilities(run),
    )


def cube_utilities(run: RolloutRun) -> CubeUtilities:
    """What a rollout of the cube actions says that they are worth."""
    worth = {
        candidate.action: run.sums.figure(index, UTILITY).mean
        for index, candidate in enumerate(run.spec.candidates)
    }
    return CubeUtilities(
        no_double=worth[RolloutAction.NO_DOUBLE],
        double_take=worth[RolloutAction.DOUBLE_TAKE],
        double_beaver=worth.get(RolloutAction.DOUBLE_BEAVER),
    )


def possible_chances(figures: Sequence[Figure]) -> list[float]:
    """Chances that can be: means of trials without luck may lie a little outside."""
    five = [figure.mean for figure in figures]
    win = min(1.0, max(0.0, five[0]))
    gammon = min(win, max(0.0, five[1]))
    lose_gammon = min(1.0 - win, max(0.0, five[3]))
    backgammon = min(gammon, max(0.0, five[2]))
    return [win, gammon, backgammon, lose_gammon, min(lose_gammon, max(0.0, five[4]))]
