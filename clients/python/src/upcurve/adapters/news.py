"""News of a mirror since the last call, for interfaces that deliver changes call by call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Any

from ..errors import ApiError
from ..mirrors.base import Mirror

#: Rows that wait to be asked for; beyond it the oldest are left out, and the mirror still has them.
_MOST_WAITING = 1000


class News:
    """`rows_of(state, change)`: the rows that changed, by key; None for one that is gone."""

    def __init__(
        self,
        mirror: Mirror[Any, Any],
        rows_of: Callable[[Any, Any], dict[Hashable, Any]],
    ) -> None:
        self.mirror = mirror
        self._rows_of = rows_of
        self._waiting: dict[Hashable, Any] = {}
        self._has_some = asyncio.Event()
        mirror.on_change(self._changed)
        mirror.on_error(lambda _error: self._has_some.set())

    async def next(self) -> list[Any]:
        """The rows that changed since the last call, once there are any; raises ApiError when the
        mirror has ended."""
        while not self._waiting:
            if self.mirror.error is not None:
                raise self.mirror.error
            if self.mirror.is_closed:
                raise ApiError("STOPPED", "the subscription was closed")
            self._has_some.clear()
            await self._has_some.wait()
        rows, self._waiting = list(self._waiting.values()), {}
        return rows

    def close(self) -> None:
        self.mirror.close()
        self._has_some.set()

    def _changed(self, state: Any, change: Any) -> None:
        if change.reason == "snapshot":
            self._waiting.clear()
        for key, row in self._rows_of(state, change).items():
            self._waiting.pop(key, None)
            if row is not None:
                self._waiting[key] = row
        while len(self._waiting) > _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        if self._waiting:
            self._has_some.set()
