"""Levels that judge by truncated rollouts: deeper than any look-ahead, short of a full rollout.

A rollout level looks ahead first, then rolls out what is near the best with a fixed seed, so that
its answers are as repeatable as those of every level. Its name carries a version: a result that
says `rollout_fast@1` was made with exactly these settings, and other settings get another version.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bgserver.engine.levels import Level
from bgserver.engine.rollout_spec import RolloutOptions, StopRules

__all__ = ["ROLLOUT_LEVELS", "RolloutLevel", "find_rollout_level"]


@dataclass(frozen=True, slots=True)
class RolloutLevel:
    """A named way to judge by rollouts."""

    name: str
    """Its name, for example `rollout_fast`."""
    version: int
    """Goes up with every change of what follows."""
    first: Level
    """The level that ranks the plays before."""
    window: float
    """Most that a play may be behind the best at that level, in points, to be rolled out."""
    most: int
    """Most plays that are rolled out."""
    options: RolloutOptions = field(default_factory=RolloutOptions)
    """How."""
    rules: StopRules = field(default_factory=StopRules)
    """How long."""

    @property
    def full_name(self) -> str:
        """Name and version, as results state them."""
        return f"{self.name}@{self.version}"


ROLLOUT_LEVELS = (
    RolloutLevel(
        "rollout_fast",
        1,
        first=Level.LOOKAHEAD_2,
        window=0.06,
        most=4,
        options=RolloutOptions(truncate_plies=7),
        rules=StopRules(trials=72, min_trials=36, joint_deviations=3.0),
    ),
    RolloutLevel(
        "rollout_medium",
        1,
        first=Level.LOOKAHEAD_2,
        window=0.06,
        most=4,
        options=RolloutOptions(truncate_plies=7),
        rules=StopRules(trials=360, min_trials=72, joint_deviations=3.0),
    ),
    RolloutLevel(
        "rollout_deep",
        1,
        first=Level.LOOKAHEAD_2,
        window=0.06,
        most=4,
        options=RolloutOptions(truncate_plies=11),
        rules=StopRules(trials=1296, min_trials=144, joint_deviations=3.0),
    ),
)
"""The rollout levels, the quickest first."""


def find_rollout_level(name: str) -> RolloutLevel | None:
    """The level of that name, with or without its version; None if there is none."""
    for level in ROLLOUT_LEVELS:
        if name in {level.name, level.full_name}:
            return level
    return None
