"""Fixtures for all tests."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from bgserver.engine.evaluator import Engine
from tests.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

# The servers of tests keep their games to themselves, and not in the user's data folder.
os.environ["BGSERVER_DATA"] = ":memory:"

_MANY_TESTS = 200


def pytest_configure() -> None:
    """Let processes of the tests have Ctrl-C, even where a script runs the tests in background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Compile everything before the first test of a larger run.

    The first time that takes minutes, which no test's own time limit should have to allow for.
    """
    if len(session.items) >= _MANY_TESTS and not session.config.option.collectonly:
        Engine.load().warm_up()


@pytest.fixture(scope="session")
def server_address() -> Iterator[str]:
    """The address of a server that all tests share."""
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine with the packaged weights; loading it for each test would cost seconds."""
    return Engine.load()
