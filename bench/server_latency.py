"""Speed and size of the server, as clients in other processes see them.

Usage: `python bench/server_latency.py [--cold] [--seconds 4]`; prints a table. `--cold` also times
the very first start, which compiles everything in an empty cache folder. The echo is an empty
method on the same server behind the same gate, so the ratio is what a method itself costs.
Run it on an idle machine: the server's workers, its event loop and the clients share the cores.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, empty_pb2

from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.position import Position, Variant
from bgserver.engine.work import run
from bgserver.server.app import serve
from bgserver.server.config import ServerConfig
from bgserver.v1 import (
    common_pb2,
    engine_pb2,
    engine_pb2_grpc,
    rollout_pb2,
    rules_pb2,
    rules_pb2_grpc,
    simulation_pb2,
    simulation_pb2_grpc,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from bgserver.server.context import CallContext

_ECHO = "/bgserver.bench.EchoService/Echo"
_CLIENTS = 8
_BATCH = 4_096
_BLOCK = 200  # calls of one kind in a row; the kinds alternate, so that noise hits both


# --- the server under test -----------------------------------------------------------------------


class EchoServicer:
    """An empty method."""

    def __init__(self) -> None:
        file = descriptor_pb2.FileDescriptorProto(
            name="bgserver/bench/echo.proto",
            package="bgserver.bench",
            dependency=["google/protobuf/empty.proto"],
        )
        service = file.service.add(name="EchoService")
        empty = ".google.protobuf.Empty"
        service.method.add(name="Echo", input_type=empty, output_type=empty)
        pool = descriptor_pool.Default()
        pool.AddSerializedFile(file.SerializeToString())
        self.service = pool.FindServiceByName("bgserver.bench.EchoService")

    def echo(self, request: empty_pb2.Empty, context: CallContext) -> empty_pb2.Empty:
        """Answer with nothing."""
        del context
        return request


def _serve(threads: int) -> None:
    start = time.perf_counter()
    imported = time.clock_gettime(time.CLOCK_BOOTTIME) - _process_start()

    def ready(address: str) -> None:
        seconds = imported + time.perf_counter() - start
        print(json.dumps({"address": address, "start_s": seconds}), flush=True)

    serve(
        ServerConfig(port=0, threads=threads, log_level="error"),
        on_ready=ready,
        extra=lambda: [EchoServicer()],
    )


def _process_start() -> float:
    """When this process began, on the clock that starts with the machine."""
    ticks = int(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def _server(threads: int, cache: str | None = None) -> Iterator[dict[str, Any]]:
    """A running server: its address, process id and seconds from start to serving."""
    environment = os.environ | ({"BGSERVER_CACHE_DIR": cache} if cache else {})
    process = subprocess.Popen(
        [sys.executable, __file__, "--role", "server", "--threads", str(threads)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    try:
        yield {**json.loads(process.stdout.readline()), "pid": process.pid}
    finally:
        process.terminate()
        process.communicate()


def _resident_mb(pid: int, field: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    message = f"no {field} of process {pid}"
    raise LookupError(message)


# --- clients, each in a process of its own ------------------------------------------------------


def _start() -> common_pb2.PositionSource:
    return common_pb2.PositionSource(position=common_pb2.Position(points=Position.start().points))


def _list_plays_request() -> rules_pb2.ListPlaysRequest:
    return rules_pb2.ListPlaysRequest(position=_start(), dice=common_pb2.Dice(first=3, second=1))


def _calls(channel: grpc.Channel) -> dict[str, Callable[[], object]]:
    plays = rules_pb2_grpc.RulesServiceStub(channel).ListPlays
    request = _list_plays_request()
    echo = channel.unary_unary(_ECHO, empty_pb2.Empty.SerializeToString, empty_pb2.Empty.FromString)
    evaluate = engine_pb2_grpc.EngineServiceStub(channel)
    question = engine_pb2.EvaluateRequest(position=_start())
    rank = engine_pb2.RankPlaysRequest(position=_start(), dice=request.dice)
    return {
        "echo": lambda: echo(empty_pb2.Empty()),
        "plays": lambda: plays(request),
        "evaluate": lambda: evaluate.Evaluate(question),
        "rank": lambda: evaluate.RankPlays(rank),
    }


def _latencies(address: str, seconds: float, names: list[str]) -> dict[str, list[float]]:
    """Times of calls made one after the other over one connection."""
    times: dict[str, list[float]] = {name: [] for name in names}
    with grpc.insecure_channel(address) as channel:
        calls = _calls(channel)
        for name in names:
            calls[name]()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for name in names:
                call = calls[name]
                for _ in range(_BLOCK):
                    before = time.perf_counter()
                    call()
                    times[name].append(time.perf_counter() - before)
    return times


async def _rates(address: str, seconds: float) -> dict[str, float]:
    """Calls a second that 8 clients get together, for each kind of call."""

    async def client(kind: str, end: float) -> int:
        async with grpc.aio.insecure_channel(
            address, options=[("grpc.use_local_subchannel_pool", 1)]
        ) as channel:
            done = 0
            echo = channel.unary_unary(
                _ECHO, empty_pb2.Empty.SerializeToString, empty_pb2.Empty.FromString
            )
            plays = rules_pb2_grpc.RulesServiceStub(channel).ListPlays
            request = _list_plays_request()
            while time.perf_counter() < end:
                await (echo(empty_pb2.Empty()) if kind == "echo" else plays(request))
                done += 1
            return done

    counts = {"echo": 0, "plays": 0}
    rounds = 4
    for _ in range(rounds):
        for kind in counts:
            end = time.perf_counter() + seconds / rounds
            counts[kind] += sum(await asyncio.gather(*(client(kind, end) for _ in range(_CLIENTS))))
    return {kind: count / seconds for kind, count in counts.items()}


async def _simulate(address: str) -> None:
    """Two endless simulations; says so when both run."""

    async def one(stub: simulation_pb2_grpc.SimulationServiceAsyncStub, running: Any) -> None:
        request = simulation_pb2.SimulateRequest(count=10_000_000)
        async for _ in stub.Simulate(request):
            if not running.done():
                running.set_result(None)

    async with grpc.aio.insecure_channel(address) as channel:
        stub = simulation_pb2_grpc.SimulationServiceStub(channel)
        loop = asyncio.get_running_loop()
        both = [loop.create_future(), loop.create_future()]
        tasks = [asyncio.create_task(one(stub, running)) for running in both]
        await asyncio.gather(*both)
        print("running", flush=True)
        await asyncio.gather(*tasks)


async def _roll_out(address: str) -> None:
    """A rollout of a million trials; says so when it runs."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub = engine_pb2_grpc.EngineServiceStub(channel)
        position = common_pb2.Position(points=Position.start().points)
        request = rollout_pb2.RolloutRequest(
            position=common_pb2.PositionSource(position=position), trials=1_000_000
        )
        running = False
        async for _ in stub.Rollout(request):
            if not running:
                running = True
                print("running", flush=True)


def _boards() -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    """Middle-game boards: the start with a few checkers moved at random."""
    generator = np.random.default_rng(1)
    rows = np.tile(np.array(Position.start().points, dtype=np.int8), (_BATCH, 1))
    for row in rows:
        for _ in range(4):
            source = generator.choice(np.flatnonzero(row[1:25] > 0) + 1)
            target = generator.integers(max(1, source - 6), source + 1)
            if row[target] >= 0:
                row[source] -= 1
                row[target] += 1
    return rows


async def _batch_rate(address: str, seconds: float) -> float:
    """Positions a second through one EvaluateBatch stream."""
    request = engine_pb2.EvaluateBatchRequest(points=_boards().tobytes())
    end = time.perf_counter() + seconds

    async def requests() -> AsyncIterator[engine_pb2.EvaluateBatchRequest]:
        while time.perf_counter() < end:
            yield request

    done = 0
    async with grpc.aio.insecure_channel(address) as channel:
        start = time.perf_counter()
        async for reply in engine_pb2_grpc.EngineServiceStub(channel).EvaluateBatch(requests()):
            done += len(reply.probabilities) // 20
    return done / (time.perf_counter() - start)


def _in_process_rate(seconds: float) -> float:
    """Positions a second of the engine on one thread of this process."""
    engine = Engine.load()
    boards = _boards()
    run(engine.evaluate_batch(boards, Variant.BACKGAMMON, Level.STATIC))
    start = time.perf_counter()
    done = 0
    while time.perf_counter() - start < seconds:
        run(engine.evaluate_batch(boards, Variant.BACKGAMMON, Level.STATIC))
        done += len(boards)
    return done / (time.perf_counter() - start)


# --- the report ----------------------------------------------------------------------------------


def _client(role: str, address: str, seconds: float) -> Any:
    """Run a client in a process of its own and return what it found."""
    command = [sys.executable, __file__, "--role", role, "--address", address]
    done = subprocess.run(
        [*command, "--seconds", str(seconds)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def _percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))] * 1e3


def _report(seconds: float, *, cold: bool) -> None:
    print(
        f"machine: {platform.processor() or platform.machine()}, {os.cpu_count()} cores, ", end=""
    )
    print(f"Python {platform.python_version()}, grpcio {grpc.__version__}")
    print(f"date: {time.strftime('%Y-%m-%d')}; command: python {' '.join(sys.argv)}\n")
    print(f"{'what':46} {'value':>12} {'reference':>12} {'ratio':>7}   wanted")

    def line(what: str, value: str, reference: str = "", ratio: str = "", wanted: str = "") -> None:
        print(f"{what:46} {value:>12} {reference:>12} {ratio:>7}   {wanted}", flush=True)

    if cold:
        with (
            tempfile.TemporaryDirectory() as cache,
            _server(2, cache) as server,
        ):
            line("first start, everything compiled", f"{server['start_s']:.1f} s", wanted="< 120 s")
    with _server(2) as server:
        address, pid = server["address"], server["pid"]
        line("warm start to serving", f"{server['start_s']:.2f} s", wanted="< 5 s")
        times = _client("latency", address, 2 * seconds)
        medians = {name: statistics.median(values) * 1e3 for name, values in times.items()}
        echo = f"{medians['echo']:.3f} ms"
        for name, wanted in (("plays", "<= 1.5"), ("evaluate", ""), ("rank", "")):
            ratio = f"{medians[name] / medians['echo']:.2f}"
            what = {"plays": "ListPlays 3-1", "evaluate": "Evaluate", "rank": "RankPlays"}[name]
            line(f"{what} / echo, median", f"{medians[name]:.3f} ms", echo, ratio, wanted)
        rates = _client("rates", address, 2 * seconds)
        line(
            f"ListPlays / echo, {_CLIENTS} clients",
            f"{rates['plays']:.0f}/s",
            f"{rates['echo']:.0f}/s",
            f"{rates['plays'] / rates['echo']:.2f}",
            ">= 0.70",
        )
        single = _client("in-process", address, seconds)
        batch = _client("batch", address, seconds)
        with _server(1) as lone:
            one = _client("batch", lone["address"], seconds)
        for what, value in (("1 worker", one), ("2 workers", batch)):
            line(
                f"EvaluateBatch, {what} / in-process, 1 thread",
                f"{value / 1e3:.0f} k/s",
                f"{single / 1e3:.0f} k/s",
                f"{value / single:.2f}",
                ">= 0.70" if what == "1 worker" else "",
            )
        for role, load in (("simulate", "2 simulations"), ("rollout", "a million trials")):
            busy = _under_load(role, address, seconds)
            line(f"ListPlays with {load}, median", f"{_percentile(busy, 0.5):.2f} ms")
            line(
                f"ListPlays with {load}, p99",
                f"{_percentile(busy, 0.99):.2f} ms",
                wanted="< 15 ms",
            )
        line("resident memory", f"{_resident_mb(pid, 'VmRSS'):.0f} MB", wanted="< 600 MB")
        line("peak of resident memory", f"{_resident_mb(pid, 'VmHWM'):.0f} MB")


def _under_load(role: str, address: str, seconds: float) -> list[float]:
    """Latencies of `ListPlays` while another process keeps the server busy."""
    load = subprocess.Popen(
        [sys.executable, __file__, "--role", role, "--address", address],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert load.stdout is not None
    load.stdout.readline()
    latencies: list[float] = _client("busy", address, 2 * seconds)["plays"]
    load.terminate()
    load.communicate()
    return latencies


def main() -> None:
    """Run the part that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--address", default="")
    parser.add_argument("--role", default="report")
    arguments = parser.parse_args()
    address, seconds = arguments.address, arguments.seconds
    if arguments.role == "server":
        _serve(arguments.threads)
    elif arguments.role == "latency":
        print(json.dumps(_latencies(address, seconds, ["echo", "plays", "evaluate", "rank"])))
    elif arguments.role == "busy":
        print(json.dumps(_latencies(address, seconds, ["plays"])))
    elif arguments.role == "rates":
        print(json.dumps(asyncio.run(_rates(address, seconds))))
    elif arguments.role == "batch":
        print(json.dumps(asyncio.run(_batch_rate(address, seconds))))
    elif arguments.role == "in-process":
        print(json.dumps(_in_process_rate(seconds)))
    elif arguments.role == "simulate":
        asyncio.run(_simulate(address))
    elif arguments.role == "rollout":
        asyncio.run(_roll_out(address))
    else:
        _report(seconds, cold=arguments.cold)


if __name__ == "__main__":
    main()
