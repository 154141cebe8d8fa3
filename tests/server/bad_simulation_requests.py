"""Bad requests to `SimulationService`."""

from __future__ import annotations

from bgserver.v1 import common_pb2, rules_pb2, simulation_pb2
from tests.server.bad_case import Case

CASES = [
    Case(
        "an unknown preset, no games, an unknown level",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            preset="casino",
            first=common_pb2.Player(
                level=66,  # type: ignore[arg-type]  # on purpose
            ),
        ),
        [
            ("first.level", "UNKNOWN_VALUE"),
            ("count", "OUT_OF_RANGE"),
            ("preset", "UNKNOWN_PRESET"),
        ],
    ),
    Case(
        "strengths beyond the scale, of no known name, and of a player that plays at random",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            first=common_pb2.Player(numeric_strength=101),
            second=common_pb2.Player(
                level=common_pb2.LEVEL_RANDOM,
                named_strength=66,  # type: ignore[arg-type]  # on purpose
            ),
        ),
        [
            ("first.numeric_strength", "OUT_OF_RANGE"),
            ("second.named_strength", "UNKNOWN_VALUE"),
            ("second.named_strength", "RANDOM_HAS_NO_STRENGTH"),
            ("count", "OUT_OF_RANGE"),
        ],
    ),
    Case(
        "rules with lists that are far too long, and a bot that nobody knows",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            count=1,
            rules=rules_pb2.Rules(match_lengths=[5] * 65, turn_seconds=[5] * 65, bots=["me"]),
        ),
        [("rules.match_lengths", "TOO_MANY_VALUES"), ("rules.turn_seconds", "TOO_MANY_VALUES")],
    ),
    Case(
        "a bot that nobody knows",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(count=1, rules=rules_pb2.Rules(bots=["normal", "me"])),
        [("rules.bots", "UNKNOWN_VALUE")],
    ),
    Case(
        "rules that contradict each other",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            preset="money", count=1, rules=rules_pb2.Rules(crawford=True, raccoon=True)
        ),
        [
            ("rules.crawford", "CRAWFORD_WITHOUT_MATCH"),
            ("rules.raccoon", "RACCOON_WITHOUT_BEAVER"),
            ("rules.raccoon_owner", "RACCOON_OWNER_REQUIRED"),
        ],
    ),
    Case(
        "a match length of another preset",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            preset="tournament", count=1, match_length=6, rules=rules_pb2.Rules(holland=True)
        ),
        [("match_length", "MATCH_LENGTH_NOT_IN_PRESET")],
    ),
    Case(
        "options of long nardy that nobody plays",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            preset="long_nardy",
            count=1,
            rules=rules_pb2.Rules(
                long_nardy=rules_pb2.LongNardyRules(
                    head_per_turn=2, prime_check=rules_pb2.PRIME_CHECK_NONE
                )
            ),
        ),
        [
            ("rules.long_nardy.head_per_turn", "UNSUPPORTED_OPTION"),
            ("rules.long_nardy.prime_check", "UNSUPPORTED_OPTION"),
        ],
    ),
    Case(
        "a simulation with everything out of range",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            count=3,
            seating=99,  # type: ignore[arg-type]  # on purpose
            judge=common_pb2.LEVEL_RANDOM,
            session_games=0,
            decision_ms=600_001,
            first_unit=3,
            first=common_pb2.Player(address="127.0.0.1:50051"),
        ),
        [
            ("first.address", "ADDRESS_NOT_ALLOWED"),
            ("seating", "UNKNOWN_VALUE"),
            ("judge", "UNSUPPORTED_LEVEL"),
            ("session_games", "OUT_OF_RANGE"),
            ("decision_ms", "OUT_OF_RANGE"),
            ("first_unit", "OUT_OF_RANGE"),
        ],
    ),
    Case(
        "a time for players at other servers, of which there are none",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(count=1, decision_ms=5),
        [("decision_ms", "NO_REMOTE_PLAYER")],
    ),
    Case(
        "half a pair to begin with, and sessions in a match",
        "Simulation/Simulate",
        simulation_pb2.SimulateRequest(
            preset="joypip",
            count=4,
            seating=simulation_pb2.SEATING_DUPLICATE,
            first_unit=1,
            session_games=2,
        ),
        [("first_unit", "NOT_A_PAIR"), ("session_games", "SESSION_IN_MATCH")],
    ),
]
