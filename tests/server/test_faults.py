"""What clients are told about bad requests: code, reason and every fault with its field."""

from __future__ import annotations

import re

import grpc
import pytest

from bgserver.engine.errors import EngineError
from bgserver.server.errors import CATALOGUE, AuthenticationError
from bgserver.v1 import common_pb2, rules_pb2, simulation_pb2
from tests.server.bad_case import ENDS, INVALID, Case, apply, state, steps_of
from tests.server.bad_requests import CASES
from tests.server.requests import board, call, failing, list_plays, roll


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_bad_requests(channel: grpc.aio.Channel, case: Case) -> None:
    data = case.request.SerializeToString()
    async with failing() as failure:
        if isinstance(case.request, simulation_pb2.SimulateRequest):
            path = "/bgserver.v1.SimulationService/Simulate"
            await channel.unary_stream(path, bytes, bytes)(data).read()
        else:
            await call(channel, case.method, data)
    assert (failure.code, failure.reason, failure.domain) == (case.code, case.reason, "bgserver")
    assert failure.faults == case.faults
    for field, _ in case.faults:
        assert field in failure.message


async def test_ambiguous_notation_names_the_results(channel: grpc.aio.Channel) -> None:
    # 24/16 passes over 20 or 21 ... with 5-3: 13/5 may hit on 8 or on 10.
    points = [0, 0, 0, 0, 0, 0, 5, 0, -1, 0, -1, 0, 0, 5, 0, 0, 0, 0, -5, -5, 0, 0, 0, 0, 2, 0]
    request = rules_pb2.ApplyPlayRequest(position=board(points), dice=roll(5, 3), notation="13/5")
    async with failing() as failure:
        await call(channel, "Rules/ApplyPlay", request.SerializeToString())
    assert failure.code == INVALID
    assert failure.reason == "AMBIGUOUS_PLAY"
    assert len(failure.faults) == 2


async def test_bytes_that_are_no_message(channel: grpc.aio.Channel) -> None:
    async with failing() as failure:
        await call(channel, "Rules/ListPlays", b"\xff\xff\xff\xff")
    assert failure.code == INVALID
    assert failure.faults == [("", "MALFORMED_MESSAGE")]


async def test_the_message_names_values_that_exist(channel: grpc.aio.Channel) -> None:
    source = state(resignation=9)
    request = rules_pb2.ConvertPositionRequest(position=source)
    async with failing() as failure:
        await call(channel, "Rules/ConvertPosition", request.SerializeToString())
    named = re.findall(r"RESIGNATION_\w+", failure.message)
    assert set(named) == set(common_pb2.Resignation.keys())


async def test_an_unknown_method(channel: grpc.aio.Channel) -> None:
    async with failing() as failure:
        await call(channel, "Rules/Cheat", b"")
    assert failure.code == grpc.StatusCode.UNIMPLEMENTED


async def test_hundreds_of_faults_still_arrive(channel: grpc.aio.Channel) -> None:
    rules = rules_pb2.Rules(match_lengths=[99] * 64, turn_seconds=[0] * 64)
    request = simulation_pb2.SimulateRequest(preset="joypip", count=1, rules=rules)
    async with failing() as failure:
        path = "/bgserver.v1.SimulationService/Simulate"
        await channel.unary_stream(path, bytes, bytes)(request.SerializeToString()).read()
    assert failure.code == INVALID
    assert failure.faults[0] == ("rules.match_lengths", "OUT_OF_RANGE")
    assert failure.faults[-1] == ("", "MORE_FAULTS")


async def test_a_million_steps_are_not_looked_at_one_by_one(channel: grpc.aio.Channel) -> None:
    steps = steps_of(*[(99, 99)] * 500_000)
    request = apply(None, 3, 1, steps=steps).SerializeToString()
    async with failing() as failure:
        await call(channel, "Rules/ApplyPlay", request)
    assert failure.code == INVALID
    places = [f"steps.steps[{number}].{name}" for number in range(4) for name in ENDS]
    assert failure.faults[0] == ("steps.steps", "TOO_MANY_STEPS")
    assert failure.faults[1:] == [(place, "OUT_OF_RANGE") for place in places]


async def test_the_server_answers_after_all_that(channel: grpc.aio.Channel) -> None:
    data = await call(channel, "Rules/ListPlays", list_plays().SerializeToString())
    assert len(rules_pb2.ListPlaysResponse.FromString(data).plays) == 16


def _classes(root: type[EngineError]) -> set[type[EngineError]]:
    return {root}.union(*map(_classes, root.__subclasses__()))


def test_every_engine_error_is_in_the_catalogue() -> None:
    # Errors of the command line never arise in the server.
    kinds = {
        kind for kind in _classes(EngineError) if not kind.__module__.startswith("bgserver.cli")
    }
    assert kinds == CATALOGUE.keys()
    assert AuthenticationError in CATALOGUE
