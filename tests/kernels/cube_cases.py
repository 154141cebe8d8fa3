"""Cube states and recorded cube decisions for the tests of the cube."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bgserver.kernels.cube import CENTERED, OPPOSING, OWNED, CubeState

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DATA = Path(__file__).parents[1] / "data" / "cube"
_OWNERS = {"centered": CENTERED, "on_roll": OWNED, "opponent": OPPOSING}

UNCAPPED = 1 << 20


def money(
    value: int = 1,
    owner: int = CENTERED,
    *,
    jacoby: bool = False,
    beavers: bool = False,
    cap: int = UNCAPPED,
) -> CubeState:
    return CubeState(value, owner, 0, 0, False, False, jacoby, beavers, cap)


def match(
    own: int,
    opponent: int,
    value: int = 1,
    owner: int = CENTERED,
    *,
    crawford: bool = False,
    cap: int = UNCAPPED,
) -> CubeState:
    """Match play; a score with a player at 1-away is post-Crawford unless stated otherwise."""
    late = min(own, opponent) == 1 and not crawford
    return CubeState(value, owner, own, opponent, crawford, late, False, False, cap)


def chances(*five: float) -> NDArray[np.float64]:
    return np.array(five + (0.0,) * (5 - len(five)), dtype=np.float64)


def recorded(name: str) -> list[dict[str, Any]]:
    """The decisions of a file in tests/data/cube."""
    content = json.loads((_DATA / name).read_text(encoding="utf-8"))
    return list(content["decisions"])


def recorded_state(decision: dict[str, Any]) -> CubeState:
    value, owner = decision["value"], _OWNERS[decision["owner"]]
    length, score = decision["length"], decision["score"]
    if length == 0:
        return money(value, owner, jacoby=decision["jacoby"], beavers=decision["beavers"])
    own, opponent = length - score[0], length - score[1]
    return match(own, opponent, value, owner, crawford=decision["crawford"])
