"""A table in a test's hands: dice as given, time as told, every event folded and kept."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.engine.errors import WrongMomentError
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Position, Seat
from bgserver.games import actions as act
from bgserver.games import events as ev
from bgserver.games.dice import SeededDice
from bgserver.games.setup import SeatKind, new_setup
from bgserver.games.state import Stage, apply, replay
from bgserver.games.table import decide, due, legal_actions, open_table, refusals, settle
from bgserver.games.turn import first_turn, rest_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bgserver.games.actions import Action, ActionKind
    from bgserver.games.automation import Due
    from bgserver.games.dice import DiceSource
    from bgserver.games.state import TableState
    from bgserver.games.table import LegalActions

__all__ = [
    "BOT",
    "FIRST",
    "PERSON",
    "SECOND",
    "Desk",
    "GivenDice",
    "board",
    "names",
    "results_left",
]

FIRST, SECOND = Seat.FIRST, Seat.SECOND
PERSON, BOT = SeatKind.PERSON, SeatKind.BOT


class GivenDice:
    """Rolls in a given order; then those of a seed."""

    def __init__(self, rolls: Iterable[tuple[int, int]], seed: int = 1) -> None:
        self._rolls = iter(rolls)
        self._rest = SeededDice(seed)

    def roll(self, game: int, index: int) -> tuple[int, int]:
        return next(self._rolls, None) or self._rest.roll(game, index)

    def commitment(self, game: int) -> str | None:  # noqa: ARG002 -- the protocol's
        return None

    def reveal(self, game: int) -> str | None:  # noqa: ARG002 -- part of the interface
        return None


class Desk:
    """A running table."""

    def __init__(
        self,
        preset: str,
        rolls: Sequence[tuple[int, int]] = ((6, 1),),
        *,
        dice: DiceSource | None = None,
        board: Sequence[int] | None = None,
        seats: tuple[SeatKind, SeatKind] = (PERSON, PERSON),
        **settings: Any,
    ) -> None:
        """Open a table.

        Args:
            preset: The preset.
            rolls: The first rolls, the opening's included: FIRST's die, then SECOND's.
            dice: Instead of `rolls`.
            board: A board for the player on turn at the start, instead of the start position.
            seats: Who plays.
            settings: `match_length`, `cube_wanted`, `turn_seconds`; all others are changed rules,
                `limits` those that the rules call `turn_seconds`.
        """
        known = ("match_length", "cube_wanted", "turn_seconds")
        chosen = {name: settings.pop(name) for name in known if name in settings}
        if "limits" in settings:
            settings["turn_seconds"] = settings.pop("limits")
        if "cube_wanted" in chosen:
            chosen["cube"] = chosen.pop("cube_wanted")
        setup = new_setup(preset, settings, seats=seats, **chosen)
        self.dice = dice or GivenDice(rolls)
        self.now = 1000.0
        self.log: list[ev.Event] = []
        self.board: tuple[int, ...] | None = None
        first = open_table(setup, self.dice, self.now)
        self.state: TableState = replay(first)
        self.log += first
        if board is not None:
            self.put(board)
        self.settle()

    def put(self, board: Sequence[int]) -> None:
        """Another board for the player on turn. The log no longer replays."""
        position = Position(tuple(board), self.state.setup.rules.variant)
        self.change(position=position, turn_start=position)
        self.board = position.points

    def to_roll(self, board: Sequence[int] | None = None, **changes: Any) -> None:
        """FIRST is to roll in the middle of a game, on this board."""
        changes = {"turn": FIRST, "turns": (5, 5), "rolled": (5, 5), "doubled": False} | changes
        self.change(stage=Stage.TO_ROLL, dice=None, steps=(), steps_by=(), **changes)
        if board is not None:
            self.put(board)

    def change(self, **changes: Any) -> None:
        """Another state; the log no longer replays."""
        self.state = replace(self.state, **changes)
        self.board = ()

    def book(self, events: Iterable[ev.Event]) -> list[ev.Event]:
        booked = list(events)
        for event in booked:
            assert ev.event_from_json(json.loads(json.dumps(event.to_json()))) == event
            self.state = apply(self.state, event)
            self.log.append(event)
        return booked

    def settle(self) -> list[ev.Event]:
        return self.book(settle(self.state, self.dice, self.now))

    def do(self, seat: Seat, *actions: Action, by: ev.By = ev.By.PLAYER) -> list[ev.Event]:
        """Let a seat act, and the server after each action; all events."""
        events: list[ev.Event] = []
        for action in actions:
            events += self.book(decide(self.state, seat, action, self.dice, self.now, by))
            events += self.settle()
        return events

    def turn(self, *actions: Action) -> list[ev.Event]:
        """Let the player on turn act."""
        return list(itertools.chain.from_iterable(self.do(self.state.turn, a) for a in actions))

    def play(self, steps: str = "") -> list[ev.Event]:
        """Make steps like `13/7 8/7` and confirm; without any, the first legal play."""
        pairs = [tuple(map(int, text.split("/"))) for text in steps.split()]
        if not steps:
            return self._play_anything()
        return self.turn(act.PlayTurn(tuple((one[0], one[1]) for one in pairs)))

    def _play_anything(self) -> list[ev.Event]:
        events: list[ev.Event] = []
        seat, turns = self.state.turn, self.state.turns
        while self.state.turns == turns and self.state.result is None:
            steps = self.legal(seat).steps
            action = act.MakeStep(steps[0].source, steps[0].target) if steps else act.Confirm()
            events += self.do(seat, action)
        return events

    def step(self, source: int, target: int, **order: act.StepOrder) -> list[ev.Event]:
        return self.turn(act.MakeStep(source, target, **order))

    def pass_time(self, seconds: float) -> list[ev.Event]:
        self.now += seconds
        return self.settle()

    def legal(self, seat: Seat) -> LegalActions:
        return legal_actions(self.state, seat)

    def reasons(self, seat: Seat, kind: ActionKind) -> tuple[str, ...]:
        return refusals(self.state, seat, kind)

    def refuses(self, seat: Seat, action: Action) -> str:
        """The reason why an action is refused; nothing changes."""
        with pytest.raises(WrongMomentError) as caught:
            decide(self.state, seat, action, self.dice, self.now)
        return caught.value.reason

    @property
    def due(self) -> Due | None:
        return due(self.state)

    @property
    def ended(self) -> ev.GameEnded:
        """How the present game ended."""
        assert self.state.result is not None
        return self.state.result

    def check(self) -> None:
        """The log alone gives the same state."""
        if self.board is None:
            assert replay(self.log) == self.state


def names(events: Iterable[ev.Event]) -> list[str]:
    return [event.name for event in events]


def board(own: dict[int, int], opposing: dict[int, int]) -> list[int]:
    """A board from counts by the numbers of the player on turn; 25 and 0 are the bars."""
    points = [0] * 26
    for point, count in own.items():
        points[point] = count
    for point, count in opposing.items():
        points[point] = -count
    return points


def results_left(state: TableState) -> list[Position]:
    """The distinct boards that a turn can still lead to, seen by the player on turn."""
    assert state.dice is not None
    plays = legal_plays(state.turn_start, state.dice, first_turn=first_turn(state))
    return [play.result for play in plays if rest_to(state, play.result) is not None]
