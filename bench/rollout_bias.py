"""Rollouts of many positions beside GNU Backgammon's, or beside plain ones: is there a bias?

    python -m bench.rollout_bias --out FILE [--positions 100] [--trials 144] [--cubeless]
    python -m bench.rollout_bias --out FILE --against plain

Positions are those of games of the engine against itself; both programs roll out each of them,
static play, to the end, with variance reduction, for money without the Jacoby rule, with the cube
centred (who is on roll may double first), each position with dice of its own. Ctrl-C stops; the
same command goes on with the same file. Each difference is divided by the joint standard error; the
sum of the squares is compared with the chi-square distribution, and the mean of the differences
with its error. `largest` is the largest difference in such errors.

Each program plays, doubles and takes by its own network, so a difference of the truth itself is
part of what is measured beside GNU Backgammon. `spread` is how large it is: the standard deviation
between positions that the errors leave unexplained (DerSimonian and Laird, 1986). Plain rollouts
play by the same network, with other dice and many more trials, but every game is played to its end
and no luck is taken off: what is left is what the engine's rollouts do to a result.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.peers.client import PeerError, add_program_arguments
from bench.peers.rollouts import RolloutCase, roll_out_by_gnubg
from bench.time_limit import questions_of_games
from bgserver.engine.evaluator import Engine
from bgserver.engine.position import GameState, Position
from bgserver.engine.rollout_run import RolloutRun
from bgserver.engine.rollout_spec import RolloutOptions, StopRules, position_rollout
from bgserver.engine.work import run
from bgserver.formats.gnu_id import format_gnu_id

_PER_CALL = 4  # positions that GNU Backgammon is asked about at once
Figures = tuple[float, float]
"""Mean and standard error."""
_NAMES = ("win", "win gammon", "win backgammon", "lose gammon", "lose backgammon", "cubeless")
_ROUNDING = 0.00005  # its figures have four decimals
_PLAIN_FACTOR = 36  # plain trials for each of ours


@dataclass(frozen=True)
class Compared:
    """One position."""

    points: tuple[int, ...]
    """The board."""
    cubeful: bool
    """With cube."""
    trials: int
    """Our trials, and those of GNU Backgammon; plain ones are `_PLAIN_FACTOR` times as many."""
    ours: list[tuple[float, float]]
    """Mean and error of each figure."""
    theirs: list[tuple[float, float]]
    """The same of the other side."""
    against: str = "gnubg"
    """Whose rollouts those are: "gnubg" or "plain"."""


@dataclass(frozen=True)
class Question:
    """What both sides roll out."""

    number: int
    """Of the position, from 0: it has dice of its own, or the errors of all would be alike."""
    position: Position
    cubeful: bool
    trials: int


def _ours(engine: Engine, question: Question) -> list[Figures]:
    options = RolloutOptions(seed=2 * question.number, cubeful=question.cubeful)
    return _roll_out(engine, question.position, options, question.trials)


def _plain(engine: Engine, question: Question) -> list[Figures]:
    options = RolloutOptions(
        seed=2 * question.number + 1,
        cubeful=question.cubeful,
        reduce_variance=False,
        stop_at_bearoff=False,
    )
    return _roll_out(engine, question.position, options, _PLAIN_FACTOR * question.trials)


def _roll_out(
    engine: Engine, position: Position, options: RolloutOptions, trials: int
) -> list[Figures]:
    rollout = RolloutRun(
        engine, position_rollout(GameState(position), options), StopRules(trials=trials)
    )
    for chunk in rollout.chunks():
        rollout.add(run(chunk.work(engine)))
    entry = rollout.result().entries[0]
    figures = (*entry.probabilities, entry.cubeless_equity, entry.equity)
    return [(figure.mean, figure.standard_error) for figure in figures]


def _positions(engine: Engine, count: int) -> list[Position]:
    """Different positions of games, `count` of them."""
    # Every third one: neighbours of one game are much alike.
    questions = questions_of_games(engine, 6 * count, 11)[::3]
    return list(dict.fromkeys(position for position, _ in questions))[:count]


def _theirs(gnubg: str, questions: list[Question]) -> list[list[Figures]]:
    cases = [
        RolloutCase(":".join(format_gnu_id(GameState(one.position))), one.number + 1)
        for one in questions
    ]
    first = questions[0]
    found, _ = roll_out_by_gnubg(gnubg, cases, first.trials, cubeful=first.cubeful)
    return [list(zip(one.means, one.errors, strict=True)) for one in found]


def _report(done: list[Compared], *, cubeful: bool) -> None:
    print(f"{len(done)} positions, {'with' if cubeful else 'without'} cube")
    head = f"{'':18}{'mean diff.':>12}{'error':>10}{'chi-square':>12}{'of':>5}{'p':>8}"
    print(f"{head}{'largest':>10}{'spread':>10}")
    names = (*_NAMES, "cubeful") if cubeful else _NAMES
    for index, name in enumerate(names):
        differences, judged, weights = [], [], []
        for entry in done:
            (mean, error), (their_mean, their_error) = entry.ours[index], entry.theirs[index]
            joint = math.hypot(error, their_error, _ROUNDING)
            differences.append(mean - their_mean)
            # Rare outcomes have errors that are themselves uncertain; both must have been seen.
            if error > _ROUNDING and their_error > _ROUNDING:
                judged.append(mean - their_mean)
                weights.append(joint**-2)
        count = len(differences)
        mean = sum(differences) / count
        spread = math.sqrt(sum((value - mean) ** 2 for value in differences) / max(1, count - 1))
        squares = [
            weight * difference**2 for difference, weight in zip(judged, weights, strict=True)
        ]
        chance = _upper_tail(sum(squares), len(squares))
        error = spread / math.sqrt(count)
        print(
            f"{name:18}{mean:+12.4f}{error:10.4f}{sum(squares):12.1f}{len(squares):5}{chance:8.3f}"
            f"{max(squares, default=0.0) ** 0.5:10.1f}{_unexplained(judged, weights):10.4f}"
        )


def _unexplained(differences: list[float], weights: list[float]) -> float:
    """Standard deviation between positions that their errors leave unexplained."""
    total = sum(weights)
    scale = total - sum(weight**2 for weight in weights) / total if total else 0.0
    if scale <= 0.0:
        return 0.0
    pairs = list(zip(differences, weights, strict=True))
    mean = sum(difference * weight for difference, weight in pairs) / total
    square = sum(weight * (difference - mean) ** 2 for difference, weight in pairs)
    return math.sqrt(max(0.0, square - (len(pairs) - 1)) / scale)


def _upper_tail(square: float, freedom: int) -> float:
    """Chance of a larger chi-square (Wilson and Hilferty's approximation, 1931)."""
    if freedom == 0:
        return 1.0
    scale = 2.0 / (9.0 * freedom)
    deviation = ((square / freedom) ** (1 / 3) - (1.0 - scale)) / math.sqrt(scale)
    return 0.5 * math.erfc(deviation / math.sqrt(2.0))


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="file of the results")
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument("--trials", type=int, default=144)
    parser.add_argument("--cubeless", action="store_true")
    parser.add_argument("--against", choices=["gnubg", "plain"], default="gnubg")
    add_program_arguments(parser)
    options = parser.parse_args()
    engine = Engine.load()
    positions = _positions(engine, options.positions)
    cubeful = not options.cubeless
    done: list[Compared] = []
    if options.out.exists():
        for line in options.out.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            entry["points"] = tuple(entry["points"])
            done.append(Compared(**entry))
        wanted = (cubeful, options.trials, options.against)
        if any((entry.cubeful, entry.trials, entry.against) != wanted for entry in done):
            message = f"{options.out} holds another comparison"
            raise SystemExit(message)
    if any(entry.points != place.points for entry, place in zip(done, positions, strict=False)):
        message = f"{options.out} holds positions of other weights"
        raise SystemExit(message)
    questions = [
        Question(number, place, cubeful, options.trials) for number, place in enumerate(positions)
    ]
    try:
        for first in range(len(done), len(questions), _PER_CALL):
            part = questions[first : first + _PER_CALL]
            if options.against == "plain":
                others = [_plain(engine, question) for question in part]
            else:
                others = _theirs(options.gnubg, part)
            for question, other in zip(part, others, strict=True):
                entry = Compared(
                    question.position.points,
                    cubeful,
                    options.trials,
                    _ours(engine, question),
                    other,
                    options.against,
                )
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(entry)) + "\n")
                done.append(entry)
            print(f"{len(done)} of {len(positions)}", flush=True)
    except KeyboardInterrupt:
        print("stopped")
    except PeerError as error:
        raise SystemExit(str(error)) from None
    if done:
        _report(done, cubeful=cubeful)


if __name__ == "__main__":
    main()
