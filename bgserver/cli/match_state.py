"""The state file of a match between engines: what has been played, so that it can go on later.

JSON, one line each: first what is played, then a line for each game, session or match. A line is
written at once when its unit has ended, so that a process that is killed loses only what was in
work; a last line that was not finished is ignored and overwritten. A file that was begun for
nothing, as the match was refused, is taken away again.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any, Self

from google.protobuf import json_format

from bgserver.cli.problems import input_error
from bgserver.v1 import simulation_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    from bgserver.games.simulation import UnitResult

__all__ = ["MatchState"]

_FORMAT = "bgserver match 1"
_GROWS = ("count", "includeRecords", "statisticsOnly", "decisionMs")  # may change on the way


class MatchState:
    """The state file of one match; to be used as a context manager."""

    def __init__(self, path: Path, request: simulation_pb2.SimulateRequest, digest: str) -> None:
        """Open a file, or begin one.

        Args:
            path: The file.
            request: What is to be played; without a seed the file's is put in. A file that is
                begun says what the request says by then.
            digest: Of the weights and tables of this engine.

        Raises:
            InvalidInputError: The file is of something else.
        """
        self.units: list[UnitResult] = []
        """What had been played."""
        self._path = path
        self._file: IO[str] | None = None
        self._is_new = not path.exists()
        good = 0
        if path.exists():
            with path.open("rb") as file:
                for number, line in enumerate(_whole_lines(file)):
                    if number == 0:
                        self._check(line, request, digest)
                    else:
                        self.units.append(self._read(line, number))
                    good += len(line)
        self._good = good
        self._request = request
        self._digest = digest

    def _check(self, line: bytes, request: simulation_pb2.SimulateRequest, digest: str) -> None:
        """Compare the head with what is asked for."""
        try:
            head = json.loads(line)
            if head["format"] != _FORMAT:
                raise ValueError
            known, known_digest = head["request"], head["digest"]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            message = f"{self._path} is no state file of a match"
            raise input_error(message, field="--state", reason="NOT_A_STATE_FILE") from error
        if not request.HasField("seed"):
            request.seed = known["seed"]
        wanted = json_format.MessageToDict(request)
        different = sorted(
            name
            for name in {*known, *wanted}
            if name not in _GROWS and known.get(name) != wanted.get(name)
        )
        if known_digest != digest:
            different.append("weights or tables of the engine")
        if different:
            message = f"{self._path} is of another match: different are {', '.join(different)}"
            raise input_error(message, field="--state", reason="ANOTHER_MATCH")

    def _read(self, line: bytes, number: int) -> UnitResult:
        from bgserver.server.convert_simulation import read_unit  # noqa: PLC0415 -- loads Numba

        try:
            form: dict[str, Any] = json.loads(line)
            games = [
                json_format.ParseDict(game, simulation_pb2.GameResult()) for game in form["games"]
            ]
            match = None
            if "match" in form:
                match = json_format.ParseDict(form["match"], simulation_pb2.MatchResult())
            unit = read_unit(games, match)
            if unit.index != number - 1:
                raise ValueError
        except (
            ValueError,
            KeyError,
            IndexError,
            TypeError,
            RecursionError,
            json_format.ParseError,
        ) as error:
            message = f"line {number + 1} of {self._path} is damaged"
            raise input_error(message, field="--state", reason="NOT_A_STATE_FILE") from error
        return unit

    def __enter__(self) -> Self:
        file = self._path.open("r+" if self._path.exists() else "w", encoding="utf-8")
        file.truncate(self._good)
        file.seek(self._good)
        if self._good == 0:
            file.write(f"{json.dumps(self._head())}\n")
        self._file = file
        return self

    def _head(self) -> dict[str, Any]:
        request = simulation_pb2.SimulateRequest()
        request.CopyFrom(self._request)
        request.ClearField("first_unit")
        form = json_format.MessageToDict(request)
        return {"format": _FORMAT, "digest": self._digest, "request": form}

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
        if self._is_new and error is not None:
            self._path.unlink()

    def add(
        self,
        games: Sequence[simulation_pb2.GameResult],
        match: simulation_pb2.MatchResult | None,
    ) -> None:
        """Write a unit that has ended; units that were read are not to be added again."""
        form: dict[str, Any] = {"games": [json_format.MessageToDict(game) for game in games]}
        if match is not None:
            form["match"] = json_format.MessageToDict(match)
        if self._file is not None:
            self._is_new = False
            self._file.write(f"{json.dumps(form)}\n")
            self._file.flush()


def _whole_lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines that end as lines do."""
    return (line for line in file if line.endswith(b"\n"))
