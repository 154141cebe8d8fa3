"""The command line; `bench.strength` says how it is used."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import hashlib
import json
import math
import os
import platform
import sys
import time
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import bgserver
from bench.peers import (
    NAMES,
    PeerError,
    add_program_arguments,
    level_name,
    programs_of,
)
from bench.strength import own, reference
from bench.strength.luck import LuckMeter
from bench.strength.match import EnginePlayer, Opponent, play_pairs
from bench.strength.record import MatchFile, RecordError, Summary, summarize
from bgserver.engine.errors import EngineError
from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level
from bgserver.engine.position import Variant
from bgserver.engine.rollout_level import ROLLOUT_LEVELS, find_rollout_level

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from bench.strength.match import Judge, Player
    from bgserver.engine.rollout_level import RolloutLevel
    from bgserver.engine.statistics import Estimate

_LOG_S = 60.0  # between two lines of a log where there is no terminal for a progress bar
_LEVELS = [level.value for level in Engine.levels]

console = Console(stderr=True)
"""Where progress goes; results go to the standard output."""


class _Rung(NamedTuple):
    """A player of a ladder."""

    level: Level
    weights: Path | None

    def __str__(self) -> str:
        return self.level.value if self.weights is None else f"{self.level.value}:{self.weights}"


@dataclass(frozen=True, slots=True)
class _Contest:
    """A match against a peer, or of the engine against itself."""

    title: str
    """Who plays whom."""
    settings: dict[str, Any]
    """What the file must have begun with."""
    ours: Player
    """Whose points are counted."""
    seat: Callable[[], AbstractContextManager[Player]]
    """Makes an opponent for one thread."""
    judge: Judge
    """Who measures luck."""
    workers: int
    """Threads."""
    variant: Variant = Variant.BACKGAMMON
    """What is played."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        commands = {"reference": _reference, "match": _match, "ladder": _ladder, "own": _own}
        return commands[options.command](options)
    except (PeerError, RecordError, EngineError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.strength", description="How strong the engine is."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    loss = commands.add_parser("reference", help="loss on the reference decisions")
    loss.add_argument("--levels", type=_levels, default=_levels("static,lookahead_1"))
    loss.add_argument("--every", type=int, default=1, help="take every n-th decision only")
    loss.add_argument(
        "--peer",
        action="append",
        default=[],
        type=_peer,
        metavar="NAME:ROLLS",
        help="ask a peer now as well, for example gnubg:0",
    )
    match = commands.add_parser("match", help="games against another engine")
    match.add_argument("--opponent", choices=NAMES, required=True)
    match.add_argument("--our-level", choices=_LEVELS, default="static")
    match.add_argument(
        "--their-level", type=int, choices=(0, 1, 2), default=0, help="rolls it looks ahead"
    )
    match.add_argument(
        "--workers",
        type=int,
        help="games at a time; default 12 against static GNU Backgammon, which sleeps between "
        "its plays, else one for each core",
    )
    ladder = commands.add_parser("ladder", help="games of the engine against itself")
    for name in ("--first", "--second"):
        ladder.add_argument(
            name,
            type=_rung,
            default=_rung("static"),
            metavar="LEVEL[:FOLDER]",
            help=f"level ({', '.join(_LEVELS)}), and folder with weights",
        )
    ladder.add_argument("--workers", type=int, help="games at a time; default one for each core")
    error = commands.add_parser("own", help="loss by the engine's own look-ahead, on self-play")
    error.add_argument("--count", type=int, default=400, help="decisions")
    for command in (match, ladder):
        command.add_argument("--games", type=int, default=2000, help="in all; two make a pair")
        command.add_argument("--out", type=Path, required=True, help="file to begin or to continue")
    for command in (ladder, error):
        command.add_argument(
            "--variant", choices=[game.value for game in Variant], default="backgammon"
        )
    for command in (match, ladder, error):
        command.add_argument("--seed", type=int, default=1)
    for command in (loss, match, ladder, error):
        command.add_argument("--json", action="store_true", help="print figures for a program")
    for command in (loss, match, error):
        command.add_argument("--weights", type=Path, help="folder with other weights")
    for command in (loss, match):
        add_program_arguments(command)
    return parser


def _rung(text: str) -> _Rung:
    name, _, folder = text.partition(":")
    if name not in _LEVELS:
        message = f"unknown {name!r}; levels are {', '.join(_LEVELS)}"
        raise argparse.ArgumentTypeError(message)
    return _Rung(Level(name), Path(folder) if folder else None)


def _levels(text: str) -> list[Level | RolloutLevel]:
    names = text.split(",")
    if unknown := [n for n in names if n not in _LEVELS and find_rollout_level(n) is None]:
        known = [*_LEVELS, *(level.name for level in ROLLOUT_LEVELS)]
        message = f"unknown {', '.join(unknown)}; levels are {', '.join(known)}"
        raise argparse.ArgumentTypeError(message)
    return [find_rollout_level(name) or Level(name) for name in names]


def _peer(text: str) -> tuple[str, int]:
    name, _, rolls = text.partition(":")
    if name not in NAMES or rolls not in ("0", "1", "2"):
        message = f"expected one of {', '.join(NAMES)}, a colon and 0, 1 or 2; got {text!r}"
        raise argparse.ArgumentTypeError(message)
    return name, int(rolls)


def _reference(options: argparse.Namespace) -> int:
    engine = Engine.load(weights=options.weights)
    chosen = reference.decisions(max(1, options.every))
    players = [reference.measure(engine, level, chosen, console) for level in options.levels]
    players += reference.recorded(chosen)
    for name, rolls in options.peer:
        players.append(reference.measure_peer(programs_of(options), name, rolls, chosen, console))
    if options.json:
        figures = {player.name: player.figures() for player in players}
        print(json.dumps({"decisions": len(chosen), "players": figures}, indent=2))
    else:
        reference.print_table(players, chosen, Console(width=max(Console().width, 150)))
    return 0


def _own(options: argparse.Namespace) -> int:
    core = Engine.load(weights=options.weights).core(Variant(options.variant))
    rows = own.measure(core, max(1, options.count), options.seed, console)
    if options.json:
        settings = {
            "variant": options.variant,
            "seed": options.seed,
            "weights": _digest([_weights_file(options.weights, core.weights.variant)]),
        }
        print(json.dumps({"settings": settings, "classes": own.figures(rows)}, indent=2))
    else:
        own.print_table(rows, Console())
    return 0


def _match(options: argparse.Namespace) -> int:
    programs = programs_of(options)
    settings = {
        "opponent": options.opponent,
        "version": programs.version(options.opponent),
        "our_level": options.our_level,
        "their_level": options.their_level,
        "seed": options.seed,
        "weights": _digest([_weights_file(options.weights, Variant.BACKGAMMON)]),
        "rules": "cubeless, money, no Jacoby rule",
    }
    opponent = Opponent(programs, options.opponent, options.their_level)
    engine = Engine.load(weights=options.weights)
    contest = _Contest(
        title=f"{options.our_level} against {level_name(opponent.name, opponent.rolls)}, "
        f"{settings['version']}",
        settings=settings,
        ours=EnginePlayer(engine, Level(options.our_level)),
        seat=opponent.seat,
        judge=LuckMeter(engine),
        workers=options.workers or _default_workers(opponent),
    )
    return _contest(options, contest)


def _ladder(options: argparse.Namespace) -> int:
    variant = Variant(options.variant)
    first, second = options.first, options.second
    settings = {
        "variant": variant.value,
        "first": first.level.value,
        "second": second.level.value,
        "first_weights": _digest([_weights_file(first.weights, variant)]),
        "second_weights": _digest([_weights_file(second.weights, variant)]),
        "seed": options.seed,
        "rules": "cubeless, no Jacoby rule",
    }
    engine = Engine.load(weights=first.weights)
    other = engine if second.weights == first.weights else Engine.load(weights=second.weights)
    theirs = EnginePlayer(other, second.level)
    contest = _Contest(
        title=f"{variant.value.replace('_', ' ')}, {first} against {second}",
        settings=settings,
        ours=EnginePlayer(engine, first.level),
        seat=lambda: contextlib.nullcontext(theirs),
        judge=LuckMeter(engine, variant),
        workers=options.workers or os.cpu_count() or 1,
        variant=variant,
    )
    return _contest(options, contest)


def _contest(options: argparse.Namespace, contest: _Contest) -> int:
    """Play what the file lacks and print the result."""
    total = -(-options.games // 2)
    with MatchFile(options.out, contest.settings) as file:
        missing = [number for number in range(total) if number not in file.pairs]
        if missing:
            _play(contest, file, missing)
        pairs = [pair for number, pair in sorted(file.pairs.items()) if number < total]
        sources = {note["engine"] for note in file.runs}
    if len(sources) > 1:
        console.print("the engine's code has changed since the match began")
    if not pairs:
        print("no pair has been played")
        return 1
    summary = summarize(pairs)
    if options.json:
        _print_figures(contest, summary)
    else:
        _print_match(contest, summary)
    return 0


def _play(contest: _Contest, file: MatchFile, missing: list[int]) -> None:
    """Play what is missing; Ctrl-C ends it, and what has been played is kept."""
    package = Path(str(resources.files(bgserver)))
    sources = [path for folder in ("kernels", "engine") for path in (package / folder).glob("*.py")]
    file.begin_run(
        {
            "engine": _digest(sources),
            "python": platform.python_version(),
            "machine": platform.machine(),
            "date": time.strftime("%Y-%m-%d"),
        }
    )
    title = contest.title
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[result]}"),
        console=console,
        disable=not console.is_terminal,
    )
    total = len(missing) + len(file.pairs)
    begun = logged = time.monotonic()
    played = 0
    with progress, contextlib.suppress(KeyboardInterrupt):
        task = progress.add_task(
            title, total=2 * total, completed=2 * len(file.pairs), rate="", result=""
        )
        found = play_pairs(
            contest.ours,
            contest.seat,
            contest.settings["seed"],
            missing,
            contest.judge,
            contest.variant,
            workers=contest.workers,
        )
        with contextlib.closing(found):
            for pair in found:
                file.add(pair)
                played += 1
                now = time.monotonic()
                rate = f"{2 * played / (now - begun):.2g} games/s"
                due = now - logged >= _LOG_S
                if due or progress.live.is_started:
                    result = _interval(summarize(file.pairs.values()))
                    progress.update(task, advance=2, rate=rate, result=result)
                if due and not console.is_terminal:
                    logged = now
                    done = f"{2 * len(file.pairs):,} of {2 * total:,} games"
                    console.print(f"{title}: {done}, {rate}, {result}", soft_wrap=True)


def _default_workers(opponent: Opponent) -> int:
    if opponent.name == "gnubg" and opponent.rolls == 0:
        return 12
    return os.cpu_count() or 1


def _interval(summary: Summary) -> str:
    points = summary.points_per_game
    return f"{points.mean:+.4f} ± {points.high - points.mean:.4f} points a game"


def _print_figures(contest: _Contest, summary: Summary) -> None:
    figures = dataclasses.asdict(summary)
    if math.isinf(summary.points_per_game.high):  # of a single pair; JSON has no infinity
        figures["points_per_game"] = {"mean": summary.points_per_game.mean}
        figures["with_luck"] = {"mean": summary.with_luck.mean}
    print(json.dumps({"settings": contest.settings, "result": figures}, indent=2))


def _print_match(contest: _Contest, summary: Summary) -> None:
    points, settings = summary.points_per_game, contest.settings
    verdict = "no significant difference"
    if points.low > 0:
        verdict = "ahead"
    elif points.high < 0:
        verdict = "behind"
    print(f"bgserver {contest.title}")
    print(f"{summary.games:,} games, duplicate dice, seed {settings['seed']}, {settings['rules']}")
    print(f"points a game without luck: {_line(points)}: {verdict}")
    print(f"points a game as won:       {_line(summary.with_luck)}")
    print(f"worth {summary.worth_games:,.0f} games with luck and dice of their own")
    print(f"turns a game: {summary.turns:.1f}")
    print(f"won: {summary.win_rate:.2%}")
    if contest.variant is Variant.LONG_NARDY:
        print(f"mars: won {summary.gammon_rate:.2%}, lost {summary.lost_gammon_rate:.2%}")
        return
    print(
        f"gammons and backgammons: won {summary.gammon_rate:.2%}, "
        f"lost {summary.lost_gammon_rate:.2%}"
    )
    print(
        f"backgammons: won {summary.backgammon_rate:.2%}, lost {summary.lost_backgammon_rate:.2%}"
    )


def _line(estimate: Estimate) -> str:
    return f"{estimate.mean:+.4f}, 95 % {estimate.low:+.4f} to {estimate.high:+.4f}"


def _weights_file(folder: Path | None, variant: Variant) -> Path:
    if folder is None:
        folder = Path(str(resources.files(bgserver) / "data" / "weights"))
    return folder / f"{variant.value}.npz"


def _digest(paths: list[Path]) -> str:
    """A short hash of the contents of files."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
