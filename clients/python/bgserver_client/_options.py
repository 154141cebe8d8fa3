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
_SCHEMES = ("dns:", "ipv4:", "ipv6:", "unix:", "unix-abstract:", "vsock:", "xds:")
_HOST = r"[^\s:/\[\]]+|\[[0-9a-fA-F:.%]+\]"


def checked(address: str, *, secure: bool = False) -> str:
    """The address of a server, `host:port` or a name of gRPC with a scheme such as `unix:`.

    gRPC itself would take a port modulo 65536, and 443 where there is none.

    Args:
        address: What was given. Names with a scheme of gRPC are left to gRPC.
        secure: For a TLS connection, whose port may be left out: 443.

    Raises:
        ValueError: It is no such address.
    """
    if address.startswith(_SCHEMES):
        return address
    if "://" in address:
        message = f"expected host:port, without http:// or the like, got {address!r}"
        raise ValueError(message)
    match = re.fullmatch(rf"(?:{_HOST})(?::([0-9]+))?", address)
    if match is None or (match[1] is None and not secure):
        message = f"expected host:port, got {address!r}"
        raise ValueError(message)
    if match[1] is not None and not 1 <= int(match[1]) <= _MAX_PORT:
        message = f"expected a port from 1 to {_MAX_PORT}, got {address!r}"
        raise ValueError(message)
    return address


def not_ready(address: str, timeout_s: float) -> DeadlineExceededError:
    """The error for a server that was not ready in time."""
    message = (
        f"{address} was not ready within {timeout_s:g} s: no bgserver runs there, or it is still "
        "compiling"
    )
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
