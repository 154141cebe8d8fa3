"""Imports point one way, and what is generated is fresh."""

from __future__ import annotations

import ast
import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parent.parent
_PACKAGE = _ROOT / "bgserver"

# Which parts of the package each part may import, besides itself.
_ALLOWED = {
    "kernels": set(),
    "engine": {"kernels"},
    "formats": {"engine"},
    "games": {"engine"},
    "training": {"engine", "kernels"},
    "v1": set(),
    "server": {"games", "formats", "engine", "v1"},
    "cli": {"server", "training", "games", "formats", "engine", "v1"},
    "data": set(),
}
# Which other distributions each part may import, where that is restricted.
_LIBRARIES = {
    "kernels": {"llvmlite", "numba", "numpy"},
    "engine": {"distributed", "numpy", "tornado"},
    "formats": set(),
    "games": set(),
}


def _modules() -> list[Path]:
    return sorted(path for path in _PACKAGE.rglob("*.py") if path.parent != _PACKAGE)


def _imports(path: Path) -> set[str]:
    """Full names of all that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            module = node.module or ""
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return names


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(_PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    part = path.relative_to(_PACKAGE).parts[0]
    for name in _imports(path):
        top, *rest = name.split(".")
        if top == "bgserver":
            target = rest[0] if rest else ""
            if target in _ALLOWED and target != part:
                assert target in _ALLOWED[part], f"{part} must not import {name}"
        elif part in _LIBRARIES and top not in sys.stdlib_module_names:
            assert top in _LIBRARIES[part], f"{part} must not import {name}"


def test_every_part_has_its_arrows() -> None:
    parts = {path.relative_to(_PACKAGE).parts[0] for path in _modules()}
    assert parts <= _ALLOWED.keys()


def test_generated_code_is_fresh() -> None:
    if importlib.util.find_spec("grpc_tools") is None:
        pytest.skip("grpcio-tools belongs to the extra dev")
    done = subprocess.run(
        [sys.executable, str(_ROOT / "proto" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_api_passes_buf_lint() -> None:
    buf = shutil.which("buf", path=sysconfig.get_path("scripts")) or shutil.which("buf")
    if buf is None:
        pytest.skip("buf belongs to the extra dev")
    done = subprocess.run(
        [buf, "lint"], cwd=_ROOT / "proto", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
