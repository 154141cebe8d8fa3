"""The command that answers a file of questions: batch."""

from __future__ import annotations

import enum
import json as json_module
import sys
import time
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, replace
from pathlib import Path  # noqa: TC003 -- typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from bgserver.cli import tables
from bgserver.cli.batch_lines import LineSettings
from bgserver.cli.batch_output import look_at_input, opened, require_place
from bgserver.cli.batch_summary import Summary, draw
from bgserver.cli.batch_workers import Workers, here, on_cluster, on_server
from bgserver.cli.options import (
    DEPTHS,
    LIMIT_OPTIONS,
    AddressOption,
    JudgeOption,
    TimeMsOption,
    TimeoutOption,
    TokenOption,
    is_rollout_level,
    limit_message,
    unknown_level,
)
from bgserver.cli.own_words import naming_options
from bgserver.cli.plots import require_plot
from bgserver.cli.problems import FAILED, INTERRUPTED, gathered, input_error
from bgserver.cli.progress import counter, rate_text
from bgserver.cli.transport import NAME_SERVER, token_faults
from bgserver.engine.errors import ClusterError, Fault, InvalidInputError
from bgserver.server.errors import StatusError
from bgserver.server.foreign import SCHEDULER_EXPECTED, is_scheduler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver.cli.batch_output import Input, Output

__all__ = ["register"]

_MOST = (1 << 32) - 1
_ROLLOUTS = "Rollouts"


class Kind(enum.Enum):
    """What lines ask that do not say it."""

    AUTO = "auto"
    EVALUATE = "evaluate"
    PLAYS = "plays"
    CUBE = "cube"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(rich_help_panel="Scripts")(batch)


def batch(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Questions, one a line.")],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Answers, one a line of JSON.")],
    kind: Annotated[
        Kind,
        typer.Option(help="What lines ask that do not say it; auto: plays if there is a roll."),
    ] = Kind.AUTO,
    level: JudgeOption = None,
    time_ms: TimeMsOption = None,
    most: Annotated[
        int, typer.Option("--max", "-n", min=0, help="At most so many plays an answer; 0: all.")
    ] = 5,
    cubeless: Annotated[
        bool,
        typer.Option("--cubeless", help="Rank by cubeless money equity; roll out without cube."),
    ] = False,
    rollout: Annotated[
        bool,
        typer.Option(
            "--rollout",
            help="Roll out, instead of looking ahead; --level is the level of both sides.",
            rich_help_panel=_ROLLOUTS,
        ),
    ] = False,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_MOST,
            help="Trials of each candidate, at most.",
            show_default="1296",
            rich_help_panel=_ROLLOUTS,
        ),
    ] = None,
    standard_error: Annotated[
        float | None,
        typer.Option(
            "--se",
            help="End at this standard error; needs --trials.",
            show_default=False,
            rich_help_panel=_ROLLOUTS,
        ),
    ] = None,
    truncate: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_MOST,
            help="Evaluate after so many rolls.",
            show_default="to the end",
            rich_help_panel=_ROLLOUTS,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0, max=_MOST, help="Seed of the dice of every line.", rich_help_panel=_ROLLOUTS
        ),
    ] = 1,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew, whatever OUT holds.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the equities, and how rollouts converged, as .png, .svg or .pdf.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of this process [one for each processor]."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="tcp://HOST:PORT",
            help="Let the workers of this Dask cluster answer (extra bgserver[dask]).",
        ),
    ] = None,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Answer a file of questions into a file of answers; goes on where it was interrupted.

    A line of IN is an XGID, or a JSON object with one of xgid, gnu_id, position or state, and if
    you like with id, dice, kind (evaluate, plays, cube), level or time_ms, max_plays, cubeless,
    first_turn, rollout (true, or fields of RolloutRequest); or a request of AnalyzeBatch as
    protobuf JSON. Lines of OUT come in the order of IN, each with the number of its line; a
    question that cannot be answered gets a line with `error`, and the exit code is 1 at the end.

    OUT is only ever appended to. After an interruption of any kind the same command goes on; other
    settings, weights or questions are refused. The same questions with the same level give the
    same OUT, byte for byte, on any number of threads, on a server and on a cluster.
    """
    settings = LineSettings(
        kind=kind.value,
        level=level,
        time_ms=time_ms,
        max_plays=most,
        cubeless=cubeless,
        rollout=rollout,
        trials=trials,
        standard_error=standard_error,
        truncate=truncate,
        seed=seed,
    )
    idle = _idle_options(cluster, address, threads, token, timeout)
    _require_settings(settings, plot, cluster, address, idle)
    require_place(output, source)
    questions = look_at_input(source)
    summary = Summary()
    started = time.monotonic()
    workers: AbstractContextManager[Workers]
    if cluster is not None:
        workers = on_cluster(cluster)
    elif address is not None:
        workers = on_server(address, token, timeout)
    else:
        workers = here(threads)
    with workers as answering:
        settings = replace(settings, level=_full_level(level, answering.rollout_levels))
        recorded = {"bgserver": answering.version, "digest": answering.digest, **asdict(settings)}
        with opened(output, questions, recorded, summary.add, anew=overwrite) as target:
            before = summary.lines
            started = time.monotonic()
            _answer(answering, settings, questions, target, summary)
    seconds = time.monotonic() - started
    _tell_refusals(summary)
    if plot is not None:
        draw(summary, plot)
    new = summary.lines - before
    if json:
        fields = {**summary.fields(), "new": new, "seconds": round(seconds, 3)}
        sys.stdout.write(f"{json_module.dumps(fields)}\n")
    else:
        rate = new / seconds if seconds > 0 else 0.0
        there = f", {before:,} were there" if before else ""
        tables.show(summary.table(), f"{new:,} lines in {seconds:.1f} s ({rate_text(rate)}){there}")
    if summary.errors:
        raise typer.Exit(FAILED)


def _full_level(level: str | None, rollout_levels: Sequence[str]) -> str | None:
    """The level with its version, if it is one that rolls out: answers depend on that.

    Args:
        level: As it was typed.
        rollout_levels: Those that there are, with their versions.

    Raises:
        InvalidInputError: There is no such rollout level.
    """
    if level is None or not is_rollout_level(level):
        return level
    for full in rollout_levels:
        if level in {full, full.partition("@")[0]}:
            return full
    message = unknown_level(repr(level), rollout_levels)
    raise input_error(message, field="--level", reason="UNKNOWN_LEVEL")


def _require_settings(
    settings: LineSettings,
    plot: Path | None,
    cluster: str | None,
    address: str | None,
    idle: Sequence[Fault],
) -> None:
    """See that the settings fit together; every fault is named.

    Args:
        settings: Of the lines.
        plot: Where to draw.
        cluster: The scheduler of a cluster.
        address: A server.
        idle: Options that these would not look at.
    """
    faults: list[Fault] = []
    with gathered(faults), naming_options(LIMIT_OPTIONS):
        limit_message(settings.level, settings.time_ms)
    faults += _rollout_faults(settings)
    if cluster is not None and not is_scheduler(cluster):
        message = f"{SCHEDULER_EXPECTED}, got {cluster!r}"
        faults.append(Fault("--cluster", "NOT_AN_ADDRESS", message))
    if cluster is not None and address is not None:
        message = "expected a server or a cluster, got both"
        faults.append(Fault("--cluster", "WORKERS_AMBIGUOUS", message))
    faults += idle
    if plot is not None:
        with gathered(faults):
            require_plot(plot)
    if faults:
        raise InvalidInputError(faults)


def _idle_options(
    cluster: str | None,
    address: str | None,
    threads: int | None,
    token: str | None,
    timeout: float | None,
) -> list[Fault]:
    """Options that those who answer would not look at; all are given as they were typed."""
    faults = []
    if threads is not None and (cluster is not None or address is not None):
        message = "the threads are those of this process, and others answer"
        faults.append(Fault("--threads", "ONLY_HERE", message))
    faults += token_faults(address, token)
    if timeout is not None and address is None:
        message = f"it is for the answers of a server, {NAME_SERVER}"
        faults.append(Fault("--timeout", "ONLY_WITH_ADDRESS", message))
    return faults


def _rollout_faults(settings: LineSettings) -> list[Fault]:
    """Settings of rollouts that are missing, or there without rollouts."""
    if not settings.rollout:
        message = "only with --rollout; a line may say it in its own rollout"
        given = {
            "--trials": settings.trials,
            "--se": settings.standard_error,
            "--truncate": settings.truncate,
        }
        return [
            Fault(name, "ONLY_WITH_ROLLOUT", message)
            for name, value in given.items()
            if value is not None
        ]
    faults = []
    if settings.time_ms is not None:
        message = "expected a time or rollouts, got both"
        faults.append(Fault("--time-ms", "LIMIT_AMBIGUOUS", message))
    if settings.level is not None and is_rollout_level(settings.level):
        message = f"a rollout plays at one of {', '.join(DEPTHS)}, got {settings.level!r}"
        faults.append(Fault("--level", "ROLLOUT_IN_ROLLOUT", message))
    if settings.standard_error is not None and settings.trials is None:
        message = "expected --trials, after which a rollout ends in any case"
        faults.append(Fault("--trials", "TRIALS_REQUIRED", message))
    return faults


def _tell_stop(summary: Summary, questions: Input) -> None:
    message = f"stopped after {summary.lines:,} of {questions.lines:,} lines"
    sys.stderr.write(f"{message}; the same command goes on\n")


def _tell_refusals(summary: Summary) -> None:
    """Name the first questions that have no answer."""
    for figure in summary.refusals:
        sys.stderr.write(f"line {figure.line}: {figure.message}\n")
    if (more := summary.errors.total() - len(summary.refusals)) > 0:
        sys.stderr.write(f"and {more:,} more without an answer\n")


def _answer(
    workers: Workers, settings: LineSettings, questions: Input, target: Output, summary: Summary
) -> None:
    """Answer what is not answered yet."""
    left = questions.lines - summary.lines
    answers = workers.answers(questions.read(target.last), left, settings)
    with (
        counter("answering", questions.lines, done=summary.lines) as advance,
        closing(answers),
    ):
        try:
            for written in answers:
                target.append(written.lines, written.last)
                for defect in written.defects:
                    sys.stderr.write(f"{defect}\n")
                for figure in written.figures:
                    summary.add(figure)
                errors = summary.errors.total()
                advance(summary.lines, f"{errors:,} without an answer" if errors else "")
        except KeyboardInterrupt:
            _tell_stop(summary, questions)
            raise typer.Exit(INTERRUPTED) from None
        except (ClusterError, StatusError):
            _tell_stop(summary, questions)
            raise
