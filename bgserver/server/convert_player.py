"""The players of the engine, as requests name them."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault
from bgserver.engine.levels import Level
from bgserver.engine.player import CubeMove
from bgserver.engine.strength import (
    EXPERT,
    NAMED_STRENGTHS,
    DecisionKey,
    Strength,
    strength_faults,
)
from bgserver.games.simulation import Contestant
from bgserver.server.convert_engine import read_level
from bgserver.server.convert_enums import LEVEL, EnumMap
from bgserver.server.convert_plays import play_message
from bgserver.server.convert_state import dice_message
from bgserver.server.foreign import address_fault
from bgserver.v1 import common_pb2, engine_pb2

if TYPE_CHECKING:
    from collections.abc import Collection

    from bgserver.engine.player import Choice, CubeChoice
    from bgserver.engine.position import Dice, Position

__all__ = [
    "chosen_cube_action_message",
    "chosen_play_message",
    "player_message",
    "read_contestant",
    "read_key",
    "read_player",
]

_CUBE_MOVE = EnumMap(engine_pb2.CubeMove, CubeMove)

_NAMED = {
    common_pb2.Strength.Value(f"STRENGTH_{name.upper()}"): strength
    for name, strength in NAMED_STRENGTHS.items()
}
_NAMED[common_pb2.STRENGTH_UNSPECIFIED] = EXPERT


def read_player(
    player: common_pb2.Player, levels: Collection[Level], faults: list[Fault], field: str
) -> tuple[Level, Strength] | None:
    """The level and the strength of a player of this server.

    Args:
        player: As the request names it.
        levels: The levels that are possible here.
        faults: What is wrong is added.
        field: The player's field in the request.
    """
    if player.address:
        message = "players at other servers are for simulations only"
        faults.append(Fault(f"{field}.address", "REMOTE_NOT_HERE", message))
    return _read_strength(player, levels, faults, field)


def read_contestant(
    player: common_pb2.Player,
    levels: Collection[Level],
    remotes: Collection[str],
    faults: list[Fault],
    field: str,
) -> Contestant | None:
    """A player of a simulation, who may sit at another server.

    Args:
        player: As the request names it.
        levels: The levels of this server's players.
        remotes: Addresses of other servers that are allowed; `*` allows any.
        faults: What is wrong is added.
        field: The player's field in the request.
    """
    address = player.address or None
    if address is not None:
        if "*" not in remotes and address not in remotes:
            message = "this server's setting remote_engines does not allow that address"
            faults.append(Fault(f"{field}.address", "ADDRESS_NOT_ALLOWED", message))
        elif message := address_fault(address):
            faults.append(Fault(f"{field}.address", "NOT_AN_ADDRESS", message))
        # What the other server can do is its own matter: it refuses what it does not know.
        levels = tuple(level for level in Level if level is not Level.RANDOM)
    found = _read_strength(player, levels, faults, field)
    return None if found is None else Contestant(*found, address)


def player_message(player: Contestant) -> common_pb2.Player:
    """A player as another server is to be told; without the address, which is its own."""
    return common_pb2.Player(
        level=LEVEL.to_api(player.level),
        numeric_strength=player.strength.value,
    )


def _read_strength(
    player: common_pb2.Player, levels: Collection[Level], faults: list[Fault], field: str
) -> tuple[Level, Strength] | None:
    """Level and strength; arguments as `read_player`."""
    level = read_level(player.level, levels, faults, f"{field}.level")
    kind = player.WhichOneof("strength")
    strength: Strength | None = EXPERT
    if kind == "named_strength":
        strength = _NAMED.get(player.named_strength)
        if strength is None:
            names = ", ".join(common_pb2.Strength.Name(number) for number in sorted(_NAMED)[1:])
            message = f"expected one of {names}, got {player.named_strength}"
            faults.append(Fault(f"{field}.{kind}", "UNKNOWN_VALUE", message))
    elif kind == "numeric_strength":
        found = strength_faults(player.numeric_strength, f"{field}.{kind}")
        faults.extend(found)
        strength = None if found else Strength(player.numeric_strength)
    if level is Level.RANDOM and kind is not None:
        message = "a player that plays at random has no strength"
        faults.append(Fault(f"{field}.{kind}", "RANDOM_HAS_NO_STRENGTH", message))
        return None
    return None if level is None or strength is None else (level, strength)


def read_key(
    request: engine_pb2.ChoosePlayRequest | engine_pb2.ChooseCubeActionRequest,
) -> DecisionKey:
    """Which decision a request is about; a request without a seed gets one."""
    seed = request.seed if request.HasField("seed") else secrets.randbits(32)
    return DecisionKey(seed, request.game, request.turn)


def chosen_play_message(
    choice: Choice, position: Position, dice: Dice, key: DecisionKey
) -> engine_pb2.ChoosePlayResponse:
    """The play of a bot; `position` is the board before it."""
    return engine_pb2.ChoosePlayResponse(
        play=play_message(choice.play, position),
        equity_loss=choice.loss or 0.0,
        game_value=choice.value,
        dice=dice_message(dice),
        seed=key.seed,
    )


def chosen_cube_action_message(
    choice: CubeChoice, key: DecisionKey
) -> engine_pb2.ChooseCubeActionResponse:
    """What a bot does with the cube."""
    return engine_pb2.ChooseCubeActionResponse(
        move=_CUBE_MOVE.to_api(choice.move), equity_loss=choice.loss, seed=key.seed
    )
