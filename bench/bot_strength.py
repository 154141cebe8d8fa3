"""How much bots of each strength lose, and the noise that makes them lose it.

    python -m bench.bot_strength                            # the named strengths and every tenth
    python -m bench.bot_strength --strengths 20,60 --json
    python -m bench.bot_strength --calibrate --write        # after new weights; twice to settle

Bots of one strength play each other (backgammon: money games with the cube). A *choice* is a roll
with at least two different results; its loss is what the play gives up by the engine's static
evaluation with cube and score, and, for a part of the choices, one roll ahead. A *cube decision* is
a double that was made, one that could have been made and lies within 0.16 points of being right, or
the answer to a double. Losses are in thousandths of a point of the present cube (mEq).

`PR` is what eXtreme Gammon's performance rating would be if it judged as the static evaluation
does and counted these choices: 500 times the mean loss in points.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bgserver.engine import strength as strength_module
from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.position import Cube, CubeOwner, GameState, Seat, Variant
from bgserver.engine.strength import EXPERT, NAMED_STRENGTHS, DecisionKey, Noise, Strength
from bgserver.engine.work import run
from bgserver.games.contest import play_unit
from bgserver.games.setup import new_setup
from bgserver.games.simulation import Contestant, SimulationSpec
from bgserver.games.statistics import Statistics
from bgserver.kernels.misjudge import misjudged_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bgserver.games.simulation import PlayedGame, TurnRecord

_GRID = range(0, 100, 10)
_CLOSE = 0.16
_GAMES = 100
_CALIBRATION_GAMES = 240
_EVERY = 3  # choices of one game resemble each other
_DRAWS = 8
_HALVINGS = 24
_MOST_NOISE = 4.0


@dataclass(frozen=True)
class Figures:
    """What was measured of one strength in one game."""

    variant: str
    """The game."""
    strength: int
    """0..100."""
    target_meq: float
    """What a choice is meant to lose."""
    loss_meq: float
    """What a choice loses, by the static evaluation."""
    error_meq: float
    """Standard error of `loss_meq`."""
    pr: float
    """500 times the loss in points."""
    deeper_loss_meq: float
    """What a choice loses, judged one roll ahead."""
    missed_percent: float
    """Choices that were not the best by more than a thousandth of a point."""
    worst_meq: float
    """The largest loss of a choice."""
    choices: int
    """Choices."""
    double_loss_meq: float
    """What a close or made double loses."""
    take_loss_meq: float
    """What an answer to a double loses."""
    cube_decisions: int
    """Cube decisions."""
    won_percent: float
    """Games won against the full engine."""
    points: float
    """Points a game against the full engine."""


def _spec(
    variant: Variant, strengths: tuple[Strength, Strength], seed: int, *, records: bool
) -> SimulationSpec:
    setup = new_setup("classic" if variant is Variant.BACKGAMMON else "long_nardy")
    first, second = (Contestant(strength=strength) for strength in strengths)
    return SimulationSpec(setup, 1, seed, (first, second), records=records)


def _turns(game: PlayedGame) -> Iterator[tuple[GameState, TurnRecord, bool]]:
    """The turns of a game: the state before the cube action, the turn, whether it is a first."""
    owner: Seat | None = None
    seen: set[Seat] = set()
    for turn in game.record or ():
        side = CubeOwner.CENTERED
        if owner is not None:
            side = CubeOwner.ON_ROLL if owner is turn.seat else CubeOwner.OPPONENT
        state = GameState(turn.position, turn.seat, cube=Cube(turn.cube_value, side))
        yield state, turn, turn.seat not in seen
        seen.add(turn.seat)
        if turn.taken:
            owner = turn.seat.other


def _after_double(state: GameState, turn: TurnRecord) -> GameState:
    """The state in which the play was chosen."""
    if not turn.doubled:
        return state
    cube = Cube(2 * turn.cube_value, CubeOwner.OPPONENT)
    return GameState(turn.position, turn.seat, cube=cube)


def _choice_losses(
    engine: Engine, games: Iterable[PlayedGame], level: Level, every: int
) -> list[list[float]]:
    """What the choices of each game lost, judged at a level; every n-th choice only."""
    losses: list[list[float]] = []
    number = 0
    for game in games:
        losses.append([])
        for state, turn, first in _turns(game):
            if turn.dice is None or turn.play is None:
                continue
            number += 1
            if number % every:
                continue
            before = _after_double(state, turn)
            ranked = run(engine.rank(before, turn.dice, level, first_turn=first))
            if len(ranked) > 1:
                points = turn.play.result.points
                chosen = next(one for one in ranked if one.play.result.points == points)
                losses[-1].append(1000 * chosen.equity_loss)
    return losses


def _cube_losses(engine: Engine, games: Iterable[PlayedGame]) -> tuple[list[float], list[float]]:
    """What doubles, made or not, and answers to doubles lost."""
    doubles: list[float] = []
    takes: list[float] = []
    for game in games:
        for number, (state, turn, _) in enumerate(_turns(game)):
            if number == 0:
                continue  # the opening is played without a double
            advice, _ = run(engine.advise_cube(state, Level.STATIC))
            if advice.refusals or advice.double_take is None or advice.double_pass is None:
                continue
            take, passed = advice.double_take.equity, advice.double_pass.equity
            gain = min(take, passed) - advice.no_double.equity
            if turn.doubled:
                takes.append(1000 * max(0.0, take - passed if turn.taken else passed - take))
                doubles.append(1000 * max(0.0, -gain))
            elif abs(gain) <= _CLOSE:
                doubles.append(1000 * max(0.0, gain))
    return doubles, takes


def _measure(
    engine: Engine, variant: Variant, strength: Strength, games: int, seed: int
) -> Figures:
    """Play and judge."""
    spec = _spec(variant, (strength, strength), seed, records=True)
    played = [run(play_unit(engine, spec, index)).games[0] for index in range(games)]
    by_game = _choice_losses(engine, played, Level.STATIC, 1)
    losses = [loss for game in by_game for loss in game]
    mean = statistics.fmean(losses)
    deviations = [sum(game) - mean * len(game) for game in by_game]
    error = math.sqrt(sum(value * value for value in deviations)) / len(losses)
    deeper = [
        loss for game in _choice_losses(engine, played, Level.LOOKAHEAD_1, 12) for loss in game
    ]
    doubles, takes = _cube_losses(engine, played) if variant is Variant.BACKGAMMON else ([], [])
    against = Statistics()
    spec = _spec(variant, (strength, EXPERT), seed + 1, records=False)
    for index in range(games):
        against.add(run(play_unit(engine, spec, index)))
    return Figures(
        variant=variant.value,
        strength=strength.value,
        target_meq=1000 * strength.mean_loss,
        loss_meq=mean,
        error_meq=error,
        pr=mean / 2,
        deeper_loss_meq=statistics.fmean(deeper),
        missed_percent=100 * sum(loss > 1 for loss in losses) / len(losses),
        worst_meq=max(losses),
        choices=len(losses),
        double_loss_meq=statistics.fmean(doubles) if doubles else 0.0,
        take_loss_meq=statistics.fmean(takes) if takes else 0.0,
        cube_decisions=len(doubles) + len(takes),
        won_percent=100 * against.game_win_rate.mean,
        points=against.points_per_game.mean,
    )


def _show(rows: list[Figures]) -> None:
    """Print the figures as tables."""
    names = {strength.value: name for name, strength in NAMED_STRENGTHS.items()}
    headings = (
        "strength", "meant", "loss mEq", "PR", "one roll ahead", "missed %", "worst", "choices",
        "double", "take", "cube decisions", "won % against expert", "points a game",
    )  # fmt: skip
    for variant in Variant:
        table = Table(title=f"{variant.value}, bots of one strength against each other")
        for heading in headings:
            table.add_column(heading, justify="right")
        for row in rows:
            if row.variant == variant.value:
                table.add_row(
                    f"{row.strength} {names.get(row.strength, '')}",
                    f"{row.target_meq:.1f}",
                    f"{row.loss_meq:.1f} ± {1.96 * row.error_meq:.1f}",
                    f"{row.pr:.1f}",
                    f"{row.deeper_loss_meq:.1f}",
                    f"{row.missed_percent:.0f}",
                    f"{row.worst_meq:.0f}",
                    f"{row.choices:,}",
                    f"{row.double_loss_meq:.1f}",
                    f"{row.take_loss_meq:.1f}",
                    f"{row.cube_decisions:,}",
                    f"{row.won_percent:.1f}",
                    f"{row.points:+.2f}",
                )
        if table.row_count:
            Console(width=150).print(table)


# --- calibration ---------------------------------------------------------------------------------

_Choices = list[tuple["NDArray[np.int8]", "NDArray[np.float64]"]]


def _harvest(
    engine: Engine, variant: Variant, strength: Strength, games: int, seed: int
) -> _Choices:
    """Boards and equities of the plays of many choices that bots of a strength face."""
    spec = _spec(variant, (strength, strength), seed, records=True)
    choices: _Choices = []
    number = 0
    for index in range(games):
        for state, turn, first in _turns(run(play_unit(engine, spec, index)).games[0]):
            number += 1
            if turn.dice is None or number % _EVERY:
                continue
            before = _after_double(state, turn)
            ranked = run(engine.rank(before, turn.dice, Level.STATIC, first_turn=first))
            if len(ranked) > 1:
                boards = np.array([one.play.result.points for one in ranked], dtype=np.int8)
                choices.append((boards, np.array([[one.equity, 0.0] for one in ranked])))
    return choices


def _mean_loss(choices: _Choices, code: int, noise: Noise, seed: int) -> float:
    """What the choices lose on average with this noise, in points."""
    total = 0.0
    for number, (boards, worth) in enumerate(choices):
        for draw in range(_DRAWS):
            judge = noise.at(DecisionKey(seed, number, draw))
            row = misjudged_row(boards, worth, len(boards), code, judge)
            total += worth[0, 0] - worth[row, 0]
    return total / (_DRAWS * len(choices))


def _calibrate(engine: Engine, variant: Variant, games: int, seed: int) -> dict[int, float]:
    """The noise, in thousandths of a point, that leads to the loss meant at each strength."""
    found = {}
    code = engine.core(variant).code
    for value in track(_GRID, description=f"calibrating {variant.value}"):
        strength = Strength(value)
        choices = _harvest(engine, variant, strength, games, seed)
        limit = strength_module.play_noise(strength, variant).limit
        low, high = 0.0, _MOST_NOISE
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if _mean_loss(choices, code, Noise(middle, limit), seed) < strength.mean_loss:
                low = middle
            else:
                high = middle
        found[value] = 1000 * high
    return found


def _table_text(noise: dict[Variant, dict[int, float]]) -> str:
    """The table as it stands in `bgserver/engine/strength.py`."""
    lines = []
    for variant, steps in noise.items():
        lines.append(f"    Variant.{variant.name}: {{")
        entries = [f"{value}: {deviation:.1f}" for value, deviation in steps.items()]
        lines += [
            f"        {', '.join(entries[first : first + 5])},"
            for first in range(0, len(entries), 5)
        ]
        lines.append("    },")
    return "\n".join(lines)


def _write(text: str) -> None:
    """Replace the table in the source."""
    path = Path(strength_module.__file__)
    pattern = r"(?<=Mapping\[int, float\]\] = \{\n).*?(?=\n\}\n# fmt: on)"
    source, replaced = re.subn(pattern, lambda _: text, path.read_text(), flags=re.DOTALL)
    if replaced != 1:
        message = f"the table was not found in {path}"
        raise SystemExit(message)
    path.write_text(source)


def main() -> None:
    """Measure, or calibrate."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--games",
        type=int,
        help=f"games of each kind and strength [{_GAMES}; {_CALIBRATION_GAMES} to calibrate]",
    )
    parser.add_argument("--strengths", help="numbers, separated by commas")
    parser.add_argument("--variant", choices=[variant.value for variant in Variant])
    parser.add_argument("--weights", type=Path, help="folder of other weights")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--calibrate", action="store_true", help="find the noise again")
    parser.add_argument("--write", action="store_true", help="and write it into strength.py")
    options = parser.parse_args()
    engine = Engine.load(weights=options.weights)
    variants = [Variant(options.variant)] if options.variant else list(Variant)
    if options.calibrate:
        if options.write and len(variants) < len(Variant):
            parser.error("--write needs both games")
        games = options.games or _CALIBRATION_GAMES
        noise = {variant: _calibrate(engine, variant, games, options.seed) for variant in variants}
        text = _table_text(noise)
        Console().print(text, highlight=False)
        if options.write:
            _write(text)
        return
    values = sorted({*range(0, 101, 10), *(named.value for named in NAMED_STRENGTHS.values())})
    if options.strengths:
        values = [int(value) for value in options.strengths.split(",")]
    todo = [(variant, Strength(value)) for variant in variants for value in values]
    rows = [
        _measure(engine, variant, strength, options.games or _GAMES, options.seed)
        for variant, strength in track(todo, description="measuring", console=Console(stderr=True))
    ]
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        _show(rows)


if __name__ == "__main__":
    main()
