"""What may go with what when a table is set up (4.27): every fault at once, nothing corrected."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from bgserver.engine.errors import InvalidInputError
from bgserver.games.codec import decoded, encoded
from bgserver.games.presets import PRESETS
from bgserver.games.rules import (
    AutoDouble,
    CubeUse,
    HeadException,
    HeadExceptionScope,
    Koks,
    NextStarter,
    PrimeCheck,
    PrimeRelease,
    PrimeSeam,
    RaccoonOwner,
    Session,
)
from bgserver.games.setup import SeatKind, Setup, new_setup


def _faults(preset: str, overrides: dict[str, Any] | None = None, **settings: Any) -> set[Any]:
    try:
        new_setup(preset, overrides, **settings)
    except InvalidInputError as error:
        return {(fault.field, fault.reason) for fault in error.faults}
    return set()


# --- the table after 4.26, as an independent oracle ----------------------------------------------

_SWITCHES = ("crawford", "holland", "jacoby", "beaver", "raccoon", "auto_double")


def _wrong(session: Session, cube: bool, on: frozenset[str], owner: bool) -> set[tuple[str, str]]:
    """Section 4's table row by row: fields and reasons."""
    found = set()
    is_match = session is Session.MATCH
    for name in sorted(on):
        field = f"rules.{name}"
        if name in {"jacoby", "beaver", "raccoon", "auto_double"} and is_match:
            found.add((field, f"{name.upper()}_IN_MATCH"))
        if name in {"crawford", "holland"} and not is_match:
            found.add((field, f"{name.upper()}_WITHOUT_MATCH"))
        if name != "crawford" and not cube:
            found.add((field, "RULE_NEEDS_CUBE"))
    if "holland" in on and "crawford" not in on:
        found.add(("rules.holland", "HOLLAND_WITHOUT_CRAWFORD"))
    if "raccoon" in on and "beaver" not in on:
        found.add(("rules.raccoon", "RACCOON_WITHOUT_BEAVER"))
    if "raccoon" in on and not owner:
        found.add(("rules.raccoon_owner", "RACCOON_OWNER_REQUIRED"))
    return found


@pytest.mark.parametrize("session", [Session.MATCH, Session.MONEY, Session.SINGLE])
@pytest.mark.parametrize("cube", [True, False])
@pytest.mark.parametrize("owner", [True, False])
def test_4_27_every_combination(session: Session, cube: bool, owner: bool) -> None:
    length = 5 if session is Session.MATCH else None
    for bits in itertools.product([False, True], repeat=len(_SWITCHES)):
        on = frozenset(name for name, bit in zip(_SWITCHES, bits, strict=True) if bit)
        overrides: dict[str, Any] = {
            "session": session,
            "cube": CubeUse.ON if cube else CubeUse.OFF,
            **{name: name in on for name in _SWITCHES},
            "auto_double": AutoDouble.B if "auto_double" in on else AutoDouble.NONE,
            "raccoon_owner": RaccoonOwner.BEAVERER if owner else None,
        }
        found = _faults("classic", overrides, match_length=length)
        assert found == _wrong(session, cube, on, owner), sorted(on)


def test_4_27_faults_of_rules_length_clock_and_cube_come_together() -> None:
    assert _faults(
        "tournament",
        {"jacoby": True, "holland": True, "crawford": False},
        match_length=4,
        cube=False,
        turn_seconds=30,
    ) == {
        ("rules.jacoby", "FIXED_BY_PRESET"),
        ("rules.jacoby", "JACOBY_IN_MATCH"),
        ("rules.crawford", "FIXED_BY_PRESET"),
        ("rules.holland", "HOLLAND_WITHOUT_CRAWFORD"),
        ("match_length", "MATCH_LENGTH_NOT_IN_PRESET"),
        ("cube", "CUBE_NOT_IN_PRESET"),
        ("turn_seconds", "TIME_LIMIT_NOT_IN_PRESET"),
    }


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("cube", [True, False])
def test_4_1_the_cube_is_a_choice_only_where_the_preset_says_so(preset: str, cube: bool) -> None:
    rules = PRESETS[preset].rules
    length = rules.match_lengths[0] if rules.match_lengths else None
    choice = {CubeUse.ON: {True}, CubeUse.OFF: {False}, CubeUse.SELECTABLE: {True, False}}
    faults = _faults(preset, match_length=length, cube=cube)
    allowed = cube in choice[rules.cube]
    assert faults == (set() if allowed else {("cube", "CUBE_NOT_IN_PRESET")})


def test_4_1_leaving_the_cube_out_leaves_its_rules_out() -> None:
    setup = new_setup("joypip", match_length=3, cube=False)
    assert not setup.cube
    assert setup.rules.cube is CubeUse.OFF
    faults = _faults("classic", {"cube": CubeUse.SELECTABLE, "beaver": True}, cube=False)
    assert faults == {("rules.beaver", "RULE_NEEDS_CUBE")}


@pytest.mark.parametrize(
    ("preset", "allowed"),
    [
        ("joypip", {1, 3, 5, 7}),
        ("tournament", {5, 7, 9, 11, 13, 15, 17}),
    ],
)
def test_5_1_match_lengths(preset: str, allowed: set[int]) -> None:
    for length in range(1, 20):
        faults = _faults(preset, match_length=length)
        wanted = {("match_length", "MATCH_LENGTH_NOT_IN_PRESET")}
        assert faults == (set() if length in allowed else wanted)
    assert _faults(preset) == {("match_length", "MATCH_LENGTH_REQUIRED")}


@pytest.mark.parametrize("preset", ["classic", "traditional", "long_nardy", "money", "joinpal"])
def test_5_1_no_length_outside_matches(preset: str) -> None:
    assert _faults(preset, match_length=5) == {("match_length", "LENGTH_WITHOUT_MATCH")}


@pytest.mark.parametrize(
    ("preset", "allowed", "default"),
    [("joypip", {30, 45, 90}, 45), ("joinpal", {30, 60}, 60), ("classic", set(), None)],
)
def test_6_2_time_limits(preset: str, allowed: set[int], default: int | None) -> None:
    length = 3 if preset == "joypip" else None
    for seconds in (30, 45, 60, 90):
        faults = _faults(preset, match_length=length, turn_seconds=seconds)
        wanted = {("turn_seconds", "TIME_LIMIT_NOT_IN_PRESET")}
        assert faults == (set() if seconds in allowed else wanted)
    assert new_setup(preset, match_length=length).turn_seconds == default
    practice = (SeatKind.PERSON, SeatKind.BOT)
    assert new_setup(preset, match_length=length, seats=practice).turn_seconds is None


def test_unknown_presets() -> None:
    assert _faults("Classic") == {("preset", "UNKNOWN_PRESET")}


@pytest.mark.parametrize(
    ("option", "value", "supported"),
    [
        ("head_per_turn", 2, False),
        ("head_exception", HeadException.ANY_DOUBLE, False),
        ("head_exception", HeadException.WHEN_BLOCKED, False),
        ("head_exception", HeadException.NONE, True),
        ("head_exception_scope", HeadExceptionScope.FIRST_TURN_OF_GAME, True),
        ("prime_length", 5, False),
        ("prime_release", PrimeRelease.ONE_IN_HOME, False),
        ("prime_seam", PrimeSeam.CIRCULAR, False),
        ("prime_check", PrimeCheck.END_OF_TURN, False),
        ("prime_lifted_when_opponent_bears_off", False, True),
        ("koks", Koks.THREE, True),
        ("last_move_draw", True, True),
    ],
)
def test_7_14_options_are_played_or_refused(option: str, value: Any, supported: bool) -> None:
    faults = _faults("long_nardy", {"long_nardy": {option: value}})
    assert faults == (
        set() if supported else {(f"rules.long_nardy.{option}", "UNSUPPORTED_OPTION")}
    )


def test_7_1_long_nardy_has_no_cube() -> None:
    assert ("rules.cube", "UNSUPPORTED_OPTION") in _faults("long_nardy", {"cube": CubeUse.ON})


@pytest.mark.parametrize("preset", PRESETS)
def test_a_setup_survives_its_json_form(preset: str) -> None:
    length = 5 if PRESETS[preset].rules.session is Session.MATCH else None
    setup = new_setup(preset, {"next_starter": NextStarter.WINNER}, match_length=length)
    form = encoded(setup)
    assert decoded(Setup, form, "setup") == setup
    broken = form | {"cube": "yes", "colour": 1}
    with pytest.raises(InvalidInputError) as caught:
        decoded(Setup, broken, "setup")
    assert caught.value.faults[0].field == "setup.colour"
