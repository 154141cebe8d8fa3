"""Simulations under all rules: in bulk and turn by turn alike, and as tables allow it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.engine.dice_stream import StreamDice
from bgserver.engine.levels import Level
from bgserver.engine.position import Seat, Variant
from bgserver.engine.strength import EXPERT, NORMAL, Strength
from bgserver.engine.work import run
from bgserver.games import actions as act
from bgserver.games.contest import play_unit
from bgserver.games.presets import PRESETS
from bgserver.games.rules import (
    AutoDouble,
    AutoDoubleScope,
    HeadException,
    HeadExceptionScope,
    HollandCount,
    HollandScope,
    Koks,
    NextStarter,
    RaccoonOwner,
)
from bgserver.games.setup import new_setup
from bgserver.games.simulation import (
    Contestant,
    GameEnd,
    PlayedGame,
    Seating,
    SimulationSpec,
    UnitResult,
)
from bgserver.games.state import Stage, apply, replay
from bgserver.games.table import decide, open_table
from tests.simulations import simulation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.engine.evaluator import Engine
    from bgserver.games.simulation import TurnRecord

_WEAK = (Strength(0), Strength(10))  # much happens
_HOLLAND = {"crawford": True, "holland": True}
_MONEY: dict[str, dict[str, Any]] = {
    "beavers": {"beaver": True, "jacoby": True},
    "beavers without a way out": {"beaver": True, "beaver_may_be_dropped": False},
    "raccoons": {"beaver": True, "raccoon": True, "raccoon_owner": RaccoonOwner.BEAVERER},
    "raccooner owns": {
        "beaver": True, "raccoon": True, "raccoon_owner": RaccoonOwner.RACCOONER, "jacoby": True,
    },
    "automatic doubles a": {"auto_double": AutoDouble.A, "auto_double_limit": 3},
    "automatic doubles b of each": {
        "auto_double": AutoDouble.B,
        "auto_double_limit": 2,
        "auto_double_b_scope": AutoDoubleScope.FIRST_ROLL_OF_EACH_SIDE,
        "jacoby": True,
        "jacoby_auto_double_counts": True,
    },
    "low cap": {"cube_cap": 4, "beaver": True, "auto_double": AutoDouble.B},
    "backgammon with checkers off": {"backgammon_needs_none_off": False},
    "no backgammon": {"highest_result": 2},
}  # fmt: skip
_MATCH: dict[str, dict[str, Any]] = {
    "crawford": {},
    "no crawford": {"crawford": False},
    "holland": {**_HOLLAND, "holland_rolls": 5},
    "holland in total": {
        **_HOLLAND,
        "holland_rolls": 9,
        "holland_count": HollandCount.TOTAL,
        "holland_scope": HollandScope.BOTH,
    },
    "no dead cube": {"forbid_dead_cube": True},
    "winner begins": {"next_starter": NextStarter.WINNER},
}
_NARDY: dict[str, dict[str, Any]] = {
    "nardy": {},
    "no head exception": {"long_nardy": {"head_exception": HeadException.NONE}},
    "one head exception": {
        "long_nardy": {"head_exception_scope": HeadExceptionScope.FIRST_TURN_OF_GAME}
    },
    "koks": {"long_nardy": {"koks": Koks.THREE}, "highest_result": 3},
    "last answer": {"long_nardy": {"last_move_draw": True}},
    "both numbers": {"fresh_roll": False, "lower_starts": True},
}


def specs() -> dict[str, SimulationSpec]:
    """Simulations under every rule that makes a difference."""
    weak: dict[str, Any] = {"strengths": _WEAK, "records": True}
    found = {name: simulation(**changes, **weak) for name, changes in _MONEY.items()}
    for name, changes in _MATCH.items():
        found[name] = simulation(match_length=4, **changes, **weak)
    for name, changes in _NARDY.items():
        found[name] = simulation(Variant.LONG_NARDY, **changes, **weak)
    found["random match"] = simulation(
        match_length=3, levels=(Level.STATIC, Level.RANDOM), records=True
    )
    found["session"] = simulation(
        session_games=3, next_starter=NextStarter.WINNER, seating=Seating.ALTERNATING, **weak
    )
    return found


_SPECS = specs()


@pytest.mark.parametrize("name", _SPECS)
def test_turns_in_bulk_are_those_one_by_one(engine: Engine, name: str) -> None:
    spec = _SPECS[name]
    for index in range(3):
        quick = run(play_unit(engine, spec, index))
        assert quick == run(play_unit(engine, spec, index, quick=False))


@pytest.mark.parametrize("players", [(EXPERT, EXPERT), (NORMAL, Strength(90))])
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset(engine: Engine, preset: str, players: tuple[Strength, Strength]) -> None:
    lengths = PRESETS[preset].rules.match_lengths
    setup = new_setup(preset, match_length=min(lengths, default=None))
    first, second = (Contestant(strength=strength) for strength in players)
    spec = SimulationSpec(setup, 4, 1, (first, second), records=True)
    for index in range(2):
        quick = run(play_unit(engine, spec, index))
        assert quick == run(play_unit(engine, spec, index, quick=False))
        check_at_a_table(spec, quick)


class Table:
    """A table that is played by its own actions."""

    def __init__(self, spec: SimulationSpec, unit: UnitResult) -> None:
        self.dice = StreamDice(spec.seed, spec.first_game(unit.index))
        self.state = replay(open_table(spec.setup, self.dice, 0.0))

    def act(self, seat: Seat, action: act.Action) -> None:
        for event in decide(self.state, seat, action, self.dice, 0.0):
            self.state = apply(self.state, event)


def check_at_a_table(spec: SimulationSpec, unit: UnitResult) -> None:
    """Every action of a unit is accepted by a table with the same dice, which ends it alike."""
    table = Table(spec, unit)
    for number, game in enumerate(unit.games):
        if number > 0:
            for seat in Seat:
                table.act(seat, act.NextGame())
        assert game.record is not None
        for turn in game.record:
            assert table.state.turn is turn.seat
            assert table.state.turn_start == turn.position
            assert table.state.cube_value == turn.cube_value
            for seat, action in cube_actions(turn):
                table.act(seat, action)
            if turn.dice is None:
                continue
            if table.state.stage is Stage.TO_ROLL:
                table.act(turn.seat, act.Roll())
            assert table.state.dice == turn.dice
            assert turn.play is not None
            steps = tuple((step.source, step.target) for step in turn.play.steps)
            table.act(turn.seat, act.PlayTurn(steps) if steps else act.Confirm())
        result = table.state.result
        assert result is not None
        assert result.winner == game.winner
        assert (result.points, result.cube) == (game.points, game.cube_value)
    assert table.state.score == unit.points


def cube_actions(turn: TurnRecord) -> Iterator[tuple[Seat, act.Action]]:
    """What happened to the cube before the roll of a turn."""
    seat, other, dropped = turn.seat, turn.seat.other, turn.dice is None
    if turn.doubled:
        yield seat, act.Double()
        takes = act.Beaver() if turn.beavered else act.Take()
        yield other, takes if turn.taken else act.Drop()
    if turn.raccooned:
        yield seat, act.Raccoon()
        yield other, act.Drop() if dropped else act.PlayOn()
    elif turn.beavered:
        yield seat, act.Drop() if dropped else act.PlayOn()


@pytest.mark.parametrize("name", [*_MONEY, *_MATCH])
def test_a_table_accepts_every_action(engine: Engine, name: str) -> None:
    spec = _SPECS[name]
    check_at_a_table(spec, run(play_unit(engine, spec, 0)))


def test_what_weak_players_do_covers_the_rules(engine: Engine) -> None:
    """The tests above would prove little if nothing happened."""

    def played(name: str, count: int) -> list[PlayedGame]:
        spec = replace(_SPECS[name], records=False)
        units = [run(play_unit(engine, spec, index)) for index in range(count)]
        return [game for unit in units for game in unit.games]

    assert any(sum(game.beavers) for game in played("beavers", 40))
    assert any(game.end is GameEnd.DROPPED for game in played("holland", 10))
    assert {game.cube_value for game in played("low cap", 40)} == {1, 2, 4}
    assert any(game.cube_value > 2 for game in played("automatic doubles a", 60))


# --- seats, dice, sessions -----------------------------------------------------------------------


def test_duplicate_dice_are_played_twice_with_the_players_in_each_others_seats(
    engine: Engine,
) -> None:
    players = (Contestant(), Contestant(strength=Strength(20)))
    spec = simulation(seating=Seating.DUPLICATE, records=True)
    spec = replace(spec, players=players)
    for pair in range(4):
        one, two = (run(play_unit(engine, spec, 2 * pair + half)) for half in range(2))
        assert (one.swapped, two.swapped) == (False, True)
        assert spec.seats(one.index) == players
        assert spec.seats(two.index) == players[::-1]
        rolls = [[turn.dice for turn in unit.games[0].record or ()] for unit in (one, two)]
        shorter = min(map(len, rolls)) - 1
        assert rolls[0][:shorter] == rolls[1][:shorter]
        again = run(play_unit(engine, replace(spec, players=players[::-1]), 2 * pair + 1))
        assert replace(again, index=one.index, swapped=False).games == one.games


def test_equal_players_come_out_even_with_duplicate_dice(engine: Engine) -> None:
    spec = simulation(seating=Seating.DUPLICATE)
    for pair in range(3):
        one, two = (run(play_unit(engine, spec, 2 * pair + half)) for half in range(2))
        assert one.games == two.games  # the same seat wins both


def test_the_winner_begins_the_next_game_of_a_session(engine: Engine) -> None:
    spec = simulation(session_games=4, next_starter=NextStarter.WINNER, records=True)
    for index in range(3):
        unit = run(play_unit(engine, spec, index))
        assert len(unit.games) == 4
        winner = unit.games[0].winner
        for game in unit.games[1:]:
            assert game.record is not None
            assert game.record[0].seat is winner
            winner = game.winner


def test_a_judge_finds_what_a_weak_player_loses(engine: Engine) -> None:
    players = (Contestant(), Contestant(strength=Strength(20)))
    spec = replace(simulation(judge=Level.STATIC, seed=2), players=players)
    for index in range(3):
        (game,) = run(play_unit(engine, spec, index)).games
        plays, cube = game.judged_plays, game.judged_cube
        # The judge is the first player's own level: it loses nothing by that.
        assert plays[0].lost == pytest.approx(0, abs=1e-5)
        assert cube[0].lost == pytest.approx(0, abs=1e-5)
        assert plays[1].lost == pytest.approx(game.own_plays[1].lost, rel=1e-4)
        assert plays[1].count == game.own_plays[1].count
        assert cube[0].count > 0


def test_random_specs_are_the_same_in_bulk(engine: Engine) -> None:
    """Rules thrown together at random."""
    rng = random.Random(6)
    for number in range(12):
        changes: dict[str, Any] = {
            "cube_cap": rng.choice([2, 8, 64]),
            "next_starter": rng.choice(list(NextStarter)),
            "highest_result": rng.choice([1, 2, 3]),
            "fresh_roll": rng.random() < 0.5,
            "lower_starts": rng.random() < 0.5,
        }
        if rng.random() < 0.5:
            changes |= rng.choice(list(_MATCH.values())) | {"match_length": rng.choice([2, 3, 5])}
        else:
            changes |= rng.choice(list(_MONEY.values()))
        strengths = (Strength(rng.choice([0, 40, 100])), Strength(rng.choice([0, 100])))
        spec = simulation(seed=number, strengths=strengths, records=True, **changes)
        quick = run(play_unit(engine, spec, number))
        assert quick == run(play_unit(engine, spec, number, quick=False))
        check_at_a_table(spec, quick)
