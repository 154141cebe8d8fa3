"""Rules as players read them: short clauses in English and German, made from the parameters.

A rule set is told from its beginning to its end, so that a front end can show it as it is. A
parameter without effect (the roll that automatic doubles look at, where there are none) is not
mentioned.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bgserver.engine.position import Variant
from bgserver.games.cube_text import cube_clauses
from bgserver.games.nardy_text import nardy_clauses
from bgserver.games.rule_clause import Clause, Language, Topic, listed
from bgserver.games.rules import (
    Confirm,
    CubeUse,
    NextStarter,
    OnTimeout,
    OpeningDice,
    OpeningStarter,
    ResignScope,
    Session,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bgserver.games.rules import Rules

__all__ = ["Clause", "Language", "Section", "Topic", "describe_rules", "summary"]

_BOT_NAMES = {"beginner": "Anfänger", "normal": "Normal", "expert": "Experte"}


class _Heading(enum.Enum):
    """Headings of the topics, in English and German."""

    AIM = ("Aim", "Ziel")
    OPENING = ("Opening", "Beginn")
    MOVING = ("Moving", "Ziehen")
    HEAD = ("The head", "Der Kopf")
    BLOCKS = ("Blocks", "Blöcke")
    BEARING_OFF = ("Bearing off", "Abtragen")
    SCORING = ("Scoring", "Wertung")
    CUBE = ("Doubling cube", "Dopplerwürfel")
    SESSION = ("Match and session", "Match und Runde")
    GIVING_UP = ("Giving up", "Aufgeben")
    CLOCK = ("Clock", "Bedenkzeit")
    TURN = ("Making a turn", "Ablauf des Zuges")
    BOTS = ("Bots", "Computergegner")


@dataclass(frozen=True, slots=True)
class Section:
    """The clauses of one topic in one language."""

    topic: Topic
    """What they are about."""
    heading: str
    """The topic's name in the language."""
    clauses: tuple[Clause, ...]
    """The clauses; `text(language)` gives their words."""


def summary(rules: Rules, language: Language) -> str:
    """A rule set in one line."""
    german = language is Language.GERMAN
    nardy = rules.variant is Variant.LONG_NARDY
    game = "Long Nardy" if nardy else "Backgammon"
    kind = {
        Session.SINGLE: ("single games", "einzelne Partien"),
        Session.MONEY: ("money play", "Geldspiel"),
        Session.MATCH: ("match play", "Matchspiel"),
    }[rules.session]
    cube = {
        CubeUse.OFF: ("without a cube", "ohne Dopplerwürfel"),
        CubeUse.ON: ("with the doubling cube", "mit Dopplerwürfel"),
        CubeUse.SELECTABLE: (
            "with or without the doubling cube",
            "wahlweise mit oder ohne Dopplerwürfel",
        ),
    }[rules.cube]
    parts = [game, kind[german], cube[german]]
    if rules.turn_seconds:
        parts.append("mit Bedenkzeit" if german else "with a clock")
    return ", ".join(parts)


def describe_rules(rules: Rules, language: Language) -> tuple[Section, ...]:
    """All sections that a rule set has something to say about, in reading order."""
    clauses = list(_clauses(rules))
    return tuple(
        Section(topic, _Heading[topic.name].value[language is Language.GERMAN], own)
        for topic in Topic
        if (own := tuple(clause for clause in clauses if clause.topic is topic))
    )


def _clauses(rules: Rules) -> Iterator[Clause]:
    yield from _aim(rules)
    yield from _opening(rules)
    yield from _moving(rules)
    if rules.variant is Variant.LONG_NARDY:
        yield from nardy_clauses(rules)
    yield from _bearing_off()
    yield from _scoring(rules)
    yield from cube_clauses(rules)
    yield from _session(rules)
    yield from _clock(rules)
    yield from _turn(rules)
    yield from _bots(rules)


def _aim(rules: Rules) -> Iterator[Clause]:
    yield Clause(
        Topic.AIM,
        ("variant",),
        "Both players have 15 checkers. The first to bear off all of them wins.",
        "Beide haben 15 Steine. Wer zuerst alle abgetragen hat, gewinnt.",
    )
    if rules.variant is Variant.LONG_NARDY:
        yield Clause(
            Topic.AIM,
            ("variant",),
            "All 15 checkers start on the player's own point 24, the head. Both players move in "
            "the same direction around the board, from point 24 to point 1, half a board apart.",
            "Alle 15 Steine stehen zu Beginn auf dem eigenen Feld 24, dem Kopf. Beide ziehen in "
            "derselben Richtung um das Brett, von Feld 24 nach Feld 1, um ein halbes Brett "
            "versetzt.",
        )
        return
    yield Clause(
        Topic.AIM,
        ("variant",),
        "At the start each side has two checkers on its point 24, five on 13, three on 8 and five "
        "on 6. The players move in opposite directions, each from the own point 24 to the own "
        "point 1.",
        "Zu Beginn stehen auf jeder Seite zwei Steine auf Feld 24, fünf auf 13, drei auf 8 und "
        "fünf auf 6. Die Spieler ziehen gegeneinander, jeder vom eigenen Feld 24 zum eigenen Feld "
        "1.",
    )


def _opening(rules: Rules) -> Iterator[Clause]:
    if rules.opening_starter is OpeningStarter.HIGHER:
        yield Clause(
            Topic.OPENING,
            ("opening_starter",),
            "Each player rolls one die; the higher number begins. Equal numbers are rolled again.",
            "Jeder wirft einen Würfel; die höhere Zahl beginnt. Bei gleichen Zahlen wird neu "
            "geworfen.",
        )
    else:
        yield Clause(
            Topic.OPENING,
            ("opening_starter",),
            "Each player rolls one die; the lower number begins. Equal numbers are rolled again.",
            "Jeder wirft einen Würfel; die niedrigere Zahl beginnt. Bei gleichen Zahlen wird neu "
            "geworfen.",
        )
    if rules.opening_dice is OpeningDice.USE_BOTH:
        yield Clause(
            Topic.OPENING,
            ("opening_dice",),
            "The starter plays the two numbers just rolled.",
            "Wer beginnt, spielt die beiden eben geworfenen Zahlen.",
        )
    else:
        yield Clause(
            Topic.OPENING,
            ("opening_dice",),
            "The starter then rolls both dice anew.",
            "Wer beginnt, wirft danach beide Würfel neu.",
        )
    if rules.next_starter is NextStarter.WINNER:
        yield Clause(
            Topic.OPENING,
            ("next_starter",),
            "Later games are begun by the winner of the game before, who rolls both dice.",
            "Spätere Partien beginnt der Gewinner der vorigen; er wirft beide Würfel.",
        )


def _moving(rules: Rules) -> Iterator[Clause]:
    yield Clause(
        Topic.MOVING,
        (),
        "Each die moves one checker by its number; a double is played four times.",
        "Jeder Würfel bewegt einen Stein um seine Zahl; ein Pasch wird viermal gespielt.",
    )
    if rules.variant is Variant.LONG_NARDY:
        yield Clause(
            Topic.MOVING,
            ("variant",),
            "There is no hitting: a point with even one opposing checker is blocked.",
            "Geschlagen wird nicht: Schon ein einzelner gegnerischer Stein sperrt ein Feld.",
        )
    else:
        yield Clause(
            Topic.MOVING,
            ("variant",),
            "Two or more opposing checkers block a point. A single one is hit and goes to the bar; "
            "it must enter in the opponent's home board before its owner may move anything else.",
            "Zwei oder mehr gegnerische Steine sperren ein Feld. Ein einzelner wird geschlagen und "
            "kommt auf die Bar; er muss im gegnerischen Heimfeld wieder ins Spiel, bevor sein "
            "Besitzer anders ziehen darf.",
        )
    yield Clause(
        Topic.MOVING,
        (),
        "As many numbers as possible must be played; if only one of two can be, the higher one. "
        "What cannot be played is lost.",
        "Es müssen so viele Zahlen wie möglich gespielt werden; geht nur eine von beiden, dann die "
        "höhere. Was sich nicht spielen lässt, verfällt.",
    )


def _bearing_off() -> Iterator[Clause]:
    yield Clause(
        Topic.BEARING_OFF,
        (),
        "Checkers may be borne off once all are on the own points 1 to 6. A number takes off a "
        "checker from its point, or, if none stands there or higher, from the highest point held. "
        "Another legal step with the number may be made instead.",
        "Abgetragen wird, sobald alle Steine auf den eigenen Feldern 1 bis 6 stehen. Eine Zahl "
        "nimmt einen Stein von ihrem Feld oder, wenn dort und höher keiner steht, vom höchsten "
        "besetzten. Stattdessen darf mit der Zahl auch anders gezogen werden.",
    )


def _scoring(rules: Rules) -> Iterator[Clause]:
    if rules.highest_result == 1:
        yield Clause(
            Topic.SCORING,
            ("highest_result",),
            "Every won game counts 1 point.",
            "Jede gewonnene Partie zählt 1 Punkt.",
        )
        return
    if rules.variant is Variant.LONG_NARDY:
        return  # told with the other rules of Long Nardy
    yield Clause(
        Topic.SCORING,
        ("highest_result",),
        "A won game counts 1 point, or 2 (gammon) if the loser has borne off nothing.",
        "Eine gewonnene Partie zählt 1 Punkt, oder 2 (Gammon), wenn der Verlierer noch nichts "
        "abgetragen hat.",
    )
    if rules.highest_result == 2:
        yield Clause(
            Topic.SCORING,
            ("highest_result",),
            "More than 2 points are not counted: there is no backgammon.",
            "Mehr als 2 Punkte gibt es nicht: Das Backgammon wird nicht gewertet.",
        )
    elif rules.backgammon_needs_none_off is False:
        yield Clause(
            Topic.SCORING,
            ("highest_result", "backgammon_needs_none_off"),
            "It counts 3 (backgammon) if the loser has a checker on the bar or in the winner's "
            "home board, even if he has borne off some.",
            "Sie zählt 3 (Backgammon), wenn der Verlierer einen Stein auf der Bar oder im Heimfeld "
            "des Gewinners hat, auch wenn er schon Steine abgetragen hat.",
        )
    else:
        yield Clause(
            Topic.SCORING,
            ("highest_result", "backgammon_needs_none_off"),
            "It counts 3 (backgammon) if he has borne off nothing and has a checker on the bar or "
            "in the winner's home board.",
            "Sie zählt 3 (Backgammon), wenn er nichts abgetragen und noch einen Stein auf der Bar "
            "oder im Heimfeld des Gewinners hat.",
        )


def _session(rules: Rules) -> Iterator[Clause]:
    if rules.session is Session.MATCH:
        lengths_en, lengths_de = "any number of", "beliebig vielen"
        if rules.match_lengths:
            lengths_en = listed(rules.match_lengths, "or")
            lengths_de = listed(rules.match_lengths, "oder")
        yield Clause(
            Topic.SESSION,
            ("session", "match_lengths"),
            f"A match is played to {lengths_en} points. Points of all games are added up; whoever "
            "reaches the length first wins.",
            f"Ein Match geht bis zu {lengths_de} Punkten. Die Punkte aller Partien werden addiert; "
            "wer die Länge zuerst erreicht, gewinnt.",
        )
    elif rules.session is Session.MONEY:
        yield Clause(
            Topic.SESSION,
            ("session",),
            "Each game stands for itself; a session keeps a running total of points.",
            "Jede Partie steht für sich; die Punkte einer Runde werden zusammengezählt.",
        )
    else:
        yield Clause(
            Topic.SESSION,
            ("session",),
            "Each game stands for itself and is simply won or lost.",
            "Jede Partie steht für sich und ist gewonnen oder verloren.",
        )
    if rules.resign_scope is ResignScope.MATCH:
        yield Clause(
            Topic.GIVING_UP,
            ("resign_scope",),
            "Whoever gives up loses the whole match at once.",
            "Wer aufgibt, verliert sofort das ganze Match.",
        )
    else:
        yield Clause(
            Topic.GIVING_UP,
            ("resign_scope",),
            "A player may offer to lose the game; the opponent accepts, or play goes on.",
            "Man kann anbieten, die Partie verloren zu geben; der Gegner nimmt an, oder es geht "
            "weiter.",
        )


def _clock(rules: Rules) -> Iterator[Clause]:
    if not rules.turn_seconds:
        yield Clause(
            Topic.CLOCK,
            ("turn_seconds",),
            "There is no time limit.",
            "Es gibt keine Bedenkzeitgrenze.",
        )
        return
    yield Clause(
        Topic.CLOCK,
        ("turn_seconds",),
        f"Each turn has a limit of {listed(rules.turn_seconds, 'or')} seconds.",
        f"Für jeden Zug gibt es {listed(rules.turn_seconds, 'oder')} Sekunden.",
    )
    if rules.on_timeout is OnTimeout.AUTOPILOT:
        yield Clause(
            Topic.CLOCK,
            ("on_timeout",),
            "When the time is over, an autopilot rolls and plays until the player acts again.",
            "Ist die Zeit vorbei, würfelt und zieht ein Autopilot, bis der Spieler wieder selbst "
            "handelt.",
        )
    else:
        yield Clause(
            Topic.CLOCK,
            ("on_timeout",),
            "When the time is over, some legal play is made; the next turn is the player's again.",
            "Ist die Zeit vorbei, wird irgendein erlaubter Zug gemacht; den nächsten macht der "
            "Spieler wieder selbst.",
        )
    if rules.loses_after_timeouts:
        count = rules.loses_after_timeouts
        yield Clause(
            Topic.CLOCK,
            ("loses_after_timeouts",),
            f"Whoever oversteps the time for the {_ordinal(count)} time in a game loses it.",
            f"Wer die Zeit in einer Partie zum {count}. Mal überschreitet, verliert sie.",
        )


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in {11, 12, 13} else ending}"


def _turn(rules: Rules) -> Iterator[Clause]:
    if rules.confirm is Confirm.DONE:
        yield Clause(
            Topic.TURN,
            ("confirm",),
            "A play is final once it has been confirmed.",
            "Ein Zug gilt, sobald er bestätigt ist.",
        )
    else:
        yield Clause(
            Topic.TURN,
            ("confirm",),
            "A play is final once the opponent has rolled or doubled.",
            "Ein Zug gilt, sobald der Gegner gewürfelt oder verdoppelt hat.",
        )
    if rules.undo:
        yield Clause(
            Topic.TURN,
            ("undo",),
            "Until then steps may be taken back.",
            "Bis dahin dürfen Schritte zurückgenommen werden.",
        )
    else:
        yield Clause(
            Topic.TURN,
            ("undo",),
            "Steps cannot be taken back.",
            "Schritte können nicht zurückgenommen werden.",
        )
    if rules.auto_play_single:
        yield Clause(
            Topic.TURN,
            ("auto_play_single",),
            "A play without a choice is made automatically.",
            "Ein Zug, bei dem es nichts zu wählen gibt, wird von selbst gemacht.",
        )
    if rules.auto_roll:
        yield Clause(
            Topic.TURN,
            ("auto_roll",),
            "The dice are rolled automatically when the player cannot double.",
            "Gewürfelt wird von selbst, wenn der Spieler nicht verdoppeln kann.",
        )


def _bots(rules: Rules) -> Iterator[Clause]:
    if not rules.bots:
        yield Clause(
            Topic.BOTS,
            ("bots",),
            "There are no bots to play against.",
            "Es gibt keine Computergegner.",
        )
        return
    german = [_BOT_NAMES.get(bot, bot) for bot in rules.bots]
    yield Clause(
        Topic.BOTS,
        ("bots",),
        f"Bots to play against: {listed(rules.bots, 'and')}.",
        f"Computergegner: {listed(german, 'und')}.",
    )
