"""Match equity tables: published figures, extension, loading and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bgserver.engine.errors import DataError, InvalidInputError
from bgserver.engine.met import (
    DEFAULT_LENGTH,
    MAX_LENGTH,
    MatchEquityTable,
    default_met,
    is_post_crawford,
    load_met,
    load_met_xml,
    match_chances,
)
from bgserver.engine.position import MatchScore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SMALL_PRE = [[0.5, 0.7, 0.75], [0.3, 0.5, 0.6], [0.25, 0.4, 0.5]]
SMALL_POST = [0.5, 0.49, 0.32]


def xml(
    pre: Sequence[Sequence[object]], posts: Sequence[Sequence[object]], kind: str = "explicit"
) -> str:
    def row(values: Sequence[object]) -> str:
        return "<row>" + "".join(f"<me>{value}</me>" for value in values) + "</row>"

    table = "".join(row(values) for values in pre)
    after = "".join(
        f'<post-crawford-table type="{kind}" player="{index}">{row(values)}</post-crawford-table>'
        for index, values in enumerate(posts)
    )
    return (
        "<?xml version='1.0'?><!DOCTYPE met PUBLIC 'x' 'met.dtd'><met><info><name>Small</name>"
        f"<description>of a\n test</description><length>{len(pre)}</length></info>"
        f'<pre-crawford-table type="{kind}">{table}</pre-crawford-table>{after}</met>'
    )


def xml_with_entities() -> str:
    """A table whose name is a billion times "lol", in entities of entities."""
    entities = ["<!ENTITY lol0 'lol'>"]
    entities += [f"<!ENTITY lol{n} '{f'&lol{n - 1};' * 10}'>" for n in range(1, 10)]
    declared = xml(SMALL_PRE, [SMALL_POST]).replace("'met.dtd'", f"'met.dtd' [{''.join(entities)}]")
    return declared.replace("Small", "&lol9;")


def small(
    pre: list[list[float]] = SMALL_PRE, post: list[float] = SMALL_POST, length: int = 64
) -> MatchEquityTable:
    return MatchEquityTable.from_figures("small", pre, post, length=length)


@pytest.mark.parametrize(
    ("away", "opponent", "chance"),
    [
        (1, 1, 0.5),
        (2, 1, 0.32264),
        (1, 2, 0.67736),
        (3, 2, 0.40053),
        (4, 2, 0.3313),
        (5, 5, 0.5),
        (7, 3, 0.23791),
        (9, 15, 0.752814),
        (25, 1, 0.00095),
        (24, 25, 0.53086),
    ],
)
def test_published_figures(away: int, opponent: int, chance: float) -> None:
    assert default_met().mwc(away, opponent) == pytest.approx(chance, abs=1e-6)


@pytest.mark.parametrize(
    ("away", "chance"),
    [(1, 0.5), (2, 0.48803), (3, 0.32264), (4, 0.31002), (5, 0.19012), (9, 0.06953), (25, 0.00123)],
)
def test_published_post_crawford_figures(away: int, chance: float) -> None:
    met = default_met()
    assert met.mwc(away, 1, post_crawford=True) == pytest.approx(chance, abs=1e-9)
    assert met.mwc(1, away, post_crawford=True) == pytest.approx(1 - chance, abs=1e-9)


def test_a_won_match_is_certain() -> None:
    assert default_met().mwc(0, 3) == 1.0
    assert default_met().mwc(-5, 3) == 1.0
    assert default_met().mwc(3, -1) == 0.0


def test_both_players_chances_add_up_to_one() -> None:
    pre = default_met().table.pre
    np.testing.assert_allclose(pre + pre.T, 1.0, atol=1e-12)


def test_needing_more_points_is_never_better() -> None:
    table = default_met(200).table
    assert (np.diff(table.pre, axis=1) >= 0).all()
    assert (np.diff(table.pre, axis=0) <= 0).all()
    assert (np.diff(table.post) <= 0).all()
    assert (table.pre >= 0).all()
    assert (table.pre <= 1).all()


def test_the_computed_part_continues_the_published_part_smoothly() -> None:
    pre = default_met().table.pre
    for away in (5, 10, 15, 20, 25):
        row = pre[away - 1, 15:40]
        bends = np.diff(row, 2)
        # A kink at 25 away would show as one bend much larger than its neighbours.
        assert abs(bends[8]) < 2 * max(abs(bends[5]), abs(bends[11])) + 1e-3


def test_extension_reproduces_published_figures() -> None:
    full = default_met().table.pre
    published = [[float(full[a, b]) for b in range(15)] for a in range(15)]
    post = [float(value) for value in default_met().table.post[:15]]
    computed = small(published, post, length=25).table.pre
    # Ten rows of computed cells upon each other; the last of them differ by 0.2 % at most.
    np.testing.assert_allclose(computed[:25, :25], full[:25, :25], atol=2e-3)


def test_extension_goes_to_any_length_up_to_the_maximum() -> None:
    met = default_met()
    assert met.length == DEFAULT_LENGTH
    assert met.published_length == 25
    longer = met.extended(300)
    assert longer.length >= 300
    assert met.extended(290) is longer
    np.testing.assert_array_equal(longer.table.pre[:64, :64], met.table.pre)
    assert longer.mwc(300, 299) == pytest.approx(0.49, abs=0.01)
    assert longer.extended(30) is longer
    with pytest.raises(InvalidInputError, match="1 to 512 points, got 513"):
        met.extended(MAX_LENGTH + 1)


@pytest.mark.parametrize(
    ("away", "opponent", "post", "reason"),
    [
        (65, 3, False, "SCORE_BEYOND_TABLE"),
        (3, 65, False, "SCORE_BEYOND_TABLE"),
        (0, 0, False, "BOTH_WON"),
        (3, 2, True, "POST_CRAWFORD_IMPOSSIBLE"),
    ],
)
def test_impossible_scores_are_named(away: int, opponent: int, post: bool, reason: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        default_met().mwc(away, opponent, post_crawford=post)
    assert [fault.reason for fault in caught.value.faults] == [reason]


def test_chances_after_a_game_follow_the_crawford_rule() -> None:
    met = default_met()
    # 4-3 in a match to 5 is post-Crawford after the Crawford game at 4-2 was lost.
    assert match_chances(met, MatchScore(5, 4, 2, crawford=True), 1, won=False) == pytest.approx(
        1 - met.mwc(2, 1, post_crawford=True)
    )
    # 3-3: whoever wins leads the match into the Crawford game.
    assert match_chances(met, MatchScore(5, 3, 3), 1, won=True) == pytest.approx(met.mwc(1, 2))
    assert match_chances(met, MatchScore(5, 3, 3), 2, won=True) == 1.0
    assert match_chances(met, MatchScore(5, 3, 4), 1, won=True) == pytest.approx(0.5)
    assert is_post_crawford(MatchScore(5, 4, 4))
    assert not is_post_crawford(MatchScore(5, 4, 2, crawford=True))
    assert not is_post_crawford(MatchScore(5, 3, 3))


# Loading.


def test_xml_tables_load(tmp_path: Path) -> None:
    file = tmp_path / "small.xml"
    file.write_text(xml(SMALL_PRE, [SMALL_POST, SMALL_POST]))
    met = load_met_xml(file)
    assert met.name == "Small"
    assert met.source == "of a test"
    assert met.published_length == 3
    assert met.length == DEFAULT_LENGTH
    assert met.mwc(3, 2) == pytest.approx(0.4)
    assert met.mwc(3, 1, post_crawford=True) == 0.32


def test_compact_tables_load(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    content = {
        "format": "bgserver-met/1",
        "name": "Small",
        "length": 3,
        "pre_crawford": [[0.7, 0.75], [0.6]],
        "post_crawford": SMALL_POST,
    }
    file.write_text(json.dumps(content))
    assert load_met(file).mwc(3, 1) == pytest.approx(0.25)
    assert load_met(file).mwc(2, 3) == pytest.approx(0.6)


def test_rounded_tables_are_made_symmetric() -> None:
    met = small([[0.5, 0.7], [0.301, 0.5]], [0.5, 0.49])
    assert met.mwc(1, 2) + met.mwc(2, 1) == pytest.approx(1.0, abs=1e-12)


def test_the_last_post_crawford_value_may_be_missing() -> None:
    # At n-away in a match to n points the Crawford game cannot be over.
    assert small(post=SMALL_POST[:2]).table.post[2] < 0.49


@pytest.mark.parametrize(
    ("pre", "post", "message"),
    [
        ([[0.5, float("nan")], [0.3, 0.5]], [0.5, 0.49], r"\(1, 2\) must be in 0..1, got NaN"),
        ([[0.5, 1.2], [-0.2, 0.5]], [0.5, 0.49], "must be in 0..1, got 1.2"),
        ([[0.5, 0.7], [0.3, 0.5]], [0.5, float("inf")], "post-Crawford value"),
        ([[0.5, 0.7], [0.4, 0.5]], [0.5, 0.49], "must add up to 1"),
        ([[0.6, 0.7], [0.3, 0.5]], [0.5, 0.49], "must add up to 1"),
        ([[0.5, 0.7]], [0.5, 0.49], "row 1 must hold 1 values, got 2"),
        ([[0.5, 0.7], [0.3]], [0.5, 0.49], "row 2 must hold 2 values, got 1"),
        ([[0.5, 0.7], [0.3, 0.5]], [0.5] * 5, "post-Crawford values, got 5"),
        ([[0.5]], [], "post-Crawford values, got 0"),
        ([], [], "1 to 512 pre-Crawford rows, got 0"),
        ([[0.5, 0.4], [0.6, 0.5]], [0.5, 0.49], "must not have the better chance"),
        ([[0.5, 0.7], [0.3, 0.5]], [0.5, 0.6], "must not have the better chance"),
    ],
)
def test_figures_that_are_no_table_are_refused(
    pre: list[list[float]], post: list[float], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        small(pre, post)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<met>", "not well-formed"),
        ("<met/>", "expected <pre-crawford-table>"),
        (xml(SMALL_PRE, [SMALL_POST], kind="zadeh"), "must have type 'explicit', got 'zadeh'"),
        (xml(SMALL_PRE, [SMALL_POST, [0.5, 0.4, 0.3]]), "different post-Crawford rows"),
        (xml([["a"]], [[0.5]]), "expected a number, got 'a'"),
        (xml(SMALL_PRE, [SMALL_POST]).replace("0.49", "nan"), "got NaN"),
        (xml_with_entities(), "expected XML without entities, got 'lol0'"),
        (xml(SMALL_PRE, [SMALL_POST]).replace("0.49", "0.4&nine;"), "entities, got 'nine'"),
    ],
)
def test_bad_xml_is_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "bad.xml"
    file.write_text(content)
    with pytest.raises(DataError, match=message):
        load_met_xml(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", "expected format"),
        ('{"format": "bgserver-met/1"}', "expected length"),
        (
            '{"format": "bgserver-met/1", "length": 2, "pre_crawford": [], "post_crawford": []}',
            "needs 1 rows, got 0",
        ),
        (
            '{"format": "bgserver-met/1", "length": 2, "pre_crawford": [[]], "post_crawford": []}',
            "row 1 must hold 1 values",
        ),
        (
            json.dumps(
                {
                    "format": "bgserver-met/1",
                    "length": 2,
                    "pre_crawford": [[True]],
                    "post_crawford": [],
                }
            ),
            "expected a number, got True",
        ),
    ],
)
def test_bad_compact_files_are_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(content)
    with pytest.raises(DataError, match=message):
        load_met(file)


def test_missing_binary_and_huge_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        load_met_xml(tmp_path / "none.xml")
    binary = tmp_path / "binary.xml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="cannot be read"):
        load_met_xml(binary)
    huge = tmp_path / "huge.json"
    huge.write_bytes(b" " * (5 << 20))
    with pytest.raises(DataError, match="larger than"):
        load_met(huge)
