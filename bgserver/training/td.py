"""TD(0) self-play in Numba: the first teacher of each game, from zero.

Both sides play the board with the best cubeless equity. After each play the previous board's
outputs are moved towards the present board's, seen by the other side, or towards the result of
the game. The loss is cross-entropy on the five outputs, so the gradient at the output is simply
output minus target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.engine.weights import RawWeights
from bgserver.kernels._jit import fast_kernel, kernel
from bgserver.kernels.classes import N_CLASSES, position_class
from bgserver.kernels.dice import random_bits, roll
from bgserver.kernels.features import (
    N_DENSE,
    UNITS_PER_POINT,
    dense_features,
)
from bgserver.kernels.moves import (
    BACKGAMMON,
    PlayBuffers,
    generate_plays,
    make_play_buffers,
    turn_board,
)
from bgserver.kernels.network import (
    N_OUTPUTS,
    SCOUT_WIDTH,
    equity,
    flip,
    game_outcome,
    make_sane,
    opposite,
    write_outcome,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "TrainingMemory",
    "initial_weights",
    "learn_board",
    "loss_of_board",
    "make_memory",
    "play_training_games",
]


class TrainingMemory(NamedTuple):
    """Scratch of one training thread."""

    plays: PlayBuffers
    parent: NDArray[np.float32]
    parent_ready: NDArray[np.bool_]
    hidden1: NDArray[np.float32]
    hidden2: NDArray[np.float32]
    dense: NDArray[np.float32]
    values: NDArray[np.float32]
    delta1: NDArray[np.float32]
    delta2: NDArray[np.float32]
    boards: NDArray[np.int8]


def make_memory(width1: int, width2: int) -> TrainingMemory:
    """Allocate the scratch of one training thread."""
    plays = make_play_buffers()
    return TrainingMemory(
        plays=plays,
        parent=np.zeros((N_CLASSES, width1), dtype=np.float32),
        parent_ready=np.zeros(N_CLASSES, dtype=np.bool_),
        hidden1=np.zeros(width1, dtype=np.float32),
        hidden2=np.zeros(width2, dtype=np.float32),
        dense=np.zeros(N_DENSE, dtype=np.float32),
        values=np.zeros((len(plays.boards), N_OUTPUTS), dtype=np.float32),
        delta1=np.zeros(width1, dtype=np.float32),
        delta2=np.zeros(width2, dtype=np.float32),
        boards=np.zeros((3, 26), dtype=np.int8),
    )


def initial_weights(width1: int, width2: int, seed: int) -> RawWeights:
    """Random weights to begin with."""
    rng = np.random.default_rng(seed)

    def normal(shape: tuple[int, ...], scale: float) -> NDArray[np.float32]:
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    active = 40  # sparse units that are usually on, for the scale of the first layer
    return RawWeights(
        units=normal((N_CLASSES, 2, 26, UNITS_PER_POINT, width1), (1 / active) ** 0.5),
        w_dense=normal((N_CLASSES, N_DENSE, width1), (1 / N_DENSE) ** 0.5),
        b1=np.zeros((N_CLASSES, width1), dtype=np.float32),
        w2=normal((N_CLASSES, width1, width2), (2 / width1) ** 0.5),
        b2=np.zeros((N_CLASSES, width2), dtype=np.float32),
        w3=normal((N_CLASSES, width2, N_OUTPUTS), 0.1 * (1 / width2) ** 0.5),
        b3=np.tile(np.array([0, -1.5, -4, -1.5, -4], dtype=np.float32), (N_CLASSES, 1)),
        scout_units=normal((2, 26, UNITS_PER_POINT, SCOUT_WIDTH), (1 / active) ** 0.5),
        scout_b1=np.zeros(SCOUT_WIDTH, dtype=np.float32),
        scout_w2=normal((SCOUT_WIDTH,), 0.1),
    )


@fast_kernel
def _add_units(
    units: NDArray[np.float32],
    values: NDArray[np.float32],
    sign: np.float32,
    out: NDArray[np.float32],
) -> None:
    """Add `sign` times the units of one point, weighted by their values, to `out`."""
    width = out.shape[0]
    for u in range(UNITS_PER_POINT):
        value = values[u]
        if value != 0:
            factor = sign * value
            row = units[u]
            for j in range(width):
                out[j] += factor * row[j]


@kernel
def _sum_units(
    board: NDArray[np.int8],
    variant: int,
    units: NDArray[np.float32],
    unit_values: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    out[:] = 0
    for point in range(26):
        count = board[point]
        if count > 0:
            _add_units(units[0, point], unit_values[count], np.float32(1), out)
        elif count < 0:
            _add_units(units[1, opposite(point, variant)], unit_values[-count], np.float32(1), out)


@kernel
def _update_units(
    board: NDArray[np.int8],
    parent: NDArray[np.int8],
    variant: int,
    units: NDArray[np.float32],
    unit_values: NDArray[np.float32],
    parent_sum: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    out[:] = parent_sum
    for point in range(26):
        old = parent[point]
        new = board[point]
        if old == new:
            continue
        if old > 0:
            _add_units(units[0, point], unit_values[old], np.float32(-1), out)
        elif old < 0:
            _add_units(units[1, opposite(point, variant)], unit_values[-old], np.float32(-1), out)
        if new > 0:
            _add_units(units[0, point], unit_values[new], np.float32(1), out)
        elif new < 0:
            _add_units(units[1, opposite(point, variant)], unit_values[-new], np.float32(1), out)


@fast_kernel
def _forward(
    hidden1: NDArray[np.float32],
    dense: NDArray[np.float32],
    c: int,
    weights: RawWeights,
    hidden2: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """Run the network above the sparse units; leaves the activations for `learn_board`.

    Args:
        hidden1: float32[width1]: the sum of the sparse units; overwritten by the activations.
        dense: float32[N_DENSE].
        c: Position class.
        weights: `RawWeights`.
        hidden2: float32[width2], written.
        out: float32[5], written.
    """
    width1 = hidden1.shape[0]
    width2 = hidden2.shape[0]
    zero = np.float32(0)
    rows = weights.w_dense[c]
    # Four rows at a time, as in `bgserver.kernels.network.forward`.
    for i in range(0, N_DENSE, 4):
        value0, value1, value2, value3 = dense[i], dense[i + 1], dense[i + 2], dense[i + 3]
        for j in range(width1):
            hidden1[j] += (
                value0 * rows[i, j]
                + value1 * rows[i + 1, j]
                + value2 * rows[i + 2, j]
                + value3 * rows[i + 3, j]
            )
    bias1 = weights.b1[c]
    for j in range(width1):
        hidden1[j] = max(hidden1[j] + bias1[j], zero)
    bias2 = weights.b2[c]
    for k in range(width2):
        hidden2[k] = bias2[k]
    units = weights.w2[c]
    for j in range(0, width1, 4):
        value0, value1, value2, value3 = hidden1[j], hidden1[j + 1], hidden1[j + 2], hidden1[j + 3]
        for k in range(width2):
            hidden2[k] += (
                value0 * units[j, k]
                + value1 * units[j + 1, k]
                + value2 * units[j + 2, k]
                + value3 * units[j + 3, k]
            )
    for o in range(N_OUTPUTS):
        out[o] = weights.b3[c, o]
    for k in range(width2):
        hidden2[k] = max(hidden2[k], zero)
        value = hidden2[k]
        for o in range(N_OUTPUTS):
            out[o] += value * weights.w3[c, k, o]
    for o in range(N_OUTPUTS):
        out[o] = 1 / (1 + np.exp(-out[o]))


@kernel
def _evaluate_plays(
    count: int,
    parent: NDArray[np.int8],
    variant: int,
    weights: RawWeights,
    unit_values: NDArray[np.float32],
    memory: TrainingMemory,
) -> int:
    """Evaluate the boards in memory.plays into memory.values; return the index of the best."""
    memory.parent_ready[:] = False
    best = 0
    best_equity = -9.0
    for row in range(count):
        board = memory.plays.boards[row]
        out = memory.values[row]
        value = game_outcome(board, variant)
        if value > 0:
            write_outcome(value, out)
        else:
            c = position_class(board, variant)
            units = weights.units[c]
            if not memory.parent_ready[c]:
                _sum_units(parent, variant, units, unit_values, memory.parent[c])
                memory.parent_ready[c] = True
            _update_units(
                board, parent, variant, units, unit_values, memory.parent[c], memory.hidden1
            )
            dense_features(board, variant, c, memory.dense)
            _forward(memory.hidden1, memory.dense, c, weights, memory.hidden2, out)
            make_sane(board, variant, c, out)
        worth = equity(out)
        if worth > best_equity:
            best_equity = worth
            best = row
    return best


@fast_kernel
def _learn_units(
    board: NDArray[np.int8],
    variant: int,
    units: NDArray[np.float32],
    unit_values: NDArray[np.float32],
    step: np.float32,
    delta1: NDArray[np.float32],
) -> None:
    width = delta1.shape[0]
    for point in range(26):
        count = board[point]
        if count == 0:
            continue
        side = 0
        number = point
        if count < 0:
            side = 1
            number = opposite(point, variant)
            count = -count
        for u in range(UNITS_PER_POINT):
            value = unit_values[count, u]
            if value != 0:
                factor = step * value
                row = units[side, number, u]
                for j in range(width):
                    row[j] -= factor * delta1[j]


@fast_kernel
def learn_board(
    board: NDArray[np.int8],
    variant: int,
    target: NDArray[np.float32],
    rate: np.float32,
    weights: RawWeights,
    unit_values: NDArray[np.float32],
    memory: TrainingMemory,
) -> None:
    """One step of gradient descent on one board towards a target, float32[5]."""
    c = position_class(board, variant)
    units = weights.units[c]
    out = memory.values[0]
    hidden1 = memory.hidden1
    hidden2 = memory.hidden2
    _sum_units(board, variant, units, unit_values, hidden1)
    dense_features(board, variant, c, memory.dense)
    _forward(hidden1, memory.dense, c, weights, hidden2, out)
    width1 = hidden1.shape[0]
    width2 = hidden2.shape[0]
    delta1 = memory.delta1
    delta2 = memory.delta2
    for k in range(width2):
        delta2[k] = 0
    for o in range(N_OUTPUTS):
        error = out[o] - target[o]
        weights.b3[c, o] -= rate * error
        for k in range(width2):
            delta2[k] += error * weights.w3[c, k, o]
            weights.w3[c, k, o] -= rate * error * hidden2[k]
    for k in range(width2):
        if hidden2[k] <= 0:
            delta2[k] = 0
        weights.b2[c, k] -= rate * delta2[k]
    for j in range(width1):
        delta1[j] = 0
        value = hidden1[j]
        if value > 0:
            row = weights.w2[c, j]
            total = np.float32(0)
            step = rate * value
            for k in range(width2):
                total += delta2[k] * row[k]
                row[k] -= step * delta2[k]
            delta1[j] = total
    for j in range(width1):
        weights.b1[c, j] -= rate * delta1[j]
    for i in range(N_DENSE):
        value = memory.dense[i]
        if value != 0:
            factor = rate * value
            row = weights.w_dense[c, i]
            for j in range(width1):
                row[j] -= factor * delta1[j]
    _learn_units(board, variant, units, unit_values, rate, delta1)


@kernel
def loss_of_board(
    board: NDArray[np.int8],
    variant: int,
    target: NDArray[np.float32],
    weights: RawWeights,
    unit_values: NDArray[np.float32],
    memory: TrainingMemory,
) -> float:
    """Squared error of the cubeless equity of one board, in points squared."""
    c = position_class(board, variant)
    out = memory.values[0]
    _sum_units(board, variant, weights.units[c], unit_values, memory.hidden1)
    dense_features(board, variant, c, memory.dense)
    _forward(memory.hidden1, memory.dense, c, weights, memory.hidden2, out)
    make_sane(board, variant, c, out)
    error = equity(out) - equity(target)
    return error * error


@kernel
def play_training_games(
    start: NDArray[np.int8],
    variant: int,
    seed: int,
    first_game: int,
    n_games: int,
    rate: np.float32,
    weights: RawWeights,
    unit_values: NDArray[np.float32],
    memory: TrainingMemory,
) -> int:
    """Play self-play games and learn from each; return the number of turns.

    Args:
        start: int8[26]: the start position.
        variant: The game.
        seed: Seed of the dice.
        first_game: Number of the first game; game k always has the same dice.
        n_games: How many.
        rate: float32: learning rate.
        weights: Raw weights (`initial_weights`), changed.
        unit_values: float32[16, 4]: `UNIT_VALUES[variant]`.
        memory: `TrainingMemory`.
    """
    board = memory.boards[0]
    previous = memory.boards[1]
    turned = memory.boards[2]
    target = np.zeros(N_OUTPUTS, dtype=np.float32)
    turns = 0
    for game in range(first_game, first_game + n_games):
        board[:] = start
        number = 0
        has_previous = False
        # A few random turns at the start of some games widen what is seen.
        random_turns = 0
        bits = random_bits(seed + 1, game, 0)
        if bits & np.uint64(3) == 0:
            random_turns = int(np.int64((bits >> np.uint64(8)) & np.uint64(7))) + 1
        while number < 2000:
            die_a, die_b = roll(seed, game, number)
            if number == 0 and variant == BACKGAMMON:
                while die_a == die_b:
                    number += 1
                    die_a, die_b = roll(seed, game, number)
            count = generate_plays(board, die_a, die_b, variant, number < 2, memory.plays)
            if number < random_turns:
                bits = random_bits(seed + 2, game, number)
                best = int(np.int64((bits >> np.uint64(33)) % np.uint64(count)))
                turn_board(memory.plays.boards[best], variant, turned)
                board[:] = turned
                number += 1
                if game_outcome(memory.plays.boards[best], variant) > 0:
                    break
                continue
            best = _evaluate_plays(count, board, variant, weights, unit_values, memory)
            chosen = memory.plays.boards[best]
            if has_previous:
                flip(memory.values[best], target)
                # The chosen board must outlive learning, which overwrites only values[0].
                learn_board(previous, variant, target, rate, weights, unit_values, memory)
            turns += 1
            number += 1
            if game_outcome(chosen, variant) > 0:
                break
            previous[:] = chosen
            has_previous = True
            turn_board(chosen, variant, turned)
            board[:] = turned
    return turns
