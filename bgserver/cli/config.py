"""The configuration of a server from options and environment, with faults a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgserver.engine.errors import Fault, InvalidInputError

if TYPE_CHECKING:
    from bgserver.server.config import ServerConfig

__all__ = ["read_config"]


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
                "--" + ".".join(map(str, fault["loc"])).replace("_", "-"),
                fault["type"].upper(),
                f"{fault['msg'][:1].lower()}{fault['msg'][1:]}, got {fault['input']!r}",
            )
            for fault in error.errors()
        ]
        raise InvalidInputError(faults) from None
    except SettingsError as error:
        raise InvalidInputError([Fault("environment", "MALFORMED", str(error))]) from None
