"""Rollout trials, slow and plain: the oracle that the kernels are compared with.

Plays come from the rules oracle, cube actions from the advice that people get. Static chances, the
scout's choice of replies and the dice are the engine's: what they say is tested elsewhere.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.cube import advise_cube
from bgserver.engine.position import CubeOwner, GameState, Position, Variant
from bgserver.kernels import rollout as kernels
from bgserver.kernels.evaluate import CLASS_BEAROFF, evaluate_board, judge_class
from bgserver.kernels.rollout_dice import trial_roll
from bgserver.kernels.scout import begin_scouting, choose_promising
from tests import naive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver.engine.cube_advice import CubeAdvice
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.rollout_spec import RolloutSpec

Five = tuple[float, ...]
_OWNERS = {
    CubeOwner.CENTERED: CubeOwner.CENTERED,
    CubeOwner.ON_ROLL: CubeOwner.OPPONENT,
    CubeOwner.OPPONENT: CubeOwner.ON_ROLL,
}


class Trials:
    """Plays trials of one candidate of a static rollout."""

    def __init__(self, engine: Engine, spec: RolloutSpec, candidate: int = 0) -> None:
        self.engine = engine
        self.spec = spec
        self.candidate = spec.candidates[candidate]
        self.variant = self.candidate.state.position.variant
        self.core = engine.core(self.variant)

    def play(self, number: int) -> list[float]:
        """The figures of one trial: five chances and the utility of the player who asks."""
        options = self.spec.options
        first_rolls = 30 if options.opening else 36
        state, may_act, sign = self.candidate.state, self.candidate.may_act, 1
        luck = [0.0] * 6
        ply = 0
        while True:
            chances = self.before_roll(state)
            if options.truncate_plies is not None and ply >= options.truncate_plies:
                end = (*chances, self.turn_value(state, chances, may_act=may_act))
                break
            if may_act and self.spec.cubeful:
                advice = self.advice(state, chances)
                doubles, taken, beaver = self.cube_action(advice)
                if doubles and not taken:
                    assert advice.double_pass is not None
                    end = (*chances, self.utility(advice.double_pass.equity, state))
                    break
                if doubles:
                    value = state.cube.value * (4 if beaver else 2)
                    cube = replace(state.cube, value=value, owner=CubeOwner.OPPONENT)
                    state = replace(state, cube=cube)
            dice = trial_roll(options.seed, number, ply, first_rolls, np.zeros(36, dtype=np.int64))
            reply = self.best(state, dice, scouted=False)
            if options.reduce_variance:
                self.add_luck(luck, state, dice, sign, no_doubles=options.opening and ply == 0)
            figures = self.figures(state, reply)
            value = naive.game_value(reply, self.variant.value)
            if value > 0:
                end = figures
                break
            state = self.next_state(state, reply)
            sign, may_act, ply = -sign, True, ply + 1
        outcome = [a - b for a, b in zip(self.seen(end, sign), luck, strict=True)]
        return self.seen(outcome, 1 if self.candidate.asker_on_roll else -1)

    @staticmethod
    def seen(figures: Sequence[float], sign: int) -> list[float]:
        """Figures seen by the player who began, from those of a player on his or the other side."""
        if sign > 0:
            return list(figures)
        win, gammon, backgammon, lose_gammon, lose_backgammon, utility = figures
        return [1.0 - win, lose_gammon, lose_backgammon, gammon, backgammon, -utility]

    def add_luck(
        self,
        luck: list[float],
        state: GameState,
        dice: tuple[int, int],
        sign: int,
        *,
        no_doubles: bool,
    ) -> None:
        """Add what the roll is worth more than the mean roll, seen by the player who began."""
        total = [0.0] * 6
        rolled = [0.0] * 6
        ways = 0
        for high, low in naive.ALL_ROLLS:
            if no_doubles and high == low:
                continue
            weight = 1 if high == low else 2
            ways += weight
            reply = self.best(state, (high, low), scouted=True)
            figures = self.figures(state, reply)
            total = [a + weight * b for a, b in zip(total, figures, strict=True)]
            if {high, low} == set(dice):
                rolled = list(figures)
        lucky = [a - b / ways for a, b in zip(rolled, total, strict=True)]
        if sign < 0:
            lucky = [-lucky[0], lucky[3], lucky[4], lucky[1], lucky[2], -lucky[5]]
        for index in range(6):
            luck[index] += lucky[index]

    def best(self, state: GameState, dice: tuple[int, int], *, scouted: bool) -> naive.Board:
        """The best static reply of all, or among those that the scout lets through for luck."""
        boards = self.replies(state.position.points, dice, scouted=scouted)
        return max(boards, key=lambda board: self.figures(state, board)[5])

    def replies(
        self, points: Sequence[int], dice: tuple[int, int], *, scouted: bool
    ) -> list[naive.Board]:
        """The replies to a roll; scouts let all of them through in a bear-off."""
        game = self.variant.value
        first_turn = self.variant is Variant.LONG_NARDY and points[24] == 15
        results = sorted(naive.legal_results(points, dice, game, first_turn=first_turn))
        before = np.array(naive.turn(points, game), dtype=np.int8)
        judge = judge_class(before, self.core.code, self.core.evaluator)
        if not scouted or judge == CLASS_BEAROFF:
            return results
        most, window = kernels.LUCK_PROMISING, kernels.LUCK_WINDOW
        memory, scout = self.core.threads.memory, self.core.evaluator.networks.scout
        parent = np.array(points, dtype=np.int8)
        boards = np.array(results, dtype=np.int8)
        begin_scouting(parent, self.core.code, scout, memory.scratch)
        scores = np.zeros(len(boards) + 1, dtype=np.float32)
        chosen = np.zeros(most, dtype=np.int64)
        count = choose_promising(
            boards, len(boards), most, window, parent, self.core.code, scout, memory.scratch,
            scores, chosen,
        )  # fmt: skip
        return [results[row] for row in chosen[:count]]

    def after_play(self, board: Sequence[int]) -> Five:
        """Static chances of the player who has moved."""
        value = naive.game_value(board, self.variant.value)
        if value > 0:
            return (1.0, float(value >= 2), float(value >= 3), 0.0, 0.0)
        out = np.zeros(5, dtype=np.float32)
        scratch = self.core.threads.memory.scratch
        points = np.array(board, dtype=np.int8)
        evaluate_board(points, self.core.code, self.core.evaluator, scratch, out)
        return tuple(out.tolist())

    def before_roll(self, state: GameState) -> Five:
        """Static chances of the player on roll."""
        win, *gammons = self.after_play(naive.turn(state.position.points, self.variant.value))
        return (1.0 - win, gammons[2], gammons[3], gammons[0], gammons[1])

    def figures(self, state: GameState, reply: naive.Board) -> tuple[float, ...]:
        """Chances and utility of the player who has just replied."""
        win, gammon, backgammon, lose_gammon, lose_backgammon = five = self.after_play(reply)
        if not self.spec.cubeful:
            equity = 2.0 * win - 1.0 + gammon + backgammon - lose_gammon - lose_backgammon
            return (*five, equity)
        value = naive.game_value(reply, self.variant.value)
        if value > 0:
            return (*five, self.won(state, value))
        chances = (1.0 - win, lose_gammon, lose_backgammon, gammon, backgammon)
        theirs = self.next_state(state, reply)
        return (*five, -self.turn_value(theirs, chances, may_act=True))

    def won(self, state: GameState, value: int) -> float:
        """Utility of winning a game of this value."""
        if state.match is None:
            is_single = state.jacoby and state.cube.owner is CubeOwner.CENTERED
            return float(state.cube.value * (1 if is_single else value))
        own, opponent = state.match.away
        is_late = state.match.crawford or min(own, opponent) == 1
        points = value * state.cube.value
        if points >= own:
            return 1.0
        met = self.engine.met
        return 2.0 * met.mwc(own - points, opponent, post_crawford=is_late) - 1.0

    def turn_value(self, state: GameState, chances: Five, *, may_act: bool) -> float:
        """Utility of the player on roll, who may double first."""
        if not self.spec.cubeful:
            win, gammon, backgammon, lose_gammon, lose_backgammon = chances
            return 2.0 * win - 1.0 + gammon + backgammon - lose_gammon - lose_backgammon
        advice = self.advice(state, chances)
        equity = advice.no_double.equity
        doubled = self.doubled(advice)
        if may_act and doubled is not None:
            equity = max(equity, min(doubled))
        return self.utility(equity, state)

    def advice(self, state: GameState, chances: Five) -> CubeAdvice:
        win, gammon, backgammon, lose_gammon, lose_backgammon = chances
        # The rounding of float32 may leave the order that advice asks for.
        gammon, lose_gammon = min(gammon, win), min(lose_gammon, 1.0 - win)
        ordered = (win, gammon, min(backgammon, gammon), lose_gammon,
                   min(lose_backgammon, lose_gammon))  # fmt: skip
        exact = self.engine.exact_cube(state)
        return advise_cube(ordered, state, met=self.engine.met, utilities=exact)

    @staticmethod
    def doubled(advice: CubeAdvice) -> tuple[float, float] | None:
        """Equities of a double that is accepted as suits the opponent, and of one passed."""
        if advice.is_dead or advice.double_take is None or advice.double_pass is None:
            return None
        taken = advice.double_take.equity
        if advice.double_beaver is not None:
            taken = min(taken, advice.double_beaver.equity)
        return taken, advice.double_pass.equity

    def cube_action(self, advice: CubeAdvice) -> tuple[bool, bool, bool]:
        """(doubles, taken, beavered)."""
        doubled = self.doubled(advice)
        if doubled is None or min(doubled) < advice.no_double.equity:
            return False, False, False
        beaver, take = advice.double_beaver, advice.double_take
        is_beaver = beaver is not None and take is not None and beaver.equity < take.equity
        return True, doubled[0] < doubled[1], is_beaver

    def utility(self, equity: float, state: GameState) -> float:
        """Points, or 2 mwc - 1, from an equity on the present cube."""
        if state.match is None:
            return equity * state.cube.value
        single = [
            self.won(state, 1),
            -self.won(self.other_side(state), 1),
        ]
        return 0.5 * (equity * (single[0] - single[1]) + single[0] + single[1])

    def other_side(self, state: GameState) -> GameState:
        """The same board by number, seen as if the opponent were on roll: for the score only."""
        match = state.match
        assert match is not None
        return replace(state, match=replace(match, on_roll=match.opponent, opponent=match.on_roll))

    def next_state(self, state: GameState, reply: naive.Board) -> GameState:
        """The state of the other player after a reply."""
        match = state.match
        if match is not None:
            match = replace(match, on_roll=match.opponent, opponent=match.on_roll)
        return replace(
            state,
            position=Position(naive.turn(reply, self.variant.value), self.variant),
            on_roll=state.on_roll.other,
            cube=replace(state.cube, owner=_OWNERS[state.cube.owner]),
            match=match,
        )
