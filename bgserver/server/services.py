"""All services of this server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.server.engine_service import EngineServicer
from bgserver.server.game_service import GameServicer
from bgserver.server.methods import bind
from bgserver.server.rules_service import RulesServicer
from bgserver.server.simulation_service import SimulationServicer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bgserver.server.methods import BoundMethod, Servicer
    from bgserver.server.runtime import Runtime

__all__ = ["bound_methods"]


def bound_methods(runtime: Runtime, extra: Iterable[Servicer] = ()) -> dict[str, BoundMethod]:
    """The methods of all services, and of further ones, by full name."""
    return bind(
        [
            RulesServicer(runtime),
            EngineServicer(runtime),
            GameServicer(runtime),
            SimulationServicer(runtime),
            *extra,
        ]
    )
