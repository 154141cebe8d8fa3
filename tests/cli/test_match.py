"""`bgserver match`: tables, state files, plots, engines elsewhere."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest
from google.protobuf import json_format

from bgserver.cli.options import DEPTHS
from bgserver.v1 import simulation_pb2
from tests.cli.conftest import CommandLine
from tests.serving import BGSERVER

if TYPE_CHECKING:
    from pathlib import Path

_MATCH = ("match", "static", "random", "--seed", "3")


@pytest.fixture
def remote(server_address: str) -> CommandLine:
    """The command line with a server: it need not load an engine for each command."""
    return CommandLine(["--address", server_address])


def statistics_of(text: str) -> simulation_pb2.SimulationStatistics:
    return json_format.Parse(text, simulation_pb2.SimulationStatistics())


def test_table(bgserver: CommandLine) -> None:
    answer = bgserver(*_MATCH, "-n", "20", "--judge", "static", "--preset", "classic")
    assert answer.code == 0
    for words in (
        "Points a game", "Gammon rate %", "Doubles", "Judged loss, mEq a play", "Turns a game",
        "Chance between equals", "20 games", "seed 3",
    ):  # fmt: skip
        assert words in answer.out


def test_a_match_is_a_simulation_with_the_same_dice_for_both(remote: CommandLine) -> None:
    found = statistics_of(remote(*_MATCH, "-n", "12", "--json").out)
    assert found.final
    assert (found.games, found.observations) == (12, 6)
    assert found.points_per_game.mean > 0
    assert found.p_value < 1


def test_two_games_are_too_few_to_tell(remote: CommandLine) -> None:
    answer = remote(*_MATCH, "-n", "2").out
    assert answer.count("too few") == 2
    found = statistics_of(remote(*_MATCH, "-n", "2", "--json").out)
    assert not found.HasField("p_value")
    assert found.points_per_game.high == float("inf")
    assert found.game_win_rate.low < found.game_win_rate.high


def test_matches_under_changed_rules(remote: CommandLine) -> None:
    arguments = ("-n", "4", "--preset", "tournament", "--set", "holland=on", "--match-length", "5")
    found = statistics_of(remote(*_MATCH, *arguments, "--json").out)
    assert found.matches == 4
    assert found.games >= 4


def test_a_state_file_goes_on_where_it_was(remote: CommandLine, tmp_path: Path) -> None:
    whole = remote(*_MATCH, "-n", "9", "--json").out
    file = tmp_path / "match.jsonl"
    for count in ("3", "6"):
        answer = remote(*_MATCH, "-n", count, "--state", str(file), "--json")
        assert statistics_of(answer.out).games == int(count)
    lines = file.read_bytes().splitlines(keepends=True)
    assert len(lines) == 7
    # A process that was killed while it wrote: the last line is not whole.
    file.write_bytes(b"".join(lines[:-1]) + lines[-1][:100])
    assert remote(*_MATCH, "-n", "9", "--state", str(file), "--json").out == whole
    assert file.read_bytes().splitlines(keepends=True)[:7] == lines
    # All has been played: nothing more is, and the answer is the same.
    assert remote(*_MATCH, "-n", "9", "--state", str(file), "--json").out == whole


def test_a_state_file_keeps_the_seed(remote: CommandLine, tmp_path: Path) -> None:
    arguments = ("match", "random", "random", "--state", str(tmp_path / "m"), "--json")
    first = statistics_of(remote(*arguments, "-n", "2").out)
    second = statistics_of(remote(*arguments, "-n", "4").out)
    assert second.seed == first.seed
    assert second.games == 4


def test_a_state_file_of_another_match(remote: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    remote(*_MATCH, "-n", "2", "--state", str(file))
    before = file.read_bytes()
    answer = remote("match", "static", "static", "-n", "2", "--state", str(file))
    assert answer.code == 2
    assert "different are second" in answer.err, answer.err
    assert file.read_bytes() == before
    file.write_text("something else\n")
    answer = remote(*_MATCH, "-n", "2", "--state", str(file))
    assert answer.code == 2
    assert "no state file" in answer.err


def test_a_damaged_line_is_named(remote: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    remote(*_MATCH, "-n", "4", "--state", str(file))
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:2], lines[1], *lines[3:]]) + "\n")
    answer = remote(*_MATCH, "-n", "6", "--state", str(file))
    assert answer.code == 2
    assert "line 3" in answer.err


def test_kill_9_loses_only_what_was_in_work(remote: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    arguments = [*_MATCH, "--state", str(file)]
    process = subprocess.Popen([*BGSERVER, *arguments, "-n", "1000000"], stdout=subprocess.DEVNULL)
    try:
        while not file.exists() or file.read_bytes().count(b"\n") < 8:
            assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = file.read_bytes()
    games = kept.count(b"\n") - 1
    answer = remote(*arguments, "-n", str(games + 6), "--json")
    assert statistics_of(answer.out) == statistics_of(
        remote(*_MATCH, "-n", str(games + 6), "--json").out
    )
    assert file.read_bytes().startswith(kept[: kept.rindex(b"\n") + 1])


def test_state_lines_are_plain_json(remote: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "match.jsonl"
    remote(*_MATCH, "-n", "2", "--preset", "traditional", "--state", str(file))
    head, *units = (json.loads(line) for line in file.read_text().splitlines())
    assert head["request"]["seed"] == 3
    assert [unit["games"][0].get("unit", 0) for unit in units] == [0, 1]


@pytest.mark.parametrize("command", [("match", "boss", "static", "-n", "2"), ("simulate", "2")])
def test_every_fault_is_named(remote: CommandLine, command: tuple[str, ...]) -> None:
    changes = ("foo=bar", "cube_cap=3", "jacoby=maybe", "long_nardy.koks=5", "long_nardy")
    arguments = [word for change in changes for word in ("--set", change)]
    answer = remote(*command, *arguments, "--match-length", "4", "--preset", "joypip")
    assert answer.code == 2
    fields = [line.removeprefix("error: ").partition(": ")[0] for line in answer.err.splitlines()]
    players = ["first"] if command[0] == "match" else []
    assert fields == [
        *players, "rules.foo", "rules.jacoby", "rules.long_nardy.koks", "rules", "rules.cube_cap",
        "--match-length",
    ]  # fmt: skip


def test_faults_of_a_server_alone_are_its_own(remote: CommandLine) -> None:
    """What is typed well does not depend on the settings of the machine it is typed at."""
    answer = remote(*_MATCH, "-n", "4000000000", "--set", "foo=bar")
    assert answer.code == 2
    assert answer.err.startswith("error: rules.foo: ")
    assert answer.err.count("error: ") == 1


def test_who_cannot_be_read_may_play_elsewhere(remote: CommandLine) -> None:
    answer = remote("match", "boss@127.0.0.1:1", "static", "-n", "2", "--decision-ms", "5")
    assert answer.code == 2
    assert answer.err.startswith("error: first: ")
    assert answer.err.count("error: ") == 1


def test_judges_are_levels_that_judge(remote: CommandLine) -> None:
    answer = remote(*_MATCH, "-n", "2", "--judge", "random")
    assert answer.code == 2
    names = ", ".join(repr(name) for name in DEPTHS)
    assert f"'random' is not one of {names}" in " ".join(answer.err.replace("│", " ").split())
    assert "LEVEL_" not in answer.err


def test_a_time_without_a_player_elsewhere_is_refused(remote: CommandLine) -> None:
    answer = remote(*_MATCH, "-n", "2", "--decision-ms", "5")
    assert answer.code == 2
    assert answer.err.startswith("error: --decision-ms: ")


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_plots(remote: CommandLine, tmp_path: Path, kind: str) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / f"score.{kind}"
    assert remote(*_MATCH, "-n", "12", "--plot", str(file)).code == 0
    start = file.read_bytes()[:100]
    assert start.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind])


def test_plots_that_cannot_be_drawn_are_refused_before_the_match(
    remote: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "folder.png").mkdir()
    state = tmp_path / "state"
    for name, words in (
        ("x.txt", [".png, .svg, .pdf", "x.txt"]),
        ("score", [".png, .svg, .pdf"]),
        ("none/score.png", ["there is no folder"]),
        ("none/score.txt", [".png, .svg, .pdf", "there is no folder"]),
        ("folder.png", ["is a folder"]),
    ):
        answer = remote(
            *_MATCH, "-n", "1000000", "--state", str(state), "--plot", str(tmp_path / name)
        )
        assert answer.code == 2
        assert all(line.startswith("error: --plot: ") for line in answer.err.splitlines())
        for word in words:
            assert word in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["folder.png"]


def test_an_engine_elsewhere(remote: CommandLine, server_address: str) -> None:
    arguments = ("random", "-n", "2", "--seed", "1", "--json")
    here = statistics_of(remote("match", "beginner", *arguments).out)
    elsewhere = CommandLine([])("match", f"beginner@{server_address}", *arguments)
    there = statistics_of(elsewhere.out)
    assert here.points_per_game == there.points_per_game
    assert here.mean_turns == there.mean_turns
    # Callers of a server must not make it talk to others.
    refused = remote("match", f"beginner@{server_address}", *arguments)
    assert refused.code == 2
    assert "remote_engines" in refused.err


def test_a_match_against_nobody_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "match.jsonl"
    answer = CommandLine([])("match", "static", "static@127.0.0.1:9", "--state", str(state))
    assert answer.code == 3
    assert answer.out == ""
    assert answer.err.startswith("error: second.address: 127.0.0.1:9 cannot be reached")
    assert not state.exists()


@pytest.mark.parametrize(
    ("player", "words"),
    [
        ("static@", "PLAYER@HOST:PORT"),
        ("static@nowhere", "error: first: expected host:port, got 'nowhere'"),
        ("static@nowhere:99999", "error: first: expected a port from 1 to 65535"),
        ("static@nowhere:1", "remote_engines"),
        ("boss", "level"),
    ],
)
def test_players_that_are_none(remote: CommandLine, player: str, words: str) -> None:
    answer = remote("match", player, "static", "-n", "1")
    assert answer.code == 2
    assert words in answer.err
