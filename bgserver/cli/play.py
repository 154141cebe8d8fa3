"""The command that plays: a person against a bot, in the terminal."""

from __future__ import annotations

import shlex
import sys
from contextlib import closing
from pathlib import Path  # noqa: TC003 -- typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import grpc
import typer

from bgserver.cli.games import player_name
from bgserver.cli.inputs import parse_player
from bgserver.cli.methods import method_for
from bgserver.cli.options import (
    AddressOption,  # noqa: TC001 -- typer reads the annotations at run time
    TimeoutOption,  # noqa: TC001 -- typer reads it at run time
    TokenOption,  # noqa: TC001 -- typer reads it at run time
)
from bgserver.cli.out_files import require_out_file
from bgserver.cli.own_words import naming_options
from bgserver.cli.play_text import describe, headline
from bgserver.cli.play_words import (
    ENTER,
    HELP,
    TALK,
    WORDS,
    conceded,
    meant,
    move_action,
    step_text,
    unclear,
    word_action,
)
from bgserver.cli.problems import error_line, gathered, input_error
from bgserver.cli.transport import ask, connect
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.server.errors import StatusError
from bgserver.v1 import common_pb2, game_pb2, rules_pb2

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bgserver.cli.transport import Transport

__all__ = ["register"]

_NAME = "Player"
_RESUME = "Going on with a game"
_EXPORT_ENDINGS = (".mat", ".json")
_OPTIONS = {
    "preset": "--preset",
    "match_length": "--match-length",
    "first.person.name": "--name",
    "second.engine": "--player",
    "second.engine.level": "--player",
    "second.engine.numeric_strength": "--player",
    "seed": "--seed",
    "game_id": "--game",
    "token": "--game-token",
}
"""The option that fills each field of a request."""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(rich_help_panel="Games")(play)


def play(
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            "-p",
            help="Rules; `bgserver presets` lists them.",
            show_default="classic",
        ),
    ] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            "--player",
            metavar="PLAYER",
            help="The bot: beginner, normal, expert...",
            show_default="normal",
        ),
    ] = None,
    match_length: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, help="Points of a match, in a match preset.", show_default=False
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="What you are called.", show_default="Player")
    ] = None,
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
    game: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Go on with this game of the server.",
            rich_help_panel=_RESUME,
            show_default=False,
        ),
    ] = None,
    game_token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="Token of your seat in it.",
            rich_help_panel=_RESUME,
            show_default=False,
        ),
    ] = None,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Play against a bot.

    A PLAYER is a level, a strength (beginner, normal, expert, or 0 to 100), or both:
    lookahead_1:normal. Type help during the game. Whoever leaves a game at a server (--address)
    is told the command that goes on with it.
    """
    faults: list[Fault] = []
    resumed = game is not None or game_token is not None
    if resumed:
        new = {
            "--preset": preset,
            "--player": opponent,
            "--match-length": match_length,
            "--name": name,
            "--seed": seed,
            "--fair": fair or None,
        }
        faults += _resume_faults(game, game_token, address, new)
    elif fair and seed is not None:
        message = "whoever knows the seed knows the dice; expected --seed or --fair, got both"
        faults.append(Fault("--fair", "DICE_AMBIGUOUS", message))
    if export is not None:
        with gathered(faults):
            require_out_file(export, "--export", _EXPORT_ENDINGS)
    request = game_pb2.CreateGameRequest(
        preset=preset or "classic",
        match_length=match_length,
        first=game_pb2.SeatSetup(person=game_pb2.Person(name=_NAME if name is None else name)),
    )
    with gathered(faults):
        request.second.engine.CopyFrom(parse_player(opponent or "normal", "--player"))
    if faults:
        raise InvalidInputError(faults)
    if seed is not None:
        request.seed = seed
    elif fair:
        request.fair_dice.SetInParent()
    with connect(address, token, timeout) as transport:
        with naming_options(_OPTIONS):
            if resumed:
                table = _resumed(transport, game or "", game_token or "")
                _require_form(export, table.view.rules)
            else:
                if _is_match_text(export):
                    _require_form(export, _preset_rules(transport, request.preset))
                created = ask(transport, request, game_pb2.CreateGameResponse)
                table = _Table(transport, created.view, created.first_token)
        try:
            table.play()
        finally:
            if not table.is_over:
                _say(_farewell(table, address, with_token=token is not None))
            if export is not None and table.view.version:
                export.write_text(table.exported(export), encoding="utf-8")


def _resume_faults(
    game: str | None, game_token: str | None, address: str | None, new: Mapping[str, object]
) -> list[Fault]:
    """What does not go with going on with a game: everything that is missing or too much.

    Args:
        game: Its id.
        game_token: The token of a seat.
        address: The server that holds it.
        new: The options of new games, None for those that were not given.
    """
    faults = [
        Fault(option, "REQUIRED", f"expected, to go on with a game: {what}")
        for option, value, what in (
            ("--game", game, "its id"),
            ("--game-token", game_token, "the token of your seat"),
            ("--address", address, "the server that holds it"),
        )
        if value is None
    ]
    faults += [
        Fault(option, "ONLY_NEW_GAMES", "only for a new game; this one goes on as it was set up")
        for option, value in new.items()
        if value is not None
    ]
    return faults


def _is_match_text(export: Path | None) -> bool:
    """Whether a game is to be written down as match text."""
    return export is not None and export.suffix.lower() == ".mat"


def _preset_rules(transport: Transport, preset: str) -> rules_pb2.Rules:
    """The rules of a new game; those of nothing where there is no such preset."""
    presets = ask(transport, rules_pb2.ListPresetsRequest(), rules_pb2.ListPresetsResponse).presets
    return next((one.rules for one in presets if one.name == preset), rules_pb2.Rules())


def _require_form(export: Path | None, rules: rules_pb2.Rules) -> None:
    """See before the game that it can be written down in the form that the file's name asks for.

    Raises:
        InvalidInputError: `NOT_IN_LONG_NARDY`: match text knows backgammon only.
    """
    if export is None or not _is_match_text(export):
        return
    if rules.variant == common_pb2.VARIANT_LONG_NARDY:
        message = "match text (.mat) is for backgammon; expected, for Long Nardy, a .json file"
        message += f" such as {export.with_suffix('.json').name}"
        raise input_error(message, field="--export", reason="NOT_IN_LONG_NARDY")


def _resumed(transport: Transport, game: str, game_token: str) -> _Table:
    """The table of a game that goes on."""
    request = game_pb2.GetGameRequest(game_id=game, token=game_token)
    view = ask(transport, request, game_pb2.GetGameResponse).view
    if not view.HasField("legal"):
        message = "this token lets you watch; expected the token of a seat"
        raise input_error(message, field="token", reason="NOT_A_SEAT")
    return _Table(transport, view, game_token, heard=view.version)


def _farewell(table: _Table, address: str | None, *, with_token: bool) -> str:
    """What somebody who leaves a game that is not over has to know."""
    if address is None:
        return "The game ends here: only a server (--address) keeps games."
    words = ["bgserver", "play", "--address", address]
    if with_token:
        words += ["--token", "TOKEN"]
    # A token may begin with a minus sign.
    words += ["--game", table.view.game_id, f"--game-token={table.token}"]
    return f"The game goes on at {address}. To come back:\n{shlex.join(words)}"


class _Table:
    """A game in the terminal."""

    def __init__(
        self, transport: Transport, view: game_pb2.GameView, token: str, *, heard: int = 0
    ) -> None:
        """Sit down.

        Args:
            transport: How to reach the server.
            view: The game.
            token: The token of the player's seat.
            heard: Number of the last event that needs no telling.
        """
        self._transport = transport
        self._has_quit = False
        self.token = token
        """The token of the player's seat."""
        self.view = view
        """The game as it was last heard of."""
        self._heard = heard
        self._names = {
            common_pb2.SEAT_UNSPECIFIED: "",
            common_pb2.SEAT_FIRST: player_name(view.first),
            common_pb2.SEAT_SECOND: player_name(view.second),
        }

    @property
    def is_over(self) -> bool:
        """Whether nothing can happen any more."""
        return self.view.stage == game_pb2.GAME_STAGE_SESSION_OVER

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
            token=self.token,
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
            game_id=self.view.game_id, token=self.token, include_board=True
        )
        self.view = ask(self._transport, request, game_pb2.GetGameResponse).view
        _say("")
        _say(self.view.board)
        _say(headline(self.view, self._names))

    def _obey(self) -> bool:
        """Read a command and do it; whether the game has moved on."""
        possible = self._possible
        dice = ""
        if self.view.dice_left:
            dice = f"{'-'.join(map(str, self.view.dice_left))} left, "
        words = _read(f"({dice}{', '.join(possible)}) > ")
        if words is None:
            self._has_quit = True
            return True
        if not words:
            words = next((one for one in ENTER if one in possible), "help")
        try:
            return self._do(words)
        except StatusError as error:
            if error.code == grpc.StatusCode.ABORTED:
                # What was typed was for a position that is gone: it is not done to the next one.
                _say("Meanwhile somebody else has acted; nothing was done. The game now:")
                return True
            line = error_line(error.status)
            for violation in line["violations"]:
                _say(violation["description"])
            if not line["violations"]:
                _say(line["message"])
            return False

    @property
    def _possible(self) -> list[str]:
        """The words that act now."""
        return [word for word, kind in WORDS.items() if kind in self.view.legal.actions]

    @property
    def _understood(self) -> list[str]:
        """All that may be typed now: moves, words that act, and those that only ask, or leave."""
        steps = self.view.legal.steps
        moves = [f"a play or move such as {step_text(steps[0])}"] if steps else []
        idle = {
            word for word, is_there in (("hint", self.view.hints), ("moves", steps)) if not is_there
        }
        return moves + self._possible + [word for word in TALK if word not in idle]

    def _do(self, words: str) -> bool:
        if "/" in words:
            self._act(move_action(words, len(self.view.dice_left), self.view.legal.steps))
            return True
        first, _, rest = words.partition(" ")
        found = meant(first)
        if len(found) != 1:
            _say(unclear(first, found, self._understood))
            return False
        (word,) = found
        if word not in WORDS:
            return self._talk(word)
        if word == "resign" and not self._is_resigning(rest):
            return False
        self._act(word_action(word, rest))
        return True

    def _talk(self, word: str) -> bool:
        """Do what a word asks for that does not act; whether the game has moved on."""
        if word == "quit":
            self._has_quit = True
            return True
        if word == "board":
            self._show()
            # Somebody else may have acted with the same token.
            return not self._is_waited_for
        if word == "hint":
            self._hint()
        elif word == "moves":
            # Which die bears a checker off makes no difference that can be seen.
            shown = dict.fromkeys(step_text(step) for step in self.view.legal.steps)
            _say(", ".join(shown) or "none")
        else:
            _say(HELP)
        return False

    def _is_resigning(self, rest: str) -> bool:
        """Whether the player wants to lose the game, as nothing brings it back."""
        what = conceded(rest)
        if what is None:
            _say(f"expected resign single, gammon or backgammon, got {rest!r}")
            return False
        if "resign" not in self._possible:
            return True  # the server says why not
        answer = _read(f"resign {what}? (yes, no) > ")
        if answer in {"y", "yes"}:
            return True
        _say("Nothing is resigned.")
        return False

    def _act(self, action: game_pb2.GameAction) -> None:
        request = game_pb2.ActRequest(
            game_id=self.view.game_id,
            token=self.token,
            expected_version=self.view.version,
            action=action,
        )
        self.view = ask(self._transport, request, game_pb2.ActResponse).view

    def _hint(self) -> None:
        request = game_pb2.HintRequest(game_id=self.view.game_id, token=self.token)
        hint = ask(self._transport, request, game_pb2.HintResponse)
        # The plays begin with the moves made: of a complete turn the only one cannot be made again.
        is_complete = hint.action == game_pb2.ACTION_KIND_CONFIRM
        for ranked in [] if is_complete else hint.plays:
            _say(f"{ranked.equity:+.3f}  {ranked.play.notation}")
        if hint.HasField("cube"):
            _say(hint.cube.action_text)
        elif is_complete:
            _say("The turn is complete: done ends it.")
        elif not hint.plays:
            name = game_pb2.ActionKind.Name(hint.action).removeprefix("ACTION_KIND_")
            _say(name.lower().replace("_", " "))

    def exported(self, file: Path) -> str:
        """The game written down, in the form that the file's name asks for."""
        form = game_pb2.EXPORT_FORMAT_JSON
        if _is_match_text(file):
            form = game_pb2.EXPORT_FORMAT_MAT
        request = game_pb2.ExportGameRequest(
            game_id=self.view.game_id, token=self.token, format=form
        )
        return ask(self._transport, request, game_pb2.ExportGameResponse).text


def _read(prompt: str) -> str | None:
    """A line of the player's; None at the end of the input."""
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not sys.stdin.isatty():
        sys.stdout.write("\n")
    return " ".join(line.lower().split()) if line else None


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
