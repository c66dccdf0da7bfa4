"""The first rows from a moment on, oldest first. The API answers the newest of a span."""

from __future__ import annotations

import time
from typing import Any

from ..client import Client
from ..market import Resolution
from ..wire.shapes import TradeRow

_MOST_BARS = 5000
_TRADES = 500
_DAY = 86_400
#: The span that is looked through first, and how much longer each next one is.
_FIRST_SPAN, _GROWTH = 3600, 4


async def bars_since(
    client: Client, asset: str, resolution: Resolution, seconds: int, start: int, limit: int
) -> list[Any]:
    """Flat bars where nothing was traded; from the first trade on where `start` is before it.
    `seconds`: about as long as one bar."""
    now = int(time.time()) + _DAY
    count = min(limit + 1, _MOST_BARS)
    while start < now:
        end = start + count * seconds
        answer = await client.charts.history(
            base=asset,
            quote=".",
            resolution=resolution,
            start=start,
            end=end,
            limit=_MOST_BARS,
            fill="previous",
        )
        if answer.data:
            return answer.data[:limit]
        # Nothing was traded before `end`.
        start = max(end, await _first_day(client, asset, end, now))
    return []


async def _first_day(client: Client, asset: str, start: int, end: int) -> int:
    """The start of the first day with a trade; `end` where there is none."""
    begin = start // _DAY * _DAY
    days = await client.charts.whole_history(
        base=asset, quote=".", resolution="day1", start=begin, end=end, limit=_MOST_BARS
    )
    return days.data[0]["time"] if days.data else end


async def trades_since(client: Client, asset: str, start: int, limit: int) -> list[TradeRow]:
    now = int(time.time()) + _DAY
    found: list[TradeRow] = []
    length = _FIRST_SPAN
    while start < now and len(found) < limit:
        end = start + length
        found += await trades_between(client, asset, start, end)
        start, length = end, length * _GROWTH
    return found[:limit]


async def trades_between(client: Client, asset: str, start: int, end: int) -> list[TradeRow]:
    """All in [start, end)."""
    newest_first: list[TradeRow] = []
    before: dict[str, Any] = {}
    while True:
        answer = await client.trades.list(
            asset=asset, start=start, end=end, limit=_TRADES, **before
        )
        newest_first += answer.data
        oldest = answer.next_before or (answer.data[-1]["id"] if len(answer.data) == _TRADES else None)
        if oldest is None:
            return newest_first[::-1]
        before = {"before": oldest}
