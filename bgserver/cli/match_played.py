"""What of a match has been played, before and now, and how it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.cli.match_report import Course, points_remark
from bgserver.cli.progress import counter
from bgserver.games.simulation import Seating
from bgserver.games.statistics import Statistics
from bgserver.server.convert_simulation import read_unit, statistics_message
from bgserver.v1 import simulation_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from google.protobuf.message import Message

    from bgserver.cli.match_state import MatchState
    from bgserver.games.simulation import UnitResult

__all__ = ["Played"]


class Played:
    """What has been played, before and now."""

    def __init__(
        self,
        request: simulation_pb2.SimulateRequest,
        keeper: MatchState | None,
    ) -> None:
        """Begin with what the keeper has; the request is made to go on from there."""
        name = simulation_pb2.Seating.Name(request.seating).removeprefix("SEATING_")
        seating = Seating[name]
        self.statistics = Statistics(seating)
        self.course = Course(request.count)
        self.done = 0
        self._request = request
        self._keeper = keeper
        for unit in () if keeper is None else keeper.units[: request.count]:
            self._count(unit)
        if seating is Seating.DUPLICATE and self.done % 2 == 1 and self.done < request.count:
            # The stream begins with whole pairs: the half that is there already comes again.
            request.first_unit = self.done - 1
        else:
            request.first_unit = self.done

    def _count(self, unit: UnitResult) -> None:
        self.statistics.add(unit)
        self.course.add(self.statistics)
        self.done += 1

    def message(self) -> simulation_pb2.SimulationStatistics:
        """All figures."""
        seed, final = self._request.seed, self.done >= self._request.count
        answer = statistics_message(self.statistics, seed=seed, done=self.done, final=final)
        return answer.statistics

    def follow(self, events: Iterator[Message]) -> None:
        """Count what is played, under a bar; Ctrl-C ends it."""
        games: list[simulation_pb2.GameResult] = []
        with counter("playing", self._request.count, done=self.done) as advance:
            try:
                for event in events:
                    if not isinstance(event, simulation_pb2.SimulateResponse):
                        message = f"expected SimulateResponse, got {type(event).__name__}"
                        raise TypeError(message)
                    if event.HasField("game"):
                        games.append(event.game)
                    if event.HasField("match"):
                        self._end_unit(games, event.match, advance)
                    elif event.HasField("game") and event.game.ends_session:
                        self._end_unit(games, None, advance)
            except KeyboardInterrupt:
                pass  # what has been played is shown

    def _end_unit(
        self,
        games: list[simulation_pb2.GameResult],
        match: simulation_pb2.MatchResult | None,
        advance: Callable[[int, str], None],
    ) -> None:
        for game in games:
            game.ClearField("index")  # its number within this stream, of which there may be more
        unit = read_unit(games, match)
        if unit.index >= self.done:
            if self._keeper is not None:
                self._keeper.add(games, match)
            self._count(unit)
        games.clear()
        advance(self.done, points_remark(self.statistics.points_per_game))
