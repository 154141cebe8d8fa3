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
from bgserver.games.events import DiceRevealed, event_from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver.games.events import Event

__all__ = ["main"]

_USAGE = "usage: python -m bgserver.games.check_dice EXPORT.json"


def main(arguments: Sequence[str]) -> int:
    """Check the file named by the only argument.

    Returns:
        0 if the dice are right, 1 if they are not, 2 if the file cannot be checked.
    """
    if len(arguments) != 1:
        sys.stderr.write(f"{_USAGE}\n")
        return 2
    try:
        events = _events(json.loads(Path(arguments[0]).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{arguments[0]}: no match exported as json: {error}\n")
        return 2
    except RecursionError:
        sys.stderr.write(f"{arguments[0]}: no match exported as json: it is nested too deeply\n")
        return 2
    faults = verify(events)
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    if not faults:
        games = sum(isinstance(event, DiceRevealed) for event in events)
        sys.stdout.write(f"{games} game{'s' * (games != 1)}: every roll as promised\n")
    return 1 if faults else 0


def _events(form: object) -> list[Event]:
    """The events of an export.

    Raises:
        ValueError: It is none.
    """
    events = form.get("events") if isinstance(form, dict) else None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        message = 'expected a JSON object whose "events" is a list of objects'
        raise ValueError(message)
    return [event_from_json(event) for event in events]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
