"""The engine: evaluates positions, ranks plays, advises on the cube, to a level or in a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.bearoff import BearoffDatabase, load_bearoff
from bgserver.engine.cube import CubeUtilities, advise_cube
from bgserver.engine.cube_plan import utility_of_turn
from bgserver.engine.cube_rules import cube_state, raccoon_side, require_possible
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.game_core import GameCore
from bgserver.engine.judgement import CubeQuestion, Judgement
from bgserver.engine.limit import TimeLimit, deepen_in_time
from bgserver.engine.lookahead import DEPTHS, look_ahead
from bgserver.engine.met import MatchEquityTable, default_met, load_met, load_met_xml
from bgserver.engine.moments import require_playing, require_roll_to_play
from bgserver.engine.network_info import NetworkInfo
from bgserver.engine.plays import board_array
from bgserver.engine.position import Dice, GameState, Variant
from bgserver.engine.ranking import EQUITY_WEIGHTS, Ranking
from bgserver.engine.rollout_judge import (
    evaluate_by_rollout,
    rank_by_rollout,
    weigh_cube_by_rollout,
)
from bgserver.engine.rollout_level import RolloutLevel
from bgserver.engine.warm_up import warm_up
from bgserver.engine.weights import Weights, load_weights
from bgserver.kernels import cube as cube_kernels
from bgserver.kernels import evaluate
from bgserver.kernels.classes import CLASS_NAMES
from bgserver.kernels.cube_actions import turn_utility
from bgserver.kernels.cube_exact import (
    exact_double_take,
    exact_no_double,
    exact_pair,
    exact_turn,
)
from bgserver.kernels.moves import turn_board
from bgserver.kernels.network import N_OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bgserver.engine.cube_advice import CubeAdvice
    from bgserver.engine.cube_rules import RaccoonOwner
    from bgserver.engine.levels import Level
    from bgserver.engine.limit import Limit
    from bgserver.engine.ranking import RankedPlay
    from bgserver.engine.work import Work
    from bgserver.kernels.cube import MatchTable

__all__ = ["Engine", "Evaluation", "GameCore"]

_CHUNK_POSITIONS = 2_000  # static evaluations in one kernel call: about 3 ms


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a position is worth before the roll, seen by the player on roll."""

    probabilities: tuple[float, ...]
    """Five cubeless chances: win, win gammon+, win backgammon, lose gammon+, lose backgammon."""
    cubeless_equity: float
    """Cubeless money equity in points, cube at 1."""
    cubeful_equity: float
    """Equity with cube and score when both play the cube rightly, in points of the present cube
    (normalised in a match)."""
    match_winning_chances: float | None
    """With cube and score, 0..1; None in money play and in Long Nardy."""
    level: Level
    """The level of the figures."""
    position_class: str
    """What judged: a network (`contact`, `race`, `crashed`, `opening`), `bearoff` or `finished`."""
    preset: str | None = None
    """The rollout level of the figures (`level` is then the level before it); else None."""


class Engine:
    """Networks, tables and match equities, and all questions that they answer.

    Questions return `Work`: run them with `bgserver.engine.work.run`, or step by step. An engine
    may be used by many threads at once.
    """

    levels: tuple[Level, ...] = tuple(DEPTHS)
    """The levels that can be asked for."""

    def __init__(
        self, weights: tuple[Weights, ...], bearoff: BearoffDatabase, met: MatchEquityTable
    ) -> None:
        """Use `load` unless the parts are already at hand.

        Args:
            weights: One set for each game.
            bearoff: Bear-off tables.
            met: Match equity table.
        """
        self.met = met
        self._bearoff = bearoff
        self._cores = {entry.variant: GameCore(entry, bearoff) for entry in weights}

    @classmethod
    def load(
        cls,
        *,
        weights: Path | None = None,
        met: Path | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> Engine:
        """Load weights and tables; what the cache lacks of the bear-off tables is computed.

        Args:
            weights: Folder with `backgammon.npz` and `long_nardy.npz`; by default the packaged.
            met: Match equity table, our format or GNU Backgammon's XML; default Kazaross-XG2.
            progress: Told (what, fraction done) while the bear-off tables are computed.

        Raises:
            DataError: A file is missing, damaged or of another version.
        """
        if weights is None:
            weights = Path(str(resources.files("bgserver") / "data" / "weights"))
        loaded = tuple(load_weights(weights / f"{game.value}.npz", game) for game in Variant)
        table = default_met()
        if met is not None:
            table = load_met_xml(met) if met.suffix.lower() == ".xml" else load_met(met)

        def tell(done: int, total: int) -> None:
            if progress is not None:
                progress("bear-off tables", done / total)

        return cls(loaded, load_bearoff(progress=tell), table)

    def warm_up(self, progress: Callable[[str, float], None] | None = None) -> None:
        """Compile every kernel that questions need, or load it from the cache.

        Args:
            progress: Told (what comes next, fraction done).
        """
        warm_up(self, progress)

    def core(self, variant: Variant) -> GameCore:
        """Networks, tables and kernel memory of one game."""
        return self._cores[variant]

    def networks(self) -> list[NetworkInfo]:
        """The networks and tables in use."""
        infos = []
        for variant, game in self._cores.items():
            width1 = game.weights.raw.b1.shape[1]
            width2 = game.weights.raw.b2.shape[1]
            text = f"{width1} x {width2} hidden units; {game.weights.origin}"
            infos += [
                NetworkInfo(name, variant, game.weights.version, loaded=True, description=text)
                for name in CLASS_NAMES[game.code]
            ]
        infos.append(
            NetworkInfo(
                "bearoff_one_sided",
                Variant.BACKGAMMON,
                "1",
                loaded=True,
                description="exact rolls to bear off, 54,264 arrangements, both games",
            )
        )
        infos.append(
            NetworkInfo(
                "bearoff_two_sided",
                Variant.BACKGAMMON,
                "1",
                loaded=self._bearoff.has_two_sided,
                description="exact chances and money equities, up to 6 checkers a side",
            )
        )
        return infos

    def shortcomings(self) -> list[str]:
        """What works less well than it could, for whoever runs the engine."""
        found = []
        bearoff = self._bearoff
        if not bearoff.has_two_sided:
            found.append("the two-sided bear-off table is missing: short bear-offs lose exactness")
        files = [bearoff.one_sided_file] + [bearoff.two_sided_file] * bearoff.has_two_sided
        if None in files:
            found.append(
                "the bear-off tables are computed at every start, as the cache cannot be written: "
                "set BGSERVER_CACHE_DIR to a writable folder"
            )
        return found

    def evaluate(self, state: GameState, limit: Limit) -> Work[Evaluation]:
        """Evaluate a position before the roll.

        Raises:
            InvalidInputError: The limit is a level that is not one of `levels`.
            WrongMomentError: See `bgserver.engine.moments`.
        """
        if isinstance(limit, RolloutLevel):
            return (yield from evaluate_by_rollout(self, state, limit))
        judgement = yield from self._judge(state, limit)
        return self._evaluation(state, judgement)

    def _judge(
        self, state: GameState, limit: Limit, raccoon_owner: RaccoonOwner | None = None
    ) -> Work[Judgement]:
        """Look at a position before the roll as far as the limit goes."""
        depth = self._depth(limit)
        require_possible(state)
        require_playing(state)
        game = self._cores[state.position.variant]
        before = board_array(state.position.turned())
        cube = None
        if state.position.variant is Variant.BACKGAMMON:
            cube = CubeQuestion(cube_state(state), self.match_table(state), raccoon_owner)
        judgement = Judgement(game, before, cube)
        if isinstance(limit, TimeLimit):
            yield from judgement.look(0)
            yield from deepen_in_time(judgement, limit)
        else:
            yield from judgement.look(depth)
        return judgement

    def _evaluation(self, state: GameState, judgement: Judgement) -> Evaluation:
        """What a judgement says."""
        game = self._cores[state.position.variant]
        value = judgement.value
        # The player who has just moved is the opponent.
        chances = np.array([1.0 - value[0], value[3], value[4], value[1], value[2]])
        before = board_array(state.position.turned())
        judge = evaluate.judge_class(before, game.code, game.evaluator)
        judged_by = (*CLASS_NAMES[game.code], "bearoff", "finished")[judge]
        equity, mwc = self._cubeful(chances, state, judgement.utilities)
        return Evaluation(
            tuple(chances.tolist()),
            _equity(chances),
            equity,
            mwc,
            self.levels[judgement.depth],
            judged_by,
        )

    def rank(
        self,
        state: GameState,
        dice: Dice,
        limit: Limit,
        *,
        cubeless: bool = False,
        first_turn: bool = False,
    ) -> Work[list[RankedPlay]]:
        """Rank the plays of a roll, best first; plays of a deeper level come first.

        Args:
            state: The state of the player who has rolled; its own `dice` are ignored.
            dice: The roll.
            limit: How deep to look.
            cubeless: Rank by cubeless money equity instead of with cube and score.
            first_turn: Long Nardy: the player's first turn.

        Raises:
            InvalidInputError: The limit is a level that is not one of `levels`.
            WrongMomentError: See `bgserver.engine.moments`.
        """
        if isinstance(limit, RolloutLevel):
            return (
                yield from rank_by_rollout(
                    self, state, dice, limit, cubeless=cubeless, first_turn=first_turn
                )
            )
        depth = self._depth(limit)
        require_possible(state)
        require_roll_to_play(state)
        ranking = Ranking(
            self._cores[state.position.variant],
            state,
            dice,
            self.match_table(state),
            cubeless=cubeless,
            first_turn=first_turn,
        )
        if isinstance(limit, TimeLimit):
            yield from deepen_in_time(ranking, limit)
        else:
            # Where there is nothing to choose only the last depth is of interest.
            for step in range(max(1, depth) if ranking.is_forced else 1, depth + 1):
                yield from ranking.look(step)
        return ranking.plays()

    def advise_cube(
        self, state: GameState, limit: Limit, *, raccoon_owner: RaccoonOwner | None = None
    ) -> Work[tuple[CubeAdvice, Evaluation]]:
        """Advise on the cube before the roll.

        Args:
            state: The state before the roll.
            limit: How deep to look.
            raccoon_owner: Money play with beavers: who owns the cube after a raccoon, if a beaver
                may be answered by one.

        Raises:
            InvalidInputError: The limit, the cube or the score is impossible, or the game is Long
                Nardy, which has no cube.
            WrongMomentError: `GAME_OVER`, or an offer is pending that this question cannot judge.
        """
        if state.position.variant is Variant.LONG_NARDY:
            message = "long nardy is played without a cube"
            raise InvalidInputError([Fault("position.variant", "NO_CUBE_IN_LONG_NARDY", message)])
        if isinstance(limit, RolloutLevel) and self.exact_cube(state) is None:
            utilities, evaluation = yield from weigh_cube_by_rollout(self, state, limit)
            if utilities is not None:
                chances = np.array(evaluation.probabilities)
                equity, mwc = self._cubeful(chances, state, utilities)
                evaluation = replace(evaluation, cubeful_equity=equity, match_winning_chances=mwc)
        else:
            level = limit.first if isinstance(limit, RolloutLevel) else limit
            judgement = yield from self._judge(state, level, raccoon_owner)
            evaluation = self._evaluation(state, judgement)
            utilities = self.exact_cube(state, raccoon_owner) or judgement.utilities
        advice = advise_cube(
            evaluation.probabilities,
            state,
            met=self.met,
            raccoons=raccoon_owner is not None,
            raccoon_owner=raccoon_owner,
            utilities=utilities,
        )
        return advice, evaluation

    def cube_utilities(self, state: GameState, level: Level) -> Work[CubeUtilities]:
        """What the player on roll can get from the cube at a level that looks ahead.

        Args:
            state: The state before the roll; a possible one of a running game.
            level: One of `levels` beyond the static one.
        """
        judgement = yield from self._judge(state, level)
        if judgement.utilities is None:
            raise AssertionError(_NOT_AHEAD)
        return judgement.utilities

    def evaluate_batch(
        self, points: NDArray[np.int8], variant: Variant, level: Level
    ) -> Work[NDArray[np.float32]]:
        """Evaluate many positions before the roll, cubeless.

        Args:
            points: int8[n, 26], each row as `Position.points`; every row must be a legal
                position of a running game: not checked here.
            variant: The game of all of them.
            level: How deep to look.

        Returns:
            float32[n, 5]: chances of the player on roll.
        """
        depth = self._depth(level)
        game = self._cores[variant]
        points = np.ascontiguousarray(points)
        out = np.zeros((len(points), N_OUTPUTS), dtype=np.float32)
        if depth == 0:
            for first in range(0, len(points), _CHUNK_POSITIONS):
                rows = slice(first, first + _CHUNK_POSITIONS)
                memory = game.threads.memory
                evaluate.evaluate_before_roll(
                    points[rows],
                    game.code,
                    game.evaluator,
                    memory.scratch,
                    out[rows],
                )
                yield
            return out
        turned = np.zeros(26, dtype=np.int8)
        for row in range(len(points)):
            turn_board(points[row], game.code, turned)
            value = yield from look_ahead(turned, depth, game.code, game.evaluator, game.threads)
            out[row] = (1.0 - value[0], value[3], value[4], value[1], value[2])
            yield
        return out

    def _depth(self, limit: Limit) -> int:
        """Rolls that may be looked ahead at most."""
        if isinstance(limit, TimeLimit):
            return max(DEPTHS.values())
        if isinstance(limit, RolloutLevel) or limit not in self.levels:
            name = limit.full_name if isinstance(limit, RolloutLevel) else limit.value
            message = f"expected one of {', '.join(entry.value for entry in self.levels)}"
            fault = Fault("level", "UNSUPPORTED_LEVEL", f"{message}, got {name}")
            raise InvalidInputError([fault])
        return DEPTHS[limit]

    def _cubeful(
        self, chances: NDArray[np.float64], state: GameState, found: CubeUtilities | None
    ) -> tuple[float, float | None]:
        """Equity with cube and score of the player on roll, and match winning chances.

        Args:
            chances: His five chances.
            state: The state before the roll.
            found: What a look-ahead has found.
        """
        if state.position.variant is Variant.LONG_NARDY:
            return _equity(chances), None
        cube, table = cube_state(state), self.match_table(state)
        board = board_array(state.position)
        roller, opponent = exact_pair(board, cube, self._bearoff.tables)
        if roller > 0:
            utility = float(exact_turn(roller, opponent, cube, self._bearoff.tables))
        elif found is not None:
            utility = utility_of_turn(found, cube, table)
        else:
            efficiency = cube_kernels.cube_efficiency(board)
            utility = float(turn_utility(chances, cube, table, efficiency))
        equity = float(cube_kernels.normalised(utility, cube, table))
        return equity, None if state.match is None else 0.5 * (utility + 1.0)

    def exact_cube(
        self, state: GameState, raccoon_owner: RaccoonOwner | None = None
    ) -> CubeUtilities | None:
        """Exact values of the cube actions in a short bear-off for money; None elsewhere.

        Args:
            state: The state before the roll.
            raccoon_owner: Who owns the cube after a raccoon, if there may be one.
        """
        if state.position.variant is Variant.LONG_NARDY:
            return None
        tables, cube = self._bearoff.tables, cube_state(state)
        roller, opponent = exact_pair(board_array(state.position), cube, tables)
        if roller < 0:
            return None
        raccoon = None
        if raccoon_owner is not None:
            side = raccoon_side(raccoon_owner)
            raccooned = cube._replace(value=8 * cube.value, owner=side)
            raccoon = exact_no_double(roller, opponent, raccooned, tables)
        return CubeUtilities(
            no_double=exact_no_double(roller, opponent, cube, tables),
            double_take=exact_double_take(roller, opponent, 2 * cube.value, tables),
            double_beaver=exact_double_take(roller, opponent, 4 * cube.value, tables),
            raccoon=raccoon,
        )

    def match_table(self, state: GameState) -> MatchTable:
        """The match equity table for kernels, long enough for this match."""
        if state.match is None:
            return self.met.table
        return self.met.extended(state.match.length).table


_NOT_AHEAD = "a level that does not look ahead"


def _equity(chances: NDArray[np.float64]) -> float:
    """Cubeless money equity of five chances."""
    return float(chances @ EQUITY_WEIGHTS - 1.0)
