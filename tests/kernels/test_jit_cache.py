"""Where compiled kernels are kept, and that they run where nothing can be kept."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numba
import pytest

from bgserver.kernels import _jit

if TYPE_CHECKING:
    from collections.abc import Mapping

KERNELS = Path(_jit.__file__).parent

# Compiles one small kernel and tells where its code is kept and whether it came from there.
SCRIPT = """
import numpy as np
from numba.core import config
before = config.CACHE_DIR
from bgserver.kernels import _jit
from bgserver.kernels.moves import own_points
board = np.zeros(26, dtype=np.int8)
board[[3, 24]] = 2
print(_jit.kernel_cache_dir)
print(int(own_points(board)) == 1 << 3 | 1 << 24)
print(sum(own_points.stats.cache_hits.values()))
print(config.CACHE_DIR == before)
"""


def in_a_new_process(changes: Mapping[str, str | None]) -> tuple[str, int]:
    """Run the script with environment variables set or removed: the folder and cache hits."""
    environment = {**os.environ, **{key: value for key, value in changes.items() if value}}
    for key, value in changes.items():
        if value is None:
            environment.pop(key, None)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=KERNELS.parent.parent,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    folder, right, hits, untouched = run.stdout.split("\n")[:4]
    assert right == "True"
    assert untouched == "True"
    return folder, int(hits)


def test_compiled_kernels_are_kept_and_found_again(tmp_path: Path) -> None:
    folder, hits = in_a_new_process({"BGSERVER_CACHE_DIR": str(tmp_path)})
    assert Path(folder).parent == tmp_path / "kernels"
    assert hits == 0
    assert list(Path(folder).rglob("*.nbc"))
    assert in_a_new_process({"BGSERVER_CACHE_DIR": str(tmp_path)}) == (folder, 1)


def test_kernels_run_where_the_configured_folder_cannot_be_made(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a file, so that no folder can be below it")
    folder, _ = in_a_new_process({"BGSERVER_CACHE_DIR": str(file / "cache")})
    assert folder == "None"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the variables of Linux")
@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME"])
def test_kernels_run_without_a_writable_home(tmp_path: Path, variable: str) -> None:
    file = tmp_path / "file"
    file.write_text("a file, so that no folder can be below it")
    changes = {"BGSERVER_CACHE_DIR": None, "XDG_CACHE_HOME": None, variable: str(file / "x")}
    folder, _ = in_a_new_process(changes)
    assert folder == "None"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the variables of Linux")
def test_the_users_cache_folder_is_the_default(tmp_path: Path) -> None:
    changes = {"BGSERVER_CACHE_DIR": None, "XDG_CACHE_HOME": None, "HOME": str(tmp_path)}
    folder, _ = in_a_new_process(changes)
    assert Path(folder).parent == tmp_path / ".cache" / "bgserver" / "kernels"


def source_hash(kernels: Path) -> str:
    """The hash that a copy of the kernels would name its folder after."""
    spec = importlib.util.spec_from_file_location("copied_jit", kernels / "_jit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module._source_hash())


def test_any_change_of_any_kernel_starts_a_fresh_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BGSERVER_CACHE_DIR", str(tmp_path / "cache"))
    copy = tmp_path / "kernels"
    copy.mkdir()
    for path in KERNELS.glob("*.py"):
        shutil.copy(path, copy)
    seen = [source_hash(copy)]
    assert source_hash(copy) == seen[0]
    with (copy / "moves.py").open("a") as file:
        file.write("# changed\n")
    seen.append(source_hash(copy))
    (copy / "another.py").write_text("")
    seen.append(source_hash(copy))
    (copy / "another.py").rename(copy / "other.py")
    seen.append(source_hash(copy))
    (copy / "other.py").unlink()
    (copy / "dice.py").unlink()
    seen.append(source_hash(copy))
    monkeypatch.setattr(numba, "__version__", "0.0")
    seen.append(source_hash(copy))
    assert len(set(seen)) == len(seen)
