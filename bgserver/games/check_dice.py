"""Check provably fair dice: `python -m bgserver.games.check_dice EXPORT.json`.

The file is a match exported as JSON. Each game's seed, published after it, must be the one that
was promised before it, and must give every roll. Anyone can write such a check: the promise is
the SHA-256 of the seed, and roll number i of a game (the opening rolls count, from 0) comes from
the bytes of HMAC-SHA256(seed, "roll i 0"), then "roll i 1" and so on: bytes from 252 on are
skipped, each other byte gives a die, its remainder modulo 6 plus 1.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bgserver.games.dice import verify
from bgserver.games.events import DiceCommitted, DiceRevealed, event_from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver.games.events import Event

__all__ = ["main"]

_USAGE = "usage: python -m bgserver.games.check_dice EXPORT.json"
_HOW = "games are exported for this check with: bgserver games export ID --format json -o FILE"
_PROMISED_NOTHING = {
    "seeded": "these dice were seeded: they promised nothing, so there is nothing to check",
    "system": "these dice were rolled at random: they promised nothing, so there is nothing to "
    "check; a game with promises is created with fair dice",
}
"""What to say about dice without promises, by the kind that an export names."""


def main(arguments: Sequence[str]) -> int:
    """Check the file named by the only argument.

    Returns:
        0 if the dice are right, 1 if they are not, 2 if there is nothing that can be checked.
    """
    if len(arguments) != 1:
        sys.stderr.write(f"{_USAGE}\n")
        return 2
    try:
        form = _read(Path(arguments[0]))
        events = _events(form)
    except ValueError as error:
        sys.stderr.write(f"{arguments[0]}: {error}\n")
        return 2
    if not any(isinstance(event, DiceCommitted | DiceRevealed) for event in events):
        kind = form.get("dice") if isinstance(form, dict) else None
        if isinstance(kind, str) and kind in _PROMISED_NOTHING:
            sys.stderr.write(f"{arguments[0]}: {_PROMISED_NOTHING[kind]}\n")
            return 2
    faults = verify(events)
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    if faults:
        return 1
    games = sum(isinstance(event, DiceRevealed) for event in events)
    if not games:
        message = "there is no finished game to check: a seed is published when its game is over"
        sys.stderr.write(f"{arguments[0]}: {message}\n")
        return 2
    sys.stdout.write(f"{games} game{'s' * (games != 1)}: every roll as promised\n")
    return 0


def _read(path: Path) -> object:
    """What a file of JSON says.

    Raises:
        ValueError: It cannot be read, or is no JSON.
    """
    if not path.exists():
        message = f"there is no such file; {_HOW}"
        raise ValueError(message)
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        message = f"cannot be read: {error.strerror}; {_HOW}"
        raise ValueError(message) from None
    except (ValueError, RecursionError):
        message = f"no match exported as json: it is not JSON, or damaged; {_HOW}"
        raise ValueError(message) from None


def _events(form: object) -> list[Event]:
    """The events of an export.

    Raises:
        ValueError: It is none.
    """
    events = form.get("events") if isinstance(form, dict) else None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        message = "no match exported as json: expected an object with a list of events"
        raise ValueError(message)
    try:
        return [event_from_json(event) for event in events]
    except ValueError as error:
        message = f"no match exported as json: {error}"
        raise ValueError(message) from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
