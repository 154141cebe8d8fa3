"""A second reading of the rules: a log kept by hand, written apart from `bgserver.games`.

It believes nothing that an event says about values, owners, starters, results or scores: it works
them out from dice, steps and answers, and compares. Clauses are those of the rules specification.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bgserver.engine.position import Resignation, Seat
from bgserver.games import events as ev
from bgserver.games.rules import AutoDouble, AutoDoubleScope, OpeningStarter, RaccoonOwner
from tests import naive

if TYPE_CHECKING:
    from bgserver.games.rules import Rules
    from bgserver.games.setup import Setup

__all__ = ["Bookkeeper"]


class Bookkeeper:
    """The score sheet of one table."""

    def __init__(self) -> None:
        self.setup: Setup | None = None
        self.score = [0, 0]
        self.crawford_seen = False
        self.over = False

    @property
    def rules(self) -> Rules:
        assert self.setup is not None
        return self.setup.rules

    def read(self, event: ev.Event) -> None:
        """Check one event and note it."""
        assert not self.over, "nothing follows the end of a session"
        handler: Any = getattr(self, f"_{event.name}", None)
        if handler is not None:
            handler(event)

    # --- games and turns -------------------------------------------------------------------------

    def _session_started(self, event: ev.SessionStarted) -> None:
        self.setup = event.setup
        self.game = 0

    def _game_started(self, event: ev.GameStarted) -> None:
        assert self.setup is not None
        self.game += 1
        assert event.game == self.game
        length = self.setup.match_length or 0
        # 4.10: the first game after somebody has come to one point of winning.
        due = length > 1 and length - 1 in self.score and not self.crawford_seen
        self.crawford = bool(due and self.rules.crawford and self.setup.cube)
        assert event.crawford == self.crawford
        self.crawford_seen |= self.crawford
        self.board = naive.start(self.rules.variant.value)
        self.cube = 1
        self.owner: Seat | None = None
        self.taken, self.auto_doubles = False, 0
        self.turn: Seat | None = None
        self.opening: tuple[int, int] = (0, 0)
        self.turns = 0
        self.two_dice = [0, 0]
        self.offer = ""
        self.finished = False

    def _opening_rolled(self, event: ev.OpeningRolled) -> None:
        assert self.turn is None
        assert self.opening[0] == self.opening[1], "2.2: only ties are rolled again"
        self.opening = (event.first, event.second)

    def _turn_started(self, event: ev.TurnStarted) -> None:
        if self.turn is None:
            first_is_higher = self.opening[0] > self.opening[1]
            wants_higher = self.rules.opening_starter is OpeningStarter.HIGHER
            starter = Seat.FIRST if first_is_higher == wants_higher else Seat.SECOND
            assert event.seat is starter, "2.1"
        else:
            assert event.seat is self.turn.other, "2.3"
            self.board = naive.turn(self.board, self.rules.variant.value)
        self.turn = event.seat
        self.before = self.board
        self.steps: list[ev.StepMade] = []
        self.dice: tuple[int, int] | None = None

    def _dice_rolled(self, event: ev.DiceRolled) -> None:
        assert event.seat is self.turn
        assert self.dice is None, "2.27: one roll a turn"
        assert not self.offer, "a pending offer is answered first"
        self.dice = (event.first, event.second)
        if event.opening:
            assert set(self.dice) == set(self.opening), "2.3"
        else:
            self.two_dice[event.seat] += 1

    def _step_made(self, event: ev.StepMade) -> None:
        assert event.seat is self.turn
        assert event.hit == (event.target > 0 and self.board[event.target] == -1)
        self.board = naive.after_step(self.board, event.source, event.target)
        self.steps.append(event)

    def _steps_undone(self, event: ev.StepsUndone) -> None:
        assert self.rules.undo
        assert 1 <= event.count <= len(self.steps)
        del self.steps[-event.count :]
        self.board = self.before
        for step in self.steps:
            self.board = naive.after_step(self.board, step.source, step.target)

    def _play_confirmed(self, event: ev.PlayConfirmed) -> None:
        assert event.seat is self.turn
        self.turns += 1

    def _turn_forfeited(self, event: ev.TurnForfeited) -> None:
        assert event.seat is self.turn
        assert not self.steps
        self.turns += 1

    # --- the cube --------------------------------------------------------------------------------

    def _automatic_double(self, event: ev.AutomaticDouble) -> None:
        if self.rules.auto_double is AutoDouble.A:
            assert self.turn is None
            assert self.opening[0] == self.opening[1]
        else:
            assert self.rules.auto_double is AutoDouble.B
            assert self.dice is not None
            assert self.turn is not None
            assert self.dice[0] == self.dice[1]
            each = self.rules.auto_double_b_scope is AutoDoubleScope.FIRST_ROLL_OF_EACH_SIDE
            assert (self.two_dice[self.turn] if each else sum(self.two_dice)) == 1
        self.auto_doubles += 1
        assert self.auto_doubles <= (self.rules.auto_double_limit or 0)
        self._turn_cube(event.value)

    def _turn_cube(self, value: int) -> None:
        self.cube *= 2
        assert value == self.cube
        assert value <= (self.rules.cube_cap or 1), "3.5"

    def _double_offered(self, event: ev.DoubleOffered) -> None:
        assert self.setup is not None
        assert event.seat is self.turn
        assert self.dice is None
        assert self.setup.cube
        assert not self.crawford
        assert self.setup.match_length != 1
        assert self.owner in {None, event.seat}
        assert not self.offer
        assert event.value == 2 * self.cube <= (self.rules.cube_cap or 1)
        self.offer = "double"

    def _double_taken(self, event: ev.DoubleTaken) -> None:
        assert self.offer == "double"
        assert self.turn is not None
        assert event.seat is self.turn.other
        self._turn_cube(event.value)
        self.owner, self.taken, self.offer = event.seat, True, ""

    def _beavered(self, event: ev.Beavered) -> None:
        assert self.offer == "double"
        assert self.rules.beaver
        self._turn_cube(event.value // 2)
        self.owner, self.taken, self.offer = event.seat, True, "beaver"
        assert event.value <= (self.rules.cube_cap or 1)

    def _raccooned(self, event: ev.Raccooned) -> None:
        assert self.offer == "beaver"
        assert self.rules.raccoon
        assert event.seat is self.turn
        self._turn_cube(event.value // 2)
        self.offer = "raccoon"
        assert event.value <= (self.rules.cube_cap or 1)

    def _played_on(self, event: ev.PlayedOn) -> None:
        assert self.offer in {"beaver", "raccoon"}
        assert self.turn is not None
        if self.offer == "raccoon" and self.rules.raccoon_owner is RaccoonOwner.RACCOONER:
            self.owner = self.turn
        self._turn_cube(event.value)
        assert event.owner is self.owner
        self.offer = ""

    def _cube_dropped(self, event: ev.CubeDropped) -> None:
        assert self.offer
        assert self.turn is not None
        answers = self.turn if self.offer == "beaver" else self.turn.other
        assert event.seat is answers
        assert event.value == self.cube, "3.6: what it was before"
        self.offer = "dropped"
        self.loser = event.seat

    # --- ends ------------------------------------------------------------------------------------

    def _resignation_offered(self, event: ev.ResignationOffered) -> None:
        assert not self.offer
        self.offer = "resignation"
        self.loser = event.seat
        self.conceded = event.result

    def _resignation_refused(self, event: ev.ResignationRefused) -> None:
        assert self.offer == "resignation"
        assert event.seat is self.loser.other
        self.offer = ""

    def _resignation_accepted(self, event: ev.ResignationAccepted) -> None:
        assert self.offer == "resignation"
        assert event.seat is self.loser.other
        self.offer = "resigned"

    def _timed_out(self, event: ev.TimedOut) -> None:
        self.late = event.seat

    def _game_ended(self, event: ev.GameEnded) -> None:
        assert not self.finished
        winner, result = self._outcome(event)
        if self.rules.jacoby and not self.taken and event.reason is not ev.EndReason.DROPPED:
            result = min(result, 1)
        points = result * self.cube
        assert (event.winner, event.result, event.cube) == (winner, result, self.cube)
        assert event.points == points <= 192
        if winner is not None:
            self.score[winner] += points
        assert list(event.score) == self.score
        self.finished = True

    def _outcome(self, event: ev.GameEnded) -> tuple[Seat | None, int]:
        """Winner, and 1 to 3 before Jacoby."""
        if event.reason is ev.EndReason.DROPPED:
            assert self.offer == "dropped"
            return self.loser.other, 1
        if event.reason is ev.EndReason.RESIGNED:
            assert self.offer == "resigned"
            return self.loser.other, int(self.conceded)
        if event.reason is ev.EndReason.TIMEOUT:
            return self.late.other, 1
        assert self.turn is not None
        if event.reason is ev.EndReason.DRAWN:
            assert naive.own_in_play(self.board) == naive.opposing_in_play(self.board) == 0
            return None, Resignation.NONE
        assert event.reason is ev.EndReason.BORNE_OFF
        value = naive.game_value(self.board, self.rules.variant.value)
        assert value != 0
        return (self.turn if value > 0 else self.turn.other), abs(value)

    def _session_ended(self, event: ev.SessionEnded) -> None:
        assert self.setup is not None
        assert list(event.score) == self.score
        if event.reason is ev.EndReason.SCORE:
            assert event.winner is not None
            assert self.score[event.winner] >= (self.setup.match_length or 0)
            assert self.score[event.winner.other] < (self.setup.match_length or 0)
        self.over = True
