"""The output of a batch: appended to, mended, and never mixed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.cli.batch_output import look_at_input, opened, record_path, require_place
from bgserver.engine.errors import InvalidInputError
from tests.cli.conftest import CommandLine

if TYPE_CHECKING:
    from bgserver.cli.batch_lines import Figure

_SETTINGS = {"level": "static", "digest": "abc"}


class _Batch:
    """A batch in a folder of its own."""

    def __init__(self, folder: Path, questions: str = "a\nb\n\nc\nd\n") -> None:
        self.questions = folder / "in.jsonl"
        self.questions.write_text(questions)
        self.answers = folder / "out.jsonl"

    def run(
        self, most: int | None = None, settings: dict[str, Any] | None = None, *, anew: bool = False
    ) -> list[str | None]:
        """Answer up to `most` questions; what was there before, as the words of figures."""
        told: list[Figure] = []
        source = look_at_input(self.questions)
        settings = settings or _SETTINGS
        with opened(self.answers, source, settings, told.append, anew=anew) as output:
            for count, (number, line) in enumerate(source.read(output.last)):
                if count == most:
                    break
                output.append(_answer(number, line.strip().decode()), number)
        return [figure.word for figure in told]

    @property
    def lines(self) -> list[tuple[int, str]]:
        """What was answered."""
        answers = map(json.loads, self.answers.read_text().splitlines())
        return [(answer["line"], answer["error"]["reason"]) for answer in answers]


def _answer(number: int, word: str) -> bytes:
    return json.dumps({"line": number, "error": {"reason": word, "message": ""}}).encode() + b"\n"


@pytest.fixture
def batch(tmp_path: Path) -> _Batch:
    return _Batch(tmp_path)


_ALL = [(1, "a"), (2, "b"), (4, "c"), (5, "d")]


@pytest.mark.parametrize("first", range(5))
def test_it_goes_on_where_it_stopped(batch: _Batch, first: int) -> None:
    batch.run(first)
    assert batch.lines == _ALL[:first]
    assert batch.run() == [word for _, word in _ALL[:first]]
    assert batch.lines == _ALL
    assert batch.run() == ["a", "b", "c", "d"]
    assert batch.lines == _ALL


def test_a_torn_line_is_made_again_wherever_it_was_torn(batch: _Batch) -> None:
    batch.run()
    whole = batch.answers.read_bytes()
    for size in range(len(whole)):
        batch.answers.write_bytes(whole[:size])
        batch.run()
        assert batch.answers.read_bytes() == whole


def test_questions_may_be_appended(batch: _Batch) -> None:
    batch.run()
    with batch.questions.open("a") as file:
        file.write("e\n")
    assert batch.run() == ["a", "b", "c", "d"]
    assert batch.lines == [*_ALL, (6, "e")]


def _refused(batch: _Batch, reason: str, text: str, **arguments: Any) -> None:
    before = batch.answers.read_bytes() if batch.answers.exists() else None
    with pytest.raises(InvalidInputError) as caught:
        batch.run(**arguments)
    assert caught.value.faults[0].reason == reason
    assert text in str(caught.value)
    assert before is None or batch.answers.read_bytes() == before


def test_other_settings_are_refused_and_named(batch: _Batch) -> None:
    batch.run(2)
    changed = {**_SETTINGS, "level": "lookahead_1", "kind": "cube"}
    _refused(batch, "OTHER_SETTINGS", "level was 'static' and is 'lookahead_1'", settings=changed)
    _refused(batch, "OTHER_SETTINGS", "kind was not given and is 'cube'", settings=changed)
    batch.run()  # the refusals have changed nothing
    assert batch.lines == _ALL


def test_other_questions_are_refused(batch: _Batch) -> None:
    batch.run(2)
    batch.questions.write_text("a\nB\n\nc\nd\n")
    _refused(batch, "OTHER_INPUT", "other questions")
    batch.questions.write_text("a\n")
    _refused(batch, "OTHER_INPUT", "other questions")


def test_a_file_that_is_no_output_is_left_alone(batch: _Batch) -> None:
    batch.answers.write_text("dear diary\n")
    _refused(batch, "NOT_AN_OUTPUT", "does not say how it was made")
    for record in ("[]", "[" * 100_000):
        record_path(batch.answers).write_text(record)
        _refused(batch, "NOT_AN_OUTPUT", "does not say how it was made")


@pytest.mark.parametrize(
    "line",
    [
        b"{}\n",
        b"nonsense\n",
        b"[1]\n",
        b"[" * 100_000 + b"\n",
        _answer(2, "b"),
        _answer(1, "a"),
        b'{"line": 9}\n',
    ],
    ids=lambda line: line[:20].decode(),
)
def test_a_damaged_output_is_named_and_left_alone(batch: _Batch, line: bytes) -> None:
    batch.run(2)
    with batch.answers.open("ab") as file:
        file.write(line)
    _refused(batch, "DAMAGED", "line 3 of")


def test_overwriting_begins_anew(batch: _Batch) -> None:
    batch.run(2)
    other = {**_SETTINGS, "level": "lookahead_1"}
    assert batch.run(settings=other, anew=True) == []
    assert batch.lines == _ALL
    _refused(batch, "OTHER_SETTINGS", "level was 'lookahead_1'")


def test_two_processes_do_not_write_one_output(batch: _Batch) -> None:
    source = look_at_input(batch.questions)
    with opened(batch.answers, source, _SETTINGS, lambda _: None, anew=False):
        _refused(batch, "IN_USE", "another process is writing")
        _refused(batch, "IN_USE", "another process is writing", anew=True)
    batch.run()
    assert batch.lines == _ALL


def test_a_missing_folder_and_the_input_itself_are_refused(batch: _Batch, tmp_path: Path) -> None:
    batch.answers = tmp_path / "no" / "out.jsonl"
    _refused(batch, "FOLDER_MISSING", f"there is no folder {tmp_path / 'no'}")
    batch.answers = batch.questions
    _refused(batch, "SAME_FILE", "another file than the input")
    assert batch.questions.read_text().startswith("a\n")


def test_what_is_no_regular_file_is_refused(batch: _Batch, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    record_path(batch.answers).mkdir()
    _refused(batch, "NOT_A_FILE", "OUT must be a regular file")
    assert not batch.answers.exists()
    for path in (folder, Path("/dev/null")):
        with pytest.raises(InvalidInputError, match="OUT must be a regular file"):
            require_place(path, batch.questions)
    with pytest.raises(InvalidInputError, match="IN must be a regular file"):
        require_place(tmp_path / "new.jsonl", folder)


def test_an_input_that_is_not_there_is_refused(tmp_path: Path) -> None:
    answers, questions = tmp_path / "out.jsonl", tmp_path / "in.jsonl"
    answer = CommandLine([])("batch", str(questions), str(answers))
    assert answer.code == 2
    assert answer.err == f"error: IN: there is no file {questions}\n"
    assert not answers.exists()


def test_an_empty_input_gives_an_empty_output(tmp_path: Path) -> None:
    batch = _Batch(tmp_path, "\n  \n")
    batch.run()
    assert batch.answers.read_bytes() == b""
