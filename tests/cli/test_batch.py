"""`bgserver batch`: a file of questions, answered anywhere, whatever happens meanwhile."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import positions
from tests.cli.conftest import CommandLine
from tests.dask_cluster import dask_cluster
from tests.serving import BGSERVER, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE_S = 120
_BAD = "no position at all"


def _questions(count: int) -> list[str]:
    """Plays, evaluations and cube decisions of random positions; every twentieth is none."""
    cases = positions.cases("backgammon", 3)
    lines = []
    for number in range(count):
        case = next(cases)
        while not any(n > 0 for n in case.board) or not any(n < 0 for n in case.board):
            case = next(cases)
        line: dict[str, Any] = {"id": f"q{number}", "position": list(case.board), "max_plays": 2}
        if number % 3 == 0:
            line["dice"] = [1 + number % 6, 1 + number % 5]
        elif number % 3 == 1:
            line["kind"] = "cube"
        lines.append(_BAD if number % 20 == 19 else json.dumps(line))
    return lines


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("batch") / "in.jsonl"
    path.write_text("\n".join(_questions(200)) + "\n")
    return path


@pytest.fixture(scope="module")
def deep_questions(questions: Path) -> Path:
    """So few that looking two rolls ahead does not take long, and enough to be interrupted."""
    path = questions.with_name("deep.jsonl")
    path.write_text("".join(questions.read_text().splitlines(keepends=True)[:80]))
    return path


@pytest.fixture(scope="module")
def expected(questions: Path) -> bytes:
    """The answers, from one thread in one go."""
    output = questions.with_name("expected.jsonl")
    outcome = CommandLine([])("batch", str(questions), str(output), *_LEVEL, "--threads", "1")
    assert outcome.code == 1  # some questions are none
    return output.read_bytes()


_LEVEL = ("--level", "lookahead_1")


def test_every_question_is_answered_in_order(expected: bytes, questions: Path) -> None:
    answers = [json.loads(line) for line in expected.splitlines()]
    lines = questions.read_text().splitlines()
    assert [answer["line"] for answer in answers] == list(range(1, len(lines) + 1))
    for line, answer in zip(lines, answers, strict=True):
        if line == _BAD:
            assert answer["error"]["faults"][0]["reason"] == "NOT_A_POSITION"
            continue
        asked = json.loads(line)
        assert answer["id"] == asked["id"]
        kind = "rankPlays" if "dice" in asked else "adviseCube" if "kind" in asked else "evaluate"
        assert set(answer) == {"line", "id", kind}


def test_same_bytes_from_everyone(
    bgserver: CommandLine, questions: Path, expected: bytes, tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    outcome = bgserver("batch", str(questions), str(output), *_LEVEL)
    assert outcome.code == 1
    assert output.read_bytes() == expected
    assert "line 20: position: expected an XGID" in outcome.err
    assert "and 5 more" in outcome.err
    assert "200 lines in" in outcome.out
    assert "without an answer: INVALID_INPUT" in outcome.out


@pytest.mark.parametrize("threads", ["2", "8"])
def test_same_bytes_on_any_number_of_threads(
    questions: Path, expected: bytes, tmp_path: Path, threads: str
) -> None:
    output = tmp_path / "out.jsonl"
    CommandLine([])("batch", str(questions), str(output), *_LEVEL, "--threads", threads)
    assert output.read_bytes() == expected


def test_the_summary_as_json_counts_what_was_there_too(
    bgserver: CommandLine, tmp_path: Path
) -> None:
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    # The last roll, with 19 of 36 chances, whatever the networks say.
    cube = [0, 0, 1, 0, 0, 1] + [0] * 18 + [-1, 0]
    source.write_text(f'start\nstart\n{{"position": {cube}, "kind": "cube"}}\n')
    first = bgserver("batch", str(source), str(output), "--json").json
    assert (first["lines"], first["new"], first["errors"]) == (3, 3, {})
    assert first["equities"]["evaluate"]["count"] == 2
    assert first["equities"]["evaluate"]["sd"] == 0
    assert first["actions"] == {"double/take": 1}
    with source.open("a") as file:
        file.write('{"position": "start", "dice": "31"}\n')
    second = bgserver("batch", str(source), str(output), "--json").json
    assert (second["lines"], second["new"]) == (4, 1)
    assert second["equities"]["cube"] == first["equities"]["cube"]
    assert second["equities"]["plays"]["count"] == 1


def test_levels_that_roll_out(bgserver: CommandLine, tmp_path: Path) -> None:
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    cube = "XGID=-a-aBBC-B---aD--bd-f----B-:0:0:1:00:0:0:0:0:10"
    source.write_text(
        f'{{"position": "start", "dice": "41"}}\n{{"xgid": "{cube}", "kind": "cube"}}\n'
        '{"position": "start", "dice": "31"}\n'
    )
    level = ("--level", "rollout_fast")
    first = bgserver("batch", str(source), str(output), *level)
    assert first.code == 0, first.err
    whole = output.read_bytes()
    plays, advice, clear = (json.loads(line) for line in whole.splitlines())
    assert plays["rankPlays"]["plays"][0]["preset"] == "rollout_fast@1"
    assert advice["adviseCube"]["preset"] == "rollout_fast@1"
    assert clear["rankPlays"]["rolledOut"] == 0
    # It goes on where it was, with the version that the level had and no other level.
    output.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
    versioned = bgserver("batch", str(source), str(output), "--level", "rollout_fast@1")
    assert "1 lines in" in versioned.out
    assert output.read_bytes() == whole
    other = bgserver("batch", str(source), str(output), "--level", "rollout_deep")
    assert "level was 'rollout_fast@1' and is 'rollout_deep@1'" in other.err


def test_a_file_that_is_no_batch_at_all(bgserver: CommandLine, tmp_path: Path) -> None:
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(f"{_BAD}\n" * 3000)
    outcome = bgserver("batch", str(source), str(output))
    assert outcome.code == 1
    assert "and 2,995 more" in outcome.err
    lines = output.read_bytes().splitlines()
    assert [json.loads(line)["line"] for line in lines] == list(range(1, 3001))
    assert {json.loads(line)["error"]["faults"][0]["reason"] for line in lines} == {
        "NOT_A_POSITION"
    }


def test_what_cannot_be_done_is_refused_before_any_work(
    bgserver: CommandLine, tmp_path: Path
) -> None:
    source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("start\n")
    for arguments, text in (
        ((str(source), str(tmp_path / "no" / "out.jsonl")), "there is no folder"),
        ((str(tmp_path / "none.jsonl"), str(output)), "error: IN: there is no file"),
        ((str(source), str(source)), "another file"),
        ((str(source), str(output), "--level", "static", "--time-ms", "5"), "level or a time"),
        ((str(source), str(output), "--level", "random"), "error: --level: expected one of"),
        ((str(source), str(output), "--level", "rollout_slow"), "lookahead_3, rollout_fast@1, "),
        (
            (str(source), str(output), "--rollout", "--level", "rollout_fast"),
            "error: --level: a rollout plays at one of static, ",
        ),
        ((str(source), "/dev/null"), "OUT must be a regular file"),
        ((str(source), "/dev/full"), "OUT must be a regular file"),
        ((str(source), str(tmp_path)), "OUT must be a regular file"),
        ((str(tmp_path / "none.jsonl"), str(tmp_path)), "OUT must be a regular file"),
        ((str(tmp_path), str(output)), "IN must be a regular file"),
        ((str(source), str(output), "--rollout", "--se", "0.1"), "expected --trials"),
        ((str(source), str(output), "--trials", "5"), "--trials: only with --rollout"),
        (
            (str(source), str(output), "--se", "0.1", "--truncate", "5"),
            "--se: only with --rollout; a line may say it in its own rollout\nerror: --truncate: ",
        ),
        (
            (str(source), str(output), "--plot", str(tmp_path / "no" / "a.png")),
            "there is no folder",
        ),
        ((str(source), str(output), "--plot", str(tmp_path / "a.txt")), "error: --plot: expected"),
        (
            (
                *(str(source), str(output), "--level", "static", "--time-ms", "5"),
                *("--trials", "5", "--plot", str(tmp_path / "no" / "a.txt")),
                *("--cluster", "tcp://h:1", "--address", "h:1"),
            ),
            (
                "error: --level: expected a level or a time, got both\n"
                "error: --trials: only with --rollout; a line may say it in its own rollout\n"
                "error: --cluster: expected a server or a cluster, got both\n"
                "error: --plot: "
            ),
        ),
    ):
        outcome = bgserver("batch", *arguments)
        assert outcome.code in {1, 2}
        assert text in outcome.err
        assert not output.exists()
        assert not list(tmp_path.parent.glob("*.settings.json"))
    assert not Path("/dev/null.settings.json").exists()
    assert bgserver("batch", str(source), str(output)).code == 0
    outcome = bgserver("batch", str(source), str(output), *_LEVEL)
    assert outcome.code == 2
    assert "level was not given and is 'lookahead_1'" in outcome.err
    assert bgserver("batch", str(source), str(output), *_LEVEL, "--overwrite").code == 0


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `bgserver batch` as processes that do not outlive the test."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*BGSERVER, "batch", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def _wait_for_lines(output: Path, count: int, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not output.exists() or output.read_bytes().count(b"\n") < count:
        assert process.poll() in {None, 0, 1}
        if process.poll() is not None:
            return
        assert time.monotonic() < end
        threading.Event().wait(0.002)


def test_killed_again_and_again_it_loses_and_repeats_nothing(
    started: Callable[..., subprocess.Popen[str]], questions: Path, expected: bytes, tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    chance = random.Random(5)
    for _ in range(2):
        process = started(str(questions), str(output), *_LEVEL)
        there = output.read_bytes().count(b"\n") if output.exists() else 0
        _wait_for_lines(output, there + chance.randrange(1, 30), process)
        process.kill()
        process.wait()
        assert expected.startswith(output.read_bytes())
    # The system wrote half a line, as it may when the machine itself goes down.
    output.write_bytes(output.read_bytes()[:-7])
    last = started(str(questions), str(output), *_LEVEL)
    last.communicate(timeout=_PATIENCE_S)
    assert last.returncode == 1
    assert output.read_bytes() == expected


def test_ctrl_c_says_that_it_goes_on(
    started: Callable[..., subprocess.Popen[str]], questions: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out.jsonl"
    process = started(str(questions), str(output), "--level", "lookahead_2")
    _wait_for_lines(output, 2, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=_PATIENCE_S)
    assert process.returncode == 130
    assert "the same command goes on" in errors


def test_a_cluster_gives_the_same_bytes_and_its_end_can_be_survived(
    started: Callable[..., subprocess.Popen[str]],
    questions: Path,
    deep_questions: Path,
    expected: bytes,
    tmp_path: Path,
) -> None:
    output, other = tmp_path / "out.jsonl", tmp_path / "other.jsonl"
    with dask_cluster(2) as processes:
        cluster = ("--cluster", processes.address)
        outcome = CommandLine([])("batch", str(questions), str(output), *_LEVEL, *cluster)
        assert outcome.code == 1
        assert output.read_bytes() == expected
        # Deep enough to be in work when the scheduler goes.
        deep = ("--level", "lookahead_3")
        few = tmp_path / "few.jsonl"
        few.write_text("".join(deep_questions.read_text().splitlines(keepends=True)[:30]))
        second = started(str(few), str(other), *deep, *cluster)
        _wait_for_lines(other, 1, second)
        processes.scheduler.kill()
        _, errors = second.communicate(timeout=_PATIENCE_S)
    assert second.returncode == 3
    assert "the same command goes on\nerror: the connection to the Dask scheduler at" in errors
    assert "Traceback" not in errors
    answered = other.read_bytes()
    here = CommandLine([])("batch", str(few), str(other), *deep)
    assert here.code == 1
    assert other.read_bytes().startswith(answered)
    assert other.read_bytes().count(b"\n") == 30


def test_a_server_that_goes_away_can_be_survived(
    started: Callable[..., subprocess.Popen[str]], deep_questions: Path, tmp_path: Path
) -> None:
    output, expected = tmp_path / "out.jsonl", tmp_path / "expected.jsonl"
    deep = ("--level", "lookahead_2")
    with serving() as address:
        process = started(str(deep_questions), str(output), *deep, "--address", address)
        _wait_for_lines(output, 1, process)
    # The server has been stopped in good order, in the middle of the batch.
    _, errors = process.communicate(timeout=_PATIENCE_S)
    assert process.returncode == 3
    assert "the same command goes on\nerror: " in errors
    assert "Traceback" not in errors
    assert CommandLine([])("batch", str(deep_questions), str(output), *deep).code == 1
    assert CommandLine([])("batch", str(deep_questions), str(expected), *deep).code == 1
    assert output.read_bytes() == expected.read_bytes()


def test_what_cannot_be_a_scheduler_is_refused_with_all_else(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("{}\n")
    places = (str(tmp_path / "in"), str(tmp_path / "out"))
    idle = ("--threads", "2", "--token", "sesame", "--timeout", "3")
    wrong = ("--cluster", "nonsense://x:1", "--trials", "5", *idle)
    outcome = CommandLine([])("batch", *places, *wrong)
    assert outcome.code == 2
    for option in idle[::2]:
        assert f"error: {option}: " in outcome.err
    expected = "expected tcp://HOST:PORT, for example tcp://127.0.0.1:8786"
    assert f"error: --cluster: {expected}, got 'nonsense://x:1'\n" in outcome.err
    assert "error: --trials: " in outcome.err


def test_a_cluster_and_a_server_are_not_both_asked(tmp_path: Path) -> None:
    arguments = ("in", "out", "--cluster", "tcp://127.0.0.1:9", "--address", "127.0.0.1:9")
    outcome = CommandLine([])("batch", *arguments)
    assert outcome.code == 2
    assert "got both" in outcome.err
    assert not (tmp_path / "out").exists()


def test_rollouts_and_the_picture(bgserver: CommandLine, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    source, picture = tmp_path / "in.jsonl", tmp_path / "equities.png"
    cube = "XGID=-a-aBBC-B---aD--bd-f----B-:0:0:1:00:0:0:0:0:10"
    questions = ("start", '{"position": "start", "dice": "31"}', cube)
    source.write_text("\n".join(questions) + f'\n{{"xgid": "{cube}", "kind": "cube"}}\n')
    output = tmp_path / "out.jsonl"
    settings = ("--rollout", "--trials", "72", "--truncate", "5", "--max", "2")
    outcome = bgserver(
        "batch", str(source), str(output), *settings, "--plot", str(picture), "--json"
    )
    assert outcome.code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert outcome.json["equities"]["rollout"]["count"] == 4
    assert outcome.json["standardErrors"]["max"] > 0
    (action,) = outcome.json["actions"]
    assert action.startswith("double/")
    again = tmp_path / "again.jsonl"
    assert CommandLine([])("batch", str(source), str(again), *settings).code == 0
    assert again.read_bytes() == output.read_bytes()
    plays = json.loads(output.read_bytes().splitlines()[1])
    assert len(plays["rollout"]["entries"]) == 2
    assert [point["trials"] for point in plays["convergence"]] == [36, 72]
