"""Questions of any kind in chunks: what `AnalyzeBatch` and `bgserver batch` are made of."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bgserver.engine.errors import EngineError, Fault, InvalidInputError
from bgserver.engine.lookahead import DEPTHS
from bgserver.engine.rollout_spec import MAX_CANDIDATES, MAX_TRIALS
from bgserver.engine.work import run
from bgserver.server.convert_rollout import read_rollout
from bgserver.server.convert_state import refuse
from bgserver.server.errors import entry_of, reason_of
from bgserver.server.questions import (
    RolloutLimits,
    cube_advice,
    evaluation,
    ranking,
    read_cube_question,
    read_evaluation,
    read_ranking,
    rolled_out,
)
from bgserver.v1 import common_pb2, engine_pb2

if TYPE_CHECKING:
    from bgserver.engine.evaluator import Engine
    from bgserver.engine.work import Work

__all__ = [
    "AnalysisChunk",
    "Answer",
    "answer_question",
    "error_message",
    "expected_s",
    "question_faults",
]

# Seconds that questions take by level, on a usual processor: only how many of them make a chunk
# depends on these figures.
_EVALUATION_S = {
    common_pb2.LEVEL_UNSPECIFIED: 0.0001,
    common_pb2.LEVEL_STATIC: 0.0001,
    common_pb2.LEVEL_LOOKAHEAD_1: 0.0005,
    common_pb2.LEVEL_LOOKAHEAD_2: 0.005,
    common_pb2.LEVEL_LOOKAHEAD_3: 0.1,
}
_PLAYS = 4  # a ranking looks at some of the plays
_LONG_S = 1.0


class Answer(NamedTuple):
    """One answer on its way to the client."""

    response: bytes
    """A serialised AnalyzeBatchResponse."""
    defect: str | None
    """For the log: where bgserver failed, which the client is not told."""


@dataclass(frozen=True, slots=True)
class AnalysisChunk:
    """Some questions, answered one after the other; a `Chunk`."""

    requests: tuple[bytes, ...]
    """Serialised AnalyzeBatchRequests."""
    limits: RolloutLimits
    """How much a rollout among them may ask for."""

    def work(self, engine: Engine) -> Work[list[Answer]]:
        """The answers, in the order of the questions."""
        answers = []
        for data in self.requests:
            request = engine_pb2.AnalyzeBatchRequest.FromString(data)
            response, defect = yield from answer_question(engine, request, self.limits)
            answers.append(Answer(response.SerializeToString(), defect))
            yield
        return answers


def answer_question(
    engine: Engine, request: engine_pb2.AnalyzeBatchRequest, limits: RolloutLimits
) -> Work[tuple[engine_pb2.AnalyzeBatchResponse, str | None]]:
    """The answer to one question, or an answer that says why there is none.

    Args:
        engine: The engine.
        request: The question.
        limits: How much a rollout may ask for.

    Returns:
        The answer, and for the log where bgserver failed, if it did.
    """
    response = engine_pb2.AnalyzeBatchResponse(id=request.id)
    try:
        kind = request.WhichOneof("question")
        if kind == "evaluate":
            work, _ = evaluation(engine, request.evaluate)
            response.evaluate.CopyFrom((yield from work))
        elif kind == "rank_plays":
            plays, _ = ranking(engine, request.rank_plays)
            response.rank_plays.CopyFrom((yield from plays))
        elif kind == "advise_cube":
            advice, _ = cube_advice(engine, request.advise_cube)
            response.advise_cube.CopyFrom((yield from advice))
        elif kind == "rollout":
            result, points = yield from rolled_out(engine, request.rollout, limits)
            response.rollout.CopyFrom(result)
            response.convergence.extend(points)
        else:
            message = "expected one of evaluate, rank_plays, advise_cube, rollout"
            refuse([Fault("question", "QUESTION_REQUIRED", message)])
    except EngineError as error:
        response.error.CopyFrom(error_message(error))
    except Exception:  # noqa: BLE001 -- one question must not take the others with it
        response.error.CopyFrom(error_message(EngineError("internal error")))
        return response, traceback.format_exc()
    return response, None


def question_faults(request: engine_pb2.AnalyzeBatchRequest) -> list[Fault]:
    """What can be seen to be wrong with a question without answering it.

    Args:
        request: The question.
    """
    levels = tuple(DEPTHS)
    kind = request.WhichOneof("question")
    try:
        if kind == "evaluate":
            read_evaluation(request.evaluate, levels)
        elif kind == "rank_plays":
            read_ranking(request.rank_plays, levels)
        elif kind == "advise_cube":
            read_cube_question(request.advise_cube, levels)
        elif kind == "rollout":
            run(read_rollout(request.rollout, levels, MAX_TRIALS, MAX_CANDIDATES))
    except InvalidInputError as error:
        return list(error.faults)
    return []


def error_message(error: EngineError) -> engine_pb2.QuestionError:
    """Why a question has no answer."""
    entry = entry_of(error)
    message = engine_pb2.QuestionError(
        code=entry.code.value[0],
        reason=reason_of(error, entry),
        message=entry.message if entry.message is not None else str(error).removeprefix(": "),
    )
    if isinstance(error, InvalidInputError):
        for fault in error.faults:
            message.faults.add(field=fault.field, reason=fault.reason, message=fault.message)
    return message


def expected_s(request: engine_pb2.AnalyzeBatchRequest) -> float:
    """About how long a question takes; a faulty one costs little, whatever is said here."""
    kind = request.WhichOneof("question")
    if kind == "evaluate":
        return _limited_s(request.evaluate.limit, 1)
    if kind == "rank_plays":
        return _limited_s(request.rank_plays.limit, _PLAYS)
    if kind == "advise_cube":
        return _limited_s(request.advise_cube.limit, 1)
    return _LONG_S if kind == "rollout" else 0.0


def _limited_s(limit: common_pb2.Limit, plays: int) -> float:
    if limit.WhichOneof("limit") == "milliseconds":
        return limit.milliseconds / 1000
    if limit.WhichOneof("limit") == "preset":
        return _LONG_S
    return plays * _EVALUATION_S.get(limit.level, _LONG_S)
