"""Questions with a time: as deep as it allows, figures of complete levels, never late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bgserver.engine.evaluator import Evaluation
from bgserver.engine.levels import Level
from bgserver.engine.limit import TimeLimit, deepen_in_time
from bgserver.engine.position import Dice, GameState, MatchScore, Position, Variant
from bgserver.engine.work import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.limit import Limit
    from bgserver.engine.work import Work

    Asker: TypeAlias = Callable[[Engine, Limit], Work[object]]

LEVELS = [Level.STATIC, Level.LOOKAHEAD_1, Level.LOOKAHEAD_2, Level.LOOKAHEAD_3]
DEEP = 20_000
"""Pieces of work that are enough for every level."""


def position(**counts: int) -> Position:
    """Checkers by point, `p6=2`, `p21=-1`."""
    points = [0] * 26
    for name, count in counts.items():
        points[int(name[1:])] = count
    return Position(tuple(points))


START = GameState()
NARDY = GameState(position=Position.start(Variant.LONG_NARDY))
RACE = GameState(
    position=position(p2=1, p5=1, p6=1, p21=-2, p22=-2, p23=-3), match=MatchScore(5, 2, 3)
)
ON_THE_BAR = GameState(
    position=position(p25=1, p6=1, p19=-2, p20=-2, p21=-2, p22=-2, p23=-2, p24=-2)
)
# Asker and how many pieces of work it is given at most.
QUESTIONS: dict[str, tuple[Asker, int]] = {
    "evaluate": (lambda engine, limit: engine.evaluate(START, limit), 60),
    "rank": (lambda engine, limit: engine.rank(START, Dice(5, 4), limit), 150),
    "rank cubeless": (
        lambda engine, limit: engine.rank(RACE, Dice(2, 1), limit, cubeless=True),
        DEEP,
    ),
    "rank in a match": (lambda engine, limit: engine.rank(RACE, Dice(2, 1), limit), DEEP),
    "rank a forced play": (lambda engine, limit: engine.rank(ON_THE_BAR, Dice(6, 5), limit), DEEP),
    "rank long nardy": (
        lambda engine, limit: engine.rank(NARDY, Dice(5, 2), limit, first_turn=True),
        150,
    ),
    "advise on the cube": (lambda engine, limit: engine.advise_cube(RACE, limit), DEEP),
}


class Clock:
    """A clock that goes on by a second with every piece of work."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s

    def take(
        self, ask: Callable[[TimeLimit], Work[object]], seconds: float
    ) -> tuple[object, float]:
        """Ask with so much time; the answer, and how long it took."""
        begun = self.now_s
        work = ask(TimeLimit(begun + seconds, self))
        while True:
            try:
                next(work)
            except StopIteration as end:
                return end.value, self.now_s - begun
            self.now_s += 1


def level_of(answer: object) -> Level:
    """The level of an answer of any kind."""
    if isinstance(answer, list):
        level: Level = answer[0].level
        return level
    evaluation = answer[1] if isinstance(answer, tuple) else answer
    assert isinstance(evaluation, Evaluation)
    return evaluation.level


@pytest.mark.parametrize("kind", QUESTIONS)
def test_more_time_looks_deeper_with_the_bits_of_the_level_itself(
    engine: Engine, kind: str
) -> None:
    ask, most = QUESTIONS[kind]
    outright: dict[Level, object] = {}
    reached = []
    for seconds in (-1, 0, 0.5, 2, 8, 30, 100, 300, 1000, DEEP):
        if seconds > most:
            break
        answer, took = Clock().take(lambda limit: ask(engine, limit), seconds)
        assert took < max(0, seconds) + 1
        level = level_of(answer)
        if level not in outright:
            outright[level] = run(ask(engine, level))
        assert answer == outright[level]
        reached.append(LEVELS.index(level))
    assert reached == sorted(reached)
    assert reached[:2] == [0, 0]
    assert reached[-1] == 3 if most == DEEP else reached[-1] >= 1


def test_a_clock_that_stands_still_ends_at_the_deepest_level(engine: Engine) -> None:
    limit = TimeLimit.starting_now(1, clock=lambda: 7.0)
    ranked = run(engine.rank(RACE, Dice(2, 1), limit))
    assert ranked[0].level is Level.LOOKAHEAD_3


class Scripted:
    """A question that costs what the test says."""

    deepest = 3

    def __init__(self, costs: list[int], boards: list[int]) -> None:
        self.costs, self.counts = costs, boards
        self.begun: list[int] = []
        self.finished = [0]

    def boards(self, depth: int) -> int:
        return self.counts[depth - 1]

    def look(self, depth: int) -> Work[None]:
        self.begun.append(depth)
        for _ in range(self.costs[depth - 1]):
            yield
        self.finished.append(depth)


@pytest.mark.parametrize(
    ("costs", "boards", "seconds", "begun", "finished", "took"),
    [
        ([10, 105, 1300], [10, 5, 3], 2000, [1, 2, 3], 3, 1415),  # all of it fits
        ([10, 105, 1300], [10, 5, 3], 700, [1, 2, 3], 2, 700),  # the last might have
        ([10, 105, 1300], [10, 5, 3], 400, [1, 2], 2, 115),  # the last is not begun
        ([10, 105, 1300], [10, 5, 3], 90, [1, 2], 1, 90),  # given up
        ([10, 105, 1300], [10, 5, 3], 30, [1], 1, 10),  # not begun
        ([10, 105, 1300], [10, 1, 1], 30, [1, 2], 1, 30),  # one play is cheaper than five
        ([10, 105, 1300], [10, 5, 3], 5, [1], 0, 5),  # even the first is too much
        ([10, 105, 1300], [10, 5, 3], 0, [], 0, 0),
    ],
)
def test_a_level_that_clearly_does_not_fit_is_not_begun(
    costs: list[int],
    boards: list[int],
    seconds: int,
    begun: list[int],
    finished: int,
    took: int,
) -> None:
    question = Scripted(costs, boards)
    _, found = Clock().take(lambda limit: deepen_in_time(question, limit), seconds)
    assert question.begun == begun
    assert question.finished[-1] == finished
    assert found == took
