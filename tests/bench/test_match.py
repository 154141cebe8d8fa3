"""Games with duplicate dice and the measure of luck."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from bench.peers import PeerError
from bench.strength.luck import LuckMeter
from bench.strength.match import play_game, play_pair, rolls
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Dice, Position

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine

ALL_ROLLS = [Dice(first, second) for first in range(1, 7) for second in range(1, 7)]


class FirstPlay:
    """Takes the first play of the list."""

    def __init__(self) -> None:
        self.rolls: list[Dice] = []

    def choose(self, position: Position, dice: Dice, *, first_turn: bool) -> Position:
        self.rolls.append(dice)
        return legal_plays(position, dice, first_turn=first_turn)[0].result


class LastPlay:
    """Takes the last play of the list."""

    def choose(self, position: Position, dice: Dice, *, first_turn: bool) -> Position:
        return legal_plays(position, dice, first_turn=first_turn)[-1].result


class Cheat:
    """Leaves the board as it is."""

    def choose(self, position: Position, dice: Dice, *, first_turn: bool) -> Position:
        del dice, first_turn
        return position


class NoLuck:
    """A judge who sees no luck."""

    def luck(self, position: Position, dice: Dice, *, opening: bool) -> float:
        del position, dice, opening
        return 0.0


class OnePoint:
    """A judge to whom every roll is worth a point."""

    def luck(self, position: Position, dice: Dice, *, opening: bool) -> float:
        del position, dice
        return 10.0 if opening else 1.0


def test_both_games_of_a_pair_have_the_same_dice() -> None:
    dice = [list(itertools.islice(rolls(7, 3), 50)) for _ in range(2)]
    assert dice[0] == dice[1]
    assert dice[0] != list(itertools.islice(rolls(7, 4), 50))
    openings = [next(rolls(7, pair)) for pair in range(300)]
    assert not any(roll.is_double for roll in openings)
    assert len(set(openings)) == 30


def test_equal_players_share_a_pair() -> None:
    pair = play_pair(FirstPlay(), FirstPlay(), 1, 0, NoLuck())
    assert pair.points[0] == -pair.points[1]
    assert pair.turns[0] == pair.turns[1]


def test_exchanging_the_players_turns_the_result() -> None:
    ours = play_pair(FirstPlay(), LastPlay(), 1, 5, NoLuck())
    theirs = play_pair(LastPlay(), FirstPlay(), 1, 5, NoLuck())
    assert ours.points == (-theirs.points[1], -theirs.points[0])


def test_luck_is_counted_for_whoever_rolled() -> None:
    game = play_game(FirstPlay(), FirstPlay(), rolls(1, 0), OnePoint())
    others = game.turns // 2
    assert game.luck == 10 + (game.turns - others - 1) - others


def test_an_illegal_play_is_told() -> None:
    with pytest.raises(PeerError, match="illegal play"):
        play_game(Cheat(), FirstPlay(), rolls(1, 0), NoLuck())


@pytest.mark.parametrize("opening", [False, True])
def test_luck_is_fair(engine: Engine, opening: bool) -> None:
    meter = LuckMeter(engine)
    board = Position.start()
    fair = [roll for roll in ALL_ROLLS if not (opening and roll.is_double)]
    luck = [meter.luck(board, roll, opening=opening) for roll in fair]
    assert sum(luck) == pytest.approx(0, abs=1e-9)
    assert max(luck) > 0.1
