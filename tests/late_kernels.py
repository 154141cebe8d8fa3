"""Asks a fresh process all kinds of questions and prints the kernels that were compiled for them.

Run as `python -m tests.late_kernels`; what the warm-up knows is compiled, or loaded, before.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from google.protobuf import json_format

from bgserver.server.config import ServerConfig
from bgserver.server.local import LocalTransport

if TYPE_CHECKING:
    from collections.abc import Iterator

_START = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:{rule}:{length}:10"
_MONEY = {"xgid": _START.format(rule=0, length=0)}
_BEAVERS = {"xgid": _START.format(rule=3, length=0)}
_MATCH = {"xgid": _START.format(rule=0, length=5)}
_ENDING = {"position": {"points": [0] * 5 + [-1, -1] + [0] * 12 + [1, 1] + [0] * 5}}
_BEAR_OFF = {"xgid": "XGID=-BA--------------------bb-:0:0:1:00:0:0:3:0:10"}
_NARDY = {"position": {"points": [0] * 12 + [-15] + [0] * 11 + [15, 0], "variant": 2}}
_ROLL = {"first": 4, "second": 1}
_LOOKAHEAD_1 = "LEVEL_LOOKAHEAD_1"


def _judging() -> Iterator[tuple[str, dict[str, Any]]]:
    shallow: tuple[dict[str, Any], ...] = (
        {},
        {"limit": {"level": _LOOKAHEAD_1}},
        {"limit": {"level": "LEVEL_LOOKAHEAD_2"}},
        {"limit": {"milliseconds": 5}},
    )
    deep: tuple[dict[str, Any], ...] = (
        {"limit": {"level": "LEVEL_LOOKAHEAD_3"}},
        {"limit": {"preset": "rollout_fast"}},
    )
    asked: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (position, limit) for limit in shallow for position in (_MONEY, _MATCH, _NARDY)
    ]
    asked += [(_ENDING, limit) for limit in deep] + [(_BEAR_OFF, {})]
    for position, limit in asked:
        yield "EngineService/Evaluate", {"position": position, **limit}
        for cubeless in (False, True):
            fields = {"position": position, "dice": _ROLL, "cubeless": cubeless, **limit}
            yield "EngineService/RankPlays", fields
        if position is not _NARDY:
            yield "EngineService/AdviseCube", {"position": position, "marketLosers": True, **limit}
            yield "EngineService/AdviseCubeByScore", {"position": position, "away": 2, **limit}
    for owner in ("BEAVERER", "RACCOONER"):
        raccoon = {"raccoons": True, "raccoonOwner": f"RACCOON_OWNER_{owner}"}
        yield "EngineService/AdviseCube", {"position": _BEAVERS, **raccoon}


def _playing() -> Iterator[tuple[str, dict[str, Any]]]:
    players: tuple[dict[str, Any], ...] = (
        {"numericStrength": 100},
        {"numericStrength": 40},
        {"level": _LOOKAHEAD_1, "numericStrength": 40},
    )
    for player in players:
        for position in (_BEAVERS, _MATCH, _NARDY):
            fields = {"position": position, "player": player}
            yield "EngineService/ChoosePlay", {**fields, "dice": _ROLL}
            if position is not _NARDY:
                yield "EngineService/ChooseCubeAction", fields
    for preset in ("money", "tournament", "long_nardy"):
        for player in ({}, {"level": "LEVEL_RANDOM"}, {"numericStrength": 40}):
            order = {"preset": preset, "count": 2, "second": player}
            yield "SimulationService/Simulate", order
            yield "SimulationService/Simulate", {**order, "judge": "LEVEL_STATIC"}


def _rolling_out() -> Iterator[tuple[str, dict[str, Any]]]:
    for checker, cube in (
        ("LEVEL_STATIC", "LEVEL_STATIC"),
        (_LOOKAHEAD_1, "LEVEL_STATIC"),
        (_LOOKAHEAD_1, _LOOKAHEAD_1),
    ):
        for position in (_BEAVERS, _MATCH, _NARDY):
            for more in (
                {},
                {"cubeful": False},
                {"truncateLevel": _LOOKAHEAD_1},
                {"stopAtBearoff": True},
                {"reduceVariance": False},
            ):
                yield (
                    "EngineService/Rollout",
                    {
                        "position": position,
                        "trials": 1,
                        "levels": {"checker": checker, "cube": cube},
                        "truncatePlies": 3,
                        **more,
                    },
                )
    yield "EngineService/Rollout", {"position": _MONEY, "kind": "ROLLOUT_KIND_CUBE", "trials": 1}
    plays = {"kind": "ROLLOUT_KIND_PLAYS", "dice": _ROLL, "maxPlays": 2}
    yield "EngineService/Rollout", {"position": _MONEY, "trials": 1, **plays}


def _compiled() -> dict[str, int]:
    """For each kernel how many kinds of arguments it is compiled for."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("bgserver.kernels"):
            for value in vars(module).values():
                function = getattr(value, "py_func", None)
                if function is not None:
                    found[f"{function.__module__}.{function.__name__}"] = len(value.signatures)
    return found


def main() -> None:
    """Ask, and print `kernel (question)` a line."""
    with LocalTransport(ServerConfig(log_level="error")) as engine:
        info = engine.methods["/bgserver.v1.EngineService/GetInfo"]
        engine.unary(info.name, info.request())
        before = _compiled()
        for name, fields in (*_judging(), *_playing(), *_rolling_out()):
            method = engine.methods[f"/bgserver.v1.{name}"]
            request = json_format.ParseDict(fields, method.request())
            if method.server_streaming:
                for _ in engine.stream(method.name, request):
                    pass
            else:
                engine.unary(method.name, request)
            after = _compiled()
            for kernel, count in after.items():
                if count != before.get(kernel):
                    sys.stdout.write(f"{kernel} ({name} {fields})\n")
            before = after


if __name__ == "__main__":
    main()
