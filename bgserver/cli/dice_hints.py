"""Hints for whoever leaves the dice out, or writes them in a way that is not understood."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["add_dice_hint", "missing_dice_hints"]

_ASK_FOR_DICE = ("rank", "bot", "rollout", "plays")
_EXTRA = re.compile(r"unexpected extra argument.*\(([1-6])\)")


def missing_dice_hints(command: str | None) -> dict[str, str]:
    """An example of a command with dice, by the reason of the fault that it helps with.

    Args:
        command: The name of the command.
    """
    if command not in _ASK_FOR_DICE:
        return {}
    return {"DICE_REQUIRED": f"for example: {command} start 31"}


def add_dice_hint(error: Any) -> None:  # noqa: ANN401 -- typer's own errors, of no public class
    """Say how dice are written to whoever wrote `3 1`; other errors stay as they are.

    Args:
        error: An error about arguments, whose message is completed.
    """
    found = _EXTRA.search(getattr(error, "message", ""))
    context = getattr(error, "ctx", None)
    first = str(context.params.get("dice") or "") if context is not None else ""
    if found and re.fullmatch("[1-6]", first):
        error.message += f"; dice are one word: {first}{found[1]}"
