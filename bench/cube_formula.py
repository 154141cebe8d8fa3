"""How near the static formula for the cube comes to the engine's own look-ahead with the cube.

    python -m bench.cube_formula --count 2000
    python -m bench.cube_formula --count 500 --level lookahead_3 --seed 7

Positions are those of the engine's own games, some plays at random, with random cubes and scores,
where a double of the player on roll is legal and not far from right. Truth is the equity of no
double and of double, take by the look-ahead. Beside it stand the static values, and the formula on
the chances of the look-ahead: the first shows what is lost in all, the second what the formula
loses with good chances. The last column is the share of the live value, by least squares, that
would fit the values of waiting best; the lifts of `bgserver.kernels.cube` are chosen so that the
formula has that share. The look-ahead judges its own leaves by the formula, so a lift is right when
it comes out as it went in.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track

from bgserver.engine.cube import advise_cube
from bgserver.engine.cube_rules import cube_state
from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.player import Player
from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Cube, CubeOwner, Dice, GameState, MatchScore, Position
from bgserver.engine.work import run
from bgserver.kernels import cube

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.engine.cube_advice import CubeAdvice
    from bgserver.engine.evaluator import Evaluation

_MOST_LOST = 0.3  # a double that loses more is nobody's question
_LEAST = 30  # decisions of a group that is shown


class Values(NamedTuple):
    """Equities on the present cube."""

    no_double: float
    double_take: float

    @property
    def double_gains(self) -> bool:
        """Whether a double costs nothing."""
        return min(self.double_take, 1.0) >= self.no_double


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision in three judgements."""

    groups: tuple[str, ...]
    truth: Values
    static: Values
    formula: Values
    live: float
    """Equity of waiting with a live cube, by the chances of the look-ahead."""
    dead: float

    def losses(self, choice: Values) -> tuple[float, float]:
        """Equity that a choice gives up by its double and by its take."""
        truth = self.truth
        double = abs(min(truth.double_take, 1.0) - truth.no_double)
        take = abs(truth.double_take - 1.0)
        return (
            double * (choice.double_gains != truth.double_gains),
            take * ((choice.double_take > 1.0) != (truth.double_take > 1.0)),
        )


def positions(engine: Engine, rng: np.random.Generator) -> Iterator[Position]:
    """Positions before the roll out of games of the engine against itself, endless."""
    player = Player(engine, Level.STATIC)
    while True:
        position = Position.start()
        for turn in range(400):
            dice = Dice(*(int(die) for die in rng.integers(1, 7, 2)))
            if turn < 20 and rng.random() < 0.06:
                plays = legal_plays(position, dice)
                play = plays[int(rng.integers(len(plays)))]
            else:
                state = GameState(position=position)
                play = run(player.choose(state, dice, first_turn=False)).play
            position = play.result.turned()
            if position.is_finished:
                break
            yield position


def with_cube(position: Position, rng: np.random.Generator) -> GameState | None:
    """The position with a random cube and score; None if no double would be possible."""
    owned = rng.random() < 0.3
    if rng.random() < 0.5:
        turned = Cube(2, CubeOwner.ON_ROLL) if owned else Cube()
        return GameState(position=position, cube=turned, jacoby=bool(rng.random() < 0.5))
    length = int(rng.integers(2, 10))
    own, opponent = (int(away) for away in rng.integers(1, length + 1, 2))
    value = 2 if owned else 1
    if own <= value - 1 or own == opponent == 1:
        return None
    return GameState(
        position=position,
        cube=Cube(2, CubeOwner.ON_ROLL) if owned else Cube(),
        match=MatchScore(length, length - own, length - opponent, crawford=False),
    )


def decisions(engine: Engine, level: Level, seed: int) -> Iterator[Decision]:
    """Decisions near a double, endless."""
    rng = np.random.default_rng(seed)
    for position in positions(engine, rng):
        state = with_cube(position, rng)
        if state is None or engine.exact_cube(state) is not None:
            continue
        advice, found = run(engine.advise_cube(state, Level.STATIC))
        static = _values(advice)
        if static is None or advice.is_dead or static.no_double > 1.5:
            continue
        if min(static.double_take, 1.0) - static.no_double < -_MOST_LOST:
            continue
        yield _decision(engine, state, level, static, found)


def _values(advice: CubeAdvice) -> Values | None:
    if advice.double_take is None:
        return None
    return Values(advice.no_double.equity, advice.double_take.equity)


def _decision(
    engine: Engine, state: GameState, level: Level, static: Values, found: Evaluation
) -> Decision:
    deep, judged = run(engine.advise_cube(state, level))
    truth = _values(deep)
    formula = _values(advise_cube(judged.probabilities, state, met=engine.met))
    if truth is None or formula is None:
        message = "a double that was possible"
        raise AssertionError(message)
    cubes, table = cube_state(state), engine.match_table(state)
    chances = np.array(judged.probabilities)
    live = cube.cubeful_utility(chances, cubes, table, 1.0)
    dead = cube.cubeless_utility(chances, cubes, table)
    ends = [float(cube.normalised(utility, cubes, table)) for utility in (live, dead)]
    kind = "money" if state.match is None else "match"
    if state.jacoby and cubes.owner == cube.CENTERED:
        kind = "money, jacoby"
    if state.match is not None and min(state.match.away) == 1:
        kind = "match, 1 away"
    place = "centred" if cubes.owner == cube.CENTERED else "owned"
    groups = (f"{kind}, {place}", found.position_class, "all")
    return Decision(groups, truth, static, formula, ends[0], ends[1])


def report(found: list[Decision]) -> None:
    """Print bias and root mean square error of both equities, losses and shares by group."""
    names = ("static", "formula")
    head = "   ".join(f"{name}: bias, rms of ND; of DT; loss D, T" for name in names)
    print(f"thousandths of a point\n{'':28} {'n':>5}   {head}   share")
    for group in sorted({name for one in found for name in one.groups}):
        chosen = [one for one in found if group in one.groups]
        if len(chosen) < _LEAST:
            continue
        parts = []
        for values in ([one.static for one in chosen], [one.formula for one in chosen]):
            errors = 1000 * (np.array(values) - np.array([one.truth for one in chosen]))
            lost = np.mean(
                [one.losses(value) for one, value in zip(chosen, values, strict=True)], axis=0
            )
            bias, rms = errors.mean(axis=0), np.sqrt((errors**2).mean(axis=0))
            parts.append(
                f"{bias[0]:6.1f} {rms[0]:5.1f}; {bias[1]:6.1f} {rms[1]:5.1f}; "
                f"{1000 * lost[0]:5.2f} {1000 * lost[1]:5.2f}     "
            )
        gain = np.array([one.live - one.dead for one in chosen])
        reached = np.array([one.truth.no_double - one.dead for one in chosen])
        gains = gain > 0
        share = (gain * reached)[gains].sum() / (gain**2)[gains].sum()
        print(f"{group:28} {len(chosen):5}   {'  '.join(parts)} {share:.3f}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    ahead = [level.value for level in Engine.levels if level is not Level.STATIC]
    parser.add_argument("--level", choices=ahead, default="lookahead_2", help="what is the truth")
    parser.add_argument("--count", type=int, default=2000, help="decisions")
    parser.add_argument("--seed", type=int, default=1, help="seed of games and scores")
    options = parser.parse_args()
    endless = decisions(Engine.load(), Level(options.level), options.seed)
    counted = zip(range(options.count), endless, strict=False)
    console = Console(stderr=True)
    found = [one for _, one in track(counted, "decisions", total=options.count, console=console)]
    report(found)


if __name__ == "__main__":
    main()
