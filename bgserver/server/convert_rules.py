"""Rules and presets of the API to those of the games, and back.

Fields and enum members have the same names on both sides, so one table of enums is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from bgserver.engine.errors import Fault
from bgserver.engine.position import Variant
from bgserver.games import rules as games
from bgserver.games.presets import PRESETS, merge_rules
from bgserver.games.rules_text import Language, Topic, describe_rules, summary
from bgserver.server.convert_enums import EnumMap
from bgserver.v1 import rules_pb2

if TYPE_CHECKING:
    import enum
    from collections.abc import Sequence

    from google.protobuf.descriptor import FieldDescriptor
    from google.protobuf.message import Message

    from bgserver.games.presets import Preset
    from bgserver.games.rules import Rules

__all__ = [
    "preset_message",
    "read_languages",
    "read_overrides",
    "read_rules",
    "rules_message",
    "text_message",
]

_MAX_VALUES = 64  # of a list: more than any rule needs
_KINDS: dict[str, type[enum.Enum]] = {
    "variant": Variant,
    "opening_starter": games.OpeningStarter,
    "opening_dice": games.OpeningDice,
    "confirm": games.Confirm,
    "cube": games.CubeUse,
    "auto_double": games.AutoDouble,
    "session": games.Session,
    "resign_scope": games.ResignScope,
    "on_timeout": games.OnTimeout,
    "holland_count": games.HollandCount,
    "holland_scope": games.HollandScope,
    "raccoon_owner": games.RaccoonOwner,
    "auto_double_b_scope": games.AutoDoubleScope,
    "next_starter": games.NextStarter,
    "head_exception": games.HeadException,
    "head_exception_scope": games.HeadExceptionScope,
    "prime_release": games.PrimeRelease,
    "prime_seam": games.PrimeSeam,
    "prime_check": games.PrimeCheck,
    "koks": games.Koks,
}
_FIELDS: dict[str, FieldDescriptor] = {
    field.name: field
    for name in ("Rules", "LongNardyRules")
    for field in rules_pb2.DESCRIPTOR.message_types_by_name[name].fields
}
_ENUMS: dict[str, EnumMap[enum.Enum, int]] = {
    name: EnumMap(EnumTypeWrapper(descriptor), kind)
    for name, kind in _KINDS.items()
    if (descriptor := _FIELDS[name].enum_type) is not None
}

_LANGUAGE = EnumMap(rules_pb2.Language, Language)
_TOPIC = EnumMap(rules_pb2.RuleTopic, Topic)


def read_rules(
    preset_name: str, default: str, message: rules_pb2.Rules, faults: list[Fault]
) -> Rules | None:
    """The rules that a request asks for; None if they cannot be read.

    Args:
        preset_name: The field `preset`.
        default: The preset that an empty name stands for.
        message: The field `rules`: what differs from the preset.
        faults: Gets what cannot be read, and contradictions between the rules.
    """
    preset = PRESETS.get(preset_name or default)
    if preset is None:
        names = ", ".join(PRESETS)
        text = f"expected one of {names}, got {preset_name[:40]!r}"
        faults.append(Fault("preset", "UNKNOWN_PRESET", text))
    before = len(faults)
    overrides = read_overrides(message, faults)
    if preset is None or len(faults) > before:
        return None
    rules, contradictions = merge_rules(preset, overrides)
    faults.extend(contradictions)
    return rules


def read_overrides(message: rules_pb2.Rules, faults: list[Fault]) -> dict[str, Any]:
    """What a request's `rules` change, as `merge_rules` takes it."""
    return _read(message, "rules", faults)


def _read(message: Message, path: str, faults: list[Fault]) -> dict[str, Any]:
    """The fields that are set, as the games name and type them."""
    values: dict[str, Any] = {}
    for field, value in message.ListFields():
        name = field.name
        if name in _ENUMS:
            member = _ENUMS[name].read(value, f"{path}.{name}", faults)
            if member is not None:
                values[name] = member
        elif name == "long_nardy":
            values[name] = _read(value, f"{path}.{name}", faults)
        elif field.is_repeated and len(value) > _MAX_VALUES:
            text = f"expected at most {_MAX_VALUES} values, got {len(value)}"
            faults.append(Fault(f"{path}.{name}", "TOO_MANY_VALUES", text))
        elif field.is_repeated:
            values[name] = tuple(value)
        else:
            values[name] = value
    return values


def rules_message(rules: Rules) -> rules_pb2.Rules:
    """Rules for the API; parameters that do not apply are not set."""
    message = rules_pb2.Rules()
    _fill(message, rules)
    return message


def _fill(message: Message, values: object) -> None:
    for field in message.DESCRIPTOR.fields:
        name = field.name
        value = getattr(values, name)
        if value is None:
            continue
        if name in _ENUMS:
            setattr(message, name, _ENUMS[name].to_api(value))
        elif name == "long_nardy":
            _fill(getattr(message, name), value)
        elif field.is_repeated:
            getattr(message, name).extend(value)
        else:
            setattr(message, name, value)


def read_languages(
    language: rules_pb2.Language.ValueType, faults: list[Fault]
) -> Sequence[Language]:
    """The languages of the field `language`."""
    if language == rules_pb2.LANGUAGE_UNSPECIFIED:
        return tuple(Language)
    found = _LANGUAGE.read(language, "language", faults)
    return () if found is None else (found,)


def text_message(rules: Rules, language: Language) -> rules_pb2.RulesText:
    """Rules for players to read."""
    return rules_pb2.RulesText(
        language=_LANGUAGE.to_api(language),
        summary=summary(rules, language),
        sections=[
            rules_pb2.RuleSection(
                topic=_TOPIC.to_api(section.topic),
                heading=section.heading,
                clauses=[
                    rules_pb2.RuleClause(text=clause.text(language), parameters=clause.parameters)
                    for clause in section.clauses
                ],
            )
            for section in describe_rules(rules, language)
        ],
    )


def preset_message(preset: Preset) -> rules_pb2.Preset:
    """A preset for the API."""
    return rules_pb2.Preset(
        name=preset.name,
        summary=preset.summary,
        rules=rules_message(preset.rules),
        texts=[text_message(preset.rules, language) for language in Language],
    )
