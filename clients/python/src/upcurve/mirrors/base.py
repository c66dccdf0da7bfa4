"""A mirror: a local copy of something on the server, kept up to date by Protocol v2.

Promises: `state` is the server's data at `position`, through reconnects, other nodes, rollbacks,
          revisions and changes of epoch. States are never changed in place: a new one is made, so
          they may be compared by identity and kept.
Not:      every state in between. A slow iteration gets the newest one.
Ends:     with `close` (or `async with`), with its client, and with `error` when the server refuses
          it for good; nothing is called afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Literal, TypeVar

from ..errors import ApiError
from ..listeners import Listeners
from ..position import Position

#: Why a state is another than before. snapshot: the first state, or a full reload. update: something
#: happened since. revised: a rollback or a late trade changed data that seemed settled. history:
#: older rows were loaded on request.
Reason = Literal["snapshot", "update", "revised", "history"]

S = TypeVar("S")
C = TypeVar("C", bound="Change")
M = TypeVar("M", bound="Mirror")  # type: ignore[type-arg]


@dataclass(frozen=True)
class Change:
    reason: Reason


class Mirror(Generic[S, C]):
    def __init__(self, empty: S) -> None:
        self._state = empty
        self._position: Position | None = None
        self._is_loaded = False
        self._is_closed = False
        self._error: ApiError | None = None
        self._changes = Listeners()
        self._errors = Listeners()
        self._waiters: set[asyncio.Future[None]] = set()

    @property
    def state(self) -> S:
        """Empty until `is_loaded`."""
        return self._state

    @property
    def position(self) -> Position | None:
        """Complete up to here; None before it is loaded."""
        return self._position

    @property
    def is_loaded(self) -> bool:
        return self._is_loaded

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    @property
    def error(self) -> ApiError | None:
        """Why it ended; None while it lives and after `close`."""
        return self._error

    async def ready(self) -> S:
        """The first state; raises ApiError when it ends before."""
        while not self._is_loaded:
            if self._error is not None:
                raise self._error
            if self._is_closed:
                raise ApiError("STOPPED", "closed before it was loaded")
            await self._next_event()
        return self._state

    async def until(self, condition: Callable[[S], bool]) -> S:
        """The first state for which `condition` holds; raises ApiError when it ends before."""
        async for state in self:
            if condition(state):
                return state
        raise ApiError("STOPPED", "closed before the condition held")

    def on_change(self, listener: Callable[[S, C], None]) -> Callable[[], None]:
        """Called after each change, until the returned function is called."""
        return self._changes.add(listener)

    def on_error(self, listener: Callable[[ApiError], None]) -> Callable[[], None]:
        """Called once when it ends with an error."""
        return self._errors.add(listener)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._changes.clear()
        self._errors.clear()
        self._stop()
        self._wake()

    async def __aenter__(self: M) -> M:
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aiter__(self) -> AsyncIterator[S]:
        """The newest state each time; leaving the loop leaves the mirror open."""
        given: object = _NOTHING
        while True:
            if self._is_loaded and self._state is not given:
                given = self._state
                yield self._state
                continue
            if self._error is not None:
                raise self._error
            if self._is_closed:
                return
            await self._next_event()

    def _stop(self) -> None:
        """Ends its subscriptions."""
        raise NotImplementedError

    def _set_state(self, state: S, position: Position, change: C) -> None:
        if self._is_closed:
            return
        self._state = state
        self._position = position
        self._is_loaded = True
        self._wake()
        self._changes.notify(state, change)

    # A Receiver has these two.

    def idle(self, position: Position) -> None:
        """Nothing has changed up to here."""
        if self._is_loaded:
            self._position = position

    def ended(self, error: ApiError) -> None:
        """A close by this side is no error."""
        if self._is_closed:
            return
        if error.cause == "STOPPED":
            self.close()
            return
        self._error = error
        self._is_closed = True
        self._stop()
        self._wake()
        self._errors.notify(error)
        self._changes.clear()
        self._errors.clear()

    async def _next_event(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)


_NOTHING = object()
