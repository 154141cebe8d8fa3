"""The server as a process, and signals."""

from __future__ import annotations

import signal
import subprocess
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from bgserver.v1 import simulation_pb2, simulation_pb2_grpc
from tests.serving import BGSERVER

if TYPE_CHECKING:
    from collections.abc import Iterator

_PATIENCE_S = 240  # the very first start compiles everything


@contextmanager
def _process(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server process and its address; killed in the end if it still runs."""
    process = subprocess.Popen(
        [*BGSERVER, "serve", "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(_PATIENCE_S, process.kill)
    watchdog.start()
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().split()[-1]
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_streams_and_the_process(number: signal.Signals) -> None:
    with _process() as (process, address), grpc.insecure_channel(address) as channel:
        stream = simulation_pb2_grpc.SimulationServiceStub(channel).Simulate(
            simulation_pb2.SimulateRequest(count=1_000_000)
        )
        for _ in stream:
            break
        process.send_signal(number)
        with pytest.raises(grpc.RpcError) as caught:
            list(stream)
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
        assert process.wait(_PATIENCE_S) == 0


def test_a_second_signal_does_not_wait() -> None:
    with _process() as (process, address), grpc.insecure_channel(address) as channel:
        # A stream of the health service, which nothing ends but the grace of some seconds.
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        process.send_signal(signal.SIGTERM)
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        process.send_signal(signal.SIGTERM)
        assert process.wait(_PATIENCE_S) == 128 + signal.SIGTERM
        watch.cancel()
