"""The answers of `bgserver batch` in a file that survives whatever ends the process.

Answers are appended in the order of the questions, each with the number of its line. So the file
itself says where to go on; a last line that was not written to its end is cut
off and made again. Beside it stands a file with the settings, for an output whose lines were made
with different ones would be worth nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING, Any

from bgserver.cli.batch_lines import figure_of
from bgserver.cli.problems import input_error
from bgserver.cli.progress import busy
from bgserver.engine.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bgserver.cli.batch_lines import Figure
    from bgserver.engine.errors import InvalidInputError

__all__ = ["Input", "Output", "look_at_input", "opened", "record_path", "require_place"]

_FORMAT = 1
_BLOCK = 1 << 20
_ANEW = "; --overwrite begins anew"


@dataclass(frozen=True, slots=True)
class Input:
    """The questions as a file."""

    path: Path
    """Where it is."""
    size: int
    """Its bytes."""
    sha256: str
    """Digest of these bytes."""
    lines: int
    """Lines that are not empty."""

    def read(self, after: int) -> Iterator[tuple[int, bytes]]:
        """The lines after number `after` that are not empty, each with its number from 1."""
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if number > after and line.strip():
                    yield number, line


def look_at_input(path: Path) -> Input:
    """Count the lines of a file and take its digest.

    Raises:
        OSError: It cannot be read.
    """
    digest = hashlib.sha256()
    size = lines = 0
    with path.open("rb") as file:
        for line in file:
            digest.update(line)
            size += len(line)
            lines += bool(line.strip())
    return Input(path, size, digest.hexdigest(), lines)


def record_path(output: Path) -> Path:
    """The file with the settings of an output."""
    return output.with_name(f"{output.name}.settings.json")


@dataclass
class Output:
    """An output file that is open for appending."""

    file: IO[bytes]
    """Where lines go."""
    last: int
    """Number of the last line of the input that is answered; 0 if none is."""

    def append(self, lines: bytes, last: int) -> None:
        """Append complete lines."""
        self.file.write(lines)
        self.file.flush()
        self.last = last


def require_place(output: Path, source: Path) -> None:
    """See that there can be an output, before any work.

    Raises:
        InvalidInputError: Its folder is missing, it is the input, there is no input, or one of
            them is no file: the input is read twice, and the output is read to go on.
    """
    if source.exists() and not source.is_file():
        message = f"IN must be a regular file, and {source} is none"
        raise input_error(message, field="IN", reason="NOT_A_FILE")
    for path in (output, record_path(output)):
        if path.exists() and not path.is_file():
            message = f"OUT must be a regular file, and {path} is none"
            raise _refusal(message, reason="NOT_A_FILE")
    if not output.parent.is_dir():
        message = f"there is no folder {output.parent}"
        raise _refusal(message, reason="FOLDER_MISSING")
    if not source.exists():
        message = f"there is no file {source}"
        raise input_error(message, field="IN", reason="FILE_MISSING")
    if output.exists() and output.samefile(source):
        message = "the output must be another file than the input"
        raise _refusal(message, reason="SAME_FILE")


@contextmanager
def opened(
    path: Path,
    source: Input,
    settings: dict[str, Any],
    tell: Callable[[Figure], None],
    *,
    anew: bool,
) -> Iterator[Output]:
    """An output that goes on after its last complete line.

    Args:
        path: The file; made if it does not exist, its folder must.
        source: The questions.
        settings: All that the answers depend on besides the questions.
        tell: Told the figures of the answers that are there.
        anew: Begin anew, whatever is there.

    Raises:
        InvalidInputError: The output was made with other settings or from other questions, or is
            no output of ours, or another process writes it.
        OSError: A file cannot be read or written.
    """
    require_place(path, source.path)
    with path.open("a+b") as file:
        _lock(file, path)
        record = record_path(path)
        if anew:
            file.truncate(0)
        size = file.seek(0, os.SEEK_END)
        if size > 0:
            _require_same(path, record, source, settings)
        wanted = {"format": _FORMAT, "settings": settings, "input": _described(source)}
        write_atomically(record, [json.dumps(wanted, indent=2).encode() + b"\n"])
        with busy("reading the answers that are there"):
            last = _mend(file, path, tell)
        yield Output(file, last)


def _lock(file: IO[bytes], path: Path) -> None:
    """Keep other processes away; the system lets go when this one ends, however it ends."""
    if sys.platform == "win32":
        return
    import fcntl  # noqa: PLC0415 -- Unix only

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = f"another process is writing {path}"
        raise _refusal(message, reason="IN_USE") from None


def _described(source: Input) -> dict[str, Any]:
    described = asdict(source)
    del described["path"]
    return described


def _require_same(path: Path, record: Path, source: Input, settings: dict[str, Any]) -> None:
    """See that the settings and the questions are those of the output so far."""
    try:
        found = json.loads(record.read_bytes())
        before, size, digest = found["settings"], found["input"]["size"], found["input"]["sha256"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        message = f"{path} is not empty, and {record.name} does not say how it was made{_ANEW}"
        raise _refusal(message, reason="NOT_AN_OUTPUT") from None
    changed = [
        f"{name} was {_told(before.get(name))} and is {_told(settings.get(name))}"
        for name in sorted(before.keys() | settings.keys())
        if before.get(name) != settings.get(name)
    ]
    if found.get("format") != _FORMAT:
        changed.insert(0, f"the format was {found.get('format')!r} and is {_FORMAT}")
    if changed:
        message = f"{path} was begun with other settings: {', '.join(changed)}{_ANEW}"
        raise _refusal(message, reason="OTHER_SETTINGS")
    # More questions may have been appended since.
    if source.size < size or _digest_of_first(source.path, size) != digest:
        message = f"{path} was begun with other questions than {source.path} holds now{_ANEW}"
        raise _refusal(message, reason="OTHER_INPUT")


def _told(setting: object) -> str:
    return "not given" if setting is None else repr(setting)


def _digest_of_first(path: Path, size: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (block := file.read(min(size, _BLOCK))):
            digest.update(block)
            size -= len(block)
    return digest.hexdigest()


def _mend(file: IO[bytes], path: Path, tell: Callable[[Figure], None]) -> int:
    """Cut off a last line without end; the number of the last line."""
    file.seek(0)
    last = end = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            break
        try:
            figure = figure_of(json.loads(line))
            answered = int(figure.line)
        except (ValueError, LookupError, TypeError, RecursionError):
            answered = last
        if answered <= last:
            message = f"line {number} of {path} is no answer that follows those before{_ANEW}"
            raise _refusal(message, reason="DAMAGED")
        tell(figure)
        last, end = answered, end + len(line)
    file.truncate(end)
    file.seek(0, os.SEEK_END)
    return last


def _refusal(message: str, *, reason: str) -> InvalidInputError:
    return input_error(message, field="OUT", reason=reason)
