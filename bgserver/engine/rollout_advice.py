"""What a rollout of the cube actions says is best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.cube import advise_cube
from bgserver.engine.cube_advice import CubeUtilities
from bgserver.engine.rollout_spec import RolloutAction
from bgserver.kernels.rollout_trial import UTILITY

if TYPE_CHECKING:
    from bgserver.engine.cube_advice import CubeAdvice
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.rollout_run import RolloutRun
    from bgserver.engine.rollout_spec import RolloutSpec

__all__ = ["advise_by_rollout"]


def advise_by_rollout(engine: Engine, spec: RolloutSpec, run: RolloutRun) -> CubeAdvice:
    """Advice on the cube from the figures of a rollout of the cube actions so far."""
    utilities = {
        candidate.action: run.sums.figure(index, UTILITY).mean
        for index, candidate in enumerate(spec.candidates)
    }
    beaver = utilities.get(RolloutAction.DOUBLE_BEAVER)
    return advise_cube(
        _possible([run.sums.figure(0, index).mean for index in range(UTILITY)]),
        spec.state,
        met=engine.met,
        utilities=CubeUtilities(
            no_double=utilities[RolloutAction.NO_DOUBLE],
            double_take=utilities[RolloutAction.DOUBLE_TAKE],
            double_beaver=beaver,
        ),
    )


def _possible(five: list[float]) -> list[float]:
    """Chances that can be: means without luck may lie a little outside."""
    win = min(1.0, max(0.0, five[0]))
    gammon = min(win, max(0.0, five[1]))
    lose_gammon = min(1.0 - win, max(0.0, five[3]))
    backgammon = min(gammon, max(0.0, five[2]))
    return [win, gammon, backgammon, lose_gammon, min(lose_gammon, max(0.0, five[4]))]
