"""Labels of many games, and the files that keep them."""

from __future__ import annotations

import io
import itertools
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bgserver.engine.errors import DataError
from bgserver.engine.files import write_atomically
from bgserver.engine.plays import board_array
from bgserver.engine.position import Position
from bgserver.kernels.network import N_OUTPUTS
from bgserver.kernels.search import make_search_memory
from bgserver.training.cousins import label_cousins
from bgserver.training.labels import (
    LONGEST_GAME,
    MAX_LABELS,
    LabelBuffers,
    begins_plainly,
    label_game,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import GameCore

__all__ = ["CARRIED", "Labels", "label_games", "read_shards", "write_labels", "write_shards"]

CARRIED = 1.0
"""Share of what a turn found out that goes back to the turn before."""
_SHARD_LABELS = 100_000


@dataclass(frozen=True, slots=True)
class Labels:
    """Labelled positions in the order of the games."""

    boards: NDArray[np.int8]
    """[n, 26]: boards after plays, seen by the mover."""
    targets: NDArray[np.float32]
    """[n, 5]: the mover's chances, right in the mean: single ones may lie outside 0 to 1."""
    turns: NDArray[np.int32]
    """[n]: equal for neighbours that are plays of the same roll, different for others."""
    cousins: int = 0
    """So many of the last ones are cousins: only the differences between them are learned."""


def label_games(
    core: GameCore,
    seed: int,
    first_game: int,
    second_rolls: int = 0,
    carried: float = CARRIED,
    *,
    plain: bool = False,
    cousins: bool = False,
) -> Iterator[tuple[int, Labels]]:
    """Labels of game after game, without end.

    Args:
        core: The teacher.
        seed: Seed of dice and random choices.
        first_game: Number of the first game; game k always gives the same labels.
        second_rolls: Rolls after which to look a second roll ahead, 0 to 21.
        carried: Share of what the next turn found out that goes back to a turn, 0 to 1.
        plain: Only the games that begin at the start, without random turns there.
        cousins: Label the best replies to the close plays of each roll instead of the plays; then
            nothing is carried back.

    Yields:
        The number of a game and its labels; `turns` is 2 k for the best plays of roll k, or for the
        replies to them, 2 k + 1 for another.
    """
    networks = core.evaluator.networks
    memories = (
        make_search_memory(networks),
        make_search_memory(networks),
        make_search_memory(networks),
    )
    start = board_array(Position.start(core.weights.variant))
    buffers = LabelBuffers(
        boards=np.zeros((MAX_LABELS, 26), dtype=np.int8),
        targets=np.zeros((MAX_LABELS, N_OUTPUTS), dtype=np.float32),
        turns=np.zeros(MAX_LABELS, dtype=np.int32),
    )
    for game in itertools.count(first_game):
        if plain and not begins_plainly(seed, game):
            continue
        if cousins:
            count = label_cousins(
                start, core.code, seed, game, second_rolls, core.evaluator, memories, buffers
            )
        else:
            count = label_game(
                start,
                core.code,
                seed,
                game,
                second_rolls,
                carried,
                core.evaluator,
                memories,
                buffers,
            )
        labels = Labels(
            buffers.boards[:count].copy(),
            buffers.targets[:count].copy(),
            buffers.turns[:count].copy(),
        )
        yield game, labels


def write_shards(
    core: GameCore,
    seed: int,
    folder: Path,
    count: int,
    second_rolls: int = 0,
    carried: float = CARRIED,
    *,
    plain: bool = False,
    cousins: bool = False,
) -> Iterator[int]:
    """Label at least `count` positions and write them in shards of whole games.

    A shard is named after the game that follows its last one, so that a later run goes on there.

    Args:
        core: The teacher.
        seed: Seed of dice and random choices.
        folder: Where `labels-<game>.npz` go.
        count: Labels to add.
        second_rolls: Rolls after which to look a second roll ahead, 0 to 21.
        carried: Share of what the next turn found out that goes back to a turn, 0 to 1.
        plain: Only games that begin at the start, without random turns there.
        cousins: See `label_games`.

    Yields:
        Labels made so far, after each game.
    """
    first_game = max((_next_game(path) for path in folder.glob("labels-*.npz")), default=0)
    parts: list[Labels] = []
    waiting = 0
    done = 0
    games = label_games(core, seed, first_game, second_rolls, carried, plain=plain, cousins=cousins)
    for game, part in games:
        parts.append(part)
        waiting += len(part.boards)
        done += len(part.boards)
        if waiting >= _SHARD_LABELS or done >= count:
            _write_shard(folder / f"labels-{game + 1}.npz", parts)
            parts = []
            waiting = 0
        yield done
        if done >= count:
            return


def _write_shard(path: Path, games: Sequence[Labels]) -> None:
    buffer = io.BytesIO()
    # Turns are told apart across the games of the shard.
    turns = [game.turns + number * 2 * LONGEST_GAME for number, game in enumerate(games)]
    np.savez(
        buffer,
        boards=np.concatenate([game.boards for game in games]),
        targets=np.concatenate([game.targets for game in games]),
        turns=np.concatenate(turns),
    )
    write_atomically(path, [buffer.getvalue()])


def write_labels(folder: Path, labels: Labels) -> None:
    """Write labels that are not of games as they were played, in shards of whole turns.

    A shard is named after the number of labels with it.

    Args:
        folder: Where `labels-<number>.npz` go; there should be no others.
        labels: Labels of plays.
    """
    begins = np.flatnonzero(np.diff(labels.turns, prepend=labels.turns[:1] - 1))
    first = 0
    while first < len(labels.boards):
        later = begins[begins >= first + _SHARD_LABELS]
        end = int(later[0]) if len(later) > 0 else len(labels.boards)
        rows = slice(first, end)
        # Reading adds up the turns of all shards: they begin at 0 in each.
        turns = labels.turns[rows] - labels.turns[first]
        part = Labels(labels.boards[rows], labels.targets[rows], turns)
        _write_shard(folder / f"labels-{end}.npz", [part])
        first = end


def _next_game(path: Path) -> int:
    return int(path.stem.removeprefix("labels-"))


def read_shards(folders: Sequence[Path], cousins: Sequence[Path] = ()) -> Labels:
    """All labels of some folders, in order of the games.

    Args:
        folders: Where labels of plays are.
        cousins: Where labels of cousins are.

    Raises:
        DataError: There is no shard, or one cannot be read; the message names folder or file.
    """
    parts = []
    first_turn = 0
    n_cousins = 0
    for folder in (*folders, *cousins):
        paths = sorted(folder.glob("labels-*.npz"), key=_next_game)
        if not paths:
            message = f"no labels (labels-*.npz) in {folder}"
            raise DataError(message)
        for path in paths:
            shard = _read_shard(path)
            parts.append(Labels(shard.boards, shard.targets, shard.turns + first_turn))
            first_turn += int(shard.turns.max(initial=-1)) + 1
            n_cousins += len(shard.boards) if folder in cousins else 0
    return Labels(
        np.concatenate([part.boards for part in parts]),
        np.concatenate([part.targets for part in parts]),
        np.concatenate([part.turns for part in parts]),
        n_cousins,
    )


def _read_shard(path: Path) -> Labels:
    try:
        with np.load(path) as data:
            return Labels(data["boards"], data["targets"], data["turns"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        message = f"labels {path}: truncated or not a shard of labels"
        raise DataError(message) from error
