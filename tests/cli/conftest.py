"""The command line as tests run it: against a server, and with the engine in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from bgserver.cli.app import app
from bgserver.server.app import load_engine, no_progress
from bgserver.server.config import ServerConfig

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one answer on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The answers on stdout, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


class CommandLine:
    """The command line of one way to reach an engine."""

    def __init__(self, options: Iterable[str]) -> None:
        self._options = list(options)

    def __call__(self, *arguments: str, stdin: str | bytes = "") -> Outcome:
        """Run a command and return how it ended."""
        result = CliRunner().invoke(app, [*arguments, *self._options], input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return Outcome(result.exit_code, result.stdout, result.stderr)


@pytest.fixture(params=["server", "in process"])
def bgserver(request: pytest.FixtureRequest) -> CommandLine:
    """The command line, for each way to reach an engine."""
    if request.param == "server":
        return CommandLine(["--address", request.getfixturevalue("server_address")])
    request.getfixturevalue("compiled")
    return CommandLine([])


@pytest.fixture(scope="session")
def compiled() -> None:
    """Nothing is left to compile in this process, which a command would tell on stderr."""
    load_engine(ServerConfig(), no_progress)
