"""Cube kernels against closed formulas, optimal stopping and GNU Backgammon's figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bgserver.engine.met import default_met
from bgserver.kernels import cube, cube_actions
from bgserver.kernels.cube import CENTERED, OPPOSING, OWNED
from bgserver.kernels.cube_live import FREE_DOUBLE_WAIT
from tests.kernels.cube_cases import (
    UNCAPPED,
    chances,
    match,
    money,
    recorded,
    recorded_state,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.cube import CubeState

    Chances = NDArray[np.float64]

TABLE = default_met().table
# The first example may have to compile the kernels.
patient = settings(deadline=None)
EFFICIENCIES = (0.0, 0.3, 0.68, 1.0)


def equity(probabilities: Chances, state: CubeState, efficiency: float) -> float:
    utility = cube.cubeful_utility(probabilities, state, TABLE, efficiency)
    return cube.normalised(utility, state, TABLE)


def critical(
    probabilities: Chances, state: CubeState, efficiency: float
) -> tuple[float, float, float, float]:
    shares = cube.gammon_shares(probabilities)
    return cube_actions.critical_points(shares, state, TABLE, efficiency)


# Money play against Janowski's closed formulas.


def test_dead_cube_is_taken_with_25_per_cent() -> None:
    take, double, cash, too_good = critical(chances(0.5), money(), 0.0)
    assert take == pytest.approx(0.25)
    assert double == pytest.approx(0.5)
    assert cash == pytest.approx(0.75)
    assert np.isnan(too_good)


def test_live_cube_is_taken_with_20_per_cent() -> None:
    take, double, cash, _ = critical(chances(0.5), money(), 1.0)
    assert take == pytest.approx(0.2)
    assert double == pytest.approx(0.8)
    assert cash == pytest.approx(0.8)


@pytest.mark.parametrize("efficiency", EFFICIENCIES)
@pytest.mark.parametrize("gammons", [(0.0, 0.0), (0.2, 0.1), (0.05, 0.3), (0.45, 0.4)])
def test_take_and_redouble_points_are_janowskis(
    efficiency: float, gammons: tuple[float, float]
) -> None:
    win_gammon, lose_gammon = gammons
    position = chances(0.5, win_gammon, 0.0, lose_gammon)
    win = (0.5 + win_gammon) / 0.5
    lose = (0.5 + lose_gammon) / 0.5
    span = win + lose + 0.5 * efficiency
    take, _, cash, _ = critical(position, money(), efficiency)
    assert take == pytest.approx((lose - 0.5) / span)
    assert cash == pytest.approx((lose + 0.5 + 0.5 * efficiency) / span)
    _, redouble, _, _ = critical(position, money(2, OWNED), efficiency)
    # Who waits has a larger share of the live value than who has doubled.
    lifted = efficiency + cube.waiting_lifts(money(2, OWNED))[0] * efficiency * (1 - efficiency)
    assert redouble == pytest.approx((lose + efficiency) / (win + lose + efficiency - lifted / 2))


@pytest.mark.parametrize("efficiency", EFFICIENCIES)
def test_cube_places_of_janowskis_general_model(efficiency: float) -> None:
    position = chances(0.45, 0.11, 0.01, 0.16, 0.02)
    win, lose = (0.45 + 0.12) / 0.45, (0.55 + 0.18) / 0.55
    owned = 0.45 * (win + lose + 0.5 * efficiency) - lose
    assert equity(position, money(2, OWNED), efficiency) == pytest.approx(owned)
    opposing = owned - 0.5 * efficiency
    assert equity(position, money(2, OPPOSING), efficiency) == pytest.approx(opposing)
    dead = 0.45 * (win + lose) - lose
    take = (lose - 0.5) / (win + lose + 0.5)
    cash = (lose + 1.0) / (win + lose + 0.5)
    centered = efficiency * (2 * (0.45 - take) / (cash - take) - 1) + (1 - efficiency) * dead
    assert equity(position, money(), efficiency) == pytest.approx(centered)


def test_pass_loses_one_cube() -> None:
    _, _, passed, _ = cube_actions.cube_utilities(chances(0.9), money(8, OWNED), TABLE, 0.68)
    assert passed == 8.0


def test_jacoby_makes_gammons_worthless_until_the_cube_is_turned() -> None:
    gammonish = chances(0.6, 0.4, 0.1, 0.2, 0.05)
    plain = chances(0.6)
    assert equity(gammonish, money(jacoby=True), 0.0) == equity(plain, money(jacoby=True), 0.0)
    # The cash points still move: a take brings the gammons to life.
    assert critical(gammonish, money(jacoby=True), 0.68)[2] < critical(plain, money(), 0.68)[2]
    owned = money(2, OWNED, jacoby=True)
    assert equity(gammonish, owned, 0.68) == equity(gammonish, money(2, OWNED), 0.68)


def test_with_jacoby_nobody_is_too_good() -> None:
    position = chances(0.99, 0.98)
    assert cube_actions.cube_action(position, money(), TABLE, 0.68) == cube_actions.TOO_GOOD_PASS
    with_jacoby = cube_actions.cube_action(position, money(jacoby=True), TABLE, 0.68)
    assert with_jacoby == cube_actions.DOUBLE_PASS


def test_cube_at_its_cap_is_dead() -> None:
    position = chances(0.7, 0.2, 0.01, 0.05)
    state = money(64, OWNED, cap=64)
    assert equity(position, state, 0.68) == pytest.approx(2 * 0.7 - 1 + 0.21 - 0.05)
    assert cube_actions.cube_action(position, state, TABLE, 0.68) == cube_actions.NO_CUBE
    # One turn below it the taker gets a dead cube: he needs 25 % even if cubes are fully live.
    assert critical(chances(0.5), money(32, OWNED, cap=64), 1.0)[2] == pytest.approx(0.75)


def test_cash_points_approach_the_uncapped_ones() -> None:
    uncapped = critical(chances(0.5, 0.1), money(), 1.0)[2]
    gaps = [
        abs(critical(chances(0.5, 0.1), money(cap=cap), 1.0)[2] - uncapped) for cap in (2, 4, 8, 64)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 2e-4


def test_beaver_is_turned_when_the_double_was_wrong() -> None:
    position = chances(0.45)
    no_double, beavered, _, beaver = cube_actions.cube_utilities(
        position, money(beavers=True), TABLE, 0.68
    )
    _, taken, _, plain = cube_actions.cube_utilities(position, money(), TABLE, 0.68)
    assert beaver
    assert not plain
    assert beavered == pytest.approx(2 * taken)
    assert no_double > beavered
    action = cube_actions.cube_action(position, money(beavers=True), TABLE, 0.68)
    assert action == cube_actions.NO_DOUBLE_BEAVER


def test_beaver_needs_room_below_the_cap() -> None:
    assert cube_actions.beaver_allowed(money(16, beavers=True, cap=64))
    assert not cube_actions.beaver_allowed(money(32, beavers=True, cap=64))
    assert not cube_actions.beaver_allowed(money(1))


def test_pass_take_and_beaver_follow_from_the_values() -> None:
    _, take, passed, _ = cube_actions.cube_utilities(chances(0.9), money(), TABLE, 0.68)
    assert take > passed
    _, take, passed, _ = cube_actions.cube_utilities(chances(0.7), money(), TABLE, 0.68)
    assert take < passed
    assert not cube_actions.cube_utilities(chances(0.4), money(), TABLE, 0.68)[3]
    assert cube_actions.cube_utilities(chances(0.4), money(beavers=True), TABLE, 0.68)[3]


# Match play.


def live_owned_oracle(
    state: CubeState, win_share: float, lose_share: float, grid: Chances
) -> Chances:
    """Live-cube values of an owned cube (own view) on `grid`, by optimal stopping.

    Between the decisions the winning chance is a continuous martingale, so the owner's value is
    the least concave majorant of what stopping (offering the cube) gives him; the opponent's is
    the same upside down. No take point is used anywhere.
    """
    late = state.crawford or state.post_crawford

    def outcome(own: int, opponent: int) -> float:
        return cube.match_chance(TABLE, own, opponent, late)

    def line(value: int) -> Chances:
        own, opponent = state.away_own, state.away_opponent
        win = (1 - win_share) * outcome(own - value, opponent)
        win += win_share * outcome(own - 2 * value, opponent)
        lose = (1 - lose_share) * outcome(own, opponent - value)
        lose += lose_share * outcome(own, opponent - 2 * value)
        return lose + (win - lose) * grid

    def majorant(values: Chances) -> Chances:
        hull = [0]
        for index in range(1, len(grid)):
            while len(hull) > 1:
                a, b = hull[-2], hull[-1]
                turn = (values[b] - values[a]) * (grid[index] - grid[a])
                if turn > (values[index] - values[a]) * (grid[b] - grid[a]):
                    break
                hull.pop()
            hull.append(index)
        return np.interp(grid, grid[hull], values[hull])

    def owned(value: int, mine: bool) -> Chances:
        dead = line(value)
        if value >= max(state.away_own, state.away_opponent):
            return dead
        taken = owned(2 * value, not mine)
        if mine:
            offered = np.minimum(taken, outcome(state.away_own - value, state.away_opponent))
            offered[0], offered[-1] = dead[0], max(dead[-1], offered[-1])
            return majorant(np.maximum(offered, dead[0]))
        offered = np.maximum(taken, outcome(state.away_own, state.away_opponent - value))
        offered[0], offered[-1] = min(dead[0], offered[0]), dead[-1]
        return -majorant(-np.minimum(offered, dead[-1]))

    return owned(state.value, state.owner == OWNED)


@pytest.mark.parametrize("owner", [OWNED, OPPOSING])
@pytest.mark.parametrize("value", [2, 4])
@pytest.mark.parametrize(
    "away", [(5, 5), (7, 3), (3, 7), (9, 4), (11, 11), (4, 13), (6, 2), (15, 9)]
)
@pytest.mark.parametrize("gammons", [(0.0, 0.0), (0.25, 0.2)])
def test_live_owned_cube_equals_optimal_stopping(
    owner: int, value: int, away: tuple[int, int], gammons: tuple[float, float]
) -> None:
    state = match(away[0], away[1], value, owner)
    grid = np.linspace(0.0, 1.0, 2001)
    expected = live_owned_oracle(state, gammons[0], gammons[1], grid)
    for index in range(20, 2000, 140):
        chance = grid[index]
        position = chances(chance, chance * gammons[0], 0.0, (1 - chance) * gammons[1])
        mwc = 0.5 * (cube.cubeful_utility(position, state, TABLE, 1.0) + 1.0)
        assert mwc == pytest.approx(expected[index], abs=1e-3)


def test_double_match_point_has_no_cube() -> None:
    position = chances(0.62, 0.3, 0.1, 0.1)
    assert cube.cubeful_utility(position, match(1, 1), TABLE, 0.68) == pytest.approx(0.24)
    assert cube_actions.cube_action(position, match(1, 1), TABLE, 0.68) == cube_actions.NO_CUBE


def test_two_away_two_away_doubles_at_the_edge_of_the_window() -> None:
    # Both players win the match on a cube at 2; a pass leaves 2-away/1-away Crawford: 32.264 %.
    take, double, cash, _ = critical(chances(0.6), match(2, 2), 0.68)
    assert cash == pytest.approx(1 - 0.32264, abs=1e-9)
    assert take == pytest.approx(0.32264, abs=1e-9)
    assert double == pytest.approx(0.5, abs=1e-9)
    action = cube_actions.cube_action(chances(0.6), match(2, 2), TABLE, 0.68)
    assert action == cube_actions.DOUBLE_TAKE


def test_no_cube_in_the_crawford_game() -> None:
    position = chances(0.7, 0.2, 0.0, 0.1)
    for state in (match(1, 5, crawford=True), match(5, 1, crawford=True)):
        cubeless = cube.cubeless_utility(position, state, TABLE)
        assert cube.cubeful_utility(position, state, TABLE, 0.68) == cubeless
        assert cube_actions.cube_action(position, state, TABLE, 0.68) == cube_actions.NO_CUBE


def test_post_crawford_trailer_doubles_whenever_it_can_be_taken() -> None:
    for chance in (0.05, 0.3, 0.5, 0.6):
        action = cube_actions.cube_action(chances(chance), match(4, 1), TABLE, 0.68)
        assert action == cube_actions.DOUBLE_TAKE
    assert critical(chances(0.5), match(4, 1), 0.68)[1] == 0.0
    leader = cube_actions.cube_action(chances(0.5), match(1, 4), TABLE, 0.68)
    assert leader == cube_actions.NO_CUBE


def test_post_crawford_leader_values_the_automatic_double() -> None:
    position = chances(0.5)
    state = match(1, 4)
    alive = cube.cubeful_utility(position, state, TABLE, 0.68)
    on_two = cube.cubeless_utility(position, match(1, 4, 2, OPPOSING), TABLE)
    on_one = cube.cubeless_utility(position, state, TABLE)
    assert on_two < alive < on_one
    # The trailer passes half a take point: 0.5 of the cash point that he has as a doubler.
    trailer = cube_actions.cash_point(cube.gammon_shares(position), match(4, 1), TABLE, 1.0)
    share = 1 - FREE_DOUBLE_WAIT * min(1.0, 0.5 / trailer)
    assert alive == pytest.approx(share * on_two + (1 - share) * on_one)


def test_a_cube_that_wins_the_match_is_dead_for_its_owner() -> None:
    assert not cube.may_double(match(2, 6, 2, OWNED))
    assert cube.may_double(match(3, 6, 2, OWNED))


def test_match_play_far_from_the_end_tends_to_money_play() -> None:
    position = chances(0.6, 0.15, 0.01, 0.1)
    table = default_met(512).table
    state = match(400, 400, cap=64)
    utility = cube.cubeful_utility(position, state, table, 0.68)
    far = cube.normalised(utility, state, table)
    assert far == pytest.approx(equity(position, money(cap=64), 0.68), abs=5e-3)


# Properties.


def states() -> st.SearchStrategy[CubeState]:
    """Any money or match state."""
    owners = st.sampled_from((CENTERED, OWNED, OPPOSING))
    away = st.integers(2, 15)

    def build(
        owner: int,
        exponent: int,
        is_match: bool,
        own: int,
        opponent: int,
        jacoby: bool,
        cap: int,
    ) -> CubeState:
        value = 1 if owner == CENTERED else 1 << max(1, exponent)
        if is_match:
            return match(own, opponent, value, owner, cap=max(cap, value))
        return money(value, owner, jacoby=jacoby, cap=max(cap, value))

    return st.builds(
        build,
        owners,
        st.integers(1, 4),
        st.booleans(),
        away | st.just(1),
        away,
        st.booleans(),
        st.sampled_from((4, 64, UNCAPPED)),
    )


@st.composite
def gammon_splits(draw: st.DrawFn) -> tuple[float, float, float, float]:
    shares = [draw(st.floats(0, 0.6)) for _ in range(2)]
    backgammons = [draw(st.floats(0, 0.2)) for _ in range(2)]
    return shares[0], shares[0] * backgammons[0], shares[1], shares[1] * backgammons[1]


def split(chance: float, shares: tuple[float, ...]) -> Chances:
    loss = 1.0 - chance
    return chances(
        chance, chance * shares[0], chance * shares[1], loss * shares[2], loss * shares[3]
    )


@patient
@given(states(), gammon_splits(), st.sampled_from(EFFICIENCIES))
def test_value_rises_with_the_winning_chance_without_jumps(
    state: CubeState, shares: tuple[float, ...], efficiency: float
) -> None:
    grid = np.linspace(0, 1, 201)
    values = [
        cube.cubeful_utility(split(chance, shares), state, TABLE, efficiency) for chance in grid
    ]
    steps = np.diff(values)
    assert (steps >= -1e-12).all()
    scale = 1.0 if state.away_own else 3.0 * state.value
    # Live lines get steep where the window is narrow, but never jump.
    assert steps.max() <= 0.2 * scale


@patient
@given(states(), gammon_splits(), st.floats(0, 1), st.sampled_from(EFFICIENCIES))
def test_turning_the_view_changes_the_sign(
    state: CubeState, shares: tuple[float, ...], chance: float, efficiency: float
) -> None:
    position = split(chance, shares)
    turned_position = split(1.0 - chance, (shares[2], shares[3], shares[0], shares[1]))
    value = cube.cubeful_utility(position, state, TABLE, efficiency)
    other = cube.cubeful_utility(turned_position, cube.turned(state), TABLE, efficiency)
    assert other == pytest.approx(-value, abs=1e-9 * state.value)


@patient
@given(gammon_splits(), st.floats(0, 1), st.sampled_from(EFFICIENCIES))
def test_owning_the_cube_is_never_worse(
    shares: tuple[float, ...], chance: float, efficiency: float
) -> None:
    position = split(chance, shares)
    own, centered, opposing = (
        cube.cubeful_utility(position, money(2, owner), TABLE, efficiency)
        for owner in (OWNED, CENTERED, OPPOSING)
    )
    assert own >= centered - 1e-9
    assert centered >= opposing - 1e-9


@patient
@given(
    st.integers(2, 12),
    st.integers(2, 12),
    st.floats(0, 0.15),
    st.floats(0, 1),
    st.sampled_from(EFFICIENCIES),
)
def test_owning_the_cube_is_never_worse_in_a_match(
    own: int, opponent: int, share: float, chance: float, efficiency: float
) -> None:
    # With many gammons the fixed corners of the live value can break this by a little.
    position = split(chance, (share, 0.0, share, 0.0))
    values = [
        cube.cubeful_utility(position, match(own, opponent, 1, owner), TABLE, efficiency)
        for owner in (OWNED, CENTERED, OPPOSING)
    ]
    assert values[0] >= values[1] - 1e-9
    assert values[1] >= values[2] - 1e-9


@patient
@given(states(), gammon_splits(), st.floats(0, 1), st.sampled_from(EFFICIENCIES))
def test_waiting_has_a_larger_share_of_the_live_value(
    state: CubeState, shares: tuple[float, ...], chance: float, efficiency: float
) -> None:
    position = split(chance, shares)
    dead, plain, live = (
        cube.cubeful_utility(position, state, TABLE, share) for share in (0.0, efficiency, 1.0)
    )
    split_shares = cube.gammon_shares(position)
    waiting = cube.waiting_utility(position[0], split_shares, state, TABLE, efficiency)
    low, high = sorted((plain, live))
    assert low - 1e-9 * state.value <= waiting <= high + 1e-9 * state.value
    if efficiency in (0.0, 1.0) or (live < dead and chance > 0.45):
        assert waiting == pytest.approx(plain, abs=1e-9 * state.value)


@patient
@given(states(), gammon_splits(), st.floats(0, 1))
def test_action_agrees_with_the_values(
    state: CubeState, shares: tuple[float, ...], chance: float
) -> None:
    position = split(chance, shares)
    action = cube_actions.cube_action(position, state, TABLE, 0.68)
    if not cube.may_double(state):
        assert action == cube_actions.NO_CUBE
        worth = cube_actions.turn_utility(position, state, TABLE, 0.68)
        waiting = cube.waiting_utility(
            position[0], cube.gammon_shares(position), state, TABLE, 0.68
        )
        assert worth == waiting
        return
    values = cube_actions.cube_utilities(position, state, TABLE, 0.68)
    no_double, take, passed = values[:3]
    assert cube_actions.is_double(action) == (min(take, passed) >= no_double)
    worth = cube_actions.turn_utility(position, state, TABLE, 0.68)
    assert worth == max(no_double, min(take, passed))
    passes = action in {cube_actions.DOUBLE_PASS, cube_actions.TOO_GOOD_PASS}
    assert passes == (take >= passed)


@patient
@given(gammon_splits(), st.sampled_from([match(5, 7), match(4, 3, 2, OWNED), money()]))
def test_critical_points_are_ordered(shares: tuple[float, ...], state: CubeState) -> None:
    take, double, cash, too_good = critical(split(0.5, shares), state, 0.68)
    if state.owner == CENTERED:
        assert 0 <= take < cash
    if not np.isnan(double):
        assert double <= cash + 1e-9
    if not np.isnan(too_good) and not np.isnan(double):
        assert too_good >= cash - 1e-9


# GNU Backgammon 0-ply uses the same formulas.


def test_equities_equal_gnu_backgammons() -> None:
    kinds = {"equal": 0, "free": 0, "two": 0}
    for decision in recorded("gnubg_0ply.json"):
        state = recorded_state(decision)
        position = chances(*decision["probabilities"])
        efficiency = cube.cube_efficiency(np.array(decision["points"], dtype=np.int8))
        _, take, passed, beaver = cube_actions.cube_utilities(position, state, TABLE, efficiency)
        stay = cube.cubeful_utility(position, state, TABLE, efficiency)
        ours = [cube.normalised(value, state, TABLE) for value in (stay, take, passed)]
        if beaver:  # GNU Backgammon shows the equity of the plain take
            ours[1] /= 2.0
        assert ours[2] == pytest.approx(decision["equities"][2], abs=2e-5)
        for index, after in enumerate((state, cube.doubled(state))):
            expected = decision["equities"][index]
            dead = cube.normalised(cube.cubeless_utility(position, after, TABLE), state, TABLE)
            if is_free_double(after):
                # We give the automatic double nearly all of the live value, GNU Backgammon the
                # ordinary efficiency.
                live = (ours[index] - dead) / free_double_share(position, after)
                assert dead + efficiency * live == pytest.approx(expected, abs=2e-5)
                kinds["free"] += 1
            elif index == 0 and (state.away_own, state.away_opponent) == (2, 2):
                # GNU Backgammon takes the centred cube for dead here.
                assert dead == pytest.approx(expected, abs=2e-5)
                kinds["two"] += 1
            else:
                assert ours[index] == pytest.approx(expected, abs=2e-5)
                kinds["equal"] += 1
    assert kinds["equal"] > 300
    assert kinds["free"] > 20
    assert kinds["two"] > 2


def free_double_share(position: Chances, state: CubeState) -> float:
    """Share of the live value where the next double of one player costs him nothing."""
    chance, shares = position[0], cube.gammon_shares(position)
    if not cube.doublers(state) & 1 or state.away_opponent > state.value:
        chance, state = 1.0 - chance, cube.turned(state)
        shares = cube.GammonShares(*shares[2:], *shares[:2])
    cash = cube_actions.cash_point(shares, state, TABLE, 1.0)
    return float(1 - FREE_DOUBLE_WAIT * min(1.0, chance / cash))


def is_free_double(state: CubeState) -> bool:
    """One player can double and loses the match with this game anyway."""
    able = cube.doublers(state)
    own = able & 1 and 0 < state.away_opponent <= state.value
    return bool(own or (able & 2 and 0 < state.away_own <= state.value))


def test_automatic_doubles_come_nearer_to_a_deeper_search() -> None:
    ours, gnu = [], []
    for decision in recorded("gnubg_2ply_free_doubles.json"):
        state = recorded_state(decision)
        position = chances(*decision["probabilities"])
        after = cube.doubled(state)
        for index, reached in enumerate((state, after)):
            if (index == 1 and not cube.may_double(state)) or not is_free_double(reached):
                continue
            utility = cube.cubeful_utility(position, reached, TABLE, 0.68)
            deep = decision["deep"][index]
            ours.append(abs(cube.normalised(utility, state, TABLE) - deep))
            gnu.append(abs(decision["equities"][index] - deep))
    assert len(ours) > 80
    assert np.mean(ours) < 0.7 * np.mean(gnu)


# Cube efficiency.


def test_efficiency_by_class() -> None:
    start = np.array(
        [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0], np.int8
    )
    assert cube.cube_efficiency(start) == 0.68
    bear_off = np.zeros(26, np.int8)
    bear_off[[3, 20]] = (4, -4)
    assert cube.cube_efficiency(bear_off) == 0.6
    on_the_bar = bear_off.copy()
    on_the_bar[0] = -1
    assert cube.cube_efficiency(on_the_bar) == 0.68


@pytest.mark.parametrize(
    ("pips", "efficiency"), [(10, 0.6), (40, 0.6), (80, 0.65), (120, 0.7), (160, 0.7)]
)
def test_race_efficiency_is_linear_in_pips(pips: int, efficiency: float) -> None:
    assert cube.race_efficiency(pips) == pytest.approx(efficiency)
