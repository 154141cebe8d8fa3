"""Random game states that obey every rule the ID formats know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.position import (
    BAR,
    OPPONENT_BAR,
    Cube,
    CubeOwner,
    Dice,
    GameState,
    MatchScore,
    Position,
    Resignation,
    Seat,
)

if TYPE_CHECKING:
    import random

_OWNERS = (CubeOwner.CENTERED, CubeOwner.ON_ROLL, CubeOwner.OPPONENT)


def random_points(rng: random.Random) -> tuple[int, ...]:
    """A board with up to 15 checkers a side, some on the bar, some borne off."""
    points = [0] * 26
    places = rng.sample(range(1, 25), 16)
    for sign, bar, mine in ((1, BAR, places[:8]), (-1, OPPONENT_BAR, places[8:])):
        left = rng.choice((15, 15, 15, 14, 9, 3, 1))
        if rng.random() < 0.2:
            points[bar] = sign
            left -= 1
        for place in mine[:-1]:
            count = min(left, rng.choice((0, 1, 1, 2, 2, 3, 5)))
            points[place] = sign * count
            left -= count
        points[mine[-1]] += sign * left
    return tuple(points)


def random_state(rng: random.Random, *, resignations: bool) -> GameState:
    """A state of a game that is being played; with `resignations` some are on offer."""
    position = Position(random_points(rng))
    on_roll = Seat(rng.randrange(2))
    length = rng.choice((0, 0, 1, 2, 5, 7, 25, 32767))
    match = None
    money_score = (0, 0)
    if length:
        score = [rng.choice((0, length - 1, rng.randrange(length))) for _ in range(2)]
        one_away = [points == length - 1 for points in score]
        crawford = one_away[0] != one_away[1] and rng.random() < 0.5
        match = MatchScore(length, score[0], score[1], crawford)
    else:
        money_score = (rng.randrange(100), rng.randrange(100))
    no_cube = length == 1 or (match is not None and match.crawford)
    cap = rng.choice((6, 10, 15))
    owner = CubeOwner.CENTERED if no_cube else rng.choice(_OWNERS)
    exponent = rng.randrange(1, cap + 1)
    if owner is CubeOwner.CENTERED:
        exponent = 0 if length else rng.randrange(3)
    beavers = not length and rng.random() < 0.4
    kind = rng.choice(("roll", "dice", "dice", "offer"))
    level = 0
    offered = kind == "offer" and not no_cube and exponent < cap
    if offered and owner is CubeOwner.OPPONENT:
        level = min(exponent, rng.randint(1, 2))
        beavers = True
        offered = not length
        level = level if offered else 0
    resignation = Resignation.NONE
    acting = None
    if resignations and rng.random() < 0.2:
        resignation = Resignation(rng.randint(1, 3))
        acting = on_roll if not offered and rng.random() < 0.5 else None
    return GameState(
        position=position,
        on_roll=on_roll,
        dice=Dice(rng.randint(1, 6), rng.randint(1, 6)) if kind == "dice" else None,
        cube=Cube(1 << exponent, owner, 1 << cap),
        match=match,
        jacoby=not length and rng.random() < 0.5,
        beavers=beavers and not length,
        money_score=money_score,
        double_offered=offered,
        resignation=resignation,
        beaver_level=level,
        acting=acting,
    )
