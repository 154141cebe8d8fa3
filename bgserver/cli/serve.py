"""Commands that run the server and prepare it: serve, warmup."""

# The server and the engine load Numba, which costs more time than the rest of the command line
# together; they are imported when one of these commands runs.
# ruff: noqa: PLC0415 -- loads slowly

from __future__ import annotations

import enum
import sys
import time
from contextlib import ExitStack
from pathlib import Path  # noqa: TC003 -- typer reads the annotations at run time
from typing import Annotated, Any

import typer

from bgserver.cli.config import read_config
from bgserver.cli.data_file import data_folder, writable_data_file
from bgserver.cli.problems import UNAVAILABLE
from bgserver.cli.progress import steps

__all__ = ["register"]

_PANEL = "Server"
_LIMITS = "Limits"
_LOGGING = "Logging and metrics"
_FILES = "Files"
_LOADING = "loading the program"


class LogLevel(enum.Enum):
    """Least level that is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(enum.Enum):
    """For people or for machines."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for command in (serve, warmup):
        app.command(rich_help_panel=_PANEL)(command)


def _option(name: str, text: str, panel: str | None = None, metavar: str | None = None) -> Any:  # noqa: ANN401 -- typer's own type is not public
    return typer.Option(name, help=text, rich_help_panel=panel, metavar=metavar, show_default=False)


def serve(
    host: Annotated[str | None, _option("--host", "Address to listen on [127.0.0.1].")] = None,
    port: Annotated[
        int | None, _option("--port", "Port to listen on; 0 takes a free one [50051].")
    ] = None,
    data: Annotated[
        str | None,
        _option(
            "--data",
            "File in which games are kept; `:memory:` forgets them at the end "
            f"[one for each port in {data_folder()}].",
            _FILES,
            "FILE",
        ),
    ] = None,
    threads: Annotated[
        int | None, _option("--threads", "Threads that compute [one for each processor].")
    ] = None,
    cluster: Annotated[
        str | None,
        _option(
            "--cluster",
            "Dask cluster that does batches and rollouts (extra bgserver[dask]).",
            metavar="tcp://HOST:PORT",
        ),
    ] = None,
    auth_token_file: Annotated[
        Path | None,
        _option(
            "--auth-token-file", "File with one accepted token a line; without tokens all may ask."
        ),
    ] = None,
    max_pending_requests: Annotated[
        int | None,
        _option(
            "--max-pending-requests", "Most calls in work and waiting at once [1000].", _LIMITS
        ),
    ] = None,
    max_concurrent_streams: Annotated[
        int | None,
        _option(
            "--max-concurrent-streams", "Most calls of one connection at once [12000].", _LIMITS
        ),
    ] = None,
    max_message_bytes: Annotated[
        int | None,
        _option("--max-message-bytes", "Largest request that is accepted [4194304].", _LIMITS),
    ] = None,
    max_batch_positions: Annotated[
        int | None,
        _option("--max-batch-positions", "Most positions in one batch [65536].", _LIMITS),
    ] = None,
    max_simulations: Annotated[
        int | None, _option("--max-simulations", "Most simulations at once [16].", _LIMITS)
    ] = None,
    max_simulation_games: Annotated[
        int | None,
        _option("--max-simulation-games", "Most games of one simulation [10000000].", _LIMITS),
    ] = None,
    max_rollouts: Annotated[
        int | None, _option("--max-rollouts", "Most rollouts at once [16].", _LIMITS)
    ] = None,
    max_rollouts_per_client: Annotated[
        int | None,
        _option(
            "--max-rollouts-per-client",
            "Most rollouts of one client, by token or else by address [8].",
            _LIMITS,
        ),
    ] = None,
    max_rollout_trials: Annotated[
        int | None,
        _option(
            "--max-rollout-trials", "Most trials of one candidate of a rollout [10000000].", _LIMITS
        ),
    ] = None,
    max_rollout_plays: Annotated[
        int | None, _option("--max-rollout-plays", "Most plays of one rollout [32].", _LIMITS)
    ] = None,
    max_batches: Annotated[
        int | None, _option("--max-batches", "Most batches of questions at once [16].", _LIMITS)
    ] = None,
    remote_engines: Annotated[
        list[str] | None,
        _option(
            "--remote-engine",
            "Another server that may play in simulations, host:port, or * for any; may be given "
            "more than once [none].",
            _LIMITS,
        ),
    ] = None,
    max_games: Annotated[
        int | None, _option("--max-games", "Most games that are not over [100000].", _LIMITS)
    ] = None,
    max_engine_games: Annotated[
        int | None,
        _option("--max-engine-games", "Most games of engine players only at once [16].", _LIMITS),
    ] = None,
    max_engine_games_per_client: Annotated[
        int | None,
        _option(
            "--max-engine-games-per-client",
            "Most of them that one client makes, by token or else by address [8].",
            _LIMITS,
        ),
    ] = None,
    max_games_in_memory: Annotated[
        int | None,
        _option("--max-games-in-memory", "Most games in memory that nobody uses [1000].", _LIMITS),
    ] = None,
    max_watchers: Annotated[
        int | None, _option("--max-watchers", "Most watchers of games at once [10000].", _LIMITS)
    ] = None,
    keep_finished_days: Annotated[
        float | None,
        _option("--keep-finished-days", "Delete games so long after their end [never].", _LIMITS),
    ] = None,
    keep_idle_days: Annotated[
        float | None,
        _option("--keep-idle-days", "Delete games that nobody goes on with [never].", _LIMITS),
    ] = None,
    metrics_port: Annotated[
        int | None,
        _option("--metrics-port", "Port for Prometheus; by default there is none.", _LOGGING),
    ] = None,
    log_level: Annotated[
        LogLevel | None, _option("--log-level", "Least level that is logged [info].", _LOGGING)
    ] = None,
    log_format: Annotated[
        LogFormat | None, _option("--log-format", "How log lines look [text].", _LOGGING)
    ] = None,
    weights: Annotated[
        Path | None,
        _option("--weights", "Folder with weights to use instead of the built-in ones.", _FILES),
    ] = None,
    match_equity_table: Annotated[
        Path | None,
        _option("--match-equity-table", "Table (XML) instead of the built-in one.", _FILES),
    ] = None,
) -> None:
    """Run the server.

    Each option can also be set by an environment variable, `BGSERVER_` and the option's name
    in upper case. Ctrl-C or SIGTERM stops the server once the calls in work are done.
    """
    config = read_config(
        host=host,
        port=port,
        data=data,
        threads=threads,
        cluster=cluster,
        auth_token_file=auth_token_file,
        max_pending_requests=max_pending_requests,
        max_concurrent_streams=max_concurrent_streams,
        max_message_bytes=max_message_bytes,
        max_batch_positions=max_batch_positions,
        max_simulations=max_simulations,
        max_simulation_games=max_simulation_games,
        max_rollouts=max_rollouts,
        max_rollouts_per_client=max_rollouts_per_client,
        max_rollout_trials=max_rollout_trials,
        max_rollout_plays=max_rollout_plays,
        max_batches=max_batches,
        remote_engines=tuple(remote_engines) if remote_engines else None,
        max_games=max_games,
        max_engine_games=max_engine_games,
        max_engine_games_per_client=max_engine_games_per_client,
        max_games_in_memory=max_games_in_memory,
        max_watchers=max_watchers,
        keep_finished_days=keep_finished_days,
        keep_idle_days=keep_idle_days,
        metrics_port=metrics_port,
        log_level=log_level and log_level.value,
        log_format=log_format and log_format.value,
        weights=weights,
        match_equity_table=match_equity_table,
    )
    if "data" not in config.model_fields_set:
        file, why = writable_data_file(config.port)
        config = config.model_copy(update={"data": file})
        if why:
            sys.stderr.write(f"games are kept until the server ends, as {why}; see --data\n")
    with ExitStack() as progress:
        on_progress = progress.enter_context(steps(always=True))
        on_progress(_LOADING, 0.0)
        from bgserver.server.app import ServerStartError
        from bgserver.server.app import serve as run_server

        def on_ready(address: str) -> None:
            progress.close()
            sys.stdout.write(f"bgserver is ready on {address}\n")
            sys.stdout.flush()

        try:
            run_server(config, on_progress, on_ready=on_ready)
        except ServerStartError as error:
            progress.close()
            sys.stderr.write(f"error: {error}\n")
            raise typer.Exit(UNAVAILABLE) from None


def warmup() -> None:
    """Compile everything and build the tables once, so that the server starts fast."""
    start = time.monotonic()
    with steps(always=True) as on_progress:
        on_progress(_LOADING, 0.0)
        from bgserver.engine.paths import cache_dir, kernel_cache_dir
        from bgserver.server.app import load_engine

        load_engine(read_config(), on_progress)
    seconds = time.monotonic() - start
    sys.stdout.write(f"ready after {seconds:.1f} s\n")
    if kernel_cache_dir is None:
        sys.stdout.write(
            "no cache folder can be written, so every process compiles anew: "
            "set BGSERVER_CACHE_DIR to a writable folder\n"
        )
    else:
        sys.stdout.write(f"cache: {cache_dir()}\n")
