"""Runs a rollout: which chunks come next, when it ends, and what it has found so far.

`RolloutRun` itself plays nothing and waits for nothing: whoever drives it takes its chunks, has
them played somewhere, and adds the results in the order of the chunks. `roll_out` does so for
callers that may block.
"""

from __future__ import annotations

import enum
import hashlib
import math
import time
import weakref
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.chunks import results_in_order
from bgserver.engine.cube_rules import cube_state
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.identity import identity_of
from bgserver.engine.levels import Level
from bgserver.engine.rollout import RolloutChunk
from bgserver.engine.rollout_spec import RolloutKind, stop_faults
from bgserver.engine.rollout_sums import CUBELESS, Figure, RolloutState, RolloutSums
from bgserver.kernels.cube import normalised, passed_utility
from bgserver.kernels.rollout_trial import UTILITY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from bgserver.engine.chunks import Executor
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.rollout_spec import RolloutCandidate, RolloutSpec, StopRules

__all__ = [
    "RolloutEntry",
    "RolloutResult",
    "RolloutRun",
    "StopReason",
    "roll_out",
    "trials_per_chunk",
]

_BORDER = 36
"""Trials between two looks at the stop rules."""
_TOLD_EVERY_S = 0.1


class StopReason(enum.Enum):
    """Why a rollout has ended."""

    TRIALS = "trials"
    """All trials are played."""
    STANDARD_ERROR = "standard error"
    """Every equity is as certain as was asked for."""
    JOINT_DEVIATIONS = "joint deviations"
    """The best is so far ahead as was asked for."""
    EXACT = "exact"
    """Nothing is left to chance."""


@dataclass(frozen=True, slots=True)
class RolloutEntry:
    """What a rollout tells of one candidate, seen by the player who asks."""

    candidate: RolloutCandidate
    """The candidate."""
    index: int
    """Its place in the question."""
    trials: int
    """Trials so far."""
    is_active: bool
    """False if it was given up as too far behind."""
    equity: Figure
    """With cube and score, in points of the cube at the time of the question (normalised in a
    match); without cube the cubeless equity."""
    cubeless_equity: Figure
    """Cubeless money equity, gammons counting."""
    probabilities: tuple[Figure, ...]
    """Five chances: win, win gammon+, win backgammon, lose gammon+, lose backgammon."""
    match_winning_chances: Figure | None
    """0..1; None in money play and without cube."""
    behind: Figure
    """Equity of the best candidate minus this one's, over their common trials."""
    better_chance: float
    """Chance that the best candidate is truly better than this one, by these trials: 0.5..1."""


@dataclass(frozen=True, slots=True)
class RolloutResult:
    """What a rollout has found so far."""

    entries: tuple[RolloutEntry, ...]
    """The candidates, best first (cube actions in the order of the question); plays that were
    given up come last."""
    double_pass: float | None
    """Equity of double and pass, if cube actions are compared."""
    double_pass_mwc: float | None
    """The same as match winning chances, in a match."""
    trials: int
    """Trials of the candidates that were not given up."""
    most_trials: int
    """Trials at which it ends in any case."""
    stopped_by: StopReason | None
    """Why it has ended; None while it runs."""
    state: RolloutState
    """To go on with."""


class RolloutRun:
    """A rollout in progress."""

    def __init__(
        self,
        engine: Engine,
        spec: RolloutSpec,
        rules: StopRules,
        state: RolloutState | None = None,
    ) -> None:
        """Begin, or go on.

        Args:
            engine: The engine of whoever plays the chunks, or one like it.
            spec: What is rolled out.
            rules: When it ends.
            state: Where an earlier run of the same rollout ended.

        Raises:
            InvalidInputError: The rules contradict one another, or the state is of another rollout
                or has more trials than the rules allow.
        """
        size = len(spec.candidates)
        faults = stop_faults(rules, size, played=0 if state is None else state.done)
        self._fingerprint = fingerprint(engine, spec)
        if state is not None and (
            state.fingerprint != self._fingerprint
            or len(state.trials) != size
            or not (spec.kind is RolloutKind.PLAYS or all(state.active))
        ):
            message = "the state belongs to another rollout, or to one of another engine"
            faults.append(Fault("state", "STATE_OF_ANOTHER_ROLLOUT", message))
        if faults:
            raise InvalidInputError(faults)
        self.spec = spec
        """What is rolled out."""
        self._rules = rules
        self._cube = cube_state(spec.state)
        self._table = engine.match_table(spec.state)
        self.sums = RolloutSums(size) if state is None else RolloutSums.from_state(state)
        """The trials so far."""
        self._active = [True] * size if state is None else list(state.active)
        self._issued: deque[RolloutChunk] = deque()
        self._rows: dict[int, NDArray[np.float64]] = {}
        self._per_chunk = trials_per_chunk(spec)
        self.stopped_by: StopReason | None = None
        """Why the rollout has ended; None while it runs."""
        self._done = max(self.sums.trials, default=0)
        self._check()

    @property
    def trials(self) -> int:
        """Trials of each candidate that was not given up."""
        return self._done

    def chunks(self) -> Iterator[RolloutChunk]:
        """The chunks, in order; some of them may turn out to have been in vain."""
        first = self._done
        while self.stopped_by is None and first < self._rules.trials:
            # Chunks end at fixed trials, wherever a run begins.
            end = min(first - first % self._per_chunk + self._per_chunk, self._rules.trials)
            for index, active in enumerate(list(self._active)):
                if active:
                    chunk = RolloutChunk(self.spec, index, first, end - first)
                    self._issued.append(chunk)
                    yield chunk
                    if self.stopped_by is not None:
                        return
            first = end

    def add(self, rows: NDArray[np.float64]) -> None:
        """Add the result of the next chunk; results come in the order of the chunks."""
        chunk = self._issued.popleft()
        self._rows[chunk.candidate] = rows
        following = self._issued[0] if self._issued else None
        if following is not None and following.first_trial == chunk.first_trial:
            return
        if following is None and any(
            active and index > chunk.candidate for index, active in enumerate(self._active)
        ):
            return
        if self.stopped_by is None:
            self.sums.add(
                [
                    self._rows.get(index) if active else None
                    for index, active in enumerate(self._active)
                ]
            )
            self._done = chunk.first_trial + chunk.count
            self._check()
        self._rows.clear()

    def _check(self) -> None:
        """Apply the stop rules to the trials so far."""
        rules, done = self._rules, self._done
        border = done > 0 and done % _BORDER == 0
        if border and done >= rules.min_trials:
            self._give_up()
            errors = [self._error(self._equity(index)) for index in self._running()]
            if max(errors) == 0.0:
                self.stopped_by = StopReason.EXACT
            elif rules.standard_error is not None and max(errors) <= rules.standard_error:
                self.stopped_by = StopReason.STANDARD_ERROR
            elif self._is_clear():
                self.stopped_by = StopReason.JOINT_DEVIATIONS
        if self.stopped_by is None and done >= rules.trials:
            self.stopped_by = StopReason.TRIALS

    def _error(self, figure: Figure) -> float:
        """The standard error as the stop rules see it."""
        if figure.standard_error == 0.0 and not self.spec.options.reduce_variance:
            # With the luck left in, trials that ended alike say little of those to come.
            return math.inf
        return figure.standard_error

    def _running(self) -> list[int]:
        return [index for index, active in enumerate(self._active) if active]

    def _give_up(self) -> None:
        """Give up plays that are too far behind the best."""
        deviations = self._rules.joint_deviations
        if deviations is None or self.spec.kind is not RolloutKind.PLAYS:
            return
        best = self._best()
        for index in self._running():
            behind = self.sums.difference(best, index)
            if index != best and behind.mean > deviations * self._error(behind):
                self._active[index] = False

    def _is_clear(self) -> bool:
        """Whether the decision is so clear as was asked for."""
        deviations = self._rules.joint_deviations
        if deviations is None:
            return False
        if self.spec.kind is RolloutKind.PLAYS:
            return len(self._active) > 1 and len(self._running()) == 1
        if self.spec.kind is RolloutKind.POSITION:
            return False
        # The answer to a double, then whether to double.
        passed = float(passed_utility(self._cube, self._table))
        answer = min(
            range(1, len(self._active)), key=lambda index: self.sums.figure(index, UTILITY).mean
        )
        taken = self.sums.figure(answer, UTILITY)
        if abs(taken.mean - passed) <= deviations * self._error(taken):
            return False
        if taken.mean < passed:
            gain = self.sums.difference(answer, 0)
        else:
            gain = self.sums.figure(0, UTILITY).scaled(-1.0, passed)
        return abs(gain.mean) > deviations * self._error(gain)

    def _best(self) -> int:
        return max(self._running(), key=lambda index: (self._equity(index).mean, -index))

    def _equity(self, index: int) -> Figure:
        """Equity in points of the cube at the time of the question."""
        figure = self.sums.figure(index, UTILITY)
        if not self.spec.cubeful:
            return figure
        shift = float(normalised(0.0, self._cube, self._table))
        factor = float(normalised(1.0, self._cube, self._table)) - shift
        return figure.scaled(factor, shift)

    def _scale(self) -> float:
        """What a utility of 1 is in points of the cube at the time of the question."""
        if not self.spec.cubeful:
            return 1.0
        at_one = float(normalised(1.0, self._cube, self._table))
        return at_one - float(normalised(0.0, self._cube, self._table))

    def result(self) -> RolloutResult:
        """What has been found so far."""
        spec = self.spec
        best = self._best()
        order = list(range(len(spec.candidates)))
        if spec.kind is RolloutKind.PLAYS:
            order.sort(key=lambda index: (not self._active[index], -self._equity(index).mean))
        double_pass = double_pass_mwc = None
        if spec.kind is RolloutKind.CUBE:
            passed = float(passed_utility(self._cube, self._table))
            double_pass = float(normalised(passed, self._cube, self._table))
            if spec.state.match is not None:
                double_pass_mwc = 0.5 * (passed + 1.0)
        return RolloutResult(
            entries=tuple(self._entry(index, best) for index in order),
            double_pass=double_pass,
            double_pass_mwc=double_pass_mwc,
            trials=self._done,
            most_trials=self._rules.trials,
            stopped_by=self.stopped_by,
            state=self.sums.state(self._fingerprint, self._active),
        )

    def _entry(self, index: int, best: int) -> RolloutEntry:
        sums, spec = self.sums, self.spec
        behind = sums.difference(best, index).scaled(self._scale())
        chances = None
        if spec.cubeful and spec.state.match is not None:
            chances = sums.figure(index, UTILITY).scaled(0.5, 0.5)
        return RolloutEntry(
            candidate=spec.candidates[index],
            index=index,
            trials=sums.trials[index],
            is_active=self._active[index],
            equity=self._equity(index),
            cubeless_equity=sums.figure(index, CUBELESS),
            probabilities=tuple(sums.figure(index, number) for number in range(UTILITY)),
            match_winning_chances=chances,
            behind=behind,
            better_chance=_chance_above_zero(behind) if index != best else 1.0,
        )


def _chance_above_zero(figure: Figure) -> float:
    """Chance that a normally distributed figure is above zero."""
    if figure.standard_error == 0.0:
        return 0.5 if figure.mean == 0.0 else float(figure.mean > 0.0)
    if math.isinf(figure.standard_error):
        return 0.5
    return 0.5 * (1.0 + math.erf(figure.mean / figure.standard_error / math.sqrt(2.0)))


def trials_per_chunk(spec: RolloutSpec) -> int:
    """Trials of one chunk: a tenth of a second or so; it depends on the question alone."""
    options = spec.options
    levels = [options.levels]
    if options.early_levels is not None:
        levels.append(options.early_levels)
    deepest = max(
        (level for pair in levels for level in (pair.checker, pair.cube)),
        key=list(Level).index,
    )
    if deepest is Level.STATIC and options.truncate_level is Level.STATIC:
        short = options.truncate_plies is not None and options.truncate_plies <= 16
        return 36 if short or not options.reduce_variance else 12
    return 4 if deepest in (Level.STATIC, Level.LOOKAHEAD_1) else 1


_digests: weakref.WeakKeyDictionary[Engine, str] = weakref.WeakKeyDictionary()


def fingerprint(engine: Engine, spec: RolloutSpec) -> str:
    """What tells one rollout from another: the question, the options and the engine."""
    digest = _digests.get(engine)
    if digest is None:
        digest = repr(identity_of(engine))
        _digests[engine] = digest
    return hashlib.sha256(f"{digest} {spec!r}".encode()).hexdigest()[:32]


def roll_out(
    engine: Engine,
    spec: RolloutSpec,
    rules: StopRules,
    executor: Executor,
    *,
    state: RolloutState | None = None,
    every_s: float = _TOLD_EVERY_S,
    clock: Callable[[], float] = time.monotonic,
) -> Generator[RolloutResult, None, None]:
    """Roll out, for callers that may block; closing the generator stops it.

    Args:
        engine: The engine that the executor works with, or one like it.
        spec: What is rolled out.
        rules: When it ends.
        executor: Who plays.
        state: Where an earlier run of the same rollout ended.
        every_s: Seconds between two reports of progress, at least.
        clock: A clock in seconds that never goes back.

    Yields:
        Results so far; `stopped_by` is set in the last one.

    Raises:
        InvalidInputError: See `RolloutRun`.
    """
    run = RolloutRun(engine, spec, rules, state)
    told = clock()
    results = results_in_order(executor, run.chunks())
    try:
        while run.stopped_by is None:
            run.add(next(results))
            if run.stopped_by is None and clock() - told >= every_s and run.trials > 0:
                told = clock()
                yield run.result()
    finally:
        results.close()
    yield run.result()
