"""The command that plays: a person against a bot, in the terminal."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from pathlib import Path  # noqa: TC003 -- typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from bgserver.cli.games import player_name
from bgserver.cli.inputs import parse_player
from bgserver.cli.methods import method_for
from bgserver.cli.options import (
    AddressOption,  # noqa: TC001 -- typer reads the annotations at run time
    TimeoutOption,  # noqa: TC001 -- typer reads it at run time
    TokenOption,  # noqa: TC001 -- typer reads it at run time
)
from bgserver.cli.play_text import describe, headline
from bgserver.cli.problems import error_line
from bgserver.cli.transport import ask, connect
from bgserver.server.errors import StatusError
from bgserver.v1 import common_pb2, game_pb2, rules_pb2

if TYPE_CHECKING:
    from bgserver.cli.transport import Transport

__all__ = ["register"]

_WORDS: dict[str, game_pb2.ActionKind.ValueType] = {
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
_ENTER = ("roll", "done", "next")
"""What an empty line does, the first that is possible."""
_FIELDS = {"on": "play_on", "done": "confirm", "next": "next_game", "end": "end_session"}
_FIELDS["back"] = "return"
_RESIGNATIONS = {
    "single": common_pb2.RESIGNATION_SINGLE,
    "gammon": common_pb2.RESIGNATION_GAMMON,
    "backgammon": common_pb2.RESIGNATION_BACKGAMMON,
}
_MOVE = re.compile(r"(bar|\d{1,2})/(off|\d{1,2})\*?")
_HELP = """\
A play such as 13/8 6/5* is made and confirmed; a single move such as 13/8 moves one checker.
Enter does what is most likely: roll, done, next game. Other words, as far as they are possible:
roll, double, take, drop, beaver, raccoon, on, undo, done, resign (single, gammon, backgammon),
accept, refuse, next, end, hint, moves, board, quit. The beginning of a word is enough."""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(rich_help_panel="Games")(play)


def play(
    preset: Annotated[
        str, typer.Option("--preset", "-p", help="Rules; `bgserver presets` lists them.")
    ] = "classic",
    opponent: Annotated[
        str,
        typer.Option("--player", metavar="PLAYER", help="The bot: beginner, normal, expert..."),
    ] = "normal",
    match_length: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, help="Points of a match, in a match preset.", show_default=False
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="What you are called.")] = "Player",
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=(1 << 32) - 1,
            help="Seed of the dice, for the same dice again.",
            show_default="random",
        ),
    ] = None,
    fair: Annotated[
        bool, typer.Option("--fair", help="Dice that you can check afterwards.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the game down at the end: .mat for other programs, or .json.",
            show_default=False,
        ),
    ] = None,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Play against a bot.

    A PLAYER is a level, a strength (beginner, normal, expert, or 0 to 100), or both:
    lookahead_1:normal. Type help during the game.
    """
    request = game_pb2.CreateGameRequest(
        preset=preset,
        rules=rules_pb2.Rules(),
        match_length=match_length,
        first=game_pb2.SeatSetup(person=game_pb2.Person(name=name)),
        second=game_pb2.SeatSetup(engine=parse_player(opponent, "second.engine")),
    )
    if seed is not None:
        request.seed = seed
    elif fair:
        request.fair_dice.SetInParent()
    with connect(address, token, timeout) as transport:
        created = ask(transport, request, game_pb2.CreateGameResponse)
        table = _Table(transport, created)
        try:
            table.play()
        finally:
            if export is not None and table.view.version:
                export.write_text(table.exported(export), encoding="utf-8")


class _Table:
    """A game in the terminal."""

    def __init__(self, transport: Transport, created: game_pb2.CreateGameResponse) -> None:
        self._transport = transport
        self._has_quit = False
        self._token = created.first_token
        self.view = created.view
        """The game as it was last heard of."""
        self._heard = 0
        self._names = {
            common_pb2.SEAT_UNSPECIFIED: "",
            common_pb2.SEAT_FIRST: created.view.first.name or "Player",
            common_pb2.SEAT_SECOND: player_name(created.view.second),
        }

    def play(self) -> None:
        """Play until all is over, or the player has had enough."""
        _say("Type help for the commands.")
        while True:
            self._listen()
            if self.view.stage == game_pb2.GAME_STAGE_SESSION_OVER:
                return
            self._show()
            while not self._obey():
                pass
            if self._has_quit:
                return

    def _listen(self) -> None:
        """Tell what happens until the game waits for the player or is over."""
        request = game_pb2.WatchRequest(
            game_id=self.view.game_id,
            token=self._token,
            after_event=self._heard,
            include_views=True,
        )
        stream = self._transport.stream(method_for(request), [request])
        with closing(stream) as messages:
            for message in messages:
                if not isinstance(message, game_pb2.WatchResponse):
                    continue
                if message.HasField("event"):
                    self._heard = message.event.number
                    for line in describe([message.event], self._names):
                        _say(line)
                if message.HasField("view"):
                    self.view = message.view
                    if self._is_waited_for:
                        return

    @property
    def _is_waited_for(self) -> bool:
        return self.view.viewer in self.view.to_act

    def _show(self) -> None:
        """Draw the board."""
        request = game_pb2.GetGameRequest(
            game_id=self.view.game_id, token=self._token, include_board=True
        )
        self.view = ask(self._transport, request, game_pb2.GetGameResponse).view
        _say("")
        _say(self.view.board)
        _say(headline(self.view, self._names))

    def _obey(self) -> bool:
        """Read a command and do it; whether the game has moved on."""
        words = self._read()
        if words is None or "quit".startswith(words or "-"):
            self._has_quit = True
            return True
        try:
            return self._do(words)
        except StatusError as error:
            line = error_line(error.status)
            for violation in line["violations"]:
                _say(violation["description"])
            if not line["violations"]:
                _say(line["message"])
            return False

    def _read(self) -> str | None:
        """A line of the player's; None at the end of the input."""
        possible = [word for word, kind in _WORDS.items() if kind in self.view.legal.actions]
        dice = ""
        if self.view.HasField("dice"):
            dice = f"{'-'.join(map(str, self.view.dice_left))} left, "
        sys.stdout.write(f"({dice}{', '.join(possible)}) > ")
        sys.stdout.flush()
        line = sys.stdin.readline()
        if not sys.stdin.isatty():
            sys.stdout.write("\n")
        return " ".join(line.lower().split()) if line else None

    def _do(self, words: str) -> bool:
        if not words:
            words = next((one for one in _ENTER if _WORDS[one] in self.view.legal.actions), "help")
        first, _, rest = words.partition(" ")
        if "/" in words:
            return self._move(words)
        if "hint".startswith(first):
            self._hint()
            return False
        if "moves".startswith(first):
            _say(", ".join(_step_text(step) for step in self.view.legal.steps) or "none")
            return False
        if "board".startswith(first):
            self._show()
            return False
        found = [one for one in _WORDS if one.startswith(first)]
        if len(found) > 1:
            found = [one for one in found if _WORDS[one] in self.view.legal.actions][:1] or found
        if not found or "help".startswith(first):
            _say(_HELP)
            return False
        self._act(self._action(found[0], rest))
        return True

    def _action(self, word: str, rest: str) -> game_pb2.GameAction:
        action = game_pb2.GameAction()
        if word == "resign":
            chosen = [value for name, value in _RESIGNATIONS.items() if name.startswith(rest)]
            action.resign.result = chosen[0] if chosen else common_pb2.RESIGNATION_SINGLE
        else:
            getattr(action, _FIELDS.get(word, word)).SetInParent()
        return action

    def _move(self, words: str) -> bool:
        """Make a whole play, or a single move."""
        single = _MOVE.fullmatch(words)
        action = game_pb2.GameAction()
        if single is None or len(self.view.dice_left) == 1:
            action.play.notation = words
        else:
            source, target = single.groups()
            action.step.source = 25 if source == "bar" else int(source)
            action.step.target = 0 if target == "off" else int(target)
        self._act(action)
        return True

    def _act(self, action: game_pb2.GameAction) -> None:
        request = game_pb2.ActRequest(
            game_id=self.view.game_id,
            token=self._token,
            expected_version=self.view.version,
            action=action,
        )
        self.view = ask(self._transport, request, game_pb2.ActResponse).view

    def _hint(self) -> None:
        request = game_pb2.HintRequest(game_id=self.view.game_id, token=self._token)
        hint = ask(self._transport, request, game_pb2.HintResponse)
        for ranked in hint.plays:
            _say(f"{ranked.equity:+.3f}  {ranked.play.notation}")
        if hint.HasField("cube"):
            _say(hint.cube.action_text)
        elif not hint.plays:
            name = game_pb2.ActionKind.Name(hint.action).removeprefix("ACTION_KIND_")
            _say(name.lower().replace("_", " "))

    def exported(self, file: Path) -> str:
        """The game written down, in the form that the file's name asks for."""
        form = game_pb2.EXPORT_FORMAT_JSON
        if file.suffix == ".mat":
            form = game_pb2.EXPORT_FORMAT_MAT
        request = game_pb2.ExportGameRequest(
            game_id=self.view.game_id, token=self._token, format=form
        )
        return ask(self._transport, request, game_pb2.ExportGameResponse).text


def _step_text(step: game_pb2.StepOption) -> str:
    source = "bar" if step.source == 25 else str(step.source)
    target = str(step.target or "off")
    star = "*" if any(one.hit for one in step.steps) else ""
    return f"{source}/{target}{star}"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
