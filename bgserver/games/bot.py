"""What bots and the autopilot do at a table: one action at a time. Stable: `bot_action`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bgserver.engine.bots import choose_cube_action, choose_play
from bgserver.engine.errors import WrongMomentError
from bgserver.engine.met import match_chances
from bgserver.engine.player import CubeMove
from bgserver.engine.position import Cube, CubeOwner, MatchScore, Resignation
from bgserver.games import actions as act
from bgserver.games import cube, turn
from bgserver.games.rules import RaccoonOwner
from bgserver.games.scoring import counted_result
from bgserver.games.state import Stage, to_act
from bgserver.games.views import game_state

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.levels import Level
    from bgserver.engine.position import GameState, Position, Seat
    from bgserver.engine.strength import DecisionKey, Strength
    from bgserver.engine.work import Work
    from bgserver.games.actions import Action
    from bgserver.games.state import TableState

__all__ = ["BeaverOption", "beaver_options", "bot_action", "play_to"]

_DROP = -0.5
"""What dropping a beaver or raccoon loses, in points of the cube that playing on would give."""


@dataclass(frozen=True, slots=True)
class BeaverOption:
    """An answer to a beaver or a raccoon."""

    action: Action
    """What may be done."""
    after: GameState | None
    """The moment after it, whose equity with cube and score tells what it is worth to the player on
    turn; None for a drop."""
    factor: float = 1.0
    """What turns that equity into points of the cube that playing on gives, for who answers."""
    most: float = math.inf
    """The opponent can hold the worth down to this."""

    def worth(self, equity: float) -> float:
        """What it is worth to whoever answers.

        Args:
            equity: Of `after`; without meaning for a drop.
        """
        return _DROP if self.after is None else min(self.factor * equity, self.most)


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

    Beavers, raccoons and resignations are answered by the level's plain judgement: errors are made
    in doubling, taking and playing only.

    Args:
        engine: What judges.
        state: The state of the table; the bot in `seat` must be to act.
        seat: The bot's seat.
        player: Level and strength of the bot.
        key: Which decision this is, for the errors of a bot that makes some.
        doubles: Whether it may offer doubles; the autopilot never does (6.5).

    Raises:
        WrongMomentError: `NOT_YOUR_TURN` if the table does not wait for this seat.
    """
    if seat not in to_act(state):
        raise WrongMomentError(
            reason="NOT_YOUR_TURN", message="the table does not wait for this seat"
        )
    if state.stage is Stage.GAME_OVER:
        return act.NextGame()
    if state.resigning is not None:
        return (yield from _answer_resignation(engine, state, seat, player[0]))
    if state.stage is Stage.DOUBLE:
        return (yield from _answer_double(engine, state, player, key))
    if state.stage in {Stage.BEAVER, Stage.RACCOON}:
        return (yield from _answer_beaver(engine, state, player[0]))
    if state.stage is Stage.TO_ROLL:
        if not doubles or cube.double_refusals(state, seat):
            return act.Roll()
        choice = yield from choose_cube_action(engine, game_state(state), player, key)
        return act.Double() if choice.move is CubeMove.DOUBLE else act.Roll()
    return (yield from _play(engine, state, player, key))


def play_to(state: TableState, result: Position) -> act.PlayTurn | None:
    """The action that finishes the turn with a board, seen by the player on turn; None if none."""
    steps = turn.rest_to(state, result)
    if steps is None:
        return None
    return act.PlayTurn(tuple((step.source, step.target) for step in steps))


def _play(
    engine: Engine, state: TableState, player: tuple[Level, Strength], key: DecisionKey
) -> Work[Action]:
    """The rest of a turn; steps that have been made are kept (6.3)."""
    whole, dice = game_state(state), state.dice
    if dice is None:
        raise WrongMomentError(reason="NOT_ROLLED", message="there are no dice to play")
    first = turn.first_turn(state)
    if not state.steps:
        choice = yield from choose_play(engine, whole, dice, player, first_turn=first, key=key)
        boards = [choice.play.result]
    else:
        ranked = yield from engine.rank(whole, dice, player[0], first_turn=first)
        boards = [entry.play.result for entry in ranked]
    for board in boards:
        action = play_to(state, board)
        if action is not None:
            return action
    message = "every legal step leads to a ranked play"
    raise AssertionError(message)


def _answer_double(
    engine: Engine, state: TableState, player: tuple[Level, Strength], key: DecisionKey
) -> Work[Action]:
    choice = yield from choose_cube_action(engine, game_state(state), player, key)
    if choice.move is CubeMove.PASS:
        return act.Drop()
    if choice.move is CubeMove.BEAVER and not cube.beaver_refusals(state, state.turn.other):
        return act.Beaver()
    return act.Take()


def beaver_options(state: TableState) -> list[BeaverOption]:
    """What may be answered to a beaver or a raccoon, and what tells what that is worth."""
    doubler = state.turn
    if state.stage is Stage.RACCOON:
        after = _accepted(state, 2, cube.owner_after(state))
        return [BeaverOption(act.PlayOn(), after, factor=-1.0), BeaverOption(act.Drop(), None)]
    options = [BeaverOption(act.PlayOn(), _accepted(state, 2, doubler.other))]
    if not cube.drop_refusals(state, doubler):
        options.append(BeaverOption(act.Drop(), None))
    if not cube.raccoon_refusals(state, doubler):
        keeps = state.setup.rules.raccoon_owner is RaccoonOwner.RACCOONER
        after = _accepted(state, 4, doubler if keeps else doubler.other)
        options.append(BeaverOption(act.Raccoon(), after, factor=2.0, most=1.0))
    return options


def _answer_beaver(engine: Engine, state: TableState, level: Level) -> Work[Action]:
    """Play on, drop or raccoon, whichever promises most."""
    worths: list[tuple[float, Action]] = []
    for option in beaver_options(state):
        equity = 0.0
        if option.after is not None:
            equity = yield from _equity(engine, option.after, level)
        worths.append((option.worth(equity), option.action))
    return max(worths, key=lambda worth: worth[0])[1]


def _accepted(state: TableState, factor: int, owner: Seat) -> GameState:
    """The moment after an offer has been accepted, seen by the player on turn."""
    asked = game_state(state)
    value = factor * state.cube_value
    side = CubeOwner.ON_ROLL if owner is state.turn else CubeOwner.OPPONENT
    accepted = Cube(value, side, max(value, asked.cube.cap))
    return replace(asked, cube=accepted, double_offered=False, beaver_level=0)


def _equity(engine: Engine, state: GameState, level: Level) -> Work[float]:
    evaluation = yield from engine.evaluate(state, level)
    return evaluation.cubeful_equity


def _answer_resignation(
    engine: Engine, state: TableState, seat: Seat, level: Level
) -> Work[Action]:
    """Accept what is at least as good as playing on."""
    if state.last_answer:
        return act.AcceptResignation()
    asked = replace(game_state(state), resignation=Resignation.NONE, acting=None)
    equity, chances = yield from _worth(engine, asked, state, level)
    if seat is not state.turn:
        equity = -equity
        chances = None if chances is None else 1.0 - chances
    offered = counted_result(state, state.resignation)
    if chances is None or asked.match is None:
        accepts = int(offered) >= equity
    else:
        match = asked.match if seat is state.turn else _turned(asked.match)
        points = int(offered) * state.cube_value
        met = engine.met.extended(match.length)
        accepts = match_chances(met, match, points, won=True) >= chances
    return act.AcceptResignation() if accepts else act.RefuseResignation()


def _worth(
    engine: Engine, asked: GameState, state: TableState, level: Level
) -> Work[tuple[float, float | None]]:
    """Equity and match winning chances of the player on turn, with the dice if there are any."""
    if state.stage is Stage.MOVING and state.dice is not None:
        first = turn.first_turn(state)
        ranked = yield from engine.rank(asked, state.dice, level, first_turn=first)
        return ranked[0].equity, ranked[0].match_winning_chances
    evaluation = yield from engine.evaluate(asked, level)
    return evaluation.cubeful_equity, evaluation.match_winning_chances


def _turned(match: MatchScore) -> MatchScore:
    return MatchScore(match.length, match.opponent, match.on_roll, match.crawford)
