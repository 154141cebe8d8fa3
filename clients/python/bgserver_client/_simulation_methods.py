"""The method of `SimulationService`, for ordinary, blocking code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver_client import _requests
from bgserver_client._connection import Connection
from bgserver_client._streams import ResponseStream

if TYPE_CHECKING:
    from bgserver_client._requests import DepthLike, PlayerLike, SeatingName
    from bgserver_client.v1 import rules_pb2, simulation_pb2


class SimulationMethods(Connection):
    """Games between two players; a part of `Client`."""

    def simulate(
        self,
        count: int,
        *,
        preset: str = "money",
        rules: rules_pb2.Rules | None = None,
        match_length: int | None = None,
        seed: int | None = None,
        first: PlayerLike = "static",
        second: PlayerLike = "static",
        include_records: bool = False,
        statistics_only: bool = False,
        seating: SeatingName = "fixed",
        judge: DepthLike | None = None,
        session_games: int | None = None,
        first_unit: int = 0,
        decision_ms: int | None = None,
        timeout_s: float | None = None,
    ) -> ResponseStream[simulation_pb2.SimulateResponse]:
        """Play games or matches between two players; closing the stream stops them.

        Args:
            count: Games to play (in a match preset: matches).
            preset: Name of the rules, see `list_presets`.
            rules: What differs from the preset.
            match_length: Match length in points, in a match preset.
            seed: Seed of dice and errors, for the same games again; random by default.
            first: The first player: a level, a strength's name, or `player(...)`, which may sit
                at another server.
            second: The second player.
            include_records: Also return every turn of each game.
            statistics_only: Leave out the single results.
            seating: How the players change seats; `"duplicate"` plays all dice twice.
            judge: Judge every decision at this level.
            session_games: Games of a session, outside matches.
            first_unit: Leave out the games (sessions, matches) before this one.
            decision_ms: What a decision of a player at another server may take.
            timeout_s: Time limit of the whole stream; none by default.
        """
        request = _requests.simulate(
            count,
            preset=preset,
            rules=rules,
            match_length=match_length,
            seed=seed,
            first=first,
            second=second,
            include_records=include_records,
            statistics_only=statistics_only,
            seating=seating,
            judge=judge,
            session_games=session_games,
            first_unit=first_unit,
            decision_ms=decision_ms,
        )
        call = self._simulation.Simulate(request, timeout=timeout_s, metadata=self._metadata)
        return ResponseStream(call, lambda message: message)
