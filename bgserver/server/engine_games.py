"""Games of engine players only: how many may run, on the whole server and for one client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import OverloadedError

if TYPE_CHECKING:
    from bgserver.server.config import ServerConfig

__all__ = ["EngineGames"]

_RETRY_AFTER_S = 10.0


class EngineGames:
    """The games without persons that are running, and who made them."""

    def __init__(self, config: ServerConfig) -> None:
        """None is running.

        Args:
            config: Its limits.
        """
        self._most = config.max_engine_games
        self._most_per_client = config.max_engine_games_per_client
        self._makers: dict[str, str | None] = {}

    @property
    def running(self) -> int:
        """How many are running."""
        return len(self._makers)

    def admit(self, game_id: str, caller: str) -> None:
        """Count a new game in, before it is stored.

        Args:
            game_id: Its id.
            caller: Who makes it.

        Raises:
            OverloadedError: There are too many already.
        """
        own = sum(maker == caller for maker in self._makers.values())
        if own >= self._most_per_client:
            message = (
                f"{self._most_per_client} games of engine players that this client made are "
                "running already"
            )
            raise OverloadedError(message, _RETRY_AFTER_S)
        if self.running >= self._most:
            message = f"{self._most} games of engine players are running already"
            raise OverloadedError(message, _RETRY_AFTER_S)
        self._makers[game_id] = caller

    def note(self, game_id: str, *, is_running: bool) -> None:
        """Count a game while it runs; who made one that an earlier server left is not known."""
        if is_running:
            self._makers.setdefault(game_id, None)
        else:
            self._makers.pop(game_id, None)
