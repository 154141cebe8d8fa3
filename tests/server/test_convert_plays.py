"""Plays that are written by hand read like those that protobuf writes."""

from __future__ import annotations

import itertools

import pytest

from bgserver.engine.plays import legal_plays
from bgserver.engine.position import Dice, Position, Variant
from bgserver.formats.notation import format_play
from bgserver.server.convert_plays import play_message, plays_bytes
from bgserver.v1 import common_pb2, rules_pb2
from tests import naive, positions


@pytest.mark.parametrize("variant", Variant)
def test_plays_written_by_hand(variant: Variant) -> None:
    for case in itertools.islice(positions.cases(variant.value, 8), 400):
        if naive.own_in_play(case.board) == 0:
            continue
        position, dice = Position(case.board, variant), Dice(*case.dice)
        plays = legal_plays(position, dice, first_turn=case.first_turn)
        expected = rules_pb2.ListPlaysResponse()
        for play in plays:
            message = expected.plays.add(notation=format_play(play, position))
            for step in play.steps:
                message.steps.add(
                    source=step.source, target=step.target, die=step.die, hit=step.hit
                )
            message.result.points.extend(play.result.points)
            message.result.variant = (
                common_pb2.VARIANT_BACKGAMMON
                if variant is Variant.BACKGAMMON
                else common_pb2.VARIANT_LONG_NARDY
            )
        written = plays_bytes(position, dice, first_turn=case.first_turn)
        assert rules_pb2.ListPlaysResponse.FromString(written) == expected, case
        assert [play_message(play, position) for play in plays] == list(expected.plays), case
