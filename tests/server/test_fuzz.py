"""Thousands of random requests: whatever they say, the server finds words for it."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor import FieldDescriptor

from bgserver.server.config import ServerConfig
from bgserver.server.errors import StatusError
from bgserver.server.local import LocalTransport
from bgserver.v1 import common_pb2
from tests import naive, positions

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from bgserver.engine.evaluator import Engine

_SEED = 20
_REQUESTS = 6_000
_TEXTS = {
    "xgid": (
        "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:6",
        "XGID=-a-B--C-dE---eE---c-e----B-:1:-1:-1:00:4:2:0:5:10",
        "XGID=aFDaA---------------------:2:1:1:52:0:0:3:0:10",
    ),
    "position_id": ("4HPwATDgc/ABMA",),
    "match_id": ("cAkAAAAAAAAE", "cAmmAAAAAAAE", ""),
    "notation": ("8/5 6/5", "bar/22", "6/off(2)", "24/13", "cannot move", "13/7*/3"),
    "preset": ("", "money", "tournament", "long_nardy", "casino"),
}
_NUMBERS = (0, 1, 1, 2, 3, 4, 5, 6, 6, 7, 25, 64, 2**31 - 1)
_WHOLE = {FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_SINT32}


_LIMITS = (
    *(common_pb2.Limit(level=level) for level in (0, 1, 1, 1, 5, 99)),  # type: ignore[arg-type]  # on purpose
    *(common_pb2.Limit(milliseconds=milliseconds) for milliseconds in (0, 1, 1, 2**32 - 1)),
    common_pb2.Limit(),
)


class _Filler:
    """Fills messages at random, so that most of them are nearly right."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._cases = [positions.cases(variant, seed) for variant in naive.VARIANTS]

    def fill(self, message: Message) -> None:
        for field in message.DESCRIPTOR.fields:
            if self.random.random() < 0.35:
                continue
            if field.message_type is not None:
                self._fill_message(message, field)
            elif field.is_repeated:
                getattr(message, field.name).extend(self._numbers(field))
            else:
                setattr(message, field.name, self._value(field))

    def _fill_message(self, message: Message, field: Any) -> None:
        if field.is_repeated:
            for _ in range(self.random.randrange(4)):
                self.fill(getattr(message, field.name).add())
        else:
            part = getattr(message, field.name)
            part.SetInParent()
            self.fill(part)

    def _numbers(self, field: Any) -> list[Any]:
        if field.name == "plays":
            return [self._text(self.random.choice(_TEXTS["notation"]))]
        if field.name != "points":
            return self.random.choices(_NUMBERS, k=3) if field.type in _WHOLE else []
        board = list(next(self.random.choice(self._cases)).board)
        if self.random.random() < 0.2:
            board[self.random.randrange(26)] += self.random.choice((-3, 1, 2, 15))
        return board if self.random.random() < 0.95 else board[: self.random.randrange(26)]

    def _value(self, field: Any) -> Any:
        if field.type == FieldDescriptor.TYPE_BOOL:
            return self.random.random() < 0.5
        if field.enum_type is not None:
            numbers = [value.number for value in field.enum_type.values]
            return self.random.choice([*numbers, *numbers, 99])
        if field.type == FieldDescriptor.TYPE_BYTES:
            return self.random.choice((b"", b"", b"{}"))
        if field.type == FieldDescriptor.TYPE_STRING:
            return self._text(self.random.choice(_TEXTS.get(field.name, ("",))))
        return self.random.choice(_NUMBERS)

    def _text(self, text: str) -> str:
        letters = list(text)
        for _ in range(self.random.choice((0, 0, 1, 2)) if letters else 0):
            letters[self.random.randrange(len(letters))] = self.random.choice("-abAB:019é")
        return "".join(letters)


def test_random_requests_never_end_in_an_internal_error(engine: Engine) -> None:
    filler = _Filler(_SEED)
    outcomes: Counter[str] = Counter()
    broken: list[str] = []
    config = ServerConfig(
        threads=2, log_level="error", max_simulation_games=5, max_rollout_trials=3
    )
    with LocalTransport(config, loader=lambda *_: engine) as local:
        methods = [method for method in local.methods.values() if not method.client_streaming]
        for _ in range(_REQUESTS):
            method = filler.random.choice(methods)
            request: Any = method.request()
            filler.fill(request)
            # Deeper levels cost too much here and differ in nothing that a request could break.
            askers: list[Any] = [request]
            if method.name.endswith("/Simulate"):
                askers = [request.first, request.second]
            elif method.name.endswith("/CreateGame"):
                seats = (request.first, request.second)
                askers = [seat.engine for seat in seats if seat.HasField("engine")]
            elif method.name.endswith("/Rollout"):
                request.truncate_level = filler.random.choice((0, 1, 5, 99))
                askers = []
                for levels in (request.levels, request.early_levels):
                    levels.checker, levels.cube = filler.random.choices((0, 0, 1, 5, 99), k=2)
            elif hasattr(request, "player"):
                askers = [request.player]
            for asker in askers:
                if hasattr(asker, "level"):
                    asker.level = filler.random.choice((0, 1, 5, 99))
                if hasattr(asker, "limit"):
                    asker.limit.CopyFrom(filler.random.choice(_LIMITS))
            try:
                if method.server_streaming:
                    list(local.stream(method.name, request))
                else:
                    local.unary(method.name, request)
                outcomes["OK"] += 1
            except StatusError as error:
                outcomes[error.code.name] += 1
                if error.code.name == "INTERNAL":
                    broken.append(f"{method.name} {request}")
    assert not broken
    assert outcomes["OK"] > 500
    assert outcomes["INVALID_ARGUMENT"] > 500
