"""The script interface: a line in, a line out, failures as lines."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from bgserver.cli.methods import all_methods, find_method
from bgserver.engine.errors import InvalidInputError
from bgserver.engine.position import Position

if TYPE_CHECKING:
    from tests.cli.conftest import CommandLine

_START: dict[str, Any] = {"position": {"points": Position.start().points}}


def _lines(*requests: object) -> str:
    return "".join(
        f"{request if isinstance(request, str) else json.dumps(request)}\n" for request in requests
    )


def _plays(first: int, second: int) -> dict[str, Any]:
    return {"position": _START, "dice": {"first": first, "second": second}}


def test_without_a_method_all_are_listed(bgserver: CommandLine) -> None:
    answer = bgserver("call")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        f"{method.containing_service.name}/{method.name}" for method in all_methods()
    ]
    assert "SimulationService/Simulate" in answer.out


@pytest.mark.parametrize(
    "name",
    [
        "RulesService/ListPlays",
        "RulesService.ListPlays",
        "bgserver.v1.RulesService/ListPlays",
        "/bgserver.v1.RulesService/ListPlays",
    ],
)
def test_a_method_may_be_named_in_several_ways(name: str) -> None:
    assert find_method(name).full_name == "bgserver.v1.RulesService.ListPlays"


def test_unknown_method(bgserver: CommandLine) -> None:
    with pytest.raises(InvalidInputError):
        find_method("RulesService")
    answer = bgserver("call", "RulesService/Nothing")
    assert answer.code == 2
    assert "RulesService/ListPlays" in answer.err


def test_an_answer_for_each_request(bgserver: CommandLine) -> None:
    stdin = _lines(_plays(3, 1), _plays(6, 1))
    answer = bgserver("call", "RulesService/ListPlays", stdin=stdin)
    assert answer.code == 0
    assert [len(line["plays"]) for line in answer.lines] == [16, 10]


def test_bad_lines_are_told_and_the_rest_goes_on(bgserver: CommandLine) -> None:
    stdin = _lines(
        _plays(3, 1),
        _plays(7, 0),
        "{ no json",
        {"positron": 1},
        "",
        '"a string"',
        _plays(6, 1),
    )
    answer = bgserver("call", "RulesService/ListPlays", stdin=stdin)
    assert answer.code == 1
    good, out_of_range, no_json, unknown, no_object, last = answer.lines
    assert len(good["plays"]) == 16
    assert len(last["plays"]) == 10
    assert out_of_range["line"] == 2
    assert out_of_range["error"]["code"] == "INVALID_ARGUMENT"
    assert out_of_range["error"]["reason"] == "INVALID_INPUT"
    violations = out_of_range["error"]["violations"]
    assert [violation["field"] for violation in violations] == ["dice.first", "dice.second"]
    assert violations[0]["reason"] == "DIE_OUT_OF_RANGE"
    for failure, line in ((no_json, 3), (unknown, 4), (no_object, 6)):
        assert failure["line"] == line
        assert failure["error"]["violations"][0]["reason"] == "MALFORMED_JSON"


def test_bytes_that_are_no_text(bgserver: CommandLine) -> None:
    answer = bgserver("call", "RulesService/ListPlays", stdin=b"\xff\xfe\n{}\n")
    assert answer.code == 1
    assert [line["line"] for line in answer.lines] == [1, 2]


def test_deep_nesting_is_a_bad_line(bgserver: CommandLine) -> None:
    stdin = _lines('{"position":' * 100_000, _plays(3, 1))
    answer = bgserver("call", "RulesService/ListPlays", stdin=stdin)
    assert answer.code == 1
    assert len(answer.lines) == 2
    assert answer.lines[0]["error"]["violations"][0]["description"].endswith("nested too deeply")


def test_a_line_that_is_no_object_is_told_in_words(bgserver: CommandLine) -> None:
    texts = ("null", "5", "true", '"x"', "[]", "[1]", "-")
    answer = bgserver("call", "EngineService/Rollout", stdin=_lines(*texts))
    assert answer.code == 1
    assert len(answer.lines) == len(texts)
    for line, text in zip(answer.lines, texts, strict=True):
        (violation,) = line["error"]["violations"]
        assert violation["reason"] == "MALFORMED_JSON"
        expected = f"expected RolloutRequest as a JSON object: it begins with '{text[0]}', not with"
        assert violation["description"].startswith(expected)


def test_a_line_without_end_is_a_bad_line(
    bgserver: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bgserver.cli.call._MAX_LINE", 4096)
    stdin = _lines("x" * 10_000, _plays(3, 1))
    answer = bgserver("call", "RulesService/ListPlays", stdin=stdin)
    assert answer.code == 1
    assert answer.lines[0]["error"]["violations"][0]["reason"] == "LINE_TOO_LONG"
    assert answer.lines[1]["plays"]


def test_streaming_answers_are_lines(bgserver: CommandLine) -> None:
    request = {"count": 5, "seed": 1, "second": {"level": "LEVEL_RANDOM"}}
    stdin = _lines(request, {"count": 0}, request)
    answer = bgserver("call", "SimulationService/Simulate", stdin=stdin)
    assert answer.code == 1
    games = [line["game"]["index"] for line in answer.lines if "game" in line]
    assert games == [0, 1, 2, 3, 4] * 2
    (failure,) = [line for line in answer.lines if "error" in line]
    assert failure["line"] == 2
    assert failure["error"]["violations"][0]["field"] == "count"


def test_two_way_streaming_answers_in_order_and_survives_a_failure(bgserver: CommandLine) -> None:
    def batch(number: int, points: list[int]) -> dict[str, Any]:
        packed = bytes(count % 256 for count in points)
        return {"id": number, "points": base64.b64encode(packed).decode()}

    start = list(Position.start().points)
    stdin = _lines(
        batch(10, start), batch(11, start * 3), batch(12, [1] * 26), "nonsense", batch(13, start)
    )
    answer = bgserver("call", "EngineService/EvaluateBatch", stdin=stdin)
    assert answer.code == 1
    one, three, failed, nonsense, last = answer.lines
    assert [one["id"], three["id"], last["id"]] == [10, 11, 13]
    assert len(base64.b64decode(three["probabilities"])) == 3 * 5 * 4
    assert failed["line"] == 3
    assert failed["error"]["code"] == "INVALID_ARGUMENT"
    assert nonsense["line"] == 4


def test_nothing_in_nothing_out(bgserver: CommandLine) -> None:
    for method in ("RulesService/ListPlays", "EngineService/EvaluateBatch"):
        answer = bgserver("call", method)
        assert (answer.code, answer.out, answer.err) == (0, "", "")
