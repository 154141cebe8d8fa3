"""How commands reach an engine: over gRPC, or within this process."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]  # generated, no stubs
from grpc_status import rpc_status

from bgserver.cli.compiling import telling_of_compilation
from bgserver.cli.config import read_config
from bgserver.cli.methods import method_for, request_class, response_class
from bgserver.cli.problems import input_error
from bgserver.cli.progress import busy, steps
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.server.errors import StatusError
from bgserver.server.foreign import address_fault, plain

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from google.protobuf.descriptor import MethodDescriptor
    from google.protobuf.message import Message

    from bgserver.engine.evaluator import Engine
    from bgserver.server.app import Progress
    from bgserver.server.config import ServerConfig
    from bgserver.server.local import LocalTransport

__all__ = ["NAME_SERVER", "GrpcTransport", "Transport", "ask", "connect", "token_faults"]

NAME_SERVER = "which --address names"
"""What goes with an option that is for servers only."""

_Answer = TypeVar("_Answer", bound="Message")
_WITHOUT = "start one with `bgserver serve`, or leave --address away"
_WHERE_GIVEN = "--token or in BGSERVER_TOKEN"


class Transport(Protocol):
    """Sends requests and returns answers; failures are `StatusError`."""

    def unary(self, method: MethodDescriptor, request: Message) -> Message:
        """The answer to one request."""
        ...

    def stream(
        self, method: MethodDescriptor, requests: Iterable[Message]
    ) -> Generator[Message, None, None]:
        """The answers to one request, or to many; closing the generator stops the call."""
        ...


@contextmanager
def connect(
    address: str | None,
    token: str | None = None,
    timeout_s: float | None = None,
    **settings: object,
) -> Iterator[Transport]:
    """The server at `address`, or an engine within this process with these settings.

    Raises:
        InvalidInputError: The address is none, or there is a token and no server that it is for.
    """
    if faults := token_faults(address, token):
        raise InvalidInputError(faults)
    if address is not None:
        with closing(GrpcTransport(address, token=token, timeout_s=timeout_s)) as remote:
            yield remote
        return
    from bgserver.server.local import LocalTransport  # noqa: PLC0415 -- loads Numba

    config = read_config(log_level="error", **settings)
    with telling_of_compilation(), LocalTransport(config, loader=_load_engine) as local:
        yield _InProcess(local, timeout_s)


def token_faults(address: str | None, token: str | None) -> list[Fault]:
    """A token that was typed and goes nowhere; one of the environment is for other commands too."""
    if address is not None or token is None or token == os.environ.get("BGSERVER_TOKEN"):
        return []
    return [Fault("--token", "ONLY_WITH_ADDRESS", f"it is for a server, {NAME_SERVER}")]


def _load_engine(config: ServerConfig, _: Progress) -> Engine:
    """Load the engine under a bar of our own, which ends with the loading."""
    from bgserver.server.app import load_engine  # noqa: PLC0415 -- loads Numba

    with steps() as on_progress:
        return load_engine(config, on_progress)


def ask(transport: Transport, request: Message, answer: type[_Answer]) -> _Answer:
    """The answer to a request of a unary method, which the kind of the request tells."""
    with busy("working"):
        reply = transport.unary(method_for(request), request)
    if not isinstance(reply, answer):
        message = f"expected {answer.__name__}, got {type(reply).__name__}"
        raise TypeError(message)
    return reply


class GrpcTransport:
    """A connection to a running server."""

    def __init__(
        self, address: str, *, token: str | None = None, timeout_s: float | None = None
    ) -> None:
        """A connection that is made with the first call.

        Raises:
            InvalidInputError: The address is none.
        """
        if message := address_fault(address):
            raise input_error(message, field="--address", reason="MALFORMED_ADDRESS")
        self._address = address
        self._channel = grpc.insecure_channel(address)
        self._token = token
        self._metadata = (("authorization", f"Bearer {token}"),) if token else None
        self._timeout_s = timeout_s

    def close(self) -> None:
        """Close the connection; running calls are cancelled."""
        self._channel.close()

    def unary(self, method: MethodDescriptor, request: Message) -> Message:
        """The answer to one request."""
        call = self._channel.unary_unary(
            _path(method),
            request_serializer=request_class(method).SerializeToString,
            response_deserializer=response_class(method).FromString,
        )
        with self._translated():
            answer: Message = call(request, timeout=self._timeout_s, metadata=self._metadata)
            return answer

    def stream(
        self, method: MethodDescriptor, requests: Iterable[Message]
    ) -> Generator[Message, None, None]:
        """The answers to one request, or to many; closing the generator stops the call."""
        serializer = request_class(method).SerializeToString
        deserializer = response_class(method).FromString
        if method.client_streaming:
            many = self._channel.stream_stream(_path(method), serializer, deserializer)
            replies = many(iter(requests), timeout=self._timeout_s, metadata=self._metadata)
        else:
            one = self._channel.unary_stream(_path(method), serializer, deserializer)
            (request,) = requests
            replies = one(request, timeout=self._timeout_s, metadata=self._metadata)
        try:
            with self._translated():
                yield from replies
        finally:
            replies.cancel()  # type: ignore[no-untyped-call]  # an oversight of the stubs

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn errors of gRPC into `StatusError`."""
        try:
            yield
        except grpc.RpcError as error:
            status = _plain(_status(error))
            if status.code == grpc.StatusCode.UNAVAILABLE.value[0] and not status.details:
                status.message = (
                    f"cannot reach a server at {self._address}: {status.message}; {_WITHOUT}"
                )
            elif status.code == grpc.StatusCode.UNAUTHENTICATED.value[0]:
                status.message = self._what_to_do_about_tokens()
            _name_timeout(status, self._timeout_s)
            raise StatusError(status) from None

    def _what_to_do_about_tokens(self) -> str:
        """What to type after the server refused the token, or that there was none."""
        server = f"the server at {self._address}"
        if self._token:
            return f"{server} does not accept this token; give another with {_WHERE_GIVEN}"
        return f"{server} asks for a token; give it with {_WHERE_GIVEN}"


class _InProcess:
    """The engine within this process."""

    def __init__(self, local: LocalTransport, timeout_s: float | None) -> None:
        self._local = local
        self._timeout_s = timeout_s

    def unary(self, method: MethodDescriptor, request: Message) -> Message:
        """The answer to one request."""
        with self._translated():
            return self._local.unary(_path(method), request, self._timeout_s)

    def stream(
        self, method: MethodDescriptor, requests: Iterable[Message]
    ) -> Generator[Message, None, None]:
        """The answers to one request, or to many; closing the generator stops the call."""
        given = requests if method.client_streaming else next(iter(requests))
        with self._translated():
            yield from self._local.stream(_path(method), given, self._timeout_s)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Put errors in the words of the command line."""
        try:
            yield
        except StatusError as error:
            _name_timeout(error.status, self._timeout_s)
            raise StatusError(error.status) from None


def _path(method: MethodDescriptor) -> str:
    return f"/{method.containing_service.full_name}/{method.name}"


def _name_timeout(status: status_pb2.Status, timeout_s: float | None) -> None:
    """Name the option in place of the deadline that it set, if that has passed."""
    if timeout_s is not None and status.code == grpc.StatusCode.DEADLINE_EXCEEDED.value[0]:
        status.message = f"not done within {timeout_s:g} s; a longer --timeout allows more"


def _status(error: grpc.RpcError) -> status_pb2.Status:
    """The full status of a failed call; a plain one if the server sent no details."""
    if not isinstance(error, grpc.Call):
        return status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(error))
    try:
        status = rpc_status.from_call(error)
    except ValueError:
        status = None
    if status is not None:
        return status
    return status_pb2.Status(code=error.code().value[0], message=error.details() or "")


def _plain(status: status_pb2.Status) -> status_pb2.Status:
    """A status whose words can be shown: they are those of whoever answers at the address."""
    found = status_pb2.Status(code=status.code, message=plain(status.message))
    for detail in status.details:
        packed = any_pb2.Any()
        packed.CopyFrom(detail)
        info, bad_request = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        if detail.Is(info.DESCRIPTOR) and detail.Unpack(info):
            info.reason = plain(info.reason)
            packed.Pack(info)
        elif detail.Is(bad_request.DESCRIPTOR) and detail.Unpack(bad_request):
            for violation in bad_request.field_violations:
                violation.field = plain(violation.field)
                violation.reason = plain(violation.reason)
                violation.description = plain(violation.description)
            packed.Pack(bad_request)
        found.details.append(packed)
    return found
