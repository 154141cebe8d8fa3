"""A server that is killed while people play on it loses nothing that it has answered."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from bench.game_crash import crash_run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the servers are forked")


async def test_killed_servers_lose_nothing(tmp_path: Path) -> None:
    report = await crash_run(kills=4, clients=8, seed=3, folder=tmp_path)
    assert report.faults == []
    assert report.kills == 4
    assert report.acknowledged > 20
    assert report.watched >= report.acknowledged


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_servers_killed_two_hundred_times_lose_nothing(tmp_path: Path) -> None:
    report = await crash_run(kills=200, clients=8, seed=1, folder=tmp_path)
    assert report.faults == []
    assert report.acknowledged > 5_000
