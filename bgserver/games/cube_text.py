"""The clauses of the cube: use, limits, match rules and money rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.games.rule_clause import Clause, Topic
from bgserver.games.rules import (
    AutoDouble,
    AutoDoubleScope,
    CubeUse,
    HollandCount,
    HollandScope,
    RaccoonOwner,
    Session,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.games.rules import Rules

__all__ = ["cube_clauses"]


def cube_clauses(rules: Rules) -> Iterator[Clause]:
    """What a rule set says about the cube."""
    yield from _use(rules)
    if not rules.has_cube:
        return
    yield Clause(
        Topic.CUBE,
        (),
        "Before rolling, a player may double the stake. The opponent takes, and owns the cube from "
        "then on, or drops and loses what the game counted before. Only the owner may double next.",
        "Vor dem Wurf darf ein Spieler den Einsatz verdoppeln. Der Gegner nimmt an und besitzt "
        "dann den Dopplerwürfel, oder er lehnt ab und verliert, was die Partie bisher zählte. "
        "Weiter verdoppeln darf nur der Besitzer.",
    )
    if rules.cube_cap is not None:
        yield Clause(
            Topic.CUBE,
            ("cube_cap",),
            f"The cube goes no higher than {rules.cube_cap}.",
            f"Höher als {rules.cube_cap} geht der Dopplerwürfel nicht.",
        )
    if rules.forbid_dead_cube:
        yield Clause(
            Topic.CUBE,
            ("forbid_dead_cube",),
            "A player whom the present cube already brings the match may not double.",
            "Wem der jetzige Stand des Dopplerwürfels schon zum Matchgewinn reicht, der darf nicht "
            "verdoppeln.",
        )
    if rules.session is Session.MATCH:
        yield from _match_rules(rules)
    yield from _money_rules(rules)
    yield from _automatic_doubles(rules)


def _use(rules: Rules) -> Iterator[Clause]:
    if rules.cube is CubeUse.OFF:
        yield Clause(
            Topic.CUBE,
            ("cube",),
            "There is no doubling cube.",
            "Es wird ohne Dopplerwürfel gespielt.",
        )
    elif rules.cube is CubeUse.SELECTABLE:
        yield Clause(
            Topic.CUBE,
            ("cube",),
            "The players agree before the game whether to use the cube. It starts at 1 in the "
            "middle.",
            "Ob mit Dopplerwürfel gespielt wird, wird vorher vereinbart. Er beginnt mit 1 in der "
            "Mitte.",
        )
    else:
        yield Clause(
            Topic.CUBE,
            ("cube",),
            "The cube starts each game at 1 in the middle, for both players.",
            "Der Dopplerwürfel liegt zu Beginn jeder Partie mit 1 in der Mitte, für beide.",
        )


def _match_rules(rules: Rules) -> Iterator[Clause]:
    if rules.crawford:
        yield Clause(
            Topic.CUBE,
            ("crawford",),
            "Crawford rule: in the first game after a player has come within one point of the "
            "match nobody may double; afterwards both may again.",
            "Crawford-Regel: In der ersten Partie, nachdem einem Spieler nur noch ein Punkt fehlt, "
            "darf niemand verdoppeln; danach dürfen es beide wieder.",
        )
    else:
        yield Clause(
            Topic.CUBE,
            ("crawford",),
            "The Crawford rule is not used: the cube is free in every game of a match.",
            "Ohne Crawford-Regel: In jeder Partie des Matchs darf verdoppelt werden.",
        )
    if not rules.holland:
        return
    rolls = rules.holland_rolls or 0
    both = rules.holland_scope is HollandScope.BOTH
    who = ("neither player", "keiner") if both else ("the trailing player", "der Zurückliegende")
    verb = (
        ("may double", "darf verdoppeln") if both else ("may not double", "darf nicht verdoppeln")
    )
    if rules.holland_count is HollandCount.TOTAL:
        count = (f"{rolls} turns in all have been played", f"insgesamt {rolls} Züge gespielt sind")
    else:
        count = (f"each side has played {rolls} turns", f"jede Seite {rolls} Züge gespielt hat")
    yield Clause(
        Topic.CUBE,
        ("holland", "holland_rolls", "holland_count", "holland_scope"),
        f"Holland rule: in the games after the Crawford game {who[0]} {verb[0]} until {count[0]}.",
        f"Holland-Regel: In den Partien nach der Crawford-Partie gilt: {who[1]} {verb[1]}, bevor "
        f"{count[1]}.",
    )


def _money_rules(rules: Rules) -> Iterator[Clause]:
    if rules.jacoby:
        yield Clause(
            Topic.CUBE,
            ("jacoby",),
            "Jacoby rule: gammon and backgammon count more than 1 only if a double has been taken "
            "in the game.",
            "Jacoby-Regel: Gammon und Backgammon zählen nur dann mehr als 1, wenn in der Partie "
            "ein Doppel angenommen wurde.",
        )
    elif rules.session is Session.MONEY:
        yield Clause(
            Topic.CUBE,
            ("jacoby",),
            "The Jacoby rule is not used: gammons always count.",
            "Ohne Jacoby-Regel: Gammons zählen immer.",
        )
    if rules.beaver:
        yield Clause(
            Topic.CUBE,
            ("beaver",),
            "Beaver: whoever takes a double may turn the cube once more and keeps it.",
            "Beaver: Wer ein Doppel annimmt, darf den Dopplerwürfel sofort noch einmal drehen und "
            "behält ihn.",
        )
        if rules.beaver_may_be_dropped is False:
            yield Clause(
                Topic.CUBE,
                ("beaver_may_be_dropped",),
                "A beaver must be accepted.",
                "Ein Beaver muss angenommen werden.",
            )
        else:
            yield Clause(
                Topic.CUBE,
                ("beaver_may_be_dropped",),
                "The doubler may drop instead and loses the value before the beaver.",
                "Der Verdoppelnde darf dann auch ablehnen und verliert den Wert vor dem Beaver.",
            )
    if rules.raccoon:
        owner = ("the player who beavered", "wer gebeavert hat")
        if rules.raccoon_owner is RaccoonOwner.RACCOONER:
            owner = ("the player who raccooned", "wer den Raccoon gemacht hat")
        yield Clause(
            Topic.CUBE,
            ("raccoon", "raccoon_owner"),
            f"Raccoon: a beaver may be answered by turning the cube once more; {owner[0]} then "
            "owns it.",
            "Raccoon: Auf einen Beaver darf der Dopplerwürfel noch einmal gedreht werden; ihn "
            f"besitzt dann, {owner[1]}.",
        )


def _automatic_doubles(rules: Rules) -> Iterator[Clause]:
    if rules.auto_double not in {AutoDouble.A, AutoDouble.B}:
        return
    if rules.auto_double is AutoDouble.A:
        yield Clause(
            Topic.CUBE,
            ("auto_double",),
            "Automatic doubles: equal opening numbers double the stake; the cube stays in the "
            "middle, and the opening is rolled again.",
            "Automatische Doppel: Gleiche Zahlen beim Anwürfeln verdoppeln den Einsatz; der "
            "Dopplerwürfel bleibt in der Mitte, und es wird neu angewürfelt.",
        )
    elif rules.auto_double_b_scope is AutoDoubleScope.FIRST_ROLL_OF_EACH_SIDE:
        yield Clause(
            Topic.CUBE,
            ("auto_double", "auto_double_b_scope"),
            "Automatic doubles: a double on the first roll of two dice of either side doubles the "
            "stake; the cube stays in the middle.",
            "Automatische Doppel: Ein Pasch beim ersten Wurf mit zwei Würfeln einer jeden Seite "
            "verdoppelt den Einsatz; der Dopplerwürfel bleibt in der Mitte.",
        )
    else:
        yield Clause(
            Topic.CUBE,
            ("auto_double", "auto_double_b_scope"),
            "Automatic doubles: a double on the first roll of two dice in the game doubles the "
            "stake; the cube stays in the middle.",
            "Automatische Doppel: Ein Pasch beim allerersten Wurf mit zwei Würfeln verdoppelt den "
            "Einsatz; der Dopplerwürfel bleibt in der Mitte.",
        )
    limit = rules.auto_double_limit or 0
    yield Clause(
        Topic.CUBE,
        ("auto_double_limit",),
        f"This happens at most {_times(limit)} in a game.",
        f"Das geschieht höchstens {limit}-mal in einer Partie.",
    )
    if rules.jacoby_auto_double_counts:
        yield Clause(
            Topic.CUBE,
            ("jacoby_auto_double_counts",),
            "For the Jacoby rule an automatic double counts as taken.",
            "Für die Jacoby-Regel gilt ein automatisches Doppel als angenommen.",
        )


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
