"""Trials of rollouts: against exact tables, against a slow oracle, and cut in any way."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine import rollout as rollout_module
from bgserver.engine.levels import Level
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import (
    Cube,
    CubeOwner,
    Dice,
    GameState,
    MatchScore,
    Position,
    Variant,
)
from bgserver.engine.rollout import RolloutChunk
from bgserver.engine.rollout_spec import (
    RolloutLevels,
    RolloutOptions,
    cube_rollout,
    play_rollout,
    position_rollout,
)
from bgserver.engine.work import run
from tests import bearoff_oracle
from tests.engine.test_exact_cube import arrangement, bear_off
from tests.rollout_oracle import Trials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.rollout_spec import RolloutSpec

_OPTIONS = RolloutOptions(seed=7)
_CONTACT = Position(
    (0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -4, 4, 1, 0, 0, -3, 0, -5, -1, 0, 0, 0, 2, 0)
)
_MATCH = MatchScore(5, 3, 1)
_SHORT = bear_off((5, 4, 3, 1), (6, 3, 2, 1))


def trials(
    engine: Engine, spec: RolloutSpec, first: int, count: int, candidate: int = 0
) -> NDArray[np.float64]:
    return run(RolloutChunk(spec, candidate, first, count).work(engine))


def _cut(plies: int, **changes: object) -> RolloutOptions:
    return replace(_OPTIONS, truncate_plies=plies, **changes)  # type: ignore[arg-type]  # names are tried out


_NARDY = GameState(position=Position.start(Variant.LONG_NARDY))
_ORACLE_CASES = {
    "cubeless": position_rollout(GameState(_CONTACT), _cut(4, cubeful=False)),
    "money": position_rollout(GameState(_CONTACT, jacoby=True, beavers=True), _cut(4)),
    "match": position_rollout(GameState(_CONTACT, match=_MATCH), _cut(4)),
    "crawford": position_rollout(
        GameState(_CONTACT, match=MatchScore(5, 4, 1, crawford=True)), _cut(3)
    ),
    "post-crawford": position_rollout(GameState(_CONTACT, match=MatchScore(5, 1, 4)), _cut(3)),
    "owned": position_rollout(GameState(_CONTACT, cube=Cube(4, CubeOwner.ON_ROLL, 8)), _cut(4)),
    "opening": position_rollout(GameState(), _cut(2, opening=True)),
    "raw": position_rollout(GameState(_CONTACT), _cut(6, reduce_variance=False)),
    "nardy": position_rollout(_NARDY, _cut(2)),
    "bear-off": position_rollout(
        GameState(_SHORT), replace(_OPTIONS, cubeful=False, stop_at_bearoff=False)
    ),
    "bear-off, money": position_rollout(
        GameState(_SHORT, jacoby=True, beavers=True), replace(_OPTIONS, stop_at_bearoff=False)
    ),
    "bear-off, match": position_rollout(GameState(_SHORT, match=_MATCH), _OPTIONS),
}


@pytest.mark.parametrize("spec", _ORACLE_CASES.values(), ids=_ORACLE_CASES)
def test_trials_are_those_of_the_oracle(engine: Engine, spec: RolloutSpec) -> None:
    oracle = Trials(engine, spec)
    found = trials(engine, spec, 35, 2)
    for row, number in zip(found, (35, 36), strict=True):
        _same(row, oracle.play(number), spec)


def _same(found: NDArray[np.float64], expected: list[float], spec: RolloutSpec) -> None:
    """Compare the figures of a trial.

    In a bear-off with cube many replies are worth the same, for example all that are passed next;
    which of them is made shows in the chances only.
    """
    first = 5 if spec.cubeful and spec.state.position == _SHORT else 0
    assert found[first:] == pytest.approx(expected[first:], abs=2e-5)


def test_cube_actions_are_those_of_the_oracle(engine: Engine) -> None:
    state = GameState(_SHORT, beavers=True)
    spec = cube_rollout(state, replace(_OPTIONS, stop_at_bearoff=False))
    assert len(spec.candidates) == 3
    for index in range(3):
        oracle = Trials(engine, spec, index)
        found = trials(engine, spec, 4, 2, candidate=index)
        for row, number in zip(found, (4, 5), strict=True):
            _same(row, oracle.play(number), spec)


def test_plays_are_seen_by_the_player_who_makes_them(engine: Engine) -> None:
    state, dice = GameState(_CONTACT, match=_MATCH), Dice(4, 2)
    plays = legal_plays(_CONTACT, dice)[:2]
    spec = play_rollout(state, dice, plays, _cut(3))
    for index in range(2):
        row = trials(engine, spec, 8, 1, candidate=index)[0]
        assert row == pytest.approx(Trials(engine, spec, index).play(8), abs=2e-5)


@pytest.mark.parametrize(
    ("own", "opponent"), [((2, 1), (3,)), ((6, 5, 3), (4, 4, 2)), ((1, 1, 1, 1), (2, 2, 2))]
)
@pytest.mark.parametrize("reduce", [True, False])
def test_short_bear_offs_have_their_exact_mean(
    engine: Engine, own: tuple[int, ...], opponent: tuple[int, ...], reduce: bool
) -> None:
    """Without the tables' help the mean of the trials is what the tables say."""
    exact = bearoff_oracle.equities(arrangement(own), arrangement(opponent))
    stays = float(exact[2])
    best = max(stays, min(1.0, 2.0 * float(exact[3])))
    state = GameState(bear_off(own, opponent), cube=Cube(2, CubeOwner.ON_ROLL))
    options = replace(_OPTIONS, stop_at_bearoff=False, reduce_variance=reduce)
    count = 1296
    for cubeful, value in ((False, float(exact[0])), (True, 2.0 * best)):
        spec = position_rollout(state, replace(options, cubeful=cubeful))
        found = trials(engine, spec, 0, count)[:, 5]
        error = found.std(ddof=1) / count**0.5
        assert found.mean() == pytest.approx(value, abs=4 * error + 1e-6)
        if reduce:
            # The tables weigh every roll exactly, so nothing is left to chance.
            assert found.std() < 1e-5


def test_tables_end_a_trial_exactly(engine: Engine) -> None:
    own, opponent = (6, 5, 3), (4, 4, 2)
    exact = bearoff_oracle.equities(arrangement(own), arrangement(opponent))
    state = GameState(bear_off(own, opponent))
    cubeless = trials(engine, position_rollout(state, replace(_OPTIONS, cubeful=False)), 0, 5)
    assert cubeless[:, 5] == pytest.approx([float(exact[0])] * 5, abs=1e-6)
    money = trials(engine, position_rollout(state, _OPTIONS), 0, 5)
    best = max(float(exact[1]), min(1.0, 2.0 * float(exact[3])))
    assert money[:, 5] == pytest.approx([best] * 5, abs=1e-6)


def test_a_play_that_ends_the_game_is_exact(engine: Engine) -> None:
    points = [0] * 26
    points[1], points[19] = 1, -15
    position = Position(tuple(points))
    dice = Dice(2, 1)
    spec = play_rollout(
        GameState(position, cube=Cube(2, CubeOwner.ON_ROLL)),
        dice,
        legal_plays(position, dice),
        _OPTIONS,
    )
    assert trials(engine, spec, 0, 1).tolist() == [[1.0, 1.0, 0.0, 0.0, 0.0, 4.0]]
    cubeless = replace(spec, options=replace(_OPTIONS, cubeful=False))
    assert trials(engine, cubeless, 0, 1)[0, 5] == 2.0


@pytest.mark.parametrize(("jacoby", "points"), [(True, 1.0), (False, 2.0)])
def test_jacoby_kills_gammons_until_the_cube_is_turned(
    engine: Engine, jacoby: bool, points: float
) -> None:
    board = [0] * 26
    board[1], board[19] = 1, -15
    state = GameState(Position(tuple(board)), jacoby=jacoby)
    spec = cube_rollout(state, _OPTIONS)
    no_double, taken = (trials(engine, spec, 0, 2, candidate=index) for index in range(2))
    assert no_double[:, 5].tolist() == pytest.approx([points] * 2, abs=1e-6)
    assert taken[:, 5].tolist() == pytest.approx([4.0] * 2, abs=1e-6)
    assert no_double[:, 1].tolist() == pytest.approx([1.0] * 2, abs=1e-6)


def test_a_trial_is_the_same_wherever_it_is_played(engine: Engine) -> None:
    spec = position_rollout(GameState(_CONTACT), _cut(6))
    together = trials(engine, spec, 3, 6)
    for row in range(6):
        assert trials(engine, spec, 3 + row, 1).tobytes() == together[row].tobytes()


def test_candidates_meet_the_same_dice(engine: Engine) -> None:
    """What is known of one play does not depend on the others."""
    state, dice = GameState(_CONTACT), Dice(6, 3)
    plays = legal_plays(_CONTACT, dice)[:3]
    forward = play_rollout(state, dice, plays, _cut(4))
    backward = play_rollout(state, dice, plays[::-1], _cut(4))
    for index in range(3):
        first = trials(engine, forward, 0, 3, candidate=index)
        assert first.tobytes() == trials(engine, backward, 0, 3, candidate=2 - index).tobytes()


@pytest.mark.parametrize("case", ["cubeless", "money", "match", "nardy", "raw"])
def test_turn_by_turn_is_the_same_as_in_one_kernel(
    engine: Engine, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way that look-ahead levels go, with static levels."""
    spec = _ORACLE_CASES[case]
    expected = trials(engine, spec, 0, 4)
    monkeypatch.setattr(rollout_module._Trials, "_static_turns", lambda _: 0)
    assert trials(engine, spec, 0, 4).tobytes() == expected.tobytes()


@pytest.mark.parametrize("cubeful", [False, True])
def test_levels_that_look_ahead_have_the_same_mean_in_a_bear_off(
    engine: Engine, cubeful: bool
) -> None:
    """Where the tables judge, every level plays alike."""
    state = GameState(_SHORT, cube=Cube(2, CubeOwner.ON_ROLL))
    options = replace(_OPTIONS, cubeful=cubeful, stop_at_bearoff=False)
    static = trials(engine, position_rollout(state, options), 0, 3)
    ahead = RolloutLevels(Level.LOOKAHEAD_1, Level.LOOKAHEAD_1)
    deep = replace(options, levels=ahead)
    assert trials(engine, position_rollout(state, deep), 0, 3)[:, 5] == pytest.approx(
        static[:, 5], abs=1e-4
    )
    early = replace(options, early_levels=ahead, early_plies=1)
    assert trials(engine, position_rollout(state, early), 0, 3)[:, 5] == pytest.approx(
        static[:, 5], abs=1e-4
    )


def test_early_levels_hold_for_the_early_plies_only() -> None:
    early = RolloutLevels(Level.LOOKAHEAD_2, Level.LOOKAHEAD_1)
    options = replace(_OPTIONS, early_levels=early, early_plies=2)
    spec = position_rollout(GameState(), options)
    levels = [spec.levels_at(ply) for ply in range(4)]
    assert levels == [early, early, RolloutLevels(), RolloutLevels()]


@pytest.mark.parametrize("plies", [1, 2, 3])
def test_a_cut_is_judged_by_its_level(engine: Engine, plies: int) -> None:
    """One roll ahead at the cut is the mean over the next roll, luck taken off exactly."""
    state = GameState(_CONTACT, match=_MATCH)
    cut = replace(_cut(plies), truncate_level=Level.LOOKAHEAD_1)
    found = trials(engine, position_rollout(state, cut), 0, 2)
    assert np.isfinite(found).all()
    static = trials(engine, position_rollout(state, _cut(plies)), 0, 2)
    assert found[:, 0] == pytest.approx(static[:, 0], abs=0.15)
    assert (found != static).any()


def test_variance_reduction_keeps_the_mean_and_takes_the_variance(engine: Engine) -> None:
    spec = position_rollout(GameState(_CONTACT), _cut(8))
    raw = position_rollout(GameState(_CONTACT), _cut(8, reduce_variance=False))
    reduced, plain = trials(engine, spec, 0, 144), trials(engine, raw, 0, 144)
    for index in (0, 1, 3, 5):
        error = plain[:, index].std(ddof=1) / 12
        assert reduced[:, index].mean() == pytest.approx(plain[:, index].mean(), abs=4 * error)
    assert reduced[:, 5].std() < 0.4 * plain[:, 5].std()


def test_pieces_are_short(engine: Engine) -> None:
    """Whoever runs the work can stop it within some milliseconds."""
    spec = position_rollout(GameState(), _OPTIONS)
    pieces = sum(1 for _ in RolloutChunk(spec, 0, 0, 2).work(engine))
    turns = 2 * 20  # a game from the start that is shorter has not been seen
    assert pieces > turns / rollout_module._TURNS


def test_specs_are_values_that_can_be_sent(engine: Engine) -> None:
    import pickle  # noqa: PLC0415 -- for this test alone

    spec = position_rollout(GameState(_CONTACT), _cut(3))
    chunk = RolloutChunk(spec, 0, 5, 1)
    sent = pickle.loads(pickle.dumps(chunk))  # noqa: S301 -- our own
    assert sent == chunk
    assert run(sent.work(engine)).tobytes() == run(chunk.work(engine)).tobytes()


def test_every_candidate_of_a_roll_can_be_played(engine: Engine) -> None:
    for first, second in itertools.combinations(range(1, 7), 2):
        plays = legal_plays(_CONTACT, Dice(first, second))[:1]
        spec = play_rollout(GameState(_CONTACT), Dice(first, second), plays, _cut(1))
        assert np.isfinite(trials(engine, spec, 0, 1)).all()
