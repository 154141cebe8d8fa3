"""Short ways to say what is to be simulated."""

from __future__ import annotations

from typing import Any

from bgserver.engine.levels import Level
from bgserver.engine.position import Variant
from bgserver.engine.strength import EXPERT, Strength
from bgserver.games.presets import PRESETS
from bgserver.games.rules import CubeUse, OpeningDice, OpeningStarter, Session
from bgserver.games.setup import Setup
from bgserver.games.simulation import Contestant, SimulationSpec
from tests.rule_sets import merged_rules

_STATIC = (Level.STATIC, Level.STATIC)
_EXPERTS = (EXPERT, EXPERT)
_OF_SPEC = ("seating", "session_games", "judge", "records")


def simulation(
    variant: Variant = Variant.BACKGAMMON,
    *,
    match_length: int | None = None,
    cube: bool | None = None,
    fresh_roll: bool | None = None,
    lower_starts: bool = False,
    count: int = 100,
    seed: int = 1,
    levels: tuple[Level, Level] = _STATIC,
    strengths: tuple[Strength, Strength] = _EXPERTS,
    **others: Any,
) -> SimulationSpec:
    """A simulation of money games with a cube, or of Long Nardy without, but for what is said.

    Args:
        variant: The game.
        match_length: Points of a match, if these are matches.
        cube: Whether there is a cube.
        fresh_roll: Whether the starter rolls anew.
        lower_starts: Whether the lower number begins.
        count: Units.
        seed: Of dice and errors.
        levels: Of the players.
        strengths: Of the players.
        others: Fields of `SimulationSpec`, or of `Rules`.
    """
    of_spec = {name: others.pop(name) for name in _OF_SPEC if name in others}
    nardy = variant is Variant.LONG_NARDY
    changes: dict[str, Any] = others
    if match_length is not None:
        changes["session"] = Session.MATCH
    if cube is not None:
        changes["cube"] = CubeUse.ON if cube else CubeUse.OFF
    if fresh_roll is not None:
        changes["opening_dice"] = OpeningDice.FRESH_ROLL if fresh_roll else OpeningDice.USE_BOTH
    if lower_starts:
        changes["opening_starter"] = OpeningStarter.LOWER
    rules = merged_rules(PRESETS["long_nardy" if nardy else "classic"], changes)
    first, second = (
        Contestant(level, strength) for level, strength in zip(levels, strengths, strict=True)
    )
    setup = Setup(rules, match_length=match_length, cube=rules.has_cube)
    return SimulationSpec(setup, count, seed, (first, second), **of_spec)
