"""What bots do in games that somebody else runs: one decision at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.cube_rules import check_cube_question, double_refusals, require_possible
from bgserver.engine.errors import WrongMomentError
from bgserver.engine.moments import require_playing, require_roll_to_play
from bgserver.engine.player import CubeChoice, CubeMove, Player
from bgserver.engine.position import Resignation

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.levels import Level
    from bgserver.engine.player import Choice
    from bgserver.engine.position import Dice, GameState
    from bgserver.engine.strength import DecisionKey, Strength
    from bgserver.engine.work import Work

__all__ = ["choose_cube_action", "choose_play"]


def choose_play(
    engine: Engine,
    state: GameState,
    dice: Dice,
    player: tuple[Level, Strength],
    *,
    first_turn: bool,
    key: DecisionKey,
) -> Work[Choice]:
    """The play that a bot makes.

    Args:
        engine: What judges.
        state: The state of the player who has rolled; its own `dice` are ignored.
        dice: The roll.
        player: Level, any but RANDOM, and strength of the bot.
        first_turn: Long Nardy: the bot's first turn.
        key: Which decision this is.

    Raises:
        InvalidInputError: Cube, score and money rules cannot go together.
        WrongMomentError: See `bgserver.engine.moments`.
    """
    require_possible(state)
    require_roll_to_play(state)
    chooser = Player(engine, *player)
    return (yield from chooser.choose(state, dice, first_turn=first_turn, key=key))


def choose_cube_action(
    engine: Engine, state: GameState, player: tuple[Level, Strength], key: DecisionKey
) -> Work[CubeChoice]:
    """What a bot does with the cube: it is the player who is to act.

    Args:
        engine: What judges.
        state: The state before the roll. If a double is on offer the bot answers it, otherwise it
            may double; where the rules allow no double it rolls.
        player: Level, any but RANDOM, and strength of the bot.
        key: Which decision this is.

    Raises:
        InvalidInputError: Cube, score and money rules cannot go together, or the game is Long
            Nardy, which has no cube.
        WrongMomentError: No game is being played; the roll must be played (`ALREADY_ROLLED`); a
            resignation, a beaver or a raccoon is on offer (`OFFER_PENDING`); or a double that the
            rules do not allow (the reason why).
    """
    check_cube_question(state)
    require_playing(state)
    if state.resignation is not Resignation.NONE:
        message = "a resignation is to be answered first"
        raise WrongMomentError(reason="OFFER_PENDING", message=message)
    if state.beaver_level > 0:
        message = "a beaver is to be answered, not a double"
        raise WrongMomentError(reason="OFFER_PENDING", message=message)
    refusals = [reason for reason in double_refusals(state) if reason != "OFFER_PENDING"]
    if "ALREADY_ROLLED" in refusals:
        message = "the roll must be played: it is too late for the cube"
        raise WrongMomentError(reason="ALREADY_ROLLED", message=message)
    if refusals and state.double_offered:
        message = f"the double on offer is not allowed here: {', '.join(refusals)}"
        raise WrongMomentError(refusals[0], message)
    if refusals:
        return CubeChoice(CubeMove.ROLL, 0.0)
    return (yield from Player(engine, *player).choose_cube_action(state, key))
