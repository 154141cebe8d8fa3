"""What bots and the autopilot do at a table: one action at a time. Stable: `bot_action`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.levels import Level
    from bgserver.engine.position import Seat
    from bgserver.engine.strength import DecisionKey, Strength
    from bgserver.engine.work import Work
    from bgserver.games.actions import Action
    from bgserver.games.state import TableState

__all__ = ["bot_action"]


def bot_action(
    engine: Engine,
    state: TableState,
    seat: Seat,
    player: tuple[Level, Strength],
    key: DecisionKey,
    *,
    doubles: bool = True,
) -> Work[Action]:
    """The action of a bot that is due (`Due.kind` BOT).

    Args:
        engine: What judges.
        state: The state of the table; the bot in `seat` must be to act.
        seat: The bot's seat.
        player: Level and strength of the bot.
        key: Which decision this is, for the errors of a bot that makes some.
        doubles: Whether it may offer doubles; the autopilot never does (6.5).
    """
    raise NotImplementedError
