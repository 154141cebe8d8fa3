"""Fixtures for all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bgserver.engine.evaluator import Engine
from tests.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def server_address() -> Iterator[str]:
    """The address of a server that all tests share."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine with the packaged weights; loading it for each test would cost seconds."""
    return Engine.load()
