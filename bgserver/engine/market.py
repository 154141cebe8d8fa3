"""Market losers: which exchanges of rolls turn a take into a pass.

An exchange is a roll of the player on roll, played best, and a roll of the opponent, played best:
36 x 36, each as likely as any other. After some of them the player on roll, who did not double,
finds that the opponent now has a correct pass: there his market is lost. Many market losers are the
usual reason to double now. Plays and passes are judged statically, with the cube as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.cube_plan import plan_cube
from bgserver.engine.cube_rules import check_cube_question, cube_state
from bgserver.engine.moments import require_playing
from bgserver.engine.plays import board_array
from bgserver.engine.position import Dice, Position
from bgserver.kernels import cube_actions, cubeful
from bgserver.kernels.cube import cube_efficiency, may_double, passed_utility
from bgserver.kernels.cube_exact import exact_double_take, exact_pair
from bgserver.kernels.evaluate import evaluate_before_roll
from bgserver.kernels.moves import BACKGAMMON, turn_board
from bgserver.kernels.network import N_OUTPUTS, game_outcome
from bgserver.kernels.search import HIGH, LOW, N_ROLLS, WAYS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.position import GameState
    from bgserver.engine.work import Work
    from bgserver.kernels.cube import CubeState, MatchTable

__all__ = ["EXCHANGES", "MarketLosers", "MarketRoll", "market_losers"]

EXCHANGES = 1296
"""Exchanges of rolls: 36 x 36."""


@dataclass(frozen=True, slots=True)
class MarketRoll:
    """A roll of the player on roll and what comes of it."""

    dice: Dice
    """The roll."""
    ways: int
    """Rolls of 36 that it stands for: 1 for doubles, else 2."""
    result: Position
    """The board after the best play, seen by the player on roll."""
    losing: int
    """Rolls of the opponent, of 36, after which the market is lost; 36 if the play wins."""
    replies: tuple[Dice, ...]
    """These rolls, each unequal pair once."""


@dataclass(frozen=True, slots=True)
class MarketLosers:
    """The exchanges after which the opponent has a correct pass."""

    count: int
    """How many of the 1,296."""
    rolls: tuple[MarketRoll, ...]
    """All 21 rolls of the player on roll."""


def market_losers(engine: Engine, state: GameState) -> Work[MarketLosers | None]:
    """Count the market losers of the player on roll.

    Args:
        engine: What judges.
        state: Backgammon, before the roll; the position's dice are ignored.

    Returns:
        None if no double of his can gain anything, so that he has no market.

    Raises:
        InvalidInputError: The cube or the score is impossible, or the game is Long Nardy.
        WrongMomentError: The game is over.
    """
    check_cube_question(state)
    require_playing(state)
    cube, table = cube_state(state), engine.match_table(state)
    if not may_double(cube):
        return None
    core = engine.core(state.position.variant)
    plan = plan_cube(cube, table, 2).plan
    waiting = int(plan.links[0, 0, cubeful.NO_DOUBLE])
    before = board_array(state.position.turned())
    memory, cube_memory = core.threads.memory, core.threads.cube
    cubeful.choose_replies(before, plan, 0, table, core.evaluator, memory, cube_memory)
    plays = cube_memory.replies[:, 0].copy()
    rolls = []
    for number in range(N_ROLLS):
        yield
        after = plays[number]
        if game_outcome(after, BACKGAMMON) > 0:
            lost = np.ones(N_ROLLS, dtype=np.bool_)
        else:
            memory, cube_memory = core.threads.memory, core.threads.cube
            cubeful.choose_replies(after, plan, 1, table, core.evaluator, memory, cube_memory)
            lost = _lost(engine, cube_memory.replies[:, waiting], cube, table)
        rolls.append(
            MarketRoll(
                dice=Dice(int(HIGH[number]), int(LOW[number])),
                ways=int(WAYS[number]),
                result=Position(tuple(after.tolist())),
                losing=int(WAYS[lost].sum()),
                replies=tuple(
                    Dice(int(high), int(low))
                    for high, low in zip(HIGH[lost], LOW[lost], strict=True)
                ),
            )
        )
    return MarketLosers(sum(roll.ways * roll.losing for roll in rolls), tuple(rolls))


def _lost(
    engine: Engine, replies: NDArray[np.int8], cube: CubeState, table: MatchTable
) -> NDArray[np.bool_]:
    """After which replies the player on roll has a double that should be passed.

    Args:
        engine: What judges.
        replies: int8[21, 26]: boards after the opponent's plays, seen by him.
        cube: Seen by the player on roll.
        table: Match equity table.
    """
    core = engine.core(Position.start().variant)
    lost = np.zeros(N_ROLLS, dtype=np.bool_)
    running = [row for row in range(N_ROLLS) if game_outcome(replies[row], BACKGAMMON) == 0]
    if not running:
        return lost
    boards = np.zeros((len(running), 26), dtype=np.int8)
    for place, row in enumerate(running):
        turn_board(replies[row], BACKGAMMON, boards[place])
    chances = np.zeros((len(running), N_OUTPUTS), dtype=np.float32)
    scratch = core.threads.memory.scratch
    evaluate_before_roll(boards, core.code, core.evaluator, scratch, chances)
    passed = passed_utility(cube, table)
    for place, row in enumerate(running):
        board = boards[place]
        own, other = exact_pair(board, cube, core.evaluator.bearoff)
        if own > 0:
            taken = exact_double_take(own, other, 2 * cube.value, core.evaluator.bearoff)
        else:
            efficiency = cube_efficiency(board)
            _, taken, _, _ = cube_actions.cube_utilities(chances[place], cube, table, efficiency)
        lost[row] = taken > passed
    return lost
