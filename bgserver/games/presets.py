"""The rule sets that are known by name (`rules.md` section 8), and how a request changes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bgserver.engine.errors import Fault
from bgserver.engine.position import Variant
from bgserver.games.rules import (
    AutoDouble,
    AutoDoubleScope,
    Confirm,
    CubeUse,
    HollandCount,
    HollandScope,
    Koks,
    LongNardyRules,
    OnTimeout,
    OpeningDice,
    OpeningStarter,
    ResignScope,
    Rules,
    Session,
    rules_faults,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = ["PRESETS", "Preset", "merge_rules"]


@dataclass(frozen=True, slots=True)
class Preset:
    """A named set of rules."""

    name: str
    """Its name in the API."""
    summary: str
    """What it is for, in one sentence."""
    rules: Rules
    """All its parameters."""
    fixed: frozenset[str] = frozenset({"variant"})
    """Parameters that a request may not change."""


_CUBE = Rules(cube=CubeUse.ON, cube_cap=64, forbid_dead_cube=False)
_MONEY = replace(
    _CUBE,
    session=Session.MONEY,
    jacoby=False,
    jacoby_auto_double_counts=False,
    beaver=False,
    beaver_may_be_dropped=True,
    raccoon=False,
    auto_double=AutoDouble.NONE,
    auto_double_limit=1,
    auto_double_b_scope=AutoDoubleScope.FIRST_ROLL_OF_GAME,
)
_MATCH = replace(
    _CUBE,
    session=Session.MATCH,
    crawford=True,
    holland=False,
    holland_rolls=2,
    holland_count=HollandCount.PER_SIDE,
    holland_scope=HollandScope.TRAILER,
    jacoby=False,
    beaver=False,
    raccoon=False,
    auto_double=AutoDouble.NONE,
)

_ALL = (
    Preset("classic", "Money play with a cube and no extra rules.", _MONEY),
    Preset("traditional", "Single games without a cube.", Rules(auto_roll=True)),
    Preset(
        "long_nardy",
        "Long Nardy: single games without a cube.",
        Rules(
            variant=Variant.LONG_NARDY,
            opening_dice=OpeningDice.FRESH_ROLL,
            highest_result=2,
            backgammon_needs_none_off=None,
            auto_roll=True,
            long_nardy=LongNardyRules(),
        ),
    ),
    Preset(
        "joypip",
        "Short matches with a cube if wanted, and a clock.",
        replace(
            _MATCH,
            cube=CubeUse.SELECTABLE,
            match_lengths=(1, 3, 5, 7),
            resign_scope=ResignScope.MATCH,
            turn_seconds=(30, 45, 90),
            on_timeout=OnTimeout.AUTOPILOT,
            loses_after_timeouts=0,
            auto_play_single=True,
            auto_roll=True,
        ),
        fixed=frozenset({"variant", "crawford"}),
    ),
    Preset(
        "tournament",
        "Matches by tournament rules: cube, Crawford, no money rules.",
        replace(
            _MATCH,
            confirm=Confirm.OPPONENT_ROLL,
            match_lengths=(5, 7, 9, 11, 13, 15, 17),
        ),
        fixed=frozenset({"variant", "crawford", "jacoby", "beaver", "raccoon", "auto_double"}),
    ),
    Preset(
        "money",
        "Money play with the Jacoby rule; beavers, raccoons and automatic doubles on request.",
        replace(_MONEY, confirm=Confirm.OPPONENT_ROLL, jacoby=True),
    ),
    Preset(
        "joinpal",
        "Single games without a cube; the lower number begins with a fresh roll; a clock.",
        Rules(
            opening_starter=OpeningStarter.LOWER,
            opening_dice=OpeningDice.FRESH_ROLL,
            turn_seconds=(30, 60),
            on_timeout=OnTimeout.LEGAL_PLAY,
            loses_after_timeouts=3,
            auto_roll=True,
        ),
    ),
)

PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _ALL}
"""All presets by name."""


def merge_rules(
    preset: Preset, overrides: Mapping[str, Any], path: str = "rules"
) -> tuple[Rules, list[Fault]]:
    """The rules of a preset with some parameters changed, and all that is wrong with them.

    Args:
        preset: Where the other parameters come from.
        overrides: New values by the names of `Rules`; `long_nardy` is a mapping by the names of
            `LongNardyRules`.
        path: Field path that faults start with.
    """
    base = preset.rules
    faults = [
        Fault(f"{path}.{name}", "FIXED_BY_PRESET", f"the preset {preset.name} does not allow it")
        for name, value in overrides.items()
        if name in preset.fixed and value != getattr(base, name)
    ]
    changes = dict(overrides)
    if "long_nardy" in changes:
        options = base.long_nardy or LongNardyRules()
        changes["long_nardy"] = replace(options, **changes["long_nardy"])
    rules = _completed(replace(base, **changes), asked=overrides.keys())
    faults.extend(rules_faults(rules, path))
    return rules, faults


_MATCH_ONLY = (
    "match_lengths",
    "crawford",
    "holland",
    "holland_rolls",
    "holland_count",
    "holland_scope",
    "resign_scope",
)
_MONEY_ONLY = (
    "jacoby",
    "jacoby_auto_double_counts",
    "beaver",
    "beaver_may_be_dropped",
    "raccoon",
    "raccoon_owner",
    "auto_double",
    "auto_double_limit",
    "auto_double_b_scope",
)
_CUBE_ONLY = ("cube_cap", "forbid_dead_cube", "crawford", "holland", *_MONEY_ONLY)


def _completed(rules: Rules, asked: Collection[str]) -> Rules:
    """`rules` without what a change made meaningless, and with defaults of what it brought in.

    Only parameters that nobody asked for are touched: those that were asked for and do not fit
    are faults.
    """
    changes: dict[str, Any] = {}
    pattern = {Session.MATCH: _MATCH, Session.MONEY: _MONEY}.get(rules.session, _CUBE)
    if not rules.has_cube:
        pattern = Rules()
    for name in sorted({*_MATCH_ONLY, *_CUBE_ONLY}):
        if name in asked:
            continue
        is_lost = (
            (name in _MATCH_ONLY and rules.session is not Session.MATCH)
            or (name in _MONEY_ONLY and rules.session is Session.MATCH)
            or (name in _CUBE_ONLY and not rules.has_cube)
        )
        if is_lost or getattr(rules, name) is None:
            # raccoon_owner stays None: whoever wants raccoons must state it (4.22).
            changes[name] = getattr(pattern, name)
    if rules.turn_seconds and rules.on_timeout is None:
        changes["on_timeout"] = OnTimeout.LEGAL_PLAY
    if rules.turn_seconds and rules.loses_after_timeouts is None:
        changes["loses_after_timeouts"] = 0
    koks = rules.long_nardy is not None and rules.long_nardy.koks is Koks.THREE
    if koks and "highest_result" not in asked:
        changes["highest_result"] = 3
    return replace(rules, **changes)
