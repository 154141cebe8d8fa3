from __future__ import annotations

import doctest
from typing import TYPE_CHECKING

import pytest

from bgserver.formats import gnu_id, notation, xgid

if TYPE_CHECKING:
    from types import ModuleType


@pytest.mark.parametrize("module", [gnu_id, notation, xgid])
def test_examples_in_docstrings(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0
