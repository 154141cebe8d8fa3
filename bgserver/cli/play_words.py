"""What a player may type during a game in the terminal, and what it means."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from bgserver.v1 import common_pb2, game_pb2

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = [
    "ENTER",
    "HELP",
    "TALK",
    "WORDS",
    "conceded",
    "meant",
    "move_action",
    "step_text",
    "unclear",
    "word_action",
]

WORDS: dict[str, game_pb2.ActionKind.ValueType] = {
    "roll": game_pb2.ACTION_KIND_ROLL,
    "double": game_pb2.ACTION_KIND_DOUBLE,
    "take": game_pb2.ACTION_KIND_TAKE,
    "drop": game_pb2.ACTION_KIND_DROP,
    "beaver": game_pb2.ACTION_KIND_BEAVER,
    "raccoon": game_pb2.ACTION_KIND_RACCOON,
    "on": game_pb2.ACTION_KIND_PLAY_ON,
    "undo": game_pb2.ACTION_KIND_UNDO,
    "done": game_pb2.ACTION_KIND_CONFIRM,
    "accept": game_pb2.ACTION_KIND_ACCEPT,
    "refuse": game_pb2.ACTION_KIND_REFUSE,
    "next": game_pb2.ACTION_KIND_NEXT_GAME,
    "end": game_pb2.ACTION_KIND_END_SESSION,
    "back": game_pb2.ACTION_KIND_RETURN,
    "resign": game_pb2.ACTION_KIND_RESIGN,
}
"""Words that act, and what they do."""
TALK = ("hint", "moves", "board", "help", "quit")
"""Words that only ask, or leave."""
ENTER = ("roll", "done", "next")
"""What an empty line does, the first that is possible."""
HELP = """\
A play such as 13/8 6/5* is made and confirmed; a single move such as 13/8 moves one checker.
Enter does what is most likely: roll, done, next game. Other words, as far as they are possible:
roll, double, take, drop, beaver, raccoon, on, undo, done, resign (single, gammon, backgammon),
accept, refuse, next, end, hint, moves, board, quit. The beginning of a word is enough where no
other word begins like it."""

_FIELDS = {"on": "play_on", "done": "confirm", "next": "next_game", "end": "end_session"}
_FIELDS["back"] = "return"
_RESIGNATIONS = {
    "single": common_pb2.RESIGNATION_SINGLE,
    "gammon": common_pb2.RESIGNATION_GAMMON,
    "backgammon": common_pb2.RESIGNATION_BACKGAMMON,
}
_MOVE = re.compile(r"(bar|\d{1,2})/(off|\d{1,2})\*?")
_BAR = 25
_NEAREST = 3
_LONGEST_SHOWN = 20


def meant(word: str) -> list[str]:
    """The words that a word or its beginning may stand for; one if it is clear.

    All words count, possible now or not: what a beginning means must not change with the state of
    the game, or a roll that comes too late would be a resignation.
    """
    every = (*WORDS, *TALK)
    return [word] if word in every else [one for one in every if one.startswith(word)]


def unclear(word: str, found: Collection[str], possible: Collection[str]) -> str:
    """What to say about a word that means nothing, or more than one thing.

    Args:
        word: What was typed.
        found: What it may mean.
        possible: What may be typed now.
    """
    if found:
        return f"{word!r} may be {', '.join(found)}; type more of the word"
    shown = word if len(word) <= _LONGEST_SHOWN else f"{word[:_LONGEST_SHOWN]}..."
    near = difflib.get_close_matches(word, (*WORDS, *TALK), _NEAREST)
    guess = f"nearest: {', '.join(near)}" if near else f"possible now: {', '.join(possible)}"
    return f"no command {shown!r}; {guess}; help tells them all"


def conceded(rest: str) -> str | None:
    """What a resignation gives up, in words; None if it says nothing that can be given up.

    Args:
        rest: What follows `resign`.
    """
    name = _resignation(rest)
    if name is None:
        return None
    return "a single game" if name == "single" else f"a {name}"


def word_action(word: str, rest: str) -> game_pb2.GameAction:
    """The action of a word.

    Args:
        word: One of `WORDS`.
        rest: What follows it: for `resign` what is conceded.
    """
    action = game_pb2.GameAction()
    if word == "resign":
        action.resign.result = _RESIGNATIONS[_resignation(rest) or "single"]
    else:
        getattr(action, _FIELDS.get(word, word)).SetInParent()
    return action


def _resignation(rest: str) -> str | None:
    return next((name for name in _RESIGNATIONS if name.startswith(rest)), None)


def step_text(option: game_pb2.StepOption) -> str:
    """A single move as it is listed and typed: points where it hits on the way stay visible."""
    text = "bar" if option.source == _BAR else str(option.source)
    for step in option.steps:
        if step.hit or step.target == option.target:
            text += f"/{step.target or 'off'}{'*' * step.hit}"
    return text


def move_action(
    words: str, dice_left: int, options: Sequence[game_pb2.StepOption]
) -> game_pb2.GameAction:
    """The action of a play or a single move.

    Args:
        words: For example `13/8 6/5*`, `13/8`, or a move with its way, `8/5*/1*`.
        dice_left: Numbers of the roll that are not used yet; a move with the last one ends the
            turn, and so does one with its way that uses all of them.
        options: The single moves that are possible now.
    """
    action = game_pb2.GameAction()
    single = _MOVE.fullmatch(words)
    fitting = [option for option in options if step_text(option) == words]
    if single is not None and not fitting:
        source, target = single.groups()
        typed = game_pb2.StepOption(
            source=_BAR if source == "bar" else int(source),
            target=0 if target == "off" else int(target),
        )
        typed.steps.add(source=typed.source, target=typed.target)
        ends = (typed.source, typed.target)
        fitting = [one for one in options if (one.source, one.target) == ends] or [typed]
    if len({step_text(option) for option in fitting}) != 1:
        # A whole play, or a move that may hit on the way or not: the server says which there are.
        action.play.notation = words
        return action
    option = fitting[0]
    if dice_left == (len(option.steps) if single is None else 1):
        # Not as notation: that would be the whole turn, with the moves that are made already.
        action.play.steps.steps.extend(option.steps)
    else:
        action.step.source = option.source
        action.step.target = option.target
        action.step.low_die_first = option.low_die_first
    return action
