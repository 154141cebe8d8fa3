"""The clauses that only Long Nardy has: the head, blocks and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.games.rule_clause import Clause, Topic
from bgserver.games.rules import (
    HeadException,
    HeadExceptionScope,
    Koks,
    LongNardyRules,
    PrimeCheck,
    PrimeRelease,
    PrimeSeam,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.games.rules import Rules

__all__ = ["nardy_clauses"]

_NUMBERS = {1: ("one checker", "ein Stein")}


def nardy_clauses(rules: Rules) -> Iterator[Clause]:
    """What a rule set says about Long Nardy."""
    options = rules.long_nardy or LongNardyRules()
    yield from _head(options)
    yield from _blocks(options)
    yield from _results(rules, options)
    if options.last_move_draw:
        yield Clause(
            Topic.SCORING,
            ("long_nardy.last_move_draw",),
            "If the starter bears off the last checker and the other player has at most one left, "
            "that player rolls once more; bearing it off makes the game a draw.",
            "Hat der Beginnende alle Steine abgetragen und der andere höchstens noch einen, so "
            "würfelt dieser noch einmal; trägt er ihn ab, endet die Partie unentschieden.",
        )


def _head(options: LongNardyRules) -> Iterator[Clause]:
    count = options.head_per_turn
    english, german = _NUMBERS.get(count, (f"{count} checkers", f"{count} Steine"))
    verb = "darf" if count == 1 else "dürfen"
    yield Clause(
        Topic.HEAD,
        ("long_nardy.head_per_turn",),
        f"At most {english} may leave the head in a turn.",
        f"Vom Kopf {verb} in einem Zug höchstens {german} gehen.",
    )
    if options.head_exception is HeadException.NONE:
        yield Clause(
            Topic.HEAD,
            ("long_nardy.head_exception",),
            "There is no exception to this, not even in the first turn.",
            "Davon gibt es keine Ausnahme, auch nicht im ersten Zug.",
        )
        return
    when = {
        HeadException.LISTED_DOUBLES: ("with 3-3, 4-4 or 6-6", "bei 3-3, 4-4 oder 6-6"),
        HeadException.ANY_DOUBLE: ("with any double", "bei jedem Pasch"),
        HeadException.WHEN_BLOCKED: (
            "if the roll cannot be played otherwise",
            "wenn der Wurf anders nicht gespielt werden kann",
        ),
    }[options.head_exception]
    where = ("In a player's first turn", "Im ersten Zug jedes Spielers")
    if options.head_exception_scope is HeadExceptionScope.FIRST_TURN_OF_GAME:
        where = ("In the very first turn of the game", "Im allerersten Zug der Partie")
    yield Clause(
        Topic.HEAD,
        ("long_nardy.head_exception", "long_nardy.head_exception_scope"),
        f"{where[0]} one more may leave it {when[0]}.",
        f"{where[1]} darf ein Stein mehr gehen, {when[1]}.",
    )


def _blocks(options: LongNardyRules) -> Iterator[Clause]:
    if options.prime_check is PrimeCheck.NONE:
        yield Clause(
            Topic.BLOCKS,
            ("long_nardy.prime_check",),
            "Blocks of any length may be built.",
            "Blöcke dürfen beliebig lang sein.",
        )
        return
    length = options.prime_length
    needed = (
        "at least one opposing checker is past it",
        "mindestens ein gegnerischer Stein daran vorbei ist",
    )
    if options.prime_release is PrimeRelease.ONE_IN_HOME:
        needed = (
            "at least one opposing checker is in its home",
            "mindestens ein gegnerischer Stein in seinem Heimfeld steht",
        )
    yield Clause(
        Topic.BLOCKS,
        ("long_nardy.prime_length", "long_nardy.prime_release"),
        f"{length} points in a row may be held only if {needed[0]}.",
        f"{length} Felder in Folge dürfen nur besetzt werden, wenn {needed[1]}.",
    )
    if options.prime_seam is PrimeSeam.CIRCULAR:
        yield Clause(
            Topic.BLOCKS,
            ("long_nardy.prime_seam",),
            "The board counts as a ring: the opponent's last point and first point are neighbours.",
            "Das Brett gilt als Ring: Das letzte und das erste Feld des Gegners sind Nachbarn.",
        )
    else:
        yield Clause(
            Topic.BLOCKS,
            ("long_nardy.prime_seam",),
            "The points must follow each other on the opponent's way, from his start to his end.",
            "Die Felder müssen auf dem Weg des Gegners aufeinander folgen, von seinem Anfang bis "
            "zu seinem Ende.",
        )
    if options.prime_check is PrimeCheck.EACH_STEP:
        yield Clause(
            Topic.BLOCKS,
            ("long_nardy.prime_check",),
            "This holds after every single step, not only at the end of the turn.",
            "Das gilt nach jedem einzelnen Schritt, nicht erst am Ende des Zuges.",
        )
    else:
        yield Clause(
            Topic.BLOCKS,
            ("long_nardy.prime_check",),
            "Only the end of the turn counts for this.",
            "Dafür zählt nur das Ende des Zuges.",
        )
    if options.prime_lifted_when_opponent_bears_off:
        yield Clause(
            Topic.BLOCKS,
            ("long_nardy.prime_lifted_when_opponent_bears_off",),
            "Once the opponent bears off, blocks are free.",
            "Sobald der Gegner abträgt, sind Blöcke frei.",
        )
    else:
        yield Clause(
            Topic.BLOCKS,
            ("long_nardy.prime_lifted_when_opponent_bears_off",),
            "This holds to the end of the game.",
            "Das gilt bis zum Ende der Partie.",
        )


def _results(rules: Rules, options: LongNardyRules) -> Iterator[Clause]:
    if rules.highest_result == 1:
        return  # told with the scoring of every game
    yield Clause(
        Topic.SCORING,
        ("highest_result",),
        "A won game counts 1 point (oin), or 2 (mars) if the loser has borne off nothing.",
        "Eine gewonnene Partie zählt 1 Punkt (Oin), oder 2 (Mars), wenn der Verlierer nichts "
        "abgetragen hat.",
    )
    if options.koks is Koks.THREE and rules.highest_result == 3:
        yield Clause(
            Topic.SCORING,
            ("long_nardy.koks", "highest_result"),
            "It counts 3 (koks) if the loser has brought no checker home.",
            "Sie zählt 3 (Koks), wenn der Verlierer keinen Stein ins Heimfeld gebracht hat.",
        )
