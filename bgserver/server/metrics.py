"""Metrics for Prometheus: calls by method and outcome, their times, what is in work, and games."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from bgserver.games.storage_records import Status

if TYPE_CHECKING:
    from collections.abc import Iterable
    from threading import Thread
    from wsgiref.simple_server import WSGIServer

    from bgserver.server.game_host import GameHost

__all__ = ["Metrics"]

_PATIENCE_S = 2.0  # for the thread that reads the file of games
_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60)


class Metrics:
    """The metrics of one server, in a registry of its own."""

    def __init__(self, methods: Iterable[str]) -> None:
        self.registry = CollectorRegistry()
        self._calls = Counter(
            "bgserver_calls", "Calls that have ended.", ("method", "code"), registry=self.registry
        )
        self._seconds = Histogram(
            "bgserver_call_seconds",
            "Duration of unary calls.",
            ("method",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._pending = Gauge(
            "bgserver_pending_calls", "Calls in work and waiting.", registry=self.registry
        )
        self._watchers = Gauge(
            "bgserver_watchers", "Watch streams that are open.", registry=self.registry
        )
        # Looking up a labelled child costs more than counting in it.
        self._ok = {name: self._calls.labels(name, "OK") for name in methods}
        self._durations = {name: self._seconds.labels(name) for name in self._ok}

    def count(self, method: str, code: str, seconds: float | None) -> None:
        """Count one call that has ended; `seconds` is None for streams."""
        if code == "OK" and method in self._ok:
            self._ok[method].inc()
        else:
            self._calls.labels(method, code).inc()
        if seconds is not None and method in self._durations:
            self._durations[method].observe(seconds)

    def watch_pending(self, count: int) -> None:
        """Set the number of calls in work and waiting."""
        self._pending.set(count)

    def watch_watchers(self, count: int) -> None:
        """Set the number of open streams that wait most of the time."""
        self._watchers.set(count)

    def watch_games(self, games: GameHost) -> None:
        """Tell of games; each figure is looked up when somebody reads the metrics."""
        by_status = Gauge(
            "bgserver_games",
            "Games that wait for players, and games that are being played.",
            ("status",),
            registry=self.registry,
        )
        for status in (Status.WAITING, Status.RUNNING):
            by_status.labels(status.name.lower()).set_function(partial(_count, games, status))
        for name, text, read in (
            ("memory", "Games that are held in memory.", lambda: games.in_memory),
            ("engine", "Running games of engine players only.", lambda: games.engine_games.running),
        ):
            Gauge(f"bgserver_{name}_games", text, registry=self.registry).set_function(read)
        Gauge(
            "bgserver_bots_at_work",
            "Engine players that are deciding, or wait for a worker to decide.",
            registry=self.registry,
        ).set_function(lambda: games.bots_at_work)

    def listen(self, host: str, port: int) -> tuple[WSGIServer, Thread]:
        """Serve the metrics over HTTP; shut the server down to stop.

        Raises:
            OSError: The port is taken.
        """
        return start_http_server(port, addr=host, registry=self.registry)


def _count(games: GameHost, status: Status) -> float:
    """How many games there are; not a number while the disk does not answer."""
    try:
        return games.storage.unfinished().result(_PATIENCE_S)[status]
    except TimeoutError:
        return math.nan
