"""Unusual boards to start training games from: legal, of all kinds, and always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.plays import variant_code
from bgserver.engine.position import Variant
from bgserver.training.starts import write_unusual_board
from tests import naive, positions

if TYPE_CHECKING:
    from collections.abc import Callable

BOTH = pytest.mark.parametrize("variant", list(Variant))


def unusual_board(variant: Variant, seed: int, game: int) -> naive.Board | None:
    """The board that is drawn, None if it was given up."""
    turned = np.zeros(26, dtype=np.int8)
    out = np.full(26, 99, dtype=np.int8)
    drawn = write_unusual_board(variant_code(variant), seed, game, turned, out)
    return tuple(out.tolist()) if drawn else None


@BOTH
def test_boards_are_legal_boards_of_running_games(variant: Variant) -> None:
    drawn = 0
    for game in range(4000):
        board = unusual_board(variant, 1, game)
        if board is None:
            continue
        turned = naive.turn(board, variant.value)
        assert naive.faults(board, variant.value) == [], board
        assert not naive.is_over(board), board
        if variant is Variant.LONG_NARDY:
            assert not naive.traps_all(board), board
            assert not naive.traps_all(turned), board
        drawn += 1
    # Long Nardy gives up boards that break its rule about six in a row.
    assert drawn == 4000 if variant is Variant.BACKGAMMON else drawn > 3000


@BOTH
def test_a_board_depends_on_seed_and_game_only(variant: Variant) -> None:
    boards = [unusual_board(variant, 2, game) for game in range(300)]
    assert [unusual_board(variant, 2, game) for game in reversed(range(300))] == boards[::-1]
    others = [unusual_board(variant, 3, game) for game in range(300)]
    assert sum(board != other for board, other in zip(boards, others, strict=True)) > 250
    assert len(set(boards)) > 250


def held(board: naive.Board, points: range) -> int:
    """Own checkers on some points."""
    return sum(max(board[point], 0) for point in points)


_KINDS: dict[str, Callable[[naive.Board], bool]] = {
    "at home with contact": lambda board: held(board, range(1, 9)) >= 13,
    "crashed": lambda board: held(board, range(1, 4)) >= 9,
    "back game": lambda board: sum(board[point] >= 2 for point in range(19, 25)) >= 3,
    "prime": lambda board: positions.longest_block(board) >= 5,
    "last point held": lambda board: board[24] >= 4,
    "spread over the middle": lambda board: held(board, range(7, 19)) >= 11,
    "bearing off": lambda board: naive.own_in_play(board) < 15,
}


@BOTH
@pytest.mark.parametrize("kind", _KINDS)
def test_every_kind_occurs_on_either_side(variant: Variant, kind: str) -> None:
    is_kind = _KINDS[kind]
    count = [0, 0]
    for game in range(1500):
        board = unusual_board(variant, 4, game)
        if board is not None:
            count[0] += is_kind(board)
            count[1] += is_kind(naive.turn(board, variant.value))
    assert min(count) > 30


def test_checkers_stand_on_the_bar_in_backgammon_only() -> None:
    boards = [unusual_board(Variant.BACKGAMMON, 5, game) for game in range(1000)]
    assert sum(board is not None and board[naive.BAR] > 0 for board in boards) > 50
