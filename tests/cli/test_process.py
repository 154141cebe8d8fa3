"""The command line as a process: start, signals, pipes, the server."""

from __future__ import annotations

import base64
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver import __version__
from bgserver.engine.position import Position
from tests.serving import BGSERVER, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

_LIMIT_S = 60
_ENDLESS = "10000000"


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BGSERVER, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        env={**os.environ, **environment},
    )


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def _start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*BGSERVER, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_version() -> None:
    result = _run("--version")
    assert (result.returncode, result.stdout) == (0, f"bgserver {__version__}\n")


def test_help_names_every_command() -> None:
    result = _run("--help")
    assert result.returncode == 0
    for command in [
        "serve",
        "warmup",
        "plays",
        "inspect",
        "convert",
        "presets",
        "eval",
        "rank",
        "cube",
        "info",
        "simulate",
        "call",
        "play",
        "games",
    ]:
        assert f" {command} " in result.stdout


def test_help_groups_every_command_and_the_rarest_come_last() -> None:
    groups = re.findall("─ ([A-Z][a-z]+) ─", _run("--help").stdout)
    assert groups == ["Options", "Server", "Rules", "Engine", "Scripts", "Games", "Training"]


@pytest.mark.parametrize("command", ["plays", "serve", "call"])
def test_help_and_questions_to_a_server_do_not_load_numba(command: str) -> None:
    script = (
        "import sys\n"
        "from bgserver.cli.app import app\n"
        "from bgserver.cli.transport import GrpcTransport\n"
        f"app({[command, '--help']!r}, standalone_mode=False)\n"
        "slow = {'numba', 'numpy'} & set(sys.modules)\n"
        "assert not slow, slow\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


def test_usage_errors_end_with_2() -> None:
    for arguments in (["plays"], ["no-such-command"], ["plays", "start", "--no-such-option"]):
        result = _run(*arguments)
        assert result.returncode == 2
        assert result.stdout == ""


def test_unreachable_server_ends_with_3() -> None:
    result = _run("plays", "start", "31", "--address", "127.0.0.1:9")
    assert result.returncode == 3
    assert result.stderr.startswith("error: cannot reach a server at 127.0.0.1:9")
    assert "start one with `bgserver serve`, or leave --address away" in result.stderr
    assert result.stderr.count("\n") == 1


def test_silent_server_ends_with_3_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        result = _run("plays", "start", "31", "--address", address, "--timeout", "0.3")
    assert result.returncode == 3
    assert result.stderr == "error: not done within 0.3 s; a longer --timeout allows more\n"


def test_refused_callers_end_with_4(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("sesame\n")
    with serving("--auth-token-file", str(tmp_path / "tokens")) as address:
        refused = _run("presets", "--address", address)
        assert refused.returncode == 4
        places = "--token or in BGSERVER_TOKEN\n"
        server = f"error: the server at {address}"
        assert refused.stderr == f"{server} asks for a token; give it with {places}"
        refused = _run("presets", "--address", address, "--token", "open")
        assert refused.returncode == 4
        accepts = "does not accept this token; give another with"
        assert refused.stderr == f"{server} {accepts} {places}"
        known = {"BGSERVER_TOKEN": "sesame"}
        assert _run("presets", "--address", address, **known).returncode == 0


def test_server_stops_on_ctrl_c(started: list[subprocess.Popen[str]]) -> None:
    process = _start("serve", "--port", "0")
    started.append(process)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith("bgserver is ready on 127.0.0.1:")
    process.send_signal(signal.SIGINT)
    assert process.wait(_LIMIT_S) == 0
    assert "100 %" in process.stderr.read()  # the progress of the start, as lines


def test_a_command_that_compiles_says_so_where_no_bar_is_seen(tmp_path: Path) -> None:
    cache = {"BGSERVER_CACHE_DIR": str(tmp_path / "cache")}
    first, second = (_run("plays", "start", "31", "--json", **cache) for _ in range(2))
    assert first.stderr.startswith("compiling, which is done once")
    assert first.stderr.count("\n") == 1
    assert (second.stderr, second.stdout) == ("", first.stdout)
    (tmp_path / "file").write_text("")
    always = _run("plays", "start", "31", "--json", BGSERVER_CACHE_DIR=str(tmp_path / "file"))
    assert "set BGSERVER_CACHE_DIR to a writable folder" in always.stderr
    assert always.stdout == first.stdout


def test_warmup_tells_where_the_cache_is() -> None:
    result = _run("warmup")
    assert result.returncode == 0
    assert "cache: " in result.stdout


def test_an_address_is_no_url() -> None:
    result = _run("plays", "start", "31", "--address", "http://127.0.0.1:50051")
    assert result.returncode == 2
    assert "--address: expected host:port, without http://" in result.stderr


def test_the_address_may_come_from_the_environment(server_address: str) -> None:
    result = _run("presets", BGSERVER_ADDRESS=server_address)
    assert result.returncode == 0
    assert "tournament" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--port", "99999", "--threads", "0"],
        ["serve", "--port", "many"],
        ["serve", "--log-level", "loud"],
        ["serve", "--cluster", "nonsense", "--remote-engine", "nowhere"],
        ["serve", "--cluster", "http://127.0.0.1:8786", "--port", "99999"],
        ["serve", "--cluster", "tcp://127.0.0.1", "--remote-engine", "http://127.0.0.1:1"],
        ["serve", "--cluster", "tcp://127.0.0.1:99999"],
    ],
)
def test_impossible_options_of_the_server(arguments: list[str]) -> None:
    result = _run(*arguments)
    assert result.returncode == 2
    for option in arguments[1::2]:
        assert option in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["serve", "batch"])
def test_without_dask_a_cluster_is_refused_before_anything_is_compiled(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "in").write_text("{}\n")
    arguments = {
        "serve": ["--port", "0", "--data", str(tmp_path / "games.db")],
        "batch": [str(tmp_path / "in"), str(tmp_path / "out")],
    }[command]
    script = (
        "import sys\n"
        "sys.modules['distributed'] = None\n"
        "from bgserver.cli.app import run\n"
        "from bgserver.engine.evaluator import Engine\n"
        "del Engine.load\n"
        f"run({[command, '--cluster', 'tcp://127.0.0.1:9', *arguments]!r})\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert result.returncode == 3
    lines = result.stderr.splitlines()
    assert lines[-1] == 'error: a cluster needs Dask: pip install "bgserver[dask]"'
    assert [file.name for file in tmp_path.iterdir()] == ["in"]


def test_impossible_variables_of_the_server_are_told_like_options() -> None:
    result = _run("serve", BGSERVER_PORT="harbour")
    assert result.returncode == 2
    assert "port" in result.stderr
    assert "Traceback" not in result.stderr


def test_damaged_weights_are_named(tmp_path: Path) -> None:
    (tmp_path / "weights.npz").write_bytes(b"garbage")
    data = str(tmp_path / "games.db")
    options = ["--port", "0", "--data", data, "--weights", str(tmp_path / "weights.npz")]
    result = _run("serve", *options)
    assert result.returncode == 1
    assert [file.name for file in tmp_path.iterdir()] == ["weights.npz"]
    assert "weights.npz" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("truncated", "truncated or not a weights file"),
        ("another version", "expected format"),
        ("nan", "holds NaN or infinite numbers"),
    ],
)
def test_weights_that_cannot_be_used_are_refused_with_file_and_reason(
    tmp_path: Path, damage: str, reason: str
) -> None:
    packaged = Path(str(resources.files("bgserver") / "data" / "weights"))
    for file in packaged.glob("*.npz"):
        shutil.copy(file, tmp_path)
    path = tmp_path / "long_nardy.npz"
    with np.load(path) as data:
        parts = {name: data[name] for name in data.files}
    if damage == "truncated":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "another version":
        text = str(parts["meta"]).replace("bgserver-weights/", "bgserver-weights/99")
        np.savez(path, **{**parts, "meta": np.array(text)})
    else:
        name = next(name for name, part in parts.items() if part.dtype == np.float32)
        np.savez(path, **{**parts, name: np.full_like(parts[name], np.nan)})
    result = _run("serve", "--port", "0", "--weights", str(tmp_path))
    assert result.returncode == 1
    assert result.stdout == ""
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert str(path) in line
    assert reason in line
    assert "Traceback" not in result.stderr


def test_two_servers_cannot_share_a_port(server_address: str) -> None:
    port = server_address.rpartition(":")[2]
    result = _run("serve", "--port", port)
    assert result.returncode == 3
    assert "cannot listen" in result.stderr
    assert port in result.stderr
    assert "another server" in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("host", ["nosuchhost.invalid", "203.0.113.1"])
def test_an_impossible_address_is_not_blamed_on_another_server(host: str) -> None:
    result = _run("serve", "--host", host, "--port", "0")
    assert result.returncode == 3
    assert "cannot listen" in result.stderr
    assert "another server" not in result.stderr


@pytest.mark.parametrize(
    ("closed", "arguments"),
    [
        ("<&-", "call RulesService/ListPlays"),
        (">&-", "plays start 31"),
        ("2>&-", "plays start 31"),
        ("<&- >&- 2>&-", "plays start 31"),
    ],
)
def test_closed_standard_streams_are_no_defect(
    server_address: str, closed: str, arguments: str
) -> None:
    command = f'"$@" {arguments} --address {server_address} {closed}'
    result = subprocess.run(
        ["/bin/sh", "-c", command, "sh", *BGSERVER],
        check=False,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_an_argument_that_is_no_text(server_address: str) -> None:
    result = subprocess.run(
        [*BGSERVER, "plays", b"\xff\xfe", "31", "--address", server_address],
        check=False,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
    )
    assert result.returncode == 2
    assert "no text" in result.stderr


def test_a_reader_that_goes_away_ends_the_command_quietly(
    server_address: str, started: list[subprocess.Popen[str]]
) -> None:
    process = _start("call", "SimulationService/Simulate", "--address", server_address)
    started.append(process)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(f'{{"count": {_ENDLESS}, "second": {{"level": "LEVEL_RANDOM"}}}}\n')
    process.stdin.close()
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(_LIMIT_S) == 141
    assert process.stderr.read() == ""


def test_ctrl_c_while_waiting_for_input(
    server_address: str, started: list[subprocess.Popen[str]]
) -> None:
    process = _start("call", "RulesService/ListPresets", "--address", server_address)
    started.append(process)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("{}\n")
    process.stdin.flush()
    assert "tournament" in process.stdout.readline()  # each line is answered at once
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=_LIMIT_S)
    assert process.returncode == 130
    assert err == "stopped\n"


def test_ctrl_c_while_the_program_loads(tmp_path: Path) -> None:
    # The first library that is loaded presses the keys.
    fake = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "grpc.py").write_text(fake)
    result = _run("presets", PYTHONPATH=str(tmp_path))
    assert (result.returncode, result.stderr) == (-signal.SIGINT, "")


def test_ctrl_c_ends_a_simulation_and_shows_what_was_played(server_address: str) -> None:
    """On a terminal, where the progress tells when it is time to stop."""
    terminal, side = pty.openpty()
    process = subprocess.Popen(
        [*BGSERVER, "simulate", _ENDLESS, "--second", "random", "--address", server_address],
        stdout=subprocess.PIPE,
        stderr=side,
        text=True,
    )
    os.close(side)
    try:
        seen = b""
        while b"points a game" not in seen:
            seen += os.read(terminal, 4096)
        process.send_signal(signal.SIGINT)
        while _more(terminal):
            pass
        out, _ = process.communicate(timeout=_LIMIT_S)
    finally:
        process.kill()
        process.communicate()
        os.close(terminal)
    assert process.returncode == 130
    assert "Points a game" in out


def _more(terminal: int) -> bool:
    try:
        return bool(os.read(terminal, 4096))
    except OSError:  # how Linux tells that the other side is closed
        return False


@pytest.mark.parametrize("with_server", [True, False])
def test_the_process_ends_after_a_stream_has_failed(
    server_address: str, *, with_server: bool
) -> None:
    start = bytes(count % 256 for count in Position.start().points)
    good = json.dumps({"points": base64.b64encode(start).decode(), "id": 1})
    bad = json.dumps({"points": "AAAA", "id": 2})
    where = ["--address", server_address] if with_server else []
    ended = subprocess.run(
        [*BGSERVER, "call", "EngineService/EvaluateBatch", *where],
        input=f"{bad}\n{good}\n{bad}\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [("error" in line) for line in lines] == [True, False, True]
    assert ended.returncode == 1
