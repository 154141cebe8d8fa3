"""Games written down."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError, WrongMomentError
from bgserver.engine.levels import Level, bot_name
from bgserver.engine.strength import NAMED_STRENGTHS
from bgserver.games.codec import encoded
from bgserver.games.events import event_from_json
from bgserver.games.mat import match_text
from bgserver.games.record import match_json
from bgserver.games.storage_records import OccupantKind
from bgserver.v1 import game_pb2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver.games.storage_records import Detail, EventRow, GameRow, Occupant

__all__ = ["export"]

_STRENGTHS = {strength.value: name for name, strength in NAMED_STRENGTHS.items()}


def export(
    row: GameRow, detail: Detail, events: Sequence[EventRow], form: game_pb2.ExportFormat.ValueType
) -> game_pb2.ExportGameResponse:
    """A game in the form that a request wants.

    Raises:
        InvalidInputError: The form is unknown, or cannot hold this game.
        WrongMomentError: `GAME_WAITING`: there is nothing to write down yet.
    """
    if form not in game_pb2.ExportFormat.values():
        message = f"expected one of EXPORT_FORMAT_JSON, EXPORT_FORMAT_MAT, got {form}"
        raise InvalidInputError([Fault("format", "UNKNOWN_VALUE", message)])
    if not events:
        message = "a seat is still open: the game has not begun"
        raise WrongMomentError(reason="GAME_WAITING", message=message)
    if form == game_pb2.EXPORT_FORMAT_MAT:
        return game_pb2.ExportGameResponse(
            text=_mat_text(detail, events), file_name=f"{row.id}.mat"
        )
    return game_pb2.ExportGameResponse(
        text=_json_text(row, detail, events), file_name=f"{row.id}.json"
    )


def _mat_text(detail: Detail, rows: Sequence[EventRow]) -> str:
    """A game as Jellyfish text."""
    return match_text([event_from_json(json.loads(row.body)) for row in rows], _names(detail))


def _json_text(row: GameRow, detail: Detail, rows: Sequence[EventRow]) -> str:
    """A game as JSON, with every event."""
    events = [event_from_json(json.loads(row.body)) for row in rows]
    form = {
        "game_id": row.id,
        "created_at": row.created_at,
        "seats": [encoded(occupant) for occupant in detail.occupants],
        "dice": detail.dice.value,
        **match_json(events, _names(detail)),
    }
    return json.dumps(form, indent=1, ensure_ascii=False) + "\n"


def _names(detail: Detail) -> tuple[str, str]:
    """What the two players are called, in every form alike."""
    first, second = detail.occupants
    return _shown(first, "First"), _shown(second, "Second")


def _shown(occupant: Occupant, default: str) -> str:
    """What a player is called."""
    if occupant.kind is OccupantKind.ENGINE:
        strength = _STRENGTHS.get(occupant.strength, str(occupant.strength))
        return bot_name(Level(occupant.level), strength)
    return occupant.name or default
