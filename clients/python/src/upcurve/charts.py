"""Charts over HTTP."""

from __future__ import annotations

from typing import Any

from .http import Http
from .position import Answer, Position


class Charts:
    def __init__(self, http: Http) -> None:
        self._http = http

    async def history(
        self,
        base: str,
        quote: str,
        resolution: str,
        start: int,
        end: int,
        *,
        limit: int | None = None,
        fill: str | None = None,
        min_position: Position | None = None,
    ) -> Answer[Any]:
        """Bars whose start is in [start, end), Unix seconds, oldest first."""
        query = _query(base, quote, resolution, start, end, limit, fill)
        path = "/v1/charts/history"
        return await self._http.call("GET", path, query=query, min_position=min_position)

    async def initial_state(self, base: str, quote: str, resolution: str) -> Answer[Any]:
        query = {"base": base, "quote": quote, "resolution": resolution}
        return await self._http.call("GET", "/v1/charts/initial-state", query=query)


def _query(
    base: str, quote: str, resolution: str, start: int, end: int, limit: int | None, fill: str | None
) -> dict[str, object]:
    of = {"base": base, "quote": quote, "resolution": resolution}
    return {**of, "from": start, "to": end, "limit": limit, "fill": fill}
