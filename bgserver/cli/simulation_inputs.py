"""What is wrong with a simulation as it was typed: all of it at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.cli.config import read_config
from bgserver.cli.problems import gathered
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.levels import Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver.v1 import simulation_pb2

__all__ = ["SIMULATION_OPTIONS", "refuse_simulation"]

SIMULATION_OPTIONS = {
    "preset": "--preset",
    "match_length": "--match-length",
    "count": "--count",
    "seed": "--seed",
    "judge": "--judge",
    "decision_ms": "--decision-ms",
}
"""The option that fills each field of a request, as `match` names them."""


def refuse_simulation(request: simulation_pb2.SimulateRequest, faults: Sequence[Fault]) -> None:
    """Refuse a request with faults that only the command line can see.

    Such a request does not get to the server, which would name the faults of the rest; so the rest
    is looked at here. How much a server plays and whom it lets play is left to it.

    Args:
        request: What could be read.
        faults: What could not.

    Raises:
        InvalidInputError: There are faults; every fault is named.
    """
    if not faults:
        return
    from bgserver.server.convert_simulation import read_simulation  # noqa: PLC0415 -- loads Numba

    rest: list[Fault] = []
    levels = [level for level in Level if level is not Level.RANDOM]
    with gathered(rest):
        read_simulation(request, read_config(remote_engines=("*",)), levels)
    named = {fault.field for fault in faults} | {"count"}
    if named & {"first", "second"}:
        named.add("decision_ms")  # who plays elsewhere is not known
    raise InvalidInputError([*faults, *(fault for fault in rest if fault.field not in named)])
