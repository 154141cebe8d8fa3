"""Games between two players: cubeless, for money, every roll of the dice played twice.

The games of a pair have the same dice, turn by turn, with the players' seats exchanged, so that
luck cancels as far as the games stay alike; the luck that is left is measured and taken off
(`bench.strength.luck`). Roll `k` of pair `n` depends on (seed, n, k) alone: a
match may be stopped and continued, and pairs may be played in any order on any number of threads.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bench.peers import Case, Peer, PeerError
from bench.strength.record import Pair
from bgserver.engine.inspection import game_value
from bgserver.engine.levels import Level
from bgserver.engine.plays import board_array, variant_code
from bgserver.engine.position import Dice, GameState, Position, Variant
from bgserver.engine.work import run
from bgserver.kernels import dice as dice_kernels
from bgserver.kernels import moves, search

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator
    from contextlib import AbstractContextManager

    import numpy as np
    from numpy.typing import NDArray

    from bench.peers import PeerPrograms
    from bgserver.engine.evaluator import Engine

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

    def choose(self, position: Position, dice: Dice, *, first_turn: bool) -> Position:
        """The board after the play, seen by the one who plays; there is something to choose.

        Args:
            position: The board of the player who rolled.
            dice: The roll.
            first_turn: Whether it is the player's first turn of the game.
        """


class EnginePlayer:
    """This engine; may be used by many threads."""

    def __init__(self, engine: Engine, level: Level) -> None:
        self._engine = engine
        self._level = level

    def choose(self, position: Position, dice: Dice, *, first_turn: bool) -> Position:
        """See `Player`."""
        if self._level is Level.STATIC:
            return self._choose_statically(position, dice, first_turn=first_turn)
        state = GameState(position=position)
        ranked = run(
            self._engine.rank(state, dice, self._level, cubeless=True, first_turn=first_turn)
        )
        return ranked[0].play.result

    def _choose_statically(self, position: Position, dice: Dice, *, first_turn: bool) -> Position:
        """What `Engine.rank` would put first, without an object for each of the plays."""
        core = self._engine.core(position.variant)
        memory = core.threads.memory
        best, _ = search.best_static(
            board_array(position),
            dice.high,
            dice.low,
            core.code,
            first_turn,
            core.evaluator,
            memory,
        )
        return _position(memory.plays.boards[best], position.variant)


class PeerPlayer:
    """A peer, which plays backgammon."""

    def __init__(self, peer: Peer, rolls: int) -> None:
        self._peer = peer
        self._rolls = rolls

    def choose(self, position: Position, dice: Dice, *, first_turn: bool) -> Position:
        """See `Player`."""
        del first_turn
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

    def choose(self, position: Position, dice: Dice, *, first_turn: bool) -> Position:
        """See `Player`."""
        if self._stopped.is_set():
            raise _StoppedError
        return self._player.choose(position, dice, first_turn=first_turn)


@dataclass(frozen=True, slots=True)
class Opponent:
    """A peer to play against."""

    programs: PeerPrograms
    """Where peers are found."""
    name: str
    """One of `bench.peers.NAMES`."""
    rolls: int
    """How many rolls it looks ahead."""

    @contextlib.contextmanager
    def seat(self) -> Iterator[PeerPlayer]:
        """A player of its own process, which ends with the context."""
        with Peer(self.programs, self.name) as peer:
            yield PeerPlayer(peer, self.rolls)


def rolls(seed: int, pair: int, variant: Variant = Variant.BACKGAMMON) -> Iterator[Dice]:
    """The dice of a pair: the opening roll, no double in backgammon, then one roll a turn."""
    drawn = (Dice(*dice_kernels.roll(seed, pair, draw)) for draw in itertools.count())
    if variant is Variant.BACKGAMMON:
        yield next(dice for dice in drawn if not dice.is_double)
    yield from drawn


def _position(board: NDArray[np.int8], variant: Variant) -> Position:
    return Position(tuple(board.tolist()), variant)


@dataclass(frozen=True, slots=True)
class Game:
    """How a game ended."""

    points: int
    """Points of the player who moved first: 1, 2 or 3, negative if the other won."""
    luck: float
    """Points that the dice gave to the player who moved first."""
    turns: int
    """Turns of both players."""


def play_game(
    first: Player,
    second: Player,
    dice: Iterator[Dice],
    judge: Judge,
    variant: Variant = Variant.BACKGAMMON,
) -> Game:
    """Play a game.

    Args:
        first: Who moves first.
        second: The other.
        dice: The rolls, one a turn.
        judge: Who measures luck.
        variant: What is played.

    Raises:
        PeerError: A player answers with a board that the roll does not lead to.
    """
    position = Position.start(variant)
    plays = moves.make_play_buffers()
    luck = 0.0
    for turn, (player, roll) in enumerate(
        zip(itertools.cycle((first, second)), dice, strict=False)
    ):
        sign = 1 if turn % 2 == 0 else -1
        luck += sign * judge.luck(position, roll, opening=turn == 0)
        first_turn = turn < 2
        count = moves.generate_plays(
            board_array(position), roll.high, roll.low, variant_code(variant), first_turn, plays
        )
        after = _position(plays.boards[0], variant)
        if count > 1:
            after = player.choose(position, roll, first_turn=first_turn)
            legal = (plays.boards[:count] == board_array(after)).all(axis=1).any()
            # One rule differs between engines, but only in plays that end the game: whether the
            # last checker may be borne off with one number where both could be used.
            if not after.is_finished and not legal:
                message = f"illegal play of {roll} on {position.points}: {after.points}"
                raise PeerError(message)
        value = game_value(after)
        if value > 0:
            return Game(sign * value, luck, turn + 1)
        position = after.turned()
    message = "the dice came to an end"
    raise ValueError(message)


def play_pair(
    ours: Player,
    theirs: Player,
    seed: int,
    number: int,
    judge: Judge,
    variant: Variant = Variant.BACKGAMMON,
) -> Pair:
    """Play both games of a pair; points and luck are ours."""
    one = play_game(ours, theirs, rolls(seed, number, variant), judge, variant)
    two = play_game(theirs, ours, rolls(seed, number, variant), judge, variant)
    return Pair(number, (one.points, -two.points), (one.luck, -two.luck), (one.turns, two.turns))


def play_pairs(
    ours: Player,
    seat: Callable[[], AbstractContextManager[Player]],
    seed: int,
    numbers: Collection[int],
    judge: Judge,
    variant: Variant = Variant.BACKGAMMON,
    *,
    workers: int,
) -> Generator[Pair]:
    """Play pairs in several threads; yield them as they end.

    Closing the iterator ends the games and leaves the seats.

    Args:
        ours: Whose points are counted; plays in all threads.
        seat: Makes an opponent; called once in each thread.
        seed: Of the dice.
        numbers: The pairs to play.
        judge: Who measures luck.
        variant: What is played.
        workers: Threads.

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
            with seat() as theirs:
                stoppable = _Stoppable(ours, stopped)
                while True:
                    number = waiting.get_nowait()
                    ended.put(play_pair(stoppable, theirs, seed, number, judge, variant))
        except (queue.Empty, _StoppedError):
            pass
        except BaseException as error:  # noqa: BLE001 -- told to whoever waits for pairs
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
