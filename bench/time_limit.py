"""How deep a time limit gets, and how late the answer comes.

Usage: `python -m bench.time_limit [--positions 60] [--milliseconds 5 20 100 500]`; prints two
tables. The plays of positions from the engine's games against itself are ranked, one position at a
time. The first table is of the engine in this process, on the clock of the processor's time, which
is the same on a busy machine. The second is of a server in a process of its own, as a client over
loopback sees it: late are also the answer, the way there and back, and whatever else runs on the
cores. What a static ranking takes the same way stands above it.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import TYPE_CHECKING

import grpc
import numpy as np

from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.limit import TimeLimit
from bgserver.engine.player import Player
from bgserver.engine.position import Dice, GameState, Position
from bgserver.engine.work import run
from bgserver.v1 import common_pb2, engine_pb2, engine_pb2_grpc
from tests.serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable

_NEW_QUESTION = 0.2  # share of the turns of a game that are asked about


def questions_of_games(engine: Engine, count: int, seed: int) -> list[tuple[Position, Dice]]:
    """Positions with rolls from games of the static player against itself."""
    rng = random.Random(seed)
    player = Player(engine, Level.STATIC)
    questions: list[tuple[Position, Dice]] = []
    position = Position.start()
    while len(questions) < count:
        dice = Dice(rng.randint(1, 6), rng.randint(1, 6))
        if rng.random() < _NEW_QUESTION:
            questions.append((position, dice))
        choice = run(player.choose(GameState(position=position), dice, first_turn=False))
        position = Position.start() if choice.value else choice.play.result.turned()
    return questions


def _measure(
    title: str,
    questions: list[tuple[Position, Dice]],
    limits: list[int],
    ask: Callable[[Position, Dice, int], int],
    clock: Callable[[], float],
) -> None:
    """Print a table; `ask` returns how many rolls were looked ahead."""
    print(
        f"\n{title}\nlimit  static  look-1  look-2  look-3   used: median  late: median  p95  max"
    )
    for milliseconds in limits:
        depths, used = [], []
        for position, dice in questions:
            start = clock()
            depths.append(ask(position, dice, milliseconds))
            used.append(1000 * (clock() - start))
        shares = "".join(
            f"{count / len(questions):8.0%}" for count in np.bincount(depths, minlength=4)
        )
        late = np.array([time_ms - milliseconds for time_ms in used if time_ms > milliseconds])
        text = "none"
        if len(late):
            median, p95 = np.percentile(late, [50, 95])
            text = f"{median:12.1f} {p95:4.1f} {late.max():4.1f}"
        print(f"{milliseconds:5}{shares} {np.median(used):14.1f}  {text}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=60)
    parser.add_argument("--milliseconds", type=int, nargs="+", default=[5, 20, 100, 500])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    engine = Engine.load()
    engine.warm_up()
    questions = questions_of_games(engine, options.positions, options.seed)

    def ask_engine(position: Position, dice: Dice, milliseconds: int) -> int:
        limit = TimeLimit.starting_now(milliseconds, time.thread_time)
        ranked = run(engine.rank(GameState(position=position), dice, limit))
        return engine.levels.index(ranked[0].level)

    title = f"{len(questions)} positions, processor time of the engine in ms"
    _measure(title, questions, options.milliseconds, ask_engine, time.thread_time)

    with serving() as address, grpc.insecure_channel(address) as channel:
        stub = engine_pb2_grpc.EngineServiceStub(channel)

        def ask_server(position: Position, dice: Dice, milliseconds: int | None) -> int:
            limit = None
            if milliseconds is not None:
                limit = common_pb2.Limit(milliseconds=milliseconds)
            request = engine_pb2.RankPlaysRequest(
                position=common_pb2.PositionSource(
                    position=common_pb2.Position(points=position.points)
                ),
                dice=common_pb2.Dice(first=dice.high, second=dice.low),
                limit=limit,
            )
            return stub.RankPlays(request).plays[0].level - common_pb2.LEVEL_STATIC

        static = []
        for position, dice in questions:
            start = time.perf_counter()
            ask_server(position, dice, None)
            static.append(1000 * (time.perf_counter() - start))
        median, p95 = np.percentile(static, [50, 95])
        title = (
            "the same through a server, time on the clock in ms"
            f" (a static ranking: median {median:.1f}, p95 {p95:.1f})"
        )
        _measure(title, questions, options.milliseconds, ask_server, time.perf_counter)


if __name__ == "__main__":
    main()
