"""Compiles every kernel that questions need, or loads it from the cache, by asking cheap questions.

A kernel that is missing here is compiled when somebody first asks for it, for seconds in which the
compiler lets nothing else run. `tests/server/test_warm_up.py` asks everything in a fresh process
and names the kernels that came too late.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.cube_rules import RaccoonOwner
from bgserver.engine.cube_scores import advise_by_score
from bgserver.engine.levels import Level
from bgserver.engine.market import market_losers
from bgserver.engine.player import Player, choose_randomly
from bgserver.engine.plays import board_array, legal_plays, step_graph
from bgserver.engine.position import Dice, GameState, Position, Variant
from bgserver.engine.rollout import RolloutChunk
from bgserver.engine.rollout_spec import RolloutLevels, RolloutOptions, position_rollout
from bgserver.engine.strength import BEGINNER, DecisionKey
from bgserver.engine.work import run
from bgserver.kernels import search
from bgserver.kernels.network import N_OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from bgserver.engine.evaluator import Engine

__all__ = ["warm_up"]

_ROLL = Dice(3, 1)
# Two checkers a side: few plays even three rolls ahead.
_ENDING = Position((0,) * 5 + (-1, -1) + (0,) * 12 + (1, 1) + (0,) * 5)
_BEAR_OFF = Position((0, 2, 1) + (0,) * 20 + (-1, -2, 0))


def warm_up(engine: Engine, progress: Callable[[str, float], None] | None = None) -> None:
    """Compile every kernel that questions need, or load it from the cache.

    Args:
        engine: The engine to ask.
        progress: Told (what comes next, fraction done).
    """
    steps: list[tuple[str, Callable[[], object]]] = []
    for variant in Variant:
        name = variant.value.replace("_", " ")
        steps += [
            (f"plays, {name}", partial(_plays, variant)),
            (f"networks, {name}", partial(_networks, engine, variant)),
            (f"look-ahead, {name}", partial(_look_ahead, engine, variant)),
        ]
    steps += [
        ("cube", partial(_cube, engine)),
        ("bots", partial(_bots, engine)),
        ("rollouts", partial(_rollouts, engine)),
    ]
    for number, (what, step) in enumerate(steps):
        if progress is not None:
            progress(what, number / len(steps))
        step()
    if progress is not None:
        progress("ready", 1.0)


def _plays(variant: Variant) -> None:
    start = Position.start(variant)
    legal_plays(start, _ROLL)
    step_graph(start, _ROLL)


def _networks(engine: Engine, variant: Variant) -> None:
    state = GameState(position=Position.start(variant))
    run(engine.evaluate(state, Level.STATIC))
    run(engine.rank(state, _ROLL, Level.STATIC))
    run(Player(engine, Level.STATIC).choose(state, _ROLL, first_turn=True))
    points = board_array(state.position)[None]
    run(engine.evaluate_batch(points, variant, Level.STATIC))


def _look_ahead(engine: Engine, variant: Variant) -> None:
    """What the levels call, without paying for a deep search of a whole game."""
    state = GameState(position=Position.start(variant))
    run(engine.rank(state, _ROLL, Level.LOOKAHEAD_1))
    game = engine.core(variant)
    board = board_array(state.position)
    out = np.zeros(N_OUTPUTS, dtype=np.float64)
    search.look_one_roll(board, game.code, game.evaluator, game.threads.memory, out)
    search.look_two_rolls(board, game.code, game.evaluator, game.threads.memory, out)
    if variant is Variant.BACKGAMMON:
        run(engine.evaluate(state, Level.LOOKAHEAD_2))
        ending = GameState(position=_ENDING)
        run(engine.evaluate(ending, Level.LOOKAHEAD_3))
        run(engine.rank(ending, _ROLL, Level.LOOKAHEAD_3, cubeless=True))


def _cube(engine: Engine) -> None:
    state = GameState()
    run(engine.advise_cube(state, Level.STATIC))
    run(engine.advise_cube(GameState(position=_BEAR_OFF), Level.STATIC))
    raccoons = GameState(beavers=True)
    run(engine.advise_cube(raccoons, Level.STATIC, raccoon_owner=RaccoonOwner.BEAVERER))
    run(advise_by_score(engine, state, Level.STATIC, 2))
    run(market_losers(engine, state))


def _bots(engine: Engine) -> None:
    for level in (Level.STATIC, Level.LOOKAHEAD_1):
        player = Player(engine, level, BEGINNER)
        run(player.choose(GameState(), _ROLL, first_turn=False))
        run(player.wants_to_double(GameState()))
        run(player.answer_to_double(GameState()))
    choose_randomly(engine, GameState(), _ROLL, DecisionKey(), first_turn=False)


def _rollouts(engine: Engine) -> None:
    ahead = RolloutLevels(Level.LOOKAHEAD_1, Level.LOOKAHEAD_1)
    mixed = RolloutLevels(Level.LOOKAHEAD_1, Level.STATIC)
    for options in (
        RolloutOptions(truncate_plies=2),
        RolloutOptions(truncate_plies=2, truncate_level=Level.LOOKAHEAD_1, levels=ahead),
        RolloutOptions(truncate_plies=2, levels=mixed),
    ):
        run(RolloutChunk(position_rollout(GameState(), options), 0, 0, 1).work(engine))
