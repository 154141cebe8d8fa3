"""Where the dice of a table come from (2.27): the system's randomness, a seed, or provably fair.

Rolls are recorded as events, so replaying a log never asks a source again. Stable: `DiceSource`,
the three sources, `verify`.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Protocol

from bgserver.games import events as ev

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bgserver.games.events import Event

__all__ = ["DiceSource", "FairDice", "SecretDice", "SeededDice", "verify"]


class DiceSource(Protocol):
    """Rolls of a table; two dice at a time."""

    def roll(self, game: int, index: int) -> tuple[int, int]:
        """Throw two dice.

        Args:
            game: Number of the game, from 1.
            index: Number of the roll in the game, from 0; the opening rolls count.

        Returns:
            The dice, 1..6 each; of an opening roll the first seat's and the second seat's.
        """
        ...

    def commitment(self, game: int) -> str | None:
        """The promise to be published before the game, None where there is none."""
        ...

    def reveal(self, game: int) -> str | None:
        """The seed to be published after the game, None where there is none."""
        ...


class SecretDice:
    """Dice from the operating system's randomness; the default."""

    def roll(self, game: int, index: int) -> tuple[int, int]:  # noqa: ARG002 -- the protocol's
        """Throw two dice; game and index have no influence."""
        return secrets.randbelow(6) + 1, secrets.randbelow(6) + 1

    def commitment(self, game: int) -> str | None:  # noqa: ARG002 -- part of the interface
        """None: nothing is promised."""
        return None

    def reveal(self, game: int) -> str | None:  # noqa: ARG002 -- part of the interface
        """None: there is no seed."""
        return None


def _game_seed(master: bytes, game: int) -> bytes:
    return hmac.new(master, f"game {game}".encode(), hashlib.sha256).digest()


def _dice(seed: bytes, index: int) -> tuple[int, int]:
    """Roll number `index` of a game.

    The bytes of HMAC-SHA256(seed, "roll INDEX BLOCK") for BLOCK 0, 1, ... are read in order; those
    from 252 on are skipped, any other gives a die of its remainder modulo 6, plus 1.
    """
    found: list[int] = []
    block = 0
    while len(found) < 2:
        digest = hmac.new(seed, f"roll {index} {block}".encode(), hashlib.sha256).digest()
        found.extend(byte % 6 + 1 for byte in digest if byte < 252)
        block += 1
    return found[0], found[1]


class SeededDice:
    """The same dice again for the same seed: for tests and duplicate games."""

    def __init__(self, seed: int) -> None:
        self._master = f"seed {seed}".encode()

    def roll(self, game: int, index: int) -> tuple[int, int]:
        """Throw two dice; they depend on seed, game and index only."""
        return _dice(_game_seed(self._master, game), index)

    def commitment(self, game: int) -> str | None:  # noqa: ARG002 -- part of the interface
        """None: whoever knows the seed knows the dice."""
        return None

    def reveal(self, game: int) -> str | None:  # noqa: ARG002 -- part of the interface
        """None: nothing was promised."""
        return None


class FairDice:
    """Provably fair dice: settled before the game, checkable after it.

    Each game has a seed of its own, made from the master secret. Its SHA-256 is published before
    the first roll, so that the server cannot choose a roll later on; the seed itself is published
    after the game, so that everybody can compute all rolls (`verify`). The master secret is never
    published: it would give away the games to come.
    """

    def __init__(self, master: bytes) -> None:
        """Dice of a master secret.

        Args:
            master: At least 16 secret bytes, for example of `secrets.token_bytes(32)`. Whoever
                runs the table keeps them to go on after a restart.
        """
        if len(master) < 16:
            message = f"expected at least 16 secret bytes, got {len(master)}"
            raise ValueError(message)
        self._master = master

    def roll(self, game: int, index: int) -> tuple[int, int]:
        """Throw two dice; they depend on the secret, game and index only."""
        return _dice(_game_seed(self._master, game), index)

    def commitment(self, game: int) -> str:
        """SHA-256 of the game's seed, in hexadecimal digits."""
        return hashlib.sha256(_game_seed(self._master, game)).hexdigest()

    def reveal(self, game: int) -> str:
        """The game's seed, in hexadecimal digits."""
        return _game_seed(self._master, game).hex()


def verify(events: Iterable[Event]) -> list[str]:
    """Check the provably fair dice of a log.

    Args:
        events: The log of a table, from its first event.

    Returns:
        What is wrong, in words; empty if every game that has ended kept its promise.
    """
    faults: list[str] = []
    promises: dict[int, str] = {}
    rolls: list[tuple[int, int]] = []
    game = 0
    for event in events:
        if isinstance(event, ev.DiceCommitted):
            if event.game != game + 1 or event.game in promises:
                faults.append(f"game {event.game}: a promise at the wrong time")
            promises.setdefault(event.game, event.commitment)
        elif isinstance(event, ev.GameStarted):
            game, rolls = event.game, []
            if game not in promises:
                faults.append(f"game {game}: no promise before the first roll")
        elif isinstance(event, ev.DiceRolled) and event.opening:
            if not rolls or sorted(rolls[-1]) != sorted((event.first, event.second)):
                faults.append(f"game {game}: the starter did not get the dice of the opening roll")
        elif isinstance(event, ev.OpeningRolled | ev.DiceRolled):
            rolls.append((event.first, event.second))
        elif isinstance(event, ev.DiceRevealed):
            faults += _seed_faults(event, promises.pop(event.game, ""), rolls)
    ended = set(promises) - {game}
    faults += [f"game {number}: the seed was never published" for number in sorted(ended)]
    return faults


def _seed_faults(
    revealed: ev.DiceRevealed, promise: str, rolls: list[tuple[int, int]]
) -> list[str]:
    """What is wrong with one game's seed."""
    try:
        seed = bytes.fromhex(revealed.seed)
    except ValueError:
        return [f"game {revealed.game}: the seed is no hexadecimal number"]
    if promise and hashlib.sha256(seed).hexdigest() != promise:
        return [f"game {revealed.game}: the seed is not the promised one"]
    return [
        f"game {revealed.game}: roll {index} was {found[0]}-{found[1]}, "
        f"the seed gives {wanted[0]}-{wanted[1]}"
        for index, found in enumerate(rolls)
        if (wanted := _dice(seed, index)) != found
    ]
