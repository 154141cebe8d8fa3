"""The script interface: `bgserver call Service/Method < requests.jsonl > replies.jsonl`."""

from __future__ import annotations

import json
import queue
import sys
from typing import IO, TYPE_CHECKING, Annotated, TypeAlias

import typer
from google.protobuf import json_format

from bgserver.cli.methods import all_methods, find_method, request_class
from bgserver.cli.options import (
    AddressOption,
    TimeoutOption,
    TokenOption,
    json_fault,
    json_text,
)
from bgserver.cli.problems import ErrorLine, error_line, input_error, status_for
from bgserver.cli.transport import connect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.descriptor import MethodDescriptor
    from google.protobuf.message import Message

    from bgserver.cli.transport import Transport

__all__ = ["register"]

_MAX_LINE = 16 * 1024 * 1024
_Line: TypeAlias = "tuple[int, Message | Exception]"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(rich_help_panel="Scripts")(call)


def call(
    method: Annotated[
        str | None,
        typer.Argument(
            metavar="SERVICE/METHOD",
            help="For example RulesService/ListPlays; without it the methods are listed.",
            show_default=False,
        ),
    ] = None,
    address: AddressOption = None,
    token: TokenOption = None,
    timeout: TimeoutOption = None,
) -> None:
    """Send requests, one line of protobuf JSON each, and print one line for each answer.

    Reads requests from stdin and writes answers to stdout, each line at once. A streaming method
    gives a line for each message. A request that fails gives a line with `error` and the
    number of its `line`; the rest goes on, and the exit code is 1 at the end.
    """
    if method is None:
        for known in all_methods():
            sys.stdout.write(f"{known.containing_service.name}/{known.name}\n")
        return
    found = find_method(method)
    with connect(address, token, timeout) as transport:
        if _Caller(transport, found).run(sys.stdin.buffer):
            raise typer.Exit(1)


class _Caller:
    """Sends the requests of one run and writes the answers."""

    def __init__(self, transport: Transport, method: MethodDescriptor) -> None:
        self._transport = transport
        self._method = method
        self._failures = 0

    def run(self, source: IO[bytes]) -> int:
        """Send every line of `source`; the number of failures."""
        send = self._send_streaming if self._method.client_streaming else self._send
        send(_requests(source, self._method))
        return self._failures

    def _send(self, lines: Iterator[_Line]) -> None:
        """One call for each line."""
        for number, request in lines:
            try:
                if isinstance(request, Exception):
                    raise request
                if self._method.server_streaming:
                    for reply in self._transport.stream(self._method, [request]):
                        _write(json_text(reply))
                else:
                    _write(json_text(self._transport.unary(self._method, request)))
            except Exception as error:  # noqa: BLE001 -- told in the output, see `_failed`
                self._failed(number, error)

    def _send_streaming(self, lines: Iterator[_Line]) -> None:
        """All lines through one stream; another one for the rest after a failure.

        Each request is answered before the next one is sent, which is what the methods of this
        kind promise (one answer for each request), so that a failure has a line.
        """
        stream: _Stream | None = None
        for number, request in lines:
            try:
                if isinstance(request, Exception):
                    raise request
                if stream is None:
                    stream = _Stream(self._transport, self._method)
                _write(json_text(stream.exchange(request)))
            except Exception as error:  # noqa: BLE001 -- told in the output, see `_failed`
                if stream is not None and not isinstance(request, Exception):
                    stream.end_requests()
                    stream = None
                self._failed(number, error)
        if stream is not None:
            stream.close()

    def _failed(self, number: int, error: Exception) -> None:
        """Tell a failure in the output; defects of ours and lost pipes end the run."""
        status = status_for(error)
        if status is None:
            raise error
        self._failures += 1
        line: dict[str, ErrorLine | int] = {"error": error_line(status), "line": number}
        _write(json.dumps(line, ensure_ascii=False))


class _Stream:
    """A two-way stream used like a telephone: say one thing, hear one thing."""

    def __init__(self, transport: Transport, method: MethodDescriptor) -> None:
        self._requests: queue.Queue[Message | None] = queue.Queue()
        # The transport takes requests from the queue on a thread of its own.
        requests: Iterator[Message | None] = iter(self._requests.get, None)
        self._replies = transport.stream(method, (r for r in requests if r is not None))

    def exchange(self, request: Message) -> Message:
        """Send a request and return its answer."""
        self._requests.put(request)
        reply = next(self._replies, None)
        if reply is None:
            message = "the server ended the stream before it answered"
            raise input_error(message, field="", reason="STREAM_ENDED")
        return reply

    def end_requests(self) -> None:
        """Say no more; the thread that waits for requests would keep the process alive."""
        self._requests.put(None)

    def close(self) -> None:
        """End the stream and wait until the other side has ended it too."""
        self.end_requests()
        for _ in self._replies:
            pass


def _requests(source: IO[bytes], method: MethodDescriptor) -> Iterator[_Line]:
    """Each request with the number of its line, or what is wrong with it."""
    kind = request_class(method)
    number = 0
    while line := source.readline(_MAX_LINE):
        number += 1
        if len(line) == _MAX_LINE and not line.endswith(b"\n"):
            while (rest := source.readline(_MAX_LINE)) and not rest.endswith(b"\n"):
                pass
            message = f"the line is longer than {_MAX_LINE} bytes"
            yield number, input_error(message, field="", reason="LINE_TOO_LONG")
        elif line.strip():
            yield number, _parsed(line, kind)


def _parsed(line: bytes, kind: type[Message]) -> Message | Exception:
    try:
        text = line.decode().strip()
        if text.startswith("{"):
            return json_format.Parse(text, kind())
        fault = f"it begins with {text[:1]!r}, not with {{"
    except (json_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        fault = json_fault(error)
    message = f"expected {kind.DESCRIPTOR.name} as a JSON object: {fault}"
    return input_error(message, field="", reason="MALFORMED_JSON")


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
