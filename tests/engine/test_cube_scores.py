"""The cube decision at every score against the same decision asked for one score."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bgserver.engine.cube import advise_cube
from bgserver.engine.cube_advice import CubeAction
from bgserver.engine.cube_scores import advise_by_score
from bgserver.engine.errors import InvalidInputError
from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.limit import TimeLimit
from bgserver.engine.position import Cube, CubeOwner, Dice, GameState, MatchScore, Position, Variant
from bgserver.engine.work import run
from bgserver.formats.xgid import parse_xgid

BLITZ = parse_xgid("XGID=-a-aBBC-B---aD--bd-f----B-:0:0:1:00:0:0:0:0:10")


def test_each_score_is_the_decision_at_that_score(engine: Engine) -> None:
    """With static chances the table says what AdviseCube says."""
    table = run(advise_by_score(engine, BLITZ, Level.STATIC, 5))
    assert len(table.scores) == 25 + 8
    for entry in table.scores:
        length = max(entry.away, entry.opponent_away, 2)
        score = MatchScore(
            length, length - entry.away, length - entry.opponent_away, entry.crawford
        )
        expected, _ = run(engine.advise_cube(replace(BLITZ, match=score), Level.STATIC))
        assert entry.advice == expected
    money, _ = run(engine.advise_cube(BLITZ, Level.STATIC))
    assert table.money == money


def test_a_roll_is_left_aside(engine: Engine) -> None:
    rolled = replace(BLITZ, dice=Dice(3, 1))
    table = run(advise_by_score(engine, rolled, Level.STATIC, 3))
    assert table == run(advise_by_score(engine, BLITZ, Level.STATIC, 3))


def test_scores_come_in_order_and_once(engine: Engine) -> None:
    table = run(advise_by_score(engine, GameState(), Level.STATIC, 4))
    keys = [(entry.away, entry.opponent_away, not entry.crawford) for entry in table.scores]
    assert keys == sorted(set(keys))
    for entry in table.scores:
        one_away = (entry.away == 1) != (entry.opponent_away == 1)
        assert one_away or not entry.crawford
        if entry.crawford:
            assert entry.advice.action is CubeAction.NOT_ALLOWED
            assert entry.advice.double_take is None


def test_the_position_is_judged_once_at_the_level(engine: Engine) -> None:
    table = run(advise_by_score(engine, BLITZ, Level.LOOKAHEAD_1, 3))
    judged = run(engine.evaluate(BLITZ, Level.LOOKAHEAD_1))
    assert table.evaluation.level is Level.LOOKAHEAD_1
    assert table.evaluation.probabilities == judged.probabilities
    score = MatchScore(3, 1, 0)
    at_score = next(one for one in table.scores if (one.away, one.opponent_away) == (2, 3))
    by_formula = advise_cube(judged.probabilities, replace(BLITZ, match=score), met=engine.met)
    assert at_score.advice == by_formula


def test_a_score_and_money_rules_of_the_state_do_not_change_the_match_part(engine: Engine) -> None:
    plain = run(advise_by_score(engine, BLITZ, Level.STATIC, 3))
    others = replace(BLITZ, jacoby=True, beavers=True)
    assert run(advise_by_score(engine, others, Level.STATIC, 3)).scores == plain.scores
    in_match = replace(BLITZ, match=MatchScore(9, 3, 7))
    assert run(advise_by_score(engine, in_match, Level.STATIC, 3)).scores == plain.scores


def test_with_an_owned_cube_it_is_about_redoubles(engine: Engine) -> None:
    state = replace(BLITZ, cube=Cube(2, CubeOwner.ON_ROLL))
    table = run(advise_by_score(engine, state, Level.STATIC, 6))
    assert len(table.scores) == 36
    assert not any(entry.crawford for entry in table.scores)
    by_score = {(entry.away, entry.opponent_away): entry.advice for entry in table.scores}
    # A cube at 2 wins the match for a player who needs two points.
    assert by_score[2, 5].is_dead
    assert not by_score[5, 5].is_dead
    assert "redouble" in by_score[5, 5].text


def test_a_time_is_kept(engine: Engine) -> None:
    table = run(advise_by_score(engine, BLITZ, TimeLimit.starting_now(1), 2))
    assert table.evaluation.level in Engine.levels


@pytest.mark.parametrize(
    ("state", "away", "reasons"),
    [
        (GameState(), 0, {"OUT_OF_RANGE"}),
        (GameState(), 26, {"OUT_OF_RANGE"}),
        (
            GameState(position=Position.start(Variant.LONG_NARDY)),
            26,
            {"OUT_OF_RANGE", "NO_CUBE_IN_LONG_NARDY"},
        ),
        (GameState(cube=Cube(2)), 7, {"CENTERED_CUBE_ABOVE_ONE"}),
        (GameState(cube=Cube(3)), 7, {"CUBE_VALUE_NOT_POWER_OF_TWO"}),
    ],
)
def test_faults_are_named_at_once(
    engine: Engine, state: GameState, away: int, reasons: set[str]
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        run(advise_by_score(engine, state, Level.STATIC, away))
    assert {fault.reason for fault in caught.value.faults} == reasons
