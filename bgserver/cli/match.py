"""The command that lets engines play each other: match."""

from __future__ import annotations

import enum
import secrets
import time
from contextlib import ExitStack, closing
from pathlib import Path  # noqa: TC003 -- typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from bgserver.cli import tables
from bgserver.cli.inputs import parse_contestant
from bgserver.cli.match_report import Course, draw, report_table, require_plots
from bgserver.cli.match_state import MatchState
from bgserver.cli.methods import method_for
from bgserver.cli.options import (
    AddressOption,
    JsonOption,
    LevelName,
    TimeoutOption,
    TokenOption,
    level_value,
    print_json,
)
from bgserver.cli.problems import INTERRUPTED
from bgserver.cli.progress import counter
from bgserver.cli.rule_inputs import SetOption, parse_rules
from bgserver.cli.transport import ask, connect
from bgserver.games.simulation import Seating
from bgserver.games.statistics import Statistics
from bgserver.server.convert_simulation import read_unit, statistics_message
from bgserver.v1 import engine_pb2, simulation_pb2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from google.protobuf.message import Message

    from bgserver.games.simulation import UnitResult

__all__ = ["register"]

_RULES = "Rules"
_PLAYERS = "Players"


class SeatingName(enum.Enum):
    """Where the players sit."""

    FIXED = "fixed"
    ALTERNATING = "alternating"
    DUPLICATE = "duplicate"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(rich_help_panel="Engine")(match)


def match(
    first: Annotated[str, typer.Argument(metavar="PLAYER", help="The first player.")],
    second: Annotated[str, typer.Argument(metavar="PLAYER", help="The second player.")],
    count: Annotated[
        int,
        typer.Option("--count", "-n", min=1, max=(1 << 32) - 1, help="Games, or matches, to play."),
    ] = 100,
    seating: Annotated[
        SeatingName,
        typer.Option(help="How the players change seats; duplicate plays all dice twice."),
    ] = SeatingName.DUPLICATE,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=(1 << 32) - 1,
            help="Seed of dice and errors, for the same games again.",
            show_default="random",
        ),
    ] = None,
    judge: Annotated[
        LevelName | None,
        typer.Option(help="Judge every decision at this level.", show_default=False),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep what has been played in FILE, and go on with what is in it."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw the score with its interval (extra `plot`), as .png or .svg."
        ),
    ] = None,
    decision_ms: Annotated[
        int | None,
        typer.Option(
            metavar="MILLISECONDS",
            min=1,
            help="What a decision of a player elsewhere may take.",
            rich_help_panel=_PLAYERS,
            show_default="10000",
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            "--preset", "-p", help="Rules; `bgserver presets` lists them.", rich_help_panel=_RULES
        ),
    ] = "money",
    match_length: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            help="Points of a match, in a match preset.",
            rich_help_panel=_RULES,
            show_default="the preset's shortest",
        ),
    ] = None,
    changes: SetOption = None,
    json: JsonOption = False,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Let two engines play each other: fair seats, the same dice for both, statistics.

    A player is a level (static, lookahead_1 to lookahead_3, random), a strength (beginner, normal,
    expert, or 0 to 100), both (lookahead_1:normal), or any of these with the address of another
    bgserver that plays it: static@127.0.0.1:50052, or @127.0.0.1:50052.

    A player elsewhere that takes too long, does not answer or breaks the rules loses the game, as
    a single one at the value of the cube, and the match goes on. With --state a match that was
    stopped, by Ctrl-C or by force, goes on where it was.
    """
    request = simulation_pb2.SimulateRequest(
        preset=preset,
        rules=parse_rules(changes),
        match_length=match_length,
        count=count,
        seed=seed,
        first=parse_contestant(first, "first"),
        second=parse_contestant(second, "second"),
        seating=simulation_pb2.Seating.Value(f"SEATING_{seating.name}"),
        decision_ms=decision_ms,
    )
    if judge is not None:
        request.judge = level_value(judge)
    if plot is not None:
        require_plots()
    names = (f"{first} (1)", f"{second} (2)") if first == second else (first, second)
    with ExitStack() as stack:
        transport = stack.enter_context(connect(address, token, timeout, remote_engines=("*",)))
        info = ask(transport, engine_pb2.GetInfoRequest(), engine_pb2.GetInfoResponse)
        keeper = None
        if state is not None:
            keeper = MatchState(state, request, info.digest)
        if not request.HasField("seed"):
            request.seed = secrets.randbits(32)
        played = _Played(request, keeper, Seating[seating.name])
        start, before = time.monotonic(), played.statistics.games
        if played.done < count:
            if keeper is not None:
                stack.enter_context(keeper)
            events = stack.enter_context(closing(transport.stream(method_for(request), [request])))
            played.follow(events)
    seconds = time.monotonic() - start
    statistics = played.message()
    if json:
        print_json(statistics)
    else:
        _show(statistics, names, statistics.games - before, seconds)
    if plot is not None:
        draw(played.course, plot, names, matches=statistics.matches > 0)
    if not statistics.final:
        raise typer.Exit(INTERRUPTED)


def _show(
    statistics: simulation_pb2.SimulationStatistics,
    names: tuple[str, str],
    games: int,
    seconds: float,
) -> None:
    rate = games / seconds if seconds > 0 else 0.0
    played = f"{statistics.games:,} games, {games:,} now in {seconds:.1f} s ({rate:,.0f}/s)"
    if statistics.matches:
        played = f"{statistics.matches:,} matches, {played}"
    tables.show(report_table(statistics, names), f"{played}, seed {statistics.seed}")


class _Played:
    """What has been played, before and now."""

    def __init__(
        self,
        request: simulation_pb2.SimulateRequest,
        keeper: MatchState | None,
        seating: Seating,
    ) -> None:
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
        score = self.statistics.points_per_game
        remark = f"{score.mean:+.3f} ± {(score.high - score.low) / 2:.3f} points a game"
        advance(self.done, remark)
