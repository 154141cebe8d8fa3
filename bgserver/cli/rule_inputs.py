"""Rules as a person types them: `jacoby=off`, `match_lengths=3,5`, `long_nardy.koks=three`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bgserver.cli.problems import gathered, input_error
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.v1 import rules_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.protobuf.message import Message

__all__ = ["SetOption", "parse_rules", "read_changes"]

_TRUTHS = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
_MAX_NUMBER = (1 << 32) - 1
_MOST_DIGITS = 20

SetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a rule of the preset, for example jacoby=off; may be given more than once.",
        show_default=False,
    ),
]


def parse_rules(changes: Iterable[str] | None) -> rules_pb2.Rules:
    """What differs from a preset.

    Args:
        changes: `NAME=VALUE` each; names as in `Rules`, with `long_nardy.` before those of Long
            Nardy, values of enums by their short names, lists with commas.

    Raises:
        InvalidInputError: There is no such rule, or the value is none that it can have; every
            fault is named.
    """
    faults: list[Fault] = []
    rules = read_changes(changes, faults)
    if faults:
        raise InvalidInputError(faults)
    return rules


def read_changes(changes: Iterable[str] | None, faults: list[Fault]) -> rules_pb2.Rules:
    """As `parse_rules`, but what is wrong is added to `faults` and left out."""
    rules = rules_pb2.Rules()
    for change in changes or ():
        with gathered(faults):
            name, equals, value = (part.strip() for part in change.partition("="))
            if not equals:
                message = f"expected NAME=VALUE, got {change!r}"
                raise input_error(message, field="rules", reason="NOT_A_RULE")
            _assign(rules, name.split("."), value.lower(), f"rules.{name}")
    return rules


def _assign(message: Message, path: list[str], value: str, where: str) -> None:
    field = message.DESCRIPTOR.fields_by_name.get(path[0])
    if field is None or (field.message_type is None) != (len(path) == 1):
        names = [one.name for one in message.DESCRIPTOR.fields if one.message_type is None]
        error = f"expected one of {', '.join(names)}, got {path[0]!r}"
        raise input_error(error, field=where, reason="UNKNOWN_RULE")
    if field.message_type is not None:
        inner = getattr(message, path[0])
        _assign(inner, path[1:], value, where)
        inner.SetInParent()
    elif field.is_repeated:
        parts = [part.strip() for part in value.split(",") if part.strip()]
        getattr(message, path[0]).extend([_value(field, part, where) for part in parts])
    else:
        setattr(message, path[0], _value(field, value, where))


def _value(field: Any, text: str, where: str) -> Any:  # noqa: ANN401 -- a descriptor, typed or not
    if field.enum_type is not None:
        first, *members = field.enum_type.values
        prefix = first.name.removesuffix("UNSPECIFIED")
        names = {one.name.removeprefix(prefix).lower(): one.number for one in members}
        return _chosen(names, text, where)
    if field.type == field.TYPE_BOOL:
        return _chosen(_TRUTHS, text, where)
    if field.type == field.TYPE_STRING:
        return text
    # The length first: Python reads no number of thousands of digits.
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) > _MAX_NUMBER:
        message = f"expected a number, got {text[:40]!r}"
        raise input_error(message, field=where, reason="NOT_A_NUMBER")
    return int(text)


def _chosen(values: dict[str, Any], text: str, where: str) -> Any:  # noqa: ANN401 -- as above
    if text not in values:
        message = f"expected one of {', '.join(values)}, got {text!r}"
        raise input_error(message, field=where, reason="UNKNOWN_VALUE")
    return values[text]
