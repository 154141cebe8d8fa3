"""What no linter checks: modules stay short, and every exception from a rule has its reason."""

from __future__ import annotations

import re
import tokenize
import tomllib
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_MOST_LINES = 600
_FOLDERS = ("bench", "bgserver", "clients/python", "proto", "tests")

_EXCEPTION = re.compile(r"#.*\bnoqa\b|#\s*type:\s*ignore")
_WITH_REASON = re.compile(
    r"# (ruff: )?noqa: [A-Z]+\d+(, [A-Z]+\d+)* -- \w.+"
    r"|# type: ignore\[[a-z-]+(, [a-z-]+)*\]  # \w.+"
)


def _sources() -> list[Path]:
    """Our own modules; `v1` holds generated code."""
    files = [path for folder in _FOLDERS for path in (_ROOT / folder).rglob("*.py")]
    return sorted(path for path in files if path.parent.name != "v1")


def _name(path: Path) -> str:
    return str(path.relative_to(_ROOT))


def test_modules_are_short() -> None:
    lengths = {
        _name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in _sources()
    }
    assert len(lengths) > 300  # the folders are where they are looked for
    too_long = {name: length for name, length in lengths.items() if length > _MOST_LINES}
    assert not too_long, "split these by subject"


def _comments(path: Path) -> list[tuple[int, str]]:
    """Line and text of the comments of a module that has exceptions; of others none."""
    if not _EXCEPTION.search(path.read_text(encoding="utf-8")):
        return []
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]


def test_exceptions_in_the_code_have_a_reason() -> None:
    exceptions = [
        (comment, f"{_name(path)}:{line}")
        for path in _sources()
        for line, comment in _comments(path)
        if _EXCEPTION.match(comment)
    ]
    assert exceptions
    bare = [place for comment, place in exceptions if not _WITH_REASON.fullmatch(comment)]
    assert not bare


def test_exceptions_in_the_settings_have_a_reason() -> None:
    text = (_ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lint = tomllib.loads(text)["tool"]["ruff"]["lint"]
    ignored = list(lint["ignore"])
    for rules in lint["per-file-ignores"].values():
        ignored += rules
    assert ignored
    with_reason = re.findall(r'^    "([A-Z]+\d*)", # \w.+$', text, re.MULTILINE)
    assert sorted(with_reason) == sorted(ignored)
