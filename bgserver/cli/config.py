"""The configuration of a server from options and environment, with faults a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError

if TYPE_CHECKING:
    from bgserver.server.config import ServerConfig

__all__ = ["read_config"]


# Options that are given once for each entry of a field.
_SINGULAR = {"remote_engines": "remote_engine"}


def read_config(**options: object) -> ServerConfig:
    """The configuration with those options that were given; None means not given.

    Raises:
        InvalidInputError: An option or a variable has an impossible value.
    """
    # pydantic is slow to load, and most commands do not need it.
    from pydantic import ValidationError  # noqa: PLC0415 -- slow to load
    from pydantic_settings import SettingsError  # noqa: PLC0415 -- slow to load

    from bgserver.server.config import ServerConfig  # noqa: PLC0415 -- slow to load

    given = {name: value for name, value in options.items() if value is not None}
    try:
        return ServerConfig(**given)  # type: ignore[arg-type]  # pydantic checks the values
    except ValidationError as error:
        faults = [
            Fault(
                _option(fault["loc"]),
                fault["type"].upper(),
                f"{fault['msg'][:1].lower()}{fault['msg'][1:]}, got {fault['input']!r}",
            )
            for fault in error.errors()
        ]
        raise InvalidInputError(faults) from None
    except SettingsError as error:
        raise InvalidInputError([Fault("environment", "MALFORMED", str(error))]) from None


def _option(place: tuple[int | str, ...]) -> str:
    """The option that fills a field, whichever of its entries."""
    name = str(place[0])
    return "--" + _SINGULAR.get(name, name).replace("_", "-")
