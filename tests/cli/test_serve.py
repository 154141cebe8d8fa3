"""The options of `bgserver serve`; what the server does with them is tested with the server."""

from __future__ import annotations

import inspect

import pytest

from bgserver.cli.serve import serve
from bgserver.server.config import ServerConfig

_LIMITS = [name for name in ServerConfig.model_fields if name.startswith("max_")]


@pytest.mark.parametrize("name", _LIMITS)
def test_every_limit_is_an_option_with_its_default(name: str) -> None:
    option = inspect.signature(serve, eval_str=True).parameters[name].annotation.__metadata__[0]
    # Within Annotated the first name of an option stands where its default would be.
    assert option.default == f"--{name.replace('_', '-')}"
    assert f"[{ServerConfig.model_fields[name].default}]" in option.help
