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
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from bench.strength import reference
from bench.strength.luck import LuckMeter
from bench.strength.match import EnginePlayer, Opponent, play_pairs
from bench.strength.record import MatchFile, RecordError, Summary, summarize
from bgserver.engine.errors import EngineError
from bgserver.engine.evaluator import Engine
from bgserver.engine.levels import Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgserver.engine.statistics import Estimate

_LOG_S = 60.0  # between two lines of a log where there is no terminal for a progress bar
_LEVELS = [level.value for level in Engine.levels]

console = Console(stderr=True)
"""Where progress goes; results go to the standard output."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        command = {"reference": _reference, "match": _match}[options.command]
        return command(options)
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
    match.add_argument("--games", type=int, default=2000, help="in all; two make a pair")
    match.add_argument("--seed", type=int, default=1)
    match.add_argument("--out", type=Path, required=True, help="file to begin or to continue")
    match.add_argument(
        "--workers",
        type=int,
        help="games at a time; default 12 against static GNU Backgammon, which sleeps between "
        "its plays, else one for each core",
    )
    for command in (loss, match):
        command.add_argument("--weights", type=Path, help="folder with other weights")
        command.add_argument("--json", action="store_true", help="print figures for a program")
        add_program_arguments(command)
    return parser


def _levels(text: str) -> list[Level]:
    names = text.split(",")
    if unknown := [name for name in names if name not in _LEVELS]:
        message = f"unknown {', '.join(unknown)}; levels are {', '.join(_LEVELS)}"
        raise argparse.ArgumentTypeError(message)
    return [Level(name) for name in names]


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


def _match(options: argparse.Namespace) -> int:
    programs = programs_of(options)
    settings = {
        "opponent": options.opponent,
        "version": programs.version(options.opponent),
        "our_level": options.our_level,
        "their_level": options.their_level,
        "seed": options.seed,
        "weights": _digest([_weights_file(options.weights)]),
        "rules": "cubeless, money, no Jacoby rule",
    }
    total = -(-options.games // 2)
    title = f"{options.our_level} against {level_name(options.opponent, options.their_level)}"
    engine = Engine.load(weights=options.weights)
    with MatchFile(options.out, settings) as file:
        missing = [number for number in range(total) if number not in file.pairs]
        if missing:
            _play(options, engine, file, missing, title)
        pairs = [pair for number, pair in sorted(file.pairs.items()) if number < total]
        sources = {note["engine"] for note in file.runs}
    if len(sources) > 1:
        console.print("the engine's code has changed since the match began")
    if not pairs:
        print("no pair has been played")
        return 1
    _print_match(options, settings, title, summarize(pairs))
    return 0


def _play(
    options: argparse.Namespace, engine: Engine, file: MatchFile, missing: list[int], title: str
) -> None:
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
    opponent = Opponent(programs_of(options), options.opponent, options.their_level)
    ours = EnginePlayer(engine, Level(options.our_level))
    workers = options.workers or _default_workers(opponent)
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
            ours, opponent, options.seed, missing, LuckMeter(engine), workers=workers
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


def _print_match(
    options: argparse.Namespace, settings: dict[str, Any], title: str, summary: Summary
) -> None:
    points = summary.points_per_game
    if options.json:
        figures = dataclasses.asdict(summary)
        if math.isinf(points.high):  # of a single pair; JSON has no infinity
            figures["points_per_game"] = {"mean": points.mean}
            figures["with_luck"] = {"mean": summary.with_luck.mean}
        print(json.dumps({"settings": settings, "result": figures}, indent=2))
        return
    verdict = "no significant difference"
    if points.low > 0:
        verdict = "ahead"
    elif points.high < 0:
        verdict = "behind"
    print(f"bgserver {title}, {settings['version']}")
    print(f"{summary.games:,} games, duplicate dice, seed {options.seed}, {settings['rules']}")
    print(f"points a game without luck: {_line(points)}: {verdict}")
    print(f"points a game as won:       {_line(summary.with_luck)}")
    print(f"worth {summary.worth_games:,.0f} games with luck and dice of their own")
    print(f"won: {summary.win_rate:.2%}")
    print(
        f"gammons and backgammons: won {summary.gammon_rate:.2%}, "
        f"lost {summary.lost_gammon_rate:.2%}"
    )
    print(
        f"backgammons: won {summary.backgammon_rate:.2%}, lost {summary.lost_backgammon_rate:.2%}"
    )
    print(f"turns a game: {summary.turns:.1f}")


def _line(estimate: Estimate) -> str:
    return f"{estimate.mean:+.4f}, 95 % {estimate.low:+.4f} to {estimate.high:+.4f}"


def _weights_file(folder: Path | None) -> Path:
    if folder is None:
        folder = Path(str(resources.files(bgserver) / "data" / "weights"))
    return folder / "backgammon.npz"


def _digest(paths: list[Path]) -> str:
    """A short hash of the contents of files."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
