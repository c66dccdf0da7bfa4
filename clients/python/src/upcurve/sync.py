"""The same client without asyncio, for notebooks and scripts.

    from upcurve.sync import Client

    with Client("http://127.0.0.1:8080") as client:
        print(client.pools.top().data["info"]["name"])

Every call and mirror of `upcurve.Client` is there and blocks until it has an answer; an event loop in
a separate thread does the work, so mirrors stay up to date between two lines of a notebook. Listeners
(`on_change`, …) are called in that thread.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import TimeoutError as FutureTimeout
from types import TracebackType
from typing import Any

from . import client as asynchronous
from .errors import ApiError
from .frame import Frame
from .mirrors.base import Mirror
from .routes import Group
from .wallet import PlacedOrder, Wallet

_WRAPPED = (Group, Wallet, PlacedOrder)


class _Loop:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="upcurve", daemon=True)
        self._thread.start()

    def call(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Runs the function in the loop, and awaits its result; gives up after `seconds`."""
        seconds: float | None = options.pop("seconds", None)
        if self._loop.is_closed():
            raise ApiError("STOPPED", "the client was closed")

        async def run() -> Any:
            result = function(*args, **options)
            return await result if inspect.isawaitable(result) else result

        future = asyncio.run_coroutine_threadsafe(run(), self._loop)
        try:
            return future.result(seconds)
        except FutureTimeout as error:
            if future.done():
                raise
            raise ApiError("TIMEOUT", f"not within {seconds} s") from error
        finally:
            # Raised by a time limit, or by Ctrl-C in a notebook.
            future.cancel()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Blocking:
    """Another object, each of whose methods blocks until it has its answer."""

    def __init__(self, loop: _Loop, target: Any) -> None:
        self._loop = loop
        self._target = target

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if not inspect.isroutine(value):
            return _wrap(self._loop, value)

        def call(*args: Any, **options: Any) -> Any:
            return _wrap(self._loop, self._loop.call(value, *args, **options))

        call.__name__ = name
        call.__doc__ = value.__doc__
        return call

    def __dir__(self) -> list[str]:
        return dir(self._target)

    def __repr__(self) -> str:
        return repr(self._target)


class BlockingMirror(_Blocking):
    """`state` is always the newest; `for state in mirror` waits for changes."""

    def ready(self, seconds: float | None = 60) -> Any:
        return self._loop.call(self._target.ready, seconds=seconds)

    def until(self, condition: Callable[[Any], bool], seconds: float | None = 60) -> Any:
        """The first state for which `condition` holds; ApiError TIMEOUT after the given seconds."""
        return self._loop.call(self._target.until, condition, seconds=seconds)

    def __iter__(self) -> Iterator[Any]:
        states = self._target.__aiter__()
        while True:
            try:
                yield self._loop.call(states.__anext__)
            except StopAsyncIteration:
                return

    def __enter__(self) -> BlockingMirror:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._loop.call(self._target.close)


class Client(_Blocking):
    """Takes what `upcurve.Client` takes."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(_Loop(), None)
        try:
            self._target = asynchronous.Client(*args, **options)
        except BaseException:
            self._loop.close()
            raise
        self._is_closed = False

    def events(self, *args: Any, **options: Any) -> Iterator[Frame]:
        """Takes what `events` of `upcurve.Client` takes; `for` waits for each frame. A loop that is left
        ends the request."""
        frames = self._target.events(*args, **options)
        try:
            while True:
                yield self._loop.call(frames.__anext__)
        except StopAsyncIteration:
            return
        finally:
            if not self._is_closed:
                self._loop.call(frames.aclose)

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._loop.call(self._target.close)
            self._loop.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()


def _wrap(loop: _Loop, value: Any) -> Any:
    if isinstance(value, Mirror):
        return BlockingMirror(loop, value)
    return _Blocking(loop, value) if isinstance(value, _WRAPPED) else value
