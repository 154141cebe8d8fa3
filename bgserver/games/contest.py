"""Plays the units of a simulation, by the rules of tables.

The course of a unit is a script: a generator that asks players and is sent what they decide, so
that whoever drives it chooses how the answers are found: here, in a pool, or at another server.
Turns between static players need no answers: they are played in bulk, and come out the same.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from bgserver.engine.dice_stream import StreamDice
from bgserver.engine.errors import InvalidInputError, WrongMomentError
from bgserver.engine.player import Choice
from bgserver.engine.position import Resignation, Seat, Variant
from bgserver.engine.quick_turns import (
    HeadTurns,
    QuickRules,
    QuickTurns,
    Standing,
    Stop,
    is_quick,
)
from bgserver.engine.strength import DecisionKey
from bgserver.games import actions as act
from bgserver.games import events as ev
from bgserver.games.cube import double_refusals
from bgserver.games.deciding import Ask, AskKind, Reply, answer, judge
from bgserver.games.events import By, EndReason
from bgserver.games.flow import Ledger
from bgserver.games.rules import (
    AutoDouble,
    AutoDoubleScope,
    HeadException,
    HeadExceptionScope,
    HollandCount,
    HollandScope,
    LongNardyRules,
)
from bgserver.games.simulation import (
    GameEnd,
    Misconduct,
    PlayedGame,
    Tally,
    TurnRecord,
    UnitResult,
)
from bgserver.games.state import Stage
from bgserver.games.table import decide
from bgserver.games.views import score_before

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.plays import Play
    from bgserver.engine.position import Dice
    from bgserver.engine.work import Work
    from bgserver.games.simulation import Contestant, SimulationSpec
    from bgserver.games.state import TableState

__all__ = ["Script", "play_unit", "unit_script"]

Script: TypeAlias = Generator[Ask | None, Reply, UnitResult]
"""Yields questions and is sent the replies; yields None between pieces of a few milliseconds."""

_NOW = 0.0  # nobody looks at the clock
_ENDS = {
    EndReason.BORNE_OFF: GameEnd.BORNE_OFF,
    EndReason.DROPPED: GameEnd.DROPPED,
    EndReason.DRAWN: GameEnd.DRAWN,
}


def play_unit(
    engine: Engine, spec: SimulationSpec, index: int, *, quick: bool = True
) -> Work[UnitResult]:
    """Play a unit between players of this engine.

    Args:
        engine: What judges.
        spec: What is played; no player has an address.
        index: Number of the unit.
        quick: Whether to play turns in bulk where that is possible; the games are the same.
    """
    seats = spec.seats(index)
    script = unit_script(spec, index, engine if quick else None)
    reply: Reply = None
    try:
        while True:
            ask = script.send(reply)
            reply = None
            if ask is not None and ask.kind is not AskKind.JUDGE:
                reply = yield from answer(engine, ask, seats[ask.seat])
            elif ask is not None and spec.judge is not None:
                reply = yield from judge(engine, ask, spec.judge)
            yield
    except StopIteration as end:
        result: UnitResult = end.value
        return result


def unit_script(spec: SimulationSpec, index: int, engine: Engine | None) -> Script:
    """The course of a unit.

    Args:
        spec: What is played.
        index: Number of the unit.
        engine: What plays turns in bulk where both players allow it; None to ask for each.
    """
    return _Unit(spec, index, engine).play()


class _Unit:
    """A unit in the making."""

    def __init__(self, spec: SimulationSpec, index: int, engine: Engine | None) -> None:
        self._spec = spec
        self._index = index
        self._seats = spec.seats(index)
        self._dice = StreamDice(spec.seed, spec.first_game(index))
        self._ledger = Ledger(None, self._dice, _NOW, By.BOT)
        local = all(seat.address is None and is_quick(seat.level) for seat in self._seats)
        self._engine = engine if local and spec.judge is None else None

    def play(self) -> Script:
        """Play to the end."""
        spec = self._spec
        self._ledger.book(ev.SessionStarted(_NOW, spec.setup))
        games: list[PlayedGame] = []
        while True:
            # A ledger keeps its events: a new one for each game forgets those before.
            self._ledger = Ledger(self._ledger.state, self._dice, _NOW, By.BOT)
            self._ledger.start_game()
            game = _Game(spec, self._seats, self._ledger, self._dice)
            games.append((yield from game.play(self._engine)))
            self._ledger = game.ledger
            state = self._ledger.state
            is_match = spec.setup.is_match
            over = state.stage is Stage.SESSION_OVER
            if over or (not is_match and len(games) >= spec.session_games):
                points = state.score
                winner = None
                if points[0] != points[1]:
                    winner = Seat.FIRST if points[0] > points[1] else Seat.SECOND
                swapped = spec.is_swapped(self._index)
                return UnitResult(self._index, tuple(games), winner, points, is_match, swapped)


_Answer: TypeAlias = Generator[Ask | None, Reply, Reply]
_Steps: TypeAlias = Generator[Ask | None, Reply, None]


class _CubeActions:
    """How a turn begins, and what happens to the cube before its roll."""

    def __init__(self, state: TableState) -> None:
        self.seat = state.turn
        self.position = state.turn_start
        self.value = state.cube_value
        self.doubled = self.taken = self.beavered = self.raccooned = False

    def record(self, dice: Dice | None, play: Play | None) -> TurnRecord:
        """The whole turn."""
        return TurnRecord(
            self.seat, self.position, self.value, self.doubled, self.taken, self.beavered,
            dice, play, self.raccooned,
        )  # fmt: skip


class _Game:
    """One game in the making."""

    def __init__(
        self,
        spec: SimulationSpec,
        seats: tuple[Contestant, Contestant],
        ledger: Ledger,
        dice: StreamDice,
    ) -> None:
        self.ledger = ledger
        """The game so far."""
        self._spec = spec
        self._seats = seats
        self._dice = dice
        self._number = dice.number(ledger.state.game)
        self._before: _CubeActions | None = _CubeActions(ledger.state)
        self._record: list[TurnRecord] = []
        self._misconduct: Misconduct | None = None
        self._own_plays = [Tally(), Tally()]
        self._judged_plays = [Tally(), Tally()]
        self._judged_cube = [Tally(), Tally()]
        self._cube_counts: dict[type[act.Action], list[int]] = {
            kind: [0, 0] for kind in (act.Double, act.Beaver, act.Raccoon)
        }

    @property
    def _state(self) -> TableState:
        return self.ledger.state

    def play(self, engine: Engine | None) -> Generator[Ask | None, Reply, PlayedGame]:
        """Play to the end."""
        quick = None if engine is None else self._quick_turns(engine)
        while self._state.result is None:
            state = self._state
            if state.last_answer:
                self._last_answer()
            elif quick is not None:
                yield from self._play_in_bulk(quick)
            elif state.stage is Stage.TO_ROLL:
                yield from self._before_roll()
            else:
                yield from self._move()
        return self._result()

    def _key(self) -> DecisionKey:
        return DecisionKey(self._spec.seed, self._number, sum(self._state.turns))

    def _ask(self, kind: AskKind, seat: Seat) -> _Answer:
        """What a seat decides; the judge, if there is one, is told."""
        asked = Ask(kind, seat, self._state, self._key())
        reply = yield asked
        if self._spec.judge is not None and not isinstance(reply, Misconduct):
            decided = reply if isinstance(reply, act.Action | Choice) else None
            loss = yield replace(asked, kind=AskKind.JUDGE, decided=decided)
            tallies = self._judged_plays if kind is AskKind.PLAY else self._judged_cube
            if isinstance(loss, float):
                tallies[seat] = tallies[seat].plus(loss)
        return reply

    def _forfeit(self, seat: Seat, misconduct: Misconduct) -> None:
        """A game that is forfeited is lost as a single one at the cube's present value."""
        self._misconduct = misconduct
        value = self._state.cube_value
        self.ledger.end_game(seat.other, Resignation.SINGLE, value, EndReason.TIMEOUT)

    # --- the cube --------------------------------------------------------------------------------

    def _before_roll(self) -> _Steps:
        """Everything up to the roll."""
        self._before = before = _CubeActions(self._state)
        seat = self._state.turn
        if not double_refusals(self._state, seat):
            action = yield from self._act(seat)
            if isinstance(action, act.Double):
                before.doubled = True
                yield from self._answers(before)
            if self._state.result is not None:
                if before.doubled:
                    self._note(None, None)
                return
        if self._state.stage is Stage.TO_ROLL:
            self.ledger.roll(seat)

    def _answers(self, before: _CubeActions) -> _Steps:
        """The answers to a double, a beaver, a raccoon."""
        doubler = self._state.turn
        while self._state.result is None and self._state.stage is not Stage.TO_ROLL:
            seat = doubler if self._state.stage is Stage.BEAVER else doubler.other
            action = yield from self._act(seat)
            before.taken = before.taken or isinstance(action, act.Take | act.Beaver)
            before.beavered = before.beavered or isinstance(action, act.Beaver)
            before.raccooned = before.raccooned or isinstance(action, act.Raccoon)

    def _act(self, seat: Seat) -> _Answer:
        """Let a seat act on the cube; None if it forfeits the game."""
        action = yield from self._ask(AskKind.CUBE, seat)
        if isinstance(action, Misconduct):
            self._forfeit(seat, action)
            return None
        if not isinstance(action, act.Action):
            raise TypeError(action)
        if isinstance(action, act.Roll) and self._state.stage is Stage.TO_ROLL:
            return action  # rolled by the caller, as where nobody may double
        try:
            events = decide(self._state, seat, action, self._dice, _NOW, By.BOT)
        except (InvalidInputError, WrongMomentError):
            self._forfeit(seat, Misconduct.ILLEGAL)
            return None
        for event in events:
            self.ledger.book(event)
        if type(action) in self._cube_counts:
            self._cube_counts[type(action)][seat] += 1
        return action

    # --- plays -----------------------------------------------------------------------------------

    def _move(self) -> _Steps:
        """The play of a roll."""
        seat = self._state.turn
        choice = yield from self._ask(AskKind.PLAY, seat)
        if isinstance(choice, Misconduct):
            self._forfeit(seat, choice)
            return
        if not isinstance(choice, Choice):
            raise TypeError(choice)
        self._note(self._state.dice, choice.play)
        if choice.loss is not None:
            self._own_plays[seat] = self._own_plays[seat].plus(choice.loss)
        if not choice.play.steps:
            self.ledger.forfeit()
            return
        self.ledger.make_steps(choice.play.steps)
        if self._state.result is None and self._state.stage is Stage.MOVING:
            self.ledger.confirm()

    def _last_answer(self) -> None:
        """Long Nardy: the last turn of the second player, in which there is no choice (7.14)."""
        state = self._state
        if state.stage is Stage.TO_ROLL:
            self._before = _CubeActions(state)
            self.ledger.roll(state.turn)
        else:
            self._note(state.dice, None)
            self.ledger.last_answer()

    def _note(self, dice: Dice | None, play: Play | None) -> None:
        """Keep a turn, if turns are kept."""
        before, self._before = self._before, None
        if self._spec.records and before is not None:
            self._record.append(before.record(dice, play))

    def _result(self) -> PlayedGame:
        """What came of the game."""
        event = self._state.result
        if event is None:
            message = "the game is not over"
            raise AssertionError(message)
        end = _ENDS[event.reason] if self._misconduct is None else GameEnd.FORFEITED
        counts = {kind: (first, second) for kind, (first, second) in self._cube_counts.items()}
        return PlayedGame(
            winner=None if event.winner is None else Seat(event.winner),
            points=event.points,
            result=int(event.result),
            cube_value=event.cube,
            end=end,
            turns=sum(self._state.turns),
            record=tuple(self._record) if self._spec.records else None,
            misconduct=self._misconduct,
            own_plays=(self._own_plays[0], self._own_plays[1]),
            judged_plays=(self._judged_plays[0], self._judged_plays[1]),
            judged_cube=(self._judged_cube[0], self._judged_cube[1]),
            doubles=counts[act.Double],
            beavers=counts[act.Beaver],
            raccoons=counts[act.Raccoon],
        )

    # --- turns in bulk ---------------------------------------------------------------------------

    def _quick_turns(self, engine: Engine) -> QuickTurns:
        first, second = ((seat.level, seat.strength) for seat in self._seats)
        game = (self._spec.seed, self._number)
        return QuickTurns(engine, _quick_rules(self._state), (first, second), game)

    def _play_in_bulk(self, quick: QuickTurns) -> _Steps:
        """Many turns, up to one where the cube is in question, and what follows there."""
        state, own = self._state, self._own_plays
        standing = Standing(
            position=state.turn_start,
            seat=state.turn,
            rolls=state.rolls,
            rolled=state.rolled,
            turns=state.turns,
            dice=state.dice,
            cube_value=state.cube_value,
            cube_owner=state.cube_owner,
            auto_doubles=state.auto_doubles,
            choices=(own[0].count, own[1].count),
            lost=(own[0].lost, own[1].lost),
        )
        stop = quick.play(standing)
        for seat in Seat:
            own[seat] = Tally(standing.choices[seat], standing.lost[seat])
        if self._spec.records:
            self._keep(quick)
        moved = standing.turns != state.turns
        after = replace(
            state,
            stage=Stage.TO_ROLL if standing.dice is None else Stage.MOVING,
            turn=standing.seat,
            turn_start=standing.position,
            position=standing.position,
            dice=standing.dice,
            rolls=standing.rolls,
            rolled=standing.rolled,
            turns=standing.turns,
            cube_value=standing.cube_value,
            auto_doubles=standing.auto_doubles,
            doubled=state.doubled and not moved,
        )
        self.ledger = Ledger(after, self._dice, _NOW, By.BOT)
        if stop is Stop.WON:
            self.ledger.confirm()
        elif stop is Stop.ASKED:
            yield from self._before_roll()
        yield None

    def _keep(self, quick: QuickTurns) -> None:
        """Keep the turns of the last bulk; the cube may have been turned before the first."""
        for turn in quick.turns():
            before, self._before = self._before, None
            if before is None:
                before = _CubeActions(self._state)
                before.seat, before.position = turn.seat, turn.position
                before.value = turn.cube_value
            self._record.append(before.record(turn.dice, turn.play))


def _quick_rules(state: TableState) -> QuickRules:
    """The rules of the game that has begun, for turns in bulk."""
    setup, rules = state.setup, state.setup.rules
    match = None
    if setup.match_length is not None:
        match = (setup.match_length, *score_before(state))
    head_turns = HeadTurns.NONE
    if rules.variant is Variant.LONG_NARDY:
        options = rules.long_nardy or LongNardyRules()
        if options.head_exception is not HeadException.NONE:
            of_game = options.head_exception_scope is HeadExceptionScope.FIRST_TURN_OF_GAME
            head_turns = HeadTurns.FIRST_OF_GAME if of_game else HeadTurns.FIRST_OF_EACH
    automatic = setup.cube and rules.auto_double is AutoDouble.B
    holland = bool(rules.holland and state.crawford_done and not state.crawford)
    both = rules.holland_scope is HollandScope.BOTH
    first, second = score_before(state)
    return QuickRules(
        variant=rules.variant,
        cube=setup.cube and not state.crawford and setup.match_length != 1,
        cap=(rules.cube_cap or 1) if setup.cube else 1,
        jacoby=bool(rules.jacoby and setup.cube),
        beavers=bool(rules.beaver and setup.cube),
        match=match,
        crawford=state.crawford,
        auto_doubles=(rules.auto_double_limit or 0) if automatic else 0,
        auto_double_each=rules.auto_double_b_scope is AutoDoubleScope.FIRST_ROLL_OF_EACH_SIDE,
        head_turns=head_turns,
        holland_rolls=rules.holland_rolls or 0,
        holland_total=rules.holland_count is HollandCount.TOTAL,
        holland_seats=(holland and (both or first < second), holland and (both or second < first)),
        forbid_dead_cube=bool(rules.forbid_dead_cube),
    )
