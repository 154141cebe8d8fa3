"""The enums of the API and those of the engine, matched by the names of their members."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from bgserver.engine.errors import Fault
from bgserver.engine.levels import Level
from bgserver.engine.position import CubeOwner, GamePhase, Resignation, Seat, Variant
from bgserver.v1 import common_pb2

if TYPE_CHECKING:
    from collections.abc import Collection

    from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper

__all__ = ["CUBE_OWNER", "GAME_PHASE", "LEVEL", "RESIGNATION", "SEAT", "VARIANT", "EnumMap"]

_E = TypeVar("_E", bound=enum.Enum)
_V = TypeVar("_V", bound=int)


class EnumMap(Generic[_E, _V]):
    """One enum in both worlds.

    Args:
        api: The enum of the API; its first value is the unspecified one.
        kind: The enum of the engine. Each of its members must exist in the API.
        default: What unspecified means; None if it has no meaning.
        unspecified: The member that the API tells by its unspecified value.
    """

    def __init__(
        self,
        api: _EnumTypeWrapper[_V],
        kind: type[_E],
        default: _E | None = None,
        unspecified: str | None = None,
    ) -> None:
        descriptor = api.DESCRIPTOR
        prefix = descriptor.values_by_number[0].name.removesuffix("UNSPECIFIED")
        numbers = {value.name.removeprefix(prefix): value.number for value in descriptor.values}
        if unspecified is not None:
            numbers[unspecified] = 0
        self._to_api = {member: cast("_V", numbers[member.name]) for member in kind}
        self._names = {
            member: descriptor.values_by_number[number].name
            for member, number in self._to_api.items()
        }
        self._from_api: dict[int, _E] = {number: member for member, number in self._to_api.items()}
        if default is not None:
            self._from_api[0] = default

    def to_api(self, member: _E) -> _V:
        """The number of a member in the API."""
        return self._to_api[member]

    def read(
        self,
        number: int,
        field: str,
        faults: list[Fault],
        possible: Collection[_E] | None = None,
    ) -> _E | None:
        """The member with that number; a fault and None if there is none.

        Args:
            number: The number.
            field: The field that holds it.
            faults: What is wrong is added.
            possible: The members that the fault names; None: all.
        """
        member = self._from_api.get(number)
        if member is None:
            names = (
                name
                for member, name in self._names.items()
                if possible is None or member in possible
            )
            message = f"expected one of {', '.join(names)}, got {number}"
            faults.append(Fault(field, "UNKNOWN_VALUE", message))
        return member


VARIANT = EnumMap(common_pb2.Variant, Variant, default=Variant.BACKGAMMON)
CUBE_OWNER = EnumMap(common_pb2.CubeOwner, CubeOwner, default=CubeOwner.CENTERED)
SEAT = EnumMap(common_pb2.Seat, Seat, default=Seat.FIRST)
RESIGNATION = EnumMap(common_pb2.Resignation, Resignation, unspecified="NONE")
GAME_PHASE = EnumMap(common_pb2.GamePhase, GamePhase, default=GamePhase.PLAYING)
LEVEL = EnumMap(common_pb2.Level, Level, default=Level.STATIC)
