"""Generate the Python code of the API into the server and the client package.

Usage: `python proto/generate.py` writes, `python proto/generate.py --check` fails if anything
that is committed differs from what would be written. Needs the extra `dev`.

The client package has its own copy, so that it does not depend on the server; there the module
path `bgserver.v1` reads `bgserver_client.v1`.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from pathlib import Path

import grpc_tools
from grpc_tools import protoc

_ROOT = Path(__file__).resolve().parent
_SERVER = _ROOT.parent
_CLIENT = _ROOT.parent / "clients" / "python"


def _generate(out: Path) -> dict[str, str]:
    """Run protoc into `out`; return the text of each file by its name."""
    protos = sorted(str(path) for path in (_ROOT / "bgserver" / "v1").glob("*.proto"))
    well_known = Path(grpc_tools.__file__).parent / "_proto"
    # protoc looks for its plugins on the path; they sit beside this interpreter.
    os.environ["PATH"] = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    arguments = [
        "protoc",
        f"-I{_ROOT}",
        f"-I{well_known}",
        f"--python_out={out}",
        f"--grpc_python_out={out}",
        f"--mypy_out=quiet:{out}",
        f"--mypy_grpc_out=quiet:{out}",
        *protos,
    ]
    if protoc.main(arguments) != 0:
        sys.exit("protoc failed")
    return {path.name: path.read_text() for path in (out / "bgserver" / "v1").iterdir()}


def _wanted() -> dict[Path, str]:
    """Every generated file with the text it should have."""
    with tempfile.TemporaryDirectory() as folder:
        files = _generate(Path(folder))
    wanted: dict[Path, str] = {}
    for package, base in (("bgserver", _SERVER), ("bgserver_client", _CLIENT)):
        target = base / package / "v1"
        wanted[target / "__init__.py"] = '"""Generated from proto/bgserver/v1; do not edit."""\n'
        for name, text in files.items():
            moved = text.replace("from bgserver.v1 import", f"from {package}.v1 import")
            moved = moved.replace("import bgserver.v1.", f"import {package}.v1.")
            wanted[target / name] = moved.replace("[bgserver.v1.", f"[{package}.v1.")
    return wanted


def main() -> None:
    """Write the generated files, or check them."""
    wanted = _wanted()
    if "--check" in sys.argv[1:]:
        stale = [path for path, text in wanted.items() if not _same(path, text)]
        if stale:
            names = ", ".join(str(path.relative_to(_SERVER)) for path in stale)
            sys.exit(f"generated code is stale, run python proto/generate.py: {names}")
        return
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


if __name__ == "__main__":
    main()
