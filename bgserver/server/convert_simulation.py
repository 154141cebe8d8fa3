"""Requests and results of simulations."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault
from bgserver.engine.levels import Level
from bgserver.engine.position import Seat
from bgserver.formats.notation import format_play
from bgserver.games.rules import Session, match_length_faults
from bgserver.games.setup import Setup, unsupported_faults
from bgserver.games.simulation import (
    GameEnd,
    Misconduct,
    PlayedGame,
    Seating,
    SimulationSpec,
    Tally,
    UnitResult,
)
from bgserver.games.statistics import mean_loss
from bgserver.server.convert_engine import read_level
from bgserver.server.convert_enums import SEAT, EnumMap
from bgserver.server.convert_player import read_contestant
from bgserver.server.convert_rules import read_rules
from bgserver.server.convert_state import dice_message, position_message, refuse
from bgserver.v1 import simulation_pb2

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bgserver.engine.statistics import Estimate
    from bgserver.games.rules import Rules
    from bgserver.games.simulation import TurnRecord
    from bgserver.games.statistics import PlayerStatistics, Statistics
    from bgserver.server.config import ServerConfig

__all__ = ["SimulationOrder", "read_simulation", "read_unit", "statistics_message", "unit_messages"]

_DEFAULT_PRESET = "money"
_DEFAULT_DECISION_MS = 10_000
_MAX_DECISION_MS = 600_000
_MAX_SESSION_GAMES = 1000
_MAX_REMOTE_UNITS = 1 << 20  # so that the numbers of their games fit into requests

_SEATING = EnumMap(simulation_pb2.Seating, Seating, Seating.FIXED)
_END = EnumMap(simulation_pb2.GameEnd, GameEnd)
_MISCONDUCT = EnumMap(simulation_pb2.Misconduct, Misconduct)


@dataclass(frozen=True, slots=True)
class SimulationOrder:
    """What a request asks for."""

    spec: SimulationSpec
    """What is to be played."""
    first_unit: int
    """The first unit to be played."""
    decision_s: float
    """Seconds that a decision of a player at another server may take."""


def read_simulation(
    request: simulation_pb2.SimulateRequest, config: ServerConfig, levels: Collection[Level]
) -> SimulationOrder:
    """What is to be simulated.

    Args:
        request: The request.
        config: Its limits, and the other servers that may play.
        levels: The levels that judge; RANDOM is added for players.

    Raises:
        InvalidInputError: Something is wrong or not supported; every fault is named.
    """
    faults: list[Fault] = []
    allowed, remotes = [*levels, Level.RANDOM], config.remote_engines
    first = read_contestant(request.first, allowed, remotes, faults, "first")
    second = read_contestant(request.second, allowed, remotes, faults, "second")
    most = config.max_simulation_games
    if request.first.address or request.second.address:
        most = min(most, _MAX_REMOTE_UNITS)
    if not 1 <= request.count <= most:
        message = f"expected 1 to {most}, got {request.count}"
        faults.append(Fault("count", "OUT_OF_RANGE", message))
    seating = _SEATING.read(request.seating, "seating", faults)
    judge = None
    if request.judge:
        judge = read_level(request.judge, levels, faults, "judge")
    session_games = _number(request, "session_games", 1, _MAX_SESSION_GAMES, faults)
    decision_ms = _number(request, "decision_ms", _DEFAULT_DECISION_MS, _MAX_DECISION_MS, faults)
    if request.HasField("decision_ms") and not (request.first.address or request.second.address):
        message = "a time is for players at other servers, and neither player has an address"
        faults.append(Fault("decision_ms", "NO_REMOTE_PLAYER", message))
    faults.extend(_first_unit_faults(request, seating))
    rules = read_rules(request.preset, _DEFAULT_PRESET, request.rules, faults)
    length: int | None = None
    if rules is not None:
        faults.extend(unsupported_faults(rules))
        length = _match_length(request, rules, faults)
        if rules.session is Session.MATCH and session_games != 1:
            message = "a match has as many games as it takes"
            faults.append(Fault("session_games", "SESSION_IN_MATCH", message))
    refuse(faults)
    if rules is None or first is None or second is None or seating is None:
        message = "a request without faults was not read"
        raise AssertionError(message)
    spec = SimulationSpec(
        setup=Setup(rules, request.preset or _DEFAULT_PRESET, length, rules.has_cube),
        count=request.count,
        seed=request.seed if request.HasField("seed") else secrets.randbits(32),
        players=(first, second),
        seating=seating,
        session_games=session_games,
        judge=judge,
        records=request.include_records,
    )
    return SimulationOrder(spec, request.first_unit, decision_ms / 1000)


def _number(
    request: simulation_pb2.SimulateRequest, name: str, default: int, most: int, faults: list[Fault]
) -> int:
    """An optional number from 1 on."""
    if not request.HasField(name):  # type: ignore[arg-type]  # one of two names
        return default
    number: int = getattr(request, name)
    if not 1 <= number <= most:
        faults.append(Fault(name, "OUT_OF_RANGE", f"expected 1 to {most}, got {number}"))
    return number


def _first_unit_faults(
    request: simulation_pb2.SimulateRequest, seating: Seating | None
) -> list[Fault]:
    first = request.first_unit
    if first and first >= request.count:
        message = f"expected less than the count, {request.count}, got {first}"
        return [Fault("first_unit", "OUT_OF_RANGE", message)]
    if seating is Seating.DUPLICATE and first % 2 == 1:
        message = f"expected the first of two with the same dice, an even number, got {first}"
        return [Fault("first_unit", "NOT_A_PAIR", message)]
    return []


def _match_length(
    request: simulation_pb2.SimulateRequest, rules: Rules, faults: list[Fault]
) -> int | None:
    length = request.match_length if request.HasField("match_length") else None
    faults.extend(match_length_faults(rules, length))
    if length is None and rules.session is Session.MATCH:
        length = min(rules.match_lengths, default=None)
        if length is None:
            message = "these rules name no match lengths, so the request must give one"
            faults.append(Fault("match_length", "MATCH_LENGTH_REQUIRED", message))
    return length


def unit_messages(unit: UnitResult) -> list[simulation_pb2.SimulateResponse]:
    """The results of a unit's games, and of the match; `game.index` is left to the caller."""
    messages = [
        simulation_pb2.SimulateResponse(game=_game_message(game, unit)) for game in unit.games
    ]
    messages[-1].game.ends_session = not unit.is_match
    if unit.is_match:
        first_points, second_points = unit.points
        match = simulation_pb2.MatchResult(
            index=unit.index,
            first_points=first_points,
            second_points=second_points,
            games=len(unit.games),
            swapped=unit.swapped,
        )
        if unit.winner is not None:
            match.winner = SEAT.to_api(unit.winner)
        messages.append(simulation_pb2.SimulateResponse(match=match))
    return messages


def _game_message(game: PlayedGame, unit: UnitResult) -> simulation_pb2.GameResult:
    message = simulation_pb2.GameResult(
        match_index=unit.index if unit.is_match else 0,
        points=game.points,
        result=game.result,
        cube_value=game.cube_value,
        end=_END.to_api(game.end),
        turns=game.turns,
        record=map(_turn_message, game.record or ()),
        unit=unit.index,
        swapped=unit.swapped,
        first_seat=_seat_message(game, Seat.FIRST),
        second_seat=_seat_message(game, Seat.SECOND),
    )
    if game.winner is not None:
        message.winner = SEAT.to_api(game.winner)
    if game.misconduct is not None:
        message.misconduct = _MISCONDUCT.to_api(game.misconduct)
    return message


def _seat_message(game: PlayedGame, seat: Seat) -> simulation_pb2.SeatRecord:
    return simulation_pb2.SeatRecord(
        doubles=game.doubles[seat],
        beavers=game.beavers[seat],
        raccoons=game.raccoons[seat],
        own_plays=_tally_message(game.own_plays[seat]),
        judged_plays=_tally_message(game.judged_plays[seat]),
        judged_cube=_tally_message(game.judged_cube[seat]),
    )


def _tally_message(tally: Tally) -> simulation_pb2.Tally | None:
    return simulation_pb2.Tally(count=tally.count, lost=tally.lost) if tally.count else None


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
        raccooned=turn.raccooned,
    )


def read_unit(
    games: Sequence[simulation_pb2.GameResult], match: simulation_pb2.MatchResult | None
) -> UnitResult:
    """A unit out of its messages, without the turns; the opposite of `unit_messages`."""
    records = tuple(_read_game(game) for game in games)
    points = [sum(game.points for game in records if game.winner is seat) for seat in Seat]
    winner = None
    if points[0] != points[1]:
        winner = Seat.FIRST if points[0] > points[1] else Seat.SECOND
    return UnitResult(
        index=games[0].unit,
        games=records,
        winner=winner,
        points=(points[0], points[1]),
        is_match=match is not None,
        swapped=games[0].swapped,
    )


def _read_game(game: simulation_pb2.GameResult) -> PlayedGame:
    faults: list[Fault] = []
    seats = (game.first_seat, game.second_seat)
    record = PlayedGame(
        winner=SEAT.read(game.winner, "winner", faults) if game.winner else None,
        points=game.points,
        result=game.result,
        cube_value=game.cube_value,
        end=_END.read(game.end, "end", faults) or GameEnd.BORNE_OFF,
        turns=game.turns,
        misconduct=_MISCONDUCT.read(game.misconduct, "misconduct", faults)
        if game.misconduct
        else None,
        own_plays=(_read_tally(seats[0].own_plays), _read_tally(seats[1].own_plays)),
        judged_plays=(_read_tally(seats[0].judged_plays), _read_tally(seats[1].judged_plays)),
        judged_cube=(_read_tally(seats[0].judged_cube), _read_tally(seats[1].judged_cube)),
        doubles=(seats[0].doubles, seats[1].doubles),
        beavers=(seats[0].beavers, seats[1].beavers),
        raccoons=(seats[0].raccoons, seats[1].raccoons),
    )
    refuse(faults)
    return record


def _read_tally(tally: simulation_pb2.Tally) -> Tally:
    return Tally(tally.count, tally.lost)


def statistics_message(
    statistics: Statistics, *, seed: int, done: int, final: bool
) -> simulation_pb2.SimulateResponse:
    """Running statistics."""
    first, second = statistics.players
    message = simulation_pb2.SimulationStatistics(
        games=statistics.games,
        matches=statistics.matches,
        points_per_game=_estimate_message(statistics.points_per_game),
        game_win_rate=_estimate_message(statistics.game_win_rate),
        match_win_rate=_estimate_message(statistics.match_win_rate) if statistics.matches else None,
        first_wins=first.wins,
        second_wins=second.wins,
        dropped=statistics.dropped,
        mean_turns=statistics.mean_turns,
        mean_cube=statistics.mean_cube,
        seed=seed,
        final=final,
        done=done,
        first_loss=mean_loss(first.own_plays),
        second_loss=mean_loss(second.own_plays),
        first=_player_message(first),
        second=_player_message(second),
        p_value=statistics.p_value,
        observations=statistics.observations,
        draws=statistics.draws,
        shortest=statistics.shortest,
        longest=statistics.longest,
        turns_deviation=statistics.turns_deviation,
        cube_values=[
            simulation_pb2.CubeCount(value=value, games=games)
            for value, games in sorted(statistics.cube_values.items())
        ],
    )
    return simulation_pb2.SimulateResponse(statistics=message)


def _player_message(player: PlayerStatistics) -> simulation_pb2.PlayerStatistics:
    return simulation_pb2.PlayerStatistics(
        wins=player.wins,
        gammon_rate=player.gammon_rate,
        doubles=player.doubles,
        drops=player.drops,
        beavers=player.beavers,
        raccoons=player.raccoons,
        slow=player.forfeits[Misconduct.SLOW],
        failed=player.forfeits[Misconduct.FAILED],
        illegal=player.forfeits[Misconduct.ILLEGAL],
        own_plays=_tally_message(player.own_plays),
        judged_plays=_tally_message(player.judged_plays),
        judged_cube=_tally_message(player.judged_cube),
        judged_loss=mean_loss(player.judged_plays, player.judged_cube),
    )


def _estimate_message(estimate: Estimate) -> simulation_pb2.Estimate:
    return simulation_pb2.Estimate(mean=estimate.mean, low=estimate.low, high=estimate.high)
