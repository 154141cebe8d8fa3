"""Writes `gnubg.json` with GNU Backgammon itself; run by it, not by Python.

    gnubg -t -q -p tests/data/formats/make_gnubg_fixtures.py < /dev/null

Made with GNU Backgammon 1.07.001. Every ID in the file is GNU Backgammon's own output:

- `games`: states that it reached by its own commands from an XGID that it had read;
- `encoded`: random boards and match states that its `positionid` and `matchid` encoded.
"""

import json
import pathlib
import random

import gnubg

TARGET = pathlib.Path("tests/data/formats/gnubg.json")
BOARD = "-a-B--D-CB--dD---d-c---b--"
START = "-b----E-C---eE---c-e----B-"
SETTINGS = (
    "set player 0 human",
    "set player 1 human",
    "set automatic roll off",
    "set automatic game off",
    "set automatic move off",
    "set automatic bearoff off",
    "set confirm new off",
    "set automatic doubles 0",
    "set beavers 3",
)
GAMES = (
    (START + ":0:0:1:00:0:0:0:0:10", ()),
    (START + ":0:0:1:00:0:0:1:0:10", ()),
    (START + ":0:0:-1:00:0:0:0:7:10", ()),
    (BOARD + ":0:0:1:31:0:0:0:0:10", ()),
    (BOARD + ":0:0:-1:66:0:0:0:5:10", ()),
    (BOARD + ":2:1:1:00:3:4:0:11:10", ()),
    (BOARD + ":2:-1:1:00:3:4:0:11:10", ()),
    (BOARD + ":2:1:-1:52:3:4:0:11:10", ()),
    (BOARD + ":2:-1:-1:00:3:4:0:11:10", ()),
    (BOARD + ":0:0:1:00:6:2:1:7:10", ()),
    (BOARD + ":0:0:-1:00:6:2:1:7:10", ()),
    (BOARD + ":0:0:1:00:2:6:0:7:10", ()),
    (BOARD + ":3:0:1:00:0:0:0:0:10", ()),
    ("aa-B--D-CB--cC---c-d---b-A:0:0:1:00:0:0:0:0:10", ()),
    ("aCBA------------------bc--:1:-1:-1:00:5:0:0:0:10", ()),
    ("a--------------A----------:0:0:1:21:0:0:0:1:10", ()),
    (BOARD + ":0:0:1:00:0:0:0:7:10", ("double",)),
    (BOARD + ":0:0:-1:00:0:0:0:0:10", ("double",)),
    (BOARD + ":1:1:1:00:2:3:0:9:10", ("double",)),
    (BOARD + ":0:0:1:00:0:0:0:7:10", ("double", "take")),
    (BOARD + ":0:0:1:00:0:0:0:7:10", ("double", "drop")),
    (BOARD + ":0:0:1:00:0:0:2:0:10", ("double", "redouble")),
    (BOARD + ":0:0:1:00:0:0:2:0:10", ("double", "redouble", "redouble")),
    (BOARD + ":1:1:1:00:0:0:3:0:10", ("double", "redouble")),
    (BOARD + ":1:1:1:00:0:0:3:0:10", ("double", "redouble", "redouble")),
    (BOARD + ":0:0:1:00:0:0:2:0:10", ("double", "redouble", "drop")),
    (BOARD + ":0:0:1:00:0:0:2:0:10", ("double", "redouble", "take")),
    (BOARD + ":0:0:1:00:0:0:0:7:10", ("resign normal",)),
    (BOARD + ":0:0:1:00:0:0:1:0:10", ("resign gammon",)),
    (BOARD + ":0:0:-1:00:0:0:0:7:10", ("resign backgammon",)),
    (BOARD + ":0:0:1:63:0:0:0:7:10", ("resign gammon",)),
    (BOARD + ":0:0:1:00:0:0:0:7:10", ("double", "resign normal")),
    (BOARD + ":0:0:1:00:0:0:0:7:10", ("resign gammon", "accept")),
    (BOARD + ":0:0:1:00:0:0:0:7:10", ("resign gammon", "reject")),
    ("-A----------------------a-:0:0:1:11:0:0:0:3:10", ("move 1/off",)),
    ("-A----------------------a-:2:1:1:11:0:0:0:3:10", ("move 1/off",)),
)
ENCODED = 200


def played(xgid, commands):
    for command in ("set xgid XGID=" + xgid, "set beavers 3", *commands):
        gnubg.command(command)
    position_id, match_id = gnubg.gnubgid().split(":")
    entry = {
        "xgid": xgid,
        "commands": list(commands),
        "position_id": position_id,
        "match_id": match_id,
    }
    if "move" in "".join(commands):
        return entry  # its cubeinfo() fails once a match is over
    entry.update(fields(gnubg.board(), gnubg.cubeinfo(), gnubg.posinfo()))
    if entry["match_length"] == 0:
        del entry["score"]  # its cubeinfo() does not tell the score of a session
    return entry


def fields(board, cube, position):
    """What GNU Backgammon says about the state; boards are (opponent, player on roll)."""
    return {
        "board": [list(side) for side in board],
        "cube": cube["cube"],
        "cube_owner": cube["cubeowner"],
        "on_roll": cube["move"],
        "turn": position["turn"],
        "match_length": cube["matchto"],
        "score": list(cube["score"]),
        "crawford": cube["crawford"],
        "jacoby": cube["jacoby"],
        "dice": list(position["dice"]),
        "doubled": position["doubled"],
        "resigned": position["resigned"],
        "game_state": position["gamestate"],
    }


def random_board(rng):
    owner = [rng.randrange(2) for _ in range(24)]
    sides = [[0] * 25, [0] * 25]
    for side in range(2):
        free = [point for point in range(24) if owner[point] == side] or [0]
        for _ in range(rng.choice((15, 15, 15, 12, 7, 2, 1))):
            place = 24 if rng.random() < 0.05 else rng.choice(free)
            sides[side][23 - place if side and place < 24 else place] += 1
    if not any(owner) or all(owner):
        return random_board(rng)
    return tuple(tuple(side) for side in sides)


def encoded(rng, cube, position):
    length = rng.choice((0, 0, 1, 3, 7, 25, 64))
    cube = dict(cube, matchto=length, jacoby=0, crawford=0)
    cube["move"] = rng.randrange(2)
    cube["score"] = tuple(rng.randrange(length or 100) for _ in range(2))
    cube["cubeowner"] = -1 if length == 1 else rng.choice((-1, 0, 1))
    cube["cube"] = 1 if cube["cubeowner"] < 0 else 2 ** rng.randrange(1, 6)
    if length == 0:
        cube["jacoby"] = rng.randrange(2)
    one_away = [score == length - 1 for score in cube["score"]]
    if length > 1 and one_away[0] != one_away[1] and rng.random() < 0.7:
        cube.update(crawford=1, cube=1, cubeowner=-1)
    may_double = not cube["crawford"] and length != 1 and cube["cubeowner"] != 1 - cube["move"]
    kind = rng.choice(("roll", "dice", "dice", "double", "resign"))
    position = dict(position, turn=cube["move"], doubled=0, resigned=0, gamestate=1, dice=(0, 0))
    if kind == "dice":
        position["dice"] = (rng.randint(1, 6), rng.randint(1, 6))
    elif kind == "double" and may_double:
        position.update(doubled=1, turn=1 - cube["move"])
    elif kind == "resign":
        position.update(resigned=rng.randint(1, 3), turn=rng.randrange(2))
    board = random_board(rng)
    return {
        "position_id": gnubg.positionid(board),
        "match_id": gnubg.matchid(cube, position),
        **fields(board, cube, position),
    }


for setting in SETTINGS:
    gnubg.command(setting)
games = [played(xgid, commands) for xgid, commands in GAMES]
gnubg.command("new session")
rng = random.Random(20261130)
randoms = [encoded(rng, gnubg.cubeinfo(), gnubg.posinfo()) for _ in range(ENCODED)]
lines = ["{"]
for name, entries, end in (("games", games, ","), ("encoded", randoms, "")):
    lines.append(f' "{name}": [')
    lines.append(",\n".join("  " + json.dumps(entry, separators=(",", ":")) for entry in entries))
    lines.append(f" ]{end}")
lines.append("}")
TARGET.write_text("\n".join(lines) + "\n", encoding="ascii")
