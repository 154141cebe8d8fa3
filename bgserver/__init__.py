"""bgserver: a backgammon and Long Nardy engine as a gRPC service."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
