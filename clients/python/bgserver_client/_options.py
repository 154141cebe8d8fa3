"""Defaults that both clients share."""

from __future__ import annotations

import re

import grpc

from bgserver_client.errors import DeadlineExceededError

DEFAULT_ADDRESS = "127.0.0.1:50051"
"""Where `bgserver serve` listens unless told otherwise."""
DEFAULT_TIMEOUT_S = 30.0
"""Time limit of a call."""
CHANNEL_OPTIONS = (
    # After a restart of the server people should not have to wait a second or more.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5_000),
)
"""Settings of every connection."""
RETRY_PAUSE_S = 0.1
"""Pause before asking a server again that went away while it was starting."""

_MAX_PORT = 65535


def checked(address: str) -> str:
    """The address of a server; gRPC itself would take a port modulo 65536, and 443 without one.

    Names with a scheme of gRPC, such as `unix:/run/bgserver` or `dns:///host:port`, are not
    looked at.

    Raises:
        ValueError: It is a URL, or no `host:port`.
    """
    if re.match(r"https?://", address):
        message = f"expected host:port, without http:// or the like, got {address!r}"
        raise ValueError(message)
    if re.match(r"[a-z0-9-]+:[^0-9\[\]]", address):
        return address
    port = re.search(r"[^:]:([0-9]+)$", address)
    if port is None or not 1 <= int(port[1]) <= _MAX_PORT:
        message = f"expected host:port with a port from 1 to {_MAX_PORT}, got {address!r}"
        raise ValueError(message)
    return address


def not_ready(timeout_s: float) -> DeadlineExceededError:
    """The error for a server that was not ready in time."""
    message = f"the server was not ready within {timeout_s:g} s"
    return DeadlineExceededError(grpc.StatusCode.DEADLINE_EXCEEDED, message)


def patience_s(
    timeout_s: float | None, default_s: float | None, milliseconds: int | None
) -> float | None:
    """The time limit of a call: its own, or the default after the time that it asks to be used."""
    if timeout_s is not None or default_s is None:
        return timeout_s
    return default_s + (milliseconds or 0) / 1000


def bearer(token: str | None) -> tuple[tuple[str, str], ...] | None:
    """The metadata that carries a token."""
    return (("authorization", f"Bearer {token}"),) if token else None
