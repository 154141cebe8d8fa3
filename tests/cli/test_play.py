"""Playing in the terminal, and the commands about games that are held."""

from __future__ import annotations

import io
import json
import re
import shlex
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bgserver_client import Client, person, player

from bgserver.cli.app import run
from bgserver.cli.games import player_name
from bgserver.v1 import game_pb2
from tests.cli.conftest import CommandLine
from tests.serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bgserver_client.v1.common_pb2 import Player

_COMMANDS = CommandLine([])


def _lines(*words: str) -> str:
    return "".join(f"{word}\n" for word in words)


def test_a_person_plays(bgserver: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "game.mat"
    answer = bgserver(
        *("play", "--seed", "3", "--player", "beginner", "--name", "Anna", "--export", str(file)),
        stdin=_lines(
            "", "hint", "moves", "24/18", "13/7", "undo", "24/21 13/7", "resign", "yes", "end"
        ),
    )
    assert answer.code == 0, answer.err
    assert "Anna: 6-3" in answer.out
    assert "24/21* 13/7*" in answer.out
    assert "(3 left, undo, resign)" in answer.out
    assert "Anna offers to lose a single game" in answer.out
    assert "| X           O    |" in answer.out
    assert "The session is over" in answer.out
    assert "63: 13/7* 24/21*" in file.read_text()


def test_a_match_can_be_given_up_and_mistakes_are_told(
    bgserver: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "match.json"
    answer = bgserver(
        *("play", "--preset", "joypip", "--match-length", "3", "--seed", "3"),
        *("--export", str(file)),
        stdin=_lines("double me", "99/98", "help", "resign", "y"),
    )
    assert answer.code == 0, answer.err
    assert "expected a point 1 to 24" in answer.out
    assert "wins the match" in answer.out
    record = json.loads(file.read_text())
    assert record["dice"] == "seeded"


def test_words_that_mean_nothing_get_a_line(bgserver: CommandLine) -> None:
    answer = bgserver("play", "--seed", "3", stdin=_lines("resing", "xyzzy", "resign everything"))
    assert answer.code == 0, answer.err
    assert "no command 'resing'; nearest: resign; help tells them all" in answer.out
    assert (
        "no command 'xyzzy'; possible now: roll, double, resign, hint, board, help, quit; "
        in answer.out
    )
    # Nothing is given up by a word that nobody understands.
    assert "expected resign single, gammon or backgammon, got 'everything'" in answer.out
    assert "offers to lose" not in answer.out


def test_all_that_may_be_typed_is_named(bgserver: CommandLine) -> None:
    answer = bgserver("play", "--seed", "3", stdin=_lines("roll", "24/21", "xyzzy"))
    assert answer.code == 0, answer.err
    possible = "a play or move such as 24/18, undo, resign, hint, moves, board, help, quit"
    assert f"no command 'xyzzy'; possible now: {possible}; help tells them all" in answer.out


def test_a_complete_turn_has_no_dice_and_needs_no_play(bgserver: CommandLine) -> None:
    answer = bgserver("play", "--seed", "3", stdin=_lines("roll", "24/15", "hint", "xyzzy", "done"))
    assert answer.code == 0, answer.err
    prompt = "\n(undo, done, resign) > \n"
    assert f"{prompt}The turn is complete: done ends it.{prompt}" in answer.out
    assert "possible now: undo, done, resign, hint, board, help, quit" in answer.out
    assert "Player: 24/15\n" in answer.out


def test_the_beginning_of_a_word_never_gives_the_game_up(bgserver: CommandLine) -> None:
    # The second r comes too late to roll: it must not become the next best word.
    answer = bgserver(
        *("play", "--seed", "3", "--name", "Anna"),
        stdin=_lines("ro", "r", "rol", "res", "no", "resign g", "", "24/21 13/7", "q"),
    )
    assert answer.code == 0, answer.err
    assert "'r' may be roll, raccoon, refuse, resign; type more of the word" in answer.out
    assert "resign a single game? (yes, no) > " in answer.out
    assert "resign a gammon? (yes, no) > " in answer.out
    assert answer.out.count("Nothing is resigned.") == 2
    assert "offers to lose" not in answer.out
    assert "Anna: 24/21 13/7" in answer.out


def test_a_place_to_write_is_looked_at_before_the_game(
    bgserver: CommandLine, tmp_path: Path
) -> None:
    wrong = bgserver(
        *("play", "--seed", "3", "--fair", "--player", "nobody"),
        *("--export", str(tmp_path / "none" / "game.pdf")),
    )
    assert (wrong.code, wrong.out) == (2, "")
    lines = wrong.err.splitlines()
    assert lines[:3] == [
        "error: --fair: whoever knows the seed knows the dice; expected --seed or --fair, got both",
        "error: --export: expected a file ending with one of .mat, .json, got 'game.pdf'",
        f"error: --export: there is no folder {tmp_path / 'none'}",
    ]
    assert lines[3].startswith("error: --player: ")
    assert len(lines) == 4


def test_long_nardy_is_no_match_text(
    bgserver: CommandLine, tmp_path: Path, server_address: str
) -> None:
    file = tmp_path / "n.mat"
    fault = (
        "error: --export: match text (.mat) is for backgammon; expected, for Long Nardy, "
        "a .json file such as n.json\n"
    )
    new = bgserver("play", "--preset", "long_nardy", "--export", str(file), stdin="\n")
    assert (new.code, new.out, new.err) == (2, "", fault)
    with closing(Client(server_address)) as client:
        game = client.create_game("long_nardy", first=person("Anna"), second="normal")
    back = _COMMANDS(
        *("play", "--address", server_address, "--game", game.game_id, "--export", str(file)),
        f"--game-token={game.first_token}",
    )
    assert (back.code, back.out, back.err) == (2, "", fault)
    assert not file.exists()
    written = tmp_path / "n.json"
    as_json = bgserver("play", "--preset", "long_nardy", "--export", str(written), stdin="quit\n")
    assert as_json.code == 0, as_json.err
    assert json.loads(written.read_text(encoding="utf-8"))["events"]


def test_listed_moves_differ_and_can_be_typed(bgserver: CommandLine) -> None:
    def told(*words: str) -> str:
        answer = bgserver(
            *("play", "--name", "Anna", "--player", "normal", "--seed", "1"),
            stdin=_lines("24/18 18/13", "roll", *words),
        )
        assert answer.code == 0, answer.err
        return answer.out

    # What is hit on the way is shown as in the notation of plays; the other way hits once.
    assert "13/6, 8/5*, 8/4, 8/1*, 8/5*/1*, 6/3, 6/2\n" in told("moves")
    assert "Anna: 8/5*/1*\n" in told("8/5*/1*")
    assert "Anna: 8/1*\n" in told("8/1*", "done")
    # The last move of a turn is no whole play either.
    assert "Anna: 24/20 8/5*\n" in told("8/5*", "24/20")
    assert "it could be" in told("8/1")


def test_who_leaves_has_left(bgserver: CommandLine) -> None:
    assert bgserver("play", "--seed", "3", stdin="quit\n").code == 0
    assert bgserver("play", "--seed", "3", stdin="").code == 0


def test_faults_name_the_options(bgserver: CommandLine) -> None:
    wrong = bgserver("play", "--preset", "joypip", "--player", "expert", stdin="")
    assert wrong.code == 2
    assert wrong.err == (
        "error: --match-length: say to how many points the match goes: 1, 3, 5, 7\n"
    )
    wrong = bgserver("play", "--preset", "chess", "--name", "x" * 50, stdin="")
    fields = [line.removeprefix("error: ").partition(": ")[0] for line in wrong.err.splitlines()]
    assert set(fields) <= {"--preset", "--name"}


def test_a_game_that_is_kept_goes_on(server_address: str) -> None:
    remote = CommandLine(["--address", server_address])
    left = remote("play", "--seed", "3", "--name", "Anna", stdin=_lines("", "24/21", "quit"))
    assert left.code == 0, left.err
    *_, told, command = left.out.splitlines()
    assert told == f"The game goes on at {server_address}. To come back:"
    program, *arguments = shlex.split(command)
    assert program == "bgserver"
    back = _COMMANDS(*arguments, stdin=_lines("undo", "24/21 13/7", "resi g", "yes", "end"))
    assert back.code == 0, back.err
    assert "Opening" not in back.out
    assert "(6 left, undo, resign)" in back.out
    assert "Anna: 24/21 13/7" in back.out
    assert "To come back" not in back.out
    # All is over: there is nothing to go on with, and nothing to be asked.
    assert _COMMANDS(*arguments, stdin="").code == 0


class _Typing:
    """Lines that are typed one after the other, with something done before the first."""

    def __init__(self, before: Callable[[], object], *words: str) -> None:
        self._typed = io.StringIO(_lines(*words))
        self._before = before

    def isatty(self) -> bool:
        return False

    def readline(self) -> str:
        if self._typed.tell() == 0:
            self._before()
        return self._typed.readline()


def test_a_lost_race_is_told_and_the_game_goes_on(
    server_address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(Client(server_address)) as client:
        game = client.create_game("classic", first=person("Anna"), second="normal", seed=3)

        def act_elsewhere() -> None:
            view = client.get_game(game.game_id, game.first_token).view
            client.act(game.game_id, game.first_token, view.version, "roll")

        typed = _Typing(act_elsewhere, "double", "24/21 13/7", "quit")
        monkeypatch.setattr("sys.stdin", typed)
        token = f"--game-token={game.first_token}"
        with pytest.raises(SystemExit) as ended:
            run(["play", "--address", server_address, "--game", game.game_id, token])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert "Meanwhile somebody else has acted; nothing was done. The game now:" in out
    assert "expected version" not in out
    assert "Anna: 6-3" in out
    assert "Anna: 24/21 13/7" in out


def test_a_game_without_a_server_is_not_kept() -> None:
    left = _COMMANDS("play", "--seed", "3", stdin="quit\n")
    assert "only a server (--address) keeps games" in left.out


def test_what_does_not_go_with_going_on(server_address: str) -> None:
    wrong = _COMMANDS("play", "--game", "abc", "--preset", "money", "--seed", "4")
    assert wrong.code == 2
    fields = [line.removeprefix("error: ").partition(": ")[0] for line in wrong.err.splitlines()]
    assert fields == ["--game-token", "--address", "--preset", "--seed"]
    remote = CommandLine(["--address", server_address])
    assert "no such game" in remote("play", "--game", "abc", "--game-token", "def").err
    with closing(Client(server_address)) as client:
        game = client.create_game("classic", second="normal")
        watching = remote("play", "--game", game.game_id, "--game-token", game.spectator_token)
    assert watching.err == (
        "error: --game-token: this token lets you watch; expected the token of a seat\n"
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Any]]:
    """A file with some games, the address of the server on it, and a game of fair dice."""
    path = str(tmp_path_factory.mktemp("data") / "games.db")
    with serving("--data", path) as address, closing(Client(address)) as client:
        client.create_game("classic", second="open", listed=True)
        match = client.create_game(
            "joypip", match_length=1, first="beginner", second="normal", fair_dice=True
        )
        for _ in client.watch(match.game_id, match.spectator_token):
            pass
        client.create_game("long_nardy", first=person("Anna"), second=person("Ben"))
        yield path, address, match


def test_lists(data: tuple[str, str, Any]) -> None:
    path, address, match = data
    answer = _COMMANDS("games", "list", "--data", path)
    assert answer.code == 0, answer.err
    assert [line.split()[1] for line in answer.out.splitlines()[2:]] == [
        "long_nardy",
        "joypip",
        "classic",
    ]
    assert "bgserver beginner" in answer.out
    over = _COMMANDS("games", "list", "--data", path, "--filter", "over", "--json")
    assert [game["gameId"] for game in over.json["games"]] == [match.game_id]
    listed = _COMMANDS("games", "list", "--address", address, "--json")
    assert len(listed.json["games"]) == 1
    missing = _COMMANDS("games", "list", "--data", f"{path}.none")
    assert missing.code == 2
    assert "there is no file" in missing.err


@pytest.mark.parametrize(
    ("dice", "words", "message"),
    [
        ("--fair", [], "there is no finished game to check: a seed is published when"),
        ("--seed=3", ["resign", "yes", "end"], "these dice were seeded: they promised nothing"),
        ("--name=Anna", [], "these dice were rolled at random: they promised nothing"),
    ],
)
def test_dice_without_anything_to_check(
    tmp_path: Path, dice: str, words: list[str], message: str, server_address: str
) -> None:
    file = tmp_path / "game.json"
    remote = CommandLine(["--address", server_address])
    played = remote("play", dice, "--export", str(file), stdin=_lines(*words))
    assert played.code == 0, played.err
    checked = _COMMANDS("games", "verify", str(file))
    assert (checked.code, checked.out) == (2, "")
    assert checked.err.startswith(f"{file}: {message}")


@pytest.mark.parametrize(
    ("bot", "name"),
    [
        (player("static", 60), "bgserver normal"),
        (player("static", 45), "bgserver 45"),
        (player("static"), "bgserver expert"),
        (player("lookahead_1", "beginner"), "bgserver lookahead_1 beginner"),
    ],
)
def test_a_bot_has_one_name_everywhere(data: tuple[str, str, Any], bot: Player, name: str) -> None:
    path, address, _ = data
    with closing(Client(address)) as client:
        game = client.create_game("classic", first=person("Anna"), second=bot)
    seat = game_pb2.SeatInfo.FromString(game.view.second.SerializeToString())
    assert player_name(seat) == name  # in lists, and where one plays
    text = _COMMANDS("games", "export", game.game_id, "--data", path).out
    assert f" {name} : 0\n" in text


def test_lists_say_where_other_games_are(
    data: tuple[str, str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, address, match = data
    for variable in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(tmp_path))
    folder = tmp_path / "bgserver"
    folder.mkdir()
    other = folder / "games-50052.db"
    other.write_bytes(Path(path).read_bytes())
    answer = _COMMANDS("games", "list", "--data", path)
    assert f"games of {path}\nother files of games (--data): {other}\n" in answer.err
    empty = _COMMANDS("games", "list", "--data", path, "--filter", "running", "--preset", "money")
    assert empty.out == ""
    assert empty.err.splitlines()[0] == f"no such game in {path}"
    assert str(other) in empty.err
    missing = _COMMANDS("games", "list")
    assert missing.code == 2
    assert str(other) in missing.err
    assert str(other) in _COMMANDS("games", "export", "nothing", "--data", path).err
    listed = _COMMANDS("games", "list", "--address", address)
    assert "created as `listed`, and no others" in listed.err
    none = _COMMANDS("games", "list", "--address", address, "--filter", "over")
    assert none.err.startswith(f"no such game listed by {address}\n")
    wrong = _COMMANDS("games", "list", "--data", path, "--preset", "chess")
    assert wrong.err.startswith("error: --preset: expected one of classic, ")
    idle = ("--game-token", "x", "--token", "y", "--timeout", "3")
    refused = _COMMANDS("games", "export", match.game_id, "--data", path, *idle)
    assert [line.split(": ")[1] for line in refused.err.splitlines()] == list(idle[::2])
    # A file that is named goes before a server that the environment names.
    monkeypatch.setenv("BGSERVER_ADDRESS", address)
    assert match.game_id in _COMMANDS("games", "list", "--data", path).out
    both = _COMMANDS("games", "list", "--data", path, "--address", address)
    assert both.err == "error: --data: expected a file or a server (--address), got both\n"


def test_exports_and_fair_dice(data: tuple[str, str, Any], tmp_path: Path) -> None:
    path, address, match = data
    is_folder = _COMMANDS("games", "list", "--data", str(tmp_path))
    assert (is_folder.code, is_folder.out) == (2, "")
    assert f"error: --data: {tmp_path} is a folder, expected a file of games" in is_folder.err
    text = _COMMANDS("games", "export", match.game_id, "--data", path)
    assert text.out.startswith(" 1 point match")
    assert re.search("^ bgserver beginner : 0 +bgserver normal : 0$", text.out, re.MULTILINE)
    remote = _COMMANDS(
        *("games", "export", match.game_id, "--address", address),
        *("--game-token", match.spectator_token),
    )
    assert remote.out == text.out
    file = tmp_path / "match.json"
    done = _COMMANDS(
        *("games", "export", match.game_id, "--data", path, "--format", "json"),
        *("--output", str(file)),
    )
    assert (done.code, done.out) == (0, "")
    by_name = tmp_path / "by_name.JSON"
    _COMMANDS("games", "export", match.game_id, "--data", path, "--output", str(by_name))
    assert by_name.read_text(encoding="utf-8") == file.read_text(encoding="utf-8")
    checked = _COMMANDS("games", "verify", str(file))
    assert checked.code == 0
    assert "every roll as promised" in checked.out
    record = json.loads(file.read_text())
    assert record["players"] == ["bgserver beginner", "bgserver normal"]  # as in match text
    rolled = next(event for event in record["events"] if event["event"] == "opening_rolled")
    rolled["first"] = rolled["first"] % 6 + 1
    file.write_text(json.dumps(record))
    assert _COMMANDS("games", "verify", str(file)).code == 1
    assert _COMMANDS("games", "export", "nothing", "--data", path).code == 2
    how = "games are exported for this check with: bgserver games export ID --format json -o FILE"
    by_id = _COMMANDS("games", "verify", match.game_id)
    assert (by_id.code, by_id.out) == (2, "")
    assert by_id.err == f"{match.game_id}: there is no such file; {how}\n"
    file.write_text(text.out, encoding="utf-8")
    other_form = _COMMANDS("games", "verify", str(file))
    assert other_form.code == 2
    assert other_form.err.endswith(f"it is not JSON, or damaged; {how}\n")
    nowhere = _COMMANDS("games", "export", match.game_id, "--data", path, "-o", "/none/game.mat")
    assert nowhere.err == "error: --output: there is no folder /none\n"
    for name in ("game.txt", "game"):
        unknown = tmp_path / name
        export = ("games", "export", match.game_id, "--data", path, "-o", str(unknown))
        refused = _COMMANDS(*export)
        assert (refused.code, unknown.exists()) == (2, False)
        assert refused.err.startswith("error: --output: expected a file ending with one of .json, ")
        assert "--format" in refused.err
        assert _COMMANDS(*export, "--format", "mat").code == 0
        assert unknown.read_text(encoding="utf-8") == text.out


def test_an_export_of_long_nardy_says_what_to_type(
    data: tuple[str, str, Any], tmp_path: Path
) -> None:
    path, address, _ = data
    with closing(Client(address)) as client:
        game = client.create_game("long_nardy", first=person("Anna"), second=person("Ben"))
    places = (("--data", path), ("--address", address, f"--game-token={game.first_token}"))
    for place in places:
        command = ("games", "export", game.game_id, *place)
        refused = _COMMANDS(*command)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err == (
            "error: --format: match text is for backgammon; "
            "for Long Nardy: --format json, or -o FILE.json\n"
        )
        assert json.loads(_COMMANDS(*command, "--format", "json").out)["events"]
        file = tmp_path / "n.json"
        assert _COMMANDS(*command, "-o", str(file)).code == 0
        assert json.loads(file.read_text(encoding="utf-8"))["game_id"] == game.game_id
