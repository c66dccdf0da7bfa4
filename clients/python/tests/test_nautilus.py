"""A trading node of nautilus_trader that reads the market: history, then trades and bars as they come."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from support import feeds
from support.person import launch
from support.server import Server
from support.until import until

from upcurve import Client, Key

pytest.importorskip(
    "nautilus_trader", reason="its adapter is not tested: pip install 'upcurve[nautilus]'"
)

from nautilus_trader.common.actor import Actor  # noqa: E402
from nautilus_trader.common.config import InstrumentProviderConfig, LoggingConfig  # noqa: E402
from nautilus_trader.live.config import TradingNodeConfig  # noqa: E402
from nautilus_trader.live.node import TradingNode  # noqa: E402
from nautilus_trader.model.data import BarType  # noqa: E402
from nautilus_trader.model.book import OrderBook  # noqa: E402
from nautilus_trader.model.enums import BookType  # noqa: E402
from nautilus_trader.model.identifiers import TraderId  # noqa: E402

from upcurve.adapters import nautilus  # noqa: E402


class Reader(Actor):
    """Keeps everything that the node delivers."""

    def __init__(self, asset: str) -> None:
        super().__init__()
        self.instrument_id = nautilus.instrument_id_of(asset)
        self.bar_type = BarType.from_str(f"{self.instrument_id}-1-MINUTE-LAST-EXTERNAL")
        self.old: list[Any] = []
        self.trades: list[Any] = []
        self.bars: list[Any] = []
        self.book = OrderBook(self.instrument_id, BookType.L2_MBP)

    def on_start(self) -> None:
        self.subscribe_trade_ticks(self.instrument_id)
        self.subscribe_bars(self.bar_type)
        self.subscribe_order_book_deltas(self.instrument_id, BookType.L2_MBP)
        start = self.clock.utc_now().replace(year=2020)
        self.request_trade_ticks(self.instrument_id, start=start)

    def on_historical_data(self, data: Any) -> None:
        self.old.append(data)

    def on_trade_tick(self, tick: Any) -> None:
        self.trades.append(tick)

    def on_order_book_deltas(self, deltas: Any) -> None:
        self.book.apply_deltas(deltas)

    def on_bar(self, bar: Any) -> None:
        self.bars.append(bar)


def _in_a_node(url: str, reader: Reader | Asker, story: Callable[[TradingNode], Awaitable[None]]) -> None:
    """In a loop of the node's own, which ends with it."""
    ids = frozenset({str(reader.instrument_id)})
    provider = InstrumentProviderConfig(load_ids=ids)
    client = nautilus.UpcurveDataClientConfig(url=url, instrument_provider=provider)
    config = TradingNodeConfig(
        trader_id=TraderId("TESTER-001"),
        logging=LoggingConfig(log_level="ERROR"),
        data_clients={nautilus.VENUE: client},
    )
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    async def run() -> TradingNode:
        node = TradingNode(config=config, loop=loop)
        node.add_data_client_factory(nautilus.VENUE, nautilus.UpcurveDataClientFactory)
        node.trader.add_actor(reader)
        node.build()
        running = asyncio.ensure_future(node.run_async())
        try:
            await story(node)
        finally:
            await node.stop_async()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        return node

    loop.run_until_complete(asyncio.wait_for(run(), 140)).dispose()


def test_trades_before_and_as_they_come(devnet: str) -> None:
    secret = "6b" * 32

    async def prepare() -> str:
        async with Client(devnet) as client:
            wallet = client.wallet(Key(secret), "testnet")
            for _ in range(3):
                await wallet.fund(300)
            asset = await launch(wallet, "Node", initial_ada=100)
            async with client.watch_trades(asset) as trades:
                await asyncio.wait_for(trades.until(lambda state: len(state.trades) > 0), 60)
            return asset

    asset = asyncio.run(prepare())
    reader = Reader(asset)

    async def story(node: TradingNode) -> None:
        async with Client(devnet) as client:
            await until("the trades before", lambda: reader.old)
            (row,) = (await client.trades.list(asset=asset)).data
            assert [tick.trade_id.value for tick in reader.old] == [row["id"]]
            assert node.cache.instrument(reader.instrument_id).info == {"name": "Node"}
            # Live: bars of the snapshot are not delivered again.
            bought = await client.wallet(Key(secret), "testnet").buy(asset, lovelace=7_000_000)
            filled = await asyncio.wait_for(bought.settled(), 60)
            await until("the trade", lambda: reader.trades)
            newest = (await client.trades.list(asset=asset)).data[0]
            (tick,) = reader.trades
            assert tick == nautilus.tick_of(reader.instrument_id, newest)
            assert (int(tick.size), tick.trade_id.value) == (int(filled["toAmount"]), newest["id"])

            # The book that nautilus_trader makes of the deltas, before and after the trade.
            async def is_same_book() -> bool:
                answer = (await client.orders.book(asset=asset, levels=100)).data
                book = reader.book
                return all(
                    [(str(level.price).rstrip("0"), round(level.size())) for level in levels]
                    == [(level["price"], int(level["amount"])) for level in answer[side]]
                    for side, levels in (("bids", book.bids()), ("asks", book.asks()))
                )

            await until("its book is that of HTTP", is_same_book)

    _in_a_node(devnet, reader, story)


def test_a_bar_when_its_interval_is_over(directory: Path) -> None:
    with Server(directory, "replay", "-", NETWORK="none") as server:
        server.feed(feeds.trade(0, "1"), feeds.trade(1, "2"))

        async def prepare() -> None:
            async with Client(server.url) as client:
                await until("two minutes", lambda: feeds.has_bars(client, 2))

        asyncio.run(prepare())
        reader = Reader(feeds.BASE)

        async def story(_node: TradingNode) -> None:
            minute = 2
            while len(reader.bars) < 2:
                # The subscription begins at some time; bars that had ended before it are not sent.
                assert minute < 600, "no bar came"
                server.feed(feeds.trade(minute, str(minute + 1)))
                minute += 1
                await asyncio.sleep(0.1)
            for bar in reader.bars:
                start = bar.ts_event // 10**9 - 60
                assert float(bar.close) == (start - feeds.NOON) // 60 + 1
            first, second = reader.bars[:2]
            assert second.ts_event - first.ts_event == 60 * 10**9

        _in_a_node(server.url, reader, story)


def _minute(number: int) -> datetime:
    return datetime.fromtimestamp(feeds.NOON + 60 * number, timezone.utc)


#: Requests, and the minutes of the bars that each gets. Without an end or limit, there are more.
REQUESTS: list[tuple[dict[str, Any], range]] = [
    ({"start": _minute(0)}, range(1200)),
    ({"start": _minute(0), "end": _minute(1100)}, range(1100)),
    ({"start": _minute(100), "limit": 7}, range(100, 107)),
    ({"start": _minute(-99), "limit": 7}, range(7)),
    ({"start": _minute(0), "end": _minute(1100), "limit": 7}, range(7)),
    ({"start": _minute(1198), "limit": 7}, range(1198, 1205)),
]


class Asker(Actor):
    """Requests bars, one request after the other; keeps the minutes that each gets."""

    def __init__(self) -> None:
        super().__init__()
        self.instrument_id = nautilus.instrument_id_of(feeds.BASE)
        self.got: list[list[int]] = []

    def on_start(self) -> None:
        self._ask()

    def on_historical_data(self, bar: Any) -> None:
        self.got[-1].append((bar.ts_event // 10**9 - feeds.NOON) // 60 - 1)

    def _ask(self, _done: Any = None) -> None:
        bar_type = BarType.from_str(f"{self.instrument_id}-1-MINUTE-LAST-EXTERNAL")
        self.got.append([])
        if len(self.got) <= len(REQUESTS):
            request, _ = REQUESTS[len(self.got) - 1]
            self.request_bars(bar_type, callback=self._ask, **request)


def test_a_limit_of_zero_is_none(directory: Path) -> None:
    with Server(directory, "replay", "-", NETWORK="none") as server:
        server.feed(*(feeds.trade(minute, "1") for minute in range(1210)))

        async def prepare() -> None:
            async with Client(server.url) as client:
                await until("the bars", lambda: feeds.has_bars(client, 1210))

        asyncio.run(prepare())
        asker = Asker()

        async def story(_node: TradingNode) -> None:
            await until("all bars", lambda: len(asker.got) > len(REQUESTS))
            for (request, minutes), got in zip(REQUESTS, asker.got, strict=False):
                shown = got if len(request) > 1 else got[: len(minutes)]
                assert shown == list(minutes), request

        _in_a_node(server.url, asker, story)


def test_bars_are_those_of_the_api() -> None:
    instrument_id = nautilus.instrument_id_of("ab" * 28 + ".00")
    bar_type = BarType.from_str(f"{instrument_id}-15-MINUTE-LAST-EXTERNAL")
    prices = {"open": "0.1", "high": "0.300000000000000049", "low": "0.1", "close": "0.2"}
    bar = nautilus.bar_of(bar_type, {**prices, "time": 900, "baseVolume": "12"})
    assert (bar.ts_event, str(bar.high), str(bar.volume)) == (1800 * 10**9, "0.3000000000000000", "12")
