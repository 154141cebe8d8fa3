"""Match equities beyond a published table, computed from the shorter matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.cube import CENTERED, CubeState, MatchTable, cubeful_utility

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The average game between equal players. With 27 % gammons, 1 % backgammons and the contact cube
# efficiency the cubeful model gives every published Kazaross-XG2 cell of 12 to 25 away from the
# cells of shorter matches with an error of at most 0.00014.
_GAMMON_SHARE = 0.27
_BACKGAMMON_SHARE = 0.01
_EFFICIENCY = 0.68
# A trailer at match point against him plays for the gammon at no risk; 30 % gives the published
# Crawford and post-Crawford figures with an error of about 1 % of their value.
_TRAILER_GAMMON_SHARE = 0.30

_UNCAPPED = 1 << 40


@kernel
def extend_table(table: MatchTable, known_pre: int, known_post: int) -> None:
    """Fill a match equity table in place, from the published cells on.

    Args:
        table: pre float64[n, n] and post float64[n]; the first cells are given, the others
            are written.
        known_pre: Rows and columns of `table.pre` that are given, at least 1.
        known_post: Values of `table.post` that are given, at least 1.
    """
    pre = table.pre
    post = table.post
    length = post.shape[0]
    for away in range(known_post + 1, length + 1):
        # The trailer doubles at once, so games count two points, gammons four.
        post[away - 1] = _trailer_chance(post, away - 2, away - 4)
    for away in range(known_pre + 1, length + 1):
        chance = _trailer_chance(post, away - 1, away - 2)
        pre[away - 1, 0] = chance
        pre[0, away - 1] = 1.0 - chance
    half = np.empty(5)
    half[0] = 0.5
    half[1] = half[3] = 0.5 * (_GAMMON_SHARE + _BACKGAMMON_SHARE)
    half[2] = half[4] = 0.5 * _BACKGAMMON_SHARE
    for away in range(max(2, known_pre + 1), length + 1):
        for leader in range(2, away):
            state = CubeState(1, CENTERED, away, leader, False, False, False, False, _UNCAPPED)
            chance = 0.5 * (1.0 + cubeful_utility(half, state, table, _EFFICIENCY))
            pre[away - 1, leader - 1] = chance
            pre[leader - 1, away - 1] = 1.0 - chance
        pre[away - 1, away - 1] = 0.5


@kernel
def _trailer_chance(post: NDArray[np.float64], single: int, gammon: int) -> float:
    """Chance of a trailer who wins half the games, by what is left to do after either win."""
    after_single = 1.0 if single <= 0 else post[single - 1]
    after_gammon = 1.0 if gammon <= 0 else post[gammon - 1]
    share = _TRAILER_GAMMON_SHARE
    return 0.5 * ((1.0 - share) * after_single + share * after_gammon)
