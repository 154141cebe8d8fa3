"""Every status that a server can send becomes the right error, with all its details."""

from __future__ import annotations

from concurrent import futures
from typing import TYPE_CHECKING

import bgserver_client
import grpc
import pytest
from bgserver_client import AsyncClient, Client, ResourceExhaustedError, RpcError, errors
from bgserver_client.v1 import rules_pb2, rules_pb2_grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import (  # type: ignore[import-untyped]  # generated, no stubs
    code_pb2,
    error_details_pb2,
    status_pb2,
)
from grpc_status import rpc_status

from tests.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.message import Message

_ONE_AND_A_HALF_SECONDS = duration_pb2.Duration(seconds=1, nanos=500_000_000)
_CODES = [code for code in grpc.StatusCode if code is not grpc.StatusCode.OK]


class _Refusing(rules_pb2_grpc.RulesServiceServicer):
    """Refuses every play with the status that its notation names, with or without details."""

    def ApplyPlay(  # noqa: N802 -- gRPC's name
        self, request: rules_pb2.ApplyPlayRequest, context: grpc.ServicerContext
    ) -> rules_pb2.ApplyPlayResponse:
        if not request.first_turn:
            context.abort(grpc.StatusCode[request.notation], "no")
        details: list[Message] = [
            error_details_pb2.ErrorInfo(reason="WHY", domain="bgserver"),
            error_details_pb2.BadRequest(
                field_violations=[
                    error_details_pb2.BadRequest.FieldViolation(
                        field="a", reason="A", description="x"
                    ),
                    error_details_pb2.BadRequest.FieldViolation(description="y"),
                ]
            ),
            error_details_pb2.RetryInfo(
                retry_delay=duration_pb2.Duration(seconds=1, nanos=5 * 10**8)
            ),
            error_details_pb2.Help(),
        ]
        status = status_pb2.Status(code=code_pb2.Code.Value(request.notation), message="no")
        for detail in details:
            packed = any_pb2.Any()
            packed.Pack(detail)
            status.details.append(packed)
        context.abort_with_status(rpc_status.to_status(status))
        raise AssertionError

    # The generated base class is abstract; nobody calls these.
    ListPlays = InspectPosition = ConvertPosition = ListPresets = DescribeRules = ApplyPlay  # type: ignore[assignment]  # one for all


@pytest.fixture(scope="module")
def refusing_address() -> Iterator[str]:
    server = grpc.server(futures.ThreadPoolExecutor(2))
    rules_pb2_grpc.add_RulesServiceServicer_to_server(_Refusing(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None)


@pytest.mark.parametrize("code", _CODES, ids=lambda code: code.name)
def test_each_code_has_its_class(refusing_address: str, code: grpc.StatusCode) -> None:
    with Client(refusing_address) as client, pytest.raises(RpcError) as caught:
        client.apply_play("start", code.name)
    error = caught.value
    assert error.code is code
    assert error.message == "no"
    assert (error.reason, error.violations, error.retry_after_s) == ("", (), None)
    name = "".join(word.capitalize() for word in code.name.split("_"))
    named = getattr(errors, f"{name}Error", RpcError)
    assert type(error) is named


def test_details_are_unpacked(refusing_address: str) -> None:
    with Client(refusing_address) as client, pytest.raises(ResourceExhaustedError) as caught:
        client.apply_play("start", "RESOURCE_EXHAUSTED", first_turn=True)
    _check_details(caught.value)


async def test_details_are_unpacked_with_asyncio(refusing_address: str) -> None:
    async with AsyncClient(refusing_address) as client:
        with pytest.raises(ResourceExhaustedError) as caught:
            await client.apply_play("start", "RESOURCE_EXHAUSTED", first_turn=True)
    _check_details(caught.value)


def _check_details(error: RpcError) -> None:
    assert error.reason == "WHY"
    assert error.retry_after_s == 1.5
    assert [(v.field, v.reason, v.description) for v in error.violations] == [
        ("a", "A", "x"),
        ("", "", "y"),
    ]
    assert str(error) == "RESOURCE_EXHAUSTED: a: x; y"


def test_all_classes_are_public() -> None:
    classes = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, RpcError)
    }
    assert classes <= set(bgserver_client.__all__)


def test_a_full_server_says_when_to_come_back() -> None:
    with (
        serving("--max-simulations", "1") as address,
        Client(address) as client,
        client.simulate(1_000_000, second="random") as running,
    ):
        next(running)
        with pytest.raises(ResourceExhaustedError) as caught:
            list(client.simulate(1))
        assert caught.value.retry_after_s is not None
        assert caught.value.retry_after_s > 0
