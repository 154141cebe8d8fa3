"""Decisions of the cube judged by both peers, as many as wanted, to measure with.

    python -m bench.cube_decisions --out more.jsonl --count 800 --peer-python peer-env/bin/python
    python -m bench.cube_reference --decisions more.jsonl

The 200 decisions of `bench/reference` are few: two of them make four fifths of what the static
engine loses by its takes. Here positions are those of the engine's own games, some plays at random,
with random cubes and scores; one in six of those where a double is far from right is kept, all
others are. The line format is that of `bench/reference`. An interrupted run goes on where it was;
the same seed gives the same decisions with the same weights.
"""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.progress import track

from bench.cube_formula import positions, with_cube
from bench.peers import NAMES, Peer, add_program_arguments, programs_of
from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.position import CubeOwner
from bgserver.engine.work import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.engine.position import GameState

_NEAR = 0.3
_FAR_KEPT = 6
_APART = 8  # positions of a game that follow each other are much alike: one in eight is looked at
_TOO_GOOD = 1.5


def states(engine: Engine, seed: int) -> Iterator[GameState]:
    """Positions with a cube that may be turned, endless."""
    rng = np.random.default_rng(seed)
    for position in positions(engine, rng):
        if rng.integers(_APART) != 0:
            continue
        state = with_cube(position, rng)
        if state is None or engine.exact_cube(state) is not None:
            continue
        advice, _ = run(engine.advise_cube(state, Level.STATIC))
        if advice.double_take is None or advice.is_dead or advice.no_double.equity > _TOO_GOOD:
            continue
        gain = min(advice.double_take.equity, 1.0) - advice.no_double.equity
        if gain < -_NEAR and rng.integers(_FAR_KEPT) != 0:
            continue
        yield state


def _row(name: str, state: GameState, judged: dict[str, Any]) -> dict[str, Any]:
    board = list(state.position.points)
    board[0] = -board[0]
    away = [0, 0] if state.match is None else list(state.match.away)
    owner = "player" if state.cube.owner is CubeOwner.ON_ROLL else "centered"
    cube = {
        "value": state.cube.value,
        "owner": owner,
        "away": away,
        "crawford": False,
        "jacoby": state.jacoby,
    }
    return {"id": name, "board": board, "cube": cube, **judged}


def main() -> None:
    """Write decisions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the file; added to if it exists")
    parser.add_argument("--count", type=int, default=800, help="decisions in all")
    parser.add_argument("--seed", type=int, default=1, help="seed of games and scores")
    add_program_arguments(parser)
    options = parser.parse_args()
    programs = programs_of(options)
    done = len(options.out.read_text().splitlines()) if options.out.exists() else 0
    with ExitStack() as stack:
        file = stack.enter_context(options.out.open("a", encoding="utf-8"))
        peers = {name: stack.enter_context(Peer(programs, name)) for name in NAMES}
        numbered = zip(range(options.count), states(Engine.load(), options.seed), strict=False)
        for number, state in track(numbered, total=options.count, description="decisions"):
            if number < done:
                continue
            gnubg = [peers["gnubg"].ask_doubles([state], rolls)[0] for rolls in (0, 2)]
            sage = [peers["bgsage"].ask_doubles([state], rolls)[0] for rolls in (0, 2)]
            judged = {
                # In the file the best action's equity stands first.
                **{f"gnubg{rolls}": _best_first(gnubg[rolls // 2]) for rolls in (0, 2)},
                **{f"sage{rolls + 1}": list(sage[rolls // 2]) for rolls in (0, 2)},
            }
            row = _row(f"{options.seed}-{number}", state, judged)
            file.write(json.dumps(row) + "\n")
            file.flush()


def _best_first(values: tuple[float, float, float]) -> list[float]:
    no_double, take, drop = values
    return [max(no_double, min(take, drop)), no_double, take, drop]


if __name__ == "__main__":
    main()
