"""Calls without a key: markets, tickers, bars, trades, the book; fetched, and watched."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from ccxt.async_support.base.exchange import Exchange
from ccxt.base import errors
from ccxt.base.decimal_to_precision import TICK_SIZE

from ...client import Client
from ...errors import ApiError
from ...market import Resolution
from ...mirrors.base import Mirror
from ...position import Answer
from ..news import News
from ..since import ReadPage, bars_of, rows_between, trades_of
from . import rows

T = TypeVar("T")

_MOST_TICKERS = 500
_MOST_ASSETS = 1000
_MOST_LEVELS = 100
#: Symbols that a refusal lists.
_MOST_NAMED = 5
_NOT_FOUND = 404
_NO_FEES = ("NOT_READY", "PROTOCOL_CONFIG", "PROTOCOL_CONFIG_NETWORK_MISMATCH")
_DAY_MS = 86_400_000
#: Rows of a list where the caller gives no limit.
_BARS, ROWS = 400, 500
_CAN = (
    "cancelOrder createMarketBuyOrderWithCost createOrder fetchBalance fetchClosedOrders fetchMarkets"
    " fetchMyTrades fetchOHLCV fetchOpenOrders fetchOrder fetchOrderBook fetchOrders fetchTicker"
    " fetchTickers fetchTime fetchTrades watchOHLCV watchOrderBook watchOrders watchTrades"
)


#: Features of orders that ccxt knows and this market does not have.
_NO_TRIGGERS = {"marginMode": False, "trigger": False, "trailing": False, "symbolRequired": False}
#: Parameters of the calls, in ccxt's words. Without `waitFor`, an order is filled now or refused.
_FEATURES: Mapping[str, Any] = {
    "sandbox": False,
    "createOrder": {
        "marginMode": False,
        "triggerPrice": False,
        "triggerPriceType": None,
        "stopLossPrice": False,
        "takeProfitPrice": False,
        "attachedStopLossTakeProfit": None,
        "timeInForce": dict.fromkeys(("GTC", "IOC", "FOK", "PO", "GTD"), False),
        "hedged": False,
        "trailing": False,
    },
    "createOrders": None,
    "fetchMyTrades": {
        "marginMode": False,
        "limit": ROWS,
        "daysBack": None,
        "untilDays": None,
        "symbolRequired": True,
    },
    "fetchOrder": _NO_TRIGGERS,
    "fetchOpenOrders": {**_NO_TRIGGERS, "limit": ROWS},
    "fetchOrders": {**_NO_TRIGGERS, "limit": ROWS, "daysBack": None, "untilDays": None},
    "fetchClosedOrders": {
        **_NO_TRIGGERS,
        **{"limit": ROWS, "daysBack": None, "daysBackCanceled": None, "untilDays": None},
    },
    "fetchOHLCV": {"limit": _BARS},
}


@dataclass(frozen=True)
class Span:
    """Rows from `start` to `end`, milliseconds, both included: the first `limit` from `start` on, or
    where that is None the newest up to `end`; all where `limit` is None."""

    start: int | None
    end: int
    limit: int | None

    def has(self, milliseconds: int) -> bool:
        return (self.start or 0) <= milliseconds <= self.end

    def cut(self, ascending: list[T]) -> list[T]:
        if self.limit is None:
            return ascending
        return ascending[-self.limit :] if self.start is None else ascending[: self.limit]


class MarketExchange(Exchange):  # type: ignore[misc]
    """`watch_…` waits for a change and answers what changed, or with `newUpdates` False all that is
    held. A rollback of the chain may undo a trade that was answered before; ccxt has no word for
    that, so it is not told: what is held is right."""

    def describe(self) -> Any:
        described = {
            "id": "upcurve",
            "name": "upcurve",
            "countries": [],
            "pro": True,
            "rateLimit": 20,
            "has": {"spot": True, "fetchCurrencies": False, **dict.fromkeys(_CAN.split(), True)},
            "timeframes": dict(rows.TIMEFRAMES),
            "features": {"spot": _FEATURES},
            "urls": {"api": "http://127.0.0.1:8080"},
            "requiredCredentials": {"apiKey": False, "secret": False, "privateKey": True},
            "precisionMode": TICK_SIZE,
            "options": {
                # Or `testnet`: any network but mainnet, a devnet included.
                "network": "mainnet",
                # Percent below the quoted output that a market order still takes.
                "slippage": "15",
                # The tokens with most volume; any other one is looked up when it is first named.
                "mostMarkets": 500,
            },
        }
        return self.deep_extend(super().describe(), described)

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__(dict(config or {}))
        self._client: Client | None = None
        self._fees: rows.Fees | None = None
        self._news: dict[tuple[str, ...], News] = {}

    def market_client(self) -> Client:
        """The client beneath, for what ccxt has no call."""
        if self._client is None:
            seconds, key = self.timeout / 1000, self.apiKey or None
            self._client = Client(self.urls["api"], timeout=seconds, max_attempts=5, key=key)
        return self._client

    async def close(self, clean_instance_data: bool = False) -> None:
        client, self._client = self._client, None
        for news in self._news.values():
            news.close()
        self._news.clear()
        if client is not None:
            await client.close()
        await super().close(clean_instance_data)

    async def fetch_time(self, params: Any = {}) -> int:
        return int((await self._data(self.market_client().server.time()))["timestamp"])

    async def fetch_markets(self, params: Any = {}) -> list[Any]:
        found, fees = await self._most_traded(), await self._read_fees()
        return [
            self.safe_market_structure(
                rows.market_of(row["asset"], row["createdOn"], row, row["graduated"], fees)
            )
            for row in found
        ]

    async def fetch_ticker(self, symbol: str, params: Any = {}) -> Any:
        self._refuse_unknown(params, set())
        market = await self._market(symbol)
        (row,) = await self._tickers_of([market["id"]])
        return self.parse_ticker(row, market)

    async def fetch_tickers(self, symbols: Sequence[str] | None = None, params: Any = {}) -> Any:
        self._refuse_unknown(params, set())
        await self._read_fees()
        if symbols is None:
            found = await self._most_traded()
        else:
            found = await self._tickers_of([(await self._market(each))["id"] for each in symbols])
        tickers = [self.parse_ticker(row) for row in found]
        return {ticker["symbol"]: ticker for ticker in tickers}

    async def fetch_ohlcv(
        self,
        symbol: str,
        timeframe: str = "1m",
        since: int | None = None,
        limit: int | None = None,
        params: Any = {},
    ) -> list[Any]:
        """Flat bars where nothing was traded, from the first trade on. With `since` the oldest from
        there, without it the newest, up to `params["until"]` (milliseconds)."""
        market = await self._market(symbol)
        resolution, span = self._resolution(timeframe), self._span(since, limit, params, _BARS)
        read = bars_of(self.market_client(), market["id"], resolution, span.limit)
        seconds = self.parse_timeframe(timeframe) * (span.limit or 1)
        start = None if span.start is None else -(-span.start // 1000)
        end = span.end // 1000 + 1
        asked = rows_between(read, start, end, span.limit, lambda bar: bar["time"], seconds)
        return span.cut(self._bars(await self._result(asked)))

    async def fetch_trades(
        self, symbol: str, since: int | None = None, limit: int | None = None, params: Any = {}
    ) -> list[Any]:
        """Oldest first. With `since` the oldest from there, without it the newest, up to
        `params["until"]` (milliseconds). The chain's time has whole seconds; the milliseconds number
        the trades of one second, so that paging by time loses none."""
        market, span = await self._market(symbol), self._span(since, limit, params, ROWS)
        read = trades_of(self.market_client(), market["id"], span.limit)
        return await self._read_trades(read, market, span)

    async def fetch_order_book(
        self, symbol: str, limit: int | None = None, params: Any = {}
    ) -> Any:
        """Amounts that the pool trades on a grid of prices with three significant digits, or with
        `params["digits"]` 4; at most 100 levels a side. Open orders are no part of it."""
        self._refuse_unknown(params, {"digits"})
        market = await self._market(symbol)
        query = {"digits": params.get("digits", 3), "levels": min(limit or _MOST_LEVELS, _MOST_LEVELS)}
        asked = self.market_client().orders.book(asset=market["id"], **query)
        return self._order_book(await self._data(asked), market, limit)

    async def watch_ohlcv(
        self,
        symbol: str,
        timeframe: str = "1m",
        since: int | None = None,
        limit: int | None = None,
        params: Any = {},
    ) -> list[Any]:
        """The bars that changed and all newer ones, so that the last is always the current bar."""
        self._refuse_unknown(params, set())
        market = await self._market(symbol)
        asset, resolution = market["id"], self._resolution(timeframe)
        news = self._watch(
            ("bars", asset, timeframe),
            lambda client: client.watch_bars(asset, resolution, fill="previous"),
            lambda state, change: {
                **dict.fromkeys(change.removed),
                **{bar["time"]: bar for bar in change.changed or state.bars},
            },
        )
        changed = await self._result(news.next())
        held = news.mirror.state.bars
        if self.newUpdates:
            first = min(bar["time"] for bar in changed)
            held = [bar for bar in held if bar["time"] >= first]
        bars = self._bars(held)
        return cast("list[Any]", self.filter_by_since_limit(bars, since, limit, 0, True))

    async def watch_trades(
        self, symbol: str, since: int | None = None, limit: int | None = None, params: Any = {}
    ) -> list[Any]:
        self._refuse_unknown(params, set())
        market = await self._market(symbol)
        news = self._watch(
            ("trades", market["id"]),
            lambda client: client.watch_trades(market["id"]),
            lambda _state, change: {
                **dict.fromkeys(change.removed),
                **{row["id"]: row for row in change.added},
            },
        )
        changed = await self._result(news.next())
        shown = changed if self.newUpdates else news.mirror.state.trades
        ids = {row["id"] for row in shown}
        held = sorted(
            {row["id"]: row for row in (*news.mirror.state.trades, *shown)}.values(),
            key=lambda row: (row["time"], row["id"]),
        )
        numbered = rows.numbered(held)
        trades = [self.parse_trade(row, market) for row in numbered if row["id"] in ids]
        return cast(
            "list[Any]", self.filter_by_since_limit(trades, since, limit, "timestamp", True)
        )

    async def watch_order_book(
        self, symbol: str, limit: int | None = None, params: Any = {}
    ) -> Any:
        self._refuse_unknown(params, set())
        market = await self._market(symbol)
        news = self._watch(
            ("book", market["id"]),
            lambda client: client.watch_order_book(market["id"]),
            lambda state, _change: {0: state},
        )
        return self._order_book((await self._result(news.next()))[0], market, limit)

    async def un_watch(self, symbol: str) -> None:
        """Ends all that is watched of a symbol."""
        for key in [key for key in self._news if key[1] == rows.asset_of(symbol)]:
            self._news.pop(key).close()

    # The methods of ccxt itself call this one, too.

    def parse_ticker(self, ticker: Any, market: Any = None) -> Any:
        return self.safe_ticker(rows.ticker_row(ticker, self._fees), market)

    def parse_trade(self, trade: Any, market: Any = None) -> Any:
        row = rows.trade_row(trade, market["symbol"])
        return self.safe_trade({**row, "datetime": self.iso8601(row["timestamp"])}, market)

    def parse_ohlcv(self, ohlcv: Any, market: Any = None) -> list[Any]:
        texts = [ohlcv[name] for name in ("open", "high", "low", "close", "baseVolume")]
        return [ohlcv["time"] * 1000, *map(self.parse_number, texts)]

    async def _result(self, asked: Awaitable[T]) -> T:
        try:
            return await asked
        except ApiError as error:
            raise rows.ccxt_error(self.id, error) from error

    async def _data(self, asked: Awaitable[Answer[Any]]) -> Any:
        return (await self._result(asked)).data

    async def _market(self, symbol: str) -> Any:
        """Any token of the server is a market."""
        await self.load_markets()
        asset = rows.asset_of(symbol)
        if symbol not in self.markets and asset is not None:
            if not rows.is_asset(asset):
                raise errors.BadSymbol(f"{self.id} has no symbol {symbol}: {await self._meant(asset)}")
            fees = await self._read_fees()
            pool = await self._data(self.market_client().pools.one(asset))
            is_graduated = pool["pool"]["cpmmPoolId"] is not None
            created, info = pool["pool"]["createdOn"], pool["info"]
            found = rows.market_of(asset, created, info, is_graduated, fees)
            self.set_markets([*self.markets.values(), self.safe_market_structure(found)])
        return self.market(symbol)

    async def symbols_of(self, ticker: str) -> list[str]:
        """Symbols of all tokens with this ticker, the highest market cap first. Tickers are not unique:
        look at `market["info"]` before you trade."""
        found = await self._data(self.market_client().pools.by_ticker(ticker))
        return [rows.symbol_of(row["info"]["asset"]) for row in found]

    async def _meant(self, ticker: str) -> str:
        likely = await self.symbols_of(ticker) if ticker.strip() else []
        form = "a symbol is `<asset id>/ADA`, because tickers are not unique"
        if not likely:
            return f"{form}; no token has this ticker"
        listed = ", ".join(likely[:_MOST_NAMED])
        return f"{form}; {len(likely)} with this ticker: {listed}"

    async def _read_fees(self) -> rows.Fees | None:
        """Once; None where the server cannot tell them: a replay, a reader, an incomplete deployment."""
        if self._fees is None:
            try:
                self._fees = rows.Fees.of((await self.market_client().build.protocol_config()).data)
            except ApiError as error:
                if error.status != _NOT_FOUND and error.cause not in _NO_FEES:
                    raise rows.ccxt_error(self.id, error) from error
        return self._fees

    def _resolution(self, timeframe: str) -> Resolution:
        if timeframe not in self.timeframes:
            known = ", ".join(self.timeframes)
            raise errors.BadRequest(f"{self.id} has no timeframe {timeframe}, only {known}")
        return cast("Resolution", self.timeframes[timeframe])

    async def _most_traded(self) -> list[Any]:
        most = int(self.options["mostMarkets"])
        found: list[Any] = []
        while len(found) < most:
            limit = min(_MOST_TICKERS, most - len(found))
            page = self.market_client().tickers.list(offset=len(found), limit=limit)
            items = (await self._data(page))["items"]
            found += items
            if len(items) < limit:
                break
        return found

    async def _tickers_of(self, assets: Sequence[str]) -> list[Any]:
        parts = [assets[at : at + _MOST_ASSETS] for at in range(0, len(assets), _MOST_ASSETS)]
        answers = [await self._data(self.market_client().tickers.of_assets(part)) for part in parts]
        return [row for answer in answers for row in answer["items"]]

    def _bars(self, bars: Sequence[Any]) -> list[Any]:
        return [self.parse_ohlcv(bar) for bar in bars]

    def _span(self, since: Any, limit: Any, params: Mapping[str, Any], rows: int | None) -> Span:
        """`rows`: how many where the caller gives no limit."""
        self._refuse_unknown(params, {"until"})
        until = params.get("until")
        for name, value in {"since": since, "limit": limit, "until": until}.items():
            least = 1 if name == "limit" else 0
            if value is not None and not _is_count(value, least):
                raise errors.BadRequest(
                    f"{self.id} {name} is {value!r}: an integer of at least {least} is valid"
                )
        return Span(
            start=None if since is None else int(since),
            end=self.milliseconds() + _DAY_MS if until is None else int(until),
            limit=rows if limit is None else int(limit),
        )

    async def _read_trades(self, read: ReadPage[Any], market: Any, span: Span) -> list[Any]:
        limit = span.limit
        while True:
            start = None if span.start is None else span.start // 1000
            asked = rows_between(read, start, span.end // 1000 + 1, limit, lambda row: row["time"])
            found = await self._result(asked)
            trades = [self.parse_trade(row, market) for row in rows.numbered(found)]
            inside = [trade for trade in trades if span.has(trade["timestamp"])]
            if span.limit is None or len(inside) >= span.limit or len(found) < cast("int", limit):
                return span.cut(inside)
            # Trades of the first or last second that are outside took the place of others.
            limit = 2 * cast("int", limit)

    def _refuse_unknown(self, params: Mapping[str, Any], known: set[str]) -> None:
        """A param that is ignored misleads; one of an order could cost money."""
        unknown = sorted(params.keys() - known)
        if unknown:
            raise errors.BadRequest(f"{self.id} knows no params {unknown}, only {sorted(known)}")

    def _order_book(self, book: Any, market: Any, limit: int | None) -> Any:
        sides = {side: book[side][:limit] for side in ("bids", "asks")} if book else {}
        # The server gives a book no time, so this is the time at which it arrived.
        at = self.milliseconds()
        found = self.parse_order_book(sides, market["symbol"], at, "bids", "asks", "price", "amount")
        return {**found, "nonce": book.get("seq") if book else None}

    def _watch(
        self,
        key: tuple[str, ...],
        start: Callable[[Client], Mirror[Any, Any]],
        rows_of: Callable[[Any, Any], dict[Any, Any]],
    ) -> News:
        """One mirror for each; a new one where it has ended with an error."""
        known = self._news.get(key)
        if known is None or known.mirror.is_closed:
            known = self._news[key] = News(start(self.market_client()), rows_of)
        return known


def _is_count(value: Any, least: int) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and float(value).is_integer() and value >= least
