"""`bgserver train`: labels that go on, and what cannot be read."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import pytest

from bgserver.training.shards import read_shards
from tests.cli.conftest import CommandLine

if TYPE_CHECKING:
    from pathlib import Path

PACKAGED = resources.files("bgserver") / "data" / "weights" / "backgammon.npz"


@pytest.fixture
def train() -> CommandLine:
    """The command line; training needs no server."""
    return CommandLine([])


def label(train: CommandLine, folder: Path, weights: str, *more: str) -> tuple[int, str]:
    answer = train(
        "train",
        "label",
        *("--weights", weights),
        *("--variant", "backgammon"),
        *("--folder", str(folder)),
        *("--count", "60"),
        *more,
    )
    return answer.code, answer.err


def test_labels_are_added_to_those_of_earlier_runs(train: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "labels"
    assert label(train, folder, str(PACKAGED))[0] == 0
    once = read_shards([folder])
    assert len(once.boards) >= 60
    assert label(train, folder, str(PACKAGED))[0] == 0
    twice = read_shards([folder])
    assert len(twice.boards) >= len(once.boards) + 60
    assert (twice.boards[: len(once.boards)] == once.boards).all()


def test_labels_of_plain_games(train: CommandLine, tmp_path: Path) -> None:
    assert label(train, tmp_path / "all", str(PACKAGED))[0] == 0
    assert label(train, tmp_path / "plain", str(PACKAGED), "--plain")[0] == 0
    everything, plain = read_shards([tmp_path / "all"]), read_shards([tmp_path / "plain"])
    assert plain.boards.tobytes() != everything.boards.tobytes()


def test_cousins_have_nothing_carried_back(train: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "cousins"
    assert label(train, folder, str(PACKAGED), "--cousins")[0] == 0
    assert len(read_shards([folder]).boards) >= 60
    code, err = label(train, folder, str(PACKAGED), "--cousins", "--carried", "0.5")
    assert code == 2
    assert err.startswith("error: --carried: ")


def test_a_width_beside_weights_is_refused(train: CommandLine, tmp_path: Path) -> None:
    files = ("--folder", str(tmp_path), "--out", str(tmp_path / "new.npz"), "--version", "1")
    start = ("--variant", "backgammon", "--weights", str(PACKAGED), "--width", "64")
    answer = train("train", "fit", *files, *start)
    assert answer.code == 2
    assert answer.err.startswith("error: --width: ")


@pytest.mark.train
def test_a_network_that_a_game_has_not_is_refused(train: CommandLine, tmp_path: Path) -> None:
    answer = train(
        "train",
        "fit",
        *("--variant", "backgammon", "--folder", str(tmp_path), "--only", "contact"),
        *("--only", "opening", "--out", str(tmp_path / "x.npz"), "--version", "1"),
    )
    assert answer.code == 2
    assert answer.err == (
        "error: --only: expected contact, race, crashed, got opening\n"
        "error: --only: needs --weights: the other networks would stay random\n"
    )


def test_weights_that_cannot_be_read_are_named(train: CommandLine, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.npz"
    damaged.write_bytes(b"PK nothing")
    code, message = label(train, tmp_path / "labels", str(damaged))
    assert code != 0
    assert str(damaged) in message.replace("\n", "")
    assert not (tmp_path / "labels").exists()


def test_a_number_of_rolls_that_do_not_exist_is_refused(train: CommandLine, tmp_path: Path) -> None:
    code, message = label(train, tmp_path / "labels", str(PACKAGED), "--second-rolls", "22")
    assert code == 2
    assert "--second-rolls" in message


def test_curves_in_no_known_form_are_refused(train: CommandLine, tmp_path: Path) -> None:
    answer = train("train", "curves", str(tmp_path / "fit.jsonl"), "--out", str(tmp_path / "x.txt"))
    assert answer.code == 2
    assert "--out: expected a file ending with one of .png" in answer.err


def races(train: CommandLine, folder: Path, out: Path) -> tuple[int, str]:
    files = ("--folder", str(folder), "--out", str(out))
    answer = train("train", "races", *files, "--sides", "200")
    return answer.code, answer.err


@pytest.mark.train
def test_races_are_labelled_anew_and_can_be_fitted(train: CommandLine, tmp_path: Path) -> None:
    folder, out = tmp_path / "labels", tmp_path / "races"
    assert label(train, folder, str(PACKAGED), "--count", "3000")[0] == 0
    assert races(train, folder, out)[0] == 0
    old, new = read_shards([folder]), read_shards([out])
    assert 100 < len(new.boards) < len(old.boards)
    assert {board.tobytes() for board in new.boards} <= {board.tobytes() for board in old.boards}
    code, err = races(train, folder, out)
    assert code == 2
    assert err.startswith("error: --out: ")
    fitted = tmp_path / "1.npz"
    files = ("--folder", str(out), "--out", str(fitted), "--version", "1")
    start = ("--variant", "backgammon", "--weights", str(PACKAGED), "--only", "race")
    assert train("train", "fit", *files, *start, "--epochs", "1").code == 0
    assert fitted.exists()


@pytest.mark.train
def test_a_folder_without_labels_has_no_races(train: CommandLine, tmp_path: Path) -> None:
    code, err = races(train, tmp_path, tmp_path / "races")
    assert code != 0
    assert "no labels" in err
    assert not (tmp_path / "races").exists()
