"""Logging: structured, one line an event, with the request id wherever there is one."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger, Processor

    from bgserver.server.config import ServerConfig

__all__ = ["make_logger"]


def make_logger(config: ServerConfig) -> FilteringBoundLogger:
    """A logger that writes to standard error as the configuration says.

    It is handed down, not installed: a program that embeds the server keeps its own logging.
    """
    renderer: Processor
    if config.log_format == "json":
        renderer = structlog.processors.JSONRenderer()
    else:
        # Plain stacks: the default shows local variables, which may hold what callers sent.
        renderer = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    processors: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if config.log_format == "json":
        processors.append(structlog.processors.format_exc_info)
    level = logging.getLevelNamesMapping()[config.log_level.upper()]
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[*processors, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    return logger
