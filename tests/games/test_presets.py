"""Presets as the tables of `rules.md` section 8 give them, and what a request may change."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from bgserver.engine.errors import InvalidInputError
from bgserver.engine.position import Variant
from bgserver.games.presets import PRESETS
from bgserver.games.rules import (
    AutoDouble,
    CubeUse,
    HeadException,
    LongNardyRules,
    PrimeCheck,
    RaccoonOwner,
    Rules,
    Session,
    match_length_faults,
    rules_faults,
)
from tests.rule_sets import merged_rules

# The three tables of section 8, copied column by column; "-" (not applicable) is None.
_TABLE = """
name        variant     starter opening_dice confirm       cube       cap  crawford holland jacoby beaver raccoon auto session resign
classic     backgammon  higher  use_both     done          on         64   None     None    False  False  False   none money   game
traditional backgammon  higher  use_both     done          off        None None     None    None   None   None    None single  game
long_nardy  long_nardy  higher  fresh_roll   done          off        None None     None    None   None   None    None single  game
joypip      backgammon  higher  use_both     done          selectable 64   True     False   False  False  False   none match   match
tournament  backgammon  higher  use_both     opponent_roll on         64   True     False   False  False  False   none match   game
money       backgammon  higher  use_both     opponent_roll on         64   None     None    True   False  False   none money   game
joinpal     backgammon  lower   fresh_roll   done          off        None None     None    None   None   None    None single  game
"""  # noqa: E501 -- a table
_ROWS = [line.split() for line in _TABLE.strip().splitlines()]
_LENGTHS = {"joypip": (1, 3, 5, 7), "tournament": (5, 7, 9, 11, 13, 15, 17)}
_CLOCKS = {"joypip": ((30, 45, 90), "autopilot", 0), "joinpal": ((30, 60), "legal_play", 3)}


def _shown(value: object) -> str:
    return str(getattr(value, "value", value))


@pytest.mark.parametrize("row", _ROWS[1:], ids=lambda row: row[0])
def test_section_8_parameters(row: list[str]) -> None:
    rules = PRESETS[row[0]].rules
    found = [
        rules.variant,
        rules.opening_starter,
        rules.opening_dice,
        rules.confirm,
        rules.cube,
        rules.cube_cap,
        rules.crawford,
        rules.holland,
        rules.jacoby,
        rules.beaver,
        rules.raccoon,
        rules.auto_double,
        rules.session,
        rules.resign_scope,
    ]
    assert [row[0], *map(_shown, found)] == row
    assert rules.undo
    assert rules.match_lengths == _LENGTHS.get(row[0], ())
    assert rules.highest_result == (2 if row[0] == "long_nardy" else 3)
    seconds, on_timeout, loses_after = _CLOCKS.get(row[0], ((), None, None))
    assert rules.turn_seconds == seconds
    assert _shown(rules.on_timeout) == str(on_timeout)
    assert rules.loses_after_timeouts == loses_after
    assert rules.auto_play_single == (row[0] == "joypip")
    assert rules.auto_roll == (rules.cube is CubeUse.OFF or row[0] == "joypip")
    assert rules.bots == ("beginner", "normal", "expert")


def test_section_8_has_seven_presets() -> None:
    assert list(PRESETS) == [row[0] for row in _ROWS[1:]]


def test_7_14_long_nardy_defaults() -> None:
    options = PRESETS["long_nardy"].rules.long_nardy
    assert options is not None
    assert (options.head_per_turn, options.prime_length) == (1, 6)
    assert options.head_exception is HeadException.LISTED_DOUBLES
    assert options.prime_check is PrimeCheck.EACH_STEP
    assert options.prime_lifted_when_opponent_bears_off
    assert not options.last_move_draw


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_every_preset_is_faultless_and_unchanged_by_no_wishes(preset: Any) -> None:
    assert rules_faults(preset.rules) == []
    assert merged_rules(preset, {}) == preset.rules


def _faults(preset: str, **overrides: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInputError) as caught:
        merged_rules(PRESETS[preset], overrides)
    return [(fault.field, fault.reason) for fault in caught.value.faults]


def test_4_27_crawford_and_holland_are_for_matches() -> None:
    assert _faults("money", crawford=True, holland=True) == [
        ("rules.crawford", "CRAWFORD_WITHOUT_MATCH"),
        ("rules.holland", "HOLLAND_WITHOUT_MATCH"),
    ]


def test_4_14_holland_needs_crawford() -> None:
    assert _faults("classic", session=Session.MATCH, crawford=False, holland=True) == [
        ("rules.holland", "HOLLAND_WITHOUT_CRAWFORD")
    ]


def test_4_27_money_rules_are_not_for_matches() -> None:
    found = _faults(
        "joypip",
        jacoby=True,
        beaver=True,
        raccoon=True,
        raccoon_owner=RaccoonOwner.BEAVERER,
        auto_double=AutoDouble.A,
    )
    assert found == [
        ("rules.jacoby", "JACOBY_IN_MATCH"),
        ("rules.beaver", "BEAVER_IN_MATCH"),
        ("rules.raccoon", "RACCOON_IN_MATCH"),
        ("rules.auto_double", "AUTO_DOUBLE_IN_MATCH"),
    ]


def test_4_18_jacoby_and_others_need_a_cube() -> None:
    assert _faults("money", cube=CubeUse.OFF, jacoby=True, beaver=True) == [
        ("rules.jacoby", "RULE_NEEDS_CUBE"),
        ("rules.beaver", "RULE_NEEDS_CUBE"),
    ]


def test_4_22_raccoons_need_beavers_and_an_owner() -> None:
    assert _faults("money", raccoon=True) == [
        ("rules.raccoon", "RACCOON_WITHOUT_BEAVER"),
        ("rules.raccoon_owner", "RACCOON_OWNER_REQUIRED"),
    ]
    rules = merged_rules(
        PRESETS["money"],
        {"raccoon": True, "beaver": True, "raccoon_owner": RaccoonOwner.RACCOONER},
    )
    assert rules.raccoon


def test_4_12_what_a_preset_fixes() -> None:
    assert _faults("tournament", crawford=False, jacoby=True) == [
        ("rules.crawford", "FIXED_BY_PRESET"),
        ("rules.jacoby", "FIXED_BY_PRESET"),
        ("rules.jacoby", "JACOBY_IN_MATCH"),
    ]
    # Asking for what is fixed anyway is no fault.
    assert merged_rules(PRESETS["tournament"], {"crawford": True}).crawford


def test_ranges_are_named_all_at_once() -> None:
    assert _faults(
        "joypip", cube_cap=48, match_lengths=(0, 3), turn_seconds=(0,), holland_rolls=11
    ) == [
        ("rules.cube_cap", "NOT_A_CUBE_VALUE"),
        ("rules.match_lengths", "OUT_OF_RANGE"),
        ("rules.turn_seconds", "OUT_OF_RANGE"),
        ("rules.holland_rolls", "OUT_OF_RANGE"),
    ]


def test_options_of_the_other_game() -> None:
    assert _faults("money", long_nardy={"prime_length": 5}) == [
        ("rules.long_nardy", "NOT_IN_BACKGAMMON")
    ]
    assert _faults("money", variant=Variant.LONG_NARDY)[0] == (
        "rules.variant",
        "FIXED_BY_PRESET",
    )


def test_what_a_change_makes_meaningless_is_dropped_silently() -> None:
    without_cube = merged_rules(PRESETS["money"], {"cube": CubeUse.OFF})
    assert not without_cube.jacoby
    assert without_cube.cube_cap is None
    as_match = merged_rules(PRESETS["money"], {"session": Session.MATCH})
    assert not as_match.jacoby
    assert as_match.crawford, "4.12: in matches the default is on"
    as_money = merged_rules(PRESETS["joypip"], {"session": Session.MONEY})
    assert as_money.match_lengths == ()
    assert not as_money.crawford


def test_long_nardy_options_of_a_request() -> None:
    rules = merged_rules(PRESETS["long_nardy"], {"long_nardy": {"last_move_draw": True}})
    assert rules.long_nardy == LongNardyRules(last_move_draw=True)


@pytest.mark.parametrize(
    ("preset", "length", "reason"),
    [
        ("money", 5, "LENGTH_WITHOUT_MATCH"),
        ("tournament", 0, "OUT_OF_RANGE"),
        ("tournament", 65, "OUT_OF_RANGE"),
        ("tournament", 6, "MATCH_LENGTH_NOT_IN_PRESET"),
    ],
)
def test_match_lengths(preset: str, length: int, reason: str) -> None:
    (fault,) = match_length_faults(PRESETS[preset].rules, length)
    assert (fault.field, fault.reason) == ("match_length", reason)
    assert match_length_faults(PRESETS["tournament"].rules, 7) == []
    assert match_length_faults(PRESETS["money"].rules, None) == []


def test_every_parameter_says_what_it_is_for() -> None:
    # The API's field names are those of the class: a new one must be added there too.
    from bgserver.v1 import rules_pb2  # noqa: PLC0415 -- only this test needs it

    names = {field.name for field in rules_pb2.Rules.DESCRIPTOR.fields}
    assert names == {field.name for field in fields(Rules)}
    names = {field.name for field in rules_pb2.LongNardyRules.DESCRIPTOR.fields}
    assert names == {field.name for field in fields(LongNardyRules)}
