"""Lines of a batch: every form of a question, and what is wrong with one that cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bgserver.cli.batch_lines import (
    LinesChunk,
    LineSettings,
    UnreadableLineError,
    figure_of,
    line_seconds,
    read_line,
)
from bgserver.engine.evaluator import Engine
from bgserver.engine.work import run
from bgserver.v1 import common_pb2, engine_pb2, rollout_pb2

_START = [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0]
_XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"
_ROLLED = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
_STATIC = LineSettings()


def _read(line: object, settings: LineSettings = _STATIC) -> engine_pb2.AnalyzeBatchRequest:
    text = line if isinstance(line, str) else json.dumps(line)
    return read_line(f"{text}\n".encode(), settings)


@pytest.mark.parametrize(
    "line",
    [
        "start",
        '"start"',
        _XGID,
        _XGID.removeprefix("XGID="),
        "4HPwATDgc/ABMA",
        " ".join(map(str, _START)),
        {"xgid": _XGID},
        {"position": "start"},
        {"position": _START},
        {"position": {"points": _START}},
        {"gnu_id": "4HPwATDgc/ABMA"},
        {"gnu_id": {"positionId": "4HPwATDgc/ABMA"}},
        {"state": {"position": {"points": _START}}},
        {"evaluate": {"position": {"xgid": _XGID}}},
    ],
    ids=str,
)
def test_every_form_of_a_position(line: object, engine: Engine) -> None:
    """All of them are the start position."""
    chunk = LinesChunk(((1, json.dumps(line).encode()),), _STATIC)
    if isinstance(line, str):
        chunk = LinesChunk(((1, line.encode()),), _STATIC)
    answer = json.loads(run(chunk.work(engine)).lines)
    expected = json.loads(run(LinesChunk(((1, b"start"),), _STATIC).work(engine)).lines)
    assert answer["evaluate"]["probabilities"] == expected["evaluate"]["probabilities"]
    assert answer["evaluate"]["positionClass"] == "contact"


@pytest.mark.parametrize("dice", [[3, 1], "31", "3-1", {"first": 3, "second": 1}], ids=str)
def test_every_form_of_a_roll(dice: object) -> None:
    request = _read({"position": "start", "dice": dice})
    assert request.rank_plays.dice == common_pb2.Dice(first=3, second=1)
    assert request.rank_plays.max_plays == 5


def test_long_nardy() -> None:
    board = [0] * 12 + [-15] + [0] * 11 + [15, 0]
    line = {"position": board, "variant": "long_nardy", "dice": "66", "first_turn": True}
    request = _read(line).rank_plays
    assert request.first_turn
    assert request.position == _read({"position": "nardy-start"}).evaluate.position


@pytest.mark.parametrize(
    ("line", "settings", "kind"),
    [
        (_XGID, {}, "evaluate"),
        (_ROLLED, {}, "rank_plays"),
        (_XGID, {"kind": "cube"}, "advise_cube"),
        (_ROLLED, {"kind": "evaluate"}, "evaluate"),
        ({"xgid": _ROLLED, "kind": "cube"}, {"kind": "plays"}, "advise_cube"),
        ({"state": {"dice": {"first": 1, "second": 2}}}, {}, "rank_plays"),
    ],
)
def test_what_is_asked(line: object, settings: dict[str, Any], kind: str) -> None:
    assert _read(line, LineSettings(**settings)).WhichOneof("question") == kind


def test_lines_go_before_settings() -> None:
    deep = LineSettings(level="lookahead_2", max_plays=3, cubeless=True)
    request = _read(_ROLLED, deep).rank_plays
    assert request.limit.level == common_pb2.LEVEL_LOOKAHEAD_2
    assert (request.max_plays, request.cubeless) == (3, True)
    own = {"xgid": _ROLLED, "level": "static", "max_plays": 0, "cubeless": False}
    request = _read(own, deep).rank_plays
    assert request.limit.level == common_pb2.LEVEL_STATIC
    assert (request.max_plays, request.cubeless) == (0, False)
    timed = {"xgid": _ROLLED, "time_ms": 20}
    assert _read(timed, deep).rank_plays.limit.milliseconds == 20
    assert _read(_ROLLED, LineSettings(time_ms=30)).rank_plays.limit.milliseconds == 30
    given = {"id": "a", "rankPlays": {"limit": {"level": "LEVEL_STATIC"}, "maxPlays": 2}}
    protobuf = _read(given, deep)
    assert protobuf.rank_plays.limit.level == common_pb2.LEVEL_STATIC
    assert (protobuf.id, protobuf.rank_plays.max_plays) == ("a", 2)


def test_rollouts() -> None:
    settings = LineSettings(
        rollout=True, trials=72, standard_error=0.1, truncate=5, seed=9, level="lookahead_1",
        cubeless=True, max_plays=2,
    )  # fmt: skip
    request = _read(_ROLLED, settings).rollout
    assert request.kind == rollout_pb2.ROLLOUT_KIND_PLAYS
    assert (request.trials, request.seed, request.truncate_plies) == (72, 9, 5)
    assert request.standard_error == 0.1
    assert request.levels.checker == request.levels.cube == common_pb2.LEVEL_LOOKAHEAD_1
    assert request.HasField("cubeful")
    assert not request.cubeful
    assert request.max_plays == 2
    assert not _read(_XGID, settings).rollout.HasField("dice")
    cube = _read({"xgid": _XGID, "kind": "cube", "level": "static"}, settings).rollout
    assert cube.kind == rollout_pb2.ROLLOUT_KIND_CUBE
    assert cube.levels.checker == common_pb2.LEVEL_STATIC
    own = {"xgid": _ROLLED, "rollout": {"trials": 36, "plays": ["8/5 6/5"], "seed": 4}}
    request = _read(own).rollout
    assert (request.trials, request.seed, list(request.plays)) == (36, 4, ["8/5 6/5"])
    assert _read({"position": "start", "rollout": False}, settings).HasField("evaluate")
    assert _read({"position": "start", "rollout": True}).rollout.seed == 1
    whole = {"id": "r", "rollout": {"position": {"xgid": _XGID}, "kind": "ROLLOUT_KIND_CUBE"}}
    assert _read(whole, settings).rollout.trials == 72


@pytest.mark.parametrize("number", ["7" * 5_000, f'"{"7" * 5_000}-1"'], ids=["number", "text"])
def test_numbers_beyond_all_measure_get_words_of_our_own(number: str) -> None:
    with pytest.raises(UnreadableLineError) as caught:
        _read(f'{{"position": "start", "dice": {number}}}')
    (fault,) = caught.value.faults
    assert "too many digits" in fault.message or fault.message.startswith("expected a roll")
    assert "int_max" not in fault.message
    assert len(fault.message) < 200


@pytest.mark.parametrize(("given", "read"), [("a", "a"), (17, "17"), ("", "")])
def test_ids(given: object, read: str) -> None:
    assert _read({"id": given, "position": "start"}).id == read


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("nonsense", [("position", "NOT_A_POSITION")]),
        ('{"position": "start"', [("", "MALFORMED_JSON")]),
        ("[" * 100_000, [("", "MALFORMED_JSON")]),
        ("[1, 2]", [("", "NOT_A_QUESTION")]),
        ({}, [("position", "POSITION_REQUIRED")]),
        ({"xgid": _XGID, "position": "start"}, [("position", "POSITION_REQUIRED")]),
        ({"xgid": 7}, [("position.xgid", "NOT_A_POSITION")]),
        ({"position": ["a"]}, [("position.position", "NOT_A_POSITION")]),
        ({"position": [2**40]}, [("position.position", "NOT_A_POSITION")]),
        ({"position": {"dots": []}}, [("position.position", "NOT_A_POSITION")]),
        ({"position": None}, [("position.position", "NOT_A_POSITION")]),
        ({"evaluate": {"nothing": 1}}, [("", "MALFORMED_JSON")]),
        (
            {
                "position": "start", "dice": [1, 2, 3], "kind": "guess", "level": "deep",
                "id": [], "colour": "red",
            },
            [
                ("colour", "UNKNOWN_FIELD"), ("dice", "NOT_A_ROLL"), ("kind", "UNKNOWN_VALUE"),
                ("level", "UNKNOWN_LEVEL"), ("id", "NOT_AN_ID"),
            ],
        ),
        (
            {
                "position": "start", "dice": "31", "level": "static", "time_ms": 3,
                "max_plays": -1, "cubeless": "no", "first_turn": 1,
            },
            [
                ("limit", "LIMIT_AMBIGUOUS"), ("max_plays", "OUT_OF_RANGE"),
                ("cubeless", "NOT_A_FLAG"), ("first_turn", "NOT_A_FLAG"),
            ],
        ),
        ({"position": "start", "dice": 31}, [("dice", "NOT_A_ROLL")]),
        ({"position": "start", "dice": [3, -1]}, [("dice", "NOT_A_ROLL")]),
        ({"position": _START, "variant": "chess"}, [("variant", "UNKNOWN_VALUE")]),
        ({"position": "start", "variant": "long_nardy"}, [("variant", "CONTRADICTS_POSITION")]),
        ({"xgid": _XGID, "variant": "chess"}, [("variant", "UNKNOWN_VALUE")]),
        ({"xgid": _XGID, "variant": "long_nardy"}, [("variant", "CONTRADICTS_POSITION")]),
        (
            {"position": "nardy-start", "variant": "backgammon"},
            [("variant", "CONTRADICTS_POSITION")],
        ),
        # What only the engine knows about a position is named with the rest.
        (
            {"xgid": "XGID=non:sense", "level": "deep"},
            [
                ("level", "UNKNOWN_LEVEL"), ("position.xgid", "FIELD_COUNT"),
                ("position.xgid.position", "WRONG_LENGTH"),
                ("position.xgid.cube_value", "NOT_A_NUMBER"),
            ],
        ),
        (
            {"position": [16, *_START[1:]], "kind": "plays", "max_plays": -1},
            [
                ("max_plays", "OUT_OF_RANGE"), ("position.position.points[0]", "BAR_SIGN"),
                ("position.position.points", "TOO_MANY_OWN_CHECKERS"),
            ],
        ),
        (
            {"position": "start", "kind": "plays", "level": "deep", "rollout": True},
            [("level", "UNKNOWN_LEVEL"), ("dice", "DICE_REQUIRED")],
        ),
        (
            {"position": "start", "level": "deep", "rollout": {"trials": 10, "minTrials": 20}},
            [
                ("level", "UNKNOWN_LEVEL"), ("min_trials", "MIN_ABOVE_MAX"),
                ("min_trials", "NOTHING_TO_DELAY"),
            ],
        ),
        (
            {"position": "nardy-start", "kind": "cube", "level": "deep"},
            [("level", "UNKNOWN_LEVEL"), ("position.position.variant", "NO_CUBE_IN_LONG_NARDY")],
        ),
        ({"position": "start", "time_ms": 1.5}, [("time_ms", "OUT_OF_RANGE")]),
        ({"position": "start", "rollout": 5}, [("rollout", "NOT_A_ROLLOUT")]),
        ({"position": "start", "rollout": {"x": 5}}, [("rollout", "NOT_A_ROLLOUT")]),
        (
            {"position": "start", "rollout": True, "time_ms": 5},
            [("time_ms", "ONLY_WITHOUT_ROLLOUT")],
        ),
    ],
    ids=lambda case: str(case)[:40],
)  # fmt: skip
def test_all_that_is_wrong_with_a_line_is_named(
    line: object, faults: list[tuple[str, str]]
) -> None:
    with pytest.raises(UnreadableLineError) as caught:
        _read(line)
    assert [(fault.field, fault.reason) for fault in caught.value.faults] == faults


@pytest.mark.parametrize("depth", [50, 300, 700, 900, 950, 980, 100_000])
@pytest.mark.parametrize(
    "form",
    [
        "{}", '{{"position": {}}}', '{{"position": "start", "rollout": {}}}',
        '{{"position": "start", "dice": {}, "kind": {}, "level": {}, "id": {}}}',
        '{{"evaluate": {{"position": {}}}}}', '{{"state": {}}}',
    ],
    ids=lambda form: form[:30],
)  # fmt: skip
def test_deep_nesting_is_told_in_words(form: str, depth: int) -> None:
    for opening, closing in (("[", "]"), ('{"state":', "}")):
        nested = f"{opening * depth}1{closing * depth}"
        with pytest.raises(UnreadableLineError) as caught:
            _read(form.format(*[nested] * 4))
        for fault in caught.value.faults:
            assert "recursion" not in fault.message
            assert len(fault.message) < 500


def test_levels_that_roll_out() -> None:
    settings = LineSettings(level="rollout_fast@1")
    assert _read("start", settings).evaluate.limit.preset == "rollout_fast@1"
    own = {"xgid": _ROLLED, "level": "rollout_deep"}
    assert _read(own, settings).rank_plays.limit.preset == "rollout_deep"
    # A line that asks for a rollout of its own says how that is played.
    assert not _read({"xgid": _XGID, "rollout": True}, settings).rollout.HasField("levels")
    with pytest.raises(UnreadableLineError) as caught:
        _read({"xgid": _XGID, "rollout": True, "level": "rollout_fast"})
    assert [fault.reason for fault in caught.value.faults] == ["ROLLOUT_IN_ROLLOUT"]
    assert line_seconds(b"start", settings) > line_seconds(b"start", LineSettings())


def test_a_level_that_does_not_judge_is_not_offered() -> None:
    words = r"static.*lookahead_3, rollout_fast, rollout_medium, rollout_deep, got 'random'"
    with pytest.raises(UnreadableLineError, match=words) as caught:
        _read({"position": "start", "level": "random"})
    assert [fault.reason for fault in caught.value.faults] == ["UNKNOWN_LEVEL"]


def test_a_line_that_is_no_text() -> None:
    with pytest.raises(UnreadableLineError, match="byte 1"):
        read_line(b"a\xff\n", _STATIC)


def test_a_faulty_line_keeps_its_id_among_good_ones(engine: Engine) -> None:
    lines = (
        (3, b"start"),
        (5, b'{"id": "bad", "position": "start", "dice": "99x"}'),
        (6, b'{"id": "impossible", "position": "start", "dice": "71"}'),
        (9, b'{"id": "good", "position": "start", "dice": "31", "max_plays": 1}'),
    )
    done = run(LinesChunk(lines, _STATIC).work(engine))
    answers = [json.loads(line) for line in done.lines.splitlines()]
    assert [(answer["line"], answer.get("id", "")) for answer in answers] == [
        (3, ""), (5, "bad"), (6, "impossible"), (9, "good"),
    ]  # fmt: skip
    assert answers[2]["error"]["faults"][0]["field"] == "dice.first"
    assert answers[3]["rankPlays"]["plays"][0]["play"]["notation"] == "8/5 6/5"
    assert [figure.kind for figure in done.figures] == ["evaluate", "error", "error", "plays"]
    assert done.last == 9


def test_a_defect_makes_an_error_of_one_line(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> object:
        message = "this is broken"
        raise RuntimeError(message)

    monkeypatch.setattr(Engine, "advise_cube", broken)
    lines = ((1, b'{"position": "start", "kind": "cube"}'), (2, b"start"))
    done = run(LinesChunk(lines, _STATIC).work(engine))
    first, second = (json.loads(line) for line in done.lines.splitlines())
    assert first["error"]["reason"] == "INTERNAL"
    assert "broken" not in str(first)
    assert "this is broken" in done.defects[0]
    assert "evaluate" in second


@pytest.mark.parametrize(
    ("position", "word"),
    [
        # The last roll, with 19 of 36 chances, whatever the networks say.
        ([0, 0, 1, 0, 0, 1] + [0] * 18 + [-1, 0], "double/take"),
        ("start", "no double/take"),
        ([0, 4] + [0] * 22 + [-4, 0], "double/pass"),
    ],
)
def test_the_equity_of_a_cube_decision_is_that_of_the_right_actions(
    engine: Engine, position: object, word: str
) -> None:
    line = json.dumps({"position": position, "kind": "cube"}).encode()
    (figure,) = run(LinesChunk(((1, line),), _STATIC).work(engine)).figures
    advice = run(LinesChunk(((1, line),), _STATIC).work(engine)).lines
    fields = json.loads(advice)["adviseCube"]
    assert figure.word == word
    if word.startswith("no double"):
        assert figure.equity == fields["noDoubleEquity"]
    else:
        taken = min(fields["doubleTakeEquity"], fields["doublePassEquity"])
        assert figure.equity == taken >= fields["noDoubleEquity"]
    assert figure == figure_of(json.loads(advice))


def test_deep_lines_are_known_to_take_long() -> None:
    shallow = line_seconds(b"start", _STATIC)
    assert line_seconds(b'{"position": "start", "level": "lookahead_2"}', _STATIC) > shallow
    assert line_seconds(b"start", LineSettings(level="lookahead_3")) > shallow
    assert line_seconds(b'{"position": "start", "time_ms": 5000}', _STATIC) > 4.9
    assert line_seconds(b"start", LineSettings(time_ms=3000)) > 2.9
    assert line_seconds(b'{"level": "x"}', _STATIC) < 0.1


@pytest.mark.parametrize(
    "line",
    [
        rb'{"position":"start","id":"\ud800"}',
        rb'{"position":"start","rollout":"\ud800"}',
        rb'{"position":"start","rollout":{"\udfff":1}}',
        rb'"\ud800"',
    ],
)
def test_half_a_surrogate_pair_is_no_text(line: bytes) -> None:
    """It cannot be written again, so a batch would stop at it each time."""
    with pytest.raises(UnreadableLineError) as raised:
        read_line(line, LineSettings())
    assert [fault.reason for fault in raised.value.faults] == ["NOT_TEXT"]


def test_a_whole_surrogate_pair_is_text() -> None:
    request = read_line(rb'{"position":"start","id":"\ud83c\udfb2"}', LineSettings())
    assert request.id == "\N{GAME DIE}"
