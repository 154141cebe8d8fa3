"""Random actions of both seats, most of them wrong: what is refused changes nothing."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.games.events import event_from_json
from bgserver.games.state import apply
from bgserver.server.config import ServerConfig
from bgserver.server.errors import StatusError
from bgserver.server.local import LocalTransport
from bgserver.v1 import game_pb2, rules_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.engine.evaluator import Engine

_SERVICE = "/bgserver.v1.GameService"
_ACTIONS = 300
_PLAIN = [
    name
    for name in game_pb2.GameAction.DESCRIPTOR.fields_by_name
    if name not in {"step", "play", "end_session", "resign"}
]
_NOTATIONS = ("8/5 6/5", "24/23", "bar/22*", "6/off(2)", "13/7*/3", "99/98", "", "cannot move")
_MONEY = rules_pb2.Rules(
    beaver=True,
    raccoon=True,
    raccoon_owner=rules_pb2.RACCOON_OWNER_BEAVERER,
    auto_double=rules_pb2.AUTO_DOUBLE_A,
)


@pytest.fixture
def local(engine: Engine) -> Iterator[LocalTransport]:
    config = ServerConfig(threads=2, log_level="error")
    with LocalTransport(config, loader=lambda *_: engine) as local:
        yield local


def _action(view: game_pb2.GameView, dice: random.Random) -> game_pb2.GameAction:
    """Often one that is legal, often any."""
    action = game_pb2.GameAction()
    if view.legal.steps and dice.random() < 0.5:
        step = dice.choice(view.legal.steps)
        action.step.source, action.step.target = step.source, step.target
        action.step.low_die_first = step.low_die_first
        return action
    if dice.random() < 0.6:
        names = [
            game_pb2.ActionKind.Name(kind).removeprefix("ACTION_KIND_").lower()
            for kind in view.legal.actions
        ]
        names = [name for name in names if name in _PLAIN]
        getattr(action, dice.choice(names or _PLAIN)).SetInParent()
        return action
    kind = dice.choice(["step", "play", "plain", "steps", "resign", "none"])
    if kind == "step":
        action.step.source = dice.choice([*range(26), 26, 2**31])
        action.step.target = dice.choice([*range(26), 26, 2**31])
    elif kind == "play":
        action.play.notation = dice.choice(_NOTATIONS)
    elif kind == "steps":
        action.play.steps.SetInParent()
        for _ in range(dice.randrange(6)):
            action.play.steps.steps.add(source=dice.randrange(27), target=dice.randrange(26))
    elif kind == "resign" and dice.random() < 0.05:
        action.resign.result = dice.randrange(5)  # type: ignore[assignment]  # 4 is none
    elif kind == "plain":
        getattr(action, dice.choice(_PLAIN)).SetInParent()
    return action


@pytest.mark.parametrize(
    ("preset", "settings"),
    [
        ("money", {"rules": _MONEY}),
        ("long_nardy", {}),
        ("tournament", {"match_length": 5}),
        ("joypip", {"match_length": 3}),
    ],
)
def test_random_actions(local: LocalTransport, preset: str, settings: dict[str, Any]) -> None:
    dice = random.Random(preset)
    seat = game_pb2.SeatSetup(person=game_pb2.Person())
    request = game_pb2.CreateGameRequest(preset=preset, second=seat, seed=4, **settings)
    created: Any = local.unary(f"{_SERVICE}/CreateGame", request)
    tokens = (created.first_token, created.second_token)
    outcomes: Counter[str] = Counter()
    events = 0
    for _ in range(_ACTIONS):
        token = dice.choice(tokens)
        get = game_pb2.GetGameRequest(game_id=created.game_id, token=token)
        view = local.unary(f"{_SERVICE}/GetGame", get).view  # type: ignore[attr-defined]  # a message of this method
        if view.stage == game_pb2.GAME_STAGE_SESSION_OVER:
            break
        act = game_pb2.ActRequest(
            game_id=created.game_id,
            token=token,
            expected_version=view.version - (dice.random() < 0.05),
            action=_action(view, dice),
        )
        try:
            done: Any = local.unary(f"{_SERVICE}/Act", act)
            outcomes["OK"] += 1
            events = done.view.version
            kind = act.action.WhichOneof("action") or ""
            assert kind in {"play", "resign"} or _kind(kind) in view.legal.actions
        except StatusError as error:
            outcomes[error.code.name] += 1
            after = local.unary(f"{_SERVICE}/GetGame", get).view  # type: ignore[attr-defined]  # a message of this method
            after.clock.CopyFrom(view.clock)
            view.clock.SetInParent()
            assert after == view
    assert set(outcomes) <= {"OK", "INVALID_ARGUMENT", "FAILED_PRECONDITION", "ABORTED"}
    assert outcomes["OK"] > 30
    assert outcomes["FAILED_PRECONDITION"] > 10
    _check_log(local, created, events)


def _kind(name: str) -> game_pb2.ActionKind.ValueType:
    return game_pb2.ActionKind.Value(f"ACTION_KIND_{name.upper()}")


def _check_log(local: LocalTransport, created: Any, events: int) -> None:
    """The log has every event and folds to a state of that version."""
    request = game_pb2.ExportGameRequest(
        game_id=created.game_id, token=created.first_token, format=game_pb2.EXPORT_FORMAT_JSON
    )
    text = local.unary(f"{_SERVICE}/ExportGame", request).text  # type: ignore[attr-defined]  # a message of this method
    state = None
    for form in json.loads(text)["events"]:
        state = apply(state, event_from_json(form))
    assert state is not None
    assert state.version == events
