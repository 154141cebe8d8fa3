"""Configuration of the server: arguments, environment (`BGSERVER_...`), defaults."""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003 -- pydantic reads the annotations at run time
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bgserver.server.foreign import SCHEDULER_EXPECTED, address_fault, is_scheduler

__all__ = ["ServerConfig"]


def _cpus() -> int:
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)


def _scheduler(address: str) -> str:
    if not is_scheduler(address):
        raise PydanticCustomError(_NOT_AN_ADDRESS, SCHEDULER_EXPECTED)
    return address


def _remote_engine(address: str) -> str:
    if address != "*" and address_fault(address):
        raise PydanticCustomError(_NOT_AN_ADDRESS, "expected HOST:PORT, or * for any server")
    return address


_NOT_AN_ADDRESS = "not_an_address"


class ServerConfig(BaseSettings):
    """Everything that can be set; a field `x` is also read from the variable `BGSERVER_X`."""

    model_config = SettingsConfigDict(env_prefix="BGSERVER_", frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    """Address to listen on; only this machine reaches the default."""
    port: int = Field(default=50051, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    threads: int = Field(default_factory=_cpus, ge=1, le=256)
    """Worker threads that compute."""
    max_message_bytes: int = Field(default=4 * 1024 * 1024, ge=1024)
    """Largest request that is accepted."""
    max_concurrent_streams: int = Field(default=12_000, ge=1)
    """Most calls of one connection at once."""
    max_pending_requests: int = Field(default=1000, ge=1)
    """Most calls in work and waiting, over all connections."""
    max_batch_positions: int = Field(default=65_536, ge=1)
    """Most positions in one EvaluateBatchRequest."""
    max_simulations: int = Field(default=16, ge=1)
    """Most simulations at once."""
    max_simulation_games: int = Field(default=10_000_000, ge=1)
    """Most games (or matches) of one simulation."""
    remote_engines: tuple[Annotated[str, AfterValidator(_remote_engine)], ...] = ()
    """Other servers, `host:port`, that may play in simulations; `*` allows any, and so lets callers
    make this server talk to any address that it can reach. None by default."""
    max_batches: int = Field(default=16, ge=1)
    """Most AnalyzeBatch streams at once."""
    data: str = ":memory:"
    """File in which games are kept; `:memory:` keeps them until the server ends. (The command
    `bgserver serve` has a file in the user's data folder as its default.)"""
    max_games: int = Field(default=100_000, ge=1)
    """Most games that are not over."""
    max_engine_games: int = Field(default=16, ge=1)
    """Most games at once that are played by engine players only."""
    max_engine_games_per_client: int = Field(default=8, ge=1)
    """Most games at once that one client has made and that are played by engine players only: of
    one token, or without tokens of one address. Who made a game is known until the server ends."""
    max_games_in_memory: int = Field(default=1_000, ge=1)
    """Most games that are kept in memory while nobody uses them."""
    max_watchers: int = Field(default=10_000, ge=1)
    """Most Watch streams at once, over all connections."""
    keep_finished_days: float | None = Field(default=None, ge=0)
    """Delete games that have been over for so long; by default never."""
    keep_idle_days: float | None = Field(default=None, ge=0)
    """Delete games that are not over and in which nothing has happened for so long; by default
    never."""
    max_rollouts: int = Field(default=16, ge=1)
    """Most rollouts at once."""
    max_rollouts_per_client: int = Field(default=8, ge=1)
    """Most rollouts of one client at once: of one token, or without tokens of one address."""
    max_rollout_trials: int = Field(default=10_000_000, ge=1, le=100_000_000)
    """Most trials of one candidate of a rollout."""
    max_rollout_plays: int = Field(default=32, ge=1, le=64)
    """Most plays of one rollout."""
    auth_tokens: tuple[SecretStr, ...] = ()
    """Accepted bearer tokens (in the environment a JSON list). With none here and in the file
    nobody has to authenticate; health and reflection never ask."""
    auth_token_file: Path | None = None
    """A file with one accepted bearer token a line."""
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Port on which Prometheus may read the metrics, on the same host; none by default."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Least level that is logged; every call is logged on debug."""
    log_format: Literal["text", "json"] = "text"
    """For people or for machines."""
    shutdown_grace_s: float = Field(default=5.0, ge=0)
    """How long calls in work may take when the server stops."""
    cluster: Annotated[str, AfterValidator(_scheduler)] | None = None
    """Scheduler of a Dask cluster (`tcp://host:port`) that does batches and rollouts; everything
    else is done by this process."""
    weights: Path | None = None
    """A weights file or folder to use instead of the built-in one."""
    match_equity_table: Path | None = None
    """A match equity table (XML) to use instead of the built-in one."""

    def tokens(self) -> frozenset[str]:
        """All accepted tokens, from both places.

        Raises:
            OSError: The token file cannot be read.
        """
        found = {token.get_secret_value() for token in self.auth_tokens}
        if self.auth_token_file is not None:
            found.update(self.auth_token_file.read_text(encoding="utf-8").split())
        return frozenset(token for token in found if token)
