"""What a position before the roll is worth, on the way from level to level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.cube_plan import plan_cube
from bgserver.engine.lookahead import DEPTHS, look_ahead, look_ahead_with_cube
from bgserver.kernels.network import N_OUTPUTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.engine.cube import CubeUtilities
    from bgserver.engine.cube_rules import RaccoonOwner
    from bgserver.engine.game_core import GameCore
    from bgserver.engine.work import Work
    from bgserver.kernels.cube import CubeState, MatchTable

__all__ = ["CubeQuestion", "Judgement"]


@dataclass(frozen=True, slots=True)
class CubeQuestion:
    """The cube of a position that is judged."""

    state: CubeState
    """Cube and score, seen by the player on roll."""
    table: MatchTable
    """Match equities."""
    raccoon_owner: RaccoonOwner | None
    """Who owns the cube after a raccoon, if there may be one."""


class Judgement:
    """What a position before the roll is worth on the way from level to level; a `Question`."""

    deepest = max(DEPTHS.values())

    def __init__(self, core: GameCore, board: NDArray[np.int8], cube: CubeQuestion | None) -> None:
        """Nothing is judged yet.

        Args:
            core: What the game is judged with.
            board: int8[26]: the position seen by the player who is not on roll.
            cube: Cube and score; None in Long Nardy.
        """
        self._core = core
        self._board = board
        self._cube = cube
        self.depth = 0
        self.value = np.zeros(N_OUTPUTS, dtype=np.float64)
        """Chances of the player who is not on roll."""
        self.utilities: CubeUtilities | None = None
        """What the player on roll can get from the cube; None at the static level."""

    def boards(self, depth: int) -> int:  # noqa: ARG002 -- one at every depth
        """How many boards `look(depth)` looks at."""
        return 1

    def look(self, depth: int) -> Work[None]:
        """Look `depth` rolls ahead."""
        core, cube = self._core, self._cube
        utilities = None
        if cube is None or depth == 0:
            value = yield from look_ahead(
                self._board, depth, core.code, core.evaluator, core.threads
            )
        else:
            search = plan_cube(cube.state, cube.table, depth, raccoon_owner=cube.raccoon_owner)
            value, values = yield from look_ahead_with_cube(
                self._board, depth, search, core.evaluator, core.threads
            )
            utilities = search.utilities(values)
        self.value, self.utilities, self.depth = value, utilities, depth
