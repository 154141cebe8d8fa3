"""Steps, undo, confirmation, forfeits and the end of a game (2.4-2.28, 3.1-3.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bgserver.engine.errors import InvalidInputError, WrongMomentError
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Position, Resignation, Variant
from bgserver.games import actions as act
from bgserver.games import events as ev
from bgserver.games.actions import ActionKind, StepOrder
from bgserver.games.events import By, EndReason
from bgserver.games.state import Stage, TableState, apply
from bgserver.games.table import decide, legal_actions
from bgserver.games.turn import only_rest, rest_to
from tests import naive
from tests.games.desk import FIRST, SECOND, Desk, GivenDice, board, names, results_left
from tests.games.test_random_games import RandomTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bgserver.engine.plays import Step

_START = Position.start().points
_ONE_WAY = board({1: 2, 2: 10, 11: 1, 16: 2}, {4: 1, 8: 1, 10: 2, 13: 1, 23: 5, 24: 5})
_HIGHER = board({2: 7, 3: 7, 19: 1}, {7: 4, 11: 4, 12: 5, 17: 2})


def _moving(points: list[int], dice: tuple[int, int], **settings: Any) -> Desk:
    """FIRST plays `dice` on a board."""
    desk = Desk("classic", **settings)
    desk.to_roll(points)
    desk.dice = GivenDice([dice])
    desk.do(FIRST, act.Roll())
    return desk


# --- steps ---------------------------------------------------------------------------------------


def test_2_13_steps_one_by_one() -> None:
    desk = Desk("classic", [(6, 1)])
    desk.step(13, 7)
    assert desk.state.position.points[7] == 1
    assert desk.refuses(FIRST, act.MakeStep(13, 7)) == "NO_SUCH_DIE", "the six is used"
    desk.step(8, 7)
    assert desk.state.position.points[7] == 2
    assert desk.legal(FIRST).steps == ()
    assert ActionKind.STEP not in desk.legal(FIRST).actions
    assert desk.refuses(SECOND, act.Roll()) == "NOT_YOUR_TURN", "2.25: done confirms"
    desk.turn(act.Confirm())
    assert desk.state.turn is SECOND
    assert desk.state.position.points[18] == -2
    desk.check()


# Own 24 runs 3 or 5 into a blot on 21 or none on 19; with both to 16.
_TWO_WAYS = board({24: 1, 6: 5}, {21: 1, 1: 2})


def test_2_14_the_higher_die_goes_first_unless_the_player_says_otherwise() -> None:
    # Both ways from 24 to 16 with 5-3 are open; the one over 21 hits there.
    desk = _moving(_TWO_WAYS, (5, 3))
    options = [option for option in desk.legal(FIRST).steps if option.source == 24]
    assert {(one.target, one.order) for one in options} == {
        (21, StepOrder.HIGH_FIRST),
        (19, StepOrder.HIGH_FIRST),
        (16, StepOrder.HIGH_FIRST),
        (16, StepOrder.LOW_FIRST),
    }
    desk.step(24, 16)
    assert [step.die for step in desk.state.steps] == [5, 3]
    assert desk.state.position.points[21] == -1
    desk.turn(act.Undo(all=True))
    desk.step(24, 16, order=StepOrder.LOW_FIRST)
    assert [step.die for step in desk.state.steps] == [3, 5]
    assert desk.state.position.points[0] == -1, "hit on the way"


def test_2_14_the_only_open_way_is_taken_whatever_the_order() -> None:
    desk = _moving(board({24: 1, 6: 5}, {19: 2, 1: 2}), (5, 3))
    desk.step(24, 16)
    assert [step.die for step in desk.state.steps] == [3, 5]


def test_2_14_three_steps_of_a_double_in_one_tap() -> None:
    desk = _moving(list(_START), (3, 3))
    desk.step(13, 4)
    assert [(step.source, step.target) for step in desk.state.steps] == [(13, 10), (10, 7), (7, 4)]
    desk.turn(act.Undo())
    assert len(desk.state.steps) == 2, "undo takes back a die at a time"


def test_6_13_a_bear_off_uses_the_die_that_the_player_wants() -> None:
    points = board({3: 1, 2: 1}, {24: 2})
    desk = _moving(points, (6, 3))
    desk.step(3, 0)
    assert desk.state.steps[0].die == 6
    other = _moving(points, (6, 3))
    other.step(3, 0, order=StepOrder.LOW_FIRST)
    assert other.state.steps[0].die == 3


@pytest.mark.parametrize(
    ("points", "dice", "step", "reason"),
    [
        (_START, (6, 1), (13, 8), "NO_SUCH_DIE"),
        (_START, (6, 1), (20, 14), "NO_CHECKER"),
        (_START, (5, 1), (24, 19), "BLOCKED"),
        (board({25: 1, 6: 3}, {19: 2}), (3, 2), (6, 4), "BAR_FIRST"),
        (board({7: 1, 6: 3}, {24: 2}), (6, 2), (6, 0), "NOT_ALL_HOME"),
        (board({5: 1, 3: 1, 2: 2}, {24: 2}), (4, 1), (3, 0), "CHECKER_BEHIND"),
        # 9.8: both numbers can be played, but not after this five.
        (_ONE_WAY, (5, 6), (11, 6), "MUST_USE_BOTH"),
        # 9.8: either number, not both: the higher.
        (
            _HIGHER,
            (4, 3),
            (19, 16),
            "MUST_USE_HIGHER",
        ),
    ],
)
def test_2_28_reasons_why_a_step_is_refused(
    points: list[int], dice: tuple[int, int], step: tuple[int, int], reason: str
) -> None:
    desk = _moving(list(points), dice)
    before = desk.state
    assert desk.refuses(FIRST, act.MakeStep(*step)) == reason
    assert desk.state == before


def test_2_28_moments() -> None:
    desk = Desk("classic", [(6, 1)])
    assert desk.refuses(SECOND, act.MakeStep(13, 7)) == "NOT_YOUR_TURN"
    desk.play()
    assert desk.refuses(SECOND, act.MakeStep(13, 7)) == "NOT_ROLLED"
    desk.do(FIRST, act.Resign())
    desk.do(SECOND, act.AcceptResignation())
    assert desk.refuses(SECOND, act.MakeStep(13, 7)) == "GAME_OVER"


def test_senseless_steps_are_named_all_at_once() -> None:
    desk = Desk("classic")
    for action, fields in (
        (act.MakeStep(26, -1), ["step.source", "step.target"]),
        (act.MakeStep(5, 5), ["step.target"]),
        (act.PlayTurn(((0, 3), (3, 25))), ["play.steps[0].source", "play.steps[1].target"]),
        (act.PlayTurn(((13, 12),) * 5), ["play.steps"]),
    ):
        with pytest.raises(InvalidInputError) as caught:
            decide(desk.state, FIRST, action, desk.dice, 0.0)
        assert [fault.field for fault in caught.value.faults] == fields


def test_7_5_and_7_7_reasons_of_long_nardy() -> None:
    desk = Desk("long_nardy", [(6, 1), (2, 1)])
    desk.step(24, 22)
    assert desk.refuses(FIRST, act.MakeStep(24, 23)) == "HEAD_LIMIT"
    trap = Desk("long_nardy", [(6, 1), (6, 3)])
    points = [0] * 26
    for point, count in ((12, -15), (17, 1), (16, 1), (19, 1), (20, 1), (21, 1), (24, 10)):
        points[point] = count
    trap.put(points)
    trap.change(turns=(3, 3))
    assert trap.refuses(FIRST, act.MakeStep(24, 18)) == "PRIME_TRAPS_ALL"


@pytest.mark.parametrize("dice", [(6, 1), (3, 3), (6, 6), (5, 4)])
@pytest.mark.parametrize("variant", [Variant.BACKGAMMON, Variant.LONG_NARDY])
def test_every_way_through_the_listed_steps_ends_in_a_legal_result(
    dice: tuple[int, int], variant: Variant
) -> None:
    """Walking all listed steps reaches exactly the boards of the play generator."""
    preset = "classic" if variant is Variant.BACKGAMMON else "long_nardy"
    rolls = [(6, 1), dice] if variant is Variant.LONG_NARDY else [(5, 2), dice]
    desk = Desk(preset, rolls)
    if variant is Variant.BACKGAMMON:
        desk.play("13/8 13/11")
        desk.turn(act.Roll())
    assert desk.state.dice is not None
    plays = legal_plays(desk.state.turn_start, desk.state.dice, first_turn=True)
    wanted = {play.result.points for play in plays}
    found = set()
    waiting = [desk.state]
    seen = set()
    while waiting:
        desk.state = waiting.pop()
        seat = desk.state.turn
        if ActionKind.CONFIRM in desk.legal(seat).actions:
            found.add(desk.state.position.points)
            continue
        for option in desk.legal(seat).steps:
            at = desk.state
            desk.step(option.source, option.target, order=option.order)
            assert desk.state.steps == (*at.steps, *option.steps)
            key = (desk.state.position.points, len(desk.state.steps))
            if key not in seen:
                seen.add(key)
                waiting.append(desk.state)
            desk.state = at
    assert found == wanted


@settings(deadline=None)
@given(seed=st.integers(0, 100_000), turns=st.integers(0, 40), taps=st.lists(st.integers(0, 99)))
def test_6_7_what_a_turn_can_still_lead_to(seed: int, turns: int, taps: list[int]) -> None:
    """The results that are left are those of the slow oracle, step by step; one is no choice."""
    table = RandomTable("traditional" if seed % 2 else "long_nardy", seed)
    table.play_turns(turns)
    state = table.state
    if state.stage is not Stage.MOVING or state.dice is None:
        return
    dice = (state.dice.high, state.dice.low)
    variant = state.setup.rules.variant.value
    wanted = naive.legal_results(
        state.turn_start.points, dice, variant, first_turn=state.turns[state.turn] == 0
    )
    assert {result.points for result in results_left(state)} == wanted
    for tap in taps[:4]:
        options = legal_actions(state, state.turn).steps
        after = [_with_steps(state, option.steps) for option in options]
        left = results_left(state)
        assert (only_rest(state) is not None) == (len(left) == 1)
        if not options:
            assert left == [state.position]
            return
        assert {result for one in after for result in results_left(one)} == set(left)
        for result in left:
            steps = rest_to(state, result)
            assert steps is not None
            assert _with_steps(state, steps).position == result
        state = after[tap % len(after)]


def _with_steps(state: TableState, steps: Iterable[Step]) -> TableState:
    for step in steps:
        event = ev.StepMade(0.0, state.turn, step.source, step.target, step.die, step.hit)
        state = apply(state, event)
    return state


# --- undo ----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), taps=st.lists(st.integers(0, 99), max_size=12))
def test_2_24_undo_gives_back_every_earlier_state(seed: int, taps: list[int]) -> None:
    """Steps and undos in any order: what is undone can be done again, with the same outcome."""
    desk = Desk("classic", [], dice=GivenDice([], seed=seed))
    history = [desk.state]
    actions: list[act.MakeStep] = []
    seat = desk.state.turn

    def back() -> None:
        while len(desk.state.steps) > len(history[-2].steps):
            desk.turn(act.Undo())
        assert _board(desk.state) == _board(history[-2])

    for tap in taps:
        options = desk.legal(seat).steps
        if (tap % 3 == 0 or not options) and actions:
            back()
            desk.turn(actions[-1])
            assert _board(desk.state) == _board(history[-1])
            back()
            history.pop()
            actions.pop()
        elif options:
            option = options[tap % len(options)]
            actions.append(act.MakeStep(option.source, option.target, option.order))
            desk.turn(actions[-1])
            history.append(desk.state)
    if actions:
        desk.turn(act.Undo(all=True))
    assert _board(desk.state) == _board(history[0])
    assert desk.refuses(seat, act.Undo()) == "NOTHING_TO_UNDO"
    desk.check()


def _board(state: Any) -> tuple[Any, ...]:
    return state.position, state.steps, state.stage, state.turn


def test_2_24_undo_can_be_off_and_nothing_is_undone_after_confirmation() -> None:
    desk = Desk("classic", [(6, 1)], undo=False)
    desk.step(13, 7)
    assert desk.refuses(FIRST, act.Undo()) == "UNDO_OFF"
    desk = Desk("classic", [(6, 1)])
    desk.play()
    assert desk.refuses(FIRST, act.Undo(all=True)) == "NOT_YOUR_TURN"
    desk.turn(act.Roll())
    assert desk.refuses(SECOND, act.Undo()) == "NOTHING_TO_UNDO"
    assert desk.refuses(SECOND, act.Roll()) == "ALREADY_ROLLED", "2.27: a roll is final"


# --- confirmation --------------------------------------------------------------------------------


def test_2_26_only_a_complete_play_is_confirmed() -> None:
    desk = Desk("classic", [(6, 1)])
    assert desk.refuses(FIRST, act.Confirm()) == "MUST_USE_BOTH"
    desk.step(13, 7)
    assert desk.refuses(FIRST, act.Confirm()) == "MUST_USE_BOTH"
    assert _moving(_HIGHER, (4, 3)).refuses(FIRST, act.Confirm()) == "MUST_USE_HIGHER"


@pytest.mark.parametrize("action", [act.Roll(), act.Double()])
def test_2_25_the_opponents_roll_or_double_confirms(action: Any) -> None:
    desk = Desk("tournament", [(6, 1)], match_length=5)
    desk.step(13, 7)
    assert desk.refuses(SECOND, action) == "NOT_YOUR_TURN", "the play is not complete"
    desk.step(8, 7)
    assert desk.legal(SECOND).actions >= {ActionKind.ROLL, ActionKind.DOUBLE}
    desk.turn(act.Undo())
    assert desk.refuses(SECOND, action) == "NOT_YOUR_TURN", "revocable until he acts"
    desk.step(6, 5)
    events = desk.do(SECOND, action)
    assert names(events)[:2] == ["play_confirmed", "turn_started"]
    assert isinstance(events[0], ev.PlayConfirmed)
    assert (events[0].seat, events[0].by) == (FIRST, By.SERVER)
    assert desk.state.turn is SECOND
    desk.check()


def test_2_25_the_player_may_confirm_explicitly_everywhere() -> None:
    desk = Desk("tournament", [(6, 1)], match_length=5)
    desk.play("13/7 8/7")
    assert desk.state.stage is Stage.TO_ROLL
    assert desk.state.turn is SECOND


# --- forfeits ------------------------------------------------------------------------------------


def test_2_11_a_turn_without_a_legal_play_is_shown_and_ended() -> None:
    closed = board({25: 1, 6: 5}, {19: 2, 20: 2, 21: 2, 22: 2, 23: 2, 24: 2})
    desk = Desk("classic")
    desk.to_roll(closed)
    events = desk.do(FIRST, act.Roll())
    assert names(events) == ["dice_rolled", "turn_forfeited", "turn_started"]
    assert desk.state.turn is SECOND
    assert desk.state.turns == (6, 5), "4.14: a forfeited turn counts"


def test_2_11_what_is_left_of_a_partly_playable_roll_is_lost() -> None:
    desk = _moving(
        [0, 0, 0, 0, 0, 0, 6, 0, 3, 0, 0, 0, -5, 4, 0, 0, 0, -2, 0, -4, -2, -2, 0, 0, 0, 2], (6, 1)
    )
    desk.step(25, 24)
    assert ActionKind.CONFIRM in desk.legal(FIRST).actions
    desk.turn(act.Confirm())
    assert desk.state.turn is SECOND


# --- the end of a game ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loser", "result"),
    [
        ({24: 14}, Resignation.SINGLE),
        ({24: 15}, Resignation.GAMMON),
        ({18: 1, 24: 14}, Resignation.GAMMON),
        ({3: 1, 24: 14}, Resignation.BACKGAMMON),
        ({0: 1, 24: 14}, Resignation.BACKGAMMON),
        ({0: 1, 24: 13}, Resignation.SINGLE),
    ],
)
def test_3_1_results(loser: dict[int, int], result: Resignation) -> None:
    desk = _moving(board({5: 1}, loser), (6, 4))
    desk.change(cube_value=2, cube_owner=SECOND)
    events = desk.step(5, 0)
    assert names(events) == ["step_made", "play_confirmed", "game_ended"], "1.10: at once"
    ended = desk.ended
    assert (ended.winner, ended.result, ended.points) == (FIRST, result, 2 * result)
    assert ended.reason is EndReason.BORNE_OFF
    assert desk.refuses(FIRST, act.Undo()) == "GAME_OVER"


def test_3_4_backgammon_with_checkers_off_is_an_option() -> None:
    desk = _moving(board({5: 1}, {0: 1, 24: 13}), (6, 4), backgammon_needs_none_off=False)
    desk.step(5, 0)
    assert desk.ended.result is Resignation.BACKGAMMON


@pytest.mark.parametrize(
    ("taken", "auto_doubles", "counts", "points"),
    [
        (False, 0, False, 1),
        (True, 0, False, 3),
        (False, 1, False, 1),
        (False, 1, True, 3),
    ],
)
def test_4_17_jacoby(taken: bool, auto_doubles: int, counts: bool, points: int) -> None:
    desk = Desk("money", jacoby_auto_double_counts=counts)
    desk.to_roll(board({1: 1}, {0: 1, 24: 14}), taken=taken, auto_doubles=auto_doubles)
    desk.do(FIRST, act.Roll())
    desk.step(1, 0)
    assert desk.ended.points == points


def test_a_whole_turn_in_one_action() -> None:
    desk = Desk("classic", [(6, 1)])
    events = desk.turn(act.PlayTurn(((13, 7), (8, 7))))
    assert names(events) == ["step_made", "step_made", "play_confirmed", "turn_started"]
    desk = Desk("classic", [(6, 1)])
    assert desk.refuses(FIRST, act.PlayTurn(((13, 7),))) == "MUST_USE_BOTH"
    with pytest.raises(WrongMomentError, match=r"^play: 2 numbers can be played and must be"):
        decide(desk.state, FIRST, act.PlayTurn(((13, 7),)), desk.dice, desk.now)
    assert desk.refuses(FIRST, act.PlayTurn(((13, 7), (24, 18)))) == "NO_SUCH_DIE"
    assert desk.state.steps == ()
    desk.step(13, 7)
    desk.turn(act.PlayTurn(((8, 7),)))
    assert desk.state.turn is SECOND
    desk.check()


def test_a_die_that_a_bear_off_has_used_is_gone() -> None:
    # 3/off with the 6 leaves the 3: only 2/off; with the 3 it leaves the 6.
    desk = _moving(board({3: 1, 2: 2}, {24: 2}), (6, 2))
    desk.step(3, 0)
    assert desk.refuses(FIRST, act.MakeStep(2, 1)) == "NO_SUCH_DIE"
    desk.step(2, 0)
    desk.turn(act.Confirm())
    assert desk.state.turn is SECOND


def test_confirming_a_turn_without_a_legal_play_forfeits_it() -> None:
    desk = Desk("classic")
    desk.to_roll(board({25: 1, 6: 5}, {19: 2, 20: 2, 21: 2, 22: 2, 23: 2, 24: 2}))
    for action in (act.Confirm(), act.PlayTurn(())):
        desk.to_roll(desk.state.position.points)
        desk.book(decide(desk.state, FIRST, act.Roll(), desk.dice, desk.now))
        before = desk.state
        events = decide(before, FIRST, action, desk.dice, desk.now)
        assert names(events) == ["turn_forfeited", "turn_started"]
