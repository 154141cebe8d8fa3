"""Handles for running streams: iterate for the answers, close to stop the work on the server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from typing import Generic, Protocol, Self, TypeVar

import grpc

from bgserver_client.errors import from_grpc

_Item = TypeVar("_Item")
_Request = TypeVar("_Request")
_Response = TypeVar("_Response")
_Raw = TypeVar("_Raw")
_Raw_co = TypeVar("_Raw_co", covariant=True)

IN_FLIGHT = 8
"""Requests of a two-way stream that may wait for their answers at once."""


class _Call(Iterable[_Raw_co], Protocol[_Raw_co]):
    """What a running call of the gRPC library offers."""

    def cancel(self) -> object: ...


class _AsyncCall(AsyncIterable[_Raw_co], Protocol[_Raw_co]):
    """The same with asyncio."""

    def cancel(self) -> object: ...


class RequestFeed(Generic[_Item, _Request]):
    """The requests of a two-way stream, handed out only as fast as they are answered.

    gRPC reads requests on a thread of its own, as fast as it can; without a bound a long input
    would pile up in memory.
    """

    def __init__(
        self,
        items: Iterable[_Item],
        request: Callable[[_Item], _Request],
        in_flight: int = IN_FLIGHT,
    ) -> None:
        self._items = iter(items)
        self._request = request
        self._slots = threading.Semaphore(in_flight)
        self._stopped = False
        self.error: Exception | None = None
        """What the caller's own iterable raised; it ends the stream and reaches the caller."""

    def __iter__(self) -> Self:
        """Itself."""
        return self

    def __next__(self) -> _Request:
        """The next request, once there is room for it."""
        self._slots.acquire()
        if self._stopped:
            raise StopIteration
        try:
            return self._request(next(self._items))
        except StopIteration:
            raise
        except Exception as error:
            self.error = error
            raise StopIteration from error

    def answered(self) -> None:
        """Make room for one more request."""
        self._slots.release()

    def stop(self) -> None:
        """Hand out no more requests."""
        self._stopped = True
        self._slots.release()


class AsyncRequestFeed(Generic[_Item, _Request]):
    """The same with asyncio; takes plain and asynchronous iterables."""

    def __init__(
        self,
        items: Iterable[_Item] | AsyncIterable[_Item],
        request: Callable[[_Item], _Request],
        in_flight: int = IN_FLIGHT,
    ) -> None:
        self._items = items if isinstance(items, AsyncIterable) else _asynchronous(items)
        self._request = request
        self._slots = asyncio.Semaphore(in_flight)
        self._stopped = False
        self.error: Exception | None = None
        """What the caller's own iterable raised; it ends the stream and reaches the caller."""

    async def requests(self) -> AsyncIterator[_Request]:
        """The requests, each once there is room for it."""
        try:
            async for item in self._items:
                await self._slots.acquire()
                if self._stopped:
                    return
                yield self._request(item)
        except Exception as error:  # noqa: BLE001 -- handed to the caller, see `error`
            self.error = error

    def answered(self) -> None:
        """Make room for one more request."""
        self._slots.release()

    def stop(self) -> None:
        """Hand out no more requests."""
        self._stopped = True
        self._slots.release()


async def _asynchronous(items: Iterable[_Item]) -> AsyncIterator[_Item]:
    for item in items:
        yield item


class ResponseStream(Generic[_Response]):
    """The answers of a running stream.

    Iterate over it. Leaving the `with` block, `close()` or dropping the last reference ends the
    call, and the server stops computing.
    """

    def __init__(
        self,
        call: _Call[_Raw],
        convert: Callable[[_Raw], _Response],
        feed: RequestFeed[_Item, _Request] | None = None,
    ) -> None:
        self._call = call
        self._answers = map(convert, call)
        self._feed = feed
        self._closed = False

    def __iter__(self) -> Self:
        """Itself."""
        return self

    def __next__(self) -> _Response:
        """The next answer; raises `RpcError` if the stream fails."""
        if self._closed:
            raise StopIteration
        try:
            answer = next(self._answers)
        except StopIteration:
            self._finish()
            raise
        except grpc.RpcError as error:
            if self._closed:
                raise StopIteration from None
            self._finish()
            raise from_grpc(error) from None
        if self._feed is not None:
            self._feed.answered()
        return answer

    def _finish(self) -> None:
        """End of the stream: raise what the caller's own iterable raised, if it did."""
        self._closed = True
        if self._feed is not None:
            self._feed.stop()
            if self._feed.error is not None:
                raise self._feed.error

    def close(self) -> None:
        """Stop the call; may be called more than once and from another thread."""
        self._closed = True
        if self._feed is not None:
            self._feed.stop()
        self._call.cancel()

    def __enter__(self) -> Self:
        """Itself; the call ends with the block."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop the call."""
        self.close()


class AsyncResponseStream(Generic[_Response]):
    """The same with asyncio: `async for`, `async with`, `close()`."""

    def __init__(
        self,
        call: _AsyncCall[_Raw],
        convert: Callable[[_Raw], _Response],
        feed: AsyncRequestFeed[_Item, _Request] | None = None,
    ) -> None:
        answers = aiter(call)

        async def advance() -> _Response:
            return convert(await anext(answers))

        self._call = call
        self._advance = advance
        self._feed = feed
        self._closed = False

    def __aiter__(self) -> Self:
        """Itself."""
        return self

    async def __anext__(self) -> _Response:
        """The next answer; raises `RpcError` if the stream fails."""
        if self._closed:
            raise StopAsyncIteration
        try:
            answer = await self._advance()
        except StopAsyncIteration:
            self._finish()
            raise
        except grpc.RpcError as error:
            if self._closed:
                raise StopAsyncIteration from None
            self._finish()
            raise from_grpc(error) from None
        except asyncio.CancelledError:
            # grpc.aio reports a call that `close` cancelled like a cancelled task.
            task = asyncio.current_task()
            if self._closed and not (task and task.cancelling()):
                raise StopAsyncIteration from None
            raise
        if self._feed is not None:
            self._feed.answered()
        return answer

    def _finish(self) -> None:
        """End of the stream: raise what the caller's own iterable raised, if it did."""
        self._closed = True
        if self._feed is not None:
            self._feed.stop()
            if self._feed.error is not None:
                raise self._feed.error

    async def close(self) -> None:
        """Stop the call; may be called more than once."""
        self._closed = True
        if self._feed is not None:
            self._feed.stop()
        self._call.cancel()

    async def __aenter__(self) -> Self:
        """Itself; the call ends with the block."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Stop the call."""
        await self.close()
