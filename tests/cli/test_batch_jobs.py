"""Rollouts of a batch, cut into chunks or not: the answers are the same, byte for byte."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.cli import batch_jobs
from bgserver.cli.batch_jobs import answer_lines
from bgserver.cli.batch_lines import LinesChunk, LineSettings
from bgserver.engine.local_executor import LocalExecutor
from bgserver.engine.rollout import RolloutChunk
from bgserver.engine.work import run

if TYPE_CHECKING:
    from concurrent.futures import Future

    from bgserver.engine.chunks import Chunk
    from bgserver.engine.evaluator import Engine

_CUBE = "XGID=-a-aBBC-B---aD--bd-f----B-:0:0:1:00:0:0:0:0:10"
_SETTINGS = LineSettings(rollout=True, trials=108, truncate=4, max_plays=2)
_LINES = [
    (number, json.dumps(line).encode())
    for number, line in enumerate(
        [
            {"id": "a", "position": "start"},
            {"position": "start", "dice": "31"},
            {"xgid": _CUBE, "kind": "cube"},
            {"position": "start", "rollout": False},
            {"position": "start", "dice": "71"},
            {"position": "nowhere"},
            {"position": "start", "rollout": {"trials": 5000, "standardError": 0.05}},
            {"position": [0] * 19 + [-15] + [0] * 6},
            {"position": "start", "dice": "64"},
        ],
        3,
    )
]


class _Noting(LocalExecutor):
    """An executor that notes what it is given."""

    def __init__(self, engine: Engine, threads: int) -> None:
        super().__init__(engine, threads)
        self.kinds: list[type[object]] = []

    def submit(self, chunk: Chunk[Any]) -> Future[Any]:
        self.kinds.append(type(chunk))
        return super().submit(chunk)


@pytest.mark.parametrize(("threads", "whole"), [(1, 0), (3, 0), (1, 100), (4, 100)])
def test_cuts_change_nothing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, threads: int, whole: int
) -> None:
    expected = run(LinesChunk(tuple(_LINES), _SETTINGS).work(engine))
    monkeypatch.setattr(batch_jobs, "_WHOLE", whole)
    with _Noting(engine, threads) as executor:
        answers = list(answer_lines(executor, engine, _LINES, len(_LINES), _SETTINGS))
    assert b"".join(part.lines for part in answers) == expected.lines
    assert [figure for part in answers for figure in part.figures] == expected.figures
    assert [part.last for part in answers] == sorted(part.last for part in answers)
    assert answers[-1].last == _LINES[-1][0]
    assert (RolloutChunk in executor.kinds) == (whole == 100)


def test_long_rollouts_are_always_cut(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_jobs, "_LONG_TRIALS", 100)
    monkeypatch.setattr(batch_jobs, "_WHOLE", 0)
    with _Noting(engine, 2) as executor:
        (answer,) = answer_lines(executor, engine, _LINES[:1], 1, _SETTINGS)
    assert executor.kinds == [RolloutChunk] * 3
    assert json.loads(answer.lines)["rollout"]["trials"] == 108


def test_a_defect_is_the_answer_of_its_line(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> object:
        message = "this is broken"
        raise RuntimeError(message)

    monkeypatch.setattr(RolloutChunk, "work", broken)
    with LocalExecutor(engine, 2) as executor:
        lines = [_LINES[0], _LINES[3]]
        first, second = answer_lines(executor, engine, lines, 2, _SETTINGS)
    assert json.loads(first.lines)["error"]["reason"] == "INTERNAL"
    assert "this is broken" in first.defects[0]
    assert "evaluate" in json.loads(second.lines)


def test_closing_stops_the_work(engine: Engine) -> None:
    endless = [(1, b"start"), (2, b'{"position": "start", "rollout": {"trials": 50000000}}')]
    with LocalExecutor(engine, 2) as executor:
        with closing(answer_lines(executor, engine, endless, 2, LineSettings())) as answers:
            assert next(answers).last == 1
        square = LinesChunk(((1, b"start"),), LineSettings())
        assert executor.submit(square).result(20).last == 1
