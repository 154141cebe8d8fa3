"""Distinct results per second of the play generator, one core, random mid-game rolls.

Usage: `python -m bench.play_generation [--positions N] [--variant backgammon|long_nardy]`

The positions come from random play (seeded), each with one random roll; the first seven plies
are left out. The baseline in the same run is the plain-Python oracle of the tests on a sample of
the same rolls. Target: 3 million distinct results a second and core.
"""

from __future__ import annotations

import argparse
import platform
import time
from typing import Any

import numpy as np

from bgserver.engine.plays import board_array, variant_code
from bgserver.engine.position import Position, Variant
from bgserver.kernels._jit import kernel
from bgserver.kernels.dice import random_bits, roll
from bgserver.kernels.moves import generate_plays, make_play_buffers, turn_board
from tests import naive

_FIRST_PLY = 7
_LAST_PLY = 60


@kernel
def _collect(start: Any, variant: Any, buffers: Any, boards: Any, dice: Any) -> None:
    """Fill `boards` and `dice` with positions of random games and their rolls."""
    board = start.copy()
    turned = start.copy()
    filled = 0
    game = 0
    ply = 0
    while filled < len(boards):
        die_a, die_b = roll(1, game, ply)
        if ply >= _FIRST_PLY:
            boards[filled] = board
            dice[filled, 0] = die_a
            dice[filled, 1] = die_b
            filled += 1
        count = generate_plays(board, die_a, die_b, variant, ply < 2, buffers)
        chosen = random_bits(2, game, ply) % np.uint64(count)
        turn_board(buffers.boards[chosen], variant, turned)
        board[:] = turned
        ply += 1
        opponents = 0
        for point in range(26):
            opponents -= min(board[point], 0)
        if opponents == 0 or ply > _LAST_PLY:
            board[:] = start
            ply = 0
            game += 1


@kernel
def _generate_all(boards: Any, dice: Any, variant: Any, buffers: Any) -> int:
    total = 0
    for row in range(len(boards)):
        total += generate_plays(boards[row], dice[row, 0], dice[row, 1], variant, False, buffers)
    return total


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--positions", type=int, default=100_000)
    parser.add_argument("--oracle-positions", type=int, default=300)
    parser.add_argument("--variant", choices=[v.value for v in Variant], default="backgammon")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    variant = Variant(options.variant)
    code = variant_code(variant)
    buffers = make_play_buffers()
    boards = np.zeros((options.positions, 26), dtype=np.int8)
    dice = np.zeros((options.positions, 2), dtype=np.int64)
    _collect(board_array(Position.start(variant)), code, buffers, boards, dice)
    _generate_all(boards[:1], dice, code, buffers)
    best = float("inf")
    total = 0
    for _ in range(options.repeat):
        began = time.thread_time()
        total = _generate_all(boards, dice, code, buffers)
        best = min(best, time.thread_time() - began)
    sample = boards[: options.oracle_positions].tolist()
    began = time.thread_time()
    expected = sum(
        len(naive.legal_results(points, tuple(dice[row].tolist()), variant.value, first_turn=False))
        for row, points in enumerate(sample)
    )
    slow = time.thread_time() - began
    assert expected == _generate_all(boards[: len(sample)], dice, code, buffers)
    rate = total / best
    print(f"machine        {platform.processor() or platform.machine()}, one core, CPU time")
    print(f"game           {variant.value}, {options.positions:,} rolls, best of {options.repeat}")
    print(f"distinct plays {total:,} ({total / options.positions:.1f} a roll)")
    print(f"rate           {rate / 1e6:.2f} million distinct plays a second (target 3)")
    print(f"oracle         {expected / slow:,.0f} a second; ratio {rate * slow / expected:,.0f}")


if __name__ == "__main__":
    main()
