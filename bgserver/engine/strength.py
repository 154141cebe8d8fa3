"""Strengths of bots: how much players misjudge, from 0 to the full engine at 100.

A strength says how much a player loses on average with each checker play that is a choice, in
points: `Strength.mean_loss`. The noise that leads to that loss was found by playing; after a
change of the weights find it again with `python -m bench.bot_strength --calibrate --write`,
which replaces `_NOISE` below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.position import Variant
from bgserver.kernels.misjudge import Misjudgement

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BEGINNER",
    "EXPERT",
    "NAMED_STRENGTHS",
    "NORMAL",
    "STRENGTH_RANGE",
    "DecisionKey",
    "Noise",
    "Strength",
    "cube_noise",
    "play_noise",
    "strength_faults",
]

STRENGTH_RANGE = (0, 100)
"""The weakest and the strongest."""

_MOST_LOSS = 0.120
_LOSS_EXPONENT = 2.1

# Standard deviation of the noise in thousandths of a point, by strength.
# fmt: off
_NOISE: Mapping[Variant, Mapping[int, float]] = {
    Variant.BACKGAMMON: {
        0: 619.3, 10: 464.4, 20: 394.5, 30: 296.5, 40: 224.2,
        50: 166.3, 60: 105.5, 70: 65.8, 80: 30.0, 90: 9.8,
    },
    Variant.LONG_NARDY: {
        0: 755.0, 10: 511.9, 20: 354.5, 30: 260.0, 40: 175.2,
        50: 110.2, 60: 68.0, 70: 39.4, 80: 19.3, 90: 6.6,
    },
}
# fmt: on
_STEP = 10

# What a play may lose at most: 0.5 points for a beginner, 0.15 for a normal player.
_LEAST_LIMIT = 0.05
_LIMIT_FACTOR = 6.0
# Of cube actions, a beginner misjudges the value by 0.12 points, a normal player by 0.06.
_CUBE_NOISE_FACTOR = 0.45
_CUBE_LIMIT_FACTOR = 2.5


def strength_faults(value: int, field: str) -> list[Fault]:
    """What is wrong with a numeric strength."""
    low, high = STRENGTH_RANGE
    if low <= value <= high:
        return []
    return [Fault(field, "OUT_OF_RANGE", f"expected {low} to {high}, got {value}")]


@dataclass(frozen=True, slots=True, order=True)
class Strength:
    """How well a player chooses among what the engine sees."""

    value: int
    """0..100; at 100 a player makes no errors of its own: it is the engine."""

    def __post_init__(self) -> None:
        """Raise `InvalidInputError` for a value outside 0..100."""
        faults = strength_faults(self.value, "strength")
        if faults:
            raise InvalidInputError(faults)

    @property
    def errs(self) -> bool:
        """Whether the player makes errors of its own at all."""
        return self.value < STRENGTH_RANGE[1]

    @property
    def mean_loss(self) -> float:
        """Points that the player is meant to lose on average with a play that is a choice."""
        return float(_MOST_LOSS * self._weakness**_LOSS_EXPONENT)

    @property
    def _weakness(self) -> float:
        """1 for the weakest, 0 for the engine."""
        low, high = STRENGTH_RANGE
        return (high - self.value) / (high - low)


BEGINNER = Strength(20)
"""Knows the rules and little else; wins about one game in seven against `EXPERT`."""
NORMAL = Strength(60)
"""A club player."""
EXPERT = Strength(100)
"""The full engine at its level."""
NAMED_STRENGTHS: Mapping[str, Strength] = {
    "beginner": BEGINNER,
    "normal": NORMAL,
    "expert": EXPERT,
}
"""The strengths that have a name, weakest first."""


class DecisionKey(NamedTuple):
    """Which decision this is: a player errs in the same way whenever it is asked again."""

    seed: int = 0
    """Seed of the games, 0..2**63-1."""
    game: int = 0
    """Number of the game, 0..2**63-1."""
    turn: int = 0
    """Number of the turn within the game, both players counted, 0..2**31-1."""


@dataclass(frozen=True, slots=True)
class Noise:
    """How much a player misjudges one kind of decision."""

    deviation: float
    """Standard deviation in points."""
    limit: float
    """What loses more than so many points is never done."""

    def at(self, key: DecisionKey) -> Misjudgement:
        """The noise of one decision, for kernels."""
        return Misjudgement(self.deviation, self.limit, *key)


def play_noise(strength: Strength, variant: Variant) -> Noise:
    """The noise of checker plays."""
    # The noise falls to nothing at 100; relative to the distance from there it varies little.
    weakness = STRENGTH_RANGE[1] - strength.value
    steps = _NOISE[variant]
    below = min(strength.value // _STEP * _STEP, max(steps))
    above = min(below + _STEP, max(steps))
    share = (strength.value - below) / _STEP if above > below else 0.0
    low, high = (steps[step] / (STRENGTH_RANGE[1] - step) for step in (below, above))
    deviation = 0.001 * weakness * (low + share * (high - low))
    return Noise(deviation, _LEAST_LIMIT + _LIMIT_FACTOR * strength.mean_loss)


def cube_noise(strength: Strength) -> Noise:
    """The noise of cube decisions, in points of the present cube."""
    deviation = _CUBE_NOISE_FACTOR * math.sqrt(strength.mean_loss)
    return Noise(deviation, _CUBE_LIMIT_FACTOR * deviation)
