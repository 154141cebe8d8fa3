"""Questions of any kind for `analyze_batch`, written as for the methods of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver_client import _requests, _rollouts
from bgserver_client.v1 import engine_pb2, rules_pb2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver_client._requests import DepthLike, DiceLike, PositionLike
    from bgserver_client._rollouts import RolloutKindLike, RolloutLevelsLike

QUESTIONS_IN_FLIGHT = 1024
"""Questions that may wait for their answers at once."""


class Question:
    """Makes the questions of `analyze_batch`; the first argument comes back with the answer."""

    @staticmethod
    def evaluate(
        identifier: str,
        position: PositionLike,
        *,
        level: DepthLike | None = None,
        milliseconds: int | None = None,
    ) -> engine_pb2.AnalyzeBatchRequest:
        """A question as `Client.evaluate` asks it."""
        request = _requests.evaluate(position, level, milliseconds)
        return engine_pb2.AnalyzeBatchRequest(id=_id(identifier), evaluate=request)

    @staticmethod
    def rank_plays(
        identifier: str,
        position: PositionLike,
        dice: DiceLike | None = None,
        *,
        level: DepthLike | None = None,
        milliseconds: int | None = None,
        max_plays: int = 0,
        cubeless: bool = False,
        first_turn: bool = False,
    ) -> engine_pb2.AnalyzeBatchRequest:
        """A question as `Client.rank_plays` asks it."""
        request = _requests.rank_plays(
            position,
            dice,
            level=level,
            milliseconds=milliseconds,
            max_plays=max_plays,
            cubeless=cubeless,
            first_turn=first_turn,
        )
        return engine_pb2.AnalyzeBatchRequest(id=_id(identifier), rank_plays=request)

    @staticmethod
    def advise_cube(
        identifier: str,
        position: PositionLike,
        *,
        level: DepthLike | None = None,
        milliseconds: int | None = None,
        raccoons: bool = False,
        raccoon_owner: rules_pb2.RaccoonOwner.ValueType = rules_pb2.RACCOON_OWNER_UNSPECIFIED,
        market_losers: bool = False,
        market_replies: bool = False,
    ) -> engine_pb2.AnalyzeBatchRequest:
        """A question as `Client.advise_cube` asks it."""
        request = _requests.advise_cube(
            position,
            level,
            milliseconds,
            raccoons=raccoons,
            raccoon_owner=raccoon_owner,
            market_losers=market_losers,
            market_replies=market_replies,
        )
        return engine_pb2.AnalyzeBatchRequest(id=_id(identifier), advise_cube=request)

    @staticmethod
    def rollout(
        identifier: str,
        position: PositionLike,
        *,
        kind: RolloutKindLike | None = None,
        dice: DiceLike | None = None,
        plays: Sequence[str] = (),
        max_plays: int = 0,
        first_turn: bool = False,
        trials: int | None = None,
        min_trials: int | None = None,
        standard_error: float | None = None,
        joint_deviations: float | None = None,
        seed: int | None = None,
        cubeful: bool | None = None,
        levels: RolloutLevelsLike = "static",
        early_levels: RolloutLevelsLike | None = None,
        early_plies: int = 0,
        truncate_plies: int | None = None,
        truncate_level: DepthLike = "static",
        stop_at_bearoff: bool = True,
        reduce_variance: bool = True,
        opening: bool = False,
        state: bytes = b"",
    ) -> engine_pb2.AnalyzeBatchRequest:
        """A question as `Client.rollout` asks it; each is worked on by one thread of the server."""
        request = _rollouts.rollout(
            position,
            kind=kind,
            dice=dice,
            plays=plays,
            max_plays=max_plays,
            first_turn=first_turn,
            trials=trials,
            min_trials=min_trials,
            standard_error=standard_error,
            joint_deviations=joint_deviations,
            seed=seed,
            cubeful=cubeful,
            levels=levels,
            early_levels=early_levels,
            early_plies=early_plies,
            truncate_plies=truncate_plies,
            truncate_level=truncate_level,
            stop_at_bearoff=stop_at_bearoff,
            reduce_variance=reduce_variance,
            opening=opening,
            state=state,
        )
        return engine_pb2.AnalyzeBatchRequest(id=_id(identifier), rollout=request)


def _id(identifier: str) -> str:
    return _requests.plain_text(identifier, "id")
