"""Games against another engine: cubeless, for money, every roll of the dice played twice.

The games of a pair have the same dice, turn by turn, with the players' seats exchanged, so that
luck cancels as far as the games stay alike; the luck that is left is measured and taken off
(`bench.strength.luck`). Roll `k` of pair `n` depends on (seed, n, k) alone: a
match may be stopped and continued, and pairs may be played in any order on any number of threads.
"""

from __future__ import annotations

import itertools
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bench.peers import Case, Peer, PeerError
from bench.strength.record import Pair
from bgserver.engine.inspection import game_value
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Dice, GameState, Position
from bgserver.engine.work import run
from bgserver.kernels import dice as dice_kernels

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator

    from bench.peers import PeerPrograms
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.levels import Level

__all__ = [
    "EnginePlayer",
    "Opponent",
    "PeerPlayer",
    "Player",
    "play_game",
    "play_pair",
    "play_pairs",
]


class Judge(Protocol):
    """Who measures luck."""

    def luck(self, position: Position, dice: Dice, *, opening: bool) -> float:
        """Points that a roll is better than the mean for the player who rolled."""


class Player(Protocol):
    """Somebody who plays."""

    def choose(self, position: Position, dice: Dice) -> Position:
        """The board after the play, seen by the one who plays; there is something to choose."""


class EnginePlayer:
    """This engine."""

    def __init__(self, engine: Engine, level: Level) -> None:
        self._engine = engine
        self._level = level

    def choose(self, position: Position, dice: Dice) -> Position:
        """See `Player`."""
        state = GameState(position=position)
        ranked = run(self._engine.rank(state, dice, self._level, cubeless=True))
        return ranked[0].play.result


class PeerPlayer:
    """A peer."""

    def __init__(self, peer: Peer, rolls: int) -> None:
        self._peer = peer
        self._rolls = rolls

    def choose(self, position: Position, dice: Dice) -> Position:
        """See `Player`."""
        case = Case(position.points, (dice.first, dice.second))
        [answer] = self._peer.ask([case], self._rolls)
        return Position(answer.board)


class _StoppedError(Exception):
    """Nobody waits for the game any more."""


class _Stoppable:
    """A player who leaves the game when told to."""

    def __init__(self, player: Player, stopped: threading.Event) -> None:
        self._player = player
        self._stopped = stopped

    def choose(self, position: Position, dice: Dice) -> Position:
        """See `Player`."""
        if self._stopped.is_set():
            raise _StoppedError
        return self._player.choose(position, dice)


@dataclass(frozen=True, slots=True)
class Opponent:
    """Whom to play against."""

    programs: PeerPrograms
    """Where peers are found."""
    name: str
    """One of `bench.peers.NAMES`."""
    rolls: int
    """How many rolls it looks ahead."""


def rolls(seed: int, pair: int) -> Iterator[Dice]:
    """The dice of a pair: the opening roll, which is no double, then one roll a turn."""
    drawn = (Dice(*dice_kernels.roll(seed, pair, draw)) for draw in itertools.count())
    yield next(dice for dice in drawn if not dice.is_double)
    yield from drawn


@dataclass(frozen=True, slots=True)
class Game:
    """How a game ended."""

    points: int
    """Points of the player who moved first: 1, 2 or 3, negative if the other won."""
    luck: float
    """Points that the dice gave to the player who moved first."""
    turns: int
    """Turns of both players."""


def play_game(first: Player, second: Player, dice: Iterator[Dice], judge: Judge) -> Game:
    """Play a game.

    Args:
        first: Who moves first.
        second: The other.
        dice: The rolls, one a turn.
        judge: Who measures luck.

    Raises:
        PeerError: A player answers with a board that the roll does not lead to.
    """
    position = Position.start()
    luck = 0.0
    for turn, (player, roll) in enumerate(
        zip(itertools.cycle((first, second)), dice, strict=False)
    ):
        sign = 1 if turn % 2 == 0 else -1
        luck += sign * judge.luck(position, roll, opening=turn == 0)
        plays = legal_plays(position, roll)
        after = plays[0].result
        if len(plays) > 1:
            after = player.choose(position, roll)
            # One rule differs between engines, but only in plays that end the game: whether the
            # last checker may be borne off with one number where both could be used.
            if not after.is_finished and all(play.result != after for play in plays):
                message = f"illegal play of {roll} on {position.points}: {after.points}"
                raise PeerError(message)
        value = game_value(after)
        if value > 0:
            return Game(sign * value, luck, turn + 1)
        position = after.turned()
    message = "the dice came to an end"
    raise ValueError(message)


def play_pair(ours: Player, theirs: Player, seed: int, number: int, judge: Judge) -> Pair:
    """Play both games of a pair; points and luck are ours."""
    one = play_game(ours, theirs, rolls(seed, number), judge)
    two = play_game(theirs, ours, rolls(seed, number), judge)
    return Pair(number, (one.points, -two.points), (one.luck, -two.luck), (one.turns, two.turns))


def play_pairs(
    ours: Player,
    opponent: Opponent,
    seed: int,
    numbers: Collection[int],
    judge: Judge,
    *,
    workers: int,
) -> Generator[Pair]:
    """Play pairs in several threads, each with a process of the opponent's; yield them as they end.

    Closing the iterator ends games and processes.

    Raises:
        PeerError: A peer cannot be asked or answers nonsense.
    """
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in numbers:
        waiting.put(number)
    ended: queue.SimpleQueue[Pair | BaseException] = queue.SimpleQueue()
    stopped = threading.Event()

    def work() -> None:
        try:
            with Peer(opponent.programs, opponent.name) as peer:
                theirs = PeerPlayer(peer, opponent.rolls)
                stoppable = _Stoppable(ours, stopped)
                while True:
                    number = waiting.get_nowait()
                    ended.put(play_pair(stoppable, theirs, seed, number, judge))
        except (queue.Empty, _StoppedError):
            pass
        except BaseException as error:  # noqa: BLE001 - told to whoever waits for pairs
            ended.put(error)

    threads = [threading.Thread(target=work) for _ in range(min(workers, len(numbers)))]
    for thread in threads:
        thread.start()
    try:
        for _ in numbers:
            pair = ended.get()
            if isinstance(pair, BaseException):
                raise pair
            yield pair
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
