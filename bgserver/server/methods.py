"""The methods of the API as data: what a transport needs to know to serve or call them.

A servicer is a plain class. Its attribute `service` names the service as in the proto files; its
methods are named like the RPCs, in snake case, and take (request, CallContext):

- unary: a function that answers at once (it runs on the event loop, so it must be done within
  about 0.2 ms), or a coroutine;
- server streaming: an asynchronous generator;
- both ways streaming: an asynchronous generator whose request is an asynchronous iterator.

Streams that wait most of the time are named in an attribute `idle_streams`.

An answer may be a message or its serialised form.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from google.protobuf import message_factory
from google.protobuf.message import DecodeError, Message

from bgserver.engine.errors import Fault, InvalidInputError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

__all__ = [
    "BoundMethod",
    "Reply",
    "Servicer",
    "bind",
    "parse",
    "parse_stream",
]

Reply: TypeAlias = "Message | bytes"
"""An answer, or its serialised form."""


class Servicer(Protocol):
    """A class that serves one service; see the module."""

    service: ServiceDescriptor
    """Which service."""


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """One RPC with the function that serves it."""

    name: str
    """Full name, `/package.Service/Method`."""
    request: type[Message]
    """Class of the request."""
    response: type[Message]
    """Class of the answer."""
    handler: Callable[..., object]
    """The servicer's method."""
    client_streaming: bool
    """The caller sends many requests."""
    server_streaming: bool
    """The caller gets many answers."""
    on_loop: bool
    """The handler is a plain function that answers at once."""
    idle: bool = False
    """A stream that waits most of the time; `Servicer.idle_streams` names them."""


def bind(servicers: Iterable[Servicer]) -> dict[str, BoundMethod]:
    """All methods of the servicers, by full name.

    Raises:
        TypeError: A servicer lacks a method of its service, or has it in a wrong shape.
    """
    bound: dict[str, BoundMethod] = {}
    for servicer in servicers:
        for descriptor in servicer.service.methods:
            method = _bind_one(servicer, descriptor)
            bound[method.name] = method
    return bound


def _bind_one(servicer: Servicer, descriptor: MethodDescriptor) -> BoundMethod:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", descriptor.name).lower()
    handler = getattr(servicer, snake, None)
    name = f"/{servicer.service.full_name}/{descriptor.name}"
    if handler is None:
        message = f"{type(servicer).__name__} has no method {snake} for {name}"
        raise TypeError(message)
    if descriptor.server_streaming != inspect.isasyncgenfunction(handler):
        message = f"{snake} must be an asynchronous generator exactly if {name} streams"
        raise TypeError(message)
    return BoundMethod(
        name=name,
        request=message_factory.GetMessageClass(descriptor.input_type),
        response=message_factory.GetMessageClass(descriptor.output_type),
        handler=handler,
        client_streaming=descriptor.client_streaming,
        server_streaming=descriptor.server_streaming,
        on_loop=not descriptor.server_streaming and not inspect.iscoroutinefunction(handler),
        idle=snake in getattr(servicer, "idle_streams", ()),
    )


def parse(method: BoundMethod, data: bytes) -> Message:
    """The request in `data`.

    Raises:
        InvalidInputError: The bytes are no such message.
    """
    try:
        return method.request.FromString(data)
    except DecodeError as error:
        message = f"the request is no valid {method.request.DESCRIPTOR.full_name}"
        raise InvalidInputError([Fault("", "MALFORMED_MESSAGE", message)]) from error


async def parse_stream(method: BoundMethod, data: AsyncIterator[bytes]) -> AsyncIterator[Message]:
    """The requests of a stream."""
    async for item in data:
        yield parse(method, item)
