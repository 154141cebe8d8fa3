"""Starts peers and asks them; `bench.peers.worker` is the other end."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bgserver.engine.position import CubeOwner

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from bgserver.engine.position import GameState

__all__ = [
    "NAMES",
    "Answer",
    "Case",
    "Peer",
    "PeerError",
    "PeerPrograms",
    "add_program_arguments",
    "level_name",
    "programs_of",
]

NAMES = ("gnubg", "bgsage")
"""The peers, as the command line calls them."""

_WORKER = Path(__file__).with_name("worker.py")
_DEBIAN_GNUBG = "/usr/games/gnubg"
_TITLES = {"gnubg": "GNU Backgammon", "bgsage": "Open Sage"}
_FIRST_PLY = {"gnubg": 0, "bgsage": 1}


class PeerError(Exception):
    """A peer could not be started, stopped answering, or answered nonsense."""


class Case(NamedTuple):
    """A roll to be played."""

    board: Sequence[int]
    """26 numbers as `Position.points`."""
    dice: tuple[int, int]
    """The roll."""


class Answer(NamedTuple):
    """What a peer plays."""

    board: tuple[int, ...]
    """The board after its play, still seen by the player who rolled."""
    seconds: float
    """How long it took, measured in its own process."""
    cpu_seconds: float
    """Processor time of all its threads for it."""


@dataclass(frozen=True, slots=True)
class PeerPrograms:
    """What the peers are run with."""

    gnubg: str | None
    """The program `gnubg`."""
    python: str | None
    """A Python that has `bgsage`."""

    def command(self, name: str) -> list[str]:
        """The command that runs the worker in a peer.

        Raises:
            PeerError: The program is not known.
        """
        if name == "gnubg":
            if self.gnubg is None:
                message = "no gnubg found; install it or name it with --gnubg"
                raise PeerError(message)
            # Terminal, quiet, no settings of the user, then the script.
            return [self.gnubg, "-t", "-q", "-r", "-p", str(_WORKER)]
        if self.python is None:
            message = "name a Python that has bgsage with --peer-python"
            raise PeerError(message)
        return [self.python, str(_WORKER)]

    def version(self, name: str) -> str:
        """The version that a peer tells.

        Raises:
            PeerError: It cannot be started.
        """
        program = self.command(name)[0]
        ask = ["-v"]
        if name == "bgsage":
            ask = ["-c", "import importlib.metadata as m; print(m.version('bgsage'))"]
        try:
            done = subprocess.run(
                [program, *ask], capture_output=True, text=True, check=True, timeout=60
            )
        except (OSError, subprocess.SubprocessError) as error:
            message = f"{name} cannot be started with {program!r}: {error}"
            raise PeerError(message) from error
        return done.stdout.strip().splitlines()[0]


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the peers are."""
    installed = shutil.which("gnubg")
    if installed is None and Path(_DEBIAN_GNUBG).exists():
        installed = _DEBIAN_GNUBG
    parser.add_argument("--gnubg", default=installed, help="the program gnubg")
    parser.add_argument("--peer-python", help="a Python that has bgsage")


def programs_of(options: argparse.Namespace) -> PeerPrograms:
    """The programs that the options name."""
    return PeerPrograms(options.gnubg, options.peer_python)


def level_name(name: str, rolls: int) -> str:
    """How a peer calls looking so many rolls ahead."""
    return f"{_TITLES[name]} {rolls + _FIRST_PLY[name]}-ply"


class Peer:
    """One process of a peer; a context manager. Not for several threads at once."""

    def __init__(self, programs: PeerPrograms, name: str, *, threads: int = 1) -> None:
        """Start the process.

        Args:
            programs: Where it is found.
            name: One of `NAMES`.
            threads: Threads that it may compute with.

        Raises:
            PeerError: It cannot be started.
        """
        self.name = name
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by `close`
        ours, theirs = socket.socketpair()
        environment = os.environ | {
            "BENCH_PEER": name,
            "BENCH_PEER_SOCKET": str(theirs.fileno()),
            "BENCH_PEER_THREADS": str(threads),
        }
        command = programs.command(name)
        try:
            # A session of its own: Ctrl-C is for us, who then hang up.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env=environment,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            self._log.close()
            message = f"{name} cannot be started with {command[0]!r}: {error}"
            raise PeerError(message) from error
        finally:
            theirs.close()
        self._socket = ours
        self._stream = ours.makefile("rw", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up and wait for the process."""
        with contextlib.suppress(OSError):
            self._stream.close()
        self._socket.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:  # it is still thinking
            self._process.kill()
            self._process.wait()
        self._log.close()

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def ask(self, cases: Sequence[Case], rolls: int, *, cubeful: bool = False) -> list[Answer]:
        """The plays of some rolls.

        Args:
            cases: Boards and rolls.
            rolls: How many rolls to look ahead.
            cubeful: Whether to choose for money with the cube in the middle, not cubeless.

        Raises:
            PeerError: No answer came, or it says that something went wrong.
        """
        request = {
            "rolls": rolls,
            "cubeful": cubeful,
            "cases": [[list(case.board), *case.dice] for case in cases],
        }
        reply = self._reply(request)
        return [Answer(tuple(board), seconds, used) for board, seconds, used in reply]

    def ask_doubles(
        self, states: Sequence[GameState], rolls: int
    ) -> list[tuple[float, float, float]]:
        """Equities of no double, double and take, double and pass, on the present cube.

        Args:
            states: Positions with their cubes and scores, where the player on roll may double;
                beavers do not count.
            rolls: How many rolls to look ahead.

        Raises:
            PeerError: No answer came, or it says that something went wrong.
        """
        doubles = []
        for state in states:
            owned = state.cube.owner is CubeOwner.ON_ROLL
            away = (0, 0) if state.match is None else state.match.away
            case = [*state.position.points, state.cube.value, owned, *away, state.jacoby]
            doubles.append(case)
        reply = self._reply({"rolls": rolls, "doubles": doubles})
        return [(no_double, take, drop) for no_double, take, drop in reply]

    def _reply(self, request: dict[str, Any]) -> list[Any]:
        try:
            self._stream.write(json.dumps(request) + "\n")
            self._stream.flush()
            line = self._stream.readline()
        except OSError:
            line = ""
        if not line:
            self._log.seek(0)
            said = self._log.read().decode(errors="replace")[-2000:]
            message = f"{self.name} stopped answering; it said: {said}"
            raise PeerError(message)
        reply = json.loads(line)
        if isinstance(reply, dict):
            message = f"{self.name}: {reply['error']}"
            raise PeerError(message)
        found: list[Any] = reply
        return found
