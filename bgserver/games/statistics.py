"""Running statistics of simulated games, sessions and matches, seen by the first player."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from bgserver.engine.distributions import even_binomial_p_value
from bgserver.engine.position import Seat
from bgserver.engine.statistics import RatioEstimate, wilson_interval
from bgserver.games.simulation import Misconduct, Seating, Tally

if TYPE_CHECKING:
    from bgserver.engine.statistics import Estimate
    from bgserver.games.simulation import PlayedGame, UnitResult

__all__ = ["PlayerStatistics", "Statistics", "mean_loss"]


class PlayerStatistics:
    """What one of the two players has done."""

    def __init__(self) -> None:
        self.wins = [0, 0, 0]
        """Games won by result: single, gammon (mars), backgammon (koks)."""
        self.doubles = 0
        """Doubles offered."""
        self.drops = 0
        """Doubles, beavers and raccoons dropped."""
        self.beavers = 0
        """Beavers."""
        self.raccoons = 0
        """Raccoons."""
        self.forfeits: Counter[Misconduct] = Counter()
        """Games forfeited, by what the player did."""
        self.own_plays = Tally()
        """Plays that were a choice, by the player's own judgement; only if it errs."""
        self.judged_plays = Tally()
        """Plays that were a choice, by the judge."""
        self.judged_cube = Tally()
        """Cube decisions, by the judge."""

    @property
    def won(self) -> int:
        """Games won."""
        return sum(self.wins)

    @property
    def gammon_rate(self) -> float:
        """Share of the games won that were gammons or backgammons."""
        return sum(self.wins[1:]) / self.won if self.won else 0.0

    def add(self, game: PlayedGame, seat: Seat) -> None:
        """Count a game of this player, who sat in `seat`."""
        if game.winner is seat:
            self.wins[game.result - 1] += 1
        elif game.winner is not None:
            self.drops += game.dropped
            if game.misconduct is not None:
                self.forfeits[game.misconduct] += 1
        self.doubles += game.doubles[seat]
        self.beavers += game.beavers[seat]
        self.raccoons += game.raccoons[seat]
        self.own_plays = _sum(self.own_plays, game.own_plays[seat])
        self.judged_plays = _sum(self.judged_plays, game.judged_plays[seat])
        self.judged_cube = _sum(self.judged_cube, game.judged_cube[seat])


def _sum(one: Tally, other: Tally) -> Tally:
    return Tally(one.count + other.count, one.lost + other.lost)


def mean_loss(*tallies: Tally) -> float | None:
    """Mean loss of all decisions, None without any."""
    count = sum(tally.count for tally in tallies)
    return sum(tally.lost for tally in tallies) / count if count else None


class _Block:
    """Units that share their dice."""

    def __init__(self) -> None:
        self.units = 0
        self.games = 0
        self.points = 0
        self.game_wins = 0.0
        self.match_wins = 0.0

    def add(self, unit: UnitResult, first: Seat) -> None:
        self.units += 1
        self.games += len(unit.games)
        self.points += unit.points[first] - unit.points[first.other]
        for game in unit.games:
            self.game_wins += _win(game.winner, first)
        self.match_wins += _win(unit.winner, first)


def _win(winner: Seat | None, seat: Seat) -> float:
    return 0.5 if winner is None else float(winner is seat)


class Statistics:
    """Statistics of the units counted so far; they are to be added in the order of their numbers.

    With duplicate dice the two units with the same dice are one observation, which takes most of
    the luck out of the intervals; a unit whose twin is still to come is not in them yet.
    """

    def __init__(self, seating: Seating = Seating.FIXED) -> None:
        self.games = 0
        """Games counted."""
        self.matches = 0
        """Matches counted; 0 outside matches."""
        self.draws = 0
        """Games that nobody won."""
        self.players = (PlayerStatistics(), PlayerStatistics())
        """The first and the second player, wherever they sat."""
        self.cube_values: Counter[int] = Counter()
        """Games by the final value of the cube."""
        self.shortest = 0
        """Turns of the shortest game."""
        self.longest = 0
        """Turns of the longest game."""
        self._pairs = seating is Seating.DUPLICATE
        self._half: _Block | None = None
        self._points = RatioEstimate()
        self._game_wins = RatioEstimate()
        self._match_wins = RatioEstimate()
        self._turns = 0
        self._squared_turns = 0

    def add(self, unit: UnitResult) -> None:
        """Count a game, session or match."""
        first = Seat.SECOND if unit.swapped else Seat.FIRST
        for game in unit.games:
            self.games += 1
            self.draws += game.winner is None
            self.cube_values[game.cube_value] += 1
            self._turns += game.turns
            self._squared_turns += game.turns * game.turns
            self.shortest = min(self.shortest or game.turns, game.turns)
            self.longest = max(self.longest, game.turns)
            self.players[0].add(game, first)
            self.players[1].add(game, first.other)
            if not self._pairs:
                points = game.points if game.winner is first else -game.points
                self._points.add(points, 1)
                self._game_wins.add(_win(game.winner, first), 1)
        self.matches += unit.is_match
        if not self._pairs:
            self._match_wins.add(_win(unit.winner, first), 1)
            return
        block = self._half or _Block()
        block.add(unit, first)
        self._half = block
        if block.units == 2:
            self._half = None
            self._points.add(block.points, block.games)
            self._game_wins.add(block.game_wins, block.games)
            self._match_wins.add(block.match_wins, block.units)

    @property
    def dropped(self) -> int:
        """Games that ended with a drop."""
        return sum(player.drops for player in self.players)

    @property
    def observations(self) -> int:
        """What the intervals rest on: games, or pairs of units with the same dice."""
        return self._points.blocks

    @property
    def points_per_game(self) -> Estimate:
        """Points per game that the first player won, losses negative (Student's interval)."""
        return self._points.interval()

    @property
    def game_win_rate(self) -> Estimate:
        """Share of the games that the first player won (Wilson interval, of pairs too)."""
        return self._share(self._game_wins)

    @property
    def match_win_rate(self) -> Estimate:
        """Share of the matches that the first player won."""
        return self._share(self._match_wins if self.matches else RatioEstimate())

    def _share(self, wins: RatioEstimate) -> Estimate:
        if self._pairs:
            return wins.share_interval()
        return wilson_interval(wins.mean * wins.blocks, wins.blocks)

    @property
    def p_value(self) -> float | None:
        """How likely so clear a result is between equals: of the matches, else of the points.

        None where there are too few to say: see `RatioEstimate.p_value`.
        """
        if not self.matches:
            return self._points.p_value()
        wins = self._match_wins
        found = wins.p_value(0.5)
        if found is None or self._pairs:
            return found
        return even_binomial_p_value(wins.mean * wins.blocks, wins.blocks)

    @property
    def mean_turns(self) -> float:
        """Mean turns of a game, both players together."""
        return self._turns / self.games if self.games else 0.0

    @property
    def turns_deviation(self) -> float:
        """Standard deviation of the turns of a game."""
        if not self.games:
            return 0.0
        return math.sqrt(max(0.0, self._squared_turns / self.games - self.mean_turns**2))

    @property
    def mean_cube(self) -> float:
        """Mean final cube value."""
        total = sum(value * games for value, games in self.cube_values.items())
        return total / self.games if self.games else 0.0
