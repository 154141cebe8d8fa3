"""Lines of `bgserver batch`: a question as a person or a script writes it, and its answer.

A line is an XGID, or a JSON object. Both directions happen where the question is answered, so that
a cluster does that work too.
"""

from __future__ import annotations

import json
import re
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from google.protobuf import json_format

from bgserver.cli.inputs import is_nardy, parse_dice, parse_position
from bgserver.cli.options import (
    DEPTHS,
    DepthName,
    is_rollout_level,
    json_fault,
    level_value,
    limit_message,
    unknown_level,
)
from bgserver.engine.errors import Fault, InvalidInputError
from bgserver.v1 import common_pb2, engine_pb2, rollout_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bgserver.engine.evaluator import Engine
    from bgserver.engine.work import Work

__all__ = [
    "Figure",
    "LineSettings",
    "LinesChunk",
    "UnreadableLineError",
    "Written",
    "figure_of",
    "line_seconds",
    "read_line",
    "refused",
    "written",
]

_SURROGATE = re.compile("[\ud800-\udfff]")
_FORMS = ("xgid", "gnu_id", "position", "state")
_KINDS = ("evaluate", "plays", "cube")
_OWN = frozenset(
    {
        *_FORMS, "id", "kind", "dice", "variant", "level", "time_ms", "max_plays", "cubeless",
        "first_turn", "rollout",
    }
)  # fmt: skip
_PROTOBUF = ("evaluate", "rank_plays", "rankPlays", "advise_cube", "adviseCube", "rollout")
_ROLLOUT_KINDS = {
    "evaluate": rollout_pb2.ROLLOUT_KIND_POSITION,
    "plays": rollout_pb2.ROLLOUT_KIND_PLAYS,
    "cube": rollout_pb2.ROLLOUT_KIND_CUBE,
}
_VARIANTS = {
    "backgammon": common_pb2.VARIANT_BACKGAMMON,
    "long_nardy": common_pb2.VARIANT_LONG_NARDY,
}


@dataclass(frozen=True, slots=True)
class LineSettings:
    """What holds for lines that do not say otherwise."""

    kind: str = "auto"
    """`evaluate`, `plays` or `cube`; `auto`: plays where there is a roll, else evaluate."""
    level: str | None = None
    """How deep to look, or a rollout level; None: static."""
    time_ms: int | None = None
    """Look as deep as this time allows, instead of a level."""
    max_plays: int = 5
    """Most plays in an answer; 0 for all."""
    cubeless: bool = False
    """Rank plays by cubeless money equity, roll out without cube and score."""
    rollout: bool = False
    """Roll out instead of looking ahead; the level is that of both sides' plays and cube."""
    trials: int | None = None
    """Trials of a rollout, at most; None: 1296."""
    standard_error: float | None = None
    """End a rollout at this standard error."""
    truncate: int | None = None
    """Cut trials after so many rolls."""
    seed: int = 1
    """Seed of the dice of every rollout."""


class UnreadableLineError(InvalidInputError):
    """A line that is no question; `identifier` is its id, as far as that could be read."""

    def __init__(self, faults: Iterable[Fault], identifier: str = "") -> None:
        super().__init__(faults)
        self.identifier = identifier


class Figure(NamedTuple):
    """What the summary needs of an answer."""

    line: int
    """Number of the question."""
    kind: str
    """`evaluate`, `plays`, `cube`, `rollout` or `error`."""
    equity: float | None
    """Of the position, the best play or the best cube action; None for an error."""
    word: str
    """The cube action, or the reason of an error; else empty."""
    message: str = ""
    """What is wrong, for an error."""
    convergence: tuple[tuple[int, float], ...] = ()
    """Of a rollout: standard errors after so many trials."""


class Written(NamedTuple):
    """Answers as lines, in the order of the questions."""

    lines: bytes
    """All of them, each with its end of line."""
    last: int
    """Number of the last line of the input that they answer."""
    figures: list[Figure]
    """One for each line."""
    defects: list[str]
    """For whoever looks after bgserver: where it failed."""


@dataclass(frozen=True, slots=True)
class LinesChunk:
    """Some lines of the input, answered one after the other; a `Chunk`."""

    lines: tuple[tuple[int, bytes], ...]
    """Each with its number in the input, from 1."""
    settings: LineSettings
    """What holds for lines that do not say otherwise."""

    def work(self, engine: Engine) -> Work[Written]:
        """The answers."""
        from bgserver.server.analysis import answer_question  # noqa: PLC0415 -- loads Numba
        from bgserver.server.questions import RolloutLimits  # noqa: PLC0415 -- the same

        limits = RolloutLimits()
        lines, figures, defects = [], [], []
        for number, line in self.lines:
            try:
                request = read_line(line, self.settings)
            except UnreadableLineError as error:
                response = refused(error)
            else:
                response, defect = yield from answer_question(engine, request, limits)
                if defect is not None:
                    defects.append(f"line {number}: {defect}")
            text, figure = written(number, response)
            lines.append(text)
            figures.append(figure)
            yield
        return Written(b"".join(lines), self.lines[-1][0], figures, defects)


def read_line(line: bytes, settings: LineSettings) -> engine_pb2.AnalyzeBatchRequest:
    """The question of a line.

    Raises:
        UnreadableLineError: All that is wrong with the line is named. Whether the question itself
            makes sense is seen when it is answered.
    """
    try:
        text = line.decode().strip()
    except UnicodeDecodeError as error:
        message = f"expected UTF-8: {error.reason} at byte {error.start}"
        raise UnreadableLineError([Fault("", "NOT_TEXT", message)]) from error
    if text.startswith(("{", '"', "[")):
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError) as error:
            message = f"expected an XGID or JSON: {json_fault(error)}"
            raise UnreadableLineError([Fault("", "MALFORMED_JSON", message)]) from error
    else:
        fields = text
    if isinstance(fields, str):
        fields = {"position": fields}
    if _SURROGATE.search(_unescaped(fields)):
        message = "expected text: half of a surrogate pair (\\ud800 to \\udfff) is none"
        raise UnreadableLineError([Fault("", "NOT_TEXT", message)])
    if not isinstance(fields, dict):
        message = "expected an XGID or a JSON object"
        raise UnreadableLineError([Fault("", "NOT_A_QUESTION", message)])
    if any(
        isinstance(question := fields.get(name), dict) and _is_whole(question, name)
        for name in _PROTOBUF
    ):
        request = _from_protobuf(fields)
    else:
        request = _Reader(fields, settings).request()
    _complete(request, settings)
    return request


def _unescaped(fields: object) -> str:
    """All the text of a line, as it is meant."""
    return json.dumps(fields, ensure_ascii=False)


def _is_whole(question: dict[str, object], name: str) -> bool:
    """True for a question of the API; `rollout` may also hold some settings only."""
    return name != "rollout" or "position" in question


def _from_protobuf(fields: dict[str, object]) -> engine_pb2.AnalyzeBatchRequest:
    """A line that is the request of AnalyzeBatch as protobuf JSON."""
    try:
        return json_format.ParseDict(fields, engine_pb2.AnalyzeBatchRequest())
    except (json_format.ParseError, RecursionError) as error:
        message = f"expected AnalyzeBatchRequest as JSON: {json_fault(error)}"
        raise UnreadableLineError([Fault("", "MALFORMED_JSON", message)]) from error


def _complete(request: engine_pb2.AnalyzeBatchRequest, settings: LineSettings) -> None:
    """Fill in the limit of the settings where the line gives none."""
    kind = request.WhichOneof("question")
    if kind == "rollout":
        _complete_rollout(request.rollout, settings)
        return
    if kind is None or getattr(request, kind).HasField("limit"):
        return
    limit = limit_message(settings.level, settings.time_ms)
    if limit is not None:
        getattr(request, kind).limit.CopyFrom(limit)


def _complete_rollout(rollout: rollout_pb2.RolloutRequest, settings: LineSettings) -> None:
    """Fill in what the line does not say; a random seed would make every run another one."""
    if not rollout.HasField("seed"):
        rollout.seed = settings.seed
    if not rollout.HasField("trials") and settings.trials is not None:
        rollout.trials = settings.trials
    if not rollout.HasField("standard_error") and settings.standard_error is not None:
        rollout.standard_error = settings.standard_error
    if not rollout.HasField("truncate_plies") and settings.truncate is not None:
        rollout.truncate_plies = settings.truncate
    if not rollout.HasField("cubeful") and settings.cubeless:
        rollout.cubeful = False
    # A level that rolls out is for lines that ask for no rollout of their own.
    level = None if is_rollout_level(settings.level or "") else settings.level
    if not rollout.HasField("levels") and level is not None:
        rollout.levels.checker = rollout.levels.cube = level_value(DepthName(level))


class _Reader:
    """Reads the fields of an object and collects what is wrong with them."""

    def __init__(self, fields: dict[str, object], settings: LineSettings) -> None:
        self._fields = fields
        self._settings = settings
        self._faults: list[Fault] = []

    def request(self) -> engine_pb2.AnalyzeBatchRequest:
        """The question.

        Raises:
            UnreadableLineError: Names every fault.
        """
        for name in sorted(self._fields.keys() - _OWN):
            self._fault(name, "UNKNOWN_FIELD", f"expected one of {', '.join(sorted(_OWN))}")
        source = self._position()
        dice = self._dice()
        kind = self._kind(source, dice)
        limit = self._limit()
        request = engine_pb2.AnalyzeBatchRequest(id=self._id())
        rollout = self._rollout()
        if rollout is not None:
            request.rollout.CopyFrom(self._with_question(rollout, source, dice, kind))
        elif kind == "plays":
            request.rank_plays.CopyFrom(
                engine_pb2.RankPlaysRequest(
                    position=source,
                    dice=dice,
                    limit=limit,
                    max_plays=self._count("max_plays", self._settings.max_plays),
                    cubeless=self._flag("cubeless", default=self._settings.cubeless),
                    first_turn=self._flag("first_turn", default=False),
                )
            )
        elif kind == "cube":
            request.advise_cube.CopyFrom(engine_pb2.AdviseCubeRequest(position=source, limit=limit))
        else:
            request.evaluate.CopyFrom(engine_pb2.EvaluateRequest(position=source, limit=limit))
        if self._faults:
            # A fault may have been met on more than one way.
            faults = list(dict.fromkeys(self._faults))
            _complete(request, self._settings)
            raise UnreadableLineError([*faults, *_others(request, faults)], request.id)
        return request

    def _rollout(self) -> rollout_pb2.RolloutRequest | None:
        """The settings of a rollout; None if none is asked for."""
        value = self._fields.get("rollout", self._settings.rollout)
        if isinstance(value, bool):
            return rollout_pb2.RolloutRequest() if value else None
        try:
            return json_format.ParseDict(
                cast("dict[str, Any]", value), rollout_pb2.RolloutRequest()
            )
        except (json_format.ParseError, RecursionError, TypeError, ValueError, AttributeError):
            message = "expected true, false or fields of RolloutRequest"
            self._fault("rollout", "NOT_A_ROLLOUT", f"{message}, got {_short(value)}")
            return None

    def _with_question(
        self,
        rollout: rollout_pb2.RolloutRequest,
        source: common_pb2.PositionSource | None,
        dice: common_pb2.Dice | None,
        kind: str,
    ) -> rollout_pb2.RolloutRequest:
        """The rollout of a line's question."""
        if "time_ms" in self._fields:
            message = "a rollout ends by its trials or its standard error"
            self._fault("time_ms", "ONLY_WITHOUT_ROLLOUT", message)
        if "level" in self._fields and (limit := self._limit()) is not None:
            if limit.HasField("preset"):
                message = f"a rollout plays at one of {', '.join(DEPTHS)}, got {limit.preset!r}"
                self._fault("level", "ROLLOUT_IN_ROLLOUT", message)
            rollout.levels.checker = rollout.levels.cube = limit.level
        rollout.kind = _ROLLOUT_KINDS.get(kind, rollout_pb2.ROLLOUT_KIND_UNSPECIFIED)
        if source is not None:
            rollout.position.CopyFrom(source)
        if "cubeless" in self._fields and self._flag("cubeless", default=False):
            rollout.cubeful = False
        rollout.first_turn = self._flag("first_turn", default=False)
        if kind == "plays":
            if dice is not None:
                rollout.dice.CopyFrom(dice)
            if not rollout.plays:
                rollout.max_plays = self._count("max_plays", self._settings.max_plays)
        return rollout

    def _fault(self, field: str, reason: str, message: str) -> None:
        self._faults.append(Fault(field, reason, message))

    def _id(self) -> str:
        value = self._fields.get("id", "")
        if isinstance(value, bool) or not isinstance(value, str | int):
            self._fault(
                "id", "NOT_AN_ID", f"expected a text or a whole number, got {_short(value)}"
            )
            return ""
        return str(value)

    def _position(self) -> common_pb2.PositionSource | None:
        given = [form for form in _FORMS if form in self._fields]
        if len(given) != 1:
            named = ", ".join(given) if given else "none"
            message = f"expected one of {', '.join(_FORMS)}, got {named}"
            self._fault("position", "POSITION_REQUIRED", message)
            return None
        (form,) = given
        source = self._form(form, self._fields[form])
        self._check_variant(source)
        return source

    def _check_variant(self, source: common_pb2.PositionSource | None) -> None:
        """See that the variant is one, and that of a position that says its own."""
        variant = self._fields.get("variant")
        if variant is None:
            return
        if not isinstance(variant, str) or variant not in _VARIANTS:
            message = f"expected one of {', '.join(_VARIANTS)}, got {_short(variant)}"
            self._fault("variant", "UNKNOWN_VALUE", message)
        elif source is not None:
            found = "long_nardy" if is_nardy(source) else "backgammon"
            if found != variant:
                message = f"the position is one of {found}; only numbers need a variant"
                self._fault("variant", "CONTRADICTS_POSITION", message)

    def _form(self, form: str, value: object) -> common_pb2.PositionSource | None:
        """A position in one of the forms."""
        try:
            if form == "xgid" and isinstance(value, str):
                return common_pb2.PositionSource(xgid=value)
            if isinstance(value, str) and form in {"gnu_id", "position"}:
                return parse_position(value, nardy=self._is_nardy())
            if isinstance(value, list) and form == "position":
                variant = _VARIANTS["long_nardy" if self._is_nardy() else "backgammon"]
                board = common_pb2.Position(points=value, variant=variant)
                return common_pb2.PositionSource(position=board)
            source = json_format.ParseDict({form: value}, common_pb2.PositionSource())
            if source.WhichOneof("source") is None:
                raise ValueError(_NOTHING)
            return source
        except InvalidInputError as error:
            self._faults.extend(error.faults)
        except (json_format.ParseError, RecursionError, TypeError, ValueError) as error:
            message = f"cannot be read: {json_fault(error)}"
            self._fault(f"position.{form}", "NOT_A_POSITION", message)
        return None

    def _is_nardy(self) -> bool:
        return self._fields.get("variant") == "long_nardy"

    def _dice(self) -> common_pb2.Dice | None:
        value = self._fields.get("dice")
        try:
            if value is None or isinstance(value, str):
                return parse_dice(value)
            if isinstance(value, list):
                first, second = value
                return common_pb2.Dice(first=first, second=second)
            return json_format.ParseDict(cast("dict[str, Any]", value), common_pb2.Dice())
        except InvalidInputError as error:
            self._faults.extend(error.faults)
        except (json_format.ParseError, RecursionError, TypeError, ValueError, AttributeError):
            message = f'expected a roll such as [3, 1] or "31", got {_short(value)}'
            self._fault("dice", "NOT_A_ROLL", message)
        return None

    def _kind(self, source: common_pb2.PositionSource | None, dice: common_pb2.Dice | None) -> str:
        kind = self._fields.get("kind", self._settings.kind)
        if kind == "auto":
            return "plays" if dice is not None or _has_roll(source) else "evaluate"
        if kind not in _KINDS:
            message = f"expected one of {', '.join(_KINDS)}, got {_short(kind)}"
            self._fault("kind", "UNKNOWN_VALUE", message)
        return str(kind)

    def _limit(self) -> common_pb2.Limit | None:
        level, time_ms = self._fields.get("level"), self._fields.get("time_ms")
        if level is not None and time_ms is not None:
            self._fault("limit", "LIMIT_AMBIGUOUS", "expected a level or a time, got both")
        elif level is not None:
            if isinstance(level, str) and (level in DEPTHS or is_rollout_level(level)):
                return limit_message(level, None)
            self._fault("level", "UNKNOWN_LEVEL", unknown_level(_short(level)))
        elif time_ms is not None:
            return common_pb2.Limit(milliseconds=self._count("time_ms", 0))
        return None

    def _count(self, field: str, default: int) -> int:
        value = self._fields.get(field, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 32:
            self._fault(
                field, "OUT_OF_RANGE", f"expected a whole number from 0, got {_short(value)}"
            )
            return 0
        return value

    def _flag(self, field: str, *, default: bool) -> bool:
        value = self._fields.get(field, default)
        if not isinstance(value, bool):
            self._fault(field, "NOT_A_FLAG", f"expected true or false, got {_short(value)}")
            return False
        return value


def _others(request: engine_pb2.AnalyzeBatchRequest, known: Sequence[Fault]) -> list[Fault]:
    """What the engine would find wrong with a question that does not get to it.

    Args:
        request: What could be read.
        known: What could not; nothing more is said of these fields.
    """
    from bgserver.server.analysis import question_faults  # noqa: PLC0415 -- loads Numba

    fields = {fault.field.partition(".")[0] for fault in known}
    if "position" in fields:
        fields.add("dice")  # the position may carry them
    if fields & {"level", "time_ms"}:
        fields.add("limit")
    return [
        fault
        for fault in question_faults(request)
        if re.split(r"[.\[]", fault.field)[0] not in fields
    ]


def _short(value: object) -> str:
    """A value of a line for a message, however long and however deeply nested it is."""
    return reprlib.repr(value)


def _has_roll(source: common_pb2.PositionSource | None) -> bool:
    """True if the position itself carries a roll, as far as that can be seen without reading it."""
    if source is None:
        return False
    if source.HasField("state"):
        return source.state.HasField("dice")
    if source.HasField("xgid"):
        fields = source.xgid.removeprefix("XGID=").split(":")
        return len(fields) > 4 and fields[4].isdecimal() and fields[4] != "00"
    return False


def refused(error: UnreadableLineError) -> engine_pb2.AnalyzeBatchResponse:
    """The answer to a line that cannot be read."""
    from bgserver.server.analysis import error_message  # noqa: PLC0415 -- loads Numba

    message = error_message(error)
    return engine_pb2.AnalyzeBatchResponse(id=error.identifier, error=message)


def written(number: int, response: engine_pb2.AnalyzeBatchResponse) -> tuple[bytes, Figure]:
    """An answer as a line, with the number of the line that it answers, and its figure."""
    answer = json_format.MessageToDict(response, always_print_fields_with_no_presence=True)
    if not response.convergence:
        answer.pop("convergence", None)  # belongs to rollouts
    fields = {"line": number, **answer}
    return f"{json.dumps(fields, ensure_ascii=False)}\n".encode(), figure_of(fields)


def figure_of(fields: dict[str, Any]) -> Figure:
    """What the summary needs of an answer.

    Args:
        fields: The answer as a line holds it.

    Raises:
        LookupError: It is no answer.
        TypeError: The same.
    """
    line: int = fields["line"]
    if "evaluate" in fields:
        return Figure(line, "evaluate", fields["evaluate"]["cubefulEquity"], "")
    if "rankPlays" in fields:
        return Figure(line, "plays", fields["rankPlays"]["plays"][0]["equity"], "")
    if "adviseCube" in fields:
        advice = fields["adviseCube"]
        return Figure(line, "cube", _best_equity(advice), advice["actionText"])
    if "rollout" in fields:
        points = fields.get("convergence", [])
        convergence = tuple((point["trials"], float(point["standardError"])) for point in points)
        rollout = fields["rollout"]
        word = rollout.get("actionText", "")
        return Figure(line, "rollout", _rolled_equity(rollout), word, convergence=convergence)
    error = fields["error"]
    return Figure(line, "error", None, error["reason"], error["message"])


_DOUBLES = frozenset(
    {"CUBE_ACTION_DOUBLE_TAKE", "CUBE_ACTION_DOUBLE_PASS", "CUBE_ACTION_DOUBLE_BEAVER"}
)
_DOUBLED = ("doubleTakeEquity", "doublePassEquity", "doubleBeaverEquity")


def _best_equity(advice: dict[str, Any]) -> float:
    """The equity if both players act rightly; where doubling is optional both ways are worth it."""
    if advice["action"] not in _DOUBLES:
        equity: float = advice["noDoubleEquity"]
        return equity
    return min(float(advice[name]) for name in _DOUBLED if name in advice)


def _rolled_equity(rollout: dict[str, Any]) -> float:
    """The equity of the position, the best play or the best cube actions."""
    equities = [float(entry["equity"]["mean"]) for entry in rollout["entries"]]
    if "doublePassEquity" not in rollout:
        return equities[0]
    no_double, *doubled = equities
    return max(no_double, min(*doubled, float(rollout["doublePassEquity"])))


def line_seconds(line: bytes, settings: LineSettings) -> float:
    """About how long a line takes; of interest only for how many lines make a chunk."""
    from bgserver.server.analysis import expected_s  # noqa: PLC0415 -- loads Numba

    if any(word in line for word in _TELLING):
        try:
            return expected_s(read_line(line, settings))
        except UnreadableLineError:
            return 0.0
    if settings.rollout:
        return expected_s(engine_pb2.AnalyzeBatchRequest(rollout=rollout_pb2.RolloutRequest()))
    limit = limit_message(settings.level, settings.time_ms)
    plays = engine_pb2.RankPlaysRequest(limit=limit)
    return _READING_S + expected_s(engine_pb2.AnalyzeBatchRequest(rank_plays=plays))


_TELLING = (b"evel", b"time_ms", b"illiseconds", b"rollout")
_NOTHING = "expected a position, got null"
_READING_S = 0.0005
"""What reading a line and writing its answer take."""
