"""Answers as tables for people."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from bgserver.server.foreign import plain
from bgserver.v1 import common_pb2, engine_pb2, rules_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

__all__ = [
    "cube_table",
    "evaluation_table",
    "facts_table",
    "info_table",
    "inspection_table",
    "plain_table",
    "plays_table",
    "presets_table",
    "ranking_table",
    "show",
]

_PIPED_WIDTH = 110
_LIMITS = (
    ("Largest message", "max_message_bytes", " bytes"),
    ("Most requests at once", "max_pending_requests", ""),
    ("Most positions a batch", "max_batch_positions", ""),
    ("Most batches at once", "max_batches", ""),
    ("Most rollouts at once", "max_rollouts", ""),
    ("Most rollouts of one client", "max_rollouts_per_client", ""),
    ("Most trials a rollout", "max_rollout_trials", ""),
    ("Most plays a rollout", "max_rollout_plays", ""),
    ("Most simulations at once", "max_simulations", ""),
    ("Most games a simulation", "max_simulation_games", ""),
    ("Most games that are not over", "max_games", ""),
    ("Most games of bots only at once", "max_engine_games", ""),
    ("Most games of bots only of one client", "max_engine_games_per_client", ""),
    ("Most watchers at once", "max_watchers", ""),
)
"""Limits of a server: their names, their fields and their units."""
_BEAVER_ANSWERS = {
    engine_pb2.BEAVER_ANSWER_DROP: " / drop",
    engine_pb2.BEAVER_ANSWER_RACCOON: " / raccoon",
}
_REFUSALS = {
    "CRAWFORD_GAME": "it is the Crawford game",
    "ONE_POINT_MATCH": "the match is to one point",
    "ALREADY_ROLLED": "the dice are rolled already",
    "NOT_CUBE_OWNER": "the opponent owns the cube",
    "CUBE_AT_CAP": "the cube may go no higher",
    "OFFER_PENDING": "an offer waits for its answer",
    "GAME_OVER": "the game is over",
}
"""Why the player on roll may not double, by the reason of the answer."""


def show(*parts: RenderableType) -> None:
    """Print an answer, its parts with empty lines between them; a pipe is as wide as it needs."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _PIPED_WIDTH
    for number, part in enumerate(parts):
        with console.capture() as capture:
            console.print(part)
        # Tables fill their columns with spaces, which are in the way of whoever copies them.
        lines = [line.rstrip() for line in capture.get().rstrip().splitlines()]
        sys.stdout.write("\n".join([""] * bool(number) + lines) + "\n")


def plain_table(*headings: str, left: Iterable[str] = ()) -> Table:
    """An empty table whose columns are numbers, but for those named in `left`."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in headings:
        is_left = heading in left
        table.add_column(heading, justify="left" if is_left else "right", no_wrap=not is_left)
    return table


def _percent(chance: float) -> str:
    return f"{100 * chance:.1f}"


def _equity(value: float) -> str:
    return f"{value:+.3f}"


def _level(level: common_pb2.Level.ValueType) -> str:
    return common_pb2.Level.Name(level).removeprefix("LEVEL_").lower()


def facts_table(facts: Sequence[tuple[str, str]]) -> Table:
    """A list of names and values."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, value in facts:
        table.add_row(name, plain(value, lines=True))
    return table


def plays_table(plays: Iterable[common_pb2.Play]) -> Table:
    """The plays of a roll; Long Nardy knows neither hits nor blots."""
    plays = list(plays)
    can_hit = any(play.result.variant != common_pb2.VARIANT_LONG_NARDY for play in plays)
    table = plain_table("#", "Play", "Pips", *(["Hits", "Blots"] if can_hit else []), left=["Play"])
    for number, play in enumerate(plays, 1):
        points = play.result.points
        pips = sum(point * count for point, count in enumerate(points) if count > 0)
        cells = [str(number), play.notation, str(pips)]
        if can_hit:
            hits = sum(step.hit for step in play.steps)
            blots = sum(count == 1 for count in points[1:25])
            cells += [str(hits or ""), str(blots or "")]
        table.add_row(*cells)
    return table


def ranking_table(ranking: engine_pb2.RankPlaysResponse) -> Table:
    """Ranked plays, best first."""
    in_match = any(ranked.HasField("match_winning_chances") for ranked in ranking.plays)
    headings = ["#", "Play", "Equity", "Loss", "Win %", "gammon", "backg.", "Lose g.", "backg."]
    table = plain_table(
        *headings, *(["MWC %"] if in_match else []), "Level", left=["Play", "Level"]
    )
    for number, ranked in enumerate(ranking.plays, 1):
        chances = ranked.probabilities
        cells = [
            str(number),
            ranked.play.notation,
            _equity(ranked.equity),
            f"{ranked.equity_loss:.3f}" if number > 1 else "",
            *map(_percent, _chances(chances)),
        ]
        if in_match:
            cells.append(f"{100 * ranked.match_winning_chances:.2f}")
        judged = ranked.preset or _level(ranked.level)
        table.add_row(*cells, judged, style="bold" if number == 1 else None)
    return table


def _chances(chances: common_pb2.Probabilities) -> tuple[float, ...]:
    return (
        chances.win,
        chances.win_gammon,
        chances.win_backgammon,
        chances.lose_gammon,
        chances.lose_backgammon,
    )


def _chances_table(chances: common_pb2.Probabilities) -> Table:
    table = plain_table("", "Wins %", "gammon or better", "backgammon", left=[""])
    lose = 1 - chances.win
    table.add_row(
        "On roll",
        *map(_percent, (chances.win, chances.win_gammon, chances.win_backgammon)),
    )
    table.add_row("Opponent", *map(_percent, (lose, chances.lose_gammon, chances.lose_backgammon)))
    return table


def evaluation_table(evaluation: engine_pb2.EvaluateResponse) -> list[Table]:
    """Chances and equities of a position."""
    facts = [
        ("Cubeless equity", _equity(evaluation.cubeless_equity)),
        ("Cubeful equity", _equity(evaluation.cubeful_equity)),
    ]
    if evaluation.HasField("match_winning_chances"):
        facts.append(("Match winning chances", f"{100 * evaluation.match_winning_chances:.2f} %"))
    facts.append(
        (
            "Judged by",
            f"{evaluation.position_class}, {evaluation.preset or _level(evaluation.level)}",
        )
    )
    return [_chances_table(evaluation.probabilities), facts_table(facts)]


def cube_table(advice: engine_pb2.AdviseCubeResponse) -> list[Table]:
    """Cube advice: the actions with what each is worth, and the points of the market window."""
    facts = [("Cubeless equity", _equity(advice.cubeless_equity))]
    facts += [
        (name, f"{_percent(chance)} %")
        for name, is_known, chance in (
            ("Opponent's take point", advice.HasField("take_point"), advice.take_point),
            ("Doubling point", advice.HasField("doubling_point"), advice.doubling_point),
            ("Cash point", advice.HasField("cash_point"), advice.cash_point),
            ("Too good from", advice.HasField("too_good_point"), advice.too_good_point),
        )
        if is_known
    ]
    facts += [
        (name, f"{value:.2f}")
        for name, is_known, value in (
            ("Gammon value", advice.HasField("gammon_value"), advice.gammon_value),
            (
                "Opponent's gammon value",
                advice.HasField("opponent_gammon_value"),
                advice.opponent_gammon_value,
            ),
        )
        if is_known
    ]
    if advice.refusals:
        reasons = [_REFUSALS.get(reason, reason) for reason in advice.refusals]
        facts.append(("May not double", ", ".join(reasons)))
    elif advice.dead_cube:
        facts.append(("Cube", "dead: no double can gain anything"))
    facts.append(("Judged by", advice.preset or _level(advice.level)))
    return [_actions_table(advice), _chances_table(advice.probabilities), facts_table(facts)]


def _actions_table(advice: engine_pb2.AdviseCubeResponse) -> Table:
    in_match = advice.HasField("no_double_mwc")
    table = plain_table(
        "Action", "Equity", "Diff", *(["MWC %"] if in_match else []), left=["Action"]
    )
    rows = [("No double", advice.no_double_equity, advice.no_double_mwc)]
    if advice.HasField("double_take_equity"):
        rows.append(("Double / take", advice.double_take_equity, advice.double_take_mwc))
    if advice.HasField("double_beaver_equity"):
        answer = _BEAVER_ANSWERS.get(advice.beaver_answer, "")
        rows.append((f"Double / beaver{answer}", advice.double_beaver_equity, 0.0))
    if advice.HasField("double_pass_equity"):
        rows.append(("Double / pass", advice.double_pass_equity, advice.double_pass_mwc))
    # The opponent answers a double with what is worst for the player on roll.
    doubled = [equity for _, equity, _ in rows[1:]]
    best = max(advice.no_double_equity, min(doubled, default=advice.no_double_equity))
    for name, equity, chances in rows:
        extra = [f"{100 * chances:.2f}"] if in_match else []
        table.add_row(name, _equity(equity), _equity(equity - best), *extra)
    return table


def inspection_table(
    facts: rules_pb2.InspectPositionResponse, position: common_pb2.PositionSource
) -> list[Table]:
    """Facts of a position; its faults, if it has any."""
    if facts.faults:
        faults = plain_table("Field", "Reason", "Fault", left=["Field", "Reason", "Fault"])
        for fault in facts.faults:
            faults.add_row(fault.field, fault.reason, fault.message)
        return [faults]
    has_bar = position.position.variant != common_pb2.VARIANT_LONG_NARDY
    sides = plain_table("", "Pips", "Off", *(["Enters with"] if has_bar else []), left=[""])
    for side, pips, off, entering in (
        ("On roll", facts.pips, facts.off, facts.entering_rolls),
        ("Opponent", facts.opponent_pips, facts.opponent_off, facts.opponent_entering_rolls),
    ):
        sides.add_row(side, str(pips), str(off), *([f"{entering}/36"] if has_bar else []))
    tables = [sides]
    if facts.blots:
        blots = plain_table("Blot of", "Point", "Hit by", left=["Blot of"])
        for blot in facts.blots:
            owner = "opponent" if blot.opponent else "on roll"
            blots.add_row(owner, str(blot.point), f"{blot.hitting_rolls}/36")
        tables.append(blots)
    phase = rules_pb2.Phase.Name(facts.phase).removeprefix("PHASE_").lower().replace("_", "-")
    rows = [("Phase", phase)]
    if facts.result:
        winner = "on roll" if facts.result > 0 else "opponent"
        rows.append(("Winner", f"{winner}, {abs(facts.result)} point(s)"))
    tables.append(facts_table(rows))
    return tables


def presets_table(presets: Iterable[rules_pb2.Preset]) -> Table:
    """The named rule sets."""
    table = plain_table("Preset", "Game", "Session", "Cube", "What for",
                   left=["Preset", "Game", "Session", "Cube", "What for"])  # fmt: skip
    for preset in presets:
        rules = preset.rules
        table.add_row(
            preset.name,
            _word(common_pb2.Variant.Name(rules.variant), "VARIANT_"),
            _word(rules_pb2.Session.Name(rules.session), "SESSION_"),
            _word(rules_pb2.CubeUse.Name(rules.cube), "CUBE_USE_"),
            preset.summary,
        )
    return table


def _word(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).lower()


def info_table(info: engine_pb2.GetInfoResponse) -> list[Table]:
    """What a server is and can do."""
    facts = facts_table(
        [
            ("Version", info.version),
            ("Levels", ", ".join(map(_level, info.levels))),
            ("Rollout levels", ", ".join(info.rollout_levels)),
            ("Digest of weights and tables", info.digest),
            ("Threads", str(info.threads)),
            ("Match equity table", info.match_equity_table),
            *((name, f"{getattr(info.limits, field):,}{unit}") for name, field, unit in _LIMITS),
        ]
    )
    networks = plain_table("Network", "Game", "Version", "Loaded", "Description",
                      left=["Network", "Game", "Version", "Loaded", "Description"])  # fmt: skip
    for network in info.networks:
        networks.add_row(
            network.name,
            _word(common_pb2.Variant.Name(network.variant), "VARIANT_"),
            network.version,
            "yes" if network.loaded else "no",
            network.description,
        )
    return [facts, networks]
