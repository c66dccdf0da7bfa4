"""Rows of a span of time, oldest first. The API answers each list newest first, page by page.

`start` and `end` are Unix seconds: rows of [start, end)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..client import Client
from ..market import Resolution
from ..wire.shapes import TradeRow

T = TypeVar("T")

#: The most rows of one answer, and the least that are read at once.
_BARS, _TRADES, _LEAST = 5000, 500, 100
#: The first span that is read for the oldest rows, and how much longer or shorter the next one is.
_FIRST_SPAN, _GROWTH = 3600, 4


@dataclass(frozen=True)
class Page(Generic[T]):
    """`rows`: newest first. `before`: where the next page of the same span begins; None at its end."""

    rows: Sequence[T]
    before: Any


#: Reads one page of [start, end): from `before` on, or from its newest row where that is None.
ReadPage = Callable[[int, int, Any], Awaitable[Page[T]]]


async def rows_between(
    read: ReadPage[T],
    start: int | None,
    end: int,
    limit: int | None,
    time_of: Callable[[T], int],
    span: int = _FIRST_SPAN,
) -> list[T]:
    """Oldest first, in whole seconds. With `start` at least the first `limit` rows from it on, without
    it at least the newest `limit` before `end`; all where `limit` is None. `span`: seconds that
    `limit` rows may take."""
    if start is None or limit is None:
        return await _newest(read, start or 0, end, limit, time_of)
    found: list[T] = []
    #: Up to here there is more than a page.
    full = start
    while start < end and len(found) < limit:
        until = min(end, start + span)
        page = await read(start, until, None)
        if page.before is not None and until - start > 1:
            full, span = until, max(1, (until - start) // _GROWTH)
            continue
        if page.before is None:
            found += reversed(page.rows)
            span = span if until < full else span * _GROWTH
        else:
            found += await _newest(read, start, until, None, time_of)
        start = until
    return found


async def _newest(
    read: ReadPage[T], start: int, end: int, limit: int | None, time_of: Callable[[T], int]
) -> list[T]:
    found: list[T] = []
    before: Any = None
    while start < end:
        page = await read(start, end, before)
        found += page.rows
        before = page.before
        if before is None:
            break
        if limit is None or len(found) <= limit:
            continue
        first = time_of(found[limit - 1])
        if time_of(found[-1]) < first:
            return [row for row in found if time_of(row) >= first][::-1]
    return found[::-1]


def bars_of(
    client: Client, asset: str, resolution: Resolution, limit: int | None
) -> ReadPage[Any]:
    """Flat bars where nothing was traded, from the first trade on. `limit`: rows that are needed."""
    size = _size(limit, _BARS)

    async def read(start: int, end: int, before: Any) -> Page[Any]:
        answer = await client.charts.history(
            base=asset,
            quote=".",
            resolution=resolution,
            start=start,
            end=end if before is None else before,
            limit=size,
            fill="previous",
        )
        return Page(answer.data[::-1], answer.next_to)

    return read


def trades_of(
    client: Client, asset: str, limit: int | None, pkh: str | None = None
) -> ReadPage[TradeRow]:
    """Only for one payment key if `pkh` is given. `limit`: rows that are needed."""
    key: Any = {} if pkh is None else {"pkh": pkh}
    size = _size(limit, _TRADES)

    async def read(start: int, end: int, before: Any) -> Page[TradeRow]:
        query: Any = key if before is None else {**key, "before": before}
        answer = await client.trades.list(asset=asset, start=start, end=end, limit=size, **query)
        last = answer.data[-1]["id"] if len(answer.data) == size else None
        return Page(answer.data, answer.next_before or last)

    return read


def _size(limit: int | None, most: int) -> int:
    """One more than is needed: where it is older, the second before it is whole."""
    return most if limit is None else min(most, max(limit + 1, _LEAST))
