"""Builds requests of rollouts from what a person would write; shared by both clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, get_args

import grpc

from bgserver_client import _requests
from bgserver_client._requests import DepthLike, DiceLike, PositionLike, _count, fault
from bgserver_client.errors import RpcError
from bgserver_client.v1 import rollout_pb2

if TYPE_CHECKING:
    from collections.abc import Sequence

RolloutKindName: TypeAlias = Literal["position", "plays", "cube"]
RolloutKindLike: TypeAlias = RolloutKindName | rollout_pb2.RolloutKind.ValueType
"""What a rollout compares: a name, or a value of the enum `RolloutKind`."""

RolloutLevelsLike: TypeAlias = DepthLike | tuple[DepthLike, DepthLike] | rollout_pb2.RolloutLevels
"""How both sides play: one level for plays and cube actions, the level of each, or a message."""


class RolloutArguments(TypedDict, total=False):
    """What `rollout` takes besides the position."""

    kind: RolloutKindLike | None
    dice: DiceLike | None
    plays: Sequence[str]
    max_plays: int
    first_turn: bool
    trials: int | None
    min_trials: int | None
    standard_error: float | None
    joint_deviations: float | None
    seed: int | None
    cubeful: bool | None
    levels: RolloutLevelsLike
    early_levels: RolloutLevelsLike | None
    early_plies: int
    truncate_plies: int | None
    truncate_level: DepthLike
    stop_at_bearoff: bool
    reduce_variance: bool
    opening: bool
    state: bytes
    timeout_s: float | None


def rollout(
    position: PositionLike,
    *,
    kind: RolloutKindLike | None,
    dice: DiceLike | None,
    plays: Sequence[str],
    max_plays: int,
    first_turn: bool,
    trials: int | None,
    min_trials: int | None,
    standard_error: float | None,
    joint_deviations: float | None,
    seed: int | None,
    cubeful: bool | None,
    levels: RolloutLevelsLike,
    early_levels: RolloutLevelsLike | None,
    early_plies: int,
    truncate_plies: int | None,
    truncate_level: DepthLike,
    stop_at_bearoff: bool,
    reduce_variance: bool,
    opening: bool,
    state: bytes,
) -> rollout_pb2.RolloutRequest:
    """Request of Rollout."""
    if isinstance(plays, str):
        message = f"expected a list of plays, got {plays!r}"
        raise fault(message, field="plays", reason="NOT_A_LIST")
    early = None if early_levels is None else _levels(early_levels, "early_levels")
    return rollout_pb2.RolloutRequest(
        position=_requests.position_source(position),
        kind=_kind(kind, has_roll=dice is not None or len(plays) > 0 or max_plays > 0),
        dice=_requests.dice_message(dice),
        plays=[_requests.plain_text(play, f"plays[{n}]") for n, play in enumerate(plays)],
        max_plays=_count(max_plays, "max_plays"),
        first_turn=first_turn,
        trials=_optional(trials, "trials"),
        min_trials=_optional(min_trials, "min_trials"),
        standard_error=standard_error,
        joint_deviations=joint_deviations,
        seed=_optional(seed, "seed"),
        cubeful=cubeful,
        levels=_levels(levels, "levels"),
        early_levels=early,
        early_plies=_count(early_plies, "early_plies"),
        truncate_plies=_optional(truncate_plies, "truncate_plies"),
        truncate_level=_requests.level_value(truncate_level, "truncate_level"),
        stop_at_bearoff=stop_at_bearoff,
        reduce_variance=reduce_variance,
        opening=opening,
        state=state,
    )


def no_result() -> RpcError:
    """The error for a stream that ended without a result."""
    return RpcError(grpc.StatusCode.INTERNAL, "the rollout ended without a result")


def _optional(number: int | None, field: str) -> int | None:
    return None if number is None else _count(number, field)


def _kind(kind: RolloutKindLike | None, *, has_roll: bool) -> rollout_pb2.RolloutKind.ValueType:
    if kind is None:
        return rollout_pb2.ROLLOUT_KIND_PLAYS if has_roll else rollout_pb2.ROLLOUT_KIND_POSITION
    if isinstance(kind, str):
        if kind not in get_args(RolloutKindName):
            names = ", ".join(get_args(RolloutKindName))
            message = f"expected one of {names}, got {kind!r}"
            raise fault(message, field="kind", reason="UNKNOWN_KIND")
        return rollout_pb2.RolloutKind.Value(f"ROLLOUT_KIND_{kind.upper()}")
    return kind


def _levels(levels: RolloutLevelsLike, field: str) -> rollout_pb2.RolloutLevels:
    if isinstance(levels, rollout_pb2.RolloutLevels):
        return levels
    checker, cube = levels if isinstance(levels, tuple) else (levels, levels)
    return rollout_pb2.RolloutLevels(
        checker=_requests.level_value(checker, f"{field}.checker"),
        cube=_requests.level_value(cube, f"{field}.cube"),
    )
