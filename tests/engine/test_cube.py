"""Cube advice: legality, actions of both players, beavers and what is refused."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.cube import (
    BeaverAnswer,
    CubeAction,
    CubeUtilities,
    TakeAction,
    advise_beaver,
    advise_cube,
    position_efficiency,
)
from bgserver.engine.cube_rules import RaccoonOwner
from bgserver.engine.errors import InvalidInputError, WrongMomentError
from bgserver.engine.met import MatchEquityTable, default_met
from bgserver.engine.position import (
    Cube,
    CubeOwner,
    Dice,
    GamePhase,
    GameState,
    MatchScore,
    Position,
    Resignation,
    Variant,
)

if TYPE_CHECKING:
    from collections.abc import Callable

EVEN = (0.5, 0.13, 0.005, 0.13, 0.005)
STRONG = (0.7, 0.15, 0.01, 0.05, 0.0)
CRUSHING = (0.85, 0.1, 0.0, 0.02, 0.0)
SLIGHTLY_BEHIND = (0.46, 0.1, 0.0, 0.12, 0.0)
GAMMONISH = (0.9, 0.75, 0.05, 0.01, 0.0)
BEHIND = (0.35, 0.08, 0.0, 0.2, 0.01)

OWN_TWO = Cube(2, CubeOwner.ON_ROLL)
THEIR_TWO = Cube(2, CubeOwner.OPPONENT)


def chances(win: float) -> tuple[float, ...]:
    return (win, 0.0, 0.0, 0.0, 0.0)


def faults_of(call: Callable[[], object]) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInputError) as caught:
        call()
    return [(fault.field, fault.reason) for fault in caught.value.faults]


# Actions.


@pytest.mark.parametrize(
    ("probabilities", "state", "action", "text", "response"),
    [
        (EVEN, GameState(), CubeAction.NO_DOUBLE_TAKE, "no double/take", TakeAction.TAKE),
        (STRONG, GameState(), CubeAction.DOUBLE_TAKE, "double/take", TakeAction.TAKE),
        (CRUSHING, GameState(), CubeAction.DOUBLE_PASS, "double/pass", TakeAction.PASS),
        (
            GAMMONISH,
            GameState(),
            CubeAction.TOO_GOOD_PASS,
            "too good to double/pass",
            TakeAction.PASS,
        ),
        (
            GAMMONISH,
            GameState(jacoby=True),
            CubeAction.DOUBLE_PASS,
            "double/pass",
            TakeAction.PASS,
        ),
        (
            EVEN,
            GameState(cube=OWN_TWO),
            CubeAction.NO_DOUBLE_TAKE,
            "no redouble/take",
            TakeAction.TAKE,
        ),
        (
            CRUSHING,
            GameState(cube=OWN_TWO),
            CubeAction.DOUBLE_PASS,
            "redouble/pass",
            TakeAction.PASS,
        ),
        (
            GAMMONISH,
            GameState(cube=OWN_TWO),
            CubeAction.TOO_GOOD_PASS,
            "too good to redouble/pass",
            TakeAction.PASS,
        ),
        (
            BEHIND,
            GameState(beavers=True),
            CubeAction.NO_DOUBLE_BEAVER,
            "no double/beaver",
            TakeAction.BEAVER,
        ),
        (
            EVEN,
            GameState(cube=THEIR_TWO),
            CubeAction.NOT_ALLOWED,
            "double not allowed",
            None,
        ),
    ],
)
def test_best_actions_of_both_players(
    probabilities: tuple[float, ...],
    state: GameState,
    action: CubeAction,
    text: str,
    response: TakeAction | None,
) -> None:
    advice = advise_cube(probabilities, state)
    assert (advice.action, advice.text, advice.response) == (action, text, response)


def test_money_values_are_equities_on_the_cube() -> None:
    advice = advise_cube(STRONG, GameState())
    assert advice.double_pass is not None
    assert advice.double_take is not None
    assert advice.double_pass.equity == 1.0
    assert advice.double_pass.mwc is None
    assert advice.no_double.equity < advice.double_take.equity < 1.0
    assert advice.cubeless_equity == pytest.approx(2 * 0.7 - 1 + 0.15 + 0.01 - 0.05)
    assert advice.cubeless.equity == pytest.approx(advice.cubeless_equity)
    assert advice.best is advice.double_take
    assert advice.refusals == ()
    owned = advise_cube(STRONG, GameState(cube=OWN_TWO))
    higher = advise_cube(STRONG, GameState(cube=Cube(4, CubeOwner.ON_ROLL, cap=128)))
    assert higher.no_double.equity == pytest.approx(owned.no_double.equity)


def test_match_values_are_normalised_and_given_as_winning_chances() -> None:
    advice = advise_cube(STRONG, GameState(match=MatchScore(7, 2, 3)))
    met = default_met()
    assert advice.double_pass is not None
    assert advice.double_pass.equity == pytest.approx(1.0)
    assert advice.double_pass.mwc == pytest.approx(met.mwc(4, 4))
    win, lose = met.mwc(4, 4), met.mwc(5, 3)
    mwc = advice.no_double.mwc
    assert mwc is not None
    assert advice.no_double.equity == pytest.approx((2 * mwc - win - lose) / (win - lose))


def test_dead_jacoby_cube_counts_no_gammons_until_turned() -> None:
    advice = advise_cube(STRONG, GameState(jacoby=True))
    assert advice.cubeless.equity == pytest.approx(0.4)
    assert advice.cubeless_equity == pytest.approx(0.51)
    assert advice.gammons.own_value == 0.0
    assert advice.gammons.own_value_doubled == 0.5


def test_optional_double_where_the_difference_cannot_be_seen() -> None:
    double_point = advise_cube(STRONG, GameState()).window.double_point
    assert double_point is not None
    # The same gammon shares as STRONG at its double point.
    scale, rest = double_point / 0.7, (1 - double_point) / 0.3
    at_point = (double_point, 0.15 * scale, 0.01 * scale, 0.05 * rest, 0.0)
    advice = advise_cube(at_point, GameState())
    assert advice.action is CubeAction.OPTIONAL_DOUBLE_TAKE
    assert advice.action.doubles
    redouble = advise_cube(chances(1.0), GameState(cube=OWN_TWO))
    assert redouble.action is CubeAction.OPTIONAL_DOUBLE_PASS
    assert redouble.text == "optional redouble/pass"


def test_deeper_values_take_the_place_of_the_static_ones() -> None:
    deeper = CubeUtilities(no_double=0.9, double_take=0.5)
    advice = advise_cube(STRONG, GameState(), utilities=deeper)
    assert advice.action is CubeAction.NO_DOUBLE_TAKE
    assert advice.no_double.equity == 0.9
    too_good = CubeUtilities(no_double=1.1, double_take=0.95)
    assert advise_cube(STRONG, GameState(), utilities=too_good).action is CubeAction.TOO_GOOD_TAKE


def test_efficiency_comes_from_the_position_unless_given() -> None:
    race = Position((0, 0, 0, 0, 4, 5, 6, *([0] * 12), -5, -5, -5, *([0] * 4)))
    assert position_efficiency(Position.start()) == 0.68
    assert position_efficiency(race) == 0.6
    assert advise_cube(EVEN, GameState(position=race)).efficiency == 0.6
    assert advise_cube(EVEN, GameState(), efficiency=0.5).efficiency == 0.5


def test_window_in_money_play_without_gammons() -> None:
    window = advise_cube(chances(0.6), GameState(cube=Cube(cap=1 << 20))).window
    assert window.own_take_point == pytest.approx(0.5 / 2.34)
    assert window.opponent_take_point == pytest.approx(0.5 / 2.34)
    assert window.cash_point == pytest.approx(1 - 0.5 / 2.34)
    assert window.dead_cash_point == pytest.approx(0.75)
    assert window.live_cash_point == pytest.approx(0.8)
    assert window.too_good_point is None
    opposing = advise_cube(chances(0.6), GameState(cube=THEIR_TWO)).window
    assert opposing.cash_point is None
    assert opposing.opponent_take_point is None
    assert opposing.own_take_point is not None


def test_gammon_values_at_match_scores() -> None:
    # 2-away on a centred cube: a gammon wins the match.
    gammons = advise_cube(EVEN, GameState(match=MatchScore(7, 5, 3))).gammons
    met = default_met()
    win, lose = met.mwc(1, 4), met.mwc(2, 3)
    assert gammons.own_value == pytest.approx((1 - win) / (win - lose))
    assert gammons.own_value_doubled == 0.0
    assert gammons.own_rate == pytest.approx(0.26)
    # Leading at match point, an own gammon is worth nothing.
    crawford = advise_cube(EVEN, GameState(match=MatchScore(7, 6, 3, crawford=True))).gammons
    assert crawford.own_value == 0.0
    assert crawford.own_value_doubled is None
    assert crawford.opponent_value > 0.4


# Match scores.


def test_crawford_game_has_no_double() -> None:
    advice = advise_cube(STRONG, GameState(match=MatchScore(7, 3, 6, crawford=True)))
    assert advice.refusals == ("CRAWFORD_GAME",)
    assert advice.action is CubeAction.NOT_ALLOWED
    assert advice.double_take is None
    assert advice.no_double == advice.cubeless


def test_one_point_match_has_no_double() -> None:
    advice = advise_cube(STRONG, GameState(match=MatchScore(1)))
    assert advice.refusals == ("ONE_POINT_MATCH",)
    assert advice.no_double.mwc == pytest.approx(0.7)


def test_a_dead_cube_may_be_turned_but_is_not() -> None:
    # rules 4.7: legal, though it can gain nothing.
    leader = advise_cube(STRONG, GameState(cube=OWN_TWO, match=MatchScore(7, 5, 2)))
    assert leader.is_dead
    assert leader.refusals == ()
    assert leader.action is CubeAction.NO_DOUBLE_TAKE
    assert leader.text == "no redouble/take"
    even = advise_cube(EVEN, GameState(match=MatchScore(5, 4, 4)))
    assert even.is_dead
    assert even.action is CubeAction.NO_DOUBLE_TAKE


def test_post_crawford_trailer_doubles_at_once() -> None:
    advice = advise_cube(EVEN, GameState(match=MatchScore(7, 3, 6)))
    assert advice.action is CubeAction.DOUBLE_TAKE
    assert advice.window.double_point == 0.0
    # At 2-away the leader has a free drop as soon as he is behind.
    free_drop = advise_cube(chances(0.52), GameState(match=MatchScore(7, 5, 6)))
    assert free_drop.response is TakeAction.PASS


def test_gammons_at_a_gammon_go_score_make_a_player_too_good() -> None:
    state = GameState(match=MatchScore(5, 3, 2))
    strong = (0.75, 0.4, 0.01, 0.03, 0.0)
    assert advise_cube(strong, state).action is CubeAction.TOO_GOOD_PASS


def test_long_matches_use_an_extended_table() -> None:
    advice = advise_cube(STRONG, GameState(match=MatchScore(200, 10, 20)))
    assert advice.action is CubeAction.DOUBLE_TAKE
    short = MatchEquityTable.from_figures("short", [[0.5]], [0.5], length=5)
    assert advise_cube(STRONG, GameState(match=MatchScore(7)), met=short).no_double.mwc is not None


# Beavers and raccoons.


def test_beaver_quadruples_the_stake() -> None:
    advice = advise_cube(SLIGHTLY_BEHIND, GameState(beavers=True))
    assert advice.double_beaver is not None
    assert advice.double_take is not None
    assert advice.double_beaver.equity == pytest.approx(2 * advice.double_take.equity, rel=0.02)
    assert advice.beaver_answer is BeaverAnswer.PLAY_ON
    assert advise_cube(BEHIND, GameState()).double_beaver is None


def test_hopeless_beaver_is_dropped_where_that_is_allowed() -> None:
    hopeless = (0.05, 0.0, 0.0, 0.4, 0.0)
    advice = advise_cube(hopeless, GameState(beavers=True))
    assert advice.beaver_answer is BeaverAnswer.DROP
    assert advice.double_beaver is not None
    assert advice.double_beaver.equity == -2.0
    kept = advise_cube(hopeless, GameState(beavers=True), beaver_may_be_dropped=False)
    assert kept.beaver_answer is BeaverAnswer.PLAY_ON


def test_double_and_beaver_can_both_be_right_with_jacoby() -> None:
    # Doubling brings the own gammons to life although the taker is the favourite with the cube.
    deeper = CubeUtilities(no_double=-0.2, double_take=-0.05, double_beaver=-0.1)
    advice = advise_cube(EVEN, GameState(jacoby=True, beavers=True), utilities=deeper)
    assert advice.action is CubeAction.DOUBLE_BEAVER
    assert advice.response is TakeAction.BEAVER
    assert advice.best is advice.double_beaver


def test_raccoon_answers_a_wrong_beaver() -> None:
    state = GameState(beavers=True)
    advice = advise_cube(STRONG, state, raccoons=True, raccoon_owner=RaccoonOwner.BEAVERER)
    assert advice.beaver_answer is BeaverAnswer.RACCOON
    assert advice.response is TakeAction.TAKE
    without = advise_cube(STRONG, state)
    assert without.beaver_answer is BeaverAnswer.PLAY_ON
    owner = advise_cube(STRONG, state, raccoons=True, raccoon_owner=RaccoonOwner.RACCOONER)
    assert owner.double_beaver is not None
    assert advice.double_beaver is not None
    assert owner.double_beaver.equity >= advice.double_beaver.equity


def test_values_of_a_deeper_search_stand_in_for_the_static_ones() -> None:
    """The beaver would be wrong by the search, for the raccoon gains."""
    state = GameState(beavers=True)
    found = CubeUtilities(0.1, 0.3, 0.25, 1.5)
    advice = advise_cube(
        EVEN, state, raccoons=True, raccoon_owner=RaccoonOwner.BEAVERER, utilities=found
    )
    assert advice.no_double.equity == pytest.approx(0.1)
    assert advice.double_take is not None
    assert advice.double_take.equity == pytest.approx(0.3)
    assert advice.double_beaver is not None
    assert advice.double_beaver.equity == pytest.approx(1.5)
    assert advice.beaver_answer is BeaverAnswer.RACCOON
    assert advice.response is TakeAction.TAKE


def test_no_beaver_and_no_raccoon_above_the_cap() -> None:
    at_32 = GameState(cube=Cube(32, CubeOwner.ON_ROLL), beavers=True)
    assert advise_cube(BEHIND, at_32).double_beaver is None
    at_16 = GameState(cube=Cube(16, CubeOwner.ON_ROLL), beavers=True)
    advice = advise_cube(STRONG, at_16, raccoons=True, raccoon_owner=RaccoonOwner.BEAVERER)
    assert advice.beaver_answer is BeaverAnswer.PLAY_ON


def offered(level: int, value: int) -> GameState:
    cube = Cube(value, CubeOwner.OPPONENT)
    return GameState(cube=cube, beavers=True, double_offered=True, beaver_level=level)


def test_answers_to_a_beaver() -> None:
    assert advise_beaver(SLIGHTLY_BEHIND, offered(1, 2)).answer is BeaverAnswer.PLAY_ON
    hopeless = advise_beaver((0.05, 0.0, 0.0, 0.4, 0.0), offered(1, 2))
    assert hopeless.answer is BeaverAnswer.DROP
    assert hopeless.drop == -1.0
    wrong = advise_beaver(
        STRONG, offered(1, 2), raccoons=True, raccoon_owner=RaccoonOwner.RACCOONER
    )
    assert wrong.answer is BeaverAnswer.RACCOON
    assert wrong.raccoon is not None
    assert wrong.raccoon > wrong.play_on


def test_answers_to_a_raccoon() -> None:
    answer = advise_beaver(CRUSHING, offered(2, 4), raccoon_owner=RaccoonOwner.RACCOONER)
    assert answer.answer is BeaverAnswer.DROP
    assert answer.drop == 1.0
    even = advise_beaver(EVEN, offered(2, 4), raccoon_owner=RaccoonOwner.RACCOONER)
    assert even.answer is BeaverAnswer.PLAY_ON
    assert ("raccoon_owner", "RACCOON_OWNER_REQUIRED") in faults_of(
        lambda: advise_beaver(EVEN, offered(2, 4))
    )


def test_beavers_and_doubles_are_asked_about_separately() -> None:
    with pytest.raises(WrongMomentError) as caught:
        advise_cube(EVEN, offered(1, 2))
    assert caught.value.reason == "OFFER_PENDING"
    with pytest.raises(WrongMomentError) as caught:
        advise_beaver(EVEN, GameState(beavers=True))
    assert caught.value.reason == "NO_OFFER"


# Offers, rolls and finished games.


def test_after_the_roll_the_values_remain() -> None:
    advice = advise_cube(STRONG, GameState(dice=Dice(3, 1)))
    assert advice.action is CubeAction.NOT_ALLOWED
    assert advice.double_take is not None


def test_a_resignation_is_answered_before_anybody_doubles() -> None:
    advice = advise_cube(STRONG, GameState(resignation=Resignation.SINGLE))
    assert advice.action is CubeAction.NOT_ALLOWED
    assert advice.refusals == ("OFFER_PENDING",)
    assert advice.double_take is not None
    both = GameState(resignation=Resignation.SINGLE, double_offered=True)
    assert advise_cube(STRONG, both).action is CubeAction.DOUBLE_TAKE


def test_a_pending_double_is_judged_for_both() -> None:
    advice = advise_cube(STRONG, GameState(double_offered=True))
    assert advice.action is CubeAction.DOUBLE_TAKE
    assert advice.response is TakeAction.TAKE
    assert advice.refusals == ("OFFER_PENDING",)


def test_finished_games_have_no_cube_decision() -> None:
    finished = Position((0, 0, 0, 5, *([0] * 22)))
    for state in (GameState(position=finished), GameState(phase=GamePhase.RESIGNED)):
        with pytest.raises(WrongMomentError) as caught:
            advise_cube(EVEN, state)
        assert caught.value.reason == "GAME_OVER"


# Input that is refused.


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ((0.5, 0.1), [("probabilities", "WRONG_LENGTH")]),
        ((1.5, 0.0, 0.0, 0.0, 0.0), [("probabilities[0]", "PROBABILITY_OUT_OF_RANGE")]),
        (
            (0.5, float("nan"), -0.1, 0.0, float("inf")),
            [(f"probabilities[{index}]", "PROBABILITY_OUT_OF_RANGE") for index in (1, 2, 4)],
        ),
        (
            (0.5, 0.6, 0.0, 0.51, 0.52),
            [(f"probabilities[{index}]", "PROBABILITIES_NOT_ORDERED") for index in (1, 3, 4)],
        ),
    ],
)
def test_impossible_probabilities_are_named(
    probabilities: tuple[float, ...], expected: list[tuple[str, str]]
) -> None:
    assert faults_of(lambda: advise_cube(probabilities, GameState())) == expected


def test_all_faults_are_named_at_once() -> None:
    state = GameState(
        position=Position.start(Variant.LONG_NARDY), cube=Cube(3), match=MatchScore(5, 7)
    )
    assert faults_of(lambda: advise_cube((2.0, 0, 0, 0, 0), state, efficiency=1.2)) == [
        ("probabilities[0]", "PROBABILITY_OUT_OF_RANGE"),
        ("efficiency", "EFFICIENCY_OUT_OF_RANGE"),
        ("cube.value", "CUBE_VALUE_NOT_POWER_OF_TWO"),
        ("match.on_roll", "SCORE_NOT_BELOW_LENGTH"),
        ("position.variant", "CUBE_NOT_IN_VARIANT"),
    ]


def test_rounding_of_float32_is_no_fault() -> None:
    network = np.array([0.6, 0.60001, 0.60002, 0.40001, 0.0], dtype=np.float32)
    advice = advise_cube(network, GameState())
    assert advice.gammons.own_rate == pytest.approx(1.0)
    assert all(
        np.isfinite(value.equity)
        for value in (advice.no_double, advice.double_take, advice.double_pass)
        if value is not None
    )


@pytest.mark.parametrize("win", [0.0, 1.0])
def test_decided_positions_have_finite_values(win: float) -> None:
    for match in (None, MatchScore(7, 2, 4), MatchScore(7, 6, 4), MatchScore(3)):
        advice = advise_cube(chances(win), GameState(match=match))
        for value in (advice.no_double, advice.cubeless):
            assert np.isfinite(value.equity)


def test_advice_is_the_same_for_every_call() -> None:
    state = GameState(match=MatchScore(9, 3, 5))
    first = advise_cube(STRONG, state)
    assert dataclasses.asdict(first) == dataclasses.asdict(advise_cube(STRONG, state))
