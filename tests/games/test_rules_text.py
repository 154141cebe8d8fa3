"""Rules in words: whatever a parameter changes can be read, in both languages."""

from __future__ import annotations

import enum
import itertools
from dataclasses import fields, replace
from typing import Any

import pytest

from bgserver.engine.position import Variant
from bgserver.games.presets import PRESETS
from bgserver.games.rules import LongNardyRules, Rules
from bgserver.games.rules_text import Language, describe_rules, summary
from tests.rule_sets import merged_rules

# A preset, and changes, with which each parameter has an effect.
_WHERE: dict[str, tuple[str, dict[str, Any]]] = {}
for _names, _preset, _changes in (
    ("session match_lengths crawford forbid_dead_cube holland", "tournament", {}),
    ("resign_scope", "joypip", {}),
    ("holland_rolls holland_count holland_scope", "tournament", {"holland": True}),
    ("jacoby beaver auto_double", "money", {}),
    ("beaver_may_be_dropped", "money", {"beaver": True}),
    ("raccoon", "money", {"beaver": True, "raccoon_owner": "beaverer"}),
    ("raccoon_owner", "money", {"beaver": True, "raccoon": True}),
    ("auto_double_limit jacoby_auto_double_counts", "money", {"auto_double": "a"}),
    ("auto_double_b_scope", "money", {"auto_double": "b"}),
    ("turn_seconds on_timeout loses_after_timeouts", "joypip", {}),
):
    for _name in _names.split():
        _WHERE[_name] = (_preset, _changes)

_VALUES: dict[str, list[Any]] = {
    "match_lengths": [(), (3,), (5, 9)],
    "turn_seconds": [(), (10,), (30, 60)],
    "bots": [(), ("normal",), ("beginner", "expert")],
    "highest_result": [1, 2, 3],
    "cube_cap": [2, 64, 128],
    "holland_rolls": [1, 2, 7],
    "auto_double_limit": [1, 2, 5],
    "loses_after_timeouts": [0, 1, 2, 3, 11],
    "head_per_turn": [1, 2],
    "prime_length": [5, 6],
}


def _kind(owner: type, name: str) -> type[enum.Enum] | None:
    """The enum of a parameter."""
    text = next(str(field.type) for field in fields(owner) if field.name == name)
    kind = getattr(__import__("bgserver.games.rules", fromlist=["_"]), text.split(" | ")[0], None)
    return kind if isinstance(kind, type) and issubclass(kind, enum.Enum) else None


def _values(owner: type, name: str) -> list[Any]:
    kind = _kind(owner, name)
    if kind is not None:
        return list(kind)
    return _VALUES.get(name, [False, True])


def _changed(name: str, value: Any) -> Rules:
    """Rules in which a parameter has an effect and this value, whether or not tables play them."""
    if name.startswith("long_nardy."):
        option = name.partition(".")[2]
        rules = PRESETS["long_nardy"].rules
        if option == "koks":
            rules = replace(rules, highest_result=3)
        return replace(rules, long_nardy=replace(LongNardyRules(), **{option: value}))
    preset, changes = _WHERE.get(name, ("classic", {}))
    typed: dict[str, Any] = {
        key: next(one for one in kind if one.value == text)
        if (kind := _kind(Rules, key)) is not None
        else text
        for key, text in changes.items()
    }
    return replace(merged_rules(PRESETS[preset], {}), **(typed | {name: value}))


_PARAMETERS = [
    (Rules, field.name) for field in fields(Rules) if field.name not in {"long_nardy", "variant"}
] + [(LongNardyRules, f"long_nardy.{field.name}") for field in fields(LongNardyRules)]


def _words(rules: Rules, language: Language) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (clause.text(language), clause.parameters)
        for section in describe_rules(rules, language)
        for clause in section.clauses
    ]


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize(("owner", "name"), _PARAMETERS, ids=[name for _, name in _PARAMETERS])
def test_every_value_of_every_parameter_reads_differently(
    owner: type, name: str, language: Language
) -> None:
    values = _values(owner, name.rpartition(".")[2])
    assert len(values) > 1
    told = [_words(_changed(name, value), language) for value in values]
    assert len({str(words) for words in told}) == len(values)
    for one, other in itertools.pairwise(told):
        # What differs is marked with the parameter, so that a front end can point at it.
        different = set(one) ^ set(other)
        assert any(name in parameters for _, parameters in different)


@pytest.mark.parametrize("language", Language)
def test_both_games_read_differently(language: Language) -> None:
    nardy, plain = PRESETS["long_nardy"].rules, PRESETS["traditional"].rules
    assert nardy.variant is Variant.LONG_NARDY
    assert set(_words(nardy, language)) ^ set(_words(plain, language))
    assert summary(nardy, language) != summary(plain, language)


@pytest.mark.parametrize("preset", PRESETS)
def test_both_languages_tell_the_same_clauses(preset: str) -> None:
    rules = PRESETS[preset].rules
    english, german = (_words(rules, language) for language in Language)
    assert [one[1] for one in english] == [one[1] for one in german]
    assert not {one[0] for one in english} & {one[0] for one in german}
    topics = [[s.topic for s in describe_rules(rules, language)] for language in Language]
    assert topics[0] == topics[1]


@pytest.mark.parametrize("preset", PRESETS)
def test_clauses_are_short_and_whole_sentences(preset: str) -> None:
    for language in Language:
        for text, _ in _words(PRESETS[preset].rules, language):
            assert text.endswith(".")
            assert "None" not in text
            assert "  " not in text
            assert len(text) < 300


def test_all_presets_can_be_told_apart() -> None:
    for language in Language:
        told = {str(_words(preset.rules, language)) for preset in PRESETS.values()}
        assert len(told) == len(PRESETS)


def test_what_has_no_effect_is_not_mentioned() -> None:
    words = str(_words(PRESETS["money"].rules, Language.ENGLISH))
    for absent in ("Holland", "Crawford", "Beaver", "Raccoon", "Automatic doubles", "head"):
        assert absent not in words
