"""Two servers play each other over gRPC; the same match within one process has the same games.

    python -m bench.engine_matches --games 1000 --preset money

Starts two servers of this checkout, lets one of them play the match with the other's engine and
its own, both over gRPC, then alone, and compares every game with every turn.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import grpc

from bgserver.v1 import common_pb2, simulation_pb2, simulation_pb2_grpc
from tests.serving import serving

if TYPE_CHECKING:
    from collections.abc import Sequence


def _play(
    address: str, request: simulation_pb2.SimulateRequest
) -> tuple[list[simulation_pb2.GameResult], simulation_pb2.SimulationStatistics, float]:
    games = []
    statistics = simulation_pb2.SimulationStatistics()
    start = time.monotonic()
    with grpc.insecure_channel(address) as channel:
        for event in simulation_pb2_grpc.SimulationServiceStub(channel).Simulate(request):
            if event.HasField("game"):
                games.append(event.game)
            elif event.HasField("statistics"):
                statistics = event.statistics
    return games, statistics, time.monotonic() - start


def _without_own_judgement(
    games: Sequence[simulation_pb2.GameResult],
) -> Sequence[simulation_pb2.GameResult]:
    """An engine elsewhere does not tell what it thinks of its own errors."""
    for game in games:
        game.first_seat.ClearField("own_plays")
        game.second_seat.ClearField("own_plays")
    return games


def main() -> None:
    """Play, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--preset", default="money")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--strengths", default="100,60", help="of the two engines")
    options = parser.parse_args()
    first, second = map(int, options.strengths.split(","))
    request = simulation_pb2.SimulateRequest(
        preset=options.preset,
        count=options.games,
        seed=options.seed,
        seating=simulation_pb2.SEATING_DUPLICATE,
        first=common_pb2.Player(numeric_strength=first),
        second=common_pb2.Player(numeric_strength=second),
        include_records=True,
    )
    allow_all = ("--remote-engine", "*")
    with serving(*allow_all) as ours, serving(*allow_all) as theirs:
        alone, statistics, seconds = _play(ours, request)
        print(f"in one process: {len(alone)} games in {seconds:.1f} s")
        request.first.address, request.second.address = ours, theirs
        apart, _, seconds = _play(ours, request)
        print(f"over gRPC: {len(apart)} games in {seconds:.1f} s")
    same = _without_own_judgement(alone) == _without_own_judgement(apart)
    points = statistics.points_per_game
    print(f"points a game {points.mean:+.3f} ({points.low:+.3f} to {points.high:+.3f})")
    chance = f"{statistics.p_value:.2g}" if statistics.HasField("p_value") else "unknown"
    print(f"p = {chance}, {statistics.observations} pairs")
    print("the same games" if same else "DIFFERENT GAMES")
    if not same:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
