"""Every RPC of `RulesService`, as a client sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Dice, Position, Variant
from bgserver.games.presets import PRESETS
from bgserver.v1 import common_pb2, rules_pb2
from tests.server.requests import START_XGID, board, list_plays, roll, start, xgid

if TYPE_CHECKING:
    from bgserver.v1.rules_pb2_grpc import RulesServiceAsyncStub as Stub

# A position with two checkers on the bar and others of each kind: many steps, hits and a bear-off
# are covered by the engine's own tests; here it only has to arrive whole.
_BAR = [0, 0, 0, 0, 0, 0, 6, 0, 3, 0, 0, 0, -5, 4, 0, 0, 0, -2, 0, -4, -2, -2, 0, 0, 0, 2]


async def test_list_plays_gives_each_result_with_notation_steps_and_board(
    rules_stub: Stub,
) -> None:
    reply = await rules_stub.ListPlays(list_plays(3, 1))
    expected = legal_plays(Position.start(), Dice(3, 1))
    assert [tuple(play.result.points) for play in reply.plays] == [
        play.result.points for play in expected
    ]
    (best,) = [play for play in reply.plays if play.notation == "8/5 6/5"]
    assert [(step.source, step.target, step.die, step.hit) for step in best.steps] == [
        (8, 5, 3, False),
        (6, 5, 1, False),
    ]
    assert best.result.variant == common_pb2.VARIANT_BACKGAMMON
    assert (reply.dice.first, reply.dice.second) == (3, 1)
    assert not reply.HasField("step_graph")


async def test_list_plays_takes_the_roll_from_the_xgid(rules_stub: Stub) -> None:
    request = rules_pb2.ListPlaysRequest(position=xgid(START_XGID.replace(":00:", ":31:")))
    reply = await rules_stub.ListPlays(request)
    assert len(reply.plays) == 16


async def test_list_plays_takes_the_roll_from_gnu_ids(rules_stub: Stub) -> None:
    gnu = common_pb2.GnuId(position_id="4HPwATDgc/ABMA", match_id="cAmmAAAAAAAE")
    request = rules_pb2.ListPlaysRequest(position=common_pb2.PositionSource(gnu_id=gnu))
    reply = await rules_stub.ListPlays(request)
    assert {reply.dice.first, reply.dice.second} == {4, 1}


async def test_the_same_roll_twice_is_no_contradiction(rules_stub: Stub) -> None:
    request = rules_pb2.ListPlaysRequest(
        position=xgid(START_XGID.replace(":00:", ":31:")), dice=roll(1, 3)
    )
    assert len((await rules_stub.ListPlays(request)).plays) == 16


@pytest.mark.parametrize("dice", [(3, 1), (6, 6), (2, 2)])
@pytest.mark.parametrize("variant", Variant)
async def test_paths_of_the_step_graph_are_the_plays(
    rules_stub: Stub, variant: Variant, dice: tuple[int, int]
) -> None:
    request = rules_pb2.ListPlaysRequest(
        position=start(variant), dice=roll(*dice), include_step_graph=True
    )
    reply = await rules_stub.ListPlays(request)
    nodes = reply.step_graph.nodes
    reached = set()
    todo = [0]
    while todo:
        node = nodes[todo.pop()]
        assert node.complete == node.HasField("play_index")
        if node.complete:
            reached.add(node.play_index)
        todo.extend(edge.target_node for edge in node.edges)
    assert reached == set(range(len(reply.plays)))


async def test_a_forfeited_turn_is_one_play_without_steps(rules_stub: Stub) -> None:
    closed = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2, -2, -2, -2, -2, -2, 1]
    request = rules_pb2.ListPlaysRequest(position=board(closed), dice=roll(6, 5))
    (play,) = (await rules_stub.ListPlays(request)).plays
    assert play.notation == "cannot move"
    assert not play.steps
    assert list(play.result.points) == closed


async def test_long_nardy_first_turn_exception(rules_stub: Stub) -> None:
    for first_turn, checkers in ((True, 13), (False, 14)):
        request = rules_pb2.ListPlaysRequest(
            position=start(Variant.LONG_NARDY), dice=roll(6, 6), first_turn=first_turn
        )
        (play,) = (await rules_stub.ListPlays(request)).plays
        assert play.result.points[24] == checkers
        assert play.result.variant == common_pb2.VARIANT_LONG_NARDY


async def test_apply_play_by_notation_and_by_steps(rules_stub: Stub) -> None:
    by_notation = rules_pb2.ApplyPlayRequest(position=start(), dice=roll(3, 1), notation="6/5 8/5")
    steps = rules_pb2.StepList()
    steps.steps.add(source=6, target=5)
    steps.steps.add(source=8, target=5, die=3)
    by_steps = rules_pb2.ApplyPlayRequest(position=start(), dice=roll(3, 1), steps=steps)
    first = await rules_stub.ApplyPlay(by_notation)
    second = await rules_stub.ApplyPlay(by_steps)
    assert first == second
    assert first.play.notation == "8/5 6/5"
    assert first.game_value == 0
    turned = Position(tuple(first.play.result.points)).turned()
    assert tuple(first.next.points) == turned.points


async def test_apply_play_tells_what_a_won_game_is_worth(rules_stub: Stub) -> None:
    last = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -15, 0, 0, 0, 0, 0, 0]
    request = rules_pb2.ApplyPlayRequest(position=board(last), dice=roll(2, 1), notation="1/off")
    assert (await rules_stub.ApplyPlay(request)).game_value == 2


async def test_inspect_position(rules_stub: Stub) -> None:
    request = rules_pb2.InspectPositionRequest(position=board(_BAR))
    reply = await rules_stub.InspectPosition(request)
    assert reply.phase == rules_pb2.PHASE_CONTACT
    assert reply.pips == 6 * 6 + 8 * 3 + 13 * 4 + 25 * 2
    assert reply.entering_rolls == 36 - 9
    assert not reply.faults


async def test_inspect_position_reports_faults_instead_of_refusing(rules_stub: Stub) -> None:
    points = [*_BAR]
    points[6], points[0] = 20, 1
    request = rules_pb2.InspectPositionRequest(position=board(points))
    reply = await rules_stub.InspectPosition(request)
    assert [(fault.field, fault.reason) for fault in reply.faults] == [
        ("position.position.points[0]", "BAR_SIGN"),
        ("position.position.points", "TOO_MANY_OWN_CHECKERS"),
    ]
    assert reply.pips == 0


async def test_convert_position_between_all_forms(rules_stub: Stub) -> None:
    text = "XGID=-b----E-C---eE---c-e----B-:1:-1:1:31:2:4:0:7:6"
    reply = await rules_stub.ConvertPosition(rules_pb2.ConvertPositionRequest(position=xgid(text)))
    assert reply.xgid == text
    assert reply.state.match.length == 7
    assert reply.state.cube.owner == common_pb2.CUBE_OWNER_OPPONENT
    assert "13-14-15" in reply.board
    for source in (
        common_pb2.PositionSource(state=reply.state),
        common_pb2.PositionSource(gnu_id=reply.gnu_id),
    ):
        again = await rules_stub.ConvertPosition(rules_pb2.ConvertPositionRequest(position=source))
        assert again.xgid == text
        assert again.gnu_id == reply.gnu_id


async def test_convert_position_tells_what_a_form_cannot_say(rules_stub: Stub) -> None:
    request = rules_pb2.ConvertPositionRequest(position=start(Variant.LONG_NARDY))
    reply = await rules_stub.ConvertPosition(request)
    assert reply.xgid == ""
    assert not reply.HasField("gnu_id")
    assert [loss.field for loss in reply.losses] == [
        "xgid.position.variant",
        "gnu_id.position.variant",
    ]


async def test_list_presets(rules_stub: Stub) -> None:
    reply = await rules_stub.ListPresets(rules_pb2.ListPresetsRequest())
    presets = {preset.name: preset for preset in reply.presets}
    assert presets.keys() == PRESETS.keys()
    tournament = presets["tournament"].rules
    assert list(tournament.match_lengths) == [5, 7, 9, 11, 13, 15, 17]
    assert tournament.crawford
    assert tournament.cube_cap == 64
    assert presets["joinpal"].rules.opening_starter == rules_pb2.OPENING_STARTER_LOWER
    assert not presets["joinpal"].rules.HasField("jacoby")
    nardy = presets["long_nardy"].rules
    assert nardy.long_nardy.head_exception == rules_pb2.HEAD_EXCEPTION_LISTED_DOUBLES
    assert nardy.variant == common_pb2.VARIANT_LONG_NARDY
    for preset in presets.values():
        languages = [text.language for text in preset.texts]
        assert languages == [rules_pb2.LANGUAGE_ENGLISH, rules_pb2.LANGUAGE_GERMAN]
        assert all(section.clauses for text in preset.texts for section in text.sections)


async def test_describe_rules_with_changes(rules_stub: Stub) -> None:
    changes = rules_pb2.Rules(beaver=True, cube_cap=32)
    request = rules_pb2.DescribeRulesRequest(
        preset="money", rules=changes, language=rules_pb2.LANGUAGE_GERMAN
    )
    reply = await rules_stub.DescribeRules(request)
    assert reply.rules.beaver
    assert reply.rules.jacoby
    (text,) = reply.texts
    assert text.language == rules_pb2.LANGUAGE_GERMAN
    told = {
        clause.text: list(clause.parameters)
        for section in text.sections
        for clause in section.clauses
    }
    assert told["Höher als 32 geht der Dopplerwürfel nicht."] == ["cube_cap"]
    assert any(clause.startswith("Beaver:") for clause in told)


async def test_describe_rules_in_every_language(rules_stub: Stub) -> None:
    reply = await rules_stub.DescribeRules(rules_pb2.DescribeRulesRequest(preset="joypip"))
    assert len(reply.texts) == 2
    english, german = reply.texts
    assert [s.topic for s in english.sections] == [s.topic for s in german.sections]
    assert "30, 45 or 90 seconds" in str(english)
