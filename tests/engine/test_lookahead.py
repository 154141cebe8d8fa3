"""Look-ahead against a slow average in plain Python, and where its result is known exactly."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.levels import Level
from bgserver.engine.lookahead import DEPTHS, look_ahead
from bgserver.engine.plays import board_array, legal_plays
from bgserver.engine.position import Dice, GameState, Position, Variant
from bgserver.engine.work import run
from bgserver.kernels import evaluate
from bgserver.kernels.network import make_scratch
from tests import naive, positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine

BOTH = pytest.mark.parametrize("variant", list(Variant))
EQUITY = np.array([2, 1, 1, -1, -1])


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


def replies(engine: Engine, position: Position) -> Iterator[tuple[int, Position]]:
    """For each roll its ways of 36 and the board after the best static play."""
    is_nardy = position.variant is Variant.LONG_NARDY
    first_turn = is_nardy and position.points[naive.HEAD] == 15
    for dice in naive.ALL_ROLLS:
        plays = legal_plays(position, Dice(*dice), first_turn=first_turn)
        worth = [static_value(engine, play.result) @ EQUITY for play in plays]
        yield 1 if dice[0] == dice[1] else 2, plays[int(np.argmax(worth))].result


def slow_value(engine: Engine, after: Position, depth: int) -> NDArray[np.float64]:
    """The mover's chances after a play, `depth` rolls ahead, as the levels are defined."""
    if depth == 0 or after.own_off == 15:
        return static_value(engine, after)
    total = np.zeros(5)
    for ways, reply in replies(engine, after.turned()):
        total += ways / 36 * slow_value(engine, reply, depth - 1)
    return np.array([1 - total[0], total[3], total[4], total[1], total[2]])


def value(engine: Engine, after: Position, depth: int) -> NDArray[np.float64]:
    """The same by the engine."""
    core = engine.core(after.variant)
    return run(look_ahead(board_array(after), depth, core.code, core.evaluator, core.threads))


@BOTH
def test_one_roll_ahead_is_the_average_over_all_rolls(engine: Engine, variant: Variant) -> None:
    for position in itertools.islice(running_positions(variant, 1), 16):
        np.testing.assert_allclose(
            value(engine, position, 1), slow_value(engine, position, 1), atol=2e-5
        )


@BOTH
def test_two_rolls_ahead_are_two_averages(engine: Engine, variant: Variant) -> None:
    def few_plays(position: Position) -> bool:
        return sum(abs(count) for count in position.points) <= 8

    small = filter(few_plays, running_positions(variant, 2))
    for position in itertools.islice(small, 3):
        np.testing.assert_allclose(
            value(engine, position, 2), slow_value(engine, position, 2), atol=2e-5
        )


@BOTH
def test_long_nardys_first_turns_are_looked_at_with_the_head_exception(
    engine: Engine, variant: Variant
) -> None:
    start = Position.start(variant)
    np.testing.assert_allclose(value(engine, start, 1), slow_value(engine, start, 1), atol=2e-5)


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
    """21 rolls at each depth but the last, each a piece that the pool can interrupt."""
    core = engine.core(Variant.BACKGAMMON)
    board = board_array(Position.start())
    pieces = [
        sum(1 for _ in look_ahead(board, depth, core.code, core.evaluator, core.threads))
        for depth in sorted(DEPTHS.values())
    ]
    assert pieces == [0, 0, 21, 21 + 21 * 21]
