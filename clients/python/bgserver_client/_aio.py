"""The client for asyncio."""

from __future__ import annotations

from bgserver_client._engine_methods_aio import AsyncEngineMethods
from bgserver_client._game_methods_aio import AsyncGameMethods
from bgserver_client._rules_methods_aio import AsyncRulesMethods
from bgserver_client._simulation_methods_aio import AsyncSimulationMethods


class AsyncClient(AsyncRulesMethods, AsyncEngineMethods, AsyncSimulationMethods, AsyncGameMethods):
    """A connection to a bgserver for asyncio; use it within one event loop.

    The methods, their arguments and their errors are those of `Client`; streams are asynchronous
    iterators.

    Args:
        address: `host:port` of the server.
        timeout_s: Time limit of calls that give none themselves; None means no limit. Streams
            have no limit unless they give one.
        token: Sent as `authorization: Bearer ...` if the server asks for one.
        credentials: Credentials of a TLS connection; None means an unencrypted one.

    Raises:
        ValueError: `address` is no address of a server.
    """
