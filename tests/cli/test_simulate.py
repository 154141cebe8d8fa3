"""`bgserver simulate`: statistics, records, repeatability."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from google.protobuf import json_format

from bgserver.v1 import simulation_pb2

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import CommandLine


def test_table(bgserver: CommandLine) -> None:
    answer = bgserver("simulate", "40", "--second", "random", "--seed", "3")
    assert answer.code == 0
    for words in ("Points a game", "Games won %", "Gammons", "40 games in", "seed 3"):
        assert words in answer.out


def test_json_is_the_final_statistics(bgserver: CommandLine) -> None:
    answer = bgserver("simulate", "40", "--seed", "3", "--second", "random", "--json")
    statistics = json_format.Parse(answer.out, simulation_pb2.SimulationStatistics())
    assert statistics.final
    assert statistics.games == 40
    assert sum(statistics.first_wins) + sum(statistics.second_wins) == 40
    assert statistics.game_win_rate.mean > 0.7
    again = bgserver("simulate", "40", "--seed", "3", "--second", "random", "--json")
    assert again.out == answer.out


def test_strengths(bgserver: CommandLine) -> None:
    answer = bgserver("simulate", "20", "--players", "beginner,40", "--seed", "3")
    assert answer.code == 0
    for words in ("beginner (first)", "40 (second)", "Loss of a play"):
        assert words in answer.out
    each = ["simulate", "20", "--first", "beginner", "--second", "static:40", "--seed", "3"]
    together = ["simulate", "20", "--players", " beginner, 40", "--seed", "3"]
    assert bgserver(*each, "--json").json == bgserver(*together, "--json").json


def test_records_are_one_line_each(bgserver: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    arguments = ["simulate", "10", "--seed", "3", "--second", "random", "--records", str(file)]
    assert bgserver(*arguments).code == 0
    games = [json.loads(line)["game"] for line in file.read_text().splitlines()]
    assert sorted(game["index"] for game in games) == list(range(10))
    assert all(game["turns"] == len(game["record"]) for game in games)
    assert games[0]["record"][0]["play"]


def test_matches(bgserver: CommandLine) -> None:
    arguments = ["simulate", "4", "--preset", "tournament", "--match-length", "5"]
    answer = bgserver(*arguments, "--second", "random")
    assert "Matches won %" in answer.out
    assert "4 matches, " in answer.out


def test_rules_reach_the_games(bgserver: CommandLine) -> None:
    with_cube = bgserver("simulate", "30", "--seed", "5", "--cube", "--json").json
    without = bgserver("simulate", "30", "--seed", "5", "--no-cube", "--json").json
    assert with_cube["meanCube"] > 1
    assert without["meanCube"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "0"],
        ["simulate", "5", "--preset", "no-such-rules"],
        ["simulate", "5", "--cube-cap", "3"],
        ["simulate", "5", "--first", "genius"],
        ["simulate", "5", "--first", "101"],
        ["simulate", "5", "--players", "beginner"],
        ["simulate", "5", "--players", "beginner,expert", "--second", "random"],
        ["simulate", "5", "--seed", "-1"],
    ],
)
def test_bad_input_ends_with_2(bgserver: CommandLine, arguments: list[str]) -> None:
    answer = bgserver(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err


def test_a_file_that_cannot_be_written_is_told(bgserver: CommandLine, tmp_path: Path) -> None:
    answer = bgserver("simulate", "5", "--records", str(tmp_path / "no" / "folder"))
    assert answer.code == 1
    assert answer.err.startswith("error: ")


def test_any_rule_can_be_set(bgserver: CommandLine) -> None:
    arguments = ["simulate", "4", "--seed", "3", "--second", "random", "--json"]
    changed = bgserver(*arguments, "--set", "cube=off", "--set", "highest_result=1")
    statistics = json_format.Parse(changed.out, simulation_pb2.SimulationStatistics())
    assert statistics.mean_cube == 1
    assert list(statistics.first_wins[1:]) == [0, 0]


def test_what_takes_longer_than_its_timeout_names_the_option(bgserver: CommandLine) -> None:
    answer = bgserver("simulate", "100000", "--timeout", "0.3")
    assert answer.code == 3
    assert answer.err == "error: not done within 0.3 s; a longer --timeout allows more\n"
