"""Records of matches: JSON and Jellyfish text, read by GNU Backgammon where it is installed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.engine.errors import InvalidInputError
from bgserver.engine.position import Resignation
from bgserver.games import actions as act
from bgserver.games import events as ev
from bgserver.games.mat import match_text
from bgserver.games.record import EntryKind, match_json, match_record
from bgserver.games.rules import RaccoonOwner
from bgserver.games.state import replay
from tests.games.desk import FIRST, SECOND, Desk, GivenDice
from tests.games.test_random_games import RandomTable

if TYPE_CHECKING:
    from pathlib import Path

_GNUBG = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")


def _short_match() -> Desk:
    """Two games: a beaver and a drop, then a resignation; the second one with an undone step."""
    desk = Desk(
        "money",
        [(6, 1), (3, 1)],
        beaver=True,
        raccoon=True,
        raccoon_owner=RaccoonOwner.BEAVERER,
        jacoby=False,
    )
    desk.play("13/7 8/7")
    desk.do(SECOND, act.Double())
    desk.do(FIRST, act.Beaver())
    desk.do(SECOND, act.PlayOn(), act.Roll())
    desk.play("8/5 6/5")
    desk.do(FIRST, act.Double())
    desk.do(SECOND, act.Drop())
    desk.dice = GivenDice([(2, 5)])
    desk.do(FIRST, act.NextGame())
    desk.do(SECOND, act.NextGame())
    desk.step(13, 8)
    desk.turn(act.Undo())
    desk.step(24, 22)
    desk.step(13, 8)
    desk.turn(act.Confirm())
    desk.do(FIRST, act.Resign(Resignation.GAMMON))
    desk.do(SECOND, act.AcceptResignation())
    return desk


_TEXT = """\
 0 point match

 Game 1
 Ann : 0                                Bob : 0
  1) 61: 13/7 8/7                        Doubles => 2
  2)  Beavers => 4                      31: 8/5 6/5
  3)  Doubles => 8                       Drops
      Wins 4 points

 Game 2
 Ann : 4                                Bob : 0
  1)                                    25: 24/22 13/8
                                        Wins 2 points

"""


def test_jellyfish_text() -> None:
    assert match_text(_short_match().log, ("Ann", "Bob")) == _TEXT


def test_a_match_given_up_and_an_unfinished_one() -> None:
    desk = Desk("joypip", [(6, 1)], match_length=3)
    desk.play("13/7 8/7")
    assert match_text(desk.log).splitlines()[-2:] == ["  1) 61: 13/7 8/7", ""]
    desk.do(FIRST, act.Resign())
    assert "Wins 3 points and the match" in match_text(desk.log)


def test_names_cannot_break_the_format() -> None:
    text = match_text(Desk("classic").log, ("Game 1\n : 7", ""))
    assert text.splitlines()[3].split() == ["Game", "1", "7", ":", "0", "Second", ":", "0"]


def test_hits_bars_bear_offs_and_forfeits() -> None:
    table = RandomTable("traditional", 0)
    table.play()
    text = match_text(table.log)
    for part in ("* ", "25/", "/0", ":\n"):
        assert part in text


def test_long_nardy_has_no_jellyfish_text() -> None:
    with pytest.raises(InvalidInputError) as caught:
        match_text(Desk("long_nardy").log)
    assert caught.value.faults[0].reason == "NOT_IN_LONG_NARDY"


def test_the_record_has_what_was_played_and_not_what_was_undone() -> None:
    record = match_record(_short_match().log)
    assert [game.score for game in record.games] == [(0, 0), (4, 0)]
    kinds = [entry.kind for entry in record.games[0].entries]
    assert kinds == [
        EntryKind.PLAY,
        EntryKind.DOUBLE,
        EntryKind.BEAVER,
        EntryKind.PLAY_ON,
        EntryKind.PLAY,
        EntryKind.DOUBLE,
        EntryKind.DROP,
    ]
    (play,) = record.games[1].entries
    assert [(step.source, step.target) for step in play.steps] == [(24, 22), (13, 8)]
    result = record.games[1].result
    assert result is not None
    assert (result.winner, result.points) == (SECOND, 2)


@pytest.mark.parametrize("name", ["joypip", "long_nardy", "money with b"])
def test_json_keeps_the_whole_log(name: str) -> None:
    table = RandomTable(name, 1)
    table.play()
    form = json.loads(json.dumps(match_json(table.log, ("Ann", "Bob"))))
    assert form["players"] == ["Ann", "Bob"]
    assert form["format"] == "bgserver-match/1"
    assert replay(ev.event_from_json(event) for event in form["events"]) == table.state
    plays = sum(entry["kind"] == "play" for game in form["games"] for entry in game["entries"])
    turns = [event for event in table.log if event.name in {"play_confirmed", "turn_forfeited"}]
    assert plays == len(turns)


# --- GNU Backgammon ------------------------------------------------------------------------------


def _words(text: str) -> list[Any]:
    """The text without what may differ: blanks, the order of steps and with it the place of a hit.

    GNU Backgammon does not say that a game ended the match.
    """
    text = text.replace("*", "").replace(" and the match", "")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(";")]
    found: list[Any] = []
    for line in lines:
        for part in re.split(r"(?=\b[1-6][1-6]:)|\s{2,}", line):
            dice = re.match(r"([1-6][1-6]): ?(.*)", part.strip())
            if dice:
                found.append((dice[1], sorted(dice[2].split())))
            elif part.strip():
                found.append(" ".join(part.split()))
    return found


@pytest.mark.skipif(_GNUBG is None, reason="GNU Backgammon is not installed")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["tournament", "joypip", "classic", "traditional"])
def test_gnu_backgammon_reads_the_same_match(name: str, seed: int, tmp_path: Path) -> None:
    """It imports our text and writes it again: the same rolls, plays, cubes and results."""
    assert _GNUBG is not None
    table = RandomTable(name, 100 + seed)
    table.play()
    text = match_text(table.log, ("Ann", "Bob"))
    (tmp_path / "ours.mat").write_text(text, encoding="ascii")
    commands = tmp_path / "commands"
    commands.write_text(
        f"import mat {tmp_path}/ours.mat\nexport match mat {tmp_path}/theirs.mat\n",
        encoding="ascii",
    )
    done = subprocess.run(
        [_GNUBG, "-t", "-q", "-r", "-c", str(commands)],
        input="",
        env={"HOME": str(tmp_path), "LANG": "C", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    theirs = tmp_path / "theirs.mat"
    assert theirs.exists(), done.stdout + done.stderr
    assert _words(theirs.read_text(encoding="ascii")) == _words(text)
