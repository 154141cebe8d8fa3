"""Rules of a preset with some changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bgserver.engine.errors import InvalidInputError
from bgserver.games.presets import Preset, merge_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bgserver.games.rules import Rules

__all__ = ["merged_rules"]


def merged_rules(preset: Preset, overrides: Mapping[str, Any]) -> Rules:
    """The rules; raises `InvalidInputError` with all that is wrong with them."""
    rules, faults = merge_rules(preset, overrides)
    if faults:
        raise InvalidInputError(faults)
    return rules
