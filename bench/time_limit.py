"""How deep a time limit gets, and how late the answer comes.

Usage: `python -m bench.time_limit [--positions 60] [--milliseconds 5 20 100 500]`; prints a table.
A server in a process of its own is asked to rank the plays of positions from the engine's games
against itself, one at a time, by a client over loopback. Late is what the client measures beyond
the limit: the last piece of work, the answer and the way there and back. Cores that others use
make it later.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter

import grpc
import numpy as np

from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.player import Player
from bgserver.engine.position import Dice, GameState, Position, Variant
from bgserver.engine.work import run
from bgserver.v1 import common_pb2, engine_pb2, engine_pb2_grpc
from tests.serving import serving

_LEVELS = (
    common_pb2.LEVEL_STATIC,
    common_pb2.LEVEL_LOOKAHEAD_1,
    common_pb2.LEVEL_LOOKAHEAD_2,
    common_pb2.LEVEL_LOOKAHEAD_3,
)


def _questions(count: int, seed: int) -> list[engine_pb2.RankPlaysRequest]:
    """Positions with rolls from games of the static player against itself."""
    engine, rng = Engine.load(), random.Random(seed)
    player = Player(engine, Level.STATIC)
    questions: list[engine_pb2.RankPlaysRequest] = []
    position = Position.start(Variant.BACKGAMMON)
    while len(questions) < count:
        dice = Dice(rng.randint(1, 6), rng.randint(1, 6))
        if rng.random() < 0.2:
            source = common_pb2.PositionSource(position=common_pb2.Position(points=position.points))
            roll = common_pb2.Dice(first=dice.high, second=dice.low)
            questions.append(engine_pb2.RankPlaysRequest(position=source, dice=roll))
        play, value = run(player.choose(GameState(position=position), dice, first_turn=False))
        position = Position.start(Variant.BACKGAMMON) if value else play.result.turned()
    return questions


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=60)
    parser.add_argument("--milliseconds", type=int, nargs="+", default=[5, 20, 100, 500])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    questions = _questions(options.positions, options.seed)
    print(f"{len(questions)} positions; share of the answers by level, then milliseconds")
    print("limit  static  look-1  look-2  look-3 | used: median   p95 | late: median   p95    max")
    with serving() as address, grpc.insecure_channel(address) as channel:
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        for question in questions[:10]:
            stub.RankPlays(question)
        for milliseconds in options.milliseconds:
            used, levels = [], Counter[common_pb2.Level.ValueType]()
            for question in questions:
                question.limit.milliseconds = milliseconds
                start = time.perf_counter()
                answer = stub.RankPlays(question)
                used.append(1000 * (time.perf_counter() - start))
                levels[answer.plays[0].level] += 1
            shares = "".join(f"{levels[level] / len(questions):8.0%}" for level in _LEVELS)
            median, p95 = np.percentile(used, [50, 95])
            # Where the search ended by itself nothing is late.
            late = np.maximum(np.array(used) - milliseconds, 0.0)
            late_median, late_p95 = (
                np.percentile(late[late > 0], [50, 95]) if late.any() else (0, 0)
            )
            print(
                f"{milliseconds:5}{shares} | {median:12.1f} {p95:5.0f} |"
                f" {late_median:12.1f} {late_p95:5.1f} {late.max():6.1f}"
            )


if __name__ == "__main__":
    main()
