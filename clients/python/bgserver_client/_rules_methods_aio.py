"""The methods of `RulesService`, for asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver_client import _requests
from bgserver_client._connection_aio import AsyncConnection
from bgserver_client.v1 import rules_pb2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver_client._requests import DiceLike, PositionLike, StepLike


class AsyncRulesMethods(AsyncConnection):
    """Rules and positions; a part of `AsyncClient`."""

    async def list_plays(
        self,
        position: PositionLike,
        dice: DiceLike | None = None,
        *,
        first_turn: bool = False,
        include_step_graph: bool = False,
        timeout_s: float | None = None,
    ) -> rules_pb2.ListPlaysResponse:
        """The distinct results of a roll, each once, with notation and steps.

        Args:
            position: The position of the player who has rolled.
            dice: The roll; may be left out if the position carries one.
            first_turn: Long Nardy: the player's own first turn of the game.
            include_step_graph: Also return every legal step order, as a graph.
            timeout_s: Time limit of this call.
        """
        request = _requests.list_plays(
            position, dice, first_turn=first_turn, include_step_graph=include_step_graph
        )
        return await self._call(self._rules.ListPlays, request, timeout_s)

    async def apply_play(
        self,
        position: PositionLike,
        play: str | Sequence[StepLike],
        dice: DiceLike | None = None,
        *,
        first_turn: bool = False,
        timeout_s: float | None = None,
    ) -> rules_pb2.ApplyPlayResponse:
        """Make one play; the answer's `next` is the board as the opponent sees it.

        Args:
            position: The position of the player who has rolled.
            play: Notation such as `8/5 6/5`, or steps such as `[(8, 5), (6, 5)]`.
            dice: The roll; may be left out if the position carries one.
            first_turn: Long Nardy: the player's own first turn of the game.
            timeout_s: Time limit of this call.
        """
        request = _requests.apply_play(position, play, dice, first_turn=first_turn)
        return await self._call(self._rules.ApplyPlay, request, timeout_s)

    async def inspect_position(
        self, position: PositionLike, *, timeout_s: float | None = None
    ) -> rules_pb2.InspectPositionResponse:
        """Facts of a position: pips, phase, blots and their danger, bar entry, faults."""
        request = _requests.inspect_position(position)
        return await self._call(self._rules.InspectPosition, request, timeout_s)

    async def convert_position(
        self, position: PositionLike, *, timeout_s: float | None = None
    ) -> rules_pb2.ConvertPositionResponse:
        """A position in every form: structured, XGID, GNU IDs, and drawn as text."""
        request = _requests.convert_position(position)
        return await self._call(self._rules.ConvertPosition, request, timeout_s)

    async def list_presets(
        self, *, timeout_s: float | None = None
    ) -> rules_pb2.ListPresetsResponse:
        """The rule sets that the server knows by name."""
        request = rules_pb2.ListPresetsRequest()
        return await self._call(self._rules.ListPresets, request, timeout_s)

    async def describe_rules(
        self,
        preset: str = "money",
        *,
        rules: rules_pb2.Rules | None = None,
        language: str | None = None,
        timeout_s: float | None = None,
    ) -> rules_pb2.DescribeRulesResponse:
        """A rule set as parameters and as text for players.

        Args:
            preset: Name of the rules, see `list_presets`.
            rules: What differs from the preset.
            language: `"en"` or `"de"`; by default every language.
            timeout_s: Time limit of this call.
        """
        request = _requests.describe_rules(preset, rules=rules, language=language)
        return await self._call(self._rules.DescribeRules, request, timeout_s)
