from __future__ import annotations

import random

import pytest

from bgserver.engine.position import Dice, Position, Variant
from bgserver.engine.refusals import explain_illegal_steps
from tests import naive
from tests.positions import cases
from tests.rules.boards import backgammon, nardy

Steps = list[tuple[int, int]]

MIDDLE = """
    13 14 15 16 17 18   19 20 21 22 23 24
    X5  .  .  . O3  . | O5  .  .  .  . X2
    O5  .  .  . X3  . | X5  .  .  .  . O2
    12 11 10  9  8  7    6  5  4  3  2  1
"""
ON_THE_BAR = """
    13 14 15 16 17 18   19 20 21 22 23 24
    X5  .  .  . O3  . | O5  .  .  . O2 X1
    O3  .  .  . X3  . | X5  .  .  .  . O2
    12 11 10  9  8  7    6  5  4  3  2  1
    bar X
"""
BEAR_OFF = """
    13 14 15 16 17 18   19 20 21 22 23 24
     .  .  .  .  .  . |  .  .  .  .  . O3
     .  .  .  .  .  . |  .  X2 .  X1 X2 .
    12 11 10  9  8  7    6  5  4  3  2  1
"""
ONE_OUTSIDE = """
    13 14 15 16 17 18   19 20 21 22 23 24
     .  .  .  .  .  . |  .  .  .  .  . O3
     .  .  .  X1 .  . |  X2 .  .  X1 X2 .
    12 11 10  9  8  7    6  5  4  3  2  1
"""
EITHER_NUMBER = """
    13 14 15 16 17 18   19 20 21 22 23 24
     .  .  .  . O2  . | X1  .  .  .  .  .
    O5 O4  .  .  . O4 |  .  .  . X7 X7  .
    12 11 10  9  8  7    6  5  4  3  2  1
"""
NARDY_START = """
    13 14 15 16 17 18   19 20 21 22 23 24
     .  .  .  .  .  . |  .  .  .  .  . X15
    O15 .  .  .  .  . |  .  .  .  .  .  .
    12 11 10  9  8  7    6  5  4  3  2  1
"""
NARDY_LATER = """
    13 14 15 16 17 18   19 20 21 22 23 24
     .  .  .  X2 .  . |  .  .  .  .  . X13
    O14 .  .  .  .  . |  .  .  O1 .  .  .
    12 11 10  9  8  7    6  5  4  3  2  1
"""
NARDY_BLOCK = """
    13 14 15 16 17 18   19 20 21 22 23 24
     .  .  .  X1 X1 . |  X1 X1 X1 .  . X10
    O15 .  .  .  .  . |  .  .  .  .  .  .
    12 11 10  9  8  7    6  5  4  3  2  1
"""

REFUSED: list[tuple[Position, tuple[int, int], Steps, str, str]] = [
    (backgammon(MIDDLE), (3, 1), [(13, 8), (6, 5)], "steps[0]", "NO_SUCH_DIE"),
    (backgammon(MIDDLE), (3, 1), [(8, 5), (8, 5)], "steps[1]", "NO_SUCH_DIE"),
    (backgammon(MIDDLE), (1, 1), [(8, 7)] * 5, "steps[3]", "NO_CHECKER"),
    (backgammon(MIDDLE), (1, 1), [(6, 5)] * 5, "steps[4]", "NO_SUCH_DIE"),
    (backgammon(MIDDLE), (3, 1), [(5, 8)], "steps[0]", "NO_SUCH_DIE"),
    (backgammon(MIDDLE), (3, 1), [(8, 8)], "steps[0]", "NO_SUCH_DIE"),
    (backgammon(MIDDLE), (3, 1), [(26, 25)], "steps[0]", "NO_SUCH_DIE"),
    (backgammon(MIDDLE), (3, 1), [(2, -1)], "steps[0]", "NO_SUCH_DIE"),
    (backgammon(MIDDLE), (3, 1), [(5, 2), (6, 5)], "steps[0]", "NO_CHECKER"),
    (backgammon(MIDDLE), (3, 1), [(25, 22)], "steps[0]", "NO_CHECKER"),
    (backgammon(MIDDLE), (5, 1), [(6, 1), (6, 5)], "steps[0]", "BLOCKED"),
    (backgammon(MIDDLE), (6, 1), [(24, 17)], "steps[0]", "BLOCKED"),
    (backgammon(MIDDLE), (3, 1), [(6, 5), (3, 0)], "steps[1]", "NO_CHECKER"),
    (backgammon(MIDDLE), (6, 5), [(6, 0)], "steps[0]", "NOT_ALL_HOME"),
    (backgammon(MIDDLE), (3, 1), [(8, 5)], "steps", "MUST_USE_BOTH"),
    (backgammon(MIDDLE), (3, 1), [], "steps", "MUST_USE_BOTH"),
    (backgammon(MIDDLE), (3, 3), [(13, 4)], "steps", "MUST_USE_BOTH"),
    (backgammon(ON_THE_BAR), (3, 1), [(13, 10)], "steps[0]", "BAR_FIRST"),
    (backgammon(ON_THE_BAR), (2, 1), [(25, 23)], "steps[0]", "BLOCKED"),
    (backgammon(ON_THE_BAR), (3, 1), [(25, 21), (25, 24)], "steps[1]", "NO_CHECKER"),
    (backgammon(BEAR_OFF), (4, 1), [(3, 0)], "steps[0]", "CHECKER_BEHIND"),
    (backgammon(BEAR_OFF), (6, 5), [(3, 0)], "steps[0]", "CHECKER_BEHIND"),
    (backgammon(BEAR_OFF), (6, 4), [(5, 0), (2, 0)], "steps[1]", "CHECKER_BEHIND"),
    (backgammon(ONE_OUTSIDE), (6, 3), [(6, 0)], "steps[0]", "NOT_ALL_HOME"),
    (backgammon(EITHER_NUMBER), (4, 3), [(19, 16)], "steps", "MUST_USE_HIGHER"),
    (backgammon(EITHER_NUMBER), (4, 3), [(19, 12)], "steps[0]", "BLOCKED"),
    (nardy(NARDY_START), (2, 1), [(24, 22), (24, 23)], "steps[1]", "HEAD_LIMIT"),
    (nardy(NARDY_START), (6, 6), [(24, 12)], "steps[0]", "BLOCKED"),
    (nardy(NARDY_LATER), (4, 4), [(24, 20), (24, 20)], "steps[1]", "HEAD_LIMIT"),
    (nardy(NARDY_LATER), (6, 6), [(16, 4)], "steps[0]", "BLOCKED"),
    (nardy(NARDY_BLOCK), (6, 3), [(24, 18)], "steps[0]", "PRIME_TRAPS_ALL"),
]


def explained(
    position: Position, dice: tuple[int, int], steps: Steps, *, first_turn: bool = False
) -> tuple[str, str] | None:
    fault = explain_illegal_steps(position, Dice(*dice), steps, first_turn)
    if fault is None:
        return None
    assert 0 < len(fault.message) < 120
    return fault.field, fault.reason


@pytest.mark.parametrize(("position", "dice", "steps", "field", "reason"), REFUSED)
def test_refusal_names_the_step_and_the_rule(
    position: Position, dice: tuple[int, int], steps: Steps, field: str, reason: str
) -> None:
    assert explained(position, dice, steps) == (field, reason)


LEGAL: list[tuple[Position, tuple[int, int], Steps]] = [
    (backgammon(MIDDLE), (3, 1), [(8, 5), (6, 5)]),
    (backgammon(MIDDLE), (3, 1), [(8, 4)]),
    (backgammon(MIDDLE), (5, 3), [(13, 5)]),
    (backgammon(MIDDLE), (2, 2), [(13, 5)]),
    (backgammon(MIDDLE), (2, 2), [(13, 9), (6, 2)]),
    (backgammon(ON_THE_BAR), (6, 2), []),
    (backgammon(ON_THE_BAR), (3, 1), [(25, 21)]),
    (backgammon(BEAR_OFF), (4, 1), [(5, 0)]),
    (backgammon(BEAR_OFF), (6, 5), [(5, 0), (5, 0)]),
    (backgammon(EITHER_NUMBER), (4, 3), [(19, 15)]),
    (nardy(NARDY_START), (3, 1), [(24, 20)]),
]


@pytest.mark.parametrize(("position", "dice", "steps"), LEGAL)
def test_nothing_is_refused_in_a_legal_play(
    position: Position, dice: tuple[int, int], steps: Steps
) -> None:
    assert explained(position, dice, steps) is None


def test_two_checkers_leave_the_head_on_the_first_turn_only() -> None:
    steps = [(24, 18), (24, 18)]
    assert explained(nardy(NARDY_START), (6, 6), steps, first_turn=True) is None
    assert explained(nardy(NARDY_START), (6, 6), steps) == ("steps[1]", "HEAD_LIMIT")
    three = [(24, 21)] * 3
    assert explained(nardy(NARDY_START), (3, 3), three, first_turn=True) == (
        "steps[2]",
        "HEAD_LIMIT",
    )


def test_a_finished_game_refuses_everything() -> None:
    position = Position((0,) * 24 + (-2, 0))
    assert explained(position, (3, 1), [(6, 5)]) == ("steps", "GAME_OVER")


def test_thousands_of_steps_are_refused_at_once() -> None:
    steps = [(6, 5)] * 100_000
    assert explained(backgammon(MIDDLE), (1, 1), steps) == ("steps[4]", "NO_SUCH_DIE")


def readings(steps: Steps, dice: tuple[int, int]) -> list[list[naive.Step]]:
    """Every way to make the pairs of single steps by one die each."""
    if not steps:
        return [[]]
    (source, target), *rest = steps
    found = []
    for die in set(dice):
        landing = max(source - die, 0)
        if landing < target:
            continue
        remaining = rest if landing == target else [(landing, target), *rest]
        if len(remaining) > 4:
            continue
        found += [[(source, landing, die), *more] for more in readings(remaining, dice)]
    return found


@pytest.mark.parametrize("variant", list(Variant))
def test_a_reason_is_given_exactly_for_what_the_oracle_refuses(variant: Variant) -> None:
    rng = random.Random(5)
    verdicts = {True: 0, False: 0}
    for case in cases(variant.value, seed=11, count=400):
        if naive.is_over(case.board):
            continue
        position = Position(case.board, variant)
        sequence = rng.choice(
            naive.legal_sequences(case.board, case.dice, variant.value, first_turn=case.first_turn)
        )
        steps = [(source, target) for source, target, _ in sequence]
        if steps and rng.random() < 0.7:
            changed = rng.randrange(len(steps))
            source = rng.choice([point for point in range(1, 26) if case.board[point] > 0])
            steps[changed] = (source, max(source - rng.choice(case.dice), 0))
        if steps and rng.random() < 0.2:
            steps.pop(rng.randrange(len(steps)))
        legal = any(
            naive.is_legal_play(
                case.board, case.dice, variant.value, reading, first_turn=case.first_turn
            )
            for reading in readings(steps, case.dice)
        )
        got = explained(position, case.dice, steps, first_turn=case.first_turn)
        assert (got is None) == legal, (str(case), steps, got)
        verdicts[legal] += 1
    assert min(verdicts.values()) > 50
