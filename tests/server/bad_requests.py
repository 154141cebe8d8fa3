"""Bad requests to all services, and what clients are told about each."""

from __future__ import annotations

from tests.server import bad_engine_requests, bad_rules_requests, bad_simulation_requests

__all__ = ["CASES"]

CASES = [
    *bad_rules_requests.CASES,
    *bad_engine_requests.CASES,
    *bad_simulation_requests.CASES,
]
