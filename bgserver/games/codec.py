"""JSON forms of the frozen dataclasses that a table's log is made of.

Enums are written by their value (seats by their number), tuples as lists, nested dataclasses as
objects, None as null. Reading is strict: what does not fit the annotations is a fault, so that a
damaged log is noticed and not folded into a wrong state.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import typing
from typing import Any, TypeVar

from bgserver.engine.errors import Fault, InvalidInputError

__all__ = ["Json", "decoded", "encoded"]

Json = dict[str, Any]
"""A JSON object."""

_T = TypeVar("_T")


def encoded(value: object) -> Any:  # noqa: ANN401 -- JSON is of many types
    """The JSON form of a value."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple):
        return [encoded(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: encoded(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    return value


def decoded(kind: type[_T], value: object, path: str = "") -> _T:
    """The object of a dataclass whose JSON form is `value`.

    Raises:
        InvalidInputError: It is no JSON form of such an object.
    """
    found: _T = _decoded(kind, value, path or kind.__name__)
    return found


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _decoded(kind: Any, value: object, path: str) -> Any:  # noqa: ANN401 -- generic aliases have no common type
    origin = typing.get_origin(kind)
    if origin in {typing.Union, types.UnionType}:
        options = [option for option in typing.get_args(kind) if option is not type(None)]
        if value is None and len(options) < len(typing.get_args(kind)):
            return None
        return _decoded(options[0], value, path)
    if origin is tuple:
        return _decoded_tuple(typing.get_args(kind), value, path)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _decoded_object(kind, value, path)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        try:
            return kind(value)
        except ValueError:
            raise _unfit(path, kind.__name__, value) from None
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise _unfit(path, getattr(kind, "__name__", str(kind)), value)
    return value


def _decoded_tuple(kinds: tuple[Any, ...], value: object, path: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _unfit(path, "list", value)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    if len(kinds) != len(value):
        raise _unfit(path, f"list of {len(kinds)}", value)
    return tuple(
        _decoded(kind, item, f"{path}[{index}]")
        for index, (kind, item) in enumerate(zip(kinds, value, strict=True))
    )


def _decoded_object(kind: type, value: object, path: str) -> object:
    if not isinstance(value, dict):
        raise _unfit(path, "object", value)
    hints = _hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    unknown = sorted(value.keys() - fields.keys())
    missing = [
        name
        for name, field in fields.items()
        if name not in value
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    faults = [Fault(f"{path}.{name}", "UNKNOWN_FIELD", "no such field") for name in unknown]
    faults += [Fault(f"{path}.{name}", "MISSING_FIELD", "the field is missing") for name in missing]
    if faults:
        raise InvalidInputError(faults)
    return kind(
        **{name: _decoded(hints[name], item, f"{path}.{name}") for name, item in value.items()}
    )


def _unfit(path: str, expected: str, value: object) -> InvalidInputError:
    message = f"expected {expected}, got {str(value)[:40]!r}"
    return InvalidInputError([Fault(path, "WRONG_TYPE", message)])
