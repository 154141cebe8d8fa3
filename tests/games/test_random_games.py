"""Random legal games of every preset: invariants, replays, and illegal actions that change nothing.

The long run plays 10,000 games of every preset: `pytest -m long tests/games/test_random_games.py`.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.engine.errors import InvalidInputError, WrongMomentError
from bgserver.engine.position import Resignation, Seat
from bgserver.games import actions as act
from bgserver.games import events as ev
from bgserver.games.actions import ActionKind, StepOrder
from bgserver.games.dice import FairDice, verify
from bgserver.games.events import By
from bgserver.games.rules import AutoDouble, AutoDoubleScope, HollandScope, RaccoonOwner
from bgserver.games.setup import new_setup
from bgserver.games.state import Stage, apply, replay, to_act
from bgserver.games.table import DueKind, decide, due, legal_actions, open_table, settle
from bgserver.games.turn import rest_to
from bgserver.games.views import game_state, score_before, seat_view
from tests import naive
from tests.games.bookkeeper import Bookkeeper
from tests.games.desk import results_left

if TYPE_CHECKING:
    from bgserver.games.state import TableState

_ACTIONS: dict[ActionKind, Any] = {
    ActionKind.ROLL: act.Roll,
    ActionKind.UNDO: act.Undo,
    ActionKind.CONFIRM: act.Confirm,
    ActionKind.DOUBLE: act.Double,
    ActionKind.TAKE: act.Take,
    ActionKind.DROP: act.Drop,
    ActionKind.BEAVER: act.Beaver,
    ActionKind.RACCOON: act.Raccoon,
    ActionKind.PLAY_ON: act.PlayOn,
    ActionKind.RESIGN: act.Resign,
    ActionKind.ACCEPT: act.AcceptResignation,
    ActionKind.REFUSE: act.RefuseResignation,
    ActionKind.NEXT_GAME: act.NextGame,
    ActionKind.END_SESSION: act.EndSession,
    ActionKind.RETURN: act.Return,
}
_TAPS = 0.25
_LATE = 0.02  # how often a player thinks longer than any limit
_ORACLE_EVERY = 16  # the slow oracle judges about one play in so many
# How often a player in the test chooses an action, against a step's 60.
_WEIGHTS = {
    ActionKind.UNDO: 2,
    ActionKind.DOUBLE: 3,
    ActionKind.ROLL: 20,
    ActionKind.TAKE: 12,
    ActionKind.DROP: 2,
    ActionKind.RESIGN: 0.2,
    ActionKind.ACCEPT: 1,
    ActionKind.REFUSE: 6,
    ActionKind.CONFIRM: 30,
    ActionKind.END_SESSION: 1,
}

# Every preset as it is, and with everything that it allows.
_MONEY = {
    "beaver": True,
    "raccoon": True,
    "auto_double_limit": 3,
}
_MONEY_A = _MONEY | {"raccoon_owner": RaccoonOwner.RACCOONER, "auto_double": AutoDouble.A}
_MONEY_B = _MONEY | {
    "raccoon_owner": RaccoonOwner.BEAVERER,
    "auto_double": AutoDouble.B,
    "auto_double_b_scope": AutoDoubleScope.FIRST_ROLL_OF_EACH_SIDE,
    "cube_cap": 8,
}
_SETUPS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "classic": ("classic", {}, {}),
    "traditional": ("traditional", {}, {}),
    "long_nardy": ("long_nardy", {}, {}),
    "joypip": ("joypip", {}, {"match_length": 3}),
    "tournament": ("tournament", {}, {"match_length": 5}),
    "money": ("money", {}, {}),
    "joinpal": ("joinpal", {}, {}),
    "money with a": ("money", _MONEY_A, {}),
    "money with b": ("money", _MONEY_B, {}),
    "tournament with holland": (
        "tournament",
        {"holland": True, "holland_scope": HollandScope.BOTH, "forbid_dead_cube": True},
        {"match_length": 5},
    ),
    "long nardy with a draw": ("long_nardy", {"long_nardy": {"last_move_draw": True}}, {}),
}
_PRESETS = [name for name in _SETUPS if " " not in name]
_REASONS = {
    *("NOT_YOUR_TURN", "GAME_OVER", "MATCH_OVER", "SESSION_OVER", "GAME_RUNNING"),
    *("OFFER_PENDING", "NO_OFFER", "NOT_ROLLED", "UNDO_OFF", "NOTHING_TO_UNDO", "BEAVERS_OFF"),
    *("RACCOONS_OFF", "BEAVER_NOT_DROPPABLE", "NO_RESIGNATION", "ALREADY_READY"),
    *("MATCH_RUNNING", "NO_AUTOPILOT", "NO_SUCH_DIE", "NO_CHECKER", "BAR_FIRST", "BLOCKED"),
    *("NOT_ALL_HOME", "CHECKER_BEHIND", "MUST_USE_BOTH", "MUST_USE_HIGHER", "HEAD_LIMIT"),
    *("PRIME_TRAPS_ALL", "CUBE_OFF", "CRAWFORD_GAME", "ONE_POINT_MATCH", "ALREADY_ROLLED"),
    *("OPENING_TURN", "NOT_CUBE_OWNER", "CUBE_AT_CAP", "HOLLAND_WAIT", "DEAD_CUBE"),
    "ALREADY_DOUBLED",
}


class RandomTable:
    """One table played at random."""

    def __init__(self, name: str, seed: int) -> None:
        """A new table.

        Args:
            name: One of `_SETUPS`.
            seed: Of everything: dice, plays, times.
        """
        preset, overrides, settings = _SETUPS[name]
        self.rng = random.Random(f"{name} {seed}")
        setup = new_setup(preset, overrides, **settings)
        self.dice = FairDice(self.rng.randbytes(32))
        self.now = 0.0
        # Some tables are played tap by tap, some whole turns at a time.
        self.taps = self.rng.random() < _TAPS
        self.log = open_table(setup, self.dice, self.now)
        self.state = replay(self.log)
        self.book = Bookkeeper()
        for event in self.log:
            self.book.read(event)

    def play(self, *, illegal: int = 0) -> None:
        """Play to the end of the match, or of one or two games.

        Args:
            illegal: How many random actions to try before each legal one.
        """
        games = self.rng.choice([1, 1, 2])
        while self.state.stage is not Stage.SESSION_OVER:
            self._book(settle(self.state, self.dice, self.now))
            state = self.state
            if state.stage is Stage.SESSION_OVER:
                break
            if state.stage is Stage.GAME_OVER and not state.setup.is_match and state.game >= games:
                break
            for _ in range(illegal):
                self._try_anything()
            self._act()
            self.now += 100.0 if self.rng.random() < _LATE else 0.5

    def play_turns(self, count: int) -> None:
        """Play whole turns, up to the next one's roll or the end of the game."""
        self.taps = False
        while self.state.result is None and sum(self.state.turns) < count:
            self._act()
            self._book(settle(self.state, self.dice, self.now))
        self._book(settle(self.state, self.dice, self.now))

    def _act(self) -> None:
        following = due(self.state)
        by = By.PLAYER
        if following is not None and following.kind is DueKind.BOT:
            seat, by = following.seat, following.by
        elif self.rng.random() < 0.02:
            seat = self.rng.choice(list(Seat))
        else:
            seat = self.rng.choice(to_act(self.state))
        legal = legal_actions(self.state, seat)
        kinds = sorted(legal.actions - {ActionKind.PLAY}, key=lambda kind: kind.value)
        if not kinds:
            return
        weights = [_WEIGHTS.get(kind, 60 if kind is ActionKind.STEP else 5) for kind in kinds]
        kind = self.rng.choices(kinds, weights)[0]
        option = None
        action: Any
        if kind is ActionKind.STEP and not self.taps:
            steps = rest_to(self.state, self.rng.choice(results_left(self.state)))
            assert steps is not None
            action = act.PlayTurn(tuple((step.source, step.target) for step in steps))
        elif kind is ActionKind.STEP:
            option = self.rng.choice(legal.steps)
            action = act.MakeStep(option.source, option.target, option.order)
        elif kind is ActionKind.UNDO:
            action = act.Undo(all=self.rng.random() < 0.5)
        elif kind is ActionKind.RESIGN:
            action = act.Resign(self.rng.choice(legal.resignations or (Resignation.SINGLE,)))
        else:
            action = _ACTIONS[kind]()
        before = self.state
        self._book(decide(before, seat, action, self.dice, self.now, by))
        if option is not None:
            made = [event for event in self.log[before.version :] if event.name == "step_made"]
            assert len(made) == len(option.steps)

    def _try_anything(self) -> None:
        """A random action: it works if and only if it was listed, and else changes nothing."""
        seat = self.rng.choice(list(Seat))
        kind = self.rng.choice([*_ACTIONS, ActionKind.STEP, ActionKind.STEP, ActionKind.STEP])
        if kind is ActionKind.STEP:
            source, target = self.rng.randint(-1, 26), self.rng.randint(-1, 26)
            order = self.rng.choice(list(StepOrder))
            action: Any = act.MakeStep(source, target, order)
        else:
            action = _ACTIONS[kind]()
        before, hashed = self.state, hash(self.state)
        legal = legal_actions(before, seat)
        listed = kind in legal.actions
        if kind is ActionKind.STEP:
            listed = (source, target) in {(one.source, one.target) for one in legal.steps}
        refused: WrongMomentError | InvalidInputError | None = None
        try:
            decide(before, seat, action, self.dice, self.now)
        except (WrongMomentError, InvalidInputError) as error:
            refused = error
        assert listed == (refused is None)
        if isinstance(refused, WrongMomentError):
            assert refused.reason in _REASONS, refused.reason
            assert str(refused)
            assert kind is ActionKind.STEP or legal.refusals[kind][0] == refused.reason
        elif isinstance(refused, InvalidInputError):
            assert all(fault.field.startswith("step.") for fault in refused.faults)
        assert self.state is before
        assert hash(before) == hashed

    def _book(self, events: list[ev.Event]) -> None:
        for event in events:
            before = self.state
            self.state = apply(before, event)
            self.log.append(event)
            self.book.read(event)
            _check(before, event, self.state)

    def finish(self) -> None:
        """What must hold of the whole log."""
        text = json.dumps([event.to_json() for event in self.log])
        again = [ev.event_from_json(form) for form in json.loads(text)]
        assert again == self.log
        assert replay(again) == self.state
        assert list(self.state.score) == self.book.score
        assert self.state.position.points == self.book.board or self.state.last_answer
        assert verify(again) == []


def _check(before: TableState, event: ev.Event, state: TableState) -> None:
    """Invariants after every event."""
    assert state.version == before.version + 1
    if state.position is not before.position:
        _check_board(state)
    cap = state.setup.rules.cube_cap
    assert state.cube_value & (state.cube_value - 1) == 0
    assert state.cube_value <= (cap or 1)
    assert (state.cube_owner is None) or state.cube_value > 1
    seen = game_state(state)
    assert seen.on_roll is state.turn
    if state.stage not in {Stage.OPENING, Stage.GAME_OVER, Stage.SESSION_OVER}:
        assert (seen.to_act,) == to_act(state)
        assert seen.resignation is state.resignation
    is_final = isinstance(event, (ev.PlayConfirmed, ev.TurnForfeited))
    if is_final and not before.last_answer and before.version % _ORACLE_EVERY == 0:
        _check_play(before, isinstance(event, ev.TurnForfeited))
    if not state.setup.is_match or state.stage is not Stage.SESSION_OVER:
        limit = state.setup.match_length or 10**9
        assert max(score_before(state)) < limit


def _check_board(state: TableState) -> None:
    board = seat_view(state, state.turn).position
    other = seat_view(state, state.turn.other)
    assert not naive.faults(board.points, state.setup.rules.variant.value)
    assert other.position.turned() == board
    assert other.pips == board.pips()[::-1]
    assert min(other.off) >= 0


def _check_play(before: TableState, forfeited: bool) -> None:
    """The slow oracle agrees that the turn was played legally (2.12)."""
    assert before.dice is not None
    dice = (before.dice.high, before.dice.low)
    variant = before.setup.rules.variant.value
    is_first = before.turns[before.turn] == 0
    results = naive.legal_results(before.turn_start.points, dice, variant, first_turn=is_first)
    assert tuple(before.position.points) in {tuple(result) for result in results}
    if forfeited:
        assert before.position == before.turn_start
        assert before.steps == ()


def play_random_games(name: str, count: int, *, illegal: int) -> None:
    """Play at least so many games of a setup.

    Args:
        name: One of `_SETUPS`.
        count: Games; matches are played to their end.
        illegal: How many random actions to try before each legal one.
    """
    games = 0
    for seed in itertools.count(int(os.environ.get("BGSERVER_TEST_SEED", "0"))):
        if games >= count:
            return
        table = RandomTable(name, seed)
        try:
            table.play(illegal=illegal)
            table.finish()
        except BaseException:
            print(f"failed: {name!r}, seed {seed}, event {len(table.log)}")  # noqa: T201 -- for whoever reruns it
            raise
        games += table.state.game


@pytest.mark.parametrize("name", _SETUPS)
def test_random_games_keep_all_invariants_and_replay(name: str) -> None:
    play_random_games(name, 12, illegal=0)


@pytest.mark.parametrize("name", _SETUPS)
def test_random_illegal_actions_never_change_the_state(name: str) -> None:
    play_random_games(name, 1, illegal=4)


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", _PRESETS)
def test_10_000_random_games(name: str) -> None:
    play_random_games(name, 10_000, illegal=0)


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", _SETUPS)
def test_many_random_illegal_actions(name: str) -> None:
    play_random_games(name, 300, illegal=3)
