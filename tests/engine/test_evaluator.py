"""The engine's answers: consistent with each other, the same on every thread, or refused."""

from __future__ import annotations

import itertools
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.errors import InvalidInputError, WrongMomentError
from bgserver.engine.evaluator import Engine, Evaluation
from bgserver.engine.levels import Level
from bgserver.engine.lookahead import MOVE_FILTERS
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
from bgserver.engine.weights import save_weights
from bgserver.engine.work import run
from tests import naive, positions

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from bgserver.engine.ranking import RankedPlay
    from bgserver.engine.work import Work

BOTH = pytest.mark.parametrize("variant", list(Variant))
LEVELS = [Level.STATIC, Level.LOOKAHEAD_1, Level.LOOKAHEAD_2, Level.LOOKAHEAD_3]
OTHER_OWNER = {
    CubeOwner.CENTERED: CubeOwner.CENTERED,
    CubeOwner.ON_ROLL: CubeOwner.OPPONENT,
    CubeOwner.OPPONENT: CubeOwner.ON_ROLL,
}
MONEY_AND_MATCH = [
    GameState(),
    GameState(cube=Cube(2, CubeOwner.ON_ROLL), jacoby=True, beavers=True),
    GameState(cube=Cube(4, CubeOwner.OPPONENT)),
    GameState(match=MatchScore(7, 2, 4)),
    GameState(match=MatchScore(5, 4, 2, crawford=True)),
    GameState(match=MatchScore(5, 4, 3), cube=Cube(2, CubeOwner.OPPONENT)),
    GameState(match=MatchScore(1)),
]


def cases(variant: Variant, seed: int, count: int) -> list[tuple[Position, Dice, bool]]:
    """Random positions of running games with a roll and whether it is a first turn."""
    running = (
        (Position(case.board, variant), Dice(*case.dice), case.first_turn)
        for case in positions.cases(variant.value, seed)
        if not naive.is_over(case.board)
    )
    return list(itertools.islice(running, count))


def seen_by_the_opponent(state: GameState, position: Position) -> GameState:
    """The state of the opponent once a play has led to `position` (seen by the mover)."""
    match = state.match
    if match is not None:
        match = replace(match, on_roll=match.opponent, opponent=match.on_roll)
    cube = replace(state.cube, owner=OTHER_OWNER[state.cube.owner])
    return replace(state, position=position.turned(), cube=cube, match=match)


def equity_of(chances: tuple[float, ...]) -> float:
    win, gammon, backgammon, lose_gammon, lose_backgammon = chances
    return 2 * win - 1 + gammon + backgammon - lose_gammon - lose_backgammon


def result_of(position: Position, *steps: tuple[int, int]) -> Position:
    """The board after steps (source, target)."""
    board = naive.play(position.points, [(source, target, 0) for source, target in steps])
    return Position(board, position.variant)


# --- evaluation ----------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("level", LEVELS[:3])
def test_an_evaluation_is_coherent(engine: Engine, variant: Variant, level: Level) -> None:
    for position, _, _ in cases(variant, 1, 12):
        found = run(engine.evaluate(GameState(position=position), level))
        win, gammon, backgammon, lose_gammon, lose_backgammon = found.probabilities
        assert 0 <= backgammon <= gammon <= win + 1e-9
        assert win <= 1
        assert 0 <= lose_backgammon <= lose_gammon <= 1 - win + 1e-6
        assert found.cubeless_equity == pytest.approx(equity_of(found.probabilities))
        assert found.level is level
        assert found.match_winning_chances is None


@BOTH
def test_one_roll_ahead_is_the_mean_of_the_best_plays(engine: Engine, variant: Variant) -> None:
    """`evaluate` one level deeper is what `rank` says, averaged over the 21 rolls.

    A little less, where the scout has left out the best play.
    """
    left_out = []
    for position, _, _ in cases(variant, 2, 20):
        state = GameState(position=position)
        first_turn = variant is Variant.LONG_NARDY and position.points[naive.HEAD] == 15
        total = np.zeros(5)
        for dice in naive.ALL_ROLLS:
            ranked = run(
                engine.rank(state, Dice(*dice), Level.STATIC, cubeless=True, first_turn=first_turn)
            )
            total += np.array(ranked[0].probabilities) * (1 if dice[0] == dice[1] else 2)
        found = run(engine.evaluate(state, Level.LOOKAHEAD_1))
        left_out.append(equity_of(tuple(total / 36)) - found.cubeless_equity)
    assert min(left_out) > -1e-6
    assert np.mean(left_out) < 0.03
    assert np.median(left_out) < 0.01


@pytest.mark.parametrize("state", MONEY_AND_MATCH)
def test_a_play_is_worth_minus_the_opponents_turn_after_it(
    engine: Engine, state: GameState
) -> None:
    """`rank` and `evaluate` agree about cube and score, seen from both sides."""
    for position, dice, _ in cases(Variant.BACKGAMMON, 3, 15):
        here = replace(state, position=position)
        for ranked in run(engine.rank(here, dice, Level.LOOKAHEAD_1))[:3]:
            if ranked.play.result.is_finished:
                continue
            theirs = run(
                engine.evaluate(seen_by_the_opponent(here, ranked.play.result), ranked.level)
            )
            assert ranked.equity == pytest.approx(-theirs.cubeful_equity, abs=1e-5)
            assert ranked.probabilities[0] == pytest.approx(1 - theirs.probabilities[0], abs=1e-6)
            if state.match is None:
                assert ranked.match_winning_chances is theirs.match_winning_chances is None
            else:
                assert ranked.match_winning_chances is not None
                assert theirs.match_winning_chances is not None
                both = ranked.match_winning_chances + theirs.match_winning_chances
                assert both == pytest.approx(1, abs=1e-5)


def test_the_class_says_what_judged(engine: Engine) -> None:
    boards = {
        "contact": Position.start().points,
        "race": (0, 0, 0, 0, 5, 5, 0, 5, *(0,) * 10, -5, -5, -5, *(0,) * 5),
        "bearoff": (0, 3, 3, 0, 0, *(0,) * 18, -2, -1, 0),
    }
    for name, points in boards.items():
        found = run(engine.evaluate(GameState(position=Position(points)), Level.STATIC))
        assert found.position_class == name


def test_an_own_cube_is_worth_more_than_the_opponents(engine: Engine) -> None:
    worth = [
        run(engine.evaluate(GameState(cube=Cube(2, owner)), Level.STATIC)).cubeful_equity
        for owner in (CubeOwner.ON_ROLL, CubeOwner.OPPONENT)
    ]
    assert worth[0] > worth[1] + 0.1


# --- match play ----------------------------------------------------------------------------------


def test_at_double_match_point_only_winning_counts(engine: Engine) -> None:
    state = GameState(match=MatchScore(5, 4, 4))
    found = run(engine.evaluate(state, Level.STATIC))
    assert found.match_winning_chances == pytest.approx(found.probabilities[0], abs=1e-9)
    ranked = run(engine.rank(state, Dice(4, 1), Level.STATIC))
    wins = [entry.probabilities[0] for entry in ranked]
    assert wins == sorted(wins, reverse=True)
    for entry in ranked:
        assert entry.match_winning_chances == pytest.approx(entry.probabilities[0], abs=1e-9)


def test_gammons_count_by_the_score_in_the_crawford_game(engine: Engine) -> None:
    """2-away against 1-away: a gammon wins the match, a single win makes it even."""
    for position, dice, _ in cases(Variant.BACKGAMMON, 4, 12):
        state = GameState(position=position, match=MatchScore(5, 3, 4, crawford=True))
        for entry in run(engine.rank(state, dice, Level.STATIC)):
            win, gammon = entry.probabilities[:2]
            assert entry.match_winning_chances == pytest.approx(0.5 * (win + gammon), abs=1e-9)
        # The leader does not care for gammons, but loses the match with one.
        state = GameState(position=position, match=MatchScore(5, 4, 3, crawford=True))
        for entry in run(engine.rank(state, dice, Level.STATIC)):
            lost = 0.5 * (1 - entry.probabilities[0] + entry.probabilities[3])
            assert entry.match_winning_chances == pytest.approx(1 - lost, abs=1e-9)


@pytest.mark.parametrize("length", [3, 25, 64, 65, 100, 512])
def test_matches_of_every_length_are_judged(engine: Engine, length: int) -> None:
    state = GameState(match=MatchScore(length))
    found = run(engine.evaluate(state, Level.STATIC))
    assert found.match_winning_chances is not None
    assert 0.45 < found.match_winning_chances < 0.6
    money = run(engine.evaluate(GameState(), Level.STATIC))
    if length >= 64:  # far from the end a match is played like money
        assert found.cubeful_equity == pytest.approx(money.cubeful_equity, abs=0.03)
    best = run(engine.rank(state, Dice(3, 1), Level.STATIC))[0]
    assert best.play.result == result_of(state.position, (8, 5), (6, 5))


def test_cubeless_ranking_knows_neither_cube_nor_score(engine: Engine) -> None:
    for position, dice, _ in cases(Variant.BACKGAMMON, 5, 10):
        answers = [
            run(engine.rank(replace(state, position=position), dice, Level.STATIC, cubeless=True))
            for state in MONEY_AND_MATCH
        ]
        assert all(answer == answers[0] for answer in answers)
        for entry in answers[0]:
            assert entry.equity == pytest.approx(equity_of(entry.probabilities), abs=1e-9)
            assert entry.match_winning_chances is None


def test_long_nardy_is_played_for_points_at_every_score(engine: Engine) -> None:
    start = Position.start(Variant.LONG_NARDY)
    money = run(engine.rank(GameState(position=start), Dice(3, 3), Level.STATIC, first_turn=True))
    state = GameState(position=start, match=MatchScore(3, 2, 1))
    match = run(engine.rank(state, Dice(3, 3), Level.STATIC, first_turn=True))
    assert match == money
    assert run(engine.evaluate(state, Level.STATIC)).match_winning_chances is None


# --- ranking -------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("level", LEVELS)
def test_plays_are_ranked_in_order_and_none_is_lost(
    engine: Engine, variant: Variant, level: Level
) -> None:
    count = {Level.LOOKAHEAD_2: 6, Level.LOOKAHEAD_3: 1}.get(level, 12)
    for position, dice, first_turn in cases(variant, 6, count):
        state = GameState(position=position)
        ranked = run(engine.rank(state, dice, level, first_turn=first_turn))
        expected = legal_plays(position, dice, first_turn=first_turn)
        assert sorted(entry.play.result.points for entry in ranked) == sorted(
            play.result.points for play in expected
        )
        assert all(entry.play in expected for entry in ranked)
        depths = [LEVELS.index(entry.level) for entry in ranked]
        assert depths == sorted(depths, reverse=True)
        assert ranked[0].level is level
        for first, second in itertools.pairwise(ranked):
            if first.level is second.level:
                assert first.equity >= second.equity
        for entry in ranked:
            loss = max(0.0, ranked[0].equity - entry.equity)
            assert entry.equity_loss == loss
        for depth, limit in enumerate(MOVE_FILTERS[: LEVELS.index(level)], start=1):
            assert sum(found >= depth for found in depths) <= limit.most


def test_only_plays_that_are_not_far_behind_are_looked_at_deeper(engine: Engine) -> None:
    static = run(engine.rank(GameState(), Dice(3, 1), Level.STATIC))
    ranked = run(engine.rank(GameState(), Dice(3, 1), Level.LOOKAHEAD_1))
    deeper = {entry.play.result for entry in ranked if entry.level is Level.LOOKAHEAD_1}
    near = {
        entry.play.result
        for entry in static[: MOVE_FILTERS[0].most]
        if entry.equity_loss <= MOVE_FILTERS[0].window
    }
    assert deeper == near
    assert len(near) < len(static)


@pytest.mark.parametrize("level", LEVELS)
def test_a_forced_play_is_judged_at_the_level_asked_for(engine: Engine, level: Level) -> None:
    points = [0] * 26
    points[25], points[6] = 1, 3
    for point in range(19, 25):
        points[point] = -2
    state = GameState(position=Position(tuple(points)))
    (only,) = run(engine.rank(state, Dice(6, 5), level))
    assert only.play.steps == ()
    assert only.play.result == state.position
    assert only.level is level
    assert only.equity_loss == 0


def test_a_winning_play_is_certain(engine: Engine) -> None:
    points = [0] * 26
    points[2], points[24] = 1, -15
    state = GameState(position=Position(tuple(points)))
    for level in LEVELS:
        best = run(engine.rank(state, Dice(2, 1), level))[0]
        assert best.probabilities == (1, 1, 0, 0, 0)
        assert best.equity == 2


@pytest.mark.parametrize(
    ("dice", "steps"),
    [((3, 1), ((8, 5), (6, 5))), ((4, 2), ((8, 4), (6, 4))), ((6, 1), ((13, 7), (8, 7)))],
)
@pytest.mark.parametrize("level", LEVELS[:3])
def test_openings_that_make_a_point_are_found(
    engine: Engine, dice: tuple[int, int], steps: tuple[tuple[int, int], ...], level: Level
) -> None:
    """What everybody has played for decades: make the five point, the four point, the bar."""
    best = run(engine.rank(GameState(), Dice(*dice), level))[0]
    assert best.play.result == result_of(Position.start(), *steps)


# --- many at once --------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("level", LEVELS[:3])
def test_a_batch_gives_the_bits_of_single_evaluations(
    engine: Engine, variant: Variant, level: Level
) -> None:
    count = 300 if level is Level.STATIC else 6
    chosen = [position for position, _, _ in cases(variant, 7, count)]
    points = np.array([position.points for position in chosen], dtype=np.int8)
    found = run(engine.evaluate_batch(points, variant, level))
    assert found.dtype == np.float32
    for position, row in zip(chosen, found, strict=True):
        single = run(engine.evaluate(GameState(position=position), level))
        assert row.tolist() == np.array(single.probabilities, dtype=np.float32).tolist()


def test_batches_may_be_empty_or_large(engine: Engine) -> None:
    empty = np.zeros((0, 26), dtype=np.int8)
    assert run(engine.evaluate_batch(empty, Variant.BACKGAMMON, Level.STATIC)).shape == (0, 5)
    start = np.array([Position.start().points] * 5000, dtype=np.int8)
    found = run(engine.evaluate_batch(start[:, ::1], Variant.BACKGAMMON, Level.STATIC))
    assert (found == found[0]).all()
    not_contiguous = np.asfortranarray(start[:10])
    again = run(engine.evaluate_batch(not_contiguous, Variant.BACKGAMMON, Level.STATIC))
    assert (again == found[0]).all()


def questions(engine: Engine) -> Iterator[Callable[[], Work[object]]]:
    """Questions of all kinds."""
    for variant in Variant:
        for position, dice, first_turn in cases(variant, 8, 4):
            state = GameState(position=position)
            for level in (Level.STATIC, Level.LOOKAHEAD_1, Level.LOOKAHEAD_2):
                yield partial(engine.evaluate, state, level)
            yield partial(engine.rank, state, dice, Level.LOOKAHEAD_2, first_turn=first_turn)
            if variant is Variant.BACKGAMMON:
                match = replace(state, match=MatchScore(9, 3, 5))
                yield partial(engine.rank, match, dice, Level.LOOKAHEAD_1)
                yield partial(engine.advise_cube, match, Level.LOOKAHEAD_1)


@pytest.mark.parametrize("threads", [2, 8])
def test_the_same_question_has_the_same_bits_on_every_thread(engine: Engine, threads: int) -> None:
    asked = list(questions(engine))
    expected = [run(ask()) for ask in asked]
    together = threading.Barrier(threads)

    def answer_all(seed: int) -> dict[int, object]:
        order = list(range(len(asked)))
        random.Random(seed).shuffle(order)
        together.wait()
        return {number: run(asked[number]()) for number in order}

    with ThreadPoolExecutor(threads) as pool:
        for answers in pool.map(answer_all, range(threads)):
            assert [answers[number] for number in range(len(asked))] == expected


def test_work_may_go_on_on_another_thread_after_each_piece(engine: Engine) -> None:
    """As the server's pool does it, with other work in between."""
    asked = list(questions(engine))
    expected = [run(ask()) for ask in asked]
    running: dict[int, Generator[None, None, object]] = {
        number: ask() for number, ask in enumerate(asked)
    }
    answers: dict[int, object] = {}
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        pools = itertools.cycle((first, second, second))
        while running:
            for number in list(running):
                ended, answer = next(pools).submit(_advance, running[number]).result()
                if ended:
                    answers[number] = answer
                    del running[number]
    assert [answers[number] for number in range(len(asked))] == expected


def _advance(work: Generator[None, None, object]) -> tuple[bool, object]:
    """One piece of the work: whether it ended, and its result."""
    try:
        next(work)
    except StopIteration as end:
        return True, end.value
    return False, None


# --- refusals ------------------------------------------------------------------------------------


def ask_everything(
    engine: Engine, state: GameState, level: Level
) -> list[Callable[[], Evaluation | list[RankedPlay] | object]]:
    return [
        lambda: run(engine.evaluate(state, level)),
        lambda: run(engine.rank(state, Dice(3, 1), level)),
        lambda: run(engine.advise_cube(state, level)),
    ]


def test_random_is_a_player_and_no_judge(engine: Engine) -> None:
    assert Level.RANDOM not in engine.levels
    batch = np.array([Position.start().points], dtype=np.int8)
    for ask in (
        *ask_everything(engine, GameState(), Level.RANDOM),
        lambda: run(engine.evaluate_batch(batch, Variant.BACKGAMMON, Level.RANDOM)),
    ):
        with pytest.raises(InvalidInputError) as caught:
            ask()
        (fault,) = caught.value.faults
        assert (fault.field, fault.reason) == ("level", "UNSUPPORTED_LEVEL")


@pytest.mark.parametrize("loser", [1, -1])
@pytest.mark.parametrize("level", [Level.STATIC, Level.LOOKAHEAD_2])
def test_a_finished_game_cannot_be_judged(engine: Engine, loser: int, level: Level) -> None:
    points = [0] * 26
    points[3] = 4 * loser
    state = GameState(position=Position(tuple(points)))
    for ask in ask_everything(engine, state, level):
        with pytest.raises(WrongMomentError) as caught:
            ask()
        assert caught.value.reason == "GAME_OVER"


@pytest.mark.parametrize(
    ("state", "field", "fault_reason"),
    [
        (GameState(cube=Cube(3)), "cube.value", "CUBE_VALUE_NOT_POWER_OF_TWO"),
        (GameState(cube=Cube(128)), "cube.value", "CUBE_ABOVE_CAP"),
        (GameState(match=MatchScore(5, 5, 0)), "match.on_roll", "SCORE_NOT_BELOW_LENGTH"),
        (GameState(match=MatchScore(0)), "match.length", "LENGTH_OUT_OF_RANGE"),
        (GameState(match=MatchScore(513)), "match.length", "LENGTH_OUT_OF_RANGE"),
        (
            GameState(match=MatchScore(5, 1, 1, crawford=True)),
            "match.crawford",
            "CRAWFORD_IMPOSSIBLE",
        ),
        (GameState(match=MatchScore(5), jacoby=True), "jacoby", "JACOBY_IN_MATCH"),
    ],
)
def test_an_impossible_cube_or_score_is_named(
    engine: Engine, state: GameState, field: str, fault_reason: str
) -> None:
    for ask in ask_everything(engine, state, Level.STATIC):
        with pytest.raises(InvalidInputError) as caught:
            ask()
        assert (field, fault_reason) in [(f.field, f.reason) for f in caught.value.faults]


def test_long_nardy_has_no_cube_to_ask_about(engine: Engine) -> None:
    state = GameState(position=Position.start(Variant.LONG_NARDY))
    with pytest.raises(InvalidInputError) as caught:
        run(engine.advise_cube(state, Level.STATIC))
    (fault,) = caught.value.faults
    assert (fault.field, fault.reason) == ("position.variant", "NO_CUBE_IN_LONG_NARDY")


# --- loading -------------------------------------------------------------------------------------


def test_networks_and_tables_are_listed(engine: Engine) -> None:
    listed = {(info.name, info.variant): info for info in engine.networks()}
    for variant in Variant:
        for name in ("contact", "race"):
            assert listed[name, variant].loaded
            assert listed[name, variant].version == engine.core(variant).weights.version
    assert listed["bearoff_one_sided", Variant.BACKGAMMON].loaded


def test_weights_can_come_from_another_folder(engine: Engine, tmp_path: Path) -> None:
    for variant in Variant:
        weights = replace(engine.core(variant).weights, version="mine")
        save_weights(tmp_path / f"{variant.value}.npz", weights)
    other = Engine.load(weights=tmp_path)
    assert {info.version for info in other.networks() if info.name == "race"} == {"mine"}
    state = GameState()
    assert run(other.evaluate(state, Level.STATIC)) == run(engine.evaluate(state, Level.STATIC))


def test_warming_up_reports_its_progress(engine: Engine) -> None:
    told: list[tuple[str, float]] = []
    engine.warm_up(lambda what, done: told.append((what, done)))
    shares = [done for _, done in told]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert told[-1] == ("ready", 1.0)
