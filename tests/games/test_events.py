"""The log: what is kept in it is stable, and a damaged one is noticed."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest

from bgserver.engine.errors import InvalidInputError
from bgserver.engine.position import Seat
from bgserver.games import events as ev
from bgserver.games.check_dice import main
from bgserver.games.dice import FairDice
from bgserver.games.events import EVENT_TYPES, event_from_json
from bgserver.games.record import match_json
from bgserver.games.state import apply, replay
from tests.games.desk import FIRST, SECOND, Desk
from tests.games.test_random_games import RandomTable

# Logs outlive releases: an event may gain a field with a default, and nothing else may change.
_FIELDS = {
    "session_started": "setup",
    "dice_committed": "game commitment",
    "dice_revealed": "game seed",
    "game_started": "game crawford",
    "opening_rolled": "first second",
    "automatic_double": "value",
    "turn_started": "seat",
    "dice_rolled": "seat first second opening by",
    "step_made": "seat source target die hit by",
    "steps_undone": "seat count",
    "play_confirmed": "seat by",
    "turn_forfeited": "seat",
    "double_offered": "seat value by",
    "double_taken": "seat value by",
    "cube_dropped": "seat value by",
    "beavered": "seat value by",
    "raccooned": "seat value by",
    "played_on": "seat value owner by",
    "resignation_offered": "seat result",
    "resignation_accepted": "seat by",
    "resignation_refused": "seat by",
    "timed_out": "seat count",
    "autopilot_started": "seat",
    "autopilot_ended": "seat",
    "downtime_excused": "seconds",
    "game_ended": "winner result cube points reason score",
    "ready_for_next_game": "seat by",
    "session_ended": "winner reason score",
}


def test_names_and_fields_are_stable() -> None:
    found = {
        name: " ".join(field.name for field in fields(kind) if field.name != "at")
        for name, kind in EVENT_TYPES.items()
    }
    assert found == _FIELDS
    assert {kind.value for kind in ev.By} == {"player", "bot", "server", "timeout", "autopilot"}


def test_the_json_form_of_an_event() -> None:
    event = ev.StepMade(12.5, SECOND, 25, 20, 5, hit=True, by=ev.By.BOT)
    assert event.to_json() == {
        "event": "step_made",
        "at": 12.5,
        "seat": 1,
        "source": 25,
        "target": 20,
        "die": 5,
        "hit": True,
        "by": "bot",
    }


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"event": "step_maid"}, "event", "UNKNOWN_VALUE"),
        ({"seat": 2}, "step_made.seat", "WRONG_TYPE"),
        ({"by": "nobody"}, "step_made.by", "WRONG_TYPE"),
        ({"source": "25"}, "step_made.source", "WRONG_TYPE"),
        ({"source": True}, "step_made.source", "WRONG_TYPE"),
        ({"hit": 1}, "step_made.hit", "WRONG_TYPE"),
        ({"extra": 1}, "step_made.extra", "UNKNOWN_FIELD"),
        ({"at": None}, "step_made.at", "WRONG_TYPE"),
    ],
)
def test_damaged_events_are_named(change: dict[str, Any], field: str, reason: str) -> None:
    form = ev.StepMade(12.5, SECOND, 25, 20, 5, hit=True).to_json() | change
    with pytest.raises(InvalidInputError) as caught:
        event_from_json(form)
    assert [(fault.field, fault.reason) for fault in caught.value.faults] == [(field, reason)]


def test_missing_and_short_parts_are_named() -> None:
    form = ev.SessionEnded(1.0, None, ev.EndReason.SCORE, (3, 2)).to_json()
    assert event_from_json(form) == ev.SessionEnded(1.0, None, ev.EndReason.SCORE, (3, 2))
    for change in ([3], "3-2", [3, "2"]):
        with pytest.raises(InvalidInputError):
            event_from_json(form | {"score": change})
    del form["score"], form["winner"]
    with pytest.raises(InvalidInputError) as caught:
        event_from_json(form)
    assert [fault.reason for fault in caught.value.faults] == ["MISSING_FIELD"] * 2


def test_fields_that_came_later_have_their_defaults() -> None:
    form = ev.DiceRolled(1.0, FIRST, 3, 1).to_json()
    del form["opening"], form["by"]
    assert event_from_json(form) == ev.DiceRolled(1.0, FIRST, 3, 1)


def test_a_log_begins_with_its_session() -> None:
    desk = Desk("classic")
    with pytest.raises(ValueError, match="session_started"):
        replay([])
    with pytest.raises(ValueError, match="turn_started"):
        apply(None, ev.TurnStarted(0.0, Seat.FIRST))
    assert replay(desk.log[:1]).version == 1


def test_every_prefix_of_a_log_replays() -> None:
    table = RandomTable("joypip", 4)
    table.play()
    states = [replay(table.log[: end + 1]) for end in range(len(table.log))]
    for state, event, after in zip(states, table.log[1:], states[1:], strict=False):
        assert apply(state, event) == after


# --- the command that checks dice ----------------------------------------------------------------


def test_exported_dice_can_be_checked(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    table = RandomTable("tournament", 1)
    assert isinstance(table.dice, FairDice)
    table.play()
    form = match_json(table.log)
    path = tmp_path / "match.json"
    path.write_text(json.dumps(form), encoding="utf-8")
    assert main([str(path)]) == 0
    assert capsys.readouterr().out == f"{table.state.game} games: every roll as promised\n"
    roll = next(event for event in form["events"] if event["event"] == "dice_rolled")
    roll["first"], roll["opening"] = roll["first"] % 6 + 1, False
    path.write_text(json.dumps(form), encoding="utf-8")
    assert main([str(path)]) == 1
    assert "game 1: roll 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", '{"events": [{}]}', '{"events": [1]}', '{"events": 1}', "[" * 100_000],
    ids=lambda text: text[:20],
)
def test_other_files_cannot(tmp_path: Any, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "match.json"
    path.write_text(text, encoding="utf-8")
    assert main([str(path)]) == 2
    said = capsys.readouterr().err
    assert "no match exported as json: " in said
    assert not any(word in said for word in ("indices", "iterable", "attribute", "recursion"))
    assert main([str(tmp_path / "none")]) == 2
    assert main([]) == 2
    assert "none: there is no such file; games are exported for" in capsys.readouterr().err
