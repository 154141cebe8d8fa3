"""Requests and results of simulations."""

from __future__ import annotations

import secrets
from dataclasses import fields
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault
from bgserver.engine.levels import Level
from bgserver.engine.position import Seat, Variant
from bgserver.engine.simulation import SimulationSpec
from bgserver.formats.notation import format_play
from bgserver.games.rules import (
    AutoDoubleScope,
    LongNardyRules,
    NextStarter,
    OpeningDice,
    OpeningStarter,
    Rules,
    Session,
    match_length_faults,
)
from bgserver.server.convert_enums import SEAT
from bgserver.server.convert_player import read_player
from bgserver.server.convert_rules import read_rules
from bgserver.server.convert_state import dice_message, position_message, refuse
from bgserver.v1 import simulation_pb2

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from bgserver.engine.simulation import GameRecord, TurnRecord, UnitResult
    from bgserver.engine.statistics import Estimate, Statistics

__all__ = ["read_simulation", "statistics_message", "unit_messages"]

_DEFAULT_PRESET = "money"


def read_simulation(
    request: simulation_pb2.SimulateRequest, most: int, levels: Collection[Level]
) -> SimulationSpec:
    """What is to be simulated.

    Args:
        request: The request.
        most: Most games or matches.
        levels: The levels that judge; RANDOM is added here.

    Raises:
        InvalidInputError: Something is wrong or not supported; every fault is named.
    """
    faults: list[Fault] = []
    allowed = [*levels, Level.RANDOM]
    first = read_player(request.first, allowed, faults, "first")
    second = read_player(request.second, allowed, faults, "second")
    if not 1 <= request.count <= most:
        message = f"expected 1 to {most}, got {request.count}"
        faults.append(Fault("count", "OUT_OF_RANGE", message))
    rules = read_rules(request.preset, _DEFAULT_PRESET, request.rules, faults)
    length: int | None = None
    if rules is not None:
        faults.extend(
            Fault(f"rules.{name}", "UNSUPPORTED_OPTION", message)
            for name, message in _unsupported(rules)
        )
        length = request.match_length if request.HasField("match_length") else None
        faults.extend(match_length_faults(rules, length))
        if length is None and rules.session is Session.MATCH:
            length = min(rules.match_lengths, default=None)
            if length is None:
                message = "these rules name no match lengths, so the request must give one"
                faults.append(Fault("match_length", "MATCH_LENGTH_REQUIRED", message))
    refuse(faults)
    if rules is None or first is None or second is None:
        message = "a request without faults was not read"
        raise AssertionError(message)
    return SimulationSpec(
        variant=rules.variant,
        match_length=length,
        cube=rules.has_cube,
        cube_cap=rules.cube_cap or 1,
        crawford=bool(rules.crawford),
        jacoby=bool(rules.jacoby),
        beaver=bool(rules.beaver),
        opening_lower_starts=rules.opening_starter is OpeningStarter.LOWER,
        opening_fresh_roll=rules.opening_dice is OpeningDice.FRESH_ROLL,
        auto_double=rules.auto_double.value if rules.auto_double is not None else "none",
        count=request.count,
        seed=request.seed if request.HasField("seed") else secrets.randbits(32),
        levels=(first[0], second[0]),
        strengths=(first[1], second[1]),
        records=request.include_records,
    )


def _unsupported(rules: Rules) -> Iterator[tuple[str, str]]:
    """Parameters whose values the simulation does not play (`rules.md` 7.14)."""
    not_played = {
        "holland": rules.holland,
        "raccoon": rules.raccoon,
        "forbid_dead_cube": rules.forbid_dead_cube,
        "jacoby_auto_double_counts": rules.jacoby_auto_double_counts,
        "next_starter": rules.next_starter is not NextStarter.OPENING,
        "beaver_may_be_dropped": rules.beaver_may_be_dropped is False,
        "backgammon_needs_none_off": rules.backgammon_needs_none_off is False,
        "auto_double_limit": rules.auto_double_limit not in {None, 1},
        "auto_double_b_scope": rules.auto_double_b_scope
        not in {None, AutoDoubleScope.FIRST_ROLL_OF_GAME},
        "highest_result": rules.highest_result != (2 if rules.variant is Variant.LONG_NARDY else 3),
    }
    if rules.has_cube and rules.variant is Variant.LONG_NARDY:
        yield "cube", "long nardy is played without a cube"
    for name, is_wanted in not_played.items():
        if is_wanted:
            yield name, f"the simulation does not play with this value of {name}"
    if rules.long_nardy is not None:
        played = LongNardyRules()
        for field in fields(LongNardyRules):
            value = getattr(rules.long_nardy, field.name)
            if value != getattr(played, field.name):
                name = f"long_nardy.{field.name}"
                yield name, f"the simulation does not play with this value of {name}"


def unit_messages(unit: UnitResult) -> list[simulation_pb2.SimulateResponse]:
    """The results of a game, or of a match and its games; `game.index` is left to the caller."""
    messages = [
        simulation_pb2.SimulateResponse(
            game=_game_message(game, unit.index if unit.is_match else 0)
        )
        for game in unit.games
    ]
    if unit.is_match:
        first_points, second_points = unit.points
        match = simulation_pb2.MatchResult(
            index=unit.index,
            winner=SEAT.to_api(unit.winner),
            first_points=first_points,
            second_points=second_points,
            games=len(unit.games),
        )
        messages.append(simulation_pb2.SimulateResponse(match=match))
    return messages


def _game_message(game: GameRecord, match_index: int) -> simulation_pb2.GameResult:
    return simulation_pb2.GameResult(
        match_index=match_index,
        winner=SEAT.to_api(game.winner),
        points=game.points,
        result=game.result,
        cube_value=game.cube_value,
        end=simulation_pb2.GAME_END_DROPPED if game.dropped else simulation_pb2.GAME_END_BORNE_OFF,
        turns=game.turns,
        record=map(_turn_message, game.record or ()),
    )


def _turn_message(turn: TurnRecord) -> simulation_pb2.TurnRecord:
    return simulation_pb2.TurnRecord(
        seat=SEAT.to_api(turn.seat),
        position=position_message(turn.position),
        cube_value=turn.cube_value,
        doubled=turn.doubled,
        taken=turn.taken,
        beavered=turn.beavered,
        dice=dice_message(turn.dice) if turn.dice is not None else None,
        play=format_play(turn.play, turn.position) if turn.play is not None else "",
    )


def statistics_message(
    statistics: Statistics, *, seed: int, done: int, final: bool
) -> simulation_pb2.SimulateResponse:
    """Running statistics."""
    wins = statistics.wins
    message = simulation_pb2.SimulationStatistics(
        games=statistics.games,
        matches=statistics.matches,
        points_per_game=_estimate_message(statistics.points_per_game),
        game_win_rate=_estimate_message(statistics.game_win_rate),
        match_win_rate=_estimate_message(statistics.match_win_rate) if statistics.matches else None,
        first_wins=wins[Seat.FIRST],
        second_wins=wins[Seat.SECOND],
        dropped=statistics.dropped,
        mean_turns=statistics.mean_turns,
        mean_cube=statistics.mean_cube,
        seed=seed,
        final=final,
        done=done,
        first_loss=statistics.mean_loss(Seat.FIRST),
        second_loss=statistics.mean_loss(Seat.SECOND),
    )
    return simulation_pb2.SimulateResponse(statistics=message)


def _estimate_message(estimate: Estimate) -> simulation_pb2.Estimate:
    return simulation_pb2.Estimate(mean=estimate.mean, low=estimate.low, high=estimate.high)
