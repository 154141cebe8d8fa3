"""Sums over the trials of a rollout, and what they tell: means, standard errors, differences.

Trials are added one by one in the order of their numbers, so the sums have the same bits however
the trials were cut into chunks, and whether a rollout was played in one go or continued.

Standard errors are those of independent trials. The strata of the first two rolls make the true
errors a little smaller; how little is known only to whoever repeats a rollout, so nothing is taken
off. Candidates meet the same dice: the error of a difference is that of the differences trial by
trial, which is smaller than that of two separate rollouts.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.kernels.rollout_trial import N_FIGURES, UTILITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["CUBELESS", "N_SUMS", "Figure", "RolloutState", "RolloutSums"]

CUBELESS = N_FIGURES
"""Index of the cubeless equity, which follows the figures of a trial."""
N_SUMS = N_FIGURES + 1
_Z = 1.959964  # two-sided 95 % quantile of the normal distribution
_FORMAT = "bgserver-rollout/1"
_MAX_STATE_BYTES = 4 << 20


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

    def to_bytes(self) -> bytes:
        """The state as text, for a client to keep."""
        content = {
            "format": _FORMAT,
            "fingerprint": self.fingerprint,
            "trials": self.trials,
            "active": self.active,
            "sums": self.sums,
        }
        return json.dumps(content, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes, field: str = "state") -> RolloutState:
        """Read what `to_bytes` wrote.

        Raises:
            InvalidInputError: The bytes are nothing of the kind.
        """
        try:
            if len(data) > _MAX_STATE_BYTES:
                raise ValueError
            content = json.loads(data)
            if content["format"] != _FORMAT:
                raise ValueError
            trials = tuple(int(number) for number in content["trials"])
            active = tuple(bool(flag) for flag in content["active"])
            sums = tuple(float(number) for number in content["sums"])
            size = len(trials)
            if len(active) != size or len(sums) != _length(size):
                raise ValueError
            if min(trials) < 0 or not all(map(math.isfinite, sums)):
                raise ValueError
            return cls(str(content["fingerprint"]), trials, active, sums)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            message = "expected the state of a rollout as an earlier answer gave it"
            raise InvalidInputError([Fault(field, "NOT_A_ROLLOUT_STATE", message)]) from None


def _length(size: int) -> int:
    """Numbers in a state of so many candidates."""
    return 2 * size * N_SUMS + 2 * size * size


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

    def state(self, fingerprint: str, active: Sequence[bool]) -> RolloutState:
        """All of it as a value."""
        parts = (self._sums, self._squares, self._differences, self._difference_squares)
        numbers = np.concatenate([part.ravel() for part in parts]).tolist()
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
