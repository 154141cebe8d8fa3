"""Rollouts by GNU Backgammon.

The program shows the results of a rollout only to a terminal, so it runs under one of its own.
"""

from __future__ import annotations

import os
import pty
import re
import resource
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.peers.client import PeerError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PeerRollout", "RolloutCase", "roll_out_by_gnubg"]

_NUMBER = r"([+-]?\d+\.\d+)"
_FIVE = rf"{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}\s+-\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}"
_RESULT = re.compile(
    rf"Printing final results.*?\n\s*{_FIVE}\s+CL\s+{_NUMBER}(?:\s+CF\s+{_NUMBER})?"
    rf".*?\[\s*{_FIVE}\s+CL\s+{_NUMBER}(?:\s+CF\s+{_NUMBER})?",
    re.DOTALL,
)
_BEGIN = """\
set confirm new off
set automatic game off
set automatic roll off
set automatic move off
set automatic doubles 0
set jacoby off
set beavers 0
set output matchpc off
set output mwc off
set output rawboard off
set output digits 4
set player 0 human
set player 1 human
set threads 1
set rollout trials {trials}
set rollout seed {seed}
set rollout cubeful {cubeful}
set rollout varredn on
set rollout quasirandom on
set rollout initial off
set rollout truncation enable off
set rollout bearofftruncation exact on
set rollout bearofftruncation onesided on
set rollout limit enable off
set rollout jsd stop off
set rollout late enable off
set rollout chequerplay plies 0
set rollout cubedecision plies 0
"""


@dataclass(frozen=True)
class RolloutCase:
    """A position before the roll."""

    gnubg_id: str
    """Position ID, a colon, Match ID."""
    seed: int | None = None
    """Seed of its dice; None: that of the call."""


@dataclass(frozen=True)
class PeerRollout:
    """What GNU Backgammon says of a position."""

    means: tuple[float, ...]
    """Five chances, as everywhere; the cubeless and the cubeful equity (or the cubeless again)."""
    errors: tuple[float, ...]
    """Their standard errors."""


def roll_out_by_gnubg(
    program: str, cases: Sequence[RolloutCase], trials: int, *, cubeful: bool, seed: int = 1
) -> tuple[list[PeerRollout], float]:
    """Roll out positions, static play, to the end, with variance reduction, on one thread.

    Args:
        program: The program `gnubg`.
        cases: The positions.
        trials: Games of each.
        cubeful: With cube and score.
        seed: Seed of the dice.

    Returns:
        The results, and the seconds of processor time that the program used.

    Raises:
        PeerError: The program could not be started, or did not answer.
    """
    commands = _BEGIN.format(trials=trials, seed=seed, cubeful="on" if cubeful else "off")
    for case in cases:
        if case.seed is not None:
            commands += f"set rollout seed {case.seed}\n"
        commands += f"set gnubgid {case.gnubg_id}\nrollout\n"
    commands += "quit\ny\n"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    text = _on_a_terminal(program, commands)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    found = [_read(match) for match in _RESULT.finditer(text)]
    if len(found) != len(cases):
        message = f"{program} gave {len(found)} results for {len(cases)} positions"
        raise PeerError(message)
    return found, seconds


def _on_a_terminal(program: str, commands: str) -> str:
    """What the program writes to its terminal; commands come from its standard input."""
    ours, theirs = pty.openpty()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "TERM": "dumb", "LC_ALL": "C", "COLUMNS": "200"}
        try:
            process = subprocess.Popen(
                [program, "-t", "-q", "-r"],
                stdin=subprocess.PIPE,
                stdout=theirs,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        except OSError as error:
            message = f"cannot start {program}: {error}"
            raise PeerError(message) from error
        finally:
            os.close(theirs)
        assert process.stdin is not None
        process.stdin.write(commands.encode())
        process.stdin.close()
        pieces: list[bytes] = []
        while True:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # how a terminal tells that nobody writes to it any more
                break
            if not piece:
                break
            pieces.append(piece)
        os.close(ours)
        process.wait()
    return b"".join(pieces).decode(errors="replace").replace("\r", "")


def _read(match: re.Match[str]) -> PeerRollout:
    numbers = [None if text is None else float(text) for text in match.groups()]
    return PeerRollout(_figures(numbers[:8]), _figures(numbers[8:]))


def _figures(numbers: Sequence[float | None]) -> tuple[float, ...]:
    """Win, gammon, backgammon, (lose), lose gammon, lose backgammon, cubeless, cubeful."""
    win, gammon, backgammon, _, lose_gammon, lose_backgammon, cubeless, cubeful = numbers
    figures = (win, gammon, backgammon, lose_gammon, lose_backgammon, cubeless)
    wanted = [number for number in figures if number is not None]
    return (*wanted, wanted[-1] if cubeful is None else cubeful)
