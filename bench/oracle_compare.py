"""Compare the engine's plays with the plain-Python oracle on a million random positions.

Run from the repository, with the development extras installed:

    python -m bench.oracle_compare                       # a million positions of each game
    python -m bench.oracle_compare --variant long_nardy --positions 100000 --seed 7

The positions come from random games and from constructions (`tests/positions.py`). Compared are
the sets of resulting boards, that no result is given twice, and that the steps of each play are
legal in their order and lead to the result. Differences are printed as they are found, with the
board and roll. The exit code is 1 if there is any.
"""

from __future__ import annotations

import argparse
import sys

from bench.comparing import CHUNK, Tally, default_workers, run
from tests import naive, positions
from tests.rules.compare import difference


def compare_chunk(against: str, variant: str, seed: int) -> Tally:
    """Compare the cases of one seed; `against` is only a name here."""
    tally = Tally()
    for case in positions.cases(variant, seed, CHUNK):
        found = difference(case)
        if found is not None:
            tally.differences.append(f"{case} against {against}: {found}")
        tally.cases += 1
        tally.results += len(
            naive.legal_results(case.board, case.dice, variant, first_turn=case.first_turn)
        )
    return tally


def main() -> int:
    """Run the comparison as told on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--positions", type=int, default=1_000_000, help="of each game")
    parser.add_argument("--variant", choices=[*naive.VARIANTS, "both"], default="both")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=default_workers())
    options = parser.parse_args()
    variants = naive.VARIANTS if options.variant == "both" else (options.variant,)
    tallies = [
        run(compare_chunk, "oracle", variant, options.positions, options.seed, options.workers)
        for variant in variants
    ]
    return 1 if any(tally.differences for tally in tallies) else 0


if __name__ == "__main__":
    sys.exit(main())
