"""Cubeful values by Janowski's interpolation, for money and for match play.

The cubeful value of a position lies between two extremes: a *dead* cube, which nobody will turn
again, and a *live* cube, which is turned exactly at the point where the opponent is indifferent
between taking and passing. Janowski ("Take-Points in Money Games", 1993) interpolates between
them by the *cube efficiency* x: `x * live + (1 - x) * dead`. The live value is piecewise linear
in the winning chance, through (0, all lost), (take point, opponent cashes), (cash point, cashed)
and (1, all won); the gammon shares of wins and of losses are those of the position. In match
play the same holds for match winning chances, and the take points follow by recursion from the
highest cube that can still matter, as GNU Backgammon's manual describes it.

Conventions of all functions here:

- Everything is seen by the player on roll *before* the roll.
- `probabilities`: five floats P(win), P(win gammon+), P(win backgammon), P(lose gammon+),
  P(lose backgammon); read only.
- A *utility* adds up to zero between the players, so that turning the view is a minus sign. In
  money play it is the number of points (equity times cube value), in match play `2 * mwc - 1`
  with mwc the match winning chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bgserver.kernels._jit import kernel
from bgserver.kernels.cube_live import (
    NO_LIFTS,
    free_share,
    live_share,
    live_take_point,
    live_value,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Probabilities = NDArray[np.float32] | NDArray[np.float64]

__all__ = [
    "BEAROFF_EFFICIENCY",
    "CENTERED",
    "CONTACT_EFFICIENCY",
    "OPPOSING",
    "OWNED",
    "CashPoints",
    "CubeState",
    "GammonShares",
    "MatchTable",
    "Stakes",
    "cube_efficiency",
    "cubeful_utility",
    "cubeless_utility",
    "double_utilities",
    "doubled",
    "doublers",
    "gammon_shares",
    "match_chance",
    "match_stakes",
    "match_value",
    "may_double",
    "money_value",
    "normalised",
    "passed_utility",
    "position_utility",
    "race_efficiency",
    "turned",
    "waiting_lifts",
    "waiting_utility",
]

CENTERED = 0
"""`CubeState.owner`: both players may double."""
OWNED = 1
"""`CubeState.owner`: the player on roll owns the cube."""
OPPOSING = 2
"""`CubeState.owner`: the opponent owns the cube."""

# Published cube efficiencies (manual of GNU Backgammon, "The cube efficiency", after Janowski):
# contact and crashed 0.68, bear-off 0.6, race 0.6 at 40 pips or fewer to 0.7 at 120 or more.
CONTACT_EFFICIENCY = 0.68
BEAROFF_EFFICIENCY = 0.6
_RACE_MIN_EFFICIENCY = 0.6
_RACE_MAX_EFFICIENCY = 0.7
_RACE_MIN_PIPS = 40
_RACE_MAX_PIPS = 120
# The published efficiencies suit a position after a double. Who rolls without having doubled has
# more of what the live cube gains him, or, if he is behind, loses more of what his opponent's cube
# threatens: e + lift * e * (1 - e) of it for an efficiency e. Both were found on 17,000 positions
# of self-play against the engine's own look-ahead of two rolls (`python -m bench.cube_formula`).
# Lifts of the gain twice as high bring the equity of waiting nearest; these lose least by wrong
# doubles, since static chances have errors. In a match a lift of the gain is of no use there.
_CENTERED_LIFT = 0.18
_JACOBY_LIFT = 0.35
"""A centred cube with Jacoby: the dead value has no gammons, which any double brings back."""
_OWNED_LIFT = 0.18
_THREAT_LIFT = 0.45
_JACOBY_THREAT_LIFT = 0.6


class MatchTable(NamedTuple):
    """Match winning chances of the player named first, as arrays for kernels."""

    pre: NDArray[np.float64]
    """[n, n]: `pre[a - 1, b - 1]`, a-away against b-away before the next game, when the Crawford
    game is not yet over (so row and column 0 are the Crawford game)."""
    post: NDArray[np.float64]
    """[n]: `post[a - 1]`, a-away against 1-away after the Crawford game; `post[0]` is 0.5."""


class CubeState(NamedTuple):
    """The cube, the score and the money rules at one moment."""

    value: int
    """1, 2, 4, ..."""
    owner: int
    """`CENTERED`, `OWNED` or `OPPOSING`."""
    away_own: int
    """Points that the player on roll needs; 0 = money play."""
    away_opponent: int
    """Points that the opponent needs; 0 = money play."""
    crawford: bool
    """This is the Crawford game: the cube is out of use."""
    post_crawford: bool
    """The Crawford game is over."""
    jacoby: bool
    """Money play: gammons count only once the cube has been turned."""
    beavers: bool
    """Money play: the taker may turn the cube again."""
    cap: int
    """No double may raise the value above this."""


class GammonShares(NamedTuple):
    """How wins and losses split; the rest of each are single games."""

    win_gammon: float
    """Share of the wins that are gammons, not backgammons."""
    win_backgammon: float
    """Share of the wins that are backgammons."""
    lose_gammon: float
    """Share of the losses that are gammons, not backgammons."""
    lose_backgammon: float
    """Share of the losses that are backgammons."""


class CashPoints(NamedTuple):
    """Live-cube cash points, each in that player's own winning chances; 1 where nothing is gained.

    The doubled ones are those on a cube at twice the value.
    """

    own: float
    opponent: float
    own_doubled: float
    opponent_doubled: float


class Stakes(NamedTuple):
    """Match winning chances of the player on roll when the game ends at one cube value."""

    win: float
    """Average over single wins, gammons and backgammons."""
    lose: float
    """Average over single losses, gammons and backgammons."""
    cash: float
    """After a single win."""
    passed: float
    """After a single loss."""


@kernel
def gammon_shares(probabilities: Probabilities) -> GammonShares:
    """Split of the wins and of the losses of `probabilities`; no gammons where there is no win."""
    win = float(probabilities[0])
    lose = 1.0 - win
    win_gammon = win_backgammon = lose_gammon = lose_backgammon = 0.0
    if win > 0.0:
        win_backgammon = min(1.0, probabilities[2] / win)
        win_gammon = max(0.0, min(1.0, probabilities[1] / win) - win_backgammon)
    if lose > 0.0:
        lose_backgammon = min(1.0, probabilities[4] / lose)
        lose_gammon = max(0.0, min(1.0, probabilities[3] / lose) - lose_backgammon)
    return GammonShares(win_gammon, win_backgammon, lose_gammon, lose_backgammon)


@kernel
def match_chance(table: MatchTable, away_own: int, away_opponent: int, late: bool) -> float:
    """Match winning chance of the first player between two games.

    Args:
        table: The match equity table, large enough for both players.
        away_own: Points still needed, may be 0 or less (match won).
        away_opponent: The same for the other player.
        late: The Crawford game is over, so one of the players is at 1-away.
    """
    if away_own <= 0:
        return 1.0
    if away_opponent <= 0:
        return 0.0
    if late:
        if away_own == 1:
            return float(1.0 - table.post[away_opponent - 1])
        return float(table.post[away_own - 1])
    return float(table.pre[away_own - 1, away_opponent - 1])


@kernel
def match_stakes(shares: GammonShares, state: CubeState, table: MatchTable, value: int) -> Stakes:
    """What the game is worth for the match at cube `value`."""
    own = state.away_own
    opponent = state.away_opponent
    late = state.crawford or state.post_crawford
    cash = match_chance(table, own - value, opponent, late)
    win = cash * (1.0 - shares.win_gammon - shares.win_backgammon)
    if shares.win_gammon > 0.0:
        win += shares.win_gammon * match_chance(table, own - 2 * value, opponent, late)
    if shares.win_backgammon > 0.0:
        win += shares.win_backgammon * match_chance(table, own - 3 * value, opponent, late)
    passed = match_chance(table, own, opponent - value, late)
    lose = passed * (1.0 - shares.lose_gammon - shares.lose_backgammon)
    if shares.lose_gammon > 0.0:
        lose += shares.lose_gammon * match_chance(table, own, opponent - 2 * value, late)
    if shares.lose_backgammon > 0.0:
        lose += shares.lose_backgammon * match_chance(table, own, opponent - 3 * value, late)
    return Stakes(win, lose, cash, passed)


@kernel
def _match_cash_points(shares: GammonShares, state: CubeState, table: MatchTable) -> CashPoints:
    """Cash points by recursion from the highest cube that can still matter."""
    top = state.value
    while (top < state.away_own or top < state.away_opponent) and 2 * top <= state.cap:
        top *= 2
    cash_own = cash_opponent = 1.0
    last_own = last_opponent = 1.0
    higher = match_stakes(shares, state, table, top)
    value = top // 2
    while value >= state.value:
        stakes = match_stakes(shares, state, table, value)
        next_own = 1.0
        next_opponent = 1.0
        can_redouble = 4 * value <= state.cap
        if state.away_own > value:
            # The opponent takes at 2 * value and may redouble from there unless he wins anyway.
            if can_redouble and state.away_opponent > 2 * value:
                take = live_take_point(
                    1.0 - stakes.cash, 1.0 - higher.win, 1.0 - higher.passed, cash_opponent
                )
            else:
                take = live_take_point(1.0 - stakes.cash, 1.0 - higher.win, 1.0 - higher.lose, 1.0)
            next_own = 1.0 - take
        if state.away_opponent > value:
            if can_redouble and state.away_own > 2 * value:
                take = live_take_point(stakes.passed, higher.lose, higher.cash, cash_own)
            else:
                take = live_take_point(stakes.passed, higher.lose, higher.win, 1.0)
            next_opponent = 1.0 - take
        last_own, last_opponent = cash_own, cash_opponent
        cash_own, cash_opponent = next_own, next_opponent
        higher = stakes
        value //= 2
    return CashPoints(cash_own, cash_opponent, last_own, last_opponent)


@kernel
def _money_cash_points(win: float, lose: float, state: CubeState) -> CashPoints:
    """Cash points by recursion from the cap.

    Args:
        win: Average points of a win on a cube at 1 (Janowski's W).
        lose: Average points of a loss (Janowski's L).
        state: Cube value and cap.
    """
    if 2 * state.value > state.cap:
        return CashPoints(1.0, 1.0, 1.0, 1.0)
    # The last turn leaves a dead cube; without a cap the recursion tends to Janowski's
    # (L + 1) / (W + L + 0.5).
    cash_own = 1.0 - (win - 0.5) / (win + lose)
    cash_opponent = 1.0 - (lose - 0.5) / (win + lose)
    last_own = last_opponent = 1.0
    win_slope = (win - 0.5) / (win + 1.0)
    lose_slope = (lose - 0.5) / (lose + 1.0)
    value = state.value
    while 4 * value <= state.cap:
        value *= 2
        last_own, last_opponent = cash_own, cash_opponent
        cash_own = 1.0 - last_opponent * win_slope
        cash_opponent = 1.0 - last_own * lose_slope
    return CashPoints(cash_own, cash_opponent, last_own, last_opponent)


@kernel
def doublers(state: CubeState) -> int:
    """Who can gain by doubling: 1 for the player on roll, plus 2 for the opponent."""
    if state.crawford or 2 * state.value > state.cap:
        return 0
    is_match = state.away_own > 0
    result = 0
    if state.owner != OPPOSING and not (is_match and state.away_own <= state.value):
        result += 1
    if state.owner != OWNED and not (is_match and state.away_opponent <= state.value):
        result += 2
    return result


@kernel
def may_double(state: CubeState) -> bool:
    """True if the player on roll has a legal double that can gain something."""
    return doublers(state) & 1 == 1


@kernel
def waiting_lifts(state: CubeState) -> tuple[float, float]:
    """Lifts of the gain and of the threat for a player who rolls without having doubled."""
    if state.owner == OPPOSING:
        return 0.0, _THREAT_LIFT
    if state.owner == OWNED:
        return (_OWNED_LIFT if state.away_own == 0 else 0.0), 0.0
    if state.away_own > 0:
        return 0.0, _THREAT_LIFT
    if state.jacoby:
        return _JACOBY_LIFT, _JACOBY_THREAT_LIFT
    return _CENTERED_LIFT, _THREAT_LIFT


@kernel
def money_value(
    chance: float,
    shares: GammonShares,
    state: CubeState,
    efficiency: float,
    cash_points: tuple[float, float],
    lifts: tuple[float, float],
) -> float:
    """Utility in money play.

    Args:
        chance: P(win) of the player on roll.
        shares: Gammon shares.
        state: Cube and rules.
        efficiency: Cube efficiency.
        cash_points: Of (player on roll, opponent) at this cube value.
        lifts: `waiting_lifts`, or zeros.
    """
    win = lose = 1.0
    if not state.jacoby or state.owner != CENTERED:
        # With Jacoby gammons count after a take only: they move the cash points, not the stakes.
        win += shares.win_gammon + 2.0 * shares.win_backgammon
        lose += shares.lose_gammon + 2.0 * shares.lose_backgammon
    dead = chance * win - (1.0 - chance) * lose
    able = doublers(state)
    if able == 0:
        return dead * state.value
    stakes = Stakes(win, -lose, 1.0, -1.0)
    live = live_value(chance, stakes, 1.0 - cash_points[1], cash_points[0], able)
    share = live_share(efficiency, lifts, chance, live - dead)
    return (share * live + (1.0 - share) * dead) * state.value


@kernel
def match_value(
    chance: float,
    stakes: Stakes,
    state: CubeState,
    efficiency: float,
    cash_points: tuple[float, float],
    lifts: tuple[float, float],
) -> float:
    """Utility in match play.

    Args:
        chance: P(win) of the player on roll.
        stakes: What the game is worth at this cube value.
        state: Cube and score.
        efficiency: Cube efficiency.
        cash_points: Of (player on roll, opponent) at this cube value.
        lifts: `waiting_lifts`, or zeros.
    """
    dead = chance * stakes.win + (1.0 - chance) * stakes.lose
    able = doublers(state)
    if able == 0:
        return 2.0 * dead - 1.0
    live = live_value(chance, stakes, 1.0 - cash_points[1], cash_points[0], able)
    share = live_share(efficiency, lifts, chance, live - dead)
    if able & 1 == 1 and state.away_opponent <= state.value:
        share = max(share, free_share(chance, cash_points[0]))
    elif able & 2 == 2 and state.away_own <= state.value:
        share = max(share, free_share(1.0 - chance, cash_points[1]))
    return 2.0 * (share * live + (1.0 - share) * dead) - 1.0


@kernel
def _cash_points(shares: GammonShares, state: CubeState, table: MatchTable) -> CashPoints:
    if state.away_own > 0:
        return _match_cash_points(shares, state, table)
    win = 1.0 + shares.win_gammon + 2.0 * shares.win_backgammon
    lose = 1.0 + shares.lose_gammon + 2.0 * shares.lose_backgammon
    return _money_cash_points(win, lose, state)


@kernel
def _value(
    chance: float,
    shares: GammonShares,
    state: CubeState,
    table: MatchTable,
    efficiency: float,
    cash_points: tuple[float, float],
    lifts: tuple[float, float],
) -> float:
    if state.away_own > 0:
        stakes = match_stakes(shares, state, table, state.value)
        return match_value(chance, stakes, state, efficiency, cash_points, lifts)
    return money_value(chance, shares, state, efficiency, cash_points, lifts)


@kernel
def position_utility(
    chance: float, shares: GammonShares, state: CubeState, table: MatchTable, efficiency: float
) -> float:
    """`cubeful_utility` with the winning chance and the gammon shares given separately."""
    points = (1.0, 1.0)
    if doublers(state) != 0:
        found = _cash_points(shares, state, table)
        points = (found.own, found.opponent)
    return _value(chance, shares, state, table, efficiency, points, NO_LIFTS)


@kernel
def waiting_utility(
    chance: float, shares: GammonShares, state: CubeState, table: MatchTable, efficiency: float
) -> float:
    """Utility of the player on roll who does not double in this turn, whether he may or not."""
    points = (1.0, 1.0)
    if doublers(state) != 0:
        found = _cash_points(shares, state, table)
        points = (found.own, found.opponent)
    return _value(chance, shares, state, table, efficiency, points, waiting_lifts(state))


@kernel
def double_utilities(
    chance: float, shares: GammonShares, state: CubeState, table: MatchTable, efficiency: float
) -> tuple[float, float]:
    """Utility of waiting in a state in which a double is possible, and after a double and a take.

    The latter is the `position_utility` of the doubled state; one recursion serves both.
    """
    found = _cash_points(shares, state, table)
    points = (found.own, found.opponent)
    no_double = _value(chance, shares, state, table, efficiency, points, waiting_lifts(state))
    double_take = _value(
        chance,
        shares,
        doubled(state),
        table,
        efficiency,
        (found.own_doubled, found.opponent_doubled),
        NO_LIFTS,
    )
    return no_double, double_take


@kernel
def cubeful_utility(
    probabilities: Probabilities, state: CubeState, table: MatchTable, efficiency: float
) -> float:
    """Utility of the position with the cube as it is, nobody doubling right now.

    Args:
        probabilities: float[5], see above.
        state: Cube and score.
        table: Match equity table; not read in money play.
        efficiency: Cube efficiency, 0 (dead cube) to 1 (live cube).
    """
    shares = gammon_shares(probabilities)
    return position_utility(float(probabilities[0]), shares, state, table, efficiency)


@kernel
def cubeless_utility(probabilities: Probabilities, state: CubeState, table: MatchTable) -> float:
    """Utility if the cube stays where it is to the end; with Jacoby a centred cube kills gammons.

    The same as `cubeful_utility` with efficiency 0, except where an automatic redouble counts.
    """
    chance = float(probabilities[0])
    shares = gammon_shares(probabilities)
    if state.away_own > 0:
        stakes = match_stakes(shares, state, table, state.value)
        return 2.0 * (chance * stakes.win + (1.0 - chance) * stakes.lose) - 1.0
    return money_value(chance, shares, state, 0.0, (1.0, 1.0), NO_LIFTS)


@kernel
def passed_utility(state: CubeState, table: MatchTable) -> float:
    """Utility for the player on roll when the opponent passes his double now."""
    if state.away_own > 0:
        late = state.crawford or state.post_crawford
        own = state.away_own - state.value
        return 2.0 * match_chance(table, own, state.away_opponent, late) - 1.0
    return float(state.value)


@kernel
def doubled(state: CubeState) -> CubeState:
    """The state after a double and a take, still seen by the doubler."""
    return CubeState(
        2 * state.value,
        OPPOSING,
        state.away_own,
        state.away_opponent,
        state.crawford,
        state.post_crawford,
        state.jacoby,
        state.beavers,
        state.cap,
    )


@kernel
def turned(state: CubeState) -> CubeState:
    """The same state seen by the other player."""
    owner = state.owner
    if owner == OWNED:
        owner = OPPOSING
    elif owner == OPPOSING:
        owner = OWNED
    return CubeState(
        state.value,
        owner,
        state.away_opponent,
        state.away_own,
        state.crawford,
        state.post_crawford,
        state.jacoby,
        state.beavers,
        state.cap,
    )


@kernel
def normalised(utility: float, state: CubeState, table: MatchTable) -> float:
    """Equity on the current cube: -1 for a single loss, +1 for a single win at its value."""
    if state.away_own == 0:
        return utility / state.value
    late = state.crawford or state.post_crawford
    own = state.away_own
    opponent = state.away_opponent
    win = 2.0 * match_chance(table, own - state.value, opponent, late) - 1.0
    lose = 2.0 * match_chance(table, own, opponent - state.value, late) - 1.0
    return (2.0 * utility - win - lose) / (win - lose)


@kernel
def race_efficiency(pips: int) -> float:
    """Cube efficiency of a race by the pip count of the player on roll."""
    span = _RACE_MAX_PIPS - _RACE_MIN_PIPS
    share = min(1.0, max(0.0, (pips - _RACE_MIN_PIPS) / span))
    return _RACE_MIN_EFFICIENCY + share * (_RACE_MAX_EFFICIENCY - _RACE_MIN_EFFICIENCY)


@kernel
def cube_efficiency(points: NDArray[np.int8]) -> float:
    """Published cube efficiency of the position's class.

    Args:
        points: int8[26], backgammon, seen by the player on roll; read only.
    """
    rear_own = 0
    rear_opponent = 25
    pips = 0
    for point in range(26):
        if points[point] > 0:
            rear_own = point
            pips += point * int(points[point])
        elif points[point] < 0 and rear_opponent == 25:
            rear_opponent = point
    if rear_own > rear_opponent:
        return CONTACT_EFFICIENCY
    if rear_own <= 6 and rear_opponent >= 19:
        return BEAROFF_EFFICIENCY
    return race_efficiency(pips)
