"""Dice sources: reproducible, provably fair, and never asked again by a replay (2.27)."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from bgserver.engine.position import Resignation
from bgserver.games import actions as act
from bgserver.games import events as ev
from bgserver.games.dice import FairDice, SecretDice, SeededDice, verify
from bgserver.games.state import replay
from tests.games.desk import FIRST, SECOND, Desk, names

_MASTER = bytes(range(32))


def _two_games(dice: Any) -> Desk:
    desk = Desk("classic", dice=dice)
    for _ in range(2):
        for _ in range(3):
            desk.play()
            desk.turn(act.Roll())
        seat = desk.state.turn
        desk.do(seat, act.Resign(Resignation.SINGLE))
        desk.do(seat.other, act.AcceptResignation())
        desk.do(FIRST, act.NextGame())
        desk.do(SECOND, act.NextGame())
    return desk


def _rolls(desk: Desk) -> list[tuple[int, int]]:
    return [
        (event.first, event.second)
        for event in desk.log
        if isinstance(event, (ev.OpeningRolled, ev.DiceRolled))
    ]


def test_a_seed_gives_the_same_dice_whenever_it_is_asked() -> None:
    assert _rolls(_two_games(SeededDice(7))) == _rolls(_two_games(SeededDice(7)))
    assert _rolls(_two_games(SeededDice(7))) != _rolls(_two_games(SeededDice(8)))
    one, other = SeededDice(5), SeededDice(5)
    forwards = [one.roll(2, index) for index in range(50)]
    assert [other.roll(2, index) for index in reversed(range(50))] == forwards[::-1]
    assert SeededDice(5).roll(1, 0) == SeededDice(5).roll(1, 0)


@pytest.mark.parametrize("dice", [SecretDice(), SeededDice(1), FairDice(_MASTER)])
def test_every_roll_is_about_as_frequent_as_every_other(dice: Any) -> None:
    count = 36_000
    found = Counter(dice.roll(1 + index // 100, index % 100) for index in range(count))
    assert len(found) == 36
    # Chi-squared with 35 degrees of freedom stays below 100 in all but one of 10 million runs.
    assert sum((hits - 1000) ** 2 / 1000 for hits in found.values()) < 100


def test_promise_before_seed_after() -> None:
    desk = _two_games(FairDice(_MASTER))
    found = names(desk.log)
    assert (
        found.index("dice_committed") < found.index("game_started") < found.index("opening_rolled")
    )
    assert found.index("game_ended") < found.index("dice_revealed")
    assert found.count("dice_committed") == 3
    assert found.count("dice_revealed") == 2
    text = "".join(str(event.to_json()) for event in desk.log)
    assert _MASTER.hex() not in text, "the games to come stay secret"
    assert desk.state.commitment == FairDice(_MASTER).commitment(3)
    assert verify(desk.log) == []


def test_anyone_can_compute_the_dice_from_the_published_seed() -> None:
    """Written from the description alone, without the module's own functions."""
    desk = _two_games(FairDice(_MASTER))
    revealed = next(event for event in desk.log if isinstance(event, ev.DiceRevealed))
    seed = bytes.fromhex(revealed.seed)
    promised = next(event for event in desk.log if isinstance(event, ev.DiceCommitted))
    assert hashlib.sha256(seed).hexdigest() == promised.commitment
    rolls = [
        (event.first, event.second)
        for event in desk.log[: desk.log.index(revealed)]
        if isinstance(event, ev.OpeningRolled)
        or (isinstance(event, ev.DiceRolled) and not event.opening)
    ]
    for index, roll in enumerate(rolls):
        digest = hmac.new(seed, b"roll %d 0" % index, hashlib.sha256).digest()
        assert [byte % 6 + 1 for byte in digest if byte < 252][:2] == list(roll)


def test_every_roll_of_a_seed_is_that_of_the_description() -> None:
    """So many that bytes too large for an even die occur; a seed in hand as after a game."""
    dice = FairDice(_MASTER)
    seed = bytes.fromhex(dice.reveal(1))
    too_large = 0
    for index in range(1000):
        digest = hmac.new(seed, b"roll %d 0" % index, hashlib.sha256).digest()
        fair = [byte for byte in digest if byte < 252]
        too_large += fair[:2] != list(digest[:2])
        assert [byte % 6 + 1 for byte in fair[:2]] == list(dice.roll(1, index))
    assert too_large > 20


def test_the_seed_is_published_however_the_match_ends() -> None:
    desk = Desk("joypip", dice=FairDice(_MASTER), match_length=3)
    desk.do(FIRST, act.Resign())
    assert names(desk.log)[-2:] == ["dice_revealed", "session_ended"]
    assert verify(desk.log) == []


@pytest.mark.parametrize(
    ("kind", "change", "fault"),
    [
        (ev.DiceRolled, {"first": 7}, "roll"),
        (ev.DiceRevealed, {"seed": "00"}, "not the promised one"),
        (ev.DiceRevealed, {"seed": "x"}, "no hexadecimal"),
        (ev.DiceCommitted, {"commitment": "00"}, "not the promised one"),
    ],
)
def test_cheating_is_noticed(kind: Any, change: dict[str, Any], fault: str) -> None:
    log = _two_games(FairDice(_MASTER)).log
    at = next(
        index
        for index, event in enumerate(log)
        if isinstance(event, kind) and not getattr(event, "opening", False)
    )
    changed = [*log[:at], replace(log[at], **change), *log[at + 1 :]]
    faults = verify(changed)
    assert len(faults) == 1
    assert fault in faults[0]


def test_a_missing_promise_or_seed_is_noticed() -> None:
    log = _two_games(FairDice(_MASTER)).log
    for kind, count in ((ev.DiceCommitted, 3), (ev.DiceRevealed, 2)):
        faults = verify([event for event in log if not isinstance(event, kind)])
        assert len(faults) == count
    assert len(verify(_two_games(SeededDice(1)).log)) == 3, "no promise in any game"


def test_a_promise_cannot_be_exchanged() -> None:
    log = _two_games(FairDice(_MASTER)).log
    other = FairDice(_MASTER[::-1])
    late = ev.DiceCommitted(0.0, 1, other.commitment(1))
    for at in (1, 2, 6):
        changed = [*log[:at], late, *log[at:]]
        assert "game 1: a promise at the wrong time" in verify(changed)


def test_the_starter_must_get_the_dice_of_the_opening_roll() -> None:
    log = _two_games(FairDice(_MASTER)).log
    assert verify(log) == []
    at = next(
        at for at, event in enumerate(log) if isinstance(event, ev.DiceRolled) and event.opening
    )
    rolled = log[at]
    assert isinstance(rolled, ev.DiceRolled)
    other = replace(rolled, first=rolled.first % 6 + 1)
    changed = [*log[:at], other, *log[at + 1 :]]
    assert verify(changed) == ["game 1: the starter did not get the dice of the opening roll"]


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        FairDice(b"short")


def test_a_replay_rolls_nothing() -> None:
    desk = _two_games(SecretDice())
    assert replay(desk.log) == desk.state
