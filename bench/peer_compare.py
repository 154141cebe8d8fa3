"""Compare the engine's backgammon plays with independent public move generators.

The peers are `gnubg-nn` (GNU Backgammon's generator) and `bgsage`, both on PyPI. They are never
dependencies of bgserver: install them in an environment of their own, from the repository:

    python3.11 -m venv peer-env
    peer-env/bin/pip install -e . gnubg-nn bgsage
    peer-env/bin/python -m bench.peer_compare                    # a million decisions, each peer
    peer-env/bin/python -m bench.peer_compare --peer bgsage --decisions 100000 --seed 7

Compared are the sets of resulting boards; the positions are those of `bench.oracle_compare`.
Differences are printed with the board and roll. The exit code is 1 if there is any.

One rule differs. A play that bears off the last checker is complete here even if a longer play
exists; GNU Backgammon goes on until it has used as many numbers as possible. So results that end
the game are left out of a comparison with `gnubg-nn` if they differ, and counted as excused.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable

from bench.comparing import CHUNK, Tally, default_workers, run
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Dice, Position
from tests import naive, positions

Board = tuple[int, ...]
Generator = Callable[[Board, tuple[int, int]], set[Board]]


def bgsage_results(board: Board, dice: tuple[int, int]) -> set[Board]:
    """The results of `bgsage`, whose vector has the opposing bar as a positive number."""
    bgsage = importlib.import_module("bgsage")
    found = bgsage.possible_moves([-board[0], *board[1:]], *dice)
    return {(-result[0], *result[1:]) for result in found} or {board}


def gnubg_results(board: Board, dice: tuple[int, int]) -> set[Board]:
    """The results of `gnubg-nn`, which counts each side's checkers from its own ace point."""
    gnubg = importlib.import_module("gnubg_nn")
    own = [max(board[point], 0) for point in range(1, 26)]
    opposing = [max(-board[25 - point], 0) for point in range(1, 26)]
    found = (gnubg.boardfromkey(key) for key in gnubg.moves([opposing, own], *dice))
    return {_joined(own, opposing) for opposing, own in found} or {board}


def _joined(own: tuple[int, ...], opposing: tuple[int, ...]) -> Board:
    upwards = (0, *own)
    downwards = (*reversed(opposing), 0)
    return tuple(mine - theirs for mine, theirs in zip(upwards, downwards, strict=True))


PEERS: dict[str, Generator] = {"gnubg-nn": gnubg_results, "bgsage": bgsage_results}


def compare_chunk(against: str, variant: str, seed: int) -> Tally:
    """Compare the decisions of one seed with a peer."""
    tally = Tally()
    for case in positions.cases(variant, seed, CHUNK):
        plays = legal_plays(Position(case.board), Dice(*case.dice))
        found = {play.result.points for play in plays}
        expected = PEERS[against](case.board, case.dice)
        tally.cases += 1
        tally.results += len(found)
        if found == expected and len(found) == len(plays):
            continue
        won = {result for result in found | expected if naive.own_in_play(result) == 0}
        if against == "gnubg-nn" and found - won == expected - won and expected & won <= found:
            tally.excused += 1
            continue
        tally.differences.append(
            f"{case} against {against}: only here {sorted(found - expected)}, "
            f"only there {sorted(expected - found)}, {len(plays)} plays"
        )
    return tally


def main() -> int:
    """Run the comparison as told on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--decisions", type=int, default=1_000_000, help="for each peer")
    parser.add_argument("--peer", choices=[*PEERS, "all"], default="all")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--workers", type=int, default=default_workers())
    options = parser.parse_args()
    peers = PEERS if options.peer == "all" else (options.peer,)
    tallies = [
        run(
            compare_chunk,
            peer,
            naive.BACKGAMMON,
            options.decisions,
            options.seed,
            options.workers,
        )
        for peer in peers
    ]
    return 1 if any(tally.differences for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
