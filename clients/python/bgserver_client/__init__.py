"""Python client of bgserver, a backgammon and Long Nardy engine as a gRPC service.

`Client` is for ordinary code, `AsyncClient` for asyncio. Requests are written as keyword arguments,
answers are the messages of the API (`bgserver_client.v1`), errors are one tree under `RpcError`.
"""

from __future__ import annotations

from bgserver_client._aio import AsyncClient
from bgserver_client._batches import BatchLike, split_batches
from bgserver_client._game import Game
from bgserver_client._game_aio import AsyncGame
from bgserver_client._game_requests import (
    ActionLike,
    FilterName,
    FormatName,
    PlainActionName,
    ResignationName,
    SeatLike,
    SeatName,
    person,
)
from bgserver_client._questions import Question
from bgserver_client._requests import (
    DepthLike,
    DepthName,
    DiceLike,
    JudgeLike,
    LevelLike,
    LevelName,
    PlayerLike,
    PositionLike,
    StepLike,
    StrengthName,
    VariantLike,
    VariantName,
    player,
    start_position,
)
from bgserver_client._rollouts import (
    RolloutArguments,
    RolloutKindLike,
    RolloutKindName,
    RolloutLevelsLike,
)
from bgserver_client._streams import AsyncResponseStream, ResponseStream
from bgserver_client._sync import Client
from bgserver_client.errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    ResourceExhaustedError,
    RpcError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    Violation,
)

__all__ = [
    "AbortedError",
    "ActionLike",
    "AlreadyExistsError",
    "AsyncClient",
    "AsyncGame",
    "AsyncResponseStream",
    "BatchLike",
    "CancelledError",
    "Client",
    "DeadlineExceededError",
    "DepthLike",
    "DepthName",
    "DiceLike",
    "FailedPreconditionError",
    "FilterName",
    "FormatName",
    "Game",
    "InternalError",
    "InvalidArgumentError",
    "JudgeLike",
    "LevelLike",
    "LevelName",
    "NotFoundError",
    "PermissionDeniedError",
    "PlainActionName",
    "PlayerLike",
    "PositionLike",
    "Question",
    "ResignationName",
    "ResourceExhaustedError",
    "ResponseStream",
    "RolloutArguments",
    "RolloutKindLike",
    "RolloutKindName",
    "RolloutLevelsLike",
    "RpcError",
    "SeatLike",
    "SeatName",
    "StepLike",
    "StrengthName",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "VariantLike",
    "VariantName",
    "Violation",
    "person",
    "player",
    "split_batches",
    "start_position",
]
