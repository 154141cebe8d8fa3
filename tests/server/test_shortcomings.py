"""A server that lacks something optional: it works, says so once in its log, and in GetInfo."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import grpc
import pytest

from bgserver.engine.bearoff import load_bearoff
from bgserver.engine.evaluator import Engine
from bgserver.engine.position import Variant
from bgserver.server.app import BgServer
from bgserver.server.config import ServerConfig
from bgserver.v1 import engine_pb2, engine_pb2_grpc
from tests.server.requests import board

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from bgserver.engine.bearoff import BearoffDatabase

ENDING = [0, 0, 1, 0, 0, 1, 1, *[0] * 14, -1, 0, 0, -1, 0]


def engine_with(engine: Engine, bearoff: BearoffDatabase) -> Engine:
    """An engine that differs in its bear-off tables only."""
    weights = tuple(engine.core(variant).weights for variant in Variant)
    return Engine(weights, bearoff, engine.met)


@asynccontextmanager
async def started(engine: Engine) -> AsyncIterator[engine_pb2_grpc.EngineServiceAsyncStub]:
    """A server with this engine, ready to be asked."""
    config = ServerConfig(port=0, threads=1, log_level="warning", shutdown_grace_s=2.0)
    server = BgServer(config, loader=lambda *_: engine)
    await server.listen()
    await server.warm_up()
    try:
        async with grpc.aio.insecure_channel(server.address) as channel:
            yield engine_pb2_grpc.EngineServiceStub(channel)
    finally:
        await server.stop()


async def ask(engine: Engine) -> tuple[set[str], engine_pb2.EvaluateResponse]:
    """The tables that GetInfo says are missing, and the judgement of a short bear-off."""
    async with started(engine) as stub:
        info = await stub.GetInfo(engine_pb2.GetInfoRequest())
        judged = await stub.Evaluate(engine_pb2.EvaluateRequest(position=board(ENDING)))
    return {network.name for network in info.networks if not network.loaded}, judged


async def test_nothing_is_said_if_nothing_is_missing(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    missing, _ = await ask(engine)
    assert not missing
    assert capsys.readouterr().err == ""


async def test_without_the_two_sided_table_short_bear_offs_are_less_exact(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    _, exact = await ask(engine)
    missing, judged = await ask(engine_with(engine, load_bearoff(with_two_sided=False)))
    assert missing == {"bearoff_two_sided"}
    assert judged.probabilities.win == pytest.approx(exact.probabilities.win, abs=0.01)
    assert judged.cubeful_equity == pytest.approx(exact.cubeful_equity, abs=0.1)
    logged = capsys.readouterr().err
    assert logged.count("two-sided bear-off table is missing") == 1
    assert logged.count("\n") == 1


async def test_without_a_cache_the_tables_are_as_good(
    engine: Engine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("a file where the folder would have to be")
    monkeypatch.setenv("BGSERVER_CACHE_DIR", str(blocked))
    _, exact = await ask(engine)
    missing, judged = await ask(engine_with(engine, load_bearoff()))
    assert not missing
    assert judged == exact
    logged = capsys.readouterr().err
    assert logged.count("the cache cannot be written") == 1
    assert logged.count("\n") == 1
