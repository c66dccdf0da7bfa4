"""Where the bars of a mirror come from: prices or market caps, over HTTP and over the socket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar, cast

from ..errors import ApiError
from ..position import Answer, Position
from ..subscription import SubscribeParams


class PriceBar(TypedDict):
    """Prices and volumes are exact decimals: `volume` in the quote asset, `baseVolume` in the base
    asset. `time` is the start of the interval, Unix seconds."""

    time: int
    open: str
    high: str
    low: str
    close: str
    volume: str
    baseVolume: str
    trades: int
    #: Market time has passed the end of the interval.
    final: bool


class CapBar(TypedDict):
    """Market caps in ADA; `mCap` is the close."""

    time: int
    open: str
    high: str
    low: str
    close: str
    mCap: str
    trades: int
    final: bool


B = TypeVar("B", bound=Any)


@dataclass(frozen=True)
class HistoryPage(Generic[B]):
    is_known: bool
    bars: Sequence[B]
    standing: B | None
    has_older: bool
    position: Position


#: The last second of year 9999.
END_OF_TIME = 253_402_300_799
_NOWHERE = Position("0-none", 0)
#: Rows of one answer, at most.
_PAGE_ROWS = 5000

Call = Callable[..., Awaitable[Answer[Any]]]


class BarSource(Generic[B]):
    def __init__(
        self,
        fields: Sequence[str],
        history: Call,
        initial_state: Call,
        pair: dict[str, str],
        params: SubscribeParams,
    ) -> None:
        #: The fields that a mirror's bar takes from a bar of the API.
        self._fields = fields
        self._history = history
        self._initial_state = initial_state
        self._pair = pair
        self.params = params
        data = params.data or {}
        self._resolution = data["interval"]
        self._fill = data.get("fill")
        #: Market caps have one kind of price.
        self._of = {"price": data["price"]} if "price" in data else {}

    @property
    def is_filled(self) -> bool:
        """Intervals without trades have flat bars."""
        return self._fill == "previous"

    async def newest(self, limit: int) -> HistoryPage[B]:
        try:
            found = await self.before(END_OF_TIME, limit)
            if found.bars:
                return found
            query = {**self._pair, "resolution": self._resolution, **self._of}
            answer = await self._initial_state(**query)
            bar = self.streamed(answer.data["bar"])
            standing = bar if bar["trades"] == 0 else None
            return HistoryPage(True, (), standing, found.has_older, found.position)
        except ApiError as error:
            if error.cause != "ASSET_NOT_FOUND":
                raise
            return HistoryPage(False, (), None, False, _NOWHERE)

    async def before(self, time: int, limit: int) -> HistoryPage[B]:
        """More than an answer has are read page by page, each at least as new as the one before."""
        first = page = await self._page(time, limit, None)
        rows = page.data
        while page.next_to is not None and len(rows) < limit:
            page = await self._page(page.next_to, limit - len(rows), page.position)
            rows = [*page.data, *rows]
        if first.position is None:
            raise ApiError("BAD_ANSWER", "a history without X-Position")
        bars = [self.streamed(bar) for bar in rows]
        return HistoryPage(True, bars, None, page.next_to is not None, first.position)

    async def _page(self, end: int, limit: int, position: Position | None) -> Answer[Any]:
        query = {**self._pair, "resolution": self._resolution, "start": 0, "end": end}
        size = min(limit, _PAGE_ROWS)
        return await self._history(
            **query, **self._of, limit=size, fill=self._fill, min_position=position
        )

    def streamed(self, data: Any) -> B:
        # The TypedDict B defines the fields.
        return cast(B, {name: data[name] for name in self._fields})

    def revised(self, data: Any) -> list[Any]:
        return [bar if "removed" in bar else self.streamed(bar) for bar in data["bars"]]


PRICE_FIELDS = tuple(PriceBar.__annotations__)
CAP_FIELDS = tuple(CapBar.__annotations__)
