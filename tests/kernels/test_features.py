"""What the networks see: facts of a board, compared with counts by the oracle."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from bgserver.kernels import blocks, classes, features
from bgserver.kernels.moves import BACKGAMMON, LONG_NARDY
from tests import naive, positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

CODES = {naive.BACKGAMMON: BACKGAMMON, naive.LONG_NARDY: LONG_NARDY}
# Where the dense features of backgammon stand that are tested one by one.
SHOTS_AT_OWN, OWN_SHOTS = 14, 17
STAYS_OUT_OPPONENT, STAYS_OUT_OWN = 20, 21


def dense(board: naive.Board, variant: str) -> NDArray[np.float32]:
    """The dense features of a board."""
    out = np.full(features.N_DENSE, np.nan, dtype=np.float32)
    # A race in backgammon has features of its own (test_features_race): here it is taken for
    # contact, whose features are facts of any board.
    code = CODES[variant]
    features.dense_features(np.array(board, dtype=np.int8), code, classes.CLASS_CONTACT, out)
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


class Shots(NamedTuple):
    """What rolls of 36 do to blots."""

    hit_one: int
    """Rolls that can hit a blot."""
    hit_two: int
    """Rolls that can hit any of two blots or more."""
    pips_lost: int
    """Sum over the rolls of what the costliest hit takes; the blot on p has come p pips."""


def shots(board: naive.Board) -> Shots:
    """The shots of the player on turn."""
    found = [(weight, hit_points(board, dice)) for dice, weight in roll_weights()]
    return Shots(
        sum(weight for weight, hits in found if len(hits) >= 1),
        sum(weight for weight, hits in found if len(hits) >= 2),
        sum(weight * max(hits, default=0) for weight, hits in found),
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
            expected = shots(hitter)
            assert round(float(found[at]) * 36, 3) == expected.hit_one, (board, at)
            assert round(float(found[at + 1]) * 36, 3) == expected.hit_two, (board, at)
            assert round(float(found[at + 2]) * 36 * 24, 2) == expected.pips_lost, (board, at)
            seen["bar"] += hitter[naive.BAR] > 0 and expected.hit_one > 0
            seen["two"] += expected.hit_two > 0
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


def test_a_blot_at_home_costs_most() -> None:
    board = [0] * 26
    board[5], board[24] = 1, -2
    board[2] = -1  # the opponent's 23, three points behind the blot
    board[20] = 2
    found = dense(tuple(board), naive.BACKGAMMON)
    hits = shots(naive.turn(tuple(board), naive.BACKGAMMON)).hit_one
    assert found[SHOTS_AT_OWN + 2] == pytest.approx(hits / 36 * 20 / 24)


# --- other facts ---------------------------------------------------------------------------------


def test_staying_out_is_the_oracles_count_of_rolls() -> None:
    entered = 0
    for board in boards(naive.BACKGAMMON, 3, 400):
        found = dense(board, naive.BACKGAMMON)
        turned = naive.turn(board, naive.BACKGAMMON)
        for side, at in ((turned, STAYS_OUT_OPPONENT), (board, STAYS_OUT_OWN)):
            if side[naive.BAR] > 0:
                stays_out = 1 - naive.entering_rolls(side, 1) / 36
                assert found[at] == pytest.approx(stays_out, abs=1e-6), board
                entered += 1
    assert entered > 50


def made_points(side: naive.Board) -> set[int]:
    """Points that a side holds with two or more checkers."""
    return {point for point in range(1, 25) if side[point] >= 2}


def longest_row(points: set[int]) -> int:
    """Length of the longest row of neighbours."""
    return max(
        (sum(1 for _ in itertools.takewhile(points.__contains__, itertools.count(first))))
        for first in [0, *points]
    )


def escape_chance(point: int, blocked: set[int]) -> float:
    """Chance that a checker gets past what is blocked in front of it; the table is tested below."""
    distances = [distance for distance in range(1, 13) if point - distance in blocked]
    return float(blocks.ESCAPES[sum(1 << (distance - 1) for distance in distances)])


def facts_of_a_side(side: naive.Board, other: naive.Board) -> list[float]:
    """What the vector says of a side, apart from shots and entry, each side in its own view."""
    stacks = {point: count for point, count in enumerate(side) if count > 0}
    checkers = [point for point, count in stacks.items() for _ in range(count)]
    made = made_points(side)
    blocked = {25 - point for point in made_points(other)}
    rear = max(checkers)
    facing = 25 - max(point for point in range(1, 26) if other[point] > 0)
    rears = [point for point in stacks if point > 12]
    escapes = [escape_chance(point, blocked) for point in rears]
    anchors = {point for point in made if point >= 19}
    playable = [
        (point, die)
        for point in stacks
        if 7 <= point <= 24
        for die in range(1, 7)
        if point - die not in blocked
    ]
    seen_made = {25 - point for point in made}  # by the other side, which they hold
    holding = [escape_chance(point, seen_made) for point in range(15, 26)]
    rows_ahead = [
        len(blocked & set(range(first, first + 6))) for first in range(1, rear - 5) if rear >= 7
    ]
    return [
        naive.pips(side) / 100,
        sum(point - 6 for point in checkers if 7 <= point <= 18) / 60,
        sum(max(count - 3, 0) for count in stacks.values()) / 6,
        (side[1] > 0) * side[1] / 6 + (side[2] > 0) * side[2] / 6,
        sum(count**2 for count in stacks.values()) / 60,
        (15 - len(checkers)) / 10,
        len([point for point in made if point <= 6]) / 6,
        escape_chance(rear, blocked) if rears else 1,
        sum(escapes) / len(escapes) if escapes else 1,
        max(rows_ahead, default=0) / 6,
        len(anchors) / 3,
        (25 - min(anchors)) / 6 if anchors else 0,
        len([point for point in checkers if point >= 19]) / 4,
        sum(max(point - facing, 0) for point in checkers) / 100,
        len([point for point, count in stacks.items() if count == 1 and point <= 24]) / 4,
        rear / 25,
        len(checkers) == 15,
        longest_row({point for point in made if point > facing}) / 6,
        sum(holding[-7:]) / 7,
        min(holding[:10]),
        len(playable) / 20,
        sum((point - 1) * max(count - 2, 0) for point, count in stacks.items() if point <= 6) / 20,
        sum(point - 6 for point in checkers if point > 6) / 60,
        len({die for _, die in playable}) / 6,
    ]


def leads(board: naive.Board, variant: str, most: int) -> list[float]:
    """The lead in pips, within limits, and on the scale of chance with the opponent to roll."""
    own, opponents = naive.pips(board), naive.pips(naive.turn(board, variant))
    lead = opponents - own
    return [
        max(-most, min(most, lead / 50)),
        (lead + 4) / (2 * (own + opponents) ** 0.5 + 1),
    ]


# Where these stand for the own side and for the opponent.
OWN_FACTS = [*range(6), 24, 26, 27, 28, *range(32, 60, 2)]
OPPONENT_FACTS = [*range(6, 12), 25, 29, 30, 31, *range(33, 60, 2)]


def test_facts_of_both_sides_are_plain_counts() -> None:
    for board in boards(naive.BACKGAMMON, 9, 1500):
        found = dense(board, naive.BACKGAMMON)
        turned = naive.turn(board, naive.BACKGAMMON)
        own, opponents = facts_of_a_side(board, turned), facts_of_a_side(turned, board)
        np.testing.assert_allclose(found[OWN_FACTS], own, atol=1e-6, err_msg=str(board))
        np.testing.assert_allclose(found[OPPONENT_FACTS], opponents, atol=1e-6, err_msg=str(board))
        expected = leads(board, naive.BACKGAMMON, 2)
        np.testing.assert_allclose(found[12:14], expected, atol=1e-6, err_msg=str(board))
        for on_bar, stays_out, at in ((-board[0], found[20], 22), (board[25], found[21], 23)):
            assert found[at] == pytest.approx(min(on_bar, 3) * stays_out)


def nardy_facts_of_a_side(side: naive.Board) -> list[float]:
    """The 18 facts of a side in Long Nardy, in its own view."""
    stacks = {point: count for point, count in enumerate(side) if count > 0}
    checkers = [point for point, count in stacks.items() for _ in range(count)]
    blocked = {point for point in range(1, 25) if side[point] < 0}
    rear = max(checkers)
    escapes = [escape_chance(point, blocked) for point in stacks if point > 6]
    rows_ahead = [
        len(blocked & set(range(first, first + 6))) for first in range(1, rear - 5) if rear >= 7
    ]
    movable = [
        len([point for point in stacks if point > die and point - die not in blocked])
        for die in range(1, 7)
    ]
    return [
        naive.pips(side) / 150,
        (15 - len(checkers)) / 10,
        checkers.count(naive.HEAD) / 8,
        *(len([point for point in checkers if (point - 1) // 6 == q]) / 8 for q in range(4)),
        sum(max(count - 3, 0) for count in stacks.values()) / 8,
        sum(count**2 for count in stacks.values()) / 80,
        len([point for point in checkers if point <= 2]) / 6,
        escape_chance(rear, blocked) if escapes else 1,
        sum(escapes) / len(escapes) if escapes else 1,
        max(rows_ahead, default=0) / 6,
        sum(min(moves, 4) for moves in movable) / 24,
        movable.count(0) / 6,
        len(checkers) == 15,
        longest_row(set(stacks)) / 6,
        len(stacks) / 10,
    ]


def pairs_to_pass(side: naive.Board) -> int:
    """Pairs of an own checker and an opposing one that stands in front of it."""
    return sum(
        -side[ahead] * side[point]
        for point in range(1, 25)
        for ahead in range(1, point)
        if side[point] > 0 > side[ahead]
    )


def test_long_nardys_facts_are_plain_counts() -> None:
    for board in boards(naive.LONG_NARDY, 10, 1500):
        turned = naive.turn(board, naive.LONG_NARDY)
        expected = [
            *nardy_facts_of_a_side(board),
            *nardy_facts_of_a_side(turned),
            *leads(board, naive.LONG_NARDY, 3),
            pairs_to_pass(board) / 100,
            pairs_to_pass(turned) / 100,
        ]
        found = dense(board, naive.LONG_NARDY)
        np.testing.assert_allclose(found[: len(expected)], expected, atol=1e-5, err_msg=str(board))
        assert not found[len(expected) :].any()


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
    assert round(float(blocks.ESCAPES[mask]) * 36, 3) == escaping


def test_escape_table_agrees_with_the_oracle() -> None:
    for mask in random.Random(4).sample(range(4096), 60):
        assert round(float(blocks.ESCAPES[mask]) * 36, 3) == escape_rolls(mask), bin(mask)


def expected_class(board: naive.Board, variant: str) -> int:
    """The class by its definition, from counts of checkers."""
    if not naive.has_contact(board, variant):
        return classes.CLASS_RACE
    sides = (board, naive.turn(board, variant))
    if variant == naive.BACKGAMMON:
        active = [sum(count for count in side[3:] if count > 0) for side in sides]
        is_phase = min(active) <= classes.CRASHED_ACTIVE
    else:
        is_phase = max(side[naive.HEAD] for side in sides) >= classes.OPENING_HEAD
    return classes.CLASS_PHASE if is_phase else classes.CLASS_CONTACT


@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_classes_are_those_of_their_definitions_in_either_view(variant: str) -> None:
    counts = [0] * classes.N_CLASSES
    for board in boards(variant, 5, 3000):
        expected = expected_class(board, variant)
        for seen in (board, naive.turn(board, variant)):
            assert classes.position_class(np.array(seen, dtype=np.int8), CODES[variant]) == expected
        counts[expected] += 1
    assert min(counts) > 200, counts


@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_every_class_has_a_name(variant: str) -> None:
    names = classes.CLASS_NAMES[CODES[variant]]
    assert len(set(names)) == classes.N_CLASSES
    start = np.array(naive.start(variant), dtype=np.int8)
    is_opening = variant == naive.LONG_NARDY
    found = names[classes.position_class(start, CODES[variant])]
    assert found == ("opening" if is_opening else "contact")


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
        order = [*range(18, 36), *range(18), 36, 37, 39, 38, *range(40, 60)]
        return order, [36]
    order = [*range(6, 12), *range(6), 12, 13, 17, 18, 19, 14, 15, 16, 21, 20, 23, 22, 25, 24]
    order += [29, 30, 31, 26, 27, 28, *(pair ^ 1 for pair in range(32, 60))]
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
