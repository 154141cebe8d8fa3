"""Bots and the autopilot at a table: every decision that a table can ask for (6.3-6.5, 6.12)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.engine.errors import WrongMomentError
from bgserver.engine.levels import Level
from bgserver.engine.position import CubeOwner, Resignation
from bgserver.engine.strength import BEGINNER, EXPERT, DecisionKey, Strength
from bgserver.engine.work import run
from bgserver.games import actions as act
from bgserver.games import events as ev
from bgserver.games.automation import DueKind
from bgserver.games.bot import beaver_options, bot_action
from bgserver.games.dice import SeededDice
from bgserver.games.events import By
from bgserver.games.presets import PRESETS
from bgserver.games.rules import RaccoonOwner
from bgserver.games.state import Stage, replay
from tests.games.desk import BOT, FIRST, PERSON, SECOND, Desk, GivenDice, board

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.games.actions import Action

# Own 14 checkers are off, or the opponent's are: plain wins and plain losses.
_WINNING = board({1: 1}, {1 + 18: 15})
_AHEAD = board({3: 1, 2: 1}, {24: 1})
_LOSING = board({24: 15}, {24 - 5: 1})


def _ask(
    engine: Engine, desk: Desk, strength: Strength = EXPERT, *, doubles: bool = True
) -> Action:
    following = desk.due
    assert following is not None
    assert following.kind is DueKind.BOT
    key = DecisionKey(1, desk.state.game, desk.state.version)
    player = (Level.STATIC, strength)
    return run(bot_action(engine, desk.state, following.seat, player, key, doubles=doubles))


def _play_out(engine: Engine, desk: Desk, strength: Strength) -> None:
    """Let bots act until nobody is due."""
    while desk.due is not None and desk.due.kind is DueKind.BOT:
        action = _ask(engine, desk, strength, doubles=desk.due.by is By.BOT)
        desk.do(desk.due.seat, action, by=desk.due.by)


@pytest.mark.parametrize("strength", [BEGINNER, EXPERT])
@pytest.mark.parametrize("preset", PRESETS)
def test_two_bots_play_every_preset(engine: Engine, preset: str, strength: Strength) -> None:
    lengths = {"joypip": 3, "tournament": 5}
    settings: dict[str, Any] = {"match_length": lengths[preset]} if preset in lengths else {}
    desk = Desk(preset, dice=SeededDice(3), seats=(BOT, BOT), **settings)
    _play_out(engine, desk, strength)
    assert desk.state.stage is Stage.SESSION_OVER, "nobody could go on with it"
    assert replay(desk.log) == desk.state
    assert {event.by for event in desk.log if isinstance(event, ev.StepMade)} <= {
        By.BOT,
        By.SERVER,
    }


def test_bots_with_every_money_option(engine: Engine) -> None:
    desk = Desk(
        "money",
        dice=SeededDice(5),
        seats=(BOT, BOT),
        beaver=True,
        raccoon=True,
        raccoon_owner=RaccoonOwner.BEAVERER,
    )
    _play_out(engine, desk, EXPERT)
    assert desk.state.stage is Stage.SESSION_OVER


def test_6_3_the_autopilot_plays_the_rest_of_a_turn(engine: Engine) -> None:
    desk = Desk("joypip", [(3, 1)], match_length=3, turn_seconds=30)
    desk.step(24, 23)
    desk.pass_time(30)
    action = _ask(engine, desk)
    assert isinstance(action, act.PlayTurn)
    assert len(action.steps) == 1, "the step that was made is kept"
    desk.do(FIRST, action, by=By.AUTOPILOT)
    assert desk.state.turn is SECOND


def test_6_5_the_autopilot_never_doubles(engine: Engine) -> None:
    desk = Desk("money", seats=(BOT, PERSON), jacoby=False)
    desk.to_roll(_WINNING)
    assert _ask(engine, desk, doubles=False) == act.Roll()


def _seat_of_answer(*, drops: bool) -> Desk:
    """SECOND, a bot, must answer a double in a game that is plainly lost or plainly won."""
    desk = Desk("money", seats=(PERSON, BOT), jacoby=False)
    desk.to_roll(_WINNING if drops else _LOSING)
    desk.do(FIRST, act.Double())
    return desk


def test_bots_take_and_drop(engine: Engine) -> None:
    assert _ask(engine, _seat_of_answer(drops=True)) == act.Drop()
    assert _ask(engine, _seat_of_answer(drops=False)) == act.Take()


def test_bots_beaver_where_they_may(engine: Engine) -> None:
    desk = Desk("money", seats=(PERSON, BOT), jacoby=False, beaver=True)
    desk.to_roll(_LOSING)
    desk.do(FIRST, act.Double())
    assert _ask(engine, desk) == act.Beaver()
    desk.change(cube_value=32)
    assert _ask(engine, desk) == act.Take(), "a beaver would pass the cap"


@pytest.mark.parametrize(
    ("points", "raccoons", "wanted"),
    [
        (_LOSING, False, act.Drop()),
        (_WINNING, False, act.PlayOn()),
        (_WINNING, True, act.PlayOn()),  # too good: after a raccoon the gammon would be dropped
        (_AHEAD, True, act.Raccoon()),
    ],
)
def test_4_20_bots_answer_beavers(
    engine: Engine, points: list[int], raccoons: bool, wanted: Action
) -> None:
    desk = Desk(
        "money",
        seats=(BOT, PERSON),
        jacoby=False,
        beaver=True,
        raccoon=raccoons,
        raccoon_owner=RaccoonOwner.BEAVERER if raccoons else None,
    )
    desk.to_roll(points)
    desk.change(stage=Stage.BEAVER, cube_value=2, cube_owner=SECOND, doubled=True)
    assert _ask(engine, desk) == wanted


@pytest.mark.parametrize("owner", RaccoonOwner)
def test_4_22_the_cube_after_a_raccoon_is_whose_the_rules_say(owner: RaccoonOwner) -> None:
    desk = Desk("money", beaver=True, raccoon=True, raccoon_owner=owner)
    desk.to_roll(_AHEAD)
    desk.change(stage=Stage.BEAVER, cube_value=2, cube_owner=SECOND, doubled=True)
    options = {type(option.action): option for option in beaver_options(desk.state)}
    played_on, raccooned = options[act.PlayOn].after, options[act.Raccoon].after
    assert played_on is not None
    assert raccooned is not None
    assert (played_on.cube.value, played_on.cube.owner) == (4, CubeOwner.OPPONENT)
    keeps = owner is RaccoonOwner.RACCOONER
    assert raccooned.cube.value == 8
    assert raccooned.cube.owner is (CubeOwner.ON_ROLL if keeps else CubeOwner.OPPONENT)


@pytest.mark.parametrize(("points", "wanted"), [(_WINNING, act.Drop()), (_LOSING, act.PlayOn())])
def test_4_21_bots_answer_raccoons(engine: Engine, points: list[int], wanted: Action) -> None:
    desk = Desk(
        "money",
        seats=(PERSON, BOT),
        jacoby=False,
        beaver=True,
        raccoon=True,
        raccoon_owner=RaccoonOwner.BEAVERER,
    )
    desk.to_roll(points)
    desk.change(stage=Stage.RACCOON, cube_value=4, cube_owner=SECOND, doubled=True)
    assert _ask(engine, desk) == wanted


@pytest.mark.parametrize("preset", ["classic", "tournament", "long_nardy"])
@pytest.mark.parametrize("rolled", [True, False])
def test_bots_accept_what_is_as_good_as_playing_on(
    engine: Engine, preset: str, rolled: bool
) -> None:
    settings: dict[str, Any] = {"match_length": 5} if preset == "tournament" else {}
    desk = Desk(preset, seats=(PERSON, BOT), auto_roll=False, **settings)
    won = board({24: 15}, {12 if preset == "long_nardy" else 1: 15})
    # Seen by FIRST: SECOND has one checker left and wins a gammon.
    lost = board({13: 15}, {18 if preset == "long_nardy" else 19: 1})
    for points, offered, accepts in (
        (lost, Resignation.SINGLE, False),
        (lost, Resignation.GAMMON, True),
        (won, Resignation.GAMMON, True),
    ):
        desk.to_roll(points)
        if rolled:
            desk.dice = GivenDice([(2, 1)])
            desk.do(FIRST, act.Roll())
        if desk.state.turn is not FIRST:
            continue
        desk.change(resigning=FIRST, resignation=offered)
        wanted = act.AcceptResignation() if accepts else act.RefuseResignation()
        assert _ask(engine, desk) == wanted
        desk.change(resigning=None, resignation=Resignation.NONE)


def test_a_bot_accepts_in_the_last_answer_of_long_nardy(engine: Engine) -> None:
    desk = Desk("long_nardy", seats=(PERSON, BOT), long_nardy={"last_move_draw": True})
    desk.to_roll()
    desk.change(last_answer=True, resigning=FIRST, resignation=Resignation.SINGLE)
    assert _ask(engine, desk) == act.AcceptResignation()


def test_only_who_is_to_act_is_asked(engine: Engine) -> None:
    desk = Desk("classic", [(6, 1)], seats=(BOT, BOT))
    player = (Level.STATIC, EXPERT)
    with pytest.raises(WrongMomentError) as caught:
        run(bot_action(engine, desk.state, SECOND, player, DecisionKey()))
    assert caught.value.reason == "NOT_YOUR_TURN"
    desk.change(stage=Stage.GAME_OVER)
    assert run(bot_action(engine, desk.state, SECOND, player, DecisionKey())) == act.NextGame()


def test_the_same_key_gives_the_same_error(engine: Engine) -> None:
    desk = Desk("classic", [(3, 1)], seats=(BOT, BOT))
    weak = (Level.STATIC, Strength(0))
    found: set[Any] = set()
    for number in range(12):
        key = DecisionKey(1, 1, number)
        action = run(bot_action(engine, desk.state, FIRST, weak, key))
        assert run(bot_action(engine, replace(desk.state), FIRST, weak, key)) == action
        found.add(action)
    assert len(found) > 1
