"""Peers that cannot be asked."""

from __future__ import annotations

import sys

import pytest

from bench.peers import Case, Peer, PeerError, PeerPrograms, level_name
from bgserver.engine.position import Position


@pytest.mark.parametrize("name", ["gnubg", "bgsage"])
def test_a_peer_that_is_not_there_is_told(name: str) -> None:
    missing = PeerPrograms("/no/such/program", "/no/such/program")
    with pytest.raises(PeerError, match="cannot be started"):
        Peer(missing, name)
    with pytest.raises(PeerError, match="cannot be started"):
        missing.version(name)


@pytest.mark.parametrize(("name", "option"), [("gnubg", "--gnubg"), ("bgsage", "--peer-python")])
def test_a_peer_that_was_not_named_is_asked_for(name: str, option: str) -> None:
    with pytest.raises(PeerError, match=option):
        PeerPrograms(None, None).command(name)


def test_the_reason_is_told_why_a_peer_does_not_answer() -> None:
    # This Python has no bgsage.
    with (
        Peer(PeerPrograms(None, sys.executable), "bgsage") as peer,
        pytest.raises(PeerError, match="No module named 'bgsage'"),
    ):
        peer.ask([Case(Position.start().points, (3, 1))], 0)


def test_levels_go_by_the_peers_own_numbers() -> None:
    assert level_name("gnubg", 2) == "GNU Backgammon 2-ply"
    assert level_name("bgsage", 2) == "Open Sage 3-ply"
