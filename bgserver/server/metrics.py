"""Metrics for Prometheus: calls by method and outcome, their times, and what is in work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

if TYPE_CHECKING:
    from collections.abc import Iterable
    from threading import Thread
    from wsgiref.simple_server import WSGIServer

__all__ = ["Metrics"]

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

    def listen(self, host: str, port: int) -> tuple[WSGIServer, Thread]:
        """Serve the metrics over HTTP; shut the server down to stop.

        Raises:
            OSError: The port is taken.
        """
        return start_http_server(port, addr=host, registry=self.registry)
