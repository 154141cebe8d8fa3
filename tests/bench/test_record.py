"""The file of a match and its statistics."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from bench.strength.record import MatchFile, Pair, RecordError, summarize

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = {"opponent": "gnubg", "seed": 1}


def pair(number: int, points: tuple[int, int] = (1, -1), luck: float = 0.0) -> Pair:
    return Pair(number, points, (luck, luck), (40, 50))


def test_a_continued_match_has_every_pair_once(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    with MatchFile(path, SETTINGS) as file:
        file.begin_run({"engine": "a"})
        file.add(pair(3))
        file.add(pair(0, (2, 3), 0.25))
    with MatchFile(path, SETTINGS) as file:
        assert file.pairs == {3: pair(3), 0: pair(0, (2, 3), 0.25)}
        assert file.runs == [{"engine": "a"}]
        file.add(pair(1))
        with pytest.raises(RecordError, match="pair 3 has been played"):
            file.add(pair(3))
    assert len(path.read_text().splitlines()) == 5


def test_a_line_cut_short_is_dropped_and_what_follows_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    with MatchFile(path, SETTINGS) as file:
        file.add(pair(0))
    whole = path.read_text()
    path.write_text(whole + '{"pair": 1, "poi')
    with MatchFile(path, SETTINGS) as file:
        assert list(file.pairs) == [0]
        file.add(pair(1))
    with MatchFile(path, SETTINGS) as file:
        assert list(file.pairs) == [0, 1]


def test_another_match_is_refused_with_all_differences(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    MatchFile(path, SETTINGS).__exit__(None, None, None)
    with pytest.raises(RecordError, match=r"opponent 'gnubg', now 'bgsage'; seed 1, now 2"):
        MatchFile(path, {"opponent": "bgsage", "seed": 2})


def test_a_file_in_use_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    with MatchFile(path, SETTINGS), pytest.raises(RecordError, match="another process"):
        MatchFile(path, SETTINGS)


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        json.dumps({"pair": 1}),
        json.dumps({"pair": 1, "points": [1], "luck": [0, 0], "turns": [1, 1]}),
        json.dumps(["pair"]),
    ],
)
def test_damage_is_told_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "match.jsonl"
    path.write_text(f"{json.dumps({'settings': SETTINGS})}\n{line}\n")
    with pytest.raises(RecordError, match="line 2 is damaged"):
        MatchFile(path, SETTINGS)


def test_a_repeated_pair_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "match.jsonl"
    with MatchFile(path, SETTINGS) as file:
        file.add(pair(0))
    path.write_text(path.read_text() + path.read_text().splitlines()[1] + "\n")
    with pytest.raises(RecordError, match="pair 0 is there twice"):
        MatchFile(path, SETTINGS)


def test_statistics_of_pairs() -> None:
    summary = summarize([pair(0, (2, -1), 0.5), pair(1, (1, -3), -1.5), pair(2, (1, 1), 0.5)])
    assert summary.games == 6
    assert summary.with_luck.mean == pytest.approx(1 / 6)
    # Without luck the pairs made 0, 0.5 and 0.5.
    points = summary.points_per_game
    assert points.mean == pytest.approx(1 / 3)
    assert points.high - points.mean == pytest.approx(1.959964 * math.sqrt(1 / 12 / 3))
    assert summary.win_rate == pytest.approx(4 / 6)
    assert summary.gammon_rate == pytest.approx(1 / 6)
    assert summary.lost_gammon_rate == summary.lost_backgammon_rate == pytest.approx(1 / 6)
    assert summary.turns == 45


def test_a_single_pair_tells_nothing_about_its_spread() -> None:
    assert summarize([pair(0)]).points_per_game.high == math.inf
