"""Sums over the trials of a rollout, and what they tell: means, standard errors, differences.

Trials are added one by one in the order of their numbers, so the sums have the same bits however
the trials were cut into chunks, and whether a rollout was played in one go or continued.

Standard errors are those of independent trials. The strata of the first two rolls make the true
errors a little smaller; how little is known only to whoever repeats a rollout, so nothing is taken
off. Candidates meet the same dice: the error of a difference is that of the differences trial by
trial, which is smaller than that of two separate rollouts.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.engine.rollout_spec import MAX_CANDIDATES, MAX_TRIALS
from bgserver.kernels.rollout_trial import N_FIGURES, UTILITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["CUBELESS", "N_SUMS", "Figure", "RolloutState", "RolloutSums"]

CUBELESS = N_FIGURES
"""Index of the cubeless equity, which follows the figures of a trial."""
N_SUMS = N_FIGURES + 1
_Z = 1.959964  # two-sided 95 % quantile of the normal distribution
_FORMAT = "bgserver-rollout/2"
_MAX_STATE_BYTES = 4 << 20
_CHECKSUM_LENGTH = 32
_FINGERPRINT = re.compile(r"[0-9a-f]{32}")
_FIELDS = frozenset({"format", "fingerprint", "trials", "active", "sums"})
_MOST_VALUE = 1e12
"""More than any figure of a trial, however high the cube; sums of squares stay far from infinity
too."""
_ROUNDING = 1e-6
"""Relative: what the sums of very many trials may be off by."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with its standard error."""

    mean: float
    """The mean over the trials."""
    standard_error: float
    """Its standard error; 0 for what is exact, infinite for a single trial."""

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.mean - _Z * self.standard_error

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return self.mean + _Z * self.standard_error

    def scaled(self, factor: float, shift: float = 0.0) -> Figure:
        """The figure of `factor * x + shift`."""
        return Figure(factor * self.mean + shift, abs(factor) * self.standard_error)


@dataclass(frozen=True, slots=True)
class RolloutState:
    """How far a rollout has come: enough to continue it with more trials."""

    fingerprint: str
    """What was rolled out, how, and with which engine."""
    trials: tuple[int, ...]
    """Trials of each candidate."""
    active: tuple[bool, ...]
    """Which candidates have not been given up."""
    sums: tuple[float, ...]
    """Sums, sums of squares, and sums and squares of differences, row by row."""

    @property
    def done(self) -> int:
        """Trials of the candidates that were not given up."""
        return max(self.trials)

    def to_bytes(self) -> bytes:
        """The state as text, for a client to keep; a checksum goes before it."""
        content = {
            "format": _FORMAT,
            "fingerprint": self.fingerprint,
            "trials": self.trials,
            "active": self.active,
            "sums": self.sums,
        }
        text = json.dumps(content, separators=(",", ":")).encode()
        return _checksum(text) + text

    @classmethod
    def from_bytes(cls, data: bytes, field: str = "state") -> RolloutState:
        """Read what `to_bytes` wrote.

        The checksum finds what was damaged. It keeps no secret, so whatever has the right one is
        looked at all the same: nothing that is no state gets any further.

        Raises:
            InvalidInputError: The bytes are nothing of the kind.
        """
        state = None
        text = data[_CHECKSUM_LENGTH:]
        if len(data) <= _MAX_STATE_BYTES and data[:_CHECKSUM_LENGTH] == _checksum(text):
            try:
                state = cls._from_json(json.loads(text))
            except (ValueError, RecursionError):
                state = None
        if state is None:
            message = "expected the state of a rollout as an earlier answer gave it"
            raise InvalidInputError([Fault(field, "NOT_A_ROLLOUT_STATE", message)])
        return state

    @classmethod
    def _from_json(cls, content: object) -> RolloutState | None:
        """The state of a JSON form; None if it is none."""
        if not isinstance(content, dict) or content.keys() != _FIELDS:
            return None
        name, trials = content["fingerprint"], content["trials"]
        active, sums = content["active"], content["sums"]
        if content["format"] != _FORMAT or not isinstance(name, str):
            return None
        if not (_FINGERPRINT.fullmatch(name) and _are(int, trials) and _are(bool, active)):
            return None
        size = len(trials)
        if not 1 <= size <= MAX_CANDIDATES or len(active) != size or not any(active):
            return None
        if not (_are(float, sums) and len(sums) == 2 * size * (N_SUMS + size)):
            return None
        done = max(trials)
        if min(trials) < 1 or done > MAX_TRIALS:
            return None
        if any(count != done for count, runs in zip(trials, active, strict=True) if runs):
            return None
        state = cls(name, tuple(trials), tuple(active), tuple(sums))
        return state if _are_possible(state) else None


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:_CHECKSUM_LENGTH].encode()


def _are(kind: type, values: object) -> bool:
    """True for a list whose members are all exactly of one type (a flag is no number)."""
    return isinstance(values, list) and all(type(value) is kind for value in values)


def _are_possible(state: RolloutState) -> bool:
    """Whether trials can have these sums and sums of squares."""
    counts = np.array(state.trials, dtype=np.float64)
    parts = RolloutSums.from_state(state).parts
    sums, squares, differences, difference_squares = parts
    common = np.minimum.outer(counts, counts)
    return (
        all(bool(np.isfinite(part).all()) for part in parts)
        and _fit(sums, squares, counts[:, None])
        and _fit(differences, difference_squares, common)
        and not np.triu(differences).any()
        and not np.triu(difference_squares).any()
    )


def _fit(
    sums: NDArray[np.float64], squares: NDArray[np.float64], counts: NDArray[np.float64]
) -> bool:
    """Whether so many numbers of a moderate size can have these sums and sums of squares."""
    if (np.abs(sums) > counts * _MOST_VALUE).any() or (squares < 0.0).any():
        return False
    if (squares > counts * _MOST_VALUE**2).any():
        return False
    # The square of a mean is at most the mean of the squares.
    return bool((sums * sums <= counts * squares * (1.0 + _ROUNDING) + _ROUNDING**2).all())


class RolloutSums:
    """Sums of all candidates of a rollout."""

    def __init__(self, size: int) -> None:
        """Begin with no trials.

        Args:
            size: Candidates.
        """
        self.trials = [0] * size
        """Trials of each candidate."""
        self._sums = np.zeros((size, N_SUMS), dtype=np.float64)
        self._squares = np.zeros((size, N_SUMS), dtype=np.float64)
        self._differences = np.zeros((size, size), dtype=np.float64)
        self._difference_squares = np.zeros((size, size), dtype=np.float64)

    def add(self, rows: Sequence[NDArray[np.float64] | None]) -> None:
        """Add the next trials.

        Args:
            rows: For each candidate float64[n, 6], the figures of the same trials, or None if it
                has been given up, for good.
        """
        for index, figures in enumerate(rows):
            if figures is None:
                continue
            # Term by term: a product of matrices has other bits for other numbers of rows.
            win, gammon, backgammon, lose_gammon, lose_backgammon = figures[:, :UTILITY].T
            cubeless = 2.0 * win - 1.0 + gammon + backgammon - lose_gammon - lose_backgammon
            values = np.column_stack((figures, cubeless))
            self.trials[index] += len(values)
            _add_rows(self._sums[index], values)
            _add_rows(self._squares[index], values * values)
            for other in range(index):
                others = rows[other]
                if others is not None:
                    differences = figures[:, UTILITY] - others[:, UTILITY]
                    both = np.column_stack((differences, differences * differences))
                    total = np.array(
                        [self._differences[index, other], self._difference_squares[index, other]]
                    )
                    _add_rows(total, both)
                    self._differences[index, other], self._difference_squares[index, other] = total

    def figure(self, candidate: int, index: int) -> Figure:
        """The mean of one figure (0..4 chances, `UTILITY`, `CUBELESS`) of a candidate."""
        return _figure(
            self._sums[candidate, index], self._squares[candidate, index], self.trials[candidate]
        )

    def difference(self, candidate: int, other: int) -> Figure:
        """The mean utility of one candidate minus that of another, over their common trials."""
        if candidate < other:
            return self.difference(other, candidate).scaled(-1.0)
        if candidate == other:
            return Figure(0.0, 0.0)
        return _figure(
            self._differences[candidate, other],
            self._difference_squares[candidate, other],
            min(self.trials[candidate], self.trials[other]),
        )

    @property
    def parts(self) -> tuple[NDArray[np.float64], ...]:
        """Sums and squares [candidate, figure], of differences [candidate, one before it]."""
        return self._sums, self._squares, self._differences, self._difference_squares

    def state(self, fingerprint: str, active: Sequence[bool]) -> RolloutState:
        """All of it as a value."""
        numbers = np.concatenate([part.ravel() for part in self.parts]).tolist()
        return RolloutState(fingerprint, tuple(self.trials), tuple(active), tuple(numbers))

    @classmethod
    def from_state(cls, state: RolloutState) -> RolloutSums:
        """Sums to go on with."""
        size = len(state.trials)
        sums = cls(size)
        sums.trials = list(state.trials)
        numbers = np.array(state.sums, dtype=np.float64)
        first, second = size * N_SUMS, 2 * size * N_SUMS
        third = second + size * size
        sums._sums = numbers[:first].reshape(size, N_SUMS)
        sums._squares = numbers[first:second].reshape(size, N_SUMS)
        sums._differences = numbers[second:third].reshape(size, size)
        sums._difference_squares = numbers[third:].reshape(size, size)
        return sums


def _add_rows(total: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
    """Add rows to a total one after the other: their order decides the bits, not their number."""
    total[:] = np.add.accumulate(np.vstack((total, rows)), axis=0)[-1]


def _figure(summed: float, squared: float, count: int) -> Figure:
    total, squares = float(summed), float(squared)
    if count == 0:
        return Figure(0.0, math.inf)
    mean = total / count
    if count == 1:
        return Figure(mean, math.inf)
    spread = max(0.0, squares - total * mean)
    # What is the same in every trial differs by rounding only.
    if spread <= 1e-12 * max(1.0, squares):
        return Figure(mean, 0.0)
    return Figure(mean, math.sqrt(spread / (count - 1) / count))
