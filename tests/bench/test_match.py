"""Games with duplicate dice and the measure of luck."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING

import pytest

from bench.peers import PeerError
from bench.strength.luck import LuckMeter
from bench.strength.match import EnginePlayer, play_game, play_pair, play_pairs, rolls
from bgserver.engine.levels import Level
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Dice, GameState, Position, Variant
from bgserver.engine.work import run

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
@pytest.mark.parametrize("variant", Variant)
def test_luck_is_fair(engine: Engine, variant: Variant, opening: bool) -> None:
    meter = LuckMeter(engine, variant)
    board = Position.start(variant)
    no_doubles = opening and variant is Variant.BACKGAMMON
    fair = [roll for roll in ALL_ROLLS if not (no_doubles and roll.is_double)]
    luck = [meter.luck(board, roll, opening=opening) for roll in fair]
    assert sum(luck) == pytest.approx(0, abs=1e-9)
    assert max(luck) > 0.05


def test_a_game_of_long_nardy_may_begin_with_a_double() -> None:
    openings = {next(rolls(7, pair, Variant.LONG_NARDY)) for pair in range(300)}
    assert len(openings) == 36


class FirstTurns(FirstPlay):
    """Notes which turns are called the first."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[bool] = []

    def choose(self, position: Position, dice: Dice, *, first_turn: bool) -> Position:
        self.noted.append(first_turn)
        return super().choose(position, dice, first_turn=first_turn)


def test_long_nardy_lets_each_side_take_two_from_the_head_once() -> None:
    # 3-3 is the one roll with a choice of plays on the first turn.
    dice = itertools.chain([Dice(3, 3), Dice(3, 3)], rolls(1, 0, Variant.LONG_NARDY))
    one, two = FirstTurns(), FirstTurns()
    game = play_game(one, two, dice, NoLuck(), Variant.LONG_NARDY)
    for player in (one, two):
        assert player.noted[0]
        assert not any(player.noted[1:])
    assert abs(game.points) in (1, 2)


@pytest.mark.parametrize("variant", Variant)
def test_the_static_player_plays_what_the_engine_ranks_first(
    engine: Engine, variant: Variant
) -> None:
    player = EnginePlayer(engine, Level.STATIC)
    for dice in ALL_ROLLS:
        position = Position.start(variant)
        for first_turn in (True, False):
            state = GameState(position=position)
            ranked = run(
                engine.rank(state, dice, Level.STATIC, cubeless=True, first_turn=first_turn)
            )
            position = player.choose(position, dice, first_turn=first_turn)
            assert position == ranked[0].play.result


def test_the_engine_beats_a_player_without_judgement_whatever_the_threads(engine: Engine) -> None:
    ours, theirs = EnginePlayer(engine, Level.STATIC), LastPlay()
    for variant in Variant:
        judge = LuckMeter(engine, variant)
        found = [
            sorted(
                play_pairs(
                    ours,
                    lambda: contextlib.nullcontext(theirs),
                    3,
                    range(4),
                    judge,
                    variant,
                    workers=workers,
                ),
                key=lambda pair: pair.number,
            )
            for workers in (1, 3)
        ]
        assert found[0] == found[1]
        assert sum(points for pair in found[0] for points in pair.points) > 0
