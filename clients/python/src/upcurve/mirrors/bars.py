"""The bars of a pair: a page of history over HTTP, then live from its position.

There is no gap between the newest bar and the oldest one loaded; `load_older` loads more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..backoff import RETRY
from ..connection import Connection
from ..errors import ApiError
from ..position import Position
from ..subscription import SubscribeParams, Subscription
from .bar_list import BarRows
from .bar_source import BarSource, HistoryPage
from .base import Change, Mirror, Reason

B = TypeVar("B", bound=Any)

#: Tries to get older bars from a node that is not behind this mirror.
_MOST_TRIES = 8
_MOST_RETRY_AFTER_SECONDS = 60


@dataclass(frozen=True)
class BarsState(Generic[B]):
    #: False: the server knows no such pair, yet.
    is_known: bool
    #: Oldest first, each interval once.
    bars: Sequence[B]
    #: For a launch without trades: a flat bar at its spot price, which is in no history.
    standing: B | None
    #: Whether there are bars older than the first one here.
    has_older: bool


@dataclass(frozen=True)
class BarsChange(Change, Generic[B]):
    #: Changed or new, oldest first; on `snapshot` and `history` look at the state instead.
    changed: Sequence[B] = ()
    #: Times of bars that were removed.
    removed: Sequence[int] = ()


class BarsMirror(Mirror["BarsState[B]", "BarsChange[B]"], Generic[B]):
    def __init__(self, connection: Connection, source: BarSource[B], limit: int) -> None:
        super().__init__(BarsState(False, (), None, False))
        self._connection = connection
        self._source = source
        #: Number of bars in the first page, and in a page that is loaded again.
        self._limit = limit
        self._rows: BarRows[B] = BarRows([], False)
        self._subscription: Subscription | None = None
        self._older: asyncio.Task[bool] | None = None
        self._loading: asyncio.Task[None] | None = None
        #: Counts full reloads: an answer to an older one is dropped.
        self._generation = 0
        self._reload()

    async def load_older(self, count: int | None = None) -> bool:
        """Loads up to `count` bars before the first one; true when there were any."""
        if self._older is None or self._older.done():
            wanted = self._limit if count is None else count
            self._older = asyncio.ensure_future(self._load_older(wanted))
        return await asyncio.shield(self._older)

    def _stop(self) -> None:
        self._generation += 1
        if self._subscription is not None:
            self._subscription.close()
        if self._loading is not None and self._loading is not asyncio.current_task():
            self._loading.cancel()

    # Methods that its subscription calls.

    def snapshot(self, data: Any, position: Position) -> None:
        # A snapshot holds only the newest bar, so bars were missed: load the page again.
        if data is None:
            self._clear(position, "snapshot")
        else:
            self._reload()

    def update(self, event: str, data: Any, position: Position) -> None:
        is_revision = event == "BarsRevised"
        reason: Reason = "revised" if is_revision else "update"
        if data is None:
            self._clear(position, reason)
            return
        patches = self._source.revised(data) if is_revision else [self._source.streamed(data)]
        changed, removed = self._rows.apply(patches, self._source.is_filled)
        self._notify(True, position, BarsChange(reason, changed, removed))

    def _reload(self) -> None:
        """A page of history, then live. The old bars stay visible until the page has arrived."""
        if self._subscription is not None:
            self._subscription.close()
        self._generation += 1
        self._loading = asyncio.ensure_future(self._load(self._generation))

    async def _load(self, generation: int) -> None:
        limit = max(self._limit, len(self._rows.bars))
        page = await self._page(generation, lambda: self._source.newest(limit))
        if page is None or generation != self._generation:
            return
        if page.is_known:
            self._rows = BarRows(page.bars, page.has_older, page.standing)
            self._notify(True, page.position, BarsChange("snapshot"))
        params = self._source.params
        since = page.position if page.is_known else None
        self._subscription = self._connection.subscribe(
            SubscribeParams(params.topic, params.data, params.max_hz, since), self
        )

    async def _page(
        self, generation: int, ask: Callable[[], Awaitable[HistoryPage[B]]]
    ) -> HistoryPage[B] | None:
        """Retries until there is an answer: an outage ends nothing."""
        tries = 0
        while generation == self._generation:
            try:
                return await ask()
            except ApiError as error:
                if generation != self._generation:
                    return None
                if not error.is_passing:
                    self.ended(error)
                    return None
                named = min(error.retry_after_seconds or 0, _MOST_RETRY_AFTER_SECONDS)
                await asyncio.sleep(max(named, RETRY.after(tries)))
                tries += 1
        return None

    def _clear(self, position: Position, reason: Reason) -> None:
        """There is no such pair, or a rollback removed it."""
        removed = [bar["time"] for bar in self._rows.bars]
        self._rows = BarRows([], False)
        self._notify(False, position, BarsChange(reason, (), removed))

    def _notify(self, is_known: bool, position: Position, change: BarsChange[B]) -> None:
        rows = self._rows
        state = BarsState(is_known, tuple(rows.bars), rows.standing, rows.has_older)
        self._set_state(state, position, change)

    async def _load_older(self, count: int) -> bool:
        generation = self._generation
        for tries in range(_MOST_TRIES):
            if not self._rows.bars or not self._rows.has_older or self._is_closed:
                return False
            oldest = self._rows.bars[0]["time"]
            page = await self._source.before(oldest, count)
            own = self._position
            # All was reloaded meanwhile, with another oldest bar.
            if generation != self._generation or own is None or self._is_closed:
                return False
            is_same = bool(self._rows.bars) and self._rows.bars[0]["time"] == oldest
            if is_same and page.position.includes(own):
                self._rows.prepend(page.bars, page.has_older)
                self._notify(True, own, BarsChange("history"))
                return len(page.bars) > 0
            # The node is behind this mirror: its bars may be revised already.
            await asyncio.sleep(RETRY.after(tries))
        what = "no node has older bars as new as the newer ones here; try again"
        raise ApiError("NOT_READY", what)
