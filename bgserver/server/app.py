"""The server as a whole: start, warm up, serve, stop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import os
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_reflection.v1alpha import reflection

from bgserver.engine.cluster import require_dask
from bgserver.engine.dask_worker import EngineSource
from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.strength import BEGINNER
from bgserver.engine.work import run
from bgserver.games.contest import play_unit
from bgserver.games.errors import StorageError
from bgserver.games.setup import new_setup
from bgserver.games.simulation import Contestant, SimulationSpec
from bgserver.games.storage import Storage
from bgserver.server.adapter import GrpcAdapter
from bgserver.server.cluster_link import ClusterLink
from bgserver.server.game_clock import SystemClock
from bgserver.server.game_host import GameHost
from bgserver.server.gate import Gate
from bgserver.server.log import make_logger
from bgserver.server.metrics import Metrics
from bgserver.server.pool import WorkerPool
from bgserver.server.runtime import Condition, Runtime
from bgserver.server.services import bound_methods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from bgserver.server.config import ServerConfig
    from bgserver.server.game_clock import Clock
    from bgserver.server.methods import Servicer

    Progress: TypeAlias = Callable[[str, float], None]
    """Told (what is being done, share that is done 0..1); called on another thread."""
    EngineLoader: TypeAlias = Callable[[ServerConfig, Progress], Engine]
    """Loads the engine and compiles everything."""

__all__ = [
    "BgServer",
    "ServerStartError",
    "load_engine",
    "no_progress",
    "serve",
]

_SWITCH_INTERVAL_S = 0.0005
_CLUSTER_SHARE = 0.99
_WARM_UP_SHARE = 0.95  # of the time to compile; the rest is the simulation's


class ServerStartError(Exception):
    """The server cannot start; the text says why and what to do."""


def load_engine(config: ServerConfig, progress: Progress) -> Engine:
    """Load the engine as configured and compile all kernels.

    Raises:
        DataError: A weights or table file is damaged.
    """
    engine = Engine.load(weights=config.weights, met=config.match_equity_table, progress=progress)
    engine.warm_up(lambda what, done: progress(what, _WARM_UP_SHARE * done) if done < 1 else None)
    progress("simulation", _WARM_UP_SHARE)
    players = (Contestant(strength=BEGINNER), Contestant(Level.RANDOM))
    for preset, match_length in (("classic", None), ("tournament", 5), ("long_nardy", None)):
        setup = new_setup(preset, match_length=match_length)
        run(play_unit(engine, SimulationSpec(setup, 1, 1, players), 0))
    # The compiler leaves more than 100,000 objects that live as long as the process. If the garbage
    # collector had to look at them, every full collection would stop all threads for 0.1 s.
    gc.collect()
    gc.freeze()
    progress("ready", 1.0)
    return engine


def no_progress(what: str, done: float) -> None:
    """Tell nobody."""


class BgServer:
    """One gRPC server. Its methods belong to the event loop that it is made on."""

    def __init__(
        self,
        config: ServerConfig,
        *,
        loader: EngineLoader = load_engine,
        extra: Iterable[Servicer] = (),
        clock: Clock | None = None,
    ) -> None:
        """Prepare a server; nothing listens yet.

        Args:
            config: The configuration.
            loader: How to get the engine.
            extra: Further servicers, for benchmarks and tests.
            clock: The time of games; the system's by default.
        """
        self.config = config
        self.pool = WorkerPool(config.threads, asyncio.get_running_loop())
        self.runtime = Runtime(config, self.pool)
        self.logger = make_logger(config)
        self.port = 0
        """Where the server listens, once it does."""
        self.metrics_port = 0
        """Where the metrics are served, if they are."""
        self._loader = loader
        self._clock = clock or SystemClock()
        self._games: GameHost | None = None
        methods = bound_methods(self.runtime, extra)
        self._metrics = Metrics(methods)
        try:
            tokens = config.tokens()
        except OSError as error:
            self.pool.close()
            message = f"cannot read the token file: {error}"
            raise ServerStartError(message) from error
        self.gate = Gate(self.runtime, self._metrics, self.logger, tokens)
        self._adapter = GrpcAdapter(self.gate)
        self._health = HealthServicer()
        self._services = sorted({name.split("/")[1] for name in methods})
        self._server = grpc.aio.server(options=_options(config))
        self._server.add_generic_rpc_handlers(self._adapter.handlers(methods))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection(
            [*self._services, health.SERVICE_NAME, reflection.SERVICE_NAME], self._server
        )
        self._metrics_server: Any = None

    @property
    def address(self) -> str:
        """Where the server listens, `host:port`."""
        host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
        return f"{host}:{self.port}"

    async def listen(self) -> None:
        """Begin to listen; until `warm_up` is done health says NOT_SERVING.

        Raises:
            ServerStartError: The address is taken or impossible, or the data file cannot be used.
            ClusterError: A cluster is configured, and Dask is not installed.
        """
        if self.config.cluster is not None:
            require_dask()
        await self._set_health(health_pb2.HealthCheckResponse.NOT_SERVING)
        host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
        wanted = f"{host}:{self.config.port}"
        try:
            self.port = self._server.add_insecure_port(wanted)
        except RuntimeError as error:
            reason = _why_not(self.config.host, self.config.port)
            message = f"cannot listen on {wanted}: {reason}"
            raise ServerStartError(message) from error
        # After the port: a second server on it should hear that, and not that the file is in use.
        try:
            storage = await asyncio.to_thread(Storage, self.config.data, self._clock.now)
        except StorageError as error:
            raise ServerStartError(str(error)) from error
        self._games = GameHost(self.runtime, storage, self._clock)
        self.runtime.set_games(self._games)
        self._metrics.watch_games(self._games)
        if self.config.metrics_port is not None:
            try:
                self._metrics_server, _ = self._metrics.listen(
                    self.config.host, self.config.metrics_port
                )
                self.metrics_port = self._metrics_server.server_port
            except OSError as error:
                message = f"cannot serve metrics on port {self.config.metrics_port}: {error}"
                raise ServerStartError(message) from error
        await self._server.start()
        if not _is_loopback(self.config.host) and not self.config.tokens():
            self.logger.warning(
                "anyone who reaches this address may use the server", address=self.address
            )

    async def warm_up(self, progress: Progress = no_progress) -> None:
        """Load and compile the engine on another thread, prepare the cluster, then serve.

        Raises:
            DataError: A weights or table file is damaged.
            ClusterError: The cluster that is configured cannot be used.
        """
        engine = await asyncio.to_thread(self._loader, self.config, progress)
        for shortcoming in engine.shortcomings():
            self.logger.warning(shortcoming)
        if self.config.cluster is not None:
            progress(f"the cluster at {self.config.cluster}", _CLUSTER_SHARE)
            self.runtime.cluster = await asyncio.to_thread(
                ClusterLink,
                self.config.cluster,
                EngineSource.of(engine, self.config.weights, self.config.match_equity_table),
                self.logger,
            )
        # Nothing between these two: from the first call on it must be known which time was lost.
        self.runtime.set_engine(engine)
        await self.runtime.games.start()
        await self._set_health(health_pb2.HealthCheckResponse.SERVING)

    async def stop(self) -> None:
        """Stop: refuse new calls, end streams, let short calls finish."""
        self.runtime.condition = Condition.STOPPING
        await self._set_health(health_pb2.HealthCheckResponse.NOT_SERVING)
        self._adapter.end_streams()
        await self._server.stop(self.config.shutdown_grace_s)
        await asyncio.to_thread(self.pool.close)
        if self.runtime.cluster is not None:
            await asyncio.to_thread(self.runtime.cluster.close)
        if self._metrics_server is not None:  # before the games that it counts
            await asyncio.to_thread(self._metrics_server.shutdown)
            self._metrics_server.server_close()
        if self._games is not None:
            await self._games.close()

    async def _set_health(self, status: health_pb2.HealthCheckResponse.ServingStatus) -> None:
        for service in ("", *self._services):
            await self._health.set(service, status)


def _options(config: ServerConfig) -> list[tuple[str, int]]:
    return [
        # gRPC lets a second server bind the same port silently; half of the calls would go there.
        ("grpc.so_reuseport", 0),
        ("grpc.max_receive_message_length", config.max_message_bytes),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_concurrent_streams", config.max_concurrent_streams),
        # Clients may ping an idle connection every 30 s; dead ones are found after 2 minutes.
        ("grpc.http2.min_ping_interval_without_data_ms", 30_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.keepalive_time_ms", 110_000),
        ("grpc.keepalive_timeout_ms", 20_000),
    ]


def _is_loopback(host: str) -> bool:
    return host in {"localhost", "::1"} or host.startswith("127.")


def serve(
    config: ServerConfig,
    on_progress: Progress = no_progress,
    *,
    on_listening: Callable[[str], None] | None = None,
    on_ready: Callable[[str], None] | None = None,
    loader: EngineLoader = load_engine,
    extra: Callable[[], Iterable[Servicer]] = tuple,
) -> None:
    """Run a server until SIGTERM or SIGINT; a second signal ends the process at once.

    Args:
        config: The configuration.
        on_progress: Told of the warm-up, on another thread.
        on_listening: Told the address as soon as the port is open; calls are still refused then.
        on_ready: Told the address when calls are answered. By default it is printed.
        loader: How to get the engine.
        extra: Makes further servicers.

    Raises:
        ServerStartError: The address is taken, or a file cannot be read.
        DataError: A weights or table file is damaged.
        ClusterError: The cluster that is configured cannot be used.
    """
    # Workers run Python between their kernels; the loop must not wait 5 ms for its turn.
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    asyncio.run(
        _serve(config, on_progress, on_listening, on_ready or _print_address, loader, extra)
    )


def _print_address(address: str) -> None:
    sys.stdout.write(f"bgserver is ready on {address}\n")
    sys.stdout.flush()


def _why_not(host: str, port: int) -> str:
    """Why a port cannot be listened on, which gRPC does not tell."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(address)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            return (error.strerror or str(error)).lower()
    return "is another server running there? --port takes another, 0 a free one"


async def _serve(
    config: ServerConfig,
    on_progress: Progress,
    on_listening: Callable[[str], None] | None,
    on_ready: Callable[[str], None],
    loader: EngineLoader,
    extra: Callable[[], Iterable[Servicer]],
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: int) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows has no such handlers
            loop.add_signal_handler(number, on_signal, number)
    server = BgServer(config, loader=loader, extra=extra())
    stopped = asyncio.create_task(stop.wait())
    try:
        await server.listen()
        if on_listening is not None:
            on_listening(server.address)
        warm_up = asyncio.create_task(server.warm_up(on_progress))
        await asyncio.wait({warm_up, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if warm_up.done():
            warm_up.result()
            on_ready(server.address)
            await stopped
        else:
            # The compiler cannot be interrupted; nothing is lost if the process just ends.
            await server.stop()
            os._exit(0)
    finally:
        stopped.cancel()
        await server.stop()
