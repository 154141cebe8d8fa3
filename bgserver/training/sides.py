"""One side of a race: what it sees of itself, the plays it makes, and how two sides compare.

Once contact is broken neither side can hinder the other, so what each needs, rolls to bear off all
checkers and rolls to bear off the first one, has a distribution of its own. The two
distributions of both sides give the chances of a board by one sum each (`compare`). Of sides at
home the exact bear-off table knows them; `bgserver.training.side_networks` learns those of others.

What this leaves out: a player close to losing a gammon saves it first, and one behind in the race
may play for a less even distribution. Each goal is played here as if there were no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.kernels._jit import kernel
from bgserver.kernels.bearoff import ENTRIES, FIRST_OFF, own_arrangement
from bgserver.kernels.features import UNIT_VALUES, UNITS_PER_POINT
from bgserver.kernels.features_race import N_RACE_FACTS, N_ROLLS_COUNTED, write_side_facts
from bgserver.kernels.moves import BACKGAMMON, PlayBuffers, generate_plays
from bgserver.kernels.search import HIGH, LOW, N_ROLLS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bgserver.kernels.bearoff import BearoffTables

__all__ = [
    "CLEAR",
    "FIRST",
    "LONGEST",
    "N_GOALS",
    "N_INPUTS",
    "HomeTable",
    "PlayNetwork",
    "choose_plays",
    "compare",
    "formula_network",
    "home_table",
    "known_entries",
    "look_up",
    "side_inputs",
    "sides_of",
]

CLEAR = 0
"""The goal of bearing off all checkers."""
FIRST = 1
"""The goal of bearing off the first of 15; it is reached with fewer on the board."""
N_GOALS = 2
"""Number of goals."""
LONGEST = 40
"""Length of a distribution: chances of exactly 0, 1, 2... rolls, the last of 39 or more."""
_N_FACTS = 22  # of one side among the dense features of a race, at every second place
_N_UNITS = 26 * UNITS_PER_POINT
N_INPUTS = _N_UNITS + _N_FACTS
"""Inputs of a side: units of its points as the networks see them, then its facts in a race."""
_NEVER = 1e9


class HomeTable(NamedTuple):
    """The exact one-sided database in rows of equal length."""

    chances: NDArray[np.float32]
    """[ENTRIES, LONGEST]: by entry of the database. Entry 0, no checker, is a goal reached."""
    means: NDArray[np.float64]
    """[ENTRIES]: expected rolls."""


class PlayNetwork(NamedTuple):
    """A small network that corrects the formulas' expected rolls; by it plays are chosen."""

    w1: NDArray[np.float32]
    """[N_INPUTS, width]."""
    b1: NDArray[np.float32]
    """[width]."""
    w2: NDArray[np.float32]
    """[width, N_GOALS]."""
    b2: NDArray[np.float32]
    """[N_GOALS]: rolls."""


def formula_network(width: int) -> PlayNetwork:
    """The network that leaves the formulas as they are."""
    return PlayNetwork(
        np.zeros((N_INPUTS, width), dtype=np.float32),
        np.zeros(width, dtype=np.float32),
        np.zeros((width, N_GOALS), dtype=np.float32),
        np.zeros(N_GOALS, dtype=np.float32),
    )


def home_table(tables: BearoffTables) -> HomeTable:
    """The rows of the one-sided database."""
    chances = np.zeros((ENTRIES, LONGEST), dtype=np.float32)
    for entry in range(ENTRIES):
        begin, end = tables.offsets[entry : entry + 2]
        first = int(tables.starts[entry])
        # The longest bear-off of all takes fewer rolls than a row has places.
        chances[entry, first : first + end - begin] = tables.probabilities[begin:end]
    return HomeTable(chances, chances.astype(np.float64) @ np.arange(LONGEST))


def sides_of(boards: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Both sides of boards, each in its own numbering.

    Args:
        boards: int8[n, 26], seen by the mover.

    Returns:
        The mover's sides and the opponent's, int8[n, 26] each: checkers on points 1 to 25.
    """
    own = np.ascontiguousarray(np.maximum(boards, 0), dtype=np.int8)
    opponent = np.ascontiguousarray(np.maximum(-boards[:, ::-1], 0), dtype=np.int8)
    return own, opponent


@kernel
def _known_entry(side: NDArray[np.int8], goal: int) -> int:
    """Entry of the database with a side's distribution, or -1 if it has none."""
    if goal == FIRST:
        total = 0
        for point in range(1, 26):
            total += side[point]
        if total < 15:
            return 0
    index: int = own_arrangement(side)
    if index >= 0 and goal == FIRST:
        return FIRST_OFF + index
    return index


@kernel
def _fill_known_entries(sides: NDArray[np.int8], goal: int, out: NDArray[np.int64]) -> None:
    for row in range(len(sides)):
        out[row] = _known_entry(sides[row], goal)


def known_entries(sides: NDArray[np.int8], goal: int) -> NDArray[np.int64]:
    """Entries of the one-sided database with the distributions of sides, int64[n]; else -1.

    Args:
        sides: int8[n, 26].
        goal: `CLEAR` or `FIRST`.
    """
    entries = np.zeros(len(sides), dtype=np.int64)
    _fill_known_entries(sides, goal, entries)
    return entries


def look_up(
    sides: NDArray[np.int8], table: HomeTable, chances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Put the exact distributions where they are known.

    Args:
        sides: int8[n, 26].
        table: The exact ones.
        chances: float64[n, N_GOALS, LONGEST]: of all sides, changed.

    Returns:
        `chances`.
    """
    for goal in range(N_GOALS):
        entries = known_entries(sides, goal)
        known = entries >= 0
        chances[known, goal] = table.chances[entries[known]]
    return chances


@kernel
def _write_units(
    side: NDArray[np.int8], unit_values: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    for point in range(26):
        for unit in range(UNITS_PER_POINT):
            out[point * UNITS_PER_POINT + unit] = unit_values[side[point], unit]


@kernel
def _fill_inputs(
    sides: NDArray[np.int8],
    unit_values: NDArray[np.float32],
    inputs: NDArray[np.float32],
    formulas: NDArray[np.float32],
) -> None:
    first = np.zeros(N_ROLLS_COUNTED, dtype=np.float64)
    facts = np.zeros(N_RACE_FACTS, dtype=np.float32)
    for row in range(len(sides)):
        _write_units(sides[row], unit_values, inputs[row])
        mean, mean_first, _, _ = write_side_facts(sides[row], first, facts, 0)
        for number in range(_N_FACTS):
            inputs[row, _N_UNITS + number] = facts[2 * number]
        formulas[row, CLEAR] = mean
        formulas[row, FIRST] = mean_first


def side_inputs(sides: NDArray[np.int8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What networks see of sides, and what the formulas expect of them.

    Args:
        sides: int8[n, 26].

    Returns:
        Inputs, float32[n, N_INPUTS], and expected rolls, float32[n, N_GOALS].
    """
    inputs = np.zeros((len(sides), N_INPUTS), dtype=np.float32)
    formulas = np.zeros((len(sides), N_GOALS), dtype=np.float32)
    _fill_inputs(sides, UNIT_VALUES[BACKGAMMON], inputs, formulas)
    return inputs, formulas


@kernel
def _expected_rolls(
    side: NDArray[np.int8],
    goal: int,
    network: PlayNetwork,
    unit_values: NDArray[np.float32],
    first: NDArray[np.float64],
    facts: NDArray[np.float32],
    hidden: NDArray[np.float32],
) -> float:
    """Expected rolls to a goal by formula and correction; the last three are scratch."""
    mean, mean_first, _, _ = write_side_facts(side, first, facts, 0)
    for index in range(len(hidden)):
        hidden[index] = network.b1[index]
    for number in range(_N_FACTS):
        value = facts[2 * number]
        for index in range(len(hidden)):
            hidden[index] += value * network.w1[_N_UNITS + number, index]
    for point in range(1, 25):
        if side[point] == 0:
            continue
        for unit in range(UNITS_PER_POINT):
            value = unit_values[side[point], unit]
            if value != 0:
                for index in range(len(hidden)):
                    hidden[index] += value * network.w1[point * UNITS_PER_POINT + unit, index]
    total = float(network.b2[goal])
    for index in range(len(hidden)):
        if hidden[index] > 0:
            total += hidden[index] * network.w2[index, goal]
    return total + (mean_first if goal == FIRST else mean)


@kernel
def _fill_plays(
    sides: NDArray[np.int8],
    goal: int,
    network: PlayNetwork,
    means: NDArray[np.float64],
    unit_values: NDArray[np.float32],
    buffers: PlayBuffers,
    out: NDArray[np.int8],
) -> None:
    board = np.zeros(26, dtype=np.int8)
    first = np.zeros(N_ROLLS_COUNTED, dtype=np.float64)
    facts = np.zeros(N_RACE_FACTS, dtype=np.float32)
    hidden = np.zeros(len(network.b1), dtype=np.float32)
    for row in range(len(sides)):
        board[:] = sides[row]
        # A game has an opponent. There nobody meets him: no side of a race is so far back.
        board[24] = -1
        for number in range(N_ROLLS):
            count = generate_plays(board, HIGH[number], LOW[number], BACKGAMMON, False, buffers)
            fewest = _NEVER
            for play in range(count):
                after = buffers.boards[play]
                after[24] = 0
                entry = _known_entry(after, goal)
                if entry >= 0:
                    rolls = means[entry]
                else:
                    rolls = _expected_rolls(after, goal, network, unit_values, first, facts, hidden)
                if rolls < fewest:
                    fewest = rolls
                    out[row, number] = after


def choose_plays(
    sides: NDArray[np.int8],
    goal: int,
    network: PlayNetwork,
    table: HomeTable,
    buffers: PlayBuffers,
) -> NDArray[np.int8]:
    """The play of each roll after which the fewest rolls are expected.

    Args:
        sides: int8[n, 26], before the roll; the goal not reached, no checker behind point 23.
        goal: `CLEAR` or `FIRST`.
        network: Judges sides outside home.
        table: Judges the others.
        buffers: For the plays, overwritten.

    Returns:
        int8[n, N_ROLLS, 26]: the sides after the plays.
    """
    plays = np.zeros((len(sides), N_ROLLS, 26), dtype=np.int8)
    unit_values = UNIT_VALUES[BACKGAMMON]
    _fill_plays(sides, goal, network, table.means, unit_values, buffers, plays)
    return plays


def compare(
    own: NDArray[np.float64], opponent: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Chances of the mover after a play: the opponent rolls next.

    The mover wins if he needs fewer rolls than the opponent, a gammon if fewer than the opponent
    for his first checker; he loses a gammon if the opponent needs no more rolls than he for his
    first.

    Args:
        own: float64[n, N_GOALS, LONGEST]: distributions of the mover's rolls.
        opponent: The same of the opponent's.

    Returns:
        Chances to win, to win a gammon and to lose one, float64[n] each.
    """
    own_within = np.cumsum(own[:, CLEAR], axis=1)
    opponent_within = np.cumsum(opponent[:, CLEAR], axis=1)
    # Of the last place, 39 or more, it is not known which side needs fewer: the game is lost then.
    win = (opponent[:, CLEAR, 1:] * own_within[:, :-1]).sum(axis=1)
    win_gammon = (opponent[:, FIRST, 1:] * own_within[:, :-1]).sum(axis=1)
    lose_gammon = (own[:, FIRST] * opponent_within).sum(axis=1)
    return win, np.minimum(win_gammon, win), np.minimum(lose_gammon, 1 - win)
