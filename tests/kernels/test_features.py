"""What the networks see: facts of a board, compared with counts by the oracle."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.kernels import features
from bgserver.kernels.moves import BACKGAMMON, LONG_NARDY
from tests import naive, positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

CODES = {naive.BACKGAMMON: BACKGAMMON, naive.LONG_NARDY: LONG_NARDY}
# Where the dense features of backgammon stand, as far as the tests speak of them.
PIPS, OPPONENT_PIPS = 0, 6
SHOTS_AT_OWN, OWN_SHOTS = 14, 17
STAYS_OUT_OPPONENT, STAYS_OUT_OWN = 20, 21


def dense(board: naive.Board, variant: str) -> NDArray[np.float32]:
    """The dense features of a board."""
    out = np.full(features.N_DENSE, np.nan, dtype=np.float32)
    features.dense_features(np.array(board, dtype=np.int8), CODES[variant], out)
    return out


def boards(variant: str, seed: int, count: int) -> Iterator[naive.Board]:
    """Random boards of running games."""
    for case in positions.cases(variant, seed, count):
        if not naive.is_over(case.board):
            yield case.board


def blots(board: naive.Board) -> set[int]:
    """Own points with exactly one opposing checker."""
    return {point for point in range(1, 25) if board[point] == -1}


def hit_points(board: naive.Board, dice: tuple[int, int]) -> set[int]:
    """Blots that some legal steps with the roll hit, whether or not they make a whole play.

    This is the meaning of the features: every step must be legal, but that as many numbers as
    possible have to be played (2.8 to 2.10) is left out, for speed.
    """
    found: set[int] = set()
    level = {(board, naive.numbers_to_play(dice))}
    while level:
        following = set()
        for now, left in level:
            for die in set(left):
                for source, target, _ in naive.legal_steps(now, die, naive.BACKGAMMON):
                    then = naive.after_step(now, source, target)
                    following.add((then, naive.without(left, die)))
        found |= {blot for now, _ in following for blot in blots(board) if now[blot] >= 0}
        level = following
    return found


def roll_weights() -> Iterator[tuple[tuple[int, int], int]]:
    """The 21 rolls and how many of 36 each is."""
    for dice in naive.ALL_ROLLS:
        yield dice, 1 if dice[0] == dice[1] else 2


def hitting_rolls(board: naive.Board) -> tuple[int, int]:
    """Rolls of 36 that can hit a blot, and that can hit any of two or more."""
    found = [(weight, len(hit_points(board, dice))) for dice, weight in roll_weights()]
    return (
        sum(weight for weight, hits in found if hits >= 1),
        sum(weight for weight, hits in found if hits >= 2),
    )


def legal_hitting_rolls(board: naive.Board) -> int:
    """Rolls of 36 with a legal whole play that hits some blot."""
    return sum(
        weight
        for dice, weight in roll_weights()
        if any(
            result[blot] >= 0
            for result in naive.legal_results(board, dice, naive.BACKGAMMON)
            for blot in blots(board)
        )
    )


# --- shots ---------------------------------------------------------------------------------------


def test_shots_are_exact_counts_of_rolls_for_both_sides() -> None:
    seen = {"bar": 0, "two": 0}
    for board in boards(naive.BACKGAMMON, 1, 160):
        found = dense(board, naive.BACKGAMMON)
        turned = naive.turn(board, naive.BACKGAMMON)
        for hitter, at in ((turned, SHOTS_AT_OWN), (board, OWN_SHOTS)):
            one, two = hitting_rolls(hitter)
            assert round(float(found[at]) * 36, 3) == one, (board, at)
            assert round(float(found[at + 1]) * 36, 3) == two, (board, at)
            seen["bar"] += hitter[naive.BAR] > 0 and one > 0
            seen["two"] += two > 0
    assert min(seen.values()) > 20


def test_shots_overstate_only_where_a_whole_play_cannot_hit() -> None:
    """Against the full rules the share is never too low, and nearly always right."""
    total = different = 0
    for board in boards(naive.BACKGAMMON, 2, 120):
        if blots(board):
            legal = legal_hitting_rolls(board)
            share = round(float(dense(board, naive.BACKGAMMON)[OWN_SHOTS]) * 36, 3)
            assert share >= legal, board
            total += 1
            different += share != legal
    assert total > 60
    assert different / total < 0.1


@pytest.mark.parametrize(
    ("distance", "hits"),
    [
        *zip(range(1, 13), (11, 12, 14, 15, 15, 17, 6, 6, 5, 3, 2, 3), strict=True),
        *((15, 1), (16, 1), (18, 1), (20, 1), (13, 0), (14, 0), (17, 0), (19, 0), (21, 0)),
    ],
)
def test_9_1_hits_on_one_blot_with_a_free_path(distance: int, hits: int) -> None:
    board = [0] * 26
    board[24] = 1
    board[24 - distance] = -1
    found = dense(tuple(board), naive.BACKGAMMON)
    assert round(float(found[OWN_SHOTS]) * 36, 3) == hits


def test_from_the_bar_both_dice_enter_before_anything_else_hits() -> None:
    board = [0] * 26
    board[25], board[8], board[3] = 2, 1, -1
    found = dense(tuple(board), naive.BACKGAMMON)[OWN_SHOTS]
    assert round(float(found) * 36, 3) == 1  # 5-5 only
    board[25] = 1  # any five hits from 8, after the other number has entered
    found = dense(tuple(board), naive.BACKGAMMON)[OWN_SHOTS]
    assert round(float(found) * 36, 3) == 11


def test_the_third_shot_feature_is_the_number_of_the_rearmost_blot_that_is_hit() -> None:
    board = [0] * 26
    board[5], board[24] = 1, -2
    board[2] = -1  # the opponent's 23, three points behind the blot
    board[20] = 2
    found = dense(tuple(board), naive.BACKGAMMON)
    hits, _ = hitting_rolls(naive.turn(board, naive.BACKGAMMON))
    assert found[SHOTS_AT_OWN + 2] == pytest.approx(hits / 36 * 5 / 24)


# --- other facts ---------------------------------------------------------------------------------


def test_pips_and_entry_are_those_of_the_oracle() -> None:
    entered = 0
    for board in boards(naive.BACKGAMMON, 3, 400):
        found = dense(board, naive.BACKGAMMON)
        turned = naive.turn(board, naive.BACKGAMMON)
        assert found[PIPS] * 100 == pytest.approx(naive.pips(board), abs=1e-3)
        assert found[OPPONENT_PIPS] * 100 == pytest.approx(naive.pips(turned), abs=1e-3)
        for side, at in ((turned, STAYS_OUT_OPPONENT), (board, STAYS_OUT_OWN)):
            if side[naive.BAR] > 0:
                stays_out = 1 - naive.entering_rolls(side, 1) / 36
                assert found[at] == pytest.approx(stays_out, abs=1e-6), board
                entered += 1
    assert entered > 50


def escape_rolls(mask: int) -> int:
    """Rolls with which a checker on 24 escapes a block, by single legal steps of the oracle."""
    board = [0] * 26
    board[24], board[0] = 1, -1
    for distance in range(1, 13):
        if mask >> (distance - 1) & 1:
            board[24 - distance] = -2
    goal = min(mask.bit_length() + 1, 7)
    escaping = 0
    for dice, weight in roll_weights():
        farthest = 0
        for order in set(itertools.permutations(naive.numbers_to_play(dice))):
            now, at = tuple(board), 24
            for die in order:
                if (at, at - die, die) not in naive.legal_steps(now, die, naive.BACKGAMMON):
                    break
                now, at = naive.after_step(now, at, at - die), at - die
            farthest = max(farthest, 24 - at)
        escaping += weight * (farthest >= goal)
    return escaping


@pytest.mark.parametrize(
    ("mask", "escaping"),
    [
        (0b000000000000, 36),
        (0b000000111111, 0),  # a full prime
        (0b000001111110, 0),  # a full prime one point away
        (0b000000011111, 11),  # five points: only sixes
        (0b000000111110, 2),  # at one pip's distance: only 6-1
        (0b000000101111, 9),  # a broken prime: all fives but 5-1
    ],
)
def test_escape_table_on_known_blocks(mask: int, escaping: int) -> None:
    assert escape_rolls(mask) == escaping
    assert round(float(features._ESCAPES[mask]) * 36, 3) == escaping


def test_escape_table_agrees_with_the_oracle() -> None:
    for mask in random.Random(4).sample(range(4096), 60):
        assert round(float(features._ESCAPES[mask]) * 36, 3) == escape_rolls(mask), bin(mask)


@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_class_is_contact_as_long_as_the_sides_have_to_pass(variant: str) -> None:
    counts = {features.CLASS_CONTACT: 0, features.CLASS_RACE: 0}
    for board in boards(variant, 5, 3000):
        found = features.position_class(np.array(board, dtype=np.int8), CODES[variant])
        contact = naive.has_contact(board, variant)
        assert found == (features.CLASS_CONTACT if contact else features.CLASS_RACE), board
        counts[found] += 1
    assert min(counts.values()) > 200


# --- the vector ----------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_dense_features_are_finite_and_of_moderate_size(variant: str) -> None:
    largest = 0.0
    for board in boards(variant, 6, 3000):
        found = dense(board, variant)  # NaN wherever nothing was written
        assert np.isfinite(found).all(), board
        largest = max(largest, float(np.abs(found).max()))
    assert largest < 10  # about 3 in games; constructed races may be lopsided


def _swapped(variant: str) -> tuple[list[int], list[int]]:
    """For the other view: where each feature is found, and which change their sign."""
    if variant == naive.LONG_NARDY:
        order = [*range(18, 36), *range(18), 36, 37, 39, 38, *range(40, 48)]
        return order, [36]
    order = [*range(6, 12), *range(6), 12, 13, 17, 18, 19, 14, 15, 16, 21, 20, 23, 22, 25, 24]
    order += [29, 30, 31, 26, 27, 28, *(pair ^ 1 for pair in range(32, 48))]
    return order, [12]


@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_dense_features_of_the_other_view_are_the_same_with_the_sides_changed(variant: str) -> None:
    order, negated = _swapped(variant)
    # The lead on the scale of chance counts the opponent's roll, so it has no mirror image.
    lead = 13 if variant == naive.BACKGAMMON else 37
    compared = [index for index in range(features.N_DENSE) if index != lead]
    for board in boards(variant, 7, 1000):
        found = dense(board, variant)
        other = dense(naive.turn(board, variant), variant)[order]
        other[negated] *= -1
        np.testing.assert_allclose(found[compared], other[compared], atol=1e-6)


@pytest.mark.parametrize("variant", [BACKGAMMON, LONG_NARDY])
def test_units_tell_every_number_of_checkers_apart(variant: int) -> None:
    values = features.UNIT_VALUES[variant]
    assert not values[0].any()
    assert len({tuple(row) for row in values.tolist()}) == 16
