"""What is told of a network or table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bgserver.engine.position import Variant

__all__ = ["NetworkInfo"]


@dataclass(frozen=True, slots=True)
class NetworkInfo:
    """A network or table that the engine judges with."""

    name: str
    """Name, for example `contact`."""
    variant: Variant
    """The game."""
    version: str
    """Version of the weights or table."""
    loaded: bool
    """False if it is missing."""
    description: str
    """Inputs, width, origin."""
