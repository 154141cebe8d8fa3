"""Rollouts from beginning to end: chunks, workers, stop rules, going on, statistics."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bgserver.engine import rollout_run
from bgserver.engine.errors import InvalidInputError, WrongMomentError
from bgserver.engine.levels import Level
from bgserver.engine.local_executor import LocalExecutor
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Cube, CubeOwner, Dice, GameState, MatchScore, Position, Variant
from bgserver.engine.rollout_advice import advise_by_rollout
from bgserver.engine.rollout_run import RolloutResult, RolloutRun, StopReason, roll_out
from bgserver.engine.rollout_spec import (
    RolloutLevels,
    RolloutOptions,
    StopRules,
    cube_rollout,
    play_rollout,
    position_rollout,
)
from bgserver.engine.rollout_sums import Figure, RolloutState, RolloutSums
from bgserver.engine.work import run
from tests.engine.test_exact_cube import bear_off

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.rollout import RolloutChunk
    from bgserver.engine.rollout_spec import RolloutSpec

_SHORT = RolloutOptions(seed=3, truncate_plies=2)
_POSITION = position_rollout(GameState(), _SHORT)
_ROLL = Dice(3, 1)
_PLAYS = play_rollout(
    GameState(), _ROLL, legal_plays(Position.start(), _ROLL)[4:8], replace(_SHORT, cubeful=False)
)
_CUBE = cube_rollout(GameState(match=MatchScore(7, 2, 3)), _SHORT)


def finish(
    engine: Engine, spec: RolloutSpec, rules: StopRules, state: RolloutState | None = None
) -> RolloutResult:
    """The result of a rollout on this thread."""
    rollout = RolloutRun(engine, spec, rules, state)
    for chunk in rollout.chunks():
        rollout.add(run(chunk.work(engine)))
    return rollout.result()


def numbers(result: RolloutResult) -> tuple[object, ...]:
    return (result.state, result.trials, result.stopped_by)


@pytest.mark.parametrize("spec", [_POSITION, _PLAYS, _CUBE], ids=["position", "plays", "cube"])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_any_number_of_threads_gives_the_same_bits(
    engine: Engine, spec: RolloutSpec, threads: int
) -> None:
    rules = StopRules(trials=180)
    if spec is not _POSITION:
        rules = replace(rules, min_trials=36, joint_deviations=2.0)
    expected = numbers(finish(engine, spec, rules))
    with LocalExecutor(engine, threads) as executor:
        *_, last = roll_out(engine, spec, rules, executor)
    assert numbers(last) == expected


@pytest.mark.parametrize("size", [1, 5, 36, 100])
def test_any_size_of_chunks_gives_the_same_bits(
    engine: Engine, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stop rules are looked at after fixed numbers of trials; chunks end there, too."""
    rules = StopRules(trials=100)
    expected = numbers(finish(engine, _PLAYS, rules))
    monkeypatch.setattr(rollout_run, "trials_per_chunk", lambda _: size)
    assert numbers(finish(engine, _PLAYS, rules)) == expected


@pytest.mark.parametrize("spec", [_POSITION, _PLAYS, _CUBE], ids=["position", "plays", "cube"])
@pytest.mark.parametrize("first", [1, 40, 72])
def test_a_rollout_that_goes_on_is_one_rollout(
    engine: Engine, spec: RolloutSpec, first: int
) -> None:
    rules = StopRules(trials=108)
    before = finish(engine, spec, replace(rules, trials=first))
    kept = RolloutState.from_bytes(before.state.to_bytes())
    assert kept == before.state
    assert numbers(finish(engine, spec, rules, kept)) == numbers(finish(engine, spec, rules))


def test_a_finished_rollout_has_nothing_to_go_on_with(engine: Engine) -> None:
    done = finish(engine, _POSITION, StopRules(trials=50))
    again = RolloutRun(engine, _POSITION, StopRules(trials=50), done.state)
    assert again.stopped_by is StopReason.TRIALS
    assert not list(again.chunks())
    assert again.result().trials == 50


def test_a_state_with_more_trials_than_asked_for_is_refused(engine: Engine) -> None:
    done = finish(engine, _POSITION, StopRules(trials=50))
    with pytest.raises(InvalidInputError) as caught:
        RolloutRun(engine, _POSITION, StopRules(trials=49), done.state)
    faults = [(fault.field, fault.reason) for fault in caught.value.faults]
    assert faults == [("trials", "BELOW_STATE")]


def test_only_plays_are_given_up(engine: Engine) -> None:
    state = finish(engine, _CUBE, StopRules(trials=36)).state
    with pytest.raises(InvalidInputError) as caught:
        RolloutRun(engine, _CUBE, StopRules(), replace(state, active=(True, False)))
    assert [fault.reason for fault in caught.value.faults] == ["STATE_OF_ANOTHER_ROLLOUT"]


def test_a_state_belongs_to_its_rollout(engine: Engine) -> None:
    state = finish(engine, _POSITION, StopRules(trials=5)).state
    other = position_rollout(GameState(), replace(_SHORT, seed=4))
    with pytest.raises(InvalidInputError) as caught:
        RolloutRun(engine, other, StopRules(), state)
    assert [fault.reason for fault in caught.value.faults] == ["STATE_OF_ANOTHER_ROLLOUT"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[1]",
        b"\xff\xfe",
        b'{"format": "bgserver-rollout/1"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_state_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInputError):
        RolloutState.from_bytes(data)


def _refuses(data: bytes) -> bool:
    try:
        RolloutState.from_bytes(data)
    except InvalidInputError as error:
        return [fault.reason for fault in error.faults] == ["NOT_A_ROLLOUT_STATE"]
    return False


def test_a_damaged_state_is_refused_wherever_it_is_damaged(engine: Engine) -> None:
    data = finish(engine, _PLAYS, StopRules(trials=36)).state.to_bytes()
    assert RolloutState.from_bytes(data).to_bytes() == data
    for place in range(len(data)):
        for bit in range(8):
            flipped = data[place] ^ 1 << bit
            assert _refuses(data[:place] + bytes([flipped]) + data[place + 1 :]), (place, bit)
        assert _refuses(data[:place])
    assert _refuses(data + b" ")


def test_a_state_with_impossible_content_is_refused_whatever_its_checksum(engine: Engine) -> None:
    """The checksum is no secret: whoever makes one up gets the same error."""
    data = finish(engine, _PLAYS, StopRules(trials=72)).state.to_bytes()
    content = json.loads(data[32:])
    sealed = json.dumps(content, separators=(",", ":")).encode()
    assert _sealed(sealed) == data
    size, sums = len(content["trials"]), content["sums"]
    no_trials: tuple[Any, ...] = (-1, 0, 10**30, 72.0, True, None, [], "72")
    no_flags: tuple[Any, ...] = (0, 1, None, [], "x", False)
    no_sums: tuple[Any, ...] = (1e308, -1e308, math.nan, math.inf, -1.0, 1.0, 0, "x", None, [])
    changes: tuple[tuple[str, Any], ...] = (
        *(("trials", [value] * size) for value in no_trials),
        ("trials", [1] * (size + 1)),
        ("trials", []),
        ("trials", {}),
        ("trials", None),
        ("trials", [71] + [72] * (size - 1)),
        *(("active", [value] * size) for value in no_flags),
        ("active", []),
        ("active", [True] * (size + 1)),
        ("sums", sums[1:]),
        ("sums", [*sums, 0.0]),
        *(("sums", [value] * len(sums)) for value in no_sums),
        ("fingerprint", None),
        ("fingerprint", "f" * 31),
        ("format", "bgserver-rollout/1"),
        ("format", []),
        ("more", 1),
    )
    for name, value in changes:
        changed = json.dumps({**content, name: value}).encode()
        assert _refuses(_sealed(changed)), (name, value)
    for text in (b"null", b"[]", b"{}", b"7", b"\xff", b"[" * 100_000, b"9" * 5000, b""):
        assert _refuses(_sealed(text)), text[:10]


def _sealed(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:32].encode() + text


def test_it_ends_at_the_standard_error(engine: Engine) -> None:
    raw = finish(engine, _POSITION, StopRules(trials=1296))
    target = 2.5 * raw.entries[0].equity.standard_error
    result = finish(engine, _POSITION, StopRules(trials=1296, standard_error=target))
    assert result.stopped_by is StopReason.STANDARD_ERROR
    assert result.trials % 36 == 0
    assert result.trials < 1296
    assert result.entries[0].equity.standard_error <= target
    longer = StopRules(trials=1296, min_trials=result.trials + 1, standard_error=target)
    assert finish(engine, _POSITION, longer).trials == result.trials + 36


def test_plays_that_are_far_behind_are_given_up(engine: Engine) -> None:
    plays = legal_plays(Position.start(), _ROLL)
    spec = play_rollout(GameState(), _ROLL, plays, _SHORT)
    result = finish(engine, spec, StopRules(trials=216, min_trials=72, joint_deviations=2.0))
    best, *others = result.entries
    assert best.is_active
    assert best.behind == Figure(0.0, 0.0)
    assert best.better_chance == 1.0
    assert best.trials == result.trials
    given_up = [entry for entry in others if not entry.is_active]
    assert given_up
    assert {entry.trials % 36 for entry in given_up} == {0}
    assert min(entry.trials for entry in given_up) >= 72
    assert all(entry.better_chance > 0.97 for entry in given_up)
    if result.stopped_by is StopReason.JOINT_DEVIATIONS:
        assert len(given_up) == len(others)


def test_cube_actions_end_when_both_decisions_are_clear(engine: Engine) -> None:
    rules = StopRules(trials=1296, min_trials=36, joint_deviations=3.0)
    result = finish(engine, _CUBE, rules)
    assert result.stopped_by is StopReason.JOINT_DEVIATIONS
    assert result.trials < 1296
    assert result.double_pass == pytest.approx(1.0)
    assert result.double_pass_mwc == pytest.approx(engine.met.mwc(4, 4))


def test_advice_from_a_rollout(engine: Engine) -> None:
    """From the start nobody doubles, and everybody takes."""
    rollout = RolloutRun(engine, _CUBE, StopRules(trials=36))
    for chunk in rollout.chunks():
        rollout.add(run(chunk.work(engine)))
    assert advise_by_rollout(engine, rollout).text == "no double/take"


def test_exact_candidates_end_at_once(engine: Engine) -> None:
    state = GameState(bear_off((6, 5), (4, 3)))
    result = finish(engine, position_rollout(state, RolloutOptions()), StopRules(trials=10_000))
    assert result.stopped_by is StopReason.EXACT
    assert result.trials == 36
    assert result.entries[0].equity.standard_error == 0.0


@pytest.mark.parametrize("standard_error", [None, 0.01])
def test_trials_that_end_alike_are_not_exact(engine: Engine, standard_error: float | None) -> None:
    """A lost race whose gammon comes once in some hundred games: the first 36 have none."""
    points = (0, 0, 1, 2, 2, 3, 2, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 2, -2, -2, -4, -5, 0, -2, 0)
    raw = RolloutOptions(seed=103, cubeful=False, reduce_variance=False, stop_at_bearoff=False)
    hopeless = Position((0, 6, 6, 3, *[0] * 20, -1, 0))
    rules = StopRules(trials=144, standard_error=standard_error)
    result = finish(engine, position_rollout(GameState(hopeless), raw), rules)
    assert result.entries[0].equity.standard_error == 0.0
    assert (result.stopped_by, result.trials) == (StopReason.TRIALS, 144)
    cubeful = position_rollout(GameState(Position(points)), replace(raw, cubeful=True))
    assert finish(engine, cubeful, rules).trials > 36


def test_figures_are_those_of_the_trials(engine: Engine) -> None:
    rows = [
        np.concatenate([run(chunk.work(engine)) for chunk in _chunks(engine, index)])
        for index in range(4)
    ]
    result = finish(engine, _PLAYS, StopRules(trials=72))
    entries = sorted(result.entries, key=lambda entry: entry.index)
    equities = [row[:, 5].mean() for row in rows]
    best = int(np.argmax(equities))
    for index, (entry, row) in enumerate(zip(entries, rows, strict=True)):
        assert entry.equity.mean == pytest.approx(row[:, 5].mean(), abs=1e-12)
        error = row[:, 5].std(ddof=1) / 72**0.5
        assert entry.equity.standard_error == pytest.approx(error, rel=1e-6)
        # Without cube the equity is the cubeless one.
        assert entry.cubeless_equity.mean == pytest.approx(entry.equity.mean, abs=1e-9)
        for number, figure in enumerate(entry.probabilities):
            assert figure.mean == pytest.approx(row[:, number].mean(), abs=1e-12)
        difference = rows[best][:, 5] - row[:, 5]
        assert entry.behind.mean == pytest.approx(difference.mean(), abs=1e-12)
        if index != best:
            joint = difference.std(ddof=1) / 72**0.5
            assert entry.behind.standard_error == pytest.approx(joint, rel=1e-6)
            z = difference.mean() / joint
            assert entry.better_chance == pytest.approx(0.5 * math.erfc(-z / math.sqrt(2)))


def _chunks(engine: Engine, candidate: int) -> list[RolloutChunk]:
    rollout = RolloutRun(engine, _PLAYS, StopRules(trials=72))
    return [chunk for chunk in rollout.chunks() if chunk.candidate == candidate]


def test_chances_and_equities_in_a_match(engine: Engine) -> None:
    """Losing and winning a single game are -1 and 1."""
    state = GameState(match=MatchScore(5, 1, 2))
    (entry,) = finish(engine, position_rollout(state, _SHORT), StopRules(trials=36)).entries
    win, lose = engine.met.mwc(3, 3), engine.met.mwc(4, 2)
    chances = entry.match_winning_chances
    assert chances is not None
    expected = (2 * chances.mean - win - lose) / (win - lose)
    assert entry.equity.mean == pytest.approx(expected)
    assert entry.equity.standard_error == pytest.approx(2 * chances.standard_error / (win - lose))


def test_common_dice_make_differences_certain(engine: Engine) -> None:
    """The error of a difference is less than that of two rollouts with other dice."""
    raw = replace(_PLAYS, options=replace(_PLAYS.options, reduce_variance=False))
    first, second = finish(engine, raw, StopRules(trials=720)).entries[:2]
    apart = math.hypot(first.equity.standard_error, second.equity.standard_error)
    assert second.behind.standard_error < apart


def test_sums_of_one_trial() -> None:
    sums = RolloutSums(1)
    sums.add([np.array([[0.5, 0.1, 0.0, 0.1, 0.0, 0.2]])])
    assert sums.figure(0, 5) == Figure(0.2, math.inf)


@pytest.mark.parametrize(
    ("state", "changes", "faults"),
    [
        (GameState(), {"seed": -1}, {("seed", "OUT_OF_RANGE")}),
        (
            GameState(),
            {"truncate_plies": 0, "early_plies": 2},
            {("truncate_plies", "OUT_OF_RANGE"), ("early_levels", "EARLY_LEVELS_REQUIRED")},
        ),
        (
            GameState(),
            {"early_levels": RolloutLevels()},
            {("early_plies", "EARLY_PLIES_REQUIRED")},
        ),
        (
            GameState(),
            {"truncate_level": Level.LOOKAHEAD_1},
            {("truncate_level", "NOT_TRUNCATED")},
        ),
        (
            GameState(),
            {"levels": RolloutLevels(Level.RANDOM, Level.RANDOM), "truncate_level": Level.RANDOM},
            {
                ("levels.checker", "UNSUPPORTED_LEVEL"),
                ("levels.cube", "UNSUPPORTED_LEVEL"),
                ("truncate_level", "UNSUPPORTED_LEVEL"),
            },
        ),
        (GameState(bear_off((6,), (6,))), {"opening": True}, {("opening", "NOT_AN_OPENING")}),
        (
            GameState(Position.start(Variant.LONG_NARDY)),
            {"cubeful": True},
            {("cubeful", "NO_CUBE_IN_LONG_NARDY")},
        ),
    ],
)
def test_every_fault_of_the_options_is_named(
    state: GameState, changes: dict[str, object], faults: set[tuple[str, str]]
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        position_rollout(state, replace(RolloutOptions(), **changes))  # type: ignore[arg-type]  # names are tried out
    assert {(fault.field, fault.reason) for fault in caught.value.faults} == faults


@pytest.mark.parametrize(
    ("rules", "faults"),
    [
        (StopRules(trials=0), {("trials", "OUT_OF_RANGE")}),
        (StopRules(trials=10**12), {("trials", "OUT_OF_RANGE")}),
        (
            StopRules(trials=5, min_trials=6, standard_error=-1.0),
            {("min_trials", "MIN_ABOVE_MAX"), ("standard_error", "NOT_POSITIVE")},
        ),
        (
            StopRules(trials=5, min_trials=6),
            {("min_trials", "MIN_ABOVE_MAX"), ("min_trials", "NOTHING_TO_DELAY")},
        ),
        (StopRules(min_trials=36), {("min_trials", "NOTHING_TO_DELAY")}),
        (
            StopRules(min_trials=0, joint_deviations=math.nan),
            {
                ("min_trials", "OUT_OF_RANGE"),
                ("joint_deviations", "NOT_POSITIVE"),
                ("joint_deviations", "NOTHING_TO_COMPARE"),
            },
        ),
    ],
)
def test_every_fault_of_the_stop_rules_is_named(
    engine: Engine, rules: StopRules, faults: set[tuple[str, str]]
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        RolloutRun(engine, _POSITION, rules)
    assert {(fault.field, fault.reason) for fault in caught.value.faults} == faults


def test_illegal_and_repeated_plays_are_named() -> None:
    plays = legal_plays(Position.start(), _ROLL)
    wrong = legal_plays(Position.start(), Dice(6, 5))[0]
    with pytest.raises(InvalidInputError) as caught:
        play_rollout(GameState(), _ROLL, [plays[0], wrong, plays[0]], _SHORT)
    assert [(fault.field, fault.reason) for fault in caught.value.faults] == [
        ("plays[1]", "ILLEGAL_PLAY"),
        ("plays[2]", "DUPLICATE_PLAY"),
    ]
    with pytest.raises(InvalidInputError):
        play_rollout(GameState(), _ROLL, [], _SHORT)


def test_a_finished_game_is_not_rolled_out() -> None:
    points = [0] * 26
    points[19] = -3
    over = GameState(Position(tuple(points)))
    with pytest.raises(WrongMomentError):
        position_rollout(over, _SHORT)


def test_nobody_rolls_while_a_double_waits_for_its_answer() -> None:
    with pytest.raises(WrongMomentError) as caught:
        position_rollout(GameState(double_offered=True), _SHORT)
    assert caught.value.reason == "OFFER_PENDING"


@pytest.mark.parametrize(
    "state",
    [
        GameState(match=MatchScore(5, 4, 2, crawford=True)),
        GameState(match=MatchScore(1)),
        GameState(cube=Cube(2, CubeOwner.OPPONENT)),
        GameState(cube=Cube(64, CubeOwner.ON_ROLL)),
    ],
)
def test_where_no_double_is_possible_there_is_nothing_to_compare(state: GameState) -> None:
    with pytest.raises(InvalidInputError) as caught:
        cube_rollout(state, _SHORT)
    assert [fault.reason for fault in caught.value.faults] == ["NO_DOUBLE_POSSIBLE"]
