"""Neither client lacks a method of the API, and both take the same arguments."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import bgserver_client
import pytest
from bgserver_client import AsyncClient, Client
from bgserver_client.v1 import (
    common_pb2,
    engine_pb2,
    game_pb2,
    rollout_pb2,
    rules_pb2,
    simulation_pb2,
)

if TYPE_CHECKING:
    from google.protobuf.descriptor import MethodDescriptor

_FILES = (common_pb2, rules_pb2, engine_pb2, game_pb2, rollout_pb2, simulation_pb2)
_METHODS = [
    method
    for file in _FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
]


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def test_every_generated_file_is_looked_at() -> None:
    names = {module.__name__.rpartition(".")[2] for module in _FILES}
    folder = Path(bgserver_client.__file__).parent / "v1"
    generated = {path.stem for path in folder.glob("*_pb2.py")}
    assert names == generated


@pytest.mark.parametrize("method", _METHODS, ids=lambda method: method.full_name)
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_every_rpc_has_a_method(client: type[object], method: MethodDescriptor) -> None:
    function = getattr(client, _snake(method.name))
    assert function.__doc__
    unary_and_async = client is AsyncClient and not method.server_streaming
    assert inspect.iscoroutinefunction(function) == unary_and_async


@pytest.mark.parametrize("method", _METHODS, ids=lambda method: method.full_name)
def test_both_clients_take_the_same_arguments(method: MethodDescriptor) -> None:
    def arguments(client: type[object]) -> dict[str, tuple[object, object]]:
        parameters = inspect.signature(getattr(client, _snake(method.name))).parameters
        return {name: (p.kind, p.default) for name, p in parameters.items()}

    assert arguments(Client) == arguments(AsyncClient)


@pytest.mark.parametrize("method", _METHODS, ids=lambda method: method.full_name)
def test_every_field_of_a_request_can_be_set(method: MethodDescriptor) -> None:
    """Batches and plays have forms of their own; every other field is an argument by its name."""
    parameters = inspect.signature(getattr(Client, _snake(method.name))).parameters
    own_form = {"points": "batches", "notation": "play", "steps": "play", "id": "batches"}
    own_form["limit"] = "milliseconds"
    if method.name == "AnalyzeBatch":
        own_form = dict.fromkeys((field.name for field in method.input_type.fields), "questions")
    for field in method.input_type.fields:
        assert own_form.get(field.name, field.name) in parameters
    assert "timeout_s" in parameters


def test_the_client_needs_neither_numba_nor_numpy_nor_the_server() -> None:
    script = (
        "import sys, bgserver_client\n"
        "bad = {'numba', 'numpy', 'bgserver'} & set(sys.modules)\n"
        "assert not bad, bad\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
