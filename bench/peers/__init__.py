"""Other engines as processes that are asked for plays: GNU Backgammon and Open Sage.

Neither is ever a dependency. GNU Backgammon is the program itself (Debian: `apt install gnubg`)
with its own weights; Open Sage is `bgsage` of PyPI in an environment of its own:

    python3.11 -m venv peer-env && peer-env/bin/pip install bgsage

A level is the number of rolls looked ahead, as ours are. GNU Backgammon counts plies from 0 (0, 1,
2-ply), Open Sage from 1 (1, 2, 3-ply).
"""

from bench.peers.client import (
    NAMES,
    Answer,
    Case,
    Peer,
    PeerError,
    PeerPrograms,
    add_program_arguments,
    level_name,
    programs_of,
)

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
