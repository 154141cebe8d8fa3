"""Properties that hold on every board: doubles, views, orders of dice, invariants."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bgserver.engine.plays import legal_plays, step_graph
from bgserver.engine.position import Dice, Position, Variant
from tests import naive, positions

variants = st.sampled_from(naive.VARIANTS)
seeds = st.integers(min_value=0, max_value=10**9)
dice = st.builds(Dice, st.integers(1, 6), st.integers(1, 6))
many = settings(max_examples=300, deadline=None)


@st.composite
def cases(draw: st.DrawFn) -> positions.Case:
    """A random case of either game."""
    skipped = draw(st.integers(0, 40))
    *_, case = positions.cases(draw(variants), draw(seeds), skipped + 1)
    return case


def position_of(case: positions.Case) -> Position:
    return Position(case.board, Variant(case.variant))


@many
@given(case=cases(), number=st.integers(1, 6))
def test_2_9_all_plays_of_a_double_have_the_same_length(case: positions.Case, number: int) -> None:
    graph = step_graph(position_of(case), Dice(number, number), first_turn=case.first_turn)
    depths = {0: 0}
    for index, node in enumerate(graph.nodes):
        for edge in node.edges:
            assert depths.setdefault(edge.target_node, depths[index] + 1) == depths[index] + 1
    won = {index for index, node in enumerate(graph.nodes) if node.position.own_off == 15}
    complete = {index for index, node in enumerate(graph.nodes) if node.is_complete}
    assert complete == {index for index, node in enumerate(graph.nodes) if not node.edges}
    assert len({depths[index] for index in complete - won}) <= 1


@many
@given(seed=seeds, skipped=st.integers(0, 40), number=st.integers(1, 6))
def test_2_9_a_double_played_until_nothing_goes_is_played_out_in_backgammon(
    seed: int, skipped: int, number: int
) -> None:
    # any legal step will do, four times: no order loses a number, unlike in Long Nardy, where
    # `test_7_9_the_six_prime_rule_decides_how_many_numbers_of_a_double_go` shows the contrary
    *_, case = positions.cases(naive.BACKGAMMON, seed, skipped + 1)
    position = position_of(case)
    longest = len(legal_plays(position, Dice(number, number))[0].steps)
    rng = random.Random(seed)
    board, length = case.board, 0
    while length < 4 and (steps := naive.legal_steps(board, number, naive.BACKGAMMON)):
        source, target, _ = rng.choice(steps)
        board = naive.after_step(board, source, target)
        length += 1
    assert length == longest or naive.own_in_play(board) == 0


@many
@given(case=cases())
def test_1_5_turning_twice_is_the_identity(case: positions.Case) -> None:
    position = position_of(case)
    turned = position.turned()
    assert turned.turned() == position
    assert turned.points == naive.turn(case.board, case.variant)
    assert turned.pips() == position.pips()[::-1]
    assert (turned.own_off, turned.opponent_off) == (position.opponent_off, position.own_off)


@many
@given(case=cases(), roll=dice)
def test_the_order_of_the_dice_has_no_meaning(case: positions.Case, roll: Dice) -> None:
    position = position_of(case)
    reversed_roll = Dice(roll.second, roll.first)
    forwards = legal_plays(position, roll, first_turn=case.first_turn)
    assert legal_plays(position, reversed_roll, first_turn=case.first_turn) == forwards
    graph = step_graph(position, roll, first_turn=case.first_turn)
    assert step_graph(position, reversed_roll, first_turn=case.first_turn) == graph


@many
@given(case=cases(), roll=dice)
def test_1_6_every_result_is_a_board(case: positions.Case, roll: Dice) -> None:
    position = position_of(case)
    for play in legal_plays(position, roll, first_turn=case.first_turn):
        result = play.result
        assert not naive.faults(result.points, case.variant)
        # the checkers of both sides are still there, but for those borne off now
        assert result.opponent_off == position.opponent_off
        borne_off = sum(step.target == naive.OFF for step in play.steps)
        assert result.own_off == position.own_off + borne_off
        assert result == Position(result.points, result.variant)


@many
@given(case=cases(), roll=dice)
def test_2_5_pips_go_down_by_the_numbers_played(case: positions.Case, roll: Dice) -> None:
    position = position_of(case)
    own, opposing = position.pips()
    for play in legal_plays(position, roll, first_turn=case.first_turn):
        own_after, opposing_after = play.result.pips()
        moved = sum(step.source - step.target for step in play.steps)
        assert own - own_after == moved
        assert moved <= sum(step.die for step in play.steps)
        # a hit checker goes back to the start of its way: 25 less what it had still to go
        lost = sum(step.target for step in play.steps if step.hit)
        assert opposing_after - opposing == lost


@many
@given(case=cases(), roll=dice)
def test_2_12_plays_and_step_graph_tell_the_same_story(case: positions.Case, roll: Dice) -> None:
    position = position_of(case)
    plays = legal_plays(position, roll, first_turn=case.first_turn)
    graph = step_graph(position, roll, first_turn=case.first_turn)
    assert graph.nodes[0].position == position
    complete = [node for node in graph.nodes if node.is_complete]
    assert {node.play_index for node in complete} == set(range(len(plays)))
    for node in complete:
        assert node.play_index is not None
        assert node.position == plays[node.play_index].result


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_1_10_random_games_of_legal_plays_come_to_an_end(variant: str, seed: int) -> None:
    rng = random.Random(seed)
    position = Position.start(Variant(variant))
    for turn in range(5_000):
        roll = Dice(*positions.roll(rng))
        first_turn = variant == naive.LONG_NARDY and turn < 2
        position = rng.choice(legal_plays(position, roll, first_turn=first_turn)).result
        assert naive.own_in_play(position.points) == 15 - position.own_off
        if position.is_finished:
            assert position.own_off == 15
            return
        position = position.turned()
    pytest.fail("no end after 5,000 turns")
