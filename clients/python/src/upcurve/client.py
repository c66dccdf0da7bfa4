"""The client of an upcurve market: calls over HTTP, and local mirrors over one socket that reconnects
by itself and continues where it was, on any node."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any, Literal

from . import routes
from .connection import Connection
from .events import EventStream
from .frame import Encoding, Frame
from .http import Http
from .keys import Key, payment_key_hash
from .market import Network, PoolList, Resolution
from .mirrors.bar_source import CAP_FIELDS, PRICE_FIELDS, BarSource, CapBar, PriceBar
from .mirrors.bars import BarsMirror
from .mirrors.launches import LaunchesMirror
from .mirrors.orders import OrdersMirror
from .mirrors.pools import PoolsMirror
from .mirrors.tickers import TickersMirror
from .mirrors.trades import TradesMirror
from .mirrors.whole import WholeMirror
from .nodes import Nodes
from .position import Position
from .session import Session
from .subscription import Receiver, SubscribeParams, Subscription
from .wallet import Wallet
from .wire.shapes import Insights, LiquidityPoolInfo, OrderBook
from .wire.topics import HealthData, NewestTradesData, NewestTradesInput, TickersInput

Fill = Literal["previous"]
Price = Literal["trade", "spot"]


class Client:
    """`url`: of a node, `https://api.example.org`; several of one market are tried in turn.

    Times are in seconds. `timeout`: of a call over HTTP, at one node. `max_attempts`: how often a
    call is sent while the server is busy (429, 503). `silence`: a socket without a frame for so long
    is given up. `key`: an API key, `upc_…`; its limits replace the limits of this address.
    Everything belongs to one event loop; `async with` closes it.
    """

    def __init__(
        self,
        url: str | Sequence[str],
        *,
        encoding: Encoding = "json",
        timeout: float = 15.0,
        max_attempts: int = 1,
        silence: float = 15.0,
        key: str | None = None,
    ) -> None:
        nodes = Nodes(url)
        self._session = Session()
        http = Http(self._session, nodes, timeout, max_attempts, key)
        self.connection = Connection(self._session, nodes, encoding, silence, key)
        self._events = EventStream(self._session, nodes, silence, key)
        self.charts = routes.Charts(http)
        self.pools = routes.Pools(http)
        self.trades = routes.Trades(http)
        self.tickers = routes.Tickers(http)
        self.orders = routes.Orders(http)
        self.holders = routes.Holders(http)
        self.build = routes.Build(http)
        self.submit = routes.Submit(http)
        self.vesting = routes.Vesting(http)
        self.utxos = routes.Utxos(http)
        self.devnet = routes.Devnet(http)
        self.server = routes.Operations(http)
        self.webhooks = routes.Webhooks(http)

    def wallet(
        self, key: Key, network: Network, stake_key_hash: str | None = None
    ) -> Wallet:
        """`testnet` is every network but mainnet, a devnet included. With the hash of a stake key its
        address is a base address."""
        return Wallet(self, key, network, stake_key_hash)

    # Mirrors: local copies that stay right. They need a running event loop.

    def watch_bars(
        self,
        base: str,
        resolution: Resolution,
        *,
        quote: str = ".",
        fill: Fill | None = None,
        price: Price | None = None,
        limit: int = 300,
        max_hz: int | None = None,
    ) -> BarsMirror[PriceBar]:
        """Bars of prices. `fill`: flat bars where nothing was traded. `price="spot"`: the spot price
        before and after each trade, so that bars connect. `limit`: of the first state. `max_hz`:
        updates a second, at most."""
        pair = {"base": base, "quote": quote}
        params = _bar_params("LastBar", pair, resolution, fill, max_hz, price)
        charts = self.charts
        source: BarSource[PriceBar] = BarSource(
            PRICE_FIELDS, charts.history, charts.initial_state, pair, params
        )
        return BarsMirror(self.connection, source, limit)

    def watch_mcap_bars(
        self,
        base: str,
        resolution: Resolution,
        *,
        quote: str = ".",
        fill: Fill | None = None,
        limit: int = 300,
        max_hz: int | None = None,
    ) -> BarsMirror[CapBar]:
        """Bars of market caps in ADA."""
        pair = {"base": base, "quote": quote}
        params = _bar_params("MCapBar", pair, resolution, fill, max_hz)
        charts = self.charts
        source: BarSource[CapBar] = BarSource(
            CAP_FIELDS, charts.mcap_history, charts.mcap_initial_state, pair, params
        )
        return BarsMirror(self.connection, source, limit)

    def watch_tickers(self, data: TickersInput | None = None) -> TickersMirror:
        """Tickers of given tokens, or of a sorted list."""
        return TickersMirror(self.connection, {} if data is None else data)

    def watch_pools(self, name: PoolList) -> PoolsMirror:
        """A list of pools: its first 100."""
        return PoolsMirror(self.connection, name)

    def watch_pool(self, asset: str) -> WholeMirror[LiquidityPoolInfo]:
        """A pool with its token; None while the server knows none."""
        return WholeMirror(self.connection, SubscribeParams("PoolFeed", {"asset": asset}))

    def watch_top_pool(self) -> WholeMirror[LiquidityPoolInfo]:
        """The pool with the highest market cap; None while there is none."""
        return WholeMirror(self.connection, SubscribeParams("KOTH"))

    def watch_newest_trades(
        self,
        limit: int = 20,
        *,
        filters: NewestTradesInput | None = None,
        max_hz: int | None = None,
    ) -> WholeMirror[NewestTradesData]:
        """The newest trades of the whole market, at most 50. `max_hz`: updates a second, at most."""
        data = {**(filters or {}), "limit": limit}
        return WholeMirror(self.connection, SubscribeParams("NewestTrades", data, max_hz))

    def watch_insights(self, asset: str) -> WholeMirror[Insights]:
        """Trust data of a token; None while the server knows none."""
        return WholeMirror(self.connection, SubscribeParams("Insights", {"asset": asset}))

    def watch_new_launches(self, author: str | None = None) -> LaunchesMirror:
        """Launches as they happen, from the mempool on; `author`: only those of a payment key."""
        data = {} if author is None else {"author": author}
        return LaunchesMirror(self.connection, SubscribeParams("NewLaunches", data))

    def watch_order_book(self, asset: str, digits: Literal[3, 4] = 3) -> WholeMirror[OrderBook]:
        """The order book of a token: the depth of its pool, 100 levels a side, at prices of three (or
        four) significant digits. Open orders stand beside it in `limits` and `pending`."""
        params = SubscribeParams("OrderBook", {"asset": asset, "digits": digits})
        return WholeMirror(self.connection, params)

    def watch_health(self) -> WholeMirror[HealthData]:
        """The node that is connected, once a second."""
        return WholeMirror(self.connection, SubscribeParams("Health"))

    def watch_trades(self, asset: str) -> TradesMirror:
        """The trade tape of a token."""

        async def older(before: str, limit: int) -> Any:
            return await self.trades.list(asset=asset, before=before, limit=limit)

        return TradesMirror(self.connection, asset, older)

    def watch_orders(self, asset: str, pkhs: Sequence[str] | None = None) -> OrdersMirror:
        """Orders of a token; of some payment keys only where `pkhs` names any."""
        keys = None if pkhs is None else list(pkhs)

        async def older(before: str) -> Any:
            return await self.orders.feed(keys, asset=asset, before=before)

        params = SubscribeParams("LiveOrdersFeed", {"asset": asset, "pkhFilter": keys})
        return OrdersMirror(self.connection, params, older)

    def watch_user_orders(self, address: str, asset: str | None = None) -> OrdersMirror:
        """Orders of an address' payment key, over all tokens or of one."""
        keys = [payment_key_hash(address)]

        async def older(before: str) -> Any:
            if asset is None:
                return await self.orders.of_keys(keys, before=before)
            return await self.orders.of_keys_by_asset(keys, asset=asset, before=before)

        params = (
            SubscribeParams("UserHistoryByAddress", {"address": address})
            if asset is None
            else SubscribeParams(
                "UserHistoryByAddressAndAsset", {"address": address, "asset": asset}
            )
        )
        return OrdersMirror(self.connection, params, older)

    def subscribe(self, params: SubscribeParams, receiver: Receiver) -> Subscription:
        """Protocol v2 directly, for what no mirror covers."""
        return self.connection.subscribe(params, receiver)

    def events(
        self, topics: Sequence[SubscribeParams], *, since: Position | None = None
    ) -> AsyncIterator[Frame]:
        """Frames of 1 to 20 topics as server-sent events, without a socket: `async for`. It reconnects
        by itself and misses nothing. `since`: the position of an answer, after which it begins; else
        each topic begins with a snapshot. `frame.request_id` is the topic's index, as a text."""
        return self._events.frames(topics, since)

    async def close(self) -> None:
        """Ends the socket, all mirrors and pending calls."""
        await self.connection.close()
        await self._session.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        await self.close()


def _bar_params(
    topic: str,
    pair: dict[str, str],
    resolution: str,
    fill: Fill | None,
    max_hz: int | None,
    price: Price | None = None,
) -> SubscribeParams:
    data: dict[str, Any] = {"pair": pair, "interval": resolution}
    if fill is not None:
        data["fill"] = fill
    if price is not None:
        data["price"] = price
    return SubscribeParams(topic, data, max_hz)
