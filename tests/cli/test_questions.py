"""Commands that ask one question: answers for people, JSON, exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from google.protobuf import json_format
from typer.testing import CliRunner

from bgserver.cli.app import app
from bgserver.server.config import ServerConfig
from bgserver.v1 import engine_pb2, rules_pb2
from tests.cli.conftest import CommandLine

if TYPE_CHECKING:
    from google.protobuf.message import Message

_XGID = "-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
_HIT = "-1 0 0 0 0 0 5 0 3 0 0 0 -5 5 0 0 0 -3 0 -5 0 0 0 0 2 0"


def test_plays(bgserver: CommandLine) -> None:
    answer = bgserver("plays", "start", "31")
    assert answer.code == 0
    assert "8/5 6/5" in answer.out
    assert "BAR" in answer.out
    assert answer.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("plays", "start", "31"),
        ("plays", _XGID),
        ("plays", f"XGID={_XGID}"),
        ("plays", "4HPwATDgc/ABMA", "3,1"),
    ],
)
def test_every_form_of_the_start_has_the_same_plays(
    bgserver: CommandLine, arguments: tuple[str, ...]
) -> None:
    notations = [play["notation"] for play in bgserver(*arguments, "--json").json["plays"]]
    assert len(notations) == 16
    assert "8/5 6/5" in notations


def test_numbers_that_begin_with_a_minus_sign(bgserver: CommandLine) -> None:
    answer = bgserver("inspect", _HIT, "--json").json
    assert answer["opponentEnteringRolls"] == 35
    assert answer["opponentOff"] == 1


def test_long_nardy(bgserver: CommandLine) -> None:
    answer = bgserver("plays", "nardy-start", "66", "--first-turn", "--json").json
    assert [play["notation"] for play in answer["plays"]] == ["24/18(2)"]
    numbers = "0 " * 12 + "-15 " + "0 " * 11 + "15 0"
    answer = bgserver("plays", numbers, "66", "--nardy", "--first-turn", "--json").json
    assert [play["notation"] for play in answer["plays"]] == ["24/18(2)"]


def test_tables_of_long_nardy_leave_out_what_it_has_not(bgserver: CommandLine) -> None:
    assert "Blots" in bgserver("plays", "start", "66").out
    assert "Blots" not in bgserver("plays", "nardy-start", "66").out
    assert "Enters with" in bgserver("inspect", "start").out
    assert "Enters with" not in bgserver("inspect", "nardy-start").out


def test_inspect_shows_faults_without_a_board(bgserver: CommandLine) -> None:
    answer = bgserver("inspect", "0 16" + " 0" * 24)
    assert answer.code == 0
    assert "TOO_MANY_OWN_CHECKERS" in answer.out
    assert "BAR" not in answer.out


def test_convert(bgserver: CommandLine) -> None:
    answer = bgserver("convert", "start")
    assert "XGID=-b----E-C---eE---c-e----B-" in answer.out
    assert "4HPwATDgc/ABMA:" in answer.out
    assert "0 -2 0 0 0 0 5 0 3" in answer.out


def test_presets(bgserver: CommandLine) -> None:
    answer = bgserver("presets")
    for name in ("money", "tournament", "long_nardy"):
        assert name in answer.out


def test_rules_in_two_languages(bgserver: CommandLine) -> None:
    english = bgserver("rules", "long_nardy")
    assert english.code == 0
    assert "- At most one checker may leave the head in a turn." in english.out
    german = bgserver("rules", "money", "--lang", "de", "--set", "cube_cap=16")
    assert "- Höher als 16 geht der Dopplerwürfel nicht." in german.out
    changed = bgserver("rules", "long_nardy", "--set", "long_nardy.koks=three")
    assert "(koks)" in changed.out


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ("jacoby", "rules"),
        ("jacobi=on", "rules.jacobi"),
        ("jacoby=perhaps", "rules.jacoby"),
        ("cube_cap=many", "rules.cube_cap"),
        ("long_nardy=1", "rules.long_nardy"),
        ("cube.cap=1", "rules.cube.cap"),
    ],
)
def test_a_change_that_is_none(bgserver: CommandLine, change: str, field: str) -> None:
    answer = bgserver("rules", "money", "--set", change)
    assert answer.code == 2
    assert answer.err.startswith(f"error: {field}: ")


def test_eval(bgserver: CommandLine) -> None:
    answer = bgserver("eval", "start")
    assert answer.code == 0
    assert "Cubeless equity" in answer.out


def test_rank(bgserver: CommandLine) -> None:
    answer = bgserver("rank", "start", "31")
    assert answer.code == 0
    assert "10 of 16 plays" in answer.out
    ranking = bgserver("rank", "start", "31", "--max", "0", "--json").json
    equities = [play["equity"] for play in ranking["plays"]]
    assert len(equities) == 16
    assert equities == sorted(equities, reverse=True)
    assert ranking["plays"][0]["equityLoss"] == 0
    assert ranking["plays"][0]["play"]["notation"] == "8/5 6/5"


def test_cube(bgserver: CommandLine) -> None:
    answer = bgserver("cube", "start")
    assert answer.code == 0
    assert "No double" in answer.out
    assert "Cash point" in answer.out


def test_levels_and_times(bgserver: CommandLine) -> None:
    assert "lookahead_1" in bgserver("eval", "start", "--level", "lookahead_1").out
    bear_off = "0 1 2 0 0 3" + " 0" * 14 + " -2 -2 -3" + " 0" * 3
    assert "lookahead_3" in bgserver("rank", bear_off, "21", "--time-ms", "60000").out
    assert "lookahead_3" in bgserver("eval", bear_off, "--time-ms", "60000").out
    assert "lookahead_3" in bgserver("cube", bear_off, "--time-ms", "60000").out


def test_cube_in_a_match(bgserver: CommandLine) -> None:
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:2:3:0:7:10"
    assert "MWC" in bgserver("cube", xgid).out


def test_cube_after_the_roll_says_that_the_dice_are_in_the_way(bgserver: CommandLine) -> None:
    answer = bgserver("cube", "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10")
    assert "Best:" not in answer.out
    assert "The dice are rolled already, so no double is possible now." in answer.out
    assert "what would be right before the roll" in answer.out
    assert "ALREADY_ROLLED" not in answer.out


def test_what_is_about_the_position_before_the_roll_says_so(bgserver: CommandLine) -> None:
    rolled = "XGID=-a-aBBC-B---aD--bd-f----B-:0:0:1:31:0:0:0:0:10"
    for command in (("cube", "--scores", "2"), ("eval",), ("rollout", "--trials", "36")):
        name, *options = command
        assert "before the roll" in bgserver(name, rolled, *options).out
        assert "before the roll" not in bgserver(name, "start", *options).out
    scores = ("--scores", "3", "--json")
    before = rolled.replace(":31:", ":00:")
    assert bgserver("cube", rolled, *scores).out == bgserver("cube", before, *scores).out


def test_why_there_is_no_double_is_said_in_words(bgserver: CommandLine) -> None:
    answer = bgserver("cube", "XGID=-b----E-C---eE---c-e----B-:1:-1:1:31:0:0:0:0:10")
    assert "Best: double not allowed" in answer.out
    assert "the dice are rolled already, the opponent owns the cube" in answer.out


def test_cube_at_every_score(bgserver: CommandLine) -> None:
    answer = bgserver("cube", "start", "--scores", "3")
    assert answer.code == 0
    assert "after the Crawford game" in answer.out
    assert "ND" in answer.out
    assert len(bgserver("cube", "start", "--scores", "3", "--json").json["scores"]) == 13
    assert bgserver("cube", "start", "--scores", "26").code == 2


def test_beavers_and_raccoons(bgserver: CommandLine) -> None:
    crushing = "XGID=-BCCCC------------bbb-bbb-:0:0:1:00:0:0:3:0:10"
    assert "Double / beaver / raccoon" in bgserver("cube", crushing, "--raccoons", "raccooner").out
    assert "raccoon" not in bgserver("cube", crushing).out


def test_market_losers(bgserver: CommandLine) -> None:
    answer = bgserver("cube", "start", "--market")
    assert "of 1,296 exchanges" in answer.out
    losers = bgserver("cube", "start", "--market", "--json").json["marketLosers"]
    assert len(losers["rolls"]) == 21


def test_info(bgserver: CommandLine) -> None:
    answer = bgserver("info")
    assert "static" in answer.out
    assert "rollout_fast@1, rollout_medium@1, rollout_deep@1" in answer.out
    assert "Match equity table" in answer.out
    told = bgserver("info", "--json").json["limits"]
    lines = answer.out.splitlines()
    for name, limit in told.items():
        assert any(f"{limit:,}" in line for line in lines), name
    assert len([line for line in lines if line.startswith(("Most", "Largest"))]) == len(told)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plays", "start", "31"), rules_pb2.ListPlaysResponse),
        (("inspect", "start"), rules_pb2.InspectPositionResponse),
        (("convert", "start"), rules_pb2.ConvertPositionResponse),
        (("presets",), rules_pb2.ListPresetsResponse),
        (("rules", "joypip"), rules_pb2.DescribeRulesResponse),
        (("eval", "start"), engine_pb2.EvaluateResponse),
        (("rank", "start", "31"), engine_pb2.RankPlaysResponse),
        (("cube", "start"), engine_pb2.AdviseCubeResponse),
        (("cube", "start", "--scores", "2"), engine_pb2.AdviseCubeByScoreResponse),
        (("info",), engine_pb2.GetInfoResponse),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_json_is_the_message_and_nothing_else(
    bgserver: CommandLine, arguments: tuple[str, ...], message: type[Message]
) -> None:
    answer = bgserver(*arguments, "--json")
    assert answer.code == 0
    assert answer.out.count("\n") == 1
    parsed = json_format.Parse(answer.out, message())
    assert parsed.ByteSize() > 0


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (("plays", "start", "71"), ["dice.first"]),
        (("plays", "start", "70"), ["dice.first", "dice.second"]),
        (("plays", "start", "3x"), ["dice"]),
        (("plays", "start"), ["dice"]),
        (("eval", "0 1 2"), ["position.position.points"]),
        (("eval", "start", "--time-ms", "0"), ["--time-ms"]),
        (("eval", "start", "--time-ms", "-1"), ["--time-ms"]),
        (("rank", "start", "--time-ms", "600001"), ["dice", "--time-ms"]),
        (("cube", "start", "--time-ms", "5", "--level", "static"), ["--level"]),
        (("cube", "start", "--scores", "3", "--market"), ["scores"]),
        (("cube", "start", "--raccoons", "beaverer"), ["raccoons"]),
        (("rank", "nonsense", "31"), ["position"]),
        (("rank", "nonsense", "3x", "--level", "deep"), ["position", "dice", "--level"]),
        (("cube", "nonsense", "--scores", "3", "--market"), ["position", "scores"]),
        (("plays", "start", "33", "--first-turn"), ["--first-turn"]),
        (("rank", _XGID, "--first-turn", "--level", "deep"), ["--first-turn", "--level"]),
        (("plays", "start", "31", "--nardy"), ["--nardy"]),
        (("eval", "4HPwATDgc/ABMA", "--nardy", "--level", "deep"), ["--nardy", "--level"]),
        (("inspect", _XGID, "--nardy"), ["--nardy"]),
        (("bot", "nardy-start", "66", "--cube", "--first-turn"), ["dice", "--first-turn"]),
        (("rollout", "start", "--max", "3"), ["--max"]),
        (("rollout", "start", "31", "--plays", "8/5 6/5", "--max", "3"), ["--max"]),
        (
            ("rollout", "nardy-start", "--first-turn", "--cube-level", "static"),
            ["--first-turn", "--cube-level"],
        ),
        (
            ("rollout", "start", "3x", "--cubeless", "--early-cube-level", "static"),
            ["dice", "--early-cube-level"],
        ),
        (("simulate", "1", "--no-cube", "--cube-cap", "8"), ["--cube-cap"]),
        (
            ("rank", "XGID=non:sense", "31"),
            ["position.xgid", "position.xgid.position", "position.xgid.cube_value"],
        ),
    ],
)
def test_bad_input_names_each_field_and_ends_with_2(
    bgserver: CommandLine, arguments: tuple[str, ...], fields: list[str]
) -> None:
    answer = bgserver(*arguments, "--json")
    assert answer.code == 2
    assert answer.out == ""
    told = [line.removeprefix("error: ").split(": ")[0] for line in answer.err.splitlines()]
    assert told == fields


def test_a_token_without_a_server_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = CommandLine(["--token", "sesame"])("presets")
    assert typed.code == 2
    assert typed.err == "error: --token: it is for a server, which --address names\n"
    monkeypatch.setenv("BGSERVER_TOKEN", "sesame")
    assert CommandLine([])("presets").code == 0


def test_an_xgid_without_its_end_is_told_so(bgserver: CommandLine) -> None:
    answer = bgserver("plays", "xgid=-b----E-C---eE---c-e----B-", "31")
    assert answer.code == 2
    words = "expected 10 fields between colons, got 1"
    assert answer.err == f"error: position.xgid: {words}\n"


def test_whoever_does_not_know_how_dice_are_given_is_told(bgserver: CommandLine) -> None:
    for command in ("rank", "bot", "plays"):
        answer = bgserver(command, "start")
        assert answer.code == 2
        (line,) = answer.err.splitlines()
        assert line.endswith(f"so the request must give one; for example: {command} start 31")
    two_words = bgserver("rank", "start", "3", "1")
    assert two_words.code == 2
    assert "dice are one word: 31" in two_words.err
    assert "dice" not in bgserver("eval", "start", "3", "1").err


def test_finished_game_ends_with_2(bgserver: CommandLine) -> None:
    answer = bgserver("plays", "0 -2" + " 0" * 24, "31")
    assert answer.code == 2
    assert answer.err.startswith("error: ")
    assert answer.err.count("\n") == 1


def test_help_of_serve_tells_the_defaults() -> None:
    text = CliRunner().invoke(app, ["serve", "--help"]).stdout
    for name, field in ServerConfig.model_fields.items():
        if f"--{name.replace('_', '-')}" in text and isinstance(field.default, int):
            assert f"[{field.default}]" in text, name


def test_bot(bgserver: CommandLine) -> None:
    answer = bgserver("bot", "start", "62", "--player", "lookahead_1:40", "--seed", "3")
    assert answer.code == 0
    assert "loses 0." in answer.out
    again = ["bot", "start", "62", "-p", "beginner", "--seed", "3", "--turn", "7", "--json"]
    first = bgserver(*again)
    assert json_format.Parse(first.out, engine_pb2.ChoosePlayResponse()).seed == 3
    assert bgserver(*again).out == first.out
    cube = bgserver("bot", "start", "--cube", "--player", "20", "--seed", "3")
    assert "roll, loses 0.000" in cube.out
    for wrong in (["bot", "start", "62", "-p", "genius"], ["bot", "start"]):
        assert bgserver(*wrong).code == 2
