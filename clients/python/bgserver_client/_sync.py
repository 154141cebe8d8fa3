"""The client for ordinary, blocking code."""

from __future__ import annotations

from bgserver_client._engine_methods import EngineMethods
from bgserver_client._game_methods import GameMethods
from bgserver_client._rules_methods import RulesMethods
from bgserver_client._simulation_methods import SimulationMethods


class Client(RulesMethods, EngineMethods, SimulationMethods, GameMethods):
    """A connection to a bgserver; safe to share between threads.

    Every method sends one request and returns the answer as the message that the API defines;
    streams come as iterators that end the call when they are closed. Whatever goes wrong is an
    `RpcError`.

    Args:
        address: `host:port` of the server.
        timeout_s: Time limit of calls that give none themselves; None means no limit. Streams
            have no limit unless they give one.
        token: Sent as `authorization: Bearer ...` if the server asks for one.
        credentials: Credentials of a TLS connection; None means an unencrypted one.

    Raises:
        ValueError: `address` is no address of a server.
    """
