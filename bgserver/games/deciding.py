"""Questions that a game in progress asks, and how a player of this engine answers them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from bgserver.engine.bots import choose_play
from bgserver.engine.levels import Level
from bgserver.engine.player import Choice, Player, choose_randomly
from bgserver.games import actions as act
from bgserver.games import turn
from bgserver.games.actions import Action
from bgserver.games.bot import bot_action
from bgserver.games.simulation import Misconduct
from bgserver.games.state import Stage
from bgserver.games.views import game_state

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.position import Dice, Seat
    from bgserver.engine.strength import DecisionKey
    from bgserver.engine.work import Work
    from bgserver.games.simulation import Contestant
    from bgserver.games.state import TableState

__all__ = ["Ask", "AskKind", "Reply", "answer", "judge"]


class AskKind(enum.Enum):
    """What is asked."""

    CUBE = "cube"
    """Double or roll, or the answer to what the cube offers. The reply is an action."""
    PLAY = "play"
    """How it plays the roll. The reply is a `Choice`."""
    JUDGE = "judge"
    """What a decision loses. The reply is the loss, None where there was no choice."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a seat, or about what a seat has decided."""

    kind: AskKind
    """What is asked."""
    seat: Seat
    """Whom, or about whom."""
    table: TableState
    """The table; it waits for that seat."""
    key: DecisionKey
    """Which decision this is, for the errors of players who make some."""
    decided: Action | Choice | None = None
    """JUDGE: what the seat decided."""

    @property
    def dice(self) -> Dice:
        """The roll that is to be played."""
        if self.table.dice is None:
            message = "no dice are being played"
            raise AssertionError(message)
        return self.table.dice


Reply: TypeAlias = Action | Choice | float | Misconduct | None


def answer(engine: Engine, ask: Ask, player: Contestant) -> Work[Reply]:
    """What a player of this engine decides.

    Args:
        engine: What judges.
        ask: CUBE or PLAY.
        player: The player in the seat that is asked.
    """
    if player.level is Level.RANDOM:
        return _answer_randomly(engine, ask)
    bot = (player.level, player.strength)
    if ask.kind is AskKind.CUBE:
        return (yield from bot_action(engine, ask.table, ask.seat, bot, ask.key))
    first_turn = turn.first_turn(ask.table)
    state, dice = game_state(ask.table), ask.dice
    return (yield from choose_play(engine, state, dice, bot, first_turn=first_turn, key=ask.key))


def _answer_randomly(engine: Engine, ask: Ask) -> Reply:
    """Any play with equal chance; a player who knows nothing never turns the cube."""
    if ask.kind is AskKind.PLAY:
        first_turn = turn.first_turn(ask.table)
        state = game_state(ask.table)
        return choose_randomly(engine, state, ask.dice, ask.key, first_turn=first_turn)
    stage = ask.table.stage
    if stage is Stage.TO_ROLL:
        return act.Roll()
    return act.Take() if stage is Stage.DOUBLE else act.PlayOn()


def judge(engine: Engine, ask: Ask, level: Level) -> Work[Reply]:
    """What a decision loses by the judgement of a level, in points of the cube then.

    Args:
        engine: What judges.
        ask: JUDGE; its table is the one that the seat saw.
        level: The judge.

    Returns:
        The loss; None where there was no choice, and for answers to beavers and raccoons.
    """
    state = game_state(ask.table)
    if isinstance(ask.decided, Choice):
        first_turn = turn.first_turn(ask.table)
        ranked = yield from engine.rank(state, ask.dice, level, first_turn=first_turn)
        if len(ranked) == 1:
            return None
        result = ask.decided.play.result
        found = next(entry for entry in ranked if entry.play.result == result)
        return max(0.0, ranked[0].equity - found.equity)
    if ask.table.stage not in {Stage.TO_ROLL, Stage.DOUBLE}:
        return None
    worth = yield from Player(engine, level).cube_worth(state)
    if worth is None:
        return None
    doubled = min(worth.take, worth.passed)
    if ask.table.stage is Stage.TO_ROLL:
        gain = doubled - worth.no_double
        return max(0.0, -gain if isinstance(ask.decided, act.Double) else gain)
    gain = worth.passed - worth.take  # what taking gains
    return max(0.0, gain if isinstance(ask.decided, act.Drop) else -gain)
