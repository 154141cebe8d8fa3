"""Where a server keeps its games if nobody says where."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bgserver.cli.data_file import default_data_file, writable_data_file


def test_each_port_has_a_file_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    usual, why = writable_data_file(50051)
    assert (usual, why) == (default_data_file(), "")
    assert list(tmp_path.iterdir()) == []  # it is made by a server that starts
    assert Path(usual).name == "games.db"
    assert default_data_file(4711) != usual


def test_games_of_any_free_port_are_not_kept() -> None:
    assert writable_data_file(0)[0] == ":memory:"


@pytest.mark.skipif(os.name == "nt", reason="folders are locked in another way there")
def test_without_a_folder_games_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "file")
    path, why = writable_data_file(50051)
    assert path == ":memory:"
    assert "file" in why
