"""How a game runs on: openings, turns, confirmations, ends. Books events; asks no permission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.position import CHECKERS, Resignation, Seat, Variant
from bgserver.games import events as ev
from bgserver.games.cube import automatic_double, owner_after
from bgserver.games.events import By, EndReason
from bgserver.games.rules import AutoDouble, NextStarter, OpeningDice, OpeningStarter
from bgserver.games.scoring import counted_result, is_crawford_game, result_on_board
from bgserver.games.state import apply
from bgserver.games.turn import last_answer_steps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bgserver.engine.plays import Step
    from bgserver.games.dice import DiceSource
    from bgserver.games.state import TableState

__all__ = ["Ledger"]

_LAST_ANSWER_OFF = CHECKERS - 1


class Ledger:
    """Events in the making, and the state that they lead to."""

    def __init__(
        self, state: TableState | None, dice: DiceSource, now: float, by: By = By.PLAYER
    ) -> None:
        """An empty ledger.

        Args:
            state: The state so far; None for a new table.
            dice: Where the dice come from.
            now: The time of all events.
            by: Who causes the events, unless it is the server.
        """
        self._state = state
        self._dice = dice
        self.now = now
        self.by = by
        self.events: list[ev.Event] = []

    @property
    def state(self) -> TableState:
        """The state after the events so far."""
        if self._state is None:
            message = "the table has not been opened"
            raise AssertionError(message)
        return self._state

    def book(self, event: ev.Event) -> None:
        """Add one event."""
        self._state = apply(self._state, event)
        self.events.append(event)

    def start_game(self) -> None:
        """Begin the next game: the opening, up to the first turn."""
        last = self.state.result
        game = self.state.game + 1
        commitment = self._dice.commitment(game)
        if commitment is not None:
            self.book(ev.DiceCommitted(self.now, game, commitment))
        self.book(ev.GameStarted(self.now, game, is_crawford_game(self.state)))
        rules = self.state.setup.rules
        last_winner = last.winner if last is not None else None
        if rules.next_starter is NextStarter.WINNER and last_winner is not None:
            self._start_turn(last_winner)
            return
        first, second = self._opening()
        first_starts = (first > second) == (rules.opening_starter is OpeningStarter.HIGHER)
        starter = Seat.FIRST if first_starts else Seat.SECOND
        self._start_turn(starter)
        if rules.opening_dice is OpeningDice.USE_BOTH:
            self.book(ev.DiceRolled(self.now, starter, first, second, opening=True, by=By.SERVER))

    def _opening(self) -> tuple[int, int]:
        """Opening rolls until one is decisive (2.2, 4.24)."""
        while True:
            first, second = self._dice.roll(self.state.game, self.state.rolls)
            self.book(ev.OpeningRolled(self.now, first, second))
            if first != second:
                return first, second
            value = automatic_double(self.state, AutoDouble.A)
            if value is not None:
                self.book(ev.AutomaticDouble(self.now, value))

    def _start_turn(self, seat: Seat) -> None:
        self.book(ev.TurnStarted(self.now, seat))

    def roll(self, seat: Seat) -> None:
        """Roll two dice for the player on turn."""
        first, second = self._dice.roll(self.state.game, self.state.rolls)
        value = automatic_double(self.state, AutoDouble.B, seat) if first == second else None
        self.book(ev.DiceRolled(self.now, seat, first, second, by=self.by))
        if value is not None:
            self.book(ev.AutomaticDouble(self.now, value))

    def make_steps(self, steps: Iterable[Step]) -> None:
        """Make legal steps; with the last checker off the game ends at once (1.10)."""
        seat = self.state.turn
        for step in steps:
            self.book(
                ev.StepMade(
                    self.now, seat, step.source, step.target, step.die, step.hit, by=self.by
                )
            )
        if self.state.position.own_off == CHECKERS:
            self.confirm(By.SERVER)

    def confirm(self, by: By | None = None) -> None:
        """Make the play on the board final, and let the next turn or the end follow."""
        state = self.state
        self.book(ev.PlayConfirmed(self.now, state.turn, by=by or self.by))
        if state.position.own_off < CHECKERS or self._is_answered():
            self._start_turn(state.turn.other)
        else:
            result = result_on_board(state.position, state.setup.rules)
            self.end_game(state.turn, result, state.cube_value, EndReason.BORNE_OFF)

    def _is_answered(self) -> bool:
        """Whether the second player has a last turn to draw (7.14, `last_move_draw`)."""
        state = self.state
        options = state.setup.rules.long_nardy
        return (
            state.setup.rules.variant is Variant.LONG_NARDY
            and options is not None
            and options.last_move_draw
            and state.turn is state.starter
            and state.position.opponent_off >= _LAST_ANSWER_OFF
        )

    def forfeit(self) -> None:
        """End a turn in which nothing can be played."""
        seat = self.state.turn
        self.book(ev.TurnForfeited(self.now, seat))
        self._start_turn(seat.other)

    def last_answer(self) -> None:
        """Play the last answer; there is nothing to choose."""
        state = self.state
        steps = last_answer_steps(state)
        for source, target, die in steps:
            self.book(
                ev.StepMade(self.now, state.turn, source, target, die, hit=False, by=By.SERVER)
            )
        self.book(ev.PlayConfirmed(self.now, state.turn, by=By.SERVER))
        if steps[-1][1] == 0:
            self.end_game(None, Resignation.NONE, state.cube_value, EndReason.DRAWN)
        else:
            # The answerer has borne off all but one, so it is a single game.
            other = state.turn.other
            self.end_game(other, Resignation.SINGLE, state.cube_value, EndReason.BORNE_OFF)

    def play_on(self, seat: Seat) -> None:
        """Accept a beaver or raccoon."""
        state = self.state
        value = 2 * state.cube_value
        self.book(ev.PlayedOn(self.now, seat, value, owner_after(state), by=self.by))

    def drop(self, seat: Seat) -> None:
        """Drop what the cube offers."""
        value = self.state.cube_value
        self.book(ev.CubeDropped(self.now, seat, value, by=self.by))
        self._count(seat.other, Resignation.SINGLE, value, EndReason.DROPPED)

    def end_game(
        self, winner: Seat | None, result: Resignation, cube: int, reason: EndReason
    ) -> None:
        """End the game and count it, with Jacoby where it is in force."""
        self._count(winner, counted_result(self.state, result), cube, reason)

    def _count(
        self, winner: Seat | None, result: Resignation, cube: int, reason: EndReason
    ) -> None:
        state = self.state
        points = int(result) * cube
        score = list(state.score)
        if winner is not None:
            score[winner] += points
        total = (score[0], score[1])
        self.book(ev.GameEnded(self.now, winner, result, cube, points, reason, total))
        self.reveal()
        length = state.setup.match_length
        if winner is not None and length is not None and score[winner] >= length:
            self.book(ev.SessionEnded(self.now, winner, EndReason.SCORE, total))

    def reveal(self) -> None:
        """Publish the seed of the game's dice if there is one."""
        game = self.state.game
        seed = self._dice.reveal(game)
        if seed is not None:
            self.book(ev.DiceRevealed(self.now, game, seed))

    def ready(self, seat: Seat) -> None:
        """Note that a player is ready for the next game; begin it once both are."""
        self.book(ev.ReadyForNextGame(self.now, seat, by=self.by))
        if all(self.state.ready):
            self.start_game()

    def end_session(self, winner: Seat | None, reason: EndReason) -> None:
        """End the match or session for good."""
        if self.state.result is None:
            self.reveal()
        self.book(ev.SessionEnded(self.now, winner, reason, self.state.score))
