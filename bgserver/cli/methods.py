"""The methods of the API, by name and by the message they take."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from google.protobuf import message_factory

import bgserver.v1
from bgserver.cli.problems import input_error

if TYPE_CHECKING:
    from google.protobuf.descriptor import MethodDescriptor
    from google.protobuf.message import Message

__all__ = ["all_methods", "find_method", "method_for", "request_class", "response_class"]


@cache
def all_methods() -> tuple[MethodDescriptor, ...]:
    """Every method of every service."""
    files = (
        importlib.import_module(f"bgserver.v1.{module.name}").DESCRIPTOR
        for module in pkgutil.iter_modules(bgserver.v1.__path__)
        if module.name.endswith("_pb2")
    )
    return tuple(
        method
        for file in files
        for service in file.services_by_name.values()
        for method in service.methods
    )


def find_method(name: str) -> MethodDescriptor:
    """The method `Service/Method`, with or without the package, `/` or `.` between the two.

    Raises:
        InvalidInputError: There is none.
    """
    wanted = name.strip().lstrip("/").replace("/", ".")
    for method in all_methods():
        if wanted in {method.full_name, f"{method.containing_service.name}.{method.name}"}:
            return method
    known = ", ".join(f"{m.containing_service.name}/{m.name}" for m in all_methods())
    message = f"no method {name!r}; there are {known}"
    raise input_error(message, field="method", reason="UNKNOWN_METHOD")


def method_for(request: Message) -> MethodDescriptor:
    """The method whose request is of this kind; each has a kind of its own."""
    return next(m for m in all_methods() if m.input_type.full_name == request.DESCRIPTOR.full_name)


def request_class(method: MethodDescriptor) -> type[Message]:
    """The class of a method's requests."""
    return message_factory.GetMessageClass(method.input_type)


def response_class(method: MethodDescriptor) -> type[Message]:
    """The class of a method's answers."""
    return message_factory.GetMessageClass(method.output_type)
