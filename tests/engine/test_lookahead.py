"""Look-ahead against a slow average in plain Python, and where its result is known exactly."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.levels import Level
from bgserver.engine.lookahead import DEPTHS, look_ahead
from bgserver.engine.plays import board_array, legal_plays
from bgserver.engine.position import Dice, GameState, Position, Variant
from bgserver.engine.work import run
from bgserver.kernels import evaluate, search
from bgserver.kernels.network import make_scratch
from tests import naive, positions
from tests.formulas import EQUITY, scout_estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine

BOTH = pytest.mark.parametrize("variant", list(Variant))


class TooCloseError(Exception):
    """Two replies that the scout cannot tell apart in another arithmetic."""


def running_positions(variant: Variant, seed: int) -> Iterator[Position]:
    """Random positions of running games, endless."""
    for case in positions.cases(variant.value, seed):
        if not naive.is_over(case.board):
            yield Position(case.board, variant)


def static_value(engine: Engine, after: Position) -> NDArray[np.float64]:
    """The mover's chances after a play, without looking ahead."""
    core = engine.core(after.variant)
    out = np.zeros(5, dtype=np.float32)
    scratch = make_scratch(core.evaluator.networks)
    evaluate.evaluate_board(board_array(after), core.code, core.evaluator, scratch, out)
    return out.astype(np.float64)


def judge(engine: Engine, after: Position) -> int:
    """What judges a board after a play."""
    core = engine.core(after.variant)
    return int(evaluate.judge_class(board_array(after), core.code, core.evaluator))


def promising(engine: Engine, results: list[Position]) -> list[Position]:
    """The replies that the scout would let pass, by its formula."""
    raw = engine.core(results[0].variant).weights.raw
    estimates = np.array(
        [
            1e6 if result.own_off == 15 else scout_estimate(raw, result.points, result.variant)
            for result in results
        ]
    )
    order = np.argsort(-estimates, kind="stable")
    limit = float(estimates.max()) - float(search.PROMISING_WINDOW)
    chosen = [row for row in order if estimates[row] >= limit]
    if (np.abs(estimates - limit) < 2e-5).any():
        raise TooCloseError
    if len(chosen) > search.PROMISING:
        last, next_one = estimates[chosen[search.PROMISING - 1 : search.PROMISING + 1]]
        if last - next_one < 2e-5:
            raise TooCloseError
    return [results[row] for row in chosen[: search.PROMISING]]


def slow_equity(engine: Engine, after: Position) -> float:
    """The mover's equity after a play one roll ahead, as the level is defined."""
    position = after.turned()
    is_nardy = position.variant is Variant.LONG_NARDY
    first_turn = is_nardy and position.points[naive.HEAD] == 15
    # The scout is not asked where tables judge, nor where the opponent may save a gammon.
    all_count = judge(engine, after) == evaluate.CLASS_BEAROFF
    all_count = all_count or (after.own_off > 0 and after.opponent_off == 0)
    total = 0.0
    for dice in naive.ALL_ROLLS:
        plays = legal_plays(position, Dice(*dice), first_turn=first_turn)
        results = [play.result for play in plays]
        if not all_count:
            results = promising(engine, results)
        best = max(static_value(engine, result) @ EQUITY - 1 for result in results)
        total += (1 if dice[0] == dice[1] else 2) / 36 * best
    return -total


def value(engine: Engine, after: Position, depth: int) -> NDArray[np.float64]:
    """The same by the engine."""
    core = engine.core(after.variant)
    return run(look_ahead(board_array(after), depth, core.code, core.evaluator, core.threads))


@BOTH
def test_one_roll_ahead_is_the_average_over_all_rolls(engine: Engine, variant: Variant) -> None:
    """The start, where Long Nardy has its head exception, and random positions."""
    start = Position.start(variant)
    compared = 0
    for position in [start, *itertools.islice(running_positions(variant, 1), 24)]:
        with contextlib.suppress(TooCloseError):
            expected = slow_equity(engine, position)
            assert value(engine, position, 1) @ EQUITY - 1 == pytest.approx(expected, abs=2e-5)
            compared += 1
    assert compared > 12


@BOTH
@pytest.mark.parametrize(("depth", "count"), [(2, 6), (3, 2)])
def test_deeper_looks_are_the_same_average_over_looks_one_roll_shorter(
    engine: Engine, variant: Variant, depth: int, count: int
) -> None:
    core = engine.core(variant)
    memory = search.make_search_memory(core.evaluator.networks)
    for position in itertools.islice(running_positions(variant, 2), count):
        search.best_replies(board_array(position), core.code, core.evaluator, memory)
        total = np.zeros(5)
        for number, dice in enumerate(naive.ALL_ROLLS):
            reply = Position(tuple(memory.replies[number].tolist()), variant)
            total += (1 if dice[0] == dice[1] else 2) / 36 * value(engine, reply, depth - 1)
        expected = [1 - total[0], total[3], total[4], total[1], total[2]]
        np.testing.assert_allclose(value(engine, position, depth), expected, atol=1e-12)


@BOTH
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_exact_positions_stay_exact_at_every_depth(
    engine: Engine, variant: Variant, depth: int
) -> None:
    """In the two-sided bear-off tables the best static reply is the best reply."""
    points = [0] * 26
    points[2] = points[5] = points[6] = 1
    for point in (1, 4, 4):
        points[25 - point if variant is Variant.BACKGAMMON else point + 12] -= 1
    position = Position(tuple(points), variant)
    np.testing.assert_allclose(
        value(engine, position, depth), static_value(engine, position), atol=1e-6
    )


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_a_finished_game_has_nothing_ahead(engine: Engine, depth: int) -> None:
    points = [0] * 26
    points[3] = -15
    won = Position(tuple(points))
    assert value(engine, won, depth).tolist() == [1, 1, 1, 0, 0]


@BOTH
def test_levels_differ_little_on_average(engine: Engine, variant: Variant) -> None:
    """A network that knows the game predicts what it will think one roll later."""
    differences = []
    for case in itertools.islice(positions.cases(variant.value, 3), 120):
        if case.kind.startswith("played") and not naive.is_over(case.board):
            state = GameState(position=Position(case.board, variant))
            now = run(engine.evaluate(state, Level.STATIC)).probabilities[0]
            later = run(engine.evaluate(state, Level.LOOKAHEAD_1)).probabilities[0]
            differences.append(abs(now - later))
    assert np.mean(differences) < 0.05


def test_deep_looks_are_cut_into_pieces(engine: Engine) -> None:
    """Beyond two rolls each roll is a piece after which the pool can interrupt."""
    core = engine.core(Variant.BACKGAMMON)
    board = board_array(Position.start())
    pieces = [
        sum(1 for _ in look_ahead(board, depth, core.code, core.evaluator, core.threads))
        for depth in sorted(DEPTHS.values())
    ]
    assert pieces == [0, 0, 0, 21]
