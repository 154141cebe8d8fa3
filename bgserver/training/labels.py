"""Label positions with the engine's own look-ahead: what the next network learns from.

Games are played by the present network, some turns at random, so that odd positions are seen
too. At each turn the best plays and one random other are labelled by looking ahead: siblings
matter, since it is their order that decides a play.

A label looks one roll ahead, or two, or two along a sample of the rolls: what a second look finds
out after a few of the replies, the same rolls for all siblings, is added to the first look. Its
mean over the samples is the look two rolls ahead, at a fraction of the cost; a fit needs many
labels, and can do with noise whose mean is zero.
"""

from __future__ import annotations

import io
import itertools
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bgserver.engine.errors import DataError
from bgserver.engine.files import write_atomically
from bgserver.engine.plays import board_array
from bgserver.engine.position import Position
from bgserver.kernels._jit import kernel
from bgserver.kernels.dice import random_bits, roll
from bgserver.kernels.evaluate import CLASS_BEAROFF, judge_class
from bgserver.kernels.moves import turn_board
from bgserver.kernels.network import N_OUTPUTS, equity, flip, game_outcome
from bgserver.kernels.search import (
    N_ROLLS,
    WAYS,
    best_replies,
    best_static,
    look_one_roll,
    look_two_rolls,
    make_search_memory,
    may_be_first_turn,
)
from bgserver.training.starts import write_unusual_board

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bgserver.engine.evaluator import GameCore
    from bgserver.kernels.evaluate import Evaluator
    from bgserver.kernels.search import SearchMemory

__all__ = ["CARRIED", "Labels", "label_games", "read_shards", "write_shards"]

CARRIED = 1.0
"""Share of what a turn found out that goes back to the turn before."""
_SHARD_LABELS = 100_000
_MAX_LABELS = 8192  # of one kernel call: a game gives at most a few hundred
_SIBLINGS = 4
_WINDOW = 0.2
_LONGEST_GAME = 400


@dataclass(frozen=True, slots=True)
class Labels:
    """Labelled positions in the order of the games."""

    boards: NDArray[np.int8]
    """[n, 26]: boards after plays, seen by the mover."""
    targets: NDArray[np.float32]
    """[n, 5]: the mover's chances, right in the mean: single ones may lie outside 0 to 1."""
    turns: NDArray[np.int32]
    """[n]: equal for neighbours that are plays of the same roll, different for others."""


class LabelBuffers(NamedTuple):
    """Where a kernel writes the labels of one game."""

    boards: NDArray[np.int8]
    """[_MAX_LABELS, 26]."""
    targets: NDArray[np.float32]
    """[_MAX_LABELS, 5]."""
    turns: NDArray[np.int32]
    """[_MAX_LABELS]."""


_PLAIN_STARTS = 3  # of eight games; three more begin with some random turns
_FIRST_UNUSUAL = 6
_EIGHTH = np.uint64(7)
_RANDOM_TURNS = np.uint64(8)  # where in the bits the number of random turns is


@kernel
def _begins_plainly(seed: int, game: int) -> bool:
    """Whether a game begins at the start and no turn there is played at random."""
    bits = random_bits(seed + 1, game, 0)
    kind = bits & _EIGHTH
    if kind < _PLAIN_STARTS:
        return True
    if kind >= _FIRST_UNUSUAL:
        return False
    return int(np.int64(bits >> _RANDOM_TURNS)) & 7 == 0


@kernel
def _start_of_game(
    start: NDArray[np.int8],
    variant: int,
    seed: int,
    game: int,
    turned: NDArray[np.int8],
    board: NDArray[np.int8],
) -> int:
    """Write the board of a game's first turn; return how many turns are played at random.

    Three games of eight begin at the start, three there with some random turns, two from an
    unusual board.
    """
    bits = random_bits(seed + 1, game, 0)
    kind = bits & _EIGHTH
    if kind >= _FIRST_UNUSUAL and write_unusual_board(variant, seed + 3, game, turned, board):
        return 0
    board[:] = start
    return int(np.int64(bits >> _RANDOM_TURNS)) & 7 if kind >= _PLAIN_STARTS else 0


@kernel
def _take_siblings(values: NDArray[np.float32], count: int, taken: NDArray[np.int64]) -> int:
    """The best plays within the window, at most `_SIBLINGS`, best first."""
    n_taken = 0
    limit = np.float32(0)
    for _ in range(min(_SIBLINGS, count)):
        chosen = -1
        top = np.float32(-9)
        for row in range(count):
            worth = np.float32(equity(values[row]))
            if worth <= top or (n_taken > 0 and worth < limit):
                continue
            used = False
            for index in range(n_taken):
                if taken[index] == row:
                    used = True
            if not used:
                chosen = row
                top = worth
        if chosen < 0:
            break
        if n_taken == 0:
            limit = top - np.float32(_WINDOW)
        taken[n_taken] = chosen
        n_taken += 1
    return n_taken


@kernel
def _look_along_some_rolls(
    after: NDArray[np.int8],
    variant: int,
    rolls: int,
    offset: float,
    evaluator: Evaluator,
    memories: tuple[SearchMemory, SearchMemory],
    out: NDArray[np.float64],
) -> None:
    """Chances of the mover after a play, two rolls ahead along a sample of the first rolls.

    Args:
        after: int8[26]: the board after the play, seen by the mover; a running game.
        variant: The game.
        rolls: Rolls in the sample.
        offset: Where the sample begins, 0 to 1. The 36 rolls are passed in equal strides from
            there, so every roll comes as often as its chance is.
        evaluator: `Evaluator`.
        memories: `SearchMemory` of the first look and of the second.
        out: float64[5], written.
    """
    memory, second = memories
    best_replies(after, variant, evaluator, memory)
    total = np.zeros(N_OUTPUTS)
    for number in range(N_ROLLS):
        for index in range(N_OUTPUTS):
            total[index] += WAYS[number] * memory.reply_values[number, index] / 36.0
    number = 0
    passed = WAYS[0]
    for step in range(rolls):
        place = 36.0 * (step + offset) / rolls
        while place >= passed and number < N_ROLLS - 1:
            number += 1
            passed += WAYS[number]
        look_one_roll(memory.replies[number], variant, evaluator, second, out)
        for index in range(N_OUTPUTS):
            total[index] += (out[index] - memory.reply_values[number, index]) / rolls
    # Not cut to 0 to 1: that would lift the mean of small chances.
    out[:] = total
    flip(out, out)


@kernel
def _label_game(
    start: NDArray[np.int8],
    variant: int,
    seed: int,
    game: int,
    second_rolls: int,
    carried: float,
    evaluator: Evaluator,
    memories: tuple[SearchMemory, SearchMemory, SearchMemory],
    out: LabelBuffers,
) -> int:
    """Play one game and label its decisions.

    Args:
        start: int8[26].
        variant: The game.
        seed: Seed of dice and random choices.
        game: Number of the game.
        second_rolls: Rolls after which to look a second roll ahead, 0 to 21.
        carried: See `_look_along_the_game`.
        evaluator: `Evaluator` of the teacher.
        memories: Three `SearchMemory`: of the game, of the first look and of the second.
        out: Written.

    Returns:
        The number of labels.
    """
    memory, deeper, deepest = memories
    board = start.copy()
    turned = start.copy()
    label = np.zeros(N_OUTPUTS, dtype=np.float64)
    taken = np.zeros(_SIBLINGS + 1, dtype=np.int64)
    # By turn: where its labels begin, how many of them are close siblings, what the label before
    # took the best play to be worth, whether it has a label (then the first) and whether it was
    # made.
    first_label = np.zeros(_LONGEST_GAME + 1, dtype=np.int64)
    n_close = np.zeros(_LONGEST_GAME, dtype=np.int64)
    at_once = np.zeros((_LONGEST_GAME, N_OUTPUTS), dtype=np.float64)
    has_label = np.zeros(_LONGEST_GAME, dtype=np.bool_)
    was_made = np.zeros(_LONGEST_GAME, dtype=np.bool_)
    n_turns = 0
    random_turns = _start_of_game(start, variant, seed, game, turned, board)
    n_labels = 0
    for turn in range(_LONGEST_GAME):
        die_a, die_b = roll(seed, game, turn)
        first_turn = may_be_first_turn(board, variant)
        best, count = best_static(board, die_a, die_b, variant, first_turn, evaluator, memory)
        bits = random_bits(seed + 2, game, turn)
        other = int(np.int64((bits >> np.uint64(33)) % np.uint64(count)))
        offset = float(np.int64((bits >> np.uint64(8)) & np.uint64(0xFFFF))) / 65536.0
        boards_now = memory.plays.boards
        n_taken = _take_siblings(memory.values, count, taken)
        first_label[turn] = n_labels
        at_once[turn, :] = memory.values[best]
        n_turns = turn + 1
        n_siblings = n_taken
        is_taken = False
        for index in range(n_taken):
            if taken[index] == other:
                is_taken = True
        if bits & np.uint64(3) == 0 and not is_taken:
            taken[n_taken] = other
            n_taken += 1
        for index in range(n_taken):
            after = boards_now[taken[index]]
            if n_labels == _MAX_LABELS or judge_class(after, variant, evaluator) >= CLASS_BEAROFF:
                continue
            if second_rolls == 0:
                look_one_roll(after, variant, evaluator, deeper, label)
            elif second_rolls >= N_ROLLS:
                look_two_rolls(after, variant, evaluator, deeper, label)
            else:
                _look_along_some_rolls(
                    after, variant, second_rolls, offset, evaluator, (deeper, deepest), label
                )
            if index == 0:
                has_label[turn] = True
                if second_rolls > 0:
                    # The label before has looked at this play one roll ahead already.
                    look_one_roll(after, variant, evaluator, deeper, at_once[turn])
            if index < n_siblings:
                n_close[turn] += 1
            out.boards[n_labels, :] = after
            # The play at random has a turn of its own: it is no close sibling.
            out.turns[n_labels] = 2 * turn + int(index >= n_siblings)
            for output in range(N_OUTPUTS):
                out.targets[n_labels, output] = label[output]
            n_labels += 1
        chosen = best
        # In every other game one turn in ten is played at random, so that positions after blunders
        # are seen too. What comes after a blunder says nothing of the play before it, so the games
        # without blunders are those that look far.
        blunders = game % 2 == 1 and (bits >> np.uint64(4)) % np.uint64(10) == 0
        if turn < random_turns or blunders:
            chosen = other
        was_made[turn] = chosen == best
        if game_outcome(boards_now[chosen], variant) > 0:
            break
        turn_board(boards_now[chosen], variant, turned)
        board[:] = turned
    _look_along_the_game(
        carried, n_turns, first_label, n_close, at_once, has_label, was_made, out.targets
    )
    return n_labels


@kernel
def _look_along_the_game(
    carried: float,
    n_turns: int,
    first_label: NDArray[np.int64],
    n_close: NDArray[np.int64],
    at_once: NDArray[np.float64],
    has_label: NDArray[np.bool_],
    was_made: NDArray[np.bool_],
    targets: NDArray[np.float32],
) -> None:
    """Carry what later turns found out back to the labels before them.

    A label by look-ahead is the mean over the rolls of what the best replies are worth at once, or
    one roll ahead. The reply really made turned out to be worth more or less than that, by its own
    label and what followed; a share of that difference is added to the label. Its mean over the
    dice is what looking further ahead would add, and the luck of the dice is not in it. With a
    share of 1 a label is right in the mean, whatever the teacher's faults, for the teacher's own
    play up to the next play at random. Close siblings get the same addition, so that the
    differences between them stay as they are.

    Args:
        carried: Share of what the next turn found out that goes back to a turn, 0 to 1.
        n_turns: Turns of the game.
        first_label: Where the labels of a turn begin.
        n_close: How many labels of a turn are close siblings.
        at_once: What the label of the turn before took the best play to be worth, seen by its
            mover: at once, or one roll ahead where labels look further.
        has_label: Whether the best play has a label; it is the first of the turn then.
        was_made: Whether the best play was made.
        targets: Changed.
    """
    found = np.zeros(N_OUTPUTS, dtype=np.float64)  # of the turn after: label minus at once
    addition = np.zeros(N_OUTPUTS, dtype=np.float64)
    for turn in range(n_turns - 1, -1, -1):
        if not has_label[turn]:
            found[:] = 0
            continue
        share = carried if was_made[turn] else 0.0
        addition[0] = -found[0] * share
        for output in range(1, N_OUTPUTS):
            other = output + 2 if output <= 2 else output - 2
            addition[output] = found[other] * share
        begin = first_label[turn]
        for output in range(N_OUTPUTS):
            found[output] = targets[begin, output] + addition[output] - at_once[turn, output]
        for row in range(begin, begin + n_close[turn]):
            # Not cut to 0 to 1: that would lift the mean of small chances.
            for output in range(N_OUTPUTS):
                targets[row, output] += addition[output]


def label_games(
    core: GameCore,
    seed: int,
    first_game: int,
    second_rolls: int = 0,
    carried: float = CARRIED,
    *,
    plain: bool = False,
) -> Iterator[tuple[int, Labels]]:
    """Labels of game after game, without end.

    Args:
        core: The teacher.
        seed: Seed of dice and random choices.
        first_game: Number of the first game; game k always gives the same labels.
        second_rolls: Rolls after which to look a second roll ahead, 0 to 21.
        carried: Share of what the next turn found out that goes back to a turn, 0 to 1.
        plain: Only the games that begin at the start, without random turns there.

    Yields:
        The number of a game and its labels; `turns` is 2 k for the best plays of roll k, 2 k + 1
        for another.
    """
    networks = core.evaluator.networks
    memories = (
        make_search_memory(networks),
        make_search_memory(networks),
        make_search_memory(networks),
    )
    start = board_array(Position.start(core.weights.variant))
    buffers = LabelBuffers(
        boards=np.zeros((_MAX_LABELS, 26), dtype=np.int8),
        targets=np.zeros((_MAX_LABELS, N_OUTPUTS), dtype=np.float32),
        turns=np.zeros(_MAX_LABELS, dtype=np.int32),
    )
    for game in itertools.count(first_game):
        if plain and not _begins_plainly(seed, game):
            continue
        count = _label_game(
            start, core.code, seed, game, second_rolls, carried, core.evaluator, memories, buffers
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

    Yields:
        Labels made so far, after each game.
    """
    first_game = max((_next_game(path) for path in folder.glob("labels-*.npz")), default=0)
    parts: list[Labels] = []
    waiting = 0
    done = 0
    for game, part in label_games(core, seed, first_game, second_rolls, carried, plain=plain):
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
    turns = [game.turns + number * 2 * _LONGEST_GAME for number, game in enumerate(games)]
    np.savez(
        buffer,
        boards=np.concatenate([game.boards for game in games]),
        targets=np.concatenate([game.targets for game in games]),
        turns=np.concatenate(turns),
    )
    write_atomically(path, [buffer.getvalue()])


def _next_game(path: Path) -> int:
    return int(path.stem.removeprefix("labels-"))


def read_shards(folders: Sequence[Path]) -> Labels:
    """All labels of some folders, in order of the games.

    Raises:
        DataError: There is no shard, or one cannot be read; the message names folder or file.
    """
    parts = []
    first_turn = 0
    for folder in folders:
        paths = sorted(folder.glob("labels-*.npz"), key=_next_game)
        if not paths:
            message = f"no labels (labels-*.npz) in {folder}"
            raise DataError(message)
        for path in paths:
            shard = _read_shard(path)
            parts.append(Labels(shard.boards, shard.targets, shard.turns + first_turn))
            first_turn += int(shard.turns.max(initial=-1)) + 1
    return Labels(
        np.concatenate([part.boards for part in parts]),
        np.concatenate([part.targets for part in parts]),
        np.concatenate([part.turns for part in parts]),
    )


def _read_shard(path: Path) -> Labels:
    try:
        with np.load(path) as data:
            return Labels(data["boards"], data["targets"], data["turns"])
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        message = f"labels {path}: truncated or not a shard of labels"
        raise DataError(message) from error
