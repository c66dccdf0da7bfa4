"""The market as a data client of nautilus_trader: `pip install 'upcurve[nautilus]'`, Python 3.11 or newer.

    config = TradingNodeConfig(
        data_clients={VENUE: UpcurveDataClientConfig(url="https://api.example.org")}, …
    )
    node = TradingNode(config=config)
    node.add_data_client_factory(VENUE, UpcurveDataClientFactory)

An instrument is `<asset id>/ADA.UPCURVE`, because tickers are not unique. Trades and bars (LAST,
EXTERNAL) are live and can be requested; a bar is sent when its interval is over, and again as a
revision where a late trade or a rollback changed it. Order book deltas (L2_MBP) are the depth of the
pool, 100 levels a side; open orders are no part of it. Prices are rounded to 16 places, the most that
nautilus_trader has. A trade that a rollback undid was sent, and is not taken back: it has no word for
that.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, cast

from nautilus_trader.common.providers import InstrumentProvider
from nautilus_trader.live.config import LiveDataClientConfig
from nautilus_trader.live.data_client import LiveMarketDataClient
from nautilus_trader.live.factories import LiveDataClientFactory
from nautilus_trader.model.currencies import ADA
from nautilus_trader.model.data import Bar, BarType, BookOrder, OrderBookDelta, OrderBookDeltas, TradeTick
from nautilus_trader.model.enums import (
    AggressorSide,
    BarAggregation,
    BookAction,
    BookType,
    CurrencyType,
    OrderSide,
    PriceType,
    RecordFlag,
)
from nautilus_trader.model.identifiers import ClientId, InstrumentId, Symbol, TradeId, Venue
from nautilus_trader.model.instruments import CurrencyPair
from nautilus_trader.model.objects import Currency, Price, Quantity

from ..client import Client
from ..errors import ApiError
from ..market import Resolution
from ..mirrors.base import Mirror
from ..wire.shapes import TradeRow
from .since import bars_of, rows_between, trades_of

VENUE = "UPCURVE"
_VENUE = Venue(VENUE)
_PLACES = 16
_NANOSECONDS = 1_000_000_000
_MOST_INSTRUMENTS = 500
_DAY = 86_400
_RESOLUTIONS: dict[tuple[int, BarAggregation], Resolution] = {
    (1, BarAggregation.MINUTE): "min1",
    (3, BarAggregation.MINUTE): "min3",
    (5, BarAggregation.MINUTE): "min5",
    (15, BarAggregation.MINUTE): "min15",
    (30, BarAggregation.MINUTE): "min30",
    (1, BarAggregation.HOUR): "hour1",
    (2, BarAggregation.HOUR): "hour2",
    (4, BarAggregation.HOUR): "hour4",
    (12, BarAggregation.HOUR): "hour12",
    (1, BarAggregation.DAY): "day1",
    (1, BarAggregation.WEEK): "week1",
}


class UpcurveDataClientConfig(LiveDataClientConfig, frozen=True):
    """`url`: of a node; several are tried in turn. `key`: an API key, `upc_…`."""

    url: str | tuple[str, ...] = "http://127.0.0.1:8080"
    key: str | None = None


class UpcurveInstrumentProvider(InstrumentProvider):
    """All: the tokens with most volume. By id: any token."""

    def __init__(self, client: Client, config: Any) -> None:
        super().__init__(config=config)
        self._client = client

    async def load_all_async(self, filters: Any = None) -> None:
        answer = await self._client.tickers.list(limit=_MOST_INSTRUMENTS)
        for row in answer.data["items"]:
            self.add(instrument_of(row["asset"], row["name"]))

    async def load_ids_async(
        self, instrument_ids: Sequence[InstrumentId], filters: Any = None
    ) -> None:
        for instrument_id in instrument_ids:
            await self.load_async(instrument_id, filters)

    async def load_async(self, instrument_id: InstrumentId, filters: Any = None) -> None:
        asset = asset_of(instrument_id)
        found = (await self._client.tickers.of_assets([asset])).data["items"]
        for row in found:
            self.add(instrument_of(asset, row["name"]))


class UpcurveDataClient(LiveMarketDataClient):
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        name: str,
        config: UpcurveDataClientConfig,
        **parts: Any,
    ) -> None:
        url = config.url if isinstance(config.url, str) else list(config.url)
        self._upcurve = Client(url, key=config.key, max_attempts=5)
        provider = UpcurveInstrumentProvider(self._upcurve, config.instrument_provider)
        super().__init__(
            loop=loop,
            client_id=ClientId(name),
            venue=_VENUE,
            instrument_provider=provider,
            config=config,
            **parts,
        )
        self._provider = provider
        self._mirrors: dict[Any, Mirror[Any, Any]] = {}

    async def _connect(self) -> None:
        await self._provider.initialize()
        for currency in self._provider.currencies().values():
            self._cache.add_currency(currency)
        for instrument in self._provider.get_all().values():
            self._handle_data(instrument)

    async def _disconnect(self) -> None:
        await self._upcurve.close()

    async def _subscribe_instrument(self, command: Any) -> None:
        await self._request_instrument(command)

    async def _unsubscribe_instrument(self, command: Any) -> None:
        """An instrument does not change."""

    async def _request_instrument(self, request: Any) -> None:
        await self._provider.load_async(request.instrument_id)
        found = self._provider.find(request.instrument_id)
        if found is None:
            self._log.error(f"{request.instrument_id}: the server knows no such token")
        else:
            self._handle_data(found)

    async def _subscribe_trade_ticks(self, command: Any) -> None:
        instrument_id = command.instrument_id
        newest = ""

        def changed(state: Any, change: Any) -> None:
            nonlocal newest
            is_first, before = newest == "", newest
            newest = max([newest, *(row["id"] for row in state.trades[:1])]) or "0"
            if is_first:
                return
            is_reload = change.reason == "snapshot"
            for row in sorted(change.added, key=lambda row: row["id"]):
                if not is_reload or row["id"] > before:
                    self._handle_data(tick_of(instrument_id, row))

        mirror = self._upcurve.watch_trades(asset_of(instrument_id))
        self._follow(instrument_id, mirror, changed)

    async def _unsubscribe_trade_ticks(self, command: Any) -> None:
        self._mirrors.pop(command.instrument_id).close()

    async def _subscribe_bars(self, command: Any) -> None:
        bar_type = command.bar_type
        resolution = self._resolution(bar_type)
        if resolution is None:
            return
        sent: int | None = None

        def changed(state: Any, change: Any) -> None:
            nonlocal sent
            ended = [bar for bar in change.changed or state.bars if bar["final"]]
            is_first, before = sent is None, sent or 0
            sent = max([before, *(bar["time"] for bar in ended)])
            if is_first:
                return
            for bar in ended:
                is_news = bar["time"] > before
                if is_news or change.reason != "snapshot":
                    self._handle_data(bar_of(bar_type, bar, is_revision=not is_news))

        asset = asset_of(bar_type.instrument_id)
        self._follow(bar_type, self._upcurve.watch_bars(asset, resolution), changed)

    async def _unsubscribe_bars(self, command: Any) -> None:
        self._mirrors.pop(command.bar_type).close()

    async def _subscribe_order_book_deltas(self, command: Any) -> None:
        instrument_id = command.instrument_id
        if command.book_type != BookType.L2_MBP:
            self._log.error(f"{instrument_id}: the book has levels, so it is L2_MBP")
            return
        mirror = self._upcurve.watch_order_book(asset_of(instrument_id))
        shown: Levels | None = None

        def changed(state: Any, _change: Any) -> None:
            nonlocal shown
            levels = levels_of(state)
            seq = 0 if mirror.position is None else mirror.position.seq
            deltas = deltas_of(instrument_id, shown, levels, seq)
            shown = levels
            if deltas:
                self._handle_data(OrderBookDeltas(instrument_id, deltas))

        self._follow(("book", instrument_id), mirror, changed)

    async def _unsubscribe_order_book_deltas(self, command: Any) -> None:
        self._mirrors.pop(("book", command.instrument_id)).close()

    async def _request_trade_ticks(self, request: Any) -> None:
        """With a start the first `limit` ticks from it on, without one the newest before the end; all
        where `limit` is 0."""
        instrument_id, limit = request.instrument_id, request.limit or None
        read = trades_of(self._upcurve, asset_of(instrument_id), limit)
        start = _start(request)
        rows = await rows_between(read, start, _end(request), limit, lambda row: row["time"])
        ticks = [tick_of(instrument_id, row) for row in _cut(rows, start, limit)]
        about = (request.id, request.start, request.end, request.params)
        self._handle_trade_ticks(instrument_id, ticks, *about)

    async def _request_bars(self, request: Any) -> None:
        """As for ticks; bars whose interval began in the span and is over."""
        bar_type, limit = request.bar_type, request.limit or None
        resolution = self._resolution(bar_type)
        if resolution is None:
            return
        # The newest bar may not be over.
        most, start = None if limit is None else limit + 1, _start(request)
        read = bars_of(self._upcurve, asset_of(bar_type.instrument_id), resolution, most)
        span = _length(bar_type) * (most or 1)
        end = _end(request)
        rows = await rows_between(read, start, end, most, lambda row: row["time"], span)
        over = [row for row in rows if row["final"]]
        bars = [bar_of(bar_type, row) for row in _cut(over, start, limit)]
        about = (request.id, request.start, request.end, request.params)
        self._handle_bars(bar_type, bars, *about)

    def _follow(self, key: Any, mirror: Mirror[Any, Any], changed: Any) -> None:
        self._mirrors[key] = mirror
        mirror.on_change(changed)
        mirror.on_error(lambda error: self._log.error(f"{key}: {_told(error)}"))

    def _resolution(self, bar_type: BarType) -> Resolution | None:
        spec = bar_type.spec
        found = _RESOLUTIONS.get((spec.step, spec.aggregation))
        if found is None or spec.price_type != PriceType.LAST or bar_type.is_internally_aggregated():
            self._log.error(f"{bar_type}: there are {list(_RESOLUTIONS.values())}, LAST-EXTERNAL")
            return None
        return found


class UpcurveDataClientFactory(LiveDataClientFactory):
    @staticmethod
    def create(  # type: ignore[override]
        loop: asyncio.AbstractEventLoop,
        name: str,
        config: UpcurveDataClientConfig,
        msgbus: Any,
        cache: Any,
        clock: Any,
    ) -> UpcurveDataClient:
        return UpcurveDataClient(loop, name, config, msgbus=msgbus, cache=cache, clock=clock)


def instrument_id_of(asset: str) -> InstrumentId:
    return InstrumentId(Symbol(f"{asset}/ADA"), _VENUE)


def asset_of(instrument_id: InstrumentId) -> str:
    return cast("str", instrument_id.symbol.value).partition("/")[0]


def instrument_of(asset: str, name: str) -> CurrencyPair:
    return CurrencyPair(
        instrument_id=instrument_id_of(asset),
        raw_symbol=Symbol(asset),
        base_currency=Currency(asset, 0, 0, name or asset, CurrencyType.CRYPTO),
        quote_currency=ADA,
        price_precision=_PLACES,
        size_precision=0,
        price_increment=Price.from_str(format(Decimal(1).scaleb(-_PLACES), "f")),
        size_increment=Quantity.from_int(1),
        ts_event=0,
        ts_init=0,
        info={"name": name},
    )


def tick_of(instrument_id: InstrumentId, row: TradeRow) -> TradeTick:
    ns = row["time"] * _NANOSECONDS
    side = AggressorSide.BUYER if row["side"] == "buy" else AggressorSide.SELLER
    size = Quantity.from_int(int(row["baseAmount"]))
    return TradeTick(instrument_id, price_of(row["price"]), size, side, TradeId(row["id"]), ns, ns)


def bar_of(bar_type: BarType, bar: Any, is_revision: bool = False) -> Bar:
    """Its time is its end, as nautilus_trader has it."""
    ns = (bar["time"] + _length(bar_type)) * _NANOSECONDS
    prices = [price_of(bar[name]) for name in ("open", "high", "low", "close")]
    volume = Quantity.from_int(int(Decimal(bar["baseVolume"])))
    return Bar(bar_type, *prices, volume, ns, ns, is_revision)


#: Tokens by side and price.
Levels = dict[tuple[OrderSide, str], int]


def levels_of(book: Any) -> Levels:
    """None, where there is no such token, has no levels."""
    sides = ((OrderSide.BUY, "bids"), (OrderSide.SELL, "asks"))
    return {
        (side, level["price"]): int(level["amount"])
        for side, name in sides
        for level in (book[name] if book else ())
    }


def deltas_of(
    instrument_id: InstrumentId, before: Levels | None, now: Levels, sequence: int
) -> list[OrderBookDelta]:
    """The changes from one book to the other; a whole book behind a CLEAR if there is no first."""
    ns = time.time_ns()
    flags = RecordFlag.F_SNAPSHOT if before is None else 0
    known: Levels = before or {}
    changes = [(BookAction.DELETE, level, 0) for level in known if level not in now]
    for level, amount in now.items():
        if level not in known:
            changes.append((BookAction.ADD, level, amount))
        elif known[level] != amount:
            changes.append((BookAction.UPDATE, level, amount))
    deltas = [OrderBookDelta.clear(instrument_id, sequence, ns, ns)] if before is None else []
    for index, (action, (side, price), amount) in enumerate(changes):
        order = BookOrder(side, price_of(price), Quantity.from_int(amount), 0)
        last = RecordFlag.F_LAST if index == len(changes) - 1 else 0
        deltas.append(OrderBookDelta(instrument_id, action, order, flags | last, sequence, ns, ns))
    return deltas


def price_of(text: str) -> Price:
    return Price.from_str(format(Decimal(text).quantize(Decimal(1).scaleb(-_PLACES)), "f"))


def _length(bar_type: BarType) -> int:
    return int(cast("timedelta", bar_type.spec.timedelta).total_seconds())


def _cut(ascending: list[Any], start: int | None, limit: int | None) -> list[Any]:
    if limit is None:
        return ascending
    return ascending[-limit:] if start is None else ascending[:limit]


def _start(request: Any) -> int | None:
    """Unix seconds."""
    return None if request.start is None else _seconds(request.start)


def _end(request: Any) -> int:
    """Unix seconds; where the request has no end, after all there is."""
    return int(time.time()) + _DAY if request.end is None else _seconds(request.end)


def _seconds(moment: datetime) -> int:
    """The first whole second from it on."""
    return -int(-moment.astimezone(timezone.utc).timestamp() // 1)


def _told(error: ApiError) -> str:
    return f"{error.cause}: {error.message}"
