"""Match equity tables: the chance to win a match from any score between two games.

The default is the published Kazaross-XG2 table (1 to 25 away). Longer matches are computed: a
game between equal players, valued by the same cubeful model as every other game (`kernels.cube`),
gives each new cell from the cells of shorter matches. Other tables can be loaded from the XML
form that GNU Backgammon uses.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET
from xml.parsers import expat

import numpy as np

from bgserver.engine.errors import DataError, Fault, InvalidInputError
from bgserver.kernels.cube import MatchTable, match_chance
from bgserver.kernels.met import extend_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bgserver.engine.position import MatchScore

__all__ = [
    "DEFAULT_LENGTH",
    "MAX_LENGTH",
    "MatchEquityTable",
    "default_met",
    "is_post_crawford",
    "load_met",
    "load_met_xml",
    "match_chances",
]

DEFAULT_LENGTH = 64
"""Length up to which a table is extended unless asked otherwise."""
MAX_LENGTH = 512
"""The longest match that a table can be extended to."""

_FORMAT = "bgserver-met/1"
_MAX_FILE_BYTES = 4 << 20
# Printed tables are rounded to a tenth of a per cent at worst, each side on its own.
_ROUNDING = 0.005


@dataclass(frozen=True, slots=True, eq=False)
class MatchEquityTable:
    """Match winning chances of equal players at every score between two games.

    Tables compare by identity.

    Use `from_figures`, `default_met`, `load_met` or `load_met_xml`; they validate.
    """

    name: str
    """What players call it, for example `Kazaross XG2`."""
    source: str
    """Where the figures come from."""
    published_length: int
    """Points up to which the figures are given; beyond they are computed."""
    table: MatchTable
    """The figures as arrays for kernels; never to be written to."""

    @classmethod
    def from_figures(
        cls,
        name: str,
        pre_crawford: Sequence[Sequence[float]],
        post_crawford: Sequence[float],
        *,
        source: str = "",
        length: int = DEFAULT_LENGTH,
    ) -> MatchEquityTable:
        """Check figures, extend them and make them a table.

        Args:
            name: Name of the table.
            pre_crawford: Square; row a, column b (from 1-away): chances of a-away against b-away.
            post_crawford: Chances of a-away (from 1-away) against 1-away after the Crawford game;
                at least one value less than the rows of `pre_crawford`, the last follows.
            source: Where the figures come from.
            length: Extend to this length if the figures are for less.

        Raises:
            DataError: A figure is NaN or outside 0..1, a row has the wrong length, the two
                players' chances do not add up to 1, or needing more points is an advantage.
            InvalidInputError: `length` is not in 1..`MAX_LENGTH`.
        """
        _check_length(length)
        pre, post = _checked_arrays(name, pre_crawford, post_crawford)
        known = pre.shape[0]
        full = _extended(pre, post, max(length, known))
        return cls(name, source, known, full)

    @property
    def length(self) -> int:
        """The longest match that the table covers, published and computed cells together."""
        return int(self.table.pre.shape[0])

    def extended(self, length: int) -> MatchEquityTable:
        """This table if it covers matches to `length` points, otherwise one that does.

        Raises:
            InvalidInputError: `length` is not in 1..`MAX_LENGTH`.
        """
        _check_length(length)
        if length <= self.length:
            return self
        # Few different sizes, so that the cache serves all lengths.
        size = self.length
        while size < length:
            size *= 2
        return _extended_met(self, min(size, MAX_LENGTH))

    def mwc(self, away: int, away_opponent: int, *, post_crawford: bool = False) -> float:
        """Match winning chance of a player `away` points from winning, between two games.

        Args:
            away: Points that the player needs; 0 or less if the match is won.
            away_opponent: The same for the opponent.
            post_crawford: The Crawford game is over (then one player needs exactly 1 point).
                Otherwise, with a player at 1-away, the Crawford game comes next.

        Raises:
            InvalidInputError: The score is beyond the table, both players have won, or it cannot
                be after the Crawford game.
        """
        faults = [
            Fault(field, "SCORE_BEYOND_TABLE", f"the table ends at {self.length}-away, got {value}")
            for field, value in (("away", away), ("away_opponent", away_opponent))
            if value > self.length
        ]
        if away <= 0 and away_opponent <= 0:
            faults.append(Fault("away", "BOTH_WON", "only one player can have won the match"))
        elif post_crawford and min(away, away_opponent) > 1:
            message = f"after the Crawford game one player needs 1 point, not {away} and "
            message += str(away_opponent)
            faults.append(Fault("post_crawford", "POST_CRAWFORD_IMPOSSIBLE", message))
        if faults:
            raise InvalidInputError(faults)
        return float(match_chance(self.table, away, away_opponent, post_crawford))


def is_post_crawford(match: MatchScore) -> bool:
    """True if a player needs one point and this is not the Crawford game.

    Matches without the Crawford rule count as post-Crawford from that score on: their cube is
    in use, too.
    """
    return min(match.away) == 1 and not match.crawford


def match_chances(table: MatchEquityTable, match: MatchScore, points: int, *, won: bool) -> float:
    """Chance of the player on roll to win the match after this game.

    Args:
        table: The match equity table.
        match: The score before this game.
        points: What the game counts: 1, 2 or 3 times the cube, at least 1.
        won: The player on roll wins the game.
    """
    own, opponent = match.away
    late = match.crawford or is_post_crawford(match)
    if won:
        own -= points
    else:
        opponent -= points
    over = own <= 0 or opponent <= 0
    return table.mwc(own, opponent, post_crawford=late and not over)


@functools.lru_cache(maxsize=32)
def _extended_met(met: MatchEquityTable, length: int) -> MatchEquityTable:
    table = _extended(met.table.pre, met.table.post, length)
    return MatchEquityTable(met.name, met.source, met.published_length, table)


@functools.cache
def default_met(length: int = DEFAULT_LENGTH) -> MatchEquityTable:
    """The published Kazaross-XG2 table, extended to `length`."""
    if length > DEFAULT_LENGTH:
        return default_met().extended(length)
    source = resources.files("bgserver").joinpath("data/met/kazaross_xg2.json")
    return _parse_compact("kazaross_xg2.json", source.read_text(encoding="utf-8"), length)


def load_met(path: Path | str, *, length: int = DEFAULT_LENGTH) -> MatchEquityTable:
    """Load a table in the compact form of `bgserver/data/met`.

    Raises:
        DataError: The file is missing, malformed, or its figures fail the checks of
            `MatchEquityTable.from_figures`.
    """
    return _parse_compact(Path(path).name, _read_text(path), length)


def load_met_xml(path: Path | str, *, length: int = DEFAULT_LENGTH) -> MatchEquityTable:
    """Load a table from the XML form that GNU Backgammon uses (`type="explicit"`).

    Tables for players of different strength have two different post-Crawford rows; they are
    refused, since every evaluation here assumes equal players. So are tables that give
    parameters of a formula instead of figures, and files with entities of their own.

    Raises:
        DataError: The file is missing, malformed or of another type, or its figures fail the
            checks of `MatchEquityTable.from_figures`.
    """
    name = Path(path).name
    root = _xml_root(name, _read_text(path))
    pre_element = root.find("pre-crawford-table")
    post_elements = root.findall("post-crawford-table")
    if pre_element is None or not post_elements:
        message = f"{name}: expected <pre-crawford-table> and <post-crawford-table>"
        raise DataError(message)
    for element in (pre_element, *post_elements):
        kind = element.get("type", "explicit")
        if kind != "explicit":
            message = f"{name}: <{element.tag}> must have type 'explicit', got {kind!r}"
            raise DataError(message)
    pre = [_xml_row(name, row) for row in pre_element.findall("row")]
    posts = [_xml_row(name, row) for post in post_elements for row in post.findall("row")]
    if not posts:
        message = f"{name}: <post-crawford-table> holds no row"
        raise DataError(message)
    if any(post != posts[0] for post in posts):
        message = f"{name}: the players have different post-Crawford rows"
        raise DataError(message)
    title = (root.findtext("info/name") or name).strip()
    description = " ".join((root.findtext("info/description") or "").split())
    return MatchEquityTable.from_figures(title, pre, posts[0], source=description, length=length)


def _xml_root(name: str, text: str) -> ET.Element:
    """The root of an XML text that declares and uses no entities: a few could grow to gigabytes."""

    def refuse_entity(entity: str, *_: object) -> None:
        message = f"{name}: expected XML without entities, got {entity!r}"
        raise DataError(message)

    builder = ET.TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse_entity
    parser.SkippedEntityHandler = refuse_entity
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        message = f"{name}: not well-formed XML: {error}"
        raise DataError(message) from error
    return builder.close()


def _xml_row(name: str, row: ET.Element) -> list[float]:
    return [_number(name, cell.text) for cell in row.findall("me")]


def _number(name: str, value: object) -> float:
    """The float in `value`, which comes from a file."""
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        try:
            return float(value)
        except ValueError:
            pass
    message = f"{name}: expected a number, got {value!r}"
    raise DataError(message)


def _read_text(path: Path | str) -> str:
    try:
        with Path(path).open("rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
        if len(content) > _MAX_FILE_BYTES:
            message = f"{path}: larger than {_MAX_FILE_BYTES} bytes"
            raise DataError(message)
        return content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: cannot be read: {error}"
        raise DataError(message) from error


def _parse_compact(name: str, text: str, length: int) -> MatchEquityTable:
    """Make a table of the text of a compact file, whose rows hold the upper triangle only."""
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        message = f"{name}: not valid JSON: {error}"
        raise DataError(message) from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        message = f"{name}: expected format {_FORMAT!r}"
        raise DataError(message)
    rows = content.get("pre_crawford")
    post = content.get("post_crawford")
    size = content.get("length")
    if not isinstance(rows, list) or not isinstance(post, list) or not isinstance(size, int):
        message = f"{name}: expected length, pre_crawford and post_crawford"
        raise DataError(message)
    if not 1 <= size <= MAX_LENGTH or len(rows) != size - 1:
        message = f"{name}: length {size} needs {size - 1} rows, got {len(rows)}"
        raise DataError(message)
    pre = [[0.5] * size for _ in range(size)]
    for index, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != size - 1 - index:
            message = f"{name}: row {index + 1} must hold {size - 1 - index} values"
            raise DataError(message)
        for offset, value in enumerate(row):
            column = index + 1 + offset
            pre[index][column] = _number(name, value)
            pre[column][index] = 1.0 - pre[index][column]
    return MatchEquityTable.from_figures(
        str(content.get("name", name)),
        pre,
        [_number(name, value) for value in post],
        source=str(content.get("source", "")),
        length=length,
    )


def _check_length(length: int) -> None:
    if not 1 <= length <= MAX_LENGTH:
        message = f"a table covers 1 to {MAX_LENGTH} points, got {length}"
        raise InvalidInputError([Fault("length", "LENGTH_OUT_OF_RANGE", message)])


def _checked_arrays(
    name: str, pre_crawford: Sequence[Sequence[float]], post_crawford: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The figures as arrays of equal length; `DataError` for figures that are no table."""
    size = len(pre_crawford)
    if not 1 <= size <= MAX_LENGTH:
        message = f"{name}: expected 1 to {MAX_LENGTH} pre-Crawford rows, got {size}"
        raise DataError(message)
    for index, row in enumerate(pre_crawford):
        if len(row) != size:
            message = f"{name}: row {index + 1} must hold {size} values, got {len(row)}"
            raise DataError(message)
    if len(post_crawford) not in (size - 1, size, size + 1) or not post_crawford:
        message = f"{name}: {size} rows need {size} post-Crawford values, got {len(post_crawford)}"
        raise DataError(message)
    pre = np.array(pre_crawford, dtype=np.float64)
    post = np.array(post_crawford[:size], dtype=np.float64)
    for what, values in (("pre-Crawford", pre), ("post-Crawford", post)):
        bad = ~((values >= 0.0) & (values <= 1.0))  # also true for NaN
        if bad.any():
            place = tuple(int(index) + 1 for index in np.argwhere(bad)[0])
            value = float(values[bad][0])
            shown = "NaN" if math.isnan(value) else f"{value:g}"
            message = f"{name}: {what} value at {place} must be in 0..1, got {shown}"
            raise DataError(message)
    skew = np.abs(pre + pre.T - 1.0)
    if skew.max() > _ROUNDING:
        first, second = divmod(int(skew.argmax()), size)
        message = f"{name}: {first + 1}-away against {second + 1}-away and the reverse "
        message += f"must add up to 1, got {pre[first, second] + pre[second, first]:g}"
        raise DataError(message)
    pre = 0.5 * (pre + 1.0 - pre.T)
    if (np.diff(pre, axis=1) < 0.0).any() or (np.diff(post) > 0.0).any():
        message = f"{name}: a player who needs more points must not have the better chance"
        raise DataError(message)
    return pre, post


def _extended(pre: NDArray[np.float64], post: NDArray[np.float64], length: int) -> MatchTable:
    """A table of `length` points that starts with the given figures."""
    size = pre.shape[0]
    full_pre = np.full((length, length), 0.5)
    full_post = np.zeros(length)
    full_pre[:size, :size] = pre
    full_post[: post.shape[0]] = post
    table = MatchTable(full_pre, full_post)
    extend_table(table, size, post.shape[0])
    return table
