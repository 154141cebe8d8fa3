"""The engine against the oracle on random boards of both games."""

from __future__ import annotations

import itertools

import pytest

from tests import naive, positions
from tests.rules.compare import difference, graph_difference

SEED = 20_261
RESULTS = 20_000
"""Cases of each game; `bench/oracle_compare.py` does a million."""
GRAPHS = 1_000
MAX_ORDERS = 3_000
"""A wide double can have hundreds of thousands of step orders; those cases are left out."""


@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_the_oracle_agrees_with_itself(variant: str) -> None:
    # all orders of 2.12 word for word, and the walk through boards that the comparison uses
    for case in positions.cases(variant, SEED + 1, 1_000):
        if naive_results_are_many(case):
            continue
        sequences = naive.legal_sequences(
            case.board, case.dice, variant, first_turn=case.first_turn
        )
        boards = {naive.play(case.board, steps) for steps in sequences}
        assert boards == naive.legal_results(
            case.board, case.dice, variant, first_turn=case.first_turn
        ), case


@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_2_12_engine_and_oracle_give_the_same_results(variant: str) -> None:
    for case in positions.cases(variant, SEED, RESULTS):
        assert difference(case) is None, f"{case}: {difference(case)}"


@pytest.mark.parametrize("variant", naive.VARIANTS)
def test_2_13_engine_and_oracle_give_the_same_orders_of_steps(variant: str) -> None:
    narrow = (
        case for case in positions.cases(variant, SEED + 2) if not naive_results_are_many(case)
    )
    for case in itertools.islice(narrow, GRAPHS):
        assert graph_difference(case) is None, f"{case}: {graph_difference(case)}"


def naive_results_are_many(case: positions.Case) -> bool:
    """True if there may be more than `MAX_ORDERS` step orders.

    Four steps of a double can come in 24 orders.
    """
    results = naive.legal_results(case.board, case.dice, case.variant, first_turn=case.first_turn)
    return case.dice[0] == case.dice[1] and 24 * len(results) > MAX_ORDERS
