"""How soon the workers are free after a client has cancelled its rollout.

Usage: `python -m bench.rollout_cancel [--repeats 20] [--threads 2]`; prints a table. A server in
this process is asked over loopback for rollouts that would take for ever; each is cancelled at some
moment of its work, or so early that it has hardly begun. Measured is from the cancellation by the
client until no job runs or waits in the server's pool: wall time, and the processor time that all
threads together used meanwhile, which other work on the machine does not lengthen.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from dataclasses import dataclass

import grpc
import numpy as np

from bgserver.server.app import BgServer
from bgserver.server.config import ServerConfig
from bgserver.v1 import common_pb2, engine_pb2_grpc, rollout_pb2

_ENDLESS = 10_000_000
_START = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"
_AT_MOST_S = 0.1  # what a client may expect
_BEGUN_S = 0.03
_MIDDLE_S = (0.05, 0.25)
_LOOK_EVERY_S = 0.0005


@dataclass(frozen=True)
class _Case:
    """A kind of rollout."""

    title: str
    request: rollout_pb2.RolloutRequest
    at_once: int = 1
    early: bool = False
    """Cancelled while it begins."""


def _rollout(
    kind: rollout_pb2.RolloutKind.ValueType,
    level: common_pb2.Level.ValueType = common_pb2.LEVEL_STATIC,
    *,
    truncate_plies: int | None = None,
) -> rollout_pb2.RolloutRequest:
    request = rollout_pb2.RolloutRequest(
        position=common_pb2.PositionSource(xgid=_START),
        kind=kind,
        trials=_ENDLESS,
        levels=rollout_pb2.RolloutLevels(checker=level, cube=level),
        truncate_plies=truncate_plies,
    )
    if kind == rollout_pb2.ROLLOUT_KIND_PLAYS:
        request.dice.first, request.dice.second = 3, 1
        request.max_plays = 16
    return request


_POSITION = rollout_pb2.ROLLOUT_KIND_POSITION
_PLAYS = rollout_pb2.ROLLOUT_KIND_PLAYS
_CUBE = rollout_pb2.ROLLOUT_KIND_CUBE
_CASES = (
    _Case("a position, static", _rollout(_POSITION)),
    _Case("16 plays, static", _rollout(_PLAYS)),
    _Case("cube actions, static", _rollout(_CUBE)),
    _Case("a position, lookahead_1", _rollout(_POSITION, common_pb2.LEVEL_LOOKAHEAD_1)),
    _Case("16 plays, lookahead_2", _rollout(_PLAYS, common_pb2.LEVEL_LOOKAHEAD_2)),
    _Case("a position, lookahead_3", _rollout(_POSITION, common_pb2.LEVEL_LOOKAHEAD_3)),
    _Case("16 plays, truncated after 7", _rollout(_PLAYS, truncate_plies=7)),
    _Case("8 rollouts at once, static", _rollout(_POSITION), at_once=8),
    _Case(
        "16 plays, lookahead_2, begun",
        _rollout(_PLAYS, common_pb2.LEVEL_LOOKAHEAD_2),
        early=True,
    ),
)


async def _progress(
    call: grpc.aio.UnaryStreamCall[rollout_pb2.RolloutRequest, rollout_pb2.RolloutResponse],
) -> None:
    """Read what a rollout tells until it is cancelled."""
    try:
        async for _ in call:
            pass
    except (grpc.aio.AioRpcError, asyncio.CancelledError):
        return


async def _cancel_once(
    server: BgServer,
    stub: engine_pb2_grpc.EngineServiceAsyncStub,
    case: _Case,
    rng: random.Random,
) -> tuple[float, float]:
    """Seconds, and seconds of processor time, from the cancellation until the pool is idle."""
    calls = [stub.Rollout(case.request) for _ in range(case.at_once)]
    readers = [asyncio.create_task(_progress(call)) for call in calls]
    await asyncio.sleep(rng.uniform(0.0, _BEGUN_S) if case.early else rng.uniform(*_MIDDLE_S))
    began, used = time.monotonic(), time.process_time()
    for call in calls:
        call.cancel()
    await asyncio.gather(*readers)
    await server.pool.wait_idle()
    while server.gate.pending:  # a rollout that had hardly begun may not have been in the pool yet
        await asyncio.sleep(_LOOK_EVERY_S)
        await server.pool.wait_idle()
    return time.monotonic() - began, time.process_time() - used


async def _measure(repeats: int, threads: int) -> None:
    server = BgServer(
        ServerConfig(
            port=0, threads=threads, log_level="error", max_rollouts=64, max_rollouts_per_client=64
        )
    )
    await server.listen()
    await server.warm_up()
    rng = random.Random(1)
    print(f"{threads} threads, {repeats} cancellations each, in milliseconds")
    over = f"over {1000 * _AT_MOST_S:.0f}"
    print(f"{'rollout':32} median    p95    max {over:>10}   processor: median    max")
    try:
        async with grpc.aio.insecure_channel(server.address) as channel:
            stub: engine_pb2_grpc.EngineServiceAsyncStub
            stub = engine_pb2_grpc.EngineServiceStub(channel)
            for case in _CASES:
                found = [await _cancel_once(server, stub, case, rng) for _ in range(repeats)]
                wall, used = 1000 * np.array(found).T
                late = int((wall > 1000 * _AT_MOST_S).sum())
                median, p95 = np.percentile(wall, [50, 95])
                print(
                    f"{case.title:32} {median:6.1f} {p95:6.1f} {wall.max():6.1f} {late:10}"
                    f" {np.median(used):19.1f} {used.max():6.1f}",
                    flush=True,
                )
    finally:
        await server.stop()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    asyncio.run(_measure(arguments.repeats, arguments.threads))


if __name__ == "__main__":
    main()
