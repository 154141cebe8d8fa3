"""`bgserver rollout`: tables, JSON, faults; rollout levels of the other commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from google.protobuf import json_format

from bgserver.cli.options import DEPTHS
from bgserver.engine.rollout_level import ROLLOUT_LEVELS
from bgserver.v1 import rollout_pb2

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import CommandLine

_QUICK = ("--trials", "36", "--truncate", "3", "--seed", "5")


def test_a_position(bgserver: CommandLine) -> None:
    answer = bgserver("rollout", "start", *_QUICK)
    assert answer.code == 0
    for words in ("BAR", "Equity", "Cubeless", "36 trials (all trials played), seed 5"):
        assert words in answer.out
    assert "Behind" not in answer.out


def test_plays(bgserver: CommandLine) -> None:
    answer = bgserver("rollout", "start", "31", "--plays", "24/20, 8/5 6/5", *_QUICK)
    assert answer.code == 0
    lines = answer.out.splitlines()
    names = [line.split("  ")[0] for line in lines if line.startswith(("8/5 6/5", "24/20"))]
    assert names == ["8/5 6/5", "24/20"]  # the best first
    assert "Better with" in answer.out


def test_cube_actions(bgserver: CommandLine) -> None:
    answer = bgserver("rollout", "start", "--cube", *_QUICK)
    assert answer.code == 0
    for words in ("Best: no double/take", "No double", "Double / take", "Double / pass"):
        assert words in answer.out


def test_json_is_the_last_answer_and_repeatable(bgserver: CommandLine) -> None:
    first = bgserver("rollout", "nardy-start", *_QUICK, "--json")
    answer = json_format.Parse(first.out, rollout_pb2.RolloutResponse())
    assert answer.stopped_by == rollout_pb2.ROLLOUT_STOP_TRIALS
    assert answer.entries[0].win_backgammon.mean == 0.0
    assert bgserver("rollout", "nardy-start", *_QUICK, "--json").out == first.out


def test_it_ends_at_a_standard_error(bgserver: CommandLine) -> None:
    arguments = ["--se", "0.05", "--truncate", "2", "--trials", "10000", "--json", "--seed", "1"]
    answer = bgserver("rollout", "start", *arguments).json
    assert answer["stoppedBy"] == "ROLLOUT_STOP_STANDARD_ERROR"
    assert answer["trials"] < 10_000


def test_it_goes_on_where_it_ended(bgserver: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "start.rollout"
    arguments = ["rollout", "start", "--truncate", "3", "--json"]
    bgserver(*arguments, "--trials", "20", "--seed", "9", "--continue", str(file))
    further = bgserver(*arguments, "--trials", "50", "--continue", str(file)).json
    whole = bgserver(*arguments, "--trials", "50", "--seed", "9").json
    assert further == whole
    file.write_bytes(b"\xff")
    assert "state:" in bgserver(*arguments, "--continue", str(file)).err
    file.write_bytes(b"")  # a message without fields, but no state
    assert "state:" in bgserver(*arguments, "--continue", str(file)).err
    assert file.read_bytes() == b""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--se", "0.01"), ["trials:"]),
        (("--trials", "5", "--min-trials", "6", "--early-plies", "2"), ["min_trials:", "early_le"]),
        (("--truncate-level", "lookahead_1"), ["truncate_level:"]),
        (("31", "--plays", "8/5 6/5,24/18"), ["plays[1]:"]),
        (("--continue", "/none/start.rollout"), ["--continue: there is no folder /none"]),
        (("--level", "random"), ["--level", "lookahead_3"]),
    ],
)
def test_every_fault_is_named(
    bgserver: CommandLine, arguments: tuple[str, ...], words: list[str]
) -> None:
    answer = bgserver("rollout", "start", *arguments)
    assert answer.code != 0
    assert answer.out == ""
    for word in words:
        assert word in answer.err


def test_rollout_levels(bgserver: CommandLine) -> None:
    answer = bgserver("rank", "start", "41", "--level", "rollout_fast")
    assert "rollout_fast@1" in answer.out
    assert "rollout_fast@1" in bgserver("cube", "start", "--level", "rollout_fast@1").out
    assert (
        "rollout_fast@1, once"
        in bgserver(*("cube", "start", "--scores", "2", "--level", "rollout_fast")).out
    )
    names = ", ".join((*DEPTHS, *(level.name for level in ROLLOUT_LEVELS)))
    for level in ("deep", "rollout_slow", "rollout_fast@99"):
        for question in (("eval", "start"), ("rank", "start", "31"), ("cube", "start")):
            wrong = bgserver(*question, "--level", level)
            assert wrong.err == f"error: --level: expected one of {names}, got {level!r}\n"
    wrong = bgserver("rank", "start", "--level", "rollout_slow")
    assert [line.split(": ")[1] for line in wrong.err.splitlines()] == ["dice", "--level"]


def test_a_rollout_level_says_so_where_it_rolls_nothing_out(bgserver: CommandLine) -> None:
    clear = ("rank", "start", "31", "--level", "rollout_fast")
    told = "rollout_fast: nothing was rolled out, as only one play is near the best"
    assert told in bgserver(*clear, "--max", "3").out
    assert told not in bgserver("rank", "start", "41", "--level", "rollout_fast").out
    assert told not in bgserver("rank", "start", "31").out
    answer = bgserver(*clear, "--json").json
    assert answer["rolledOut"] == 0
    assert answer["plays"][0]["level"] == "LEVEL_LOOKAHEAD_2"
    assert {play["preset"] for play in answer["plays"]} == {""}
    assert "rolledOut" not in bgserver("rank", "start", "31", "--json").json
    near = bgserver("rank", "start", "41", "--level", "rollout_fast", "--max", "1", "--json").json
    assert near["rolledOut"] > 1
    # A short bear-off is known exactly.
    ended = "XGID=-B----------------------b-:0:0:1:00:0:0:0:0:10"
    assert "as the figures are exact" in bgserver("cube", ended, "--level", "rollout_fast").out
