"""What commands make of an address, and of whoever answers there."""

from __future__ import annotations

from concurrent import futures
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf.any_pb2 import Any
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]  # generated
from grpc_status import rpc_status

from bgserver.cli.methods import method_for
from bgserver.cli.problems import error_line
from bgserver.cli.transport import GrpcTransport
from bgserver.server.errors import StatusError
from bgserver.v1 import engine_pb2
from tests.cli.conftest import CommandLine

if TYPE_CHECKING:
    from collections.abc import Iterator

_EVIL = "\x1b[2J\x1b]0;title\x07a\x9b31m\r\nb\x7f\u202e"


@contextmanager
def _rude(status: status_pb2.Status) -> Iterator[str]:
    """The address of a server that answers GetInfo with this status."""

    def refuse(_: bytes, context: grpc.ServicerContext) -> bytes:
        context.abort_with_status(rpc_status.to_status(status))
        raise AssertionError

    handlers = {"GetInfo": grpc.unary_unary_rpc_method_handler(refuse)}
    service = grpc.method_handlers_generic_handler("bgserver.v1.EngineService", handlers)
    with futures.ThreadPoolExecutor(1) as pool:
        server = grpc.server(pool)
        server.add_generic_rpc_handlers((service,))
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        yield f"127.0.0.1:{port}"
        server.stop(None).wait()


def test_what_a_server_says_moves_no_cursor() -> None:
    info, fault = Any(), Any()
    info.Pack(error_details_pb2.ErrorInfo(reason=_EVIL))
    violation = error_details_pb2.BadRequest.FieldViolation(
        field=_EVIL, reason=_EVIL, description=_EVIL
    )
    fault.Pack(error_details_pb2.BadRequest(field_violations=[violation]))
    refusal = status_pb2.Status(code=3, message=_EVIL, details=[info, fault])
    request = engine_pb2.GetInfoRequest()
    with (
        _rude(refusal) as address,
        closing(GrpcTransport(address)) as transport,
        pytest.raises(StatusError) as caught,
    ):
        transport.unary(method_for(request), request)
    shown = "a  b"
    assert error_line(caught.value.status) == {
        "code": "INVALID_ARGUMENT",
        "reason": shown,
        "message": shown,
        "violations": [{"field": shown, "reason": shown, "description": shown}],
        "retryAfterS": None,
    }


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("127.0.0.1:117338", "expected a port from 1 to 65535, got '127.0.0.1:117338'"),
        ("127.0.0.1:0", "expected a port from 1 to 65535"),
        ("127.0.0.1:-1", "expected host:port"),
        ("localhost", "a server has port 50051 by default: localhost:50051"),
        ("[::1]", "a server has port 50051 by default: [::1]:50051"),
        ("localhost:", "a server has port 50051 by default: localhost:50051"),
        ("unix:/tmp/socket", "expected host:port"),
        ("", "expected host:port"),
        ("\x1b[31mhost:1", "expected host:port"),
    ],
)
def test_an_address_has_a_port_that_exists(address: str, words: str) -> None:
    answer = CommandLine([])("plays", "start", "31", "--address", address)
    assert answer.code == 2
    assert answer.err.startswith("error: --address: ")
    assert words in answer.err
    assert "\x1b" not in answer.err
