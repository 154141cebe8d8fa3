"""Errors as values: they travel from the process in which a chunk failed."""

from __future__ import annotations

import pickle

import pytest

from bgserver.engine.errors import (
    AmbiguousPlayError,
    ClusterError,
    DataError,
    EngineError,
    Fault,
    InvalidInputError,
    OverloadedError,
    WrongMomentError,
)

_FAULTS = [Fault("dice.first", "DIE_OUT_OF_RANGE", "expected 1 to 6"), Fault("", "X", "y")]


@pytest.mark.parametrize(
    "error",
    [
        InvalidInputError(_FAULTS),
        AmbiguousPlayError(_FAULTS),
        WrongMomentError("GAME_OVER", "the game is over"),
        OverloadedError("too much", 2.5),
        ClusterError("CLUSTER_LOST", "it went away"),
        DataError("damaged"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling(error: EngineError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own bytes
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
